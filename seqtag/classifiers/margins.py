"""Margins, and how many mistakes a perceptron can make (Novikoff 1962).

All functions speak of separators through the origin; give X with a bias feature
(`seqtag.classifiers.feature_maps.bias`) to speak of others: the radius then counts the bias too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seqtag.classifiers.vectors import check_length, read
from seqtag.errors import LabelError, SeqtagError


class Separability(NamedTuple):
    """Whether a data set can be separated by a hyperplane through the origin, and how well.

    Attributes
    ----------
    separable
        Whether the margin is positive (beyond rounding).
    margin
        Greatest geometric margin of any w, gamma; 0 if not separable.
    w
        (d,) unit vector that has it; zero if not separable.
    radius
        Length of the longest vector, R.
    bound
        (R / gamma)^2: no run of the perceptron makes more updates; infinite if not separable.
    """

    separable: bool
    margin: float
    w: np.ndarray
    radius: float
    bound: float


def radius(X: Any) -> float:
    """Length of the longest vector, R = max_i |x_i|.

    Examples
    --------
    >>> radius([[3, 4], [1, 0]])
    5.0
    """
    return float(np.linalg.norm(read(X)[0].dense(), axis=1).max())


def margin(w: Any, X: Any, y: Any) -> float:
    """Geometric margin of w on a data set: min_i y_i (w . x_i) / |w|; negative if w errs.

    Parameters
    ----------
    w
        (d,) weights, not all zero.
    X
        (n, d) vectors.
    y
        (n,) labels, -1 or +1.

    Raises
    ------
    SeqtagError
        If shapes do not fit, or w is zero.
    LabelError
        If a label is neither -1 nor +1.

    Examples
    --------
    >>> margin([3, 4], [[1, 1], [-1, 0]], [1, -1])
    0.6
    """
    w = np.asarray(w, np.float64).ravel()
    signed = _signed(X, y)
    if len(w) != signed.shape[1]:
        msg = f"expected {signed.shape[1]} weights, one per feature, found {len(w)}"
        raise SeqtagError(msg)
    length = np.linalg.norm(w)
    if not length > 0:
        msg = "expected weights that are not all zero: they have no direction"
        raise SeqtagError(msg)
    return float((signed @ w).min() / length)


def separability(X: Any, y: Any) -> Separability:
    """The data set's margin, and with it Novikoff's bound.

    The greatest margin max_{|w| = 1} min_i w . (y_i x_i) is the distance of the origin from the
    convex hull of the y_i x_i, and the nearest point of the hull is the best w (von Neumann's
    minimax). Wolfe's algorithm (1976, Finding the nearest point in a polytope) finds it in finitely
    many steps, exact but for rounding. Memory: dense X.

    Raises
    ------
    SeqtagError
        If X and y do not fit.
    LabelError
        If a label is neither -1 nor +1.

    Examples
    --------
    >>> found = separability([[2, 0], [-1, 0], [0.5, 1]], [1, -1, 1])
    >>> found.separable, round(found.margin, 3), round(found.bound, 3)
    (True, 0.894, 5.0)
    >>> separability([[1, 1], [0, 0], [1, 0], [0, 1]], [-1, -1, 1, 1]).separable  # XOR
    False
    """
    signed = _signed(X, y)
    R = float(np.linalg.norm(signed, axis=1).max())
    nearest = _nearest_point(signed / R) if R else np.zeros(signed.shape[1])
    gamma = float(np.linalg.norm(nearest))
    w = nearest / gamma if gamma > 1e-9 else np.zeros_like(nearest)
    gamma = float((signed @ w).min())
    if not gamma > 0:
        return Separability(False, 0.0, np.zeros_like(w), R, float("inf"))
    return Separability(True, gamma, w, R, (R / gamma) ** 2)


def _signed(X: Any, y: Any) -> np.ndarray:
    """y_i x_i: (n, d)."""
    x, labels = read(X)[0], np.asarray(y)
    check_length(x, labels)
    odd = labels[~np.isin(labels, (-1, 1))]
    if len(odd):
        msg = f"expected labels -1 and +1, found {odd[0]!s}; map the labels first"
        raise LabelError(msg)
    return x.dense() * labels.astype(np.float64)[:, None]


def _nearest_point(points: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
    """The point of least norm in the convex hull of points (n, d) of length <= 1 (Wolfe 1976)."""
    corral = [int(np.argmin((points**2).sum(axis=1)))]  # its hull holds the current point inside
    share = np.ones(1)
    for _ in range(50 * (len(points) + points.shape[1])):
        x = share @ points[corral]
        ahead = points @ x
        best = int(ahead.argmin())
        if ahead[best] >= x @ x - tolerance or best in corral:
            break
        corral.append(best)
        share = np.append(share, 0.0)
        while True:
            affine = _affine_minimiser(points[corral])
            if (affine > tolerance).all():
                share = affine
                break
            falling = affine <= tolerance  # walk towards it until a share is used up
            gap = share[falling] - affine[falling]
            reach = np.divide(share[falling], gap, out=np.ones_like(gap), where=gap > 0)
            share = share + min(1.0, float(reach.min())) * (affine - share)
            kept = share > tolerance
            kept[int(share.argmax())] = True
            if kept.all():  # rounding: let the least one go
                kept[int(share.argmin())] = False
            corral = [point for point, keep in zip(corral, kept, strict=True) if keep]
            share = share[kept] / share[kept].sum()
    return np.asarray(share @ points[corral])


def _affine_minimiser(points: np.ndarray) -> np.ndarray:
    """Shares, of sum 1, of the point of least norm in the affine hull."""
    m = len(points)
    system = np.ones((m + 1, m + 1))
    system[0, 0] = 0
    system[1:, 1:] = points @ points.T
    right = np.zeros(m + 1)
    right[0] = 1
    return np.asarray(np.linalg.lstsq(system, right, rcond=None)[0][1:])
