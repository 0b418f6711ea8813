"""The benchmark of raw text: its files, its cache, its page. No timing."""

from __future__ import annotations

import doctest
import json
import shutil
import sys

import pytest

from seqtag.corpus import read
from tests.conftest import ROOT

sys.path.append(str(ROOT))  # the suite stands beside the package and is not installed

from benchmarks import measure
from benchmarks.raw import __main__ as suite
from benchmarks.raw import report as raw_report
from benchmarks.raw import tools


@pytest.fixture
def treebank(tmp_path, sample_dir, monkeypatch):
    """The sample as a treebank in a folder of its own."""
    monkeypatch.setattr(suite, "FILE_WORDS", 10_000)
    folder = tmp_path / "corpora" / "sample"
    folder.mkdir(parents=True)
    for path in sample_dir.glob("*.conllu"):
        shutil.copy(path, folder)
    [found] = suite.Treebank.find(tmp_path / "corpora")
    return found


class Echo(tools.Tool):
    """A tool that learns the size of its files, and gives back the gold annotation."""

    name, module, settings, trains = "UDPipe", "json", "none", True
    version = "1"
    gold_file = ""

    def command(self, step, *paths):
        source, target = paths[0] if step == "train" else self.gold_file, paths[2]
        copy = "import shutil, sys; shutil.copy(*sys.argv[1:])"
        return [sys.executable, "-c", copy, str(source), str(target)]


def test_measures_a_tool_and_keeps_its_model(treebank, tmp_path):
    tool = Echo()
    tool.gold_file = treebank.parts["test"]
    for number in range(2):
        work = tmp_path / str(number)
        work.mkdir()
        one = suite.Suite("test", work, tmp_path / "cache", 60)
        data = one.prepare(treebank)
        figures = one.measure(tool, treebank, data)
        assert figures["raw"] == figures["gold"]
        assert set(figures["raw"].values()) == {100.0}
        assert set(figures["raw"]) >= {"tokens", "sentences", "words", "upos"}
        assert figures.get("from_cache", False) == bool(number)
        assert figures["model_megabytes"] > 0
    with treebank.parts["dev"].open("a") as file:
        file.write("\n")
    assert len(list((tmp_path / "cache").glob("*.udpipe"))) == 1
    assert "from_cache" not in one.measure(tool, treebank, data)


def test_prepares_text_and_blank_columns(treebank, tmp_path):
    data = suite.Suite("dev", tmp_path, None, 60).prepare(treebank)
    folder = tmp_path / "sample"
    with read(treebank.parts["dev"]) as gold, read(folder / "blank.conllu") as blank:
        gold, blank = list(gold), list(blank)
    assert [s.words for s in blank] == [s.words for s in gold]
    assert {tag for s in blank for tag in s.column("upos") + s.column("lemma")} == {"_"}
    assert data["words"] == sum(map(len, gold))
    assert data["columns"][:1] == ["upos"]
    text = (folder / "text.txt").read_text()
    assert "".join(text.split())[:20] == "".join("".join(s.words) for s in gold)[:20]
    long = (folder / "long.txt").read_text()
    assert long.count(text) == data["long_words"] // data["words"] > 1


def test_absent_tools_and_failures_are_reported(treebank, tmp_path, monkeypatch):
    monkeypatch.setattr(tools, "find_spec", lambda module: None if module == "spacy" else True)
    monkeypatch.setattr(tools.Tool, "version", "1")
    one = suite.Suite("test", tmp_path, None, 60)
    failing = Echo()
    monkeypatch.setitem(tools.TOOLS, "UDPipe", failing)
    results = {}
    suite.measure_all(one, [treebank], ["spaCy", "UDPipe"], results, lambda: None)
    raw = results["raw"]
    assert raw["tools"]["spaCy"]["absent"] == "not installed; pip install spacy"
    assert "Error" in raw["treebanks"]["sample"]["tools"]["UDPipe"]["failed"]
    page = "\n".join(raw_report.section(raw))
    assert "- spaCy: not installed; pip install spacy\n- UDPipe, sample: exit code 1: " in page
    two = suite.Suite("dev", tmp_path, None, 60)
    with pytest.raises(SystemExit, match="expected results on the dev part, found those on the te"):
        suite.measure_all(two, [], [], results, lambda: None)


def test_results_are_merged_and_saved(treebank, tmp_path, monkeypatch, capsys):
    out = tmp_path / "results.json"
    out.write_text(json.dumps({"seed": 1}))
    corpora = str(tmp_path / "corpora")
    tool = Echo()
    tool.gold_file = treebank.parts["test"]
    monkeypatch.setitem(tools.TOOLS, "UDPipe", tool)
    arguments = ["--corpora", corpora, "--only", "UDPipe", "--out", str(out), "--merge", str(out)]
    monkeypatch.setattr(sys, "argv", ["raw", *arguments])
    suite.main()
    results = json.loads(out.read_text())
    assert results["seed"] == 1
    figures = results["raw"]["treebanks"]["sample"]["tools"]["UDPipe"]
    assert figures["raw"]["tokens"] == 100
    assert figures["words_per_second"] > 0
    assert capsys.readouterr().out.startswith("## From raw text\n")
    monkeypatch.setattr(sys, "argv", ["raw", *arguments, "--docs", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"expected the results of python -m benchmarks with"):
        suite.main()
    assert measure.machine().keys() == results["raw"]["tools"]["UDPipe"]["machine"].keys()


def test_examples_in_docstrings():
    assert doctest.testmod(suite).failed == 0
