"""Jackknifing: predicted labels of the training sentences, by models not trained on them.

A model that sees predicted labels must be trained on labels with the same kind of errors: gold
labels, or predictions of a model that was trained on the sentences, would be trusted too much.
Therefore the sentences are split into folds, and those of each fold are labeled by a model trained
on the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seqtag.features.encoder import Column
from seqtag.parallel import in_order
from seqtag.training.interruption import put_off

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.training.data import TrainingData
    from seqtag.training.runs import Schedule

_BLOCK = 50  # adjacent sentences stay in one fold: they share their rare words


def jackknifed(
    examples: TrainingData,
    folds: int,
    label: Callable[[TrainingData, TrainingData, Schedule], Column],
    schedule: Schedule,
) -> Column:
    """Return the label of each token, predicted by a model not trained on its sentence.

    Parameters
    ----------
    examples
        Two sentences or more.
    folds
        Number of folds; each takes blocks of adjacent sentences, in turn.
    label
        Trains a model on some sentences by a schedule, and returns its labels of others.
    schedule
        That of the training. The folds have one run each, checkpoints of their own, and share its
        threads.

    Raises
    ------
    KeyboardInterrupt
        If it is interrupted.
    """
    sentences = len(examples.lengths)
    block = max(1, min(_BLOCK, sentences // (2 * folds)))
    fold_of = np.arange(sentences) // block % folds
    quiet = replace(schedule, runs=1, threads=1, on_epoch=None)

    def labeled(fold: int) -> Column:
        others, held_out = examples.where(fold_of != fold), examples.where(fold_of == fold)
        return label(others, held_out, component_schedule(quiet, f"fold-{fold + 1}"))

    number: dict[str, int] = {}
    ids = np.zeros(len(examples.labels.ids), np.int32)
    fold_of_token = np.repeat(fold_of, examples.lengths)
    every = range(min(folds, int(fold_of.max()) + 1))
    with put_off(schedule.stop):
        for fold, column in zip(every, in_order(labeled, every, schedule.threads), strict=True):
            numbers = [number.setdefault(name, len(number)) for name in column.types]
            ids[fold_of_token == fold] = np.array(numbers, np.int32)[column.ids]
    return Column(list(number), ids)


def component_schedule(schedule: Schedule, name: str) -> Schedule:
    """Return the schedule with checkpoints of a component's own."""
    if schedule.checkpoints is None:
        return schedule
    return replace(schedule, checkpoints=schedule.checkpoints.part(name))
