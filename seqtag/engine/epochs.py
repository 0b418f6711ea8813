"""The training loop: epochs over the examples, and the choice of the epoch whose weights are kept.

Taggers and classifiers share it; they differ in how they make their arrays and read the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from seqtag.engine.arrays import Mistakes, Pause

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.engine.arrays import BoolArray, Cells, Cost, Instances, IntArray, State

ASK_EVERY = 0.1
"""Seconds between two checks within an epoch: whether to stop, or to write a checkpoint."""


class Learner(Protocol):
    """Weights as the training loop uses them, such as `seqtag.engine.reference.Weights`."""

    @property
    def seen(self) -> int:
        """Number of sentences visited so far."""

    def train_epoch(
        self,
        x: Instances,
        y: IntArray,
        visits: IntArray,
        rule: str = "perceptron",
        step: float = 1.0,
        cost: Cost | None = None,
        ties_are_mistakes: bool = False,
        out_mistakes: list[Mistakes] | None = None,
        choices: BoolArray | None = None,
        pause: Pause | None = None,
    ) -> tuple[int, int]:
        """Learn from the sentences with these numbers; return (updates, wrong tokens)."""

    def cells(self, average: bool = False) -> Cells:
        """Return the nonzero weights, of w or of its average."""

    def state(self) -> State:
        """Return the complete state: weights made from it continue bit by bit like these."""


@dataclass(frozen=True)
class Recipe:
    """Settings of a run: the update rule, and when to stop.

    Attributes
    ----------
    epochs
        Maximum number of epochs.
    rule, step, cost, ties_are_mistakes
        As `seqtag.engine.reference.Weights.train_epoch` takes them.
    average
        Whether to judge and keep the averaged weights.
    until_right
        Stop after an epoch without mistakes. Otherwise all epochs run, and the average may still
        change.
    patience
        Stop after this many epochs without a better score by the judge.
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
    """The weights kept by a run.

    Attributes
    ----------
    epoch
        Their epoch, counted from 1: the best one by the judge, or the last one.
    cells
        The weights after that epoch, averaged or not.
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
    """A judge's score of some weights; higher is better."""

    score: float
    detail: Any = None


class Progress(NamedTuple):
    """Report of one epoch.

    Attributes
    ----------
    epoch
        Number of the epoch, from 1.
    updates, wrong_tokens
        As `seqtag.engine.reference.Weights.train_epoch` returns them.
    verdict
        The judge's verdict, if there is a judge.
    best
        Whether this epoch is the best so far.
    """

    epoch: int
    updates: int
    wrong_tokens: int
    verdict: Verdict | None
    best: bool


class Best(NamedTuple):
    """The best epoch so far by the judge, and its weights."""

    score: float
    epoch: int
    cells: Cells


class TrainingState(NamedTuple):
    """State of a run between two sentences: a run resumed from it gives the same result.

    Attributes
    ----------
    state
        The complete state of the weights.
    epoch
        Finished epochs.
    visited
        Sentences visited in the current epoch.
    updates, wrong_tokens
        Updates and wrong tokens of these sentences, as in `Progress`.
    converged
        Whether the last finished epoch made no mistake.
    best
        The best epoch so far, if there is a judge.
    """

    state: State
    epoch: int
    visited: int = 0
    updates: int = 0
    wrong_tokens: int = 0
    converged: bool = False
    best: Best | None = None


class Checkpointer(Protocol):
    """Saves training states."""

    def wants(self, *, epoch_over: bool) -> bool:
        """Return whether to save now, at the end of an epoch or within one."""

    def keep(self, state: TrainingState) -> None:
        """Save a state."""


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
    """Train weights, epoch by epoch.

    Parameters
    ----------
    weights
        Weights in training; modified in place.
    x, visits
        Return the instances, and the numbers of the sentences in the order of visiting, for an
        epoch number from 1.
    y
        Gold label ids, (N,) int32; ``-1 - c`` for one of ``choices[c]``.
    recipe
        The update rule, and when to stop.
    judge
        Scores the weights after an epoch, given its number. The first of the best epochs is kept.
    on_epoch
        Called after each epoch.
    stopped
        Polled between sentences; returns whether to stop.
    out_mistakes
        If given, one record of the wrongly decoded sentences is appended per epoch; of a run that
        pauses, for `stopped` or `checkpointer`, one per part of an epoch.
    choices
        Permitted labels of tokens without one gold label, (C, K).
    begin
        State to resume from; `weights` must be made from its `state`.
    checkpointer
        Receives the state whenever it asks for it, and when the run is stopped.

    Raises
    ------
    KeyboardInterrupt
        If it is raised, or the run is stopped, before the first epoch is finished; afterwards the
        weights learned so far are returned. Also if it is raised while the run is being stopped.
    """
    epoch, visited, updates, wrong_tokens, converged = 0, 0, 0, 0, False
    best: Best | None = None
    if begin is not None:
        _, epoch, visited, updates, wrong_tokens, converged, best = begin

    def is_stopped() -> bool:
        return stopped is not None and stopped()

    def is_due() -> bool:
        return checkpointer is not None and checkpointer.wants(epoch_over=False)

    def save() -> None:
        if checkpointer is not None:
            now = weights.state(), epoch, visited, updates, wrong_tokens, converged, best
            checkpointer.keep(TrainingState(*now))

    def is_over() -> bool:
        if epoch >= recipe.epochs or (recipe.until_right and converged):
            return True
        return bool(best and recipe.patience and epoch - best.epoch >= recipe.patience)

    settings = recipe.rule, recipe.step, recipe.cost, recipe.ties_are_mistakes
    pause = Pause(lambda: is_stopped() or is_due(), ASK_EVERY) if stopped or checkpointer else None
    interrupted = False
    try:
        while not is_over():
            # Visit the sentences of the next epoch, or the rest of it after a pause.
            interrupted = is_stopped()
            instances, order = x(epoch + 1), visits(epoch + 1)
            while not interrupted:
                seen, rest = weights.seen, order[visited:]
                made = weights.train_epoch(
                    instances, y, rest, *settings, out_mistakes, choices, pause
                )
                visited += weights.seen - seen
                updates += made[0]
                wrong_tokens += made[1]
                if visited >= len(order):
                    break
                interrupted = is_stopped()
                if not interrupted and is_due():
                    save()
            if interrupted:
                save()
                break

            # Judge the weights.
            epoch += 1
            converged = updates == 0
            verdict, better = None, True
            if judge:
                cells = weights.cells(recipe.average)
                verdict = judge(cells, epoch)
                better = best is None or verdict.score > best.score
                if better:
                    best = Best(verdict.score, epoch, cells)
            progress = Progress(epoch, updates, wrong_tokens, verdict, better)
            visited = updates = wrong_tokens = 0
            if checkpointer is not None and checkpointer.wants(epoch_over=True):
                save()
            if on_epoch:
                on_epoch(progress)
    except KeyboardInterrupt:
        if not epoch or is_stopped():  # the second request ends the run at once
            raise
        interrupted = True
    if not epoch:
        raise KeyboardInterrupt
    _, kept, cells = best or (0.0, epoch, weights.cells(recipe.average))
    return Kept(kept, cells, converged, interrupted)
