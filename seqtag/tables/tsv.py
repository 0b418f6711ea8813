r"""Files of word tables: a word and its values per line, after a header with facts.

.. code-block:: text

    # seqtag table 1
    # name: news
    # words: lower0
    # absent: rare
    the     17
    of      3

Lines of the header begin with ``#`` and have no tab; columns are separated by tabs. A line with a
tab is always a row: ``#`` is a word, too.

A file whose first row has no tab is a list of names, see `seqtag.tables.names`.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus.sentence import bad_value
from seqtag.corpus.stream import LIMITS, ByteStream, after_last_line
from seqtag.errors import CorpusError
from seqtag.features.attributes import MAX_LENGTH
from seqtag.storage.output import atomic
from seqtag.tables.names import ABOVE_NAMES, ABOVE_TYPES, names_of
from seqtag.tables.table import MOST_FACTS, MOST_WORDS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

FIRST_LINE = "# seqtag table 1"
"""First line of a table with a header."""

_FIRST_WORDS = FIRST_LINE.rpartition(" ")[0] + " "

MOST_VALUES = 1000
"""Most values of a word on a line."""

LONGEST_LINE = 1 << 20
"""Most bytes of a line."""

_LINE = "\t\r\n"
_CONLLU = 10  # columns
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_BLANKS = re.compile(r" *\t *")
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,]*")
_ROWS = 10_000  # written at a time
_TELLING_ROWS = 10  # of fewer, each may have a value of its own

_log = logging.getLogger("seqtag")


def write_word_table(
    path: str | os.PathLike[str],
    header: Mapping[str, object],
    rows: Iterable[Sequence[str]],
) -> None:
    r"""Write a table of words atomically.

    Parameters
    ----------
    path
        File to write, or ``"-"`` for standard output.
    header
        Facts about the table, by keys without a colon.
    rows
        Words with their values, in the order to write.

    Raises
    ------
    CorpusError
        If a word or value is empty or has a tab or line break, a word has no value, or a line
        of the header could not be read again. Nothing is written then.
    OSError
        As the system reports it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "names")
    >>> write_word_table(path, {"words": "form"}, [("Paris", "city", "person"), ("#", "sign")])
    >>> path.read_text()
    '# seqtag table 1\n# words: form\nParis\tcity\tperson\n#\tsign\n'
    """
    name = str(path)
    lines = [FIRST_LINE]
    for key, value in header.items():
        line = f"# {key}: {value}"
        if not key or ":" in key or bad_value([line], _LINE) is not None:
            msg = (
                "expected a key without a colon, and a value, both without tabs and line breaks, "
                f"found {key!r} and {str(value)!r}; change it"
            )
            raise CorpusError(msg, source=name)
        lines.append(line)
    rest = iter(rows)
    with atomic(path) as out:
        out.write(("\n".join(lines) + "\n").encode())
        while some := list(islice(rest, _ROWS)):
            for row in some:
                if len(row) < 2 or bad_value(row, _LINE) is not None:
                    msg = (
                        "expected a word and its values, none of them empty or with a tab or line "
                        f"break, found {list(row)!r}; change this row"
                    )
                    raise CorpusError(msg, source=name)
            out.write("".join("\t".join(row) + "\n" for row in some).encode())


class WordRows(NamedTuple):
    """Contents of a table file.

    Attributes
    ----------
    header
        Facts about the table; empty for a file without header.
    rows
        Words with their values, in the order of the file.
    """

    header: dict[str, str]
    rows: list[tuple[str, list[str]]]


def read_word_table(path: str | os.PathLike[str]) -> WordRows:
    r"""Read a table of words, with a header or as a plain list of words and values, or of names.

    Parameters
    ----------
    path
        The file, which may be compressed, or ``"-"`` for standard input.

    Raises
    ------
    CorpusError
        At the first line that is neither row nor comment, or exceeds a limit; with file and line.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "names")
    >>> _ = path.write_text("# seqtag table 1\n# words: form\nParis\tcity\tperson\n#\tsign\n")
    >>> read_word_table(path)
    WordRows(header={'words': 'form'}, rows=[('Paris', ['city', 'person']), ('#', ['sign'])])
    """
    header: dict[str, str] = {}
    rows: list[tuple[str, list[str]]] = []
    names: list[tuple[int, str]] = []  # lines of a list of names
    first = 0  # line of the first row
    with closing(ByteStream(path, LIMITS._replace(line=LONGEST_LINE))) as stream:
        has_header = False
        for block in stream.blocks(after_last_line, returns=False):
            lines = block.text.removesuffix("\n").split("\n")
            for number, line in enumerate(lines, block.line):
                text = line.removesuffix("\r")
                try:
                    if number == 1:
                        text = text.removeprefix("\ufeff")
                        has_header = text.strip() == FIRST_LINE
                        later = text.startswith(_FIRST_WORDS) and not has_header
                        if later and "\t" not in text:
                            msg = f"expected {FIRST_LINE!r}, found {text!r:.60}; upgrade seqtag"
                            raise CorpusError(msg)
                    if not (has_header or rows) and (names or "\t" not in text):
                        if text.strip() and not text.startswith("#"):
                            names.append((number, text))
                    elif "\t" in text:
                        if not has_header:  # as people have written it
                            text = _BLANKS.sub("\t", text.strip(" "))
                        first = first or number
                        rows.append(_row(text))
                    elif has_header and not rows and number > 1:
                        _add_fact(text, header)
                    elif text.strip() and not text.startswith("#"):
                        msg = (
                            f"expected a word, a tab and its value, found {text!r:.60}; write "
                            "lines such as Paris<tab>city"
                        )
                        raise CorpusError(msg)
                    if len(rows) + len(names) > MOST_WORDS:
                        msg = f"expected at most {MOST_WORDS:,} words, found more; leave some out"
                        raise CorpusError(msg)
                except CorpusError as error:
                    raise CorpusError(error.message, source=stream.name, line=number) from None
    if names:
        return WordRows({"kind": "phrase"}, names_of(names, stream.name))
    if rows and not has_header and _names_columns(*rows[0]):
        word, values = rows.pop(0)
        note = "%s:%d: %r names the columns and is no entry; if it is one, begin the file with %r"
        _log.warning(note, stream.name, first, "\t".join((word, *values)), FIRST_LINE)
    if not rows:
        msg = "expected a table of words, with a tab between word and value, found no word"
        raise CorpusError(msg, source=stream.name)
    if not has_header and all(
        len(values) == _CONLLU - 1 and _ID.fullmatch(word) for word, values in rows
    ):
        msg = (
            "expected a table of words and values, found rows of CoNLL-U; write a line for each "
            "word, with a tab between word and value"
        )
        raise CorpusError(msg, source=stream.name)
    if not has_header and (found := _doubtful(rows)):
        msg = f"{found}, else begin the file with the line {FIRST_LINE!r}"
        raise CorpusError(msg, source=stream.name, line=first)
    return WordRows(header, rows)


def _names_columns(word: str, values: Sequence[str]) -> bool:
    """Return whether a row is the line above a table: ``name``, ``type``."""
    return word.lstrip("# ").lower() in ABOVE_NAMES and values[0].lower() in ABOVE_TYPES


def _doubtful(rows: Sequence[tuple[str, list[str]]]) -> str:
    """Return what of a list of one's own is hardly meant as entries; nothing if all may be."""
    if all(len(word) > 2 and word[0] == word[-1] == '"' for word, _ in rows):
        return f"expected words, found all in quotation marks, as {rows[-1][0]!r:.40}; remove them"
    below = range(min(1, len(rows) - 1), len(rows))  # the first row may name the columns
    width = len(rows[-1][1])
    if width > 1 and all(len(rows[i][1]) == width for i in below):
        is_number = [all(_NUMBER.fullmatch(rows[i][1][k]) for i in below) for k in range(width)]
        if any(is_number) and not all(is_number):
            return (
                "expected values that words share, found a number on each line, in column "
                f"{is_number.index(True) + 2}; leave it out, for example with cut"
            )
    word, values = rows[0]
    if len(rows) > _TELLING_ROWS and all(rows[i][1] != values for i in below):
        counts = Counter(tuple(values) for _, values in rows)
        if [*counts.values()].count(1) == 1:
            return (
                f"expected an entry, found {word!r:.60} with {'|'.join(values)!r:.60}, the one "
                "value that no other line has; if this line names the columns, delete it"
            )
    return ""


def _row(line: str) -> tuple[str, list[str]]:
    word, *values = line.split("\t")
    if not word or "" in values:
        msg = (
            f"expected a word and its values with a tab between, found an empty one in {line!r:.60}"
        )
        raise CorpusError(msg)
    if len(values) > MOST_VALUES or max(map(len, values)) > MAX_LENGTH:
        msg = (
            f"expected at most {MOST_VALUES:,} values of {MAX_LENGTH:,} characters, found "
            f"{len(values):,} of up to {max(map(len, values)):,} for the word {word!r:.60}"
        )
        raise CorpusError(msg)
    return word, values


def _add_fact(line: str, out_header: dict[str, str]) -> None:
    """Add the fact of a header line; other lines that begin with # are comments."""
    if not line.strip():
        return
    if not line.startswith("#"):
        msg = f"expected a word, a tab and its value, or a comment, found {line!r:.60}"
        raise CorpusError(msg)
    key, colon, value = line[1:].partition(":")
    key, value = key.strip(), value.strip()
    if not colon or not key:
        return
    if key in out_header or len(out_header) == MOST_FACTS or len(key + value) > MAX_LENGTH:
        msg = (
            f"expected a header of at most {MOST_FACTS} different keys, each with a short value, "
            f"found {line!r:.60}"
        )
        raise CorpusError(msg)
    out_header[key] = value
