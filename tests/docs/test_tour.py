"""The guided tour is run: its Python blocks are one session, and its pictures are all there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TOUR = (DOCS / "from-rosenblatt-to-viterbi.md").read_text(encoding="utf-8")


def test_the_examples_give_what_the_tour_says(monkeypatch):
    monkeypatch.chdir(ROOT)  # the examples read corpora/sample
    path = DOCS / "from-rosenblatt-to-viterbi.md"
    results = doctest.testfile(str(path), module_relative=False)  # as python -m doctest does
    assert results.attempted > 180
    assert results.failed == 0


def test_the_blocks_can_be_pasted_where_prompts_are_stripped(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", TOUR, re.M | re.S):
        lines = [line[4:] for line in block.splitlines() if line[:4] in (">>> ", "... ")]
        exec(compile("\n".join(lines), "pasted", "exec"), names)
    assert "Who" in names["cake"].words
    assert capsys.readouterr().out.startswith("0.5\n0.905\n")


def test_every_code_block_is_one_of_the_examples():
    fences = re.findall(r"^```(.*)$", TOUR, re.M)
    assert fences[::2] == ["sh"] + ["python"] * (len(fences) // 2 - 1)
    assert set(fences[1::2]) == {""}


def test_the_pictures_are_those_that_the_tour_names():
    named = re.findall(r"!\[[^\]]+\]\(tour/([\w-]+\.svg)\)", TOUR)
    assert sorted(named) == sorted(path.name for path in (DOCS / "tour").iterdir())
    for name in named:
        picture = (DOCS / "tour" / name).read_text(encoding="utf-8")
        assert len(picture.encode()) < 60_000, name
        assert "<dc:date>" not in picture, name


def test_no_sentence_became_a_list():
    """Where a line breaks before a number and a full stop, Markdown sees an item."""
    prose = re.sub(r"^```.*?^```$", "", TOUR, flags=re.M | re.S)
    numbered = re.findall(r"^(?:\d+\. .*\n(?:   .*\n)*)+", prose, re.M)
    assert [len(re.findall(r"^\d", one, re.M)) for one in numbered] == [3]  # Novikoff's proof


def test_links_lead_to_files():
    links = re.findall(r"(?<!!)\[[^\]]+\]\(([^)#]+)\)", TOUR)
    assert links
    assert [link for link in links if not (DOCS / link).exists()] == []


def test_links_lead_to_sections():
    headings = [
        re.sub(r"[^\w -]", "", each.lower()) for each in re.findall("^## (.*)$", TOUR, re.M)
    ]
    anchors = [each.replace(" ", "-") for each in headings]
    links = re.findall(r"\]\(#([^)]+)\)", TOUR)
    assert len(links) > 25
    assert sorted(set(links) - set(anchors)) == []
    assert [int(each.split("-")[0]) for each in anchors[:-1]] == list(range(1, len(anchors)))


def test_the_readme_names_the_tour():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/from-rosenblatt-to-viterbi.md" in readme.split("## How it works")[1]
