"""Gold labels: the labels of a file in the scheme that a model writes, or an error with their line.

Scores, reports, calibration and tagging that keeps labels compare the labels of a file with those
of a model. All of them read them here.
"""

from __future__ import annotations

import logging
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from seqtag.corpus.sentence import SpanSentence, find_column, has_column
from seqtag.errors import LabelError
from seqtag.labels.column import TEXT_COLUMNS, LabelColumn, without_labels
from seqtag.labels.schemes import (
    OUTSIDE,
    count_transitions,
    invalid_transitions,
    parse,
    prefixes_of,
    scheme_of,
    spans,
    write_spans,
)
from seqtag.labels.spelling import describe_odd, lacks_outside, note_outside, odd_labels, remedy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seqtag.corpus.sentence import Sentence
    from seqtag.labels.schemes import Transition

_log = logging.getLogger("seqtag")

NO_LABEL = "_"
"""The value of a column where a word has no label."""
_SHOWN_LABELS = 4  # labels


def column_in(column: LabelColumn, columns: tuple[str, ...]) -> LabelColumn:
    """Return a label column under the name that a file of some columns has for it.

    >>> column_in(LabelColumn("xpos"), ("form", "pos")).name
    'pos'
    """
    if column.is_exact:
        return column
    return LabelColumn(find_column(column.name, columns) or column.name)


def is_in(column: LabelColumn, columns: tuple[str, ...]) -> bool:
    """Return whether a file of some columns has a label column.

    >>> is_in(LabelColumn("upos"), ("form", "pos")), is_in(LabelColumn("misc.NER"), ("misc",))
    (False, True)
    """
    return all(has_column(name, columns) for name in column_in(column, columns).columns)


def check_tag_set(
    given: Iterable[str], known: Iterable[str], advice: str, source: str | None = None
) -> None:
    """Refuse gold labels of which a model knows none, other than ``O``.

    Parameters
    ----------
    given, known
        Gold labels, and those of the model.
    advice
        Where the gold labels are and what to do, for the message.
    source
        Their file.

    Raises
    ------
    LabelError
        If there are some and none is known.

    Examples
    --------
    >>> check_tag_set(["N", "V"], ["V", "X"], "convert them")
    """
    found, expected = sorted({*given} - {OUTSIDE}), sorted({*known} - {OUTSIDE})
    if found and not {*found} & {*expected}:
        msg = (
            f"expected labels of the model, such as {', '.join(expected[:_SHOWN_LABELS])}, found "
            f"none of them but {', '.join(found[:_SHOWN_LABELS])}; {advice}"
        )
        raise LabelError(msg, source=source)


class GoldLabels:
    """Reads the gold labels of one file, in the scheme that a model writes.

    The scheme of the file is that of all labels converted so far. Labels that are valid in the
    scheme of the model stay as they are.

    Parameters
    ----------
    column
        Has the labels; a file may have another name for it.
    scheme
        Scheme to return chunk labels in; None for labels as they are. The attribute may be set
        until `converted` is called.
    lacks_outside
        Whether a file without any label has words outside only: the model has learned a key that
        such words lack.
    partial
        Whether words may have no label, ``_``. If the scheme of the file is another one, a chunk
        next to such a word may go on there: its labels become ``_``, too.
    predicted
        Whether they are the labels of another system, of which none is refused.

    Attributes
    ----------
    first : dict
        File and line of the first of each label.
    missed : list
        For each sentence the labels of spans that fit no words; None if it had no spans.

    Examples
    --------
    >>> from seqtag.corpus import sentence_of
    >>> sentence = sentence_of({"form": ["in", "New", "York"], "ner": ["O", "B-LOC", "I-LOC"]})
    >>> gold = GoldLabels(LabelColumn("ner"), "iobes")
    >>> gold.converted([gold.read(sentence)])
    [['O', 'B-LOC', 'E-LOC']]
    """

    def __init__(
        self,
        column: LabelColumn,
        scheme: str | None = None,
        *,
        lacks_outside: bool = False,
        partial: bool = False,
        predicted: bool = False,
    ):
        self.column, self.scheme = column, scheme
        self._lacks_outside, self._partial, self._predicted = lacks_outside, partial, predicted
        self.missed: list[Sequence[str] | None] = []  # those of the sentences
        self.first: dict[str, tuple[str, int]] = {}
        self._counts = Counter[str]()
        self._transitions = Counter["Transition"]()
        self._detected, self._noted = scheme, False

    def read(self, sentence: Sentence) -> list[str]:
        """Return the labels of a sentence as they are, for `converted`.

        Raises
        ------
        CorpusError
            If the column is missing.
        """
        is_text = sentence.columns == TEXT_COLUMNS and isinstance(sentence, SpanSentence)
        if is_text and sentence.raw:  # of a file
            raise without_labels(TEXT_COLUMNS, sentence.source)
        labels = column_in(self.column, sentence.columns).of(sentence)
        self.locate(labels, sentence)
        self.missed.append(sentence.missed)
        return labels

    def locate(self, labels: Sequence[str], sentence: Sentence) -> None:
        """Remember where labels are, for messages."""
        for label in {*labels} - self.first.keys():
            self.first[label] = sentence.source, sentence.line_of(labels.index(label))

    def converted(self, sequences: Iterable[Sequence[str]]) -> list[Sequence[str]]:
        """Return the labels of sentences in the scheme of the model.

        Raises
        ------
        LabelError
            If they are no chunk labels and should be.
        """
        found = list(sequences)
        self._counts.update(chain.from_iterable(found))
        if self._is_sparse():
            if not self._partial:
                note_outside(self.column.name, self._source())
            found = [[OUTSIDE if label == NO_LABEL else label for label in each] for each in found]
        if self.scheme is None:
            return found
        kinds = len(self._transitions)
        self._transitions.update(count_transitions(found))
        if len(self._transitions) > kinds:
            self._detected = self._detect(self.scheme)
        if not self._transitions or self._detected == self.scheme:
            return found
        if not self._noted:
            self._noted = True
            name, whose = self._source(), "predicted" if self._predicted else "gold"
            what = f"the {whose} labels are {self._detected}, and are read as {self.scheme}"
            _log.warning("%s%s", f"{name}: " if name else "", what)
        return [self._write(labels, self.scheme) for labels in found]

    def refuse_odd(self, end: str = "") -> None:
        """Refuse labels of another kind among chunk labels; `end` is that of the message.

        Raises
        ------
        LabelError
            If there are some; it names the first of the most frequent one.
        """
        gap = NO_LABEL if self._partial else ""
        counts = {label: n for label, n in self._counts.items() if label != gap}
        if odd := odd_labels(counts):
            worst = max(odd, key=odd.__getitem__)
            self._refuse(worst, describe_odd(odd, counts), f"{remedy(worst)}{end}")

    def _refuse(self, label: str, what: str, advice: str) -> None:
        source, line = self.first.get(label, (None, None))
        msg = f"{what} in the column {self.column}; {advice}"
        raise LabelError(msg, source=source, line=line)

    def _source(self) -> str:
        return next((source for source, _ in self.first.values()), "")

    def _is_sparse(self) -> bool:
        """Return whether a word without a key is outside."""
        known = self._lacks_outside and self._counts.keys() == {NO_LABEL}
        return known or lacks_outside(self.column.name, self._counts)

    def _detect(self, scheme: str) -> str:
        """Return the scheme that fits the labels best; in ties, or if none does, that of the model.

        Raises
        ------
        LabelError
            If labels are in no scheme, and are not predicted.
        """
        gap = NO_LABEL if self._partial else ""
        labels = {label for pair in self._transitions for label in pair} - {None, gap}
        transitions: dict[Transition, int] = {(label, label): 0 for label in labels}
        transitions |= {pair: n for pair, n in self._transitions.items() if gap not in pair}
        prefixes, invalid = prefixes_of(scheme), invalid_transitions(transitions, scheme)
        others = [
            label for label in self._counts if label in labels and parse(label)[0] not in prefixes
        ]
        if not invalid and not others:
            return scheme
        best = scheme_of(transitions)
        if best is None and others and not self._predicted:
            self.refuse_odd()
            what = f"expected chunk labels as the model writes them ({scheme}), found {others[0]!r}"
            self._refuse(others[0], what, "check the column and its labels")
        if best is None or (self._predicted and prefixes_of(best) == prefixes):
            return scheme  # predicted labels may be in a wrong order
        is_worse = others or invalid > invalid_transitions(transitions, best)
        return best if is_worse else scheme

    def _write(self, labels: Sequence[str], scheme: str) -> list[str]:
        """Return the labels of a sentence in another scheme."""
        chunks = spans(labels)
        written = write_spans(chunks, len(labels), scheme)
        written = [NO_LABEL if a == NO_LABEL else b for a, b in zip(labels, written, strict=True)]
        for _, begin, end in chunks:
            if NO_LABEL in labels[max(0, begin - 1) : end + 1]:
                written[begin:end] = [NO_LABEL] * (end - begin)
        return written
