"""Template files of CRF++ and Wapiti, read as seqtag's templates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seqtag.errors import TemplateError
from seqtag.features.terms import STRING, Term

if TYPE_CHECKING:
    from collections.abc import Iterator

CRFPP_LINE = re.compile(r'[UuBb]\d*(?::|\Z)|\*|[UuBb][^"(\[]*%[A-Za-z]\[')
"""How a template line of these files begins."""

_MACRO = re.compile(
    r"%(?P<kind>[xXmMtT])\[\s*(?P<offset>[+-]?[0-9]{1,9})\s*,\s*(?P<column>[0-9]{1,9})\s*"
    rf"(?:,\s*(?P<regex>{STRING})\s*)?\]"
)
_MACRO_ATTRIBUTES = dict(x="form", X="lower", m="match", M="match_lower", t="test", T="test")
_WAPITI_CLASSES = {
    "a": "a-zA-Z",
    "d": "0-9",
    "l": "a-z",
    "s": r"\s",
    "u": "A-Z",
    "w": "a-zA-Z0-9",
    "p": r"!-/:-@\[-`{-~",
}


def parse_crfpp(line: str) -> Iterator[tuple[tuple[Term, ...], tuple[int, ...]]]:
    r"""Terms and label offsets of one line; a ``*`` line makes two templates.

    Parameters
    ----------
    line
        A line without comment, such as ``U01:%x[-1,0]/%x[0,0]``.

    Raises
    ------
    TemplateError
        If the line begins otherwise, or a macro or its regular expression is malformed.

    Examples
    --------
    >>> for terms, labels in parse_crfpp(r'*:caps=%t[-1,0,"^\u"]'):
    ...     print(*terms, labels)
    test(%0, "^[A-Z]")[-1] ()
    test(%0, "^[A-Z]")[-1] (-1,)
    """
    if line[0] not in "UuBb*":
        msg = f"expected a CRF++ or Wapiti template that begins with U, B or *, found {line!r}"
        raise TemplateError(msg)
    rest = _MACRO.sub("", line)
    if "%" in rest:
        msg = (
            'expected macros %x[row,col], %m[row,col,"regex"] or %t[row,col,"regex"] with a row '
            f"relative to the current word, found {rest[rest.index('%') :]!r}"
        )
        raise TemplateError(msg)
    terms = []
    for macro in _MACRO.finditer(line):
        if (macro["kind"] in "xX") == (macro["regex"] is not None):
            msg = f"expected a regular expression in %m and %t, and none in %x, found {macro[0]!r}"
            raise TemplateError(msg)
        args = (_translate_regex(macro["regex"][1:-1]),) if macro["regex"] else ()
        function = _MACRO_ATTRIBUTES[macro["kind"]]
        terms.append(Term(function, int(macro["column"]), args, int(macro["offset"])))
    if line[0] in "Uu*":
        yield tuple(terms), ()
    if line[0] in "Bb*":
        yield tuple(terms), (-1,)


def _translate_regex(regex: str) -> str:
    r"""Wapiti's regular expression in Python's syntax.

    Wapiti knows . ^ $ ? * and the classes \a \d \l \p \s \u \w (ASCII; capitals negate); all
    else is literal. Its * is lazy, its ? is greedy.
    """
    body = regex.removeprefix("^")
    python = "^" * (body != regex)
    tokens = re.findall(r"\\.|.", body)
    for position, token in enumerate(tokens):
        last = position == len(tokens) - 1
        if token in "?*":
            if position == 0 or tokens[position - 1] in "?*":
                msg = (
                    f'expected a character before {token} in the regular expression "{regex}"; '
                    f"write \\{token} for the character itself"
                )
                raise TemplateError(msg)
            python += "*?" if token == "*" else "?"
        elif token == ".":
            python += "."
        elif token == "$" and last:
            python += r"\Z"
        elif token[-1].lower() in _WAPITI_CLASSES and len(token) == 2:
            negation = "^" if token[1].isupper() else ""
            python += f"[{negation}{_WAPITI_CLASSES[token[1].lower()]}]"
        else:
            python += re.escape(token[-1]) if token[-1] != '"' else r"\""
    return python
