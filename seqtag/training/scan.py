"""Blocks of column files as training takes them: numbered by the native scanner."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from seqtag.corpus.scanner import BlockScanner
from seqtag.labels.coding import has_controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.corpus import Block, SentenceStream


class Scan:
    """The native scanner over the blocks of a file, and what its numbers mean.

    Parameters
    ----------
    stream
        A file of columns whose separator is known.
    names
        The columns to number, those of labels last.
    labels
        How many of them are none.

    Attributes
    ----------
    has_controls : bool
        Whether a label with a control character came up (`seqtag.labels.coding.has_controls`).
    """

    def __init__(self, stream: SentenceStream, names: Sequence[str], labels: int):
        self._scanner = BlockScanner(stream, names)
        self._renumber = [np.zeros(0, np.int32) for _ in names]  # to ours; -1: not met yet
        self._types = np.zeros((len(names), 0), np.int32)
        self._labels = labels
        self.has_controls = False

    def read(self, block: Block) -> tuple[np.ndarray, np.ndarray] | None:
        """The scanner's type ids (columns, tokens) and sentence_ptr; None if it is not plain."""
        found = self._scanner.scan(block)
        if found is None:
            return None
        self._types = found.types
        labels = chain.from_iterable(found.new[self._labels :])
        self.has_controls = self.has_controls or any(map(has_controls, labels))
        pairs = zip(self._renumber, found.known, strict=True)
        self._renumber = [numbers[:count] for numbers, count in pairs]  # 0 after a new start
        return self._types, found.sentence_ptr

    def has(self, column: int, value: str) -> bool:
        """Whether the column has the value in the block read last."""
        values = self._scanner.values[column]
        return value in values and bool((self._types[column] == values.index(value)).any())

    def renumbered(
        self, column: int, types: NDArray[np.int32], number: dict[str, int]
    ) -> NDArray[np.int32]:
        """The types as `number` has them, which grows by the values that it lacks."""
        values, known = self._scanner.values[column], self._renumber[column]
        if len(known) < len(values):
            more = np.full(len(values) - len(known), -1, np.int32)
            known = self._renumber[column] = np.concatenate([known, more])
        for new in np.unique(types[known[types] < 0]).tolist():
            known[new] = number.setdefault(values[new], len(number))
        numbers: NDArray[np.int32] = known[types]
        return numbers
