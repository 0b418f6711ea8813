"""Agreement of annotators: kappa, F1 of chunks, and the words that they disagree on.

Kappa is (p - e) / (1 - e), where p is the share of pairs of labels of a word that are the same, and
e the share expected of labels drawn at random: from each annotator's own labels in Cohen's kappa
(1960, *A coefficient of agreement for nominal scales*), from all labels together in Fleiss' kappa
(1971, *Measuring nominal scale agreement among many raters*). For chunks, it is unknown how often
annotators agree that there is none. As this number grows, kappa approaches F1 (Hripcsak and
Rothschild, 2005, *Agreement, the F-measure, and reliability in information retrieval*), for which
either annotation can take the place of gold.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, pairwise, permutations
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from seqtag.corpus.gold import NO_LABEL, GoldLabels
from seqtag.errors import CorpusError, LabelError, OptionError
from seqtag.evaluation.report import Report, evaluate
from seqtag.evaluation.systems import column_of, read_together
from seqtag.evaluation.text_tables import Section, text_of
from seqtag.labels.column import FEATS, LabelColumn
from seqtag.labels.schemes import spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from seqtag.corpus import Sentence, SentenceStream

CONTEXT_WORDS = 5
"""Most words of context before a disagreement, and after it."""

_log = logging.getLogger("seqtag")


@dataclass(frozen=True, repr=False)
class Agreement:
    """Labels of the same words by several annotators: see `agree`.

    Attributes
    ----------
    column
        Column of the labels.
    scheme
        Chunk scheme of the labels; None if they are no chunk labels.
    pieces
        Sentences of the first file, and the pieces between them that have no words.
    labels
        For each annotator the labels of each sentence.

    Examples
    --------
    >>> import seqtag
    >>> rows = {"tokens": [["in", "Norvale"]], "ner": [["O", "B-LOC"]]}
    >>> found = agree([seqtag.read(rows), seqtag.read({**rows, "ner": [["O", "B-ORG"]]})])
    >>> found.reports["A, B"].kappa
    0.3333333333333333
    >>> [row] = found.disagreements()
    >>> row["words"], row["A"], row["B"]
    (['Norvale'], ['B-LOC'], ['B-ORG'])
    """

    column: LabelColumn
    scheme: str | None
    pieces: Sequence[Sentence]
    labels: Mapping[str, Sequence[Sequence[str]]]

    @property
    def gap(self) -> str:
        """The label of words that an annotator has not labeled, which are not compared."""
        return "" if self.column.kind == FEATS else NO_LABEL

    @property
    def rows(self) -> Iterator[list[tuple[str, ...]]]:
        """For each sentence, and each of its words, the labels by all annotators."""
        sentences = zip(*self.labels.values(), strict=True)
        return ([*zip(*each, strict=True)] for each in sentences)

    def report(self, *names: str) -> Report:
        """Compare the labels of two annotators, or of each two of more in both orders.

        Cohen's kappa of the latter is Fleiss' kappa.
        """
        known = [[row for row in each if self.gap not in row] for each in self.rows]
        numbers = map([*self.labels].index, names)
        pairs = [[*numbers]] if len(names) == 2 else [*permutations(numbers, 2)]
        gold = ([row[a] for row in each] for a, _ in pairs for each in known)
        predicted = ([row[b] for row in each] for _, b in pairs for each in known)
        return evaluate(gold, predicted, scheme=self.scheme, task=self.column.name)

    @cached_property
    def reports(self) -> dict[str, Report]:
        """Comparisons of each two annotators; the last one is that of all."""
        groups = [*combinations(self.labels, 2), (*self.labels,)]
        return {", ".join(names): self.report(*names) for names in groups}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparisons as for JSON."""
        return {name: each.to_dict() for name, each in self.reports.items()}

    def __str__(self) -> str:
        """Return agreement, kappa and F1 of annotators, and F1 by label, as tables."""
        rows = []
        for name, each in self.reports.items():
            kappa = "undefined" if each.kappa is None else f"{each.kappa:.3f}"
            rows.append((name, each.accuracy, kappa, each.score))
        kinds = each.labels if self.scheme is None else each.chunk_types
        by_kind = [(kind or "(no type)", counts.f1) for kind, counts in kinds.items()]
        heading = ("annotators", "agreement", "kappa", "F1")
        tables = [Section(heading, rows), Section(("label", "F1"), by_kind)]
        return text_of(tables, self.reports["A, B"].signature)

    def disagreements(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each word that annotators label differently, or for overlapping chunks.

        A row has ``file`` and ``line`` of the first word, the number of the ``sentence``, the
        ``words``, their labels by each annotator, and up to `CONTEXT_WORDS` words ``before`` and
        ``after`` them.
        """
        sentences = zip(filter(len, self.pieces), self.rows, strict=True)
        for number, (sentence, rows) in enumerate(sentences, 1):
            words = sentence.words
            for begin, end in self._differing(rows):
                given = zip(*rows[begin:end], strict=True)
                yield {
                    "file": sentence.source,
                    "line": sentence.line_of(begin),
                    "sentence": number,
                    "words": words[begin:end],
                    **dict(zip(self.labels, map(list, given), strict=True)),
                    "before": words[max(0, begin - CONTEXT_WORDS) : begin],
                    "after": words[end : end + CONTEXT_WORDS],
                }

    def merged(self) -> Iterator[str]:
        """Yield the text of the first file, with the label ``_`` instead of those not agreed.

        Texts with spans become JSON lines of words.
        A chunk is agreed, or all words of it and of chunks that overlap it have the label ``_``.

        Raises
        ------
        LabelError
            If ``_`` is a label in this column, as in FEATS.
        CorpusError
            If the format of the first file cannot hold labels.
        """
        if not self.gap:
            msg = 'expected a column in which "_" is no label, found feats; merge upos+feats'
            raise LabelError(msg)
        sentences = self.rows
        for piece in self.pieces:
            rows = next(sentences) if len(piece) else []
            labels = [NO_LABEL if NO_LABEL in row else row[0] for row in rows]
            for begin, end in self._differing(rows):
                labels[begin:end] = [NO_LABEL] * (end - begin)
            yield piece.replace(self.column.split(labels)) if labels else piece.raw

    def _differing(self, rows: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
        """Return start and end of words, or overlapping chunks, that are labeled differently."""
        chunks = chain.from_iterable(map(spans, zip(*rows, strict=True))) if self.scheme else ()
        inside = {i for _, begin, end in chunks for i in range(begin + 1, end)}
        ends = [i for i in range(len(rows) + 1) if i not in inside]
        differ = [len({*row}) > 1 and self.gap not in row for row in rows]
        return [(begin, end) for begin, end in pairwise(ends) if any(differ[begin:end])]


def agree(streams: Sequence[SentenceStream], label: str | None = None) -> Agreement:
    """Compare annotations of the same words.

    Parameters
    ----------
    streams
        Files or tables of 2 to 26 annotators, as `seqtag.read` returns them; A, B, C, ...
    label
        Column to compare; by default as in training.

    Returns
    -------
    Agreement
        Words with the label ``_`` (in JSON also null) are not annotated and are left out, which is
        logged; in FEATS, ``_`` is a label.

    Raises
    ------
    CorpusError
        If words or sentences differ, no word is annotated by all, or a column is missing.
    LabelError
        If some labels are chunk labels and others are not.
    OptionError
        If there are too few or too many annotators.

    Examples
    --------
    >>> import seqtag
    >>> rows = {"tokens": [["Stop", "!"]], "upos": [["VERB", "PUNCT"]]}
    >>> streams = [seqtag.read(rows), seqtag.read({**rows, "upos": [["NOUN", "PUNCT"]]})]
    >>> agree(streams).report("A", "B").accuracy
    0.5
    """
    if not 2 <= len(streams) <= len(ascii_uppercase):
        msg = f"expected 2 to {len(ascii_uppercase)} annotators, found {len(streams)}"
        raise OptionError(msg)
    column = column_of(streams[0], label)
    readers = [GoldLabels(column, partial=True) for _ in streams]
    pieces, labels = read_together(streams, readers)
    pieces = pieces if streams[0].cutter is None else [*filter(len, pieces)]
    named = dict(zip(ascii_uppercase, labels, strict=False))
    found = Agreement(column, readers[0].scheme, pieces, named)
    for reader, of_file in zip(readers, labels, strict=True):
        if n := sum(each.count(found.gap) for each in of_file):
            _log.warning("%s:%d: %d words have no label, not compared", *reader.first[found.gap], n)
    if not found.reports["A, B"].tokens:
        msg = "expected words that all annotators have labeled, found none"
        raise CorpusError(msg, source=streams[0].source)
    return found
