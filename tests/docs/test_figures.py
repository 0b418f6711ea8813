"""Figures and names in pages: no unfilled cells, outputs as the commands print them."""

from __future__ import annotations

import importlib
import json
import re

import click
import pytest

import seqtag
from benchmarks import howto
from seqtag import settings
from seqtag.cli import cli, main
from seqtag.corpus import stream
from seqtag.segmentation import reading
from seqtag.training import auto_settings, stacking
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
    for name in re.findall(r"^\.\. auto\w+:: (\S+)$", page.read_text("utf-8"), re.M)
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
            f"{server.MOST_UNSENT >> 20} MiB",
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
    inputs = {*re.findall(r"(?:^def test_|id=\")(\d\d)[_ ]", bad, re.M)}
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


# ------------------------------------------------------------------------------------ how-to
STORED = {
    name: json.loads((ROOT / "docs" / "benchmarks" / f"{name}.json").read_text("utf-8"))
    for name in ("howto", "options")
}


def how_to(name: str) -> str:
    """Return the text of a how-to page, each paragraph on one line."""
    text = (ROOT / "docs" / "how-to" / f"{name}.md").read_text("utf-8")
    return re.sub(r"(?<=\S)\n *(?=\S)", " ", text)


@pytest.mark.parametrize(
    ("page", "table"), howto.tables(STORED["howto"], STORED["options"]["found"]).values()
)
def test_tables_of_the_how_to_pages_are_the_stored_results(page, table):
    assert f"\n{table}\n" in (ROOT / "docs" / "how-to" / page).read_text("utf-8")


def test_figures_in_the_text_of_how_to_pages_are_the_stored_results():
    found, options = STORED["howto"], STORED["options"]["found"]["EWT UPOS"]
    cost = found["checkpoints"]
    assert (
        f"English EWT ({found['partial']['error'][0]:,} sentences, UPOS), a checkpoint takes "
        f"{cost['megabytes']:.0f} MB, and a checkpoint after each of ten epochs makes training "
        f"about {cost['percent']:.0f}% longer."
    ) in how_to("resume")
    assert f"about {found['margins']:.1f} times as long" in how_to("confidence")
    assert (
        "500 classes from 19 million words raise the accuracy of UPOS on the test set from "
        f"{options['default']['score']:.2f} to {options['--classes']['score']:.2f} (mean of five "
    ) in how_to("word-classes")


def test_sizes_of_outputs_are_those_of_the_page_on_clusters(sample_dir, tmp_path):
    rows = (sample_dir / "en-sample-train.conllu").read_text("utf-8").splitlines()
    text = "".join(row[9:] + "\n" for row in rows if row.startswith("# text = "))
    (tmp_path / "a.txt").write_text(text, "utf-8")
    times = {}
    for name, more in (("conllu", ()), ("tagged", ("--only", "upos", "--to", "tagged"))):
        out = tmp_path / name
        args = ["tag", str(tmp_path / "a.txt"), "--paragraphs", "line", "-q", "-o", str(out)]
        assert main([*args, *more]) == 0
        times[name] = out.stat().st_size / len(text.encode())
    assert round(times["tagged"]) == 2
    assert 10 <= round(times["conllu"]) <= 12
    assert "about twice the space of the input in the format `tagged`, and ten to twelve times" in (
        how_to("operate-a-cluster")
    )


def test_bytes_of_a_word_table_in_a_model_are_those_of_the_page(tmp_path):
    words = [f"{n * 2654435761 % 2**32:x}" for n in range(20_000)]
    rows = [f"{word}\t{n * n % 500}\n" for n, word in enumerate(words)]
    (tmp_path / "t.tsv").write_text("".join(rows), "utf-8")
    data = ([["a", "b"]] * 3, [["X", "Y"]] * 3)
    sizes = []
    for tables in ([], [seqtag.read_table(tmp_path / "t.tsv")]):
        tagger = seqtag.train(*data, label="upos", tables=tables, epochs=1, min_count=1)
        sizes.append(tagger.save(tmp_path / f"{len(tables)}.seqtag"))
    assert 5 < (sizes[1] - sizes[0]) / len(words) < 15
    assert "about 10 bytes per word" in how_to("lexicons")


def test_limits_of_the_server_are_those_of_its_page():
    pytest.importorskip("uvicorn", reason="needs uvicorn: pip install -e '.[serve]'")
    from seqtag.serve import connections, server

    limits, text = server.ServerLimits(), how_to("serve")
    most = 8 * (limits.threads + limits.waiting) + connections._REFUSED_AT_ONCE
    assert f"| `--max-body` | {limits.body:,} bytes |" in text
    assert f"{limits.seconds:.0f} seconds of work, and {limits.seconds:.0f} seconds for" in text
    assert f"{limits.threads} requests in progress, {limits.waiting} waiting" in text
    assert f"more, {most} by default." in text
    assert connections._HEAD_SECONDS == 10
    assert "headers of a request must arrive within ten seconds" in text
    assert f"one second for each {connections._BYTES_PER_SECOND:,} bytes" in text
    assert f"While {server.MOST_UNSENT >> 20} MiB of responses" in text


def test_limits_of_automatic_settings_are_those_of_their_page():
    text = how_to("settings")
    assert f"more than {auto_settings._ENOUGH:,} tokens" in text
    assert f"fewer than {auto_settings._TOO_FEW:,} tokens" in text
    assert f"blocks of up to {auto_settings._BLOCK} adjacent sentences" in text
    assert f"fewer than {settings._MANY_TOKENS:,} words" in text
    assert (auto_settings._HELD_OUT_EVERY, auto_settings._EARLY_EPOCHS) == (4, (3, 5))
    assert (stacking._FOLDS, stacking._FOLD_EPOCHS, stacking._BLOCK) == (2, 3, 50)


@pytest.mark.parametrize(
    ("page", "command", "option", "phrase"),
    [
        ("cluster", "cluster tag", "--attempts", "(default: {})"),
        ("train-on-shards", "cluster train", "--attempts", "(default: {})"),
        ("compare", "compare", "--resamples", "{:,} times, the same ones for both"),
        ("word-classes", "classes", "-K", "| `-K` | {} |"),
        ("word-classes", "classes", "--min-count", "| `--min-count` | {} |"),
        ("word-classes", "classes", "--passes", "| `--passes` | {} |"),
        ("serve", "serve", "--port", "http://127.0.0.1:{}/"),
    ],
)
def test_defaults_in_how_to_pages_are_those_of_the_options(page, command, option, phrase):
    found = cli
    for name in command.split():
        found = found.get_command(click.Context(found), name)
    [default] = [each.default for each in found.params if option in each.opts]
    assert phrase.format(default) in how_to(page)


def test_sizes_in_the_page_on_clusters_are_those_of_the_code():
    text = how_to("cluster")
    assert f"no token ends within {reading._LONGEST:,} characters" in text
    assert f"only white space in its first {stream.HEAD >> 10} kB" in text
