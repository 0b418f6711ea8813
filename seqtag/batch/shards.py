"""Shards: parts of a corpus that are trained on in different processes, and one round on a shard.

A shard has its own sentences only. Common properties are computed in one pass over all shards,
after which each shard is a record of arrays, `EncodedShard`, for `train_shard`:

1. Each shard is read, and returns `ShardStats`: its feature keys with their counts, its words,
   label bigrams.
2. The statistics are merged as they come (`SharedVocabulary`). A feature is identified by its key,
   made from its template and the hashes of its values, so it has the same key in all shards. Counts
   are summed, and ``min-count`` is compared with the sum; rows are numbered by the first shard that
   has them, and within it by first appearance: as ordinary training numbers the features of all
   shards, read one after another.
3. All shards get the same `Plan`: the features with their numbers, and all labels.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.batch.mixing import Fold, ShardRows, ShardUpdate, Table, places
from seqtag.corpus import ReadOptions
from seqtag.engine import backend
from seqtag.engine.arrays import Instances, Layout
from seqtag.errors import CorpusError
from seqtag.features.index import IndexedCorpus, index_corpus
from seqtag.labels.lemmas import LemmaCoding
from seqtag.model.known_words import KnownWords
from seqtag.randomness import visiting_order
from seqtag.tables.lexicon import check_used
from seqtag.training.data import REFUSED, Unlabeled, check_labels, open_corpus
from seqtag.training.problem import WordLabels, labels_of_words, learned_labels
from seqtag.training.runs import hiding, recipe_of
from seqtag.training.task import Request, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import IntArray
    from seqtag.features.templates import TemplateSet
    from seqtag.labels.coding import LabelCoding
    from seqtag.labels.column import LabelColumn
    from seqtag.labels.schemes import Transition
    from seqtag.settings import Settings
    from seqtag.tables.table import WordTable
    from seqtag.training.data import Source


@dataclass(frozen=True)
class ShardOptions:
    """Options of training on shards, as `seqtag.train` has them."""

    label: str | None = None
    templates: TemplateSet | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    unlabeled: Unlabeled = REFUSED
    files: ReadOptions = field(default_factory=ReadOptions)
    tables: Sequence[WordTable] = ()


def shard_task(options: ShardOptions, column: LabelColumn, columns: Sequence[str]) -> Task:
    """Return the task of learning a column on shards, all of which have the same columns.

    Raises
    ------
    TemplateError
        If there are to be two passes, or no template looks into one of the tables.
    """
    available = [name for name in columns if name not in column.columns]
    request = Request(settings=options.settings, tables=options.tables)
    task = request.task(column, available, options.templates)
    settings = task.settings.in_one_pass("shards", "train on the whole corpus at once")
    check_used(options.tables, [task.templates])
    return replace(task, settings=settings.without_auto())  # a trial on one shard is not enough


class ShardStats(NamedTuple):
    """Statistics of a shard.

    Attributes
    ----------
    source
        The file, for messages.
    columns
        Columns of the file.
    column
        The column to learn.
    sentences, tokens, digest
        Number of sentences and tokens, and SHA-256 of the training data.
    label_types
        The distinct labels as written.
    follows
        Counts of label bigrams.
    pairs
        Distinct pairs of form and label, if labels may depend on the form.
    words
        Hashes of the words, ascending.
    keys, counts
        Feature keys in order of first appearance, and their counts.
    edge_keys, edge_counts
        The same for label bigrams with words.
    """

    source: str
    columns: tuple[str, ...]
    column: LabelColumn
    sentences: int
    tokens: int
    digest: str
    label_types: list[str]
    follows: Counter[Transition]
    pairs: list[tuple[str, str]]
    words: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    edge_keys: NDArray[np.uint64]
    edge_counts: NDArray[np.int64]


class Plan(NamedTuple):
    """Properties of all shards that each shard needs.

    Attributes
    ----------
    digests
        For each shard the digest of its sentences, to detect a file that has changed.
    coding, labels
        The label coding, and all labels, sorted.
    dropout
        The setting for the size of all shards.
    layout
        Shape of the weights of all shards.
    features, edges
        The feature keys that are not too rare.
    """

    digests: list[str]
    coding: LabelCoding
    labels: list[str]
    dropout: float | str
    layout: Layout
    features: RowsOfKeys
    edges: RowsOfKeys


class RowsOfKeys(NamedTuple):
    """Feature keys, ascending, and their rows."""

    keys: NDArray[np.uint64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, keys: NDArray[np.uint64]) -> RowsOfKeys:
        """Sort keys that are in the order of their rows."""
        order = np.argsort(keys)
        return cls(keys[order], order)

    def of_shard(self, keys: NDArray[np.uint64]) -> IntArray:
        """Return the row of each key; -1 if it is too rare."""
        place, here = places(self.keys, keys)
        found = np.full(len(keys), -1, np.int64)
        found[here] = self.rows[place[here]]
        return found


class EncodedShard(NamedTuple):
    """A shard ready for training: arrays and settings, which pickle.

    Attributes
    ----------
    number
        Number of the shard, from 1.
    shard_rows
        Its rows among those of all shards.
    x, y
        Its sentences, with rows counted within the shard, and the label ids of their tokens.
    settings
        Settings of training.
    words
        The labels of its words, if they are needed for a tag dictionary.
    """

    number: int
    shard_rows: ShardRows
    x: Instances
    y: NDArray[np.int32]
    settings: Settings
    words: WordLabels | None

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return len(self.x.sentence_ptr) - 1


class Shard:
    """The sentences of a shard.

    Parameters
    ----------
    source
        A corpus file, or sentences.
    options
        Options of training.

    Raises
    ------
    CorpusError, LabelError, TemplateError
        As `seqtag.training.train.train`.
    """

    def __init__(self, source: Source, options: ShardOptions):
        with ExitStack() as files:
            corpus = open_corpus(source, files, options.files)
            column = corpus.label_column(options.label)
            self._task = shard_task(options, column, corpus.columns)
            self._compiled = self._task.templates.compile(self._task.available)
            needed = self._compiled.columns
            self._examples = corpus.gather(needed, column, options.unlabeled, check=False)
        self._inputs = [self._examples.columns[name] for name in needed]
        self._forms = self._examples.columns.get("form")
        self._columns, self._name = corpus.columns, corpus.name or "<sentences>"
        self._found: IndexedCorpus | None = None

    def stats(self) -> ShardStats:
        """Return the statistics of the shard."""
        examples, forms, found = self._examples, self._forms, self._index()
        words = forms.types if forms else []
        edges = found.instances.edges
        return ShardStats(
            self._name,
            self._columns,
            self._task.column,
            len(examples.lengths),
            int(examples.lengths.sum()),
            examples.digest(),
            examples.labels.types,
            examples.transitions(),
            [*examples.pairs()] if self._task.column.is_lemma else [],
            KnownWords.of(words).hashes,
            found.keys,
            np.bincount(found.instances.features, minlength=len(found.keys)),
            found.edge_keys,
            np.bincount(edges if edges is not None else [], minlength=len(found.edge_keys)),
        )

    def labels(self, coding: LabelCoding) -> list[str]:
        """Return the labels of the shard, encoded and sorted."""
        return sorted(learned_labels(self._examples, coding, self._forms).labels)

    def encode(self, plan: Plan, number: int) -> EncodedShard:
        """Encode the shard by the plan; shards are numbered from 1.

        Raises
        ------
        CorpusError
            If the sentences are not those of the statistics.
        """
        if self._examples.digest() != plan.digests[number - 1]:
            msg = (
                "expected the sentences with which this training began, found others; restore the "
                "file, or start over"
            )
            raise CorpusError(msg, source=self._name)
        examples, found = self._examples, self._index()
        y, _ = learned_labels(examples, plan.coding, self._forms).numbered(plan.labels)
        words = None
        if self._task.settings.tag_dictionary:
            words = labels_of_words(self._compiled, self._inputs, y)
        features = plan.features.of_shard(found.keys)
        edges = plan.edges.of_shard(found.edge_keys) if plan.layout.edges else np.zeros(0, np.int64)
        shard_rows = ShardRows(
            plan.layout, np.sort(features[features >= 0]), np.sort(edges[edges >= 0])
        )
        x = _renumbered(found.instances, features, edges, shard_rows)
        settings = replace(self._task.settings, dropout=plan.dropout)
        return EncodedShard(number, shard_rows, x, y, settings, words)

    def _index(self) -> IndexedCorpus:
        """Index the sentences by the feature numbers of this shard."""
        if self._found is None:
            self._found = index_corpus(self._compiled, self._inputs, self._examples.lengths, 1)
        return self._found


@dataclass(frozen=True)
class SharedLemmaCoding(LemmaCoding):
    """Lemmas with edit scripts chosen on all shards together.

    Parameters
    ----------
    scripts
        The script of each pair of form and lemma.
    """

    scripts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def on(cls, pairs: Sequence[tuple[str, str]], coding: LabelCoding) -> SharedLemmaCoding:
        """Choose scripts for pairs of form and lemma, as a coding does.

        >>> shared = SharedLemmaCoding.on([("PARIS", "Paris"), ("be", "be")], LemmaCoding())
        >>> shared.encode(["Paris"], ["PARIS"])
        ['title 0 0  ']
        """
        different = list(dict.fromkeys(pairs))
        forms, lemmas = zip(*different, strict=True)
        return cls(scripts=dict(zip(different, coding.encode(lemmas, forms), strict=True)))

    def encode(self, labels: Sequence[str], forms: Sequence[str] = ()) -> list[str]:
        """Return the scripts of lemmas."""
        return [self.scripts[pair] for pair in zip(forms, labels, strict=True)]


class KeyCounts(NamedTuple):
    """Counts of feature keys, in the order of their first appearance."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]

    @classmethod
    def add(cls, parts: Sequence[KeyCounts]) -> KeyCounts:
        """Add counts of several shards."""
        keys, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        total = np.zeros(len(distinct), np.int64)
        np.add.at(total, which.reshape(-1), counts)
        order = np.argsort(first)
        return cls(distinct[order], total[order])

    def frequent(self, min_count: int) -> NDArray[np.uint64]:
        """Return the keys that are not too rare."""
        return self.keys[self.counts >= min_count]


@dataclass(frozen=True)
class SharedVocabulary:
    """Features and labels of all shards together.

    Attributes
    ----------
    column, columns
        The column to learn, and all columns.
    sentences, digests
        Of each shard.
    tokens
        Of all shards.
    features, edges
        Feature keys with their counts, and the same for label bigrams with words.
    words
        The words.
    pairs
        Distinct pairs of form and label, if labels may depend on the form.
    transitions
        Counts of label bigrams.
    """

    column: LabelColumn
    columns: tuple[str, ...]
    sentences: list[int]
    digests: list[str]
    tokens: int
    features: KeyCounts
    edges: KeyCounts
    words: KnownWords
    pairs: list[tuple[str, str]]
    transitions: Counter[Transition]

    @classmethod
    def of(cls, stats: Iterable[ShardStats]) -> SharedVocabulary:
        """Merge the statistics of shards, of which few are held at a time.

        Raises
        ------
        CorpusError
            If they do not have the same columns, or do not learn the same one.
        LabelError
            If no word has a label.
        """
        rest = iter(stats)
        first = next(rest)
        sentences, digests, tokens = [], [], 0
        features, edges = (Fold(KeyCounts.add, lambda part: len(part.keys)) for _ in range(2))
        words: Fold[NDArray[np.uint64]] = Fold(lambda parts: np.unique(np.concatenate(parts)), len)
        types: dict[str, None] = {}
        pairs: dict[tuple[str, str], None] = {}
        transitions: Counter[Transition] = Counter()
        for each in chain([first], rest):
            if (each.columns, each.column) != (first.columns, first.column):
                msg = (
                    f"expected the columns {', '.join(first.columns)} of the first shard "
                    f"({first.source}), found {', '.join(each.columns)}"
                )
                raise CorpusError(msg, source=each.source)
            sentences.append(each.sentences)
            digests.append(each.digest)
            tokens += each.tokens
            features.add(KeyCounts(each.keys, each.counts))
            edges.add(KeyCounts(each.edge_keys, each.edge_counts))
            words.add(each.words)
            types.update(dict.fromkeys(each.label_types))
            pairs.update(dict.fromkeys(each.pairs))
            transitions.update(each.follows)
        check_labels([*types], first.column, first.source)
        return cls(
            first.column,
            first.columns,
            sentences,
            digests,
            tokens,
            features.result(),
            edges.result(),
            KnownWords(words.result()),
            [*pairs],
            transitions,
        )

    @property
    def origin(self) -> dict[str, Any]:
        """Return the description of the training data for the model file."""
        return {
            "sentences": sum(self.sentences),
            "tokens": self.tokens,
            "corpus_sha256": self.digests[0]
            if len(self.digests) == 1
            else sha256("".join(self.digests).encode()).hexdigest(),
            "shards": len(self.digests),
        }


def train_shard(state: Table, shard: EncodedShard, round: int, seed: int) -> ShardUpdate:
    """Train on the sentences of a shard once, starting from the weights of all shards.

    Pure: the same arguments give the same bytes, wherever and however often it is called.

    Parameters
    ----------
    state
        The weights after the rounds before; those of other shards may be included.
    shard
        Its sentences.
    round
        Number of the round, from 1.
    seed
        Seed of shuffling and dropout. Shard s draws what run s of ordinary training draws.

    Returns
    -------
    ShardUpdate
        The cells that changed.
    """
    settings, rows = shard.settings, shard.shard_rows
    recipe, sentences = recipe_of(settings), shard.sentences
    before = rows.state(state, (round - 1) * sentences)
    weights = backend.Weights(rows.own, "float32", settings.update, before)
    random = np.random.RandomState([seed, shard.number, round, 1])
    counts = weights.train_epoch(
        hiding(shard.x, settings.dropout)(random),
        shard.y,
        visiting_order(sentences, seed, shard.number, round),
        recipe.rule,
        recipe.step,
        recipe.cost,
    )
    after = rows.table(weights.state(), len(state.values) == 3)
    return ShardUpdate.of(rows, state, after, counts)


def _renumbered(x: Instances, features: IntArray, edges: IntArray, own: ShardRows) -> Instances:
    """Return the sentences with the rows that are kept, counted within the shard."""

    def kept(
        ptr: IntArray, numbers: IntArray, row_of: IntArray, rows: IntArray
    ) -> tuple[IntArray, IntArray]:
        found = row_of[numbers]
        stays = found >= 0
        before = np.concatenate([[0], np.cumsum(stays)])
        return before[ptr].astype(np.int64), np.searchsorted(rows, found[stays]).astype(np.int32)

    renumbered = Instances(x.sentence_ptr, *kept(x.token_ptr, x.features, features, own.rows))
    if x.edges is None or x.edge_ptr is None or not own.layout.edges:
        return renumbered
    edge_ptr, of_edges = kept(x.edge_ptr, x.edges, edges, own.edges)
    return renumbered._replace(edge_ptr=edge_ptr, edges=of_edges)
