"""Iterative parameter mixing: rounds of learning on all shards, and the model they make.

This is the driver, which knows no engine: a `Crew` says where the shards are. `Here` has them in
this process; `seqtag.cluster.train` has an actor for each.
"""

from __future__ import annotations

import json
import logging
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from seqtag.corpus import LIMITS, Limits
from seqtag.engine.arrays import ANY_LABEL, Cells, Instances, Layout
from seqtag.engine.epochs import Kept, Progress, Verdict, learn
from seqtag.errors import ModelFileError
from seqtag.features.index import IndexedCorpus
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.labels.parts import split_labels
from seqtag.model import container
from seqtag.parallel import in_order
from seqtag.tagging.tagger import Tagger
from seqtag.training.data import open_corpus
from seqtag.training.known_labels import WordLabels
from seqtag.training.mixing import Table, mixed, weights_of
from seqtag.training.problem import Problem, check_forms, fitting, judge_of, wonder_at_many
from seqtag.training.runs import Epoch, Outcome, Schedule, recipe_of
from seqtag.training.shards import Agreed, Agreement, Plan, Reading, Shard, Topic, train_shard
from seqtag.training.train import coding_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike

    from seqtag.labels.coding import LabelCoding
    from seqtag.model.model import Model
    from seqtag.training.data import Source
    from seqtag.training.mixing import Difference
    from seqtag.training.problem import Judge
    from seqtag.training.shards import Numbered, Survey

_log = logging.getLogger("seqtag")


class Crew(Protocol):
    """Where the shards are. What it returns is in their order, whoever works, and how often."""

    def surveys(self) -> Sequence[Survey]:
        """What each shard has."""

    def labels(self, coding: LabelCoding) -> Sequence[list[str]]:
        """The labels of each shard as they are learnt."""

    def begin(self, plans: Sequence[Plan]) -> Sequence[WordLabels | None]:
        """Tell each shard what it must know; the labels of its words, if they are asked for."""

    def round(self, table: Table, number: int, seed: int) -> Iterable[Difference]:
        """What each shard changed in a round, by `seqtag.training.shards.train_shard`."""


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


def _train_shard(table: Table, number: int, seed: int, shard: Numbered) -> Difference:
    return train_shard(table, shard, number, seed)


def train_shards(
    shards: Sequence[Source],
    *,
    dev: Source | None = None,
    label: str | None = None,
    templates: str | PathLike[str] | TemplateSet | None = None,
    seed: int = 1,
    patience: int | None = None,
    constrain: bool = True,
    skip_unlabelled: bool = False,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    limits: Limits = LIMITS,
    threads: int = 1,
    on_epoch: Callable[[Epoch], None] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    **settings: Any,
) -> Tagger:
    r"""Train a tagger on the parts of a corpus by iterative parameter mixing.

    One shard gives the weights of `seqtag.train`, to the last byte; several give those that
    ``seqtag cluster train`` gives for them, on any number of machines.

    Parameters
    ----------
    shards
        Of each a corpus file, several files, or sentences. Their order counts.
    dev, label, templates, seed, patience, constrain, skip_unlabelled, format, columns, limits
        As in `seqtag.train`. Shard s is shuffled as run s there.
    threads
        Shards learnt from at the same time; the model is the same on any number.
    on_epoch
        Called after each round, with an `Epoch` of run 1.
    checkpoint
        File that holds what is learnt after each round. If it is there, training goes on from it.
    **settings
        As in `seqtag.train`; ``epochs`` are the rounds.

    Raises
    ------
    CorpusError, TemplateError, LabelError, KeyboardInterrupt
        As `seqtag.train`; and if shards have other columns than the first.
    ModelFileError
        If the checkpoint is damaged or of another training.
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
    reading = reading_of(label, templates, settings, skip_unlabelled, format, columns, limits)
    schedule = Schedule(seed, 1, patience, threads, on_epoch)
    if not shards:
        msg = "expected one shard or more, found none"
        raise ValueError(msg)
    crew = Here(shards, reading, threads)
    return Tagger(mix(crew, reading, schedule, dev, constrain=constrain, checkpoint=checkpoint))


def reading_of(
    label: str | None,
    templates: str | PathLike[str] | TemplateSet | None,
    settings: dict[str, Any],
    skip_unlabelled: bool,
    format: str,
    columns: Sequence[str] | None,
    limits: Limits,
) -> Reading:
    """How shards are read; a file of templates is read here, for it may be nowhere else."""
    if not (templates is None or isinstance(templates, TemplateSet)):
        templates = load_templates(templates)
    return Reading(label, templates, settings, skip_unlabelled, format, columns, limits)


def mix(
    crew: Crew,
    reading: Reading,
    schedule: Schedule,
    dev: Source | None = None,
    *,
    constrain: bool = True,
    checkpoint: str | PathLike[str] | None = None,
) -> Model:
    """The model that the rounds of a crew make.

    Parameters
    ----------
    crew
        Where the shards are.
    reading
        How they are read.
    schedule
        Seed, patience, and whom to tell of the rounds.
    dev, constrain, checkpoint
        As in `train_shards`.

    Raises
    ------
    CorpusError, TemplateError, LabelError, ModelFileError, KeyboardInterrupt
        As `train_shards`.
    """
    problem, plans, agreement = _agree(crew, reading, constrain=constrain)
    held_out, judge = None, None
    if dev is not None:
        needed = (*problem.compiled.columns, *problem.column.columns)
        with ExitStack() as files:
            corpus = open_corpus(dev, reading.format, reading.columns, files, reading.limits)
            corpus.check_columns(needed)
            held_out = corpus.gather(
                problem.compiled.columns, problem.column, reading.skip_unlabelled
            )
        judge = judge_of(problem, held_out)
    fingerprint = _fingerprint(problem, schedule.seed, agreement, held_out and held_out.digest())
    store = None if checkpoint is None else Store(Path(checkpoint), fingerprint)
    weights = Mixture(crew, plans, agreement.sentences, problem, schedule.seed)
    kept = _rounds(weights, problem, schedule, judge, store)
    outcome = Outcome([kept], kept.interrupted)
    return problem.model(
        kept.cells, outcome.provenance(schedule, None if judge is None else judge(kept.cells))
    )


def _rounds(
    weights: Mixture,
    problem: Problem,
    schedule: Schedule,
    judge: Judge | None,
    store: Store | None,
) -> Kept:
    """The weights of the best round by the dev set, or of the last one."""
    done = store.load() if store else Done([], None, None)
    weights.go_on(done)

    rounds, best = list(done.rounds), done.best

    def finished(now: Progress) -> None:
        nonlocal best
        if now.epoch <= len(done.rounds):
            return
        score = now.verdict.score if now.verdict else 0.0
        rounds.append(Round(now.updates, now.wrong_tokens, score))
        if store:
            if judge and now.best:
                best = weights.cells(average=True)
            store.save(rounds, weights.table, best)
        if schedule.on_epoch:
            dev = now.verdict and now.verdict.detail
            schedule.on_epoch(Epoch(1, now.epoch, now.updates, now.wrong_tokens, dev, now.best))

    x = problem.corpus.instances  # none: the shards have them
    return learn(
        weights,
        lambda _: x,
        problem.y,
        lambda number: np.array([number]),
        recipe_of(problem.settings, schedule.patience),
        judge=partial(_verdict, judge, done.rounds) if judge else None,
        on_epoch=finished,
    )


def _verdict(judge: Judge, done: Sequence[Round], cells: Cells, number: int) -> Verdict:
    """What the dev set says of a round, or said of one that was finished before."""
    if number <= len(done):
        return Verdict(done[number - 1].score)
    report = judge(cells)
    return Verdict(report.score, report)


class Mixture:
    """Weights mixed after each round: what the training loop takes for weights in training.

    Parameters
    ----------
    crew, plans, sentences
        The shards, what they were told, and how many sentences each has.
    problem
        What is learnt.
    seed
        Of all that is random.
    """

    def __init__(
        self,
        crew: Crew,
        plans: Sequence[Plan],
        sentences: Sequence[int],
        problem: Problem,
        seed: int,
    ):
        self.table = Table.empty(problem.settings.update == "adaptive")
        self._crew, self._plans, self._sentences = crew, plans, sentences
        self._layout, self._seed = problem.corpus.layout, seed
        self._empty = self.table
        self._rounds, self._done = 0, Done([], None, None)

    def go_on(self, done: Done) -> None:
        """Begin with rounds that were finished before: these are told again, not learnt again."""
        self._done = done
        if done.table is not None:
            self.table = done.table

    def train_epoch(self, *_: Any, **__: Any) -> tuple[int, int]:
        """One round; return (updates, wrong tokens) of all shards, which have the sentences."""
        self._rounds += 1
        if self._rounds <= len(self._done.rounds):
            return self._done.rounds[self._rounds - 1][:2]
        changed, updates, wrong = [], 0, 0
        found = self._crew.round(self.table, self._rounds, self._seed)
        for plan, each in zip(self._plans, found, strict=True):
            changed.append(each.sparse(plan.part, self.table))
            updates += each.updates
            wrong += each.wrong_tokens
        self.table = mixed(self.table, changed, self._sentences, self._rounds)
        return updates, wrong

    def cells(self, average: bool = False) -> Cells:
        """The weights that are not zero, or their average."""
        if self._rounds < len(self._done.rounds):  # told again: one of these counts, the best
            return self._done.best or weights_of(self._empty, self._layout)
        steps = self._rounds * sum(self._sentences)
        return weights_of(self.table, self._layout, steps if average else 0)


# --------------------------------------------------------------------------- what is agreed on
def _agree(
    crew: Crew, reading: Reading, *, constrain: bool
) -> tuple[Problem, list[Plan], Agreement]:
    """What is learnt, without any sentences; and what each shard is told."""
    surveys = crew.surveys()
    topic = Topic.of(reading, surveys[0].column, surveys[0].columns)
    agreement = Agreement.of(surveys, topic.settings.min_count)
    column, settings = topic.column, topic.settings
    asked = reading.settings.get("encoding") is not None
    coding = coding_of(agreement, column, settings, constrain=constrain, asked=asked)
    check_forms(coding, column, topic.compiled.columns, topic.templates)
    told = Agreed.on(agreement.pairs) if coding.needs_forms else coding
    labels = sorted({label for found in crew.labels(told) for label in found})
    if not coding.needs_forms:
        wonder_at_many(len(labels), agreement.origin["tokens"], column)
    templates = fitting(topic.templates, len(labels), column)
    compiled = templates.compile(topic.available)
    parts = split_labels(labels) if settings.label_parts == "split" else None
    edge_keys = agreement.edge_keys if compiled.edges else agreement.edge_keys[:0]
    layout = Layout(len(agreement.keys), len(labels), compiled.order, len(edge_keys), parts)
    plans = [
        Plan(number, survey.digest, told, labels, layout, rows, edges)
        for number, (survey, rows, edges) in enumerate(
            zip(surveys, agreement.rows, agreement.edges, strict=True), 1
        )
    ]
    words = [found for found in crew.begin(plans) if found is not None]
    often = settings.known_labels
    nothing = np.zeros(1, np.int64)
    x = Instances(nothing, nothing, np.zeros(0, np.int32))
    last = max((topic.available.index(name) for name in compiled.columns), default=-1)
    problem = Problem(
        corpus=IndexedCorpus(layout, x, agreement.keys, edge_keys),
        y=np.zeros(0, np.int32),
        labels=labels,
        settings=settings,
        column=column,
        coding=replace(coding, constrained=coding.constrained and compiled.order > 0),
        templates=TemplateSet(templates.templates),
        columns=topic.available[: last + 1],
        compiled=compiled,
        known_words=agreement.words,
        parts=parts,
        known_labels=WordLabels.sum(words).often(often) if words else ANY_LABEL,
        origin=agreement.origin,
    )
    return problem, plans, agreement


# --------------------------------------------------------------------------- what is kept
class Round(NamedTuple):
    """What happened in a round: as in `Epoch`, and the score on the dev set, 0 without one."""

    updates: int
    wrong_tokens: int
    score: float


class Done(NamedTuple):
    """What a training knows after some rounds: all that it needs to go on.

    Attributes
    ----------
    rounds
        What happened in each.
    table
        The weights after the last one.
    best
        The averaged weights of the best one, if there is a dev set.
    """

    rounds: list[Round]
    table: Table | None
    best: Cells | None


class Store:
    """A file of what is done, written whole after each round.

    Parameters
    ----------
    path
        The file.
    fingerprint
        Of the training: shards, labels, settings, seed. Only the number of rounds may change.
    """

    def __init__(self, path: Path, fingerprint: str):
        self._path, self._fingerprint = path, fingerprint

    def save(self, rounds: Sequence[Round], table: Table, best: Cells | None) -> None:
        """Write what is done; see `Done`.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        tensors = {f"table.{name}": each for name, each in table._asdict().items()}
        if best is not None:
            tensors |= {f"best.{name}": each for name, each in best._asdict().items()}
        config = {"training": self._fingerprint, "rounds": [list(each) for each in rounds]}
        container.save(self._path, {"checkpoint": config}, tensors)

    def load(self) -> Done:
        """What is done: nothing if there is no file.

        Raises
        ------
        ModelFileError
            If it is damaged, no checkpoint, or of another training.
        """
        if not self._path.exists():
            return Done([], None, None)
        config, tensors, *_ = container.load(self._path)
        found = config.get("checkpoint")
        if not isinstance(found, dict) or found.get("training") != self._fingerprint:
            msg = (
                "expected a checkpoint of this training, found "
                f"{'one of another' if isinstance(found, dict) else 'another file'}; shards, "
                "settings and seed must be the same: give them again, or name a new file"
            )
            raise ModelFileError(msg, source=str(self._path))
        rounds = [Round(*each) for each in found["rounds"]]
        table = Table(*(tensors[f"table.{name}"] for name in Table._fields))
        best = None
        if "best.chain" in tensors:
            best = Cells._make(tensors[f"best.{name}"] for name in Cells._fields)
        return Done(rounds, table, best)


def _fingerprint(problem: Problem, seed: int, agreement: Agreement, dev: str | None) -> str:
    """SHA-256 of all that decides on the weights, but for the number of rounds."""
    settings = {**problem.settings.to_dict(), "epochs": None}
    shards = [each.digest for each in agreement.surveys]
    coding = problem.coding.written, problem.coding.learnt
    facts = shards, problem.labels, str(problem.templates), settings, coding, seed, dev
    return sha256(json.dumps(facts).encode()).hexdigest()
