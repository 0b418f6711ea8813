"""Results as a page: ``python -m benchmarks.report results.json`` writes docs/benchmarks.md.

The page and its plots are made from the JSON alone, so that a part of it can be measured anew
(``python -m benchmarks --only seqtag --merge results.json``) without the rest.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.curves import CURVES, Curve, fit
from benchmarks.measure import ROOT
from benchmarks.peers import PEERS
from benchmarks.raw import report as raw_report
from benchmarks.tasks import TASKS
from benchmarks.text import rate, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Results = dict[str, Any]

INTRODUCTION = """\
# Benchmarks

seqtag and its peers on the same data, one after another, each step in a process of its own, on one
core. This page is written by the suite:

```sh
pip install -e '.[bench,plot]'
python -m benchmarks --corpora FOLDER --out results.json            # all of it, about 40 minutes
python -m benchmarks --corpora FOLDER --quick                       # a few peers, two minutes
python -m benchmarks --corpora FOLDER --only seqtag --merge results.json --out results.json
python -m benchmarks.report results.json                            # this page again
```

FOLDER holds `ud-english-ewt/en_ewt-ud-{train,test}.conllu` and `conll2000/{train,test}.txt`.
Nothing is downloaded.
"""

DEFINITIONS = """\
- **score**: accuracy of all tokens for UPOS and XPOS, conlleval's F1 for chunks, on the test part.
  **unknown**: token accuracy on words that the training part does not have.
- **training**: the whole process, from the corpus file to the model file, imports included.
- **tagging**: tokens a second from lists of strings to lists of labels, in memory, one thread;
  features are part of it. **first pass** is the first time the test part is seen; **tagging** is
  the median of three later passes, when what a tool remembers of words is warm.
- **file to file**: the whole process, from one CoNLL file to another; tools marked * have no such
  command, and go through a plain loop that reads, tags and writes.
- **start**: the whole process, from nothing to one tagged sentence of six words. **load**: reading
  the model alone, the file in the page cache.
- **memory**: peak resident set in MB, of training and of tagging the test part.
- Figures are medians: of 3 runs (start: 5), or fewer once the runs of a step took 15 s, so that a
  long training is run once.
- No tool sees the dev part. CRFsuite, sklearn-crfsuite and Vowpal Wabbit get the features of
  seqtag's presets (33 templates for parts of speech, 30 for chunks) as strings, made in Python as
  their users do; what depends on one word is remembered. They see one label back, as seqtag's
  chunk preset does, its preset for parts of speech sees two. They learn the chunk labels as they
  are (IOB2), seqtag's preset learns them as IOBES. NLTK, spaCy and UDPipe use features of their
  own; they see words alone, so they cannot chunk with parts of speech.
"""

COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "score": lambda f: f"{f['score']:.2f}",
    "unknown": lambda f: f"{f['unknown_accuracy']:.2f}",
    "training": lambda f: f"{f['train_seconds']:.1f} s",
    "tagging": lambda f: rate(f["tokens_per_second"]),
    "first pass": lambda f: rate(f["first_tokens_per_second"]),
    "file to file": lambda f: rate(f["file_tokens_per_second"]) + "*" * (not f["file_own_command"]),
    "start": lambda f: f"{f['start_seconds']:.2f} s",
    "load": lambda f: f"{1000 * f['load_seconds']:.1f} ms",
    "memory": lambda f: f"{f['train_megabytes']:.0f} / {f['tag_megabytes']:.0f}",
    "model": lambda f: f"{f['model_megabytes']:.1f} MB",
}
"""Columns of the comparison, each from the figures of a peer on a task."""

MEGABYTES = {
    "train_megabytes": "memory, training",
    "file_megabytes": "memory, file to file",
    "model_megabytes": "model",
}
"""Words for the figures of a growth curve that are not times."""


def render(results: Results) -> str:
    """The page, in Markdown; peers in the order of the suite, whenever they were measured."""
    known = [name for name in PEERS if name in results["peers"]]
    results = results | {"peers": {name: results["peers"][name] for name in known}}
    parts = [INTRODUCTION, *_comparison(results), "## What is measured\n", DEFINITIONS]
    if "raw" in results:
        parts += raw_report.section(results["raw"])
    parts += _growth(results)
    return "\n".join(parts)


def write(results: Results, docs: Path) -> None:
    """Write benchmarks.md into a folder, and its plots into benchmarks/ there."""
    from benchmarks import plots

    docs.mkdir(parents=True, exist_ok=True)
    (docs / "benchmarks.md").write_text(render(results), encoding="utf-8")
    plots.accuracy_against_speed(results, docs / "benchmarks" / "accuracy-speed.svg")
    for name, points in results["growth"].items():
        if points:
            plots.growth(name, points, docs / "benchmarks" / f"growth-{name}.svg")


def _comparison(results: Results) -> Iterable[str]:
    """Machine, data, a table for each task, and the tools."""
    yield "## Side by side\n"
    yield _measured_on(results)
    yield "![accuracy against speed](benchmarks/accuracy-speed.svg)\n"
    for task in TASKS.values():
        data = results["data"][task.name]
        yield f"### {task.title}\n"
        yield (
            f"{data['train_tokens']:,} training and {data['test_tokens']:,} test tokens "
            f"({data['unknown_tokens']:,} unknown), {data['labels']} labels; file to file: "
            f"{data['file_tokens']:,} tokens.\n"
        )
        done = {
            name: peer["tasks"][task.name]
            for name, peer in results["peers"].items()
            if "score" in peer["tasks"].get(task.name, {})
        }
        rows = [
            [name.replace("seqtag", "**seqtag**"), *(show(figures) for show in COLUMNS.values())]
            for name, figures in sorted(done.items(), key=lambda item: -item[1]["score"])
        ]
        yield table(["", *COLUMNS], rows)
    yield "### The tools\n"
    yield table(
        ["tool", "version", "how it is trained", "load before"],
        [
            [
                name,
                peer.get("version", "absent"),
                peer["settings"],
                peer["machine"].get("load", "not recorded"),
            ]
            for name, peer in results["peers"].items()
        ],
        left=3,
    )
    yield (
        "Load before: processes that were running on the machine when the tool's turn came, by the "
        "average\nof the last minute. On a machine that others use, times are longer and vary.\n"
    )
    missing = []
    for name, peer in results["peers"].items():
        if "absent" in peer:
            missing.append(f"- {name}: {peer['absent']}")
        for key, figures in peer["tasks"].items():
            if "failed" in figures:
                missing.append(f"- {name}, {TASKS[key].title}: {figures['failed']}")
    if results.get("notes"):
        yield "Of this run:\n\n" + "".join(f"- {note}\n" for note in results["notes"])
    if missing:
        yield "Not measured:\n\n" + "\n".join(missing) + "\n"


def _measured_on(results: Results) -> str:
    """Machines and days; one line for all that was measured on the same."""
    places: dict[str, list[str]] = {}
    measured = [*results["peers"].items()]
    if "growth_machine" in results:
        measured.append(("growth", {"machine": results["growth_machine"]}))
    for name, entry in measured:
        machine = entry["machine"]
        place = (
            f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python "
            f"{machine['python']}, {machine['date']}"
        )
        if name in ("seqtag", "growth") and machine["commit"]:
            place += f", seqtag at commit {machine['commit']}"
        places.setdefault(place, []).append(name)
    lines = [f"- {', '.join(names)}: {place}" for place, names in places.items()]
    return f"Measured on, with seed {results['seed']}:\n\n" + "\n".join(lines) + "\n"


def _growth(results: Results) -> Iterable[str]:
    """A plot, a table and the exponents of each growth curve."""
    if not any(results["growth"].values()):
        return
    yield "## How cost grows\n"
    yield (
        "seqtag alone. The exponent is the slope of the least-squares line on log-log axes, over "
        "the last\ntwo decades: 1 is linear growth, 0 none. How the data are made is written in "
        "`benchmarks/curves.py`.\n"
    )
    for name, points in results["growth"].items():
        if not points:
            continue
        curve = CURVES[name]
        yield f"### {curve.title}\n"
        yield curve.text + "\n"
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
        heading.append(curve.figures[key] if timed else MEGABYTES[key])
        last.append(f"{fit(sizes, values).slope:.2f}" if timed else "")
        for row, value in zip(rows, values, strict=True):
            row.append(_figure(key, value))
    return table(heading, [*rows, last])


def _figure(key: str, value: float) -> str:
    """A figure of a growth curve in its unit."""
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
    parser.add_argument("results", type=Path)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder for benchmarks.md")
    options = parser.parse_args()
    write(json.loads(options.results.read_text(encoding="utf-8")), options.docs)


if __name__ == "__main__":
    main()
