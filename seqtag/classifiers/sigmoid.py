"""Sigmoid neuron: a perceptron with a smooth activation, trained by gradient descent.

The perceptron predicts by a step function of a = w . x, and moves w by ``y x`` at a mistake.
With sigm(a) = 1 / (1 + exp(-a / 2)) instead of the step, the squared loss has a gradient
everywhere, and stochastic gradient descent moves w at every example, in proportion to its error.
The algorithm differs from the rest of the package: it shares no code with the trainer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.classifiers.linear import LinearClassifier
from seqtag.errors import SeqtagError
from seqtag.randomness import seed_of, visiting_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from seqtag.classifiers.vectors import Vectors


def sigm(a: Any) -> np.ndarray:
    """Return 1 / (1 + exp(-a / 2)), from 0 to 1; without overflow for any a.

    Examples
    --------
    >>> sigm(np.array([0.0, 2e4, -2e4]))
    array([0.5, 1. , 0. ])
    """
    return np.asarray(0.5 * (1 + np.tanh(np.asarray(a, np.float64) / 4)))


def gradient(w: np.ndarray, x: np.ndarray, target: float, penalty: np.ndarray) -> np.ndarray:
    """Return the gradient of ``(sigm(w . x) - target)^2 / 2 + penalty . w^2 / 2`` in w: (d,).

    As sigm' = sigm (1 - sigm) / 2, it is ``(s - target) s (1 - s) / 2 x + penalty w``.

    Examples
    --------
    >>> gradient(np.zeros(2), np.array([1.0, 2.0]), 1.0, np.zeros(2))
    array([-0.0625, -0.125 ])
    """
    s = float(sigm(w @ x))
    return np.asarray((s - target) * s * (1 - s) / 2 * x + penalty * w)


@dataclass(kw_only=True, eq=False, repr=False)
class SigmoidNeuron(LinearClassifier):
    """Neuron with a sigmoid, trained by stochastic gradient descent on the squared loss.

    Parameters
    ----------
    step
        eta of ``w <- w - eta gradient``.
    penalty
        lambda of the L2 penalty ``lambda |w|^2 / 2`` on each example; the bias is not penalized.
    tolerance
        Stop after an epoch in which no weight changed by more than this: `converged_`.
    **others
        Those of `seqtag.classifiers.LinearClassifier`, which also lists the attributes;
        `max_iter` is 200 here.

    Attributes
    ----------
    history_
        Mean squared loss ``(s - target)^2 / 2`` of each epoch, measured during training; the target
        is 0 for ``classes_[0]``, 1 for ``classes_[1]``.

    Notes
    -----
    Initial weights are zero: for one neuron there is no symmetry to break. The result is a local
    minimum: the squared loss of a sigmoid is not convex.

    Examples
    --------
    >>> model = SigmoidNeuron(step=2.0).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> model.predict([[0, 1], [1, 1]])
    array([0, 1])
    """

    max_iter: int = 200
    step: float = 0.5
    penalty: float = 0.0
    tolerance: float = 1e-4

    history_: tuple[float, ...] = field(init=False)

    def fit(self, X: Any, y: Any, *, classes: Any = None) -> Self:
        """Fit the weights to vectors (n, d) with two labels; see `BinaryPerceptron.fit`."""
        x, ids = self._begin(X, y, classes)
        w = np.zeros(x.width)
        seed = seed_of(self.random_state)
        self.history_, self.n_updates_, self.converged_ = (), 0, False
        while not self.converged_ and len(self.history_) < self.max_iter:
            number = len(self.history_) + 1
            order = visiting_order(x.size, seed, 1, number) if self.shuffle else range(x.size)
            self._run_epoch(w, x, ids, order)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the activations (n, 2) of the two labels, which are not calibrated."""
        s = sigm(self.decision_function(X))
        return np.stack([1 - s, s], axis=1)

    def _check_params(self) -> None:
        if not (self.step > 0 and self.penalty >= 0 and self.max_iter >= 1 and self.tolerance >= 0):
            msg = (
                "expected step > 0, penalty >= 0, max_iter >= 1, tolerance >= 0; found "
                f"{self.step!r}, {self.penalty!r}, {self.max_iter!r}, {self.tolerance!r}"
            )
            raise SeqtagError(msg)

    def _learn_more(self, x: Vectors, y: np.ndarray) -> None:
        if hasattr(self, "_weights"):
            w = self._weights[1]
            last = len(w) - self.fit_intercept  # weights before the bias
            w = np.concatenate([w[:last], np.zeros(x.width - len(w)), w[last:]])
        else:
            self.history_, self.n_updates_, w = (), 0, np.zeros(x.width)
        self._run_epoch(w, x, y, range(x.size))

    def _run_epoch(
        self, out_w: np.ndarray, x: Vectors, y: np.ndarray, order: Iterable[int]
    ) -> None:
        """Visit the examples once, and set the attributes that describe the training."""
        penalty = np.full(x.width, float(self.penalty))
        if self.fit_intercept:
            penalty[-1] = 0
        before, loss = out_w.copy(), 0.0
        for i in order:
            one = x.take(np.array([i])).dense()[0]
            loss += (float(sigm(out_w @ one)) - y[i]) ** 2 / 2
            out_w -= self.step * gradient(out_w, one, float(y[i]), penalty)
        if not np.isfinite(out_w).all():
            msg = (
                "expected finite weights, found an overflow in epoch "
                f"{len(self.history_) + 1}; choose a smaller step or penalty"
            )
            raise SeqtagError(msg)
        self.history_ = (*self.history_, loss / x.size)
        self.n_iter_ = len(self.history_)
        self.n_updates_ += x.size
        self.converged_ = bool(np.abs(out_w - before).max() <= self.tolerance)
        self._weights = np.stack([-out_w, out_w])
