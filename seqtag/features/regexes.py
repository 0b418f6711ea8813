"""Regular expressions of templates: those that are done with any word in bounded time.

Python's engine tries all ways in which an expression may match, and ``(a+)+$`` has as many as there
are ways to cut a word.  Template files and models come from anywhere, so an expression is read
before it is used, its ways are counted, and the word is cut to what they allow.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Iterable

_parser: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

LONGEST_REGEX = 200
"""Characters that a regular expression may have."""

LONGEST_WORD = 1000
"""Code points of a word that an expression sees at most."""

_LEAST_WORD = 30  # an expression that cannot do with so many is refused
_MOST_STEPS = 10**8  # a second or less: repetitions share a word, but are counted as if not

_SIMPLE = {"ANY", "LITERAL", "NOT_LITERAL", "IN", "AT"}


class _UnboundedError(ValueError):
    """What is in an expression that may take for ever."""


class BoundedRegex(NamedTuple):
    """A regular expression, and how much of a word it sees."""

    pattern: re.Pattern[str]
    longest: int

    def search(self, word: str) -> re.Match[str] | None:
        """The first match in what it sees of a word."""
        return self.pattern.search(word[: self.longest])


@lru_cache(maxsize=1024)
def bounded(regex: str) -> BoundedRegex:
    """Compile a regular expression that is done with any word in bounded time.

    Parameters
    ----------
    regex
        In Python's syntax; at most 200 characters.  A repetition may not hold another one that can
        match in several ways, nor ``|`` between longer parts, nor what can be empty; there are no
        lookarounds, references to groups, atomic groups and possessive repetitions.

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
repetition of what can match in several ways in '(a+)+$'; repeat single characters or sets only, \
such as [a-z]+
    """
    if len(regex) > LONGEST_REGEX:
        msg = (
            f"expected a regular expression of at most {LONGEST_REGEX} characters, found "
            f"{len(regex)}; split it into several templates"
        )
        raise TemplateError(msg)
    try:
        pattern = re.compile(regex)
        tree = list(_parser.parse(regex))
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        msg = f'"{regex}" is not a regular expression: {error}; correct it'
        raise TemplateError(msg) from error
    first = str(tree[0][1]) if tree and not pattern.flags & re.MULTILINE else ""
    anchored = first in ("AT_BEGINNING", "AT_BEGINNING_STRING")
    try:
        for longest in (LONGEST_WORD, 400, 200, 90, 50, _LEAST_WORD):
            if (1 if anchored else longest) * _ways(tree, longest) <= _MOST_STEPS:
                return BoundedRegex(pattern, longest)
        found = "too many repetitions one after another"
    except _UnboundedError as error:
        found = str(error)
    msg = (
        f"expected a regular expression that is fast on any word, found {found} in {regex!r}; "
        "repeat single characters or sets only, such as [a-z]+"
    )
    raise TemplateError(msg)


def _ways(tree: Iterable[tuple[Any, Any]], longest: int) -> int:
    """In how many ways an expression may match at one place of a word, or a number above that."""
    ways = 1
    for kind, value in tree:
        name = str(kind)
        if name == "BRANCH":
            ways *= sum(_ways(branch, longest) for branch in value[1])
        elif name == "SUBPATTERN":
            ways *= _ways(value[-1], longest)
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, body = value
            ways *= _ways_of_repeat(least, most, body, longest)
        elif name not in _SIMPLE:
            what = "a lookaround" if name.startswith("ASSERT") else "a reference or atomic group"
            raise _UnboundedError(what)
    return ways


def _ways_of_repeat(least: int, most: int, body: Any, longest: int) -> int:
    """The ways of a repetition."""
    ways = _ways(body, longest)
    if most <= 1:
        return ways + (1 - least)
    if ways > 1:
        msg = "a repetition of what can match in several ways"
        raise _UnboundedError(msg)
    if not body.getwidth()[0]:
        msg = "a repetition of what can be empty"
        raise _UnboundedError(msg)
    return max(min(int(most), longest) - least, 0) + 1
