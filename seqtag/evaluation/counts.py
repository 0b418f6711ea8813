"""Counts of right, predicted and gold items, and the fractions they make.

Fractions lie between 0 and 1 and are rounded only in print. A fraction of nothing is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

_Key = TypeVar("_Key", bound="tuple[str, ...]")


class Counts(NamedTuple):
    """How many items of a kind are right, were predicted, and are in the gold data.

    Examples
    --------
    >>> counts = Counts(correct=1, found=2, gold=1)
    >>> counts.precision, counts.recall, round(counts.f1, 4)
    (0.5, 1.0, 0.6667)
    """

    correct: int
    found: int
    gold: int

    @property
    def precision(self) -> float:
        """Share of the predicted items that are right."""
        return share(self.correct, self.found)

    @property
    def recall(self) -> float:
        """Share of the gold items that were found."""
        return share(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return share(2 * self.correct, self.found + self.gold)

    @property
    def errors(self) -> int:
        """Items missed and items wrongly predicted."""
        return self.found + self.gold - 2 * self.correct

    def to_dict(self) -> dict[str, float]:
        """Counts and fractions by name."""
        names = (*self._fields, "precision", "recall", "f1")
        return {name: getattr(self, name) for name in names}


def share(part: int | None, whole: int) -> float:
    """A fraction; 0 if there is nothing to divide by."""
    return part / whole if part and whole else 0.0


def by_key(
    correct: Mapping[str, int], found: Mapping[str, int], gold: Mapping[str, int]
) -> dict[str, Counts]:
    """Three counters as counts by key, sorted."""
    keys = sorted({*found, *gold})
    return {key: Counts(correct.get(key, 0), found.get(key, 0), gold.get(key, 0)) for key in keys}


def most_frequent(counts: Mapping[_Key, int]) -> list[tuple[_Key, int]]:
    """Items by falling count, ties in order of the keys."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
