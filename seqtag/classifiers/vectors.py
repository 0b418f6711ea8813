"""Feature vectors, read from arrays, sparse matrices and dicts.

The engine sees each vector as a sequence of one token, see `Vectors.instances`.

Features are numbered from 0. The features of dicts have names, which are numbered in ascending
order; features that later dicts add are numbered after all earlier ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from seqtag.engine.arrays import Instances, pointers, ranges
from seqtag.errors import SeqtagError


class Vectors(NamedTuple):
    """n vectors of `width` features, stored densely or sparsely.

    Attributes
    ----------
    width
        Number of features, d.
    values
        (n, d) float64 if dense; (nnz,) float64 if sparse.
    ptr, features
        (n + 1,) int64 and (nnz,) int32 if sparse, both None if dense: vector i has values of the
        features ``features[ptr[i]:ptr[i+1]]``, which ascend; its other features are 0.
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
        """Return the vectors as sequences of length 1."""
        n, d = self.size, self.width
        each = np.arange(n + 1, dtype=np.int64)
        if self.ptr is not None and self.features is not None:
            return Instances(each, self.ptr, self.features, self.values)
        # every vector has the same features, which are given once
        features = np.arange(d, dtype=np.int32)
        return Instances(each, each * d, features, np.ascontiguousarray(self.values).ravel())

    def with_bias(self) -> Vectors:
        """Return the vectors with one more feature, the last, that is always 1: the bias."""
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
        """Return the vectors with the numbers `where`, (m,) integers from 0, in that order."""
        if self.ptr is None or self.features is None:
            return Vectors(self.width, self.values[where])
        lengths = np.diff(self.ptr)[where]
        places = ranges(self.ptr[where], lengths)
        return Vectors(self.width, self.values[places], pointers(lengths), self.features[places])

    def widened(self, width: int, bias: bool) -> Vectors:
        """Return sparse vectors with more features, all 0.

        Dense vectors are returned as they are: only dicts, which are sparse, add features.

        Parameters
        ----------
        width
            New number of features, not less than the old one.
        bias
            Whether the last feature is the bias, which must stay the last.
        """
        if self.features is None or width == self.width:
            return self
        features = self.features
        if bias:
            features = np.where(features == self.width - 1, np.int32(width - 1), features)
        return Vectors(width, self.values, self.ptr, features)

    def followed_by(self, more: Vectors) -> Vectors:
        """Return these vectors and others of the same width after them; dense if either are."""
        if self.ptr is None or self.features is None or more.ptr is None or more.features is None:
            return Vectors(self.width, np.concatenate([self.dense(), more.dense()]))
        return Vectors(
            self.width,
            np.concatenate([self.values, more.values]),
            np.concatenate([self.ptr, self.ptr[-1] + more.ptr[1:]]),
            np.concatenate([self.features, more.features]),
        )

    def dense(self) -> np.ndarray:
        """Return the vectors as a matrix (n, d) float64."""
        if self.ptr is None:
            return self.values
        matrix = np.zeros((self.size, self.width))
        matrix[np.repeat(np.arange(self.size), np.diff(self.ptr)), self.features] = self.values
        return matrix

    def dot(self, weights: np.ndarray) -> np.ndarray:
        """Return the inner products with m weight vectors, (m, d): (n, m) float64."""
        if self.ptr is None:
            return np.asarray(self.values @ weights.T)
        owner = np.repeat(np.arange(self.size), np.diff(self.ptr))
        products = [np.bincount(owner, self.values * w[self.features], self.size) for w in weights]
        return np.stack(products, axis=1) if products else np.zeros((self.size, 0))


class Reader(NamedTuple):
    """Reader of vectors with the features of the training data.

    Attributes
    ----------
    width
        Number of features, d.
    names
        The number of each feature by its name if the training data were dicts, else None.
    """

    width: int
    names: Mapping[str, int] | None = None

    def grown(self, X: Any) -> Reader:
        """Return a reader that also knows the new names of these dicts.

        If either the training data or X are no dicts, it is this reader.
        """
        if self.names is None or not is_dicts(X):
            return self
        new = sorted(_names(map(numbers_of, X)) - self.names.keys())
        names = {**self.names, **{name: i for i, name in enumerate(new, self.width)}}
        return Reader(len(names), names)

    def __call__(self, X: Any, owner: str = "it") -> Vectors:
        """Read vectors with the features of the training data; unknown names are left out.

        Parameters
        ----------
        X
            Vectors as in `read`, of the same kind and width; there may be none.
        owner
            Name of the class of the classifier, for messages.

        Raises
        ------
        SeqtagError
            If X is of another kind or width, or malformed as in `read`.
        TypeError
            As in `read`.
        """
        if self.names is None and is_dicts(X):
            msg = (
                "expected an array or sparse matrix, as in training, found dicts; give X as in fit"
            )
            raise SeqtagError(msg)
        if self.names is not None:
            if not is_dicts(X) and not _is_empty(X):
                msg = (
                    f"expected a list of feature dicts, as in training, found {_kind(X)}; "
                    "give X as in fit"
                )
                raise SeqtagError(msg)
            return _from_rows(map(numbers_of, X), self.names)
        found = read_array(X)
        if found.width != self.width:
            msg = (
                f"X has {found.width} features, but {owner} is expecting {self.width} features as "
                "input; give the same columns as in fit"
            )
            raise SeqtagError(msg)
        return found


def read(X: Any) -> tuple[Vectors, Reader]:
    """Read training vectors; return them, and a reader for others with the same features.

    Parameters
    ----------
    X
        An array (n, d) of numbers, a scipy sparse matrix or array (n, d), or n dicts from feature
        name to value. A dict's value is a number, True or False (1 or 0), or a string, which makes
        the indicator feature ``name=string``.

    Returns
    -------
    vectors, reader
        Arrays become dense vectors; sparse matrices and dicts become sparse vectors.

    Raises
    ------
    SeqtagError
        If X has no vectors or no features, is not two-dimensional, or contains NaN, an infinity, or
        a value that is not a number.
    TypeError
        If X is an array of objects that are neither numbers nor strings.

    Examples
    --------
    >>> vectors, reader = read([{"length": 3, "suffix": "ed"}, {"length": 5.5}])
    >>> sorted(reader.names)
    ['length', 'suffix=ed']
    >>> vectors.dense()
    array([[3. , 1. ],
           [5.5, 0. ]])
    """
    if not is_dicts(X):
        vectors = read_array(X)
        reader = Reader(vectors.width)
    else:
        rows = [*map(numbers_of, X)]
        names = {name: i for i, name in enumerate(sorted(_names(rows)))}
        vectors, reader = _from_rows(rows, names), Reader(len(names), names)
    if not vectors.size:
        msg = "expected at least one vector to learn from, found an empty X"
        raise SeqtagError(msg)
    return vectors, reader


def read_array(X: Any) -> Vectors:
    """Read an array or a scipy sparse matrix, of two dimensions and finite numbers.

    It may have no rows. The vectors of a float64 array share its memory.

    Raises
    ------
    SeqtagError
        If X is anything else, or has rows but no columns.
    TypeError
        If X contains objects that are neither numbers nor strings.
    """
    if is_sparse(X):
        if X.ndim != 2:
            msg = f"expected a sparse matrix (n, d), found shape {X.shape}"
            raise SeqtagError(msg)
        rows = X.tocsr(copy=True)
        rows.sum_duplicates()  # also sorts the features of each row
        vectors = Vectors(
            rows.shape[1],
            _floats(rows.data),
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.int32),
        )
    else:
        matrix = _floats(X)
        if matrix.ndim != 2:
            hint = ". Reshape your data: one vector is X.reshape(1, -1)" if matrix.ndim == 1 else ""
            msg = f"expected X of shape (vectors, features), found shape {matrix.shape}{hint}"
            raise SeqtagError(msg)
        vectors = Vectors(matrix.shape[1], matrix)
    if not vectors.width and vectors.size:
        msg = (
            f"expected features in X, found 0 feature(s) (shape=({vectors.size}, 0)) while a "
            "minimum of 1 is required."
        )
        raise SeqtagError(msg)
    # The sum is finite only if all values are, and fast; but it also overflows if they are large.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = math.isfinite(vectors.values.sum()) or np.isfinite(vectors.values).all()
    if not finite:
        row = np.flatnonzero(~np.isfinite(vectors.dense()).all(axis=1))[0]
        msg = (
            f"expected finite numbers in X, found NaN or infinity in vector {row} (from 0); "
            "remove or impute such vectors first"
        )
        raise SeqtagError(msg)
    return vectors


def check_length(size: int, y: np.ndarray) -> None:
    """Check that there is one label for each of so many vectors.

    Raises
    ------
    SeqtagError
        If y is not one-dimensional or not as long.
    """
    if y.ndim != 1:
        msg = f"expected y of shape ({size},), found shape {y.shape}; use y.ravel()"
        raise SeqtagError(msg)
    if len(y) != size:
        msg = f"expected one label per vector, found {size} vectors, {len(y)} labels"
        raise SeqtagError(msg)


def is_sparse(X: Any) -> bool:
    """Return whether X is a scipy sparse matrix or array, without importing scipy."""
    return type(X).__module__.startswith("scipy.sparse")


def is_dicts(X: Any) -> bool:
    """Return whether X is a sequence whose first item is a dict; False if it is empty."""
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping)


def count(X: Any) -> int:
    """Return the number of vectors of an array, a sparse matrix or a sequence."""
    return X.shape[0] if getattr(X, "shape", ()) else len(X)


def numbers_of(x: Mapping[str, Any]) -> dict[str, float]:
    """Return the features of a dict as numbers, with indicators for strings.

    Raises
    ------
    SeqtagError
        If x is no dict, or a value is neither a finite number nor a string.

    Examples
    --------
    >>> numbers_of({"length": 3, "suffix": "ed"})
    {'length': 3.0, 'suffix=ed': 1.0}
    """
    if not isinstance(x, Mapping):
        msg = f"expected feature dicts only, found {type(x).__name__} among them"
        raise SeqtagError(msg)
    found = {}
    for name, value in x.items():
        if isinstance(value, str):
            found[f"{name}={value}"] = 1.0
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        except OverflowError:  # an integer beyond float64
            number = math.inf
        if not math.isfinite(number):
            msg = f"expected a finite number or a string as {name!r}, found {value!r:.60}"
            raise SeqtagError(msg)
        found[name] = number
    return found


# --------------------------------------------------------------------------- private
def _is_empty(X: Any) -> bool:
    """Return whether X has no vectors; False for numbers, iterators and others without a length."""
    try:
        return count(X) == 0
    except TypeError:
        return False


def _kind(X: Any) -> str:
    """Return a description of X for a message."""
    return (
        f"{type(X).__name__} of {type(X[0]).__name__}" if isinstance(X, list) else type(X).__name__
    )


def _floats(X: Any) -> np.ndarray:
    """Return X as a float64 array, or raise an error that describes X.

    scikit-learn expects a TypeError for objects that cannot be numbers, and these words for complex
    numbers.
    """
    try:
        array = np.asarray(X)
        if np.iscomplexobj(array):
            msg = "Complex data not supported"
            raise ValueError(msg)
        return np.asarray(array, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        msg = (
            "expected X as an array of numbers, a sparse matrix or feature dicts, found "
            f"{_kind(X)} ({error})"
        )
        kind = TypeError if isinstance(error, TypeError) else SeqtagError
        raise kind(msg) from error


def _names(rows: Iterable[Mapping[str, float]]) -> set[str]:
    return {name for row in rows for name in row}


def _from_rows(rows: Iterable[Mapping[str, float]], names: Mapping[str, int]) -> Vectors:
    """Return sparse vectors of the features in `names`, which gives their numbers."""
    known = [sorted((names[name], x) for name, x in row.items() if name in names) for row in rows]
    flat = [pair for row in known for pair in row]
    return Vectors(
        len(names),
        np.array([value for _, value in flat], np.float64),
        np.cumsum([0, *map(len, known)], dtype=np.int64),
        np.array([i for i, _ in flat], np.int32),
    )
