"""Sentences of any kind as columns of values, and batches of them as type ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from seqtag.corpus import read
from seqtag.corpus.column_files import column_name
from seqtag.corpus.shapes import is_file, table_of
from seqtag.engine.arrays import Allowed, pointers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conllu import TokenList
    from numpy.typing import NDArray

    from seqtag.labels.column import HasColumns
    from seqtag.tagging.workspace import Workspace

NO_LABEL = "_"
"""The value of a column where a word has no label."""

AnySentence: TypeAlias = (
    "Sequence[str] | Sequence[tuple[str, ...]] | Mapping[str, Sequence[str]] | HasColumns"
    " | TokenList"
)
"""A sentence as `Tagger.tag` takes it."""

FixedLabels: TypeAlias = "Sequence[str | None]"
"""Labels of a sentence that must stay: one for each word, None where any label may be chosen."""

Tokens = list[dict[str, Any]]
"""The words of a ``conllu.TokenList``."""


# ----------------------------------------------------------------- one sentence
def columns_of(sentence: Any, columns: Sequence[str]) -> Sequence[Sequence[str]]:
    """Return the values of each column of a sentence; the forms if no column is named.

    Raises
    ------
    TypeError
        If it is None or one string, or lacks values of a column.

    Examples
    --------
    >>> columns_of([("Time", "NN"), ("flies", "VBZ")], ["form", "pos"])
    [('Time', 'flies'), ('NN', 'VBZ')]
    >>> columns_of({"form": ["Time"], "pos": ["NN"]}, ["form"])
    [['Time']]
    """
    if hasattr(sentence, "column") and not hasattr(sentence, "to_pydict"):  # a Sentence
        return [sentence.column(name) for name in columns or ("form",)]
    tokens = tokens_of(sentence)
    if tokens is not None:
        from conllu.serializer import serialize_field

        return [[serialize_field(token[name]) for token in tokens] for name in columns or ("form",)]
    table = table_of(sentence)
    if table is not None:
        return _columns_of_mapping(table, columns or ("form",))
    if is_file(sentence) or isinstance(sentence, bytes) or not isinstance(sentence, Iterable):
        raise _no_words(sentence)
    if hasattr(sentence, "has_annotation"):  # a document of spaCy
        sentence = [token.text for token in sentence]
    if not hasattr(sentence, "__len__"):
        sentence = list(sentence)
    if len(columns) <= 1:
        return [sentence]
    for values in sentence:
        if isinstance(values, str) or len(values) != len(columns):
            msg = f"expected a tuple ({', '.join(columns)}) for every word, found {values!r}"
            raise TypeError(msg)
    return list(zip(*sentence, strict=True)) or [()] * len(columns)


def sentences_from(data: Any) -> Iterable[Any]:
    """Return the sentences of an open file or a table; those of other collections as they are.

    Raises
    ------
    TypeError
        If it is a text, or no collection.
    """
    table = None if is_file(data) else table_of(data)
    if table is not None or hasattr(data, "read"):
        return read(data if table is None else table)
    if hasattr(data, "to_pylist"):  # a column of Arrow
        return list(data.to_pylist())
    if is_file(data) or isinstance(data, bytes) or not isinstance(data, Iterable):
        raise _no_words(data)
    return data


def _no_words(found: object) -> TypeError:
    """Return the error about a text, a file or nothing in place of words, or of lists of them."""
    return TypeError(
        f"expected a list of words, found {found!r:.60}; split texts, leave out rows without "
        "words, and give files to seqtag.read"
    )


def _columns_of_mapping(
    sentence: Mapping[str, Sequence[str]], columns: Sequence[str]
) -> Sequence[Sequence[str]]:
    sentence = {column_name(str(name)): values for name, values in sentence.items()} | {**sentence}
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


def rows_of_columns(sentences: Sequence[Any], columns: Sequence[str]) -> list[list[Sequence[str]]]:
    """Return for each column its values, sentence by sentence; see `columns_of`.

    Examples
    --------
    >>> rows_of_columns([["Time"], {"form": ["flies"]}], ["form"])
    [[['Time'], ['flies']]]
    """
    if len(columns) <= 1 and {*map(type, sentences)} == {list}:
        return [list(sentences)]
    rows = [columns_of(sentence, columns) for sentence in sentences]
    return [list(map(itemgetter(c), rows)) for c in range(max(1, len(columns)))]


def tokens_of(sentence: Any) -> Tokens | None:
    """Return the words of a ``conllu.TokenList``, or None if the sentence is something else."""
    if type(sentence).__name__ != "TokenList":
        return None
    return [token for token in sentence if isinstance(token["id"], int)]


def fill(tokens: Tokens, values: Mapping[str, Sequence[str]]) -> None:
    """Write the values of some columns into the words of a ``conllu.TokenList``."""
    from conllu.parser import parse_dict_value

    for name, column in values.items():
        for token, value in zip(tokens, column, strict=True):
            is_text = name != "feats" or isinstance(token.get(name), str)
            token[name] = value if is_text else parse_dict_value(value)


# ----------------------------------------------------------------- batches
class Batch(NamedTuple):
    """Sentences as type ids."""

    token_lists: list[Tokens | None]  # of sentences that are conllu.TokenLists; empty if none is
    bounds: list[int]  # where sentences begin, and where the last ends
    types: NDArray[np.int32]  # (columns, tokens) int32
    workspace: Workspace  # has the types by these ids
    forms: list[Sequence[str]]  # of each sentence, if the label coding needs them
    fixed: list[FixedLabels | None]  # the fixed labels of each sentence
    allowed: Allowed | None  # the labels that fixed labels allow for each token

    @property
    def sentence_ptr(self) -> NDArray[np.int64]:
        """The bounds as an array."""
        return np.array(self.bounds, np.int64)


def batches(sentences: Iterable[AnySentence], tokens: int) -> Iterator[list[AnySentence]]:
    """Cut a stream of sentences into batches of about so many tokens."""
    stream, batch, found = iter(sentences), [], 0
    while more := list(islice(stream, 64)):
        batch += more
        found += sum(len(each) for each in more if hasattr(each, "__len__"))
        if found >= tokens:
            yield batch
            batch, found = [], 0
    if batch:
        yield batch


def allowed_of(lists: Sequence[Sequence[int]]) -> Allowed:
    """Return the label ids allowed for each token, given as lists; an empty one allows all."""
    flat = np.fromiter(chain.from_iterable(lists), np.int32)
    return Allowed(pointers(map(len, lists)), flat)


def not_words(words: Iterable[Any], error: Exception) -> Exception:
    """Return the error to raise about words that are not all strings; `error` if all are."""
    wrong = next((word for word in words if not isinstance(word, str)), words)
    if wrong is words:
        return error
    return TypeError(f"expected words as strings, found {wrong!r}")
