"""Tagging at the scale of a crawl, simulated: ``python -m benchmarks.simulation``.

A driver hands tasks to cores, one by one; a core tags a task, or is lost with its machine, and
comes back; what was lost is done again from its start. Sizes of files have a heavy tail, or large
files were cut before. Everything else is a figure measured on real runs, `Measured`, or an
assumption, `Assumed`; both stand on the page, docs/scale.md, which ``--pages`` writes from the
results of an earlier simulation, docs/scale/simulation.json.
"""

from __future__ import annotations

import argparse
import heapq
import json
from collections import deque
from dataclasses import asdict, dataclass, field, fields, replace
from math import ceil, exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.cluster import section
from benchmarks.measure import ROOT
from benchmarks.text import table

if TYPE_CHECKING:
    from collections.abc import Sequence

CORES = (100, 300, 1_000, 3_000, 10_000)
SEEDS = 20
PIECE = 64e6
"""Bytes of the largest file, where larger ones were cut before."""
WORK, MOST = 5.0, 500
"""Seconds of work, and files, that small files are put together to."""
SMALL = 2_000
"""Words of a small file."""
STORE = ROOT / "docs" / "scale" / "simulation.json"


@dataclass(frozen=True)
class Measured:
    """What was measured, on one core, with the commands that the page names."""

    tokens_per_second: float = field(default=219e3, metadata={"of": "words tagged per second"})
    shared: float = field(
        default=0.88, metadata={"of": "relative speed of a core while the other core is busy"}
    )
    read_per_token: float = field(default=4.9, metadata={"of": "bytes read per word"})
    written_per_token: float = field(default=51.6, metadata={"of": "bytes written per word"})
    start: float = field(default=3, metadata={"of": "seconds to start a worker"})
    task: float = field(default=0.012, metadata={"of": "worker overhead per task, in seconds"})
    driver: float = field(default=0.0025, metadata={"of": "driver overhead per task, in seconds"})
    file: float = field(
        default=0.00014, metadata={"of": "driver overhead per file that is tagged, in seconds"}
    )
    done: float = field(
        default=0.00009, metadata={"of": "driver overhead per finished file, in seconds"}
    )

    @property
    def speed(self) -> float:
        """Words a second of a core on a busy machine."""
        return self.tokens_per_second * self.shared


@dataclass(frozen=True)
class Assumed:
    """What was not measured here, and may be another elsewhere."""

    read: float = field(default=1e12, metadata={"of": "bytes of text"})
    median: float = field(default=2e6, metadata={"of": "words in the median file"})
    spread: float = field(
        default=1.8, metadata={"of": "standard deviation of the logarithm of file sizes"}
    )
    machine: int = field(default=16, metadata={"of": "cores per machine"})
    kills: float = field(default=0.05, metadata={"of": "machines lost, per machine and hour"})
    back: float = field(default=300.0, metadata={"of": "seconds until a lost machine is back"})
    attempts: int = field(default=3, metadata={"of": "attempts per task"})
    storage: float = field(default=200e9, metadata={"of": "storage throughput in bytes per second"})
    requests: float = field(default=5_000, metadata={"of": "requests to the storage per second"})
    part: float = field(default=50e6, metadata={"of": "bytes of output per request"})
    disk: float = field(default=1e9, metadata={"of": "local disk in bytes per second and machine"})
    core_hour: float = field(default=0.01, metadata={"of": "USD per core hour"})
    put: float = field(default=5e-6, metadata={"of": "USD per writing request"})
    get: float = field(default=4e-7, metadata={"of": "USD per reading request"})


class Outcome(NamedTuple):
    """How a simulated job went."""

    seconds: float
    """Until the last task ended."""
    busy: float
    """The share of core seconds that went into tagging that counts."""
    again: float
    """Core seconds of work lost with machines."""
    killed: int
    given_up: int
    """Tasks that were lost with each attempt."""
    tasks: int

    def stretched(self, seconds: float) -> Outcome:
        """Return the same job if it takes so long at least."""
        if seconds <= self.seconds:
            return self
        return self._replace(seconds=seconds, busy=self.busy * self.seconds / seconds)


def file_sizes(measured: Measured, assumed: Assumed, seed: int) -> np.ndarray:
    """Words of each file: log-normal, cut where they add up to all there are.

    >>> sizes = file_sizes(Measured(read_per_token=5), Assumed(read=5e9), 1)
    >>> float(sizes.sum()), bool(sizes.max() > 20 * np.median(sizes))
    (1000000000.0, True)
    """
    rng = np.random.default_rng(seed)
    tokens = assumed.read / measured.read_per_token
    mean = assumed.median * exp(assumed.spread**2 / 2)
    sizes = np.empty(0)
    while sizes.sum() < tokens:
        more = assumed.median * np.exp(
            assumed.spread * rng.standard_normal(int(tokens / mean) + 100)
        )
        sizes = np.concatenate([sizes, np.ceil(more)])
    ends = np.cumsum(sizes)
    last = int(np.searchsorted(ends, tokens))
    sizes = sizes[: last + 1]
    sizes[-1] -= ends[last] - tokens
    return sizes


class Tasks(NamedTuple):
    """What is handed out, the longest first."""

    seconds: np.ndarray
    """Of each task on an undisturbed core."""
    each: int = 1
    """Files of a task."""


def cut_to_pieces(measured: Measured, sizes: np.ndarray) -> np.ndarray:
    """Words of each file, where those beyond `PIECE` were cut into equal pieces.

    >>> sizes = file_sizes(Measured(), Assumed(read=5e9), 1)
    >>> pieces = cut_to_pieces(Measured(), sizes)
    >>> bool(np.isclose(pieces.sum(), sizes.sum())), bool(pieces.max() * 4.9 <= PIECE)
    (True, True)
    """
    counts = np.ceil(sizes * measured.read_per_token / PIECE).astype(int).clip(1)
    return np.repeat(sizes / counts, counts)


def tasks_of(measured: Measured, sizes: np.ndarray) -> Tasks:
    """Return a task for each file, the longest first."""
    return Tasks(np.sort(measured.task + sizes / measured.speed)[::-1])


def small_files(measured: Measured, files: int) -> Tasks:
    """So many files of `SMALL` words, several in a task."""
    one = SMALL / measured.speed
    each = int(min(MOST, max(1, WORK / one)))
    return Tasks(np.full(ceil(files / each), measured.task + each * one), each)


def simulate(measured: Measured, assumed: Assumed, tasks: Tasks, cores: int, seed: int) -> Outcome:
    """One job.

    Each core takes the next task when it is free and the driver has time for it. Machines are lost
    at random, with what all their cores do; what was lost is the next to be handed out.

    >>> few = Assumed(read=5e9, kills=0)
    >>> sizes = cut_to_pieces(Measured(), file_sizes(Measured(), few, 1))
    >>> tasks = tasks_of(Measured(), sizes)
    >>> one, four = (simulate(Measured(), few, tasks, n, 1).seconds for n in (1, 4))
    >>> 3.5 < one / four <= 4
    True
    """
    rng = np.random.default_rng(seed)
    mean = 3600 / assumed.kills if assumed.kills else float("inf")
    lost_at = [mean * float(each) for each in rng.exponential(size=-(-cores // assumed.machine))]
    queue = deque((each, 0) for each in tasks.seconds.tolist())
    ready: list[tuple[float, float, int]] = []  # lost tasks: from when on, seconds, attempts
    free, idle = [(measured.start, core) for core in range(cores)], []
    driver, end, done, again, killed, given_up = 0.0, 0.0, 0.0, 0.0, 0, 0
    hand_out = measured.driver + measured.file * tasks.each
    while queue or ready:
        if idle and ready and (not free or ready[0][0] <= free[0][0]):
            now, core = ready[0][0], idle.pop()
        else:
            now, core = heapq.heappop(free)
        now, machine = max(driver, now), core // assumed.machine
        if lost_at[machine] <= now:  # it was lost, and is back some time later
            back = lost_at[machine] + assumed.back
            if back <= now:
                lost_at[machine] = back + mean * float(rng.exponential())
            heapq.heappush(free, (max(back, now), core))
            continue
        if ready and ready[0][0] <= now:
            _, duration, attempts = heapq.heappop(ready)
        elif queue:
            duration, attempts = queue.popleft()
        else:
            idle.append(core)
            continue
        driver = now + hand_out
        ended = driver + duration
        if ended <= lost_at[machine]:
            heapq.heappush(free, (ended, core))
            end, done = max(end, ended), done + duration
            continue
        ended = max(driver, lost_at[machine])
        heapq.heappush(free, (ended + assumed.back, core))
        again, killed = again + ended - driver, killed + 1
        if attempts + 1 >= assumed.attempts:
            given_up, end = given_up + 1, max(end, ended)
        else:
            heapq.heappush(ready, (ended, duration, attempts + 1))
    return Outcome(end, done / (end * cores), again, killed, given_up, len(tasks.seconds))


class Traffic(NamedTuple):
    """What goes to and from the storage."""

    bytes: float
    gets: float
    puts: float

    def least(self, assumed: Assumed) -> float:
        """Return the seconds that the storage needs for it."""
        return max(self.bytes / assumed.storage, (self.gets + self.puts) / assumed.requests)


def traffic(measured: Measured, assumed: Assumed, sizes: np.ndarray) -> Traffic:
    """Of a job: each file is looked up and read, and written in parts."""
    given, made = sizes * measured.read_per_token, sizes * measured.written_per_token
    parts = np.ceil(made / assumed.part)
    parts += 2 * (parts > 1)  # a begin and an end
    return Traffic(float(given.sum() + made.sum()), float(2 * len(sizes)), float(parts.sum()))


def bounds(
    measured: Measured, assumed: Assumed, sizes: np.ndarray, tasks: Tasks, cores: int
) -> dict[str, float]:
    """What no schedule can be faster than, in seconds."""
    moved = traffic(measured, assumed, sizes)
    machines = -(-cores // assumed.machine)
    return {
        "work": sizes.sum() / measured.speed / cores,
        "largest task": float(tasks.seconds[0]),
        "driver": len(tasks.seconds) * (measured.driver + measured.file * tasks.each),
        "storage": moved.bytes / assumed.storage,
        "requests": (moved.gets + moved.puts) / assumed.requests,
        "local disks": sizes.sum() * measured.written_per_token / machines / assumed.disk,
        "start": measured.start,
    }


LINES = {
    "files as they are": (False, {}),
    "at most 64 MB": (True, {}),
    "as they are, 1 loss per hour": (False, {"kills": 1.0}),
    "at most 64 MB, 1 loss per hour": (True, {"kills": 1.0}),
    "the same, 5 attempts": (True, {"kills": 1.0, "attempts": 5}),
}
"""Name of each curve: whether large files were cut before, and other assumptions."""


def results(
    measured: Measured,
    assumed: Assumed,
    seeds: int = SEEDS,
    small: Sequence[int] = (10**6, 10**8),
) -> dict[str, Any]:
    """Simulate everything that the page shows; for each line and number of cores, all seeds."""
    lines: dict[str, dict[str, list[Outcome]]] = {
        name: {str(cores): [] for cores in CORES} for name in LINES
    }
    limits: dict[str, list[dict[str, float]]] = {}
    largest, moved = [], {"False": [], "True": []}
    for seed in range(1, seeds + 1):
        sizes = file_sizes(measured, assumed, seed)
        largest.append([len(sizes), float(sizes.max())])
        files = {False: sizes, True: cut_to_pieces(measured, sizes)}
        made = {cut: tasks_of(measured, each) for cut, each in files.items()}
        for cut, tasks in made.items():
            moved[str(cut)].append(traffic(measured, assumed, files[cut]))
            for cores in CORES:
                name = f"{cores:,}, {'at most 64 MB' if cut else 'as they are'}"
                limit = bounds(measured, assumed, files[cut], tasks, cores)
                limits.setdefault(name, []).append(limit)
        for name, (cut, other) in LINES.items():
            for cores in CORES:
                found = simulate(measured, replace(assumed, **other), made[cut], cores, seed)
                least = moved[str(cut)][-1].least(assumed)
                lines[name][str(cores)].append(found.stretched(least))
        print(seed, flush=True)
    of_small = {}
    for count in small:
        tasks, some = small_files(measured, count), np.full(1000, float(SMALL))
        moved_by_all = Traffic(
            *(each * count / len(some) for each in traffic(measured, assumed, some))
        )
        limit = bounds(measured, assumed, some, tasks, 1000)
        limit["work"] *= count / len(some)
        limit["requests"] *= count / len(some)
        least = moved_by_all.least(assumed)
        of_small[str(count)] = {
            "tasks": len(tasks.seconds),
            "moved": moved_by_all,
            "bounds": limit,
            "runs": [
                simulate(measured, assumed, tasks, 1000, seed).stretched(least)
                for seed in range(1, seeds + 1)
            ],
        }
        print(count, flush=True)
    return {"lines": lines, "limits": limits, "files": largest, "moved": moved, "small": of_small}


MACHINE = "AMD EPYC, 2 cores, Linux x86_64, Python 3.11, Ray 2.60"
COMMANDS = """\
- **Tagging**: raw English text to CoNLL-U with all columns, `seqtag cluster tag -m en --format
  text --workers 1` on a file of 6 MB (1.23 million words in 5.6 s).
- **Shared cores**: on two cores, two workers tagged 1.67, 1.77, and 1.79 times as many words per
  second as one (three runs). All cores of the simulation are slowed down by the median.
- **Overhead per task**: 1,000 files of one sentence took 11.9 s with one worker and 5.6 s with two
  if each had a task of its own, and 2.6 and 1.7 s if they shared tasks, as small files do.
- **Start of a worker**: Python, seqtag, and the model. Ray takes a few seconds more."""

PAGE = """\
# Scale

What it costs to tag a terabyte of text, and how many cores can be used efficiently, by simulation.
`python -m benchmarks.simulation` generates this page; its options change the parameters
(`--measured tokens_per_second=1e6 --assumed kills=1`). [Tag many files on many
machines](how-to/cluster.md) shows how to run such a job.

## Parameters

| measured on one core: {machine} | |
|:---|---:|
{measured}

{commands}

| assumed | |
|:---|---:|
{assumed}

File sizes follow a log-normal distribution: about {files:,.0f} files with {mean:.1f} million words
on average, the largest with {largest} billion. Tables show medians of {seeds} random seeds, and in
brackets the 5% and 95% quantiles. The largest files are processed first.

`seqtag cluster tag` tags each file in one task; if a machine is lost, the tasks on its cores start
again from the beginning. The tables compare these files with files of at most 64 MB, as if all
larger ones had been [split](how-to/cluster.md#large-files) before.

## Number of cores

![Time and utilization against the number of cores](scale/simulation.svg)

{table}
- **hours**: until the last task ends. If files are given up in any of the {seeds} runs, the job is
  not complete, and the table says in how many.
- **utilization**: useful tagging time as a share of all core time.
- **lost**: core hours of work lost with machines.
- **given up**: files that were lost {attempts} times. If machines are lost often, raise
  `--attempts`.

## Limits

No schedule can be faster than the largest of these lower bounds (in seconds, medians). The largest
task is the same with any number of cores:

{bounds}
- **Largest task**: the largest file sets the limit. Losses make it worse: long tasks are lost most
  often, and are given up although their files are valid.
- **Driver**: it starts one task at a time.
- **Storage**: at full speed, {cores:,} cores read and write {wanted:,.0f} GB per second.
- **Requests**: two to find and read a file, and one for each {part:.0f} MB of output.
- **Local disks**: not used if outputs go to an object store.

With files of at most 64 MB, more than about {end:,} cores bring no further benefit. At this number,
the work per core equals the next largest bound ({what}).

## Cost of a terabyte

{cost}

{largest_cost}

## Small files

A million and a hundred million files of {small:,} words each, on 1,000 cores. Files share a task
until it has {most} files or 5 MB, which are about {seconds:g} seconds of work.

{small_table}
{small_text}{beside}"""


def show(figures: Any) -> str:
    """Rows of a table, a figure each."""
    return "\n".join(
        f"| {each.metadata['of']} | {getattr(figures, each.name):,g} |" for each in fields(figures)
    )


def spread(values: Sequence[float], form: str = "{:,.1f}") -> str:
    """Median and quantiles.

    >>> spread([1, 2, 3])
    '2.0 (1.1–2.9)'
    """
    low, middle, high = (form.format(each) for each in np.quantile(values, [0.05, 0.5, 0.95]))
    return f"{middle} ({low}–{high})" if low != high else middle


def hours_of(runs: Sequence[Outcome]) -> str:
    """Hours of runs; in words, if some of them gave files up."""
    bad = sum(run.given_up > 0 for run in runs)
    if bad:
        return f"incomplete in {bad} of {len(runs)} runs"
    return spread([run.seconds / 3600 for run in runs], "{:,.2f}")


def dollars(assumed: Assumed, cores: int, runs: Sequence[Outcome], moved: Sequence[Any]) -> Any:
    """Compute, reading and writing of a job in USD, for each seed."""
    return [
        (
            cores * run.seconds / 3600 * assumed.core_hour,
            each.gets * assumed.get,
            each.puts * assumed.put,
        )
        for run, each in zip(runs, moved, strict=True)
    ]


def plot(lines: dict[str, dict[str, list[Outcome]]], work: float, path: Path) -> None:
    """Time and use against cores, with the quantiles as bars."""
    import matplotlib.pyplot as plt

    from benchmarks.plots import MARKS, STYLE, save

    styles = [(*MARKS[0], "-"), (*MARKS[1], "-"), (*MARKS[0], ":"), (*MARKS[1], ":")]
    styles.append((*MARKS[2], ":"))
    with plt.rc_context(STYLE):
        figure, (time, use) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
        for (name, found), (colour, marker, line) in zip(lines.items(), styles, strict=True):
            look = {"color": colour, "marker": marker, "linestyle": line, "label": name}
            complete = {n: r for n, r in found.items() if not any(run.given_up for run in r)}
            if not complete:
                continue
            at = [int(n) for n in complete]
            for axis, values in (
                (time, [[run.seconds / 3600 for run in runs] for runs in complete.values()]),
                (use, [[100 * run.busy for run in runs] for runs in complete.values()]),
            ):
                low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], axis=1)
                axis.errorbar(at, middle, [middle - low, high - middle], capsize=3, **look)
        ideal = [work / int(cores) / 3600 for cores in found]
        time.plot([int(n) for n in found], ideal, "--", color="#94a3b8", label="work / cores")
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


def page(found: dict[str, Any], machine: str, commands: str, folder: Path) -> str:
    """Return the page of some results; its picture is written next to it."""
    measured, assumed = Measured(**found["measured"]), Assumed(**found["assumed"])
    lines = {
        name: {n: [Outcome(*run) for run in runs] for n, runs in each.items()}
        for name, each in found["lines"].items()
    }
    moved = {split: [Traffic(*each) for each in found["moved"][split]] for split in found["moved"]}
    words = assumed.read / measured.read_per_token
    work = words / measured.speed
    plot(lines, work, folder / "scale" / "simulation.svg")
    rows = [
        [
            name,
            f"{int(cores):,}",
            hours_of(runs),
            spread([100 * run.busy for run in runs], "{:.0f}") + "%",
            spread([run.again / 3600 for run in runs], "{:,.0f}"),
            spread([run.given_up for run in runs], "{:,.0f}"),
        ]
        for name, each in lines.items()
        for cores, runs in each.items()
    ]
    head = ["tasks", "cores", "hours", "utilization", "lost", "given up"]
    middle = {
        name: {key: float(np.median([each[key] for each in seeds])) for key in seeds[0]}
        for name, seeds in found["limits"].items()
    }
    limits = [
        [name]
        + [
            f"**{value:,.0f}**" if value == max(each.values()) else f"{value:,.0f}"
            for value in each.values()
        ]
        for name, each in middle.items()
        if name.endswith("MB") or name == next(iter(middle))
    ]
    floors = {**[each for name, each in middle.items() if name.endswith("MB")][-1]}
    for gone in ("work", "local disks"):
        del floors[gone]
    floor, what = max((value, name) for name, value in floors.items())
    per_second = measured.speed * (measured.read_per_token + measured.written_per_token)
    most = max(map(int, next(iter(lines.values()))))
    bills = []
    for cores, runs in lines["at most 64 MB"].items():
        bill = dollars(assumed, int(cores), runs, moved["True"])
        parts = (*zip(*bill, strict=True), [sum(each) for each in bill])
        bills.append([f"{int(cores):,}", *(spread(each, "{:,.2f}") for each in parts)])
    small_rows = []
    for count, each in found["small"].items():
        runs = [Outcome(*run) for run in each["runs"]]
        [bill] = dollars(assumed, 1000, runs[:1], [Traffic(*each["moved"])])
        small_rows.append(
            [
                f"{int(count):,}",
                f"{each['tasks']:,}",
                hours_of(runs),
                spread([100 * run.busy for run in runs], "{:.0f}") + "%",
                *(f"{each['bounds'][name] / 3600:,.2f}" for name in ("work", "driver", "requests")),
                f"{int(count) * measured.done / 3600:,.2f}",
                *(f"{value:,.2f}" for value in (bill[0], bill[1] + bill[2])),
            ]
        )
    counts = [each[0] for each in found["files"]]
    return PAGE.format(
        machine=machine,
        measured=show(measured),
        commands=commands,
        assumed=show(assumed),
        files=np.median(counts),
        mean=words / np.median(counts) / 1e6,
        seeds=len(counts),
        largest=spread([each[1] / 1e9 for each in found["files"]]),
        table=table(head, rows),
        attempts=assumed.attempts,
        bounds=table(["cores and files", *next(iter(middle.values()))], limits),
        cores=most,
        wanted=most * per_second / 1e9,
        part=assumed.part / 1e6,
        end=int(round(work / floor, -2)),
        what=what,
        cost="\n".join(
            [
                f"- {assumed.read:.3g} bytes / {measured.read_per_token:g} bytes per word = "
                f"{words:.3g} words",
                f"- {words:.3g} words / ({measured.tokens_per_second:,.0f} × {measured.shared:g}) "
                f"words per second / 3,600 = **{work / 3600:,.0f} core hours**",
                f"- {words:.3g} words × {measured.written_per_token:g} bytes per word = "
                f"{words * measured.written_per_token / 1e12:.1f} TB written",
            ]
        ),
        largest_cost=table(
            [
                "cores",
                "USD for cores, also while idle",
                "reading requests",
                "writing requests",
                "together",
            ],
            bills,
        )
        + "\nStoring the output and moving it out of the cloud are not included.",
        small=SMALL,
        most=MOST,
        seconds=WORK,
        small_table=table(
            [
                *("files", "tasks", "hours", "utilization", "work / cores", "driver", "requests"),
                *("driver, all finished", "USD, cores", "USD, requests"),
            ],
            small_rows,
        ),
        small_text=(
            "Work, driver, and requests are lower bounds in hours; *driver, all finished* is the "
            "time of a second\nrun that finds all files finished. Put small files together, such "
            "as in JSON Lines or Parquet: the\nrequests cost more than the cores.\n"
        ),
        beside=beside(folder / "scale" / "cluster.json"),
    )


def main() -> None:
    """Simulate, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--measured", nargs="*", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--assumed", nargs="*", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--machine", default=MACHINE)
    parser.add_argument("--commands", default=COMMANDS, help="how the figures were measured")
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    parser.add_argument("--pages", action="store_true", help="write the page, simulate nothing")
    asked = parser.parse_args()
    store = asked.out / "scale" / STORE.name
    if not asked.pages:
        measured, assumed = changed(Measured(), asked.measured), changed(Assumed(), asked.assumed)
        found = {"measured": asdict(measured), "assumed": asdict(assumed)}
        store.write_text(json.dumps(found | results(measured, assumed)) + "\n", encoding="utf-8")
    found = json.loads(store.read_text(encoding="utf-8"))
    text = page(found, asked.machine, asked.commands, asked.out)
    (asked.out / "scale.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
