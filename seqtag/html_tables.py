"""Tables in HTML, for notebooks: semantic, escaped, in the colours of the page, without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(
    heading: Sequence[str],
    *groups: Iterable[Sequence[object]],
    caption: str = "",
    numbers: bool = False,
) -> str:
    r"""A table of texts.

    Parameters
    ----------
    heading
        Names of the columns; none for a table of names and values.
    *groups
        Rows of cells, the first of which names the row. A line stands above each group.
    caption
        What the table shows.
    numbers
        Whether the cells behind the first are numbers, which stand to the right.

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
    parts = [f"<caption>{escape(caption)}</caption>"] if caption else []
    if heading:
        names = "".join(f'<th scope="col"{side}>{escape(name)}</th>' for name in heading)
        parts.append(f"<thead><tr>{names}</tr></thead>")
    for group in groups:
        parts.append('<tbody style="border-top: 1px solid">')
        for first, *others in group:
            cells = "".join(f"<td{side}>{escape(str(cell))}</td>" for cell in others)
            head = f'<th scope="row" style="text-align: left">{escape(str(first))}</th>'
            parts.append(f"<tr>{head}{cells}</tr>")
        parts.append("</tbody>")
    return f"<table>{''.join(parts)}</table>"


def paragraph(text: str) -> str:
    """A paragraph.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    return f"<p>{escape(text)}</p>"


def folded(title: str, text: str) -> str:
    """Lines that show when one opens their title.

    >>> folded("templates", "form[0]")
    '<details><summary>templates</summary><pre>form[0]</pre></details>'
    """
    title, text = escape(title), escape(text)
    return f"<details><summary>{title}</summary><pre>{text}</pre></details>"
