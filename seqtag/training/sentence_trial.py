"""Scores of breaks and of sentence lengths, chosen by cross-validation on the training text.

The margins of breaks in text that was not used in training become log odds by logistic regression.
To these come the log ratio of the frequency of a length in the training data and that expected if
breaks were independent, and a bias: more breaks than are likely make the F1 of sentences higher.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import Instances, pointers
from seqtag.model.sentence_lengths import MOST_LENGTHS, next_break
from seqtag.segmentation.segmenter import SENTENCE
from seqtag.training.choose import TRIAL_RUN
from seqtag.training.data import block_numbers
from seqtag.training.interruption import put_off
from seqtag.training.runs import train_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Cells
    from seqtag.model.model import Model
    from seqtag.training.problem import Problem
    from seqtag.training.runs import Schedule

_FOLDS = 4
_MOST_WORDS = 100_000  # to learn from
_SCORED_WORDS = 10_000  # whose sentences are scored
_FEWEST_WORDS = 2_000
_FEWEST_SENTENCES = 50
_BIASES = (0.0, 0.4, 0.8, 1.2)
_RATIO_SHARE = 0.8  # of the log ratios of lengths
_SMOOTHING_WORDS = 2.5  # the standard deviation by which counts of lengths are smoothed
_LEAST_RATIO, _GREATEST_RATIO = -4.0, 1.0  # log ratios
_NEGLIGIBLE_F1 = 0.005
_NEWTON_STEPS = 30

_log = logging.getLogger("seqtag")


def with_sentence_lengths(model: Model, problem: Problem, schedule: Schedule) -> Model:
    """Return a model of breaks after words with scores of sentence lengths.

    Parameters
    ----------
    model
        The trained model.
    problem
        The problem that it was trained on.
    schedule
        The trial uses its seed and its stop flag.

    Raises
    ------
    KeyboardInterrupt
        If the trial is interrupted.
    """
    x = problem.examples.corpus.instances
    rows = int(x.sentence_ptr[min(len(x.sentence_ptr) - 1, _pieces(x.sentence_ptr, _MOST_WORDS))])
    breaks = problem.examples.y[:rows] == [*problem.labels].index(SENTENCE)
    if rows < _FEWEST_WORDS or breaks.sum() < _FEWEST_SENTENCES or breaks.all():
        return model
    margins = _cross_validated(problem, x, rows, schedule)
    scale, bias = _logistic(margins, breaks)
    if scale <= 0:
        return model
    ratios = _RATIO_SHARE * _log_ratios(np.diff(np.flatnonzero(breaks), prepend=-1))
    unit = model.weights.unit
    judged = min(rows, _SCORED_WORDS)
    whole = np.rint(margins[:judged] / unit).astype(np.int64).tolist()
    tables = {"none": [0]}
    for more in _BIASES:
        scores = np.rint((ratios + bias + more) / scale / unit)
        tables[str(more)] = scores.astype(np.int64).tolist()
    f1 = {name: _f1(breaks[:judged], whole, table) for name, table in tables.items()}
    # The first that is good enough, as other text has fewer breaks that are certain.
    enough = max(f1.values()) - _NEGLIGIBLE_F1
    best = next(name for name, score in f1.items() if score >= enough)
    _log.info(
        "sentence-lengths %s, by F1 on %s words of the training data (%s)",
        best,
        f"{judged:,}",
        ", ".join(f"{name}: {100 * score:.2f}" for name, score in f1.items()),
    )
    facts = {"scores": f1, "metric": "F1 of sentences", "tokens": judged}
    chosen = {**model.training.get("chosen", {}), "sentence_lengths": facts}
    return replace(
        model,
        sentence_lengths=[] if best == "none" else tables[best],
        training={**model.training, "chosen": chosen},
    )


def _pieces(piece_ptr: NDArray[np.int64], rows: int) -> int:
    """Return the number of pieces within so many rows."""
    return int(np.searchsorted(piece_ptr, rows, "right")) - 1


def _cross_validated(
    problem: Problem, x: Instances, rows: int, schedule: Schedule
) -> NDArray[np.float64]:
    """Return the margin of a break at each of the first rows, by a model of the other folds."""
    examples, pieces = problem.examples, _pieces(x.sentence_ptr, rows)
    token_ptr, features = x.written_out(rows)
    lengths, counts = np.diff(x.sentence_ptr[: pieces + 1]), np.diff(token_ptr)
    fold = block_numbers(pieces, 2 * _FOLDS) % _FOLDS
    sentence = [*problem.labels].index(SENTENCE)
    schedule = replace(schedule, on_epoch=None, patience=None)
    margins = np.zeros(rows, np.float64)
    for number in range(_FOLDS):
        others = fold != number
        kept = np.repeat(others, lengths)
        some = Instances(
            pointers(lengths[others]), pointers(counts[kept]), features[np.repeat(kept, counts)]
        )
        part = examples._replace(
            corpus=examples.corpus._replace(instances=some), y=examples.y[:rows][kept]
        )
        with put_off(schedule.stop):
            found = train_run(part, schedule, TRIAL_RUN, None)
        if found.interrupted:
            raise KeyboardInterrupt
        weights = _difference(found.cells, len(examples.corpus.keys), sentence)
        held_out = counts[~kept]
        row = np.repeat(np.arange(len(held_out)), held_out)
        seen = features[np.repeat(~kept, counts)]
        margins[~kept] = np.bincount(row, weights[seen], len(held_out))
    return margins


def _difference(cells: Cells, rows: int, sentence: int) -> NDArray[np.float64]:
    """Return the weight of the label sentence less that of the other label, of each feature."""
    row = np.repeat(np.arange(rows), np.diff(cells.row_ptr))
    sign = np.where(cells.label == sentence, 1.0, -1.0)
    return np.bincount(row, sign * cells.weight, rows).astype(np.float64)


def _logistic(margins: NDArray[np.float64], breaks: NDArray[np.bool_]) -> tuple[float, float]:
    """Return scale and bias of the log odds of breaks as a function of margins.

    >>> margins = np.array([-2.0, -1, 0, 1, 2] * 3)
    >>> scale, bias = _logistic(margins, np.array([False] * 7 + [True] * 8))
    >>> scale > 0
    True
    """
    x, w = np.stack([margins, np.ones(len(margins))], axis=1), np.array([0.0, 0.0])
    for _ in range(_NEWTON_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        curvature = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(2)
        w += np.clip(np.linalg.solve(curvature, x.T @ (breaks - p) - 1e-3 * w), -3, 3)
    return float(w[0]), float(w[1])


def _log_ratios(lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log ratios of the frequencies of lengths and those if breaks were independent."""
    size = 2 * MOST_LENGTHS
    counts = np.bincount(np.minimum(lengths, size) - 1, minlength=size).astype(float)
    kernel = np.exp(-0.5 * (np.arange(-8, 9) / _SMOOTHING_WORDS) ** 2)
    counts = np.convolve(counts, kernel / kernel.sum(), "same") + 0.05
    share = 1 / lengths.mean()
    expected = share * (1 - share) ** np.arange(size)
    ratios = np.log(counts / counts.sum() / np.maximum(expected, 1e-300))
    clipped: NDArray[np.float64] = ratios.clip(_LEAST_RATIO, _GREATEST_RATIO)[:MOST_LENGTHS]
    return clipped


def _f1(breaks: NDArray[np.bool_], margins: Sequence[int], lengths: Sequence[int]) -> float:
    """Return the F1 of sentences if they are found with some scores of lengths."""
    at, total, found = 0, len(margins), []
    while at < total:
        at = next_break(margins, lengths, at, total, closed=True) or total
        found.append(at)
    ends = (np.flatnonzero(breaks) + 1).tolist()
    if ends[-1:] != [total]:
        ends.append(total)
    right = {*zip([0, *ends], ends, strict=False)} & {*zip([0, *found], found, strict=False)}
    return 2 * len(right) / (len(ends) + len(found))
