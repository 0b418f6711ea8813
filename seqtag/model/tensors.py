"""Tensors of a model file as their readers want them: the expected ones, and lists of strings."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.errors import ModelFileError
from seqtag.model.header import damaged, located, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import DTypeLike, NDArray


def expect(
    tensors: Mapping[str, NDArray[Any]],
    wanted: Mapping[str, tuple[DTypeLike, int]],
    *,
    source: str | None = None,
) -> None:
    """Refuse `tensors` unless it has exactly the wanted names, types and numbers of dimensions.

    Parameters
    ----------
    tensors
        What `load` returned.
    wanted
        For each name the dtype and the number of dimensions.
    source
        The file, for error messages.

    Raises
    ------
    ModelFileError
        A tensor is missing, unknown, or of another type or number of dimensions.

    Examples
    --------
    >>> expect({"w": np.zeros((2, 3))}, {"w": ("f8", 2)})
    >>> expect({"w": np.zeros(6)}, {"w": ("f8", 2)}, source="a.seqtag")
    Traceback (most recent call last):
    seqtag.errors.ModelFileError: a.seqtag: expected tensor 'w' to be float64 with 2 dimensions, \
found float64 with 1; this is another kind of model, or a damaged one
    """
    hint = "this is another kind of model, or a damaged one"
    with located(source):
        if tensors.keys() != wanted.keys():
            msg = (
                f"expected the tensors {show(sorted(wanted))}, "
                f"found {show(sorted(tensors))}; {hint}"
            )
            raise ModelFileError(msg)
        for name, (dtype, ndim) in wanted.items():
            found = tensors[name]
            if found.dtype != np.dtype(dtype) or found.ndim != ndim:
                msg = (
                    f"expected tensor {name!r} to be {np.dtype(dtype)} with {ndim} dimensions, "
                    f"found {found.dtype} with {found.ndim}; {hint}"
                )
                raise ModelFileError(msg)


def pack_strings(strings: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Lay strings end to end in UTF-8, for storage as two tensors.

    Parameters
    ----------
    strings
        Any n strings; empty ones, line breaks and NUL are kept.

    Returns
    -------
    blob : ndarray of uint8, shape (bytes,)
    offsets : ndarray of int64, shape (n + 1,)
        String i is ``blob[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    ModelFileError
        A string has a lone surrogate, which UTF-8 cannot express.

    Examples
    --------
    >>> blob, offsets = pack_strings(["the", "", "café"])
    >>> blob.size, offsets.tolist()
    (8, [0, 3, 3, 8])
    """
    encoded = []
    for string in strings:
        try:
            encoded.append(string.encode())
        except UnicodeEncodeError as err:
            msg = (
                f"expected strings that UTF-8 can express, found {show(string)} at index "
                f"{len(encoded)}; remove the lone surrogate"
            )
            raise ModelFileError(msg) from err
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(item) for item in encoded], out=offsets[1:])
    return np.array(bytearray().join(encoded), np.uint8), offsets


def unpack_strings(
    blob: NDArray[np.uint8], offsets: NDArray[np.int64], *, source: str | None = None
) -> list[str]:
    """Read back what `pack_strings` laid out.

    Parameters
    ----------
    blob
        uint8, shape (bytes,).
    offsets
        int64, shape (n + 1,), from 0 to the length of `blob`, never falling.
    source
        The file, for error messages.

    Returns
    -------
    list of str
        n strings.

    Raises
    ------
    ModelFileError
        The arrays are of another type or shape, the offsets do not fit, or a string is not UTF-8.

    Examples
    --------
    >>> unpack_strings(*pack_strings(["the", "", "café"]))
    ['the', '', 'café']
    """
    with located(source):
        expect({"blob": blob, "offsets": offsets}, {"blob": ("u1", 1), "offsets": ("i8", 1)})
        if not offsets.size or offsets[0] != 0 or offsets[-1] != blob.size:
            ends = offsets[[0, -1]].tolist() if offsets.size else "none"
            msg = f"expected string offsets from 0 to {blob.size}, found {ends}"
            raise damaged(msg)
        # Compared, not subtracted: a difference of hostile numbers may overflow.
        falls = np.flatnonzero(offsets[1:] < offsets[:-1])
        if falls.size:
            msg = f"expected string offsets that never fall, found a fall at {falls[0]}"
            raise damaged(msg)
        data = blob.tobytes()
        strings: list[str] = []
        for begin, end in pairwise(offsets.tolist()):
            try:
                strings.append(data[begin:end].decode())
            except UnicodeDecodeError as err:
                found = f"found {show(data[begin:end])} at index {len(strings)}"
                msg = f"expected strings in UTF-8, {found}"
                raise damaged(msg) from err
        return strings
