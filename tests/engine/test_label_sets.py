"""Training among the labels that a token may have: enumeration, the reference and the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import RULES, Instances, pointers
from tests import brute_force
from tests.strategies import (
    NATIVE,
    REFERENCE,
    Case,
    cases,
    dense,
    each_backend,
    make_parts,
    needs_native,
    random_case,
)


def with_sets(case: Case, sets: list[list[int]], choose) -> Instances:
    """The instances of a case; `choose` picks one of the sets with the gold label, or -1."""
    fitting = [[c for c, labels in enumerate(sets) if y in labels] for y in case.y]
    return case.x._replace(
        set_of=np.array([choose([-1, *found]) for found in fitting], np.int32),
        set_ptr=pointers(map(len, sets)),
        set_labels=np.array([label for labels in sets for label in labels], np.int32),
    )


def some_sets(K: int) -> st.SearchStrategy[list[list[int]]]:
    labels = st.lists(st.integers(0, K - 1), min_size=1, max_size=K, unique=True).map(sorted)
    return st.lists(labels, min_size=1, max_size=3)


@each_backend
@given(case=cases(), data=st.data())
def test_only_permitted_labels_are_decoded(backend, case, data):
    """Compute all weights by a plain loop: w += phi(x, y) - phi(x, best permitted labels)."""
    layout, K = case.layout, case.layout.labels
    x = with_sets(case, data.draw(some_sets(K)), lambda found: data.draw(st.sampled_from(found)))
    visits = data.draw(st.lists(st.sampled_from(case.all_sentences.tolist()), max_size=5))
    weights = backend.Weights(layout, "float64", "perceptron")
    counts = weights.train_epoch(x, case.y, np.array(visits, np.int64))
    w = np.zeros(layout.size)

    def best(s):
        """Return the best permitted labels of a sentence."""
        begin, end = (int(n) for n in x.sentence_ptr[s : s + 2])
        may = [range(K) if (of := x.labels_of(n)) is None else of for n in range(begin, end)]

        def score(labels):
            if any(j not in fine for j, fine in zip(labels, may, strict=True)):
                return -np.inf
            return sum(w[c] * n for c, n in case.cells_of(s, labels).items())

        return brute_force.best(end - begin, K, score)

    wrong = 0
    for s in visits:
        gold, y_hat = case.y[slice(*x.sentence_ptr[s : s + 2])].tolist(), best(s)
        wrong += sum(a != b for a, b in zip(gold, y_hat, strict=True))
        if list(y_hat) != gold:
            for sign, path in ((1, gold), (-1, y_hat)):
                for cell, count in case.cells_of(s, path).items():
                    w[cell] += sign * count
    assert counts[1] == wrong
    assert dense(weights.cells(), layout).tolist() == w.tolist()
    every = [label for s in range(len(x.sentence_ptr) - 1) for label in best(s)]
    assert weights.decode(x).tolist() == every


@needs_native
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("parts", [0, 7])
@pytest.mark.usefixtures("storage")
def test_the_kernel_and_the_reference_train_alike(rule, dtype, order, parts):
    for K in (3, 17, 120) if order == 0 else (3, 17):
        random = np.random.RandomState(K)
        of_labels = [random.choice(7, random.randint(1, 5), replace=False) for _ in range(K)]
        of_parts = make_parts(of_labels)._replace(number=parts) if parts else None
        case = random_case(random, K, order, values=K == 3, longest=12, parts=of_parts)
        sets = [np.sort(random.choice(K, random.randint(1, K), replace=False)) for _ in range(9)]
        x = with_sets(case, [s.tolist() for s in sets], random.choice)
        found = []
        for backend in (NATIVE, REFERENCE):
            weights = backend.Weights(case.layout, dtype, rule)
            counts = [
                weights.train_epoch(x, case.y, case.all_sentences, rule, 0.3, cost)
                for cost in (None, 0.5, 0.5)
            ]
            cells = [part.tobytes() for part in weights.cells(average=True)]
            found.append((counts, cells, weights.decode(x).tolist()))
        assert found[0] == found[1]
