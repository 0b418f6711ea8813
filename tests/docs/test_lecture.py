"""The slides, and the notebook that is made from the lecture."""

from __future__ import annotations

import copy
import doctest
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.command_line import posix
from tests.conftest import ROOT

DOCS = ROOT / "docs"
TOUR = (DOCS / "from-rosenblatt-to-viterbi.md").read_text(encoding="utf-8")
TEXT = (DOCS / "slides.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```\w+\n(.*?)\n*^```$", re.M | re.S)


class Slide(NamedTuple):
    """What is projected, and the speaker notes."""

    front: str
    notes: str


SLIDES = [Slide(*slide.strip().split("\n\nNote:\n\n")) for slide in TEXT.split("\n---\n")]


# --------------------------------------------------------------------------- slides
def test_there_are_35_to_40_slides_with_the_sections_of_the_lecture():
    assert 35 <= len(SLIDES) <= 40
    titles = [title for slide in SLIDES for title in re.findall(r"^## (.*)$", slide.front, re.M)]
    assert len(set(titles)) == len(titles) == len(SLIDES) - 1  # the first has only a section
    named = [name for slide in SLIDES for name in re.findall(r"^# (.*)$", slide.front, re.M)]
    assert named == re.findall(r"^# (.*)$", TOUR, re.M)[:1] + re.findall(r"^## (\d.*)$", TOUR, re.M)


def test_the_examples_of_the_slides_give_what_they_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(DOCS))  # for perceptron.py
    results = doctest.testfile(str(DOCS / "slides.md"), module_relative=False)
    assert results.attempted > 75
    assert results.failed == 0


def test_numbers_on_slides_are_those_of_the_lecture():
    """Numbers in code are checked above, and those of one digit are words."""

    def numbers(text):
        return {*re.findall(r"\d[\d.]*\d", re.sub(r"!\[.*|(?<=\d),(?=\d{3})", "", text))}

    shown = {number for slide in SLIDES for number in numbers(FENCED.sub("", slide.front))}
    assert len(shown) > 40
    lattice = (DOCS / "tour" / "lattice.svg").read_text(encoding="utf-8")
    assert shown - numbers(TOUR) - numbers(lattice) == set()


def test_the_learner_on_a_slide_is_that_of_perceptron_py():
    [code] = [block for block in FENCED.findall(TEXT) if "def learn(" in block]
    names: dict[str, object] = runpy.run_path(str(DOCS / "perceptron.py"))
    kept = names["learn"]
    exec("\n".join(line[4:] for line in code.split("\n")), names)
    points = [({"left": a, "right": b}, c) for a, b, c in ((1, 1, 0), (2, -1, 1), (-1, -2, 2))] * 9
    given = points, names["block"], names["search"]([0, 1, 2], names["block"])
    w, mean, mistakes = kept(*given)
    assert len(mistakes) > 3
    assert names["learn"](*given) == (w, mean)


# --------------------------------------------------------------------------- what is written
@pytest.fixture(scope="module")
def lecture(tmp_path_factory):
    pytest.importorskip("latex2mathml", reason="slides need the extra docs")
    pytest.importorskip("mdit_py_plugins", reason="slides need the extra docs")
    return written(tmp_path_factory.mktemp("lecture"))[0]


def written(folder, *options, **environment):
    command = [sys.executable, ROOT / "scripts" / "lecture.py", "--out", folder, *options]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | environment
    )
    files = [str(folder / name) for name in ("tour.ipynb", "slides.html", "slides.pdf")]
    assert done.stdout.splitlines() in (files, files[:2])
    return folder, done.stderr


def test_slides_fit_and_turn(lecture):
    playwright = pytest.importorskip("playwright.sync_api")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 720})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((lecture / "slides.html").as_uri())
        assert page.evaluate("all.length") == len(SLIDES)
        for number in range(len(SLIDES)):
            assert page.evaluate("location.hash") == f"#{number + 1}"
            assert page.evaluate(FAULTS) == [], number + 1
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Home")
        assert not page.is_visible("section.on aside")
        page.keyboard.press("n")
        assert page.is_visible("section.on aside")
        assert page.evaluate("all.every(one => one.querySelector('aside').textContent.trim())")
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        chromium.close()
    pdf = (lecture / "slides.pdf").read_bytes()
    assert len(re.findall(rb"/Type ?/Page\b", pdf)) == len(SLIDES)


FAULTS = """(() => {
  const slide = document.querySelector("section.on"), faults = [];
  if (slide.scrollHeight > 720 || slide.scrollWidth > 1280) faults.push("larger than the slide");
  for (const code of slide.querySelectorAll(":scope > pre"))
    if (parseFloat(getComputedStyle(code).fontSize) < 20) faults.push("code is too small");
  const pictures = [...slide.querySelectorAll("img")].map(one => one.getBoundingClientRect());
  for (const one of slide.querySelectorAll(":scope > :is(pre, table), :scope > p > .math")) {
    const at = one.getBoundingClientRect();
    if (at.right > 1216) faults.push("beyond the margin: " + one.textContent);
    if (pictures.some(it => at.right > it.left && it.right > at.left && at.bottom > it.top
        && it.bottom > at.top)) faults.push("on a picture: " + one.textContent);
  }
  for (const one of slide.querySelectorAll("img"))
    if (!one.naturalWidth) faults.push("no picture: " + one.alt);
  if (/\\$|[*]{2}\\w+[*]{2}|!\\[/.test(slide.textContent)) faults.push("Markdown is left");
  return faults;
})()"""


def test_without_a_browser_all_but_the_pdf_is_written(lecture, tmp_path):
    (tmp_path / "playwright").mkdir()
    (tmp_path / "playwright" / "__init__.py").write_text("raise ImportError\n")
    folder, message = written(tmp_path / "out", PYTHONPATH=str(tmp_path))
    assert "pip install -e '.[dev]' && playwright install chromium" in message
    assert "Traceback" not in message
    assert sorted(path.name for path in folder.iterdir()) == ["slides.html", "tour.ipynb"]
    page = (folder / "slides.html").read_text(encoding="utf-8")
    assert page == (lecture / "slides.html").read_text(encoding="utf-8")


# --------------------------------------------------------------------------- notebook
RUN = """
import sys, nbclient, nbformat
book = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(book, timeout=600).execute()
nbformat.write(book, sys.argv[2])
"""


def shown(book):
    """The outputs of the cells as words: the layout of long lines differs."""
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    return [
        "".join(
            "".join(out["text"] if "text" in out else out["data"]["text/plain"])
            for out in cell["outputs"]
            if out.get("name") != "stderr"
        ).split()
        for cell in cells
    ]


def test_the_notebook_has_the_outputs_that_it_computes(lecture):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    kept = nbformat.read(lecture / "tour.ipynb", as_version=4)
    nbformat.validate(kept)
    book = copy.deepcopy(kept)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": DOCS}}).execute()
    assert shown(book) == shown(kept)  # where seqtag is installed, the first cell does nothing
    assert sum(map(bool, shown(kept))) > 60


@posix
@pytest.mark.nightly
def test_a_notebook_with_a_wheel_runs_in_an_empty_folder(lecture, tmp_path):
    """In an environment with all libraries but seqtag, without network."""
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", ".", "--no-deps", "--no-build-isolation"]
    slow = ["-C", "wheel.cmake=false", "-C", "wheel.py-api=py3"]  # without the kernel
    subprocess.run([*pip, *slow, "-w", tmp_path / "wheel"], cwd=ROOT, check=True)
    [wheel] = (tmp_path / "wheel").iterdir()
    folder, _ = written(tmp_path / "out", "--wheel", str(wheel))
    venv.create(tmp_path / "venv", with_pip=True)
    [libraries] = (tmp_path / "venv").rglob("site-packages")
    for folders in (path for path in sys.path if "packages" in path):
        for each in Path(folders).iterdir():
            link = libraries / each.name
            if "seqtag" not in each.name and each.suffix != ".pth" and not link.exists():
                link.symlink_to(each)
    empty, after = tmp_path / "empty", tmp_path / "after.ipynb"
    empty.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", RUN, folder / "tour.ipynb", after],
        cwd=empty,
        env=environment | {"PIP_NO_INDEX": "1"},
        check=True,
    )
    run = json.loads(after.read_text(encoding="utf-8"))
    kept = json.loads((lecture / "tour.ipynb").read_text(encoding="utf-8"))
    assert shown(run)[2:] == shown(kept)[1:]  # all but what installs
    assert sorted(path.name for path in (empty / "corpora" / "sample").iterdir()) == sorted(
        path.name for path in (ROOT / "corpora" / "sample").iterdir()
    )


def test_the_notebook_holds_its_pictures(lecture):
    text = (lecture / "tour.ipynb").read_text(encoding="utf-8")
    cells = json.loads(text)["cells"]
    assert text.count("data:image/svg+xml") == TOUR.count("](tour/")
    prose = [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    assert not any("](" in source for source in prose)
    assert "<a id=" not in text
