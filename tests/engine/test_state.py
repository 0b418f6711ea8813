"""The whole state of weights in training: going on from it equals not having stopped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import RULES, LabelComponents, Layout, State
from tests import strategies
from tests.strategies import (
    NATIVE,
    REFERENCE,
    cases,
    dense,
    each_backend,
    random_case,
)

SIDES = [side for side in (REFERENCE, NATIVE) if side is not None]


def bits(thing) -> list:
    """Dtypes, shapes and bytes of arrays in nested tuples; numbers as they are."""
    if isinstance(thing, np.ndarray):
        return [thing.dtype, thing.shape, thing.tobytes()]
    return [bits(part) for part in thing] if isinstance(thing, tuple) else [thing]


def check_going_on(case, dtype, rule, before, after) -> None:
    """Train some visits, stop, and go on from the state on every backend."""
    how = case.x, case.y

    def train(weights, visits):
        weights.train_epoch(*how, np.asarray(visits, np.int64), rule, 0.3, 0.5)
        return weights

    straight = train(train(SIDES[0].Weights(case.layout, dtype, rule), before), after)
    states = [train(side.Weights(case.layout, dtype, rule), before).state() for side in SIDES]
    assert all(bits(state) == bits(states[0]) for state in states)
    for state in states:
        for side in SIDES:
            again = side.Weights(case.layout, dtype, rule, state)
            assert again.seen == len(before)
            assert bits(again.state()) == bits(state)
            train(again, after)
            assert bits(again.state()) == bits(straight.state())
            assert bits((again.decode(case.x),)) == bits((straight.decode(case.x),))
            for average in (False, True):
                assert bits(again.cells(average)) == bits(straight.cells(average))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.usefixtures("storage")
def test_going_on_is_not_having_stopped(dtype, rule):
    @strategies.FEW
    @given(cases(), st.data())
    def check(case, data):
        visits = st.lists(st.sampled_from(case.all_sentences.tolist()), max_size=5)
        check_going_on(case, dtype, rule, data.draw(visits), data.draw(visits))

    check()


@each_backend
@pytest.mark.parametrize("rule", RULES)
def test_a_warm_start_decodes_as_what_it_starts_from(backend, rule):
    case = random_case(np.random.RandomState(4), 5, 2, 2, sentences=6, longest=9)
    learned = backend.Weights(case.layout, "float32", "perceptron")
    learned.train_epoch(case.x, case.y, case.all_sentences)
    cells = learned.cells(average=True)
    warm = backend.Weights(case.layout, "float32", rule, State(cells))
    assert warm.seen == 0
    assert bits(warm.cells()) == bits(cells)
    assert bits(warm.cells(average=True)) == bits(cells)
    cold = backend.Weights(case.layout, "float32", rule)
    assert bits(cold.state()) == bits(
        backend.Weights(case.layout, "float32", rule, cold.state()).state()
    )
    assert warm.decode(case.x).tolist() != cold.decode(case.x).tolist()


@each_backend
def test_the_average_of_a_warm_start_is_the_mean_of_the_weights_after_every_sentence(backend):
    case = random_case(np.random.RandomState(5), 4, 1, sentences=8, longest=6)
    learned = backend.Weights(case.layout, "float64", "perceptron")
    learned.train_epoch(case.x, case.y, case.all_sentences)
    warm = backend.Weights(case.layout, "float64", "perceptron", State(learned.cells()))
    stored = []
    for s in case.all_sentences:
        warm.train_epoch(case.x, case.y, np.array([s]), "perceptron", 0.5)
        stored.append(dense(warm.cells(), case.layout))
    assert dense(warm.cells(average=True), case.layout) == pytest.approx(np.mean(stored, axis=0))


@each_backend
def test_weights_without_room_for_the_adaptive_rule_drop_its_sums(backend):
    case = random_case(np.random.RandomState(6), 4, 1, sentences=4, longest=6)
    learned = backend.Weights(case.layout, "float64", "adaptive")
    learned.train_epoch(case.x, case.y, case.all_sentences, "adaptive", 0.5)
    state = learned.state()
    assert state.g.weight.any()
    assert state.g.chain.any()
    without = backend.Weights(case.layout, "float64", "perceptron", state).state()
    assert not len(without.g.weight)
    assert not without.g.chain.any()
    assert bits(without.w) == bits(state.w)


def test_memory_is_known_before_training():
    """In bytes, of what the kernel allocates: rows of w, u and g, then what comes per label."""
    row = 4 * 8 * 3 + 4  # 5 labels fill a vector of 8
    assert Layout(1000, 5, 0).memory() == 1000 * row + 2 * 5 * 12
    assert Layout(0, 5, 1).memory() == (10 + 25) * 12 + 2 * 25 * 4
    assert Layout(0, 5, 2).memory() == Layout(0, 5, 1).memory() + 6 * 25 * 16
    parts = LabelComponents(np.arange(301), np.zeros(300, np.int32), 1)
    assert Layout(1000, 300, 0).sparse
    assert not Layout(1000, 300, 0, parts=parts).sparse
    assert Layout(10**6, 40_000, 0).memory() < 2**27
    assert Layout(10**6, 40_000, 1).memory() > 2**34
