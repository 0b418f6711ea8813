"""Calibration of margins: the share of correct labels by margin, learned on held-out sentences.

A perceptron's margin has no scale: 20 may be certain in one model and a guess in another. On
sentences that were not used in training one can count how often labels of each margin are correct.
This share, made monotonic (isotonic regression by pooling adjacent violators), is the calibrated
score of a label: about 90% of the tokens with 0.9 are correct, on similar text. It is a property
of many tokens, not the probability of a sentence model.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_MOST_KNOTS = 64
_MOST_FILE_KNOTS = 1000  # knots of a file: each sentence looks at all of them


@dataclass(frozen=True)
class Calibration:
    """Share of correct labels by margin, linear between knots and constant beyond them.

    Parameters
    ----------
    margins
        Margins of the knots, rising.
    shares
        The share of right labels at each, never falling, strictly between 0 and 1.
    tokens
        Number of tokens it was learned from.

    Examples
    --------
    >>> calibration = Calibration((0.0, 10.0), (0.5, 0.9), 100)
    >>> calibration.of([0, 5, 10, float("inf")])
    [0.5, 0.7, 0.9, 0.9]
    """

    margins: tuple[float, ...]
    shares: tuple[float, ...]
    tokens: int

    @classmethod
    def learn(cls, margins: Sequence[float], right: Sequence[bool]) -> Calibration:
        """Learn from the margins of tokens and whether their labels were correct.

        Infinite margins are ignored: there was only one label. Each pool of tokens gets one more
        correct and one more wrong token (Laplace smoothing), so that no share is 0 or 1.

        Raises
        ------
        ValueError
            If there is no token with a finite margin.

        Examples
        --------
        >>> Calibration.learn([1, 1, 2, 3, 3], [False, True, True, True, True]).margins
        (1.0, 2.6666666666666665)
        """
        x, hit = np.asarray(margins, np.float64), np.asarray(right, np.float64)
        x, hit = x[np.isfinite(x)], hit[np.isfinite(x)]
        if not len(x):
            msg = "expected tokens with a choice of labels to calibrate on, found none"
            raise ValueError(msg)
        pools = _pooled(x, hit)
        margin = np.array([pool[1] / pool[0] for pool in pools])
        share = np.array([(pool[2] + 1) / (pool[0] + 2) for pool in pools])
        share = np.maximum.accumulate(share)
        return cls(tuple(margin.tolist()), tuple(share.tolist()), len(x))

    def of(self, margins: Sequence[float] | NDArray[np.float64]) -> list[float]:
        """Return calibrated scores for margins."""
        found: list[float] = np.interp(margins, self.margins, self.shares).tolist()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return its numbers for a model file."""
        return {
            "margins": list(self.margins),
            "shares": list(self.shares),
            "tokens": self.tokens,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Calibration:
        """Build the calibration from a value that `is_calibration` accepts."""
        return cls(tuple(value["margins"]), tuple(value["shares"]), value["tokens"])


def is_calibration(value: Any) -> bool:
    """Return whether a JSON value has the form of `Calibration.to_dict`."""
    if not isinstance(value, dict) or {*value} != {"margins", "shares", "tokens"}:
        return False
    margins, shares, tokens = value["margins"], value["shares"], value["tokens"]
    if not all(
        isinstance(part, list) and 0 < len(part) <= _MOST_FILE_KNOTS for part in (margins, shares)
    ):
        return False
    if not all(type(number) in (int, float) for number in (*margins, *shares)):
        return False
    complete = type(tokens) is int and tokens > 0 and len(margins) == len(shares)
    rising = all(a < b for a, b in pairwise(margins))
    level = all(a <= b for a, b in pairwise(shares))
    return complete and rising and level and shares[0] >= 0 and shares[-1] <= 1


def _pooled(x: NDArray[np.float64], hit: NDArray[np.float64]) -> list[tuple[float, float, float]]:
    """Pool tokens by margin: (tokens, sum of margins, correct), with shares that never fall.

    Tokens of one margin begin in one pool, which has at least 1 in `_MOST_KNOTS` of all.
    """
    order = np.argsort(x, kind="stable")
    x, hit = x[order], hit[order]
    least = max(1.0, len(x) / _MOST_KNOTS)
    first = np.flatnonzero(np.diff(x, prepend=-np.inf))
    pools: list[tuple[float, float, float]] = []
    count = right = total = 0.0
    for begin, end in zip(first, [*first[1:], len(x)], strict=True):
        count += end - begin
        total += x[begin:end].sum()
        right += hit[begin:end].sum()
        if count >= least or end == len(x):
            pools.append((count, total, right))
            count = right = total = 0.0
    merged: list[tuple[float, float, float]] = []
    for pool in pools:
        merged.append(pool)
        while len(merged) > 1 and merged[-2][2] * merged[-1][0] >= merged[-1][2] * merged[-2][0]:
            a, b = merged[-2:]
            merged[-2:] = [(a[0] + b[0], a[1] + b[1], a[2] + b[2])]
    return merged
