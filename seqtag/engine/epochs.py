"""The one training loop: epochs over the examples, and which epoch's weights are kept.

Taggers and classifiers train here; what differs is how they make their arrays and read the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from seqtag.engine.arrays import Mistakes, Pause

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.engine.arrays import BoolArray, Cells, Cost, Instances, IntArray, State
    from seqtag.engine.interface import Learner

ASK_EVERY = 0.1
"""Seconds after which an epoch that goes on asks whether to stop, or to keep a checkpoint."""


@dataclass(frozen=True)
class Recipe:
    """How to train, and when to stop.

    Attributes
    ----------
    epochs
        At most so many.
    rule, step, cost, ties_are_mistakes
        As `seqtag.engine.reference.Weights.train_epoch` takes them.
    average
        Whether the averaged weights are judged and kept.
    until_right
        Stop after an epoch without a mistake; else all epochs are run, though nothing but the
        average may change any more.
    patience
        Stop after this many epochs that the judge finds no better.
    """

    epochs: int
    rule: str = "perceptron"
    step: float = 1.0
    cost: Cost | None = None
    ties_are_mistakes: bool = False
    average: bool = True
    until_right: bool = False
    patience: int | None = None


class Kept(NamedTuple):
    """The weights that a run keeps.

    Attributes
    ----------
    epoch
        The epoch they are of, counted from 1: the best by the judge, or the last one.
    cells
        The weights after it, averaged or not.
    converged
        Whether the last epoch made no mistake.
    interrupted
        Whether the run was stopped from outside.
    """

    epoch: int
    cells: Cells
    converged: bool
    interrupted: bool = False


class Verdict(NamedTuple):
    """What a judge says of some weights: the higher the score, the better."""

    score: float
    detail: Any = None


class Progress(NamedTuple):
    """What happened in one epoch.

    Attributes
    ----------
    epoch
        Its number, from 1.
    updates, wrong_tokens
        As `seqtag.engine.reference.Weights.train_epoch` returns them.
    verdict
        What the judge says, if there is one.
    best
        Whether the epoch is the best so far.
    """

    epoch: int
    updates: int
    wrong_tokens: int
    verdict: Verdict | None
    best: bool


class Best(NamedTuple):
    """The epoch that the judge finds best so far, and its weights."""

    score: float
    epoch: int
    cells: Cells


class TrainingState(NamedTuple):
    """Where a run stands, between two sentences: what begins there goes on as if it never stopped.

    Attributes
    ----------
    state
        All that the weights know.
    epoch
        Epochs finished.
    visited
        Sentences visited of the epoch after these.
    updates, wrong_tokens
        What they made, as in `Progress`.
    converged
        Whether the last finished epoch made no mistake.
    best
        The best epoch, if there is a judge.
    """

    state: State
    epoch: int
    visited: int = 0
    updates: int = 0
    wrong_tokens: int = 0
    converged: bool = False
    best: Best | None = None


class Checkpointer(Protocol):
    """Keeps where a run stands."""

    def wants(self, *, epoch_over: bool) -> bool:
        """Whether it is time, at the end of an epoch or within one."""

    def keep(self, state: TrainingState) -> None:
        """Keep it."""


def learn(
    weights: Learner,
    x: Callable[[int], Instances],
    y: IntArray,
    visits: Callable[[int], IntArray],
    recipe: Recipe,
    *,
    judge: Callable[[Cells, int], Verdict] | None = None,
    on_epoch: Callable[[Progress], None] | None = None,
    stopped: Callable[[], bool] | None = None,
    out_mistakes: list[Mistakes] | None = None,
    choices: BoolArray | None = None,
    begin: TrainingState | None = None,
    checkpointer: Checkpointer | None = None,
) -> Kept:
    """Train some weights, epoch by epoch.

    Parameters
    ----------
    weights
        Weights in training; changed.
    x, visits
        The instances, and the numbers of the sentences in the order to visit them in, for the
        epoch of a number from 1.
    y
        Gold label ids, (N,) int32; ``-1 - c`` for one of ``choices[c]``.
    recipe
        How to train, and when to stop.
    judge
        Scores the weights after the epoch of a number; the first of the best is kept.
    on_epoch
        Called after each epoch.
    stopped
        Asked now and then, between two sentences, whether to stop.
    out_mistakes
        One record for each epoch is appended: what was decoded wrongly.
    choices
        Labels that tokens without a certain one may have, (C, K).
    begin
        Where to go on; `weights` were made of its state.
    checkpointer
        Is given where the run stands, when it wants to, and when the run is stopped.

    Raises
    ------
    KeyboardInterrupt
        If it comes before an epoch is finished, or the run is stopped before that; if not, what
        was learnt is kept. Also if it comes when the run is being stopped.
    """
    course = _Course(weights, recipe, begin, stopped, checkpointer)
    interrupted = False
    try:
        while not course.is_over():
            if not course.run_epoch(x, y, visits, out_mistakes, choices):
                interrupted = True
                break
            done = course.end_epoch(judge)
            if on_epoch:
                on_epoch(done)
    except KeyboardInterrupt:
        if not course.epoch or course.is_stopped():  # asked once already: now at once
            raise
        interrupted = True
    if not course.epoch:
        raise KeyboardInterrupt
    _, epoch, cells = course.best or (0.0, course.epoch, weights.cells(recipe.average))
    return Kept(epoch, cells, course.converged, interrupted)


class _Course:
    """A run as it goes on; the fields of `TrainingState`, and what moves them."""

    def __init__(
        self,
        weights: Learner,
        recipe: Recipe,
        begin: TrainingState | None,
        stopped: Callable[[], bool] | None,
        checkpointer: Checkpointer | None,
    ):
        self._weights, self._recipe = weights, recipe
        self._stopped, self._checkpointer = stopped, checkpointer
        self.epoch = self.visited = self.updates = self.wrong_tokens = 0
        self.converged = False
        self.best: Best | None = None
        if begin is not None:
            self.epoch, self.visited = begin.epoch, begin.visited
            self.updates, self.wrong_tokens = begin.updates, begin.wrong_tokens
            self.converged, self.best = begin.converged, begin.best

    def is_over(self) -> bool:
        """Whether there is no other epoch to come."""
        recipe = self._recipe
        if self.epoch >= recipe.epochs or (recipe.until_right and self.converged):
            return True
        best = self.best
        return bool(best and recipe.patience and self.epoch - best.epoch >= recipe.patience)

    def run_epoch(
        self,
        x: Callable[[int], Instances],
        y: IntArray,
        visits: Callable[[int], IntArray],
        out_mistakes: list[Mistakes] | None,
        choices: BoolArray | None,
    ) -> bool:
        """Visit the sentences of the next epoch, or those left of it; False if it is stopped."""
        if self._stops():
            return False
        recipe, weights = self._recipe, self._weights
        how = recipe.rule, recipe.step, recipe.cost, recipe.ties_are_mistakes
        instances, order = x(self.epoch + 1), visits(self.epoch + 1)
        pause = None
        if self._stopped or self._checkpointer:
            pause = Pause(lambda: self.is_stopped() or self._wants_to_keep(), ASK_EVERY)
        found: list[Mistakes] | None = None if out_mistakes is None else []
        begins: list[int] = []
        while True:
            begins.append(self.visited)
            before, left = weights.seen, order[self.visited :]
            updates, wrong = weights.train_epoch(instances, y, left, *how, found, choices, pause)
            self.visited += weights.seen - before
            self.updates += updates
            self.wrong_tokens += wrong
            if self.visited >= len(order):
                break
            if self._stops():
                return False
            if self._checkpointer and self._wants_to_keep():
                self._checkpointer.keep(self._training_state())
        if out_mistakes is not None and found is not None:
            out_mistakes.append(_together(found, begins))
        return True

    def end_epoch(self, judge: Callable[[Cells, int], Verdict] | None) -> Progress:
        """Judge the epoch, and keep where the run stands."""
        self.epoch += 1
        self.converged = self.updates == 0
        verdict, better = None, True
        if judge:
            cells = self._weights.cells(self._recipe.average)
            verdict = judge(cells, self.epoch)
            better = self.best is None or verdict.score > self.best.score
            if better:
                self.best = Best(verdict.score, self.epoch, cells)
        done = Progress(self.epoch, self.updates, self.wrong_tokens, verdict, better)
        self.visited = self.updates = self.wrong_tokens = 0
        if self._checkpointer and self._checkpointer.wants(epoch_over=True):
            self._checkpointer.keep(self._training_state())
        return done

    def _stops(self) -> bool:
        """Whether the run is stopped, which keeps where it stands."""
        stops = self.is_stopped()
        if stops and self._checkpointer:
            self._checkpointer.keep(self._training_state())
        return stops

    def is_stopped(self) -> bool:
        """Whether somebody asks to stop."""
        return self._stopped is not None and self._stopped()

    def _wants_to_keep(self) -> bool:
        return self._checkpointer is not None and self._checkpointer.wants(epoch_over=False)

    def _training_state(self) -> TrainingState:
        return TrainingState(
            self._weights.state(),
            self.epoch,
            self.visited,
            self.updates,
            self.wrong_tokens,
            self.converged,
            self.best,
        )


def _together(parts: list[Mistakes], begins: list[int]) -> Mistakes:
    """The mistakes of an epoch that paused; its parts begin at these places among its visits."""
    position = [part.position + at for part, at in zip(parts, begins, strict=True)]
    return Mistakes(np.concatenate(position), np.concatenate([part.y_hat for part in parts]))
