"""Column files: one word per line, blank lines between sentences (CoNLL-2000, 2002, 2003, ...)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seqtag.corpus.sentence import Sentence
from seqtag.corpus.warnings import LONE_RETURN, FormatWarnings
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus.stream import Block

DOCSTART = "-DOCSTART-"
MARK = "\ufeff"
"""Byte order mark: no part of a word at the start of any line."""
_COMMENT = re.compile(
    r"# [^ \t]+(?: [^ \t]+)? =(?: |$)|# new(?:doc|par)$|#(?:begin|end) document|###[^ \t]+$|"
    r"sep=[,;|]$"
)
_SENTENCE_END = re.compile(r"\n[ \t]*\r?\n")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")
_BLANK = " \t\r\n"
_GAPS = re.compile(r"^ |  | \r?$", re.MULTILINE)


class TableSentence(Sentence):
    """Sentence whose words are lines and whose columns are fields of these lines.

    All fields are in one flat list, row after row, with the line end as an extra last field of
    every row but the last: a column is a slice, and joining the list gives the lines back.
    """

    __slots__ = ("_end", "_eol", "_fields", "_rows", "_separator", "_start")

    extensible = True

    def __init__(
        self,
        raw: str,
        source: str,
        line: int,
        columns: tuple[str, ...],
        fields: list[str],
        rows: list[int] | None,
        separator: str,
        eol: str,
        start: int,
        end: int,
    ):
        self.raw, self.source, self.line, self.columns = raw, source, line, columns
        self._fields = fields
        self._rows = rows  # the rows that are words; None: all of them
        self._separator = separator
        self._eol = eol  # "" if the lines differ in spacing or line ends: not rebuilt by joining
        self._start, self._end = start, end  # span of the token lines in raw

    def __len__(self) -> int:
        if self._rows is not None:
            return len(self._rows)
        return (len(self._fields) + 1) // (len(self.columns) + 1)

    def _values_of(self, name: str) -> list[str]:
        values = self.lines(name)
        return values if self._rows is None else [values[row] for row in self._rows]

    def lines(self, name: str) -> list[str]:
        """Return the values of a column on all lines, with or without a word, as a list."""
        return self._fields[self.columns.index(name) :: len(self.columns) + 1]

    @property
    def comments(self) -> list[str]:
        """Non-blank lines before the first word."""
        head = self.raw[: self._start].split("\n")
        return [line.lstrip(MARK).rstrip("\r") for line in head if line.strip(_BLANK + MARK)]

    def line_of(self, i: int) -> int:
        """Return the line of the file of word `i`."""
        row = range(len(self))[i] if self._rows is None else self._rows[i]
        return self.line + self.raw.count("\n", 0, self._start) + row

    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with the fields of some columns replaced (see :class:`Sentence`)."""
        forbidden = "\t\r\n" if self._separator == "\t" else " \t\r\n"
        values = self._with_keys(values, forbidden)
        for name, new in values.items():
            if name not in self.columns and not self.extensible:
                raise self._no_column(name)
            self._check(name, new, forbidden)
        if not len(self):
            return self.raw
        # New columns follow the last one, which is replaced first.
        values = dict(sorted(values.items(), key=lambda item: item[0] not in self.columns))
        body = self._joined(values) if self._eol else self._edited(values)
        return self.raw[: self._start] + body + self.raw[self._end :]

    def _joined(self, values: Mapping[str, Sequence[str]]) -> str:
        """Rebuild regular token lines by joining their fields."""
        fields, width = self._fields.copy(), len(self.columns) + 1
        for name, new in values.items():
            if name not in self.columns:
                last = fields[width - 2 :: width]
                gap = "\t" if width == 2 else self._separator
                pairs = zip(last, new, strict=True)
                fields[width - 2 :: width] = [f"{a}{gap}{b}" for a, b in pairs]
                continue
            at = self.columns.index(name)
            if self._rows is None:
                fields[at::width] = new
            else:
                for row, value in zip(self._rows, new, strict=True):
                    fields[row * width + at] = value
        gap = self._separator
        return gap.join(fields).replace(f"{gap}{self._eol}{gap}", self._eol)

    def _edited(self, values: Mapping[str, Sequence[str]]) -> str:
        """Edit the token lines one by one, keeping their own spacing and line ends."""
        lines = self.raw[self._start : self._end].split("\n")
        rows = range(len(lines)) if self._rows is None else self._rows
        for name, new in values.items():
            at = self.columns.index(name) if name in self.columns else None
            for row, value in zip(rows, new, strict=True):
                text = lines[row].removesuffix("\r").lstrip(MARK)
                mark, _, end = lines[row].partition(text)
                parts = re.split(f"({self._separator}+)", text)  # fields and gaps in turn
                places = [i for i in range(0, len(parts), 2) if parts[i]]
                if at is not None:
                    parts[places[at]] = value
                else:
                    gap = parts[places[-1] - 1] if len(places) > 1 else "\t"
                    parts[places[-1]] += gap + value
                lines[row] = mark + "".join(parts) + end
        return "\n".join(lines)


class ColumnReader:
    r"""Read column files with given column names.

    The separator is a tab if the first token line has one, else runs of spaces. Every character
    but separator and line end is data. Before a sentence, lines that start with ``-DOCSTART-`` and
    comments (`is_comment`) are kept, but are not words.

    Parameters
    ----------
    source
        Name for messages.
    columns
        Names of the columns, one per field of a line.
    separator
        Their separator, if it is known.
    warnings
        Where to record warnings and skipped sentences.

    Examples
    --------
    >>> from seqtag.corpus.stream import Block
    >>> reader = ColumnReader("x.txt", ("form", "pos"))
    >>> [sentence.words for sentence in reader.read([Block("#\tNN\n\n", 1)])]
    [['#']]
    """

    sentence_type: type[TableSentence] = TableSentence
    heads = DOCSTART  # prefix of lines before a sentence that do not count as its rows
    needs_end = False  # whether a blank line must end the last sentence, too

    def __init__(
        self,
        source: str,
        columns: Sequence[str],
        separator: str = "",
        warnings: FormatWarnings | None = None,
    ):
        self.source = source
        self.warnings = warnings or FormatWarnings(source)
        self.columns = tuple(columns)
        self.separator = separator  # "": not known before the first token line

    def read(self, blocks: Iterable[Block], line: int = 1) -> Iterator[Sentence]:
        """Yield the sentences of blocks, the first of which starts at `line`.

        Their `raw` texts joined are the text of the blocks.
        """
        lead, rest = "", ""
        for block in blocks:
            text = block.text
            self.separator = self.separator or find_separator(text.removeprefix("\ufeff"))
            start = 0
            for match in _SENTENCE_END.finditer(text):
                raw, body_end = text[start : match.end()], match.start() - start
                start = match.end()
                if raw[0] in _BLANK and not raw.strip(_BLANK):
                    lead += raw  # blank lines open the next sentence
                    continue
                yield self._read_one(lead + raw, len(lead) + body_end, line)
                line += raw.count("\n") + (lead.count("\n") if lead else 0)
                lead = ""
            rest = text[start:]
            if not rest.strip(_BLANK):
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
            return self._build(raw, line, [], None, "\n", len(raw), len(raw))

    def _sentence(self, raw: str, end: int, line: int) -> Sentence:
        """Parse one piece of text whose last token line ends at `end`."""
        start = 0
        if raw[0] in " \t\r\n\ufeff":
            start = int(line == 1 and raw[0] == MARK)
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
            while raw.startswith(MARK, start):  # where files were joined
                start += 1
                start += len(_BLANK_LINES.match(raw, start)[0])  # type: ignore[index]
            if not self._is_head(raw, start):
                break
            start = raw.find("\n", start) + 1 or len(raw)

        eol = "\n"
        if "\r" in raw:
            pairs = raw.count("\r\n")
            if raw.count("\r") != pairs:
                lone = re.search(r"\r(?!\n)", raw)
                at = line + raw.count("\n", 0, lone.start())  # type: ignore[union-attr]
                raise CorpusError(LONE_RETURN, source=self.source, line=at)
            eol = "\r\n" if pairs == raw.count("\n") else ""
            if start < end and raw[end - 1] == "\r" and end < len(raw):
                end -= 1
        body = raw[start:end]
        if not body.strip(_BLANK):
            return self._build(raw, line, [], None, eol, len(raw), len(raw))

        first = line + raw.count("\n", 0, start)  # line of the first row
        gap = self.separator = self.separator or " "
        width = len(self.columns) + 1
        fields = body.replace(eol, gap + eol + gap).split(gap) if eol else []
        count = body.count("\n") + 1
        # Regular rows: as many fields as columns, and every line break where a row ends.
        if (
            len(fields) != count * width - 1
            or fields[width - 1 :: width].count(eol) != count - 1
            or "" in fields
            or (gap == " " and "\t" in body)
            or f"\n{MARK}" in body
        ):
            # Line by line, which allows irregular spacing and finds the first malformed line.
            fields, eol = [], ""
            for number, text in enumerate(body.split("\n"), first):
                text = text.removesuffix("\r").lstrip(MARK)
                row = text.split(gap)
                if gap == " ":
                    row = [field for field in row if field]
                self._check_line(text, row, number)
                fields += (*row, "\n")
            del fields[-1]
            if gap == " " and (found := _GAPS.search(body)):
                self.warnings.note("spaces", first + body.count("\n", 0, found.start()))
        return self._build(raw, line, fields, self._find_rows(fields, first), eol, start, end)

    def _build(
        self,
        raw: str,
        line: int,
        fields: list[str],
        rows: list[int] | None,
        eol: str,
        start: int,
        end: int,
    ) -> Sentence:
        return self.sentence_type(
            raw, self.source, line, self.columns, fields, rows, self.separator, eol, start, end
        )

    def _find_rows(self, fields: list[str], line: int) -> list[int] | None:  # noqa: ARG002
        """Return the rows that are words; None if all are. `line` is that of the first row."""
        return None

    def _check_line(self, text: str, fields: list[str], line: int) -> None:
        """Refuse a token line without one value for each column."""
        if self.separator == " " and "\t" in text:
            msg = (
                "expected spaces between the columns as in the first token line, "
                f"found a tab in {shorten(text)}; use one separator in the file"
            )
            raise CorpusError(msg, source=self.source, line=line)
        if len(fields) != len(self.columns):
            raise CorpusError(self._wrong_count(text, fields), source=self.source, line=line)
        if "" in fields:
            msg = (
                f"expected a value in the column {self.columns[fields.index('')]!r},"
                f" found an empty field in {shorten(text)}; fill it in"
            )
            raise CorpusError(msg, source=self.source, line=line)

    def _wrong_count(self, text: str, fields: list[str]) -> str:
        """Return the message for a line with too few or too many fields."""
        advice = "name the columns with --columns"
        if text.startswith(("#", ";", "%", "//")):
            advice = "name its mark with --comment if it is a comment"
        return (
            f"expected {len(self.columns)} columns, found {len(fields)} "
            f"({shorten(fields[0] if fields else text)}); complete the line, or {advice}"
        )


def find_separator(text: str) -> str:
    """Return the separator of the columns: a tab if the first token line has one, else a space.

    "" if there is no token line.
    """
    for line in text.split("\n"):
        if line.strip(_BLANK) and not line.startswith(DOCSTART) and not is_comment(line):
            return "\t" if "\t" in line else " "
    return ""


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
