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

from benchmarks import beside_spacy, speed, summary
from benchmarks.curves import CURVES, Curve, fit
from benchmarks.literature import FIGURES
from benchmarks.measure import ROOT
from benchmarks.peers import PEERS
from benchmarks.raw import report as raw_report
from benchmarks.results import Results, best_of_tools, is_elsewhere, is_quiet, ratio
from benchmarks.tasks import TASKS, Task
from benchmarks.text import filled, rate, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PICTURE = """\
<picture>
<source media="(prefers-color-scheme: dark)" srcset="benchmarks/accuracy-speed-dark.svg">
<img alt="Accuracy against tagging speed, one panel per task" src="benchmarks/accuracy-speed.svg">
</picture>

Each tool is represented by the length of training that scores best. Hollow points were measured on
a busy machine, so the true speed is higher. The vertical axes span a few percentage points; the
horizontal axes are logarithmic.
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
- **score**: accuracy over all tokens, or F1 as conlleval computes it for chunks, on the test set;
  seqtag's is the mean of seeds 1 to 5. **unknown**: token accuracy on words that are not in the
  training data.
- **length**: rows marked "as seqtag" make as many passes as seqtag's preset, others stop at the
  tool's default. Only spaCy gets the development set, which it needs for early stopping.
- Times are **processor time** over all threads. Rows marked † were trained on a busy machine
  (wall-clock time more than 10% above processor time), those marked ‡ on another one.
- **training**: from the corpus file to the model file. **tagging**: tokens per second from lists of
  strings to lists of labels on one thread, with warm caches. **file to file**: from one CoNLL file
  to another; for tools marked *, a simple loop reads, tags, and writes. **start**: from program
  start to one tagged sentence. **memory**: peak resident set size in MB, for training and for
  tagging the test set. Figures are medians of 3 to 5 runs, or of one that takes longer than 15 s.
- CRFsuite, sklearn-crfsuite, and Vowpal Wabbit get the features of seqtag's presets ({templates})
  as strings. They use one previous label, like seqtag's chunk preset (the one of parts of speech
  uses two), and learn chunk labels as IOB2. NLTK, spaCy, and UDPipe use their own features, of
  words only, so they are not compared on chunks.
"""

COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "length": lambda f: f["length"],
    "score": lambda f: f"{f['score']:.2f}",
    "unknown": lambda f: f"{f['unknown_accuracy']:.2f}",
    "training": lambda f: f"{f['train_cpu_seconds']:.1f} s",
    "tagging": lambda f: rate(f["tokens_per_second"]),
    "file to file": lambda f: rate(f["file_tokens_per_second"]) + "*" * (not f["file_own_command"]),
    "start": lambda f: f"{f['start_cpu_seconds']:.2f} s",
    "memory": lambda f: f"{f['train_megabytes']:.0f} / {f['tag_megabytes']:.0f}",
    "model": lambda f: f"{f['model_megabytes']:.1f} MB",
}
"""Columns of the comparison, each from the figures of a peer on a task."""


def render(results: Results) -> str:
    """The page, in Markdown; peers in the order of the suite, whenever they were measured."""
    parts = [INTRODUCTION, *_comparison(results), "## Definitions\n"]
    data = results["data"].values()
    templates = dict.fromkeys(f"`{each['preset']}` has {each['templates']}" for each in data)
    parts.append(DEFINITIONS.format(templates=", ".join(templates)))
    parts += _literature()
    if "raw" in results:
        parts += raw_report.section(results["raw"])
    if "beside_spacy" in results:
        parts += beside_spacy.section(results["beside_spacy"])
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
        rows = best_of_tools(results, task.name)
        yield table(
            ["", *COLUMNS],
            [
                [_shown(results, tool, row), *(show(row) for show in COLUMNS.values())]
                for tool, row in rows.items()
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


def _shown(results: Results, tool: str, row: dict[str, Any]) -> str:
    """A row's name in the tables."""
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
        "Not measured by this suite, and not all for the same data; our earlier runs had the same "
        "files and the\ntool's own features. Differences of a tenth of a point are not "
        "meaningful.\n"
    )
    rows = [
        [TASKS[figure.task].title, figure.tool, figure.score, figure.source] for figure in FIGURES
    ]
    yield table(["task", "tool", "score", "source"], rows, left=4)


def _growth(results: Results) -> Iterable[str]:
    """A plot and the exponents of each growth curve; the results have the points."""
    if not any(results["growth"].values()):
        return
    yield "## Scaling\n"
    yield (
        "How the cost of seqtag grows. The exponent is the slope of the least-squares line on "
        "log-log axes over\nthe last two decades: 1 means linear growth, 0 means no growth.\n"
    )
    machine = results["runs"].get(results.get("growth_run"), {})
    for name, points in results["growth"].items():
        if not points:
            continue
        curve = CURVES[name]
        yield f"### {curve.title}\n"
        exponents = f" Exponents: {_exponents(curve, points)}." if len(points) > 2 else ""
        yield filled(curve.text.replace("{cores}", machine.get("cores", "?")) + exponents)
        yield f"![{curve.title}](benchmarks/growth-{name}.svg)\n"


def _exponents(curve: Curve, points: list[dict[str, float]]) -> str:
    """The exponent of each time of a growth curve."""
    sizes = [point["size"] for point in points]
    return ", ".join(
        f"{title} {fit(sizes, [point[key] for point in points]).slope:.2f}"
        for key, title in curve.figures.items()
        if key in points[0]
    )


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
