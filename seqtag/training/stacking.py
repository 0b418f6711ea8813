"""Stacking: models that see the labels that other models predict, such as those of a second pass.

A model that sees predicted labels must be trained on labels with the same kind of errors: gold
labels, or predictions of a model that was trained on the sentences, would be trusted too much.
Therefore training sentences are jackknifed: split into folds, and those of each fold are labeled by
a model trained on the others. Pipelines use this as well.

The first of two passes is a model like any other, learned from all sentences. For a dev set, and
for all text later, the second pass sees its predictions. Where a corpus has both UPOS and XPOS, the
first pass predicts both, each with a model of its own, because one often disambiguates the other.
The column that is predicted only for the second pass is called the companion column.
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

_COMPANIONS = {"upos": ("xpos",), "xpos": ("upos",)}
"""Columns that a first pass predicts besides the label column, if the corpus has them."""

_FOLDS = 2  # eight folds and all epochs did not improve it, and took nine times as long
_FOLD_EPOCHS = 3

_log = logging.getLogger("seqtag")


def with_passes(tasks: Sequence[LearningTask]) -> list[LearningTask]:
    """Return the tasks, each with that of a second pass if its settings ask for one or are auto.

    Templates that look at columns of the first pass, such as ``first.upos``, are for the second
    pass only. If a task has none, the second pass gets the usual ones in addition.

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
        available = task.available
        companions = [
            name
            for name in _COMPANIONS.get(task.column.name, ())
            if name in available and name not in task.templates.columns  # those are input columns
        ]
        predicted = [predicted_name(name) for name in (*task.column.columns, *companions)]
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
    """Return the columns besides the label column whose predictions some second pass sees.

    The tasks are one or more, and have the same label column.
    """
    seen = {name for task in tasks if task.second for name in task.second.columns}
    companions = _COMPANIONS.get(tasks[0].column.name, ())
    return [name for name in companions if predicted_name(name) in seen]


def without_unannotated(
    tasks: Sequence[LearningTask], columns: Mapping[str, Column]
) -> list[LearningTask]:
    """Return the tasks without companion columns that are not annotated.

    Such a column has ``_`` at some word, or the same value at all words.

    Parameters
    ----------
    tasks
        The tasks, as returned by `with_passes`.
    columns
        The gold values of the `companion_columns`, by name.
    """
    absent = []
    for name, column in columns.items():
        if "_" in column.types or len(column.types) == 1:
            _log.info(
                "the column %s is not annotated everywhere: not predicted in the first pass", name
            )
            absent.append(predicted_name(name))
    found = []
    for task in tasks:
        second = task.second
        if second is not None:
            templates = without_predicted(second.templates, absent)
            available = tuple(name for name in second.available if name not in absent)
            second = replace(second, templates=templates, available=available)
        found.append(replace(task, second=second))
    return found


def fit_stacked(
    first: Problem,
    task: LearningTask,
    examples: TrainingData,
    schedule: Schedule,
    held_out: TrainingData | None,
) -> Model:
    """Train a model of two passes; return that of the first if interrupted before the second.

    Parameters
    ----------
    first
        The problem of the first pass; the second keeps the settings that were chosen for it.
    task
        The task of the first pass, which contains that of the second.
    examples, held_out
        Training data and dev set, with the columns of both tasks and the companion columns.
    schedule
        The runs of each pass.

    Raises
    ------
    KeyboardInterrupt
        If it comes before an epoch is finished, or a second time.
    """
    second = task.second or task  # never the latter: for type checkers
    settings = replace(first.settings, passes=1)
    _log.info("first pass")
    own = component_schedule(schedule, "first")
    model = fit(replace(first, settings=settings), own, held_out)
    if model.interrupted:
        return model
    models, seen, seen_held_out = [], examples, held_out
    try:
        for name in (first.column.name, *companion_columns([task])):
            if name == first.column.name:
                labeled, first_model = examples, model
                first_task = replace(task, coding=first.coding, settings=settings)
            else:
                _log.info("first pass: %s", name)
                own = component_schedule(replace(schedule, on_epoch=None), f"first-{name}")
                labeled = examples._replace(labels=examples.columns[name], unlabeled=None)
                first_task = replace(
                    task,
                    column=LabelColumn(name),
                    coding=LabelCoding(),
                    settings=replace(task.settings.without_auto(), passes=1),
                )
                problem = build_problem(first_task, labeled)
                first_task = replace(first_task, settings=problem.settings)
                first_model = _fit_all_epochs(problem, own)
            models.append(first_model)
            predicted = _jackknifed(first_task, labeled, first_model, own)
            seen = seen.with_columns(_input_columns(first_model, predicted))
            if seen_held_out is not None:
                predicted = _predict(first_model, seen_held_out)
                seen_held_out = seen_held_out.with_columns(_input_columns(first_model, predicted))
        _log.info("second pass")
        second = replace(second, coding=first.coding, settings=first.settings)
        problem = replace(build_problem(second, seen), origin=first.origin)
        stacked = fit(problem, component_schedule(schedule, "second"), seen_held_out)
    except AtOnce:
        raise
    except KeyboardInterrupt:  # the first-pass model is complete, and a tagger by itself
        return replace(model, training={**model.training, "interrupted": True})
    return replace(stacked, first=tuple(models))


def _fit_all_epochs(problem: Problem, schedule: Schedule) -> Model:
    """Train without a dev set; raise KeyboardInterrupt also if some epochs were finished."""
    model = fit(problem, schedule)
    if model.interrupted:
        raise KeyboardInterrupt
    return model


def _input_columns(model: Model, labels: Column) -> dict[str, Column]:
    """Return predictions of a first-pass model as input columns of the second pass, by name."""
    split = model.column.split(labels.types)
    return {predicted_name(name): Column(values, labels.ids) for name, values in split.items()}


def _predict(model: Model, examples: TrainingData) -> Column:
    """Return the labels that a model predicts, in the encoding that it has learned."""
    ids = Tagger(model).decode_columns(examples.columns, examples.lengths)
    return Column(list(model.labels), ids)


def _jackknifed(
    task: LearningTask, examples: TrainingData, model: Model, schedule: Schedule
) -> Column:
    """Return predictions for the training sentences, each fold's by a model of the others.

    A single sentence has no others: `model`, which was trained on it, predicts its labels.
    """
    if len(examples.lengths) < 2:
        return _predict(model, examples)
    settings = replace(task.settings, epochs=min(_FOLD_EPOCHS, task.settings.epochs))
    fold_task = replace(task, settings=settings)

    def train_and_predict(others: TrainingData, held_out: TrainingData, own: Schedule) -> Column:
        return _predict(_fit_all_epochs(build_problem(fold_task, others), own), held_out)

    return jackknifed(examples, _FOLDS, train_and_predict, schedule)


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
        Number of folds, 2 or more; each takes blocks of adjacent sentences, in turn. With fewer
        sentences than folds, there are as many folds as sentences.
    label
        Function of (sentences to train on, sentences to label, schedule): it trains a model on the
        first and returns its labels of the second, one per token.
    schedule
        The schedule of the complete training. Each fold has one run and checkpoints of its own;
        its threads train folds at the same time.

    Returns
    -------
    Column
        One label per token of `examples`. Labels are numbered fold by fold, in the order in which
        `label` returns them.

    Raises
    ------
    KeyboardInterrupt
        If `label` raises it.
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
    numbered = range(int(fold_of.max()) + 1)
    with put_off(schedule.stop):
        found = in_order(labeled, numbered, schedule.threads)
        for fold, column in zip(numbered, found, strict=True):
            numbers = [number.setdefault(name, len(number)) for name in column.types]
            ids[fold_of_token == fold] = np.array(numbers, np.int32)[column.ids]
    return Column(list(number), ids)


def component_schedule(schedule: Schedule, name: str) -> Schedule:
    """Return the schedule with separate checkpoints for one of several models that are trained."""
    if schedule.checkpoints is None:
        return schedule
    return replace(schedule, checkpoints=schedule.checkpoints.part(name))
