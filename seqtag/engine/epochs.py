"""The one training loop: epochs over the examples, and which epoch's weights are kept.

Taggers and classifiers train here; what differs is how they make their arrays and read the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.engine.arrays import BoolArray, Cells, Cost, Instances, IntArray, Mistakes
    from seqtag.engine.interface import Learner


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


def learn(
    weights: Learner,
    x: Callable[[int], Instances],
    y: IntArray,
    visits: Callable[[int], IntArray],
    recipe: Recipe,
    *,
    judge: Callable[[Cells, int], Verdict] | None = None,
    on_epoch: Callable[[Progress], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
    out_mistakes: list[Mistakes] | None = None,
    choices: BoolArray | None = None,
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
        Asked after each epoch whether another thread has interrupted the run.
    out_mistakes
        One record for each epoch is appended: what was decoded wrongly.
    choices
        Labels that tokens without a certain one may have, (C, K).

    Raises
    ------
    KeyboardInterrupt
        If it comes before an epoch is finished; after that, what was learnt is kept.
    """
    best: tuple[float, int, Cells] | None = None
    done, converged, interrupted = 0, False, False
    how = recipe.rule, recipe.step, recipe.cost, recipe.ties_are_mistakes
    try:
        for epoch in range(1, recipe.epochs + 1):
            updates, wrong = weights.train_epoch(
                x(epoch), y, visits(epoch), *how, out_mistakes, choices
            )
            done, converged = epoch, updates == 0
            verdict, better = None, True
            if judge:
                cells = weights.cells(recipe.average)
                verdict = judge(cells, epoch)
                better = best is None or verdict.score > best[0]
                if better:
                    best = verdict.score, epoch, cells
            if on_epoch:
                on_epoch(Progress(epoch, updates, wrong, verdict, better))
            if recipe.until_right and converged:
                break
            if stopped():
                interrupted = epoch < recipe.epochs
                break
            if best is not None and recipe.patience and epoch - best[1] >= recipe.patience:
                break
    except KeyboardInterrupt:
        if not done:
            raise
        interrupted = True
    _, epoch, cells = best or (0.0, done, weights.cells(recipe.average))
    return Kept(epoch, cells, converged, interrupted)
