"""What the kernel refuses, and what fits after all."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from seqtag.engine.arrays import (
    Instances,
    LabelComponents,
    Layout,
    QuantizedWeights,
    Rows,
)
from seqtag.engine.keys import key_plan, keys
from tests.conftest import ROOT
from tests.strategies import NO_ROWS, each_backend, int32, label_ids


# ----------------------------------------------------------------- training
def train_arguments(**changes):
    """The instances of two tokens, and the other arguments of a legal train_epoch, changed."""
    x = Instances(np.array([0, 2]), np.array([0, 1, 2]), int32(0, 1))
    x = x._replace(**{name: changes.pop(name) for name in list(changes) if name in x._fields})
    return {"x": x, "y": int32(0, 0), "visits": np.array([0])} | changes


@each_backend
def test_a_label_may_have_no_part(backend):
    parts = LabelComponents(np.array([0, 0, 1]), int32(0), 1)
    weights = backend.Weights(Layout(2, 2, 0, parts=parts), "float64", "perceptron")
    arguments = train_arguments(y=int32(1, 0))
    assert weights.train_epoch(**arguments) == (1, 1)
    assert weights.decode(arguments["x"]).tolist() == [1, 0]


@each_backend
def test_too_little_memory_is_said_in_a_sentence(backend):
    with pytest.raises(MemoryError) as error:
        backend.Weights(Layout(2**31 - 1, 100, 0), "float64")
    assert str(error.value) == (
        "expected room for weights of 2147483647 rows, 100 labels and order 0, about 2504.0 GB, "
        "found too little memory; choose fewer features, a lower order, or another label column"
    )


# ----------------------------------------------------------------- many labels
MANY_LABELS = """
import resource, sys
import numpy as np
from seqtag.engine import backend
from seqtag.engine.arrays import *
from seqtag.engine.keys import key_plan, keys

resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
K = 40_000
x = Instances(np.arange(9), np.arange(9), np.arange(8, dtype=np.int32))
y = np.arange(K - 8, K, dtype=np.int32)
weights = backend.Weights(Layout(8, K, 0), "float32", "pa")
for _ in range(3):
    weights.train_epoch(x, y, np.arange(8), "pa", 1.0, 0.5)
assert (weights.decode(x) == y).all()

cells, plan, types = weights.cells(), key_plan([((0, 0),)], [0]), np.arange(8, dtype=np.int32)[None]
hashes = np.arange(1, 9, dtype=np.uint64)[None]
names = keys(plan, types, hashes, np.array([0, 8])).ravel()
order = np.argsort(names)
rows = Rows(names[order], np.arange(9), y[order].astype(np.uint16), np.full(8, 9, np.int8))
none = Rows(names[:0], np.zeros(1, np.int64), rows.labels[:0], rows.weights[:0])
start = np.zeros(K, np.float32)
frozen = QuantizedWeights(rows, none, none, start, start, np.zeros((0, 0), np.float32))
decoder = backend.Decoder(0, plan, key_plan([], [0]), frozen)
found = decoder.decode(types, hashes, np.array([0, 8]), decoder.workspace())
assert (found == y).all()
"""


@each_backend
def test_with_order_0_memory_does_not_grow_with_pairs_of_labels(backend):
    """40,000 labels: one matrix of label pairs would take 6 GB, and there are 3."""
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", MANY_LABELS],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ
        | {"SEQTAG_BACKEND": backend.name, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr


# ----------------------------------------------------------------- keys
PLAN = key_plan([((0, 0),), ((0, -1), (0, 0))], [0])


def no_weights(K) -> QuantizedWeights:
    """The weights of a model that knows nothing."""
    chain = (np.zeros(shape, np.float32) for shape in (K, K, (K, K)))
    return QuantizedWeights(NO_ROWS, NO_ROWS, NO_ROWS, *chain)


# ----------------------------------------------------------------- many rows in one sum
def weights_that_meet(plan, sentences, row) -> QuantizedWeights:
    """Rows with these weights of the labels 0, 1, ... for every feature of the sentences."""
    names = np.unique(keys(plan, *sentences))
    n, K = len(names), len(row)
    rows = Rows(
        names,
        np.arange(n + 1) * K,
        np.tile(np.arange(K, dtype=np.uint16), n),
        np.tile(np.array(row, np.int8), n),
    )
    return no_weights(K)._replace(emission=rows)


@each_backend
@pytest.mark.parametrize("templates", [255, 256, 258, 259, 300, 600])
@pytest.mark.parametrize("parts", [None, LabelComponents(np.arange(4), int32(0, 1, 2), 3)])
def test_sums_of_many_rows_are_right(backend, templates, parts):
    """Label 1 is best by far; a sum that wraps at 16 bits would be the worst of all."""
    half = templates // 2
    plan = key_plan([((0, 0),)] * (templates - half) + [((0, 0), (0, 1))] * half, [0])
    sentences = int32([0, 1, 0]), np.array([[7, 8]], np.uint64), np.array([0, 3])
    for order in range(3):
        weights = weights_that_meet(plan, sentences, [100, 127, -128])
        decoder = backend.Decoder(order, plan, key_plan([], [0]), weights, parts)
        assert label_ids(decoder, *sentences).tolist() == [1, 1, 1]


@each_backend
def test_more_rows_than_float32_can_sum_are_refused(backend):
    most = 2**24 // 128
    plan = key_plan([()] * (most + 1), [0])
    with pytest.raises(ValueError) as error:
        backend.Decoder(0, plan, key_plan([], [0]), no_weights(1))
    assert str(error.value) == "more rows can meet than 24 bits can sum"
    parts = LabelComponents(np.array([0, 2]), int32(0, 1), 2)
    with pytest.raises(ValueError) as error:
        backend.Decoder(
            0, key_plan([()] * (most // 2 + 1), [0]), key_plan([], [0]), no_weights(1), parts
        )
    assert str(error.value) == "more rows can meet than 24 bits can sum"


@each_backend
def test_more_cells_than_the_kernel_can_place_are_refused(backend, tmp_path):
    with (tmp_path / "cells").open("wb") as file:
        file.truncate(2**32)  # of zeros, that take no room
    cells = 2**31 - 4
    labels = np.memmap(tmp_path / "cells", np.uint16, "r", shape=(cells,))
    weights = np.memmap(tmp_path / "cells", np.int8, "r", shape=(cells,))
    rows = Rows(np.array([3], np.uint64), np.array([0, cells]), labels, weights)
    with pytest.raises(ValueError) as error:
        backend.Decoder(0, PLAN, key_plan([], [0]), no_weights(2)._replace(emission=rows))
    assert str(error.value) == "rows and cells are more than 2**31 words hold"
