"""Paragraphs of raw text: they end at blank lines, at each line break, or at the breaks of lists.

A paragraph ends every sentence in it. Text whose lines are broken to a width has its paragraphs
between blank lines, and in its lists, tables and headers a line for each entry. All other text
has a line for each paragraph, sentence, entry or message. The end of a paragraph is marked by
writing U+2029, the paragraph separator of Unicode, in the place of the line break that ends it, so
that positions stay what they are.
"""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import mean
from typing import NamedTuple
from unicodedata import east_asian_width

from seqtag.errors import CorpusError

PARAGRAPHS = ("auto", "blank", "line")
"""Paragraph modes; ``auto`` detects the mode from the text."""

SEPARATOR = "\u2029"
"""Character that marks the end of a paragraph."""

_BLANK = re.compile(r"\n(?=[^\S\n]*\n)")
_LONGEST_WORD = 24  # characters; a longer first word of a line may have been broken anywhere
_LEAST_WIDTH = 45  # columns; shorter lines of like length are names, queries, or rows
_FULL_LINES = 0.8  # share of the lines that must be as full as they could be
_MANY_LINES = 8  # so many need no other evidence; nor does half of them if all are full
_CONTINUED = 1 / 3  # share of the lines open at their end that must continue in lower case
_FILLED = 0.7  # of the width; what continues in lower case is so long on average
_PROSE = 0.1  # share of continued lines among all; the others may be lists, tables or code
_LOWER_STARTS = 0.45  # share of the sentences; with more, lower case says nothing
_FEW_SPACES = 3  # in a line of running text
_LINES_FOR_A_LONGER = 20  # of so many lines one may be longer than the width
_SHORT = 0.75  # of the width; what is shorter, with the next word, ends an entry of a list
_SHORTER = 0.5  # the same where lines are not broken to one width
_END = re.compile(r"[.!?…:;。．！？：；｡؟؛۔।॥՝։።፧።។]\W*$")
_TAIL_CHARACTERS = 8  # characters in which it is searched for
_FLOWING = re.compile(r"(?:[.!?։][\"'”’»)]*\s+|[。！？])\S")  # a sentence that begins within a line
_ENTRY = re.compile(r"[^\S\n]*(?:[-*+•·‣–—]|\(?\d{1,3}[.)]|\|)\s")
_GAP = re.compile(r"\S(?:[^\S\n]{3,}|\t)\S")


class Finding(NamedTuple):
    """Paragraph mode of a text, and the evidence; empty if no line follows another.

    In wrapped text the entries of lists are lines that are shorter than ``short`` characters, with
    the first word of the next line; 0 if there are none.
    """

    mode: str
    evidence: str
    short: int = 0


def find_mode(text: str) -> Finding:
    r"""Detect the paragraph mode of a text from its beginning.

    Each line is a paragraph unless the text is wrapped: prose that is broken to a width of at least
    45 columns (wide characters have two). It is if one of these is true:

    * The next line's first word would seldom have fitted on a line, and there are many such lines,
      or some continue in lower case.
    * Many lines are continued: they end without the end of a sentence, and the next line begins
      in lower case. This does not count if sentences begin so, too.
    * In a script without lower case, many lines end without the end of a sentence, but the last
      lines before blank ones end with one.

    Rows of tables and entries of lists do not count.

    Parameters
    ----------
    text
        The beginning of the text.

    Examples
    --------
    >>> find_mode("A line that somebody wrapped at a width of some\nforty to fifty columns, or so.")
    Finding(mode='blank', evidence='lines broken at 47 characters: 1 of 1', short=35)
    >>> find_mode("Hello.\nHow are you these days?\nFine.\n").mode
    'line'
    """
    lines = [line.strip() for line in text.split("\n")]
    pairs = [(line, after) for line, after in pairwise(lines) if line and after]
    if not pairs:
        return Finding("blank" if any(not line for line in lines[1:-1]) else "line", "")
    prose = [
        (line, after)
        for line, after in pairs
        if _is_running(line) and not _is_entry(line) and not _ENTRY.match(after)
    ]
    if not prose:
        return Finding("line", "short lines")
    lengths = sorted(len(line) for line, _ in prose)
    width = lengths[-1 - len(lengths) // _LINES_FOR_A_LONGER]
    is_wide = width >= _LEAST_WIDTH or (
        not text.isascii()
        and any(_columns(line) >= _LEAST_WIDTH for line, _ in prose if len(line) <= width)
    )
    full = sum(len(line) + 1 + _first_word(after) > width for line, after in prose)
    opened = [(line, after) for line, after in prose if not _ends(line)]
    continued = [len(line) for line, after in opened if after[0].islower()]
    blocks = [block.strip("\n") for block in "\n".join(lines).split("\n\n") if block.strip("\n")]
    starts = [block[0] for block in blocks] + [after[0] for line, after in prose if _ends(line)]
    has_case = sum(map(str.islower, starts)) <= _LOWER_STARTS * len(starts)
    is_continued = has_case and continued and len(continued) >= _CONTINUED * len(opened)
    letters = [next(filter(str.isalpha, line), "") for line, _ in prose]
    is_caseless = 2 * sum(each.lower() == each.upper() != "" for each in letters) > len(prose)
    is_flowing = any(_FLOWING.search(line) for line, _ in opened) and (continued or len(prose) > 1)
    many = _MANY_LINES // 2 if full == len(prose) else _MANY_LINES
    is_prose = len(prose) >= many or is_continued or is_caseless or is_flowing
    if is_wide and opened and full >= _FULL_LINES * len(prose) and is_prose:
        evidence = f"lines broken at {width} characters: {full} of {len(prose)}"
        return Finding("blank", evidence, int(_SHORT * width))
    ends = [_ends(block) for block in blocks if "\n" in block]
    is_closed = len(ends) > 1 and sum(ends) >= _FULL_LINES * len(ends)
    evidence = f"lines continued in lower case: {len(continued)} of {len(prose)}"
    cut = sum(line.endswith("-") and after[0].islower() for line, after in opened)
    is_clear = is_closed or is_flowing or cut > 1
    is_clear = is_clear or (len(starts) > 1 and len(continued) >= _MANY_LINES)
    if is_continued and (is_wide or is_clear):
        is_filled = cut > 1 or mean(continued) >= _FILLED * width
        if is_filled and len(continued) >= _PROSE * len(pairs):
            return Finding("blank", evidence, int(_SHORTER * width))
    if is_caseless and is_closed and opened:
        return Finding("blank", f"lines that end within a sentence: {len(opened)} of {len(prose)}")
    return Finding("line", evidence)


def _first_word(line: str) -> int:
    """Return the length of the first word of a line, as far as it matters."""
    return len(line[:_LONGEST_WORD].split(maxsplit=1)[0])


def _columns(line: str) -> int:
    """Return the width of a line; wide characters have two columns."""
    return sum(1 + (east_asian_width(char) in "WF") for char in line)


def _is_entry(line: str) -> bool:
    """Return whether a line is an entry of a list, or a row of a table."""
    return _ENTRY.match(line) is not None or _GAP.search(line) is not None


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
    short
        Length of the entries of lists in wrapped text, see `Finding`.

    Examples
    --------
    >>> marker = Marker("blank")
    >>> marker.mark("One.\nOne.\n"), marker.mark("\nTwo."), marker.mark("", final=True)
    ('One.\nOne.', '\u2029\nTwo.', '')
    """

    def __init__(self, mode: str, short: int = 0):
        self._mode, self._short = mode, short
        self._line = ""  # beginning of the current line, which was returned
        self._held = ""  # a line break that may turn out to end a paragraph, and what follows

    def mark(self, piece: str, *, final: bool = False) -> str:
        """Return the text that is final after a piece, with the ends of paragraphs marked."""
        if self._mode == "line":
            return piece.replace("\n", SEPARATOR)
        text = self._held + piece
        held = len(text)
        if not final:
            last = text.rfind("\n")
            needed = _LONGEST_WORD if self._short else 1
            if last >= 0 and len(text[last + 1 :].strip()) < needed:
                held = last
        self._held = text[held:]
        marked = text
        if self._short:
            # A line that may end an entry of a list, and the beginning of the line after it.
            entry = (
                rf"^(?=.*\S)(.{{0,{self._short}}}|{_ENTRY.pattern}.*)\n(?=(.{{,{_LONGEST_WORD}}}))"
            )
            marked = re.sub(entry, self._end_of_entry, self._line + text, flags=re.MULTILINE)
            marked = marked[len(self._line) :]
            self._line = (self._line + text[:held]).rpartition("\n")[2][: self._short + 1]
        return _BLANK.sub(SEPARATOR, marked)[:held]

    def _end_of_entry(self, match: re.Match[str]) -> str:
        """Return a line with its line break, which is marked if the line ends an entry."""
        line, after = match.groups()
        is_end = _ENTRY.match(after) is not None
        if not is_end and after.strip():
            is_short = len(line.strip()) + 1 + _first_word(after) <= self._short
            is_end = is_short and (_ends(line) or not after.strip()[0].islower())
        return line + (SEPARATOR if is_end else "\n")
