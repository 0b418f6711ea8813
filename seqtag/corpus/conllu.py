"""CoNLL-U and CoNLL-U Plus, lossless: ranges, empty nodes and comments are kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seqtag.corpus.layout import Layout
from seqtag.corpus.lines import shorten
from seqtag.corpus.stream import LIMITS
from seqtag.corpus.table import ColumnReader, TableSentence
from seqtag.corpus.write import write_rows
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seqtag.corpus.stream import ReadLimits
    from seqtag.corpus.warnings import FormatWarnings

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
GLOBAL_COLUMNS = re.compile(r"^\ufeff*#[ \t]*global\.columns[ \t]*=[ \t]*([^\n]*)", re.MULTILINE)

_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.ASCII)
_IDS = [str(i) for i in range(1, 1002)]  # ids of a sentence without ranges and empty nodes


def plus_columns(head: str) -> tuple[str, ...] | None:
    r"""Return the column names from the first ``# global.columns`` line of CoNLL-U Plus, or None.

    Rows may stand before it if they have as many fields. Names are in lower case up to a colon;
    what follows it is kept as it is.

    Examples
    --------
    >>> plus_columns("# global.columns = ID FORM UPOS PARSEME:MWE\n")
    ('id', 'form', 'upos', 'parseme:MWE')
    """
    found = GLOBAL_COLUMNS.search(head)
    if not found:
        return None
    before = [line for line in head[: found.start()].split("\n") if line.strip()]
    parts = [name.partition(":") for name in found[1].split()]
    if any(line[0] != "#" and line.count("\t") + 1 != len(parts) for line in before):
        return None
    return tuple(prefix.lower() + colon + name for prefix, colon, name in parts)


def check_columns(text: str, line: int, columns: Sequence[str], source: str) -> None:
    """Refuse ``# global.columns`` in a text, which begins at `line`, if it names other columns.

    Raises
    ------
    CorpusError
        If so.
    """
    if "global.columns" not in text:
        return
    for found in GLOBAL_COLUMNS.finditer(text):
        named = plus_columns(found[0])
        if named != tuple(columns):
            msg = (
                f"expected the columns {', '.join(columns)} in all of the file, found "
                f"# global.columns with {', '.join(named or ())}; split the file before this line"
            )
            raise CorpusError(msg, source=source, line=line + text.count("\n", 0, found.start()))


class ConlluSentence(TableSentence):
    """Sentence of a CoNLL-U file; its columns are fixed."""

    __slots__ = ()

    extensible = False

    def lines(self, name: str) -> list[str]:
        """Return the values of a column on all lines, also of ranges and empty nodes, as a list."""
        return self._on_all_lines(name)


class ConlluReader(ColumnReader):
    r"""Read CoNLL-U (ten columns), or CoNLL-U Plus with the columns named in its first line.

    Strict where an error would change the meaning (tabs, column count, empty fields, ids, comments
    inside a sentence). Other columns, such as HEAD and FEATS, are passed through unchecked.

    Parameters
    ----------
    source
        Name for messages.
    layout, warnings, limits
        As for `ColumnReader`; ten columns unless a layout is given.

    Examples
    --------
    >>> from seqtag.corpus.stream import Block
    >>> rows = ["1-2\tdon't" + "\t_" * 8, "1\tdo" + "\t_" * 8, "2\tn't" + "\t_" * 8]
    >>> block = Block("\n".join(rows), 1)
    >>> [sentence.words for sentence in ConlluReader("x.conllu").read([block])]
    [['do', "n't"]]
    """

    sentence_type = ConlluSentence
    heads = "#"
    needs_end = True

    def __init__(
        self,
        source: str,
        layout: Layout | None = None,
        warnings: FormatWarnings | None = None,
        limits: ReadLimits = LIMITS,
    ):
        super().__init__(source, layout or Layout("conllu", COLUMNS, "\t"), warnings, limits)

    def _is_head(self, raw: str, start: int) -> bool:
        return raw.startswith("#", start)

    def _find_rows(self, fields: list[str], line: int) -> list[int] | None:
        """Check the ids and return the rows of words; None if all rows are words."""
        if "id" not in self.columns:
            return None
        found = fields[self.columns.index("id") :: len(self.columns) + 1]
        count = len(found)
        ids = _IDS if count < len(_IDS) else [str(i) for i in range(1, count + 2)]
        if found == ids[:count]:
            return None
        rows: list[int] = []
        covered, covering, empty = 0, 0, 0  # last word and row of the last range; empty nodes
        for row, text in enumerate(found):
            done = len(rows)
            if text == ids[done]:
                rows.append(row)
                empty = 0
                continue
            if text == f"{done}.{empty + 1}":
                empty += 1
                continue
            span = _RANGE.fullmatch(text)
            if span and int(span[1]) == done + 1 and covered <= done < int(span[2]):
                covered, covering = int(span[2]), row
                continue
            if text == "1":
                msg = (
                    f"expected the id {done + 1}, found 1 again: sentence boundary missing? Put "
                    "a blank line before a new sentence"
                )
            elif rows or not text.isdecimal():
                msg = (
                    f"expected the id {done + 1}, a range from {done + 1} on (after the last "
                    f"range) or the next empty node {done}.x, found {shorten(text)}; number words "
                    "1, 2, 3, ... in each sentence"
                )
            else:
                msg = (
                    f"expected the id 1 at the beginning of a sentence, found {shorten(text)}; "
                    "remove the blank line before it if the sentence goes on, or number words "
                    "1, 2, 3, ..."
                )
            raise CorpusError(msg, source=self.source, line=line + row)
        if covered > len(rows):
            msg = (
                f"expected a range within the {len(rows)} words of the sentence, "
                f"found {found[covering]!r}; correct the range, or complete the "
                "sentence"
            )
            raise CorpusError(msg, source=self.source, line=line + covering)
        return rows

    def _check_row(self, text: str, fields: list[str], line: int) -> None:
        """Refuse a comment among the rows, and lines that `ColumnReader` refuses."""
        if text.startswith("#"):
            msg = (
                "expected comments only before the first token of a sentence, found "
                f"{shorten(text)}; move it up, or put a blank line before it"
            )
            raise CorpusError(msg, source=self.source, line=line)
        super()._check_row(text, fields, line)

    def _wrong_count(self, text: str, fields: list[str]) -> str:
        """Return the message for a line with too few or too many fields."""
        count = len(fields)
        expected = f"expected {len(self.columns)} tab-separated columns, found {count}"
        if count == 1 and len(text.split()) > 1:
            return (
                f"{expected} ({shorten(text)}); separate the columns with tabs; if this is not "
                "CoNLL-U, use --format columns, or --format text for sentences as they are written"
            )
        if count < 8 and not fields[0].isdigit():
            return (
                f"{expected} ({shorten(fields[0])}); complete the line, or use --format columns if "
                f"all lines have {count}"
            )
        do = "complete" if count < len(self.columns) else "correct"
        return f"{expected} ({shorten(text)}); {do} the line"


def write_conllu(columns: Mapping[str, Sequence[str]]) -> str:
    """Return a sentence of ten columns with new ids and text; ``_`` for missing columns."""
    count = len(columns["form"])
    known = {name: columns.get(name, ["_"] * count) for name in COLUMNS}
    known["id"] = [str(i) for i in range(1, count + 1)]
    text = "".join(
        form if "SpaceAfter=No" in misc.split("|") else form + " "
        for form, misc in zip(known["form"], known["misc"], strict=True)
    ).rstrip(" ")
    return f"# text = {text}\n" + write_rows(list(known.values()), "\t")
