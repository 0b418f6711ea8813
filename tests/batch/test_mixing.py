"""The arithmetic of mixing: nothing is lost on the way, and sums are what they say they are."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.batch.mixing import Fold, ShardRows, ShardUpdate, Table, mix_weights, weights_of
from seqtag.engine.arrays import RULES, Layout
from tests.engine.test_state import bits
from tests.strategies import cases, dense, each_backend, make_parts, random_case

SHAPES = [(9, 0, 0, 0), (9, 1, 3, 0), (7, 2, 2, 0), (8, 1, 0, 5), (6, 2, 1, 4)]
"""Labels, order, edge rows, parts of labels."""


def everything(layout: Layout) -> ShardRows:
    """All rows."""
    return ShardRows(layout, np.arange(layout.rows), np.arange(layout.edges))


def table(cells: dict[int, tuple[float, ...]], adaptive: bool = False) -> Table:
    """A table of some cells."""
    values = np.zeros((3 if adaptive else 2, len(cells)), np.float32)
    for i, found in enumerate(cells.values()):
        values[:, i] = found
    return Table(np.array([*cells], np.int64), values)


# ----------------------------------------------------------------- the engine's state, flat
@each_backend
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("K", "order", "B", "P"), SHAPES)
def test_a_table_holds_the_whole_state(backend, rule, K, order, B, P):
    random = np.random.RandomState(K)
    parts = make_parts([[k % P, (k + 1) % P] for k in range(K)]) if P else None
    case = random_case(random, K, order, B, values=not P, sentences=8, longest=15, parts=parts)
    weights = backend.Weights(case.layout, "float32", rule)
    weights.train_epoch(case.x, case.y, case.all_sentences, rule, 0.3, 0.5)
    part, state = everything(case.layout), weights.state()
    found = part.table(state, rule == "adaptive")
    assert found.cells.tolist() == sorted({*found.cells.tolist()})
    assert bits(part.state(found, weights.seen)) == bits(state)
    for steps in (0, weights.seen):
        theirs = weights.cells(average=bool(steps))
        assert bits(weights_of(found, case.layout, steps)) == bits(theirs)


@pytest.mark.parametrize(("K", "order", "B", "P"), SHAPES)
def test_a_part_has_its_own_rows_and_the_whole_chain(K, order, B, P):
    parts = make_parts([[k % P, (k + 1) % P] for k in range(K)]) if P else None
    layout = Layout(6, K, order, B, parts)
    part = ShardRows(layout, np.array([1, 4]), np.arange(B)[1:])
    every = everything(layout).cells
    assert every.tolist() == list(range(layout.size))
    full = Table(every, np.arange(1, 1 + 3 * layout.size, dtype=np.float32).reshape(3, -1))
    again = part.table(part.state(full, 0), adaptive=True)
    assert again.cells.tolist() == part.cells.tolist()
    assert again.values.tolist() == full.values[:, part.cells].tolist()
    assert len(part.cells) == part.own.size
    assert every[part.has(every)].tolist() == part.cells.tolist()


# ----------------------------------------------------------------- differences
@given(st.data())
def test_differences_are_the_same_sparse_and_dense(data):
    part = everything(Layout(2, 2, 1))
    cells = st.dictionaries(
        st.integers(0, part.layout.size - 1), st.tuples(*[st.integers(-1, 1)] * 2)
    )
    before, after = (
        table({cell: found[cell] for cell in sorted(found) if any(found[cell])})
        for found in (data.draw(cells), data.draw(cells))
    )
    found = ShardUpdate.of(part, before, after)
    whole = ShardUpdate(None, part, after.at(part.cells))
    changed = found.sparse(before)
    assert bits(changed) == bits(whole.sparse(before))
    assert bits(mix_weights(before, [changed], [3], 1)) == bits(after)


def test_the_smaller_form_travels():
    part = ShardRows(Layout(1000, 2, 0), np.array([3, 5]), np.zeros(0, np.int64))
    few = ShardUpdate.of(part, Table.empty(False), table({6: (1, 2)}), (3, 4))
    assert few.cells.tolist() == [6]
    assert few.cells.dtype == np.uint32
    assert (few.updates, few.wrong_tokens) == (3, 4)
    many = ShardUpdate.of(part, Table.empty(False), table(dict.fromkeys(part.cells, (1, 2))))
    assert many.cells is None
    assert many.values.shape == (2, 8)  # 2 rows of 2 labels, start and stop
    vast = ShardRows(Layout(2**32, 2, 0), np.arange(9), np.zeros(0, np.int64))
    assert ShardUpdate.of(vast, Table.empty(False), table({6: (1, 2)})).cells.dtype == np.int64


def test_cells_of_other_shards_are_not_in_a_difference():
    part = ShardRows(Layout(4, 2, 0), np.array([1]), np.zeros(0, np.int64))
    before = table({0: (5, 5), 2: (1, 1), 3: (2, 2)})
    after = table({2: (4, 1)})  # 3 is back at 0, 0 is none of its own
    found = ShardUpdate.of(part, before, after).sparse(before)
    assert found.cells.tolist() == [2, 3]
    assert found.values.tolist() == [[4, 0], [1, 0]]


# ----------------------------------------------------------------- mixing
def test_cells_are_the_mean_of_the_shards_that_changed_them():
    before = table({0: (8, 0, 1), 1: (1, 0, 1), 5: (7, 0, 7)}, adaptive=True)
    one = table({0: (2, 0, 3), 2: (6, 0, 4)}, adaptive=True)
    two = table({0: (5, 0, 6), 1: (3, 0, 2)}, adaptive=True)
    found = mix_weights(before, [one, two], [1, 2], 1)
    assert found.cells.tolist() == [0, 1, 2, 5]
    w, _, g = found.values.tolist()
    assert w == [4, 3, 6, 7]
    assert g == [5, 2, 4, 7]


def test_memory_does_not_depend_on_the_number_of_shards(monkeypatch):
    monkeypatch.setattr(Fold.__init__, "__defaults__", (1,))

    def peak(count: int) -> int:
        """The most memory of the driver, in a round of so many shards."""
        random = np.random.RandomState(1)

        def update(_: int) -> Table:
            cells = np.sort(random.permutation(20_000)[:10_000])
            return Table(cells, np.ones((3, len(cells)), np.float32))

        tracemalloc.start()
        mix_weights(Table.empty(True), map(update, range(count)), [1] * count, 1)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(200) < 1.5 * peak(20)


def test_cells_that_are_back_at_0_are_left_out():
    before = table({0: (1, 1), 4: (1, 0)})
    assert mix_weights(before, [table({0: (0, 0)})], [5], 3).cells.tolist() == [4]


def test_nothing_changed():
    before = table({0: (1, 1)})
    nothing = Table.empty(False)
    assert bits(mix_weights(before, [nothing, nothing], [1, 1], 2)) == bits(before)
    assert not len(mix_weights(nothing, [nothing], [1], 1).cells)


@given(cases(), st.integers(1, 3), st.integers(1, 3))
@pytest.mark.parametrize("rule", RULES)
@each_backend
def test_the_average_is_over_the_weights_after_every_sentence_of_every_shard(
    backend, rule, case, shards, rounds
):
    """Told shard by shard and step by step, in float64, with the mixed weights in between."""
    layout, part = case.layout, everything(case.layout)
    split = [case.all_sentences[i::shards] for i in range(shards)]
    split = [visits for visits in split if len(visits)]
    if not split:
        return
    state, stored = Table.empty(rule == "adaptive"), []
    for number in range(1, rounds + 1):
        found = []
        for visits in split:
            start = part.state(state, (number - 1) * len(visits))
            weights = backend.Weights(layout, "float32", rule, start)
            for s in visits:
                weights.train_epoch(case.x, case.y, np.array([s]), rule, 0.5, 0.25)
                stored.append(dense(weights.cells(), layout))
            after = part.table(weights.state(), rule == "adaptive")
            found.append(ShardUpdate.of(part, state, after).sparse(state))
        state = mix_weights(state, found, [len(visits) for visits in split], number)
    average = weights_of(state, layout, len(stored))
    assert dense(average, layout) == pytest.approx(np.mean(stored, axis=0), abs=1e-4)
