"""Word tables for training: read from files, given to templates, checked against the data."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import pointers
from seqtag.engine.keys import PLACES
from seqtag.errors import CorpusError, TemplateError, located
from seqtag.features.language import parse, preset_names
from seqtag.features.normal_forms import normal_forms
from seqtag.features.templates import NAME
from seqtag.tables.names import note_names
from seqtag.tables.table import KINDS, WORDS, WordTable, has_space
from seqtag.tables.tsv import read_word_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from seqtag.features.encoder import Column
    from seqtag.features.templates import Template, TemplateSet

    TableSource = WordTable | str | PathLike[str]

_log = logging.getLogger("seqtag")


def read_table(
    path: str | PathLike[str],
    *,
    name: str | None = None,
    words: str | None = None,
    kind: str | None = None,
) -> WordTable:
    r"""Read a word table: one of ``seqtag classes``, a TSV, or a list of names.

    Parameters
    ----------
    path
        The file: on each line a word and its values, separated by tabs; or a name of one or
        several words and its type, ``name,type``; or a name alone, whose type is the name of the
        table.
    name
        Name in templates; by default the one of the header or of the file.
    words
        Lookup form if the header has none: ``form`` for unchanged words, ``lower`` for lower case,
        ``lower0`` for lower case with every digit as 0. By default ``lower`` for phrases, and
        ``form`` for others.
    kind
        ``class``, ``lexicon`` or ``phrase``. By default ``class`` for files of ``seqtag classes``,
        ``phrase`` for files without tabs, whose names are found if all their words follow each
        other, and ``lexicon`` for others.

    Raises
    ------
    CorpusError
        If the file is not a table; with the line.
    TemplateError
        If a limit on words or values is exceeded.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "cities.tsv")
    >>> _ = path.write_text("Paris\tcity\nNice\tcity\tword\n")
    >>> table = read_table(path, words="lower")
    >>> table, table.of_words(["NICE"])
    (<seqtag.WordTable cities: 2 words, 2 values>, ['city|word'])
    >>> _ = path.write_text("name,type\nNew York,city\n")
    >>> read_table(path)
    <seqtag.WordTable cities: 1 names, 1 types>
    """
    header, rows = read_word_table(path)
    facts = dict(header)
    name = name or facts.pop("name", None) or name_of(path)
    kind = kind or facts.pop("kind", "class" if "classes" in facts else "lexicon")
    words = facts.pop("words", words or ("lower" if kind == "phrase" else "form"))
    unknown = [found for found, known in ((words, WORDS), (kind, KINDS)) if found not in known]
    if unknown or not re.fullmatch(NAME, name):
        msg = (
            f"expected a table with a name of letters, digits and _ . : -, words that are one of "
            f"{', '.join(WORDS)}, and of the kind {' or '.join(KINDS)}, found {name!r:.60}, "
            f"{words!r:.60} and {kind!r:.60}; correct its header, or name it NAME=FILE"
        )
        raise CorpusError(msg, source=str(path))
    absent = facts.pop("absent", None)
    if kind == "phrase":
        rows = [(each, types or [name]) for each, types in rows]
        note_names(rows, words, str(path))
    with located(str(path)):
        return WordTable.of(name, rows, words, absent, kind, facts)


def name_of(path: str | PathLike[str]) -> str:
    """Return the default name of a table, from its file name.

    >>> name_of("raw/news.classes"), name_of("20-news.tsv")
    ('news', '_20-news')
    """
    stem = re.sub(r"[^\w-]", "_", Path(path).name.partition(".")[0])
    return stem if re.match(r"[^\W\d]", stem) else f"_{stem}"


def tables_of(given: Iterable[TableSource]) -> list[WordTable]:
    """Return tables given as such or as files.

    Raises
    ------
    TemplateError
        If two have the same name; or as `read_table`.
    """
    tables = [each if isinstance(each, WordTable) else read_table(each) for each in given]
    names = [table.name for table in tables]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = (
            f"expected distinct table names, found {names.count(twice[0])} called "
            f"{twice[0]!r}; name one of them with NAME=FILE (read_table(FILE, name=...) in Python)"
        )
        raise TemplateError(msg)
    return tables


def given_tables(
    templates: TemplateSet, tables: Sequence[WordTable], known: Iterable[WordTable] = ()
) -> TemplateSet:
    """Return templates with the tables given for them; `known` are those of an initial model.

    Raises
    ------
    TemplateError
        If a table differs from the one of the same name in the initial model.
    """
    before = {table.name: table for table in known}
    for table in tables:
        if table.name in before and before[table.name].digest != table.digest:
            msg = (
                f"expected the table {table.name!r} of the model to continue from, with which its "
                "weights were learned, found another of that name; leave it out, or give it "
                "another name with NAME=FILE"
            )
            raise TemplateError(msg)
    return with_tables(templates, tables)


def check_used(tables: Sequence[WordTable], templates: Sequence[TemplateSet]) -> None:
    """Refuse a table that no template looks into.

    Raises
    ------
    TemplateError
        If there is one.
    """
    used = {name for each in templates for name in each.table_names}
    unused = [table for table in tables if table.name not in used]
    if unused:
        table = unused[0]
        presets = {preset_of(each) for each in templates} - {None}
        where = f"the preset {presets.pop()} has none" if presets else "they ask for none"
        msg = (
            f"expected templates that use the table {table.name!r}, found none ({where}); "
            f"add {table.term}[0], or leave the table out"
        )
        raise TemplateError(msg, source=templates[0].source if templates else None)


def check_phrases(tables: Sequence[WordTable], columns: Iterable[Column]) -> None:
    """Refuse entries of several words, unless some values of the columns have white space, too.

    Raises
    ------
    TemplateError
        If a table has such entries. A table gives values to single tokens.
    """
    for table in tables:
        number, phrase = table.phrases
        if (
            table.kind != "phrase"
            and number
            and not any(has_space(value) for types, _ in columns for value in types)
        ):
            msg = (
                f"expected entries of one token in the table {table.name!r}, found {number:,} with "
                f"white space, such as {phrase!r:.60}, which no token of the training data has; "
                "to find names of several words, write them without tabs, as name,type or one per "
                "line"
            )
            raise TemplateError(msg)


def note_unused_names(
    tables: Sequence[WordTable], form: Column, lengths: NDArray[np.int64]
) -> None:
    """Log how many names of tables of phrases occur in the training data."""
    for table in tables:
        if table.kind == "phrase":
            matcher = table.matcher(np.arange(len(table)))
            hashes = table.hashes_of(normal_forms(form.types))
            matches = matcher.match(form.ids, hashes, pointers(lengths), -1)
            found = len(np.unique(matches[matches >= 0] // len(PLACES)))
            log = _log.info if found else _log.warning
            log(
                "table %s: %s of its %s names occur in the training data%s",
                table.name,
                f"{found:,}",
                f"{int(table.origin['names']):,}",
                "" if found else ", so that it has no effect; compare their spelling",
            )


def note_useless(tables: Sequence[WordTable], columns: Sequence[Column]) -> None:
    """Warn about tables that have no word of the training data, or many in lower case only."""
    forms = [normal_forms(column.types) for column in columns]
    for table in (each for each in tables if each.kind != "phrase"):
        found = _found(table, forms)
        is_written = table.words == "form"  # words are looked up as they are written
        in_lower = _found(replace(table, words="lower"), forms) if is_written else 0
        if in_lower > 2 * found:
            note = (
                "the table %s has %d training words, but %d in lower case; look them up so: "
                "--table FILE:lower"
            )
            _log.warning(note, table.name, found, in_lower)
        elif not found:
            note = (
                "none of the %s words of the table %s is in the training data, so that it has no "
                "effect; compare their spelling, case (:lower) and quotation marks"
            )
            _log.warning(note, f"{len(table):,}", table.name)


def _found(table: WordTable, forms: Sequence[Sequence[str]]) -> int:
    return sum(int((table.slots(table.hashes_of(f)) < len(table.values)).sum()) for f in forms)


_WITHOUT = ("lemma", "multiword", "sentences")
"""Presets that look at no tables: lemmas follow from form and tags, words from characters."""

_AROUND = """
{0}[-2]
{0}[-1]
{0}[0]
{0}[+1]
{0}[+2]
{0}[-1] + {0}[0]
{0}[0] + {0}[+1]
{0}[-1] + {0}[+1]
"""
"""Measured on EWT: for the tags of another corpus as well as for classes; the pairs bring .1."""

_OF_NAMES = "{0}[-1]\n{0}[0]\n{0}[+1]"  # the place in a name tells of neighbors; pairs take time

_CLASSES_OF_CHUNKS = """
{0}[0] + pos[0]
{0}[-1] + pos[0]
pos[-1] + {0}[0]
{0}[0] + pos[+1]
pos[0] + {0}[+1]
"""


_CANDIDATES = """
ends:{1}[0]
begins:{1}[0]
covers:{1}[0]
covers:{1}[0] + c1[0]
covers:{1}[0] + c1[+1]
"""
"""For characters. Measured on Cantonese, Vietnamese, and languages whose spaces were left out."""

_PARTS = """
rest:{1}[0]
head:{1}[0]
rest:{1}[0] + head:{1}[0]
rest:{1}[0] + normal(char)[0]
head:{1}[0] + normal(char)[0] + normal(char)[+1]
begins:{1}[0] + begins-as:{1}[0]
ends:{1}[0] + ends-as:{1}[0]
covers:{1}[0] + covers-as:{1}[0]
begins:{1}[0] + ends:{1}[0] + covers:{1}[0]
whole:{1}[0]
whole:{1}[0] + normal(char)[0] + start[0]
"""
"""For the characters of a token. Measured on Coptic, Turkish, and a made-up treebank."""


def preset_of(templates: TemplateSet) -> str | None:
    """Return the name of the preset that templates were loaded from, or None.

    >>> from seqtag.features.language import load
    >>> preset_of(load("pos")), preset_of(parse("form[0]"))
    ('pos', None)
    """
    names = {f"{name}.txt": name for name in preset_names()}
    return names.get(templates.source or "")


def with_tables(templates: TemplateSet, tables: Sequence[WordTable]) -> TemplateSet:
    """Return templates with word tables; a preset also gets templates that use them.

    Parameters
    ----------
    templates
        A preset, or others, which stay as they are.
    tables
        Tables, in the order in which their templates are added.

    Examples
    --------
    >>> from seqtag.features.language import load
    >>> from seqtag.tables.table import WordTable
    >>> names = WordTable.of("names", [("Paris", ["city"])])
    >>> print(*with_tables(load("ner"), [names]).templates[-6:-3])
    lexicon(names)[0] lexicon(names)[+1] lexicon(names)[+2]
    """
    preset = preset_of(templates)
    found = templates.with_tables(tables)
    if preset is None or preset in _WITHOUT:
        return found
    added: list[Template] = []
    for table in tables:
        if table.name in templates.table_names:
            continue
        lines = _OF_NAMES if table.kind == "phrase" else _AROUND
        if preset == "chunk" and table.kind == "class":
            lines += _CLASSES_OF_CHUNKS
        if preset == "segment":
            lines = _CANDIDATES
        if preset == "clitics":
            lines = _PARTS
        new = parse(lines.format(table.term, table.name)).templates
        added += [replace(template, line=None) for template in new]
    return replace(found, templates=(*found.templates, *added))
