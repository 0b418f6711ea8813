"""Loss functions, and the empirical risk: their mean over a data set.

Labels y are -1 or +1, and h(x) is a real score whose sign is the prediction; h(x) = 0 predicts -1,
as in `seqtag.classifiers.perceptrons`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.errors import LabelError, SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable


def zero_one(y: Any, h: Any) -> np.ndarray:
    """Return 1 where the sign of h is not y, else 0: (n,) float64.

    Examples
    --------
    >>> zero_one([1, 1, 1, -1], [0.5, -2, 0, 0])
    array([0., 1., 1., 0.])
    """
    return weighted_zero_one(y, h)


def weighted_zero_one(y: Any, h: Any, gamma1: float = 1.0, gamma2: float = 1.0) -> np.ndarray:
    """Return gamma1 for a false positive, gamma2 for a false negative, else 0: (n,) float64.

    ============ ========= =========
    predicted    gold +1   gold -1
    ============ ========= =========
    +1           0         gamma1
    -1           gamma2    0
    ============ ========= =========

    Examples
    --------
    >>> weighted_zero_one([1, 1, -1], [0.5, -2, 3], gamma1=5, gamma2=2)
    array([0., 2., 5.])
    """
    y, h = _pair(y, h)
    predicted = np.where(h > 0, 1, -1)
    return np.where(predicted == y, 0.0, np.where(y < 0, float(gamma1), float(gamma2)))


def hinge(y: Any, h: Any) -> np.ndarray:
    """Return max(0, 1 - y h): an upper bound of the 0/1 loss, 0 for margins of at least 1.

    Examples
    --------
    >>> hinge([1, 1, -1], [0.5, -2, -3])
    array([0.5, 3. , 0. ])
    """
    y, h = _pair(y, h)
    return np.asarray(np.maximum(0.0, 1 - y * h))


def squared(y: Any, h: Any) -> np.ndarray:
    """Return (y - h)^2, which also penalizes correct predictions with a margin above 1.

    Examples
    --------
    >>> squared([1, -1], [3, -0.5])
    array([4.  , 0.25])
    """
    y, h = _pair(y, h)
    return np.asarray((y - h) ** 2)


def empirical_risk(loss: Callable[..., np.ndarray], y: Any, h: Any, **settings: float) -> float:
    """Return the mean loss over a data set, R(h) = 1/n sum_i loss(y_i, h(x_i)).

    Parameters
    ----------
    loss
        One of this module, or any function with the same signature.
    y
        (n,) labels, -1 or +1.
    h
        (n,) scores h(x_i), as returned by ``decision_function``.
    **settings
        Parameters of the loss: ``gamma1``, ``gamma2``.

    Raises
    ------
    SeqtagError
        If there are no examples, shapes differ or a score is NaN.
    LabelError
        If a label is neither -1 nor +1.

    Examples
    --------
    >>> empirical_risk(zero_one, [1, 1, -1, -1], [2, -1, -1, -3])
    0.25
    """
    losses = loss(y, h, **settings)
    if not losses.size:
        msg = "expected at least one example for an empirical risk, found none"
        raise SeqtagError(msg)
    return float(losses.mean())


def costs(gamma1: float = 1.0, gamma2: float = 1.0) -> np.ndarray:
    """Return the weighted 0/1 loss as a matrix (2, 2): gold -1, +1 are rows, predicted columns.

    As ``cost`` of a classifier it makes training cost-sensitive: decoding is loss-augmented.  The
    scores of -1 and +1 are -a and a, so that 2 y a must exceed the cost: costs of 2 require
    y a > 1, where the hinge loss is 0.

    Examples
    --------
    >>> costs(gamma1=5, gamma2=2)
    array([[0., 5.],
           [2., 0.]])
    """
    return np.array([[0.0, gamma1], [gamma2, 0.0]])


def _pair(y: Any, h: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check labels and scores and return them as arrays."""
    y, h = np.asarray(y), np.asarray(h, np.float64)
    if y.shape != h.shape or y.ndim != 1:
        msg = f"expected labels and scores of one shape (n,), found {y.shape} and {h.shape}"
        raise SeqtagError(msg)
    if not np.isin(y, (-1, 1)).all():
        other = y[~np.isin(y, (-1, 1))][0]
        msg = f"expected labels -1 and +1, found {other!s}; map the labels first"
        raise LabelError(msg)
    if np.isnan(h).any():
        msg = "expected scores that are numbers, found NaN; check the weights"
        raise SeqtagError(msg)
    return y.astype(np.float64), h
