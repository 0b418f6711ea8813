r"""Exchange clustering: words to classes that foretell each other (Kneser & Ney 1993).

A class bigram model says of a word w behind v, with classes c(w) and c(v),

    p(w | v) = p(w | c(w)) p(c(w) | c(v)).

With N for how often something was counted, the most likely probabilities are N(w) / N(c) and
N(b, c) / N(b), and the log-likelihood of the text that was counted is

    L = sum_w N(w) log N(w)  +  sum_{b,c} N(b, c) log N(b, c)  -  2 sum_c N(c) log N(c),

as a class stands as often before something as behind something: every text begins and ends with
the boundary (Martin, Liermann & Ney 1998, section 2). The first sum does not depend on the classes.
`Exchange.objective` is the rest, F, with f(n) = n log2 n.

**The exchange.** One word after the other is taken out of its class and put into the one where F is
greatest, of several the lowest; so F never falls. A word w that is outside of all classes, with
R(d) bigrams w v for the words v of class d, L(d) bigrams v w, and B bigrams w w, brings class c

      sum_{d != c} f(N(c, d) + R(d)) - f(N(c, d))
    + sum_{d != c} f(N(d, c) + L(d)) - f(N(d, c))
    + f(N(c, c) + R(c) + L(c) + B) - f(N(c, c))  -  2 (f(N(c) + N(w)) - f(N(c))),

where only classes d count that stand beside w. So a word costs its distinct neighbouring classes
times the number of classes, and the text is not needed any more, only its bigrams.

**Whole numbers.** f is a whole number, in units of 2**-20 bits: sums are exact, in any order, and
the classes are the same on every machine. Logarithms have 28 bits behind the point: those of
1 + i / 2**14 are found bit by bit (where the square reaches 2 there is one), others lie on the line
between two of them, which is as good.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine.checks import check_exchange, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seqtag.engine.arrays import Bigrams, IntArray

UNIT = 2.0**-20
"""What the numbers that `entropies` gives count in, in bits."""

_LOG = 28  # bits of a logarithm behind the point
_POINTS = 14  # of 2**14 logarithms the others are interpolated
_REST = 31 - _POINTS


@cache
def _logarithms() -> NDArray[np.int64]:
    """log2(1 + i / 2**14) for i = 0 to 2**14, with 28 bits behind the point."""
    number = np.arange(1 << _POINTS, 1 << _POINTS + 1, dtype=np.uint64) << np.uint64(_REST)
    found = np.zeros(1 << _POINTS, np.uint64)
    for _ in range(_LOG):
        number = number * number >> np.uint64(31)  # 31 bits behind the point
        bit = number >> np.uint64(32)
        number >>= bit
        found = found << np.uint64(1) | bit
    return np.append(found, np.uint64(1 << _LOG)).astype(np.int64)


def entropies(n: IntArray) -> IntArray:
    """The function f(n) = n log2 n, in units of 2**-20 bits, cut to whole numbers.

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
    whole = np.frexp(np.maximum(n, 1).astype(np.float64))[1].astype(np.int64) - 1
    behind = (n << (31 - whole)) - (1 << 31)  # of n / 2**whole, 31 bits
    place = np.maximum(behind, 0) >> _REST
    below, above = _logarithms()[place], _logarithms()[place + 1]
    rest = behind & ((1 << _REST) - 1)
    log = (whole << _LOG) + below + ((above - below) * rest >> _REST)
    product = n.astype(np.uint64) * log.astype(np.uint64)
    found: IntArray = (product >> np.uint64(8)).astype(np.int64)
    return found


class Exchange:
    """Words in classes, and the exchange that makes them better, word by word.

    Parameters
    ----------
    bigrams
        Of V words.
    classes
        (V,) int32: the class that each word begins in.
    open
        Classes 0 to open - 1 take words; others, such as that of the boundary, only lose them.

    Raises
    ------
    ValueError
        If the arrays do not fit together, or a word is not as often first as second.

    Examples
    --------
    The sentences 1 2, 1 3, 4 2 and 4 3: two words begin, two words end.

    >>> from seqtag.engine.bigrams import BigramCounter
    >>> counter = BigramCounter()
    >>> words = np.array([1, 2, 1, 3, 4, 2, 4, 3], np.int32)
    >>> counter.add(words, np.array([0, 2, 4, 6, 8]))
    >>> exchange = Exchange(counter.table(np.arange(5)), np.array([2, 0, 1, 0, 1]), open=2)
    >>> exchange.visit(1, 5), exchange.classes.tolist()
    (2, [2, 1, 0, 0, 1])
    >>> exchange.visit(1, 5), exchange.objective() * UNIT
    (0, -24.0)
    """

    def __init__(self, bigrams: Bigrams, classes: IntArray, open: int):
        check_exchange(bigrams, classes, open)
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
        """F, the part of the log-likelihood that the classes have in hand, in `UNIT` bits."""
        return int(entropies(self._table).sum() - 2 * entropies(self._total).sum())

    def visit(self, first: int, last: int) -> int:
        """Move the words first to last - 1, one after the other; how many change their class.

        Raises
        ------
        ValueError
            If there are no such words, or no class takes them.
        """
        require(0 <= first <= last <= len(self.classes), "words out of range")
        require(self._open > 0 or first == last, "no class takes words")
        moved = 0
        for word in range(first, last):
            right, left, own = self._neighbours(word)
            old = self.classes[word]
            self._put(old, -right, -left, -own)
            new = int(np.argmax(self._gains(right, left, own)))  # the first of several
            self._put(new, right, left, own)
            self.classes[word] = new
            moved += int(new != old)
        return moved

    def _neighbours(self, word: int) -> tuple[IntArray, IntArray, int]:
        """The word's R and L, (classes,) int64 each, and its B."""
        found, own = [], 0
        for ptr, neighbours, count in (self._following, self._preceding):
            here = slice(ptr[word], ptr[word + 1])
            others = neighbours[here] != word
            summed: Any = np.zeros(len(self._total), np.int64)
            np.add.at(summed, self.classes[neighbours[here][others]], count[here][others])
            found.append(summed)
            own = int(count[here][~others].sum())
        right, left = found
        return right, left, own

    def _put(self, at: int, right: IntArray, left: IntArray, own: int) -> None:
        """Count a word's bigrams, or with negative numbers forget them, as of a class."""
        self._table[at] += right
        self._table[:, at] += left
        self._table[at, at] += own
        self._total[at] += right.sum() + own

    def _gains(self, right: IntArray, left: IntArray, own: int) -> IntArray:
        """What a word brings each open class, (open,) int64."""
        classes = np.arange(self._open)
        behind, ahead = np.flatnonzero(right), np.flatnonzero(left)
        corner = self._table[classes, classes]
        more = right[classes] + left[classes] + own
        gains = _growth(corner, more) - 2 * _growth(self._total[classes], right.sum() + own)
        for table, ds, n in ((self._table, behind, right), (self._table.T, ahead, left)):
            growth = _growth(table[np.ix_(classes, ds)], n[ds])
            growth[classes[:, None] == ds] = 0  # the corners are counted
            gains += growth.sum(axis=1)
        return gains


def _growth(n: IntArray, by: IntArray | int) -> IntArray:
    """What f grows by."""
    grown: IntArray = entropies(n + by) - entropies(n)
    return grown
