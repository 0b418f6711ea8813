"""Treebanks without their text: every form is ``_``, because of a license."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.corpus.formats import FORMATS
from seqtag.corpus.rows import split_row
from seqtag.corpus.table import find_separator
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from seqtag.corpus.read import SentenceStream


def withheld(source: str | None, line: int | None = None) -> CorpusError:
    """Return the error about forms that were withheld."""
    msg = (
        'expected words in the column form, found "_" for every word: the text was withheld, as in '
        "treebanks whose license does not cover it; merge the text first, as the documentation of "
        "the corpus describes"
    )
    return CorpusError(msg, source=source, line=line)


def check_words(stream: SentenceStream) -> None:
    """Refuse a column file if all forms of its first 64 kB are withheld; one alone may be a word.

    Raises
    ------
    CorpusError
        If so.
    """
    if not FORMATS[stream.format].is_table:
        return
    layout, head, found = stream.layout, stream.head(), []
    separator, width = layout.separator or find_separator(head) or " ", len(layout.columns)
    form = layout.columns.index("form")
    for number, line in enumerate(head.split("\n")[layout.header :], 1 + layout.header):
        spans = split_row(line, separator, width)
        if len(spans) == width and not line.startswith("#"):
            if line[slice(*spans[form])] != "_":
                return
            found.append(number)
    if len(found) > 1:
        raise withheld(stream.source, found[0])
