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
_CONTINUED = 1 / 3  # share of the lines of running text that must continue in lower case
_PROSE = 0.1  # share of them among all lines; the others may be lists, tables or code
_FEW_SPACES = 3  # in a line of running text
_END = re.compile(r"[.!?…:;。．！？：；｡؟؛۔।॥՝։።፧။។]\W*$")
_TAIL_CHARACTERS = 8  # in which it is searched for


class Finding(NamedTuple):
    """Paragraph mode of a text, and the evidence; empty if no line follows another."""

    mode: str
    evidence: str


def find_mode(text: str) -> Finding:
    r"""Detect the paragraph mode of a text from its beginning.

    Each line is a paragraph unless the text is wrapped. It is if one of these is true:

    * The next line's first word would seldom have fitted on a line: it is broken to a width.
    * Many lines are continued: they end without the end of a sentence, and the next line begins
      in lower case. This does not count if sentences and blocks of lines begin so, too.
    * In a script without lower case, many lines end without the end of a sentence, but the last
      lines before blank ones end with one.

    Text without adjacent lines has its paragraphs between blank lines.

    Parameters
    ----------
    text
        The beginning of the text. The longest line tells the width; one line by itself is a
        paragraph.

    Examples
    --------
    >>> find_mode("Lines that somebody wrapped\nmanually are as long\nas seemed right.\n").mode
    'blank'
    >>> find_mode("Hello.\nHow are you these days?\nFine.\n").mode
    'line'
    """
    lines = [line.strip() for line in text.split("\n")]
    pairs = [(line, after) for line, after in pairwise(lines) if line and after]
    if not pairs:
        return Finding("blank" if any(not line for line in lines[1:-1]) else "line", "")
    width = max(map(len, lines))
    full = sum(
        len(line) + 1 + _first_word(after) > width
        and (" " in line or len(line) >= _WRAPPED * width)  # else a list of words
        for line, after in pairs
    )
    if len(pairs) > 1 and full >= _WRAPPED * len(pairs):
        return Finding("blank", f"lines broken at {width} characters: {full} of {len(pairs)}")
    # First letters of lines after a line without an end of a sentence, and after one with it.
    opened: list[str] = []
    closed: list[str] = []
    for line, after in pairs:
        if after[0].isalpha() and _is_running(line):
            (closed if _ends(line) else opened).append(after[0])
    running, continued = len(opened) + len(closed), sum(map(str.islower, opened))
    if not running:
        return Finding("line", "short lines")
    blocks = [block.strip("\n") for block in "\n".join(lines).split("\n\n") if block.strip("\n")]
    if continued >= max(_CONTINUED * running, _PROSE * len(pairs), 1):
        starts = closed + [block[0] for block in blocks]
        if 2 * sum(map(str.islower, starts)) >= len(starts):
            return Finding("line", "sentences begin in lower case")
        return Finding("blank", f"lines continued in lower case: {continued} of {running}")
    caseless = sum(char.lower() == char.upper() for char in opened)
    ends = [_ends(block) for block in blocks if "\n" in block]
    if len(ends) > 1 and 2 * caseless > running and sum(ends) >= _WRAPPED * len(ends):
        return Finding("blank", f"lines that end within a sentence: {len(opened)} of {running}")
    return Finding("line", f"lines continued in lower case: {continued} of {running}")


def _first_word(line: str) -> int:
    """Return the length of the first word of a line, as far as it matters."""
    return len(line[:_LONGEST_WORD].split(maxsplit=1)[0])


def _is_running(line: str) -> bool:
    """Return whether a line is long enough for running text; some scripts have no spaces."""
    spaces = line.count(" ")
    return spaces >= _FEW_SPACES or len(line) > (_LONGEST_WORD if spaces else _LONGEST_WORD // 2)


def _ends(line: str) -> bool:
    """Return whether a line ends with the end of a sentence, and quotation marks or brackets."""
    return _END.search(line[-_TAIL_CHARACTERS:]) is not None


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
