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
    (tmp_path / "ours.txt").write_text(OURS)
    (tmp_path / "theirs.txt").write_text(THEIRS)
    names = {f"{letter}-{old}": f"{letter}-{new}" for old, new in NAMES.items() for letter in "BI"}
    same = THEIRS
    for old, new in names.items():
        same = same.replace(old, "O" if new.endswith("-O") else new)
    (tmp_path / "same.txt").write_text(same)
    return tmp_path


def test_renamed_labels_are_learned_as_if_they_were_written():
    joined = train(["ours.txt", "theirs.txt"], map=NAMES, **SMALL)
    assert joined.labels == ("B-LOC", "B-PER", "I-LOC", "I-PER", "O")
    written = train(["ours.txt", "same.txt"], **SMALL)
    assert to_bytes([joined.model]) == to_bytes([written.model])


def test_the_dev_set_is_renamed_and_may_lack_names(caplog):
    found = train(["ours.txt", "theirs.txt"], dev="theirs.txt", map=NAMES, **SMALL)
    assert found.info["training"]["dev"]["score"] == 1.0
    assert train("theirs.txt", dev="ours.txt", map=NAMES, **SMALL).labels
    assert "no word" not in caplog.text


@pytest.mark.parametrize(
    ("label", "new"),
    [
        ("B-person", "B-PER"),
        ("I-person", "I-PER"),
        ("B-date", "O"),
        ("B-other", "B-other"),
        ("O", "O"),
        ("B", "B"),
        ("person", "PER"),
        ("E-person", "E-PER"),
    ],
)
def test_a_type_is_renamed_with_any_prefix(label, new):
    assert renamed(label, NAMES) == new


def test_a_label_is_renamed_before_its_type():
    assert renamed("B-person", {"B-person": "B-PER", "person": "X"}) == "B-PER"
    sentences, labels = [["to", "be"]] * 3, [["PART", "AUX"]] * 3
    options = {"label": "upos", "epochs": 2, "min_count": 1}
    assert train(sentences, labels, map={"AUX": "VERB"}, **options).labels == ("PART", "VERB")
    same = [["PART", "VERB"]] * 3
    joined = train(sentences, labels, map={"AUX": "VERB"}, **options)
    assert to_bytes([joined.model]) == to_bytes([train(sentences, same, **options).model])


def test_names_that_nothing_has_are_refused():
    with pytest.raises(
        CorpusError, match=r"\(O, date, person, place\), found 'persn' \(did you mean 'person'\?\)"
    ):
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
