"""Any sentence to columns: lists of words or tuples, columns, `Sentence`, `conllu.TokenList`."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Tokens = list[dict[str, Any]]
"""The words of a ``conllu.TokenList``."""


def rows_of_columns(sentences: Sequence[Any], columns: Sequence[str]) -> list[list[Sequence[str]]]:
    """The values of each column, sentence by sentence; those of the forms if there is no column.

    Raises
    ------
    TypeError
        As `columns_of`.

    Examples
    --------
    >>> rows_of_columns([["Time"], {"form": ["flies"]}], ["form"])
    [[['Time'], ['flies']]]
    """
    if len(columns) <= 1 and {*map(type, sentences)} == {list}:
        return [list(sentences)]
    rows = [columns_of(sentence, columns) for sentence in sentences]
    return [list(map(itemgetter(c), rows)) for c in range(max(1, len(columns)))]


def columns_of(sentence: Any, columns: Sequence[str]) -> Sequence[Sequence[str]]:
    """A sentence's values of each column; those of the forms if there is no column.

    Raises
    ------
    TypeError
        If it is one string, or lacks values of a column.

    Examples
    --------
    >>> columns_of([("Time", "NN"), ("flies", "VBZ")], ["form", "pos"])
    [('Time', 'flies'), ('NN', 'VBZ')]
    >>> columns_of({"form": ["Time"], "pos": ["NN"]}, ["form"])
    [['Time']]
    """
    if hasattr(sentence, "column"):  # a seqtag.corpus.Sentence
        return [sentence.column(name) for name in columns or ("form",)]
    tokens = tokens_of(sentence)
    if tokens is not None:
        from conllu.serializer import serialize_field

        return [[serialize_field(token[name]) for token in tokens] for name in columns or ("form",)]
    if isinstance(sentence, Mapping):
        return _named(sentence, columns or ("form",))
    if isinstance(sentence, str):
        msg = f"expected a list of words, found the string {sentence[:40]!r}; split it first"
        raise TypeError(msg)
    if len(columns) <= 1:
        return [sentence]
    for values in sentence:
        if isinstance(values, str) or len(values) != len(columns):
            msg = f"expected a tuple ({', '.join(columns)}) for every word, found {values!r}"
            raise TypeError(msg)
    return list(zip(*sentence, strict=True)) or [()] * len(columns)


def _named(
    sentence: Mapping[str, Sequence[str]], columns: Sequence[str]
) -> Sequence[Sequence[str]]:
    """The values of each column of a dictionary of columns."""
    for name in columns:
        values = sentence.get(name)
        if values is None or isinstance(values, str):
            found = ", ".join(sentence) if values is None else repr(values[:40])
            msg = f"expected a list of values for the column {name}, found {found or 'nothing'}"
            raise TypeError(msg)
        if len(values) != len(sentence[columns[0]]):
            msg = (
                f"expected {len(sentence[columns[0]])} values for the column {name}, found "
                f"{len(values)}; give one for each word"
            )
            raise TypeError(msg)
    return [sentence[name] for name in columns]


def tokens_of(sentence: Any) -> Tokens | None:
    """The words of a ``conllu.TokenList``, or None if the sentence is something else."""
    if type(sentence).__name__ != "TokenList":
        return None
    return [token for token in sentence if isinstance(token["id"], int)]


def fill(tokens: Tokens, values: Mapping[str, Sequence[str]]) -> None:
    """Write the values of some columns into the words of a ``conllu.TokenList``."""
    from conllu.parser import parse_dict_value

    for name, column in values.items():
        for token, value in zip(tokens, column, strict=True):
            token[name] = parse_dict_value(value) if name == "feats" else value
