"""Lines of files: what they are, and the fields of a row."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from seqtag.corpus.sentence import Span
from seqtag.corpus.stream import after_last_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seqtag.corpus.stream import Block, ByteStream

DOCSTART = "-DOCSTART-"
BOM = "\ufeff"
"""Byte order mark: no part of a word at the start of any line."""
_INVISIBLE = f"{BOM}\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
BLANK = " \t\r\n"
"""Characters of blank lines."""

SPACE = BLANK + "\u00a0"
"""Characters around the values of fields, where a layout leaves them out."""

NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")
"""Ids of ranges and empty nodes, which are no words."""

JOINTS = "/_"
"""Characters between word and tag, where both are one word: the last one counts."""

_COMMENT = re.compile(
    r"# [^ \t]+(?: [^ \t]+)? =(?: |$)|# new(?:doc|par)$|#(?:begin|end) document|###[^ \t]+$|"
    r"sep=[,;|]$"
)


def lines_in(blocks: Iterable[Block]) -> Iterator[tuple[str, int]]:
    """Yield each line with its line end, and its number; the byte order mark stays in line 1."""
    for block in blocks:
        lines = block.text.split("\n")
        for number, line in enumerate(lines[:-1], block.line):
            yield line + "\n", number
        if lines[-1]:
            yield lines[-1], block.line + len(lines) - 1


def lines_of(stream: ByteStream, *, returns: bool = True) -> Iterator[tuple[str, int]]:
    """Yield the lines of a stream (see `lines_in`).

    `returns` says whether carriage returns may be without a line feed.
    """
    return lines_in(stream.blocks(after_last_line, returns=returns))


def with_marks_as_spaces(text: str) -> str:
    r"""Return raw text with a space for each byte order mark and mark of direction.

    Such marks are no words and no parts of words; all positions stay.

    >>> with_marks_as_spaces("in \u2068Norvale\u2069.")
    'in  Norvale .'
    """
    if not text.isascii():
        for mark in _INVISIBLE:
            text = text.replace(mark, " ")
    return text


def start_of(raw: str) -> int:
    """Return where a text begins after byte order marks, as files joined by ``cat`` have them."""
    return len(raw) - len(raw.lstrip(BOM))


def is_comment(line: str) -> bool:
    r"""Return whether a line before a sentence of a column file is a comment.

    ``# key = value``, where the key is one or two words, ``# newdoc`` and ``# newpar`` (Universal
    NER, STREUSLE), ``#begin document`` and ``#end document`` (CoNLL-2012), and ``###MEDLINE:1``
    (JNLPBA) are comments, and so is ``sep=;``, which Excel reads. Any other line is a row.

    Examples
    --------
    >>> is_comment("# text = So"), is_comment("#\tNN"), is_comment("# NN")
    (True, False, False)
    """
    return _COMMENT.match(line) is not None


def shorten(text: str) -> str:
    """Quote the beginning of a text on one line."""
    text = text if len(text) <= 40 else text[:37] + "..."
    return '"' + "".join(c if c.isprintable() or c == "\t" else repr(c)[1:-1] for c in text) + '"'


def is_empty(line: str, separator: str) -> bool:
    """Return whether a line has separators only, as spreadsheets write empty rows: ``,,``."""
    return separator in (",", ";", "|") and not line.strip(SPACE + separator)


def field_value(cell: str, separator: str) -> str:
    """Return the value of a field, without quotation marks; ``_`` if it is empty."""
    if separator[:1] not in "\t " and cell[:1] == '"' == cell[-1:] and len(cell) > 1:
        cell = cell[1:-1].replace('""', '"')
    return cell or "_"


def quoted(value: str, separator: str) -> str:
    """Return a value as a field, in quotation marks if the rules of CSV require them."""
    if separator[:1] in "\t " or not (separator in value or value.startswith('"')):
        return value
    return '"{}"'.format(value.replace('"', '""'))


def split_row(text: str, separator: str, width: int = 0) -> list[Span]:
    r"""Return the spans of the fields of a line, without blanks around them.

    Parameters
    ----------
    text
        The line; its end belongs to no field.
    separator
        As `Layout.separator`.
    width
        Number of fields, if it is known: a row of one more, two of them empty, holds the separator
        as a word.

    Examples
    --------
    >>> split_row("a\t\tB \n", "\t"), split_row('"x,y", O', ",")
    ([(0, 1), (2, 2), (3, 4)], [(0, 5), (7, 8)])
    """
    spans = [_stripped(text, *span) for span in field_spans(text, separator)]
    if len(spans) == width + 1 and width and separator != "\t":
        empty = [start == stop for start, stop in spans]
        for i in range(width):
            if empty[i] and empty[i + 1]:
                return [*spans[:i], (spans[i][0], spans[i + 1][1]), *spans[i + 2 :]]
    return spans


def field_spans(text: str, separator: str) -> list[Span]:
    """Return the spans of the fields of a line (see `split_row`), with all blanks."""
    end = len(text.rstrip("\r\n"))
    if separator in (" ", "\t+"):
        fields = re.finditer(r"[^ \t]+" if separator == " " else r"[^\t]+", text[:end])
        return [match.span() for match in fields]
    if separator in JOINTS:
        at = text.rfind(separator, 1, end)
        return [(0, at), (at + 1, end)] if at > 0 else [(0, end)]
    spans, at = list[Span](), 0
    field = _field(re.escape(separator), may_quote=separator != "\t")
    while True:
        found = field.match(text, at, end)
        spans.append(found.span())  # type: ignore[union-attr]
        at = text.find(separator, found.end(), end) + 1  # type: ignore[union-attr]
        if not at:
            return spans


@lru_cache(16)
def _field(mark: str, *, may_quote: bool) -> re.Pattern[str]:
    """Return a pattern of fields; those of CSV may be in quotation marks."""
    quoted = f' *"(?:[^"]|"")*" *(?={mark}|$)|' if may_quote else ""
    return re.compile(f"{quoted}[^{mark}]*")


def _stripped(text: str, start: int, end: int) -> Span:
    """Return a span without the blanks around.

    Blanks between tabs may be a word, and so may no-break spaces.
    """
    first, last = start, end
    while first < last and text[last - 1] in SPACE:
        last -= 1
    while first < last and text[first] in SPACE:
        first += 1
    is_word = first == last and ("\u00a0" in text[start:end] or "\t" in text)
    return (start, end) if is_word else (first, last)
