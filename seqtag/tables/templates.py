"""What presets ask of word tables: templates that are added to theirs when tables are given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from seqtag.features.language import parse, preset_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.features.templates import TemplateSet
    from seqtag.features.terms import Template
    from seqtag.tables.table import WordTable

_WITHOUT = ("lemma", "multiword", "segment")
"""Presets that look at no tables: lemmas follow from form and tags, the others see characters."""

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

_CLASSES_OF_CHUNKS = """
{0}[0] + pos[0]
{0}[-1] + pos[0]
pos[-1] + {0}[0]
{0}[0] + pos[+1]
pos[0] + {0}[+1]
"""


def preset_of(templates: TemplateSet) -> str | None:
    """Name of the preset that templates were read from, if they were.

    >>> from seqtag.features.language import load
    >>> preset_of(load("pos")), preset_of(parse("form[0]"))
    ('pos', None)
    """
    names = {f"{name}.txt": name for name in preset_names()}
    return names.get(templates.source or "")


def with_tables(templates: TemplateSet, tables: Sequence[WordTable]) -> TemplateSet:
    """The templates with tables to look into; those of a preset get templates that do so.

    Parameters
    ----------
    templates
        Of a preset, or others, which ask for what they want themselves.
    tables
        In the order in which their templates are added.

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
    added = [
        template
        for table in tables
        if table.name not in templates.table_names
        for template in _templates_for(table, preset)
    ]
    return replace(found, templates=(*found.templates, *added))


def _templates_for(table: WordTable, preset: str) -> Sequence[Template]:
    """What a preset asks of a table."""
    lines = _AROUND
    if preset == "chunk" and table.kind == "class":
        lines += _CLASSES_OF_CHUNKS
    found = parse(lines.format(f"{table.kind}({table.name})")).templates
    return [replace(template, line=None) for template in found]
