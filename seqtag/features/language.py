r"""The template language: which attributes of which words become features.

One item a line::

    bias                         # a feature that is always on
    form[0]                      # the value of the column form, here (offset 0)
    pos[-1] + pos[0]             # a conjunction: the column pos, one word back, and here
    suffix(3)[0]                 # an attribute of the column form
    suffix(lemma, 2)[+1]         # an attribute of another column, one word ahead
    test("^\d+$")[0]             # an attribute that takes a regular expression
    lower(%1)[0]                 # a column by its number, counted from 0 (%1 is the second)
    class(en)[0]                 # the word's entry in the table en, see seqtag.tables
    lexicon(lemma, names)[-1]    # the same of another column, one word back
    label[-1]                    # label bigrams: first order
    label[-1] + pos[0]           # label bigrams that see an observation
    label[-2] + label[-1]        # label trigrams: second order
    set epochs 10                # a setting for training, see seqtag.settings

A bare name that is not an attribute (see `seqtag.features.attributes`) is the value of a column; a
column with the name of an attribute is written ``form(name)``. ``#`` begins a
comment at the start of a line or after white space, but not between quotes. A string runs to the
next quote without a backslash before it, and keeps its backslashes (as Python's r"..." does).

Template files of CRF++ and Wapiti can be read, too. There ``U`` lines see the current label, ``B``
lines label bigrams, ``*`` lines both; ``%x[row,col]`` is a column by number, ``%m[row,col,"re"]``
the part that Wapiti's small regular expression matches, ``%t[...]`` whether it matches; capitals
(``%X``) lower-case the result. Identifiers and text between the macros do not matter.
"""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from seqtag.errors import TemplateError, did_you_mean, located
from seqtag.features.attributes import RESERVED, TABLE_ATTRIBUTES, is_attribute, resolve
from seqtag.features.templates import NAME, STRING, Template, TemplateSet, Term, check_size
from seqtag.settings import SETTINGS, Value, find_setting
from seqtag.storage.encodings import conversion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

CRFPP_LINE = re.compile(r'[UuBb]\d*(?::|\Z)|\*|[UuBb][^"(\[]*%[A-Za-z]\[')
"""Begin of a template line of CRF++ or Wapiti."""

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
    r"""Parse a line of CRF++ into terms and label offsets; a ``*`` line makes two templates.

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
    r"""Translate a regular expression of Wapiti to Python's syntax.

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


_log = logging.getLogger("seqtag")

_TERM = re.compile(
    rf'\s*(?P<name>{NAME}|%[0-9]{{1,9}})\s*(?:\((?P<args>(?:{STRING}|[^"()])*)\))?'
    r"\s*\[\s*(?P<offset>[+-]?[0-9]{1,9})\s*\]\s*"
)
_ARGUMENT = re.compile(
    rf"\s*(?:(?P<int>-?[0-9]{{1,9}})|(?P<str>{STRING})|(?P<column>{NAME}|%[0-9]{{1,9}}))\s*(?:,|\Z)"
)
_SETTING = re.compile(r"set\s")
_COLUMN = re.compile(rf"{NAME}|%[0-9]{{1,9}}")
_BEFORE_COMMENT = re.compile(
    rf'(?:{STRING}|(?<!\s)(?!\A)\#|[^#"])*'  # up to a quote that none closes, and no later one
    r"(?:(?<!\s)(?!\A)\#|[^#])*"
)
LONGEST_LINE = 2000
"""Most characters of a line before its comment."""

LONGEST_COMMENT = 100_000
"""Most characters of a line with its comment."""

_PRESETS = Path(__file__).with_name("presets")


def parse(text: str, source: str = "<templates>") -> TemplateSet:
    r"""Read templates in the language of this module, or in that of CRF++ and Wapiti.

    The first line that is not a comment or a setting decides between the two. A repeated template
    is an error in this language; in a file of CRF++ it is kept once, with a warning in the log.

    Parameters
    ----------
    text
        The lines. Register user-defined attributes first (`seqtag.features.attributes.attribute`).
    source
        Name of the file, for messages.

    Raises
    ------
    TemplateError
        At the first line that cannot be read, naming `source` and the line.

    Examples
    --------
    >>> print(parse("U00:%x[-1,0]\nU01:%x[0,0]/%x[0,1]\nB"), end="")
    %0[-1]
    %0[0] + %1[0]
    label[-1]
    """
    templates: list[Template] = []
    settings: dict[str, Value] = {}
    read, read_terms = None, 0
    first_lines: dict[object, int] = {}
    for number, raw in enumerate(text.split("\n"), start=1):
        stripped = raw.strip()
        if not stripped:
            continue
        with located(source, number):
            line, most, what = stripped, LONGEST_COMMENT, " with its comment"
            if len(line) <= most:  # the search for a comment takes memory per letter
                found = _BEFORE_COMMENT.match(line)
                line, most, what = found[0].strip() if found else "", LONGEST_LINE, ""
            if len(line) > most:
                msg = (
                    f"expected a line of at most {most:,} characters{what}, found {len(line):,}; "
                    "write one template a line"
                )
                raise TemplateError(msg)
            if not line:
                continue
            if _SETTING.match(line):
                words = line.split()
                if len(words) != 3:
                    msg = f"expected a setting such as set epochs 10, found {line!r}"
                    raise TemplateError(msg)
                name = words[1]
                value = find_setting(name).parse(words[2])
                if name in settings:
                    msg = f"the setting {name} occurs twice; remove one"
                    raise TemplateError(msg)
                settings[name] = value
                continue
            if read is None:
                foreign = CRFPP_LINE.match(line) and not _TERM.match(line)
                read = parse_crfpp if foreign else _parse_native
            for terms, labels in read(line):
                key = frozenset(terms), labels
                first = first_lines.setdefault(key, number)
                if read is parse_crfpp and first < number:
                    _log.warning(
                        "%s:%d: the template is already on line %d; it is used once",
                        source,
                        number,
                        first,
                    )
                else:
                    templates.append(Template(terms, labels, line=number))
                    read_terms += len(terms)
                    check_size(len(templates), read_terms)  # before the rest is read
    with located(source):
        return TemplateSet(tuple(templates), settings, source)


_Parts = tuple[tuple[Term, ...], tuple[int, ...]]


def _parse_native(line: str) -> Iterator[_Parts]:
    """Parse a line into terms and label offsets."""
    if line == "bias":
        yield (), ()
        return
    terms, labels, start = [], [], 0
    while True:
        found = _TERM.match(line, start)
        if not found:
            msg = (
                "expected a term such as form[0], suffix(3)[-1] or label[-1], "
                f"found {line[start:].strip()!r}; an offset in brackets ends every term, "
                "+ joins them, only bias stands alone, and columns without a name are %0, %1, ..."
            )
            raise TemplateError(msg)
        if found["name"] == "label" and found["args"] is None:
            labels.append(int(found["offset"]))
        else:
            terms.append(_parse_term(found))
        start = found.end() + 1
        if start > len(line):
            break
        if line[start - 1] != "+":
            msg = (
                f"expected + or the end of the line, found {line[start - 1 :]!r}; "
                "write one template a line"
            )
            raise TemplateError(msg)
    yield tuple(terms), tuple(sorted(labels))


def _parse_term(found: re.Match[str]) -> Term:
    """Build the term that _TERM matched."""
    name, offset = found["name"], int(found["offset"])
    if name in TABLE_ATTRIBUTES and found["args"] is not None:
        text = found["args"]  # an optional column, then the table
        names = [each.strip().strip('"') for each in text.split(",")] if text.strip() else []
        of = names.pop(0) if len(names) == 2 and _COLUMN.fullmatch(names[0]) else "form"
        return Term(name, _column(of), tuple(names), offset)
    is_column = name[0] == "%" or not is_attribute(name) or name in TABLE_ATTRIBUTES
    if found["args"] is None and is_column:
        if name in RESERVED:
            msg = f"expected {name} alone, found {found[0].strip()!r}"
            raise TemplateError(msg)
        return Term("form", _column(name), (), offset)
    column: str | int = "form"
    args: list[int | str] = []
    text, start = found["args"] or "", 0
    while text.strip() and start <= len(text):
        argument = _ARGUMENT.match(text, start)
        if not argument or (argument["column"] and start):
            msg = (
                "expected a column, then integers or strings in double quotes, "
                f"with commas between, found {text.strip()!r} in {found[0].strip()!r}"
            )
            raise TemplateError(msg)
        if argument["column"]:
            column = _column(argument["column"])
        else:
            args.append(int(argument["int"]) if argument["int"] else argument["str"][1:-1])
        start = argument.end() + (argument[0][-1] != ",")
    resolve(name, args)
    return Term(name, column, tuple(args), offset)


def _column(text: str) -> str | int:
    """Parse a column: its name, or % and its number."""
    return int(text[1:]) if text[0] == "%" else text


def preset_names() -> list[str]:
    """Return the names of the presets that come with seqtag, sorted.

    Examples
    --------
    >>> preset_names()[:3]
    ['chunk', 'clitics', 'feats']
    """
    return sorted(path.stem for path in _PRESETS.glob("*.txt"))


def preset_text(name: str) -> str | None:
    """Return the text of a preset with its comments; None if there is no such preset.

    >>> preset_text("pos").splitlines()[4]
    'form[0]'
    """
    return (_PRESETS / f"{name}.txt").read_text("utf-8") if name in preset_names() else None


def load(name_or_path: str | PathLike[str]) -> TemplateSet:
    """Load a preset by name, or else a template file (UTF-8).

    Parameters
    ----------
    name_or_path
        A name of `preset_names`, or a path; write ``./pos`` for a file with a preset's name.

    Raises
    ------
    TemplateError
        If there is neither a preset nor a file, or the file cannot be parsed.
    OSError
        If the file is there but cannot be read.

    Examples
    --------
    >>> templates = load("pos")
    >>> len(templates.templates), templates.order, templates.settings["epochs"]
    (35, 2, 10)
    """
    path, source = Path(name_or_path), str(name_or_path)
    is_preset = source in preset_names()
    if is_preset:
        path = _PRESETS / f"{source}.txt"
        source = path.name
    elif not path.exists():
        msg = (
            f"expected a preset or a template file, found neither of the name {source!r}"
            f"{did_you_mean(source, preset_names())}; presets are {', '.join(preset_names())}"
        )
        raise TemplateError(msg)
    try:
        templates = parse(path.read_text(encoding="utf-8-sig"), source)
    except UnicodeDecodeError as error:
        found, at = error.object[error.start], error.start
        advice = conversion(error.object, at)
        msg = f"expected UTF-8, found the byte {found:#04x} at byte offset {at}; {advice}"
        line = error.object.count(b"\n", 0, at) + 1
        raise TemplateError(msg, source=source, line=line) from error
    if is_preset:  # its file has the settings that differ from the defaults; the rest is not open
        defaults = {name: setting.default for name, setting in SETTINGS.items()}
        templates = replace(templates, settings=defaults | dict(templates.settings))
    return templates
