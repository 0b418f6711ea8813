"""Templates: terms, templates, template sets; compiled, they are bound to columns and tables.

`seqtag.features.language` describes and parses the template language. `Encoder` of
`seqtag.features.encoder` computes the attributes of a compiled set, and the engine combines them to
feature keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from seqtag.engine.keys import key_plan
from seqtag.errors import TemplateError, did_you_mean, located
from seqtag.features.attributes import (
    RESERVED,
    TABLE_ATTRIBUTES,
    attribute_names,
    is_attribute,
    resolve,
)
from seqtag.features.normal_forms import normal_forms
from seqtag.settings import SETTINGS, Value, check_setting
from seqtag.tables.table import bind, text_columns, token_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from seqtag.engine.arrays import KeyPlan
    from seqtag.tables.table import Attribute, WordTable

NAME = r"[^\W\d][\w.:-]*"
"""Regular expression of the names of columns and attributes."""

STRING = r'"(?:\\.|[^"\\])*"'
"""Regular expression of a string with its quotes."""

KEY_BITS = 48
"""Number of bits of feature keys: of 250,000 features, one has the key of a given
unknown feature with a probability of 1 in 10**9."""

MOST_COLUMNS = 10_000
"""Maximum number of columns that templates can refer to by number."""

FARTHEST = 9
"""Maximum distance in words that templates look back and ahead."""


@dataclass(frozen=True)
class Term:
    """Attribute of a column at an offset, such as ``suffix(lemma, 2)[+1]``.

    Parameters
    ----------
    function
        Name of the attribute; ``form`` is the value itself.
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
                f'in "{self}"; choose a nearer word'
            )
            raise TemplateError(msg)

    def __str__(self) -> str:
        column = f"%{self.column}" if isinstance(self.column, int) else self.column
        # A bare name is a column unless it is an attribute that needs no name of a table.
        reserved = column in RESERVED or is_attribute(column)
        bare = column == "form" or not reserved or column in TABLE_ATTRIBUTES
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
        """Name of the table that the attribute looks into; None if it is not a lookup.

        >>> Term("class", args=("en",)).table, Term("lower").table
        ('en', None)
        """
        is_lookup = self.function in TABLE_ATTRIBUTES and bool(self.args)
        return str(self.args[0]) if is_lookup else None


@dataclass(frozen=True)
class Template:
    """Conjunction of terms, combined with the current label (and labels before it).

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
            msg = f'expected distinct terms, found one twice in "{self}"'
            raise TemplateError(msg)

    def __str__(self) -> str:
        labels = [f"label[{_signed(offset)}]" for offset in self.label_offsets]
        return " + ".join(labels + [str(term) for term in self.terms]) or "bias"


def _signed(offset: int) -> str:
    return f"{offset:+d}" if offset else "0"


MOST_TEMPLATES = 2000
"""Templates that a set may have."""

MOST_TERMS = 10_000
"""Terms that the templates of a set may have together."""

MOST_ATTRIBUTES = 256
"""Different attributes that they may look at: a number is kept for each, of every word type."""

TAG_COLUMNS = ("upos", "xpos")
"""Columns whose values restrict the labels of a token; see `CompiledTemplates.tag_terms`."""


@dataclass(frozen=True)
class TemplateSet:
    r"""Templates and settings of a template file; ``str`` writes the file.

    Parameters
    ----------
    templates
        At least one; conjunctions that differ only in the order of their terms are the same.
    settings
        Values by name, see `seqtag.settings.SETTINGS`; those not named are left to the trainer.
    source
        File the templates were read from, for messages; not compared.
    tables
        By name, the tables that they look into, `seqtag.tables.table`; not compared. They
        must be there when the templates are compiled.

    Raises
    ------
    TemplateError
        If there is no template, there are too many, one occurs twice, or a setting is unknown or
        out of range.

    Examples
    --------
    >>> from seqtag.features.language import parse
    >>> templates = parse("form[0]\nlower[-1]+lower[0]\nlabel[-1]\nset step .5")
    >>> print(templates, end="")
    form[0]
    lower[-1] + lower[0]
    label[-1]
    set step 0.5
    >>> templates.order
    1
    """

    templates: tuple[Template, ...]
    settings: Mapping[str, Value] = field(default_factory=dict, hash=False)
    source: str | None = field(default=None, compare=False, repr=False)
    tables: Mapping[str, WordTable] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.templates:
            msg = "expected at least one template, found none; for example form[0]"
            raise TemplateError(msg)
        check_size(len(self.templates), sum(len(template.terms) for template in self.templates))
        seen: dict[object, Template] = {}
        for template in self.templates:
            first = seen.setdefault((frozenset(template.terms), template.label_offsets), template)
            if first is not template:
                where = f" is already on line {first.line}" if first.line else " occurs twice"
                msg = f'the template "{template}"{where}; remove one'
                raise TemplateError(msg, line=template.line)
        checked = {name: check_setting(name, value) for name, value in self.settings.items()}
        object.__setattr__(self, "settings", checked)

    def __str__(self) -> str:
        lines = [str(template) for template in self.templates]
        made = [name for name in SETTINGS if name in self.settings]
        lines += [f"set {name} {str(self.settings[name]).removesuffix('.0')}" for name in made]
        return "\n".join(lines) + "\n"

    @property
    def order(self) -> int:
        """Order of the label chain: 0 (no label template), 1 or 2."""
        return max(len(template.label_offsets) for template in self.templates)

    @property
    def columns(self) -> list[str]:
        r"""Names of the columns in use, in the order of their first use.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> parse("lower[0] + pos[0]\nform[-1]").columns
        ['form', 'pos']
        """
        terms = (term for template in self.templates for term in template.terms)
        return list(dict.fromkeys(str(term.column) for term in terms))

    @property
    def table_names(self) -> list[str]:
        r"""Names of the word tables in use, in the order of their first use.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> parse("class(en)[0]\nlower[0] + lexicon(names)[-1]\nclass(en)[+1]").table_names
        ['en', 'names']
        """
        terms = [term for template in self.templates for term in template.terms]
        names = dict.fromkeys(term.table for term in terms if term.table is not None)
        columns = {term.column for term in terms}
        for name in self.tables:
            if not columns.isdisjoint((*text_columns(name), *token_columns(name))):
                names[name] = None
        return list(names)

    def with_tables(self, tables: Iterable[WordTable]) -> TemplateSet:
        """Return the templates with more word tables."""
        return replace(self, tables={**self.tables, **{table.name: table for table in tables}})

    def looks_at(self, columns: Sequence[str]) -> tuple[str, ...]:
        r"""Return the columns of a corpus that the templates look at, in the order of the corpus.

        Raises
        ------
        TemplateError
            If a template needs a column that is not there.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> parse("%1[0]\nform[-1]").looks_at(["form", "pos", "chunk"])
        ('form', 'pos')
        """
        used: set[str] = set()
        known = frozenset(columns)
        for template in self.templates:
            with located(self.source, template.line):
                used |= {_find_column(term, columns, known) for term in template.terms}
        return tuple(column for column in columns if column in used)

    def at_order(self, order: int) -> TemplateSet:
        r"""Return the templates up to a label order; settings stay.

        Raises
        ------
        TemplateError
            If there is no such order.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> print(parse("form[0]\nlabel[-1]\nlabel[-2] + label[-1]").at_order(1), end="")
        form[0]
        label[-1]
        """
        if order not in range(3):
            msg = f"expected a label order of 0, 1 or 2, found {order!r}"
            raise TemplateError(msg)
        kept = tuple(t for t in self.templates if len(t.label_offsets) <= order)
        return replace(self, templates=kept)

    def without_edges(self) -> TemplateSet:
        """Return the templates without label bigrams that see words."""
        kept = tuple(t for t in self.templates if not (t.label_offsets and t.terms))
        return replace(self, templates=kept)

    def within(self, columns: Sequence[str]) -> TemplateSet:
        r"""Return the templates that look at these columns only; settings stay.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> print(parse("form[0]\nform[0] + upos[0]\nlabel[-1]").within(["form"]), end="")
        form[0]
        label[-1]
        """
        kept = tuple(t for t in self.templates if all(term.column in columns for term in t.terms))
        return replace(self, templates=kept)

    def renamed(self, columns: Mapping[str, str]) -> TemplateSet:
        r"""Return the templates with new names of columns, by the old ones; settings stay.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> print(parse("form[0] + upos[-1]").renamed({"upos": "first.upos"}), end="")
        form[0] + first.upos[-1]
        """
        return replace(
            self,
            templates=tuple(
                replace(
                    each,
                    terms=tuple(
                        replace(term, column=columns.get(str(term.column), term.column))
                        for term in each.terms
                    ),
                )
                for each in self.templates
            ),
        )

    def compile(self, columns: Sequence[str]) -> CompiledTemplates:
        r"""Bind the templates to the columns of a corpus.

        Parameters
        ----------
        columns
            Names of the columns, in their order.

        Raises
        ------
        TemplateError
            If a template needs a column, an attribute or a table that is not there, or there are
            more than 256 different attributes.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> compiled = parse("lower[0]\nlower[-1] + pos[0]").compile(["form", "pos"])
        >>> [(use.column, use.function) for use in compiled.attributes]
        [('form', 'lower'), ('pos', 'form')]
        >>> compiled.templates
        (((0, 0),), ((0, -1), (1, 0)))
        """
        numbers: dict[AttributeUse, int] = {}
        functions: list[Attribute] = []
        compiled: dict[int, list[tuple[tuple[int, int], ...]]] = {0: [], 1: []}
        known = frozenset(columns)
        for template in self.templates:
            pairs = []
            with located(self.source, template.line):
                for term in template.terms:
                    use = AttributeUse(_find_column(term, columns, known), term.function, term.args)
                    if use not in numbers:
                        if len(numbers) == MOST_ATTRIBUTES:
                            msg = (
                                f"expected templates that look at {MOST_ATTRIBUTES} different "
                                f'attributes at most, found "{term}" beyond; leave some out'
                            )
                            raise TemplateError(msg)
                        functions.append(
                            resolve(term.function, term.args)
                            if term.table is None
                            else bind(term.function, term.args, term.table, self.tables)
                        )
                        numbers[use] = len(numbers)
                    pairs.append((numbers[use], term.offset))
            if pairs or not template.label_offsets:
                compiled[len(template.label_offsets)].append(tuple(pairs))
        plain = {template.label_offsets for template in self.templates if not template.terms}
        used = {use.column for use in numbers}
        return CompiledTemplates(
            columns=tuple(column for column in columns if column in used),
            attributes=tuple(numbers),
            templates=tuple(compiled[0]),
            edges=tuple(compiled[1]),
            bigram=(-1,) in plain or (-2, -1) in plain,
            trigram=(-2, -1) in plain,
            functions=tuple(functions),
            tables={name: self.tables[name] for name in self.table_names},
        )


def check_size(templates: int, terms: int) -> None:
    """Refuse more templates, or terms, than a set may have.

    Raises
    ------
    TemplateError
        If there are more than 2,000 templates, or 10,000 terms.
    """
    if templates > MOST_TEMPLATES or terms > MOST_TERMS:
        msg = (
            f"expected at most {MOST_TEMPLATES:,} templates with {MOST_TERMS:,} terms together, "
            f"found {templates:,} with {terms:,}; leave some out"
        )
        raise TemplateError(msg)


def _find_column(term: Term, columns: Sequence[str], known: frozenset[str]) -> str:
    """Return the name of the term's column, or refuse it; `known` are the columns."""
    if isinstance(term.column, int):
        if term.column < len(columns):
            return columns[term.column]
        listed = ", ".join(f"%{number} {name}" for number, name in enumerate(columns))
        msg = f'no column %{term.column} in "{term}"; columns are {listed or "none"}'
        raise TemplateError(msg)
    if term.column in known:
        return term.column
    names = attribute_names()
    others = columns if term.column in names else [*columns, *names]
    msg = (
        f'unknown column {term.column!r} in "{term}"{did_you_mean(term.column, others)}; '
        f"columns are {', '.join(columns) or 'none'}; attributes are {', '.join(names)} "
        "(for user-defined ones, name the file with --attributes, or import its module first)"
    )
    raise TemplateError(msg)


class AttributeUse(NamedTuple):
    """Attribute of a column at any offset: one row of values per word type."""

    column: str
    function: str
    args: tuple[int | str, ...] = ()


@dataclass(frozen=True)
class CompiledTemplates:
    """Templates bound to columns, in numbers, as returned by `TemplateSet.compile`.

    Attributes
    ----------
    columns
        The columns in use, in the order of the corpus.
    attributes
        The distinct attributes in use, in order of first use.
    templates
        Per template without labels, its terms as (number of the attribute, offset); an empty
        tuple is the bias.
    edges
        The same for templates with ``label[-1]`` and at least one term.
    bigram
        Whether there are plain transition weights: ``label[-1]`` alone, or trigrams, which need
        bigrams for the first two words of a sentence.
    trigram
        Whether there are label trigrams.
    functions
        Per attribute, its function: column value -> attribute value or None.
    tables
        By name, the tables that some of them look into.
    """

    columns: tuple[str, ...]
    attributes: tuple[AttributeUse, ...]
    templates: tuple[tuple[tuple[int, int], ...], ...]
    edges: tuple[tuple[tuple[int, int], ...], ...]
    bigram: bool
    trigram: bool
    functions: tuple[Attribute, ...] = field(compare=False, repr=False)
    tables: Mapping[str, WordTable] = field(default_factory=dict, compare=False, repr=False)

    @property
    def order(self) -> int:
        """Order of the label chain: 0, 1 or 2."""
        return 2 if self.trigram else int(self.bigram or bool(self.edges))

    def key_plans(self, views: Sequence[Sequence[str]] = ()) -> tuple[KeyPlan, KeyPlan]:
        """Return the plans for the keys of emission features and of edge features.

        If the columns of some `views` are numbered together, the plans take the types of views
        and not of columns.
        """
        number = {name: i for i, view in enumerate(views) for name in view}
        number = number or {name: i for i, name in enumerate(self.columns)}
        rows = self.phrase_rows
        columns = [rows.get(n, number[use.column]) for n, use in enumerate(self.attributes)]
        first = len(self.templates)
        return (
            key_plan(self.templates, columns, bits=KEY_BITS),
            key_plan(self.edges, columns, first, KEY_BITS),
        )

    @property
    def tag_terms(self) -> tuple[tuple[int, int], ...]:
        r"""Terms ``upos[0]`` and ``xpos[0]``, if they are templates; none above order 1.

        A token has only labels that occur in training with the values of these columns, see
        `seqtag.engine.arrays.LabelsByTags`.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> parse("form[0]\nupos[0]\nxpos[0]").compile(["form", "upos", "xpos"]).tag_terms
        ((1, 0), (2, 0))
        """
        tags = [AttributeUse(column, "form") for column in TAG_COLUMNS]
        single = [terms[0] for terms in self.templates if len(terms) == 1 and not self.trigram]
        return tuple(
            (a, offset) for a, offset in single if not offset and self.attributes[a] in tags
        )

    def tag_plan(self, *, words: bool = False) -> KeyPlan:
        """Return the plan of `seqtag.engine.arrays.LabelsByTags`.

        Its templates are all `tag_terms` together, if there are any, and with `words` these and
        the form, if a template looks at it and no label depends on another.
        """
        columns = [self.columns.index(use.column) for use in self.attributes]
        terms, form = self.tag_terms, AttributeUse("form", "form")
        templates = [terms] if terms else []
        if words and not self.order and form in self.attributes:
            templates.append(((self.attributes.index(form), 0), *terms))
        return key_plan(templates, columns, bits=KEY_BITS)

    @cached_property
    def phrase_rows(self) -> dict[int, int]:
        """Rows of type ids after those of columns: the values of words in phrases.

        By the number of the attribute, which looks the words of its column up in a table of
        phrases.
        """
        tables = [getattr(each, "table", None) for each in self.functions]
        numbers = [n for n, table in enumerate(tables) if getattr(table, "kind", "") == "phrase"]
        return {number: row for row, number in enumerate(numbers, len(self.columns))}

    @cached_property
    def functions_of(self) -> dict[str, dict[int, Attribute]]:
        """The functions of the attributes of each column, by the attribute's number.

        Those in tables of phrases depend on neighbors, too, and are left out.
        """
        found: dict[str, dict[int, Attribute]] = {column: {} for column in self.columns}
        for number, (use, each) in enumerate(zip(self.attributes, self.functions, strict=True)):
            if number not in self.phrase_rows:
                found[use.column][number] = each
        return found

    def apply(self, attribute_index: int, value: str) -> str | None:
        """Return the value of an attribute (by number) for a column value; None is no feature.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> parse("suffix(2)[0]").compile(["form"]).apply(0, "Tagged")
        'ed'
        """
        return self.apply_many(attribute_index, [value])[0]

    def apply_many(self, attribute_index: int, values: Sequence[str]) -> list[str | None]:
        """Return the values of an attribute for many column values; see `apply`.

        Examples
        --------
        >>> from seqtag.features.language import parse
        >>> parse("suffix(2)[0]").compile(["form"]).apply_many(0, ["Tagged", "a"])
        ['ed', None]
        """
        return self.functions[attribute_index].many(normal_forms(values))
