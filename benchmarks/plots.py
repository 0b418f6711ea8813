"""The plots of the report, as SVG files that do not change unless the figures do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.curves import CURVES, fit
from benchmarks.results import Results, best_of_tools, is_quiet
from benchmarks.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes


class Colours(NamedTuple):
    """Colors of a picture: points, text, lines in the background."""

    ours: str
    others: str
    text: str
    edge: str
    grid: str

    def style(self) -> dict[str, str]:
        """The colours as matplotlib names them."""
        of_text = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
        named = dict.fromkeys(of_text, self.text)
        return named | {"axes.edgecolor": self.edge, "grid.color": self.grid}


LIGHT = Colours("#c2410c", "#475569", "#1e293b", "#94a3b8", "#e2e8f0")
DARK = Colours("#fb923c", "#cbd5e1", "#e2e8f0", "#64748b", "#334155")
MARKS = (("#c2410c", "o"), ("#1d4ed8", "s"), ("#7c3aed", "D"), ("#15803d", "^"))
STYLE = {
    "svg.hashsalt": "seqtag",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#94a3b8",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "xtick.color": "#334155",
    "ytick.color": "#334155",
    "axes.grid": True,
    "grid.color": "#e2e8f0",
    "legend.frameon": False,
}


def accuracy_against_speed(results: Results, folder: Path, dark: bool) -> None:
    """One panel per task, one point per tool: to the right is faster, up is better.

    A tool with several algorithms is shown with the one that scores best; a hollow point was
    measured while others were at work. For a light page accuracy-speed.svg, for a dark one
    accuracy-speed-dark.svg: the background is transparent.
    """
    import matplotlib.pyplot as plt

    colours = DARK if dark else LIGHT
    with plt.rc_context(STYLE | colours.style()):
        figure, panels = plt.subplots(1, len(TASKS), figsize=(11.5, 3.9), layout="constrained")
        figure.patch.set_alpha(0)
        for axes, task in zip(panels, TASKS.values(), strict=True):
            points: dict[str, dict[str, Any]] = {}
            for tool, figures in best_of_tools(results, task.name).items():
                name = tool.removesuffix(" ap").removesuffix(" pa").removesuffix(" lbfgs")
                points.setdefault(name, figures)
            _scatter(axes, points, colours)
            axes.set_title(task.title)
        panels[0].set_ylabel("accuracy or F1 (%), axis not from 0")
        figure.supxlabel("tokens tagged per second on one core (log scale)", fontsize=10)
        _label_points(figure, panels)
        save(figure, folder / f"accuracy-speed{'-dark' * dark}.svg")


def _scatter(axes: Axes, points: dict[str, dict[str, Any]], colours: Colours) -> None:
    """Points on a logarithmic axis with room for their names."""
    from matplotlib.ticker import NullFormatter

    axes.patch.set_alpha(0)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda speed, _: _thousands(speed))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(0.36, 0.14)
    for tool, figures in points.items():
        colour, size = (colours.ours, 8) if tool == "seqtag" else (colours.others, 6)
        at = figures["tokens_per_second"], figures["score"]
        fill = "full" if is_quiet(figures) else "none"
        axes.plot(*at, "o", color=colour, markersize=size, fillstyle=fill, gid=tool)
    axes.set_xlim(min(4e3, *axes.get_xlim()), max(3e6, *axes.get_xlim()))  # the same decades in all


def _thousands(speed: float) -> str:
    return f"{speed / 1e6:g} M" if speed >= 1e6 else f"{speed / 1e3:g} k"


def _label_points(figure: Any, panels: Sequence[Axes]) -> None:
    """Write each point's name next to it, at the first place where it covers nothing."""
    places = (
        (9, 0, "left"),
        (-9, 0, "right"),
        (0, 11, "center"),
        (0, -11, "center"),
        (9, 10, "left"),
        (-9, 10, "right"),
        (9, -10, "left"),
        (-9, -10, "right"),
        (9, 20, "left"),
        (-9, 20, "right"),
        (9, -20, "left"),
        (-9, -20, "right"),
    )
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    for axes in panels:
        inside = axes.get_window_extent(renderer)
        taken = [line.get_window_extent(renderer).padded(3) for line in axes.lines]
        for point in list(axes.lines):
            name, at = point.get_gid(), (point.get_xdata()[0], point.get_ydata()[0])
            for x, y, side in places:
                text = axes.annotate(
                    name,
                    at,
                    (x, y),
                    textcoords="offset points",
                    ha=side,
                    va="center",
                    color=point.get_color() if name == "seqtag" else None,
                    weight="bold" if name == "seqtag" else "normal",
                )
                box = text.get_window_extent(renderer)
                fits = inside.x0 <= box.x0 and box.x1 <= inside.x1
                if fits and not any(box.overlaps(other) for other in taken):
                    break
                text.remove()
            else:  # crowded: the name goes to the right all the same
                text = axes.annotate(name, at, (9, 0), textcoords="offset points", va="center")
                box = text.get_window_extent(renderer)
            taken.append(box)


def growth(name: str, points: list[dict[str, float]], path: Path) -> None:
    """The points of a growth curve on log-log axes, with the fitted lines."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullLocator

    curve = CURVES[name]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        axes.set(xscale="log", yscale="log", xlabel=curve.unit, ylabel="seconds (log scale)")
        axes.margins(0.08, 0.18)
        sizes = [point["size"] for point in points]
        figures = {key: label for key, label in curve.figures.items() if key in points[0]}
        for (key, label), (colour, marker) in zip(figures.items(), MARKS, strict=False):
            values = [point[key] for point in points]
            if len(sizes) > 2:
                line = fit(sizes, values)
                label = f"{label}: exponent {line.slope:.2f}"
                ends = [line.value(size) for size in line.sizes]
                axes.plot(line.sizes, ends, "--", color=colour, linewidth=1)
            axes.plot(sizes, values, marker, color=colour, label=label)
        if name == "threads":
            axes.set(xscale="linear", yscale="linear", ylabel="seconds")
            most = max(point[key] for point in points for key in figures)
            axes.set(xlim=(0, max(sizes) + 0.5), ylim=(0, 1.3 * most))
            axes.set_xticks(sizes)
        elif len(sizes) <= 6:
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.xaxis.set_minor_locator(NullLocator())
        low, high = axes.get_ylim()
        if (
            0 < high < 10 * low
        ):  # a decade at least, so that noise looks small and ticks have labels
            middle = (low * high) ** 0.5
            axes.set_ylim(middle / 10**0.75, middle * 10**0.75)
        axes.set_title(curve.title)
        axes.legend(loc="upper left" if name != "threads" else "upper right")
        save(figure, path)


def save(figure: Any, path: Path) -> None:
    """Write the figure without a date, and let go of it."""
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
