"""Tagging at the scale of a crawl, simulated: ``python -m benchmarks.simulation``.

A driver hands tasks to cores, one by one; a core tags a task, or is killed on the way, and comes
back; what was killed is done again from its start. The ranges of a file are joined by one more
task, when the last of them is tagged. Sizes of files have a heavy tail. Everything
else is a figure measured on real runs, `Measured`, or an assumption, `Assumed`; both stand on the
page that is written, docs/scale.md.
"""

from __future__ import annotations

import argparse
import heapq
import json
from collections import Counter, deque
from dataclasses import dataclass, field, fields, replace
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.cluster import section
from benchmarks.measure import ROOT
from benchmarks.text import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CORES = (1_000, 3_000, 10_000, 30_000, 100_000)
PIECE = 64e6
"""Bytes of a range, where files are split."""


@dataclass(frozen=True)
class Measured:
    """What was measured, on one core, with the commands that the page names."""

    tokens_per_second: float = field(default=74e3, metadata={"of": "words tagged per second"})
    read_per_token: float = field(default=5.1, metadata={"of": "bytes read per word"})
    written_per_token: float = field(default=52.7, metadata={"of": "bytes written per word"})
    start: float = field(default=3, metadata={"of": "seconds to start a worker"})
    task: float = field(default=0.012, metadata={"of": "worker overhead per task, in seconds"})
    driver: float = field(default=0.0025, metadata={"of": "driver overhead per task, in seconds"})
    join: float = field(default=1.7e8, metadata={"of": "bytes joined per second"})


@dataclass(frozen=True)
class Assumed:
    """What was not measured here, and may be another elsewhere."""

    tokens: float = field(default=1e12, metadata={"of": "words in total"})
    median: float = field(default=2e6, metadata={"of": "words in the median file"})
    spread: float = field(
        default=1.8, metadata={"of": "standard deviation of the logarithm of file sizes"}
    )
    kills: float = field(default=0.05, metadata={"of": "kills per core per hour"})
    back: float = field(default=60.0, metadata={"of": "seconds until a killed core is back"})
    storage: float = field(default=200e9, metadata={"of": "storage throughput in bytes per second"})
    attempts: int = field(default=3, metadata={"of": "attempts per task"})
    seed: int = field(default=1, metadata={"of": "random seed"})


class Outcome(NamedTuple):
    """How a simulated job went."""

    seconds: float
    """Until the last task ended."""
    busy: float
    """The share of core seconds that went into tagging that counts."""
    again: float
    """Core seconds of work lost to kills."""
    killed: int
    failed: int
    """Tasks given up, all attempts killed."""
    tasks: int


def file_sizes(assumed: Assumed) -> np.ndarray:
    """Tokens of each file: log-normal, cut where they add up to all there are.

    >>> sizes = file_sizes(Assumed(tokens=1e9))
    >>> float(sizes.sum()), bool(sizes.max() > 20 * np.median(sizes))
    (1000000000.0, True)
    """
    rng = np.random.default_rng(assumed.seed)
    mean = assumed.median * exp(assumed.spread**2 / 2)
    sizes = np.empty(0)
    while sizes.sum() < assumed.tokens:
        count = int(assumed.tokens / mean) + 100
        more = assumed.median * np.exp(assumed.spread * rng.standard_normal(count))
        sizes = np.concatenate([sizes, np.ceil(more)])
    ends = np.cumsum(sizes)
    last = int(np.searchsorted(ends, assumed.tokens))
    sizes = sizes[: last + 1]
    sizes[-1] -= ends[last] - assumed.tokens
    return sizes


def pieces(sizes: np.ndarray, longest: float) -> np.ndarray:
    """The sizes of equal ranges of each file, none above `longest`.

    >>> pieces(np.array([10.0, 25.0]), 10).round(1).tolist()
    [10.0, 8.3, 8.3, 8.3]
    """
    counts = np.ceil(sizes / longest).astype(int).clip(1)
    return np.repeat(sizes / counts, counts)


class Tasks(NamedTuple):
    """What is handed out, the longest first."""

    seconds: np.ndarray
    """Of each task on an undisturbed core."""
    files: np.ndarray
    """File of each chunk; -1 for a complete file."""
    joins: dict[int, float]
    """Seconds of the joining of each file that is cut."""


def tasks_of(measured: Measured, assumed: Assumed, split: bool) -> Tasks:
    """Files, or with `split` the ranges of those beyond `PIECE`.

    >>> found = tasks_of(Measured(), Assumed(tokens=1e9), split=True)
    >>> len(found.joins) == len({*found.files.tolist()} - {-1})
    True
    """
    sizes = file_sizes(assumed)
    files = np.full(len(sizes), -1)
    joins: dict[int, float] = {}
    if split:
        longest = PIECE / measured.read_per_token
        cut = np.flatnonzero(sizes > longest)
        files[cut] = cut
        joins = {
            int(i): measured.task + float(sizes[i]) * measured.written_per_token / measured.join
            for i in cut
        }
        counts = np.ceil(sizes / longest).astype(int).clip(1)
        files, sizes = np.repeat(files, counts), pieces(sizes, longest)
    seconds = measured.task + sizes / measured.tokens_per_second
    order = np.argsort(-seconds, kind="stable")
    return Tasks(seconds[order], files[order], joins)


def simulate(
    measured: Measured, assumed: Assumed, cores: int, *, split: bool, kills: float | None = None
) -> Outcome:
    """One job.

    Each core takes the next task when it is free and the driver has time for it. Kills come at
    random, equally often on each core; a task that was killed goes to the front of the queue. The
    storage is no faster than it is: that is a lower bound for the job.

    >>> few = Assumed(tokens=1e9, kills=0)
    >>> one, four = (simulate(Measured(), few, n, split=True).seconds for n in (1, 4))
    >>> 3.5 < one / four <= 4
    True
    """
    tasks = tasks_of(measured, assumed, split)
    rate = (assumed.kills if kills is None else kills) / 3600
    chances = _chances(rate, assumed.seed)
    queue = deque((float(s), 0, int(f)) for s, f in zip(tasks.seconds, tasks.files, strict=True))
    left = Counter(tasks.files.tolist())
    ready: list[tuple[float, float, int]] = []  # joins: from when on, seconds, attempts
    free = [measured.start] * cores
    driver, end, done, again, killed, failed = 0.0, 0.0, 0.0, 0.0, 0, 0
    while queue or ready:
        now = max(driver, free[0])
        joining = bool(ready) and (not queue or ready[0][0] <= now)
        if joining:
            since, duration, attempts = heapq.heappop(ready)
            now, file = max(now, since), -1
        else:
            duration, attempts, file = queue.popleft()
        driver = now + measured.driver
        lives = next(chances)
        if lives >= duration:
            ended = driver + duration
            heapq.heapreplace(free, ended)
            end, done = max(end, ended), done + (0 if joining else duration)
            left[file] -= 1
            if file >= 0 and not left[file]:  # tasks are handed out in order, so this ends last
                heapq.heappush(ready, (ended, tasks.joins[file], 0))
            continue
        heapq.heapreplace(free, driver + lives + assumed.back)
        again, killed = again + lives, killed + 1
        if attempts + 1 >= assumed.attempts:
            failed += 1
            end = max(end, driver + lives)
        elif joining:
            heapq.heappush(ready, (driver + lives, duration, attempts + 1))
        else:
            queue.appendleft((duration, attempts + 1, file))
    end = max(end, bounds(measured, assumed, cores, split)["storage"])
    work = assumed.tokens / measured.tokens_per_second * done / tasks.seconds.sum()
    count = len(tasks.seconds) + len(tasks.joins)
    return Outcome(end, work / (end * cores), again, killed, failed, count)


def _chances(rate: float, seed: int) -> Iterator[float]:
    """How long a core lives, again and again."""
    rng = np.random.default_rng(seed)
    while True:
        yield from rng.exponential(1 / rate, 100_000).tolist() if rate else [float("inf")]


def bounds(measured: Measured, assumed: Assumed, cores: int, split: bool) -> dict[str, float]:
    """What no schedule can be faster than, in seconds."""
    sizes = file_sizes(assumed)
    longest = PIECE / measured.read_per_token
    cut = sizes[sizes > longest] if split else sizes[:0]
    count = len(pieces(sizes, longest)) + len(cut) if split else len(sizes)
    largest = longest if split else sizes.max()
    carried = assumed.tokens * (measured.read_per_token + measured.written_per_token)
    # To join is to read the input and the ranges, and to write these again.
    carried += cut.sum() * (measured.read_per_token + 2 * measured.written_per_token)
    return {
        "work": assumed.tokens / measured.tokens_per_second / cores,
        "largest task": largest / measured.tokens_per_second,
        "joining": cut.max(initial=0) * measured.written_per_token / measured.join,
        "driver": count * measured.driver,
        "storage": carried / assumed.storage,
        "start": measured.start,
    }


MACHINE = "AMD EPYC, 2 cores, Linux x86_64, Python 3.11, Ray 2.60"
COMMANDS = """\
- **Tagging**: raw English text to CoNLL-U with all columns, `seqtag cluster tag -m en --format
  text --workers 1` on a file of 6 MB (1.17 million words in 15.9 s).
- **Overhead per task**: 1,000 files of one sentence each took 11.9 s with one worker and 5.6 s
  with two. The driver's overhead is its processor time.
- **Start of a worker**: starting Python and loading seqtag and the model. Starting Ray takes a few
  seconds more and is not included.
- **Joining**: processor time for 84 MB of CoNLL-U whose sentences are renumbered, which is the
  slowest case, on a machine that was running other work. Disk time is not included.

With gold words and only the model `en-ewt-upos` (four files of 71 MB of CoNLL-U), two runs gave
479,000 and 483,000 words per second with one worker, and 823,000 and 761,000 with two workers,
which is 1.7 and 1.6 times as many. `seqtag tag`, run once per file, took 10.0 and 10.8 s. The
cluster command with one worker took 8.5 s both times, because it loads the model only once."""

LINES = {
    "complete files": (False, None),
    "chunks of 64 MB": (True, None),
    "chunks, no kills": (True, 0.0),
    "complete files, 1 kill per hour": (False, 1.0),
    "chunks, 1 kill per hour": (True, 1.0),
}
"""Name of each curve: whether files are split, kills an hour and core (None: as assumed)."""

PAGE = """\
# Scale

This page estimates what it costs to tag a terabyte of text, and how many cores can be used
efficiently. The estimate is a simulation. `python -m benchmarks.simulation` generates this page
from the parameters below. To change them, use its options (`--measured tokens_per_second=1e6
--assumed kills=1`). [Tag many files on many machines](how-to/cluster.md) shows how to run such a
job.

## Parameters

| measured on one core: {machine} | |
|:---|---:|
{measured}

{commands}

| assumed | |
|:---|---:|
{assumed}

File sizes follow a log-normal distribution: {files:,} files with {mean:.1f} million words on
average and {largest:.1f} billion words in the largest file. The largest 1% of the files contain
{share:.0f}% of all words. The largest files are processed first, as on a cluster if they are listed
first.

With `seqtag cluster tag --split {piece:.0f}MB`, files are split into *chunks* at sentence
boundaries. After the last chunk of a file is tagged, one more task joins the chunks. The result is
byte-identical to that of a single task.

## Cost of a terabyte

{cost}

## Number of cores

![Time and utilization against the number of cores](scale/simulation.svg)

{table}

- **utilization**: useful tagging time as a share of all core time, from the start of the job to
  the end of its last task.
- **lost**: core hours of work lost to kills.
- **killed**: number of killed tasks.
- **failed**: tasks that failed because they were killed {attempts} times.

## Limits

No schedule can be faster than the largest of these lower bounds (in seconds):

{bounds}

{why}{beside}"""

WHY = """\
- **Complete files**: the largest file sets the limit. With enough cores for all other files, the
  job takes as long as this file. Kills make it worse: long tasks are killed most often and restart
  from the beginning, and a task that is killed on every attempt fails even though its file is
  valid.
- **Chunks**: joining the largest file sets the limit. It is a single task that copies all chunks of
  the file and takes {join:,.0f} s here. If you do not need the joined files, split large files
  beforehand.
- **Driver**: it starts one task at a time. Chunks of {piece:.0f} MB give {tasks:,} tasks. Larger
  chunks mean fewer tasks, but the wait for the last task is longer, and each kill loses more work.
- **Storage**: {cores:,} cores would read and write {wanted:,.0f} GB per second.
- **Start**: the start time of {start:g} s per worker matters only if a core has little other work.

With chunks, more than about {end:,} cores bring no further benefit. At this number, the work per
core equals the next largest bound ({what}). If the driver is the limit, run several jobs with
separate drivers, each on a subset of the files, as far as storage throughput allows.
"""


def show(figures: Any) -> str:
    """Rows of a table, a figure each."""
    return "\n".join(
        f"| {each.metadata['of']} | {getattr(figures, each.name):,g} |" for each in fields(figures)
    )


def cost(measured: Measured) -> str:
    """The arithmetic for 10^12 bytes of text."""
    tokens = 1e12 / measured.read_per_token
    hours = tokens / measured.tokens_per_second / 3600
    tasks = 1e12 / PIECE
    besides = tasks * measured.task / 3600
    return "\n".join(
        [
            f"- 10^12 bytes / {measured.read_per_token:g} bytes per word = {tokens:.3g} words",
            f"- {tokens:.3g} words / {measured.tokens_per_second:,.0f} words per second / 3,600 = "
            f"**{hours:,.0f} core hours**",
            f"- 10^12 bytes / {PIECE:.2g} bytes per task = {tasks:,.0f} tasks; at "
            f"{measured.task:g} s each, their overhead is {besides:.1f} core hours "
            f"({besides / hours:.1%})",
            f"- {tokens:.3g} words × {measured.written_per_token:g} bytes per word = "
            f"{tokens * measured.written_per_token / 1e12:.1f} TB written",
            f"- at 0.01 USD per core hour, tagging costs {hours * 0.01:,.2f} USD",
        ]
    )


def plot(outcomes: dict[str, dict[int, Outcome]], work: float, path: Path) -> None:
    """Time and use against cores."""
    import matplotlib.pyplot as plt

    from benchmarks.plots import MARKS, STYLE, save

    styles = [(*MARKS[0], "-"), (*MARKS[1], "-"), (*MARKS[2], "-")]
    styles += [(*MARKS[0], ":"), (*MARKS[1], ":")]
    with plt.rc_context(STYLE):
        figure, (time, use) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
        for (name, found), (colour, marker, line) in zip(outcomes.items(), styles, strict=True):
            look = {"color": colour, "marker": marker, "linestyle": line}
            time.plot(list(found), [o.seconds / 3600 for o in found.values()], label=name, **look)
            use.plot(list(found), [100 * o.busy for o in found.values()], **look)
        ideal = [work / cores / 3600 for cores in CORES]
        time.plot(CORES, ideal, "--", color="#94a3b8", label="work / cores (ideal)")
        time.set(xscale="log", yscale="log", xlabel="cores", ylabel="hours", title="Time")
        use.set(xscale="log", ylim=(0, 100), xlabel="cores", ylabel="%", title="Utilization")
        time.legend()
        save(figure, path)


def beside(figures: Path) -> str:
    """The section of what `benchmarks.cluster` has measured; nothing if it did not."""
    if not figures.exists():
        return ""
    found = section(json.loads(figures.read_text(encoding="utf-8")))
    return f"\n## Comparison and training on shards\n\n{found}"


def changed(figures: Any, words: Sequence[str]) -> Any:
    """Figures with some of them given as NAME=NUMBER."""
    for word in words:
        name, _, value = word.partition("=")
        figures = replace(figures, **{name: type(getattr(figures, name))(float(value))})
    return figures


def page(measured: Measured, assumed: Assumed, machine: str, commands: str, folder: Path) -> str:
    """Return the page; its picture is written next to it."""
    outcomes = {
        name: {n: simulate(measured, assumed, n, split=split, kills=kills) for n in CORES}
        for name, (split, kills) in LINES.items()
    }
    work = assumed.tokens / measured.tokens_per_second
    plot(outcomes, work, folder / "scale" / "simulation.svg")
    rows = [
        [
            name,
            f"{cores:,}",
            f"{found.seconds / 3600:,.2f}",
            f"{found.busy:.0%}",
            f"{found.again / 3600:,.1f}",
            f"{found.killed:,}",
            f"{found.failed:,}",
        ]
        for name, each in outcomes.items()
        for cores, found in each.items()
    ]
    head = ["tasks", "cores", "hours", "utilization", "lost", "killed", "failed"]
    limits = [
        [f"{cores:,}", "chunks" if split else "files"]
        + [
            f"**{value:,.0f}**" if value == max(found.values()) else f"{value:,.0f}"
            for value in found.values()
        ]
        for split in (False, True)
        for cores in CORES
        for found in [bounds(measured, assumed, cores, split)]
    ]
    names = ["cores", "tasks", *bounds(measured, assumed, 1, True)]
    sizes = np.sort(file_sizes(assumed))[::-1]
    floors = bounds(measured, assumed, CORES[-1], True)
    del floors["work"]
    floor, name = max((value, name) for name, value in floors.items())
    per_second = measured.tokens_per_second * (measured.read_per_token + measured.written_per_token)
    return PAGE.format(
        machine=machine,
        measured=show(measured),
        commands=commands,
        assumed=show(assumed),
        files=len(sizes),
        mean=sizes.mean() / 1e6,
        largest=sizes[0] / 1e9,
        piece=PIECE / 1e6,
        share=100 * sizes[: len(sizes) // 100].sum() / sizes.sum(),
        cost=cost(measured),
        table=table(head, rows),
        attempts=assumed.attempts,
        bounds=table(names, limits),
        why=WHY.format(
            cores=CORES[-1],
            wanted=CORES[-1] * per_second / 1e9,
            piece=PIECE / 1e6,
            tasks=outcomes["chunks of 64 MB"][CORES[0]].tasks,
            start=measured.start,
            join=floors["joining"],
            what=name,
            end=int(round(work / floor, -2)),
        ),
        beside=beside(folder / "scale" / "cluster.json"),
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--measured", nargs="*", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--assumed", nargs="*", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--machine", default=MACHINE)
    parser.add_argument("--commands", default=COMMANDS, help="how the figures were measured")
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    asked = parser.parse_args()
    measured, assumed = changed(Measured(), asked.measured), changed(Assumed(), asked.assumed)
    text = page(measured, assumed, asked.machine, asked.commands, asked.out)
    (asked.out / "scale.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
