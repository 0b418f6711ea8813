"""What tells one training from another where templates, data and settings are the same."""

from __future__ import annotations

import pytest

from seqtag.errors import CheckpointError
from seqtag.features.attributes import attribute, registered
from seqtag.features.language import parse
from seqtag.tables.table import WordTable
from seqtag.training.train import train
from tests.strategies import corpus, each_backend, install
from tests.training.test_checkpoints import killed, model_of
from tests.treebanks import components


@pytest.mark.parametrize("changed", [{"men", "old"}, {"she", "he"}], ids=["training", "dev"])
def test_other_attributes_of_the_same_name_are_refused(changed, tmp_path, monkeypatch):
    """Rows of the one would have been taken for rows of the other, without a word."""
    monkeypatch.setattr("seqtag.features.attributes._REGISTRY", registered())
    seen = {"old", "the", "she"}
    attribute("is_seen")(lambda word: str(word in seen))
    dev = corpus("he PR, runs VB; the DT, boat NN")
    how = {"templates": parse("form[0]\nis_seen[0]"), "checkpoint": tmp_path, "dev": dev}
    killed(2, monkeypatch, **how)
    seen.symmetric_difference_update(changed - {"she"})
    with pytest.raises(CheckpointError, match=r"feature set was \w{12}, is \w{12};"):
        model_of(**how, resume=True)


@each_backend
def test_a_training_goes_on_with_the_other_backend(backend, tmp_path, monkeypatch):
    """The bytes are the same, and so are the features."""
    killed(2, monkeypatch, checkpoint=tmp_path)
    install(backend, monkeypatch)
    assert model_of(checkpoint=tmp_path, resume=True) == model_of()


def test_another_number_of_passes_is_refused(tmp_path, monkeypatch):
    """The parts have other names then, and other folders would not be looked into."""
    for then, now in ((2, 1), (1, 2)):
        folder = tmp_path / str(then)
        killed(2, monkeypatch, checkpoint=folder, passes=then)
        with pytest.raises(CheckpointError, match=f"others: passes was {then}, is {now};"):
            model_of(checkpoint=folder, resume=True, passes=now)


def test_what_a_later_part_of_a_pipeline_hangs_on_is_compared_at_once(tmp_path, monkeypatch):
    text = "the DET the, dog NOUN dog; a DET a, cat NOUN cat"
    tables = {n: WordTable.of("t", [("dog", (n,))]) for n in "ab"}
    begin = train(corpus(text, "form upos lemma"), label="upos", epochs=1)

    def trained(data=text, tables=(), **how):
        return components(corpus(data, "form upos lemma"), epochs=3, tables=tables, **how)

    killed(2, monkeypatch, trained, checkpoint=tmp_path, tables=[tables["a"]])
    for difference, how in {
        "table t was 5d7fa835f374, is 196d0ce4728e": {"tables": [tables["b"]]},
        "table t was 5d7fa835f374, is not given": {},
        "dev set was not given, is": {"dev": corpus(text, "form upos lemma")},
        "model to continue from was not given": {"init": begin},
        "training set was 2 sentences with SHA-256 ": {
            "data": text.replace("cat NOUN", "fox NOUN")
        },
        "dropout was rare, is 0.1": {"dropout": 0.1},
    }.items():
        kept = "table" not in difference and "model" not in difference
        more = {"tables": [tables["a"]]} if kept else {}
        with pytest.raises(CheckpointError, match=difference):
            trained(checkpoint=tmp_path, resume=True, **(more | how))
