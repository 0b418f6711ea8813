"""Counts of correct, predicted and gold items, in total and by sentence, and their fractions.

Fractions lie between 0 and 1 and are rounded only in print. A fraction of nothing is 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from numpy.typing import NDArray

_Key = TypeVar("_Key", bound="tuple[str, ...]")


class Counts(NamedTuple):
    """Numbers of correct, predicted and gold items of a kind.

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
        """Share of the predicted items that are correct."""
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
        """Number of missed and of wrongly predicted items."""
        return self.found + self.gold - 2 * self.correct

    def to_dict(self) -> dict[str, float]:
        """Return counts and fractions by name."""
        names = (*self._fields, "precision", "recall", "f1")
        return {name: getattr(self, name) for name in names}


def share(part: int | None, total: int) -> float:
    """Return a fraction; 0 if the denominator is 0."""
    return part / total if part and total else 0.0


def by_key(
    correct: Mapping[str, int], found: Mapping[str, int], gold: Mapping[str, int]
) -> dict[str, Counts]:
    """Return the counts of each key of three counters, sorted."""
    keys = sorted({*found, *gold})
    return {key: Counts(correct.get(key, 0), found.get(key, 0), gold.get(key, 0)) for key in keys}


def most_frequent(counts: Mapping[_Key, int]) -> list[tuple[_Key, int]]:
    """Return the items by descending count; ties in order of the keys."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


class Samples:
    """Counts of correct, predicted and gold items by metric and sentence.

    All scores are the F1 of such counts: accuracy is the F1 of as many predicted items as gold
    ones. Therefore `f1_of` returns the score of any sum of sentences.

    Attributes
    ----------
    counts : dict
        For each metric a list with the counts of each gold sentence.

    Examples
    --------
    >>> samples = Samples()
    >>> samples.add({"accuracy": Counts(2, 3, 3)})
    >>> samples.add({"accuracy": Counts(1, 1, 1)})
    >>> samples.table(["accuracy"]).tolist()
    [[[2.0, 3.0, 3.0]], [[1.0, 1.0, 1.0]]]
    """

    def __init__(self) -> None:
        self.counts: dict[str, list[Counts]] = {}

    def __len__(self) -> int:
        """Number of sentences."""
        return max(map(len, self.counts.values()), default=0)

    def add(self, counts: dict[str, Counts]) -> None:
        """Add the counts of a sentence; the metrics are the same for each sentence."""
        for name, found in counts.items():
            self.counts.setdefault(name, []).append(found)

    def table(self, names: Iterable[str]) -> NDArray[np.float64]:
        """Return the counts of some metrics as an array (sentences, metrics, 3) of float64."""
        columns = [np.array(self.counts[name], np.float64).reshape(-1, 3) for name in names]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self), 0, 3))


class PlacedCounts:
    """Counts of items by metric, and if asked for by the gold sentence that they begin in.

    Parameters
    ----------
    by_sentence
        Whether to count by sentence.

    Attributes
    ----------
    starts : list of int
        Offsets of the gold sentences, as far as they are known; the first is 0.
    """

    def __init__(self, *, by_sentence: bool):
        self.starts: list[int] = []
        self._total: Counter[tuple[str, int]] = Counter()
        self._items: Counter[tuple[str, int, int]] | None = Counter() if by_sentence else None

    def count(self, name: str, side: int, starts: Collection[int]) -> None:
        """Count items by their offsets; the side is 0 for correct, 1 for found, 2 for gold ones."""
        self._total[name, side] += len(starts)
        if self._items is not None:
            for start in starts:
                self._items[name, side, bisect_right(self.starts, start) - 1] += 1

    def metrics(self, names: Mapping[str, str]) -> dict[str, Counts]:
        """Return the counts by metric, given the items that each metric is a share of."""
        total = self._total
        return {
            name: Counts(total[name, 0], total[items, 1], total[items, 2])
            for name, items in names.items()
        }

    def samples(self, names: Mapping[str, str]) -> Samples | None:
        """Return the counts by sentence, as `metrics`; None if they were not asked for."""
        if self._items is None:
            return None
        samples, found = Samples(), self._items
        for i in range(len(self.starts)):
            samples.add(
                {
                    name: Counts(found[name, 0, i], found[items, 1, i], found[items, 2, i])
                    for name, items in names.items()
                }
            )
        return samples


def f1_of(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the F1 of counts (..., 3) of correct, predicted and gold items; 0 without items.

    Examples
    --------
    >>> f1_of(np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    items = counts[..., 1] + counts[..., 2]
    return np.divide(2 * counts[..., 0], items, out=np.zeros(items.shape), where=items > 0)
