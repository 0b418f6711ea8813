"""Counting which words stand side by side.

Word 0 is the boundary: it stands before each sentence and behind the last one. Sentences come in
any number of pieces; only distinct bigrams are kept.
"""

from __future__ import annotations

import numpy as np

from seqtag.engine.arrays import MAX_BIGRAMS, Bigrams, IntArray
from seqtag.engine.checks import check_numbers, check_words, require

_HALF = 32  # bits of each word in a pair


class BigramCounter:
    """Counts the bigrams of sentences that come piece by piece.

    Examples
    --------
    >>> counter = BigramCounter()
    >>> counter.add(np.array([1, 2, 1, 2], np.int32), np.array([0, 3, 4]))  # "1 2 1", "2"
    >>> counter.total, counter.counts(3).tolist()
    (6, [2, 2, 2])
    >>> counter.table(np.array([0, 1, 1], np.int32)).counts.tolist()  # of 0 1, 1 0, 1 1
    [2, 2, 2]
    """

    def __init__(self) -> None:
        self._pairs = np.zeros(0, np.int64)
        self._count = np.zeros(0, np.int64)

    def add(self, words: IntArray, sentence_ptr: IntArray) -> None:
        """Count the bigrams of some sentences.

        Parameters
        ----------
        words
            (tokens,) int32, at least 1; all sentences end to end.
        sentence_ptr
            (sentences + 1,) int64. A sentence without words counts for nothing.

        Raises
        ------
        ValueError
            If the arrays do not fit together, or more is counted than 32 bits hold.
        """
        check_words(words, sentence_ptr)
        starts = np.unique(sentence_ptr[sentence_ptr < len(words)])
        require(self.total + len(words) + len(starts) <= MAX_BIGRAMS, "more than 2**31 - 1 bigrams")
        line = np.append(np.insert(words, starts, 0), 0).astype(np.int64)
        pairs = np.append(self._pairs, line[:-1] << _HALF | line[1:])
        count = np.append(self._count, np.ones(len(line) - 1, np.int64))
        self._pairs, self._count = _summed(pairs, count)

    @property
    def total(self) -> int:
        """Bigrams counted, all repetitions too."""
        return int(self._count.sum())

    def counts(self, words: int) -> IntArray:
        """How often each of the first words was counted: (words,) int64."""
        before = self._pairs >> _HALF
        counts = np.bincount(before, self._count, max(words, 1)).astype(np.int64)
        return counts[:words]

    def table(self, numbers: IntArray) -> Bigrams:
        """The table of all bigrams, with other numbers for the words.

        Parameters
        ----------
        numbers
            (words,) int32: the new number of each word, the boundary among them. Words that get
            the same one are one word from now on.

        Raises
        ------
        ValueError
            If a word has no number.
        """
        before, after = self._pairs >> _HALF, self._pairs & ((1 << _HALF) - 1)
        check_numbers(numbers, int(max(before.max(initial=-1), after.max(initial=-1))))
        renumbered = numbers.astype(np.int64)
        pairs, count = _summed(renumbered[before] << _HALF | renumbered[after], self._count)
        size = int(numbers.max(initial=-1)) + 1
        ptr = np.searchsorted(pairs, np.arange(size + 1, dtype=np.int64) << _HALF)
        after = pairs & ((1 << _HALF) - 1)
        return Bigrams(ptr.astype(np.int64), after.astype(np.int32), count.astype(np.int32))


def _summed(pairs: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct pairs in order, and the sum of the counts of each."""
    distinct, which = np.unique(pairs, return_inverse=True)
    summed = np.zeros(len(distinct), np.int64)
    np.add.at(summed, which.reshape(-1), count)
    return distinct, summed
