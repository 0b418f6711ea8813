"""Margins, the n best sequences and given labels: reference against enumeration, then the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.alternatives import margins, max_marginals, n_best, restrict
from seqtag.engine.arrays import (
    FORBIDDEN,
    NO_TAG_DICTIONARY,
    Allowed,
    Potentials,
    QuantizedWeights,
    Rows,
    TagDictionary,
    pointers,
)
from seqtag.engine.keys import key_plan, keys
from seqtag.engine.reference import path_score, viterbi
from tests import brute_force
from tests.strategies import (
    NATIVE,
    REFERENCE,
    each_backend,
    make_parts,
    needs_native,
    potentials,
    sparse_rows,
)


def scores(p: Potentials) -> dict[tuple[int, ...], float]:
    """Return the score of each allowed label sequence, from a plain loop."""
    T, K = p.emission.shape
    found = {y: brute_force.path_score(*p[:4], y, p.trigram) for y in brute_force.paths(T, K)}
    return {y: score for y, score in found.items() if score > FORBIDDEN / 2}


def ranked(p: Potentials) -> list[tuple[float, list[int]]]:
    """All of them, the best first; of equals the lower labels, from the last token on."""
    by_score = sorted(scores(p).items(), key=lambda item: (-item[1], item[0][::-1]))
    return [(score, list(y)) for y, score in by_score]


# ----------------------------------------------------------------- the reference
@given(potentials(forbidden=True))
def test_max_marginals_are_the_best_scores_through_each_label(p):
    every = scores(p)
    if not every:
        return
    best = max(every.values())
    for (t, j), lacks in np.ndenumerate(max_marginals(p)):
        through = [score for y, score in every.items() if y[t] == j]
        assert lacks == max(through) - best if through else lacks < FORBIDDEN / 2


@given(potentials(forbidden=True), st.data())
def test_margins_are_to_the_best_sequence_with_another_group_there(p, data):
    every, (T, K) = scores(p), p.emission.shape
    groups = np.array(data.draw(st.lists(st.integers(0, 2), min_size=K, max_size=K)), np.int32)
    if not every:
        return
    y = viterbi(p)
    best = max(every.values())
    margin, rival = margins(p, y, groups)
    for t in range(T):
        others = {j: -np.inf for j in range(K) if groups[j] != groups[y[t]]}
        for path, score in every.items():
            if path[t] in others:
                others[path[t]] = max(others[path[t]], score)
        high = max(others.values(), default=-np.inf)
        assert margin[t] == best - high
        expected = min((j for j, score in others.items() if score == high), default=-1)
        assert rival[t] == (expected if high > -np.inf else -1)


@given(potentials(forbidden=True), st.integers(1, 40))
def test_the_n_best_are_those_of_enumeration(p, n):
    expected = ranked(p)[:n]
    found = [(score, y.tolist()) for score, y in n_best(p, n)]
    if expected:
        assert found == expected
    else:
        assert [y for _, y in found] == [viterbi(p).tolist()]
        assert found[0][0] > FORBIDDEN / 2


@given(potentials(), st.data())
def test_given_labels_stay_and_the_rest_is_the_best_around_them(p, data):
    T, K = p.emission.shape
    label = st.none() | st.integers(0, K - 1)
    given_labels = data.draw(st.lists(label, min_size=T, max_size=T))
    allowed = [np.array([] if j is None else [j], np.int32) for j in given_labels]
    fitting = [
        (score, y)
        for score, y in ranked(p)
        if all(j is None or j == z for j, z in zip(given_labels, y, strict=True))
    ]
    assert viterbi(restrict(p, allowed)).tolist() == fitting[0][1]


# ----------------------------------------------------------------- both sides, as models use them
def model(random, K, order, edges=False, parts=None, known=NO_TAG_DICTIONARY, forbid=False, size=3):
    """Arguments of a Decoder with whole-number weights, and what encodes its sentences."""
    templates = [((0, 0),), ((0, -1),), ((0, 0), (0, 1))]
    plan, edge_plan = key_plan(templates, [0]), key_plan([((0, 0),)] * edges, [0], 3)
    hashes = random.integers(1, 2**62, (1, 6)).astype(np.uint64)
    everything = np.arange(36, dtype=np.int32) // np.tile([1, 6], 18) % 6
    types, ptr = everything[None], np.array([0, 36])

    def rows(plan, width):
        names = np.unique(keys(plan, types, hashes, ptr))
        return sparse_rows(names, random.integers(-size, size + 1, (len(names), width)))

    chain = [random.integers(-size, size + 1, shape).astype(np.float32) for shape in (K, K, (K, K))]
    if forbid and order:
        never = random.random((K, K)) < 0.3
        np.fill_diagonal(never, False)
        chain[2][never] = FORBIDDEN
    trigrams = random.integers(-size, size + 1, ((K + 1) * K if order == 2 else 0, K))
    names = np.arange(1, len(trigrams) + 1, dtype=np.uint64)
    weights = QuantizedWeights(
        rows(plan, parts.number if parts else K),
        rows(edge_plan, K * K),
        sparse_rows(names, trigrams),
        *chain,
    )
    return (order, plan, edge_plan, weights, parts, known), hashes


def sentences(random, lengths):
    ptr = pointers(lengths)
    return random.integers(0, 6, (1, int(ptr[-1]))).astype(np.int32), ptr


def some_allowed(random, tokens, K) -> Allowed:
    """Labels for a third of the tokens: one or two of them."""
    lists = [
        sorted({*random.integers(0, K, random.integers(1, 3)).tolist()})
        if random.random() < 0.3
        else []
        for _ in range(tokens)
    ]
    flat = np.array([label for labels in lists for label in labels], np.int32)
    return Allowed(pointers(map(len, lists)), flat)


KINDS = [
    {"order": 0},
    {"order": 1},
    {"order": 2},
    {"order": 1, "edges": True},
    {"order": 2, "edges": True},
    {"order": 0, "parts": True},
    {"order": 2, "parts": True},
    {"order": 1, "known": True},
    {"order": 2, "known": True, "edges": True},
    {"order": 1, "forbid": True},
    {"order": 2, "forbid": True},
]


def made(random, K, kind):
    """The model of a kind, and its hashes; known words have one or two of the labels."""
    kind = dict(kind)
    if kind.pop("parts", False):
        kind["parts"] = make_parts([[j % 3, 3 + j // 3] for j in range(K)])
    knows = kind.pop("known", False)
    arguments, hashes = model(random, K, **kind)
    if knows:
        names = np.sort(hashes[0, :3])
        labels = np.array([0, K - 1, K // 2, K // 3, K - 1], np.uint16)
        labels[:2].sort()
        labels[3:].sort()
        counts = [2, 1, 2] if K > 1 else [1, 1, 1]
        labels = labels if K > 1 else labels[:3] * 0
        arguments = (*arguments[:5], TagDictionary(0, names, pointers(counts), labels))
    return arguments, hashes


@needs_native
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("K", [1, 2, 3, 5, 9])
def test_kernel_and_reference_agree(kind, K):
    """Longer sentences, more labels, larger weights, groups of labels."""
    random = np.random.default_rng(K)
    arguments, hashes = made(random, K, kind | {"size": 9})
    types, ptr = sentences(random, [*random.integers(0, 12, 12), 300 if K == 5 else 20])
    groups = random.integers(0, K, K).astype(np.int32)
    native, reference = (b.Decoder(*arguments) for b in (NATIVE, REFERENCE))
    space = native.workspace()
    for allowed in (None, some_allowed(random, types.shape[1], K)):
        if allowed is not None and "forbid" in kind:
            continue  # the rules may leave no sequence at all, and then ties decide
        assert np.array_equal(
            native.decode(types, hashes, ptr, space, allowed),
            reference.decode(types, hashes, ptr, None, allowed),
        )
        ours = native.margins(types, hashes, ptr, groups, space, allowed)
        theirs = reference.margins(types, hashes, ptr, groups, None, allowed)
        for one, other in zip(ours, theirs, strict=True):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)
    for n in (1, 4):
        few, end = types[:, : ptr[4]], ptr[:5]
        ours = native.n_best(few, hashes, end, n, space)
        theirs = reference.n_best(few, hashes, end, n)
        for one, other in zip(ours, theirs, strict=True):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)


@each_backend
def test_given_labels_that_break_rules_on_both_sides(backend):
    for order in (1, 2):
        random = np.random.default_rng(order)
        arguments, hashes = made(random, 4, {"order": order})
        order_, plan, edge_plan, weights, *rest = arguments
        for change in ("transition", "start", "stop"):
            broken = getattr(weights, change).copy()
            broken[..., 2] = FORBIDDEN
            changed = weights._replace(**{change: broken})
            types, ptr = sentences(random, [6])
            lists = {"transition": {2: 0, 3: 2}, "start": {0: 2}, "stop": {5: 2}}[change]
            flat = [[lists[n]] if n in lists else [] for n in range(6)]
            allowed = Allowed(pointers(map(len, flat)), np.array([*lists.values()], np.int32))
            frozen = backend.Decoder(order_, plan, edge_plan, changed, *rest)
            free = REFERENCE.Decoder(*arguments)
            found = frozen.decode(types, hashes, ptr, frozen.workspace(), allowed)
            [(_, p)] = free._potentials(types, hashes, ptr, None, allowed)
            if change == "transition":  # no other token may have the label but after nothing
                p = p._replace(emission=p.emission.copy())
                p.emission[[1, 2, 4, 5], 2] = FORBIDDEN
            assert path_score(p, found) == max(scores(p).values())
            judged = frozen.margins(
                types, hashes, ptr, np.arange(4, dtype=np.int32), frozen.workspace(), allowed
            )
            assert judged.labels.tolist() == found.tolist()
            assert all(np.isinf(judged.margin[n]) for n in lists)


def tied(K, order, edges=False):
    """A model in which all sequences of labels score the same, and a hash for its words."""
    plan, edge_plan = key_plan([((0, 0),)], [0]), key_plan([((0, 0),)] * edges, [0], 1)
    none = Rows(np.zeros(0, np.uint64), np.zeros(1, np.int64), *NO_CELLS)
    side = K if order else 0
    chain = [np.zeros(shape, np.float32) for shape in (K, K, (side, side))]
    weights = QuantizedWeights(none, none, none, *chain)
    return (order, plan, edge_plan, weights), np.ones((1, 1), np.uint64)


NO_CELLS = (np.zeros(0, np.uint16), np.zeros(0, np.int8))


@needs_native
@pytest.mark.parametrize(("K", "order"), [(20_000, 0), (600, 1), (60, 2)])
def test_many_labels_that_score_the_same_take_no_longer_than_others(K, order):
    """Their states are merged: to list what all of them go on from would take hours."""
    arguments, hashes = tied(K, order)
    types, ptr, n = np.zeros((1, 6), np.int32), np.array([0, 6]), 50
    frozen = NATIVE.Decoder(*arguments)
    found = frozen.n_best(types, hashes, ptr, n, frozen.workspace())
    assert found.score.tolist() == [0.0] * n
    assert found.labels.reshape(n, 6)[:, 1:].max() == 0
    assert found.labels.reshape(n, 6)[:, 0].tolist() == list(range(n))


@needs_native
@pytest.mark.parametrize(("K", "order"), [(300, 0), (300, 1), (60, 2)])
def test_more_sequences_than_there_is_room_for_are_refused_before_they_are_searched(K, order):
    arguments, hashes = tied(K, order)
    types, ptr = np.zeros((1, 40), np.int32), np.array([0, 40])
    frozen = NATIVE.Decoder(*arguments)
    with pytest.raises(MemoryError, match="a sentence that is decoded in half a gigabyte, found"):
        frozen.n_best(types, hashes, ptr, 10**12, frozen.workspace())


@needs_native
def test_states_of_trigrams_that_none_may_drop_are_refused_before_the_search():
    arguments, hashes = tied(255, 2, edges=True)
    types, ptr = np.zeros((1, 1100), np.int32), np.array([0, 1100])
    frozen = NATIVE.Decoder(*arguments)
    with pytest.raises(MemoryError, match="a sentence that is decoded in half a gigabyte, found"):
        frozen.decode(types, hashes, ptr, frozen.workspace())
