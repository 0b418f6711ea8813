"""Corpora with other names of labels, joined to one."""

from __future__ import annotations

import pytest

from seqtag.errors import CorpusError, OptionError
from seqtag.labels.schemes import renamed
from seqtag.model.bundle import to_bytes
from seqtag.training.train import train
from tests.command_line import call  # noqa: F401  a fixture

SMALL = {"epochs": 3, "min_count": 1, "columns": ["form", "ner"]}
OURS = "Mira\tB-PER\nFalk\tI-PER\nlives\tO\nin\tO\nNorvale\tB-LOC\n\n" * 4
THEIRS = "Ada\tB-person\nsaw\tO\nPort\tB-place\nHale\tI-place\nMonday\tB-date\n\n" * 4
NAMES = {"person": "PER", "place": "LOC", "date": "O"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    same = THEIRS.replace("person", "PER").replace("place", "LOC").replace("B-date", "O")
    for name, text in (("ours", OURS), ("theirs", THEIRS), ("same", same)):
        (tmp_path / f"{name}.txt").write_text(text)


def test_renamed_labels_are_learned_as_if_they_were_written():
    joined = train(["ours.txt", "theirs.txt"], map=NAMES, **SMALL)
    assert joined.labels == ("B-LOC", "B-PER", "I-LOC", "I-PER", "O")
    written = train(["ours.txt", "same.txt"], **SMALL)
    assert to_bytes([joined.model]) == to_bytes([written.model])


def test_the_dev_set_is_renamed_and_may_lack_names():
    found = train(["ours.txt", "theirs.txt"], dev="theirs.txt", map=NAMES, **SMALL)
    assert found.info["training"]["dev"]["score"] == 1.0
    assert train("theirs.txt", dev="ours.txt", map=NAMES, **SMALL).labels


def test_a_type_is_renamed_with_any_prefix_and_a_label_before_its_type():
    given = ["B-person", "E-person", "B-date", "B-other", "O", "B", "person"]
    found = [renamed(label, NAMES) for label in given]
    assert found == ["B-PER", "E-PER", "O", "B-other", "O", "B", "PER"]
    assert renamed("B-person", {"B-person": "B-PER", "person": "X"}) == "B-PER"


def test_names_that_nothing_has_are_refused():
    told = r"\(O, date, person, place\), found 'persn' \(did you mean 'person'\?\)"
    with pytest.raises(CorpusError, match=told):
        train("theirs.txt", map={"persn": "PER"}, **SMALL)
    with pytest.raises(OptionError, match="expected map or partial with one label"):
        train("theirs.txt", label=["ner"], map={"person": "PER"}, **SMALL)


def test_the_command_renames_and_says_how_much(call):  # noqa: F811
    names = [part for old, new in NAMES.items() for part in ("--map", f"{old}={new}")]
    columns = ("--columns", "form,ner", "--min-count", 1, "--epochs", 2)
    done = call("train", "ours.txt", "theirs.txt", "-o", "m.seqtag", *names, *columns)
    assert (done.code, done.out) == (0, b"")
    assert "place is now LOC (8 words)" in done.err
    assert any("ner (IOB2, 2 types)" in note for note in done.notes)


@pytest.mark.parametrize("given", [["person"], ["=PER"], ["person="], ["a=b", "a=c"]])
def test_what_is_no_pair_of_names_is_refused(call, given):  # noqa: F811
    options = [part for each in given for part in ("--map", each)]
    done = call("train", "theirs.txt", "-o", "m.seqtag", *options)
    assert done.code == 2
    assert f"expected --map NAME=NAME, each once, found {given[-1]!r}" in done.err
