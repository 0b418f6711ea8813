"""Lists of names of one or several words: CSV with a name and its type, or one name per line."""

from __future__ import annotations

import csv
import logging
from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING, TypeAlias

from seqtag.engine.keys import LONGEST_PHRASE
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Sequence

Name: TypeAlias = "tuple[str, list[str]]"
"""A name and its type; an empty list if it has none."""

ABOVE_NAMES = "entity", "entry", "form", "name", "phrase", "term", "text", "token", "word"
"""Names that a column of words or names may have in the first line."""

ABOVE_TYPES = "category", "class", "entity", "kind", "label", "ner", "pos", "tag", "type", "upos"
"""Names that a column of values or types may have in the first line."""

SHOWN_TYPES = 5
"""Most types of names to show."""

_SEPARATORS = ",;"
_NEARLY_ALL = 0.95  # of the lines, which show what they are
_MOST_CHARACTERS = 100_000  # of a line
_TELLING_LINES = 10  # of fewer, each may have a type of its own

_log = logging.getLogger("seqtag")


def names_of(lines: Sequence[tuple[int, str]], source: str) -> list[Name]:
    r"""Return the names of a list, each with its type.

    Parameters
    ----------
    lines
        Number and text of each line: all are ``name,type`` or ``name;type``, perhaps with other
        columns under a line that names all; or each is a name, in which a comma is a sign.
    source
        The file, for messages.

    Raises
    ------
    CorpusError
        If they are neither.

    Examples
    --------
    >>> names_of([(1, "New York,city"), (2, '"Acme, Inc.",firm')], "places.csv")
    [('New York', ['city']), ('Acme, Inc.', ['firm'])]
    >>> names_of([(1, "New York"), (2, "Acme, Inc."), (3, "Oslo")], "names.txt")
    [('New York', []), ('Acme, Inc.', []), ('Oslo', [])]
    """
    separator = max(_SEPARATORS, key=lambda sign: sum(sign in text for _, text in lines))
    rows = [_cells(text, separator, source, line) for line, text in lines]
    above = [cell.lstrip("# ").lower() for cell in rows[0]]
    name_at, type_at, width = 0, 1, 2
    if has_heading := len(rows) > 1 and not set(above).isdisjoint(ABOVE_NAMES):
        name_at = next(n for n, cell in enumerate(above) if cell in ABOVE_NAMES)
        types = [n for n, cell in enumerate(above) if cell in ABOVE_TYPES and n != name_at]
        type_at, width = (*types, name_at)[0], len(above)
        _log.warning("%s:%d: %r names the columns and is no entry", source, *lines[0])
        rows, lines = rows[1:], lines[1:]
    if width == 1 or (width == 2 and 2 * sum(len(row) == 1 for row in rows) >= len(rows)):
        texts = [text for _, text in lines]
        both = zip(rows, texts, strict=True)
        named = [(row[0] if len(row) == 1 else text, "") for row, text in both]
    else:
        cells = [row if len(row) == width and row[type_at] else [""] * width for row in rows]
        named = [(row[name_at], row[type_at] if type_at != name_at else "") for row in cells]
    fits = [0 < len(name.split()) <= LONGEST_PHRASE for name, _ in named]
    if not all(fits):
        first, text = lines[fits.index(False)]
        if fits.count(True) < _NEARLY_ALL * len(fits):
            msg = (
                f"expected name{separator}type on each line, or one name, found "
                f"{fits.count(False):,} of {len(fits):,} lines with something else, such as "
                f"{text!r:.60}; write names that contain {separator!r} in quotation marks"
            )
            raise CorpusError(msg, source=source, line=first)
        note = "%s:%d: %r and %d more lines have no name, no type or over %d words: left out"
        _log.warning(note, source, first, text[:60], fits.count(False) - 1, LONGEST_PHRASE)
    found = [(name, [kind] if kind else []) for name, kind in compress(named, fits)]
    kinds = {kind for _, kind in compress(named, fits)}
    if not has_heading and len(found) > _TELLING_LINES and 2 * len(kinds) > len(found):
        msg = (
            f"expected types that names share, found {len(kinds):,} for {len(found):,} names, such "
            f"as {min(kinds)!r:.40}; write names that contain {separator!r} in quotation marks"
        )
        raise CorpusError(msg, source=source, line=lines[0][0])
    return found


def _cells(text: str, separator: str, source: str, line: int) -> list[str]:
    """Return the cells of a line of CSV, with single spaces."""
    try:
        if len(text) > _MOST_CHARACTERS:
            msg = f"more than {_MOST_CHARACTERS:,} characters"
            raise csv.Error(msg)
        [cells] = csv.reader([text], delimiter=separator, skipinitialspace=True)
    except csv.Error as error:
        msg = f"expected a name, found {text!r:.60} ({error}); correct this line"
        raise CorpusError(msg, source=source, line=line) from None
    return [" ".join(cell.split()) for cell in cells]


def note_names(names: Sequence[Name], words: str, source: str) -> None:
    """Log the number of names and types of a list, repetitions, and names of several types."""
    types_of: dict[str, set[str]] = {}
    for name, types in names:
        types_of.setdefault(name if words == "form" else name.lower(), set()).update(types)
    several = [name for name, types in types_of.items() if len(types) > 1]
    counts = Counter(kind for types in types_of.values() for kind in types)
    shown = [f"{kind} {count:,}" for kind, count in counts.most_common(SHOWN_TYPES)]
    how = "as written" if words == "form" else "in any case"
    note = f"{len(types_of):,} names, matched as phrases {how}: {', '.join(shown)}"
    note += f" and {len(counts) - len(shown):,} more types" * (len(counts) > len(shown))
    if again := len(names) - sum(counts.values()):
        note += f"; {again:,} repeated"
    if several:
        note += f"; {len(several):,} have several types, such as {several[0]!r:.60}"
    _log.info("%s: %s", source, note)
