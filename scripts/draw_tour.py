"""Draw the pictures of docs/from-rosenblatt-to-viterbi.md, from the data of its examples.

Usage: python scripts/draw_tour.py [--out docs/tour]

Needs matplotlib (``pip install -e '.[plot]'``). The same versions give the same bytes.
"""

from __future__ import annotations

import argparse
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
from seqtag.engine.arrays import Potentials
from seqtag.engine.reference import Weights, potentials, viterbi
from seqtag.features.encoder import Column
from seqtag.features.index import index_corpus
from seqtag.features.language import parse
from seqtag.training.selection import learning_curve, tagger_fit

if TYPE_CHECKING:
    from seqtag.corpus import Sentence

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "corpora" / "sample"

# Colours that stay apart for colour-blind eyes (Okabe and Ito); marks and dashes tell them too.
PLUS, MINUS, THIRD, GREY, INK = "#0072b2", "#d55e00", "#008060", "#94a3b8", "#1e293b"
SIDES = ("#fbe6d8", "#dbeaf5")  # where the decision is -1, +1
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
    """The points of sections 4 and 6."""
    random = np.random.RandomState(0)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = 3 + np.concatenate([random.normal(1, 1, (n, 2)), random.normal(-1, 1, (n, 2))])
        return X, np.repeat([1, -1], n)

    return Clouds(*draw(200), *draw(2000))


# --------------------------------------------------------------------------- the pictures
def boundary() -> plt.Figure:
    """Section 2: three updates, traced to convergence."""
    points = np.array([(2, 4), (1, -2)])
    ws = np.array([(0, 0), (-2, -4), (-3, -2), (-4, 0)])
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 2.75), layout="constrained")
    reach = 5.4
    for m, axes in enumerate(panels, 1):
        axes.grid(False)
        w, wrong = ws[m], (0, 1, 1)[m - 1]
        across = 2 * reach * np.array([-w[1], w[0]]) / np.linalg.norm(w)
        ahead = 2 * reach * w / np.linalg.norm(w)
        for colour, side in zip(SIDES, (-ahead, ahead), strict=True):
            corners = np.array([across, -across, side - across, side + across])
            axes.fill(*corners.T, color=colour, linewidth=0)
        axes.plot(*np.array([-across, across]).T, color=INK)
        if m > 1:
            old = 2 * reach * np.array([-ws[m - 1][1], ws[m - 1][0]]) / np.linalg.norm(ws[m - 1])
            axes.plot(*np.array([-old, old]).T, color=GREY, linestyle="--")
        axes.annotate("", w, (0, 0), arrowprops={"arrowstyle": "-|>", "color": INK})
        axes.text(*(w + [(-1.1, 0.1), (-0.9, -0.6), (0.1, 0.55)][m - 1]), "w")
        axes.plot(*points.T, "s", color=MINUS, markersize=3.5)
        axes.plot(*points[wrong], "o", color=MINUS, markersize=14, markerfacecolor="none")
        for name, at in zip("₁₂", points, strict=True):
            axes.text(at[0] + 0.95, at[1] - 0.25, f"x{name}")
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axes.set(xticks=[-4, 0, 4], yticks=[-4, 0, 4])
        axes.set_title(f"update {m}: w = ({w[0]}, {w[1]})".replace("-", "−"))
    return figure


def margin() -> plt.Figure:
    """Section 3: the line of greatest margin, and the longest x."""
    points, sides = apart()
    found = separability(points, sides)
    figure, axes = plt.subplots(figsize=(WIDTH / 2, 3.4), layout="constrained")
    reach = 3.1
    along, ahead = np.array([-found.w[1], found.w[0]]), found.w
    for height, dash in ((0, "-"), (found.margin, "--"), (-found.margin, "--")):
        ends = [height * ahead - 5 * along, height * ahead + 5 * along]
        axes.plot(*np.transpose(ends), dash, color=INK, linewidth=1.8 if height == 0 else 1)
    for label, colour, mark in ((1, PLUS, "o"), (-1, MINUS, "s")):
        axes.plot(*points[sides == label].T, mark, color=colour, markersize=4)
    longest = points[np.argmax(np.linalg.norm(points, axis=1))]
    axes.annotate("", longest, (0, 0), arrowprops={"arrowstyle": "-|>", "color": GREY})
    axes.text(*(longest / 2 + 0.15), "R")
    axes.annotate("", found.w, (0, 0), arrowprops={"arrowstyle": "-|>", "color": INK})
    axes.text(found.w[0] + 0.1, found.w[1] + 0.05, "w*")
    foot = 2.2 * along
    arrow = {"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", foot + found.margin * ahead, foot, arrowprops=arrow)
    axes.text(*(foot + found.margin * ahead + (0.05, 0.12)), "γ")
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    return figure


def apart() -> tuple[np.ndarray, np.ndarray]:
    """A few points with a margin that can be seen."""
    points = np.random.RandomState(2).uniform(-2.1, 2.1, (40, 2))
    height = points @ [0.6, 0.8]
    return points[abs(height) > 0.5], np.sign(height[abs(height) > 0.5])


def sandwich() -> plt.Figure:
    """Section 3: the two bounds of the proof, and what they squeeze; usual, and at its worst."""
    random = np.random.RandomState(3)
    points = random.normal((4, 0), 1, (400, 2))  # far from the origin: many updates
    points = points[abs(points[:, 1]) > 0.1]
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 2.9), layout="constrained")
    cases = ((points, np.sign(points[:, 1])), (np.eye(25), np.ones(25, int)))
    for axes, (X, y) in zip(panels, cases, strict=True):
        found = separability(X, y)
        model = BinaryPerceptron(shuffle=False, fit_intercept=False, max_iter=200)
        trail = model.fit(X, y, classes=[-1, 1]).trajectory(X)
        m = np.arange(len(trail))
        for name, heights, colour, dash, shift in (
            ("√m R", np.sqrt(m) * found.radius, MINUS, "--", 0.04),
            ("|w|", np.linalg.norm(trail, axis=1), PLUS, "-", 0.04),
            ("w* · w", trail @ found.w, THIRD, "-.", -0.04),
            ("m γ", m * found.margin, MINUS, ":", -0.04),
        ):
            axes.plot(m, heights, dash, color=colour)
            if axes is panels[0]:
                high = heights[-1] + shift * np.sqrt(m[-1]) * found.radius
                axes.text(m[-1] * 1.02, high, name, color=colour, va="center")
        title = f"{m[-1]} updates, at most {round(found.bound):,}"
        axes.set(xlim=(0, m[-1] * 1.2), ylim=(0, None), xlabel="update m", title=title)
    return figure


def xor() -> plt.Figure:
    """Section 5: four corners, and the same four lifted by their product."""
    figure = plt.figure(figsize=(WIDTH, 3.1), layout="constrained")
    flat, lifted = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    corners = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
    sides = -corners.prod(axis=1)
    for label, colour, mark in ((1, PLUS, "o"), (-1, MINUS, "s")):
        some = corners[sides == label]
        flat.plot(*some.T, mark, color=colour, markersize=9)
        lifted.plot(*some.T, some.prod(axis=1), mark, color=colour, markersize=7)
        for x, z in zip(some, some.prod(axis=1), strict=True):
            lifted.plot([x[0]] * 2, [x[1]] * 2, [0, z], color=GREY, linewidth=0.8)
    x, y = np.meshgrid([-1.4, 1.4], [-1.4, 1.4])
    lifted.plot_surface(x, y, 0 * x, color=SIDES[1], alpha=0.5, shade=False)
    ticks = {"xticks": [-1, 1], "yticks": [-1, 1]}
    flat.set(xlim=(-1.8, 1.8), ylim=(-1.8, 1.8), aspect="equal", xlabel="p", ylabel="q", **ticks)
    lifted.set(zticks=[-1, 1], xlabel="p", ylabel="q", zlabel="p q", **ticks)
    lifted.view_init(elev=18, azim=-62)
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
    for name, colour, mark, settings, height in curves:
        model = BinaryPerceptron(max_iter=20, patience=20, **settings)
        model.fit(data.X, data.y, validation=(data.fresh, data.truth))
        scores = [one.score for one in model.history_]
        axes.plot(range(1, 21), scores, mark, color=colour, markersize=4)
        axes.text(20.4, height, name, color=colour, va="center")
    axes.set(
        xlim=(0.5, 25),
        ylim=(0.45, 1),
        xlabel="pass over the data",
        ylabel="accuracy on fresh points",
        xticks=[1, 5, 10, 15, 20],
    )
    return figure


def votes() -> plt.Figure:
    """Section 6: the decisions of the last w, of the vote and of the mean."""
    data = clouds()
    last = BinaryPerceptron(max_iter=5).fit(data.X, data.y)
    voted = VotedPerceptron(max_iter=5).fit(data.X, data.y)
    mean = BinaryPerceptron(max_iter=5, average=True).fit(data.X, data.y)
    grid = np.linspace(-0.5, 6.5, 43)
    mesh = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 2.75), layout="constrained", sharey=True)
    for axes, name, model in zip(
        panels, ("last w", "voted", "averaged"), (last, voted, mean), strict=True
    ):
        heights = model.decision_function(mesh).reshape(len(grid), -1)
        axes.grid(False)
        axes.set_facecolor(SIDES[0])
        axes.contourf(grid, grid, heights, [0, np.inf], colors=SIDES[1:])
        if name == "voted":  # the twelve who vote loudest
            trail = voted.trajectory(data.X)
            for m in np.argsort(-voted.survival_, kind="stable")[:12]:
                a, b, c = trail[m]
                ends = grid[[0, -1]]
                axes.plot(ends, -(a * ends + c) / b, color=GREY, linewidth=0.7)
        axes.contour(grid, grid, heights, [0], colors=INK, linewidths=1.8)
        for label, colour, mark in ((1, PLUS, "o"), (-1, MINUS, "s")):
            axes.plot(*data.X[data.y == label][:30].T, mark, color=colour, markersize=3)
        score = model.score(data.fresh, data.truth)
        axes.set(xlim=(-0.5, 6.5), ylim=(-0.5, 6.5), aspect="equal", title=f"{name}: {score:.3f}")
    return figure


def losses() -> plt.Figure:
    """Sections 8 and 9: losses of a score, and the step made smooth."""
    h = np.linspace(-2.2, 3, 521)
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.8), layout="constrained")
    yes = np.ones(len(h), int)
    for name, heights, colour, dash, at in (
        ("0/1", zero_one(yes, h), INK, "-", (-2.1, 1.15)),
        ("hinge", hinge(yes, h), PLUS, "--", (-1.6, 2.8)),
        ("squared", squared(yes, h), MINUS, ":", (-0.55, 3.4)),
        ("perceptron", np.maximum(0, -h), THIRD, "-.", (-2.1, 0.4)),
    ):
        left.plot(h, heights, dash, color=colour)
        left.text(*at, name, color=colour)
    left.set(xlabel="y h: right is positive", ylabel="loss", ylim=(-0.1, 4))
    a = np.linspace(-10, 10, 401)
    right.plot(a, (a > 0) * 1.0, color=INK)
    right.plot(a, sigm(a), "--", color=PLUS)
    right.text(0.6, 0.93, "step", color=INK, va="top")
    right.text(3.0, 0.7, "sigm(w · x)", color=PLUS)
    right.set(xlabel="w · x", ylabel="output of the neuron")
    return figure


def lattice() -> plt.Figure:
    """Section 16: prefixes of a sentence, and the best path through them."""
    words, names, p = cake()
    p = Potentials(*(part if part is None else part.round(1) for part in p))  # as shown
    y = viterbi(p)
    shown = [names.index(name) for name in ("PRON", "AUX", "VERB", "DET", "NOUN", "PUNCT")]
    v = prefixes(p)
    figure, axes = plt.subplots(figsize=(WIDTH, 4.1), layout="constrained")
    row = {label: len(shown) - 1 - i for i, label in enumerate(shown)}
    greedy = p.emission.argmax(axis=1)
    for t in range(len(words)):
        for b in shown:
            best = b == y[t]
            a = int(np.argmax(v[t - 1] + p.transition[:, b])) if t else -1
            if a in row:
                colour, width = (PLUS, 3.2) if best else ("#b6c2d1", 1)
                ends = [t - 1, t], [row[a], row[b]]
                axes.plot(*ends, color=colour, linewidth=width, zorder=1 + best)
            edge = MINUS if greedy[t] == b and not best else PLUS if best else GREY
            box = {"facecolor": PLUS if best else "white", "edgecolor": edge}
            if edge == MINUS:
                box |= {"linestyle": "--", "linewidth": 1.8}
            how = {"ha": "center", "zorder": 4, "color": "white" if best else INK}
            number = f"{v[t, b]:.1f}\n".replace("-", "−")
            box["boxstyle"] = "round,pad=0.25"
            axes.text(
                t, row[b], number, va="center", fontsize=8.5, bbox=box, linespacing=0.9, **how
            )
            emission = f"{p.emission[t, b]:+.1f}".replace("-", "−")
            axes.text(t, row[b] - 0.04, emission, va="top", fontsize=6.8, **how)
    axes.set(
        xticks=range(len(words)),
        xticklabels=words,
        yticks=list(row.values()),
        yticklabels=[names[b] for b in row],
        xlim=(-0.45, len(words) - 0.55),
        ylim=(-0.4, len(shown) - 0.6),
    )
    bare(axes)
    return figure


def bare(axes: plt.Axes) -> None:
    """Nothing but what is drawn."""
    axes.tick_params(length=0, labelsize=10.5)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def cake() -> tuple[list[str], list[str], Potentials]:
    """The words, label names and potentials of section 16."""
    train, test = parts("train", "test")
    corpus = [*train, next(sentence for sentence in test if "cake" in sentence.words)]
    gold = [label for sentence in corpus for label in sentence.column("upos")]
    names = sorted(set(gold))
    y = np.array([names.index(label) for label in gold])
    compiled = parse("normal[0]\nsuffix(3)[0]\nlabel[-1]").compile(["form"])
    words = Column.of(word for s in corpus for word in s.words)
    text = index_corpus(compiled, [words], [len(s) for s in corpus], len(names))
    weights = Weights(text.layout)
    for epoch in range(5):
        shuffled = np.random.RandomState(epoch).permutation(len(train))
        weights.train_epoch(text.instances, y, shuffled)
    w = weights.w - weights.u / weights.seen
    return corpus[-1].words, names, potentials(text.layout, text.instances, len(train), w)


def prefixes(p: Potentials) -> np.ndarray:
    """v[t, b], the best score of a prefix that ends in b at t, (T, K)."""
    v = [p.start + p.emission[0]]
    for scores in p.emission[1:]:
        v.append(scores + (v[-1][:, None] + p.transition).max(axis=0))
    return np.array(v)


def blocks() -> plt.Figure:
    """Section 13: x in the block of its label, and the difference of two labels."""
    x, labels = (5, 7), 3
    rows = [("φ(x, 0)", {0: 1}), ("φ(x, 1)", {1: 1}), ("φ(x, 2)", {2: 1})]
    rows.append(("φ(x, 1) − φ(x, 0)", {1: 1, 0: -1}))
    figure, axes = plt.subplots(figsize=(WIDTH, 2.1), layout="constrained")
    for i, (name, signs) in enumerate(rows):
        height = len(rows) - i - (0.35 if i == len(rows) - 1 else 0)
        axes.text(-0.2, height + 0.4, name, ha="right", va="center")
        for k in range(labels):
            sign = signs.get(k, 0)
            for j, value in enumerate(x):
                colour = ("white", SIDES[1], SIDES[0])[sign]
                corner = 2 * k + j + 0.15 * k, height
                axes.add_patch(plt.Rectangle(corner, 1, 0.8, facecolor=colour, edgecolor=GREY))
                number = str(sign * value).replace("-", "−")
                axes.text(corner[0] + 0.5, height + 0.4, number, ha="center", va="center")
    for k in range(labels):
        axes.text(2.15 * k + 1, len(rows) + 1.05, f"block of label {k}", ha="center")
    axes.set(xlim=(-2.2, 6.5), ylim=(0.4, len(rows) + 1.5), xticks=[], yticks=[])
    bare(axes)
    return figure


def costs() -> plt.Figure:
    """Section 17: what loss-augmented decoding adds to the arcs of a lattice."""
    words, names, gold = ["the", "cake", "?"], ["DET", "VERB", "NOUN", "PUNCT"], [0, 2, 3]
    figure, axes = plt.subplots(figsize=(WIDTH, 2.9), layout="constrained")
    for t in range(len(words)):
        for b in range(len(names)):
            right = gold[t] == b
            colour, dash = (PLUS, "-") if right else (MINUS, "--")
            # into the first token leads the start alone: an arc from the left
            for a in range(len(names)) if t else [b]:
                kept = right and (not t or gold[t - 1] == a)
                width = 2.2 if kept else 1.1 if right else 0.7
                begin = t - (1 if t else 0.4)
                axes.plot(
                    [begin, t], [-a, -b], dash, zorder=1 + right, color=colour, linewidth=width
                )
                near = (0.8 if t else 0.45) * np.array([t - begin, a - b]) + (begin, -a)
                how = {"ha": "center", "va": "center", "fontsize": 6.8, "zorder": 3}
                about = {"boxstyle": "round,pad=0.08", "facecolor": "white", "edgecolor": "none"}
                axes.text(*near, "+0" if right else "+1", color=colour, bbox=about, **how)
            box = {"boxstyle": "round,pad=0.35", "edgecolor": colour, "linestyle": dash}
            box["facecolor"] = PLUS if right else "white"
            how |= {"fontsize": 8.5, "zorder": 4}
            axes.text(t, -b, names[b], color="white" if right else MINUS, bbox=box, **how)
    axes.set(xticks=range(len(words)), xticklabels=words, xlim=(-0.45, 2.3))
    axes.set(yticks=[], ylim=(-3.4, 0.4))
    bare(axes)
    return figure


def fit() -> plt.Figure:
    """Section 10: learning curves of features too poor, of use, too rich."""
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
        points = learning_curve(made, train, dev, sizes)
        axes.plot(sizes, [point.train for point in points], "s--", color=GREY, markersize=4)
        axes.plot(sizes, [point.test for point in points], "o-", color=PLUS, markersize=4)
        axes.set(xlim=(0, 220), ylim=(0, 1.05), title=name, xlabel="sentences to train on")
    panels[0].set(ylabel="accuracy of UPOS")
    return figure


def parts(*names: str) -> list[list[Sentence]]:
    """Parts of the sample corpus."""
    return [[s for s in seqtag.read(SAMPLE / f"en-sample-{name}.conllu") if s] for name in names]


def learning() -> plt.Figure:
    """Section 18: accuracy by number of training sentences."""
    train, dev = parts("train", "dev")
    sizes = [5, 10, 20, 40, 80, 140, len(train)]
    figure, axes = plt.subplots(figsize=(WIDTH, 2.9), layout="constrained")
    points = learning_curve(tagger_fit(label="upos"), train, dev, sizes)
    for name, colour, mark, scores in (
        ("training sentences", GREY, "s--", [point.train for point in points]),
        ("held-out sentences", PLUS, "o-", [point.test for point in points]),
    ):
        axes.plot(sizes, scores, mark, color=colour, markersize=4)
        axes.text(sizes[-1] + 4, scores[-1], name, color=INK, va="center")
    axes.set(
        xlim=(0, 262), ylim=(0.4, 1.03), xlabel="sentences to train on", ylabel="accuracy of UPOS"
    )
    return figure


PICTURES = (
    *(boundary, margin, sandwich, order, xor, votes, losses),
    *(fit, blocks, lattice, costs, learning),
)


def main() -> None:
    """Draw all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "tour")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    nothing: dict[str, Any] = {"Date": None, "Creator": None}
    with plt.rc_context(STYLE):
        for draw in PICTURES:
            figure = draw()
            figure.savefig(folder / f"{draw.__name__}.svg", metadata=nothing)
            plt.close(figure)


if __name__ == "__main__":
    main()
