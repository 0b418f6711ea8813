"""HTML tables for notebooks: semantic, escaped, in the colors of the page, without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(
    heading: Sequence[str],
    *groups: Iterable[Sequence[object]],
    caption: str = "",
    numbers: bool = False,
) -> str:
    r"""Return a table of texts.

    Parameters
    ----------
    heading
        Names of the columns; empty for a table of names and values.
    *groups
        Rows of cells, the first of which is the name of the row. A line separates the groups.
    caption
        Caption of the table.
    numbers
        Whether the cells after the first are numbers, which are right-aligned.

    Examples
    --------
    >>> print(table([], [["<", "SYM"]]).replace("><", ">\n<"))
    <table>
    <tbody style="border-top: 1px solid">
    <tr>
    <th scope="row" style="text-align: left">&lt;</th>
    <td style="text-align: left">SYM</td>
    </tr>
    </tbody>
    </table>
    """
    side = ' style="text-align: right"' if numbers else ' style="text-align: left"'
    parts = [f"<caption>{_escaped(caption)}</caption>"] if caption else []
    if heading:
        names = "".join(f'<th scope="col"{side}>{_escaped(name)}</th>' for name in heading)
        parts.append(f"<thead><tr>{names}</tr></thead>")
    for group in groups:
        parts.append('<tbody style="border-top: 1px solid">')
        for first, *others in group:
            cells = "".join(f"<td{side}>{_escaped(str(cell))}</td>" for cell in others)
            head = f'<th scope="row" style="text-align: left">{_escaped(str(first))}</th>'
            parts.append(f"<tr>{head}{cells}</tr>")
        parts.append("</tbody>")
    return f"<table>{''.join(parts)}</table>"


def paragraph(text: str) -> str:
    """Return a paragraph.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    return f"<p>{_escaped(text)}</p>"


def folded(title: str, text: str) -> str:
    """Return a title that unfolds lines of text.

    >>> folded("templates", "form[0]")
    '<details><summary>templates</summary><pre>form[0]</pre></details>'
    """
    title, text = _escaped(title), _escaped(text)
    return f"<details><summary>{title}</summary><pre>{text}</pre></details>"


def _escaped(text: str) -> str:
    from html import escape  # late: it loads all names of characters, and few programs show tables

    return escape(text)
