"""Texts with other fields: objects of JSON, one after another or in an array."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.corpus.stream import LIMITS
from seqtag.errors import CorpusError
from seqtag.storage import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BLANKS = re.compile(r"[\s\ufeff]*")
_COMMA = re.compile(r"\s*(?:,\s*)?")
_ARRAY = re.compile(r"[\s\ufeff]*\[\s*(?=[\[{\]])")
_CUT_CHARACTERS = 16  # before the end of a piece, where an error may be due to the cut


class JsonValue(NamedTuple):
    """A value of a file of JSON.

    Attributes
    ----------
    value
        The value.
    line
        The line where it begins.
    number
        Its number in an array, from 1; 0 if it is in none.
    """

    value: Any
    line: int
    number: int = 0


def json_values(
    pieces: Iterable[str], source: str | None = None, most: int = LIMITS.line
) -> Iterator[JsonValue]:
    r"""Yield the values of a file of JSON: one after another, or of an array.

    Parameters
    ----------
    pieces
        The text of the file, of which no more than a piece and a value is held.
    source
        Name of the file.
    most
        The most characters of a value that is not complete.

    Raises
    ------
    CorpusError
        At the first place where there is none.

    Examples
    --------
    >>> list(json_values(['{"a": 1}\n{"a', '": 2}\n']))
    [JsonValue(value={'a': 1}, line=1, number=0), JsonValue(value={'a': 2}, line=2, number=0)]
    >>> list(json_values(['[{"a": 1}]']))
    [JsonValue(value={'a': 1}, line=1, number=1)]
    """
    text, line, at, enough, number = "", 1, 0, 0, 0
    between, is_array = _BLANKS, False
    for piece in chain(pieces, [None]):
        text, at = text[at:] + (piece or ""), 0
        if piece is not None and (len(text) < enough or not text.strip("[ \r\n\t\ufeff")):
            continue
        if not number and (array := _ARRAY.match(text)):
            line, at, between, is_array = line + array[0].count("\n"), array.end(), _COMMA, True
        while True:
            begin = between.match(text, at).end()  # type: ignore[union-attr]
            line, at = line + text.count("\n", at, begin), begin
            if at == len(text) or (is_array and text[at] == "]"):
                break
            try:
                value, end = strict_json.next_value(text, at)
            except ValueError as error:
                place, what = getattr(error, "pos", at), getattr(error, "msg", str(error))
                is_cut = what.startswith("Unterminated") or place > len(text) - _CUT_CHARACTERS
                if piece is not None and is_cut and len(text) - at < most:
                    enough = 2 * (len(text) - at)
                    break
                msg = f"expected JSON, found an error ({what}); correct it"
                place = line + text.count("\n", at, place)
                raise CorpusError(msg, source=source, line=place) from error
            number += 1
            yield JsonValue(value, line, number * is_array)
            line, at, enough = line + text.count("\n", at, end), end, 0
    if is_array and text[at:].strip() != "]":
        msg = "expected an array with an end and nothing after it; is the file complete?"
        raise CorpusError(msg, source=source, line=line)
