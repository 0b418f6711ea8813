"""The one training loop: epochs over the examples, and which epoch's weights are kept.

Taggers and classifiers train here; what differs is how they make their arrays and read the weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from seqtag.engine import backend
    from seqtag.engine.arrays import Cells, Instances, Mistakes


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


def learn(
    weights: backend.Weights,
    x: Callable[[int], Instances],
    y: np.ndarray,
    order: Callable[[int], np.ndarray],
    *,
    epochs: int,
    rule: str,
    step: float,
    cost: np.ndarray | None,
    ties_are_mistakes: bool = False,
    average: bool = True,
    until_right: bool = False,
    judge: Callable[[Cells, int], Verdict] | None = None,
    patience: int | None = None,
    out_mistakes: list[Mistakes] | None = None,
    on_epoch: Callable[[int, int, int, Verdict | None, bool], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Kept:
    """Train some weights, epoch by epoch.

    Parameters
    ----------
    weights
        Weights in training; changed.
    x, order
        The instances and the order to visit them in, for the epoch of a number from 1.
    y
        Gold label ids, (N,) int32.
    epochs
        At most so many.
    rule, step, cost, ties_are_mistakes, out_mistakes
        As `seqtag.engine.reference.Weights.train_epoch` takes them.
    average
        Whether the averaged weights are judged and kept.
    until_right
        Stop after an epoch without a mistake.
    judge
        Scores the weights after the epoch of a number; the first of the best is kept.
    patience
        Stop after this many epochs that the judge finds no better.
    on_epoch
        Called with the epoch's number, its updates and wrong tokens, the verdict, and whether
        the epoch is the best so far.

    stopped
        Asked after each epoch whether another thread has interrupted the run.

    Raises
    ------
    KeyboardInterrupt
        If it comes before an epoch is finished; after that, what was learnt is kept.
    """
    best: tuple[float, int, Cells] | None = None
    done, converged, interrupted = 0, False, False
    try:
        for epoch in range(1, epochs + 1):
            updates, wrong = weights.train_epoch(
                x(epoch), y, order(epoch), rule, step, cost, ties_are_mistakes, out_mistakes
            )
            done, converged = epoch, updates == 0
            verdict = judge(weights.cells(average), epoch) if judge else None
            better = verdict is None or best is None or verdict.score > best[0]
            if verdict is not None and better:
                best = verdict.score, epoch, weights.cells(average)
            if on_epoch:
                on_epoch(epoch, updates, wrong, verdict, better)
            if until_right and converged:
                break
            if stopped():
                interrupted = epoch < epochs
                break
            if best is not None and patience and epoch - best[1] >= patience:
                break
    except KeyboardInterrupt:
        if not done:
            raise
        interrupted = True
    _, epoch, cells = best or (0.0, done, weights.cells(average))
    return Kept(epoch, cells, converged, interrupted)
