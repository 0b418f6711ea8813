"""The table of results in the README, from the results of which docs/benchmarks.md is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.results import Results, best_of_tools, ratio
from benchmarks.tasks import TASKS
from benchmarks.text import table

if TYPE_CHECKING:
    from pathlib import Path

_MARKS = "<!-- {}: written by python -m benchmarks.{} -->\n", "<!-- end of {} -->\n"


def put(page: Path, name: str, module: str, text: str) -> None:
    """Write text into a page between its two marks.

    Raises
    ------
    ValueError
        If the page has no such marks.
    """
    old = page.read_text(encoding="utf-8")
    begin, end = (mark.format(name, module) for mark in _MARKS)
    if not old.count(begin) == old.count(end) == 1:
        msg = f"{page}: expected the lines {begin.strip()!r} and {end.strip()!r} once each"
        raise ValueError(msg)
    before, rest = old.split(begin)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def measured(results: Results) -> str:
    """Return the table of seqtag and the best other tool on each task."""
    rows = []
    for task in TASKS.values():
        tools = best_of_tools(results, task.name)
        if "seqtag" not in tools:
            continue
        row = tools.pop("seqtag")
        score = "F1" if task.name == "chunk" else "accuracy"
        peer, theirs = next(iter(tools.items()), ("none", None))
        times = ratio(results, task.name)
        rows.append(
            [
                f"{task.title}, {score}",
                *_pair(row["score"], theirs and theirs["score"], f" ({peer})"),
                f"{row['train_cpu_seconds']:.1f} s",
                f"{times:.1f} x" if times else "",
            ]
        )
    heading = ["test data", "seqtag", "best other tool", "training", "CRFsuite"]
    return table(heading, rows)


def _pair(ours: float, theirs: float | None, whose: str = "") -> tuple[str, str]:
    """Two scores, the better one bold; the second is empty if there is none."""
    a, b = f"{ours:.2f}", f"{theirs or 0:.2f}"
    if theirs is None:
        return a, ""
    first, second = (f"**{x}**" if float(x) > float(y) else x for x, y in ((a, b), (b, a)))
    return first, second + whose
