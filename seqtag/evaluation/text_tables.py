"""Text tables of scores, and the signature line below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from seqtag.evaluation.counts import Counts


def row(name: str, counts: Counts) -> tuple[Any, ...]:
    """Return the cells of a table row for counts."""
    return name, counts.precision, counts.recall, counts.f1, counts.gold, counts.found


class Section(NamedTuple):
    """Table of figures, with a note below it."""

    heading: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    note: str = ""

    @property
    def cells(self) -> list[list[str]]:
        """Rows as text; fractions (floats) as percentages."""
        return [
            [f"{100 * cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row]
            for row in self.rows
        ]

    @property
    def text(self) -> str:
        """Lines of the table, and the note."""
        return table(self.heading, self.rows) + (f"{self.note}\n" if self.note else "")


def table(heading: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    """Return a table, names left and numbers right aligned; fractions (floats) as percentages."""
    cells = Section(heading, rows).cells
    name_width = max(24, *(len(row[0]) for row in (heading, *cells)))
    lines = (
        row[0].ljust(name_width) + "".join(cell.rjust(11) for cell in row[1:])
        for row in (heading, *cells)
    )
    return "".join(f"{line}\n" for line in lines)


def text_of(sections: Iterable[Section], signature: str) -> str:
    """Return the tables, separated by empty lines, and the signature."""
    return "\n".join([*(section.text for section in sections), signature, ""])


def html_of(sections: Iterable[Section], signature: str) -> str:
    """Return the tables for notebooks, in the colors of the page, and the signature."""
    from html import escape  # late: it loads all names of characters, and few programs show tables

    side = 'style="text-align: right"'
    parts = []
    for section in sections:
        caption, *names = map(escape, section.heading)
        head = "".join(f'<th scope="col" {side}>{name}</th>' for name in ("", *names))
        parts.append(f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>")
        for name, *cells in section.cells:
            row = "".join(f"<td {side}>{escape(cell)}</td>" for cell in cells)
            parts.append(f'<tr><th scope="row">{escape(name)}</th>{row}</tr>')
        parts.append("</tbody></table>")
        if section.note:
            parts.append(f"<p>{escape(section.note)}</p>")
    return "".join([*parts, f"<p>{escape(signature)}</p>"])


def signature_of(facts: Mapping[str, object], origin: Mapping[str, object] | None) -> str:
    """Return one line of names and values: what was scored, and its origin as far as known."""
    known = {name: value for name, value in (origin or {}).items() if value is not None}
    items = {**facts, **known, "version": __version__}
    return "|".join(f"{name}:{value}" for name, value in items.items())
