"""Sentences from lists of values in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from seqtag.corpus.sentence import Sentence, SpanSentence
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MEMORY = "<memory>"

Values: TypeAlias = "Sequence[str] | Sequence[tuple[str, ...]] | Mapping[str, Sequence[str]]"
"""A sentence in plain Python: words; a tuple for each word; or a list for each column."""

Labels: TypeAlias = "Sequence[str | None]"
"""The labels of a sentence, one per word; None where a word has none."""


def sentence_of(
    columns: Mapping[str, Sequence[str]], *, source: str = _MEMORY, line: int = 1
) -> Sentence:
    """Make a sentence from columns in memory, for training and tagging without a file.

    Any string is a value, also one that no file format could hold (a word with a line break).
    As no file stands behind it, `raw` is empty and `replace` has nothing to write into:
    use :func:`seqtag.corpus.write`.

    Parameters
    ----------
    columns
        One value per word for each column. Values are copied. No values: a sentence without
        words.
    source, line
        What messages call the sentence: a name for the collection it belongs to, and its number
        there, counted from 1.

    Raises
    ------
    CorpusError
        If columns differ in length, or one is not made of strings.

    Examples
    --------
    >>> sentence = sentence_of({"form": ["The", "dog"], "pos": ["DT", "NN"]})
    >>> sentence.words, sentence.column("pos"), sentence.columns
    (['The', 'dog'], ['DT', 'NN'], ('form', 'pos'))
    """
    values: dict[str, list[str]] = {}
    count: int | None = None
    for name, given in columns.items():
        if isinstance(given, str):
            msg = (
                f"expected a list of values in the column {name!r}, found the string "
                f"{given[:40]!r}; split it first"
            )
            raise CorpusError(msg, source=source, line=line)
        values[name] = list(given)
        count = len(values[name]) if count is None else count
        if len(values[name]) != count:
            msg = (
                f"expected {count} values in the column {name!r}, one per word, "
                f"found {len(values[name])}; give one value per word"
            )
            raise CorpusError(msg, source=source, line=line)
        for word, value in enumerate(values[name], 1):
            if not isinstance(value, str):
                msg = (
                    f"expected a string in the column {name!r}, found {value!r} for "
                    f"word {word}; give every word a value, or leave the sentence "
                    "out"
                )
                raise CorpusError(msg, source=source, line=line)
    return SpanSentence("", source, line, values, [0] * (count or 0), {})


def sentences_of(
    sentences: Iterable[Values],
    labels: Iterable[Labels],
    label: str = "label",
    *,
    columns: Sequence[str] | None = None,
    missing: str = "",
) -> Iterator[Sentence]:
    """Make sentences from plain lists and the labels of their words.

    Parameters
    ----------
    sentences
        Each a list of words; a list of tuples, with the names of their values in `columns`; or a
        dictionary with a list of values for each column.
    labels
        For each sentence a list with a label for each word, or None.
    label
        Name of the column that the labels become.
    columns
        Names of the values of tuples.
    missing
        The label of words that have None.

    Raises
    ------
    CorpusError
        If there are more sentences than lists of labels or fewer, a sentence has more words than
        labels or fewer, or a column of the label's name; or as `sentence_of` does.

    Examples
    --------
    >>> [sentence] = sentences_of([["The", "dog"]], [["DT", "NN"]])
    >>> sentence.words, sentence.column("label")
    (['The', 'dog'], ['DT', 'NN'])
    >>> rows = {"form": ["The", "dog"], "lower": ["the", "dog"]}
    >>> [sentence] = sentences_of([rows], [["DT", None]], missing="?")
    >>> sentence.column("lower"), sentence.column("label")
    (['the', 'dog'], ['DT', '?'])
    """
    rest = iter(labels)
    number = 0
    for number, values in enumerate(sentences, 1):
        found = next(rest, None)
        if found is None:
            msg = (
                f"expected labels for every sentence, found {number - 1} lists of labels; add some"
            )
            raise CorpusError(msg, source=_MEMORY, line=number)
        named = _columns_of(values, columns, number)
        if label in named:
            msg = (
                f"expected the labels by themselves, found a column {label!r} with the words; name "
                "the labels otherwise with label=..., or leave the column out"
            )
            raise CorpusError(msg, source=_MEMORY, line=number)
        if isinstance(found, str):
            named[label] = found  # which is refused
        else:
            named[label] = [missing if value is None else value for value in found]
        yield sentence_of(named, line=number)
    if next(rest, None) is not None:
        msg = f"expected labels for {number} sentences, found more lists of labels; leave some out"
        raise CorpusError(msg, source=_MEMORY, line=number + 1)


def _columns_of(
    values: Values, columns: Sequence[str] | None, number: int
) -> dict[str, Sequence[str]]:
    """Return the columns of a sentence by name."""
    if isinstance(values, Mapping):
        return dict(values)
    names = columns or ("form",)
    if isinstance(values, str):
        return dict.fromkeys(names, values)  # which is refused
    words: list[Any] = list(values)
    if not any(isinstance(word, (tuple, list)) for word in words) and len(names) == 1:
        return {names[0]: words}
    if columns is None:
        msg = (
            f"expected words as strings, found {words[0]!r:.60}; name the values of tuples with "
            'columns=["form", ...], or give a dictionary with a list for each column'
        )
        raise CorpusError(msg, source=_MEMORY, line=number)
    for word in words:
        if not isinstance(word, (tuple, list)) or len(word) != len(columns):
            msg = f"expected a tuple ({', '.join(columns)}) for every word, found {word!r:.60}"
            raise CorpusError(msg, source=_MEMORY, line=number)
    rows = zip(*words, strict=True) if words else ([] for _ in columns)
    return dict(zip(columns, rows, strict=True))
