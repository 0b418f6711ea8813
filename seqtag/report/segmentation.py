"""Differences of tokens, words and sentences between gold and predicted text, for a report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from seqtag.corpus.surface import raw_text_of
from seqtag.evaluation.aligned import AlignedReport, placed, score_aligned, segments
from seqtag.evaluation.scoring import origin_of
from seqtag.evaluation.significance import intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seqtag.corpus import Sentence
    from seqtag.evaluation.aligned import PlacedSentence
    from seqtag.evaluation.significance import Interval
    from seqtag.tagging.pipeline import Pipeline

_Span: TypeAlias = tuple[int, int]
_Pieces: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]
_Found: TypeAlias = tuple[_Pieces, int, int]

PIECES = ("tokens", "words", "sentences")
"""Pieces of a text that are compared."""

_CONTEXT_TOKENS = 4  # on each side of an error


class SegmentationError(NamedTuple):
    """Part of a text that two annotations segment differently.

    Attributes
    ----------
    kind
        ``tokens``, ``words`` or ``sentences``.
    gold, predicted
        Tokens, or words in lower case, of both; of sentences ``|`` where one begins.
    before, after
        Gold tokens around it.
    line
        Line of the gold token in its file.
    """

    kind: str
    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    before: str
    after: str
    line: int


@dataclass(frozen=True)
class Segmentation:
    """Scores and errors of a pipeline that segments raw text.

    Attributes
    ----------
    report, intervals
        Scores of all columns on raw text, and their confidence intervals.
    differences
        Errors of tokens, words and sentences, in the order of the text.
    """

    report: AlignedReport
    intervals: dict[str, Interval]
    differences: Sequence[SegmentationError]

    def most_frequent(self, kind: str) -> list[tuple[SegmentationError, int]]:
        """Return the first error of each pair of gold and predicted pieces, and their number."""
        found = [each for each in self.differences if each.kind == kind]
        number = Counter((each.gold, each.predicted) for each in found)
        first = {(each.gold, each.predicted): each for each in reversed(found)}
        return [(first[pair], n) for pair, n in sorted(number.items(), key=lambda p: (-p[1], p[0]))]


def analyze_segmentation(
    pipeline: Pipeline, sentences: Sequence[Sentence], *, resamples: int = 1000, seed: int = 1
) -> Segmentation:
    """Let a pipeline segment the raw text of annotated sentences, and compare.

    Parameters
    ----------
    pipeline
        Has a segmenter.
    sentences
        Of a CoNLL-U file.
    resamples, seed
        Bootstrap samples and seed of the intervals.
    """
    predicted = list(pipeline.sentences(raw_text_of(sentences), paragraphs="blank"))
    origin = origin_of(pipeline.info)
    report = score_aligned(sentences, predicted, origin=origin, samples=True)
    return Segmentation(
        report,
        intervals(report, resamples=resamples, seed=seed),
        list(differences_of(sentences, predicted)),
    )


def differences_of(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> Iterator[SegmentationError]:
    """Yield the differences of two annotations of one text.

    Raises
    ------
    CorpusError
        If the texts differ by more than white space.

    Examples
    --------
    >>> from seqtag.corpus import sentence_of
    >>> gold = sentence_of({"form": ["a", "can", "not"]})
    >>> predicted = sentence_of({"form": ["a", "cannot"]})
    >>> [(each.before, each.gold, each.predicted) for each in differences_of([gold], [predicted])]
    [('a', ('can', 'not'), ('cannot',))]
    """
    for ours, theirs in segments(placed(gold), placed(predicted)):
        run = _Run(ours, theirs)
        found = [*run.tokens(), *run.words(), *run.sentences()]
        for each, low, high in sorted(found, key=lambda item: item[1:]):
            yield run.in_context(each, low, high)


class _Run:
    """Sentences of both sides that span the same characters."""

    def __init__(self, gold: Sequence[PlacedSentence], predicted: Sequence[PlacedSentence]):
        self._sides = gold, predicted
        self._text = "".join(sentence.text for sentence in gold)
        self._spans = [
            [span for sentence in side for span in sentence.tokens] for side in self._sides
        ]

    def _forms(self, spans: Iterable[_Span]) -> tuple[str, ...]:
        start = self._sides[0][0].start
        return tuple(self._text[low - start : high - start] for low, high in spans)

    def in_context(self, pieces: _Pieces, low: int, high: int) -> SegmentationError:
        """Return a difference with the gold tokens around it."""
        before = [span for span in self._spans[0] if span[1] <= low][-_CONTEXT_TOKENS:]
        after = [span for span in self._spans[0] if span[0] >= high][:_CONTEXT_TOKENS]
        place = next(sentence for sentence in self._sides[0] if low < sentence.end)
        left, right = (" ".join(self._forms(spans)) for spans in (before, after))
        return SegmentationError(*pieces, left, right, place.line_at(low))

    def tokens(self) -> Iterator[_Found]:
        """Yield the shortest pieces of text whose tokens differ."""
        same = {*self._spans[0]} & {*self._spans[1]}
        pair: tuple[list[_Span], list[_Span]] = [], []
        end = -1
        sides = enumerate(self._spans)
        for span, side in sorted((span, i) for i, spans in sides for span in {*spans} - same):
            if span[0] >= end and pair[0]:
                yield ("tokens", self._forms(pair[0]), self._forms(pair[1])), pair[0][0][0], end
                pair = [], []
            pair[side].append(span)
            end = max(end, span[1])
        if pair[0]:
            yield ("tokens", self._forms(pair[0]), self._forms(pair[1])), pair[0][0][0], end

    def words(self) -> Iterator[_Found]:
        """Yield the tokens of both sides whose words differ."""
        forms: tuple[dict[_Span, tuple[str, ...]], dict[_Span, tuple[str, ...]]] = {}, {}
        for side, known in zip(self._sides, forms, strict=True):
            for word in (word for sentence in side for word in sentence.words):
                span = word.start, word.end
                known[span] = (*known.get(span, ()), word.form)
        for span, one in forms[0].items():
            other = forms[1].get(span, one)
            if one != other:
                yield ("words", one, other), *span

    def sentences(self) -> Iterator[_Found]:
        """Yield the places where a sentence begins on one side alone."""
        gold, predicted = ({sentence.start for sentence in side} for side in self._sides)
        for start in gold ^ predicted:
            pieces = (("|",), ()) if start in gold else ((), ("|",))
            yield ("sentences", *pieces), start, start
