"""Column files: one word per line, blank lines or other marks between sentences.

Sentences of plain files (CoNLL-U, CoNLL-2000, 2002, 2003, ...) are split at blank lines, and their
fields all at once. The others, with a header, comments, or other separators, go line by line, and
so do sentences of plain files with a line that is not like the others.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from seqtag.corpus.layout import NO_ROWS
from seqtag.corpus.lines import (
    BLANK,
    BOM,
    DOCSTART,
    NO_WORD,
    SPACE,
    field_spans,
    field_value,
    is_comment,
    is_empty,
    lines_in,
    quoted,
    shorten,
    split_row,
    start_of,
)
from seqtag.corpus.sentence import Sentence, Span, edited
from seqtag.corpus.stream import LIMITS
from seqtag.corpus.warnings import LONE_RETURN, FormatWarnings
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus.layout import Layout
    from seqtag.corpus.stream import Block, ReadLimits

ENDS = frozenset(".!?。！？．؟।॥։…")
"""Words that end a sentence."""

CLOSERS = frozenset(["''", '"', "”", "»", "’", ")", "]", "}"])
"""Words after the end of a sentence that belong to it."""

_SENTENCE_END = re.compile(r"\n[ \t]*\r?\n")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")
_GAPS = re.compile(r"^ |  | \r?$", re.MULTILINE)
_BLANKS = ("\t", " ", "\t+")  # separators that cannot be quoted


class TableSentence(Sentence):
    """Sentence whose words are lines and whose columns are fields of these lines.

    All fields are in one flat list, row after row, with the line end as an extra last field of
    every row but the last: a column is a slice, and joining the list gives regular lines back. Of
    other lines, the spans of the fields are known.
    """

    __slots__ = ("_end", "_eol", "_fields", "_header", "_layout", "_rows", "_spans", "_start")

    extensible = True

    def __init__(
        self,
        raw: str,
        source: str,
        line: int,
        layout: Layout,
        fields: list[str],
        rows: list[int] | None,
        start: int,
        end: int,
        eol: str = "",
        spans: Sequence[Sequence[Span]] = (),
        header: int = -1,
    ):
        self.raw, self.source, self.line, self.columns = raw, source, line, layout.columns
        self._layout = layout
        self._fields = fields
        self._rows = rows  # the rows that are words; None: all of them
        self._start, self._end = start, end  # span of the rows in raw
        self._eol = eol
        self._spans = spans  # of the fields of each row, unless they are regular
        self._header = header  # end of the line that names the columns; -1: it has none

    def __len__(self) -> int:
        if self._rows is not None:
            return len(self._rows)
        return (len(self._fields) + 1) // (len(self.columns) + 1)

    def _values_of(self, name: str) -> list[str]:
        values = self._on_all_lines(name)
        return values if self._rows is None else [values[row] for row in self._rows]

    def _on_all_lines(self, name: str) -> list[str]:
        """Return the values of a column on all lines, with or without a word, as a list."""
        return self._fields[self.columns.index(name) :: len(self.columns) + 1]

    @property
    def comments(self) -> list[str]:
        """Non-blank lines before the first word."""
        head = self.raw[: self._start].split("\n")
        return [line.lstrip(BOM).rstrip("\r") for line in head if line.strip(BLANK + BOM)]

    def line_of(self, i: int) -> int:
        """Return the line of the file of word `i`."""
        row = range(len(self))[i] if self._rows is None else self._rows[i]
        if self._spans:
            return self.line + self.raw.count("\n", 0, self._spans[row][0][0])
        return self.line + self.raw.count("\n", 0, self._start) + row

    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with the fields of some columns replaced (see :class:`Sentence`)."""
        separator = self._layout.separator
        forbidden = "\r\n" + (f"\t{separator[0]}" if separator in _BLANKS else "")
        values = self._with_keys(values, forbidden)
        for name, new in values.items():
            if name not in self.columns and not self.extensible:
                raise self._no_column(name)
            self._check(name, new, forbidden)
        # New columns follow the last one, which is replaced first.
        values = dict(sorted(values.items(), key=lambda item: item[0] not in self.columns))
        if self._spans or self._header >= 0:
            return edited(self.raw, self._edits(values))
        return self._joined(values) if self._fields else self.raw

    def _joined(self, values: Mapping[str, Sequence[str]]) -> str:
        """Rebuild regular token lines by joining their fields."""
        fields, width, gap = self._fields.copy(), len(self.columns) + 1, self._layout.separator
        for name, new in values.items():
            if name not in self.columns:
                last = fields[width - 2 :: width]
                between = "\t" if width == 2 else gap
                pairs = zip(last, new, strict=True)
                fields[width - 2 :: width] = [f"{a}{between}{b}" for a, b in pairs]
                continue
            at = self.columns.index(name)
            if self._rows is None:
                fields[at::width] = new
            else:
                for row, value in zip(self._rows, new, strict=True):
                    fields[row * width + at] = value
        body = gap.join(fields).replace(f"{gap}{self._eol}{gap}", self._eol)
        return self.raw[: self._start] + body + self.raw[self._end :]

    def _edits(self, values: Mapping[str, Sequence[str]]) -> Iterator[tuple[Span, str]]:
        """Yield the spans of fields whose values change, or new ones, with their text."""
        separator, names = self._layout.separator, self.columns
        rows = self._spans if self._rows is None else [self._spans[row] for row in self._rows]
        for name, new in values.items():
            written = self._layout.spelling(name).write(new)
            fields = [quoted(value, separator) for value in written]
            if name in names:  # values that stay the same keep their bytes
                at = names.index(name)
                old = self._values_of(name)
                for row, field, changes in zip(
                    rows, fields, map(str.__ne__, old, new), strict=True
                ):
                    if changes:
                        yield row[at], field
                continue
            if self._header >= 0:
                yield (self._header, self._header), separator[0] + name
            for row, field in zip(rows, fields, strict=True):
                end = row[-1][1]
                yield (end, end), self._gap(row) + field

    def _gap(self, row: Sequence[Span]) -> str:
        """Return what separates a new field from the others of a row."""
        separator = self._layout.separator
        if len(row) == 1:
            return "\t" if separator in _BLANKS else separator
        return self.raw[row[-2][1] : row[-1][0]] if separator in (" ", "\t+") else separator


class ColumnReader:
    r"""Read column files of a layout.

    In plain layouts every character but separator and line end is data. Before a sentence, lines
    that start with ``-DOCSTART-`` and comments (`is_comment`) are kept, but are not words.

    Parameters
    ----------
    source
        Name for messages.
    layout
        The layout, with its separator.
    warnings
        Where to record warnings and skipped sentences.
    limits
        Input limits.

    Examples
    --------
    >>> from seqtag.corpus import Block, Layout
    >>> reader = ColumnReader("x.txt", Layout("columns", ("form", "pos"), "\t"))
    >>> [sentence.words for sentence in reader.read([Block("#\tNN\n\n", 1)])]
    [['#']]
    """

    sentence_type: type[TableSentence] = TableSentence
    heads = DOCSTART  # prefix of lines before a sentence that do not count as its rows
    needs_end = False  # whether a blank line must end the last sentence, too

    def __init__(
        self,
        source: str,
        layout: Layout,
        warnings: FormatWarnings | None = None,
        limits: ReadLimits = LIMITS,
    ):
        self.source, self.layout, self.limits = source, layout, limits
        self.warnings = warnings or FormatWarnings(source)
        self.columns = layout.columns
        self.is_plain = layout.is_plain

    def read(self, blocks: Iterable[Block], line: int = 1) -> Iterator[Sentence]:
        """Yield the sentences of blocks, the first of which starts at `line`.

        Their `raw` texts joined are the text of the blocks.
        """
        return self._read_plain(blocks, line) if self.is_plain else self._read_lines(blocks, line)

    # ---- plain layouts: sentence by sentence

    def _read_plain(self, blocks: Iterable[Block], line: int) -> Iterator[Sentence]:
        """Yield the sentences between blank lines."""
        lead, rest = "", ""
        for block in blocks:
            text = block.text
            start = 0
            for match in _SENTENCE_END.finditer(text):
                raw, body_end = text[start : match.end()], match.start() - start
                start = match.end()
                if raw[0] in BLANK and not raw.strip(BLANK):
                    lead += raw  # blank lines open the next sentence
                    continue
                yield self._read_one(lead + raw, len(lead) + body_end, line)
                line += raw.count("\n") + (lead.count("\n") if lead else 0)
                lead = ""
            rest = text[start:]
            if not rest.strip(BLANK):
                lead, rest = lead + rest, ""
        if lead or rest:
            raw = lead + rest
            # White space after the last line break is a blank line without its end.
            trimmed = raw.rstrip(" \t")
            end = len(trimmed) - 1 if trimmed.endswith("\n") else len(raw)
            sentence = self._read_one(raw, end if rest else 0, line)
            yield sentence
            if self.needs_end and len(sentence) and end == len(raw) - raw.endswith("\n"):
                self.warnings.note("cut", line + raw.rstrip("\r\n").count("\n"))

    def _is_head(self, raw: str, start: int) -> bool:
        """Return whether a line before the first word is a comment or begins a document."""
        if raw.startswith("#", start):
            return is_comment(raw[start:].partition("\n")[0].rstrip("\r"))
        return raw.startswith(DOCSTART, start)

    def _read_one(self, raw: str, end: int, line: int) -> Sentence:
        """Return a piece of text as a sentence, without words if it is skipped."""
        try:
            return self._sentence(raw, end, line)
        except CorpusError as error:
            self.warnings.pass_over(error)
            return self._empty(raw, line)

    def _empty(self, raw: str, line: int) -> TableSentence:
        """Return a piece of text without words."""
        size = len(raw)
        return self.sentence_type(raw, self.source, line, self.layout, [], None, size, size)

    def _sentence(self, raw: str, end: int, line: int) -> Sentence:
        """Parse one piece of text whose last token line ends at `end`."""
        start = 0
        if raw[0] in " \t\r\n\ufeff":
            start = int(line == 1 and raw[0] == BOM)
            blank: str = _BLANK_LINES.match(raw, start)[0]  # type: ignore[index]
            start += len(blank)
            lines = blank.split("\n")[:-1]
            if lines:
                self.warnings.note("blank", line, len(lines))
            spaced = [i for i, each in enumerate(lines) if each.strip("\r")]
            if spaced:
                self.warnings.note("spaced", line + spaced[0], len(spaced))
        if len(raw) - end > 2 and end > 0 and raw[end:].strip("\r\n") and raw[-1] == "\n":
            self.warnings.note("spaced", line + raw.count("\n") - 1)
        while True:
            while raw.startswith(BOM, start):  # where files were joined
                start += 1
                start += len(_BLANK_LINES.match(raw, start)[0])  # type: ignore[index]
            if not self._is_head(raw, start):
                break
            start = raw.find("\n", start) + 1 or len(raw)

        eol = "\n"
        if "\r" in raw:
            self._check_returns(raw, line)
            eol = "\r\n" if raw.count("\r") == raw.count("\n") else ""
            if start < end and raw[end - 1] == "\r" and end < len(raw):
                end -= 1
        body = raw[start:end]
        if not body.strip(BLANK):
            return self._empty(raw, line)

        first = line + raw.count("\n", 0, start)  # line of the first row
        if f"\n{DOCSTART}" in body:
            at = first + 1 + body.count("\n", 0, body.index(f"\n{DOCSTART}"))
            msg = f"expected a blank line before it, found a word; give --sentences={DOCSTART}"
            raise CorpusError(msg, source=self.source, line=at)
        gap, width = self.layout.separator, len(self.columns) + 1
        fields = body.replace(eol, gap + eol + gap).split(gap) if eol else []
        count = body.count("\n") + 1
        spans = []
        # Regular rows: as many fields as columns, and every line break where a row ends.
        if (
            len(fields) != count * width - 1
            or fields[width - 1 :: width].count(eol) != count - 1
            or "" in fields
            or (gap == " " and "\t" in body)
            or f"\n{BOM}" in body
        ):
            # Line by line, which allows irregular spacing and finds the first malformed line.
            at = start
            for number, text in enumerate(body.split("\n"), first):
                mark = start_of(text)
                spans.append(_moved(self._row(text[mark:], number), at + mark))
                at += len(text) + 1
            fields = self._fields_of(raw, spans)
            if gap == " " and (found := _GAPS.search(body)):
                self.warnings.note("spaces", first + body.count("\n", 0, found.start()))
        rows = self._find_rows(fields, first)
        return self.sentence_type(
            raw, self.source, line, self.layout, fields, rows, start, end, eol, spans
        )

    def _check_returns(self, raw: str, line: int) -> None:
        """Refuse carriage returns without a line feed in a text that begins at `line`."""
        if lone := re.search(r"\r(?!\n)", raw):
            at = line + raw.count("\n", 0, lone.start())
            raise CorpusError(LONE_RETURN, source=self.source, line=at)

    def _find_rows(self, fields: list[str], line: int) -> list[int] | None:  # noqa: ARG002
        """Return the rows that are words; None if all are. `line` is that of the first row."""
        return None

    # ---- rows

    def _row(self, text: str, line: int) -> list[Span]:
        """Return the spans of the fields of a row.

        Raises
        ------
        CorpusError
            If it has not one value for each column.
        """
        separator, width = self.layout.separator, len(self.columns)
        spans = field_spans(text, separator) if self.is_plain else split_row(text, separator, width)
        self._check_row(text.rstrip("\r\n"), [text[a:b] for a, b in spans], line)
        return spans

    def _check_row(self, text: str, fields: list[str], line: int) -> None:
        """Refuse a row without one value for each column; other than plain ones need a form."""
        if self.is_plain and self.layout.separator == " " and "\t" in text:
            msg = (
                "expected spaces between the columns as in the first token line, "
                f"found a tab in {shorten(text)}; use one separator in the file"
            )
            raise CorpusError(msg, source=self.source, line=line)
        width = len(self.columns)
        if len(fields) < width or (len(fields) > width and not self.layout.ragged):
            raise CorpusError(self._wrong_count(text, fields), source=self.source, line=line)
        needed = self.columns if self.is_plain else ("form",)
        for name in needed:
            if not fields[self.columns.index(name)]:
                msg = (
                    f"expected a value in the column {name!r}, found an empty field in "
                    f"{shorten(text)}; fill it in"
                )
                raise CorpusError(msg, source=self.source, line=line)

    def _wrong_count(self, text: str, fields: list[str]) -> str:
        """Return the message for a line with too few or too many fields."""
        advice = "name the columns with --columns"
        if text.startswith(("#", ";", "%", "//", "<")):
            advice = "name its mark with --comment if it is a comment"
        do = "complete" if len(fields) < len(self.columns) else "correct"
        return (
            f"expected {len(self.columns)} columns, found {len(fields)} "
            f"({shorten(fields[0] if fields else text)}); {do} the line, or {advice}"
        )

    def _fields_of(self, raw: str, rows: Sequence[Sequence[Span]]) -> list[str]:
        """Return the values of rows as `TableSentence` has them."""
        separator, width = self.layout.separator, len(self.columns)
        fields: list[str] = []
        for row in rows:
            fields += [field_value(raw[a:b], separator) for a, b in row[:width]]
            fields.append("\n")
        for name, spelling in self.layout.spellings:
            if name in self.columns:  # else it is the spelling of a column to come
                at = self.columns.index(name)
                fields[at :: width + 1] = spelling.read(fields[at :: width + 1])
        return fields

    # ---- other layouts: line by line

    def _read_lines(self, blocks: Iterable[Block], line: int) -> Iterator[Sentence]:
        """Yield the sentences between lines, or rows, that mark their ends."""
        self._last, self._last_id = "", -1  # of the row before: what marks its sentence, and its id
        self._ended = False  # whether the last word ends a sentence
        self._head = ""  # the line that names the columns
        self._begin(line)
        for text, number in lines_in(blocks):
            yield from self._take(text, number)
        self._keep()
        yield from self._end()

    def _begin(self, line: int) -> None:
        self._line = line
        self._texts, self._size = list[str](), 0  # lines of the sentence, and their characters
        self._asides: list[str] = []  # comments that may be of the next one
        self._header = -1
        self._spans: list[list[Span]] = []
        self._error: CorpusError | None = None

    def _keep(self, text: str = "") -> None:
        """Keep a line, and the comments before it."""
        kept = [*self._asides, text]
        self._texts += kept
        self._size += sum(map(len, kept))
        self._asides = []

    def _end(self) -> Iterator[Sentence]:
        """Yield the sentence that has been read, if there is anything."""
        raw, asides = "".join(self._texts), self._asides
        if not raw:
            return
        try:
            yield self._collected(raw)
        except CorpusError as error:
            self.warnings.pass_over(error)
            yield self._empty(raw, self._line)
        self._begin(self._line + raw.count("\n"))
        self._asides = asides

    def _collected(self, raw: str) -> Sentence:
        """Return the sentence of the rows that were read."""
        if self._error is not None:
            raise self._error
        spans = self._spans
        if spans:
            self._check_returns(raw, self._line)
        start = raw.rfind("\n", 0, spans[0][0][0]) + 1 if spans else len(raw)
        fields, end = self._fields_of(raw, spans), len(raw)
        return self.sentence_type(
            raw,
            self.source,
            self._line,
            self.layout,
            fields,
            None,
            start,
            end,
            "",
            spans,
            self._header,
        )

    def _take(self, text: str, number: int) -> Iterator[Sentence]:
        """Take a line; yield the sentence that it ends."""
        layout, start = self.layout, start_of(text)
        line = text[start:]
        has_rows = bool(self._spans) or self._error is not None
        is_blank = not line.strip(SPACE) or is_empty(line, layout.separator)
        if is_blank or self._is_mark(line):
            opens = line.startswith(DOCSTART) or self._line_mark[:1] in [*"<#;/%"]
            closes = is_blank or line.startswith("</") or not opens
            if has_rows and not closes:
                yield from self._end()
            self._keep(text)
            if has_rows and closes:
                yield from self._end()
        elif self._is_comment(line, first=not has_rows or layout.sentences != "blank"):
            self._asides.append(text)
        elif layout.header and self._head in ("", line.strip()):
            self._head = line.strip()
            self._keep(text)
            self._header = self._size - len(text) + len(text.rstrip("\r\n"))
        else:
            yield from self._take_row(text, start, number)

    def _take_row(self, text: str, start: int, number: int) -> Iterator[Sentence]:
        """Take a row, which begins at `start` of its line; yield the sentence before it."""
        try:
            row = self._row(text[start:], number)
        except CorpusError as error:
            self._error = self._error or error
            self._keep(text)
            return
        values = [text[start:][slice(*span)] for span in row]
        if self._begins(values) and self._spans:
            yield from self._end()
        self._keep()
        if "id" not in self.columns or not NO_WORD.fullmatch(values[self.columns.index("id")]):
            self._spans.append(_moved(row, self._size + start))
            if len(self._spans) > self.limits.sentence:
                raise self.limits.too_long(self.source, self._line)
        self._keep(text)

    @cached_property
    def _line_mark(self) -> str:
        """The line, or the beginning of lines, that marks sentences; empty if there is none."""
        mark = self.layout.sentences
        names = ("blank", "restart", "punctuation", *self.columns)
        is_line = mark.partition("=")[0] not in names
        return mark if is_line else ""

    def _is_mark(self, line: str) -> bool:
        mark = self._line_mark
        if not mark:
            return False
        text = line.strip(SPACE)
        if mark == self.layout.comment or mark.startswith("<"):
            name = mark.strip("<>")
            return text.startswith((mark.rstrip(">"), f"</{name}")) and not (
                mark == self.layout.comment and self._may_be_row(line, first=True)
            )
        start, end = split_row(text, self.layout.separator)[0]
        return mark in (text, text[start:end])

    def _is_comment(self, line: str, *, first: bool) -> bool:
        if line.startswith(DOCSTART) or (first and is_comment(line.rstrip("\r\n"))):
            return True
        mark = self.layout.comment
        return bool(mark) and line.startswith(mark) and not self._may_be_row(line, first=first)

    def _may_be_row(self, text: str, *, first: bool) -> bool:
        """Return whether a line that begins as a comment is a row, `first` of a sentence or not."""
        labels = self.layout.labels
        if self.layout.comment == "<" == self.layout.sentences[0] and text.rstrip().endswith(">"):
            return False
        spans = split_row(text, self.layout.separator, len(self.columns))
        if len(spans) != len(self.columns) or any(a == b for a, b in spans) or labels == NO_ROWS:
            return False
        return not labels or not first or text[slice(*spans[-1])] in labels

    def _begins(self, values: Sequence[str]) -> bool:
        """Return whether a row begins a sentence."""
        mark, begins = self.layout.sentences, False
        if mark == "restart" and (text := values[self.columns.index("id")]).isdecimal():
            number = int(text)
            begins, self._last_id = number <= self._last_id, number
        elif mark == "punctuation":
            form = values[self.columns.index("form")]
            begins = self._ended and form not in CLOSERS
            self._ended = form in ENDS or (self._ended and not begins)
        elif mark in self.columns:
            if value := values[self.columns.index(mark)]:  # none continues the sentence
                begins, self._last = value != self._last, value
        elif (column := mark.partition("=")[0]) in self.columns:  # the label that ends a sentence
            begins = self._ended
            self._ended = values[self.columns.index(column)] == mark.partition("=")[2]
        return begins


def _moved(spans: Sequence[Span], by: int) -> list[Span]:
    return [(start + by, end + by) for start, end in spans]
