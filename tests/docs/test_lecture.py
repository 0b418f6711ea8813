"""The notebook and the slides that are made from the tour."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("latex2mathml", reason="slides need the extra docs")
pytest.importorskip("mdit_py_plugins", reason="slides need the extra docs")


KEYS = (  # sentences that no slide may lose
    "Rosenblatt's perceptron finds the weights from examples.",
    "to be right, an answer must beat all others.",
    "The last mistake has the last word.",
    "one learner, one average, and one decoder",
    "whatever changes decoding changes the scores in the lattice, not the decoder.",
    "Early stopping",
    "once, at the very end.",
)


@pytest.fixture(scope="module")
def lecture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lecture")
    command = [sys.executable, ROOT / "scripts" / "lecture.py", "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(folder / "tour.ipynb"), str(folder / "slides.html")]
    return folder


def test_the_notebook_computes_what_the_tour_shows(lecture):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.read(lecture / "tour.ipynb", as_version=4)
    nbformat.validate(book)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    nbclient.NotebookClient(
        book, timeout=600, resources={"metadata": {"path": ROOT / "docs"}}
    ).execute()
    compared = 0
    for cell in book.cells:
        wanted = cell.metadata.get("seqtag", {}).get("output")
        if cell.cell_type == "code" and wanted:
            shown = "".join(
                out["text"] if out.output_type == "stream" else out["data"]["text/plain"]
                for out in cell.outputs
            )
            assert shown.split() == wanted.split(), cell.source
            compared += 1
    assert compared > 60


def test_the_notebook_holds_its_pictures(lecture):
    text = (lecture / "tour.ipynb").read_text(encoding="utf-8")
    cells = json.loads(text)["cells"]
    pictures = (ROOT / "docs" / "tour").iterdir()
    assert text.count("data:image/svg+xml") == len(list(pictures))
    assert not any("](" in cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    assert "<a id=" not in text


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
        count = page.evaluate("all.length")
        assert count > 45
        words = page.evaluate("all.map(one => one.querySelector('div').textContent).join(' ')")
        for key in KEYS:
            assert " ".join(key.split()) in " ".join(words.split())
        for number in range(count):
            title, high = page.evaluate(
                "[document.querySelector('section.on h2').textContent,"
                " document.querySelector('section.on').scrollHeight]"
            )
            assert high <= 720, (number + 1, title)
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Home")
        page.keyboard.press("n")
        assert page.is_visible("section.on aside")
        noted = page.evaluate("all.filter(one => one.querySelector('.note')).length")
        assert noted == 13  # as many sections as docs/teaching.md has notes on
        assert page.evaluate("location.hash") == "#1"
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        chromium.close()
