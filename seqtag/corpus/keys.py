"""Keys of MISC and FEATS as columns: ``misc.NER`` is what ``NER=B-PER|SpaceAfter=No`` has for NER.

A word without the key has the value ``_``, and to write ``_`` removes the key; the other items of
a cell stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

KEYED_COLUMNS = ("feats", "misc")
"""Columns whose cells are lists of ``key=value``."""

_EMPTY = "_"


def split_key(name: str, columns: Collection[str]) -> tuple[str, str] | None:
    """Return column and key of a name such as ``misc.NER``, if it is no column but its base is.

    >>> split_key("misc.NER", ("form", "misc")), split_key("misc", ("form", "misc"))
    (('misc', 'NER'), None)
    """
    base, _, key = name.partition(".")
    is_key = base in KEYED_COLUMNS and key and not {*key} & {*"=| \t"}
    return (base, key) if is_key and name not in columns and base in columns else None


def has_column(name: str, columns: Collection[str]) -> bool:
    """Return whether a file of some columns has a column, or a key of one, by this name."""
    return name in columns or split_key(name, columns) is not None


def values_of(cells: Sequence[str], key: str) -> list[str]:
    """Return the value of a key in each cell, ``_`` where it is missing.

    >>> values_of(["NER=O|SpaceAfter=No", "_"], "NER")
    ['O', '_']
    """
    start = key + "="
    return [
        next((item[len(start) :] for item in cell.split("|") if item.startswith(start)), _EMPTY)
        for cell in cells
    ]


def with_value(cell: str, key: str, value: str | None, *, is_sorted: bool = False) -> str:
    """Return a cell in which a key has another value, or is removed if that is None.

    The key keeps its place. A new one goes to the end, or where it belongs in a sorted cell.

    >>> with_value("SpaceAfter=No", "NER", "O"), with_value("NER=O|X=1", "NER", None)
    ('SpaceAfter=No|NER=O', 'X=1')
    """
    start = key + "="
    items = [item for item in cell.split("|") if item != _EMPTY]
    at = next((i for i, item in enumerate(items) if item.startswith(start)), None)
    if at is None:
        smaller = (item.lower() < start.lower() for item in items)
        at = sum(smaller) if is_sorted else len(items)
    else:
        items = [item for i, item in enumerate(items) if i <= at or not item.startswith(start)]
        del items[at]
    if value is not None:
        items.insert(at, start + value)
    return "|".join(items) or _EMPTY


def with_values(base: str, cells: Sequence[str], key: str, values: Sequence[str]) -> list[str]:
    """Return the cells of the column `base` with the values of a key."""
    return [
        with_value(cell, key, None if value == _EMPTY else value, is_sorted=base == "feats")
        for cell, value in zip(cells, values, strict=True)
    ]


def into_misc(misc: Sequence[str], columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the values of MISC with further columns in it, as ``Chunk=B-NP``.

    A value that is there already is replaced where it stands; a new one goes to the end.

    Parameters
    ----------
    misc
        MISC of each word; ``_`` if there is none.
    columns
        The columns to add, one value per word. Names begin with a capital letter in MISC, except
        those such as ``misc.name``, which give the key as it is.

    Examples
    --------
    >>> into_misc(["_", "Chunk=O|SpaceAfter=No"], {"chunk": ["B-NP", "I-NP"]})
    ['Chunk=B-NP', 'Chunk=I-NP|SpaceAfter=No']
    """
    done = list(misc)
    for name, values in columns.items():
        keyed = split_key(name, ("misc",))
        if keyed:
            done = with_values("misc", done, keyed[1], values)
        else:
            key = f"{name[:1].upper()}{name[1:]}"
            done = [with_value(cell, key, v) for cell, v in zip(done, values, strict=True)]
    return done
