"""Benchmarks run on small inputs, peers get fair features, pages are made from the results."""

from __future__ import annotations

import doctest
import json
import shutil
import subprocess
import sys

import pytest

from seqtag.features.language import load
from seqtag.features.templates import TemplateSet
from tests.conftest import ROOT

sys.path.append(str(ROOT))  # the suite stands beside the package and is not installed

from benchmarks import (
    curves,
    features,
    options,
    peers,
    report,
    run_one,
    speed,
    summary,
    tasks,
    text,
)
from benchmarks.raw import __main__ as raw
from benchmarks.raw import tools
from benchmarks.typography import VARIANTS, changed

RESULTS = json.loads((ROOT / "docs" / "benchmarks" / "results.json").read_text(encoding="utf-8"))
"""What was measured, of which the pages in the repository are made."""

CONLLU = """\
# text = It's so
1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_
1\tIt\tit\tPRON\tPRP\t_\t_\t_\t_\t_
2\t's\tbe\tAUX\tVBZ\t_\t_\t_\t_\t_
2.1\tnot\t_\t_\t_\t_\t_\t_\t_\t_
3\tso\tso\tADV\tRB\t_\t_\t_\t_\t_

1\tNo\tno\tINTJ\tUH\t_\t_\t_\t_\t_

"""


def corpus_of(task: tasks.Task, sample_dir):
    """The sample's training file for a task."""
    return sample_dir / f"en-sample-train.{'chunk.txt' if task.name == 'chunk' else 'conllu'}"


@pytest.mark.parametrize("name", ["upos", "chunk"])
def test_peers_get_the_features_of_the_presets(name, sample_dir):
    task = tasks.TASKS[name]
    preset = load("chunk" if name == "chunk" else "pos")
    compiled = TemplateSet(
        tuple(template for template in preset.templates if not template.label_offsets)
    ).compile(task.columns)
    for sentence in tasks.read(task, corpus_of(task, sample_dir))[0]:
        rows = [(word,) if isinstance(word, str) else word for word in sentence]
        given_to_peers = features.features(task.columns, sentence)
        for i, found in enumerate(given_to_peers):
            expected = set()
            for number, terms in enumerate(compiled.templates):
                values = [_value(compiled, rows, use, i + offset) for use, offset in terms]
                if None not in values:
                    expected.add(f"{number}={' '.join(values)}")
            assert set(found) == expected
            assert len(found) == len(expected)


def _value(compiled, rows, attribute, position):
    if not 0 <= position < len(rows):
        return features.LEFT if position < 0 else features.RIGHT
    column = compiled.columns.index(compiled.attributes[attribute].column)
    return compiled.apply(attribute, rows[position][column])


# ----------------------------------------------------------------- peers
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", peers.PEERS)
def test_installed_peers_learn_the_sample(name, sample_dir, tmp_path, monkeypatch):
    peer = peers.find(name)
    if reason := peers.absence(peer):
        pytest.skip(reason)
    monkeypatch.setattr(run_one, "MIN_SECONDS", 0.0)
    monkeypatch.setattr("benchmarks.peers.spacy.STEPS", 30)
    monkeypatch.setattr("benchmarks.peers.udpipe.PASSES", 2)
    monkeypatch.setattr(tasks.Task, "epochs", 2 if peer.distribution == "ufal.udpipe" else 4)
    task = tasks.TASKS[peer.tasks[-1]]
    model, out = tmp_path / "model", tmp_path / "out"
    model.mkdir()
    corpus = tmp_path / "corpus"
    tasks.shorten(corpus_of(task, sample_dir), corpus, 40)
    for step in (
        ["train", corpus, model, 1, corpus],
        ["start", model],
        ["tag", model, corpus, out],
        ["file", model, corpus, tmp_path / "tagged"],
    ):
        monkeypatch.setattr(sys, "argv", ["run_one", step[0], name, task.name, *map(str, step[1:])])
        run_one.main()
    sentences, gold = tasks.read(task, corpus)
    found = json.loads(out.read_text())["labels"]
    assert [len(labels) for labels in found] == [len(labels) for labels in gold]
    right = sum(a == b for x, y in zip(found, gold, strict=True) for a, b in zip(x, y, strict=True))
    assert right > 0.3 * sum(map(len, gold))  # on its own training data, it has learned something
    assert tasks.read(task, tmp_path / "tagged") == (sentences, found)


# ----------------------------------------------------------------- other measurements
def test_a_point_of_growth_is_measured_by_the_commands(sample_dir, tmp_path):
    corpus = sample_dir / "en-sample-train.conllu"
    for curve, size in (("base", 0), ("tokens", 300)):
        args = ["-m", "benchmarks.curves", curve, str(size), str(corpus), str(tmp_path)]
        done = subprocess.run([sys.executable, *args], capture_output=True, check=True, text=True)
    assert json.loads(done.stdout)["train_seconds"] > 0


def test_speed_is_measured(tmp_path):
    folder = tmp_path / "corpora" / "ud-english-ewt"
    folder.mkdir(parents=True)
    for part in ("train", "dev", "test"):
        (folder / f"en_ewt-ud-{part}.conllu").write_text(CONLLU)
    (tmp_path / "text").write_text("One line.\nAnd another.\n")
    work = tmp_path / "work"
    work.mkdir()
    files = speed.prepare(tmp_path / "text", tmp_path / "corpora", work)
    assert files.tokens.read_text() == "It 's so\nNo\n"
    assert files.twice.read_text() == files.text.read_text() + "\n" + files.text.read_text()
    assert speed.number_of(sys.executable, speed.CALLS) > 0


class Copy(tools.Tool):
    """A tool for raw text that gives back the gold annotation."""

    name, module, settings, trains = "UDPipe", "json", "none", True
    version = "1"

    def __init__(self, gold):
        self._gold = gold

    def command(self, step, *paths):
        source = paths[0] if step == "train" else self._gold
        copy = "import shutil, sys; shutil.copy(*sys.argv[1:])"
        return [sys.executable, "-c", copy, str(source), str(paths[2])]


def test_tools_for_raw_text_are_measured(sample_dir, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(raw, "FILE_WORDS", 10_000)
    folder, out = tmp_path / "corpora" / "sample", tmp_path / "results.json"
    folder.mkdir(parents=True)
    for path in sample_dir.glob("*.conllu"):
        shutil.copy(path, folder)
    out.write_text(json.dumps({"seed": 1}))
    [treebank] = raw.Treebank.find(folder.parent)
    monkeypatch.setitem(tools.TOOLS, "UDPipe", Copy(treebank.parts["test"]))
    arguments = ["--corpora", folder.parent, "--only", "UDPipe", "--out", out, "--merge", out]
    monkeypatch.setattr(sys, "argv", ["raw", *map(str, arguments)])
    raw.main()
    figures = json.loads(out.read_text())["raw"]["treebanks"]["sample"]["tools"]["UDPipe"]
    assert {*figures["raw"].values()} == {100.0}
    assert figures["words_per_second"] > 0
    assert capsys.readouterr().out.startswith("## From raw text\n")


def test_typography_is_varied(sample_dir):
    text = (sample_dir / "en-sample-dev.conllu").read_text("utf-8")
    assert all(changed(text, variant)[0].count("\n\n") for variant in VARIANTS.values())


# ----------------------------------------------------------------- pages
def test_pages_in_the_repository_are_made_from_the_results_in_it(tmp_path):
    docs = ROOT / "docs"
    tried = json.loads((docs / "benchmarks" / "options.json").read_text(encoding="utf-8"))
    again = "write it with python -m benchmarks.report, or .options --page"
    assert (docs / "benchmarks.md").read_text(encoding="utf-8") == report.render(RESULTS), again
    for page, name, module, found in (
        (docs / "how-to" / "settings.md", "options", "options", options.page(tried)),
        (ROOT / "README.md", "measured", "report", summary.measured(RESULTS)),
    ):
        copy = tmp_path / page.name
        copy.write_bytes(page.read_bytes())
        summary.put(copy, name, module, found)
        assert copy.read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), again


@pytest.mark.filterwarnings("default")
def test_pages_and_plots_are_the_same_again(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots need matplotlib: pip install -e '.[plot]'")
    written = []
    for name in ("a", "b"):
        report.write(RESULTS, tmp_path / name)
        files = (path for path in (tmp_path / name).rglob("*") if path.is_file())
        written.append({file.name: file.read_bytes() for file in files})
    assert written[0] == written[1]
    grown = {f"growth-{name}.svg" for name, points in RESULTS["growth"].items() if points}
    pictures = {"accuracy-speed-dark.svg", "accuracy-speed.svg", *grown}
    assert {*written[0]} == {*pictures, "results.json", "benchmarks.md"}
    assert json.loads(written[0]["results.json"]) == RESULTS


@pytest.mark.parametrize("module", [curves, report, text, raw])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0
