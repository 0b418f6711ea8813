"""Figures and names in pages: no unfilled cells, outputs as the commands print them."""

from __future__ import annotations

import importlib
import re

import pytest

from seqtag.cli import main
from tests.conftest import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

MARKERS = re.compile(r"\b(?:TODO|TBD|FIXME|XXX|TK)\b|\?\?\?|\bN\.N+\b|<(?:figure|number)>")


def columns_of_tables(text: str) -> list[list[str]]:
    """Return the cells below the rule of each table of a page, column by column."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    columns = []
    for body in re.findall(r"^\|[-:| ]+\|\n((?:\|.*\|\n)+)", prose, re.M):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
        width = min(map(len, rows))
        columns += [[row[i] for row in rows] for i in range(width)]
    return columns


def unfilled_cells(text: str) -> list[str]:
    """Return the cells of a few capitals or marks in columns that hold figures otherwise."""
    found = []
    for column in columns_of_tables(text):
        figures = [cell for cell in column if re.match(r"[-+~<>]?\d", cell)]
        if 3 * len(figures) >= len([cell for cell in column if cell]):
            found += [cell for cell in column if re.fullmatch(r"[A-Z]{1,3}|[?.…_x]+", cell)]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_figure_is_left_out(page):
    text = page.read_text("utf-8")
    assert unfilled_cells(text) == []
    assert MARKERS.findall(text) == []


def test_unfilled_cells_are_found():
    head = "| target | plain | guided |\n|---|---:|---:|\n"
    assert unfilled_cells(f"{head}| a | 1,336 | CK |\n| b | 4 | 53 |\n| c | 7 | ? |\n") == [
        "CK",
        "?",
    ]
    assert unfilled_cells(f"{head}| EWT | 1.2 MB | 53.1 |\n| b | | |\n") == []


# --------------------------------------------------------------------------------- reference
REFERENCE = [
    (page.name, name)
    for page in sorted((ROOT / "docs" / "reference").glob("*.md"))
    for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.M)
]


@pytest.mark.parametrize(("page", "name"), REFERENCE)
def test_names_of_the_reference_exist(page, name):
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            try:
                importlib.import_module(".".join(parts[:i]))
            except ModuleNotFoundError as error:
                if str(error.name).startswith("seqtag"):
                    raise
                pytest.skip(f"{page} needs {error.name}")
        found = getattr(found, part)
    assert found.__doc__


def test_the_reference_names_enough():
    assert len(REFERENCE) > 30


# ------------------------------------------------------------------------------------ output
def test_the_note_on_automatic_settings_is_what_the_command_prints(
    corpora_dir, tmp_path, monkeypatch, capsys
):
    page = (ROOT / "docs" / "how-to" / "settings.md").read_text("utf-8")
    [(command, note)] = re.findall(
        r"^\$ seqtag (train tr_imst.*)\n(seqtag: note: .*)\n", page, re.M
    )
    monkeypatch.chdir(corpora_dir / "ud-turkish-imst")
    *args, model = command.split()
    assert main([*args, str(tmp_path / model)]) == 0
    assert note in capsys.readouterr().err.splitlines()
