"""seqtag.randomness: seeds, and the one rule by which training shuffles."""

from __future__ import annotations

import numpy as np
import pytest

from seqtag import BinaryPerceptron
from seqtag.errors import SeqtagError
from seqtag.randomness import random_source, seed_of, visiting_order


def test_a_seed_is_a_number_or_drawn_from_a_source():
    assert seed_of(7) == seed_of(np.int64(7)) == 7
    one, two = np.random.RandomState(3), np.random.RandomState(3)
    drawn = [seed_of(one), seed_of(one)]
    assert drawn == [seed_of(two), seed_of(two)]
    assert drawn[0] != drawn[1]
    assert seed_of(np.random.default_rng(3)) == seed_of(np.random.default_rng(3))
    assert 0 <= seed_of(None) < 2**32
    for seed in (-1, 2**32, "one", 1.5):
        with pytest.raises(SeqtagError, match=rf"a seed from 0 to 2\*\*32 - 1, .* found '?{seed}"):
            seed_of(seed)
    assert random_source(one) is one


def test_orders_differ_by_seed_run_and_epoch():
    settings = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2)]
    orders = {tuple(visiting_order(20, *each).tolist()) for each in settings}
    assert len(orders) == 4
    assert all(sorted(order) == list(range(20)) for order in orders)
    assert visiting_order(3, 1, 1, 1).dtype == np.int64


def test_classifiers_visit_in_this_order():
    X, y = np.eye(6), np.array([0, 1] * 3)  # no vector says anything of another: 6 mistakes
    model = BinaryPerceptron(max_iter=1, fit_intercept=False, random_state=5).fit(X, y)
    assert model.mistakes_.example.tolist() == visiting_order(6, 5, 1, 1).tolist()
