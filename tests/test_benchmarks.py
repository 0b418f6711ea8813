"""The benchmark suite: fair features, absent peers, fits, rules of the data, pages. No timing."""

from __future__ import annotations

import doctest
import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.features.language import load
from seqtag.features.templates import TemplateSet
from tests.conftest import ROOT

sys.path.append(str(ROOT))  # the suite stands beside the package and is not installed

from benchmarks import __main__ as suite
from benchmarks import (
    curves,
    features,
    measure,
    options,
    peers,
    report,
    run_one,
    speed,
    summary,
    tasks,
    text,
)

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


# ----------------------------------------------------------------- data
def test_reads_words_and_labels_only(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU)
    assert tasks.read(tasks.TASKS["xpos"], path) == (
        [["It", "'s", "so"], ["No"]],
        [["PRP", "VBZ", "RB"], ["UH"]],
    )
    path.write_text("# NN B-NP\nran VBD B-VP\n\n")
    chunk = tasks.TASKS["chunk"]
    assert tasks.read(chunk, path) == ([[("#", "NN"), ("ran", "VBD")]], [["B-NP", "B-VP"]])
    assert tasks.words_of(chunk, [("#", "NN")]) == ["#"]
    assert tasks.first_sentence(chunk)[0] == ("Time", "NN")


def test_shortens_to_whole_sentences(tmp_path):
    long, short = tmp_path / "long", tmp_path / "short"
    long.write_text(CONLLU)
    tasks.shorten(long, short, 1)
    assert short.read_text() == CONLLU[: CONLLU.index("1\tNo")]
    tasks.shorten(long, short, 9)
    assert short.read_text() == CONLLU


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
def test_absent_peers_are_reported_as_absent(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda module: None)
    for name in peers.PEERS:
        entry = suite.measure_peer(None, name, {}, "upos", "now")
        assert entry["absent"] == f"not installed; pip install {peers.find(name).distribution}"
        assert entry["tasks"] == {}


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


# ----------------------------------------------------------------- growth
SIZES = st.lists(st.integers(10, 999), min_size=2, unique=True)


@given(st.floats(-2, 3), st.floats(0.001, 1000), SIZES)
def test_fit_finds_the_exponent(slope, scale, sizes):
    found = curves.fit(sizes, [scale * size**slope for size in sizes])
    assert math.isclose(found.slope, slope, abs_tol=1e-6)
    assert math.isclose(found.value(100), scale * 100**slope, rel_tol=1e-6)
    assert found.sizes == (min(sizes), max(sizes))


def test_grown_text_has_new_words_and_the_tokens_asked_for():
    words, labels = [["a", "a", "b"], ["a", "c"]], [["X", "X", "Y"], ["X", "Z"]]
    pairs = list(curves.grown(words, labels, 9))
    assert [text for text, _ in pairs] == [["a", "a", "b"], ["a", "c"], ["a", "a", "b~1"], ["a"]]
    assert all(len(text) == len(names) for text, names in pairs)


def test_a_point_of_growth_is_measured_by_the_commands(sample_dir, tmp_path):
    corpus = sample_dir / "en-sample-train.conllu"
    for curve, size in (("base", 0), ("tokens", 300)):
        args = ["-m", "benchmarks.curves", curve, str(size), str(corpus), str(tmp_path)]
        done = subprocess.run([sys.executable, *args], capture_output=True, check=True, text=True)
    assert json.loads(done.stdout)["train_seconds"] > 0


# ----------------------------------------------------------------- commands
def test_costs_of_a_command():
    cost = measure.command([sys.executable, "-c", "x = 'a' * 10**8"], repeat=2)
    assert cost.runs == 2
    assert cost.cpu_seconds > 0
    assert cost.seconds > 0
    assert cost.megabytes > 90


def test_failures_of_commands_say_what_happened():
    with pytest.raises(measure.CommandError, match="exit code 1: RuntimeError: no luck"):
        measure.command([sys.executable, "-c", "raise RuntimeError('no luck')"])
    with pytest.raises(measure.CommandError, match="exit code 3: no message"):
        measure.command([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(measure.CommandError, match="stopped after 1 s of processor time, unfin"):
        measure.command([sys.executable, "-c", "while True: pass"], limit=1)
    with pytest.raises(measure.CommandError, match="stopped after 3 s"):
        measure.command([sys.executable, "-c", "import time; time.sleep(60)"], limit=0.5)


# ----------------------------------------------------------------- the pages
def test_figures_are_put_between_the_marks(tmp_path):
    page = tmp_path / "README.md"
    begin, end = "<!-- x: written by python -m benchmarks.y -->", "<!-- end of x -->"
    page.write_text(f"a\n{begin}\nold\n{end}\nb\n")
    for _ in range(2):
        summary.put(page, "x", "y", "new\n")
        assert page.read_text() == f"a\n{begin}\n\nnew\n\n{end}\nb\n"
    with pytest.raises(ValueError, match=r"README.md: expected the lines '<!-- z: .*' once each"):
        summary.put(page, "z", "y", "new\n")


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


def test_versions_are_compared_in_rounds(tmp_path):
    files = speed.Files(*[tmp_path] * len(speed.Files._fields))
    values = iter([4.0, 1.0, 4.0, 2.0, 5.0, 2.0])
    case = speed.Case("a call", "ms", lambda _python, _files: next(values), 3)
    found = speed.compare(case, {"1.0": "old", "2.0": "new"}, files)
    assert found["figures"] == {"1.0": 4.0, "2.0": 2.0}
    assert found["ratio"] == 0.4  # of the third round; the others are .25 and .5
    page = "\n".join(
        speed.section(
            {
                "versions": ["1.0", "2.0"],
                "machine": {"cpu": "C", "cores": "2", "date": "2026-01-01"},
                "cases": {"call": found, "new-text": found | {"rounds": 1}},
                "earlier": {
                    "version": "0.5",
                    "date": "2025-01-01",
                    "ratios": {"call": 2, "new-text": 3},
                },
            }
        )
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    call = ["`Pipeline(text)`, 12 words", "4.00 ms", "2.00 ms", "**0.40**", "0.25 to 0.50", "2.00"]
    assert call in rows
    new = speed.CASES["new-text"].title  # more words a second are better
    assert [new, "0 k words/s", "0 k words/s", "0.40", "one round", "**3.00**"] in rows


def test_inputs_of_speed_cases(tmp_path):
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


@pytest.mark.parametrize("module", [curves, report, text])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0
