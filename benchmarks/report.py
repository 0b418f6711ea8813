"""Results as a page: ``python -m benchmarks.report`` writes docs/benchmarks.md.

The page, its plots and the figures of the README are made from docs/benchmarks/results.json alone,
so that a part of it can be measured anew (``python -m benchmarks --only seqtag --merge ...``)
without the rest. A file of results that is named takes its place.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import speed, summary
from benchmarks.curves import CURVES, Curve, fit
from benchmarks.literature import FIGURES
from benchmarks.measure import ROOT
from benchmarks.peers import PEERS, find
from benchmarks.raw import report as raw_report
from benchmarks.results import Results, done, is_elsewhere, is_quiet, ratio
from benchmarks.tasks import TASKS, Task
from benchmarks.text import filled, rate, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PICTURE = """\
<picture>
<source media="(prefers-color-scheme: dark)" srcset="benchmarks/accuracy-speed-dark.svg">
<img alt="Accuracy against tagging speed, one panel per task" src="benchmarks/accuracy-speed.svg">
</picture>

Each peer is represented by its best-scoring row. Hollow points were measured on a busy machine, so
the true speed is higher. The vertical axes span a few percentage points; the horizontal axes are
logarithmic.
"""

INTRODUCTION = """\
# Benchmarks

seqtag and other taggers on the same data, one after another on one core, each step in a separate
process. The benchmark suite generates this page, its pictures, and the figures in the README:

```sh
pip install -e '.[bench,plot]'
R=docs/benchmarks/results.json
python -m benchmarks --corpora FOLDER --merge $R --out $R           # everything: takes hours
python -m benchmarks --corpora FOLDER --merge $R --out $R --only seqtag --only growth
python -m benchmarks.report                                         # regenerate this page
python -m benchmarks --corpora FOLDER --quick                       # a few peers, two minutes
```

FOLDER contains `ud-english-ewt/en_ewt-ud-{train,dev,test}.conllu` and
`conll2000/{train,test}.txt`. Nothing is downloaded.
"""

DEFINITIONS = """\
- **score**: accuracy over all tokens for UPOS and XPOS, and F1 as computed by conlleval for chunks,
  on the test set. **unknown**: token accuracy on words that do not occur in the training data.
  Scores of seqtag are means over seeds 1 to 5, with the standard deviation below each table. Peers
  run with one seed or have no seed option.
- **length**: rows marked "as seqtag" make as many passes as seqtag's preset, others stop at the
  tool's default. Only spaCy gets the development set, which it needs for early stopping.
- Times are **processor time** over all threads, including system time. Other work on the machine
  can still make them longer, by shared caches and cores. Rows marked † were trained on a busy
  machine (wall-clock time more than 10% above processor time): their times are upper bounds. Rows
  marked ‡ were measured on a different machine.
- **training**: the complete process, from the corpus file to the model file.
- **tagging**: tokens per second from lists of strings to lists of labels, on one thread, including
  feature extraction: the median of three passes after the **first pass**, with warm word caches.
- **file to file**: the complete process, from one CoNLL file to another. Tools marked * have no
  such command; for them, a simple loop reads, tags, and writes.
- **start**: from program start to one tagged sentence of six words. **load**: reading the model
  only, with the file in the page cache.
- **memory**: peak resident set size in MB, for training and for tagging the test set.
- Figures are medians of 3 runs (5 for start and for seqtag's training). Once the runs of a step
  have taken 15 s in total, the step is not repeated, and slow tools are trained only once.
- CRFsuite, sklearn-crfsuite, and Vowpal Wabbit get the features of seqtag's presets ({templates})
  as strings, generated in Python with a cache for features of single words. These tools use one
  previous label, like seqtag's chunk preset; seqtag's part-of-speech preset uses two. They learn
  chunk labels as IOB2, and seqtag's preset learns them as IOBES. NLTK, spaCy, and UDPipe use their
  own features, of words only, so they are not compared on chunks.
"""

COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "length": lambda f: f["length"],
    "score": lambda f: f"{f['score']:.2f}",
    "unknown": lambda f: f"{f['unknown_accuracy']:.2f}",
    "training": lambda f: f"{f['train_cpu_seconds']:.1f} s",
    "tagging": lambda f: rate(f["tokens_per_second"]),
    "first pass": lambda f: rate(f["first_tokens_per_second"]),
    "file to file": lambda f: rate(f["file_tokens_per_second"]) + "*" * (not f["file_own_command"]),
    "start": lambda f: f"{f['start_cpu_seconds']:.2f} s",
    "load": lambda f: f"{1000 * f['load_seconds']:.1f} ms",
    "memory": lambda f: f"{f['train_megabytes']:.0f} / {f['tag_megabytes']:.0f}",
    "model": lambda f: f"{f['model_megabytes']:.1f} MB",
}
"""Columns of the comparison, each from the figures of a peer on a task."""

OTHERS = {
    "words": "distinct words",
    "updates": "updates",
    "wrong": "errors",
    "train_megabytes": "memory, training",
    "file_megabytes": "memory, file to file",
    "model_megabytes": "model",
}
"""Words for the figures of a growth curve that are not times."""


def render(results: Results) -> str:
    """The page, in Markdown; peers in the order of the suite, whenever they were measured."""
    parts = [INTRODUCTION, *_comparison(results), "## Definitions\n"]
    data = results["data"].values()
    templates = dict.fromkeys(f"`{each['preset']}` has {each['templates']}" for each in data)
    parts.append(DEFINITIONS.format(templates=", ".join(templates)))
    parts += _literature()
    if "raw" in results:
        parts += raw_report.section(results["raw"])
    if "speed" in results:
        parts += speed.section(results["speed"])
    parts += _growth(results)
    return "\n".join(parts)


def write(results: Results, docs: Path, readme: Path | None = None) -> None:
    """Write benchmarks.md into a folder, its plots and the results into benchmarks/ there.

    The README's figures are put where its marks are.
    """
    from benchmarks import plots

    folder = docs / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    (docs / "benchmarks.md").write_text(render(results), encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for dark in (False, True):
        plots.accuracy_against_speed(results, folder, dark)
    for name, points in results["growth"].items():
        if points:
            plots.growth(name, points, folder / f"growth-{name}.svg")
    if readme:
        summary.put(readme, "measured", "report", summary.measured(results))


def _comparison(results: Results) -> Iterable[str]:
    """Machine, data, a table for each task, and the tools."""
    yield "## Results\n"
    yield _measured_on(results)
    yield PICTURE
    for task in TASKS.values():
        data = results["data"][task.name]
        yield f"### {task.title}\n"
        yield (
            f"{data['train_tokens']:,} training and {data['test_tokens']:,} test tokens "
            f"({data['unknown_tokens']:,} unknown), {data['labels']} labels; file to file: "
            f"{data['file_tokens']:,} tokens.\n"
        )
        rows = done(results, task.name)
        yield table(
            ["", *COLUMNS],
            [
                [_shown(results, name, row), *(show(row) for show in COLUMNS.values())]
                for name, row in rows.items()
            ],
            left=2,
        )
        if text := _of_seqtag(results, task, rows.get("seqtag")):
            yield filled(text)
    yield "### Tools\n"
    tools = [results["peers"][name] for name in PEERS if name in results["peers"]]
    rows = [(tool["tool"], tool.get("version", "absent"), tool["settings"]) for tool in tools]
    yield table(["tool", "version", "training"], dict.fromkeys(rows), left=3)
    if results.get("notes"):
        yield "Notes:\n\n" + "".join(f"- {note}\n" for note in results["notes"])
    if missing := list(_missing(results)):
        yield "Not measured:\n\n" + "\n".join(missing) + "\n"


def _shown(results: Results, name: str, row: dict[str, Any]) -> str:
    """A row's name in the tables."""
    tool = results["peers"][name]["tool"]
    marks = "†" * (not is_quiet(row)) + "‡" * is_elsewhere(results, row)
    return f"{'**seqtag**' if tool == 'seqtag' else tool} {marks}".rstrip()


def _of_seqtag(results: Results, task: Task, row: dict[str, Any] | None) -> str:
    """How sure seqtag's score is, and how fast it trains, in a sentence each."""
    if row is None:
        return ""
    said = []
    if row["seeds"] > 1:
        deviation = row["score_deviation"]
        said.append(
            f"seqtag's score is the mean of {row['seeds']} seeds, with a standard deviation of "
            f"{deviation:.2f}."
        )
    if times := ratio(results, task.name):
        said.append(
            "With the same features and number of passes, CRFsuite's averaged perceptron took "
            f"{times:.1f} times as long to train in the same run."
        )
    if is_quiet(row):
        said.append(f"seqtag's wall-clock training time was {row['train_seconds']:.1f} s.")
    return " ".join(said)


def _missing(results: Results) -> Iterable[str]:
    """Lines for what there are no figures of, and why."""
    for name in PEERS:
        peer = results["peers"].get(name, {"tasks": {}})
        if "absent" in peer:
            yield f"- {name}: {peer['absent']}"
            continue
        reasons: dict[str, list[str]] = {}
        for key in find(name).tasks:
            figures = peer["tasks"].get(key, {"failed": "not run"})
            if "failed" in figures:
                reasons.setdefault(figures["failed"], []).append(TASKS[key].title)
        for reason, titles in reasons.items():
            yield f"- {name} ({', '.join(titles)}): {reason}"


def _measured_on(results: Results) -> str:
    """Machines and days; one line for all that was measured on the same."""
    places: dict[str, list[str]] = {}
    measured = [
        (name, row["run"])
        for name in PEERS
        for row in results["peers"].get(name, {}).get("tasks", {}).values()
        if "score" in row
    ]
    if "growth_run" in results:
        measured.append(("growth", results["growth_run"]))
    for name, run in dict.fromkeys(measured):
        machine = results["runs"][run]
        place = (
            f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python "
            f"{machine['python']}, {machine['date']}"
        )
        if name in ("seqtag", "growth") and machine["commit"]:
            place += f", seqtag at commit {machine['commit']}"
        if name not in places.setdefault(place, []):
            places[place].append(name)
    lines = [f"- {'; '.join(names)}: {place}" for place, names in places.items()]
    return "Measured on:\n\n" + "\n".join(lines) + "\n"


def _literature() -> Iterable[str]:
    """Tools that the suite does not run."""
    yield "## Published results\n"
    yield (
        "Not measured by this suite, and not all for the same data. Differences of a tenth of a "
        "point are not\nmeaningful.\n"
    )
    rows = [
        [TASKS[figure.task].title, figure.tool, figure.score, figure.source] for figure in FIGURES
    ]
    yield table(["task", "tool", "score", "source"], rows, left=4)


def _growth(results: Results) -> Iterable[str]:
    """A plot, a table and the exponents of each growth curve."""
    if not any(results["growth"].values()):
        return
    yield "## Scaling\n"
    yield (
        "How the cost of seqtag grows. The exponent is the slope of the least-squares line on "
        "log-log axes over\nthe last two decades: 1 means linear growth, 0 means no growth. Times "
        "are processor time, except for\nthreads. `benchmarks/curves.py` generates the data.\n"
    )
    machine = results["runs"].get(results.get("growth_run"), {})
    for name, points in results["growth"].items():
        if not points:
            continue
        curve = CURVES[name]
        yield f"### {curve.title}\n"
        yield filled(curve.text.replace("{cores}", machine.get("cores", "?")))
        yield f"![{curve.title}](benchmarks/growth-{name}.svg)\n"
        yield _growth_table(curve, points)


def _growth_table(curve: Curve, points: list[dict[str, float]]) -> str:
    """The points of a growth curve, and under each column of seconds its exponent."""
    heading, rows = [curve.unit], [[f"{point['size']:,}"] for point in points]
    last = ["exponent"]
    sizes = [point["size"] for point in points]
    for key in (key for key in points[0] if key != "size"):
        values = [point[key] for point in points]
        timed = key in curve.figures
        heading.append(curve.figures[key] if timed else OTHERS[key])
        last.append(f"{fit(sizes, values).slope:.2f}" if timed else "")
        for row, value in zip(rows, values, strict=True):
            row.append(_figure(key, value))
    return table(heading, [*rows, last] if len(points) > 2 else rows)


def _figure(key: str, value: float) -> str:
    """A figure of a growth curve in its unit."""
    if not key.endswith(("megabytes", "seconds")):
        return f"{value:,}"
    if key.endswith("megabytes"):
        return f"{value:.1f} MB" if value < 10 else f"{value:,.0f} MB"
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def main() -> None:
    """Render the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("results", type=Path, nargs="?", default=ROOT / "docs" / "benchmarks" / "results.json")
    add("--docs", type=Path, default=ROOT / "docs", help="folder for benchmarks.md")
    add("--readme", type=Path, default=ROOT / "README.md", help="page with marks for its figures")
    options = parser.parse_args()
    results = json.loads(options.results.read_text(encoding="utf-8"))
    write(results, options.docs, options.readme)


if __name__ == "__main__":
    main()
