"""Figures laid out for people: tables, and a line that says what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag import html_tables
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from seqtag.evaluation.counts import Counts


def row(name: str, counts: Counts) -> tuple[Any, ...]:
    """Cells of a table line for counts."""
    return name, counts.precision, counts.recall, counts.f1, counts.gold, counts.found


class Section(NamedTuple):
    """A table of figures, and a note below it."""

    heading: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    note: str = ""

    @property
    def cells(self) -> list[list[str]]:
        """The rows as texts; fractions (floats) as percentages."""
        return [
            [f"{100 * cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row]
            for row in self.rows
        ]

    @property
    def text(self) -> str:
        """The lines of the table, and the note."""
        return table(self.heading, self.rows) + (f"{self.note}\n" if self.note else "")


def table(heading: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    """Lines with names to the left, numbers to the right; fractions (floats) as percentages."""
    cells = Section(heading, rows).cells
    name_width = max(24, *(len(row[0]) for row in (heading, *cells)))
    lines = (
        row[0].ljust(name_width) + "".join(cell.rjust(11) for cell in row[1:])
        for row in (heading, *cells)
    )
    return "".join(f"{line}\n" for line in lines)


def text_of(sections: Iterable[Section], signature: str) -> str:
    """Tables for a terminal, with an empty line between them, and the signature."""
    return "\n".join([*(section.text for section in sections), signature, ""])


def html_of(sections: Iterable[Section], signature: str) -> str:
    """Tables for a notebook, and the signature."""
    parts = []
    for section in sections:
        caption, *names = section.heading
        parts.append(
            html_tables.table(["", *names], section.cells, caption=caption, numbers=True)
            + (html_tables.paragraph(section.note) if section.note else "")
        )
    return "".join([*parts, html_tables.paragraph(signature)])


def signature_of(facts: Mapping[str, object], origin: Mapping[str, object] | None) -> str:
    """One line of names and values: what was scored, where it comes from as far as it is known."""
    known = {name: value for name, value in (origin or {}).items() if value is not None}
    items = {**facts, **known, "version": __version__}
    return "|".join(f"{name}:{value}" for name, value in items.items())
