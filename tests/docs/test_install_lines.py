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

FOLDERS = (
    ".ci",
    ".github",
    "benchmarks",
    "corpora",
    "deploy",
    "docs",
    "models",
    "scripts",
    "seqtag",
)
KINDS = {"", ".cfg", ".html", ".js", ".json", ".md", ".py", ".toml", ".yaml", ".yml"}
FILES = {
    ".": [*ROOT.glob("*.*"), ROOT / "LICENSE"],
    **{name: sorted((ROOT / name).rglob("*")) for name in FOLDERS},
}
"""Pages, messages, docstrings, metadata, workflows, by folder."""


def texts(folder: str) -> dict[str, str]:
    """The texts of a folder, by file."""
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for path in FILES[folder]
        if path.suffix in KINDS and path.is_file()
    }


def extras() -> set[str]:
    """The names of the optional extras in pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    section = text.split("[project.optional-dependencies]\n")[1].split("\n[")[0]
    return {*re.findall(r"^(\w+) = \[", section, re.M)}


@pytest.mark.parametrize("folder", FILES)
def test_no_line_installs_seqtag_from_an_index(folder):
    found = {name: FROM_AN_INDEX.findall(text) for name, text in texts(folder).items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_messages_and_pages_name_extras_that_exist():
    text = "\n".join(text for folder in FILES for text in texts(folder).values())
    hinted = re.findall(r"""install_hint\(['"](\w+)['"]\)""", text)
    assert len(hinted) >= 6
    named = re.findall(r"pip install (?:-\w )*'(?:\.|[\w.-]+\.whl)\[([\w,]+)\]'", text)
    assert {*hinted, *",".join(named).split(",")} - {"EXTRA"} <= extras()
    for extra in extras():
        assert f" -e '.[{extra}]' " in install_hint(extra)
        assert f".whl[{extra}]' " in install_hint(extra)


def test_the_page_shows_the_message_as_it_is():
    page = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text("utf-8")
    needs = "serve needs h11, orjson, prometheus-client, python-multipart, starlette, uvicorn; "
    assert f"{needs}{install_hint('serve')}\n" in page


def test_a_clone_is_installed_in_place():
    """A copy would replace it, and Python started in the clone would import it without kernel."""
    copies = re.compile(r"pip install (?:-q )?(?:'\.\[|\.(?!\w))")
    pages = {name: text for folder in FILES for name, text in texts(folder).items()}
    assert [name for name, text in pages.items() if copies.search(text)] == [
        "docs/how-to/install.md",
        "scripts/build_backend.py",
    ]


def test_the_table_of_extras_is_complete():
    page = (ROOT / "docs" / "how-to" / "install.md").read_text("utf-8")
    table = page.split("## Extras\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\|([^|]*)\|", table, re.M)
    assert {*re.findall(r"`(\w+)`", "".join(rows))} == extras()
