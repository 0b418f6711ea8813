"""Texts with other fields: objects of JSON, one after another or in an array."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.corpus.spans import fields_of, text_of
from seqtag.corpus.stream import LIMITS, after_last_character
from seqtag.errors import CorpusError
from seqtag.storage import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from seqtag.corpus.stream import ByteStream

_BLANKS = re.compile(r"[\s\ufeff]*")
_COMMA = re.compile(r"\s*(?:,\s*)?")
_ARRAY = re.compile(r"[\s\ufeff]*\[\s*(?=[\[{\]])")
_CUT_CHARACTERS = 16  # before the end of a piece, where an error may be due to the cut


def json_values(pieces: Iterable[str], source: str = "") -> Iterator[tuple[Any, int, str]]:
    r"""Yield the values of a file of JSON, one after another or in an array, with their places.

    These are the line where a value begins and, for messages, the file and the line or the number
    in the array.

    Parameters
    ----------
    pieces
        The text of the file, of which no more than a piece and a value is held; a value has no
        more characters than a line may have bytes.
    source
        Name of the file.

    Raises
    ------
    CorpusError
        At the first place where there is none.

    Examples
    --------
    >>> list(json_values(['{"a": 1}\n{"a', '": 2}\n']))
    [({'a': 1}, 1, ':1'), ({'a': 2}, 2, ':2')]
    >>> list(json_values(['[{"a": 1}]'], "x.json"))
    [({'a': 1}, 1, 'x.json:object 1')]
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
                if piece is not None and is_cut and len(text) - at < LIMITS.line:
                    enough = 2 * (len(text) - at)
                    break
                msg = f"expected JSON, found an error ({what}); correct it"
                line += text.count("\n", at, place)
                raise CorpusError(msg, source=source, line=line) from error
            number += 1
            yield value, line, f"{source}:{f'object {number}' if is_array else line}"
            line, at, enough = line + text.count("\n", at, end), end, 0
    if is_array and text[at:].strip() != "]":
        msg = "expected an array with an end and nothing after it; is the file complete?"
        raise CorpusError(msg, source=source, line=line)


class TextRecord(NamedTuple):
    """A text with its other fields.

    Attributes
    ----------
    text
        The text.
    fields
        All fields.
    line, place
        Its places as from `json_values`.
    """

    text: str
    fields: Mapping[str, Any]
    line: int
    place: str


def read_texts(stream: ByteStream) -> Iterator[TextRecord]:
    """Yield the texts of a file of JSON, in one of the layouts of `seqtag.corpus.spans`.

    Raises
    ------
    CorpusError
        If a value has no text, or one that UTF-8 cannot encode.
    """
    pieces = (block.text for block in stream.blocks(after_last_character))
    for value, line, place in json_values(pieces, stream.name):
        text = text_of(value)
        if text is None or text != text.encode("utf-8", "replace").decode():
            msg = f"expected an object with a text, found {value!a:.60}; correct or remove it"
            stream.warnings.pass_over(CorpusError(msg, source=place))
            continue
        fields = value if isinstance(value, dict) else fields_of(value)[0]
        yield TextRecord(text, fields, line, place)
