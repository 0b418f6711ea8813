"""Word tables in model files: each once, for all models of the file that use it.

``tables`` in the configuration describes them, their arrays are ``tN.NAME``, counted from 0, and
each model lists the numbers of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.errors import ModelFileError
from seqtag.features.templates import NAME
from seqtag.model.container import expect, pack_strings, show, unpack_strings
from seqtag.tables.table import WordTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.model.container import Contents

MOST_TABLES = 64
"""Most tables of a file."""

_TENSOR = re.compile(r"t(0|[1-9][0-9]?)\.(.+)", re.ASCII)
_TENSORS = {
    "hashes": ("u8", 1),
    "numbers": ("u2", 1),
    "values.blob": ("u1", 1),
    "values.offsets": ("i8", 1),
}


def facts_of(table: WordTable) -> dict[str, Any]:
    """Return the description of a table for the configuration."""
    return {
        "name": table.name,
        "words": table.words,
        "kind": table.kind,
        "absent": table.absent,
        "origin": dict(table.origin),
    }


def packed(tables: Sequence[WordTable]) -> dict[str, NDArray[Any]]:
    """Return the arrays of tables.

    Raises
    ------
    ModelFileError
        If there are too many tables, or a value cannot be written.
    """
    _check_number(len(tables), None)
    tensors: dict[str, NDArray[Any]] = {}
    for n, table in enumerate(tables):
        blob, offsets = pack_strings(table.values)
        arrays: tuple[NDArray[Any], ...] = (table.hashes, table.numbers, blob, offsets)
        tensors |= {f"t{n}.{name}": each for name, each in zip(_TENSORS, arrays, strict=True)}
    return tensors


def unpacked(contents: Contents, source: str) -> tuple[Contents, list[WordTable]]:
    """Separate the tables of a file from its other contents.

    Raises
    ------
    ModelFileError
        If they do not have the form of `packed` and `facts_of`.
    TemplateError
        If the hashes of a table do not ascend, a number has no value, or it is too large.
    """
    config, tensors = dict(contents.config), dict(contents.tensors)
    listed = config.pop("tables", [])
    if not isinstance(listed, list) or not all(map(_are_facts, listed)):
        msg = (
            f"expected a list of the tables in the file, found {show(listed)}; "
            "get the file again or retrain"
        )
        raise ModelFileError(msg, source=source)
    _check_number(len(listed), source)
    found: list[dict[str, NDArray[Any]]] = [{} for _ in listed]
    for name in list(tensors):
        match = _TENSOR.fullmatch(name)
        if match and int(match[1]) < len(found):
            found[int(match[1])][match[2]] = tensors.pop(name)
    tables = []
    for facts, arrays in zip(listed, found, strict=True):
        expect(arrays, _TENSORS, source=source)
        hashes, ids, blob, offsets = (np.ascontiguousarray(arrays[name]) for name in _TENSORS)
        values = tuple(unpack_strings(blob, offsets, source=source))
        tables.append(WordTable(hashes=hashes, numbers=ids, values=values, **facts))
    return contents._replace(config=config, tensors=tensors), tables


def chosen(numbers: Any, tables: Sequence[WordTable], source: str) -> list[WordTable]:
    """Return the tables of a model, by the numbers in its configuration.

    Raises
    ------
    ModelFileError
        If they are not numbers of tables with different names.
    """
    fits = isinstance(numbers, list) and all(
        type(n) is int and 0 <= n < len(tables) for n in numbers
    )
    names = {tables[n].name for n in numbers} if fits else ()
    if not fits or len(names) < len(numbers):
        msg = (
            f"expected numbers of the {len(tables)} tables in the file, of different names, found "
            f"{show(numbers)}; get the file again or retrain"
        )
        raise ModelFileError(msg, source=source)
    return [tables[n] for n in numbers]


def _check_number(tables: int, source: str | None) -> None:
    if tables > MOST_TABLES:
        msg = f"expected at most {MOST_TABLES} tables in a file, found {tables}"
        raise ModelFileError(msg, source=source)


def _are_facts(value: Any) -> bool:
    """Return whether a value has the form of `facts_of`."""
    if not isinstance(value, dict) or value.keys() != {"name", "words", "kind", "absent", "origin"}:
        return False
    origin, texts = value["origin"], [value[name] for name in ("name", "words", "kind")]
    return (
        isinstance(origin, dict)
        and all(isinstance(text, str) for text in (*texts, *origin.values()))
        and isinstance(value["absent"], (str, type(None)))
        and bool(re.fullmatch(NAME, value["name"]))
    )
