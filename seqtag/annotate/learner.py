"""The learner: in a process of its own it trains on decisions, scores, and orders the texts."""

from __future__ import annotations

import io
import logging
import os
import signal
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.errors import SeqtagError
from seqtag.evaluation import score as score_of
from seqtag.labels.schemes import spans as spans_of
from seqtag.storage import strict_json
from seqtag.tagging.document import sentences_in
from seqtag.tagging.pipeline import Cutter
from seqtag.tagging.streams import TagOptions, tag_stream
from seqtag.training.train import train

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection

    from seqtag.tagging.pipeline import Loaded, Pipeline

_CANDIDATES = 3000  # texts scored in a round
_QUEUE = 200  # texts that a round hands out: more than a person decides while the next one runs
_LEAST_NEW = 5  # decisions that begin another round, if they are a twentieth of all
_DOUBTFUL = 5  # words of a text that a model is least certain of
_EPOCHS = 10

Span = tuple[int, int, str]
"""Where a span begins and ends in a text, in characters, and its label."""


class Task(NamedTuple):
    """What is annotated, as it is sent to the process of the learner."""

    texts: Sequence[str]  # in random order
    labels: Sequence[str]
    column: str | None = None  # name of the labels of words; None if spans have labels
    model: Pipeline | None = None  # labels texts until what is learned is better
    cutter: Cutter = Cutter("en")  # cuts texts into words


class Suggestion(NamedTuple):
    """What a model finds in a text.

    Attributes
    ----------
    text
        The text.
    spans
        Spans, or words with labels.
    doubtful
        Where words with the smallest margins begin.
    certainty
        Mean of these margins: the text with the least is worth most.
    """

    text: str
    spans: Sequence[Span] = ()
    doubtful: Sequence[int] = ()
    certainty: float = 0.0


class Round(NamedTuple):
    """What a round of learning found.

    Attributes
    ----------
    point : tuple of int and float, or None
        Number of the decisions, and F1 of spans, or accuracy of words, on texts drawn at random.
    chosen, drawn : list of Suggestion
        Texts to show: those worth most first; at random.
    """

    point: tuple[int, float] | None = None
    chosen: Sequence[Suggestion] = ()
    drawn: Sequence[Suggestion] = ()


def learned(task: Task, lines: Sequence[bytes]) -> Round:
    """Train on the lines of a file of decisions; return what to show next, if there is a model."""
    rows = [strict_json.loads(line) for line in lines]
    held_out = [row for row in rows if row.get("held_out") and row["answer"] == "accept"]
    others = [line for line, row in zip(lines, rows, strict=True) if not row.get("held_out")]
    options: dict[str, Any] = {"format": "spans", "tokens_from": task.cutter}
    if task.column:
        options = {"format": "jsonl", "label": task.column, "unlabeled": "learn_around"}
    models: list[Loaded] = [task.model] if task.model else []
    trained = partial(train, epochs=_EPOCHS, **options)
    with suppress(SeqtagError):  # there is one label only, for example
        models.append(trained(io.BytesIO(b"".join(others))))
    if not models:
        return Round()
    score, model = max(((_score(task, each, held_out), each) for each in models), key=itemgetter(0))
    if model is not task.model:
        model = trained(io.BytesIO(b"".join(lines)))  # a fourth more, which the score does without
    known = {row["text"] for row in rows}
    pool = [text for text in task.texts if text not in known][:_CANDIDATES]
    found = [*_suggestions(task, model, pool)]
    chosen = sorted(found, key=attrgetter("certainty"))
    point = (len(lines), score) if held_out else None
    return Round(point, chosen[:_QUEUE], found[:_QUEUE])


def _score(task: Task, model: Loaded, rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the F1 of spans on decided texts, or the accuracy on words."""
    if task.column:
        names = ("tokens", task.column)
        rows = [{name: row[name] for name in names} for row in rows if all(row[task.column])]
    return score_of(model, rows).score if rows else 0.0


def _suggestions(task: Task, model: Loaded, texts: Sequence[str]) -> Iterator[Suggestion]:
    """Yield what a model finds in each text."""
    documents = [*task.cutter.pipe(texts)]
    sentences = chain.from_iterable(sentences_in(str(each)) for each in documents)
    tagged = tag_stream(model.taggers, sentences, 1, TagOptions(margin=True))
    tagger = model.taggers[-1]
    for document in documents:
        places = [(start, end) for each in document for _, start, end in each.placed]
        filled = [*islice(tagged, len(document))]
        labels = [label for each in filled for label in each.column(tagger.label)]
        margins = [float(margin) for each in filled for margin in each.column("margin")]
        chunks = [(label, at, at + 1) for at, label in enumerate(labels)]
        if not task.column:
            chunks = spans_of(labels, tagger.label_scheme)
        spans = [
            (places[first][0], places[last - 1][1], label)
            for label, first, last in chunks
            if label in task.labels
        ]
        starts = (start for start, _ in places)
        smallest = sorted(zip(margins, starts, strict=True))[:_DOUBTFUL]
        certainty = sum(margin for margin, _ in smallest) / max(1, len(smallest))
        yield Suggestion(document.text, spans, [start for _, start in smallest], certainty)


def learn(task: Task, path: str, connection: Connection) -> None:
    """Send a round when the other end tells of enough new decisions, until that is gone."""
    logging.getLogger("seqtag").setLevel(logging.CRITICAL)  # the page shows what is learned
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the sender ends at it, and then this process
    os.nice(10)  # the page comes first
    before = -_LEAST_NEW
    with suppress(EOFError, OSError):
        while True:
            count = connection.recv()
            if abs(count - before) >= max(_LEAST_NEW, count // 20):
                lines = Path(path).read_bytes().splitlines(keepends=True)
                before = len(lines)
                connection.send(learned(task, lines))
