"""Margins, and the bound on the number of mistakes of a perceptron (Novikoff 1962).

All functions are about hyperplanes through the origin. For others add a bias feature to X
(`seqtag.classifiers.feature_maps.bias`); the radius then includes the bias.

X is what `seqtag.classifiers.vectors.read` reads: n vectors, one or more, of d features. Sparse
matrices and dicts are converted to a dense matrix. Labels are -1 and +1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seqtag.classifiers.vectors import check_length, read
from seqtag.errors import LabelError, SeqtagError


class Separability(NamedTuple):
    """Separability of a data set by a hyperplane through the origin, and its margin.

    Attributes
    ----------
    separable
        Whether the margin is positive. One below a billionth of the radius counts as 0, because
        rounding may have made it.
    margin
        Maximum geometric margin of any w, gamma; 0 if not separable.
    w
        (d,) unit vector with that margin; zero if not separable.
    radius
        Norm of the longest vector, R.
    bound
        (R / gamma)^2: maximum number of updates of a perceptron; infinite if not separable.
    """

    separable: bool
    margin: float
    w: np.ndarray
    radius: float
    bound: float


def radius(X: Any) -> float:
    """Return the norm of the longest vector, R = max_i |x_i|.

    Raises
    ------
    SeqtagError
        If X has no vectors or is malformed.

    Examples
    --------
    >>> radius([[3, 4], [1, 0]])
    5.0
    """
    return float(np.linalg.norm(read(X)[0].dense(), axis=1).max())


def margin(w: Any, X: Any, y: Any) -> float:
    """Return the geometric margin of w on a data set: min_i y_i (w . x_i) / |w|.

    It is negative if w makes a mistake, and 0 if the worst vector is on the hyperplane.

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
        If X has no vectors or is malformed, shapes do not fit, or w is zero.
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
    """Return the margin of a data set, and Novikoff's bound.

    The maximum margin max_{|w| = 1} min_i w . (y_i x_i) is the distance of the origin from the
    convex hull of the y_i x_i, and the nearest point of the hull is the best w (von Neumann's
    minimax). Wolfe's algorithm (1976, Finding the nearest point in a polytope) finds it in finitely
    many steps, exact up to rounding.

    Parameters
    ----------
    X
        (n, d) vectors.
    y
        (n,) labels, -1 or +1; all may be the same.

    Raises
    ------
    SeqtagError
        If X has no vectors or is malformed, or X and y do not fit.
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
    length = float(np.linalg.norm(nearest))  # gamma / R, up to rounding
    w = nearest / length if length > 1e-9 else np.zeros_like(nearest)
    gamma = float((signed @ w).min())
    if not gamma > 0:
        return Separability(False, 0.0, np.zeros_like(w), R, float("inf"))
    return Separability(True, gamma, w, R, (R / gamma) ** 2)


def _signed(X: Any, y: Any) -> np.ndarray:
    """Return the vectors times their labels, y_i x_i: (n, d) float64."""
    x, labels = read(X)[0], np.asarray(y)
    check_length(x.size, labels)
    others = labels[~np.isin(labels, (-1, 1))]
    if len(others):
        msg = f"expected labels -1 and +1, found {others[0]!s}; map the labels first"
        raise LabelError(msg)
    return x.dense() * labels.astype(np.float64)[:, None]


def _nearest_point(points: np.ndarray) -> np.ndarray:
    """Return the point of least norm in the convex hull of points (n, d) of norm 1 or less.

    The names are those of Wolfe (1976): the corral is the set of points of whose hull the current
    point x is in the interior.
    """
    tolerance = 1e-12
    corral = [int(np.argmin((points**2).sum(axis=1)))]  # numbers of points
    weight = np.ones(1)  # of each; their sum is 1
    for _ in range(50 * (len(points) + points.shape[1])):  # rounding must not make it endless
        x = weight @ points[corral]
        products = points @ x
        best = int(products.argmin())
        if products[best] >= x @ x - tolerance or best in corral:  # no point is closer than x
            break
        corral.append(best)
        weight = np.append(weight, 0.0)
        while True:
            # The weights, of sum 1, of the point of least norm in the affine hull of the corral;
            # if all are positive, it is in the interior of the convex hull.
            m = len(corral)
            system = np.ones((m + 1, m + 1))
            system[0, 0] = 0
            system[1:, 1:] = points[corral] @ points[corral].T
            affine = np.linalg.lstsq(system, np.eye(m + 1)[0], rcond=None)[0][1:]
            if (affine > tolerance).all():
                weight = affine
                break
            # Otherwise move towards it until a weight reaches 0, and drop the points with 0.
            falling = affine <= tolerance
            gap = weight[falling] - affine[falling]
            reach = np.divide(weight[falling], gap, out=np.ones_like(gap), where=gap > 0)
            weight = weight + min(1.0, float(reach.min())) * (affine - weight)
            kept = weight > tolerance
            kept[int(weight.argmax())] = True
            if kept.all():  # by rounding: drop the smallest weight
                kept[int(weight.argmin())] = False
            corral = [point for point, keep in zip(corral, kept, strict=True) if keep]
            weight = weight[kept] / weight[kept].sum()
    return np.asarray(weight @ points[corral])
