"""Draw the pictures of docs/from-rosenblatt-to-viterbi.md, from the data of its examples.

Usage: python scripts/draw_tour.py [--out docs/tour] [NAME ...]

Needs matplotlib (``pip install -e '.[plot]'``). The same versions give the same bytes.
"""

from __future__ import annotations

import argparse
import html
import runpy
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np

import seqtag
from seqtag import BinaryPerceptron, VotedPerceptron
from seqtag.classifiers.losses import hinge, squared, zero_one
from seqtag.classifiers.margins import separability
from seqtag.classifiers.sigmoid import sigm
from seqtag.features.language import parse
from seqtag.randomness import random_source
from seqtag.training.selection import Fit, tagger_fit

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.corpus import Sentence

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "corpora" / "sample"
PAGE = runpy.run_path(str(ROOT / "docs" / "perceptron.py"))

# Colors that color-blind readers can tell apart (Okabe and Ito); marks and dashes differ, too.
PLUS, MINUS, THIRD, GREY, INK = "#0072b2", "#d55e00", "#008060", "#94a3b8", "#1e293b"
SIDES = ("#fbe6d8", "#dbeaf5")  # where the decision is -1, +1
GREEN = "#d8efe6"  # where the decision is the third label
STYLE = {
    "svg.hashsalt": "seqtag",
    "svg.fonttype": "none",
    "font.size": 9.5,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e2e8f0",
    "lines.linewidth": 1.8,
    "figure.facecolor": "white",
}
WIDTH = 7.3  # inches: 700 pixels


class Clouds(NamedTuple):
    """Two clouds of points that overlap, and more points of the same kind."""

    X: np.ndarray  # (400, 2)
    y: np.ndarray  # (400,)
    fresh: np.ndarray  # (4000, 2)
    truth: np.ndarray  # (4000,)


def clouds() -> Clouds:
    """The points of section 4."""
    random = np.random.RandomState(0)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = 3 + np.concatenate([random.normal(1, 1, (n, 2)), random.normal(-1, 1, (n, 2))])
        return X, np.repeat([1, -1], n)

    return Clouds(*draw(200), *draw(2000))


# The words of section 2, and the adjectives of section 5: (left, right).
NOUNS = {
    **{"day": (2, 4), "way": (4, 0), "year": (3, -2)},
    **{"water": (1, 2), "minutes": (0, 3), "week": (2, 2)},
}
VERBS = {
    **{"used": (-1, 2), "asked": (-2, 1), "get": (-3, -3)},
    **{"go": (-1, 0), "see": (-1, -2), "made": (-1, -4)},
}
ADJECTIVES = {
    **{"old": (3, -5), "new": (3, -3), "second": (4, -3)},
    **{"small": (2, -3), "same": (3, -3), "last": (3, -5)},
}
TWELVE = np.array([*NOUNS.values(), *VERBS.values()])
SIGNS = np.repeat([1, -1], 6)


def trajectory(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return every w of the perceptron of section 2."""
    settings: dict[str, Any] = {"shuffle": False, "fit_intercept": False, "max_iter": 100}
    return BinaryPerceptron(**settings).fit(X, y, classes=[-1, 1]).trajectory(X)


def signed(value: float, digits: int = 0) -> str:
    """Return a number with a minus sign as it is printed."""
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


# --------------------------------------------------------------------------- plain SVG
class Drawing:
    """Boxes, lines and text, in pixels, as a small SVG file."""

    def __init__(self, width: int, height: int):
        self.width, self.height, self.parts = width, height, [""]
        self.add("rect", width=width, height=height, fill="white")

    def add(self, name: str, text: str = "", **settings: Any) -> None:
        """Add an element; underscores in the names of its attributes become hyphens."""
        given = " ".join(
            f'{key.rstrip("_").replace("_", "-")}="{_short(value)}"'
            for key, value in settings.items()
        )
        closing = f">{html.escape(text)}</{name}>" if text else "/>"
        self.parts.append(f"<{name} {given}{closing}")

    def box(self, x: float, y: float, width: float, height: float, **settings: Any) -> None:
        """Add a rectangle with round corners around its center."""
        corner = {"x": x - width / 2, "y": y - height / 2, "width": width, "height": height}
        self.add("rect", **corner, rx=3, **{"fill": "white", "stroke": GREY} | settings)

    def text(self, x: float, y: float, text: str, **settings: Any) -> None:
        """Add text, centered unless `text_anchor` says otherwise; y is its middle."""
        size = settings.pop("size", 12)
        default = {"text_anchor": "middle", "fill": INK}
        self.add("text", text, x=x, y=y + 0.35 * size, font_size=size, **default | settings)

    def line(self, x: float, y: float, to_x: float, to_y: float, **settings: Any) -> None:
        """Add a line."""
        default = {"stroke": GREY, "stroke_width": 1}
        self.add("line", x1=x, y1=y, x2=to_x, y2=to_y, **default | settings)

    def arrow(self, x: float, y: float, to_x: float, to_y: float, **settings: Any) -> None:
        """Add a line with a head."""
        self.line(x, y, to_x, to_y, **{"stroke": INK, "stroke_width": 1.5} | settings)
        ahead = np.array([to_x - x, to_y - y]) / np.hypot(to_x - x, to_y - y)
        aside = np.array([-ahead[1], ahead[0]])
        tip = np.array([to_x, to_y])
        head = [tip, tip - 8 * ahead + 3.5 * aside, tip - 8 * ahead - 3.5 * aside]
        points = " ".join(f"{_short(a)},{_short(b)}" for a, b in head)
        self.add("polygon", points=points, fill=settings.get("stroke", INK))

    def save(self, path: Path) -> None:
        """Write the file."""
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" '
            'font-family="DejaVu Sans, Verdana, sans-serif">'
        )
        self.parts[0] = opening
        path.write_text("\n".join([*self.parts, "</svg>\n"]), encoding="utf-8")


def _short(value: Any) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


# --------------------------------------------------------------------------- the pictures
def neuron() -> Drawing:
    """Section 2: a nerve cell, and the arithmetic that is left of it."""
    d = Drawing(700, 250)
    soft = {"fill": "none", "stroke": "#64748b", "stroke_width": 2.2, "stroke_linecap": "round"}
    for path in (
        *("M 108 105 C 90 85, 75 80, 52 50", "M 76 77 C 70 65, 72 55, 78 38"),
        *("M 100 125 C 75 125, 60 118, 28 120", "M 66 121 C 55 108, 45 105, 34 92"),
        *("M 108 145 C 90 165, 80 175, 50 195", "M 80 172 C 82 185, 78 195, 80 208"),
        *("M 132 100 C 135 80, 130 65, 140 42", "M 133 80 C 145 68, 152 66, 160 52"),
    ):
        d.add("path", d=path, **soft)
    d.add("path", d="M 150 127 C 200 132, 230 110, 282 125", **soft | {"stroke_width": 4})
    for path in (
        *("M 282 125 C 296 118, 300 105, 312 96", "M 282 125 C 298 126, 304 126, 316 128"),
        "M 282 125 C 296 136, 300 146, 312 156",
    ):
        d.add("path", d=path, **soft)
    for x, y in (
        (52, 50),
        (78, 38),
        (28, 120),
        (34, 92),
        (50, 195),
        (80, 208),
        (140, 42),
        (160, 52),
    ):
        d.add("circle", cx=x, cy=y, r=4, fill=MINUS)  # contacts with other cells
    d.add(
        "ellipse", cx=126, cy=125, rx=30, ry=28, fill=SIDES[1], stroke="#64748b", stroke_width=2.2
    )
    d.add("circle", cx=126, cy=125, r=8, fill="#64748b")
    for x, y, name in (
        *((100, 228, "dendrites"), (150, 175, "cell body"), (222, 100, "axon")),
        *((290, 180, "to other cells"), (95, 18, "synapses")),
    ):
        d.text(x, y, name, size=13)
    for i, (x, w, product) in enumerate((("x₁ = 2", "5", "10"), ("x₂ = 4", "2", "8"))):
        y = 80 + 85 * i
        d.text(396, y, x, size=14)
        d.arrow(424, y, 520, 118 if i == 0 else 136)
        d.box(462, y + (13 if i == 0 else -12), 50, 20, fill=SIDES[1], stroke=PLUS)
        d.text(462, y + (13 if i == 0 else -12), f"w{'₁₂'[i]} = {w}", size=12)
        d.text(505, y + (-2 if i == 0 else 5), product, size=12, fill="#64748b")
    d.add("circle", cx=545, cy=127, r=25, fill=SIDES[1], stroke=PLUS, stroke_width=2)
    d.text(545, 120, "score", size=11)
    d.text(545, 135, "18", size=13)
    d.arrow(572, 127, 606, 127)
    d.box(628, 127, 40, 40)
    d.add("path", d="M 613 140 H 628 V 114 H 643", fill="none", stroke=INK, stroke_width=2)
    d.text(672, 127, "+1", size=15, fill=PLUS, font_weight="bold")
    for x, y, name in ((396, 205, "inputs"), (462, 205, "weights"), (545, 205, "sum")):
        d.text(x, y, name, size=13)
    d.text(628, 205, "threshold 0", size=13)
    d.text(672, 152, "noun", size=12, fill=PLUS)
    return d


def machine() -> Drawing:
    """Section 2: the Mark I perceptron."""
    d = Drawing(700, 262)
    random = np.random.RandomState(5)
    lit = {(1, r) for r in range(1, 7)} | {(c, r) for r in (1, 3, 6) for c in range(2, 6)}
    cells = [(c, r) for c in range(8) for r in range(8)]
    units = [(300, 50 + 34 * i) for i in range(5)]
    for x, y in units:  # each association unit sees some photocells
        for i in random.choice(len(cells), 6, replace=False):
            c, r = cells[i]
            on = (c, r) in lit
            d.line(43 + 18 * c, 53 + 18 * r, x - 11, y, stroke="#e0a77f" if on else "#dbe2ea")
    for c, r in cells:
        fill = MINUS if (c, r) in lit else "white"
        d.add("rect", x=35 + 18 * c, y=45 + 18 * r, width=16, height=16, fill=fill, stroke=GREY)
    for i, (x, y) in enumerate(units):
        d.add("circle", cx=x, cy=y, r=11, fill=SIDES[1], stroke=PLUS)
        d.line(x + 11, y, 425, y)
        d.add("circle", cx=440, cy=y, r=14, fill="white", stroke=INK, stroke_width=1.5)
        turn = np.radians([20, -60, 100, 160, -20][i])
        d.line(440, y, 440 + 12 * np.sin(turn), y - 12 * np.cos(turn), stroke=MINUS, stroke_width=3)
        d.line(454, y, 556, 118)
    d.add("circle", cx=575, cy=118, r=20, fill=SIDES[1], stroke=PLUS, stroke_width=2)
    d.text(575, 118, "Σ", size=18)
    d.arrow(596, 118, 636, 118)
    d.add("circle", cx=655, cy=118, r=15, fill="#fde68a", stroke="#b45309", stroke_width=2)
    d.add(
        "path", d="M 655 137 V 222 H 440 V 208", fill="none", stroke=MINUS, stroke_dasharray="5 3"
    )
    d.add("polygon", points="440,204 436,213 444,213", fill=MINUS)
    d.text(556, 236, "wrong? motors turn the knobs", size=12, fill=MINUS)
    for x, name in (
        (107, "photocells"),
        (300, "association units"),
        (440, "knobs: w"),
        (655, "lamp"),
    ):
        d.text(x, 22, name, size=12.5)
    d.text(205, 210, "random wires", size=12.5)
    return d


def boundary() -> plt.Figure:
    """Section 2: three updates, traced to convergence."""
    points, sides = np.array([(2, 4), (-1, 2)]), (1, -1)
    ws = trajectory(points, np.array(sides))
    assert ws.tolist() == [[0, 0], [2, 4], [3, 2], [4, 0]]
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 2.85), layout="constrained")
    reach = 5.4
    for m, axes in enumerate(panels, 1):
        axes.grid(False)
        w, wrong = ws[m], (0, 1, 1)[m - 1]
        across = 2 * reach * np.array([-w[1], w[0]]) / np.linalg.norm(w)
        ahead = 2 * reach * w / np.linalg.norm(w)
        for color, side in zip(SIDES, (-ahead, ahead), strict=True):
            corners = np.array([across, -across, side - across, side + across])
            axes.fill(*corners.T, color=color, linewidth=0)
        axes.plot(*np.array([-across, across]).T, color=INK)
        if m > 1:
            old = 2 * reach * np.array([-ws[m - 1][1], ws[m - 1][0]]) / np.linalg.norm(ws[m - 1])
            axes.plot(*np.array([-old, old]).T, color=GREY, linestyle="--")
            arrow = {"arrowstyle": "-|>", "color": MINUS, "linewidth": 1, "shrinkA": 0}
            axes.annotate("", w, ws[m - 1], arrowprops=arrow | {"shrinkB": 0})
            middle = (w + ws[m - 1]) / 2
            axes.text(middle[0] + 0.2, middle[1] + 0.25, "y x", color=MINUS)
            axes.plot(*ws[m - 1], ".", color=GREY)
            axes.text(ws[m - 1][0] - 0.3, ws[m - 1][1] - 0.1, "old w", color="#64748b", ha="right")
        axes.annotate(
            "",
            w,
            (0, 0),
            arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0},
        )
        if m > 1:
            axes.text(w[0] + 0.2, w[1] - 0.8, "w")
        else:
            axes.text(1.35, 1.5, "y x = w", color=PLUS)
        axes.plot(*points[0], "o", color=PLUS, markersize=4.5)
        axes.plot(*points[1], "s", color=MINUS, markersize=4.5)
        ring = PLUS if sides[wrong] > 0 else MINUS
        axes.plot(*points[wrong], "o", color=ring, markersize=13, markerfacecolor="none")
        axes.text(2.1, 4.62, "day", color=PLUS)
        axes.text(-0.2, 2.75, "used", color=MINUS, ha="right", fontsize=8.5)
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="left")
        axes.set(xticks=[-4, 0, 4], yticks=[-4, 0, 4])
        axes.set_title(f"update {m}: w = ({signed(w[0])}, {signed(w[1])})")
    panels[0].set(ylabel="right")
    return figure


PLACES = {
    **{"water": (0.1, -0.55, "center"), "new, same": (0.1, -0.6, "center")},
    **{"small": (-0.2, 0.1, "right"), "year": (0.1, 0.2, "left")},
}
"""Places of names that are not at the right of their points: shift, and where the point is."""


def name_points(axes: plt.Axes, words: dict[str, tuple[int, int]], color: str, mark: str) -> None:
    """Draw words as points with their names, those of verbs on the left; equal points share one."""
    at: dict[tuple[int, int], list[str]] = defaultdict(list)
    for word, point in words.items():
        at[point].append(word)
    for (p, q), names in at.items():
        axes.plot(p, q, mark, color=color, markersize=5)
        default = (-0.18, 0.15, "right") if p < 0 else (0.18, 0.15, "left")
        right, up, side = PLACES.get(", ".join(names), default)
        axes.text(p + right, q + up, ", ".join(names), color=color, fontsize=8.5, ha=side)


def twelve() -> plt.Figure:
    """Section 2, on slides: the twelve words, and what the perceptron makes of them and of fish."""
    ws = trajectory(TWELVE, SIGNS)
    assert ws.tolist() == [[0, 0], [2, 4], [5, 2]]
    figure, panels = plt.subplots(1, 2, figsize=(1.24 * WIDTH, 4.3), layout="constrained")
    reach = 5.4
    name_points(panels[0], NOUNS, PLUS, "o")
    name_points(panels[0], VERBS, MINUS, "s")
    panels[1].plot(*TWELVE[:6].T, "o", color=PLUS, markersize=5)
    panels[1].plot(*TWELVE[6:].T, "s", color=MINUS, markersize=5)
    for axes in panels:
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axes.set(xlabel="left", ylabel="right")
    w = 9 * ws[-1] / np.linalg.norm(ws[-1])
    across = np.array([-w[1], w[0]])
    for color, side in zip(SIDES, (-w, w), strict=True):
        corners = np.array([across, -across, side - across, side + across])
        panels[1].fill(*corners.T, color=color, linewidth=0)
    panels[1].plot(*np.array([-across, across]).T, color=INK)
    panels[1].grid(False)
    for point, text, at, side in (
        ((-1, 1), "They fish for", (-1.2, 1.45), "right"),
        ((0, 1), "old fish .", (0.25, 0.95), "left"),
    ):
        assert (np.dot(ws[-1], point) > 0) == (side == "left")
        panels[1].plot(*point, "*", color=INK, markersize=9)
        panels[1].text(*at, text, fontsize=11, ha=side, va="center")
    return figure


def margin() -> plt.Figure:
    """Section 3: the line of greatest margin, and the longest x."""
    found = separability(TWELVE, SIGNS)
    assert (round(found.margin, 2), round(found.radius, 2)) == (0.59, 4.47)
    figure, axes = plt.subplots(figsize=(0.62 * WIDTH, 4.3), layout="constrained")
    reach = 5.4
    along, ahead = np.array([-found.w[1], found.w[0]]), found.w
    signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
    strip = found.margin * signs[:, :1] * ahead + 9 * signs[:, 1:] * along
    axes.fill(*strip.T, color="#f1f5f9", linewidth=0)
    for height, dash in ((0, "-"), (found.margin, "--"), (-found.margin, "--")):
        ends = [height * ahead - 9 * along, height * ahead + 9 * along]
        axes.plot(*np.transpose(ends), dash, color=INK, linewidth=1.8 if height == 0 else 1)
    arrow = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 0, "shrinkB": 3}
    axes.annotate("", (2, 4), (0, 0), arrowprops=arrow)
    axes.text(0.56, 0.72, "R", fontsize=11, color="#64748b")
    axes.annotate("", found.w, (0, 0), arrowprops=arrow | {"color": INK, "shrinkB": 0})
    axes.text(1.05, -0.25, "w*", fontsize=11)
    name_points(axes, NOUNS, PLUS, "o")
    name_points(axes, VERBS, MINUS, "s")
    foot = -4.3 * along
    double = {"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", foot + found.margin * ahead, foot, arrowprops=double)
    middle = foot + 0.5 * found.margin * ahead + (-0.09, 0.2)
    axes.text(*middle, "γ", fontsize=11, ha="center")
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xlabel="left", ylabel="right")
    return figure


def bars() -> plt.Figure:
    """Section 3: the proof as bars: floor, length of w, ceiling; a usual case, and the worst."""
    day_used = np.array([NOUNS["day"], VERBS["used"]])
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.1), layout="constrained")
    cases = ((day_used, np.array([1, -1]), 12), (np.eye(9), np.ones(9, int), 10))
    for axes, (X, y, last) in zip(panels, cases, strict=True):
        found, ws = separability(X, y), trajectory(X, y)
        made = len(ws) - 1
        m = np.arange(1, last + 1)
        floor, ceiling = m * found.margin, np.sqrt(m) * found.radius
        axes.bar(
            m - 0.27,
            floor,
            0.25,
            color=[
                THIRD if a <= b + 1e-9 else "#7f1d1d" for a, b in zip(floor, ceiling, strict=True)
            ],
            label="m γ, the floor",
        )
        axes.bar(m[:made], np.linalg.norm(ws[1:], axis=1), 0.25, color=PLUS, label="|w|")
        axes.bar(
            m + 0.27,
            ceiling,
            0.25,
            color=SIDES[0],
            edgecolor=MINUS,
            linewidth=0.8,
            label="√m R, the ceiling",
        )
        title = f"{made} updates, at most {int(found.bound + 1e-9)}"
        axes.set(xlabel="update m", title=title, xticks=m)
        axes.grid(visible=False, axis="x")
    panels[0].legend(frameon=False, loc="upper left")
    panels[0].annotate(
        "floor above ceiling:\nimpossible",
        (11.75, 15.9),
        (6.5, 18.4),
        arrowprops={"arrowstyle": "->", "color": INK},
        fontsize=8.5,
        va="center",
    )
    panels[0].set(ylim=(0, 20))
    panels[1].annotate(
        "equal: no\nfurther update",
        (9, 3.05),
        (4.2, 3.3),
        arrowprops={"arrowstyle": "->", "color": INK},
        fontsize=8.5,
        va="center",
    )
    panels[1].set(ylim=(0, 3.7))
    return figure


def votes() -> plt.Figure:
    """Section 4: the decisions of the last w, of the vote and of the mean."""
    data = clouds()
    last = BinaryPerceptron(max_iter=5).fit(data.X, data.y)
    voted = VotedPerceptron(max_iter=5).fit(data.X, data.y)
    mean = BinaryPerceptron(max_iter=5, average=True).fit(data.X, data.y)
    grid = np.linspace(-0.5, 6.5, 43)
    mesh = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 3.1), layout="constrained", sharey=True)
    for axes, name, model in zip(
        panels, ("last w", "voted", "averaged"), (last, voted, mean), strict=True
    ):
        heights = model.decision_function(mesh).reshape(len(grid), -1)
        axes.grid(False)
        axes.set_facecolor(SIDES[0])
        axes.contourf(grid, grid, heights, [0, np.inf], colors=SIDES[1:])
        if name == "voted":  # the twelve that survived longest
            trail = voted.trajectory(data.X)
            for m in np.argsort(-voted.survival_, kind="stable")[:12]:
                a, b, c = trail[m]
                ends = grid[[0, -1]]
                axes.plot(ends, -(a * ends + c) / b, color=GREY, linewidth=0.7)
        axes.contour(grid, grid, heights, [0], colors=INK, linewidths=1.8)
        for label, color, mark in ((1, PLUS, "o"), (-1, MINUS, "s")):
            axes.plot(*data.X[data.y == label][:30].T, mark, color=color, markersize=3)
        score = model.score(data.fresh, data.truth)
        axes.set(xlim=(-0.5, 6.5), ylim=(-0.5, 6.5), aspect="equal", title=f"{name}: {score:.3f}")
        axes.set(xlabel="p", xticks=[0, 2, 4, 6], yticks=[0, 2, 4, 6])
    panels[0].set(ylabel="q")
    return figure


def order() -> plt.Figure:
    """Section 4: learning curves by pass, sorted, shuffled, averaged."""
    data = clouds()
    figure, axes = plt.subplots(figsize=(WIDTH, 2.9), layout="constrained")
    curves = (
        ("sorted by label", MINUS, "s:", {"shuffle": False}, 0.5),
        ("shuffled", PLUS, "o-", {}, 0.88),
        ("shuffled, averaged", THIRD, "^-", {"average": True}, 0.935),
    )
    for name, color, mark, settings, height in curves:
        models = (BinaryPerceptron(max_iter=n, **settings) for n in range(1, 21))
        scores = [each.fit(data.X, data.y).score(data.fresh, data.truth) for each in models]
        axes.plot(range(1, 21), scores, mark, color=color, markersize=4)
        axes.text(20.4, height, name, color=color, va="center")
    axes.set(
        xlim=(0.5, 25),
        ylim=(0.45, 1),
        xlabel="pass over the data",
        ylabel="accuracy on fresh points",
        xticks=[1, 5, 10, 15, 20],
    )
    return figure


def arrows() -> plt.Figure:
    """Section 5: three arrows, and the regions where each has the highest score."""
    labels = ("NOUN", "VERB", "ADJ")
    groups = (NOUNS, VERBS, ADJECTIVES)
    rows = zip(*(group.values() for group in groups), strict=True)
    examples = [
        ({"left": p, "right": q}, label)
        for row in rows
        for (p, q), label in zip(row, labels, strict=True)
    ]
    block = PAGE["block"]
    w, _, mistakes = PAGE["learn"](examples * 20, block, PAGE["search"](labels, block))
    assert len(mistakes) == 48
    W = np.array([(w["left", k], w["right", k]) for k in labels], float)
    reach = 6
    figure, axes = plt.subplots(figsize=(0.62 * WIDTH, 4.3), layout="constrained")
    axes.grid(False)
    fills, inks = (SIDES[1], SIDES[0], GREEN), (PLUS, MINUS, THIRD)
    rays: dict[int, list[np.ndarray]] = defaultdict(list)
    for a, b in ((0, 1), (0, 2), (1, 2)):  # where a and b are equal, and above the third
        across = np.array([-(W[a] - W[b])[1], (W[a] - W[b])[0]])
        across *= 100 / np.linalg.norm(across)
        ray = max((across, -across), key=lambda ray: ray @ W[a] - ray @ W[3 - a - b])
        axes.plot(*np.transpose([(0, 0), ray]), color=INK, linewidth=1)
        rays[a].append(ray)
        rays[b].append(ray)
    for k, fill in enumerate(fills):
        axes.fill(*np.transpose([(0, 0), *rays[k]]), color=fill, linewidth=0)
    for group, ink, mark in zip(groups, inks, ("o", "s", "^"), strict=True):
        name_points(axes, group, ink, mark)
    for k, (label, ink) in enumerate(zip(labels, inks, strict=True)):
        tip = W[k] / 5
        axes.annotate(
            "",
            tip,
            (0, 0),
            arrowprops={
                "arrowstyle": "-|>",
                "color": ink,
                "linewidth": 2.2,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        at = ((-0.1, 0.35), (-1.5, -0.6), (0.3, -0.1))[k]
        name = f"{label} ({signed(W[k][0])}, {signed(W[k][1])})"
        axes.text(*(tip + at), name, color=ink, fontweight="bold", fontsize=8.5)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xlabel="left", ylabel="right")
    return figure


def strips() -> Drawing:
    """Section 5: phi(x, y) of two labels, three labels, and a sentence, and the updates."""
    d = Drawing(700, 412)
    x = NOUNS["day"]
    two = [[v / 2 for v in x], [-v / 2 for v in x]]
    three = [[*x, 0, 0, 0, 0], [0, 0, *x, 0, 0]]
    cells = ["they\nPRON", "fish\nVERB", "fish\nNOUN", "PRON\nVERB", "PRON\nNOUN"]
    cells = ["start\nPRON", *cells, "stop\nVERB", "stop\nNOUN"]
    sentence = [[1, 1, 1, 0, 1, 0, 1, 0], [1, 1, 0, 1, 0, 1, 0, 1]]
    sides = ["left", "right"]
    groups: tuple[tuple[str, list[str], list[str], list[list[float]], int], ...] = (
        ("two labels: x = (2, 4), day", sides, ["φ(x, +1)", "φ(x, −1)"], two, 10),
        (
            *(
                "three labels: a block for each",
                [f"{k}\n{s}" for k in ("NOUN", "VERB", "ADJ") for s in sides],
            ),
            *(["φ(x, NOUN)", "φ(x, VERB)"], three, 10),
        ),
        (
            *("a sentence: x = they fish; words with labels, and label bigrams", cells),
            *(["φ(x, PRON VERB)", "φ(x, PRON NOUN)"], sentence, 0),
        ),
    )
    y = 18
    for title, names, rows, vectors, gap in groups:
        d.text(8, y, title, size=13, text_anchor="start", font_weight="bold")
        y += 20
        for j, name in enumerate(names):
            left = 168 + 60 * j + gap * (j // 2)
            for k, part in enumerate(name.split("\n")):
                d.text(left + 28, y + 11 * k, part, size=10, fill="#475569")
        y += 11 * names[0].count("\n") + 18
        difference = [a - b for a, b in zip(*vectors, strict=True)]
        for name, values in zip([*rows, "difference"], [*vectors, difference], strict=True):
            bold = {"font_weight": "bold"} if name == "difference" else {}
            d.text(158, y, name, size=12, text_anchor="end", **bold)
            for j, value in enumerate(values):
                left = 168 + 60 * j + gap * (j // 2)
                fill = SIDES[1] if value > 0 else SIDES[0] if value < 0 else "white"
                ink = PLUS if value > 0 else MINUS if value < 0 else GREY
                width = 1.8 if bold and value else 0.8
                d.box(left + 28, y, 54, 20, fill=fill, stroke=ink, stroke_width=width)
                d.text(left + 28, y, signed(value), size=12, fill=INK if value else GREY, **bold)
            y += 26 if name != rows[-1] else 28
        y += 12
    return d


class Chart(NamedTuple):
    """Words, labels, and scores of the lattice of section 6."""

    words: list[str]
    labels: list[str]
    emission: np.ndarray  # (T, K)
    best: np.ndarray  # (T, K): v
    back: np.ndarray  # (T, K)
    path: list[int]


def chart() -> Chart:
    """Return the lattice of section 6, from the weights that its code learns."""
    learn, chain, block, dot = (PAGE[name] for name in ("learn", "chain", "block", "dot"))
    read, features, viterbi = (PAGE[name] for name in ("read", "features", "viterbi"))
    corpus = [(features(words), y) for words, y in read(SAMPLE / "en-sample-train.conllu")]
    labels = sorted({label for _, y in corpus for label in y})
    _, w, mistakes = learn(
        PAGE["passes"](corpus, 5), chain, lambda w, x, gold=None: viterbi(w, x, labels, gold)
    )
    assert len(mistakes) == 884
    words = ["They", "fish", "for", "the", "old", "fish", "."]
    x = features(words)
    e = np.array([[dot(w, block(token, b)) for b in labels] for token in x])
    transition = np.array([[w[a, b] for b in labels] for a in labels])
    v, back = [e[0] + [w["start", b] for b in labels]], [np.zeros(len(labels), int)]
    for scores in e[1:]:
        into = v[-1][:, None] + transition
        back.append(into.argmax(axis=0))
        v.append(scores + into.max(axis=0))
    path = [labels.index(b) for b in viterbi(w, x, labels)]
    return Chart(words, labels, e, np.array(v), np.array(back), path)


def lattice() -> Drawing:
    """Section 6: all labels of all words, the best way into each, and the best path."""
    words, labels, e, v, back, path = chart()
    first = ["PRON", "VERB", "NOUN", "ADJ", "DET", "ADP", "PUNCT"]
    rows = [labels.index(b) for b in [*first, *(b for b in labels if b not in first)]]
    greedy = e.argmax(axis=1)
    d = Drawing(700, 580)

    def at(t: int, b: int) -> tuple[float, float]:
        return 98 + 93 * t, 52 + 33.5 * rows.index(b)

    for b in rows:
        d.text(54, at(0, b)[1], labels[b], size=12, text_anchor="end")
    for t, word in enumerate(words):
        d.text(at(t, 0)[0], 18, word, size=15, font_weight="bold")
    for chosen in (False, True):  # the path last, above all others
        for t in range(1, len(words)):
            for b in rows:
                if (path[t] == b) == chosen:
                    (x, y), (to_x, to_y) = at(t - 1, int(back[t, b])), at(t, b)
                    look = {"stroke": PLUS, "stroke_width": 3} if chosen else {"stroke": "#cbd5e1"}
                    d.line(x + 29, y, to_x - 29, to_y, **look)
    for t in range(len(words)):
        for b in rows:
            x, y = at(t, b)
            best = path[t] == b
            look: dict[str, Any] = {"fill": PLUS, "stroke": PLUS} if best else {}
            if greedy[t] == b and not best:
                look = {"stroke": MINUS, "stroke_width": 2, "stroke_dasharray": "4 2"}
            d.box(x, y, 58, 28, **look)
            ink = "white" if best else INK
            d.text(x, y - 5.5, signed(v[t, b], 1), size=11.5, fill=ink)
            d.text(x, y + 7.5, signed(e[t, b], 1), size=9, fill=ink if best else "#64748b")
    return d


def correction() -> Drawing:
    """Section 7: the update as two paths: what only one of them has."""
    d = Drawing(700, 205)
    places = {
        ("they", "PRON"): (190, 105),
        ("fish", "VERB"): (410, 60),
        ("fish", "NOUN"): (410, 150),
    }
    begin, end = (60, 105), (630, 105)

    def edge(a: tuple[int, int], b: tuple[int, int], color: str, dash: str, text: str) -> None:
        wide = 44
        d.line(
            a[0] + wide,
            a[1],
            b[0] - wide,
            b[1],
            stroke=color,
            stroke_width=2.5,
            **({"stroke_dasharray": dash} if dash else {}),
        )
        if text:
            x, y = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
            d.box(x, y, 30, 20, stroke=color)
            d.text(x, y, text, size=13, fill=color, font_weight="bold")

    they, verb, noun = places.values()
    edge(begin, they, GREY, "", "")
    for to, color, dash, text in ((verb, PLUS, "", "+1"), (noun, MINUS, "6 4", "−1")):
        edge(they, to, color, dash, text)
        edge(to, end, color, dash, text)
    for (word, label), (x, y) in places.items():
        color = {"PRON": "#64748b", "VERB": PLUS, "NOUN": MINUS}[label]
        d.box(x, y, 88, 34, stroke=color, stroke_width=2)
        d.text(x, y, f"{word}/{label}", size=13)
    for x, name in ((60, "start"), (630, "stop")):
        d.box(x, 105, 88, 34, stroke="#64748b")
        d.text(x, 105, name, size=13)
    for y, color, text in ((26, PLUS, "+1"), (184, MINUS, "−1")):
        d.text(410, y, text, size=13, fill=color, font_weight="bold")
    d.text(190, 72, "in both: 0", size=12, fill="#64748b")
    d.text(530, 26, "right answer", size=13, fill=PLUS)
    d.text(530, 184, "decoded answer", size=13, fill=MINUS)
    return d


def xor() -> plt.Figure:
    """Section 9: four corners, and the same four lifted by their product."""
    figure = plt.figure(figsize=(WIDTH, 3.2), layout="constrained")
    flat, lifted = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    corners = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
    sides = np.array([-1, 1, 1, -1])
    # p + q - 2 p q > 1/2
    p, q = np.meshgrid([-0.3, 1.3], [-0.3, 1.3])
    lifted.plot_surface(p, q, (p + q - 0.5) / 2, color="#9cc3e4", alpha=0.6, shade=False)
    for label, color, mark in ((1, PLUS, "o"), (-1, MINUS, "s")):
        some = corners[sides == label]
        flat.plot(*some.T, mark, color=color, markersize=9)
        lifted.plot(*some.T, some.prod(axis=1), mark, color=color, markersize=8)
        for x in some:
            name = "+" if label > 0 else "\N{MINUS SIGN}"
            flat.text(x[0] + 0.07, x[1] + 0.07, name, color=color, fontsize=14)
            lifted.text(x[0] + 0.06, x[1], x.prod() + 0.12, name, color=color, fontsize=13)
            plane = (x.sum() - 0.5) / 2  # above it solid, below it dotted
            dash = "-" if x.prod() > plane else ":"
            lifted.plot([x[0]] * 2, [x[1]] * 2, [plane, x.prod()], dash, color=INK, linewidth=1.2)
    ticks = {"xticks": [0, 1], "yticks": [0, 1]}
    names = {"xlabel": "p: no", "ylabel": "q: excellent"}
    flat.set(xlim=(-0.4, 1.4), ylim=(-0.4, 1.4), aspect="equal", **ticks, **names)
    lifted.set(zticks=[0, 1], zlim=(-0.6, 1.3), zlabel="p q", **ticks, xlabel="p", ylabel="q")
    lifted.view_init(elev=14, azim=-72)
    return figure


def gaussians() -> plt.Figure:
    """Section 11: the clouds along the line through their centers, and the Bayes risk."""
    s = np.linspace(-5, 5, 401)

    def bell(center: float) -> np.ndarray:
        return np.exp(-((s - center) ** 2) / 2) / np.sqrt(2 * np.pi)

    minus, plus = bell(-(2**0.5)), bell(2**0.5)
    figure, axes = plt.subplots(figsize=(WIDTH, 2.7), layout="constrained")
    axes.fill_between(s, np.minimum(minus, plus), color="#cbd5e1", linewidth=0)
    axes.plot(s, minus, "--", color=MINUS)
    axes.plot(s, plus, color=PLUS)
    axes.axvline(0, color=INK, linewidth=1)
    axes.text(-2.5, 0.33, "label −1", color=MINUS, ha="right")
    axes.text(2.5, 0.33, "label +1", color=PLUS)
    axes.text(0.1, 0.455, "Bayes classifier", va="top")
    axes.annotate(
        "each tail: 0.079",
        (-0.35, 0.05),
        (-4.6, 0.14),
        arrowprops={"arrowstyle": "->", "color": INK},
    )
    axes.set(xlabel="signed distance from the line p + q = 6", ylabel="density", ylim=(0, 0.46))
    axes.set(xlim=(-5, 5))
    return figure


def bias_variance() -> plt.Figure:
    """Section 11: bias and variance of the mean of the k nearest labels."""
    random = np.random.RandomState(11)
    ks, sets = [256, 128, 64, 32, 16, 8, 4, 2, 1], 500

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = random.choice([-1, 1], n)
        return 3 + y[:, None] + random.normal(size=(n, 2)), y

    at, _ = draw(500)
    truth = np.tanh(at.sum(axis=1) - 6)
    guesses = []
    for _ in range(sets):
        X, y = draw(400)
        near = np.argsort(((at[:, None] - X) ** 2).sum(axis=-1), axis=1, kind="stable")
        sums = np.cumsum(y[near], axis=1)
        guesses.append([sums[:, k - 1] / k for k in ks])
    mean, variance = np.mean(guesses, axis=0), np.var(guesses, axis=0).mean(axis=1)
    bias = ((mean - truth) ** 2).mean(axis=1)
    figure, axes = plt.subplots(figsize=(WIDTH, 2.6), layout="constrained")
    places = np.arange(len(ks))
    axes.bar(places, bias, 0.6, color=SIDES[0], edgecolor=MINUS, label="bias²")
    axes.bar(places, variance, 0.6, bottom=bias, color=PLUS, label="variance")
    axes.grid(visible=False, axis="x")
    axes.legend(frameon=False, loc="upper center")
    axes.set(xticks=places, xticklabels=ks, xlabel="k: simple on the left, flexible on the right")
    axes.set(ylabel="squared error")
    return figure


def separators() -> plt.Figure:
    """Section 12: three lines without mistakes on the twelve words."""
    figure, axes = plt.subplots(figsize=(0.62 * WIDTH, 4.3), layout="constrained")
    name_points(axes, NOUNS, PLUS, "o")
    name_points(axes, VERBS, MINUS, "s")
    best = separability(TWELVE, SIGNS).w
    assert np.allclose(best / best[1], (5, 1))
    for w, name, dash, at in (
        ((5, 2), "a", "--", 4.75),
        ((5, 1), "b", "-", 4.75),
        ((20, 1), "c", ":", 4.75),
    ):
        height = np.array([-9, 9])
        assert np.all(SIGNS * (TWELVE @ w) > 0), w
        axes.plot(
            -w[1] * height / w[0], height, dash, color=INK, linewidth=2.2 if name == "b" else 1.5
        )
        axes.text(-w[1] * at / w[0] + 0.12, at, name, fontsize=12, fontweight="bold")
    axes.set(xlim=(-5.4, 5.4), ylim=(-5.4, 5.4), aspect="equal", xlabel="left", ylabel="right")
    return figure


def losses() -> plt.Figure:
    """Appendix: losses of a score, and the step made smooth."""
    h = np.linspace(-2.2, 3, 521)
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.8), layout="constrained")
    yes = np.ones(len(h), int)
    for name, heights, color, dash, at in (
        ("0/1", zero_one(yes, h), INK, "-", (-2.1, 1.15)),
        ("hinge", hinge(yes, h), PLUS, "--", (-1.6, 2.8)),
        ("log-loss", np.log1p(np.exp(-h)), "#a16207", (0, (5, 1, 1, 1, 1, 1)), (1.75, 0.25)),
        ("squared", squared(yes, h), MINUS, ":", (-0.55, 3.4)),
        ("perceptron", np.maximum(0, -h), THIRD, "-.", (-2.1, 0.4)),
    ):
        left.plot(h, heights, linestyle=dash, color=color)
        left.text(*at, name, color=color)
    left.set(xlabel="y h: right is positive", ylabel="loss", ylim=(-0.1, 4))
    a = np.linspace(-10, 10, 401)
    right.plot(a, (a > 0) * 1.0, color=INK)
    right.plot(a, sigm(a), "--", color=PLUS)
    right.text(0.6, 0.93, "step", color=INK, va="top")
    right.text(3.0, 0.7, "sigm(w · x)", color=PLUS)
    right.set(xlabel="w · x", ylabel="output of the neuron")
    return figure


def fit() -> plt.Figure:
    """Section 10: learning curves of features too poor, good, too rich."""
    train, dev = parts("train", "dev")
    sizes = [5, 10, 20, 40, 80, 140, len(train)]
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 2.6), layout="constrained", sharey=True)
    cases = (
        ("end: underfits", "suffix(2)[0]"),
        ("word, end, label before", "form[0]\nsuffix(2)[0]\nlabel[-1]"),
        ("three words: overfits", "form[-1] + form[0] + form[+1]"),
    )
    for axes, (name, templates) in zip(panels, cases, strict=True):
        made = tagger_fit(label="upos", min_count=1, templates=parse(templates))
        on_train, on_dev = mean_curves(made, train, dev, sizes)
        axes.plot(sizes, on_train, "s--", color=GREY, markersize=4)
        axes.plot(sizes, on_dev, "o-", color=PLUS, markersize=4)
        axes.set(xlim=(0, 220), ylim=(0, 1.05), title=name, xlabel="sentences to train on")
    panels[0].set(ylabel="accuracy of UPOS")
    return figure


def parts(*names: str) -> list[list[Sentence]]:
    """Parts of the sample corpus."""
    return [[s for s in seqtag.read(SAMPLE / f"en-sample-{name}.conllu") if s] for name in names]


def mean_curves(made: Fit, train: Any, dev: Any, sizes: list[int]) -> np.ndarray:
    """Return the accuracies on train and dev by size: means over five random subsets."""
    curves = []
    for seed in range(5):
        order = random_source(seed).permutation(len(train))
        parts = [[train[i] for i in order[:size]] for size in sizes]
        scores = [(part, made(part)) for part in parts]
        curves.append([(score(part), score(dev)) for part, score in scores])
    return np.transpose(curves).mean(axis=2)


def learning() -> plt.Figure:
    """Section 13: accuracy by number of training sentences."""
    train, dev = parts("train", "dev")
    sizes = [5, 10, 20, 40, 80, 140, len(train)]
    figure, axes = plt.subplots(figsize=(WIDTH, 2.9), layout="constrained")
    scores_of = mean_curves(tagger_fit(label="upos"), train, dev, sizes)
    for name, color, mark, scores in (
        ("training sentences", GREY, "s--", scores_of[0]),
        ("dev sentences", PLUS, "o-", scores_of[1]),
    ):
        axes.plot(sizes, scores, mark, color=color, markersize=4)
        axes.text(sizes[-1] + 4, scores[-1], name, color=INK, va="center")
    axes.set(
        xlim=(0, 262), ylim=(0.4, 1.03), xlabel="sentences to train on", ylabel="accuracy of UPOS"
    )
    return figure


def costs() -> Drawing:
    """Appendix: the cost of each label in loss-augmented decoding."""
    words, labels, gold = ["the", "old", "fish"], ["DET", "ADJ", "VERB", "NOUN"], [0, 1, 3]
    d = Drawing(560, 270)

    def at(t: int, b: int) -> tuple[float, float]:
        return 110 + 170 * t, 70 + 55 * b

    for t, word in enumerate(words):
        d.text(at(t, 0)[0], 22, word, size=15, font_weight="bold")
    for right in (False, True):
        for t in range(1, len(words)):
            for a in range(len(labels)):
                for b in range(len(labels)):
                    kept = gold[t - 1] == a and gold[t] == b
                    if kept == right:
                        look = (
                            {"stroke": PLUS, "stroke_width": 3} if kept else {"stroke": "#cbd5e1"}
                        )
                        (x, y), (to_x, to_y) = at(t - 1, a), at(t, b)
                        d.line(x + 48, y, to_x - 48, to_y, **look)
    for t in range(len(words)):
        for b, label in enumerate(labels):
            x, y = at(t, b)
            right = gold[t] == b
            look = (
                {"fill": PLUS, "stroke": PLUS}
                if right
                else {"stroke": MINUS, "stroke_dasharray": "4 2"}
            )
            d.box(x, y, 96, 32, **look)
            d.text(x - 14, y, label, size=12.5, fill="white" if right else INK)
            d.text(
                x + 28,
                y,
                "+0" if right else "+1",
                size=12.5,
                font_weight="bold",
                fill="white" if right else MINUS,
            )
    return d


PICTURES: tuple[Callable[[], Drawing | plt.Figure], ...] = (
    *(
        neuron,
        machine,
        boundary,
        twelve,
        margin,
        bars,
        votes,
        order,
        arrows,
        strips,
        lattice,
        correction,
        xor,
        fit,
    ),
    *(gaussians, bias_variance, separators, learning, losses, costs),
)


def main() -> None:
    """Draw all pictures, or those named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "tour")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    nothing: dict[str, Any] = {"Date": None, "Creator": None}
    with plt.rc_context(STYLE):
        for draw in PICTURES:
            if args.names and draw.__name__ not in args.names:
                continue
            picture, path = draw(), args.out / f"{draw.__name__}.svg"
            if isinstance(picture, Drawing):
                picture.save(path)
            else:
                picture.savefig(path, metadata=nothing)
                plt.close(picture)


if __name__ == "__main__":
    main()
