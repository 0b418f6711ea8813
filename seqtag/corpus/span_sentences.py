"""Sentences of texts with spans: cut into words by a model, with a chunk label for each word.

A span that fits no words is moved by blanks or punctuation if that helps. Where a model is scored,
others count as missed. Whatever is moved or left out is reported, with the first ones.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections import Counter
from itertools import accumulate, chain, pairwise, tee
from typing import TYPE_CHECKING, TypeAlias
from unicodedata import category

from seqtag.corpus.layout import LayoutOptions
from seqtag.corpus.sentence import SpanSentence
from seqtag.corpus.spans import (
    OFFSETS,
    AnnotatedText,
    TextSpan,
    annotated_text,
    differing,
    in_characters,
)
from seqtag.corpus.texts import read_texts
from seqtag.corpus.write import write_jsonl
from seqtag.errors import CorpusError
from seqtag.labels.schemes import write_spans

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from seqtag.corpus.sentence import Sentence
    from seqtag.corpus.stream import ByteStream

LABEL = "ner"
"""Name of the column of the labels."""

_SHOWN_PLACES = 3  # of what is reported

PlacedWord: TypeAlias = tuple[str, int, int]
"""A word, and where it begins and ends in the text."""

_log = logging.getLogger("seqtag")


class TextSentence(SpanSentence):
    """Sentence of a text with spans, which is no piece of the file.

    Attributes
    ----------
    missed
        Labels of the spans that fit no words; the first sentence of a text has all of the text.
    """

    __slots__ = ("missed",)

    missed: Sequence[str]

    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return its words and their new labels as a line of JSON."""
        return write_jsonl({"form": self.words, **values})


def read_spans(
    stream: ByteStream, source: str, given: LayoutOptions | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of each text in turn.

    Parameters
    ----------
    stream, source
        The file and its name.
    given
        Has the model that cuts texts, the unit of positions, and what to do about overlaps.

    Raises
    ------
    CorpusError
        If a value is no text with spans, spans overlap, or there is no model to cut texts.
    """
    given = given or LayoutOptions()
    cutter, reader = given.tokens_from, _SpanReader(source, given)
    if not hasattr(cutter, "pipe"):
        msg = (
            f"expected a model that cuts the texts into words, found {cutter!r:.60}; give one, "
            "such as tokens_from=seqtag.load('en')"
        )
        raise CorpusError(msg, source=source)
    ours, others = tee(reader.texts(stream))
    documents = cutter.pipe(each.text for each in others)
    for annotated, document in zip(ours, documents, strict=True):
        yield from reader.sentences(annotated, [[*each.placed] for each in document])
    for (noun, what), count in reader.counts.items():
        places = reader.places[noun, what]
        place, _, first = places[0].partition(": ")
        shown = [first, *places[1:], *["..."] * (count > len(places))]
        found = f"{count:,} {noun}{'s' * (count > 1)} {what}"
        _log.warning("%s: %s: %s", place, found, "; ".join(shown))


class _SpanReader:
    """Finds the chunks of texts with spans, and notes what does not fit."""

    def __init__(self, source: str, given: LayoutOptions):
        self._source, self._given = source, given
        self.counts = Counter[tuple[str, str]]()  # of what is reported
        self.places: dict[tuple[str, str], list[str]] = {}  # the first ones

    def _note(self, what: str, annotated: AnnotatedText, span: TextSpan | None = None) -> None:
        """Note what to report of a text, or of a span of it."""
        kind = ("span" if span else "text"), what
        self.counts[kind] += 1
        places = self.places.setdefault(kind, [])
        if len(places) < _SHOWN_PLACES:
            shown = _shown(annotated.text, span) if span else f"{annotated.text!r:.60}"
            places.append(f"{annotated.place}: {shown}")

    def texts(self, stream: ByteStream) -> Iterator[AnnotatedText]:
        """Yield the texts of a file that somebody has annotated."""
        for record in read_texts(stream, self._given.text_column):
            try:
                found = annotated_text(record.fields) or AnnotatedText(record.text)
            except CorpusError as error:
                error.source = record.place
                stream.warnings.pass_over(error)
                continue
            found = found._replace(line=record.line, place=record.place)
            if found.remark:
                self._note(found.remark, found)
            if found.spans is not None:
                yield self._in_characters(found, found.spans)

    def _in_characters(self, found: AnnotatedText, given: Sequence[TextSpan]) -> AnnotatedText:
        """Return a text with the spans that are pieces of it, and its tokens, in characters."""
        text, unit = found.text, self._given.offsets or "codepoint"
        moved, spans = in_characters(text, given, unit), list[TextSpan]()
        for written, span in zip(given, moved, strict=True):
            if written.start > written.end:
                self._note("left out: reversed", found, written)
            elif min(span[:2]) < 0:
                self._note("left out: outside of the text or within a character", found, written)
            elif not text[span.start : span.end].strip():
                self._note("left out: empty", found, written)
            else:
                spans.append(span)
        if wrong := differing(text, moved):
            fits = [
                each for each in OFFSETS if not differing(text, in_characters(text, given, each))
            ]
            advice = f'; it is there if you use offsets="{fits[0]}"' if fits else ""
            for span in wrong:
                self._note(f"whose text is not at its place{advice}", found, span)
        return found._replace(spans=spans, tokens=in_characters(text, found.tokens, unit))

    def sentences(
        self, annotated: AnnotatedText, cut: Sequence[Sequence[PlacedWord]]
    ) -> Iterator[Sentence]:
        """Yield the sentences of a text, given the words of those of the model."""
        if annotated.tokens and not self._given.as_cut:
            cut = self._cut_as_given(annotated, cut)
        words = [*chain.from_iterable(cut)]
        bounds = [*accumulate(map(len, cut), initial=0)]
        chunks, missed = self._chunks(annotated, words, bounds)
        labels = write_spans(chunks, len(words), "iob2")
        within = {at for _, first, last in chunks for at in range(first + 1, last)}
        yield SpanSentence("# newdoc\n", self._source, annotated.line, {"form": []}, [], {})
        for first, last in pairwise(at for at in dict.fromkeys(bounds) if at not in within):
            forms = [form for form, _, _ in words[first:last]]
            values = {"form": forms, LABEL: labels[first:last]}
            at = [0] * len(forms)
            sentence = TextSentence("", self._source, annotated.line, values, at, {})
            sentence.missed, missed = missed, []
            yield sentence

    def _cut_as_given(
        self, annotated: AnnotatedText, cut: Sequence[Sequence[PlacedWord]]
    ) -> list[list[PlacedWord]]:
        """Return the tokens of the file as words, in the sentences of the model."""
        starts = [words[0][1] for words in cut]
        sentences: list[list[PlacedWord]] = [[] for _ in range(len(cut) + 1)]
        done = 0
        for start, end, *_ in annotated.tokens:
            if not done <= start <= end:
                msg = f"expected tokens one after another, found {start} to {end}; leave them out"
                raise CorpusError(msg, source=annotated.place)
            done, form = end, " ".join(annotated.text[start:end].split())
            if form:
                sentences[bisect_right(starts, start)].append((form, start, end))
        return sentences

    def _chunks(
        self, annotated: AnnotatedText, words: Sequence[PlacedWord], bounds: Sequence[int]
    ) -> tuple[list[tuple[str, int, int]], list[str]]:
        """Return the spans that fit words, by the numbers of these, and labels of the others."""
        text, done = annotated.text, 0
        chunks, missed = list[tuple[str, int, int]](), list[str]()
        firsts = {start: number for number, (_, start, _) in reversed([*enumerate(words)])}
        lasts = {end: number for number, (_, _, end) in enumerate(words, 1)}
        for span in self._without_overlaps(annotated):
            start, end = _moved(text, span.start, firsts, 1), _moved(text, span.end, lasts, -1)
            first, last = firsts.get(start, len(words)), lasts.get(end, 0)
            crosses = bisect_right(bounds, first) != bisect_right(bounds, last - 1)
            if not done <= first < last or (crosses and self._given.as_cut):
                effect = "counted as missed" if self._given.as_cut else "left out"
                self._note(f"{effect}: not whole words of a sentence", annotated, span)
                missed.append(span.label)
                continue
            if crosses:
                self._note("across two sentences, which are joined", annotated, span)
            if (start, end) != span[:2]:
                self._note("moved by blanks or punctuation", annotated, span)
            chunks.append((span.label, first, last))
            done = last
        return chunks, missed

    def _without_overlaps(self, annotated: AnnotatedText) -> list[TextSpan]:
        """Return the spans in order, without those that overlap longer ones.

        Raises
        ------
        CorpusError
            If spans overlap, unless the longest is to be used.
        """
        text, kept = annotated.text, list[TextSpan]()
        taken = bytearray(len(text))
        spans = annotated.spans or ()
        for span in sorted(spans, key=lambda each: (each.start - each.end, each.start)):
            start, end, *_ = span
            if not any(taken[start:end]):
                kept.append(span)
                taken[start:end] = b"\1" * (end - start)
            elif self._given.overlaps == "longest":
                self._note("left out: overlapping longer ones", annotated, span)
            else:
                other = next(each for each in kept if each.start < end and start < each.end)
                msg = (
                    f"expected spans that do not overlap, found {_shown(text, other)} and "
                    f'{_shown(text, span)}; correct them, or use overlaps="longest"'
                )
                raise CorpusError(msg, source=annotated.place)
        return sorted(kept, key=lambda each: each.start)


def _shown(text: str, span: TextSpan) -> str:
    found = text[max(0, span.start) : max(0, span.end)]
    return f"{found!r:.60} ({span.start} to {span.end}, {span.label})"


def _moved(text: str, place: int, edges: Container[int], inward: int) -> int:
    """Return the nearest edge of words with only blanks or punctuation between, or -1."""
    for step in (inward, -inward):
        at = place
        while at not in edges:
            before = at - (step < 0)
            if not 0 <= before < len(text) or category(text[before])[0] not in "ZPC":
                break
            at += step
        else:
            return at
    return -1
