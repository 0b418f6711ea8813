"""Lists of strings to numbers, and numbers to lists of labels."""

from __future__ import annotations

from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.checks import check_named, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import IntArray


class Values:
    """Strings, numbered as they come.

    Examples
    --------
    >>> values = Values()
    >>> values.number([["to", "be"], [], ("to",)], 3)
    array([0, 1, 0], dtype=int32)
    >>> values.new_values(), values.new_values()
    (['to', 'be'], [])
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._reported = 0

    def number(self, rows: list[Sequence[str]], count: int) -> NDArray[np.int32]:
        """The number of each of some values, all rows end to end: (count,) int32.

        Parameters
        ----------
        rows
            Sentences, say.
        count
            Number of values in them.

        Raises
        ------
        TypeError
            If a value is no string.
        ValueError
            If there are more or fewer values.
        """
        values = list(chain.from_iterable(rows))
        if not all(isinstance(value, str) for value in values):
            msg = "values must be strings"
            raise TypeError(msg)
        require(len(values) == count, "count must be the number of values")
        numbers = self._numbers
        return np.array([numbers.setdefault(str(v), len(numbers)) for v in values], np.int32)

    def new_values(self) -> list[str]:
        """Values that were numbered since the last call, in order."""
        new = list(islice(self._numbers, self._reported, None))
        self._reported += len(new)
        return new


def label_lists(names: Sequence[str], ids: IntArray, ptr: IntArray) -> list[list[str]]:
    """The names of some ids, those of each row as a list.

    Parameters
    ----------
    names
        What each id is called.
    ids
        (N,) int32.
    ptr
        Where rows begin, and where the last ends: (rows + 1,) int64.

    Raises
    ------
    ValueError
        If an id has no name, or the rows are not those of the ids.

    Examples
    --------
    >>> label_lists(["DET", "NOUN"], np.array([0, 1, 1], np.int32), np.array([0, 2, 2, 3]))
    [['DET', 'NOUN'], [], ['NOUN']]
    """
    check_named(len(names), ids, ptr)
    found = list(map(names.__getitem__, ids.tolist()))
    return [found[begin:end] for begin, end in pairwise(ptr.tolist())]
