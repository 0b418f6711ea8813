"""What a second pass looks at: the labels of the first, here and around."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from seqtag.features.language import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.features.templates import TemplateSet
    from seqtag.features.terms import Template

_AROUND = """
{0}[-2]
{0}[-1]
{0}[0]
{0}[+1]
{0}[+2]
{0}[-1] + {0}[+1]
{0}[-1] + {0}[0]
{0}[0] + {0}[+1]
{0}[+1] + {0}[+2]
"""

_WITH_WORD = """
normal[0] + {0}[+1]
"""
"""Of more, triples of labels and pairs with endings, EWT had nothing."""


def without_first(templates: TemplateSet, said: Sequence[str]) -> TemplateSet:
    r"""The templates that look at none of the columns that a first pass fills.

    >>> print(without_first(parse("form[0]\nfirst.upos[+1]"), ["first.upos"]), end="")
    form[0]
    """
    kept = [each for each in templates.templates if not _look_at([each], said)]
    return replace(templates, templates=tuple(kept))


def with_first(templates: TemplateSet, said: Sequence[str]) -> TemplateSet:
    r"""The templates of a second pass: those of the first, and some that see what it said.

    Templates that look at such a column ask for what they want themselves.

    Parameters
    ----------
    templates
        Those of the whole training.
    said
        Names of the columns that the first pass fills.

    Examples
    --------
    >>> found = with_first(parse("form[0]"), ["first.tag"])
    >>> len(found.templates), str(found.templates[4])
    (11, 'first.tag[+1]')
    >>> print(with_first(parse("form[0]\nfirst.tag[+1]"), ["first.tag"]), end="")
    form[0]
    first.tag[+1]
    """
    if _look_at(templates.templates, said):
        return templates
    lines = _AROUND + (_WITH_WORD if "form" in templates.columns else "")
    added = [
        replace(template, line=None)
        for name in said
        for template in parse(lines.format(name)).templates
    ]
    return replace(templates, templates=(*templates.templates, *added))


def _look_at(templates: Sequence[Template], said: Sequence[str]) -> bool:
    """Whether some templates look at one of these columns."""
    return any(term.column in said for template in templates for term in template.terms)
