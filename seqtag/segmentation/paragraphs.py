"""Paragraphs of raw text: they end at blank lines, or at each line break.

A paragraph ends every sentence in it. Text whose lines are broken to a width has its paragraphs
between blank lines; text with a line for each paragraph, sentence or message ends them with the
line. The end of a paragraph is marked by writing U+2029, the paragraph separator of Unicode, in
the place of the line break that ends it, so that positions stay what they are.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from seqtag.errors import CorpusError

PARAGRAPHS = ("auto", "blank", "line")
"""Paragraph modes; ``auto`` detects the mode from the text."""

SEPARATOR = "\u2029"
"""Character that marks the end of a paragraph."""

_BLANK = re.compile(r"\n(?=[^\S\n]*\n)")
_LONGEST_WORD = 24  # characters; a longer first word of a line may have been broken anywhere
_WRAPPED = 0.8  # share of the lines that must be as full as they could be


class Finding(NamedTuple):
    """Paragraph mode of a text, and the evidence."""

    mode: str
    evidence: str


def find_mode(text: str) -> Finding:
    r"""Detect the paragraph mode of a text from its beginning.

    Lines are broken to a width if the next line's first word would seldom have fitted after
    them. Such text, and text in which each line is between blank ones, has its paragraphs
    between blank lines; else each line is one.

    Parameters
    ----------
    text
        The beginning of the text. The longest line tells the width; one line by itself is a
        paragraph.

    Examples
    --------
    >>> find_mode("Wrapped lines are as\nlong as the width\nlets them be, all of\nthem.\n").mode
    'blank'
    >>> find_mode("Hello.\nHow are you these days?\nFine.\n").mode
    'line'
    """
    lines = [line.strip() for line in text.split("\n")]
    pairs = [(line, after) for line, after in pairwise(lines) if line and after]
    if not pairs:
        if any(not line for line in lines[1:-1]):
            return Finding("blank", "no line follows another")
        return Finding("line", "one line")
    width = max(map(len, lines))
    full = sum(len(line) + 1 + _first_word(after) > width for line, after in pairs)
    if len(pairs) > 1 and full >= _WRAPPED * len(pairs):
        return Finding("blank", f"{full} of {len(pairs)} lines are broken at {width} characters")
    return Finding("line", f"{len(pairs) - full} of {len(pairs)} lines end before they are full")


def _first_word(line: str) -> int:
    """Return the length of the first word of a line, as far as it matters."""
    return len(line[:_LONGEST_WORD].split(maxsplit=1)[0])


def check_mode(mode: str) -> str:
    """Return the mode if it exists.

    Raises
    ------
    CorpusError
        If there is none.
    """
    if mode not in PARAGRAPHS:
        msg = f"expected paragraphs to be one of {', '.join(PARAGRAPHS)}, found {mode!r}"
        raise CorpusError(msg)
    return mode


class Marker:
    r"""Marker of the ends of paragraphs in a text that arrives in pieces.

    Parameters
    ----------
    mode
        ``blank`` or ``line``.

    Examples
    --------
    >>> marker = Marker("blank")
    >>> marker.mark("One.\nOne.\n"), marker.mark("\nTwo."), marker.mark("", final=True)
    ('One.\nOne.', '\u2029\nTwo.', '')
    """

    def __init__(self, mode: str):
        self._mode = mode
        self._held = ""  # a line break that may turn out to end a paragraph, and white space

    def mark(self, piece: str, *, final: bool = False) -> str:
        """Return the text that is final after a piece, with the ends of paragraphs marked."""
        if self._mode == "line":
            return piece.replace("\n", SEPARATOR)
        text = self._held + piece
        held = len(text)
        if not final:
            last = text.rfind("\n")
            if last >= 0 and (last + 1 == len(text) or text[last:].isspace()):
                held = last
        self._held = text[held:]
        return _BLANK.sub(SEPARATOR, text)[:held]
