"""Margins, the bound on mistakes, separability."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqtag import BinaryPerceptron
from seqtag.classifiers.feature_maps import bias
from seqtag.classifiers.margins import margin, radius, separability
from seqtag.errors import LabelError, SeqtagError


@st.composite
def separable(draw):
    """Whole-number vectors, labelled by a hyperplane through the origin that none of them is on."""
    d = draw(st.integers(1, 4))
    X = draw(arrays(np.int64, (draw(st.integers(2, 12)), d), elements=st.integers(-4, 4)))
    w = draw(arrays(np.int64, d, elements=st.integers(-4, 4)))
    X = X[X @ w != 0]
    return X.astype(float), np.sign(X @ w)


@given(separable(), st.booleans(), st.integers(0, 5))
def test_no_run_makes_more_updates_than_the_bound(sample, ties, seed):
    X, y = sample
    if len(set(y.tolist())) < 2:
        return
    found = separability(X, y)
    assert found.separable
    assert margin(found.w, X, y) == pytest.approx(found.margin)
    model = BinaryPerceptron(
        fit_intercept=False, ties_are_mistakes=ties, random_state=seed, max_iter=100_000
    ).fit(X, y)
    assert model.converged_
    assert model.n_updates_ <= found.bound * (1 + 1e-9)
    if ties:
        assert 0 < margin(model.coef_, X, y) <= found.margin + 1e-9


@given(separable())
def test_no_direction_has_a_greater_margin(sample):
    X, y = sample
    if not len(X):
        return
    found = separability(X, y)
    around = found.w + 0.1 * np.random.RandomState(0).normal(size=(200, X.shape[1]))
    for w in around:
        assert margin(w, X, y) <= found.margin + 1e-9


@given(separable())
def test_a_vector_with_both_labels_cannot_be_separated(sample):
    X, y = sample
    if not len(X):
        return
    found = separability(np.concatenate([X, X[:1]]), np.append(y, -y[0]))
    assert (found.separable, found.margin, found.bound) == (False, 0.0, float("inf"))
    assert not found.w.any()


def test_xor_with_and_without_a_product():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]
    assert not separability(bias(X), y).separable
    assert separability(bias([[a, b, a * b] for a, b in X]), y).separable


def test_figures_by_hand():
    assert radius([[3, 4], [1, 0]]) == 5
    assert margin([2, 0], [[1, 5], [-3, 0]], [1, -1]) == 1
    assert margin([2, 0], [[1, 5], [-3, 0]], [1, 1]) == -3
    found = separability([[1, 0], [0, 1]], [1, 1])  # the nearest point of the hull: (1/2, 1/2)
    assert found.margin == pytest.approx(np.sqrt(0.5))
    assert found.bound == pytest.approx(2)
    assert not separability([[0, 0]], [1]).separable


def test_what_is_refused():
    with pytest.raises(SeqtagError, match="expected 2 weights, one per feature, found 1"):
        margin([1], [[1, 2]], [1])
    with pytest.raises(SeqtagError, match="expected weights that are not all zero"):
        margin([0, 0], [[1, 2]], [1])
    with pytest.raises(
        LabelError, match=r"expected labels -1 and \+1, found 0; map the labels first"
    ):
        separability([[1, 2]], [0])
    with pytest.raises(SeqtagError, match="found 1 vectors, 2 labels"):
        separability([[1, 2]], [1, 1])
