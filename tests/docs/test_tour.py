"""The lecture is run: its Python blocks are one session, and its pictures are all there."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

DOCS = ROOT / "docs"
TOUR = (DOCS / "from-rosenblatt-to-viterbi.md").read_text(encoding="utf-8")
STORY, APPENDIX = TOUR.split('<a id="appendix"></a>')


def test_the_examples_give_what_the_lecture_says(monkeypatch):
    monkeypatch.chdir(ROOT)  # the examples read corpora/sample
    path = DOCS / "from-rosenblatt-to-viterbi.md"
    results = doctest.testfile(str(path), module_relative=False)  # as python -m doctest does
    assert results.attempted > 240
    assert results.failed == 0


def test_the_pictures_are_those_of_the_tour_and_one_of_the_slides():
    named = ["twelve.svg", *re.findall(r"!\[[^\]]+\]\(tour/([\w-]+\.svg)\)", TOUR)]
    assert sorted(named) == sorted(path.name for path in (DOCS / "tour").iterdir())
    for name in named:
        picture = (DOCS / "tour" / name).read_text(encoding="utf-8")
        assert len(picture.encode()) < 60_000, name
        assert "<dc:date>" not in picture, name


def test_pictures_show_what_the_code_computes(tmp_path):
    """Pictures made without matplotlib's drawing are the same with any version of it."""
    pytest.importorskip("matplotlib")
    names = ["neuron", "machine", "strips", "lattice", "correction", "costs"]
    script = ROOT / "scripts" / "draw_tour.py"
    subprocess.run([sys.executable, script, "--out", tmp_path, *names], check=True, timeout=300)
    for name in names:
        drawn, kept = tmp_path / f"{name}.svg", DOCS / "tour" / f"{name}.svg"
        assert drawn.read_bytes() == kept.read_bytes(), name


def test_links_lead_to_sections():
    anchors = re.findall(r'^<a id="([\w-]+)"></a>\n\n##', TOUR, re.M)
    assert len(set(anchors)) == len(anchors) == TOUR.count("<a id=")
    links = re.findall(r"\]\(#([^)]+)\)", TOUR)
    assert len(links) > 25
    assert sorted(set(links) - set(anchors)) == []
    pages = [*DOCS.rglob("*.md"), DOCS / "play" / "index.html"]
    for page in pages:
        text = page.read_text("utf-8")
        outside = re.findall(r"from-rosenblatt-to-viterbi\.(?:md|html)#([\w-]+)", text)
        assert sorted(set(outside) - set(anchors)) == [], page
    assert [int(number) for number in re.findall(r"^## (\d+)\.", TOUR, re.M)] == [*range(1, 14)]
    letters = re.findall(r"^### (\w)\.", APPENDIX, re.M)
    assert "".join(letters) == "ABCDEFGHIJKLM"


@pytest.mark.parametrize(
    "name", ["dot", "learn", "best", "search", "half", "block", "chain", "viterbi", "features"]
)
def test_the_code_is_that_of_perceptron_py(name):
    def functions(source):
        tree = ast.parse(source)
        found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        body = found[name].body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]  # a docstring
        return [ast.dump(found[name].args), *map(ast.dump, body)]

    lines = [line[4:] for line in TOUR.split("\n") if line[:4] in (">>> ", "... ")]
    page = functions((DOCS / "perceptron.py").read_text("utf-8"))
    starts = [i for i, line in enumerate(lines) if line.startswith(f"def {name}(")]
    assert len(starts) == 1
    rest = lines[starts[0] + 1 :]
    length = next(i for i, line in enumerate(rest) if not line.startswith(" "))
    assert functions("\n".join([lines[starts[0]], *rest[:length]])) == page
