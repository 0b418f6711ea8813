"""Small drawings in SVG, with the colours of the page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _HEIGHT = 340, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 40


class Line(NamedTuple):
    """A line through points.

    Attributes
    ----------
    name
        For the legend, and for the style sheet: its first word is a class.
    points
        Pairs of numbers.
    """

    name: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """What an axis is labelled with, and where it begins and ends."""

    name: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]


def chart(lines: Sequence[Line], x: Axis, y: Axis, *, title: str) -> str:
    """Lines with dots in a frame; the same points stand in a table beside it, for all to read.

    Examples
    --------
    >>> axis = Axis("epoch", 0, 1, [(0, "0"), (1, "1")])
    >>> chart([Line("dev", [(0, 0.5), (1, 1)])], axis, axis, title="a curve").count("<circle")
    2
    """

    def place(point: tuple[float, float]) -> tuple[float, float]:
        across = (point[0] - x.low) / ((x.high - x.low) or 1)
        up = (point[1] - y.low) / ((y.high - y.low) or 1)
        return (
            round(_LEFT + across * (_WIDTH - _LEFT - _RIGHT), 1),
            round(_HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM), 1),
        )

    parts = []
    for value, text in y.ticks:
        _, at = place((x.low, value))
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at}" y2="{at}"/>'
        )
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4}" text-anchor="end">{escape(text)}</text>')
    for value, text in x.ticks:
        at, _ = place((value, y.low))
        parts.append(
            f'<text x="{at}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{escape(text)}'
            "</text>"
        )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(x.name)}</text>'
    )
    for line in lines:
        kind = escape(line.name.split()[0])
        places = [place(point) for point in line.points]
        path = " ".join(f"{a},{b}" for a, b in places)
        parts.append(f'<polyline class="line {kind}" points="{path}"/>')
        parts += [
            f'<circle class="dot {kind}" cx="{a}" cy="{b}" r="3"><title>{escape(line.name)}: '
            f"{point[0]:g}, {point[1]:.4g}</title></circle>"
            for (a, b), point in zip(places, line.points, strict=True)
        ]
    legend = "".join(
        f'<span class="key {escape(line.name.split()[0])}">{escape(line.name)}</span>'
        for line in lines
    )
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg role="img" '
        f'aria-label="{escape(title)}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'
        f'<p class="legend">{legend}</p></figure>'
    )


def percents(low: float, high: float) -> Axis:
    """An axis of percentages that holds some fractions, with round ends.

    >>> percents(0.03, 0.11).ticks
    [(0.02, '2'), (0.04, '4'), (0.06, '6'), (0.08, '8'), (0.1, '10'), (0.12, '12')]
    """
    sizes = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    step = next((size for size in sizes if (high - low) / size <= 4), 0.25)
    first, last = int(low / step), -int(-high / step // 1)
    last = max(last, first + 1)
    ticks = [(round(i * step, 6), f"{round(100 * i * step, 2):g}") for i in range(first, last + 1)]
    return Axis("percent", ticks[0][0], ticks[-1][0], ticks)
