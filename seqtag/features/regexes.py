"""Regular expressions of templates, limited to those that match any word in bounded time.

Python's engine backtracks: it tries every possible match of an expression, and for ``(a+)+$`` their
number is exponential in the length of the word. Template files and models may be untrusted, so an
expression is parsed before it is used, its possible matches are counted, and words are truncated to
a length that limits their number. `re.compile` decides whether an expression is valid; `_Parser`
reads valid expressions only, because the parser of the standard library is private.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_REGEX = 200
"""Maximum number of characters of a regular expression."""

LONGEST_WORD = 1000
"""Maximum number of code points of a word that an expression sees."""

_LEAST_WORD = 30  # characters; expressions that need shorter words are refused
_MOST_STEPS = 10**8  # a second or less: repetitions share a word, but are counted as if not

_Node: TypeAlias = tuple[str, Any]
"""An element of an expression, as a kind and a value.

``char`` (one character), ``set`` (of characters), ``other`` (one character by other means), ``at``
(a position), ``group`` (key and nodes; the key is None if the group only holds together),
``branch`` (alternatives), ``repeat`` (least, most and nodes), ``refused`` (what it is).
"""

_LOOKAROUND, _REFERENCE = "a lookaround", "a reference or atomic group"
_UNKNOWN = "an unknown construct"
_AT_START = (("at", "^"), ("at", "\\A"))
_COUNTS = re.compile(r"\{(?!\})([0-9]*)(?:(,)([0-9]*))?\}")
_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|0[0-7]{0,2}|[1-9][0-9]?[0-7]?|.)",
    re.DOTALL,
)
_GROUP = re.compile(
    r"""\((?:
        (?P<comment>\?\#[^)]*\))
      | (?P<global>\?[a-zA-Z]+\))
      | (?P<refused>\?(?:<?[=!]|>|\(|P=))
      | (?P<flags>\?[a-zA-Z]*-?[a-zA-Z]*:)
      | (?P<capture>(?:\?P<[^>]*>)?)
    )""",
    re.VERBOSE,
)
_SPACE = re.compile(r"(?:[ \t\n\r\v\f]|#[^\n]*(?:\n|\Z))*")
_SINGLE = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class _UnboundedError(ValueError):
    """Construct of an expression that may take exponential time."""


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
repetition of a pattern that matches in several ways in '(a+)+$'; repeat single characters or sets \
only, such as [a-z]+
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
    try:
        nodes = _Parser(regex).alternatives(verbose=bool(pattern.flags & re.VERBOSE))
        anchored = nodes and nodes[0] in _AT_START and not pattern.flags & re.MULTILINE
        for longest in (LONGEST_WORD, 400, 200, 90, 50, _LEAST_WORD):
            if (1 if anchored else longest) * _ways(nodes, longest) <= _MOST_STEPS:
                return BoundedRegex(pattern, longest)
        found = "too many repetitions one after another"
    except _UnboundedError as error:
        found = str(error)
    msg = (
        f"expected a regular expression that is fast on any word, found {found} in {regex!r}; "
        "repeat single characters or sets only, such as [a-z]+"
    )
    raise TemplateError(msg)


def _ways(nodes: Sequence[_Node], longest: int) -> int:
    """Return an upper bound of the number of ways to match at one position of a word."""
    ways = 1
    for kind, value in nodes:
        if kind == "branch":
            ways *= sum(_ways(branch, longest) for branch in value)
        elif kind == "group":
            ways *= _ways(value[1], longest)
        elif kind == "repeat":
            least, most, body = value
            inner = _ways(body, longest)
            if most <= 1:
                ways *= inner + (1 - least)
                continue
            if inner > 1:
                msg = "a repetition of a pattern that matches in several ways"
                raise _UnboundedError(msg)
            if not _width(body):
                msg = "a repetition of a pattern that can be empty"
                raise _UnboundedError(msg)
            ways *= max(min(most, longest) - least, 0) + 1
        elif kind == "refused":
            raise _UnboundedError(value)
    return ways


def _width(nodes: Sequence[_Node]) -> int:
    """Return the least number of characters that nodes match."""
    width = 0
    for kind, value in nodes:
        if kind == "branch":
            width += min(map(_width, value))
        elif kind == "group":
            width += _width(value[1])
        elif kind == "repeat":
            width += value[0] * _width(value[2])
        else:
            width += kind in ("char", "set", "other")
    return width


@dataclass
class _Parser:
    """Parser of valid regular expressions."""

    text: str
    at: int = 0

    def alternatives(self, *, verbose: bool) -> list[_Node]:
        """Parse up to the end of a group or of the text: sequences with ``|`` between them.

        What all alternatives begin with is taken out, and single characters become one set, so that
        such alternatives are one way to match, as they are for Python's engine.
        """
        branches = [self._sequence(verbose=verbose)]
        while self.text.startswith("|", self.at):
            self.at += 1
            branches.append(self._sequence(verbose=verbose))
        if len(branches) == 1:
            return branches[0]
        prefix = []
        while all(branches) and all(branch[0] == branches[0][0] for branch in branches):
            prefix.append(branches[0][0])
            branches = [branch[1:] for branch in branches]
        if all(len(branch) == 1 and branch[0][0] in ("char", "set") for branch in branches):
            return [*prefix, ("set", "|".join(branch[0][1] for branch in branches))]
        return [*prefix, ("branch", branches)]

    def _sequence(self, *, verbose: bool) -> list[_Node]:
        """Parse up to ``|``, the end of a group or of the text."""
        nodes: list[_Node] = []
        while True:
            if verbose and (space := _SPACE.match(self.text, self.at)):
                self.at = space.end()
            char = self.text[self.at : self.at + 1]
            if char in ("", "|", ")"):
                break
            if char == "(":
                nodes += self._group(verbose=verbose)
            elif repeat := self._counts(char):
                if not nodes:
                    raise _UnboundedError(_UNKNOWN)
                item = nodes.pop()
                plain_group = item[0] == "group" and item[1][0] is None
                body = item[1][1] if plain_group else [item]
                if self.text.startswith("+", self.at):  # possessive
                    nodes.append(("refused", _REFERENCE))
                else:
                    nodes.append(("repeat", (*repeat, body)))
                self.at += self.text.startswith(("?", "+"), self.at)
            else:
                nodes.append(self._one(char))
        found: list[_Node] = []
        for node in nodes:  # groups that only hold together are taken apart
            found += node[1][1] if node[0] == "group" and node[1][0] is None else [node]
        return found

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self.text, self.at)
        if found is None:  # syntax of a later Python
            raise _UnboundedError(_UNKNOWN)
        self.at = found.end()
        return found

    def _group(self, *, verbose: bool) -> list[_Node]:
        """Parse a group, a comment or flags; return one node, or none."""
        start, begin = self.at, self._take(_GROUP)
        how = begin.lastgroup
        if how in ("comment", "global"):
            return []
        if how == "refused":
            opening = begin["refused"]
            if opening == "?P=":
                self.at = self.text.index(")", self.at) + 1
                return [("refused", _REFERENCE)]
            if opening == "?(":
                self.at = self.text.index(")", self.at) + 1
        flags = (begin["flags"] or "").strip("?:")
        added, _, removed = flags.partition("-")
        self_verbose = ("x" in added or verbose) and "x" not in removed
        inside = self.alternatives(verbose=self_verbose)
        self.at += 1  # the closing parenthesis
        if how == "refused":
            return [("refused", _LOOKAROUND if begin["refused"][-1] in "=!" else _REFERENCE)]
        key = start if how == "capture" else flags or None
        return [("group", (key, inside))]

    def _counts(self, char: str) -> tuple[int, int] | None:
        """Parse a repetition, if there is one, without what makes it lazy or possessive."""
        if char in "*+?":
            self.at += 1
            return (int(char == "+"), 1 if char == "?" else LONGEST_WORD)
        counts = _COUNTS.match(self.text, self.at)
        if counts is None:
            return None
        self.at = counts.end()
        least, comma, most = counts.groups()
        return int(least or 0), int((most if comma else least) or LONGEST_WORD)

    def _one(self, char: str) -> _Node:
        """Parse what matches one character or a position."""
        if char == "[":
            return self._set()
        self.at += 1
        if char in "^$":
            return "at", char
        if char == ".":
            return "other", char
        if char != "\\":
            return "char", char
        self.at -= 1
        return self._escape()

    def _escape(self) -> _Node:
        start, found = self.at, self._take(_ESCAPE)[0]
        body = found[1:]
        if body[0] in "123456789" and not re.fullmatch("[1-3][0-7]{2}", body):
            self.at = start + 2 + body[1:2].isdigit()
            return "refused", _REFERENCE
        if body[0].isdigit():
            return "char", chr(int(body, 8))
        if body[0] in "xuU":
            return "char", chr(int(body[1:], 16))
        if body[0] == "N":
            return "char", unicodedata.lookup(body[2:-1])
        if body in "AbBzZ":
            return "at", found
        if body in "dDsSwW":
            return "set", found
        return "char", _SINGLE.get(body, body)

    def _set(self) -> _Node:
        """Parse a set of characters in brackets."""
        start = self.at
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        nodes: list[_Node] = []
        while not (nodes and self.text[self.at] == "]"):
            if self.text[self.at] == "\\" and self.text[self.at + 1] in "AbBzZ":
                nodes.append(("char", "\b"))
                self.at += 2
            elif self.text[self.at] == "\\":
                nodes.append(self._escape())
            else:
                nodes.append(("char", self.text[self.at]))
                self.at += 1
        self.at += 1
        if negated:
            return "other", self.text[start : self.at]
        return nodes[0] if len(nodes) == 1 else ("set", self.text[start : self.at])
