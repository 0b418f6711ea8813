"""Maps from vectors to vectors: bias, products, squares."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.classifiers.vectors import count, is_dicts, is_sparse, numbers_of, read_array
from seqtag.errors import SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def bias(X: Any) -> Any:
    """Append a feature that is always 1.

    Examples
    --------
    >>> bias([[2, 4]])
    array([[2., 4., 1.]])
    """
    if is_dicts(X):
        return [{**x, "bias": 1.0} for x in X]
    matrix = _plane(X)
    return np.hstack([matrix, np.ones((len(matrix), 1))])


def product(X: Any) -> Any:
    """Append the product of every two different features: conjunctions, where values are 0 and 1.

    Parameters
    ----------
    X
        Array (n, d), or dicts; the product of features a and b of a dict is called ``a & b``.

    Returns
    -------
    array (n, d + d (d - 1) / 2) or list of dicts
        (x1, ..., xd, x1 x2, x1 x3, ..., x2 x3, ...).

    Examples
    --------
    >>> product([[2, 3]])
    array([[2., 3., 6.]])
    >>> product([{"no": 1, "excellent": 1}])
    [{'no': 1.0, 'excellent': 1.0, 'excellent & no': 1.0}]
    """
    if is_dicts(X):
        return [_with_products(x) for x in X]
    matrix = _plane(X)
    i, j = np.triu_indices(matrix.shape[1], 1)
    return np.hstack([matrix, matrix[:, i] * matrix[:, j]])


def quadratic(X: Any) -> Any:
    """Append all products of two features, squares too: (x1, x2, x1 x2, x1^2, x2^2).

    Examples
    --------
    >>> quadratic([[2, 3]])
    array([[2., 3., 6., 4., 9.]])
    >>> quadratic([{"a": 2}])
    [{'a': 2.0, 'a & a': 4.0}]
    """
    if is_dicts(X):
        squares = (
            {f"{name} & {name}": value**2 for name, value in numbers_of(x).items()} for x in X
        )
        return [_with_products(x) | more for x, more in zip(X, squares, strict=True)]
    matrix = _plane(X)
    return np.hstack([product(matrix), matrix**2])


MAPS: dict[str, Callable[[Any], Any]] = {"product": product, "quadratic": quadratic}
"""Feature maps by name."""


def apply_map(feature_map: str | Callable[[Any], Any] | None, X: Any) -> Any:
    """Apply a feature map to X: a name of `MAPS`, a function of X, or None for the identity.

    Raises
    ------
    SeqtagError
        If the name is unknown, or the map returns another number of vectors.
    """
    if feature_map is None:
        return X
    if isinstance(feature_map, str):
        if feature_map not in MAPS:
            msg = f"expected a feature map {', '.join(MAPS)} or a function, found {feature_map!r}"
            raise SeqtagError(msg)
        feature_map = MAPS[feature_map]
    mapped = feature_map(X)
    if count(mapped) != count(X):
        msg = (
            f"expected the feature map to return one vector for each of {count(X)}, "
            f"found {count(mapped)}"
        )
        raise SeqtagError(msg)
    return mapped


def _plane(X: Any) -> np.ndarray:
    """Return X as a dense matrix."""
    if is_sparse(X):
        msg = (
            "expected an array or feature dicts for this feature map, found a sparse matrix; "
            "use X.toarray() or dicts"
        )
        raise SeqtagError(msg)
    return read_array(X).values


def _with_products(x: Mapping[str, Any]) -> dict[str, float]:
    """Return a dict with the products of its features, named in alphabetical order."""
    numbers = numbers_of(x)
    pairs = combinations(sorted(numbers), 2)
    return numbers | {f"{a} & {b}": numbers[a] * numbers[b] for a, b in pairs}
