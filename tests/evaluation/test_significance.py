"""seqtag.evaluation.significance: against enumeration, scipy and worked examples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from seqtag.errors import SeqtagError
from seqtag.evaluation import significance
from seqtag.evaluation.significance import (
    bootstrap,
    bootstrap_p,
)


def f1(rows):
    correct, found, gold = (sum(row[i] for row in rows) for i in range(3))
    return 2 * correct / (found + gold) if found + gold else 0.0


def table_of(*metrics):
    """Metrics as lists of counts, one per sentence."""
    return np.array(metrics, np.float64).transpose(1, 0, 2)


def test_the_bootstrap_draws_what_enumeration_has():
    counts = [(1, 1, 1), (0, 1, 1), (2, 3, 2)]
    every = [f1(rows) for rows in product(counts, repeat=3)]
    drawn = bootstrap(table_of(counts), 20_000, seed=4)[:, 0]
    assert set(drawn.round(9)) == set(np.round(every, 9))
    assert abs(drawn.mean() - np.mean(every)) < 0.01
    for score in set(every):
        share = np.mean(np.isclose(every, score))
        assert abs(np.mean(np.isclose(drawn, score)) - share) < 0.02


def test_the_p_value_agrees_with_a_permutation_test_of_accuracies():
    """Of sentences equally long accuracy is a mean, whose permutation test scipy has."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(7)
    a = rng.integers(0, 6, 40)
    b = np.minimum(a + (rng.random(40) < 0.2), 5)
    rows = [[(c, 5, 5) for c in each] for each in (a, b)]
    theirs = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=10_000, rng=1
    ).pvalue
    scores = [bootstrap(table_of(each), 5000)[:, 0] for each in rows]
    assert bootstrap_p(scores[1] - scores[0], (b.sum() - a.sum()) / 200) == pytest.approx(
        theirs, abs=0.03
    )


def test_the_same_seed_gives_the_same_draws_however_they_are_portioned(monkeypatch):
    table = table_of([(i % 3, 2, 2) for i in range(50)])
    whole = bootstrap(table, 30, 5)
    assert not np.array_equal(whole, bootstrap(table, 30, 6))
    monkeypatch.setattr(significance, "_MOST_DRAWN", 120)
    np.testing.assert_array_equal(whole, bootstrap(table, 30, 5))
    monkeypatch.undo()
    frozen = [0.47, 0.46, 0.55]  # the stream of draws is part of what a seed promises
    assert bootstrap(table, 3, 5)[:, 0].round(2).tolist() == frozen


def test_rounding_does_not_make_a_difference_smaller():
    assert 0.3 - 0.1 < 0.2
    assert bootstrap_p(np.array([0.3 - 0.1]), 0.1) == 1


def test_nothing_to_draw_from():
    nothing = np.zeros((0, 2, 3))
    assert bootstrap(nothing, 5).tolist() == [[0.0, 0.0]] * 5


def test_no_samples_are_refused():
    with pytest.raises(SeqtagError, match="expected resamples of 1 or more, found 0"):
        bootstrap(table_of([(1, 1, 1)]), 0)
