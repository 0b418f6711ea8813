"""Runs: the epochs of several differently shuffled trainings, and what is kept when they stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from seqtag.engine import backend
from seqtag.engine.epochs import Kept, Progress, Recipe, Verdict, learn
from seqtag.parallel import in_order
from seqtag.randomness import visiting_order
from seqtag.training.dropout import hiding
from seqtag.training.interruption import AtOnce, Stop, put_off

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from seqtag.engine.arrays import BoolArray, Cells, State
    from seqtag.engine.interface import Learner
    from seqtag.evaluation.report import Report
    from seqtag.features.index import IndexedCorpus
    from seqtag.settings import Settings
    from seqtag.training.checkpoints import Stage
    from seqtag.training.problem import Judge
    from seqtag.training.warm_start import WarmStart


@dataclass(frozen=True)
class Epoch:
    """What happened in one pass over the training data.

    Attributes
    ----------
    run, epoch
        Counted from 1.
    updates
        Sentences that moved the weights.
    wrong_tokens
        Tokens labelled wrongly while learning.
    dev
        Report on the dev set with the averaged weights, if there is a dev set.
    best
        Whether this is the run's best epoch so far.
    """

    run: int
    epoch: int
    updates: int
    wrong_tokens: int
    dev: Report | None
    best: bool


@dataclass(frozen=True)
class Schedule:
    """Which runs there are.

    Parameters
    ----------
    seed
        Of the shuffling, 0 to 2**32 - 1.
    runs
        Trainings with different shuffling.
    patience
        With a dev set: a run stops after this many epochs without a better score.
    threads
        Runs at the same time.
    on_epoch
        Called after each epoch.
    shuffle
        Whether each epoch has an order of its own; else all have the order given.
    checkpoints
        Where the runs keep where they stand, and go on from.
    stop
        What is asked to end the runs before their time.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    seed: int
    runs: int
    patience: int | None
    threads: int
    on_epoch: Callable[[Epoch], None] | None
    shuffle: bool = True
    checkpoints: Stage | None = None
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        if self.seed < 0 or self.runs < 1 or (self.patience is not None and self.patience < 1):
            msg = (
                "expected seed >= 0, runs >= 1, patience >= 1; "
                f"found {self.seed}, {self.runs}, {self.patience}"
            )
            raise ValueError(msg)
        if self.seed >= 2**32:
            msg = f"expected a seed below 2**32, found {self.seed}; choose a smaller one"
            raise ValueError(msg)
        if self.threads < 1:
            msg = f"expected threads of 1 or more, found {self.threads}"
            raise ValueError(msg)

    def random(self, *more: int) -> np.random.RandomState:
        """The random stream of a run, an epoch, and a purpose."""
        return np.random.RandomState([self.seed, *more])

    def visits(self, sentences: int, run: int, epoch: int) -> NDArray[np.int64]:
        """The order in which an epoch visits so many sentences."""
        if self.shuffle:
            return visiting_order(sentences, self.seed, run, epoch)
        return np.arange(sentences, dtype=np.int64)


class Outcome(NamedTuple):
    """What the runs left behind.

    Attributes
    ----------
    kept
        The weights of each run that got through an epoch, in the order of the runs.
    interrupted
        Whether something stopped them before their time.
    """

    kept: list[Kept]
    interrupted: bool

    def provenance(self, schedule: Schedule, dev: Report | None) -> Mapping[str, Any]:
        """What a model file says of how its weights came about."""
        facts: dict[str, Any] = {
            "seed": schedule.seed,
            "runs": schedule.runs,
            "best_epochs": [run.epoch for run in self.kept],
        }
        if not schedule.shuffle:
            facts["shuffle"] = False
        if self.interrupted:
            facts["interrupted"] = True
        if dev is not None:
            facts["dev"] = {
                "score": dev.score,
                "metric": dev.metric,
                "signature": dev.signature,
            }
        return facts


class Task(Protocol):
    """What runs ask of a `seqtag.training.problem.Problem`; features from Python make another."""

    @property
    def start(self) -> WarmStart | None:
        """Where to begin, if not with weights of 0."""
        ...

    @property
    def choices(self) -> BoolArray | None:
        """Labels that words without a certain one may have."""
        ...

    @property
    def settings(self) -> Settings:
        """How to learn."""
        ...

    @property
    def corpus(self) -> IndexedCorpus:
        """The sentences as rows of features."""
        ...

    @property
    def y(self) -> NDArray[np.int32]:
        """Label id of each token."""
        ...


MakeLearner = Callable[["State | None"], "Learner"]
"""Makes what learns of the state to begin with."""


def recipe_of(settings: Settings, patience: int | None = None) -> Recipe:
    """What settings mean to the training loop."""
    return Recipe(
        epochs=settings.epochs,
        rule=settings.update,
        step=1.0 if settings.update == "perceptron" else settings.step,
        cost=settings.margin or None,
        patience=patience,
    )


def train_runs(
    problem: Task, schedule: Schedule, judge: Judge | None, learner: MakeLearner | None = None
) -> Outcome:
    """Train all runs; an interruption ends them, and what is done is kept.

    What learns are the engine's weights, or what `learner` makes of the state to begin with.
    SIGINT and SIGTERM let runs finish their sentence, see `seqtag.training.interruption.put_off`.

    Raises
    ------
    KeyboardInterrupt
        If it comes before any epoch is finished, or a second time.
    """
    stop = schedule.stop
    done: dict[int, Kept] = {}

    def train_one(run: int) -> None:
        if not stop.asked():
            done[run] = train_run(problem, schedule, run, judge, learner)
            if done[run].interrupted:
                stop.ask()

    interrupted = False
    try:
        with put_off(stop):
            every = range(1, schedule.runs + 1)
            for _ in in_order(train_one, every, min(schedule.threads, schedule.runs)):
                pass
    except AtOnce:
        raise
    except KeyboardInterrupt:  # the runs on other threads end with their sentence
        interrupted = True
        stop.ask()
    if not done:
        raise KeyboardInterrupt
    kept = [done[run] for run in sorted(done)]
    cut_short = len(kept) < schedule.runs or any(run.interrupted for run in kept)
    return Outcome(kept, interrupted or cut_short)


def train_run(
    problem: Task,
    schedule: Schedule,
    run: int,
    judge: Judge | None,
    learner: MakeLearner | None = None,
) -> Kept:
    """One run: the averaged weights of the best epoch by the dev set, or of the last one."""
    settings, (layout, instances, *_) = problem.settings, problem.corpus
    sentences = len(instances.sentence_ptr) - 1
    start = None if problem.start is None else problem.start.state
    checkpointer = schedule.checkpoints.run(run) if schedule.checkpoints else None
    begin = checkpointer.begin(layout, sentences) if checkpointer else None
    if isinstance(begin, Kept):
        return begin
    if begin is not None:
        start = begin.state

    def report(done: Progress) -> None:
        if schedule.on_epoch:
            dev = done.verdict and done.verdict.detail
            schedule.on_epoch(
                Epoch(run, done.epoch, done.updates, done.wrong_tokens, dev, done.best)
            )

    seen = hiding(instances, settings.dropout)
    kept = learn(
        learner(start) if learner else backend.Weights(layout, "float32", settings.update, start),
        lambda epoch: seen(schedule.random(run, epoch, 1)),
        problem.y,
        lambda epoch: schedule.visits(sentences, run, epoch),
        recipe_of(settings, schedule.patience),
        judge=None if judge is None else partial(_verdict, judge),
        on_epoch=report,
        stopped=schedule.stop.asked,
        choices=problem.choices,
        begin=begin,
        checkpointer=checkpointer,
    )
    if checkpointer and not kept.interrupted:
        checkpointer.finish(kept)
    return kept


def _verdict(judge: Judge, cells: Cells, _: int) -> Verdict:
    report = judge(cells)
    return Verdict(report.score, report)
