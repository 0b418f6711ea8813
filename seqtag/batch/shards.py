"""Shards: the parts of a corpus that are learnt from in different places, and one round of it.

A shard knows its own sentences only. What all must agree on is settled in one pass over them, after
which each is a record of arrays, `Numbered`, that `train_shard` learns from:

1. Each shard is read, and says what it has (`Survey`): its feature keys with their counts, its
   words, which label follows which.
2. The surveys are put together (`Agreement`). A feature is known by its 64-bit key, made from its
   template and the hashes of its values, so that all shards call it the same without ever having
   talked to each other. Counts are summed and ``min-count`` holds for the sum; rows are numbered by
   the first shard that has them, and within it by first appearance: as plain training numbers the
   features of all shards, read one after another.
3. Each shard is told the number of each of its features, and all labels.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.batch.mixing import Difference, Part, Table
from seqtag.corpus import ReadOptions
from seqtag.engine import backend
from seqtag.engine.arrays import Instances, Layout
from seqtag.errors import CorpusError
from seqtag.features.index import IndexedCorpus, index_corpus
from seqtag.labels.lemmas import LemmaCoding
from seqtag.model.known_words import KnownWords
from seqtag.randomness import visiting_order
from seqtag.tables.lexicon import check_used
from seqtag.training.candidates import learning_task
from seqtag.training.data import REFUSED, Unlabeled, check_labels, open_corpus
from seqtag.training.known_labels import WordLabels, labels_of_words
from seqtag.training.partial_labels import learned_labels
from seqtag.training.runs import hiding, recipe_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import IntArray
    from seqtag.features.templates import TemplateSet
    from seqtag.labels.coding import LabelCoding
    from seqtag.labels.column import LabelColumn
    from seqtag.labels.schemes import Transition
    from seqtag.settings import Settings
    from seqtag.tables.table import WordTable
    from seqtag.training.data import Source
    from seqtag.training.problem import LearningTask


@dataclass(frozen=True)
class Reading:
    """Options for learning from shards, as `seqtag.training.train.train` has them."""

    label: str | None = None
    templates: TemplateSet | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    unlabeled: Unlabeled = REFUSED
    files: ReadOptions = field(default_factory=ReadOptions)
    tables: Sequence[WordTable] = ()


def shard_task(reading: Reading, column: LabelColumn, columns: Sequence[str]) -> LearningTask:
    """Return the task of learning a column on shards with some columns: all have the same ones.

    Raises
    ------
    TemplateError
        If there are to be two passes, or no template looks into one of the tables.
    """
    available = [name for name in columns if name not in column.columns]
    task = learning_task(
        column, available, reading.templates, reading.settings, tables=reading.tables
    )
    settings = task.settings.in_one_pass("shards", "train on the whole corpus at once")
    check_used(reading.tables, [task.templates])
    return replace(task, settings=settings.without_auto())  # a trial on one shard is not enough


class Survey(NamedTuple):
    """What a shard has.

    Attributes
    ----------
    source
        The file, for messages.
    columns
        Those of the file.
    column
        The column to learn.
    sentences, tokens, digest
        Their numbers, and the SHA-256 of what is learnt from.
    label_types
        The labels as written, each once.
    follows
        How often which label follows which.
    pairs
        Form and label of tokens, each pair once, if labels may hang on the form.
    words
        Hashes of the words, ascending.
    keys, counts
        Feature keys in order of first appearance, and how often the shard has each.
    edge_keys, edge_counts
        The same of label bigrams that see words.
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
    """What a shard must know of the others.

    Attributes
    ----------
    number
        Of the shard, from 1.
    digest
        The one that it said in its survey: a file that has changed since is noticed.
    coding, labels
        How labels are learnt, and all of them, sorted.
    dropout
        The setting, by the size of all shards.
    layout
        The shape of the weights of all shards.
    rows, edges
        The number of each feature key of the survey; -1 if it is too rare.
    """

    number: int
    digest: str
    coding: LabelCoding
    labels: list[str]
    dropout: float | str
    layout: Layout
    rows: IntArray
    edges: IntArray

    @property
    def part(self) -> Part:
        """The shard's rows, and those of all shards."""
        edges = self.edges if self.layout.edges else self.edges[:0]
        return Part(self.layout, np.sort(self.rows[self.rows >= 0]), np.sort(edges[edges >= 0]))


class Numbered(NamedTuple):
    """A shard that is ready to be learnt from: arrays and settings, which pickle.

    Attributes
    ----------
    number
        Of the shard, from 1.
    part
        Its rows among those of all shards.
    x, y
        Its sentences, with rows counted within the shard, and the label ids of their tokens.
    settings
        How to learn.
    words
        The labels that its words have, if words are to keep to the labels they had.
    """

    number: int
    part: Part
    x: Instances
    y: NDArray[np.int32]
    settings: Settings
    words: WordLabels | None

    @property
    def sentences(self) -> int:
        """How many there are."""
        return len(self.x.sentence_ptr) - 1


class Shard:
    """The sentences of a shard.

    Parameters
    ----------
    source
        A corpus file, or sentences.
    reading
        How it is read.

    Raises
    ------
    CorpusError, LabelError, TemplateError
        As `seqtag.training.train.train`.
    """

    def __init__(self, source: Source, reading: Reading):
        with ExitStack() as files:
            corpus = open_corpus(source, files, reading.files)
            column = corpus.label_column(reading.label)
            self._task = shard_task(reading, column, corpus.columns)
            self._compiled = self._task.templates.compile(self._task.available)
            needed = self._compiled.columns
            self._examples = corpus.gather(needed, column, reading.unlabeled, check=False)
        self._inputs = [self._examples.columns[name] for name in needed]
        self._forms = self._examples.columns.get("form")
        self._columns, self._name = corpus.columns, corpus.name or "<sentences>"
        self._found: IndexedCorpus | None = None

    def survey(self) -> Survey:
        """What the shard has."""
        examples, forms, found = self._examples, self._forms, self._index()
        pairs, types = np.zeros(0, np.int64), examples.labels.types
        if self._task.column.is_lemma and forms is not None:
            pairs = np.unique(forms.ids * np.int64(len(types)) + examples.labels.ids)
        words = forms.types if forms else []
        edges = found.instances.edges
        return Survey(
            self._name,
            self._columns,
            self._task.column,
            len(examples.lengths),
            int(examples.lengths.sum()),
            examples.digest(),
            types,
            examples.transitions(),
            [(words[pair // len(types)], types[pair % len(types)]) for pair in pairs.tolist()],
            KnownWords.of(words).hashes,
            found.keys,
            np.bincount(found.instances.features, minlength=len(found.keys)),
            found.edge_keys,
            np.bincount(edges if edges is not None else [], minlength=len(found.edge_keys)),
        )

    def labels(self, coding: LabelCoding) -> list[str]:
        """The labels as they are learnt, sorted."""
        return sorted(learned_labels(self._examples, coding, self._forms).labels)

    def numbered(self, plan: Plan) -> Numbered:
        """The shard by the numbers that all shards agree on.

        Raises
        ------
        CorpusError
            If the sentences are not those of the survey.
        """
        if self._examples.digest() != plan.digest:
            msg = (
                "expected the sentences that this shard began with, found others; leave the file "
                "as it is, or begin anew"
            )
            raise CorpusError(msg, source=self._name)
        examples, found = self._examples, self._index()
        y, _ = learned_labels(examples, plan.coding, self._forms).numbered(plan.labels)
        words = None
        if self._task.settings.known_labels:
            words = labels_of_words(self._compiled, self._inputs, y)
        x = _renumbered(found.instances, plan, plan.part)
        settings = replace(self._task.settings, dropout=plan.dropout)
        return Numbered(plan.number, plan.part, x, y, settings, words)

    def _index(self) -> IndexedCorpus:
        """The sentences as rows of all features, by the numbers of this shard."""
        if self._found is None:
            self._found = index_corpus(self._compiled, self._inputs, self._examples.lengths, 1)
        return self._found


@dataclass(frozen=True)
class Agreed(LemmaCoding):
    """Lemmas whose scripts were chosen for all shards together.

    Parameters
    ----------
    scripts
        The script of each pair of form and lemma.
    """

    scripts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def on(cls, pairs: Sequence[tuple[str, str]]) -> Agreed:
        """What is chosen for some pairs of form and lemma.

        >>> Agreed.on([("PARIS", "Paris"), ("be", "be")]).encode(["Paris"], ["PARIS"])
        ['title 0 0  ']
        """
        different = list(dict.fromkeys(pairs))
        forms, lemmas = zip(*different, strict=True)
        return cls(scripts=dict(zip(different, LemmaCoding().encode(lemmas, forms), strict=True)))

    def encode(self, labels: Sequence[str], forms: Sequence[str] = ()) -> list[str]:
        """The scripts of lemmas."""
        return [self.scripts[pair] for pair in zip(forms, labels, strict=True)]


class Agreement(NamedTuple):
    """What all shards have together.

    Attributes
    ----------
    surveys
        What each has.
    keys, edge_keys
        The feature keys that are not too rare, in the order of their rows.
    rows, edges
        For each shard the row of each of its feature keys; -1 if it is too rare.
    """

    surveys: Sequence[Survey]
    keys: NDArray[np.uint64]
    rows: list[IntArray]
    edge_keys: NDArray[np.uint64]
    edges: list[IntArray]

    @classmethod
    def of(cls, surveys: Sequence[Survey], min_count: int) -> Agreement:
        """What the shards agree on.

        Raises
        ------
        CorpusError
            If they have not the same columns, or a column is learnt here and another there.
        LabelError
            If no word of any has a label.
        """
        first = surveys[0]
        for other in surveys[1:]:
            if (other.columns, other.column) != (first.columns, first.column):
                msg = (
                    f"expected the columns {', '.join(first.columns)} of the first shard "
                    f"({first.source}), found {', '.join(other.columns)}"
                )
                raise CorpusError(msg, source=other.source)
        types = list(dict.fromkeys(label for each in surveys for label in each.label_types))
        check_labels(types, first.column, first.source)
        plain = _numbers([(each.keys, each.counts) for each in surveys], min_count)
        seeing = _numbers([(each.edge_keys, each.edge_counts) for each in surveys], min_count)
        return cls(surveys, *plain, *seeing)

    @property
    def sentences(self) -> list[int]:
        """Those of each shard."""
        return [each.sentences for each in self.surveys]

    @property
    def origin(self) -> dict[str, Any]:
        """What a model says of its training data; of one shard, what it says without shards."""
        digests = [each.digest for each in self.surveys]
        return {
            "sentences": sum(self.sentences),
            "tokens": sum(each.tokens for each in self.surveys),
            "corpus_sha256": digests[0]
            if len(digests) == 1
            else sha256("".join(digests).encode()).hexdigest(),
            "shards": len(digests),
        }

    @property
    def words(self) -> KnownWords:
        """The words of all shards."""
        return KnownWords(np.unique(np.concatenate([each.words for each in self.surveys])))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Form and label of the tokens of all shards, if labels may hang on the form."""
        return [pair for each in self.surveys for pair in each.pairs]

    def transitions(self) -> Counter[Transition]:
        """How often which label follows which."""
        found: Counter[Transition] = Counter()
        for each in self.surveys:
            found.update(each.follows)
        return found


def train_shard(state: Table, shard: Numbered, round: int, seed: int) -> Difference:
    """Visit the sentences of a shard once, beginning with the weights of all shards.

    Pure: the same arguments give the same bytes, wherever and however often it is called.

    Parameters
    ----------
    state
        The weights after the rounds before; those of other shards may be there too.
    shard
        Its sentences.
    round
        Its number, from 1.
    seed
        Of the shuffling, and of dropout. Shard s draws what run s of plain training draws.

    Returns
    -------
    Difference
        The cells that changed.
    """
    settings, part = shard.settings, shard.part
    recipe, sentences = recipe_of(settings), shard.sentences
    before = part.state(state, (round - 1) * sentences)
    weights = backend.Weights(part.own, "float32", settings.update, before)
    random = np.random.RandomState([seed, shard.number, round, 1])
    counts = weights.train_epoch(
        hiding(shard.x, settings.dropout)(random),
        shard.y,
        visiting_order(sentences, seed, shard.number, round),
        recipe.rule,
        recipe.step,
        recipe.cost,
    )
    after = part.table(weights.state(), len(state.values) == 3)
    return Difference.of(part, state, after, counts)


def _numbers(
    shards: Sequence[tuple[NDArray[np.uint64], NDArray[np.int64]]], min_count: int
) -> tuple[NDArray[np.uint64], list[IntArray]]:
    """Keys that are seen so often, by first appearance; and the row of each key of each shard."""
    keys, counts = (np.concatenate(each) for each in zip(*shards, strict=True))
    distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, which.reshape(-1), counts)
    kept = np.flatnonzero(total >= min_count)
    kept = kept[np.argsort(first[kept])]
    row_of = np.full(len(distinct), -1, np.int64)
    row_of[kept] = np.arange(len(kept))
    ends = np.cumsum([len(each) for each, _ in shards])[:-1]
    return distinct[kept], np.split(row_of[which.reshape(-1)], ends)


def _renumbered(x: Instances, plan: Plan, part: Part) -> Instances:
    """The sentences by the rows that are kept, counted within the shard."""

    def kept(
        ptr: IntArray, features: IntArray, row_of: IntArray, rows: IntArray
    ) -> tuple[IntArray, IntArray]:
        found = row_of[features]
        stays = found >= 0
        before = np.concatenate([[0], np.cumsum(stays)])
        return before[ptr].astype(np.int64), np.searchsorted(rows, found[stays]).astype(np.int32)

    renumbered = Instances(x.sentence_ptr, *kept(x.token_ptr, x.features, plan.rows, part.rows))
    if x.edges is None or x.edge_ptr is None or not plan.layout.edges:
        return renumbered
    edge_ptr, edges = kept(x.edge_ptr, x.edges, plan.edges, part.edges)
    return renumbered._replace(edge_ptr=edge_ptr, edges=edges)
