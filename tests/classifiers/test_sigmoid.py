"""The sigmoid neuron against finite differences and a plain loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqtag import SigmoidNeuron
from seqtag.classifiers.sigmoid import gradient, sigm
from seqtag.errors import LabelError, SeqtagError


def test_sigm_is_its_formula():
    for a in (-30, -1.5, 0, 2, 30):
        assert sigm(a) == pytest.approx(1 / (1 + math.exp(-a / 2)))


def test_the_gradient_is_the_slope_of_the_loss():
    random = np.random.RandomState(0)
    w, x, penalty, h = random.normal(size=3), random.normal(size=3), np.array([0.3, 0.3, 0.0]), 1e-6

    def loss(w):
        return (sigm(w @ x) - 1) ** 2 / 2 + penalty @ w**2 / 2

    slope = [(loss(w + h * e) - loss(w - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(gradient(w, x, 1.0, penalty), slope, rtol=1e-5)


def test_two_passes_by_hand():
    X, y = [[1.0, 2.0], [-1.0, 0.5]], [1, 0]
    w, b = [0.0, 0.0], 0.0
    for _ in range(2):
        for x, t in zip(X, y, strict=True):
            s = 1 / (1 + math.exp(-(w[0] * x[0] + w[1] * x[1] + b) / 2))
            g = (s - t) * s * (1 - s) / 2
            w = [w[j] - 0.8 * (g * x[j] + 0.1 * w[j]) for j in range(2)]
            b -= 0.8 * g
    model = SigmoidNeuron(step=0.8, penalty=0.1, max_iter=2, shuffle=False).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], w)
    assert model.intercept_ == pytest.approx([b])
    assert (model.n_iter_, model.n_updates_, model.converged_) == (2, 4, False)


def test_it_learns_and_comes_to_rest():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    model = SigmoidNeuron(step=1.0, penalty=0.001, max_iter=5000, shuffle=False).fit(X, y)
    assert model.converged_
    assert model.predict(X).tolist() == y
    assert model.history_[-1] < model.history_[0]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    heavier = SigmoidNeuron(step=1.0, penalty=0.1, max_iter=500).fit(X, y)
    assert np.abs(heavier.coef_).max() < np.abs(model.coef_).max()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_refused():
    with pytest.raises(LabelError, match=r"found 3 \(0, 1, 2\)\. Only binary"):
        SigmoidNeuron().fit([[1], [2], [3]], [0, 1, 2])
    with pytest.raises(
        SeqtagError, match="expected step > 0, penalty >= 0, max_iter >= 1, tolerance >= 0; found 0"
    ):
        SigmoidNeuron(step=0).fit([[1], [2]], [0, 1])
    with pytest.raises(SeqtagError, match="found an overflow in epoch"):
        SigmoidNeuron(step=1e200, penalty=1e200).fit([[1], [2]], [0, 1])
    assert not hasattr(SigmoidNeuron, "trajectory")  # every example moves w: history_ tells
