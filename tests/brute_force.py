"""The slow truth: every answer by trying all label sequences, cell by cell.

Knows nothing of seqtag: plain numbers, explicit indexing, no numpy arithmetic.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Path = tuple[int, ...]


def paths(T: int, K: int) -> Iterator[Path]:
    """All label sequences of T tokens."""
    return product(range(K), repeat=T)


def path_score(emission, start, stop, transition, y: Sequence[int], trigram=None) -> float:
    """Score of one label sequence; transition is [t][i][j], or [i][j] if always the same.

    Of order 0 it is empty. trigram is [i][j][k], with i = K for the start of the sentence.
    """
    if not len(y):
        return 0.0
    total = float(start[y[0]]) + float(stop[y[-1]])
    for t, j in enumerate(y):
        total += float(emission[t][j])
        if t and len(transition):
            matrix = transition[t] if len(transition.shape) == 3 else transition
            total += float(matrix[y[t - 1]][j])
        if t and trigram is not None:
            total += float(trigram[y[t - 2] if t > 1 else len(start)][y[t - 1]][j])
    return total


def best(
    T: int, K: int, score: Callable[[Path], float], against: Sequence[int] | None = None
) -> Path:
    """The best sequence: of equals the one with the lowest labels, compared from the last token on.

    With `against`, labels other than against[t] come first among equals.
    """
    scored = [(score(y), y) for y in paths(T, K)]
    highest = max(value for value, _ in scored)

    def preference(y: Path) -> list[tuple[bool, int]]:
        return [(against is not None and y[t] == against[t], y[t]) for t in reversed(range(T))]

    return min((y for value, y in scored if value == highest), key=preference)


def cells_of(
    rows: int,
    K: int,
    sentence: Sequence[tuple],
    y: Sequence[int],
    order: int = 1,
    parts: Sequence[Sequence[int]] | None = None,
) -> dict[int, float]:
    """phi(x, y) as {cell of the flat w: count}, for tokens given as (rows, values, edge rows).

    w is laid out as emission (rows, K), start (K), stop (K), transition (K, K), for order 2
    trigram (K + 1, K, K), edge (., K, K).  Where labels have `parts`, emission is (rows, P).
    """
    columns = [[j] for j in range(K)] if parts is None else parts
    width = 1 + max(part for label in columns for part in label)
    start = rows * width
    stop, transition = start + K, start + 2 * K
    trigram = transition + K * K
    edge = trigram + ((K + 1) * K * K if order == 2 else 0)
    counts: dict[int, float] = {}

    def touch(cell: int, value: float = 1.0) -> None:
        counts[cell] = counts.get(cell, 0.0) + value

    for t, (features, values, edges) in enumerate(sentence):
        for row, value in zip(features, values, strict=True):
            for column in columns[y[t]]:
                touch(row * width + column, value)
        if t and order:
            touch(transition + y[t - 1] * K + y[t])
            for row in edges:
                touch(edge + row * K * K + y[t - 1] * K + y[t])
        if t and order == 2:
            before = y[t - 2] if t > 1 else K
            touch(trigram + (before * K + y[t - 1]) * K + y[t])
    if len(y) and order:
        touch(start + y[0])
        touch(stop + y[-1])
    return counts
