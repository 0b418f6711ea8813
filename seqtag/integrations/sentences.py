"""Validation of lists of sentences and their labels, as passed by scikit-learn's tools."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from seqtag.corpus import Sentence, sentence_of
from seqtag.errors import CorpusError, LabelError
from seqtag.labels.column import LabelColumn
from seqtag.training.data import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqtag.training.data import TrainingData

COLUMNS = ("form", "pos")
"""Default names of the columns of tuples."""

LABEL = "label"
"""Name of the label column."""


def labeled_sentences(X: Any, y: Any, source: str = "<X>") -> tuple[list[Any], list[list[str]]]:
    """Return the sentences with tokens, and their labels."""
    check_lengths(X, y, source)
    sentences, gold = [], []
    for number, (sentence, labels) in enumerate(zip(X, y, strict=True), 1):
        for what, given in (("tokens", sentence), ("labels", labels)):
            if not isinstance(given, Iterable):
                msg = f"expected a list of {what} for every sentence, found {given!r:.60}"
                raise CorpusError(msg, source=source, line=number)
        tokens, names = list(sentence), list(labels)
        if len(tokens) != len(names):
            msg = f"expected {len(tokens)} labels, one per token, found {len(names)}"
            raise CorpusError(msg, source=source, line=number)
        others = [name for name in names if not isinstance(name, str)]
        if others:
            msg = f"expected labels as strings, found {others[0]!r:.60}; convert them first"
            raise LabelError(msg, source=source, line=number)
        if tokens:
            sentences.append(tokens)
            gold.append([str(name) for name in names])
    return sentences, gold


def check_lengths(X: Any, y: Any, source: str) -> None:
    """Raise a CorpusError unless X and y are lists of equally many sentences."""
    for name, given in (("X", X), ("y", y)):
        if given is None or isinstance(given, str) or not hasattr(given, "__len__"):
            msg = f"expected {name} as a list of sentences, found {given!r:.60}"
            raise CorpusError(msg, source=source)
        first = next(iter(given), None)  # a table's column has numbers of its own
        if isinstance(first, str):
            msg = (
                f"expected {name} as a list of sentences, found the string {first!r:.60} for the "
                "first; give a list of lists"
            )
            raise CorpusError(msg, source=source)
    if len(X) != len(y):
        msg = f"expected one list of labels per sentence, found {len(X)} and {len(y)}"
        raise CorpusError(msg, source=source)


def column_names(given: Sequence[str] | None, token: Any) -> tuple[str, ...]:
    """Return the names of the columns of tokens like this one."""
    width = 1 if isinstance(token, str) else len(token)
    names = COLUMNS[:width] if given is None else tuple(given)
    if len(names) != width:
        msg = (
            f"expected a name for each of {width} columns, found {len(names)} "
            f"({', '.join(names)}); name them as columns=..."
        )
        raise CorpusError(msg)
    return names


def with_columns(
    sentences: Sequence[Any],
    columns: Sequence[str],
    gold: Sequence[list[str]] = (),
    source: str = "<X>",
) -> Iterator[Sentence]:
    """Yield words or tuples as sentences with named columns, and a column of labels."""
    for number, (tokens, labels) in enumerate(zip_longest(sentences, gold), 1):
        rows = [(token,) if isinstance(token, str) else token for token in tokens]
        for row in rows:
            if not isinstance(row, tuple) or len(row) != len(columns):
                what = "a word" if len(columns) == 1 else f"a tuple ({', '.join(columns)})"
                msg = f"expected {what} for every token, as for the first, found {row!r:.60}"
                raise CorpusError(msg, source=source, line=number)
        values = zip(*rows, strict=True) if rows else [()] * len(columns)
        named = dict(zip(columns, values, strict=True))
        yield sentence_of(
            named if labels is None else named | {LABEL: labels}, source=source, line=number
        )


def training_data(
    sentences: Sequence[Any],
    columns: Sequence[str],
    gold: Sequence[list[str]],
    needed: Sequence[str],
) -> TrainingData:
    """Return words or tuples as training data."""
    corpus = Corpus([list(with_columns(sentences, columns, gold))], (*columns, LABEL), None)
    return corpus.gather(needed, LabelColumn(LABEL))


def quoted(labels: Sequence[str]) -> str:
    """Return the first few labels for a message."""
    return ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")


def classes_of(gold: Iterable[Iterable[str]]) -> list[str]:
    """Return the distinct labels, sorted."""
    return sorted({str(label) for labels in gold for label in labels})
