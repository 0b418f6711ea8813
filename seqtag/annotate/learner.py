"""The learner: in a process of its own it trains on decisions, scores, and orders the texts."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.errors import SeqtagError
from seqtag.evaluation import score
from seqtag.tagging.pipeline import Cutter
from seqtag.tagging.selection import uncertainty
from seqtag.training.train import train

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seqtag.model.model import Model
    from seqtag.tagging.pipeline import Loaded, Pipeline

_CANDIDATES = 3000  # texts scored in a round
_QUEUE = 200  # texts that a round hands out: more than a person decides while the next one runs
_EPOCHS = 10


class Task(NamedTuple):
    """What is annotated, as it is sent to the process of the learner."""

    texts: Sequence[str]  # in random order
    labels: Sequence[str]
    column: str | None = None  # name of the labels of words; None if spans have labels
    model: Pipeline | None = None  # labels texts until what is learned is better
    cutter: Cutter = Cutter("en")  # cuts texts into words


class Round(NamedTuple):
    """What a round of learning found.

    Attributes
    ----------
    model : Model, or None
        What was learned, if it is better than the model of the task.
    point : tuple of int and float, or None
        Number of the decisions, and F1 of spans, or accuracy of words, on texts drawn at random.
    chosen : list of str
        Texts to show, as ``seqtag select`` chooses them.
    """

    model: Model | None = None
    point: tuple[int, float] | None = None
    chosen: Sequence[str] = ()


def learned(task: Task, decisions: Sequence[Mapping[str, Any]]) -> Round:
    """Train on decisions; return what to show next, if there is a model."""
    names = ("tokens", task.column) if task.column else ("text", "spans")
    rows: dict[bool, list[Any]] = {True: [], False: []}  # held out; others
    for each in decisions:
        if each["answer"] == "accept":
            rows[bool(each.get("held_out"))].append({name: each[name] for name in names})
    held_out = [row for row in rows[True] if all(row[names[1]])]  # no word lacks a label
    how = {"label": task.column, "unlabeled": "learn_around", "tokens_from": task.cutter}
    trained = partial(train, epochs=_EPOCHS, **how)
    models: list[Loaded] = [task.model] if task.model else []
    with suppress(SeqtagError):  # there is one label only, for example
        models.append(trained(rows[False]))
    if not models:
        return Round()
    scores = [score(each, held_out).score for each in models]
    model = models[scores.index(max(scores))]
    if model is not task.model:
        model = trained(rows[False] + rows[True])  # for the score, it is a fourth less
    known = {each["text"] for each in decisions}
    pool = [text for text in task.texts if text not in known][:_CANDIDATES]
    order = (-uncertainty(model, pool)).argsort(kind="stable")[:_QUEUE]
    point = (len(decisions), max(scores)) if held_out else None
    better = None if model is task.model else model.models[-1]
    return Round(better, point, [pool[number] for number in order])


def prepare() -> None:
    """Prepare a process: the page comes first, shows what is learned, and ends it."""
    logging.getLogger("seqtag").setLevel(logging.CRITICAL)
    os.setpgid(0, 0)  # signals to the group are for the page, whose pool hangs if this process dies
    os.nice(10)
