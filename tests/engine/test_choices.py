"""Labels left open: what enumeration finds to be the best completion is what is learned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.reference import loss_augment, permit, permitted, viterbi
from tests import brute_force, strategies
from tests.strategies import (
    cases,
    dense,
    each_backend,
    integer_arrays,
    random_case,
)


def may_have(gold, choices) -> list[set[int]]:
    """Return the labels that each token may have, from a plain loop."""
    return [{g} if g >= 0 else {*np.flatnonzero(choices[-1 - g]).tolist()} for g in gold]


# ----------------------------------------------------------------- against enumeration
@given(strategies.potentials(), st.data())
def test_the_best_completion_is_the_best_of_all_that_fit(p, data):
    T, K = p.emission.shape
    choices = data.draw(strategies.choices_of(K))
    gold = strategies.opened(
        data, np.array(data.draw(st.tuples(*[st.integers(0, K - 1)] * T)), int), choices
    )
    may = may_have(gold, choices)
    fine = permitted(gold, K, choices)
    assert [{*np.flatnonzero(row).tolist()} for row in fine] == may

    def score(y):
        if any(j not in labels for j, labels in zip(y, may, strict=True)):
            return -np.inf
        return brute_force.path_score(*p[:4], y, p.trigram)

    assert tuple(viterbi(permit(p, fine))) == brute_force.best(T, K, score)


@pytest.mark.parametrize("matrix", [False, True])
@given(strategies.potentials(), st.data())
def test_a_choice_costs_the_least_of_what_its_labels_cost(matrix, p, data):
    T, K = p.emission.shape
    choices = data.draw(strategies.choices_of(K))
    gold = strategies.opened(
        data, np.array(data.draw(st.tuples(*[st.integers(0, K - 1)] * T)), int), choices
    )
    may = may_have(gold, choices)
    cost = data.draw(integer_arrays(K, K, elements=st.integers(0, 4))) if matrix else 3.0

    def offence(y):
        total = brute_force.path_score(*p[:4], y, p.trigram)
        for labels, j in zip(may, y, strict=True):
            total += min(cost[g, j] for g in labels) if matrix else 3.0 * (j not in labels)
        return total

    assert tuple(viterbi(loss_augment(p, gold, cost, choices))) == brute_force.best(T, K, offence)


@each_backend
@given(case=cases(), data=st.data())
def test_the_update_runs_against_the_best_completion(backend, case, data):
    """Compute all weights by a plain loop: w += phi(x, best completion) - phi(x, decoded), where it is due."""
    layout, K = case.layout, case.layout.labels
    choices = data.draw(strategies.choices_of(K))
    y = strategies.opened(data, case.y, choices)
    visits = data.draw(st.lists(st.sampled_from(case.all_sentences.tolist()), max_size=5))
    weights = backend.Weights(layout, "float64", "perceptron")
    counts = weights.train_epoch(case.x, y, np.array(visits, np.int64), choices=choices)
    w = np.zeros(layout.size)
    updates = wrong = 0
    for s in visits:
        begin, end = case.x.sentence_ptr[s : s + 2]
        T, may = int(end - begin), may_have(y[begin:end], choices)

        def score(labels, s=s):
            return sum(w[c] * n for c, n in case.cells_of(s, labels).items())

        def score_fitting(labels, score=score, may=may):
            fits = all(j in fine for j, fine in zip(labels, may, strict=True))
            return score(labels) if fits else -np.inf

        y_hat = brute_force.best(T, K, score)
        mistakes = sum(j not in fine for j, fine in zip(y_hat, may, strict=True))
        if mistakes:
            for sign, path in (
                (1, brute_force.best(T, K, score_fitting)),
                (-1, y_hat),
            ):
                for cell, count in case.cells_of(s, path).items():
                    w[cell] += sign * count
        updates += mistakes > 0
        wrong += mistakes
    assert counts == (updates, wrong)
    assert dense(weights.cells(), layout).tolist() == w.tolist()


@each_backend
def test_sentences_without_any_label_teach_nothing(backend):
    case = random_case(np.random.RandomState(2), 6, 1, sentences=6, longest=9)
    weights = backend.Weights(case.layout, "float64", "perceptron")
    weights.train_epoch(case.x, case.y, case.all_sentences)
    before = dense(weights.cells(), case.layout)
    nothing, anything = np.full(len(case.y), -1, np.int32), np.ones((1, 6), bool)
    how = {"cost": 1.0, "choices": anything}
    assert weights.train_epoch(case.x, nothing, case.all_sentences, **how) == (0, 0)
    assert (dense(weights.cells(), case.layout) == before).all()
