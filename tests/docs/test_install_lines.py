"""Install commands: each installs a clone of seqtag, not a package of that name from an index."""

from __future__ import annotations

import re

import pytest

from seqtag.errors import install_hint
from tests.conftest import ROOT

FROM_AN_INDEX = re.compile(
    r"""(?:pip3?|pipx|conda|mamba|uv|uvx|poetry|pdm)\b[^\n`]*?[ ](?:install|add|run|sync)[ ]
        (?!(?:-\S+[ ])*['"]?\.)  # a path, such as '.[spacy]'
        (?:[^\n`]*[ ])?['"]?seqtag\b(?!/)"""
    r"""|\bseqtag\[[a-z,]+\]|seqtag\ with\ the\ extra""",
    re.X,
)

FILES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "pyproject.toml")),
    *(ROOT / "docs" / "conf.py", ROOT / "deploy" / "Dockerfile"),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "docs").rglob("*.html")),
    *sorted((ROOT / "benchmarks").rglob("*.py")),
    *sorted((ROOT / "scripts").rglob("*.py")),
    *sorted((ROOT / "seqtag").rglob("*.py")),
]


def extras() -> set[str]:
    """The names of the optional extras in pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    section = text.split("[project.optional-dependencies]\n")[1].split("\n[")[0]
    return {*re.findall(r"^(\w+) = \[", section, re.M)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_line_installs_seqtag_from_an_index(path):
    text = path.read_text("utf-8")
    assert [found[0] for found in FROM_AN_INDEX.finditer(text)] == []


def test_messages_and_pages_name_extras_that_exist():
    text = "\n".join(path.read_text("utf-8") for path in FILES)
    hinted = re.findall(r"""install_hint\(['"](\w+)['"]\)""", text)
    assert len(hinted) >= 8
    named = re.findall(r"pip install (?:-\w )*'\.\[([\w,]+)\]'", text)
    assert {*hinted, *",".join(named).split(",")} <= extras()
    for extra in extras():
        assert f"'.[{extra}]'" in install_hint(extra)


def test_the_table_of_extras_is_complete():
    page = (ROOT / "docs" / "how-to" / "install.md").read_text("utf-8")
    table = page.split("## Extras\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\|([^|]*)\|", table, re.M)
    assert {*re.findall(r"`(\w+)`", "".join(rows))} == extras()


@pytest.mark.parametrize(
    "line",
    [
        "pip install seqtag",
        "pip install 'seqtag[spacy]'",
        "python -m pip install -U seqtag==0.2",
        "uv pip install seqtag",
        "uv add seqtag",
        "pipx install seqtag",
        "install it, or seqtag[sklearn]",
        "install them, or seqtag with the extra serve",
    ],
)
def test_such_lines_are_found(line):
    assert FROM_AN_INDEX.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install '.[spacy]'",
        "pip install -q -e . && echo x | .venv/bin/seqtag tag",
        "git clone https://example.org/seqtag && pip install seqtag/",
        install_hint("ray"),
    ],
)
def test_installing_a_clone_is_not_found(line):
    assert not FROM_AN_INDEX.search(line)
