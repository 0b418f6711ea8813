"""The benchmark suite: fair features, absent peers, fits, rules of the data, pages. No timing."""

from __future__ import annotations

import doctest
import json
import math
import sys
from types import SimpleNamespace

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
    literature,
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
from benchmarks import results as figures

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


def test_a_missing_parent_package_is_an_absent_peer():
    assert "not installed" in peers.absence(SimpleNamespace(module="no.such", distribution="x"))


def test_seqtag_without_its_kernel_is_not_measured(monkeypatch):
    monkeypatch.setattr("seqtag.engine.backend.BACKEND", "reference")
    reason = peers.absence(peers.find("seqtag"))
    assert reason == "the native kernel is missing; install with pip install -e '.[bench,plot]'"


def test_unknown_peers_are_refused():
    with pytest.raises(ValueError, match=r"expected a peer, one of seqtag, .*; found 'HAL'"):
        peers.find("HAL")


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


def test_fit_looks_at_the_last_two_decades():
    assert math.isclose(curves.fit([1, 10, 100, 1000], [99, 10, 100, 1000]).slope, 1)
    assert math.isnan(curves.fit([5], [1.0]).slope)


def test_grown_text_has_new_words_and_the_tokens_asked_for():
    words, labels = [["a", "a", "b"], ["a", "c"]], [["X", "X", "Y"], ["X", "Z"]]
    pairs = list(curves.grown(words, labels, 9))
    assert [text for text, _ in pairs] == [["a", "a", "b"], ["a", "c"], ["a", "a", "b~1"], ["a"]]
    assert all(len(text) == len(names) for text, names in pairs)


def test_made_up_labels_depend_on_word_and_label():
    words, labels = [["The", "the", "run", "run"]], [["DET", "DET", "NOUN", "VERB"]]
    [made] = curves.made_up_labels(words, labels, 1000)
    assert made[0] == made[1]
    assert made[2] != made[3]
    assert {*curves.made_up_labels(words, labels, 1)[0]} == {"L0"}


@pytest.mark.parametrize(("length", "expected"), [(2, [2, 2, 2]), (3, [3, 3]), (9, [9])])
def test_cut_gives_sentences_of_one_length(length, expected):
    assert [len(words) for words in curves.cut([["a", "b"], ["c"]], length, 6)] == expected


def test_first_templates_end_with_the_whole_preset():
    plain = [t for t in load("pos").templates if not t.label_offsets]
    assert curves.CURVES["templates"].sizes[-1] == len(plain)


# ----------------------------------------------------------------- commands
def test_costs_of_a_command():
    cost = measure.command([sys.executable, "-c", "x = 'a' * 10**8"], repeat=2)
    assert cost.runs == 2
    assert cost.cpu_seconds > 0
    assert cost.seconds > 0
    assert cost.megabytes > 90


def test_waiting_takes_no_processor_time():
    cost = measure.command([sys.executable, "-I", "-S", "-c", "import time; time.sleep(2)"], 1)
    assert cost.cpu_seconds < 1 < cost.seconds


def test_failures_of_commands_say_what_happened():
    with pytest.raises(measure.CommandError, match="exit code 1: RuntimeError: no luck"):
        measure.command([sys.executable, "-c", "raise RuntimeError('no luck')"])
    with pytest.raises(measure.CommandError, match="exit code 3: no message"):
        measure.command([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(measure.CommandError, match="stopped after 1 s of processor time, unfin"):
        measure.command([sys.executable, "-c", "while True: pass"], limit=1)
    with pytest.raises(measure.CommandError, match="stopped after 3 s"):
        measure.command([sys.executable, "-c", "import time; time.sleep(60)"], limit=0.5)


def test_missing_corpora_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--corpora", str(tmp_path)])
    with pytest.raises(SystemExit):
        suite.arguments()
    assert "expected the file" in capsys.readouterr().err


def test_quick_and_full_results_do_not_mix(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"quick": True}))
    with pytest.raises(SystemExit, match="expected the results of a full run, found those of a qu"):
        suite.earlier(path, quick=False)
    assert suite.earlier(path, quick=True)["quick"]


# ----------------------------------------------------------------- the page
FIGURES = {
    "length": "10 passes",
    "seeds": 5,
    "metric": "accuracy",
    "score": 95.345,
    "accuracy": 95.345,
    "unknown_accuracy": 80.0,
    "score_deviation": 0.034,
    "load_seconds": 0.0021,
    "first_tokens_per_second": 3e5,
    "tokens_per_second": 1.5e6,
    "train_seconds": 2.14,
    "train_cpu_seconds": 2.04,
    "train_runs": 3,
    "train_megabytes": 200.0,
    "model_megabytes": 2.5,
    "start_seconds": 0.3,
    "start_cpu_seconds": 0.2,
    "tag_megabytes": 60.0,
    "file_tokens_per_second": 19_500.0,
    "file_megabytes": 60.0,
    "file_own_command": True,
    "run": "day one",
}
MACHINE = {
    "cpu": "C",
    "cores": "2",
    "system": "S",
    "python": "3",
    "date": "2026-01-01",
    "commit": "abc",
}
DATA = {
    "preset": "pos",
    "templates": 7,
    "epochs": 10,
    "train_tokens": 9000,
    "train_sentences": 700,
    "labels": 17,
    "test_tokens": 800,
    "file_tokens": 1600,
    "unknown_tokens": 70,
}
DAYS = {"day one": "C", "day two": "C", "day three": "D"}
RESULTS = {
    "quick": False,
    "seed": 1,
    "growth_run": "day one",
    "runs": {each: MACHINE | {"cpu": cpu} for each, cpu in DAYS.items()},
    "data": dict.fromkeys(tasks.TASKS, DATA),
    "peers": {
        "seqtag": {
            "tool": "seqtag",
            "settings": "s",
            "version": "9.9",
            "tasks": {"upos": FIGURES, "xpos": FIGURES, "chunk": FIGURES | {"run": "day two"}},
        },
        "CRFsuite ap, as seqtag": {
            "tool": "CRFsuite ap",
            "settings": "c",
            "version": "2",
            "tasks": {
                "upos": FIGURES | {"score": 95.0, "train_cpu_seconds": 20.4, "train_seconds": 21},
                "chunk": FIGURES | {"score": 96.0},
            },
        },
        "NLTK, default": {
            "tool": "NLTK",
            "settings": "n",
            "version": "1",
            "tasks": {
                "upos": FIGURES | {"score": 94.0, "train_seconds": 9, "file_own_command": False},
                "xpos": {"failed": "stopped after 600 s"},
            },
        },
        "NLTK, as seqtag": {
            "tool": "NLTK",
            "settings": "n",
            "version": "1",
            "tasks": {"upos": FIGURES | {"score": 93.0, "run": "day three"}},
        },
        "spaCy, default": {
            "tool": "spaCy",
            "settings": "x",
            "tasks": {},
            "absent": "not installed; pip install spacy",
        },
    },
    "growth": {
        "tokens": [
            {
                "size": size,
                "words": size // 10,
                "train_seconds": size / 1e5,
                "first_seconds": size / 1e6,
                "tag_seconds": size / 1e6,
                "file_seconds": size / 1e5,
                "train_megabytes": 9.0,
                "file_megabytes": 60.0,
            }
            for size in (10_000, 100_000, 1_000_000)
        ],
        "labels": [],
    },
}


def test_page_shows_figures_absences_failures_and_exponents():
    page = report.render(RESULTS)
    seqtag, crfsuite, nltk, other = [line for line in page.splitlines() if "80.00" in line][:4]
    assert [cell.strip() for cell in seqtag.strip("|").split("|")] == [
        "**seqtag**",
        "10 passes",
        "95.34",
        "80.00",
        "2.0 s",
        "1,500 k/s",
        "300 k/s",
        "19.5 k/s",
        "0.20 s",
        "2.1 ms",
        "200 / 60",
        "2.5 MB",
    ]
    assert "| CRFsuite ap |" in crfsuite
    assert "| NLTK †      |" in nltk  # by the clock it took much longer
    assert "| NLTK ‡      |" in other
    assert "19.5 k/s*" in nltk
    assert "- spaCy, default: not installed; pip install spacy\n" in page
    assert "- NLTK, default (UD English-EWT XPOS): stopped after 600 s\n" in page
    titles = "UD English-EWT UPOS, UD English-EWT XPOS"
    assert f"- UDPipe, as seqtag ({titles}): not run\n" in page
    assert "9,000 training and 800 test tokens (70 unknown), 17 labels" in page
    assert "| exponent  |                |     1.00 |" in page
    assert "### Labels" not in page  # a curve without points
    assert "- seqtag; growth: C, 2 cores, S, Python 3, 2026-01-01, seqtag at commit abc\n" in page


def test_page_takes_the_templates_from_the_results():
    assert "features of seqtag's presets (`pos` has 7)" in report.render(RESULTS)
    task = tasks.TASKS["upos"]
    preset = load("pos")
    assert task.templates == sum(not each.label_offsets for each in preset.templates)
    assert task.epochs == preset.settings["epochs"]


def test_times_are_compared_within_one_run_only():
    assert math.isclose(figures.ratio(RESULTS, "upos"), 10)
    assert figures.ratio(RESULTS, "xpos") is None  # the peer was not measured
    assert figures.ratio(RESULTS, "chunk") is None  # it was, on another day
    page = " ".join(report.render(RESULTS).split())
    assert page.count("times as long to train in the same run") == 1
    assert "took 10.0 times as long to train" in page
    assert "mean of 5 seeds, with a standard deviation of 0.03." in page


def test_of_a_tool_the_better_length_is_shown():
    best = figures.best_of_tools(RESULTS, "upos")
    assert [*best] == ["seqtag", "CRFsuite ap", "NLTK"]
    assert best["NLTK"]["score"] == 94.0


def test_scores_of_seeds_become_their_mean():
    scores = [{"metric": "m", "score": score, "accuracy": 1.0} for score in (90.0, 92.0)]
    assert suite.mean_scores(scores) == {
        "metric": "m",
        "score": 91.0,
        "accuracy": 1.0,
        "score_deviation": 1.0,
    }


def test_other_tools_are_sorted_and_have_sources():
    by_task = [(figure.task, -float(figure.score)) for figure in literature.FIGURES]
    order = [*tasks.TASKS]
    assert by_task == sorted(by_task, key=lambda each: (order.index(each[0]), each[1]))
    assert all(figure.source for figure in literature.FIGURES)


# ----------------------------------------------------------------- the README
def test_readme_has_the_best_peer_of_each_task():
    rows = [line for line in summary.measured(RESULTS).splitlines() if "English-EWT UPOS" in line]
    assert [cell.strip() for cell in rows[0].strip("|").split("|")] == [
        "UD English-EWT UPOS, accuracy",
        "**95.34**",
        "95.00 (CRFsuite ap)",
        "2.0 s",
        "10.0 x",
    ]
    chunks = next(line for line in summary.measured(RESULTS).splitlines() if "chunks" in line)
    assert "95.34 | **96.00** (CRFsuite ap) |" in chunks  # what is better is bold


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
    results = json.loads((docs / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    tried = json.loads((docs / "benchmarks" / "options.json").read_text(encoding="utf-8"))
    again = "write it with python -m benchmarks.report, or .options --page"
    assert (docs / "benchmarks.md").read_text(encoding="utf-8") == report.render(results), again
    assert (docs / "options.md").read_text(encoding="utf-8") == options.page(tried), again
    readme = ROOT / "README.md"
    copy = tmp_path / "README.md"
    copy.write_bytes(readme.read_bytes())
    summary.put(copy, "measured", "report", summary.measured(results))
    assert copy.read_text(encoding="utf-8") == readme.read_text(encoding="utf-8"), again


def test_readme_shows_the_picture_in_light_and_dark():
    text = (ROOT / "README.md").read_text(encoding="utf-8").split("## Quick start")[0]
    for name in ("accuracy-speed.svg", "accuracy-speed-dark.svg"):
        assert f'="docs/benchmarks/{name}"' in text
        assert (ROOT / "docs" / "benchmarks" / name).is_file()


def test_options_are_shown_in_the_order_of_the_tasks():
    cost = {"score": 95.0, "mb": 1.5, "seconds": 2.0}
    found = {"VTB UPOS": {"default": cost}, "EWT UPOS": {"--classes": cost, "default": cost}}
    tried = {"found": found, "part": "test", "seeds": 5, "classes": 500, "version": "9.9"}
    lines = [line for line in options.page(tried).splitlines() if "95.00" in line]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells == [
        ["EWT UPOS", "default", "95.00", "1.5 MB", "2.0 s"],
        ["", "--classes", "95.00", "1.5 MB", "2.0 s"],
        ["VTB UPOS", "default", "95.00", "1.5 MB", "2.0 s"],
    ]


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
            }
        )
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    assert ["`Pipeline(text)`, 12 words", "4.00 ms", "2.00 ms", "**0.40**", "0.25 to 0.50"] in rows
    new = speed.CASES["new-text"].title  # more words a second are better
    assert [new, "0 k words/s", "0 k words/s", "0.40", "one round"] in rows


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


def test_tables_are_aligned():
    lines = text.table(["", "a"], [["x", "1"], ["long", "1,000"]]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[3].endswith("| 1,000 |")


@pytest.mark.filterwarnings("default")
def test_pages_and_plots_are_the_same_again(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots need matplotlib: pip install -e '.[plot]'")
    written = []
    for name in ("a", "b"):
        report.write(RESULTS, tmp_path / name)
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        written.append({file.name: file.read_bytes() for file in files})
    assert written[0] == written[1]
    assert [*written[0]] == [
        "accuracy-speed-dark.svg",
        "accuracy-speed.svg",
        "growth-tokens.svg",
        "results.json",
        "benchmarks.md",
    ]
    assert json.loads(written[0]["results.json"]) == RESULTS
    assert b"exponent 1.00" in written[0]["growth-tokens.svg"]


@pytest.mark.parametrize("module", [curves, report, text])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0
