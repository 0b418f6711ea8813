"""Reader of column files of any layout: header, comments, separators and ends of sentences.

Regular files are read by `seqtag.corpus.table` and the kernel; this reader goes row by row.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seqtag.corpus.conllu import check_columns
from seqtag.corpus.sentence import Span, SpanSentence, split_key, with_values
from seqtag.corpus.table import DOCSTART, is_comment, shorten
from seqtag.corpus.text import lines_of, start_of
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
            values[name] = spelling.read(values[name])
        at = [row[names.index("form")][0] for row in rows]
        spans = {name: [row[i] for row in rows] for i, name in enumerate(names)}
        super().__init__(raw, source, line, values, at, spans)
        self._layout = layout
        self._ends = [row[-1][1] for row in rows]
        self._header = header  # end of the line that names the columns; -1: it has none

    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with the fields of some columns replaced (see `Sentence`)."""
        layout, edits = self._layout, list[tuple[Span, str]]()
        cells = dict(values)
        for name in values:
            if (keyed := split_key(name, self.columns)) is not None:
                base = cells.get(keyed[0]) or self.column(keyed[0])
                cells[keyed[0]] = with_values(keyed[0], base, keyed[1], cells.pop(name))
        forbidden = "\r\n" + (layout.separator[0] + "\t" if layout.separator in "\t+ " else "")
        for name, new in cells.items():
            self._check(name, new, forbidden)
            written = layout.spelling(name).write(new)
            fields = [quoted(value, layout.separator) for value in written]
            if name in self.columns:
                edits += zip(self._editable[name], fields, strict=True)
                continue
            gap = layout.separator[:1] or "\t"
            if self._header >= 0:
                edits.append(((self._header, self._header), gap + name))
            edits += [((e, e), gap + each) for e, each in zip(self._ends, fields, strict=True)]
        parts, done = list[str](), 0
        for (start, end), value in sorted(edits, key=lambda edit: edit[0]):
            parts += (self.raw[done:start], value)
            done = end
        return "".join([*parts, self.raw[done:]])


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


def split_row(text: str, layout_separator: str, *, strip: bool, width: int = 0) -> list[Span]:
    r"""Return the spans of the fields of a line.

    Parameters
    ----------
    text
        The line; white space at its end belongs to no field, but a tab does.
    layout_separator
        As `Layout.separator`.
    strip
        Whether blanks around fields are left out.
    width
        Number of fields, if it is known: a row of one more, two of them empty, holds the separator
        as a word.

    Examples
    --------
    >>> split_row("a\t\tB", "\t", strip=False), split_row('"x,y",O', ",", strip=False)
    ([(0, 1), (2, 2), (3, 4)], [(0, 5), (6, 7)])
    """
    end = len(text.rstrip("\r\n"))
    if layout_separator in (" ", "\t+"):
        field = r"[^ \t]+" if layout_separator == " " else r"[^\t]+"
        return [match.span() for match in re.finditer(field, text[:end])]
    separator = re.escape(layout_separator)
    field = (
        f"[^{separator}]*"
        if layout_separator == "\t"
        else f'"(?:[^"]|"")*"(?= *(?:{separator}|$))|[^{separator}]*'
    )
    spans, at = list[Span](), 0
    pattern = re.compile(field)
    while True:
        if layout_separator != "\t" and strip:
            at = re.compile(" *").match(text, at, end).end()  # type: ignore[union-attr]
        found = pattern.match(text, at, end)
        spans.append(found.span())  # type: ignore[union-attr]
        at = text.find(layout_separator, spans[-1][1], end) + 1
        if not at:
            break
    if width and len(spans) == width + 1 and layout_separator != "\t":
        pair = next(
            (
                i
                for i in range(width)
                if spans[i][0] == spans[i][1] == spans[i + 1][0] - 1
                and spans[i + 1][0] == spans[i + 1][1]
            ),
            None,
        )
        if pair is not None:
            spans[pair : pair + 2] = [(spans[pair][0], spans[pair + 1][1])]
    if strip:
        spans = [_stripped(text, *span) for span in spans]
    return spans


def _stripped(text: str, start: int, end: int) -> Span:
    while start < end and text[end - 1] in _BLANK:
        end -= 1
    while start < end and text[start] in _BLANK:
        start += 1
    return start, end


def is_row(text: str, layout: Layout, *, first: bool) -> bool:
    """Return whether a line that may be a comment is a row; `first` of a sentence or not."""
    spans = split_row(text, layout.separator, strip=layout.strip, width=len(layout.columns))
    if len(spans) != len(layout.columns) or any(a == b for a, b in spans):
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
        self._header_due = layout.header
        self._last = ""  # value that marks the sentence
        self._last_id = -1
        self._ended = False  # whether the last word ends a sentence
        self._start(1)

    def _start(self, line: int) -> None:
        self._texts: list[str] = []
        self._size, self._line, self._header = 0, line, -1
        self._rows: list[list[Span]] = []
        self._error: CorpusError | None = None

    def finish(self) -> Iterator[Sentence]:
        """Yield the sentence that has been read, if there is anything."""
        if self._texts:
            raw = "".join(self._texts)
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
        if not line.strip(_BLANK):
            self._keep(text)
            if has_rows:
                yield from self.finish()
            return
        if self._is_mark(line):
            closes = line.startswith("</") or self._line_mark[:1] not in "<#;/%"
            if has_rows and not closes:
                yield from self.finish()
            self._keep(text)
            if has_rows and closes:
                yield from self.finish()
            return
        if self._is_comment(line, first=not has_rows):
            if layout.format == "conllu-plus":
                check_columns(line, number, layout.columns, self._source)
            self._keep(text)
            return
        if self._header_due:
            self._header_due = False
            self._keep(text)
            self._header = self._size - len(text) + len(text.rstrip("\r\n"))
            return
        spans = split_row(line, layout.separator, strip=layout.strip, width=len(layout.columns))
        values = [line[slice(*span)] for span in spans]
        if self._fits(values, line, number):
            if self._begins(values) and self._rows:
                yield from self.finish()
            if self._id < 0 or not NO_WORD.fullmatch(values[self._id]):
                at = self._size + start
                self._rows.append([(a + at, b + at) for a, b in spans])
                if len(self._rows) > self._stream.limits.sentence:
                    raise self._stream.limits.too_long(self._source, self._line)
        self._keep(text)

    def _keep(self, text: str) -> None:
        self._texts.append(text)
        self._size += len(text)

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
        return text == mark or text.split("\t")[0].strip() == mark

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
        if (len(values) == width or (layout.ragged and len(values) > width)) and values[self._form]:
            return True
        found = f"{len(values)} ({shorten(line.strip())})"
        msg = f"expected {width} columns ({', '.join(layout.columns)}), found {found}"
        if len(values) == width:
            msg = f"expected a value in the column 'form', found an empty field in {shorten(line.strip())}"
        msg += "; complete the line, or name its mark with --comment if it is a comment"
        self._error = self._error or CorpusError(msg, source=self._source, line=number)
        if self._stream.limits.mode != "lenient":
            raise self._error
        return False
