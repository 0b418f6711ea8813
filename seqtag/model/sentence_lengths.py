"""Sentences of text without punctuation: the best breaks, given how long sentences are.

Where nothing marks the end of a sentence, a model is seldom certain of it, but some lengths are
more frequent than others. A break scores its margin and the score of the length of the sentence
that it ends, both in units of the model's weights; the breaks with the highest sum are found by
dynamic programming (a semi-Markov model). A break depends on the next `HORIZON` words only, so that
text can be read piece by piece.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LENGTHS = 64
"""Maximum number of lengths that have scores of their own; longer sentences have the last."""
HORIZON = 32
"""Number of words that are looked at for the next break."""

_LARGEST_SCORE = 2**24


def next_break(
    margins: Sequence[int], lengths: Sequence[int], begin: int, end: int, *, closed: bool
) -> int | None:
    """Return where the sentence that begins at a word ends; None if that depends on later words.

    Parameters
    ----------
    margins
        Score of a break after each word, less that of no break.
    lengths
        Score of sentences of 1, 2, ... words; longer ones have the last.
    begin, end
        The first word of the sentence, and the end of the words that are known.
    closed
        Whether a sentence ends with the last of these in any case.

    Examples
    --------
    >>> margins = [-5, 3, -1, 2]
    >>> next_break(margins, [0], 0, 4, closed=True), next_break(margins, [-4, 0], 2, 4, closed=True)
    (2, 4)
    """
    at = begin
    while at < end:
        seen = margins[at : min(end, at + HORIZON)]
        last = closed and at + HORIZON >= end
        if len(seen) < HORIZON and not last:
            return None
        first = _first_break(seen, lengths, at - begin, closed=last)
        if first:
            return at + first
        at += HORIZON // 2
    return None


def _first_break(
    margins: Sequence[int], lengths: Sequence[int], before: int, *, closed: bool
) -> int:
    """Return the number of words up to the first of the best breaks; 0 if there is none.

    `before` words of the same sentence precede them.
    """
    count = len(margins)
    longer = max(0, count - len(lengths))
    reverse = [lengths[-1]] * longer + [*lengths[:count]][::-1]
    scores: list[int] = []  # of the best breaks of the first words, the last of which is one
    firsts: list[int] = []  # the first of these breaks
    for n, margin in enumerate(margins, 1):
        best, first = lengths[min(before + n, len(lengths)) - 1], n
        if scores:
            found = [*map(add, scores, reverse[count - n + 1 :])]
            later = max(found)
            if later > best:
                best, first = later, firsts[found.index(later)]
        scores.append(best if closed and n == count else best + margin)
        firsts.append(first)
    if closed:
        return firsts[-1]
    highest = max(scores)
    return firsts[scores.index(highest)] if highest > 0 else 0


def are_lengths(value: Any) -> bool:
    """Return whether a value is a list of scores of lengths, which may be empty.

    >>> are_lengths([-3, 0]), are_lengths([0.5])
    (True, False)
    """
    return (
        isinstance(value, list)
        and len(value) <= MOST_LENGTHS
        and all(type(score) is int and abs(score) <= _LARGEST_SCORE for score in value)
    )
