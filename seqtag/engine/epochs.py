"""The training loop: epochs over the examples, and the choice of the epoch whose weights are kept.

Taggers and classifiers share it; they differ in how they make their arrays and read the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.engine.arrays import BoolArray, Cells, Cost, Instances, IntArray, Mistakes
    from seqtag.engine.reference import Weights


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


class _StoppedError(Exception):
    """Raised within an epoch that is not to be finished."""


def learn(
    weights: Weights,
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
        Polled several times a second; returns whether to stop. The epoch under way is dropped if a
        judge has chosen an earlier one. Without a judge it is finished, because the weights of the
        earlier one are no more.
    out_mistakes
        If given, one record of the wrongly decoded sentences is appended per epoch.
    choices
        Permitted labels of tokens without one gold label, (C, K).

    Raises
    ------
    KeyboardInterrupt
        If the run is stopped before the first epoch is finished.
    """
    epoch, converged, interrupted = 0, False, False
    best: Best | None = None

    def ask() -> None:
        if stopped is not None and stopped():
            if not epoch:
                raise KeyboardInterrupt
            if best is not None:
                raise _StoppedError

    def is_over() -> bool:
        if epoch >= recipe.epochs or (recipe.until_right and converged):
            return True
        return bool(best and recipe.patience and epoch - best.epoch >= recipe.patience)

    settings = recipe.rule, recipe.step, recipe.cost, recipe.ties_are_mistakes
    while not is_over():
        if stopped is not None and stopped():
            interrupted = True
            break
        instances, order = x(epoch + 1), visits(epoch + 1)
        try:
            updates, wrong_tokens = weights.train_epoch(
                instances, y, order, *settings, out_mistakes, choices, stopped and ask
            )
        except _StoppedError:
            interrupted = True
            break
        epoch += 1
        converged = updates == 0
        verdict, better = None, True
        if judge:
            cells = weights.cells(recipe.average)
            verdict = judge(cells, epoch)
            better = best is None or verdict.score > best.score
            if better:
                best = Best(verdict.score, epoch, cells)
        if on_epoch:
            on_epoch(Progress(epoch, updates, wrong_tokens, verdict, better))
    if not epoch:
        raise KeyboardInterrupt
    _, kept, cells = best or (0.0, epoch, weights.cells(recipe.average))
    return Kept(kept, cells, converged, interrupted)
