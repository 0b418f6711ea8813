"""Terms and templates: one line of a template file.

The language itself is described in `seqtag.features.language`, which reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from seqtag.errors import TemplateError
from seqtag.features.attributes import RESERVED, TABLE_ATTRIBUTES, attribute_names

NAME = r"[^\W\d][\w.:-]*"
"""Regular expression of the names of columns and attributes."""

STRING = r'"(?:\\.|[^"\\])*"'
"""Regular expression of a string with its quotes."""

MOST_COLUMNS = 10_000
"""Columns that templates can count."""

FARTHEST = 9
"""Templates see this many words back and ahead at most."""


@dataclass(frozen=True)
class Term:
    """An attribute of a column at an offset, such as ``suffix(lemma, 2)[+1]``.

    Parameters
    ----------
    function
        Name of the attribute; ``form`` stands for the value itself.
    column
        Name of the column, or its number counted from 0.
    args
        Arguments of the attribute: integers of up to 9 digits, and strings.
    offset
        Words ahead (or, if negative, back); -9 to 9.

    Raises
    ------
    TemplateError
        If the language cannot write the column or an argument, or the offset is too far.

    Examples
    --------
    >>> print(Term("suffix", "lemma", (2,), 1), Term("form", "pos"), Term("lower"))
    suffix(lemma, 2)[+1] pos[0] lower[0]
    """

    function: str
    column: str | int = "form"
    args: tuple[int | str, ...] = ()
    offset: int = 0

    def __post_init__(self) -> None:
        if not (
            0 <= self.column < MOST_COLUMNS
            if isinstance(self.column, int)
            else re.fullmatch(NAME, self.column)
        ):
            msg = (
                "expected a column that begins with a letter and has letters, digits and _ . : - "
                f"only, or its number from 0 (written %0, %1, ...), found {self.column!r}"
            )
            raise TemplateError(msg)
        for arg in self.args:
            if isinstance(arg, int):
                if abs(arg) >= 10**9:
                    msg = f"expected an argument of up to 9 digits, found {arg}"
                    raise TemplateError(msg)
            elif not re.fullmatch(STRING, f'"{arg}"') or re.search(r"[\r\n]", arg):
                msg = (
                    f"expected a string without line breaks and bare quotes, found {arg!r}; "
                    r"write \" for a quote and \n for a line break"
                )
                raise TemplateError(msg)
        if self.function in TABLE_ATTRIBUTES and not (
            len(self.args) <= 1 and self.table and re.fullmatch(NAME, self.table)
        ):
            found = ", ".join(map(str, self.args))
            msg = (
                f"expected {self.function}(TABLE) or {self.function}(COLUMN, TABLE), with a name "
                f"of letters, digits and _ . : - for the table, found {self.function}({found})"
            )
            raise TemplateError(msg)
        if abs(self.offset) > FARTHEST:
            msg = (
                f"expected an offset from -{FARTHEST} to {FARTHEST}, found {self.offset} "
                f'in "{self}"; name a nearer word'
            )
            raise TemplateError(msg)

    def __str__(self) -> str:
        column = f"%{self.column}" if isinstance(self.column, int) else self.column
        bare = column == "form" or not _stands_for_attribute(column)
        if self.function == "form" and not self.args and bare:
            text = column
        else:
            args = [f'"{arg}"' if isinstance(arg, str) else str(arg) for arg in self.args]
            if self.table is not None:
                args = list(map(str, self.args))
            if column != "form":
                args.insert(0, column)
            text = f"{self.function}({', '.join(args)})" if args else self.function
        return f"{text}[{_signed(self.offset)}]"

    @property
    def table(self) -> str | None:
        """Name of the table that the attribute looks into, if it does.

        >>> Term("class", args=("en",)).table, Term("stem_pos").table, Term("lower").table
        ('en', 'lemmas', None)
        """
        if self.function not in TABLE_ATTRIBUTES:
            return None
        return str(self.args[0]) if self.args else TABLE_ATTRIBUTES[self.function]


def _stands_for_attribute(name: str) -> bool:
    """Whether a bare name is no column: those that need a table's name to be attributes may be."""
    return name in (*RESERVED, *attribute_names()) and TABLE_ATTRIBUTES.get(name, "") is not None


@dataclass(frozen=True)
class Template:
    """A conjunction of terms, seen together with the current label (and labels before it).

    Parameters
    ----------
    terms
        Terms in the order written; none for a feature that is always on.
    label_offsets
        ``()``, ``(-1,)`` for label bigrams, ``(-2, -1)`` for label trigrams (without terms).
    line
        Line of the file the template was read from, for messages; not compared.

    Raises
    ------
    TemplateError
        If a term occurs twice, or the labels are none of the above.

    Examples
    --------
    >>> print(Template((Term("form", "pos"),), (-1,)))
    label[-1] + pos[0]
    >>> print(Template(()))
    bias
    """

    terms: tuple[Term, ...]
    label_offsets: tuple[int, ...] = ()
    line: int | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.label_offsets not in ((), (-1,), (-2, -1)):
            msg = (
                "expected the labels label[-1] or label[-2] + label[-1] (the current label is "
                f'always there), found "{self}"'
            )
            raise TemplateError(msg)
        if len(self.label_offsets) == 2 and self.terms:
            msg = (
                f'label trigrams cannot see the words, found "{self}"; '
                "write label[-2] + label[-1] alone, or conjoin the words with label[-1]"
            )
            raise TemplateError(msg)
        if len(set(self.terms)) < len(self.terms):
            msg = f'expected different terms, found one twice in "{self}"'
            raise TemplateError(msg)

    def __str__(self) -> str:
        labels = [f"label[{_signed(offset)}]" for offset in self.label_offsets]
        return " + ".join(labels + [str(term) for term in self.terms]) or "bias"


def _signed(offset: int) -> str:
    return f"{offset:+d}" if offset else "0"
