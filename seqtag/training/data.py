"""Training data: named columns of numbered values, all sentences end to end.

The reference path builds a `Sentence` for each sentence. Column files are read by the native
scanner instead, block by block, and Python touches distinct values only. Blocks that are not plain
(a malformed line, a missing label) take the reference path, so ids and messages are the same.
"""

from __future__ import annotations

import hashlib
import logging
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, pairwise
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

import numpy as np

from seqtag.corpus import (
    ReadOptions,
    Sentence,
    SentenceStream,
    sentences_of,
)
from seqtag.corpus.column_files import COMMENT_MARK, MANY_ROWS, UPOS, counted
from seqtag.corpus.scanner import BlockScanner
from seqtag.corpus.sentence import has_column, split_key
from seqtag.corpus.shapes import is_file, table_of
from seqtag.corpus.withheld import withheld
from seqtag.engine import backend
from seqtag.engine.arrays import numbered_pairs, pointers
from seqtag.errors import CorpusError, LabelError, did_you_mean
from seqtag.features.encoder import Column
from seqtag.features.normal_forms import note_of_spellings
from seqtag.labels.coding import has_controls
from seqtag.labels.column import FEATS, NO_LABELS, LabelColumn, is_column_name, sorted_feats
from seqtag.labels.schemes import OUTSIDE, alternatives, joined, kind_of, parse, renamed, scheme_of
from seqtag.labels.spelling import describe_odd, lacks_outside, note_outside, odd_labels, remedy
from seqtag.storage.output import is_read_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

    from numpy.typing import NDArray

    from seqtag.corpus.layout import Layout
    from seqtag.corpus.sentence import Labels
    from seqtag.labels.schemes import Transition

_log = logging.getLogger("seqtag")

_LONGEST_BLOCK = 50  # sentences of the training data that are held out together
_LONG_SENTENCE = 600  # words; hardly any has more
_LONG_ALONE = 100  # of the only sentence


class Unlabeled(NamedTuple):
    """Treatment of labels: of words without one, which are refused by default, and of others.

    Attributes
    ----------
    skip
        Leave out sentences in which the label of a word is ``_``.
    mark
        Label of words that have none, to be learned around; None if each word has a label.
    names
        Other names of labels, or of the types of chunk labels.
    partial
        By file, the types that are annotated in it: ``O`` there means none of these.
    """

    skip: bool = False
    mark: str | None = None
    names: Mapping[str, str] = MappingProxyType({})
    partial: Mapping[str, Sequence[str]] = MappingProxyType({})

    @classmethod
    def of(cls, policy: str, mark: str = "_") -> Unlabeled:
        """Return what ``error``, ``skip`` or ``learn_around`` means.

        Raises
        ------
        ValueError
            If the policy is another word.
        """
        if policy not in POLICIES:
            msg = f"expected unlabeled={', '.join(map(repr, POLICIES))}, found {policy!r}"
            raise ValueError(msg)
        return cls(policy == "skip", mark if policy == "learn_around" else None)


POLICIES = ("error", "skip", "learn_around")
"""Values of the option ``unlabeled``."""

REFUSED = Unlabeled()
"""Words without a label are an error."""


def gold_name(column: str) -> str:
    """Return the name of a column with gold values, where the column itself has predictions."""
    return f"gold {column}"


def block_numbers(sentences: int, least: int) -> NDArray[np.int64]:
    """Number blocks of adjacent sentences, which stay together because they share rare words.

    Parameters
    ----------
    sentences
        Number of sentences.
    least
        Number of blocks that there are at least, of shorter ones if need be.

    Examples
    --------
    >>> block_numbers(120, 2).tolist() == [0] * 50 + [1] * 50 + [2] * 20
    True
    >>> block_numbers(6, 3).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    return np.arange(sentences) // max(1, min(_LONGEST_BLOCK, sentences // least))


class TrainingData(NamedTuple):
    """Sentences as numbered columns.

    Attributes
    ----------
    columns
        Input columns by name.
    labels
        The column to learn.
    lengths
        Tokens per sentence, (sentences,) int64; none is empty.
    pieces
        Tokens per piece that is learned from at a time, where those are not the sentences.
    unlabeled
        Label of words that have none, where some may have none.
    layout
        Columns of the file and the learned one, for files of the same layout to tag; None for
        formats that name their columns.
    is_flat
        Whether labels are no chunks, even if they look so.
    lacks_outside
        Whether words outside lacked a key of MISC.
    open_types
        By type of chunks, the sentences in which it was not annotated, (sentences,) bool.
    """

    columns: Mapping[str, Column]
    labels: Column
    lengths: np.ndarray
    pieces: np.ndarray | None = None
    unlabeled: str | None = None
    layout: Mapping[str, Any] | None = None
    is_flat: bool = False
    lacks_outside: bool = False
    open_types: Mapping[str, NDArray[np.bool_]] = MappingProxyType({})

    def select(self, names: Iterable[str]) -> TrainingData:
        """Return the same sentences with these columns alone, in this order."""
        return self._replace(columns={name: self.columns[name] for name in names})

    def with_columns(self, columns: Mapping[str, Column]) -> TrainingData:
        """Return the same sentences with more columns, or others of the same names."""
        return self._replace(columns={**self.columns, **columns})

    def transitions(self) -> Counter[Transition]:
        """Return the counts of label bigrams.

        See `seqtag.labels.schemes.count_transitions`. Pairs with a word that has no label, or
        one of several, are left out.
        """
        names = [*self.labels.types, None]
        before, after = self.neighbors()
        last = after == len(self.labels.types)  # the other pairs are counted from their right
        left, right, number = numbered_pairs(
            np.concatenate([before, self.labels.ids[last]]),
            np.concatenate([self.labels.ids, after[last]]),
            len(names),
        )
        pairs = [(names[a], names[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
        counts = zip(pairs, np.bincount(number).tolist(), strict=True)
        certain = {None, *filter(self.is_certain, self.labels.types)}
        return Counter({pair: n for pair, n in counts if certain.issuperset(pair)})

    def is_certain(self, value: str) -> bool:
        """Return whether a value is one label."""
        return len(alternatives(value, self.unlabeled)) == 1

    @property
    def known_labels(self) -> list[str]:
        """Distinct labels, with those of sets, without the mark."""
        found = (alternatives(value, self.unlabeled) for value in self.labels.types)
        return [*dict.fromkeys(chain.from_iterable(found))]

    def where(self, kept: NDArray[np.bool_]) -> TrainingData:
        """Return some of the sentences, (sentences,) bool, and only the values that they have."""
        tokens = np.repeat(kept, self.lengths)

        def part(column: Column) -> Column:
            left, ids = np.unique(column.ids[tokens], return_inverse=True)
            types = list(map(column.types.__getitem__, left.tolist()))
            return Column(types, ids.reshape(-1).astype(np.int32))

        columns = {name: part(column) for name, column in self.columns.items()}
        open_types = {kind: is_open[kept] for kind, is_open in self.open_types.items()}
        found = self._replace(columns=columns, labels=part(self.labels), open_types=open_types)
        return found._replace(lengths=self.lengths[kept], pieces=None)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the distinct pairs of form and label of labeled tokens; none without forms."""
        if "form" in self.columns:
            for form, value in self.columns["form"].paired(self.labels)[0]:
                yield from ((form, label) for label in alternatives(value, self.unlabeled))

    def once_in_chunks(self) -> float:
        """Return the share of the words in chunks that occur there once; 0 without chunks."""
        forms, types = self.columns.get("form"), self.labels.types
        if forms is None or OUTSIDE not in types:
            return 0.0
        words = forms.ids[self.labels.ids != types.index(OUTSIDE)]
        counts = np.unique(words, return_counts=True)[1]
        return int((counts == 1).sum()) / max(1, len(words))

    def labeled(self) -> NDArray[np.bool_]:
        """Return which tokens have one label: (N,) bool."""
        return np.array([*map(self.is_certain, self.labels.types)], bool).take(self.labels.ids)

    def neighbors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the label ids before and after each token; the number of labels at the ends."""
        ids, ptr = self.labels.ids, pointers(self.lengths)
        before, after = np.roll(ids, 1), np.roll(ids, -1)
        before[ptr[:-1]] = after[ptr[1:] - 1] = len(self.labels.types)
        return before, after

    def windows(
        self,
    ) -> tuple[list[tuple[str | None, str, str | None]], NDArray[np.signedinteger[Any]]]:
        """Return the distinct triples of adjacent labels, and which each token is the middle of.

        The neighbors of the first and the last label of a sentence are None.
        """
        names = [*self.labels.types, None]
        before, after = self.neighbors()
        of_pair = numbered_pairs(before, self.labels.ids, len(names))
        pair, right, number = numbered_pairs(of_pair[2], after, len(names))
        left, middle = of_pair[0][pair], of_pair[1][pair]
        windows = zip(left.tolist(), middle.tolist(), right.tolist(), strict=True)
        return [(names[a], self.labels.types[b], names[c]) for a, b, c in windows], number

    def digest(self) -> str:
        """Return the SHA-256 of the sentences, their labels and columns."""
        sha = hashlib.sha256()
        for types, ids in (*self.columns.values(), self.labels):
            sha.update("\n".join(types).encode("utf-8", "surrogatepass") + b"\0")
            sha.update(ids.astype("<i4").tobytes())
        sha.update(self.lengths.astype("<i8").tobytes())
        return sha.hexdigest()


class Corpus(NamedTuple):
    """One or several sources with the same columns, open.

    Attributes
    ----------
    sources
        Streams of sentences, or lists of them.
    columns
        The columns that all of them have.
    name
        The file that a message is about: the first one; None if there are only sentences.
    reading
        How files were opened.
    paths
        The files, if all sources are files that can be read again.
    """

    sources: list[SentenceStream | list[Sentence]]
    columns: tuple[str, ...]
    name: str | None
    reading: ReadOptions = ReadOptions()
    paths: tuple[Any, ...] = ()

    def label_column(self, label: str | None) -> LabelColumn:
        """Return the label column: the one named, or the default one.

        Raises
        ------
        CorpusError
            If there is no such column, or no sentence at all: an empty file has no columns.
        """
        try:
            if not label:
                return LabelColumn.default(self.columns, self.name)
            # A key of MISC or FEATS is a column, too.
            keys = [label] if split_key(label, self.columns) else []
            LabelColumn(label).check((*self.columns, *keys), self.name)
        except CorpusError as error:
            self.check_any()
            layout = self._layout
            raise layout.explained(error) if layout else error from None
        return LabelColumn(label)

    def check_columns(self, wanted: Sequence[str]) -> None:
        """Refuse a dev set without columns that the training data have.

        Raises
        ------
        CorpusError
            If one is missing.
        """
        missing = [name for name in wanted if not has_column(name, self.columns)]
        if missing:
            self.check_any()
            msg = (
                "expected a dev set with the columns of the training data, found one without "
                f"{', '.join(missing)} (it has {', '.join(self.columns)}); "
                "give one in the same format"
            )
            raise CorpusError(msg, source=self.name)

    def check_any(self) -> None:
        """Refuse a corpus without words: a better message than one about a wrong column.

        Raises
        ------
        CorpusError
            If there are none.
        """
        if not any(len(sentence) for sentence in chain.from_iterable(self.sources)):
            raise _nothing(self.name) from None

    def gather(
        self,
        columns: Sequence[str],
        label: LabelColumn,
        unlabeled: Unlabeled = REFUSED,
        *,
        held_out: bool = False,
    ) -> TrainingData:
        """Return the columns and labels of the sentences that have words.

        Parameters
        ----------
        columns
            Names of the input columns.
        label
            The label column.
        unlabeled
            Treatment of words without a label. Where they are learned around, sentences without
            any label are left out with a warning.
        held_out
            Whether it is a dev set, which may lack labels.

        Raises
        ------
        CorpusError
            If there are no sentences, a column is missing, or a label to rename is; or if files or
            types that are annotated in part are none of the corpus.
        LabelError
            If a label is ``_`` (not annotated) and that is refused, or one holds a control
            character.
        """
        gathered = self._gathered(_Gathering(columns, label, unlabeled))
        found, lengths = gathered.finish()
        labels, mark = found[len(columns) :], unlabeled.mark
        both, lacks = labels[0], False
        if gathered.missing:
            lacks = lacks_outside(label.name, both.types)
            if not lacks:
                raise gathered.missing
            both = self._with_outside(label.name, both)
        if len(labels) > 1:
            pairs, number = both.paired(labels[1])
            joined = Column.of(pair[0] if pair[0] == mark else label.join(pair) for pair in pairs)
            both = Column(joined.types, joined.ids[number])
        if unlabeled.names:
            both = self._renamed(both, unlabeled.names, held_out=held_out)
        named = dict(zip(columns, found, strict=False))
        layout = self._layout
        of_rows = layout is not None and layout.format == "columns"
        facts = layout.learned(label.columns[0]).to_json() if layout and of_rows else None
        is_flat = layout is not None and layout.scheme == "none"
        data = TrainingData(named, both, lengths, None, mark, facts, is_flat, lacks)
        self._note_mistakes(label, both)
        if not is_flat:
            self._check_chunks(data, label)
        if unlabeled.partial and not held_out:
            data = data._replace(open_types=self._open_types(data, gathered, unlabeled.partial))
        if mark is None:
            return data
        has_label = np.array([value != mark for value in data.labels.types])[data.labels.ids]
        kept = np.logical_or.reduceat(has_label, pointers(lengths)[:-1])
        without = int((~kept).sum())
        if not kept.any():
            raise _nothing(self.name, without)
        if without:
            _log.warning("%d sentences without any label were skipped", without)
            data = data.where(kept)
        return data

    def gather_columns(
        self, names: Sequence[str], labels: Sequence[str] = ()
    ) -> tuple[dict[str, Column], NDArray[np.int64]]:
        """Return columns by name, and the number of words of each sentence that has any.

        Parameters
        ----------
        names
            Names of the columns.
        labels
            Those of which some word must be annotated.

        Raises
        ------
        CorpusError
            If there are no sentences, or a column is missing.
        """
        columns, lengths = self._gathered(_Gathering(names, None)).finish()
        found = dict(zip(names, columns, strict=True))
        for name, column in found.items():
            if lacks_outside(name, column.types):
                found[name] = self._with_outside(name, column)
        for name in (name for name in names if name != "form"):
            self._note_mistakes(LabelColumn(name), found[name])
        for name in labels:
            check_labels(found[name].types, LabelColumn(name), self.name)
        return found, lengths

    def announce(self, data: TrainingData, label: LabelColumn | None, *, chosen: bool) -> None:
        """Log what the files are, and which column is learned, chosen by the user or not."""
        layout, facts, hint = self._layout, {}, ""
        if layout is None:
            return
        if label is not None:
            known = data.known_labels
            types = {parse(name)[1] for name in known} - {""}
            scheme = None if data.is_flat else scheme_of(data.transitions())
            labels = counted(f"{len(known):,}", "label")
            shown = f"{scheme.upper()}, {counted(len(types), 'type')}" if scheme else labels
            facts[label.columns[-1]] = shown
            others = {*self.columns} - {*NO_LABELS, "lemma", "misc", "sentence", *label.columns}
            if layout.format == "columns" and not chosen and others:
                hint = f"; learns {label}, choose another column with --label"
        more = len(self.sources) - 1
        _log.info(
            "%s%s: %s, %s; %s%s",
            self.name,
            f" and {counted(f'{more:,}', 'other file')}" * bool(more),
            counted(f"{len(data.lengths):,}", "sentence"),
            counted(f"{data.lengths.sum():,}", "word"),
            layout.describe(facts),
            hint,
        )

    def held(self) -> Corpus:
        """Return the corpus in a form that can be read again: files, or all sentences."""
        if self.paths:
            return self
        return self._replace(sources=[list(chain.from_iterable(self.sources))])

    def again(self) -> Iterator[Sentence]:
        """Yield the sentences of a corpus that is `held`; files are opened again."""
        for path in self.paths:
            with self.reading.open(path, announce=False) as stream:
                yield from stream
        if not self.paths:
            yield from chain.from_iterable(self.sources)

    @property
    def _layout(self) -> Layout | None:
        first = self.sources[0] if self.sources else None
        return first.layout if isinstance(first, SentenceStream) else None

    def _with_outside(self, name: str, column: Column) -> Column:
        """Return a column with ``O`` for words without a label, and log it."""
        note_outside(name, self.name)
        return Column.of_types([OUTSIDE if v == "_" else v for v in column.types], column.ids)

    def _renamed(self, labels: Column, names: Mapping[str, str], *, held_out: bool) -> Column:
        """Return labels with other names; of training data, note how many words they have."""
        kinds = [kind_of(label) for label in labels.types]
        counts = np.bincount(labels.ids).tolist()
        for name, new in () if held_out else names.items():
            known = zip(labels.types, kinds, counts, strict=True)
            found = [count for label, kind, count in known if name in (label, kind)]
            if not found:
                _check_known("map: expected labels or types of chunks", {name}, {*kinds})
            words = counted(f"{sum(found):,}", "word")
            _log.info("%s is now %s (%s)", name, new, words)
        of_types = [{renamed(each, names) for each in alternatives(v)} for v in labels.types]
        return Column.of_types([*map(joined, of_types)], labels.ids)

    def _open_types(
        self, data: TrainingData, gathered: _Gathering, partial: Mapping[str, Sequence[str]]
    ) -> dict[str, NDArray[np.bool_]]:
        """Return the sentences of files in which a type was not annotated, and note what was."""
        sources = [str(getattr(source, "source", "")) for source in self.sources]
        kinds = {parse(label)[1] for label in data.known_labels} - {""}
        given = {*chain.from_iterable(partial.values())}
        _check_known("partial: expected training files", {*partial}, {*sources})
        _check_known("partial: expected types of chunks", given, kinds)
        if {*sources} == {*partial}:
            _check_known("partial: expected types that a file annotates, or map=O", kinds, given)
        number = np.repeat(np.arange(len(sources)), np.diff(gathered.ends, prepend=0))
        outside = np.array([value == OUTSIDE for value in data.labels.types])[data.labels.ids]
        words = np.bincount(np.repeat(number, data.lengths), outside, len(sources))
        lacking = [kinds.difference(partial.get(source, kinds)) for source in sources]
        for source, count, others in zip(sources, words.tolist(), lacking, strict=True):
            if others:
                note = f"only {', '.join(partial[source])} annotated; "
                note += f"{counted(f'{count:,.0f}', 'word')} labeled O may be "
                _log.info("%s: %s%s", source, note, ", ".join(sorted(others)))
        found = set().union(*lacking)
        return {kind: np.array([kind in each for each in lacking])[number] for kind in found}

    def _note_mistakes(self, column: LabelColumn, labels: Column) -> None:
        """Warn about labels with blanks around, which are other labels, and about unknown UPOS."""
        if column.name == "upos":
            self._note_other_tags(column, labels)
        for label in labels.types:
            if label != label.strip() in labels.types:
                source, line, _ = self._find(column, label)
                number = labels.types.index(label)
                place = f"{source}:{line}: " if line else ""
                _log.warning(
                    "%sthe label %r in the column %s (%s) is another than %r; remove the blank",
                    place,
                    label,
                    column,
                    counted(f"{np.count_nonzero(labels.ids == number):,}", "word"),
                    label.strip(),
                )

    def _note_other_tags(self, column: LabelColumn, labels: Column) -> None:
        """Warn about a few parts of speech that Universal Dependencies does not have."""
        counts = np.bincount(labels.ids, minlength=len(labels.types)).tolist()
        others = {
            label: count
            for label, count in zip(labels.types, counts, strict=True)
            if count and not {each.strip() for each in alternatives(label)} <= UPOS
        }
        if others and 50 * sum(others.values()) <= sum(counts):
            source, line, _ = self._find(column, min(others, key=others.__getitem__))
            _log.warning(
                "%sparts of speech that Universal Dependencies does not have: %s; correct them if "
                "they are mistakes",
                f"{source}:{line}: " if line else "",
                ", ".join(f"{label!r} ({counted(n, 'word')})" for label, n in others.items()),
            )

    def _check_chunks(self, data: TrainingData, label: LabelColumn) -> None:
        """Refuse labels of another kind in a column of chunk labels, and note long sentences."""
        counts = dict(zip(data.labels.types, np.bincount(data.labels.ids).tolist(), strict=True))
        odd = odd_labels({k: n for k, n in counts.items() if data.is_certain(k)})
        if odd:
            worst = max(odd, key=odd.__getitem__)
            source, line, hint = self._find(label, worst)
            msg = (
                f"{describe_odd(odd, counts)} in the column {label}; {hint}{remedy(worst)}, or "
                "learn all labels as they are with --scheme none"
            )
            raise LabelError(msg, source=source, line=line)
        longest = int(data.lengths.max())
        layout = self._layout
        usual = _LONG_SENTENCE if len(data.lengths) > 1 else _LONG_ALONE
        if longest > usual and layout is not None and layout.sentences == "blank":
            _log.warning(
                "%s: a sentence of %s words: are blank lines between sentences missing? Choose "
                "--sentences restart, --sentences COLUMN, --sentences punctuation, or the tag that "
                "ends them, such as --sentences SENT",
                self.name,
                f"{longest:,}",
            )

    def _find(self, column: LabelColumn, label: str) -> tuple[str | None, int | None, str]:
        """Return file and line of the first word that has a label, if known, and what it may be."""
        for source in self.sources:
            if isinstance(source, SentenceStream) and not is_read_once(source.source):
                with self.reading.open(source.source, announce=False) as again:
                    for number, sentence in enumerate(filter(len, again)):
                        labels = column.of(sentence)
                        if label not in labels:
                            continue
                        at, hint = labels.index(label), ""
                        if at == 0 and number == 0:
                            hint = "if this line names the columns, give --header; else "
                        if at == 0 and (mark := COMMENT_MARK.match(sentence.words[0])):
                            hint = f"if this line is a comment, give --comment '{mark[0]}'; else "
                        return source.source, sentence.line_of(at), hint
        return self.name, None, ""

    def _gathered(self, gathering: _Gathering) -> _Gathering:
        """Take all sources."""
        for source in self.sources:
            if (
                backend.Scanner is not None
                and isinstance(source, SentenceStream)
                and source.is_table
            ):
                gathering.scan(source)
            else:
                for sentence in source:
                    gathering.add(sentence)
            gathering.ends.append(len(gathering.lengths))
        return gathering


def open_corpus(
    data: Any,
    files: ExitStack,
    reading: ReadOptions = ReadOptions(),  # noqa: B008  frozen
    label: str | None = None,
) -> Corpus:
    """Open one or several sources as one corpus; `files` closes what is opened.

    `label` is the name of the labels in lists of pairs, which have none.

    Raises
    ------
    CorpusError
        If the columns differ, there are none because there are no sources, or one has a name that
        no model could be loaded with.
    TypeError
        If sentences are lists of words and the like.
    """
    sources = _sources_of(data)
    rows = sources[0] if sources and isinstance(sources[0], list) else []
    if rows and isinstance(rows[0], (list, tuple)) and reading.columns is None:
        reading = replace(reading, columns=("form", label or "label"))
    name = str(sources[0]) if sources and isinstance(sources[0], (str, PathLike)) else None
    if sources and isinstance(sources[0], Sentence):
        corpus = Corpus([sources], sources[0].columns, name)
    else:
        streams = [
            source
            if isinstance(source, SentenceStream)
            else files.enter_context(reading.open(source, announce=False))
            for source in sources
        ]
        if not streams:
            raise _nothing(None)
        for stream in streams[1:]:
            if stream.columns != streams[0].columns:
                for empty in (streams[0], stream):  # a file without columns
                    if not any(map(len, empty)):
                        raise _nothing(empty.source)
                msg = (
                    f"expected the columns {', '.join(streams[0].columns)} of the first file, "
                    f"found {', '.join(stream.columns)}; give files of one format"
                )
                raise CorpusError(msg, source=stream.source)
        is_file = all(
            isinstance(source, (str, PathLike)) and not is_read_once(source) for source in sources
        )
        paths = tuple(sources) if is_file else ()
        corpus = Corpus(list(streams), streams[0].columns, name, reading, paths)
    for column in corpus.columns:
        if not is_column_name(column):
            msg = (
                "expected names of columns without white space and control characters, found "
                f"{column!r:.80}; rename it"
            )
            raise CorpusError(msg, source=name)
    return corpus


def _sources_of(data: Any) -> list[Any]:
    """Return files, streams or sentences; or a table, or a list of rows, as one source."""
    if isinstance(data, (SentenceStream, bytes)) or is_file(data) or not isinstance(data, Iterable):
        return [data]
    if hasattr(data, "features"):  # a dataset, which has the names of its labels
        return [data]
    table = table_of(data)
    if table is not None:
        return [table]
    items = list(data)
    are_sources = (isinstance(each, (Sentence, SentenceStream)) or is_file(each) for each in items)
    return items if all(are_sources) else [items]


def check_labels(labels: Sequence[str], column: LabelColumn, source: str | None = None) -> None:
    """Refuse labels that are ``_`` throughout: nothing can be learned from them.

    Raises
    ------
    LabelError
        If so.
    """
    if list(labels) == ["_"]:
        found = 'found "_" for every word (not annotated)'
        if "." in column.name:
            found = "found no word that has this key"
        msg = f"expected labels in the column {column}, {found}; choose another column with --label"
        raise LabelError(msg, source=source)


def check_several_labels(examples: TrainingData, column: LabelColumn, source: str | None) -> None:
    """Refuse labels that are all the same; of a few words, warn only.

    Raises
    ------
    LabelError
        If they are.
    """
    labels = examples.known_labels
    if len(labels) != 1:
        return
    found = f"found {labels[0]!r} for every word: nothing to learn"
    if len(examples.labels.ids) < MANY_ROWS:
        _log.warning("%s in the column %s", found, column)
        return
    msg = (
        f"expected several labels in the column {column}, {found}; check that the layer "
        "was exported, or choose another column with --label"
    )
    raise LabelError(msg, source=source)


class _Gathering:
    """Columns that grow sentence by sentence, or block by block."""

    def __init__(
        self,
        columns: Sequence[str],
        label: LabelColumn | None,
        unlabeled: Unlabeled = REFUSED,
    ):
        self._label, self._skip = label, unlabeled.skip
        self._may_lack = label is None or label.may_lack(unlabeled.mark)
        self.missing: LabelError | None = None  # about the first word without a key of MISC
        self._names = [*columns, *(label.columns if label else ())]
        self._gold = len(columns)  # where the labels' columns begin
        self._numbers: list[dict[str, int]] = [{} for _ in self._names]
        self._ids = [array("i") for _ in self._names]
        self.lengths = array("q")
        self.ends: list[int] = []  # sentences up to the end of each source
        self._skipped = 0
        self._source: str | None = None

    def add(self, sentence: Sentence) -> None:
        """Take one sentence."""
        self._source = sentence.source
        if not len(sentence):
            return
        values = [sentence.column(name) for name in self._names]
        unannotated = None
        if self._label is not None and not self._may_lack:
            unannotated = self._label.unannotated(values[self._gold])
        if unannotated is not None:
            if self._skip:
                self._skipped += 1
                return
            found = 'found "_" (not annotated)'
            if "." in self._names[self._gold]:
                found = "found a word without this key"
            msg = (
                f"expected a label in the column {self._label}, {found}; "
                "annotate it, or leave such sentences out with --unlabeled skip, or let seqtag "
                "train learn from their other words with --unlabeled learn-around"
            )
            error = LabelError(msg, source=sentence.source, line=sentence.line_of(unannotated))
            if not self._names[self._gold].startswith("misc."):
                raise error
            self.missing = self.missing or error  # raised at the end unless it means O
        for labels in values[self._gold :]:
            for number, label in enumerate(labels):
                if has_controls(label):
                    msg = (
                        "expected a label without control characters in the column "
                        f"{self._label}, found {label!r:.60}; correct it, or choose another "
                        "column with --label"
                    )
                    raise LabelError(msg, source=sentence.source, line=sentence.line_of(number))
        for ids, known, column in zip(self._ids, self._numbers, values, strict=True):
            ids.extend([known.setdefault(value, len(known)) for value in column])
        self.lengths.append(len(sentence))

    def scan(self, stream: SentenceStream) -> None:
        """Take all sentences of a column file, natively where its lines are plain."""
        self._source = stream.source
        is_plain = all(name in stream.columns for name in self._names)  # no keys of MISC
        scanner = BlockScanner(stream, self._names) if is_plain else None
        ours = [np.zeros(0, np.int32) for _ in self._names]  # our id of each of its; -1: none yet
        with_controls = False
        for block in stream.blocks():
            found = scanner.scan(block) if scanner else None
            if scanner and found:
                ours = [ids[:count] for ids, count in zip(ours, found.known, strict=True)]
                new_labels = chain.from_iterable(found.new[self._gold :])
                with_controls = with_controls or any(map(has_controls, new_labels))
                lacks_label = False
                if not self._may_lack and "_" in scanner.values[self._gold]:
                    unannotated = scanner.values[self._gold].index("_")
                    lacks_label = bool((found.types[self._gold] == unannotated).any())
                if not lacks_label and not with_controls:
                    for c, number in enumerate(self._numbers):
                        values, types = scanner.values[c], found.types[c]
                        more = np.full(len(values) - len(ours[c]), -1, np.int32)
                        ours[c] = known = np.concatenate([ours[c], more])
                        for new in np.unique(types[known[types] < 0]).tolist():
                            known[new] = number.setdefault(values[new], len(number))
                        self._ids[c].frombytes(known[types].tobytes())
                    self.lengths.frombytes(np.diff(found.sentence_ptr).tobytes())
                    continue
            if scanner and found is None:
                scanner.restart()
            for sentence in stream.parse([block], block.line):  # `add` names what is refused
                self.add(sentence)
        stream.report()

    def finish(self) -> tuple[list[Column], NDArray[np.int64]]:
        """Return all columns, those of the label last, and the words per sentence."""
        if self._skipped:
            _log.warning(
                "%d sentences with unannotated words were skipped; seqtag train --unlabeled "
                "learn-around learns from their other words",
                self._skipped,
            )
        if not self.lengths:
            raise _nothing(self._source, self._skipped)
        forms = self._numbers[self._names.index("form")] if "form" in self._names else {}
        if list(forms) == ["_"] and sum(self.lengths) > 1:
            raise withheld(self._source)
        columns = [
            _as_sets(Column(list(number), np.frombuffer(ids, np.int32)), name)
            for name, number, ids in zip(self._names, self._numbers, self._ids, strict=True)
        ]
        return columns, np.frombuffer(self.lengths, np.int64)


def _check_known(expected: str, found: Set[str], known: Set[str]) -> None:
    """Refuse names of files, labels or types that are not known."""
    for name in sorted(found - known):
        msg = f"{expected} ({', '.join(sorted(known))}), found {name!r}{did_you_mean(name, known)}"
        raise CorpusError(msg)


def _as_sets(column: Column, name: str) -> Column:
    """Return a column with FEATS in one order; others as they are."""
    if name != FEATS:
        return column
    return Column.of_types(list(map(sorted_feats, column.types)), column.ids)


def _nothing(source: str | None, skipped: int = 0) -> CorpusError:
    left = f" ({skipped} without labels were skipped)" if skipped else ""
    return CorpusError(f"expected sentences to learn from, found none{left}", source=source)


# --------------------------------------------------------------------------- plain lists
def from_lists(
    data: Any,
    labels: Iterable[Labels],
    dev: Any,
    label: str,
    reading: ReadOptions,
    mark: str | None,
) -> tuple[list[Sentence], list[Sentence] | None, str | None]:
    """Return the sentences of plain lists, those of a dev set, and the mark of unlabeled words.

    Parameters
    ----------
    data, labels
        As `seqtag.train` takes them. A label that is None is one that the word does not have;
        a set has the labels that it may have.
    dev
        None, or a pair of sentences and labels.
    label
        Name for the column of the labels.
    reading
        Has the names of columns, and of labels that are numbers.
    mark
        Label of words that have none, if there may be some.

    Raises
    ------
    TypeError
        If `data` is a file, or `dev` is no pair.
    """
    if dev is not None and (not isinstance(dev, (tuple, list)) or len(dev) != 2):
        msg = f"expected dev as a pair (sentences, labels), found {dev!r:.60}"
        raise TypeError(msg)
    missing, some_missing = mark or "", False
    names = reading.names.get(label) if isinstance(reading.names, Mapping) else reading.names
    known: dict[Any, Any] = dict(enumerate(names or ()))

    def as_value(label: Any) -> Any:
        if not isinstance(label, (set, frozenset)):
            return known.get(label, label)
        found: set[Any] = {known.get(each, each) for each in label}
        return joined(found) if {*map(type, found)} == {str} else label

    def noted(gold: Iterable[Labels]) -> Iterator[Labels]:
        nonlocal some_missing
        for of_sentence in gold:
            is_list = isinstance(of_sentence, Iterable) and not isinstance(of_sentence, str)
            some_missing |= is_list and None in of_sentence
            has_sets = is_list and not {set, frozenset}.isdisjoint(map(type, of_sentence))
            yield [*map(as_value, of_sentence)] if known or has_sets else of_sentence

    found = []
    for sentences, gold in [(data, labels)] if dev is None else [(data, labels), dev]:
        is_table = not is_file(sentences) and table_of(sentences) is not None
        if is_table or is_file(sentences) or not isinstance(sentences, Iterable):
            msg = (
                f"expected lists of words for the labels, found {sentences!r:.60}; a file has its "
                "own labels, as has a table, and held-out data are dev=..."
            )
            raise TypeError(msg)
        of_lists = sentences_of(
            sentences, noted(gold), label, columns=reading.columns, missing=missing
        )
        found.append(list(of_lists))
    return found[0], found[1] if dev is not None else None, missing if some_missing else mark


# --------------------------------------------------------------------------- checks

_NOTED_SHARE = 0.01  # of the words of a dev set; less are greetings and the like


def check_data(examples: TrainingData, held_out: TrainingData | None = None) -> None:
    """Warn about labels in several Unicode normal forms, and about an overlapping dev set.

    Also log words in several normal forms, which are learned as one, and a mark of unlabeled words
    that no word has.

    Parameters
    ----------
    examples, held_out
        The training data and the dev set. Sentences are compared by the column form, if there is
        one.
    """
    alike: dict[str, list[str]] = {}
    for label in examples.labels.types:
        if not label.isascii():
            alike.setdefault(normalize("NFC", label), []).append(label)
    several = [form for form, labels in alike.items() if len(labels) > 1]
    if several:
        _log.warning(
            "labels such as %s occur in several Unicode normal forms and are learned as different "
            "labels (%d in all); convert the data to NFC",
            several[0],
            len(several),
        )
    if examples.unlabeled and examples.unlabeled not in examples.labels.types:
        _log.warning("no word has the label %r: every word is labeled", examples.unlabeled)
    if "form" in examples.columns:
        forms = examples.columns["form"]
        counts = np.bincount(forms.ids, minlength=len(forms.types)).tolist()
        if note := note_of_spellings(zip(forms.types, counts, strict=True)):
            _log.info("%s", note)
    if held_out is None:
        return
    if len(held_out.labels.types) == 1 < len(examples.labels.types):
        _log.warning(
            "every word of the dev set has the label %r: its scores say nothing; was the layer "
            "exported?",
            held_out.labels.types[0],
        )
    if "form" not in examples.columns:
        return
    shared = shared_sentences(held_out, examples)
    words, count = int(held_out.lengths[shared].sum()), int(shared.sum())
    if words >= _NOTED_SHARE * held_out.lengths.sum():
        _log.warning(
            "%d of the %d sentences of the dev set %s in the training data, too (%.1f%% of "
            "its words): its scores are too high; remove them from one of the two",
            count,
            len(shared),
            "is" if count == 1 else "are",
            100 * words / held_out.lengths.sum(),
        )


def shared_sentences(data: TrainingData, other: TrainingData) -> NDArray[np.bool_]:
    """Return which sentences have the forms of a sentence of other data: (sentences,) bool.

    Examples
    --------
    >>> def words(text, lengths):
    ...     forms = Column.of(text.split())
    ...     return TrainingData({"form": forms}, forms, np.array(lengths))
    >>> shared_sentences(words("to be to", [2, 1]), words("be to be", [1, 2])).tolist()
    [True, False]
    """
    forms, theirs = data.columns["form"], other.columns["form"]
    number = {form: i for i, form in enumerate(forms.types)}
    ours = np.array([number.get(form, -1) for form in theirs.types], np.int32)
    rows = list(_rows_of(forms.ids, data.lengths))
    wanted = set(rows)
    found = {row for row in _rows_of(ours[theirs.ids], other.lengths) if row in wanted}
    return np.array([row in found for row in rows], bool)


def _rows_of(ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> Iterator[bytes]:
    """Yield the numbers of each sentence's words, as bytes."""
    data = ids.astype(np.int32).tobytes()
    ends = 4 * pointers(lengths)
    for begin, end in pairwise(ends.tolist()):
        yield data[begin:end]
