"""Freezing: mixing runs, rounding, sorting; the frozen decoder against the weights it came from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.encoding import key_plan, keys, pointers
from seqtag.errors import LabelError
from seqtag.frozen import Rows, freeze, mean
from seqtag.reference import Cells, Layout
from tests import brute_force
from tests.strategies import dense, each_backend, integer_arrays, label_ids


def cells_of(emission: np.ndarray, block: np.ndarray, edge: np.ndarray) -> Cells:
    """Cells of two weight matrices (rows, K) and (rows, K * K)."""

    def sparse(matrix):
        row, label = np.nonzero(matrix)
        ptr = pointers(np.bincount(row, minlength=len(matrix)))
        return ptr, label.astype(np.int32), matrix[row, label].astype(np.float32)

    return Cells(*sparse(emission), *sparse(edge), np.asarray(block, np.float32))


@st.composite
def weights(draw, runs: int = 1):
    """Cells of some runs over the same features, whole numbers; with the layout."""
    K, R, B = draw(st.integers(1, 4)), draw(st.integers(0, 4)), draw(st.integers(0, 2))
    shapes = ((R, K), (K * (K + 2),), (B, K * K))
    cells = [cells_of(*(draw(integer_arrays(*shape)) for shape in shapes)) for _ in range(runs)]
    return Layout(R, K, 1, B), cells


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
    for ptr, rows in ((mixed.row_ptr, layout.rows), (mixed.edge_ptr, layout.edges)):
        assert len(ptr) == rows + 1
    for begin, end in pairwise(mixed.row_ptr):
        assert (np.diff(mixed.label[begin:end]) > 0).all()


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
    emission, start, stop, transition, edge = layout.blocks(dense(cells, layout))
    largest = max([abs(w) for part in (emission, edge) for w in part.ravel()], default=0)
    largest = largest or abs(cells.block).max() or 127
    assert frozen.unit == pytest.approx(largest / 127)

    for rows, matrix, key, width in (
        (frozen.emission, emission, row_keys, K),
        (frozen.edge, edge.reshape(-1, K * K), edge_keys, K * K),
    ):
        assert (rows.labels.dtype, rows.weights.dtype) == (np.uint16, np.int8)
        assert rows.keys.tolist() == sorted(rows.keys.tolist())
        whole = {
            int(k): np.rint(row / frozen.unit).tolist() for k, row in zip(key, matrix, strict=True)
        }
        assert matrix_of(rows, width) == {k: row for k, row in whole.items() if any(row)}
        assert rows.weights.all()
    for found, block in (
        (frozen.start, start),
        (frozen.stop, stop),
        (frozen.transition, transition),
    ):
        assert found.dtype == np.int32
        assert found.tolist() == np.rint(block / frozen.unit).tolist()


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_the_largest_weight_is_127(scale):
    random = np.random.RandomState(0)
    for _ in range(20):
        cells = cells_of(
            random.normal(size=(5, 3)) * scale, np.zeros(15), random.normal(size=(2, 9)) * scale
        )
        frozen = freeze(cells, names(5), names(2), 3)
        assert max(abs(int(w)) for w in (*frozen.emission.weights, *frozen.edge.weights)) == 127


def test_rows_that_round_to_nothing_are_gone():
    cells = cells_of(
        np.array([[0, 0.1], [127, 0], [0, 0], [-0.4, 0.6]]), np.zeros(8), np.zeros((0, 4))
    )
    frozen = freeze(cells, np.array([40, 30, 20, 10], np.uint64), np.zeros(0, np.uint64), 2)
    assert matrix_of(frozen.emission, 2) == {10: [0, 1], 30: [127, 0]}


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
    ("K", "edges", "message"),
    [
        (
            65_536,
            0,
            "expected at most 65535 labels, found 65536; is the label column the right one?",
        ),
        (
            256,
            1,
            "expected at most 255 labels with label bigrams that see words, found 256; "
            "is the label column the right one?",
        ),
    ],
)
def test_more_labels_than_cells_can_name(K, edges, message):
    nothing = Cells(*[np.zeros(0)] * 7)
    with pytest.raises(LabelError) as error:
        freeze(nothing, names(0), names(edges), K)
    assert str(error.value) == message


# ----------------------------------------------------------------- the decoder
@each_backend
@given(data=st.data())
def test_decoding_sums_the_rows_found_and_takes_the_best(backend, data):
    """Small sentences against enumeration; scores are whole numbers, so ties are real."""
    K, order = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 1))
    edges = order and data.draw(st.integers(0, 1))
    plan, edge_plan = key_plan([((0, 0),), ((0, -1),)], [0]), key_plan([((0, 0),)] * edges, [0], 2)
    ptr = pointers(data.draw(st.lists(st.integers(0, 4), max_size=3)))
    N = int(ptr[-1])
    types = data.draw(integer_arrays(1, N, elements=st.integers(0, 2))).astype(np.int32)
    hashes = np.array([[11, 12, 0]], np.uint64)  # the third type has no attribute

    def rows(plan, width):
        known = np.unique(keys(plan, types, hashes, ptr))
        known = known[known != 0][::2]  # every other feature was pruned
        matrix = data.draw(integer_arrays(len(known), width))
        ptr_, label, weight, *_ = cells_of(matrix, np.zeros(0), np.zeros((0, 1)))
        return Rows(known, ptr_, label.astype(np.uint16), weight.astype(np.int8)), dict(
            zip(known.tolist(), matrix, strict=True)
        )

    (emission_rows, emission_of), (edge_rows, edge_of) = rows(plan, K), rows(edge_plan, K * K)
    block = [data.draw(integer_arrays(*shape)).astype(np.float32) for shape in ((K,), (K,), (K, K))]
    decoder = backend.Frozen(K, order, plan, edge_plan, emission_rows, edge_rows, *block)

    start, stop, transition = block if order else map(np.zeros_like, block)
    found, edge_found = (keys(p, types, hashes, ptr).tolist() for p in (plan, edge_plan))
    expected = []
    for begin, end in pairwise(ptr):
        emission = [
            sum((emission_of.get(key, np.zeros(K)) for key in found[n]), np.zeros(K))
            for n in range(begin, end)
        ]
        matrices = np.array(
            [
                transition
                + sum(edge_of.get(key, np.zeros(K * K)).reshape(K, K) for key in edge_found[n])
                for n in range(begin, end)
            ]
        ).reshape(-1, K, K)

        def score(y, emission=emission, matrices=matrices):
            return brute_force.path_score(emission, start, stop, matrices, y)

        expected += brute_force.best(end - begin, K, score)
    labels = label_ids(decoder, types, hashes, ptr)
    assert labels.dtype == np.int32
    assert labels.tolist() == expected


def hash_with_key(plan, key: int) -> int:
    """The attribute value whose key under the first template, of one term, is `key`."""

    def inverse(odd: int) -> int:
        return pow(odd, -1, 1 << 64)

    mixed = key * inverse(0xFF51AFD7ED558CCD) % (1 << 64)
    total = mixed ^ (mixed >> 32)
    return (total - int(plan.seed[0])) * inverse(int(plan.multiplier[0])) % (1 << 64)


@each_backend
@pytest.mark.parametrize("offset", [0, 1])  # at offset 1 of a bigram keys are looked up, not summed
def test_keys_that_agree_in_one_half_are_told_apart(backend, offset):
    terms = ((0, 0),) if offset == 0 else ((0, 0), (0, 1))
    plan = key_plan([terms], [0])
    wanted = [5 + (n << 40) for n in range(1, 5)]  # one low half, and one slot of any small table
    shift = 0 if offset == 0 else 0xC2B2AE3D27D4EB4F * int(plan.multiplier[1])  # beyond the end
    seeded = plan._replace(seed=plan.seed + np.uint64(shift % (1 << 64)))
    hashes = np.array([[hash_with_key(seeded, key) for key in wanted]], np.uint64)
    types, ptr = np.arange(4, dtype=np.int32)[None], np.arange(5)
    assert keys(plan, types, hashes, ptr).ravel().tolist() == wanted

    known = wanted[:1] + wanted[2:]  # the second is no feature, though it looks like one
    rows = Rows(
        np.array(known, np.uint64),
        np.arange(4),
        np.array([1, 2, 3], np.uint16),
        np.full(3, 9, np.int8),
    )
    nothing = Rows(rows.keys[:0], np.zeros(1, np.int64), rows.labels[:0], rows.weights[:0])
    block = np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros((4, 4), np.float32)
    decoder = backend.Frozen(4, 0, plan, key_plan([], [0]), rows, nothing, *block)
    assert label_ids(decoder, types, hashes, ptr).tolist() == [1, 0, 2, 3]


def legal_model(**changes):
    """Arguments of Frozen for two labels and two rows, changed."""
    rows = Rows(
        np.array([3, 7], np.uint64),
        np.array([0, 1, 2]),
        np.array([0, 1], np.uint16),
        np.array([5, -5], np.int8),
    )
    K, empty = changes.pop("K", 2), key_plan([], [])
    edge = Rows(
        np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint16), np.zeros(0, np.int8)
    )
    block = {
        "start": np.zeros(2, np.float32),
        "stop": np.zeros(2, np.float32),
        "transition": np.zeros((2, 2), np.float32),
    }
    block |= {name: changes.pop(name) for name in list(changes) if name in block}
    if changes.pop("in_edge", False):
        rows, edge = rows._replace(), rows._replace(**changes)
    else:
        rows = rows._replace(**changes)
    return K, 1, empty, empty, rows, edge, *block.values()


SHAPES = "start, stop and transition must be (K,), (K,) and (K, K)"
POINTERS = "row_ptr must ascend from 0 to the number of cells"


@each_backend
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": 0}, "labels must be 1 to 65535"),
        ({"K": 65_536}, "labels must be 1 to 65535"),
        ({"row_ptr": np.array([0, 1, 3])}, POINTERS),
        ({"row_ptr": np.array([0, 2])}, POINTERS),
        ({"row_ptr": np.array([0, 3, 2])}, POINTERS),
        ({"row_ptr": np.array([0, 3, 2]), "in_edge": True}, POINTERS),
        ({"weights": np.ones(1, np.int8)}, "cell labels and weights differ in length"),
        ({"labels": np.array([0, 2], np.uint16)}, "a cell's label is out of range"),
        (
            {"labels": np.array([0, 4], np.uint16), "in_edge": True},
            "a cell's label is out of range",
        ),
        ({"keys": np.array([7, 3], np.uint64)}, "keys must ascend"),
        ({"keys": np.array([3, 3], np.uint64)}, "keys must ascend"),
        ({"keys": np.array([0, 3], np.uint64)}, "keys must ascend"),
        ({"start": np.zeros(1, np.float32)}, SHAPES),
        ({"stop": np.zeros(3, np.float32)}, SHAPES),
        ({"transition": np.zeros((2, 3), np.float32)}, SHAPES),
        ({"transition": np.zeros((3, 2), np.float32)}, SHAPES),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(backend, changes, message):
    backend.Frozen(*legal_model())
    with pytest.raises(ValueError) as error:
        backend.Frozen(*legal_model(**changes))
    assert str(error.value) == message
