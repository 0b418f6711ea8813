"""What results say, for all pages and pictures that are made from them."""

from __future__ import annotations

from typing import Any

from benchmarks.peers import PEERS, RATIO

Results = dict[str, Any]
"""What ``python -m benchmarks`` writes as JSON."""


def done(results: Results, task: str) -> dict[str, Any]:
    """The figures of the rows that were measured on a task, the best score first."""
    rows = {
        name: results["peers"][name]["tasks"][task]
        for name in PEERS
        if "score" in results["peers"].get(name, {}).get("tasks", {}).get(task, {})
    }
    return dict(sorted(rows.items(), key=lambda item: -item[1]["score"]))


def best_of_tools(results: Results, task: str) -> dict[str, Any]:
    """For each tool the figures of that length of training that scores best, the best first."""
    found: dict[str, Any] = {}
    for name, row in done(results, task).items():
        found.setdefault(PEERS[name].tool, row)
    return found


def ratio(results: Results, task: str) -> float | None:
    """How many times as long as seqtag `peers.RATIO` trained, if both were in one run."""
    rows = done(results, task)
    ours, theirs = rows.get("seqtag"), rows.get(RATIO)
    if not ours or not theirs or ours["run"] != theirs["run"]:
        return None
    return theirs["train_cpu_seconds"] / ours["train_cpu_seconds"]


def is_quiet(figures: dict[str, Any]) -> bool:
    """Return whether the machine was idle: clock time is hardly above processor time."""
    return figures["train_seconds"] <= 1.1 * figures["train_cpu_seconds"] + 0.1


def is_elsewhere(results: Results, figures: dict[str, Any]) -> bool:
    """Whether another machine was at work than when seqtag was measured."""
    runs = {row["run"] for row in results["peers"].get("seqtag", {}).get("tasks", {}).values()}
    machines = {results["runs"][run]["cpu"] for run in runs}
    return bool(machines) and results["runs"][figures["run"]]["cpu"] not in machines
