"""seqtag agree, and the same list by seqtag eval."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json

import pytest

from tests.command_line import call, conllu, home


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """a.conllu, and b.conllu with another label on line 10."""
    (tmp_path / "a.conllu").write_text(conllu())
    (tmp_path / "b.conllu").write_text(conllu().replace("sees\tVERB", "sees\tNOUN", 1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_three_files(folder, call):
    done = call("agree", "a.conllu", "b.conllu")
    assert (done.code, done.out[:29]) == (0, b"A a.conllu\nB b.conllu\n\nannota")
    reports = json.loads(call("agree", "a.conllu", "b.conllu", "a.conllu", "--json").out)
    shares = {name: each["accuracy"] for name, each in reports.items()}
    assert shares == {"A, B": 43 / 44, "A, C": 1, "B, C": 43 / 44, "A, B, C": 130 / 132}


def test_list_and_merge(folder, call):
    done = call("agree", "a.conllu", "b.conllu", "--list", "-", "--merge", "out.conllu")
    heading = b"file\tline\tsentence\twords\tA\tB\tbefore\tafter\n"
    assert done.out == heading + b"a.conllu\t10\t2\tsees\tVERB\tNOUN\ta cat\tthe dog .\n"
    assert (folder / "out.conllu").read_text() == conllu().replace("sees\tVERB", "sees\t_", 1)
    options = ("--unlabeled", "learn-around", "-o", "out.seqtag")
    assert call("train", "out.conllu", *options).code == 0
    assert call("agree", "a.conllu", "a.conllu", "--list", "-").out == heading
    assert call("agree", "a.conllu", "b.conllu", "--list", "out.conllu").code == 2  # it exists
    assert call("agree", "a.conllu", "b.conllu", "--list", "c", "--merge", "c").code == 2


def test_a_list_escapes_tabs_and_line_ends(folder, call):
    for name, label in (("a", "N"), ("b", "V")):
        row = {"tokens": ["one\ttwo\n"], "tag": [label]}
        (folder / f"{name}.jsonl").write_text(json.dumps(row))
    done = call("agree", "a.jsonl", "b.jsonl", "--list", "-")
    assert done.out.splitlines()[1] == b"a.jsonl\t1\t1\tone\\ttwo\\n\tN\tV\t\t"


def test_texts_with_spans(folder, call):
    text = "Mira Falk left Norvale."
    for name, first in (("a", [0, 9, "PER"]), ("b", [0, 4, "PER"])):
        row = {"text": text, "label": [first, [15, 22, "LOC"]]}
        (folder / f"{name}.jsonl").write_text(f"{json.dumps(row)}\n" * 3)
    reports = json.loads(call("agree", "a.jsonl", "b.jsonl", "--json").out)
    assert {name: each["f1"] for name, each in reports["A, B"]["chunk_types"].items()} == {
        "LOC": 1,
        "PER": 0,
    }
    assert call("agree", "a.jsonl", "b.jsonl", "--merge", "merged.jsonl").code == 0
    [*merged] = map(json.loads, (folder / "merged.jsonl").read_text().splitlines())
    row = {"tokens": [*text[:-1].split(), "."], "ner": ["_", "_", "O", "B-LOC", "O"]}
    assert merged == [row] * 3
    options = ("--unlabeled", "learn-around", "--min-count", "1", "-o", "out.seqtag")
    assert call("train", "merged.jsonl", *options).code == 0


def test_eval_writes_the_same_list(folder, call):
    assert call("eval", "a.conllu", "b.conllu", "--list", "wrong.jsonl").code == 0
    row = json.loads((folder / "wrong.jsonl").read_text())
    assert (row["line"], row["words"], row["gold"]) == (10, ["sees"], ["VERB"])
    assert row["predicted"] == ["NOUN"]
    done = call("eval", "-m", "en", "a.conllu", "--list", "-", "--label", "upos")
    assert done.out.startswith(b"file\tline\tsentence\twords\tgold\tpredicted\t")
    assert call("eval", "-m", "en", "a.conllu", "--list", "-").code == 2
