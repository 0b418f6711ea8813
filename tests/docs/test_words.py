"""Plain technical English: words that pages do not use."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGES = ["README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]
PAGES.remove("docs/reference/python.md")  # docstrings

BANNED = re.compile(
    r"\b(?:learnt|mend(?:s|ed|ing)?|told|whole|odd(?!\s+number)|oddit(?:y|ies)|dear|beside|behind|nobody|whoever"
    r"|loudest|ritual|courtesy|foretells?|hangs? on|has no say|of use|by hand|found out|as ever"
    r"|what there is to|said of|by Ray|or luck|trainings)\b",
    re.IGNORECASE,
)


def prose_of(text: str) -> str:
    """Return a page without code, links' targets and comments."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->", " ", text, flags=re.S)


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_in_plain_technical_english(page):
    prose = prose_of((ROOT / page).read_text("utf-8"))
    found = [prose[max(m.start() - 30, 0) : m.end() + 20] for m in BANNED.finditer(prose)]
    assert found == []
