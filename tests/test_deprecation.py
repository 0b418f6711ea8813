"""Old public names work and warn."""

from __future__ import annotations

import importlib

import pytest

import seqtag
import seqtag.errors
from seqtag.corpus import sentence_of
from seqtag.training.pipeline import train_parts

MOVED = {
    "seqtag.cluster.SeqtagBatch": "seqtag.batch.SeqtagBatch",
    "seqtag.features.user_attributes.load_attributes": "seqtag.features.attributes.load_attributes",
    "seqtag.tagging.parts.cut_file": "seqtag.batch.split.cut_file",
    "seqtag.tagging.parts.join_parts": "seqtag.batch.split.join_parts",
    "seqtag.tagging.parts.part_of": "seqtag.batch.split.part_of",
    "seqtag.training.shards.train_shard": "seqtag.batch.shards.train_shard",
}


def found(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("old", MOVED)
def test_old_names_of_moved_functions_work_and_warn(old):
    new = MOVED[old]
    with pytest.warns(DeprecationWarning, match=f"{old} is deprecated .*; use {new}$"):
        assert found(old) is found(new)


@pytest.mark.parametrize(
    ("old", "new"),
    [("FileResult", "seqtag.batch.FileResult"), ("TagOptions", "seqtag.tagging.TagOptions")],
)
def test_names_that_left_the_top_of_the_package_work_and_warn(old, new):
    message = f"seqtag.{old} is deprecated .*; use {new}$"
    with pytest.warns(DeprecationWarning, match=message):
        assert getattr(seqtag, old) is found(new)
    assert old not in seqtag.__all__


def test_old_methods_of_taggers_work_and_warn():
    tagger, words = seqtag.load("en-ewt-upos"), ["Go", "!"]
    scored = tagger.tag(words, scores=True)
    with pytest.warns(DeprecationWarning, match=r"use tag\(sentence, scores=True\).margins"):
        assert tagger.margins(words) == scored.margins
    with pytest.warns(DeprecationWarning, match=r"use tag_many\(sentences, scores=True\)"):
        assert tagger.tag_with_margins([words]) == [scored]
    with pytest.warns(DeprecationWarning, match=r"use nbest\(sentence, k\)"):
        assert tagger.nbest_many([words], 2) == [tagger.nbest(words, 2)]
    with (
        pytest.warns(DeprecationWarning, match="probabilities is deprecated"),
        pytest.raises(seqtag.errors.SeqtagError, match="expected a calibrated model of upos"),
    ):
        tagger.probabilities(words)
    with pytest.warns(DeprecationWarning, match=r"Tagger.tag\(given=\) is deprecated"):
        assert tagger.tag(words, given=["NOUN", None])[0] == "NOUN"


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match=r"module 'seqtag.cluster' has no attribute 'Other'"):
        found("seqtag.cluster.Other")


def test_train_parts_takes_the_old_name_of_on_component():
    begun: list[str] = []
    sentences = [sentence_of({"form": ["a", "b"], "upos": ["X", "Y"]}) for _ in range(4)]
    with pytest.warns(DeprecationWarning, match=r"train_parts\(on_part=\) is deprecated"):
        train_parts(sentences, ["upos"], epochs=1, on_part=begun.append)
    assert begun == ["upos"]
