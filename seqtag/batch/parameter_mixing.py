"""Iterative parameter mixing: rounds of learning on all shards, and the model they make.

This is the driver, which knows no engine: a `Crew` says where the shards are. `Here` has them in
this process; `seqtag.batch.ray_training` has an actor for each.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seqtag.batch.mixing import Part, Table, mixed, weights_of
from seqtag.batch.shards import Agreed, Agreement, Plan, Reading, Shard, shard_task, train_shard
from seqtag.corpus import LIMITS, ReadLimits, ReadOptions
from seqtag.engine.arrays import ANY_LABEL, Instances, Layout
from seqtag.features.index import IndexedCorpus
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.labels.column import label_components
from seqtag.parallel import in_order
from seqtag.tables.lexicon import tables_of
from seqtag.tagging.tagger import Tagger
from seqtag.training.candidates import AUTO
from seqtag.training.checkpoints import checkpoints_in
from seqtag.training.data import Unlabeled, open_corpus
from seqtag.training.known_labels import WordLabels
from seqtag.training.problem import Problem, warn_about_many_labels
from seqtag.training.runs import Epoch, Schedule, fit
from seqtag.training.train import unlabeled_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike

    from seqtag.batch.mixing import Difference
    from seqtag.batch.shards import Numbered, Survey
    from seqtag.engine.arrays import Cells, State
    from seqtag.labels.coding import LabelCoding
    from seqtag.model.model import Model
    from seqtag.tables.lexicon import TableSource
    from seqtag.training.checkpoints import Checkpoints
    from seqtag.training.data import Source


class Crew(Protocol):
    """Where the shards are. What it returns is in their order, whoever works, and how often."""

    def surveys(self) -> Sequence[Survey]:
        """What each shard has."""

    def labels(self, coding: LabelCoding) -> Sequence[list[str]]:
        """The labels of each shard as they are learnt."""

    def begin(self, plans: Sequence[Plan]) -> Sequence[WordLabels | None]:
        """Tell each shard what it must know; the labels of its words, if they are asked for."""

    def round(self, table: Table, number: int, seed: int) -> Iterable[Difference]:
        """What each shard changed in a round, by `seqtag.batch.shards.train_shard`."""


MakeCrew = Callable[["Sequence[Any]", Reading], "AbstractContextManager[Crew]"]
"""Makes a crew of shards and how they are read."""


class Here:
    """The shards in this process.

    Parameters
    ----------
    sources
        Of each shard, a file or sentences.
    reading
        How they are read.
    threads
        Shards learnt from at the same time.
    """

    def __init__(self, sources: Sequence[Source], reading: Reading, threads: int = 1):
        self._shards = [Shard(source, reading) for source in sources]
        self._numbered: list[Numbered] = []
        self._threads = threads

    def surveys(self) -> Sequence[Survey]:
        """What each shard has."""
        return [shard.survey() for shard in self._shards]

    def labels(self, coding: LabelCoding) -> Sequence[list[str]]:
        """The labels of each shard as they are learnt."""
        return [shard.labels(coding) for shard in self._shards]

    def begin(self, plans: Sequence[Plan]) -> Sequence[WordLabels | None]:
        """Tell each shard what it must know."""
        pairs = zip(self._shards, plans, strict=True)
        self._numbered = [shard.numbered(plan) for shard, plan in pairs]
        return [numbered.words for numbered in self._numbered]

    def round(self, table: Table, number: int, seed: int) -> Iterator[Difference]:
        """What each shard changed in a round."""
        work = partial(_train_shard, table, number, seed)
        return in_order(work, self._numbered, self._threads)


@contextmanager
def _here(sources: Sequence[Source], reading: Reading, threads: int) -> Iterator[Here]:
    yield Here(sources, reading, threads)


def _train_shard(table: Table, number: int, seed: int, shard: Numbered) -> Difference:
    return train_shard(table, shard, number, seed)


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
    crew: MakeCrew | None = None,
    **settings: Any,
) -> Tagger:
    r"""Train a tagger on the parts of a corpus by iterative parameter mixing.

    One shard gives the weights of `seqtag.train`, to the last byte; several give those that
    ``seqtag cluster train`` gives for them, on any number of machines.

    Parameters
    ----------
    shards
        Of each a corpus file, several files, or sentences. Their order counts.
    dev, label, templates, tables, seed, patience, constrain, unlabeled, format, columns, limits
        As in `seqtag.train`. Shard s is shuffled as run s there. A table of lemmas must be given:
        none is made of the shards.
    threads
        Shards learnt from at the same time; the model is the same on any number.
    on_epoch
        Called after each round, with an `Epoch` of run 1.
    checkpoint, resume
        As in `seqtag.train`; there is a checkpoint after each round.
    crew
        Makes the `Crew` that works, of the shards and how they are read; by default they are in
        this process.
    **settings
        As in `seqtag.train`; ``epochs`` are the rounds. Nothing is tried before training, as with
        ``quick`` there.

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
    reading = replace(
        reading_of(
            label,
            templates,
            settings,
            unlabeled_words(unlabeled, "_", settings),
            ReadOptions(format, columns, limits),
        ),
        tables=tables_of(tables),
    )
    schedule = Schedule(seed, 1, patience, threads, on_epoch)
    if not shards:
        msg = "expected one shard or more, found none"
        raise ValueError(msg)
    folder = checkpoints_in(checkpoint, resume=resume, every=None)
    with folder or nullcontext():
        if crew is None:
            crew = partial(_here, threads=threads)
        with crew(shards, reading) as workers:
            return Tagger(mix(workers, reading, schedule, dev, folder, constrain=constrain))


def reading_of(
    label: str | None,
    templates: str | PathLike[str] | TemplateSet | None,
    settings: dict[str, Any],
    unlabeled: Unlabeled,
    files: ReadOptions,
) -> Reading:
    """How shards are read; a file of templates is read here, for it may be nowhere else."""
    if templates == AUTO:  # nothing is tried on shards
        templates = None
    if not (templates is None or isinstance(templates, TemplateSet)):
        templates = load_templates(templates)
    return Reading(label, templates, settings, unlabeled, files)


def mix(
    crew: Crew,
    reading: Reading,
    schedule: Schedule,
    dev: Source | None = None,
    folder: Checkpoints | None = None,
    *,
    constrain: bool = True,
) -> Model:
    """The model that the rounds of a crew make.

    Parameters
    ----------
    crew
        Where the shards are.
    reading
        How they are read.
    schedule
        As of one run; SIGINT and SIGTERM let the crew finish its round.
    dev, constrain
        As in `train_shards`.
    folder
        Of checkpoints.

    Raises
    ------
    CorpusError, TemplateError, LabelError, CheckpointError, KeyboardInterrupt
        As `train_shards`.
    """
    problem, plans, sentences = _agree(crew, reading, constrain=constrain)
    held_out = None
    if dev is not None:
        needed = problem.compiled.columns
        with ExitStack() as files:
            corpus = open_corpus(dev, files, reading.files)
            corpus.check_columns((*needed, *problem.column.columns))
            held_out = corpus.gather(needed, problem.column, reading.unlabeled, check=False)
    adaptive = problem.settings.update == "adaptive"
    if folder is not None:
        schedule = replace(schedule, checkpoints=folder.stage(str(problem.column)))
    return fit(
        problem,
        schedule,
        held_out,
        lambda start: Mixture(crew, plans, sentences, schedule.seed, adaptive, start),
    )


class Mixture:
    """Weights mixed after each round: what the training loop takes for weights in training.

    Parameters
    ----------
    crew, plans, sentences
        The shards, what they were told, and how many sentences each has.
    seed
        Of all that is random.
    adaptive
        Whether there are sums of squares.
    start
        Where to go on.
    """

    def __init__(
        self,
        crew: Crew,
        plans: Sequence[Plan],
        sentences: Sequence[int],
        seed: int,
        adaptive: bool,
        start: State | None = None,
    ):
        self._crew, self._sentences, self._seed = crew, sentences, seed
        self._parts = [plan.part for plan in plans]
        self._adaptive, self._rounds = adaptive, 0
        layout = plans[0].layout
        self._all = Part(layout, np.arange(layout.rows), np.arange(layout.edges))
        self._table = Table.empty(adaptive)
        if start is not None:
            self._table = self._all.table(start, adaptive)
            self._rounds = start.seen // sum(sentences)

    @property
    def seen(self) -> int:
        """Sentences finished so far, of all shards."""
        return self._rounds * sum(self._sentences)

    def train_epoch(self, *_: Any, **__: Any) -> tuple[int, int]:
        """One round; return (updates, wrong tokens) of all shards, which have the sentences."""
        changed, updates, wrong = [], 0, 0
        found = self._crew.round(self._table, self._rounds + 1, self._seed)
        for part, each in zip(self._parts, found, strict=True):
            changed.append(each.sparse(part, self._table))
            updates += each.updates
            wrong += each.wrong_tokens
        self._rounds += 1
        self._table = mixed(self._table, changed, self._sentences, self._rounds)
        return updates, wrong

    def cells(self, average: bool = False) -> Cells:
        """The weights that are not zero, or their average."""
        return weights_of(self._table, self._all.layout, self.seen if average else 0)

    def state(self) -> State:
        """All that is known."""
        return self._all.state(self._table, self.seen)


# --------------------------------------------------------------------------- what is agreed on
def _agree(
    crew: Crew, reading: Reading, *, constrain: bool
) -> tuple[Problem, list[Plan], list[int]]:
    """What is learnt, without any sentences; what each shard is told, and its sentences."""
    surveys = crew.surveys()
    task = shard_task(reading, surveys[0].column, surveys[0].columns)
    agreement = Agreement.of(surveys, task.settings.min_count)
    settings = task.settings.for_size(agreement.origin["tokens"])
    task = replace(task, constrain=constrain, settings=settings)
    coding = task.coding_for(agreement.transitions())
    told = Agreed.on(agreement.pairs) if coding.needs_forms else coding
    labels = sorted({label for found in crew.labels(told) for label in found})
    if not coding.needs_forms:
        warn_about_many_labels(len(labels), agreement.origin["tokens"], task.column)
    task = replace(task, coding=coding, templates=task.templates_for(len(labels)))
    compiled = task.templates.compile(task.available)
    parts = label_components(labels) if settings.label_parts == "split" else None
    edge_keys = agreement.edge_keys if compiled.edges else agreement.edge_keys[:0]
    layout = Layout(len(agreement.keys), len(labels), compiled.order, len(edge_keys), parts)
    plans = [
        Plan(number, survey.digest, told, labels, settings.dropout, layout, rows, edges)
        for number, (survey, rows, edges) in enumerate(
            zip(surveys, agreement.rows, agreement.edges, strict=True), 1
        )
    ]
    words = [found for found in crew.begin(plans) if found is not None]
    nothing = np.zeros(1, np.int64)
    x = Instances(nothing, nothing, np.zeros(0, np.int32))
    problem = Problem.of(
        task,
        compiled,
        IndexedCorpus(layout, x, agreement.keys, edge_keys),
        np.zeros(0, np.int32),
        labels,
        known_words=agreement.words,
        parts=parts,
        known_labels=(
            WordLabels.sum(words).kept_to(settings.known_labels, labels) if words else ANY_LABEL
        ),
        origin=agreement.origin,
    )
    return problem, plans, agreement.sentences
