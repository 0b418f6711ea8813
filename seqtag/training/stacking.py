"""Stacking: models that see the labels that other models predict, such as those of a second pass.

A model that sees predicted labels must be trained on labels with the same kind of errors: gold
labels, or predictions of a model that was trained on the sentences, would be trusted too much.
Therefore training sentences are jackknifed: split into folds, and those of each fold are labeled by
a model trained on the others. Pipelines use this as well.

The first of two passes is a model like any other, learned from all sentences. For a dev set, and
for all text later, the second pass sees its predictions. Where a corpus has both UPOS and XPOS, the
first pass predicts both: one often disambiguates the other.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seqtag.errors import CorpusError
from seqtag.features.encoder import Column
from seqtag.features.language import with_predicted, without_predicted
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import LabelColumn
from seqtag.model.bundle import predicted_name
from seqtag.parallel import in_order
from seqtag.tagging.tagger import Tagger
from seqtag.training.interruption import AtOnce, put_off
from seqtag.training.problem import build_problem
from seqtag.training.runs import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from seqtag.model.model import Model
    from seqtag.training.data import TrainingData
    from seqtag.training.problem import LearningTask, Problem
    from seqtag.training.runs import Schedule

_ALSO = {"upos": ("xpos",), "xpos": ("upos",)}
"""Columns that a first pass predicts besides the label column, if the corpus has them."""

_FOLDS = 2  # eight folds and all epochs did not improve it, and took nine times as long
_FOLD_EPOCHS = 3

_log = logging.getLogger("seqtag")


def with_passes(tasks: Sequence[LearningTask]) -> list[LearningTask]:
    """Return the tasks, each with that of a second pass if its settings ask for one.

    The templates of a task may look at the columns that a first pass predicts.

    Raises
    ------
    CorpusError
        If the corpus has a column of the name of one that a first pass predicts.
    """
    found = []
    for task in tasks:
        if task.settings.passes == 1:
            found.append(task)
            continue
        column, available = task.column, task.available
        also = [name for name in _ALSO.get(column.name, ()) if name in available]
        also = [name for name in also if name not in task.templates.columns]  # given in the input
        predicted = [predicted_name(name) for name in (*column.columns, *also)]
        taken = [name for name in predicted if name in available]
        if taken:
            msg = (
                f"expected a corpus without a column {taken[0]}, which the first of two passes "
                "predicts, found one; give it another name with --columns"
            )
            raise CorpusError(msg)
        templates = with_predicted(task.templates, predicted)
        seen = {*templates.looks_at([*available, *predicted])}
        second = replace(
            task,
            templates=templates,
            available=(*available, *(name for name in predicted if name in seen)),
        )
        first = without_predicted(task.templates, predicted)
        found.append(replace(task, templates=first, second=second))
    return found


def companion_columns(tasks: Sequence[LearningTask]) -> list[str]:
    """Return the columns besides the label column whose predictions some second pass sees."""
    seen = {name for task in tasks if task.second for name in task.second.columns}
    return [name for name in _ALSO.get(tasks[0].column.name, ()) if predicted_name(name) in seen]


def without_unannotated(
    tasks: Sequence[LearningTask], columns: Mapping[str, Column]
) -> list[LearningTask]:
    """Return the tasks without predictions of companion columns that are not annotated.

    Parameters
    ----------
    tasks
        Those of `with_passes`.
    columns
        Those of `companion_columns`.
    """
    absent = []
    for name, column in columns.items():
        if "_" in column.types or len(column.types) == 1:
            _log.info(
                "the column %s is not annotated everywhere: not predicted in the first pass", name
            )
            absent.append(predicted_name(name))
    return [
        task
        if task.second is None
        else replace(
            task,
            second=replace(
                task.second,
                templates=without_predicted(task.second.templates, absent),
                available=tuple(name for name in task.second.available if name not in absent),
            ),
        )
        for task in tasks
    ]


def fit_stacked(
    first: Problem,
    task: LearningTask,
    examples: TrainingData,
    schedule: Schedule,
    held_out: TrainingData | None,
) -> Model:
    """Return the model of two passes, or of the first if it is interrupted before the second.

    Parameters
    ----------
    first
        The problem of the first pass; the second keeps the settings that were chosen for it.
    task
        The task of the first pass, with the second.
    examples, held_out
        Training data and dev set, with the columns of both tasks and the companion columns.
    schedule
        The runs of each pass.

    Raises
    ------
    KeyboardInterrupt
        If it comes before an epoch is finished, or a second time.
    """
    column, second = first.column, task.second or task
    own = component_schedule(schedule, "first")
    once = replace(first, settings=replace(first.settings, passes=1))
    _log.info("first pass")
    model = fit(once, own, held_out)
    if model.interrupted:
        return model
    models, seen, scored = [], examples, held_out
    try:
        for name in (column.name, *companion_columns([task])):
            if name == column.name:
                labeled, found = examples, model
                of_first = replace(task, coding=once.coding, settings=once.settings)
            else:
                _log.info("first pass: %s", name)
                own = component_schedule(replace(schedule, on_epoch=None), f"first-{name}")
                labeled = examples._replace(labels=examples.columns[name], unlabeled=None)
                settings = replace(task.settings.without_auto(), passes=1)
                of_first = replace(
                    task, column=LabelColumn(name), coding=LabelCoding(), settings=settings
                )
                problem = build_problem(of_first, labeled)
                of_first = replace(of_first, settings=problem.settings)
                found = _complete(fit(problem, own))
            models.append(found)
            predicted = _jackknifed(of_first, labeled, found, own)
            seen = seen.with_columns(_first_columns(found, predicted))
            if held_out is not None and scored is not None:
                labels = _labels(found, held_out)
                scored = scored.with_columns(_first_columns(found, labels))
        _log.info("second pass")
        second = replace(second, coding=first.coding, settings=first.settings)
        problem = replace(build_problem(second, seen), origin=first.origin)
        stacked = fit(problem, component_schedule(schedule, "second"), scored)
    except AtOnce:
        raise
    except KeyboardInterrupt:  # the first-pass model is a model by itself
        return replace(model, training={**model.training, "interrupted": True})
    return replace(stacked, first=tuple(models))


def _complete(model: Model) -> Model:
    """Return the model, unless its training was interrupted."""
    if model.interrupted:
        raise KeyboardInterrupt
    return model


def _first_columns(model: Model, labels: Column) -> dict[str, Column]:
    """Return the input columns of the second pass that predictions of a model make."""
    split = model.column.split(labels.types)
    return {predicted_name(name): Column(values, labels.ids) for name, values in split.items()}


def _labels(model: Model, examples: TrainingData) -> Column:
    """Return the labels that a model predicts, as it has learned them."""
    ids = Tagger(model).decode_columns(examples.columns, examples.lengths)
    return Column(list(model.labels), ids)


def _jackknifed(
    task: LearningTask, examples: TrainingData, model: Model, schedule: Schedule
) -> Column:
    """Return predictions for the training sentences, each fold's by a model of the others."""
    if len(examples.lengths) < 2:
        return _labels(model, examples)
    settings = replace(task.settings, epochs=min(_FOLD_EPOCHS, task.settings.epochs))
    of_fold = replace(task, settings=settings)

    def predict(others: TrainingData, held_out: TrainingData, own: Schedule) -> Column:
        return _labels(_complete(fit(build_problem(of_fold, others), own)), held_out)

    return jackknifed(examples, _FOLDS, predict, schedule)


# --------------------------------------------------------------------------- jackknifing
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
