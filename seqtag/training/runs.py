"""Training runs: from a problem to the average of several differently shuffled trainings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import State
from seqtag.engine.epochs import Kept, Progress, Recipe, Verdict, learn
from seqtag.engine.keys import are_kept
from seqtag.errors import check_integer
from seqtag.model.freeze import mean
from seqtag.parallel import in_order
from seqtag.randomness import visiting_order
from seqtag.training.interruption import AtOnce, Stop, put_off
from seqtag.training.problem import DevJudge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Cells, Instances
    from seqtag.evaluation.report import Report
    from seqtag.model.model import Model
    from seqtag.settings import Settings
    from seqtag.training.data import TrainingData
    from seqtag.training.problem import Judge, NumberedExamples, Problem

    Seen = Callable[[np.random.RandomState], Instances]


@dataclass(frozen=True)
class Epoch:
    """Statistics of one pass over the training data.

    Attributes
    ----------
    run, epoch
        Counted from 1.
    updates
        Sentences that changed the weights.
    wrong_tokens
        Tokens labeled wrongly during the epoch.
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

    def __str__(self) -> str:
        line = f"epoch {self.epoch}: {self.updates} updates, {self.wrong_tokens} wrong tokens"
        if self.dev is None:
            return line
        return f"{line}, dev {self.dev.metric} {100 * self.dev.score:.2f}" + " *" * self.best


@dataclass(frozen=True)
class Schedule:
    """The runs of a training.

    Parameters
    ----------
    seed
        Seed of the shuffling, 0 to 2**32 - 1.
    runs
        Number of trainings with different shuffling.
    patience
        With a dev set: a run stops after this many epochs without a better score.
    threads
        Number of runs at the same time.
    on_epoch
        Called after each epoch.
    shuffle
        Visit the sentences in a new order each epoch; else in the given order.
    stop
        Flag that ends the runs early.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    seed: int = 1
    runs: int = 1
    patience: int | None = None
    threads: int = 1
    on_epoch: Callable[[Epoch], None] | None = None
    shuffle: bool = True
    stop: Stop = field(default_factory=Stop)

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Schedule:
        """Return the schedule that keyword arguments ask for, which lose what it takes."""
        names = ("seed", "runs", "patience", "threads", "on_epoch", "shuffle")
        return cls(**{name: options.pop(name) for name in names if name in options})

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0)
        check_integer("runs", self.runs)
        check_integer("patience", 1 if self.patience is None else self.patience)
        check_integer("threads", self.threads)
        if self.seed >= 2**32:
            msg = f"expected a seed below 2**32, found {self.seed}; choose a smaller one"
            raise ValueError(msg)

    def random(self, *more: int) -> np.random.RandomState:
        """Return the random stream of a run, an epoch, and a purpose."""
        return np.random.RandomState([self.seed, *more])

    def visits(self, sentences: int, run: int, epoch: int) -> NDArray[np.int64]:
        """Return the order in which an epoch visits so many sentences."""
        if self.shuffle:
            return visiting_order(sentences, self.seed, run, epoch)
        return np.arange(sentences, dtype=np.int64)


class Outcome(NamedTuple):
    """Result of all runs.

    Attributes
    ----------
    kept
        The weights of each run that finished an epoch, in the order of the runs.
    interrupted
        Whether they were ended early.
    """

    kept: list[Kept]
    interrupted: bool

    def provenance(self, schedule: Schedule, dev: Report | None) -> Mapping[str, Any]:
        """Return the facts on the training that a model file records."""
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


def recipe_of(settings: Settings, patience: int | None = None) -> Recipe:
    """Return the recipe of the training loop for some settings."""
    return Recipe(
        epochs=settings.epochs,
        rule=settings.update,
        step=1.0 if settings.update == "perceptron" else settings.step,
        cost=settings.margin or None,
        patience=patience,
    )


def fit(
    problem: Problem,
    schedule: Schedule,
    held_out: TrainingData | None = None,
) -> Model:
    """Train the runs of a problem, and return the model of their average.

    Parameters
    ----------
    problem
        The problem.
    schedule
        Its runs.
    held_out
        A dev set with the columns of the problem, to score every epoch on.

    Raises
    ------
    KeyboardInterrupt
        If it comes before an epoch is finished, or a second time.
    """
    judge = None
    if held_out is not None:
        held_out = held_out.select(problem.compiled.columns)
        judge = DevJudge(problem, held_out)
    with put_off(schedule.stop):  # until the model is complete
        outcome = train_runs(problem.examples, schedule, judge)
        cells = mean([run.cells for run in outcome.kept])
        model = problem.model(cells, outcome.provenance(schedule, judge(cells) if judge else None))
    if schedule.stop.requested() and not model.interrupted:
        return replace(model, training={**model.training, "interrupted": True})
    return model


def train_runs(examples: NumberedExamples, schedule: Schedule, judge: Judge | None) -> Outcome:
    """Train all runs; an interruption ends them, and finished epochs are kept.

    SIGINT and SIGTERM are put off, see `seqtag.training.interruption.put_off`.

    Raises
    ------
    KeyboardInterrupt
        If it arrives before any epoch is finished, or a second time.
    """
    stop = schedule.stop
    done: dict[int, Kept] = {}
    train_one = partial(_train_into, done, examples, schedule, judge)
    interrupted = False
    try:
        with put_off(stop):
            every = range(1, schedule.runs + 1)
            for _ in in_order(train_one, every, min(schedule.threads, schedule.runs)):
                pass
    except AtOnce:
        raise
    except KeyboardInterrupt:  # runs on other threads may have finished an epoch
        interrupted = True
        stop.request()
    if not done:
        raise KeyboardInterrupt
    kept = [done[run] for run in sorted(done)]
    cut_short = len(kept) < schedule.runs or any(run.interrupted for run in kept)
    return Outcome(kept, interrupted or cut_short)


def _train_into(
    done: dict[int, Kept],
    examples: NumberedExamples,
    schedule: Schedule,
    judge: Judge | None,
    run: int,
) -> None:
    """Train a run unless the training is to stop, and put its result into `done`."""
    if not schedule.stop.requested():
        done[run] = train_run(examples, schedule, run, judge)
        if done[run].interrupted:
            schedule.stop.request()


def train_run(
    examples: NumberedExamples,
    schedule: Schedule,
    run: int,
    judge: Judge | None,
) -> Kept:
    """Train one run; return the averaged weights of its best epoch by the dev set, or the last."""
    settings, (layout, instances, *_) = examples.settings, examples.corpus
    sentences = len(instances.sentence_ptr) - 1
    start = None if examples.start is None else State(examples.start)

    def report(done: Progress) -> None:
        if schedule.on_epoch:
            dev = done.verdict and done.verdict.detail
            schedule.on_epoch(
                Epoch(run, done.epoch, done.updates, done.wrong_tokens, dev, done.best)
            )

    seen = hiding(instances, settings.dropout)
    return learn(
        backend.Weights(layout, "float32", settings.update, start),
        lambda epoch: seen(schedule.random(run, epoch, 1)),
        examples.y,
        lambda epoch: schedule.visits(sentences, run, epoch),
        recipe_of(settings, schedule.patience),
        judge=None if judge is None else partial(_verdict, judge),
        on_epoch=report,
        stopped=schedule.stop.requested,
        choices=examples.choices,
    )


def _verdict(judge: Judge, cells: Cells, _: int) -> Verdict:
    report = judge(cells)
    return Verdict(report.score, report)


# --------------------------------------------------------------------------- dropout
RARE = "rare"
"""Value of the setting ``dropout`` in place of a share: rarer features are hidden more often.

An unknown word lacks all features of its own. Words seen once or twice are most like it, but have
such features, so that little is learned for their endings. Hiding features seen once half of the
time improves accuracy by 0.3 points for Armenian and Turkish, and by more with several runs.
"""


def hiding(x: Instances, dropout: float | str) -> Seen:
    """Return the function that draws the instances of an epoch, given its random stream.

    Parameters
    ----------
    x
        All instances, without local rows unless nothing is hidden. Features are counted in them.
    dropout
        The setting: a share, or `RARE`.
    """
    if not dropout:
        return lambda _: x
    if dropout == RARE:
        shares = 1 / (1 + np.bincount(x.features, minlength=1))
    else:
        shares = np.array([float(dropout)])

    def draw(random: np.random.RandomState) -> Instances:
        if x.values is None:
            token_ptr, features = backend.drop_features(x.token_ptr, x.features, shares, random)
            return x._replace(token_ptr=token_ptr, features=features)
        kept = are_kept(x.features, shares, random)
        token_ptr = np.concatenate([[0], np.cumsum(kept)])[x.token_ptr].astype(np.int64)
        return x._replace(token_ptr=token_ptr, features=x.features[kept], values=x.values[kept])

    return draw
