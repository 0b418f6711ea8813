"""Reader of column files of any layout: header, comments, separators and ends of sentences.

Regular files are read by `seqtag.corpus.table` and the kernel; this reader goes row by row.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING

from seqtag.corpus.conllu import check_columns
from seqtag.corpus.layout import NO_ROWS
from seqtag.corpus.sentence import Span, SpanSentence
from seqtag.corpus.table import DOCSTART, is_comment, shorten
from seqtag.corpus.text import lines_of, start_of
from seqtag.corpus.warnings import LONE_RETURN
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from seqtag.corpus.layout import Layout
    from seqtag.corpus.sentence import Sentence
    from seqtag.corpus.stream import ByteStream

ENDS = frozenset(".!?。！？．؟।॥։…")
"""Words that end a sentence."""

CLOSERS = frozenset(["''", '"', "”", "»", "’", ")", "]", "}"])
"""Words after the end of a sentence that belong to it."""

NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")
"""Ids of ranges and empty nodes, which are no words."""

JOINTS = "/_"
"""Characters between word and tag, where both are one word: the last one counts."""

_BLANK = " \t\r\n\u00a0"


class RowSentence(SpanSentence):
    """Sentence of rows, whose fields are spans of `raw`."""

    __slots__ = ("_ends", "_header", "_layout")

    def __init__(
        self,
        raw: str,
        source: str,
        line: int,
        rows: Sequence[Sequence[Span]],
        layout: Layout,
        header: int,
    ):
        names = layout.columns
        values = {
            name: [field_value(raw[slice(*row[i])], layout.separator) for row in rows]
            for i, name in enumerate(names)
        }
        for name, spelling in layout.spellings:
            if name in values:  # else it is the spelling of a column to come
                values[name] = spelling.read(values[name])
        at = [row[names.index("form")][0] for row in rows]
        spans = {name: [row[i] for row in rows] for i, name in enumerate(names)}
        super().__init__(raw, source, line, values, at, spans)
        self._layout = layout
        self._ends = [row[-1][1] for row in rows]
        self._header = header  # end of the line that names the columns; -1: it has none

    @property
    def comments(self) -> list[str]:
        """Non-blank lines before the first word, but for the one that names the columns."""
        lines = self.raw[: min(self._at, default=None)].split("\n")
        return [line.rstrip("\r") for line in lines[:-1] if line.strip()]

    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with the fields of some columns replaced (see `Sentence`)."""
        layout, edits = self._layout, list[tuple[Span, str]]()
        forbidden = "\r\n" + (layout.separator[0] + "\t" if layout.separator in "\t+ " else "")
        for name, new in self._with_keys(values, forbidden).items():
            self._check(name, new, forbidden)
            written = layout.spelling(name).write(new)
            fields = [quoted(value, layout.separator) for value in written]
            if name in self.columns:  # values that stay the same keep their bytes
                pairs = zip(self._values[name], new, strict=True)
                changed = [old != value for old, value in pairs]
                edits += compress(zip(self._editable[name], fields, strict=True), changed)
                continue
            gap = layout.separator[:1] or "\t"
            if self._header >= 0:
                edits.append(((self._header, self._header), gap + name))
            edits += [((e, e), gap + each) for e, each in zip(self._ends, fields, strict=True)]
        return self._edited(edits)


def is_empty(line: str, separator: str) -> bool:
    """Return whether a line has separators only, as spreadsheets write empty rows: ``,,``."""
    return separator in (",", ";", "|") and not line.strip(_BLANK + separator)


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
    end = len(text.rstrip("\r\n"))
    if separator in (" ", "\t+"):
        fields = re.finditer(r"[^ \t]+" if separator == " " else r"[^\t]+", text[:end])
        return [_stripped(text, *match.span()) for match in fields]
    if separator in JOINTS:
        at = text.rfind(separator, 1, end)
        return [(0, at), (at + 1, end)] if at > 0 else [(0, end)]
    spans, at, mark = list[Span](), 0, re.escape(separator)
    field = _field(mark, may_quote=separator != "\t")
    while True:
        found = field.match(text, at, end)
        spans.append(_stripped(text, *found.span()))  # type: ignore[union-attr]
        at = text.find(separator, found.end(), end) + 1  # type: ignore[union-attr]
        if not at:
            break
    if len(spans) == width + 1 and width and separator != "\t":
        empty = [start == stop for start, stop in spans]
        for i in range(width):
            if empty[i] and empty[i + 1]:
                return [*spans[:i], (spans[i][0], spans[i + 1][1]), *spans[i + 2 :]]
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
    while first < last and text[last - 1] in _BLANK:
        last -= 1
    while first < last and text[first] in _BLANK:
        first += 1
    is_word = first == last and ("\u00a0" in text[start:end] or "\t" in text)
    return (start, end) if is_word else (first, last)


def is_row(text: str, layout: Layout, *, first: bool) -> bool:
    """Return whether a line that may be a comment is a row; `first` of a sentence or not."""
    spans = split_row(text, layout.separator, len(layout.columns))
    if len(spans) != len(layout.columns) or any(a == b for a, b in spans):
        return False
    if layout.labels == NO_ROWS:
        return False
    return not layout.labels or not first or text[slice(*spans[-1])] in layout.labels


def read_rows(stream: ByteStream, source: str, layout: Layout) -> Iterator[Sentence]:
    """Yield the sentences of a column file of any layout; joined, their texts are the file."""
    reader = _Rows(source, layout, stream)
    for text, number in lines_of(stream):
        yield from reader.take(text, number)
    yield from reader.finish()


class _Rows:
    """Rows of the sentence that is being read."""

    def __init__(self, source: str, layout: Layout, stream: ByteStream):
        self._source, self._layout, self._stream = source, layout, stream
        names = layout.columns
        self._form = names.index("form")
        self._id = names.index("id") if "id" in names else -1
        mark = layout.sentences
        self._mark = names.index(mark) if mark in names else -1
        self._line_mark = mark if mark not in ("blank", "restart", "punctuation", *names) else ""
        self._head = ""  # the line that names the columns
        self._last = ""  # value that marks the sentence
        self._last_id = -1
        self._ended = False  # whether the last word ends a sentence
        self._asides: list[str] = []  # comments that are not kept yet
        self._start(1)

    def _start(self, line: int) -> None:
        self._texts: list[str] = []
        self._size, self._line, self._header = 0, line, -1
        self._rows: list[list[Span]] = []
        self._error: CorpusError | None = None

    def finish(self) -> Iterator[Sentence]:
        """Yield the sentence that has been read with all lines so far, if there is anything."""
        self._keep()
        yield from self._end()

    def _end(self) -> Iterator[Sentence]:
        if raw := "".join(self._texts):
            rows = self._rows
            if self._error is not None:
                self._stream.warnings.pass_over(self._error)
                rows = []
            line = self._line + raw.count("\n")
            yield RowSentence(raw, self._source, self._line, rows, self._layout, self._header)
            self._start(line)

    def take(self, text: str, number: int) -> Iterator[Sentence]:
        """Take a line; yield the sentence that it ends."""
        layout, start = self._layout, start_of(text)
        line = text[start:]
        has_rows = bool(self._rows) or self._error is not None
        is_blank = not line.strip(_BLANK) or is_empty(line, layout.separator)
        if is_blank or self._is_mark(line):
            closes = is_blank or line.startswith("</") or self._line_mark[:1] not in "<#;/%"
            if has_rows and not closes:
                yield from self._end()
            self._keep(text)
            if has_rows and closes:
                yield from self._end()
            return
        if self._is_comment(line, first=not has_rows or layout.sentences != "blank"):
            if layout.format == "conllu-plus":
                check_columns(line, number, layout.columns, self._source)
            self._asides.append(text)
            return
        if layout.header and self._head in ("", line.strip()):
            self._head = line.strip()
            self._keep(text)
            self._header = self._size - len(text) + len(text.rstrip("\r\n"))
            return
        spans = split_row(line, layout.separator, len(layout.columns))
        values = [line[slice(*span)] for span in spans]
        if self._fits(values, line, number):
            if self._begins(values) and self._rows:
                yield from self._end()
            self._keep()
            if self._id < 0 or not NO_WORD.fullmatch(values[self._id]):
                at = self._size + start
                self._rows.append([(a + at, b + at) for a, b in spans])
                if len(self._rows) > self._stream.limits.sentence:
                    raise self._stream.limits.too_long(self._source, self._line)
        self._keep(text)

    def _keep(self, text: str = "") -> None:
        """Keep a line, and the comments before it."""
        self._texts += (*self._asides, text)
        self._size += sum(map(len, self._asides)) + len(text)
        self._asides.clear()

    def _is_mark(self, line: str) -> bool:
        mark = self._line_mark
        if not mark:
            return False
        text = line.strip(_BLANK)
        if mark == self._layout.comment or mark.startswith("<"):
            name = mark.strip("<>")
            return text.startswith((mark.rstrip(">"), f"</{name}")) and not (
                mark == self._layout.comment and is_row(line, self._layout, first=True)
            )
        start, end = split_row(text, self._layout.separator)[0]
        return mark in (text, text[start:end])

    def _is_comment(self, line: str, *, first: bool) -> bool:
        if line.startswith(DOCSTART) or (first and is_comment(line.rstrip("\r\n"))):
            return True
        mark = self._layout.comment
        return bool(mark) and line.startswith(mark) and not is_row(line, self._layout, first=first)

    def _begins(self, values: Sequence[str]) -> bool:
        """Return whether a row begins a sentence."""
        how, form, begins = self._layout.sentences, values[self._form], False
        if how == "restart" and values[self._id].isdecimal():
            number = int(values[self._id])
            begins, self._last_id = number <= self._last_id, number
        elif how == "punctuation":
            begins = self._ended and form not in CLOSERS
            self._ended = form in ENDS or (self._ended and not begins)
        elif self._mark >= 0 and values[self._mark]:
            begins, self._last = values[self._mark] != self._last, values[self._mark]
        return begins

    def _fits(self, values: Sequence[str], line: str, number: int) -> bool:
        layout, width = self._layout, len(self._layout.columns)
        if "\r" in line.removesuffix("\n").removesuffix("\r") or line.endswith("\r"):
            return self._refuse(LONE_RETURN, number)
        if (len(values) == width or (layout.ragged and len(values) > width)) and values[self._form]:
            return True
        found = f"{len(values)} ({shorten(line.strip())})"
        msg = f"expected {width} columns ({', '.join(layout.columns)}), found {found}"
        if len(values) == width:
            found = f"an empty field in {shorten(line.strip())}"
            msg = f"expected a value in the column 'form', found {found}"
        advice = "complete the line, or name its mark with --comment if it is a comment"
        return self._refuse(f"{msg}; {advice}", number)

    def _refuse(self, message: str, line: int) -> bool:
        """Return False for a line that does not fit, or raise the error."""
        self._error = self._error or CorpusError(message, source=self._source, line=line)
        if self._stream.limits.mode != "lenient":
            raise self._error
        return False
