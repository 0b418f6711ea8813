"""The arithmetic of mixing: nothing is lost on the way, and sums are what they say they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.batch.mixing import ShardRows, Table, mix_weights
from seqtag.engine.arrays import RULES, Layout
from tests.engine.test_state import bits
from tests.strategies import cases, dense, each_backend, make_parts, random_case

SHAPES = [(9, 0, 0, 0), (9, 1, 3, 0), (7, 2, 2, 0), (8, 1, 0, 5), (6, 2, 1, 4)]
"""Labels, order, edge rows, parts of labels."""


def table(cells: dict[int, tuple[float, float, float]]) -> Table:
    """A table of some cells."""
    values = np.array([*cells.values()], np.float32).reshape(len(cells), 3).T
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
    part, state = ShardRows.all_of(case.layout), weights.state()
    found = part.table(state)
    assert found.cells.tolist() == sorted({*found.cells.tolist()})
    assert bits(part.state(found, weights.seen)) == bits(state)
    for steps in (0, weights.seen):
        theirs = weights.cells(average=bool(steps))
        assert bits(part.weights(found, steps)) == bits(theirs)


@pytest.mark.parametrize(("K", "order", "B", "P"), SHAPES)
def test_a_part_has_its_own_rows_and_the_whole_chain(K, order, B, P):
    parts = make_parts([[k % P, (k + 1) % P] for k in range(K)]) if P else None
    layout = Layout(6, K, order, B, parts)
    part = ShardRows(layout, np.array([4, 1]), np.arange(B)[:0:-1])
    values = np.arange(1, 1 + 3 * layout.size, dtype=np.float32).reshape(3, -1)
    again = part.table(part.state(Table(np.arange(layout.size), values)))
    assert len(again.cells) == part.own.size
    assert again.values.tolist() == values[:, again.cells].tolist()
    rows = again.cells[again.cells < layout.rows * layout.width] // layout.width
    assert [*np.unique(rows)] == [1, 4]


# ----------------------------------------------------------------- differences
NUMBERS = st.dictionaries(st.integers(0, 11), st.tuples(*[st.integers(-1, 1)] * 3))


@given(NUMBERS, NUMBERS)
def test_changes_and_what_was_before_give_what_is_now(before, after):
    before, after = (
        table({cell: found[cell] for cell in sorted(found) if any(found[cell])})
        for found in (before, after)
    )
    changed = after.changes(before)
    assert (changed.values != before.at(changed.cells)).any(axis=0).all()
    assert bits(mix_weights(before, [changed], [3], 1)) == bits(after)


# ----------------------------------------------------------------- mixing
@given(cases(), st.integers(1, 3), st.integers(1, 3))
@pytest.mark.parametrize("rule", RULES)
@each_backend
def test_the_average_is_over_the_weights_after_every_sentence_of_every_shard(
    backend, rule, case, shards, rounds
):
    """Told shard by shard and step by step, in float64, with the mixed weights in between."""
    layout, part = case.layout, ShardRows.all_of(case.layout)
    split = [case.all_sentences[i::shards] for i in range(shards)]
    split = [visits for visits in split if len(visits)]
    if not split:
        return
    state, stored = Table.empty(), []
    for number in range(1, rounds + 1):
        found = []
        for visits in split:
            start = part.state(state, (number - 1) * len(visits))
            weights = backend.Weights(layout, "float32", rule, start)
            for s in visits:
                weights.train_epoch(case.x, case.y, np.array([s]), rule, 0.5, 0.25)
                stored.append(dense(weights.cells(), layout))
            found.append(part.table(weights.state()).changes(state))
        state = mix_weights(state, found, [len(visits) for visits in split], number)
    average = part.weights(state, len(stored))
    assert dense(average, layout) == pytest.approx(np.mean(stored, axis=0), abs=1e-4)
