"""Iterative parameter mixing: rounds of training on all shards, and the model that they make.

A shard is a part of a corpus with its own sentences only. What shards have in common is computed
before the first round:

1. Each shard is read, and returns `ShardStats`: its feature keys with their counts, its words,
   label bigrams. A feature is identified by its key, made from its template and the hashes of its
   values, so it has the same key in all shards: counts are summed by key, and ``min-count`` is
   compared with the sum.
2. All shards get the same `Plan`: the keys that are frequent enough, ascending, whose places are
   the rows of the weights, and all labels.

The driver does not depend on where the shards are: they are called in this process, or on a cluster
(`seqtag.batch.ray_training`). What a shard returns follows from its file and the arguments, so a
call can be repeated anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.batch.mixing import ShardRows, Table, add_by_key, mix_weights, union
from seqtag.batch.storage import is_address, open_file
from seqtag.corpus import LIMITS, ReadLimits, ReadOptions
from seqtag.engine import backend
from seqtag.engine.arrays import MAX_ROWS, NO_TAG_DICTIONARY, Instances, Layout
from seqtag.errors import CorpusError, LabelError
from seqtag.features.index import IndexedCorpus, index_corpus
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.labels.column import label_components
from seqtag.model.known_words import KnownWords
from seqtag.parallel import in_order
from seqtag.randomness import visiting_order
from seqtag.tables.lexicon import check_phrases, check_used, tables_of
from seqtag.tagging.tagger import Tagger
from seqtag.training.checkpoints import Stage, checkpoints_in
from seqtag.training.data import REFUSED, Unlabeled, check_labels, open_corpus
from seqtag.training.problem import (
    Problem,
    WordLabels,
    labels_of_words,
    learned_labels,
    warn_about_many_labels,
)
from seqtag.training.runs import Epoch, Schedule, fit, hiding, recipe_of
from seqtag.training.task import AUTO, Request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Cells, IntArray, State
    from seqtag.labels.coding import LabelCoding
    from seqtag.labels.column import LabelColumn
    from seqtag.labels.schemes import Transition
    from seqtag.settings import Settings
    from seqtag.tables.lexicon import TableSource
    from seqtag.tables.table import WordTable
    from seqtag.training.data import Source
    from seqtag.training.task import Task

CallShards = Callable[..., Iterable[Any]]
"""Calls a method of each `Shard` with some arguments; returns the results in their order. The
driver takes them one by one and keeps none."""

ShardWorkers = Callable[["Sequence[Any]", "ShardOptions"], "AbstractContextManager[CallShards]"]
"""Lends the shards of sources to a block."""


# --------------------------------------------------------------------------- shards
@dataclass(frozen=True)
class ShardOptions:
    """Options of training on shards, as `seqtag.train` has them."""

    label: str | None = None
    templates: TemplateSet | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    unlabeled: Unlabeled = REFUSED
    files: ReadOptions = field(default_factory=ReadOptions)
    tables: Sequence[WordTable] = ()

    def task(self, column: LabelColumn, columns: Sequence[str]) -> Task:
        """Return the task of learning a column on shards, all of which have the same columns.

        Raises
        ------
        LabelError
            If these are lemmas.
        TemplateError
            If there are to be two passes, or no template looks into one of the tables.
        """
        if column.is_lemma:
            msg = (
                f"expected a column other than lemmas for shards, found {column}, whose edit "
                "scripts are chosen on all words together; train on the whole corpus at once"
            )
            raise LabelError(msg)
        available = [name for name in columns if name not in column.columns]
        request = Request(settings=self.settings, tables=self.tables)
        task = request.task(column, available, self.templates)
        settings = task.settings.in_one_pass("shards", "train on the whole corpus at once")
        check_used(self.tables, [task.templates])
        return replace(task, settings=settings.without_auto())  # a trial on one shard is no basis


class ShardStats(NamedTuple):
    """Statistics of a shard.

    Attributes
    ----------
    source
        The file, for messages.
    columns, column
        Columns of the file, and the one to learn.
    sentences, tokens, digest
        Number of sentences and tokens, and SHA-256 of the training data.
    label_types, transitions
        The distinct labels as written, and counts of label bigrams.
    words
        Hashes of the words, ascending.
    keys, edge_keys
        Feature keys, ascending, with their counts (1, keys); and those of label bigrams with words.
    """

    source: str
    columns: tuple[str, ...]
    column: LabelColumn
    sentences: int
    tokens: int
    digest: str
    label_types: list[str]
    transitions: Counter[Transition]
    words: NDArray[np.uint64]
    keys: tuple[NDArray[np.uint64], NDArray[np.int64]]
    edge_keys: tuple[NDArray[np.uint64], NDArray[np.int64]]


class Plan(NamedTuple):
    """Properties of all shards that each shard needs.

    Attributes
    ----------
    digests
        For each shard the digest of its sentences, to detect a file that has changed.
    coding, labels
        The label coding, and all labels, sorted.
    settings
        The settings, for the size of all shards.
    layout
        Shape of the weights of all shards.
    keys, edge_keys
        The feature keys that are not too rare, ascending. The place of a key is its row.
    """

    digests: list[str]
    coding: LabelCoding
    labels: list[str]
    settings: Settings
    layout: Layout
    keys: NDArray[np.uint64]
    edge_keys: NDArray[np.uint64]


class _NumberedShard(NamedTuple):
    """A shard ready for training: its rows, its sentences, and the label ids of their tokens."""

    rows: ShardRows
    x: Instances
    y: NDArray[np.int32]
    words: WordLabels | None


class Shard:
    """A part of a corpus.

    Parameters
    ----------
    number
        Its number, from 1.
    source
        A corpus file, an address, or sentences.
    options
        Options of training.

    Raises
    ------
    CorpusError, LabelError, TemplateError, OSError
        As `seqtag.train`.
    """

    def __init__(self, number: int, source: Source, options: ShardOptions):
        self._number = number
        self._numbered: _NumberedShard | None = None
        with ExitStack() as files:
            if isinstance(source, str) and is_address(source):
                source = options.files.open(files.enter_context(open_file(source)))
            corpus = open_corpus(source, files, options.files)
            column = corpus.label_column(options.label)
            self._task = options.task(column, corpus.columns)
            self._compiled = self._task.templates.compile(self._task.available)
            needed = self._compiled.columns
            self._examples = corpus.gather(needed, column, options.unlabeled, check=False)
        self._inputs = [self._examples.columns[name] for name in needed]
        check_phrases(options.tables, self._inputs)
        self._columns, self._name = corpus.columns, corpus.name or "<sentences>"

    def stats(self) -> ShardStats:
        """Return the statistics of the shard."""
        examples = self._examples
        forms = examples.columns.get("form")
        found = index_corpus(self._compiled, self._inputs, examples.lengths, 1)
        return ShardStats(
            self._name,
            self._columns,
            self._task.column,
            len(examples.lengths),
            int(examples.lengths.sum()),
            examples.digest(),
            examples.labels.types,
            examples.transitions(),
            KnownWords.of(forms.types if forms else []).hashes,
            _counted(found.keys, found.instances.features),
            _counted(found.edge_keys, found.instances.edges),
        )

    def labels(self, coding: LabelCoding) -> list[str]:
        """Return the labels of the shard, encoded and sorted."""
        return sorted(learned_labels(self._examples, coding, None).labels)

    def words(self, plan: Plan) -> WordLabels | None:
        """Return the labels of the words of the shard, if they are needed for a tag dictionary."""
        return self._by_plan(plan).words

    def round(
        self, plan: Plan, table: Table, number: int, seed: int
    ) -> tuple[Table, tuple[int, int]]:
        """Train on the sentences once, starting from the weights of all shards.

        Parameters
        ----------
        plan
            The plan of this training.
        table
            The weights after the rounds before.
        number
            Number of the round, from 1.
        seed
            Seed of shuffling and dropout. Shard s draws what run s of ordinary training draws.

        Returns
        -------
        changes, counts
            The cells that changed, and the number of updates and of wrong tokens.
        """
        rows, x, y, _ = self._by_plan(plan)
        recipe, sentences = recipe_of(plan.settings), len(x.sentence_ptr) - 1
        before = rows.state(table, (number - 1) * sentences)
        weights = backend.Weights(rows.own, "float32", plan.settings.update, before)
        random = np.random.RandomState([seed, self._number, number, 1])
        counts = weights.train_epoch(
            hiding(x, plan.settings.dropout)(random),
            y,
            visiting_order(sentences, seed, self._number, number),
            recipe.rule,
            recipe.step,
            recipe.cost,
        )
        return rows.table(weights.state()).changes(rows.table(before)), counts

    def _by_plan(self, plan: Plan) -> _NumberedShard:
        """Return the sentences in numbers, after which only these are kept.

        Raises
        ------
        CorpusError
            If the sentences are not those of the statistics.
        """
        if self._numbered is not None:
            return self._numbered
        if self._examples.digest() != plan.digests[self._number - 1]:
            msg = (
                "expected the sentences with which this training began, found others; restore the "
                "file, or start over"
            )
            raise CorpusError(msg, source=self._name)
        y, _ = learned_labels(self._examples, plan.coding, None).numbered(plan.labels)
        words = None
        if plan.settings.tag_dictionary:
            words = labels_of_words(self._compiled, self._inputs, y)
        found = index_corpus(
            self._compiled,
            self._inputs,
            self._examples.lengths,
            len(plan.labels),
            MAX_ROWS,  # none but the known features are frequent enough
            known=(plan.keys, plan.edge_keys),
        )
        rows = ShardRows(
            plan.layout,
            np.searchsorted(plan.keys, found.keys),
            np.searchsorted(plan.edge_keys, found.edge_keys),
        )
        self._numbered = _NumberedShard(rows, found.instances, y, words)
        del self._examples, self._inputs
        return self._numbered


def _counted(
    keys: NDArray[np.uint64], rows: IntArray | None
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return keys in ascending order, and their counts; `rows` are their occurrences by place."""
    order = np.argsort(keys)
    counts = np.bincount([] if rows is None else rows, minlength=len(keys))
    return keys[order], counts[None, order]


@contextmanager
def local_shards(
    sources: Sequence[Source], options: ShardOptions, *, threads: int = 1
) -> Iterator[CallShards]:
    """Lend shards in this process to a block; `threads` are called at the same time."""
    shards = [Shard(number, source, options) for number, source in enumerate(sources, 1)]

    def call(method: str, *arguments: Any) -> Iterator[Any]:
        return in_order(lambda shard: getattr(shard, method)(*arguments), shards, threads)

    yield call


# --------------------------------------------------------------------------- all shards
def train_shards(
    shards: Sequence[Source],
    *,
    dev: Source | None = None,
    label: str | None = None,
    templates: str | PathLike[str] | TemplateSet | None = None,
    tables: Iterable[TableSource] = (),
    seed: int = 1,
    patience: int | None = None,
    constrain: bool = True,
    unlabeled: str = "error",
    format: str = "auto",
    columns: Sequence[str] | None = None,
    limits: ReadLimits = LIMITS,
    threads: int = 1,
    on_epoch: Callable[[Epoch], None] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    workers: ShardWorkers | None = None,
    **settings: Any,
) -> Tagger:
    r"""Train a tagger on the shards of a corpus by iterative parameter mixing.

    One shard gives the weights of `seqtag.train`, to the last byte; several give those that
    ``seqtag cluster train`` gives for them, on any number of machines.

    Parameters
    ----------
    shards
        For each a corpus file, several files, or sentences. The model depends on their order.
    dev, label, templates, tables, seed, patience, constrain, unlabeled, format, columns, limits
        As in `seqtag.train`. Shard s is shuffled as run s there. Lemmas are not learned.
    threads
        Shards to train on at the same time; the model does not depend on it.
    on_epoch
        Called after each round, with an `Epoch` of run 1.
    checkpoint, resume
        As in `seqtag.train`; there is a checkpoint after each round.
    workers
        Lends the shards, such as `seqtag.batch.ray_training.ray_shards`; by default they are in
        this process.
    **settings
        As in `seqtag.train`; ``epochs`` are the rounds. Automatic settings take their defaults, as
        with ``quick`` there.

    Raises
    ------
    CorpusError, TemplateError, LabelError, CheckpointError, KeyboardInterrupt
        As `seqtag.train`; and if shards have other columns than the first.
    ValueError
        If there are no shards, or a number is out of range.

    Examples
    --------
    >>> from seqtag.corpus import read
    >>> import io
    >>> texts = b"the DT\ncat NN\n\n", b"a DT\ndog NN\n\n"
    >>> shards = [list(read(io.BytesIO(text), columns=["form", "tag"])) for text in texts]
    >>> tagger = train_shards(shards, label="tag", epochs=3, min_count=1)
    >>> tagger.tag(["the", "dog"]), tagger.info["training"]["shards"]
    (['DT', 'NN'], 2)
    """
    if not shards:
        msg = "expected one shard or more, found none"
        raise ValueError(msg)
    if templates == AUTO:
        templates = None
    if not (templates is None or isinstance(templates, TemplateSet)):
        templates = load_templates(templates)  # here, as workers may not have the file
    files = ReadOptions.taken_from(settings, format=format, columns=columns, limits=limits)
    words_without = Unlabeled.of(unlabeled)
    options = ShardOptions(label, templates, settings, words_without, files, tables_of(tables))
    schedule = Schedule(seed, 1, patience, threads, on_epoch)
    folder = checkpoints_in(checkpoint, resume=resume, every=None)
    workers = workers or partial(local_shards, threads=threads)
    with folder or nullcontext(), workers(shards, options) as call:
        problem, plan, sentences = _begin(call, options, constrain=constrain)
        held_out = None
        if dev is not None:
            needed = problem.compiled.columns
            with ExitStack() as opened:
                corpus = open_corpus(dev, opened, files)
                corpus.check_columns((*needed, *problem.column.columns))
                held_out = corpus.gather(needed, problem.column, words_without, check=False)
        if folder is not None:
            schedule = replace(schedule, checkpoints=Stage(folder, str(problem.column)))
        model = fit(
            problem,
            schedule,
            held_out,
            lambda start: MixedWeights(call, plan, sentences, seed, start),
        )
    return Tagger(model)


class MixedWeights:
    """Weights that are mixed after each round, with the methods that the training loop calls.

    Parameters
    ----------
    call
        The shards.
    plan
        The plan.
    sentences
        For each shard its number of sentences.
    seed
        The random seed.
    start
        The state to continue from.
    """

    def __init__(
        self,
        call: CallShards,
        plan: Plan,
        sentences: Sequence[int],
        seed: int,
        start: State | None = None,
    ):
        self._call, self._sentences = call, sentences
        self._plan, self._seed = plan, seed
        self._all = ShardRows.all_of(plan.layout)
        self._table = self._all.table(start) if start else Table.empty()
        self._rounds = start.seen // sum(sentences) if start else 0

    @property
    def seen(self) -> int:
        """Number of sentences finished so far, of all shards."""
        return self._rounds * sum(self._sentences)

    def train_epoch(self, *_: Any, **__: Any) -> tuple[int, int]:
        """Do one round; return (updates, wrong tokens) of all shards."""
        counts = np.zeros(2, np.int64)

        def changes() -> Iterator[Table]:
            arguments = (self._plan, self._table, self._rounds + 1, self._seed)
            for changed, (updates, wrong) in self._call("round", *arguments):
                counts[:] += updates, wrong
                yield changed

        self._table = mix_weights(self._table, changes(), self._sentences, self._rounds + 1)
        self._rounds += 1
        updates, wrong = counts.tolist()
        return updates, wrong

    def cells(self, average: bool = False) -> Cells:
        """Return the weights that are not zero, or their average."""
        return self._all.weights(self._table, self.seen if average else 0)

    def state(self) -> State:
        """Return the state of training."""
        return self._all.state(self._table, self.seen)


def _begin(
    call: CallShards, options: ShardOptions, *, constrain: bool
) -> tuple[Problem, Plan, list[int]]:
    """Return the problem without sentences, the plan, and the number of sentences of each shard.

    Raises
    ------
    CorpusError
        If the shards do not have the same columns, or do not learn the same one.
    LabelError
        If no word has a label.
    """
    rest = iter(call("stats"))
    first: ShardStats = next(rest)
    sentences: list[int] = []
    digests: list[str] = []
    tokens = 0
    label_types: dict[str, None] = {}
    transitions: Counter[Transition] = Counter()
    known = np.zeros(0, np.uint64)
    keys = edge_keys = (known, np.zeros((1, 0), np.int64))
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
        label_types.update(dict.fromkeys(each.label_types))
        transitions.update(each.transitions)
        known = union(known, each.words)
        keys = add_by_key(*keys, *each.keys)
        edge_keys = add_by_key(*edge_keys, *each.edge_keys)
    check_labels([*label_types], first.column, first.source)

    task = options.task(first.column, first.columns)
    settings = task.settings.for_size(tokens)
    task = replace(task, constrain=constrain, settings=settings)
    coding = task.coding_for(transitions, ())
    labels = sorted({label for found in call("labels", coding) for label in found})
    warn_about_many_labels(len(labels), tokens, task.column)
    task = replace(task, coding=coding, templates=task.templates_for(len(labels)))
    compiled = task.templates.compile(task.available)
    parts = label_components(labels) if settings.label_parts == "split" else None
    rows, edges = (found[counts[0] >= settings.min_count] for found, counts in (keys, edge_keys))
    edges = edges[: None if compiled.edges else 0]
    layout = Layout(len(rows), len(labels), compiled.order, len(edges), parts)
    plan = Plan(digests, coding, labels, settings, layout, rows, edges)
    dictionary = NO_TAG_DICTIONARY
    if settings.tag_dictionary:
        words = reduce(lambda one, two: WordLabels.sum([one, two]), call("words", plan))
        dictionary = words.often(int(settings.tag_dictionary))
    nothing = np.zeros(1, np.int64)
    x = Instances(nothing, nothing, np.zeros(0, np.int32))
    digest = sha256("".join(digests).encode()).hexdigest() if digests[1:] else digests[0]
    problem = Problem.of(
        task,
        compiled,
        IndexedCorpus(layout, x, rows, edges),
        np.zeros(0, np.int32),
        labels,
        known_words=KnownWords(known),
        parts=parts,
        tag_dictionary=dictionary,
        origin={
            "sentences": sum(sentences),
            "tokens": tokens,
            "corpus_sha256": digest,
            "shards": len(sentences),
        },
    )
    return problem, plan, sentences
