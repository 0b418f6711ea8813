r"""Word bigrams, and exchange clustering: word classes that predict each other (Kneser & Ney 1993).

**Bigrams.** `BigramCounter` counts which words are next to each other. Word 0 is the boundary:
it precedes each sentence and follows the last one. Sentences come in any number of pieces; only
distinct bigrams are kept.

**Objective.** A class bigram model gives a word w after v, with classes c(w) and c(v),

    p(w | v) = p(w | c(w)) p(c(w) | c(v)).

With N for counts, the most likely probabilities are N(w) / N(c) and N(b, c) / N(b), and the
log-likelihood of the counted text is

    L = sum_w N(w) log N(w)  +  sum_{b,c} N(b, c) log N(b, c)  -  2 sum_c N(c) log N(c),

because a class is as often the first of a bigram as the second: every text begins and ends with
the boundary (Martin, Liermann & Ney 1998, section 2). The first sum does not depend on the classes.
`ExchangeClustering.objective` is the rest, F, with f(n) = n log2 n.

**Exchange.** One word after the other is taken out of its class and put into the class where F is
greatest, the lowest of several; F never falls. A word w outside of all classes, with R(d) bigrams
w v for the words v of class d, L(d) bigrams v w, and B bigrams w w, adds to class c

      sum_{d != c} f(N(c, d) + R(d)) - f(N(c, d))
    + sum_{d != c} f(N(d, c) + L(d)) - f(N(d, c))
    + f(N(c, c) + R(c) + L(c) + B) - f(N(c, c))  -  2 (f(N(c) + N(w)) - f(N(c))),

where only the classes d next to w count. A word costs its distinct neighboring classes times the
number of classes, and needs the bigrams only, not the text.

**Whole numbers.** f is a whole number, in units of 2**-20 bits: sums are exact in any order, and
the classes are the same on every machine. Logarithms have 28 fractional bits: those of
1 + i / 2**14 are computed bit by bit by repeated squaring, others are interpolated linearly.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine.arrays import Bigrams, IntArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD_BITS = 32  # bits of each word in a pair

_LOG_BITS = 28  # fractional bits of a logarithm
_POINT_BITS = 14  # 2**14 logarithms, between which others are interpolated
_REST_BITS = 31 - _POINT_BITS


@cache
def _logarithms() -> NDArray[np.int64]:
    """log2(1 + i / 2**14) for i = 0 to 2**14, with 28 fractional bits."""
    number = np.arange(1 << _POINT_BITS, 1 << _POINT_BITS + 1, dtype=np.uint64) << np.uint64(
        _REST_BITS
    )
    found = np.zeros(1 << _POINT_BITS, np.uint64)
    for _ in range(_LOG_BITS):
        number = number * number >> np.uint64(31)  # 31 fractional bits
        bit = number >> np.uint64(32)
        number >>= bit
        found = found << np.uint64(1) | bit
    return np.append(found, np.uint64(1 << _LOG_BITS)).astype(np.int64)


def entropies(n: IntArray) -> IntArray:
    """Return f(n) = n log2 n in units of 2**-20 bits, truncated to whole numbers.

    Parameters
    ----------
    n
        Numbers from 0 to 2**31 - 1, in an array of any shape.

    Examples
    --------
    >>> entropies(np.array([0, 1, 2, 3, 1024])) * UNIT
    array([0.00000000e+00, 0.00000000e+00, 2.00000000e+00, 4.75488663e+00,
           1.02400000e+04])
    """
    n = np.asarray(n, np.int64)
    exponent = np.frexp(np.maximum(n, 1).astype(np.float64))[1].astype(np.int64) - 1
    fraction = (n << (31 - exponent)) - (1 << 31)  # of n / 2**exponent, 31 bits
    place = np.maximum(fraction, 0) >> _REST_BITS
    below, above = _logarithms()[place], _logarithms()[place + 1]
    rest = fraction & ((1 << _REST_BITS) - 1)
    log = (exponent << _LOG_BITS) + below + ((above - below) * rest >> _REST_BITS)
    product = n.astype(np.uint64) * log.astype(np.uint64)
    found: IntArray = (product >> np.uint64(8)).astype(np.int64)
    return found


class BigramCounter:
    """Counts the bigrams of sentences that arrive piece by piece.

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
            (sentences + 1,) int64. Empty sentences are ignored.
        """
        starts = np.unique(sentence_ptr[sentence_ptr < len(words)])
        line = np.append(np.insert(words, starts, 0), 0).astype(np.int64)
        pairs = np.append(self._pairs, line[:-1] << _WORD_BITS | line[1:])
        count = np.append(self._count, np.ones(len(line) - 1, np.int64))
        self._pairs, self._count = _summed(pairs, count)

    @property
    def total(self) -> int:
        """Number of bigrams counted, with repetitions."""
        return int(self._count.sum())

    def counts(self, words: int) -> IntArray:
        """Return how often each of the first words was counted: (words,) int64."""
        before = self._pairs >> _WORD_BITS
        counts = np.bincount(before, self._count, max(words, 1)).astype(np.int64)
        return counts[:words]

    def table(self, numbers: IntArray) -> Bigrams:
        """Return all bigrams, with the words renumbered.

        Parameters
        ----------
        numbers
            (words,) int32: the new number of each word, the boundary among them. Words with the
            same number become one word.
        """
        before, after = self._pairs >> _WORD_BITS, self._pairs & ((1 << _WORD_BITS) - 1)
        renumbered = numbers.astype(np.int64)
        pairs, count = _summed(renumbered[before] << _WORD_BITS | renumbered[after], self._count)
        size = int(numbers.max(initial=-1)) + 1
        ptr = np.searchsorted(pairs, np.arange(size + 1, dtype=np.int64) << _WORD_BITS)
        after = pairs & ((1 << _WORD_BITS) - 1)
        return Bigrams(ptr.astype(np.int64), after.astype(np.int32), count.astype(np.int32))


def _summed(pairs: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs in order, and the sum of the counts of each."""
    distinct, which = np.unique(pairs, return_inverse=True)
    summed = np.zeros(len(distinct), np.int64)
    np.add.at(summed, which.reshape(-1), count)
    return distinct, summed


class ExchangeClustering:
    """Classes of words, improved word by word by the exchange algorithm.

    Parameters
    ----------
    bigrams
        Of V words.
    classes
        (V,) int32: the class that each word begins in.
    open
        Words move into classes 0 to open - 1 only; other classes, such as that of the boundary,
        only lose words.

    Examples
    --------
    The sentences 1 2, 1 3, 4 2 and 4 3: two words begin, two words end.

    >>> counter = BigramCounter()
    >>> words = np.array([1, 2, 1, 3, 4, 2, 4, 3], np.int32)
    >>> counter.add(words, np.array([0, 2, 4, 6, 8]))
    >>> bigrams, classes = counter.table(np.arange(5)), np.array([2, 0, 1, 0, 1])
    >>> exchange = ExchangeClustering(bigrams, classes, open=2)
    >>> exchange.visit(1, 5), exchange.classes.tolist()
    (2, [2, 1, 0, 0, 1])
    >>> exchange.visit(1, 5), exchange.objective() * UNIT
    (0, -24.0)
    """

    def __init__(self, bigrams: Bigrams, classes: IntArray, open: int):
        self.classes = classes.astype(np.int32)
        """The class of each word, (V,) int32."""
        self._open = open
        words = len(classes)
        before = np.repeat(np.arange(words), np.diff(bigrams.ptr))
        after, count = bigrams.after.astype(np.int64), bigrams.counts.astype(np.int64)
        by_second = np.argsort(after, kind="stable")
        self._following = bigrams.ptr, after, count
        self._preceding = (
            np.searchsorted(after[by_second], np.arange(words + 1)),
            before[by_second],
            count[by_second],
        )
        size = max(open, int(classes.max(initial=-1)) + 1)
        self._table = np.zeros((size, size), np.int64)  # N(b, c)
        np.add.at(self._table, (classes[before], classes[after]), count)
        self._total = self._table.sum(axis=1)  # N(c)

    def objective(self) -> int:
        """Return F, the part of the log-likelihood that depends on the classes, in `UNIT` bits."""
        return int(entropies(self._table).sum() - 2 * entropies(self._total).sum())

    def visit(self, first: int, last: int) -> int:
        """Move the words first to last - 1, one after the other; return how many change class."""
        moved = 0
        for word in range(first, last):
            right, left, own = self._neighbors(word)
            old = self.classes[word]
            self._put(old, -right, -left, -own)
            new = int(np.argmax(self._gains(right, left, own)))  # the first of several
            self._put(new, right, left, own)
            self.classes[word] = new
            moved += int(new != old)
        return moved

    def _neighbors(self, word: int) -> tuple[IntArray, IntArray, int]:
        """Return the word's R and L, (classes,) int64 each, and its B."""
        found, own = [], 0
        for ptr, neighbors, count in (self._following, self._preceding):
            here = slice(ptr[word], ptr[word + 1])
            others = neighbors[here] != word
            summed: Any = np.zeros(len(self._total), np.int64)
            np.add.at(summed, self.classes[neighbors[here][others]], count[here][others])
            found.append(summed)
            own = int(count[here][~others].sum())
        right, left = found
        return right, left, own

    def _put(self, at: int, right: IntArray, left: IntArray, own: int) -> None:
        """Add a word's bigrams to those of a class; subtract them if negative."""
        self._table[at] += right
        self._table[:, at] += left
        self._table[at, at] += own
        self._total[at] += right.sum() + own

    def _gains(self, right: IntArray, left: IntArray, own: int) -> IntArray:
        """Return what F gains if the word joins each open class, (open,) int64."""
        classes = np.arange(self._open)
        after, before = np.flatnonzero(right), np.flatnonzero(left)
        corner = self._table[classes, classes]
        more = right[classes] + left[classes] + own
        gains = _growth(corner, more) - 2 * _growth(self._total[classes], right.sum() + own)
        for table, ds, n in ((self._table, after, right), (self._table.T, before, left)):
            growth = _growth(table[np.ix_(classes, ds)], n[ds])
            growth[classes[:, None] == ds] = 0  # the corners are counted
            gains += growth.sum(axis=1)
        return gains


def _growth(n: IntArray, by: IntArray | int) -> IntArray:
    grown: IntArray = entropies(n + by) - entropies(n)
    return grown
