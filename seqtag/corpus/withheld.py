"""Treebanks without their text: every form is ``_``, because of a license."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.corpus.formats import FORMATS
from seqtag.corpus.stream import UNLIMITED, Block
from seqtag.corpus.warnings import FormatWarnings
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
    head, warnings = stream.file.text_head(), FormatWarnings(stream.source, lenient=True)
    lines = head[: head.rfind("\n") + 1] or head  # the last one may be cut
    found = [*filter(None, stream.reader(warnings, UNLIMITED).read([Block(lines, 1)]))]
    words = [word for sentence in found for word in sentence.words]
    if len(words) > 1 and {*words} == {"_"}:
        raise withheld(stream.source, found[0].line_of(0))
