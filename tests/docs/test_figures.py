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


# ------------------------------------------------------------------------- limits and counts
def limits() -> dict[str, tuple[object, ...]]:
    """Return the limits in the code, by a phrase of their row in SECURITY.md."""
    pytest.importorskip("starlette", reason="needs the extra serve")
    from seqtag.corpus.stream import LIMITS
    from seqtag.engine.arrays import MAX_LABELS, MAX_TRIGRAM_LABELS, MOST_WITH_BIGRAMS
    from seqtag.features import language, templates
    from seqtag.model import bundle, calibration, container
    from seqtag.segmentation import reading
    from seqtag.serve import connections, server
    from seqtag.tables import model_io, table

    served = server.ServerLimits()
    words = LIMITS.sentence
    return {
        "header of a model": (f"{container.MAX_HEADER >> 20} MiB", container.MAX_DEPTH),
        "labels of a model": (MAX_LABELS, MOST_WITH_BIGRAMS, MAX_TRIGRAM_LABELS),
        "label bigrams and trigrams": (f"2^{bundle.MOST_DENSE.bit_length() - 1} ",),
        "components of a pipeline": (bundle.MOST_PARTS,),
        "columns of a model": (templates.MOST_COLUMNS, calibration._MOST_READ),
        "word tables of a model": (model_io.MOST_TABLES, table.MOST_VALUES),
        "| templates": (
            templates.MOST_TEMPLATES,
            templates.MOST_TERMS,
            templates.MOST_ATTRIBUTES,
            language.LONGEST_LINE,
            language.LONGEST_COMMENT,
        ),
        "sentence of a column file": (words, f"{LIMITS.size >> 20} MiB"),
        "sentence of raw text": (reading._LONGEST,),
        "a line, also": (f"{LIMITS.line >> 20} MiB",),
        "a request to": (served.body, f"{served.seconds:g} s", served.threads, served.waiting),
        "connections to": (
            f"{connections._HEAD_SECONDS:g} s",
            f"{server._MOST_UNSENT >> 20} MB",
        ),
    }


def test_limits_of_the_security_page_are_those_of_the_code():
    rows = (ROOT / "SECURITY.md").read_text("utf-8").splitlines()
    for phrase, values in limits().items():
        [row] = [row for row in rows if row.startswith("|") and phrase in row.split(" | ")[0]]
        for value in values:
            shown = value if isinstance(value, str) else f"{value:,}"
            assert re.search(rf"(?<![\d,]){re.escape(shown)}(?![\d])", row), (phrase, shown)


def test_counts_of_the_reliability_page_are_those_of_the_tests():
    from tests.cli import test_resume
    from tests.fuzzing.targets import TARGETS

    page = " ".join((ROOT / "docs" / "reliability.md").read_text("utf-8").split())
    folder = ROOT / "tests" / "cli"
    bad = "".join(path.read_text("utf-8") for path in folder.glob("test_bad_inputs*.py"))
    inputs = {*re.findall(r"^def test_(\d\d)_", bad, re.M)}
    assert f"A catalog of {len(inputs)} bad inputs" in page
    assert len(TARGETS) == 15
    assert "There are fifteen fuzz targets" in page
    rows = page.split("| kernel, under sanitizers |")[1].split("Fuzzing and manual")[0]
    assert {*re.findall(r"\| ([a-z-]+)[^|]*\| [\d,]+ \| [\d,]+ \|", rows)} == {*TARGETS}
    text = (folder / "test_resume.py").read_text("utf-8")
    [(each_change, nightly)] = re.findall(r'"kills", \[(\d+), pytest.param\((\d+)', text)
    kinds = len(test_resume.TODAY)
    often = sum(map(int, re.findall(r"= kill\((\d+)", text))) + int(each_change) * kinds
    assert f"SIGKILL {often} times on every change" in page
    assert f"{int(nightly) * kinds} more times nightly" in page


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
