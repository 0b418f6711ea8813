"""Jackknifing: labels of the training sentences by models that have not learnt from them.

What learns from the labels of a model must learn from such as it will get, with their errors: gold
labels, or those of a model that knows the sentences, would teach it to trust them too much.  So
the sentences are cut into folds, and those of each fold are labelled by a model of the others.
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

_BLOCK = 50  # sentences that stand together stay together: they share their rare words


def jackknifed(
    examples: TrainingData,
    folds: int,
    label: Callable[[TrainingData, TrainingData, Schedule], Column],
    schedule: Schedule,
) -> Column:
    """What is said of each token by those who have not seen its sentence.

    Parameters
    ----------
    examples
        Two sentences or more.
    folds
        How many there are; each takes blocks of sentences that stand together, in turn.
    label
        What a model of some sentences, trained as a schedule says, calls the tokens of others.
    schedule
        That of the whole training: the folds have one run, parts of its checkpoints, and its
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

    def labelled(fold: int) -> Column:
        others, held_out = examples.where(fold_of != fold), examples.where(fold_of == fold)
        return label(others, held_out, of_part(quiet, f"fold-{fold + 1}"))

    number: dict[str, int] = {}
    ids = np.zeros(len(examples.labels.ids), np.int32)
    fold_of_token = np.repeat(fold_of, examples.lengths)
    every = range(min(folds, int(fold_of.max()) + 1))
    with put_off(schedule.stop):
        for fold, column in zip(every, in_order(labelled, every, schedule.threads), strict=True):
            numbers = [number.setdefault(name, len(number)) for name in column.types]
            ids[fold_of_token == fold] = np.array(numbers, np.int32)[column.ids]
    return Column(list(number), ids)


def of_part(schedule: Schedule, name: str) -> Schedule:
    """The schedule with checkpoints of a part's own."""
    if schedule.checkpoints is None:
        return schedule
    return replace(schedule, checkpoints=schedule.checkpoints.part(name))
