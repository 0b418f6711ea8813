"""Text of the pages: tables in Markdown, figures with their units."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table, its columns after the first `left` ones aligned to the right.

    >>> print(table(["", "score"], [["seqtag", "95.1"]]), end="")
    |        | score |
    |:-------|------:|
    | seqtag |  95.1 |
    """
    cells = [list(heading), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    dashes = ["-" * (width + 1) for width in widths]
    lines = [
        "| "
        + " | ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in cells
    ]
    rule = "|".join([f":{dash}" for dash in dashes[:left]] + [f"{dash}:" for dash in dashes[left:]])
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]]) + "\n"


def rate(tokens_per_second: float) -> str:
    """A speed in thousands, with two or three digits that mean something."""
    thousands = tokens_per_second / 1000
    return f"{thousands:,.0f} k/s" if thousands >= 20 else f"{thousands:.1f} k/s"


def filled(text: str) -> str:
    """A paragraph in lines of at most 100 characters; text in `ticks` may be cut.

    >>> filled("a " * 60).count("a")
    60
    """
    return fill(text, 100, break_long_words=False, break_on_hyphens=False) + "\n"
