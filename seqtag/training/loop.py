"""The loop of all trainings: choose, number, fit; label what later tasks look at; the next task.

A tagger is one task. A pipeline is several, whose later ones look at the columns that earlier ones
predict.

A model that sees predicted labels must be trained on labels with the same kind of errors: gold
labels, or predictions of a model that was trained on the sentences, would be trusted too much.
Therefore training sentences are jackknifed: split into folds, and those of each fold are labeled by
a model trained on the others.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.corpus.column_files import counted
from seqtag.engine.arrays import pointers
from seqtag.features.encoder import Column
from seqtag.labels.schemes import OUTSIDE, kind_of, spans
from seqtag.parallel import in_order
from seqtag.tagging.tagger import Tagger
from seqtag.training.choose import choose
from seqtag.training.data import block_numbers, check_data
from seqtag.training.interruption import AtOnce, put_off
from seqtag.training.problem import build_problem, warn_about_many_labels
from seqtag.training.runs import fit
from seqtag.training.sentence_trial import with_sentence_lengths
from seqtag.training.treebank import examples_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from numpy.typing import NDArray

    from seqtag.model.model import Model
    from seqtag.training.data import TrainingData
    from seqtag.training.runs import Schedule
    from seqtag.training.task import Task
    from seqtag.training.treebank import Treebank

_FOLDS = 2  # eight folds and all epochs did not improve later tasks, and took nine times as long
_FOLD_EPOCHS = 3

_RECALL_BIAS = 0.5  # of models that complete: a name learned as O costs more than the reverse

_log = logging.getLogger("seqtag")


class Fitted(NamedTuple):
    """A trained model, and its task as its examples settled it."""

    model: Model
    task: Task


def train_tasks(
    tasks: Sequence[Task],
    treebank: Treebank,
    dev: Treebank | None,
    schedule: Schedule,
    on_component: Callable[[str], None] | None = None,
) -> list[Model]:
    """Train tasks in their order.

    Parameters
    ----------
    tasks
        From `seqtag.training.plan.plan`.
    treebank, dev
        The training data and the dev set, with the columns of all tasks.
    schedule
        The runs of each task.
    on_component
        Called with the name of a task before it is trained.

    Returns
    -------
    list of Model
        One model for each task. An interruption ends the list with the one that was interrupted, if
        that has finished an epoch; the last model records the interruption.

    Raises
    ------
    KeyboardInterrupt
        If it comes before any epoch is finished, or a second time.
    """
    done: list[Model] = []
    try:
        for number, task in enumerate(tasks, 1):
            if on_component:
                on_component(task.column.name)
            fitted = fit_task(choose(task, treebank, schedule), treebank, schedule, dev)
            done.append(fitted.model)
            if fitted.model.interrupted:
                raise KeyboardInterrupt
            seen = {name for later in tasks[number:] for name in later.all_columns}
            if seen & {*task.column.columns}:
                treebank = jackknifed(fitted, treebank, schedule)
                dev = labeled(fitted, dev) if dev is not None else None
    except AtOnce:
        raise
    except KeyboardInterrupt:  # within a task, or between two
        if not done:
            raise
        done[-1] = replace(done[-1], training={**done[-1].training, "interrupted": True})
    return done


def fit_task(
    task: Task, treebank: Treebank, schedule: Schedule, dev: Treebank | None = None
) -> Fitted:
    """Train the model of a task."""
    task, examples = examples_of(task, treebank)
    held_out = None
    if dev is not None and not task.reads_text:
        _, held_out = examples_of(task, dev)
    problem = build_problem(task, examples)
    if not task.reads_text:
        check_data(examples, held_out)
        if not problem.coding.needs_forms:
            words = problem.origin.get("labelled", problem.origin["tokens"])
            warn_about_many_labels(len(problem.labels), words, task.column)
    model = fit(problem, schedule, held_out)
    after_words = task.column.name == "tokens" and "form" in task.columns  # not after characters
    if after_words and not model.interrupted:
        model = with_sentence_lengths(model, problem, schedule)
    return Fitted(model, replace(task, coding=problem.coding))


def labeled(fitted: Fitted, treebank: Treebank) -> Treebank:
    """Return sentences that a task was not trained on, with the labels that it predicts."""
    _, examples = examples_of(fitted.task, treebank)
    return treebank.with_columns(_predict(fitted.model, examples, fitted.task))


def jackknifed(fitted: Fitted, treebank: Treebank, schedule: Schedule) -> Treebank:
    """Return the treebank of a task with labels predicted by models not trained on the sentence.

    Folds take blocks of adjacent sentences, in turn, and values are numbered fold by fold. A single
    sentence has no others: the model of the task predicts its labels.

    Parameters
    ----------
    fitted
        The task and its model.
    treebank
        The treebank that it was trained on.
    schedule
        That of the training: its threads train folds at the same time.

    Raises
    ------
    KeyboardInterrupt
        If the training of a fold is interrupted.
    """
    task = fitted.task.setting(epochs=min(_FOLD_EPOCHS, fitted.task.settings.epochs))
    _, examples = examples_of(task, treebank)
    sentences = len(examples.lengths)
    if sentences < 2:
        return labeled(fitted, treebank)
    fold_of = block_numbers(sentences, 2 * _FOLDS) % _FOLDS
    quiet = replace(schedule, runs=1, threads=1, on_epoch=None)
    of_fold = partial(_label_fold, task, examples, fold_of, quiet)
    names = task.column.columns
    numbers: dict[str, dict[str, int]] = {name: {} for name in names}
    ids = {name: np.zeros(len(examples.labels.ids), np.int32) for name in names}
    fold_of_token = np.repeat(fold_of, examples.lengths)
    with put_off(schedule.stop):
        folds = range(_FOLDS)
        for fold, columns in zip(folds, in_order(of_fold, folds, schedule.threads), strict=True):
            for name, column in columns.items():
                number = numbers[name]
                known = [number.setdefault(value, len(number)) for value in column.types]
                ids[name][fold_of_token == fold] = np.array(known, np.int32)[column.ids]
    return treebank.with_columns({name: Column([*numbers[name]], ids[name]) for name in numbers})


def _label_fold(
    task: Task, examples: TrainingData, fold_of: NDArray[np.int64], schedule: Schedule, fold: int
) -> dict[str, Column]:
    """Return `_predict` for the sentences of a fold, by a model of the others."""
    others, held_out = examples.where(fold_of != fold), examples.where(fold_of == fold)
    model = fit(build_problem(task, others), schedule)
    if model.interrupted:
        raise KeyboardInterrupt
    return _predict(model, held_out, task)


def completed(task: Task, treebank: Treebank, schedule: Schedule) -> Treebank:
    """Return a treebank with chunks of all types in sentences in which some were not annotated.

    Where only persons were annotated, a word labeled ``O`` may be part of a place. Models of the
    sentences in which places were annotated find them; types that were annotated in the same
    sentences are found by one model.

    Leaving these words open to the learner, as those without a label, was measured as well: on
    English names, with persons in half of the documents, and places and organizations in the
    others, it gave 56.5 F1 with a deviation of 8.4, as models drift to their own guesses, where
    completion gives 64.4 with a deviation of 0.5.

    Parameters
    ----------
    task
        The task that is to learn the labels.
    treebank
        The sentences. If all types were annotated in all, they are returned as they are.
    schedule
        That of the training.

    Raises
    ------
    KeyboardInterrupt
        If a training is interrupted.
    """
    quiet = replace(schedule, runs=1, patience=None, on_epoch=None)
    kinds_of: dict[bytes, set[str]] = {}
    for kind, is_open in sorted(treebank.words.open_types.items()):
        kinds_of.setdefault(is_open.tobytes(), set()).add(kind)
    for part, kinds in kinds_of.items():
        treebank = _with_chunks(task, treebank, np.frombuffer(part, bool), kinds, quiet)
    return treebank


def _with_chunks(
    task: Task, treebank: Treebank, is_open: NDArray[np.bool_], kinds: Set[str], schedule: Schedule
) -> Treebank:
    """Return a treebank with chunks of some types that a model of the other sentences finds.

    `is_open`: the sentences in which these types were not annotated, (sentences,) bool.
    """
    name, data = str(task.column), treebank.words
    labels = data.columns[name]
    kept = [v if kind_of(v) in {*kinds, data.unlabeled} else OUTSIDE for v in labels.types]
    known = data.with_columns({name: Column.of_types(kept, labels.ids)})
    others = replace(treebank, words=known).where(~is_open)
    teacher = choose(task, others, schedule).setting(recall_bias=_RECALL_BIAS)
    model = fit_task(teacher, others, schedule).model
    if model.interrupted:
        raise KeyboardInterrupt
    sentences, count = data.where(is_open), 0
    [column] = _predict(model, sentences, task).values()
    found, given = column.values(), sentences.columns[name].values()
    for begin, end in pairwise(pointers(sentences.lengths).tolist()):
        for _, first, last in spans(found[begin:end]):
            chunk = slice(begin + first, begin + last)
            if {*given[chunk]} == {OUTSIDE}:
                given[chunk] = found[chunk]
                count += 1
    values = np.array(labels.types, object)[labels.ids]
    values[np.repeat(is_open, data.lengths)] = given
    chunks = counted(f"{count:,}", "chunk")
    _log.info("%s: a model of other files found %s", ", ".join(sorted(kinds)), chunks)
    return replace(treebank, words=data.with_columns({name: Column.of(values.tolist())}))


def _predict(model: Model, examples: TrainingData, task: Task) -> dict[str, Column]:
    """Return the columns of a task as a model predicts them."""
    tagger = Tagger(model)
    ids = tagger.decode_columns(examples.columns, examples.lengths)
    split = task.column.split(tagger.outputs)
    return {name: Column(types, ids) for name, types in split.items()}
