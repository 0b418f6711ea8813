"""Reliability of calibrated scores: of tokens scored 0.9, 90% should be correct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.evaluation.counts import share
from seqtag.evaluation.text_tables import Section

if TYPE_CHECKING:
    from collections.abc import Iterable

BINS = 10


class Bin(NamedTuple):
    """Tokens with neighboring scores.

    Attributes
    ----------
    low, high
        Lowest and highest of their scores.
    tokens
        Number of tokens.
    score
        Mean of their scores.
    accuracy
        Share of them with the correct label.
    """

    low: float
    high: float
    tokens: int
    score: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """Accuracy by calibrated score, in bins of equally many tokens.

    Attributes
    ----------
    bins
        By ascending score; tokens of one score are in one bin, so there may be fewer than `BINS`.

    Examples
    --------
    >>> reliability = Reliability.of([0.5, 0.5, 0.9], [True, False, True])
    >>> [each.accuracy for each in reliability.bins], round(reliability.error, 3)
    ([0.5, 1.0], 0.033)
    """

    bins: tuple[Bin, ...]

    @classmethod
    def of(cls, scores: Iterable[float], right: Iterable[bool]) -> Reliability:
        """Put tokens into bins, given the score and the correctness of each."""
        ranked = sorted(zip(scores, right, strict=True))
        least = len(ranked) / BINS
        bins: list[Bin] = []
        begin = 0
        for end in range(1, len(ranked) + 1):
            last = end == len(ranked)
            if not last and (end < least * (len(bins) + 1) or ranked[end][0] == ranked[end - 1][0]):
                continue
            here = ranked[begin:end]
            mean = sum(score for score, _ in here) / len(here)
            accuracy = share(sum(ok for _, ok in here), len(here))
            bins.append(Bin(here[0][0], here[-1][0], len(here), mean, accuracy))
            begin = end
        return cls(tuple(bins))

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return sum(each.tokens for each in self.bins)

    @property
    def error(self) -> float:
        """Expected calibration error: mean difference of score and accuracy over tokens."""
        if not self.bins:
            return 0.0
        distance = sum(each.tokens * abs(each.score - each.accuracy) for each in self.bins)
        return distance / self.tokens

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable dictionary; ``error`` is the expected calibration error."""
        return {"error": self.error, "bins": [each._asdict() for each in self.bins]}

    @property
    def section(self) -> Section:
        """Table for a report.

        >>> print(Reliability.of([0.5, 0.9], [True, True]).section.text, end="")
        calibrated scores             score   accuracy     tokens
        50.00 to 50.00                50.00     100.00          1
        90.00 to 90.00                90.00     100.00          1
        expected calibration error 30.00
        """
        rows = [
            (f"{100 * b.low:.2f} to {100 * b.high:.2f}", b.score, b.accuracy, b.tokens)
            for b in self.bins
        ]
        note = f"expected calibration error {100 * self.error:.2f}"
        return Section(("calibrated scores", "score", "accuracy", "tokens"), rows, note)
