"""Analysis of a tagger on annotated sentences: scores, errors and margins, for a report."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import zip_longest
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from seqtag.errors import SeqtagError
from seqtag.evaluation.reliability import Reliability
from seqtag.evaluation.scoring import score_pairs
from seqtag.evaluation.significance import intervals
from seqtag.tagging.streams import tag_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seqtag.corpus import Sentence
    from seqtag.evaluation.report import Report
    from seqtag.evaluation.significance import Interval
    from seqtag.labels.column import LabelColumn
    from seqtag.tagging.explain import Explanation
    from seqtag.tagging.tagger import Tagger

ERRORS = 2000
"""Default number of errors that are shown with their sentences."""

_SHOWN_TOKENS = 60_000  # in all sentences with mistakes


class Mistake(NamedTuple):
    """Word with a wrong label.

    Attributes
    ----------
    sentence, token
        Numbers of the sentence and the word, from 0.
    gold, predicted
        Both labels.
    explanation
        Explanation of the predicted label against the gold one.
    """

    sentence: int
    token: int
    gold: str
    predicted: str
    explanation: Explanation


@dataclass(frozen=True)
class Analysis:
    """Content of a report.

    Attributes
    ----------
    report, intervals
        Scores, and their confidence intervals.
    sentences, gold, predicted
        The annotated sentences, and the labels of each.
    mistakes
        Mistakes that are shown, in the order of the text; a limited number, spread evenly over the
        confusions.
    margins, calibration
        Accuracy by margin, and by calibrated score if the model has them.
    """

    report: Report
    intervals: dict[str, Interval]
    sentences: Sequence[Sentence]
    gold: Sequence[Sequence[str]]
    predicted: Sequence[Sequence[str]]
    mistakes: Sequence[Mistake]
    margins: Reliability
    calibration: Reliability | None

    @property
    def wrong(self) -> int:
        """Number of all mistakes, shown or not."""
        return self.report.tokens - self.report.correct


def analyze(
    taggers: Sequence[Tagger],
    sentences: Iterable[Sentence],
    column: LabelColumn,
    *,
    errors: int = ERRORS,
    threads: int = 1,
) -> Analysis:
    r"""Tag annotated sentences and collect the content of a report.

    Parameters
    ----------
    taggers
        The last one is analyzed; the others fill its input columns.
    sentences
        Those without words are skipped.
    column
        Has the gold labels.
    errors
        Maximum number of mistakes to explain and show.
    threads
        Threads to tag on.

    Examples
    --------
    >>> import io, seqtag
    >>> from seqtag.labels.column import LabelColumn
    >>> text = seqtag.read(io.BytesIO(b"Stop NOUN\n! PUNCT\n"), columns=["form", "upos"])
    >>> found = analyze([seqtag.load("en").tagger("upos")], text, LabelColumn("upos"))
    >>> [(each.gold, each.predicted) for each in found.mistakes]
    [('NOUN', 'VERB')]
    """
    *feeders, tagger = taggers
    filled = [each for each in tag_stream(feeders, sentences, threads) if len(each)]
    pairs = ((each, each.sentence) for each in filled)
    report, gold, scored, kept = score_pairs(
        tagger, pairs, column, threads=threads, samples=True, scores=True
    )
    predicted = [each.labels for each in scored]
    places = [
        (s, t)
        for s, pair in enumerate(zip(gold, predicted, strict=True))
        for t, (a, b) in enumerate(zip(*pair, strict=True))
        if a != b and (a, b) in report.confusion  # else there is no gold lemma
    ]
    if len(places) > errors:  # take one of each confusion, a second one of each, and so on
        cells: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for s, t in places:
            cells[gold[s][t], predicted[s][t]].append((s, t))
        ranked = sorted(cells.values(), key=len, reverse=True)
        turns = (place for turn in zip_longest(*ranked) for place in turn if place is not None)
        places = sorted(place for place, _ in zip(turns, range(errors), strict=False))
    tokens, shown = 0, set()
    for s in sorted({s for s, _ in places}, key=lambda s: len(kept[s])):  # shortest first
        tokens += len(kept[s])
        if tokens > _SHOWN_TOKENS:
            break
        shown.add(s)
    mistakes = []
    for s, t in places:
        if s in shown:
            try:
                explanation = tagger.explain(filled[s], t, gold[s][t])
            except SeqtagError:  # the model lacks the gold label: compare with the next best
                explanation = tagger.explain(filled[s], t)
            mistakes.append(Mistake(s, t, gold[s][t], predicted[s][t], explanation))
    judged = [
        (margin, a == b)
        for expected, each in zip(gold, scored, strict=True)
        for a, b, margin in zip(expected, each.labels, each.margins, strict=True)
        if (a, b) in report.confusion
    ]
    return Analysis(
        report,
        intervals(report),
        kept,
        gold,
        predicted,
        mistakes,
        Reliability.of((margin for margin, _ in judged), (right for _, right in judged)),
        report.reliability,
    )


def finite(value: float) -> float | None:
    """Return a number that JSON can represent, or None."""
    return value if isfinite(value) else None
