"""Losses of a decision or a score, and the empirical risk: their mean over a data set.

Labels y are -1 or +1, and h(x) is a real score whose sign decides; h(x) = 0 decides for -1, as in
`seqtag.classifiers.perceptrons`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.errors import LabelError, SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable


def zero_one(y: Any, h: Any) -> np.ndarray:
    """1 where the sign of h is not y, else 0: (n,) float64.

    Examples
    --------
    >>> zero_one([1, 1, 1, -1], [0.5, -2, 0, 0])
    array([0., 1., 1., 0.])
    """
    return weighted_zero_one(y, h)


def weighted_zero_one(y: Any, h: Any, gamma1: float = 1.0, gamma2: float = 1.0) -> np.ndarray:
    """gamma1 for a false alarm, gamma2 for a +1 that is missed, else 0: (n,) float64.

    ============ ========= =========
    decided      gold +1   gold -1
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
    decided = np.where(h > 0, 1, -1)
    return np.where(decided == y, 0.0, np.where(y < 0, float(gamma1), float(gamma2)))


def hinge(y: Any, h: Any) -> np.ndarray:
    """max(0, 1 - y h): an upper bound of the 0/1 loss, 0 from a margin of 1 on.

    Examples
    --------
    >>> hinge([1, 1, -1], [0.5, -2, -3])
    array([0.5, 3. , 0. ])
    """
    y, h = _pair(y, h)
    return np.asarray(np.maximum(0.0, 1 - y * h))


def squared(y: Any, h: Any) -> np.ndarray:
    """(y - h)^2: punishes also what is right by more than 1.

    Examples
    --------
    >>> squared([1, -1], [3, -0.5])
    array([4.  , 0.25])
    """
    y, h = _pair(y, h)
    return np.asarray((y - h) ** 2)


def empirical_risk(loss: Callable[..., np.ndarray], y: Any, h: Any, **settings: float) -> float:
    """Mean loss over a data set, R(h) = 1/n sum_i loss(y_i, h(x_i)).

    Parameters
    ----------
    loss
        One of this module, or any function of the same form.
    y
        (n,) labels, -1 or +1.
    h
        (n,) scores h(x_i), as ``decision_function`` gives them.
    **settings
        Passed on to the loss: ``gamma1``, ``gamma2``.

    Raises
    ------
    SeqtagError
        If there is nothing to average, shapes differ or a score is NaN.
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
    """The weighted 0/1 loss as a matrix (2, 2): gold -1, +1 are rows, decided -1, +1 columns.

    As ``cost`` of a classifier it makes training cost-sensitive: decoding is loss-augmented.  The
    scores of -1 and +1 are -a and a, so that 2 y a must be above the cost: costs of 2 ask for
    y a > 1, where the hinge loss is 0.

    Examples
    --------
    >>> costs(gamma1=5, gamma2=2)
    array([[0., 5.],
           [2., 0.]])
    """
    return np.array([[0.0, gamma1], [gamma2, 0.0]])


def _pair(y: Any, h: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores, checked."""
    y, h = np.asarray(y), np.asarray(h, np.float64)
    if y.shape != h.shape or y.ndim != 1:
        msg = f"expected labels and scores of one shape (n,), found {y.shape} and {h.shape}"
        raise SeqtagError(msg)
    if not np.isin(y, (-1, 1)).all():
        odd = y[~np.isin(y, (-1, 1))][0]
        msg = f"expected labels -1 and +1, found {odd!s}; map the labels first"
        raise LabelError(msg)
    if np.isnan(h).any():
        msg = "expected scores that are numbers, found NaN; check the weights"
        raise SeqtagError(msg)
    return y.astype(np.float64), h
