"""Choice among the tasks of a column: by its labels, or by a trial on held-out sentences.

Only the splitter of multiword tokens is tried: nothing simpler tells which of its two sets of
templates suits a language.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.engine.arrays import pointers
from seqtag.errors import CorpusError
from seqtag.segmentation.multiword import Splitter
from seqtag.training.data import block_numbers
from seqtag.training.interruption import put_off
from seqtag.training.plan import fitting
from seqtag.training.problem import build_problem
from seqtag.training.runs import train_run
from seqtag.training.treebank import examples_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.training.runs import Schedule
    from seqtag.training.task import Task
    from seqtag.training.text_examples import WordExample
    from seqtag.training.treebank import Treebank

TRIAL_RUN = 0
"""Number of the run of a trial, whose random streams no other run has."""

_HELD_OUT_EVERY = 4  # one block in so many is held out
_MOST_TOKENS = 120_000  # of a trial; of larger corpora, blocks are left out
_FEWEST_TOKENS = 2_000  # with fewer, there is no trial
_EPOCHS = 5  # of a trial; they chose as full trials did in 24 of 25
_GOOD_ENOUGH = 0.997  # of the tokens have the right words: nothing else is tried

_log = logging.getLogger("seqtag")


class Split(NamedTuple):
    """Sentences to learn from and held-out sentences, (sentences,) bool each."""

    training: NDArray[np.bool_]
    held_out: NDArray[np.bool_]


def holdout_split(lengths: NDArray[np.int64], most: int = _MOST_TOKENS) -> Split | None:
    """Split training data for a trial; None if there are too few.

    Of every four blocks of adjacent sentences, the second one is held out.

    Parameters
    ----------
    lengths
        Tokens per sentence, (sentences,) int64.
    most
        Approximate number of tokens to use. Of larger corpora, groups of four blocks at regular
        distances are used; the other sentences are in neither part.

    Examples
    --------
    >>> found = holdout_split(np.full(600, 20))
    >>> int(found.training.sum()), int(found.held_out.sum())
    (450, 150)
    """
    sentences, tokens = len(lengths), int(lengths.sum())
    if sentences < 2 * _HELD_OUT_EVERY or tokens < _FEWEST_TOKENS:
        return None
    blocks = block_numbers(sentences, 3 * _HELD_OUT_EVERY)
    group, place = np.divmod(blocks, _HELD_OUT_EVERY)
    kept = group % -(-tokens // most) == 0
    held_out = kept & (place == 1)
    return Split(kept & ~held_out, held_out)


def choose(task: Task, treebank: Treebank, schedule: Schedule) -> Task:
    """Return the task that suits the treebank, among a task and its others.

    Parameters
    ----------
    task
        The task. It is taken if there are too few sentences for a trial, or if others score the
        same.
    treebank
        The training data.
    schedule
        Its seed and stop flag are those of the trial.

    Raises
    ------
    KeyboardInterrupt
        If a trial is interrupted.
    """
    tasks = {each.name: replace(each, others=()) for each in (task, *task.others)}
    if len(tasks) == 1:
        return task
    if not task.reads_text:
        labels = treebank.words.columns[str(task.column)]
        return tasks[fitting([*tasks], treebank.words._replace(labels=labels))]
    scores, tokens = _trial([*tasks.values()], treebank, schedule)
    if len(scores) < 2:
        return tasks[next(iter(scores), task.name)]
    name = max(scores, key=scores.__getitem__)
    facts = {"scores": scores, "metric": "tokens with the right words", "tokens": tokens}
    _log.info(
        "templates %s, by %s on %s tokens held out of the training data (%s)",
        name,
        facts["metric"],
        f"{tokens:,}",
        ", ".join(f"{value}: {100 * score:.2f}" for value, score in scores.items()),
    )
    return replace(tasks[name], chosen={"templates": facts})


def _trial(
    tasks: Sequence[Task], treebank: Treebank, schedule: Schedule
) -> tuple[dict[str, float], int]:
    """Return the scores of splitters by name until one is good enough, and the held-out tokens.

    Tasks that have no examples in the training part are left out.
    """
    cut = holdout_split(treebank.words.lengths)
    if cut is None:
        return {}, 0
    training, held_out = treebank.where(cut.training), treebank.where(cut.held_out)
    scores: dict[str, float] = {}
    for each in tasks:
        try:
            task, examples = examples_of(each, training)
        except CorpusError:  # all multiword tokens are held out
            continue
        task = task.setting(epochs=min(task.settings.epochs, _EPOCHS))
        problem = build_problem(task, examples)
        with put_off(schedule.stop):
            kept = train_run(problem.examples, replace(schedule, on_epoch=None), TRIAL_RUN, None)
        if kept.interrupted:
            raise KeyboardInterrupt
        scores[each.name] = _tokens_right(Splitter(problem.model(kept.cells)), held_out.tokens)
        if scores[each.name] >= _GOOD_ENOUGH:
            break
    return scores, int(held_out.words.lengths.sum())


def _tokens_right(splitter: Splitter, sentences: Sequence[Sequence[WordExample]]) -> float:
    """Return the share of tokens whose words are right."""
    examples = [*chain.from_iterable(sentences)]
    text = "".join(each.place.token for each in examples)
    ptr = pointers([len(each.place.token) for each in examples])
    ends = pointers(list(map(len, sentences)))[1:]
    found = splitter.split(text, ptr[:-1], ptr[1:], ends)
    right = sum(found.get(i) == each.words for i, each in enumerate(examples))
    return right / max(1, len(examples))
