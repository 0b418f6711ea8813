"""Compact storage of a model's arrays.

- Integers have the narrowest type that holds all of an array.
- Instead of the number of cells of each row, ``ROWS.cells``, a file has a bit per cell, 1 for the
  last of its row: ``ROWS.ends``, 8 bits to a byte, the first the highest. Rows without cells, which
  count as absent, are left out.
- Many keys of up to 48 bits are split: ``ROWS.keys.low`` are their lowest 32 bits, in the order of
  the keys; ``ROWS.keys.high`` are bits: for each value of the bits above, from 0 on, a 1 for each
  key that has it, then a 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine import backend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray

ROWS = ("emission", "edge", "trigram", "tag_dictionary", "by_tags")

_LOW_BITS = 32  # bits of a split key that are stored as a number
_HIGH_BITS = 16  # bits above, of which each value takes a bit


def packed(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model as a file stores them.

    Examples
    --------
    >>> rows = {"edge.keys": np.array([7, 9, 400]), "edge.cells": np.array([2, 0, 3])}
    >>> found = packed({**rows, "start": np.array([-1, 128])})
    >>> {name: (str(array.dtype), array.tolist()) for name, array in found.items()}
    {'start': ('int16', [-1, 128]), 'edge.ends': ('uint8', [72]), 'edge.keys': ('int16', [7, 400])}
    """
    found = dict(tensors)
    for name in ROWS:
        if f"{name}.cells" not in found:
            continue
        counts = found.pop(f"{name}.cells").astype(np.int64)
        keys = found.pop(f"{name}.keys")[counts > 0]
        ends = np.zeros(counts.sum(), np.uint8)
        ends[counts[counts > 0].cumsum() - 1] = 1
        found[f"{name}.ends"] = np.packbits(ends)
        high = (keys >> _LOW_BITS).astype(np.int64)
        if len(keys) > 2**_HIGH_BITS // 31 and 0 < high.max() < 2**_HIGH_BITS:  # else not smaller
            bits = np.zeros(len(keys) + 2**_HIGH_BITS, np.uint8)
            bits[high + np.arange(len(keys))] = 1
            found[f"{name}.keys.high"] = np.packbits(bits)
            found[f"{name}.keys.low"] = keys.astype(np.uint32)
        else:
            found[f"{name}.keys"] = keys
    return {name: _narrowed(array) for name, array in found.items()}


def unpacked(
    tensors: Mapping[str, NDArray[Any]], wanted: Mapping[str, tuple[DTypeLike, int]]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model as they are used.

    Parameters
    ----------
    tensors
        What `packed` returned.
    wanted
        Data type and number of dimensions of each array in use.

    Raises
    ------
    ValueError
        If arrays that belong together have different lengths.

    Examples
    --------
    >>> wanted = {"edge.keys": ("u8", 1), "edge.cells": ("u2", 1), "edge.labels": ("u2", 1)}
    >>> ends, labels = np.array([0b01001000], np.uint8), np.arange(5, dtype=np.uint8)
    >>> keys = np.array([7, 9], np.uint8)
    >>> stored = {"edge.ends": ends, "edge.keys": keys, "edge.labels": labels}
    >>> found = unpacked(stored, wanted)
    >>> found["edge.cells"], found["edge.keys"].dtype
    (array([2, 3], dtype=uint16), dtype('uint64'))
    """
    found = dict(tensors)
    for name in ROWS:
        if f"{name}.labels" in found:
            cells = found[f"{name}.labels"].size
            ends = _checked(found.pop(f"{name}.ends"), cells)
            found[f"{name}.cells"] = backend.count_cells(ends, cells)
        if f"{name}.keys.low" in found:
            low = found.pop(f"{name}.keys.low").ravel()
            high = _checked(found.pop(f"{name}.keys.high"), low.size + 2**_HIGH_BITS)
            low = low.astype(np.uint32, casting="safe", copy=False)
            found[f"{name}.keys"] = backend.join_keys(low, high)
    for name, (dtype, _) in wanted.items():
        if name in found and _is_narrower(found[name].dtype, np.dtype(dtype)):
            found[name] = found[name].astype(dtype)
    return found


def _checked(bits: NDArray[Any], count: int) -> NDArray[np.uint8]:
    """Return bits, 8 to a byte, or refuse arrays that are not as many."""
    if bits.dtype != np.uint8 or bits.shape != (-(-count // 8),):
        msg = f"{count} bits must be in as many bytes as they need"
        raise ValueError(msg)
    return bits


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of integers in the narrowest type of its kind."""
    if array.dtype.kind not in "iu":
        return array
    least, most = array.min(initial=0), array.max(initial=0)
    for size in (1, 2, 4):
        limits = np.iinfo(f"{array.dtype.kind}{size}")
        if limits.min <= least and most <= limits.max:
            return array.astype(limits.dtype)
    return array


def _is_narrower(found: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    return found.kind == wanted.kind and found.kind in "iu" and found.itemsize < wanted.itemsize
