"""Texts with other fields: objects of JSON, one after another or in an array; rows of tables."""

from __future__ import annotations

import csv
import re
import sys
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.corpus.lines import BOM, lines_of
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
_OBJECT = re.compile(r"[\s\ufeff]*(\[\s*)?\{")
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

    text: Any
    fields: Mapping[str, Any]
    line: int
    place: str


def read_texts(stream: ByteStream, column: str | None = None) -> Iterator[TextRecord]:
    """Yield the texts of objects of JSON, or of rows of a table.

    Parameters
    ----------
    stream
        The file.
    column
        Name of the text in objects or in the first row; or its number, from 1, in lines of fields
        between tabs. Without it the file is JSON in one of the layouts of `seqtag.corpus.spans`.

    Raises
    ------
    CorpusError
        If there is no such column, an object has no text, or a row has another number of fields.
    """
    is_json = column is None or stream.head().lstrip(b" \r\n\t\xef\xbb\xbf")[:1] in (b"{", b"[")
    for found in _objects(stream, column) if is_json else _rows(stream, str(column)):
        try:
            found.text.encode()
        except (AttributeError, UnicodeEncodeError):
            msg = (
                f"expected an object with a text in the field {column or 'text'}, found "
                f"{found.text!a:.60}; correct it, or name another field with --text-column"
            )
            stream.warnings.pass_over(CorpusError(msg, source=found.place))
        else:
            yield found


def texts_of_lines(stream: ByteStream, column: str | None = None) -> Iterator[TextRecord]:
    """Yield the lines of a file as texts; those of JSON, or of a column, as `read_texts` does."""
    if column or _OBJECT.match(stream.text_head()):
        yield from read_texts(stream, column)
        return
    for line, number in lines_of(stream):
        yield TextRecord(line.lstrip(BOM).strip(), {}, number, f"{stream.name}:{number}")


def _objects(stream: ByteStream, column: str | None) -> Iterator[TextRecord]:
    """Yield the objects of a file of JSON."""
    pieces = (block.text for block in stream.blocks(after_last_character))
    for value, line, place in json_values(pieces, stream.name):
        fields = value if isinstance(value, dict) else fields_of(value)[0]
        text = fields.get(column) if column else text_of(value)
        yield TextRecord(text, fields, line, place)


def _rows(stream: ByteStream, column: str) -> Iterator[TextRecord]:
    """Yield the rows of a table.

    In lines of fields between tabs, the column of texts is called ``text``, and if another one is
    the first, that ``id``.
    """
    lines = (line for line, _ in lines_of(stream))
    first = next(lines, "").lstrip(BOM)
    csv.field_size_limit(max(csv.field_size_limit(), min(stream.limits.line, sys.maxsize)))
    if column.isdecimal():
        numbers = [*map(str, range(1, first.count("\t") + 2))]
        if column not in numbers:
            msg = (
                f"expected a column from 1 to {len(numbers)}, as there are fields between tabs in "
                f"the first line, found {column}; correct --text-column"
            )
            raise CorpusError(msg, source=stream.name, line=1)
        names = [{"1": "id", column: "text"}.get(number, number) for number in numbers]
        rows = csv.DictReader(chain([first], lines), names, delimiter="\t", quoting=csv.QUOTE_NONE)
        column = "text"
    else:
        marks = {each: next(csv.reader([first], delimiter=each), []) for each in ",\t;|"}
        mark = next((each for each, names in marks.items() if column in names), ",")
        rows = csv.DictReader(chain([first], lines), delimiter=mark, strict=True)
    try:
        names = [*(rows.fieldnames or ())]
        if column not in names or len({*names}) < len(names):
            msg = f"expected columns with {column} once, found {', '.join(names):.200}; correct "
            raise CorpusError(msg + "--text-column", source=stream.name, line=1)
        for row in rows:
            place = f"{stream.name}:{rows.line_num}"
            if None in row or None in row.values():
                msg = f"expected {len(names)} fields as in the first row, found others; correct it"
                stream.warnings.pass_over(CorpusError(msg, source=place))
            else:
                yield TextRecord(row[column], row, rows.line_num, place)
    except csv.Error as error:
        msg = f"expected the fields of a table, found an error ({error}); correct the row"
        raise CorpusError(msg, source=stream.name, line=rows.line_num) from error
