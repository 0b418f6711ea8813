"""seqtag.model.compact: arrays as files store them, and what is refused of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.errors import ModelFileError
from seqtag.labels.column import LabelColumn
from seqtag.model import bundle, container
from seqtag.model.compact import packed, unpacked
from seqtag.model.container import Contents
from seqtag.model.known_words import KnownWords
from seqtag.model.model import TENSORS

COUNTS = st.lists(st.integers(0, 40), max_size=30)
SPLIT = 2**16 // 31 + 1  # keys from which on they are split


def rows(counts: list[int], largest: int, name: str = "emission") -> dict[str, np.ndarray]:
    """Rows of random keys with so many cells."""
    random = np.random.RandomState(len(counts))
    keys = np.unique(random.randint(1, largest, 2 * len(counts) + 9, dtype=np.uint64))
    cells = sum(counts)
    return {
        f"{name}.keys": np.sort(random.permutation(keys)[: len(counts)]),
        f"{name}.cells": np.array(counts, np.uint16),
        f"{name}.labels": random.randint(0, 300 if cells % 2 else 200, cells).astype(np.uint16),
        f"{name}.weights": random.randint(-128, 128, cells).astype(np.int8),
    }


def wanted(tensors: dict[str, np.ndarray]) -> dict[str, tuple]:
    return {name: TENSORS[name] for name in tensors}


def same(found: dict, expected: dict) -> bool:
    return found.keys() == expected.keys() and all(
        array.dtype == expected[name].dtype and np.array_equal(array, expected[name])
        for name, array in found.items()
    )


def without_empty(tensors: dict[str, np.ndarray], name: str = "emission") -> dict:
    cells = tensors[f"{name}.cells"]
    kept = {each: tensors[f"{name}.{each}"][cells > 0] for each in ("keys", "cells")}
    return {**tensors, **{f"{name}.{each}": array for each, array in kept.items()}}


@given(COUNTS, st.sampled_from([100, 2**31, 2**48, 2**63]))
def test_arrays_come_back_without_empty_rows(counts, largest):
    tensors = rows(counts, largest)
    assert same(unpacked(packed(tensors), wanted(tensors)), without_empty(tensors))


@pytest.mark.parametrize("count", [SPLIT - 1, SPLIT, 70_000])
@pytest.mark.parametrize("largest", [2**20, 2**48, 2**63])
def test_many_keys_of_48_bits_take_half_of_the_bytes(count, largest):
    tensors = rows([1] * count, largest)
    stored = packed(tensors)
    assert same(unpacked(stored, wanted(tensors)), tensors)
    size = sum(array.nbytes for name, array in stored.items() if "keys" in name)
    if largest == 2**20:
        assert size == 4 * count
    elif largest == 2**63 or count < SPLIT:
        assert size == 8 * count
    else:
        assert size == 4 * count + -(-(count + 2**16) // 8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {"emission.ends": t["emission.ends"][1:]}, "bits must be in as many bytes"),
        (lambda t: {"emission.ends": t["emission.ends"].astype("u2")}, "bits must be in as many"),
        (lambda t: {"emission.keys.high": t["emission.keys.high"][None]}, "bits must be in as"),
        (lambda t: {"emission.keys.high": t["emission.keys.high"] * 0}, "must have a bit per key"),
        (lambda t: {"emission.keys.low": t["emission.keys.low"][:-9]}, "bits must be in as many"),
    ],
)
def test_arrays_that_do_not_fit_together(change, message):
    stored = packed(rows([1] * 5000, 2**48))
    with pytest.raises(ValueError, match=message):
        unpacked({**stored, **change(stored)}, TENSORS)


# ---- known words
@pytest.fixture(scope="module")
def three():
    """Two models with the same known words, and one with others."""
    words, tags = [["the", "dog"], ["a", "cat"]], [["DET", "NOUN"]] * 2
    one = seqtag.train(words, tags, label="tag", epochs=1).model
    other = seqtag.train(words[:1], tags[:1], label="pos", epochs=1).model
    return [one, other, replace(one, column=LabelColumn("again"))]


def test_the_same_known_words_are_stored_once(three):
    contents = container.from_bytes(bundle.to_bytes(three))
    assert [part.get("known") for part in contents.config["parts"]] == [None, None, 0]
    assert {"p0.known", "p1.known"} <= {*contents.tensors} and "p2.known" not in contents.tensors
    models = bundle.models_of(contents)
    assert models[2].known_words.hashes is models[0].known_words.hashes
    assert [len(model.known_words) for model in models] == [4, 2, 4]
    assert bundle.to_bytes(models) == bundle.to_bytes(three)


@pytest.mark.parametrize("hashes", [[], [7], [2**20]])
def test_known_words_of_few_bytes_are_shared(three, hashes):
    known = KnownWords(np.array(hashes, np.uint64))
    models = [replace(model, known_words=known) for model in three]
    again = bundle.models_of(container.from_bytes(bundle.to_bytes(models)))
    assert [model.known_words.hashes.tolist() for model in again] == [hashes] * 3


def test_known_words_of_the_same_bytes_are_not_always_the_same(three):
    words = [np.array(hashes, np.uint64) for hashes in ([1, 2], [2 * 256 + 1])]
    models = [
        replace(model, known_words=KnownWords(hashes))
        for model, hashes in zip(three, words, strict=False)
    ]
    again = bundle.models_of(container.from_bytes(bundle.to_bytes(models)))
    assert [model.known_words.hashes.tolist() for model in again] == [[1, 2], [513]]


@pytest.mark.parametrize("number", [None, True, -1, 2, 3, "0", 0.0])
def test_only_models_before_share_their_known_words(three, number):
    contents = container.from_bytes(bundle.to_bytes(three))
    contents.config["parts"][2]["known"] = number
    with pytest.raises(ModelFileError, match="expected the number of one of 2 models before"):
        bundle.models_of(contents)


def test_known_words_are_those_of_a_model_that_has_them(three):
    config, tensors, *_ = container.from_bytes(bundle.to_bytes(three))
    del tensors["p0.known"]
    with pytest.raises(ModelFileError, match=r"expected the tensors|found a damaged one \('known'"):
        bundle.models_of(Contents(config, tensors))
