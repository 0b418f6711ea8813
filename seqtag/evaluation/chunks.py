"""Chunks as the conlleval script counts them, and the lines it prints.

A chunk is right if its type, its begin and its end are. Chunks are read by the rule of
`seqtag.labels.schemes`: on IOB labels it gives the figures of the script, on IOBES and BILOU those
the script gives after conversion to IOB2 (alone, it merges neighbouring chunks there).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from seqtag.errors import LabelError
from seqtag.evaluation.counts import Counts, by_key
from seqtag.labels.schemes import (
    SCHEMES,
    Transition,
    count_transitions,
    invalid_transitions,
    scheme_of,
    spans,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ChunkCounter:
    """Counts the chunks of gold and predicted labels, sentence by sentence.

    Parameters
    ----------
    scheme
        One of `seqtag.labels.schemes.SCHEMES`, or "auto" to find out from the gold labels.

    Raises
    ------
    LabelError
        If there is no such scheme.

    Examples
    --------
    >>> counter = ChunkCounter("iob2")
    >>> counter.add(["B-NP", "O"], ["B-NP", "B-VP"], sentence=1)
    Counts(correct=1, found=2, gold=1)
    >>> counter.types("iob2")
    {'NP': Counts(correct=1, found=1, gold=1), 'VP': Counts(correct=0, found=1, gold=0)}
    """

    def __init__(self, scheme: str):
        if scheme not in ("auto", *SCHEMES):
            msg = (
                f"expected scheme 'auto', None or one of {', '.join(SCHEMES)}, found {scheme!r}; "
                "'auto' finds the scheme of the gold labels"
            )
            raise LabelError(msg)
        self._asked = scheme
        self._transitions: tuple[Counter[Transition], Counter[Transition]] = Counter(), Counter()
        self._chunks = Counter[str](), Counter[str](), Counter[str]()  # correct, found, gold

    def add(self, gold: Sequence[str], predicted: Sequence[str], sentence: int) -> Counts:
        """Count one sentence, of a number that messages name; return what it counts.

        Raises
        ------
        LabelError
            If a gold label is foreign to a scheme that was asked for. A predicted label that is
            no chunk label counts as outside.
        """
        self._transitions[0].update(count_transitions([gold]))
        self._transitions[1].update(count_transitions([predicted]))
        try:
            in_gold = set(spans(gold, None if self._asked == "auto" else self._asked))
        except LabelError as error:
            msg = f"gold sentence {sentence}: {error.message}"
            raise LabelError(msg) from None
        in_predicted = set(spans(predicted))
        sets = (in_gold & in_predicted, in_predicted, in_gold)
        for counter, found in zip(self._chunks, sets, strict=True):
            counter.update(chunk_type for chunk_type, _, _ in found)
        return Counts(*map(len, sets))

    @property
    def scheme(self) -> str | None:
        """The scheme asked for, or that of the gold labels so far; None if they are no chunks."""
        return scheme_of(self._transitions[0]) if self._asked == "auto" else self._asked

    def types(self, scheme: str | None) -> dict[str, Counts]:
        """Counts of chunks by type, in sorted order; none without a scheme."""
        return {} if scheme is None else by_key(*self._chunks)

    def invalid(self, scheme: str | None) -> tuple[int, int]:
        """Transitions in gold and in predicted labels that a scheme does not allow."""
        if scheme is None:
            return 0, 0
        gold, predicted = (invalid_transitions(side, scheme) for side in self._transitions)
        return gold, predicted


def conlleval_text(tokens: int, correct: int, types: Mapping[str, Counts]) -> str:
    """What the conlleval script prints, byte for byte.

    Parameters
    ----------
    tokens, correct
        Number of tokens, and of those with the right label.
    types
        Counts of chunks by type.

    Examples
    --------
    >>> print(conlleval_text(2, 1, {"NP": Counts(1, 2, 1)}), end="")
    processed 2 tokens with 1 phrases; found: 2 phrases; correct: 1.
    accuracy:  50.00%; precision:  50.00%; recall: 100.00%; FB1:  66.67
                   NP: precision:  50.00%; recall: 100.00%; FB1:  66.67  2
    """
    total = total_of(types)
    text = (
        f"processed {tokens} tokens with {total.gold} phrases; "
        f"found: {total.found} phrases; correct: {total.correct}.\n"
    )
    if tokens:
        text += f"accuracy: {100 * correct / tokens:6.2f}%; {_figures(total)}\n"
    for name, counts in types.items():
        padded = name.encode().rjust(17).decode()  # the script counts bytes
        text += f"{padded}: {_figures(counts)}  {counts.found}\n"
    return text


def total_of(types: Mapping[str, Counts]) -> Counts:
    """Counts of chunks of all types together."""
    return Counts(*(sum(counts[i] for counts in types.values()) for i in range(3)))


def _figures(counts: Counts) -> str:
    """Percentages in the arithmetic of the script, so that the last digit rounds alike."""
    precision = 100 * counts.correct / counts.found if counts.found else 0.0
    recall = 100 * counts.correct / counts.gold if counts.gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if counts.correct else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
