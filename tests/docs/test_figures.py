"""Figures and names in pages: no unfilled cells, outputs as the commands print them."""

from __future__ import annotations

import json
import re

import click
import pytest

from benchmarks import howto
from seqtag import settings
from seqtag.cli import cli
from seqtag.evaluation.significance import RESAMPLES
from seqtag.features.language import load, preset_names
from seqtag.segmentation import reading
from tests.conftest import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

MARKERS = re.compile(r"\b(?:TODO|TBD|FIXME|XXX|TK)\b|\?\?\?|\bN\.N+\b|<(?:figure|number)>")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_figure_is_left_out(page):
    assert MARKERS.findall(page.read_text("utf-8")) == []


# ------------------------------------------------------------------------- limits and counts
def limits() -> dict[str, tuple[object, ...]]:
    """Return the limits in the code, by a phrase of their row in SECURITY.md."""
    pytest.importorskip("starlette", reason="needs the extra serve")
    from seqtag.corpus.stream import LIMITS
    from seqtag.engine.arrays import MAX_LABELS, MAX_TRIGRAM_LABELS, MOST_WITH_BIGRAMS
    from seqtag.features import language, templates
    from seqtag.model import bundle, calibration, container
    from seqtag.serve import app, process, work
    from seqtag.tables import model_io, table

    served = work.ServerLimits()
    words = LIMITS.sentence
    return {
        "header of a model": (f"{container.MAX_HEADER >> 20} MiB", container.MAX_DEPTH),
        "labels of a model": (MAX_LABELS, MOST_WITH_BIGRAMS, MAX_TRIGRAM_LABELS),
        "label bigrams and trigrams": (f"2^{bundle.MOST_DENSE.bit_length() - 1} ",),
        "components of a pipeline": (bundle.MOST_PARTS,),
        "columns of a model": (templates.MOST_COLUMNS, calibration._MOST_FILE_KNOTS),
        "word tables of a model": (model_io.MOST_TABLES, table.MOST_VALUES),
        "| templates": (
            templates.MOST_TEMPLATES,
            templates.MOST_TERMS,
            templates.MOST_ATTRIBUTES,
            language.LONGEST_LINE,
            language.LONGEST_COMMENT,
        ),
        "sentence of a column file": (words, f"{LIMITS.size >> 20} MiB"),
        "sentence of raw text": (reading._LONGEST_SENTENCE,),
        "a line, except": (f"{LIMITS.line >> 20} MiB",),
        "a request to": (served.body, f"{served.seconds:g} s", served.threads, served.waiting),
        "connections to": (
            process._MAX_CONNECTIONS,
            f"{app.MAX_HEAD_BYTES >> 10} KiB",
            f"{work.MAX_UNSENT_BYTES >> 20} MiB",
        ),
    }


def test_limits_of_the_security_page_are_those_of_the_code():
    rows = (ROOT / "SECURITY.md").read_text("utf-8").splitlines()
    for phrase, values in limits().items():
        [row] = [row for row in rows if row.startswith("|") and phrase in row.split(" | ")[0]]
        for value in values:
            shown = value if isinstance(value, str) else f"{value:,}"
            assert re.search(rf"(?<![\d,]){re.escape(shown)}(?![\d])", row), (phrase, shown)


# ------------------------------------------------------------------------------------ how-to
STORED = {
    name: json.loads((ROOT / "docs" / "benchmarks" / f"{name}.json").read_text("utf-8"))
    for name in ("howto", "options")
}


def how_to(name: str) -> str:
    """Return the text of a how-to page, each paragraph on one line."""
    text = (ROOT / "docs" / "how-to" / f"{name}.md").read_text("utf-8")
    return re.sub(r"(?<=\S)\n *(?=\S)", " ", text)


@pytest.mark.parametrize(("page", "table"), howto.tables(STORED["howto"]).values())
def test_tables_of_the_how_to_pages_are_the_stored_results(page, table):
    assert f"\n{table}\n" in (ROOT / "docs" / "how-to" / page).read_text("utf-8")


def test_figures_in_the_text_of_how_to_pages_are_the_stored_results():
    assert f"{RESAMPLES:,} times, the same ones for both" in how_to("evaluate")
    found, options = STORED["howto"], STORED["options"]["found"]
    upos, names = options["EWT UPOS"], options["WNUT-17 names, F1"]
    assert f"about {found['margins']:.1f} times as long" in how_to("confidence")
    assert (
        "500 classes from 19 million words raise the accuracy of UPOS on the test set from "
        f"{upos['default']['score']:.2f} to {upos['--table CLASSES']['score']:.2f} (mean of five "
        "seeds), and on WNUT-17 (dev) the F1 of names from "
        f"{names['default']['score']:.2f} to {names['--table CLASSES']['score']:.2f}:"
    ) in how_to("word-lists")
    with_lexicon = "from {default:.2f} to {lexicon:.2f}".format(**found["lexicon"])
    assert f"of EWT {with_lexicon} (mean of three seeds" in how_to("word-lists")


def test_limits_of_the_server_are_those_of_its_page():
    pytest.importorskip("uvicorn", reason="needs uvicorn: pip install -e '.[serve]'")
    from seqtag.serve import app, process, requests, work

    limits, text = work.ServerLimits(), how_to("serve")
    assert f"a body of {limits.body:,} bytes, also unpacked (`--max-body`)" in text
    seconds = f"{limits.seconds:.0f} seconds"
    assert f"{seconds} of work, and {seconds} for the body to arrive (`--max-seconds`)" in text
    assert f"{limits.threads} longer requests at work, {limits.waiting} waiting;" in text
    short = work.Work
    assert f"{short.MAX_WAITING:,} texts of at most {short.MAX_CHARACTERS:,} characters" in text
    assert f"| {process._MAX_CONNECTIONS} connections |" in text
    assert f"{app.MAX_HEAD_BYTES >> 10} KiB of address and headers" in text
    assert f"each {requests.PIECE_BYTES >> 10} KiB of an answer are taken in {seconds}" in text
    assert f"{work.MAX_UNSENT_BYTES >> 20} MiB of answers that clients have not taken" in text
    assert f"there are {work.MAX_HELD_BYTES >> 20} MiB of them" in text


def test_limits_of_automatic_settings_are_those_of_their_page():
    text = how_to("settings")
    assert f"fewer than {settings._MANY_TOKENS:,} words" in text
    biases = [
        settings.Settings(recall_bias="auto").for_corpus(1, 9, once).recall_bias
        for once in (0.5, 0.51)
    ]
    assert "This is {}, or {} if more than half".format(*biases) in text
    dictionaries = {name for name in preset_names() if load(name).settings.get("tag-dictionary")}
    assert dictionaries == {"morph", "morph-tags"}
    assert (
        "The default, 0, restricts nothing; the presets `morph` and `morph-tags` set `auto`" in text
    )
    assert f"which is 1 with more than {settings.MANY_LABELS} labels, else 0" in text


@pytest.mark.parametrize(
    ("page", "command", "option", "phrase"),
    [
        ("serve", "serve", "--port", "http://127.0.0.1:{}/"),
    ],
)
def test_defaults_in_how_to_pages_are_those_of_the_options(page, command, option, phrase):
    found = cli
    for name in command.split():
        found = found.get_command(click.Context(found), name)
    [default] = [each.default for each in found.params if option in each.opts]
    assert phrase.format(default) in how_to(page)
