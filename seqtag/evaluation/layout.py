"""Figures laid out for people: tables, and a line that says what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seqtag.evaluation.counts import Counts


def row(name: str, counts: Counts) -> tuple[Any, ...]:
    """Cells of a table line for counts."""
    return name, counts.precision, counts.recall, counts.f1, counts.gold, counts.found


def table(heading: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    """Lines with names to the left, numbers to the right; fractions (floats) as percentages."""
    cells = [[f"{100 * c:.2f}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    name_width = max(24, *(len(row[0]) for row in (heading, *cells)))
    lines = (
        row[0].ljust(name_width) + "".join(cell.rjust(11) for cell in row[1:])
        for row in (heading, *cells)
    )
    return "".join(f"{line}\n" for line in lines)


def signature_of(facts: Mapping[str, object], origin: Mapping[str, object] | None) -> str:
    """One line of names and values: what was scored, where it comes from as far as it is known."""
    known = {name: value for name, value in (origin or {}).items() if value is not None}
    items = {**facts, **known, "version": __version__}
    return "|".join(f"{name}:{value}" for name, value in items.items())
