r"""Tables of words: a word and its values on a line, with what there is to say of all before them.

.. code-block:: text

    # seqtag table 1
    # name: news
    # words: lower0
    # absent: rare
    the     17
    of      3

Lines of the header begin with ``#`` and hold no tab; columns are parted by tabs. A line with a tab
is a row, whatever it begins with: ``#`` is a word.
"""

from __future__ import annotations

import re
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus.sentence import bad_value
from seqtag.corpus.stream import LIMITS, ByteStream, after_last_line
from seqtag.errors import CorpusError
from seqtag.storage.output import Output

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

FIRST_LINE = "# seqtag table 1"
"""What a table of words begins with."""

MOST_ROWS = 2**24
"""Rows that a table may have."""

MOST_VALUES = 1000
"""Values of a word on a line."""

LONGEST_VALUE = 1000
"""Characters of a value."""

LONGEST_LINE = 1 << 20
"""Bytes of a line."""

MOST_FACTS = 100
"""Keys of a header."""

_LINE = "\t\r\n"
_CONLLU = 10  # columns
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_ROWS = 10_000  # written at a time


def write_word_table(
    path: str | os.PathLike[str], header: Mapping[str, object], rows: Iterable[Sequence[str]]
) -> None:
    r"""Write a table of words, whole or not at all.

    Parameters
    ----------
    path
        File to write, or ``"-"`` for standard output.
    header
        What is said of the whole table, by keys without a colon.
    rows
        A word and its values each, in the order in which they are written.

    Raises
    ------
    CorpusError
        If a word or value is empty or holds a tab or line break, a word has no value, or a line
        of the header cannot be read back. Nothing is written then.
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
    with Output(path) as out:
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
    """What a file of a table holds.

    Attributes
    ----------
    header
        What is said of the whole table; empty for a file without header.
    rows
        Words with their values, as they come.
    """

    header: dict[str, str]
    rows: list[tuple[str, list[str]]]


def read_word_table(path: str | os.PathLike[str]) -> WordRows:
    r"""Read a table of words, whether it has a header or is a plain list of words and values.

    Parameters
    ----------
    path
        The file, which may be compressed, or ``"-"`` for standard input.

    Raises
    ------
    CorpusError
        At the first line that is neither row nor comment, or above a limit, naming file and line.
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
    found = WordRows({}, [])
    with closing(ByteStream(path, LIMITS._replace(line=LONGEST_LINE))) as stream:
        has_header = False
        for block in stream.blocks(after_last_line):
            lines = block.text.removesuffix("\n").split("\n")
            for number, line in enumerate(lines, block.line):
                text = line.removesuffix("\r")
                try:
                    if number == 1:
                        text = text.removeprefix("\ufeff")
                        has_header = _begins_table(text)
                    if "\t" in text:
                        found.rows.append(_row(text))
                    elif has_header and not found.rows and number > 1:
                        _add_fact(text, found.header)
                    elif text.strip() and not text.startswith("#"):
                        msg = f"expected a word, a tab and its value, found {text!r:.60}"
                        raise CorpusError(msg)
                    if len(found.rows) > MOST_ROWS:
                        msg = f"expected at most {MOST_ROWS:,} words, found more; leave some out"
                        raise CorpusError(msg)
                except CorpusError as error:
                    raise CorpusError(error.message, source=stream.name, line=number) from None
    if not found.rows:
        msg = "expected a table of words, with a tab between word and value, found no word"
        raise CorpusError(msg, source=stream.name)
    if not has_header and all(map(_is_conllu, found.rows)):
        msg = (
            "expected a table of words and values, found rows of CoNLL-U; make a table of the file "
            "with seqtag lexicon"
        )
        raise CorpusError(msg, source=stream.name)
    return found


def _is_conllu(row: tuple[str, list[str]]) -> bool:
    """Whether a row has ten fields, the first of which is an id: a treebank by mistake."""
    word, values = row
    return len(values) == _CONLLU - 1 and _ID.fullmatch(word) is not None


def _begins_table(line: str) -> bool:
    """Whether a first line begins a table with a header.

    Raises
    ------
    CorpusError
        If it is of a later version.
    """
    start = FIRST_LINE.rpartition(" ")[0]
    if line.startswith(start + " ") and line.strip() != FIRST_LINE and "\t" not in line:
        msg = f"expected {FIRST_LINE!r}, found {line!r:.60}; upgrade seqtag"
        raise CorpusError(msg)
    return line.strip() == FIRST_LINE


def _row(line: str) -> tuple[str, list[str]]:
    """The word and the values of a line."""
    if "\r" in line:
        msg = (
            r"expected lines that end with \n or \r\n, found a carriage return (\r) without \n; "
            "convert the line ends of the file"
        )
        raise CorpusError(msg)
    word, *values = line.split("\t")
    if not word or "" in values:
        msg = (
            f"expected a word and its values with a tab between, found an empty one in {line!r:.60}"
        )
        raise CorpusError(msg)
    if len(values) > MOST_VALUES or max(map(len, values)) > LONGEST_VALUE:
        msg = (
            f"expected at most {MOST_VALUES:,} values of {LONGEST_VALUE:,} characters, found "
            f"{len(values):,} of up to {max(map(len, values)):,} for the word {word!r:.60}"
        )
        raise CorpusError(msg)
    return word, values


def _add_fact(line: str, out_header: dict[str, str]) -> None:
    """Add what a line of the header says; others that begin with # are comments."""
    if not line.strip():
        return
    if not line.startswith("#"):
        msg = f"expected a word, a tab and its value, or a comment, found {line!r:.60}"
        raise CorpusError(msg)
    key, colon, value = line[1:].partition(":")
    key, value = key.strip(), value.strip()
    if not colon or not key:
        return
    if key in out_header or len(out_header) == MOST_FACTS or len(key + value) > LONGEST_VALUE:
        msg = (
            f"expected a header of at most {MOST_FACTS} different keys, each with a short value, "
            f"found {line!r:.60}"
        )
        raise CorpusError(msg)
    out_header[key] = value
