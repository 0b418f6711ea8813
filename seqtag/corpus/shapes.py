"""Data of Python programs as files in memory, so that one reader decides what is in them.

Tables and rows are known by their methods: no library of tables is imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

from seqtag.corpus.column_files import column_name
from seqtag.corpus.spans import mostly_spans
from seqtag.corpus.stream import NamedBytes
from seqtag.errors import CorpusError
from seqtag.storage import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "<data>"  # what messages call data that are no file
_MISSING = ("None", "nan", "NaT", "<NA>")  # cells of tables without a value


def is_file(data: object) -> bool:
    """Return whether data are a path or an open file."""
    return isinstance(data, (str, PathLike)) or hasattr(data, "read")


def table_of(data: Any) -> Mapping[Any, Any] | None:
    """Return the columns of a table by name; None for what is no table.

    Parameters
    ----------
    data
        A dictionary, a frame of pandas or polars, a table of Arrow, a dataset; or anything else.

    Examples
    --------
    >>> table_of({"word": ["Stop", "!"]}), table_of(["Stop", "!"])
    ({'word': ['Stop', '!']}, None)
    """
    if isinstance(data, Mapping):
        return data
    if hasattr(data, "to_pydict"):
        return dict(data.to_pydict())
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if names is None or not hasattr(data, "__getitem__"):
        return None
    return {name: list(data[name]) for name in names}


def names_in(table: Any) -> dict[str, list[str]]:
    """Return the names of labels that are numbers, by column, of a dataset or its Arrow table."""
    metadata = getattr(getattr(table, "schema", None), "metadata", None) or {}
    text = metadata.get(b"huggingface", b"{}").decode()
    stored = strict_json.loads(text).get("info", {}).get("features", {})
    features, found = getattr(table, "features", None), {}
    for name, feature in (features if isinstance(features, Mapping) else stored).items():
        for each in (feature, getattr(feature, "feature", None)):
            part = each.get("feature", each) if isinstance(each, dict) else {}
            if known := part.get("names") or getattr(each, "names", None):
                found[name] = list(known)
    return found


def in_memory(data: Any, names: Sequence[str] | None) -> tuple[NamedBytes, dict[str, Any]]:
    """Return data that are no file as one in memory, and options to read it with.

    Parameters
    ----------
    data
        Bytes of a file; a table with a row for each sentence, or for each word; dictionaries, one
        for each row; texts with spans; lists of tuples; documents of spaCy; or token lists of
        conllu.
    names
        Names of columns, where they are given.

    Raises
    ------
    TypeError
        If it is none of these.
    CorpusError
        If columns differ in length.
    """
    if isinstance(data, bytes):
        return NamedBytes(data, _NAME), {}
    if isinstance(data, Sequence) and mostly_spans(data):
        lines = [json.dumps(value, default=index) for value in data]
        return NamedBytes("\n".join(lines).encode(), _NAME), {"format": "spans", "columns": None}
    columns = table_of(data)
    if columns is None and isinstance(data, Iterable):
        items = list(data)
        if items and all(hasattr(each, "serialize") for each in items):  # token lists of conllu
            text = "".join(each.serialize() for each in items)
            return NamedBytes(text.encode(), _NAME), {"columns": None}
        columns = _columns_of(items, names or ("form", "label"))
    titles = {column_name(str(name)): name for name in reversed(columns or ())}
    if columns is None or "form" not in titles:
        found = repr(data) if columns is None else f"the columns {', '.join(map(str, columns))}"
        msg = (
            "expected files, seqtag.corpus.Sentence objects, a table with a column of words such "
            f"as tokens, or lists of pairs (word, label), found {found:.80}; give lists of words "
            "and lists of labels, as in seqtag.train(sentences, labels)"
        )
        raise TypeError(msg)
    if len({*map(len, columns.values())}) > 1:
        found = ", ".join(f"{len(column)} of {name}" for name, column in columns.items())
        msg = f"expected as many rows in each column, found {found:.200}; give a value for each row"
        raise CorpusError(msg)
    words = titles.pop("form")
    rows = zip(*columns.values(), strict=True)
    cells = [each for each in columns[words] if isinstance(each, str)]
    if sum(" " in each for each in cells) > len(cells) / 2:
        msg = f"expected words, found the text {cells[0]!r:.60}; give a list of its words"
        raise TypeError(msg)
    if not cells:  # lists: a row is a sentence
        keys = ["tokens" if name == words else str(name) for name in columns]
        lines = [json.dumps(dict(zip(keys, map(_plain, row), strict=True))) for row in rows]
        return NamedBytes("\n".join(lines).encode(), _NAME), {
            "columns": None,
            "names": names_in(data) or None,
        }
    kept = {words: "form"} | {titles[name]: name for name in ("sentence",) if name in titles}
    given = names or [kept.get(name, "_".join(str(name).split())) for name in columns]
    text = "\n".join("\t".join(map(_cell, row)) for row in rows)
    return NamedBytes(text.encode(), _NAME), {"columns": given, "separator": "tab", "header": False}


def _columns_of(rows: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]] | None:
    """Return the columns of rows: dictionaries, documents of spaCy, lists of tuples; else None."""
    if rows and all(hasattr(each, "has_annotation") for each in rows):
        rows = list(chain.from_iterable(map(_rows_of_spacy, rows)))
    if rows and all(isinstance(each, Mapping) for each in rows):
        keys = dict.fromkeys(chain.from_iterable(rows))
        return {key: [row.get(key) for row in rows] for key in keys}
    tokens = [token for row in rows if isinstance(row, (list, tuple)) for token in row]
    if not tokens or not all(isinstance(row, (list, tuple)) for row in rows):
        return None
    if all(isinstance(row, tuple) for row in rows) and all(
        isinstance(each, list) for each in tokens
    ):
        return None  # zip(sentences, labels): two lists are no pairs, also if they have two items
    if not all(isinstance(each, (list, tuple)) and len(each) == len(names) for each in tokens):
        return None
    return {name: [[word[i] for word in row] for row in rows] for i, name in enumerate(names)}


def _rows_of_spacy(doc: Any) -> Iterator[dict[str, list[str]]]:
    """Yield the sentences of a document of spaCy, with what it has of tags and names."""
    for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc]:
        words = [token for token in sentence if not token.is_space]
        row = {"tokens": [token.text for token in words]}
        for name, flag in (("lemma", "LEMMA"), ("xpos", "TAG"), ("upos", "POS")):
            if doc.has_annotation(flag):
                row[name] = [getattr(token, f"{flag.lower()}_") for token in words]
        if doc.has_annotation("ENT_IOB"):
            pairs = [(token.ent_iob_, token.ent_type_) for token in words]
            row["ner"] = [f"{begin}-{kind}" if kind else "O" for begin, kind in pairs]
        yield row


def _plain(cell: Any) -> Any:
    """Return a cell of a row of a sentence as JSON can hold it; only lists are of interest."""
    if isinstance(cell, (str, float)) or not isinstance(cell, Iterable):
        return None
    return [each.item() if hasattr(each, "item") else each for each in cell]


def _cell(value: Any) -> str:
    """Return a cell of a row of a word."""
    text = str(value)
    return "" if text in _MISSING and not isinstance(value, str) else text
