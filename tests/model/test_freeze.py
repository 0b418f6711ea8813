"""Freezing: mixing runs, rounding, sorting."""

from __future__ import annotations

from itertools import chain, pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import (
    Cells,
    Layout,
    Rows,
    pointers,
)
from seqtag.errors import LabelError
from seqtag.model.freeze import freeze, mean
from tests.strategies import (
    dense,
    integer_arrays,
)

NO_TRIGRAMS = np.zeros((0, 1))


def cells_of(emission, label_weights, edge, trigram=NO_TRIGRAMS) -> Cells:
    """Cells of weight matrices (rows, K), (rows, K * K) and ((K + 1) * K or 0, K)."""

    def sparse(matrix):
        row, label = np.nonzero(matrix)
        ptr = pointers(np.bincount(row, minlength=len(matrix)))
        return ptr, label.astype(np.int32), matrix[row, label].astype(np.float32)

    rows = chain.from_iterable(map(sparse, (emission, edge, trigram)))
    return Cells(*rows, np.asarray(label_weights, np.float32))


@st.composite
def weights(draw, runs: int = 1):
    """Cells of some runs over the same features, whole numbers; with the layout."""
    K, R, B = draw(st.integers(1, 4)), draw(st.integers(0, 4)), draw(st.integers(0, 2))
    order = draw(st.integers(1, 2))
    shapes = ((R, K), (K * (K + 2),), (B, K * K), ((K + 1) * K if order == 2 else 0, K))
    cells = [cells_of(*(draw(integer_arrays(*shape)) for shape in shapes)) for _ in range(runs)]
    return Layout(R, K, order, B), cells


def names(count: int, seed: int = 0) -> np.ndarray:
    """Distinct feature keys in no order."""
    return np.random.RandomState(seed).permutation(np.arange(1, count + 1)).astype(
        np.uint64
    ) * np.uint64(97)


def matrix_of(rows: Rows, width: int) -> dict[int, list[int]]:
    """The rows by key."""
    found = {}
    for key, (begin, end) in zip(rows.keys, pairwise(rows.row_ptr), strict=True):
        row = np.zeros(width, int)
        row[rows.labels[begin:end]] = rows.weights[begin:end]
        found[int(key)] = row.tolist()
    return found


# ----------------------------------------------------------------- mean
@given(weights(runs=3))
def test_mean_of_runs(instance):
    layout, runs = instance
    flat = [dense(cells, layout) for cells in runs]
    mixed = mean(runs)
    assert dense(mixed, layout) == pytest.approx(np.mean(flat, axis=0), abs=1e-6)
    trigrams = (layout.labels + 1) * layout.labels if layout.order == 2 else 0
    for ptr, label, rows in (
        (mixed.row_ptr, mixed.label, layout.rows),
        (mixed.edge_ptr, mixed.edge_label, layout.edges),
        (mixed.trigram_ptr, mixed.trigram_label, trigrams),
    ):
        assert len(ptr) == rows + 1
        for begin, end in pairwise(ptr):
            assert (np.diff(label[begin:end]) > 0).all()


@given(weights(runs=3), st.integers(1, 3))
def test_the_mean_is_the_same_block_by_block(instance, block):
    whole = mean(instance[1])
    with patch("seqtag.model.freeze._BLOCK_ROWS", block):
        found = mean(instance[1])
    for one, other in zip(whole, found, strict=True):
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())


@given(weights(runs=1))
def test_mean_of_one_run_is_that_run(instance):
    assert mean(instance[1]) is instance[1][0]


# ----------------------------------------------------------------- freeze
@given(weights(), st.integers(0, 9))
def test_freezing_rounds_to_whole_units(instance, seed):
    layout, [cells] = instance
    K = layout.labels
    row_keys, edge_keys = names(layout.rows, seed), names(layout.edges, seed)
    frozen = freeze(cells, row_keys, edge_keys, K)
    emission, start, stop, transition, trigram, edge = layout.views(dense(cells, layout))
    largest = max([abs(w) for part in (emission, edge, trigram) for w in part.ravel()], default=0)
    largest = largest or abs(cells.chain).max() or 127
    assert frozen.unit == pytest.approx(largest / 127)

    for rows, matrix, key, width in (
        (frozen.emission, emission, row_keys, K),
        (frozen.edge, edge.reshape(-1, K * K), edge_keys, K * K),
        (frozen.trigram, trigram.reshape(-1, K), np.arange(1, trigram.size // K + 1), K),
    ):
        assert (rows.labels.dtype, rows.weights.dtype) == (np.uint16, np.int8)
        assert rows.keys.tolist() == sorted(rows.keys.tolist())
        whole = {
            int(k): np.rint(row / frozen.unit).tolist() for k, row in zip(key, matrix, strict=True)
        }
        assert matrix_of(rows, width) == {k: row for k, row in whole.items() if any(row)}
        assert rows.weights.all()
    for found, label_weights in (
        (frozen.start, start),
        (frozen.stop, stop),
        (frozen.transition, transition),
    ):
        assert found.dtype == np.float32
        assert found.tolist() == np.rint(label_weights / frozen.unit).tolist()


def test_a_model_of_label_weights_alone_has_them_as_its_unit():
    cells = cells_of(np.zeros((1, 2)), np.array([0, 0, 0, 0, 2, 0, 0, -1]), np.zeros((0, 4)))
    frozen = freeze(cells, names(1), names(0), 2)
    assert frozen.transition.tolist() == [[127, 0], [0, -64]]
    nothing = freeze(
        cells_of(np.zeros((1, 2)), np.zeros(8), np.zeros((0, 4))), names(1), names(0), 2
    )
    assert nothing.unit == 1
    assert not nothing.transition.any()


@pytest.mark.parametrize(
    ("K", "edges", "trigrams", "message"),
    [
        (65_536, 0, 0, "expected at most 65535 labels, found 65536; check the label column"),
        (256, 1, 0, "expected at most 255 labels with label trigrams or word-dependent label bi"),
        (256, 0, 1, "expected at most 255 labels with label trigrams or word-dependent label bi"),
    ],
)
def test_more_labels_than_cells_can_name(K, edges, trigrams, message):
    nothing = Cells(*[np.zeros(0)] * 10)._replace(trigram_ptr=np.zeros(trigrams + 1))
    with pytest.raises(LabelError) as error:
        freeze(nothing, names(0), names(edges), K)
    assert str(error.value).startswith(message)
