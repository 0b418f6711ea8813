"""Feature vectors from outside (arrays, sparse matrices, dicts), and maps from vectors to vectors.

A vector is a sequence of length 1: `Vectors.instances` is all that the trainer sees of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from seqtag.errors import SeqtagError
from seqtag.reference import Instances


class Vectors(NamedTuple):
    """n vectors of `width` features, stored densely or sparsely.

    Attributes
    ----------
    width
        Number of features, d.
    values
        (n, d) float64 if dense; (nnz,) float64 if sparse.
    ptr, features
        None if dense. Vector i has the features ``features[ptr[i]:ptr[i+1]]``, int32, ascending.
    """

    width: int
    values: np.ndarray
    ptr: np.ndarray | None = None
    features: np.ndarray | None = None

    @property
    def size(self) -> int:
        """Number of vectors, n."""
        return len(self.values) if self.ptr is None else len(self.ptr) - 1

    def instances(self) -> Instances:
        """The vectors as sequences of length 1."""
        n, d = self.size, self.width
        each = np.arange(n + 1, dtype=np.int64)
        if self.ptr is not None and self.features is not None:
            return Instances(each, self.ptr, self.features, self.values)
        # every vector has the same features, which are given once
        features = np.arange(d, dtype=np.int32)
        return Instances(each, each * d, features, np.ascontiguousarray(self.values).ravel())

    def with_bias(self) -> Vectors:
        """The vectors with one more feature that is always 1: the bias."""
        n, d = self.size, self.width
        if self.ptr is None or self.features is None:
            values = np.empty((n, d + 1))
            values[:, :d] = self.values
            values[:, d] = 1
            return Vectors(d + 1, values)
        ends = self.ptr[1:]
        values = np.insert(self.values, ends, 1.0)
        features = np.insert(self.features, ends, d)
        return Vectors(d + 1, values, self.ptr + np.arange(n + 1), features)

    def take(self, where: np.ndarray) -> Vectors:
        """The vectors of the given numbers, in that order."""
        if self.ptr is None or self.features is None:
            return Vectors(self.width, self.values[where])
        lengths = np.diff(self.ptr)[where]
        ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        inside = (
            np.arange(ptr[-1]) - np.repeat(ptr[:-1], lengths) + np.repeat(self.ptr[where], lengths)
        )
        return Vectors(self.width, self.values[inside], ptr, self.features[inside])

    def dense(self) -> np.ndarray:
        """The vectors as a matrix (n, d) float64."""
        if self.ptr is None:
            return self.values
        matrix = np.zeros((self.size, self.width))
        matrix[np.repeat(np.arange(self.size), np.diff(self.ptr)), self.features] = self.values
        return matrix

    def dot(self, weights: np.ndarray) -> np.ndarray:
        """Inner products with m weight vectors (m, d): (n, m) float64."""
        if self.ptr is None:
            return self.values @ weights.T
        owner = np.repeat(np.arange(self.size), np.diff(self.ptr))
        products = [np.bincount(owner, self.values * w[self.features], self.size) for w in weights]
        return np.stack(products, axis=1) if products else np.zeros((self.size, 0))


class Reader(NamedTuple):
    """How X was read in training, so that it is read alike afterwards.

    Attributes
    ----------
    width
        Number of features.
    names
        Number of each feature, if the vectors are dicts.
    """

    width: int
    names: Mapping[str, int] | None = None

    def __call__(self, X: Any) -> Vectors:
        """Read vectors of the features known from training; unknown names are left out.

        Raises
        ------
        SeqtagError
            If X has another kind, width or values than it should.
        """
        if self.names is None and _is_dicts(X):
            raise SeqtagError(
                "expected an array or sparse matrix, as in training, found dicts; give X as in fit"
            )
        if self.names is not None:
            if not _is_dicts(X) and _rows(X):
                raise SeqtagError(
                    f"expected a list of feature dicts, as in training, found {_kind(X)}; "
                    "give X as in fit"
                )
            return _from_dicts(X, self.names)
        found = read_array(X)
        if found.width != self.width:
            raise SeqtagError(
                f"expected X with {self.width} features, as in training, found {found.width}; "
                "give the same columns as in fit"
            )
        return found


def read(X: Any) -> tuple[Vectors, Reader]:
    """Read training vectors, and return how to read others alike.

    Parameters
    ----------
    X
        An array (n, d) of numbers, a scipy sparse matrix or array (n, d), or n dicts from feature
        name to value. A dict's value is a number, True or False (1 or 0), or a string, which makes
        the indicator feature ``name=string``.

    Returns
    -------
    vectors, reader
        The features of dicts are numbered by name, ascending.

    Raises
    ------
    SeqtagError
        If X has no vectors, is not two-dimensional, or holds NaN, an infinity or what is no
        number.

    Examples
    --------
    >>> vectors, reader = read([{"length": 3, "suffix": "ed"}, {"length": 5.5}])
    >>> sorted(reader.names)
    ['length', 'suffix=ed']
    >>> vectors.dense()
    array([[3. , 1. ],
           [5.5, 0. ]])
    """
    if not _is_dicts(X):
        vectors = read_array(X)
        reader = Reader(vectors.width)
    else:
        found = {_feature(name, value)[0] for x in X for name, value in _items(x)}
        names = {name: i for i, name in enumerate(sorted(found))}
        vectors, reader = _from_dicts(X, names), Reader(len(names), names)
    if not vectors.size:
        raise SeqtagError("expected at least one vector to learn from, found an empty X")
    return vectors, reader


def read_array(X: Any) -> Vectors:
    """Read an array or a scipy sparse matrix, of two dimensions and finite numbers.

    Raises
    ------
    SeqtagError
        If X is anything else.
    """
    if _is_sparse(X):
        if X.ndim != 2:
            raise SeqtagError(f"expected a sparse matrix (n, d), found shape {X.shape}")
        rows = X.tocsr(copy=True)
        rows.sum_duplicates()  # also sorts the features of each row
        vectors = Vectors(
            rows.shape[1], _floats(rows.data), rows.indptr.astype(np.int64),
            rows.indices.astype(np.int32),
        )  # fmt: skip
    else:
        matrix = _floats(X)
        if matrix.ndim != 2:
            hint = "; for one vector write X.reshape(1, -1)" if matrix.ndim == 1 else ""
            raise SeqtagError(
                f"expected X of shape (vectors, features), found shape {matrix.shape}{hint}"
            )
        vectors = Vectors(matrix.shape[1], matrix)
    # one sum tells whether all is well; it can also overflow, so ask again before complaining
    with np.errstate(over="ignore", invalid="ignore"):
        finite = math.isfinite(vectors.values.sum()) or np.isfinite(vectors.values).all()
    if not finite:
        row = np.flatnonzero(~np.isfinite(vectors.dense()).all(axis=1))[0]
        raise SeqtagError(
            f"expected finite numbers in X, found NaN or infinity in vector {row} (from 0); "
            "remove or impute such vectors first"
        )
    return vectors


def check_length(X: Vectors, y: np.ndarray) -> None:
    """One label per vector.

    Raises
    ------
    SeqtagError
        If y is not one-dimensional or not as long as X.
    """
    if y.ndim != 1:
        raise SeqtagError(f"expected y of shape ({X.size},), found shape {y.shape}; use y.ravel()")
    if len(y) != X.size:
        raise SeqtagError(f"expected one label per vector, found {X.size} vectors, {len(y)} labels")


# --------------------------------------------------------------------------- feature maps
def bias(X: Any) -> Any:
    """Append a feature that is always 1.

    Examples
    --------
    >>> bias([[2, 4]])
    array([[2., 4., 1.]])
    """
    if _is_dicts(X):
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
    if _is_dicts(X):
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
    if _is_dicts(X):
        squares = ({f"{name} & {name}": value**2 for name, value in _numbers(x).items()} for x in X)
        return [_with_products(x) | more for x, more in zip(X, squares, strict=True)]
    matrix = _plane(X)
    return np.hstack([product(matrix), matrix**2])


MAPS: dict[str, Callable[[Any], Any]] = {"product": product, "quadratic": quadratic}
"""Feature maps by name."""


def apply_map(feature_map: str | Callable[[Any], Any] | None, X: Any) -> Any:
    """X under a feature map: a name of `MAPS`, a function of X, or None for X as it is.

    Raises
    ------
    SeqtagError
        If the name is unknown, or the map returns another number of vectors.
    """
    if feature_map is None:
        return X
    if isinstance(feature_map, str):
        if feature_map not in MAPS:
            raise SeqtagError(
                f"expected a feature map {', '.join(MAPS)} or a function, found {feature_map!r}"
            )
        feature_map = MAPS[feature_map]
    mapped = feature_map(X)
    if _rows(mapped) != _rows(X):
        raise SeqtagError(
            f"expected the feature map to return one vector for each of {_rows(X)}, "
            f"found {_rows(mapped)}"
        )
    return mapped


# --------------------------------------------------------------------------- private
def _is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array, without importing scipy."""
    return type(X).__module__.startswith("scipy.sparse")


def _is_dicts(X: Any) -> bool:
    """Whether X is a sequence that starts with a dict."""
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping)


def _rows(X: Any) -> int:
    """Number of vectors."""
    return X.shape[0] if getattr(X, "shape", ()) else len(X)


def _kind(X: Any) -> str:
    """What X is, for a message."""
    return (
        f"{type(X).__name__} of {type(X[0]).__name__}" if isinstance(X, list) else type(X).__name__
    )


def _floats(X: Any) -> np.ndarray:
    """X as float64."""
    try:
        array = np.asarray(X)
        if np.iscomplexobj(array):
            raise TypeError("complex numbers")
        return np.asarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise SeqtagError(
            "expected X as an array of numbers, a sparse matrix or feature dicts, found "
            f"{_kind(X)} that is none ({error})"
        ) from error


def _plane(X: Any) -> np.ndarray:
    """X as a dense matrix."""
    if _is_sparse(X):
        raise SeqtagError(
            "expected an array or feature dicts for this feature map, found a sparse matrix; "
            "use X.toarray() or dicts"
        )
    return read_array(X).values


def _items(x: Any) -> Iterable[tuple[str, Any]]:
    """Features of one dict."""
    if not isinstance(x, Mapping):
        raise SeqtagError(f"expected feature dicts only, found {type(x).__name__} among them")
    return x.items()


def _feature(name: str, value: Any) -> tuple[str, float]:
    """Name and number of a feature; a string makes an indicator."""
    if isinstance(value, str):
        return f"{name}={value}", 1.0
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise SeqtagError(f"expected a finite number or a string as {name!r}, found {value!r}")
    return name, number


def _numbers(x: Mapping[str, Any]) -> dict[str, float]:
    """A dict with indicators for strings."""
    return dict(_feature(name, value) for name, value in _items(x))


def _with_products(x: Mapping[str, Any]) -> dict[str, float]:
    """A dict with the products of its features, named in alphabetical order."""
    numbers = _numbers(x)
    pairs = combinations(sorted(numbers), 2)
    return numbers | {f"{a} & {b}": numbers[a] * numbers[b] for a, b in pairs}


def _from_dicts(X: Sequence[Mapping[str, Any]], names: Mapping[str, int]) -> Vectors:
    """Vectors of the features that have a number."""
    rows = []
    for x in X:
        numbers = _numbers(x)
        rows.append(
            sorted((names[name], value) for name, value in numbers.items() if name in names)
        )
    flat = [pair for row in rows for pair in row]
    return Vectors(
        len(names),
        np.array([value for _, value in flat], np.float64),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([i for i, _ in flat], np.int32),
    )
