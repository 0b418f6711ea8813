"""Iterative parameter mixing: rounds of training on all shards, and the model that they make.

The driver does not depend on where the shards are: `LocalWorkers` keep them in this process,
`seqtag.batch.ray_training` has an actor for each.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seqtag.batch.mixing import Fold, ShardRows, Table, mix_weights, weights_of
from seqtag.batch.shards import (
    Plan,
    RowsOfKeys,
    Shard,
    ShardOptions,
    SharedLemmaCoding,
    SharedVocabulary,
    shard_task,
    train_shard,
)
from seqtag.corpus import LIMITS, ReadLimits, ReadOptions
from seqtag.engine.arrays import NO_TAG_DICTIONARY, Instances, Layout
from seqtag.features.index import IndexedCorpus
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.labels.column import label_components
from seqtag.parallel import in_order
from seqtag.tables.lexicon import tables_of
from seqtag.tagging.tagger import Tagger
from seqtag.training.checkpoints import checkpoints_in
from seqtag.training.data import Unlabeled, open_corpus
from seqtag.training.problem import Problem, WordLabels, attested_lemmas, warn_about_many_labels
from seqtag.training.runs import Epoch, Schedule, fit
from seqtag.training.task import AUTO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike

    from seqtag.batch.mixing import ShardUpdate
    from seqtag.batch.shards import EncodedShard, ShardStats
    from seqtag.engine.arrays import Cells, State
    from seqtag.labels.coding import LabelCoding
    from seqtag.model.model import Model
    from seqtag.tables.lexicon import TableSource
    from seqtag.training.checkpoints import Checkpoints
    from seqtag.training.data import Source


class ShardWorkers(Protocol):
    """The workers that keep the shards.

    Results are in the order of the shards. The driver takes them one by one and keeps none, so an
    engine should not compute many of them ahead.
    """

    def stats(self) -> Iterable[ShardStats]:
        """Return the statistics of each shard."""

    def labels(self, coding: LabelCoding) -> Iterable[list[str]]:
        """Return the labels of each shard, encoded."""

    def begin(self, plan: Plan) -> Iterable[WordLabels | None]:
        """Encode each shard by the plan; return the labels of its words, if they are needed."""

    def round(self, table: Table, number: int, seed: int) -> Iterable[ShardUpdate]:
        """Return what each shard changed in a round: see `seqtag.batch.shards.train_shard`."""


MakeShardWorkers = Callable[["Sequence[Any]", ShardOptions], "AbstractContextManager[ShardWorkers]"]
"""Makes workers for shards, from their sources and options."""


class LocalWorkers:
    """Shards in this process.

    Parameters
    ----------
    sources
        For each shard a file or sentences.
    options
        How to learn from them.
    threads
        Shards to train on at the same time.
    """

    def __init__(self, sources: Sequence[Source], options: ShardOptions, threads: int = 1):
        self._shards = [Shard(source, options) for source in sources]
        self._encoded: list[EncodedShard] = []
        self._threads = threads

    def stats(self) -> Iterator[ShardStats]:
        """Return the statistics of each shard."""
        return (shard.stats() for shard in self._shards)

    def labels(self, coding: LabelCoding) -> Iterator[list[str]]:
        """Return the labels of each shard, encoded."""
        return (shard.labels(coding) for shard in self._shards)

    def begin(self, plan: Plan) -> Sequence[WordLabels | None]:
        """Encode each shard by the plan."""
        self._encoded = [shard.encode(plan, number) for number, shard in enumerate(self._shards, 1)]
        return [encoded.words for encoded in self._encoded]

    def round(self, table: Table, number: int, seed: int) -> Iterator[ShardUpdate]:
        """Return what each shard changed in a round."""
        return in_order(
            lambda shard: train_shard(table, shard, number, seed), self._encoded, self._threads
        )


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
    shard_workers: MakeShardWorkers | None = None,
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
        As in `seqtag.train`. Shard s is shuffled as run s there. A table of lemmas must be given;
        it is not built from the shards.
    threads
        Shards to train on at the same time; the model does not depend on it.
    on_epoch
        Called after each round, with an `Epoch` of run 1.
    checkpoint, resume
        As in `seqtag.train`; there is a checkpoint after each round.
    shard_workers
        Makes the `ShardWorkers`; by default they are `LocalWorkers`.
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
    with folder or nullcontext():
        if shard_workers is None:
            local = LocalWorkers(shards, options, threads)
            return Tagger(mix(local, options, schedule, dev, folder, constrain=constrain))
        with shard_workers(shards, options) as workers:
            return Tagger(mix(workers, options, schedule, dev, folder, constrain=constrain))


def mix(
    workers: ShardWorkers,
    options: ShardOptions,
    schedule: Schedule,
    dev: Source | None = None,
    folder: Checkpoints | None = None,
    *,
    constrain: bool = True,
) -> Model:
    """Train a model in rounds on all shards.

    Parameters
    ----------
    workers
        They keep the shards.
    options
        How to learn from them.
    schedule
        That of one run; SIGINT and SIGTERM let the workers finish their round.
    dev, constrain
        As in `train_shards`.
    folder
        For checkpoints.

    Raises
    ------
    CorpusError, TemplateError, LabelError, CheckpointError, KeyboardInterrupt
        As `train_shards`.
    """
    problem, sentences = _begin(workers, options, constrain=constrain)
    held_out = None
    if dev is not None:
        needed = problem.compiled.columns
        with ExitStack() as files:
            corpus = open_corpus(dev, files, options.files)
            corpus.check_columns((*needed, *problem.column.columns))
            held_out = corpus.gather(needed, problem.column, options.unlabeled, check=False)
    adaptive = problem.settings.update == "adaptive"
    if folder is not None:
        schedule = replace(schedule, checkpoints=folder.stage(str(problem.column)))
    return fit(
        problem,
        schedule,
        held_out,
        lambda start: MixedWeights(
            workers, problem.corpus.layout, sentences, schedule.seed, adaptive, start
        ),
    )


class MixedWeights:
    """Weights that are mixed after each round, with the methods that the training loop calls.

    Parameters
    ----------
    workers, layout, sentences
        The workers, the shape of the weights, and for each shard its number of sentences.
    seed
        The random seed.
    adaptive
        True for the adaptive rule, which has sums of squares.
    start
        The state to continue from.
    """

    def __init__(
        self,
        workers: ShardWorkers,
        layout: Layout,
        sentences: Sequence[int],
        seed: int,
        adaptive: bool,
        start: State | None = None,
    ):
        self._workers, self._sentences, self._seed = workers, sentences, seed
        self._adaptive, self._rounds = adaptive, 0
        self._all = ShardRows(layout, np.arange(layout.rows), np.arange(layout.edges))
        self._table = Table.empty(adaptive)
        if start is not None:
            self._table = self._all.table(start, adaptive)
            self._rounds = start.seen // sum(sentences)

    @property
    def seen(self) -> int:
        """Number of sentences finished so far, of all shards."""
        return self._rounds * sum(self._sentences)

    def train_epoch(self, *_: Any, **__: Any) -> tuple[int, int]:
        """Do one round; return (updates, wrong tokens) of all shards."""
        updates = wrong = 0

        def changed() -> Iterator[Table]:
            nonlocal updates, wrong
            for each in self._workers.round(self._table, self._rounds + 1, self._seed):
                updates += each.updates
                wrong += each.wrong_tokens
                yield each.sparse(self._table)

        table = mix_weights(self._table, changed(), self._sentences, self._rounds + 1)
        self._table, self._rounds = table, self._rounds + 1
        return updates, wrong

    def cells(self, average: bool = False) -> Cells:
        """Return the weights that are not zero, or their average."""
        return weights_of(self._table, self._all.layout, self.seen if average else 0)

    def state(self) -> State:
        """Return the state of training."""
        return self._all.state(self._table, self.seen)


def _begin(
    workers: ShardWorkers, options: ShardOptions, *, constrain: bool
) -> tuple[Problem, list[int]]:
    """Encode all shards; return the problem without sentences, and the sentences of each shard."""
    shared = SharedVocabulary.of(workers.stats())
    task = shard_task(options, shared.column, shared.columns)
    settings = task.settings.for_size(shared.tokens)
    task = replace(task, constrain=constrain, settings=settings)
    coding = task.coding_for(shared.transitions, shared.pairs)
    shard_coding = SharedLemmaCoding.on(shared.pairs, coding) if coding.needs_forms else coding
    labels = sorted({label for found in workers.labels(shard_coding) for label in found})
    if not coding.needs_forms:
        warn_about_many_labels(len(labels), shared.tokens, task.column)
    task = replace(task, coding=coding, templates=task.templates_for(len(labels)))
    compiled = task.templates.compile(task.available)
    parts = label_components(labels) if settings.label_parts == "split" else None
    keys = shared.features.frequent(settings.min_count)
    edge_keys = shared.edges.frequent(settings.min_count)[: None if compiled.edges else 0]
    layout = Layout(len(keys), len(labels), compiled.order, len(edge_keys), parts)
    plan = Plan(
        shared.digests,
        shard_coding,
        labels,
        settings.dropout,
        layout,
        RowsOfKeys.of(keys),
        RowsOfKeys.of(edge_keys),
    )
    words: Fold[WordLabels] = Fold(WordLabels.sum, lambda part: len(part.keys))
    for found in workers.begin(plan):
        if found is not None:
            words.add(found)
    nothing = np.zeros(1, np.int64)
    x = Instances(nothing, nothing, np.zeros(0, np.int32))
    problem = Problem.of(
        task,
        compiled,
        IndexedCorpus(layout, x, keys, edge_keys),
        np.zeros(0, np.int32),
        labels,
        known_words=shared.words,
        parts=parts,
        attested=attested_lemmas(task, compiled, shared.pairs),
        tag_dictionary=(
            words.result().often(int(settings.tag_dictionary))
            if settings.tag_dictionary
            else NO_TAG_DICTIONARY
        ),
        origin=shared.origin,
    )
    return problem, shared.sentences
