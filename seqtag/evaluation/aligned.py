"""Evaluation of complete texts, whose gold and predicted segmentation may differ.

The rules are those of the CoNLL 2018 shared task. White space aside, both texts are the same
characters; tokens and sentences are correct if they span the same ones. Words are aligned if they
span the same characters; within multiword tokens, whose words have no spans of their own, if they
are in the longest common subsequence of lower-cased forms. Labels of aligned words are compared.
Trees are ignored and may be missing; empty nodes are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from seqtag.caching import BoundedCache
from seqtag.corpus.lines import with_marks_as_spaces
from seqtag.corpus.surface import surface_of
from seqtag.errors import IN_ANOTHER_FORM, CorpusError, LabelError, did_you_mean
from seqtag.evaluation.counts import Counts, PlacedCounts, Samples, share
from seqtag.evaluation.text_tables import Section, row, signature_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus.sentence import Sentence
    from seqtag.evaluation.report import Origin

METRICS = {
    "tokens": "Tokens",
    "sentences": "Sentences",
    "words": "Words",
    "upos": "UPOS",
    "xpos": "XPOS",
    "feats": "UFeats",
    "alltags": "AllTags",
    "lemma": "Lemmas",
}
"""Metrics, with their names in the rules; ``alltags`` is upos, xpos and feats together."""

_FEATURES = """
PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood
Tense Aspect Voice Evident Polarity Person Polite
"""
UNIVERSAL_FEATURES = frozenset(_FEATURES.split())
"""Features shared by all languages; others are not scored."""

_PIECES = ("tokens", "sentences", "words")
_ITEMS = {name: name if name in _PIECES else "words" for name in METRICS}  # scored by metric
_SHOWN_CHARACTERS = 20  # of text, in messages


@dataclass(frozen=True, repr=False)
class AlignedReport:
    """Result of `score_aligned`: counts by metric.

    Attributes
    ----------
    metrics
        For each name of `METRICS` the numbers of correct, predicted and gold items. Labels are
        counted by word, aligned or not.
    headline
        Metric whose F1 is `score`.
    origin
        Model that predicted the sentences; None if unknown.
    samples
        Counts by gold sentence and metric; None unless requested. A predicted item is counted with
        the gold sentence that it begins in.

    Examples
    --------
    >>> from seqtag.corpus import sentence_of
    >>> gold = sentence_of({"form": ["can", "not"], "upos": ["AUX", "PART"]})
    >>> found = sentence_of({"form": ["cannot"], "upos": ["AUX"]})
    >>> report = score_aligned([gold, gold], [found, gold])
    >>> report
    <seqtag.AlignedReport: words 57.14, tokens: 4, sentences: 2>
    >>> report.metrics["upos"], report.aligned_accuracy("upos")
    (Counts(correct=2, found=3, gold=4), 1.0)
    """

    metrics: Mapping[str, Counts]
    headline: str = "words"
    origin: Origin | None = None
    samples: Samples | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Return the report as text: see `to_text`."""
        return self.to_text()

    def __repr__(self) -> str:
        return (
            f"<seqtag.AlignedReport: {self.headline} {100 * self.score:.2f}, "
            f"tokens: {self.metrics['tokens'].gold}, sentences: {self.sentences}>"
        )

    @property
    def sentences(self) -> int:
        """Number of gold sentences."""
        return self.metrics["sentences"].gold

    @property
    def metric(self) -> str:
        """Name of the headline figure, such as ``words-f1``."""
        return f"{self.headline}-f1"

    @property
    def score(self) -> float:
        """The headline figure, as a fraction."""
        return self.metrics[self.headline].f1

    @property
    def aligned(self) -> int:
        """Number of words that are aligned."""
        return self.metrics["words"].correct

    def aligned_accuracy(self, name: str) -> float | None:
        """Return the share of aligned words with the correct label; None for other metrics."""
        return None if name in _PIECES else share(self.metrics[name].correct, self.aligned)

    @property
    def facts(self) -> dict[str, object]:
        """What was scored, for signatures."""
        sizes = {name: self.metrics[name].gold for name in ("sentences", "tokens", "words")}
        return {"task": "aligned", "metric": self.metric, **sizes}

    @property
    def signature(self) -> str:
        """One line with what was scored, on which data, and by which model."""
        return signature_of(self.facts, self.origin and self.origin._asdict())

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable dictionary; fractions have full precision.

        Examples
        --------
        >>> score_aligned([], []).to_dict()["metrics"]["tokens"]["f1"]
        0.0
        """
        return {
            "task": "aligned",
            "metric": self.metric,
            "score": self.score,
            "signature": self.signature,
            "origin": self.origin and self.origin._asdict(),
            "aligned": self.aligned,
            "metrics": {
                name: {**counts.to_dict(), "aligned_accuracy": self.aligned_accuracy(name)}
                for name, counts in self.metrics.items()
            },
        }

    def to_text(self) -> str:
        """Return a table with a line for each metric, and the signature."""
        return text_of([self._section()], self.signature)

    def _section(self) -> Section:
        """Build a table with a line for each metric."""
        rows = []
        for name, counts in self.metrics.items():
            accuracy = self.aligned_accuracy(name)
            rows.append((*row(METRICS[name], counts), "" if accuracy is None else accuracy))
        heading = ("", "precision", "recall", "F1", "gold", "found", "aligned")
        return Section(heading, rows)


def score_aligned(
    gold: Iterable[Sentence],
    predicted: Iterable[Sentence],
    *,
    headline: str = "words",
    origin: Origin | None = None,
    samples: bool = False,
) -> AlignedReport:
    """Compare two annotations of one text, whose tokens and sentences may differ.

    Parameters
    ----------
    gold, predicted
        Sentences, read once, in parallel; generators are accepted. Those without words are skipped.
        A missing column counts as ``_`` everywhere.
    headline
        Metric in `METRICS` of the report's `score`.
    origin
        Model that predicted the sentences, for the signature.
    samples
        Whether to keep the counts of each gold sentence, for intervals and comparisons.

    Returns
    -------
    AlignedReport
        Without sentences all counts are zero. A gold lemma ``_`` counts as correct with any
        prediction.

    Raises
    ------
    CorpusError
        If the texts differ by more than white space, or a form is only white space.
    LabelError
        If there is no such metric.
    """
    if headline not in METRICS:
        msg = (
            f"expected one of {', '.join(METRICS)} to score, found {headline!r}"
            f"{did_you_mean(headline, METRICS)}; choose one of these"
        )
        raise LabelError(msg)
    counts = PlacedCounts(by_sentence=samples)
    left: list[_Word] = []
    right: list[_Word] = []
    for expected, guessed in segments(placed(gold), placed(predicted)):
        counts.starts.extend(sentence.start for sentence in expected)
        spans = [_spans(sentences) for sentences in (expected, guessed)]
        for name, ours in spans[0].items():
            counts.count(name, 0, [start for start, _ in ours & spans[1][name]])
        for side, sentences, words in ((1, guessed, right), (2, expected, left)):
            more = [word for sentence in sentences for word in sentence.words]
            counts.count("sentences", side, [sentence.start for sentence in sentences])
            tokens = [start for sentence in sentences for start, _ in sentence.tokens]
            counts.count("tokens", side, tokens)
            counts.count("words", side, [word.start for word in more])
            words += more
        for word, guess in _aligned_words(left, right):
            names = ("upos", "xpos", "feats")
            same = [n for n in names if getattr(word.labels, n) == getattr(guess.labels, n)]
            if len(same) == 3:
                same.append("alltags")
            if word.labels.lemma in ("_", guess.labels.lemma):
                same.append("lemma")
            for name in ("words", *same):
                counts.count(name, 0, [word.start])
    return AlignedReport(counts.metrics(_ITEMS), headline, origin, counts.samples(_ITEMS))


def _spans(sentences: Iterable[PlacedSentence]) -> dict[str, set[tuple[int, int]]]:
    """Return where sentences and their tokens begin and end."""
    sentences = [*sentences]
    return {
        "sentences": {(sentence.start, sentence.end) for sentence in sentences},
        "tokens": {span for sentence in sentences for span in sentence.tokens},
    }


# ----------------------------------------------------------------- positions of words
class _Labels(NamedTuple):
    """Labels of a word; features reduced to those that are scored."""

    upos: str
    xpos: str
    feats: str
    lemma: str


class _Word(NamedTuple):
    """Word with the character offsets of its token in the complete text."""

    start: int
    end: int
    shared: bool  # with the other words of a multiword token
    form: str  # in lower case
    labels: _Labels


class PlacedSentence(NamedTuple):
    """Sentence with the offsets of it and its tokens in the text without white space."""

    start: int
    end: int
    text: str
    tokens: list[tuple[int, int]]
    words: list[_Word]
    sentence: Sentence

    def line_at(self, offset: int) -> int:
        """Return the line of the token that contains a character."""
        surface = surface_of(self.sentence).tokens
        number = next(i for i, (_, end) in enumerate(self.tokens) if offset < end)
        return self.sentence.line_of(surface[number].first) - surface[number].is_range


def placed(sentences: Iterable[Sentence]) -> Iterator[PlacedSentence]:
    """Yield the sentences with words, with their offsets."""
    start = 0
    for sentence in filter(len, sentences):
        forms = sentence.words
        labels = [
            sentence.column(name) if name in sentence.columns else ["_"] * len(forms)
            for name in _Labels._fields
        ]
        end, text, tokens, words = start, "", [], []
        for token in surface_of(sentence).tokens:
            written = "".join((with_marks_as_spaces(token.form).strip() or token.form).split())
            if not written:
                msg = (
                    f"expected tokens with more than white space, found {token.form!r}; "
                    "remove it from the file"
                )
                line = sentence.line_of(token.first)
                raise CorpusError(msg, source=sentence.source, line=line)
            begin, end = end, end + len(written)
            text += written
            tokens.append((begin, end))
            for i in range(token.first, token.first + token.words):
                upos, xpos, feats, lemma = (column[i] for column in labels)
                known = _Labels(upos, xpos, _universal(feats), lemma)
                form = forms[i] if token.is_range else written
                words.append(_Word(begin, end, token.is_range, form.lower(), known))
        yield PlacedSentence(start, end, text, tokens, words, sentence)
        start = end


def _universal_features(feats: str) -> str:
    """Return the universal features among these, sorted."""
    items = feats.split("|")
    return "|".join(sorted(i for i in items if i.partition("=")[0] in UNIVERSAL_FEATURES))


_universal = BoundedCache(_universal_features).__getitem__


def segments(
    gold: Iterator[PlacedSentence], predicted: Iterator[PlacedSentence]
) -> Iterator[tuple[list[PlacedSentence], list[PlacedSentence]]]:
    """Yield the shortest runs of sentences that end at the same character; compare the texts."""
    sides: tuple[list[PlacedSentence], list[PlacedSentence]] = ([], [])
    pending = ["", ""]  # text that has no counterpart yet
    while True:
        side = int(len(pending[0]) > len(pending[1]))  # the shorter one
        sentence = next((gold, predicted)[side], None)
        if sentence is None and not any(sides):
            side = 1
            sentence = next(predicted, None)
            if sentence is None:
                return
        if sentence is not None:
            sides[side].append(sentence)
            pending[side] += sentence.text
        common = min(map(len, pending))
        if sentence is None or pending[0][:common] != pending[1][:common]:
            raise _text_mismatch(*sides)
        pending = [text[common:] for text in pending]
        if pending == ["", ""]:
            yield sides
            sides = ([], [])


def _text_mismatch(
    gold: Sequence[PlacedSentence], predicted: Sequence[PlacedSentence]
) -> CorpusError:
    """Return the error for texts that differ within a segment; one side has sentences."""
    texts = ["".join(sentence.text for sentence in side) for side in (gold, predicted)]
    least = min(map(len, texts))
    pairs = enumerate(zip(*texts, strict=False))
    at = next((i for i, (ours, theirs) in pairs if ours != theirs), least)
    form = ""
    if all(text[at:] for text in texts) and not all(text[at:].isascii() for text in texts):
        ours, theirs = (normalize("NFC", text[at:]) for text in texts)
        if ours.startswith(theirs) or theirs.startswith(ours):  # one side may be longer
            form = IN_ANOTHER_FORM
    at += (gold or predicted)[0].start
    (expected, place), (found, where) = (_shown(side, at) for side in (gold, predicted))
    known = where or place
    as_in = f" as in {place[0]}:{place[1]}" if place and where else ""
    msg = (
        f"expected {expected}{as_in}, found {found}{form}; "
        "compare files of the same text (white space may differ)"
    )
    return CorpusError(msg, source=known and known[0], line=known and known[1])


def _shown(side: Sequence[PlacedSentence], at: int) -> tuple[str, tuple[str, int] | None]:
    """Return a quotation of one side from a character on, and its source and line."""
    rest = [sentence for sentence in side if at < sentence.end]
    if not rest:
        return "the end of the text", None
    text = "".join(sentence.text for sentence in rest)[at - rest[0].start :]
    place = rest[0].sentence.source, rest[0].line_at(at)
    return f'"{text[:_SHOWN_CHARACTERS]}{"..." if len(text) > _SHOWN_CHARACTERS else ""}"', place


# ----------------------------------------------------------------- alignment of words
def _aligned_words(gold: list[_Word], found: list[_Word]) -> Iterator[tuple[_Word, _Word]]:
    """Yield pairs of aligned words; remove words that nothing to come can be aligned with.

    A segment may leave unaligned words on one side. The rules allow them to be aligned within a
    multiword token that follows, so they are kept for the next segment.
    """
    g = f = 0
    while g < len(gold) and f < len(found):
        ours, theirs = gold[g], found[f]
        if ours.shared or theirs.shared:
            begin, (g, f) = _multiword_range(gold, found, g, f)
            yield from _common(gold[begin[0] : g], found[begin[1] : f])
        elif (ours.start, ours.end) == (theirs.start, theirs.end):
            yield ours, theirs
            g, f = g + 1, f + 1
        elif ours.start <= theirs.start:
            g += 1
        else:
            f += 1
    del gold[:g], found[:f]


def _multiword_range(
    gold: Sequence[_Word], found: Sequence[_Word], g: int, f: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the begin and end, on both sides, of a multiword token at g or f and its overlaps."""
    ours, theirs = gold[g], found[f]
    end = ours.end if ours.shared else theirs.end
    if ours.shared and not theirs.shared:
        f += theirs.start < ours.start
    elif theirs.shared and not ours.shared:
        g += ours.start < theirs.start
    begin = g, f
    while True:
        open_gold = g < len(gold) and _is_within(gold[g], end)
        open_found = f < len(found) and _is_within(found[f], end)
        if not (open_gold or open_found):
            return begin, (g, f)
        if g < len(gold) and (f == len(found) or gold[g].start <= found[f].start):
            word, g = gold[g], g + 1
        else:
            word, f = found[f], f + 1
        if word.shared:
            end = max(end, word.end)


def _is_within(word: _Word, end: int) -> bool:
    """Return whether a word belongs to a range; a multiword token does if any part overlaps."""
    return word.start < end if word.shared else word.end <= end


def _common(gold: Sequence[_Word], found: Sequence[_Word]) -> Iterator[tuple[_Word, _Word]]:
    """Yield the longest common subsequence of forms; of several, that with the first pairs."""
    longest = [[0] * (len(found) + 1) for _ in range(len(gold) + 1)]  # of the rest from g and f
    for g in reversed(range(len(gold))):
        for f in reversed(range(len(found))):
            if gold[g].form == found[f].form:
                longest[g][f] = longest[g + 1][f + 1] + 1
            else:
                longest[g][f] = max(longest[g + 1][f], longest[g][f + 1])
    g = f = 0
    while g < len(gold) and f < len(found):
        if gold[g].form == found[f].form:
            yield gold[g], found[f]
            g, f = g + 1, f + 1
        elif longest[g][f] == longest[g + 1][f]:
            g += 1
        else:
            f += 1
