"""The report as one page of HTML: styles, data and script included, nothing else allowed."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.evaluation.aligned import METRICS
from seqtag.evaluation.counts import Counts, most_frequent
from seqtag.evaluation.significance import NAMES
from seqtag.report.analysis import finite
from seqtag.report.segmentation import PIECES
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from seqtag.evaluation.reliability import Bin
    from seqtag.evaluation.significance import Comparison
    from seqtag.report.analysis import Analysis
    from seqtag.report.segmentation import Difference, Segmentation

_PACKAGE = Path(__file__).parent.parent
_WIDTH, _HEIGHT = 340, 220  # of a chart
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 40
_MOST_LABELS = 24  # in the matrix
_MOST_ROWS = 200  # of a table
_MOST_PAIRS = 30  # confusions that are listed
_MOST_WEIGHTS = 10  # rows of an explanation
_LONGEST = 80  # characters of a word or label that is shown
_OTHER = "\0other"


def report_page(
    analyses: Sequence[Analysis],
    *,
    model: str,
    gold: str,
    segmentation: Segmentation | None = None,
    against: Against | None = None,
    curve: Mapping[str, Any] | None = None,
) -> str:
    """Return the report of the components of a model.

    Parameters
    ----------
    analyses
        Results of `seqtag.report.analysis.analyze` on the same sentences, one for each component.
    model, gold
        Names of the model and of the file; folders are not shown.
    segmentation
        Result of `seqtag.report.segmentation.analyze_segmentation`.
    against
        Comparison with another model.
    curve
        Learning curve, as printed by ``seqtag tune --curve --json``.

    Returns
    -------
    str
        HTML without references to other files. The tables need no scripts; the browser of errors
        does.
    """
    task = f"{analyses[0].report.task} of " if len(analyses) == 1 else ""
    names = [Path(name).name for name in (model, gold)]
    heading = "{} on {}".format(*map(_file, names))
    signatures = [each.report.signature for each in (segmentation, *analyses) if each]
    if against:
        signatures += [each.signature for each in against.comparisons.values()]
    first = (
        _overview(analyses, segmentation)
        + _comparison_section(against, model)
        + _segmentation_section(segmentation)
    )
    body = "\n".join(
        (
            f"<header><h1>{escape(task)}{heading}</h1></header><main>",
            f'<div class="sides">{first}</div>' if first else "",
            *(_component(each, i) for i, each in enumerate(analyses, 1)),
            _curve_section(curve),
            '<div id="browser" tabindex="-1" hidden aria-live="polite"></div>',
            f'</main><footer class="quiet"><p>Made by seqtag {__version__}. Intervals are 95% '
            "(bootstrap over sentences).</p>",
            *(f"<p><code>{escape(each)}</code></p>" for each in signatures),
            "</footer>",
        )
    )
    return self_contained(
        f"{task}{names[0]} on {names[1]}",
        body,
        _data(analyses),
        styles=("report/common.css", "report/report.css"),
        scripts=("report/explanation.js", "report/report.js"),
    )


def _component(analysis: Analysis, number: int) -> str:
    """Return the section of a component."""
    task = analysis.report.task
    label_rows = sorted(analysis.report.labels.items(), key=lambda item: -item[1].errors)
    return (
        f'<section class="component" id="component-{number}" data-component="{escape(task)}">'
        f"<h2>{_isolated(task)}</h2>{_cards(analysis)}"
        f'<div class="sides">{_matrix_section(analysis)}'
        f"<section><h3>Labels</h3>{_counts_table('label', label_rows)}</section></div>"
        f"{_chunks_section(analysis)}{_confidence_section(analysis)}</section>"
    )


# ----------------------------------------------------------------- two models
class Against(NamedTuple):
    """Comparison with another model.

    Attributes
    ----------
    model
        Name of the other model, which is B.
    comparisons
        Results of `seqtag.evaluation.significance.compare`, by component.
    """

    model: str
    comparisons: Mapping[str, Comparison]


def _comparison_section(against: Against | None, model: str) -> str:
    """Return the scores of two models side by side, with the significance of the differences."""
    if against is None:
        return ""
    a, b = (f"<b>{_file(Path(name).name)}</b>" for name in (model, against.model))
    rows = []
    for component, comparison in against.comparisons.items():
        for metric, each in comparison.differences.items():
            is_significant = each.p_randomisation < 1 - comparison.confidence
            better = ("B" if each.difference > 0 else "A") if is_significant else "–"
            cells = (
                f"{100 * each.a:.2f}",
                f"{100 * each.b:.2f}",
                f"{100 * each.difference:+.2f}",
                "{:+.2f} to {:+.2f}".format(*(100 * x for x in each.interval)),
                f"{each.p_randomisation:.4f}",
                better,
            )
            shown = NAMES.get(metric) or METRICS[metric]
            rows.append((f"{_isolated(component)}: {shown}", *cells))
    heading = ("", "A", "B", "B − A", "95% interval", "p", "better")
    return f"""<section id="comparison"><h2>Two models</h2><p>A is {a}, B is {b}.</p>
{_table(heading, rows, kind="scores")}
<p class="quiet">p: two-sided, by approximate randomization over sentences, for each row by itself.
A dash: no significant difference at 5%. The errors below are those of A.</p></section>"""


# ----------------------------------------------------------------- all components
def _overview(analyses: Sequence[Analysis], segmentation: Segmentation | None) -> str:
    """Return the scores of all components; none if there is only one, whose scores follow."""
    if len(analyses) < 2 and segmentation is None:
        return ""
    heading = ["component", "score", "95% interval", "errors", "known words", "unknown words"]
    rows = []
    if segmentation:
        heading.append("from raw text")
        for kind in PIECES:
            counts = segmentation.report.metrics[kind]
            low, high = segmentation.intervals[kind]
            score = f"{100 * counts.f1:.2f}"
            cells = [score, _range(low, high), str(counts.errors), "", "", score]
            rows.append([f'<a href="#segmentation">{kind}</a> F1', *cells])
    for i, each in enumerate(analyses, 1):
        report = each.report
        metric = "accuracy" if report.scheme is None else "f1"
        cells = [
            f"{100 * report.score:.2f}",
            _range(*each.intervals[metric]) if metric in each.intervals else "",
            f"{each.wrong}",
            *(
                "" if value is None else f"{100 * value:.2f}"
                for value in (report.known_accuracy, report.unknown_accuracy)
            ),
        ]
        if segmentation:
            raw = segmentation.report.metrics.get(report.task)
            cells.append("" if raw is None else f"{100 * raw.f1:.2f}")
        shown = "F1" if metric == "f1" else "accuracy"
        rows.append([f'<a href="#component-{i}">{_isolated(report.task)}</a> {shown}', *cells])
    note = (
        '<p class="quiet">Labels are scored on gold tokens; in the last column, the pipeline '
        "segments the raw text itself, and a label is correct if its word is too (F1).</p>"
    )
    return (
        f'<section aria-label="Scores">{_table(heading, rows, kind="scores")}'
        f"{note if segmentation else ''}</section>"
    )


def _range(low: float, high: float) -> str:
    return f"{100 * low:.2f} to {100 * high:.2f}"


def _segmentation_section(segmentation: Segmentation | None) -> str:
    """Return the errors of tokens, words and sentences on raw text."""
    if segmentation is None:
        return ""
    parts = []
    heading: tuple[str, ...]
    rows: list[tuple[str, ...]]
    for kind in PIECES:
        errors = [each for each in segmentation.differences if each.kind == kind]
        if not errors:
            parts.append(f"<p>{kind}: no differences</p>")
            continue
        if kind == "sentences":
            heading = ("boundary", "text", "line")
            rows = [("missed" if each.gold else "added", *_place(each)) for each in errors]
        else:
            heading = ("gold", "predicted", "times", "example", "line")
            rows = [
                (_pieces(each.gold), _pieces(each.predicted), str(n), *_place(each))
                for each, n in segmentation.most_frequent(kind)
            ]
        parts.append(
            f"<details{' open' if len(rows) <= 10 else ''}><summary>{kind}: {len(errors)} "
            f"differences</summary>{_table(heading, rows[:_MOST_ROWS], kind='texts')}"
            f"{_and_more(len(rows))}</details>"
        )
    return (
        '<section id="segmentation"><h2>Segmentation of raw text</h2><p class="quiet">A vertical '
        f"bar separates tokens, words or sentences.</p>{''.join(parts)}</section>"
    )


def _place(found: Difference) -> tuple[str, str]:
    """Return an error in its sentence, whose direction it has, and where it is."""
    inner = _short(" | ".join(found.gold or found.predicted))
    text = f"{_short(found.before)} <b>{inner}</b> {_short(found.after)}"
    return f'<span dir="auto">{text}</span>', str(found.line)


def _pieces(pieces: Sequence[str]) -> str:
    return _isolated(" | ".join(pieces))


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str) -> str:
    """Return a table of HTML, whose rows begin with their names; `kind` is a class."""
    head = "".join(f'<th scope="col">{name}</th>' for name in heading)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _and_more(rows: int) -> str:
    more = rows - _MOST_ROWS
    return f'<p class="quiet">and {more} more with fewer errors</p>' if more > 0 else ""


# ----------------------------------------------------------------- scores
def _cards(analysis: Analysis) -> str:
    report, cards = analysis.report, []
    chunks = report.chunks
    values = {
        "f1": (report.f1, f"{chunks.correct} right, {chunks.found} found, {chunks.gold} in gold"),
        "accuracy": (report.accuracy, f"{report.correct} of {report.tokens}"),
        "known": (report.known_accuracy, f"{report.known_correct} of {report.known_tokens}"),
        "unknown": (
            report.unknown_accuracy,
            f"{report.unknown_correct} of {report.unknown_tokens}, not in the training data",
        ),
        "sentences": (
            report.sentence_accuracy,
            f"{report.correct_sentences} of {report.sentences}",
        ),
    }
    for name, (value, note) in values.items():
        if name in analysis.intervals and value is not None:
            low, high = analysis.intervals[name]
            cards.append(
                f'<div class="card">{NAMES[name]}<b>{100 * value:.2f}</b>'
                f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
                f'<rect class="track" y="4" width="100" height="2"/><rect class="span" '
                f'x="{100 * low:.2f}" width="{max(0.4, 100 * (high - low)):.2f}" y="2" height="6"/>'
                f'<rect class="point" x="{100 * value - 0.2:.2f}" width="0.4" height="10"/></svg>'
                f'<span class="quiet">{100 * low:.2f} to {100 * high:.2f}<br>{note}</span></div>'
            )
    return f'<section aria-label="Scores"><div class="cards">{"".join(cards)}</div></section>'


# ----------------------------------------------------------------- the matrix
def _matrix_section(analysis: Analysis) -> str:
    report = analysis.report
    wrong = {pair: n for pair, n in report.confusion.items() if pair[0] != pair[1]}
    if not wrong:
        return "<section><h3>Errors</h3><p>There are none.</p></section>"
    shown = Counter((each.gold, each.predicted) for each in analysis.mistakes)
    left_out = ""
    if len(analysis.mistakes) < analysis.wrong:
        left_out = (
            f" {len(analysis.mistakes):,} of {analysis.wrong:,} errors are on this page, "
            "the same number of each confusion."
        )
    pairs = "".join(
        f'<li><button type="button" data-gold="{escape(a)}" data-predicted="{escape(b)}"'
        f"{_off(shown[a, b])}><span>{_isolated(a)} → {_isolated(b)}</span><span>{n}</span>"
        "</button></li>"
        for (a, b), n in most_frequent(wrong)[:_MOST_PAIRS]
    )
    more = max(0, len(wrong) - _MOST_PAIRS)
    rest = f'<p class="quiet">and {more} more confusions</p>' if more else ""
    return f"""<section><h3>Confusions</h3>
<p class="quiet">Rows are gold labels, columns predicted ones. Select a cell to list its sentences:
with the mouse, or with the arrow keys and <kbd>Enter</kbd>; <kbd>Esc</kbd> hides the list.
{left_out}</p>
<div class="wide">{_matrix(report.confusion, shown)}</div>
<details><summary>The most frequent confusions as a list</summary><ul class="pairs">{pairs}</ul>
{rest}</details>
<noscript><p>Listing sentences requires JavaScript.</p></noscript></section>"""


def _matrix(confusion: Mapping[tuple[str, str], int], shown: Mapping[tuple[str, str], int]) -> str:
    """Return the confusion matrix as a table; all but the worst labels are merged."""
    errors, total = Counter[str](), Counter[str]()
    for pair, n in confusion.items():
        for label in {*pair}:
            total[label] += n
            errors[label] += n if pair[0] != pair[1] else 0
    worst = sorted(total, key=lambda label: (-errors[label], -total[label], label))
    labels = sorted(worst[:_MOST_LABELS])
    place = {label: label for label in labels}
    cells = Counter[tuple[str, str]]()
    for (a, b), n in confusion.items():
        cells[place.get(a, _OTHER), place.get(b, _OTHER)] += n
    if len(worst) > len(labels):
        labels.append(_OTHER)
    most = max((n for (a, b), n in cells.items() if a != b), default=1)
    head = "".join(
        f'<th scope="col"{_title(label)}><span>{_named(label, worst)}</span></th>'
        for label in labels
    )
    rows = []
    for a in labels:
        rows.append(f'<tr><th scope="row">{_named(a, worst)}</th>')
        for b in labels:
            n = cells[a, b]
            heat = 1 + min(4, int(5 * (n / most) ** 0.5 - 1e-9))
            if not n:
                cell = ""
            elif a == b:
                cell = f'<span class="right">{n}</span>'
            elif _OTHER in (a, b):
                cell = f'<span class="h{heat}">{n}</span>'
            else:
                cell = (
                    f'<button type="button" class="h{heat}" data-gold="{escape(a)}" '
                    f'data-predicted="{escape(b)}" '
                    f'aria-label="{n} tokens of {_short(a)} as {_short(b)}"'
                    f"{_off(shown.get((a, b), 0))}>{n}</button>"
                )
            rows.append(f"<td>{cell}</td>")
        rows.append("</tr>")
    return (
        f'<table class="matrix"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _off(shown: int) -> str:
    return "" if shown else ' disabled title="not on this page"'


def _named(label: str, labels: Sequence[str]) -> str:
    return f"<i>{len(labels) - _MOST_LABELS} others</i>" if label == _OTHER else _isolated(label)


def _title(label: str) -> str:
    return "" if label == _OTHER else f' title="{escape(label)}"'


def _isolated(text: str) -> str:
    """Return shortened text of a corpus, isolated from the direction of what surrounds it."""
    return f"<bdi>{_short(text)}</bdi>"


def _file(name: str) -> str:
    """Return the name of a file, which ends on the right in all scripts."""
    return f'<bdi dir="ltr">{_short(name)}</bdi>'


def _short(text: str) -> str:
    """Return text of a corpus as HTML, shortened."""
    return escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


# ----------------------------------------------------------------- tables
def _chunks_section(analysis: Analysis) -> str:
    report = analysis.report
    if report.scheme is None:
        return ""
    rows = [("all", report.chunks)]
    if report.chunk_types.keys() != {""}:
        rows += [(name or "(no type)", counts) for name, counts in report.chunk_types.items()]
    return (
        f"<section><h3>Chunks ({escape(report.scheme)})</h2>{_counts_table('type', rows)}"
        f'<p class="quiet">Transitions that the scheme does not allow: {report.invalid_gold} in '
        f"gold, {report.invalid_predicted} in predicted labels.</p></section>"
    )


def _counts_table(name: str, rows: Sequence[tuple[str, Counts]]) -> str:
    heading = (name, "precision", "recall", "F1", "gold", "found", "errors")
    cells = (
        (
            _isolated(label),
            *(f"{100 * x:.2f}" for x in (counts.precision, counts.recall, counts.f1)),
            *map(str, (counts.gold, counts.found, counts.errors)),
        )
        for label, counts in rows[:_MOST_ROWS]
    )
    return f"{_table(heading, cells, kind='sorts')}{_and_more(len(rows))}"


# ----------------------------------------------------------------- figures
def _confidence_section(analysis: Analysis) -> str:
    if not analysis.report.tokens:
        return ""
    bins = analysis.margins.bins
    points = [(i + 0.5, each.accuracy) for i, each in enumerate(bins)]
    x = Axis(
        "tokens by margin, least certain first",
        0,
        len(bins),
        [(i + 0.5, _number(each.low)) for i, each in enumerate(bins) if not i % 2],
    )
    y = percents(min(each.accuracy for each in bins), 1.0)
    drawn = [chart([Line("accuracy", points)], x, y, title="Accuracy by margin")]
    if analysis.calibration:
        ticks = [(i / 5, str(20 * i)) for i in range(6)]
        accuracies = [(each.score, each.accuracy) for each in analysis.calibration.bins]
        drawn.insert(
            0,
            chart(
                [
                    Line("ideal", [(0, 0), (1, 1)]),
                    Line("accuracy of calibrated scores", accuracies),
                ],
                Axis("calibrated score", 0, 1, ticks),
                Axis("percent right", 0, 1, ticks),
                title=f"Calibration: {100 * analysis.calibration.error:.2f} off on average",
            ),
        )
        tables = _bins_table("score", analysis.calibration.bins)
    else:
        tables = (
            '<p class="quiet">The model is not calibrated. Calibrate it on a development set with '
            "<code>seqtag calibrate</code> to see here how reliable its scores are.</p>"
        )
    return f"""<section><h3>Confidence</h3>
<p class="quiet">The margin of a label is the difference between the score of the best label
sequence and that of the best sequence with another label for this word.</p>
<div class="figures">{"".join(drawn)}</div>
<details><summary>As a table</summary>{_bins_table("margin", bins)}{tables}</details></section>"""


def _bins_table(name: str, bins: Sequence[Bin]) -> str:
    rows = "".join(
        f"<tr><td>{_number(each.low)}</td><td>{_number(each.high)}</td><td>{each.tokens}</td>"
        f"<td>{100 * each.accuracy:.2f}</td></tr>"
        for each in bins
    )
    return (
        f'<div class="wide"><table><thead><tr><th>{name} from</th><th>to</th><th>tokens</th>'
        f"<th>percent right</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _number(value: float) -> str:
    return "∞" if finite(value) is None else f"{value:g}"


def _curve_section(curve: Mapping[str, Any] | None) -> str:
    if not curve:
        return ""
    drawn = []
    for key, name, title in (
        ("by_epoch", "epoch", "Error by epoch"),
        ("by_size", "sentences", "Error by training size"),
    ):
        if rows := curve.get(key):
            at = [row[name] for row in rows]
            lines = [
                Line("training", [(row[name], row["train_error"]) for row in rows]),
                Line("held out", [(row[name], row["dev_error"]) for row in rows]),
            ]
            errors = [error for line in lines for _, error in line.points]
            every = max(1, len(at) // 6)
            kept = at[::-1][::every] if name == "epoch" else at[::-1][:3]
            x = Axis(name, min(at), max(at), [(value, f"{value:,}") for value in kept])
            drawn.append(chart(lines, x, percents(min(errors), max(errors)), title=title))
    return (
        '<section><h2>Learning curve</h2><p class="quiet">Errors in percent. By epoch, the '
        "training error is measured on each sentence before the model is updated with it.</p>"
        f'<div class="figures">{"".join(drawn)}</div></section>'
    )


# ----------------------------------------------------------------- data for the script
def _data(analyses: Sequence[Analysis]) -> dict[str, Any]:
    """Return the errors that are shown, and their sentences, for the script."""
    shown = {each.sentence: analysis for analysis in analyses for each in analysis.mistakes}
    numbers = {s: i for i, s in enumerate(sorted(shown))}
    return {
        "sentences": [
            {
                "words": [_clipped(word) for word in sentence.words],
                "at": f"{Path(sentence.source).name}:{sentence.line_of(0)}",
            }
            for s in numbers
            for sentence in [shown[s].sentences[s]]
        ],
        "components": {each.report.task: _component_data(each, numbers) for each in analyses},
    }


def _component_data(analysis: Analysis, numbers: Mapping[int, int]) -> dict[str, Any]:
    totals = analysis.report.confusion
    pairs = dict.fromkeys((each.gold, each.predicted) for each in analysis.mistakes)
    return {
        "labels": {
            numbers[s]: [list(analysis.gold[s]), list(analysis.predicted[s])]
            for s in dict.fromkeys(each.sentence for each in analysis.mistakes)
        },
        "errors": [
            {
                "sentence": numbers[each.sentence],
                "token": each.token,
                "gold": each.gold,
                "predicted": each.predicted,
                "why": explanation_data(each.explanation.as_dict()),
            }
            for each in analysis.mistakes
        ],
        "totals": [[a, b, totals[a, b]] for a, b in pairs],
    }


def explanation_data(found: dict[str, Any], most: int = _MOST_WEIGHTS) -> dict[str, Any]:
    """Return an explanation for a page: its first rows, and the sum of the others."""
    rows = [
        [_clipped(row["feature"]), row["label_weight"], row["rival_weight"]]
        for row in found["rows"]
    ]
    rest = rows[most:]
    return {
        "label": found["label"],
        "rival": found["rival"],
        "margin": found["margin"],
        "rows": rows[:most],
        "rest": [len(rest), sum(row[1] for row in rest), sum(row[2] for row in rest)],
    }


def _clipped(text: str) -> str:
    return text if len(text) <= 2 * _LONGEST else text[: 2 * _LONGEST - 1] + "…"


# ----------------------------------------------------------------- charts
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
    """Axis with its name, range and ticks."""

    name: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]


def chart(lines: Sequence[Line], x: Axis, y: Axis, *, title: str) -> str:
    """Return a line chart as SVG; a table next to it has the same points.

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
    """Return an axis of percentages that includes a range of fractions, with round ends.

    >>> percents(0.03, 0.11).ticks
    [(0.02, '2'), (0.04, '4'), (0.06, '6'), (0.08, '8'), (0.1, '10'), (0.12, '12')]
    """
    sizes = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    step = next((size for size in sizes if (high - low) / size <= 4), 0.25)
    first, last = int(low / step), -int(-high / step // 1)
    last = max(last, first + 1)
    ticks = [(round(i * step, 6), f"{round(100 * i * step, 2):g}") for i in range(first, last + 1)]
    return Axis("percent", ticks[0][0], ticks[-1][0], ticks)


# ----------------------------------------------------------------- files of one page
def asset(name: str) -> str:
    """Return the text of a style sheet, script or page of a package.

    >>> asset("report/common.css").startswith("/*")
    True
    """
    return (_PACKAGE / name).read_text("utf-8")


def self_contained(
    title: str, body: str, data: Any, *, styles: tuple[str, ...], scripts: tuple[str, ...]
) -> str:
    r"""Return a page that loads nothing else.

    Its policy allows exactly its style sheet and its script, by their digests, so that no content
    of a corpus can ever run.

    Parameters
    ----------
    title
        Title, as text.
    body
        Body, as HTML with escaped quotations.
    data
        Data of the script, which JSON can hold.
    styles, scripts
        Names of assets.

    Examples
    --------
    >>> page = self_contained("<x>", "", "</script>", styles=(), scripts=())
    >>> page.count("<x>"), page.count("</script>")
    (0, 2)
    """
    style = "\n".join(map(asset, styles))
    script = "\n".join(map(asset, scripts))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script type="application/json" id="data">{json_in_html(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def json_in_html(value: Any) -> str:
    r"""Return JSON for a script element: nothing in it can end the element or open a comment.

    >>> json_in_html("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode("utf-8", "replace").decode()  # replaces lone surrogates


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
