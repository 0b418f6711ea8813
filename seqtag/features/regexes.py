"""Regular expressions of templates, limited to those that match any word in bounded time.

Python's engine backtracks: it tries every possible match of an expression, and for ``(a+)+$`` their
number is exponential in the length of the word. Template files and models may be untrusted, so that
groups cannot be repeated, the possible matches of what remains are counted, and words are truncated
to a length that limits their number. `re.compile` decides whether an expression is valid.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import NamedTuple

from seqtag.errors import TemplateError

LONGEST_REGEX = 200
"""Maximum number of characters of a regular expression."""

LONGEST_WORD = 1000
"""Maximum number of code points of a word that an expression sees."""

_LEAST_WORD = 30  # characters; expressions that need shorter words are refused
_MOST_STEPS = 10**8  # a second or less: repetitions share a word, but are counted as if not

_TOKEN = re.compile(
    r"""(?P<reference>\\[1-9])
      | \\(?:N\{[^}]*\}|.)
      | \[\^?\]?(?:\\.|[^]\\])*\]
      | \(\?[aimsu]+\)
      | (?P<open>\((?:\?(?:[aimsu]*(?:-[ims]+)?:|P<[^>]*>)|(?!\?)))
      | (?P<refused>\()
      | (?P<close>\))
      | (?P<bar>\|)
      | (?P<repeat>[*+?]|\{(?!\})(?P<least>[0-9]*)(?:(?P<comma>,)(?P<most>[0-9]*))?\})[?+]?
      | .
    """,
    re.VERBOSE | re.DOTALL,
)
_AT_START = re.compile(r"(?:\(\?[aimsu]+\))?(?:\^|\\A)")


class BoundedRegex(NamedTuple):
    """Compiled regular expression, and the length of the part of a word that it sees."""

    pattern: re.Pattern[str]
    longest: int

    def search(self, word: str) -> re.Match[str] | None:
        """Return the first match in that part of the word."""
        return self.pattern.search(word[: self.longest])


@lru_cache(maxsize=1024)
def bounded(regex: str) -> BoundedRegex:
    """Compile a regular expression that matches any word in bounded time.

    Parameters
    ----------
    regex
        In Python's syntax; at most 200 characters. Characters and sets can be repeated, groups can
        only be optional. There are no lookarounds, references to groups, atomic groups, comments
        and the flag ``x``.

    Returns
    -------
    BoundedRegex
        It sees the first 1000 code points of a word; fewer, but 30, if it has several repetitions.

    Raises
    ------
    TemplateError
        If the expression is none, too long, or can take too long.

    Examples
    --------
    >>> bounded("[0-9]+").search("CD-2000")[0]
    '2000'
    >>> bounded("(a+)+$")
    Traceback (most recent call last):
    seqtag.errors.TemplateError: expected a regular expression that is fast on any word, found a \
repeated group in '(a+)+$'; repeat single characters or sets only, such as [a-z]+
    """
    if len(regex) > LONGEST_REGEX:
        msg = (
            f"expected a regular expression of at most {LONGEST_REGEX} characters, found "
            f"{len(regex)}; split it into several templates"
        )
        raise TemplateError(msg)
    try:
        pattern = re.compile(regex)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        msg = f'"{regex}" is not a regular expression: {error}; correct it'
        raise TemplateError(msg) from error
    branches, repetitions = _choices(regex)
    anchored = branches[-1] == 1 and _AT_START.match(regex) and not pattern.flags & re.MULTILINE
    for longest in (LONGEST_WORD, 400, 200, 90, 50, _LEAST_WORD):
        ways = prod(max(min(most, longest) - least, 0) + 1 for least, most in repetitions)
        if (1 if anchored else longest) * prod(branches) * ways <= _MOST_STEPS:
            return BoundedRegex(pattern, longest)
    found = "too many repetitions one after another"
    raise _refusal(found, regex)


def _choices(regex: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return how a valid expression can match in several ways, or refuse it.

    Returns
    -------
    branches : list of int
        Number of alternatives of each group, and of the complete expression as the last one. They
        are multiplied with the ways of all alternatives, which is at least their sum.
    repetitions : list of (least, most)
        How often each repeated character or set, or optional group, can occur.
    """
    branches: list[int] = []
    repetitions: list[tuple[int, int]] = []
    opened, after_group = [1], False
    for token in _TOKEN.finditer(regex):
        kind, found = token.lastgroup, None
        if kind == "reference":
            found = "a reference to a group"
        elif kind == "refused":
            found = f"a group that begins with {regex[token.start() :][:3]}"
        elif kind == "open":
            opened.append(1)
        elif kind == "close":
            branches.append(opened.pop())
        elif kind == "bar":
            opened[-1] += 1
        elif kind == "repeat":
            least, most = int(token[0][0] == "+"), 1 if token[0][0] == "?" else LONGEST_WORD
            if token[0][0] == "{":
                least = int(token["least"] or 0)
                most = int((token["most"] if token["comma"] else token["least"]) or LONGEST_WORD)
            found = "a repeated group" if after_group and most > 1 else None
            repetitions.append((least, most))
        if found is not None:
            raise _refusal(found, regex)
        after_group = kind == "close"
    return [*branches, *opened], repetitions


def _refusal(found: str, regex: str) -> TemplateError:
    msg = (
        f"expected a regular expression that is fast on any word, found {found} in {regex!r}; "
        "repeat single characters or sets only, such as [a-z]+"
    )
    return TemplateError(msg)
