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
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seqtag.engine.arrays import IntArray

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
