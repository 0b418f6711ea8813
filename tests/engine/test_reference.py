"""The reference against enumeration: phi, scores, the decoder, the update, the average.

Learning is tested on every backend; `tests/test_kernel.py` compares the backends bit by bit.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import FORBIDDEN, RULES, Instances, Layout, Potentials
from seqtag.engine.reference import (
    loss_augment,
    path_score,
    phi,
    potentials,
    sum_parts,
    viterbi,
)
from tests import brute_force, strategies
from tests.strategies import Case, cases, dense, each_backend, integer_arrays


def score_under(p: Potentials):
    """Return the score of a label sequence under p, from a plain loop."""
    return lambda y: brute_force.path_score(*p[:4], y, p.trigram)


def weights_for(layout: Layout, data) -> np.ndarray:
    """Whole-number weights; without label features their cells stay 0, as training leaves them."""
    w = data.draw(integer_arrays(layout.size))
    if not layout.order:
        w[layout.rows * layout.width :] = 0
    return w


# ----------------------------------------------------------------- phi and scores
@given(cases(), st.data())
def test_phi_counts_the_cells_touched(case, data):
    for s in case.all_sentences:
        y = data.draw(st.permutations(case.gold(s).tolist()))
        counts = case.cells_of(s, y)
        found = phi(case.layout, case.x, s, np.array(y, np.int32))
        assert {c: found[c] for c in np.flatnonzero(found)} == {
            c: v for c, v in counts.items() if v
        }


@given(cases(), st.data())
def test_score_is_w_dot_phi(case, data):
    w = weights_for(case.layout, data)
    for s in case.all_sentences:
        y = case.gold(s)
        p = potentials(case.layout, case.x, s, w)
        assert path_score(p, y) == w @ phi(case.layout, case.x, s, y) == score_under(p)(y)


def test_layout_of_second_order_with_parts():
    layout = Layout(rows=2, labels=2, order=2, edges=1, parts=strategies.make_parts([[0], [0, 4]]))
    views = layout.views(np.arange(layout.size))
    assert layout.width == 5
    assert layout.size == 2 * 5 + 2 + 2 + 4 + 12 + 4
    assert [part.ravel()[0] for part in views] == [0, 10, 12, 14, 18, 30]
    assert [part.shape for part in views] == [(2, 5), (2,), (2,), (2, 2), (3, 2, 2), (1, 2, 2)]


# ----------------------------------------------------------------- labels made of parts
@given(st.data())
def test_the_score_of_a_label_is_that_of_its_parts(data):
    parts = data.draw(strategies.parts_of_labels(data.draw(st.integers(1, 4))))
    scores = data.draw(integer_arrays(data.draw(st.integers(0, 3)), parts.number))
    labels = range(len(parts.ptr) - 1)
    assert sum_parts(scores, parts).tolist() == [
        [sum(row[part] for part in parts.of(label).tolist()) for label in labels]
        for row in scores.tolist()
    ]


# ----------------------------------------------------------------- the decoder
@given(strategies.potentials())
def test_viterbi_is_the_best_of_all_sequences(p):
    T, K = p.emission.shape
    y = viterbi(p)
    assert y.dtype == np.int32
    assert tuple(y) == brute_force.best(T, K, score_under(p))
    assert path_score(p, y) == max(map(score_under(p), brute_force.paths(T, K)))


@given(strategies.potentials(forbidden=True))
def test_viterbi_where_positions_forbid_transitions(p):
    """FORBIDDEN swallows other scores: where a legal sequence exists, the best of these."""
    T, K = p.emission.shape
    legal = {y: score_under(p)(y) for y in brute_force.paths(T, K)}
    legal = {y: score for y, score in legal.items() if score > FORBIDDEN / 2}
    y = tuple(viterbi(p))
    assert len(y) == T
    if legal:
        equals = [path for path, score in legal.items() if score == max(legal.values())]
        assert y == min(equals, key=lambda path: path[::-1])


@given(strategies.potentials(), st.data())
def test_viterbi_against_gold_returns_it_only_if_nothing_else_is_as_good(p, data):
    T, K = p.emission.shape
    one_best = st.just(brute_force.best(T, K, score_under(p)))
    gold = data.draw(one_best | st.tuples(*[st.integers(0, K - 1)] * T))
    y = tuple(viterbi(p, against=np.array(gold, np.int32)))
    assert y == brute_force.best(T, K, score_under(p), against=gold)
    scores = {path: score_under(p)(path) for path in brute_force.paths(T, K)}
    highest = max(scores.values())
    unique = sum(score == highest for score in scores.values()) == 1
    assert (y == gold) == (unique and scores[gold] == highest)


def test_float32_stays_exact_in_long_sentences():
    T = 2_000  # prefix scores would reach 2e8, where float32 counts in steps of 16
    wanted = np.arange(T) // 3 % 2
    emission = np.full((T, 2), 100_000, np.float32)
    emission[np.arange(T), wanted] += 1
    nothing = np.zeros((2, 2), np.float32)
    assert (
        viterbi(Potentials(emission, nothing[0], nothing[0], nothing)).tolist() == wanted.tolist()
    )


@given(strategies.potentials(), st.data())
def test_loss_augmented_decoding_finds_the_worst_offender(p, data):
    T, K = p.emission.shape
    gold = data.draw(st.tuples(*[st.integers(0, K - 1)] * T))
    cost = data.draw(integer_arrays(K, K, elements=st.integers(0, 4)))

    def offence(y):
        return score_under(p)(y) + sum(cost[g, j] for g, j in zip(gold, y, strict=True))

    found = viterbi(loss_augment(p, np.array(gold, np.int32), cost))
    assert tuple(found) == brute_force.best(T, K, offence)


# ----------------------------------------------------------------- learning, on every backend
def train(backend, case: Case, order, dtype="float64", rule="perceptron", **options):
    """Weights after one pass over the sentences in `order`, and the pass's counts."""
    weights = backend.Weights(case.layout, dtype, rule)
    counts = weights.train_epoch(case.x, case.y, np.array(order, np.int64), rule, **options)
    return weights, counts


THREE_SENTENCES = Case(
    Layout(rows=2, labels=2),
    # tokens "a b", "b", "a a": one feature each, row 0 for a and row 1 for b
    Instances(np.array([0, 2, 3, 5]), np.arange(6), np.array([0, 1, 1, 0, 0], np.int32)),
    np.array([0, 1, 0, 0, 0], np.int32),
)


@each_backend
def test_three_sentences_computed_by_hand(backend):
    """All weights are 0 at first; E are the emission weights, Tr the transitions.

    1. "a b", gold 0 1. Everything ties: decoded 0 0.  E[b] += (-1, +1), Tr[0] += (-1, +1),
       stop += (-1, +1).  Now E[b] = (-1, 1), Tr[0] = (-1, 1), stop = (-1, 1).
    2. "b", gold 0. score(0) = -1 - 1 = -2, score(1) = 1 + 1 = 2: decoded 1.  E[b] += (+1, -1),
       start += (+1, -1), stop += (+1, -1).  Now E[b] = (0, 0), start = (1, -1), stop = (0, 0).
    3. "a a", gold 0 0. score(00) = 1 - 1 = 0, score(01) = 1 + 1 = 2, score(10) = score(11) = -1:
       decoded 0 1.  E[a] += (+1, -1), Tr[0] += (+1, -1), stop += (+1, -1).

    The mean of the three, E[a] for example: (0 + 0 + 1) / 3.
    """
    weights, counts = train(backend, THREE_SENTENCES, [0, 1, 2])
    assert counts == (3, 3)
    assert weights.seen == 3
    E, start, stop, Tr, *_ = THREE_SENTENCES.layout.views(
        dense(weights.cells(), THREE_SENTENCES.layout)
    )
    assert E.tolist() == [[1, -1], [0, 0]]
    assert (start.tolist(), stop.tolist()) == ([1, -1], [1, -1])
    assert Tr.tolist() == [[0, 0], [0, 0]]

    mean = dense(weights.cells(average=True), THREE_SENTENCES.layout)
    E, start, stop, Tr, *_ = THREE_SENTENCES.layout.views(3 * mean)
    assert pytest.approx(np.array([[1, -1], [-1, 1]])) == E
    assert start == pytest.approx([2, -2])
    assert stop == pytest.approx([0, 0])
    assert Tr == pytest.approx(np.array([[-2, 2], [0, 0]]))


@each_backend
@given(cases(), st.data())
def test_the_mistakes_of_an_epoch_tell_how_w_came_about(backend, case, data):
    order = data.draw(st.lists(st.sampled_from(case.all_sentences.tolist()), max_size=6))
    recorded = []
    weights, counts = train(backend, case, order, out_mistakes=recorded)
    [mistakes] = recorded
    assert len(mistakes.position) == counts[0]
    w, end = np.zeros(case.layout.size), 0
    for position in mistakes.position:
        s = order[position]
        gold = case.gold(s)
        begin, end = end, end + len(gold)
        y_hat = mistakes.y_hat[begin:end]
        assert y_hat.tolist() == viterbi(potentials(case.layout, case.x, s, w)).tolist()
        w += phi(case.layout, case.x, s, gold) - phi(case.layout, case.x, s, y_hat)
    assert end == len(mistakes.y_hat)
    assert w.tolist() == dense(weights.cells(), case.layout).tolist()


@each_backend
@given(cases(), st.data())
def test_the_perceptron_adds_phi_of_gold_less_phi_of_decoded(backend, case, data):
    """A whole run against enumeration: decoding, mistakes, updates, weights."""
    order = data.draw(st.lists(st.sampled_from(case.all_sentences.tolist()), max_size=6))
    ties_are_mistakes = data.draw(st.booleans())
    K = case.layout.labels
    w: dict[int, float] = {}
    updates = wrong = 0
    for s in order:
        gold = tuple(case.gold(s).tolist())

        def score(y, s=s):
            return sum(w.get(c, 0) * v for c, v in case.cells_of(s, y).items())

        y_hat = brute_force.best(len(gold), K, score, gold if ties_are_mistakes else None)
        mistakes = sum(a != b for a, b in zip(gold, y_hat, strict=True))
        updates, wrong = updates + (mistakes > 0), wrong + mistakes
        for sign, y in ((1, gold), (-1, y_hat)):
            for cell, value in case.cells_of(s, y).items():
                w[cell] = w.get(cell, 0) + sign * value

    weights, found = train(backend, case, order, ties_are_mistakes=ties_are_mistakes)
    assert found == (updates, wrong)
    assert weights.seen == len(order)
    flat = dense(weights.cells(), case.layout)
    assert {c: flat[c] for c in np.flatnonzero(flat)} == {c: v for c, v in w.items() if v}


def mean_of_stored(backend, case, order, rule, cost, step) -> tuple[np.ndarray, np.ndarray]:
    """The lazily kept average, and the mean of w stored after every sentence."""
    weights = backend.Weights(case.layout, "float64", rule)
    stored = []
    for s in order:
        weights.train_epoch(case.x, case.y, np.array([s], np.int64), rule, step, cost)
        stored.append(dense(weights.cells(), case.layout))
    return dense(weights.cells(average=True), case.layout), np.mean(stored, axis=0)


@each_backend
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("margin", [0, 1])
@strategies.FEW
@given(case=cases(), data=st.data())
def test_the_average_of_every_rule_to_rounding(backend, rule, margin, case, data):
    order = data.draw(
        st.lists(st.sampled_from(case.all_sentences.tolist()), min_size=1, max_size=9)
    )
    cost = margin * (1 - np.eye(case.layout.labels)) if margin else None
    lazy, stored = mean_of_stored(backend, case, order, rule, cost, 0.3)
    assert lazy == pytest.approx(stored, abs=1e-12)


@each_backend
def test_before_any_sentence_the_average_is_zero(backend):
    weights = backend.Weights(Layout(2, 3, edges=1))
    cells = weights.cells(average=True)
    assert weights.seen == 0
    assert not dense(cells, Layout(2, 3, edges=1)).any()
    assert cells.row_ptr.tolist() == [0, 0, 0]
    assert cells.weight.dtype == np.float32


@each_backend
@given(cases())
def test_pa_with_room_meets_its_margin_exactly(backend, case):
    """After the update with C out of the way, score(y) - score(y_hat) == cost of y_hat."""
    case = case._replace(x=case.x._replace(values=None))
    layout, cost = case.layout, 1 - np.eye(case.layout.labels)
    weights = backend.Weights(layout, "float64", "pa")
    for s in case.all_sentences:
        w, gold = dense(weights.cells(), layout), case.gold(s)
        y_hat = viterbi(loss_augment(potentials(layout, case.x, s, w), gold, cost))
        weights.train_epoch(case.x, case.y, np.array([s]), "pa", 1e6, cost)
        w = dense(weights.cells(), layout)
        difference = phi(layout, case.x, s, gold) - phi(layout, case.x, s, y_hat)
        if difference.any():  # no features, no way to tell the two apart
            assert w @ difference == pytest.approx((gold != y_hat).sum())


@each_backend
@given(cases(), st.sampled_from([0.125, 0.5]))
def test_pa_never_steps_further_than_c(backend, case, C):
    cost = 8 * (1 - np.eye(case.layout.labels))  # the loss asks for far more than C
    s = case.all_sentences[:1]
    gold = case.gold(0)
    y_hat = viterbi(
        loss_augment(potentials(case.layout, case.x, 0, np.zeros(case.layout.size)), gold, cost)
    )
    delta = phi(case.layout, case.x, 0, gold) - phi(case.layout, case.x, 0, y_hat)
    squared = float(delta @ delta)
    loss = 8.0 * (gold != y_hat).sum()
    weights, _ = train(backend, case, s, rule="pa", step=C, cost=cost)
    step = min(C, loss / squared) if squared else 0
    assert dense(weights.cells(), case.layout) == pytest.approx(step * delta)


@each_backend
def test_adaptive_steps_shrink_with_the_root_of_their_number(backend):
    """The token is wrong every time: its cells move by eta / sqrt(1), eta / sqrt(2), ..."""
    x = Instances(np.array([0, 1]), np.array([0, 1]), np.array([0], np.int32))
    case = Case(Layout(1, 2, order=0), x, np.array([1], np.int32))
    cost = 100 * (1 - np.eye(2))  # the margin is out of reach
    weights, counts = train(backend, case, [0, 0, 0], rule="adaptive", step=0.5, cost=cost)
    total = 0.5 * (1 + 2**-0.5 + 3**-0.5)
    assert counts == (3, 3)
    assert dense(weights.cells(), case.layout)[:2] == pytest.approx([-total, total])
