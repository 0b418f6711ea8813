"""Old public names work and warn."""

from __future__ import annotations

import importlib

import pytest

MOVED = {
    "seqtag.cluster.SeqtagBatch": "seqtag.batch.SeqtagBatch",
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


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match=r"module 'seqtag.cluster' has no attribute 'Other'"):
        found("seqtag.cluster.Other")
