"""Tagging many files on a Ray cluster: small files together, large ones in parts.

The driver alone writes the ledger and counts attempts; Ray retries nothing by itself.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.batch.files import Models, TagTask, find_change, kept, models_of_bytes, recipe_of
from seqtag.batch.ledger import BatchReport, FileResult
from seqtag.batch.ranges import Range, Ranges
from seqtag.batch.ray_cluster import ATTEMPTS, require_ray
from seqtag.batch.split import PARTS, cut_file, join_parts, part_of, remove_parts
from seqtag.batch.storage import facts_of, is_address, local_path
from seqtag.errors import ClusterError, SeqtagError
from seqtag.storage.output import remove_leftovers
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from seqtag.batch.jobs import Job
    from seqtag.batch.ledger import Entry, Ledger
    from seqtag.tagging.streams import TagOptions

SPLIT = 64 * 10**6
"""Size in bytes above which a file is split."""

_AHEAD = 2  # tasks in flight for each worker: one runs, one waits
_LOOK = 5.0  # seconds between two counts of the workers
_WORK = 5.0  # seconds of work that small files are put together to
_FIRST = 250_000  # bytes of the first tasks of small files, before their speed is known
_MOST = 500  # files of a task
_MEMORY = 500 * 10**6  # bytes of memory that a task asks for, besides ten times those of its models
_PATIENCE, _SLOWEST = 3600, 10_000  # a file may take an hour, and a second for so many bytes
_AGAIN = 10.0  # seconds between two errors about the time: code may ignore one
_LAST_WORD = 60  # seconds that a worker has to report that a file took too long


class ModelCopy(NamedTuple):
    """A model to send to workers: its name in messages, the digest and the bytes of its file."""

    name: str
    digest: str
    data: bytes


class AttemptError(NamedTuple):
    """The error of an attempt, and whether another attempt is worthwhile."""

    message: str
    retry: bool


Listener: TypeAlias = "Callable[[Entry | None, BatchReport], object]"
"""Function called with each line of the ledger, and with None now and then, and the report."""

Step: TypeAlias = "int | Range | Parts"
"""Step of a file: tag it, or cut it if it is larger than this many bytes (0: never); tag a part; or
join all parts."""


class Parts(NamedTuple):
    """The parts of a file and their results, in their order."""

    ranges: list[Range]
    results: list[FileResult]


class Item(NamedTuple):
    """A step of a file for a worker.

    Attributes
    ----------
    source, target
        Names of the files.
    before
        The last result for the output, if there is one.
    step
        What to do.
    """

    source: str
    target: str
    before: FileResult | None
    step: Step


class WorkerOptions(NamedTuple):
    """What all tasks of a run have in common.

    Attributes
    ----------
    tagging
        How to read, tag and write.
    threads
        Threads of a task.
    verify
        Whether to compare outputs with their digests.
    limit
        Seconds that a file or a part may take; 0 to tell by its size.
    """

    tagging: TagOptions
    threads: int = 1
    verify: bool = False
    limit: float = 0.0


class _Attempt(NamedTuple):
    """An attempt at a step of a file, with its number from 1 and the bytes to read.

    It is alone in its task if it is not small, or a task with others was lost.
    """

    job: Job
    number: int
    step: Step
    bytes: int
    alone: bool = True


@dataclass
class _CutFile:
    """A file in parts, with the results of those that are finished."""

    ranges: list[Range]
    results: dict[Range, FileResult]
    number: int  # of the attempt at the file
    given_up: bool = False


_tidied: set[str] = set()  # folders, by this process: listing many files takes time


def attempt(
    items: Sequence[Item],
    models: Sequence[tuple[str, str, Sequence[Any]]],
    how: WorkerOptions,
) -> list[FileResult | Ranges | AttemptError]:
    """Do one attempt at steps of files, on a worker."""

    def fetch() -> Models:  # from the object store
        ray = require_ray()
        found = [models_of_bytes(ray.get(box[0]), name) for name, _, box in models]
        return Models.of(found)

    def do(item: Item) -> FileResult | Ranges | AttemptError:
        try:
            loaded = kept(tuple(digest for _, digest, _ in models), fetch)
            return _take_step(item, loaded, how)
        except SeqtagError as error:  # the content of a file does not change by itself
            return AttemptError(str(error), retry=False)
        except OSError as error:
            name = f"{error.filename}: " if error.filename else ""
            return AttemptError(f"{name}{error.strerror or error}", retry=True)
        except Exception as error:  # those of builtins are ours, others those of a store
            whose = "internal error: " if type(error).__module__ == "builtins" else ""
            return AttemptError(f"{whose}{type(error).__name__}: {error}", retry=True)

    return [do(item) for item in items]


def _take_step(item: Item, models: Models, how: WorkerOptions) -> FileResult | Ranges:
    """Do a step of a file."""
    source, target, before, step = item
    options = how.tagging
    part = step if isinstance(step, Range) else None
    name = part_of(target, part) if part else target
    _tidy_once(name)
    if isinstance(step, Parts):
        with _time_limit(how.limit or _PATIENCE + step.ranges[-1].end / _SLOWEST):
            return join_parts(source, target, models, options, *step, before=before, tidy=False)
    task = TagTask(source, name, models, options, part, before, verify=how.verify, tidy=False)
    with _time_limit(how.limit or _PATIENCE + task.facts.bytes / _SLOWEST):
        if isinstance(step, int) and 0 < step < task.facts.bytes and task.reason:
            return cut_file(source, models, options, size=step)
        return task.run(how.threads)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise an error if the block takes longer; end the process if it does not react to that."""

    def stop(*_: object) -> None:
        msg = f"expected a result within {seconds:,g} seconds, found none; see --time-limit"
        raise TimeoutError(msg)

    has_alarm = (
        hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    )
    handler = signal.signal(signal.SIGALRM, stop) if has_alarm else None
    try:
        if has_alarm:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        faulthandler.dump_traceback_later(seconds + _LAST_WORD, exit=True, file=2)
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        if has_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)


def _tidy_once(target: str) -> None:
    """Remove what killed processes have left in the folder of a file, once in this process."""
    path = local_path(target)
    if path is not None and (folder := str(Path(path).parent)) not in _tidied:
        _tidied.add(folder)
        remove_leftovers(folder)


def tag_files(
    ray: Any,
    jobs: Sequence[Job],
    models: Sequence[ModelCopy],
    options: TagOptions,
    ledger: Ledger,
    *,
    threads: int = 1,
    attempts: int = ATTEMPTS,
    in_flight: int | None = None,
    split: int = SPLIT,
    time_limit: float = 0.0,
    max_failures: int | None = None,
    verify: bool = False,
    listener: Listener = lambda *_: None,
) -> BatchReport:
    """Tag files on a cluster, each as `seqtag.tag_file` does.

    Files that are finished by the ledger, and unchanged, need no task. Small files share one.

    Parameters
    ----------
    ray
        The module, connected: see `seqtag.batch.ray_cluster.connected`.
    jobs
        The files, and those to write.
    models
        Their bytes travel once to each machine, and a worker keeps them loaded. All jobs use these,
        also if their files change meanwhile.
    options
        How to read, tag and write.
    ledger
        The record of this run and of those before.
    threads
        Threads of a task, which takes as many cores.
    attempts
        Number of attempts for a file whose worker is lost, or that the system cannot read or write.
        An error of the content is final at once.
    in_flight
        Number of tasks at a time; None for two for each worker.
    split
        Files larger than this many bytes are cut into parts of about this size, each a task, and
        joined by one more; 0 to cut none.
    time_limit
        Seconds that an attempt at a file, or a part, may take; 0 for an hour and a second for each
        10 kB.
    max_failures
        Number of files that may be given up; None for any number.
    verify
        Whether to read finished outputs and compare their digests.
    listener
        Called for each line of the ledger, and with None at least every few seconds.

    Returns
    -------
    BatchReport
        Sums and failures.

    Raises
    ------
    ClusterError
        If too many files were given up.
    KeyboardInterrupt
        After all tasks have been ended.
    """
    report, begun = BatchReport(), time.perf_counter()
    recipe = recipe_of([each.digest for each in models], options)
    known = facts_of({name for job in jobs for name in job if name == job.source or name in ledger})
    queue: deque[_Attempt] = deque()
    skipped = 0
    for job in jobs:
        before, facts = ledger.get(job.target), known[job.source]
        written = known.get(job.target)
        change = find_change(before, recipe, facts, written) if facts and not verify else None
        if change == "":
            skipped += 1
            continue
        queue.append(_Attempt(job, 1, split, facts.bytes if facts else 0, alone=False))
    del known
    waiting = sum(each.bytes for each in queue)
    cut_files: dict[Job, _CutFile] = {}
    pending: dict[Any, list[_Attempt]] = {}
    memory = _memory_of(ray, _MEMORY + 10 * sum(len(each.data) for each in models))
    task = ray.remote(attempt).options(num_cpus=threads, memory=memory, max_retries=0)
    how = WorkerOptions(options, threads, verify, time_limit)
    # Inside a list a reference stays one: a worker asks for the bytes when it needs them.
    boxes = [(each.name, each.digest, [ray.put(each.data)]) for each in models]

    def record(entry: Entry) -> None:
        report.count(entry)
        listener(entry, report)

    def finish(done: _Attempt, outcome: FileResult | Ranges | AttemptError) -> list[_Attempt]:
        """Record the outcome of an attempt; return the attempts that follow from it."""
        job, number, step, *_ = done
        if isinstance(outcome, FileResult) and isinstance(step, Range):
            cut = cut_files[job]
            result = replace(outcome, source=job.source, target=part_of(job.target, step))
            cut.results[step] = result
            record(ledger.add(result, part=True, attempts=number))
            if len(cut.results) < len(cut.ranges) or cut.given_up:
                return []
            parts = Parts(cut.ranges, [cut.results[each] for each in cut.ranges])
            return [_Attempt(job, cut.number, parts, 0)]
        if isinstance(outcome, FileResult):
            is_joined = isinstance(step, Parts)
            if job.target in ledger.cut and not is_joined:
                remove_parts(job.target)
            result = replace(outcome, source=job.source, target=job.target)
            record(ledger.add(result, joined=is_joined, attempts=number))
            return []
        if isinstance(outcome, Ranges):
            if not outcome.ranges:
                uncut = {"status": "uncut", "source": job.source, "error": outcome.reason}
                record(ledger.append(uncut))
                return [done._replace(step=0, alone=True)]
            record(ledger.add_cut(*job, len(outcome.ranges)))
            cut_files[job] = _CutFile(outcome.ranges, {}, number)
            return [_Attempt(job, 1, part, part.end - part.start) for part in outcome.ranges]
        message = outcome.message
        if isinstance(step, Range):
            if cut_files[job].given_up:  # a file fails once, whatever happens to its other parts
                return []
            message = f"bytes {step.start:,} to {step.end:,}: {message}"
        retry = outcome.retry and number < attempts
        status = "lost" if retry else "failed"
        entry = {"status": status, "source": job.source, "attempts": number, "error": message}
        if retry and isinstance(step, Parts):  # parts may be missing: the others are kept
            entry["bytes"] = step.ranges[-1].end
            record(ledger.append(entry))
            return [_Attempt(job, number + 1, split, step.ranges[-1].end)]
        record(ledger.append(entry))
        if retry:
            return [done._replace(number=number + 1, alone=True)]
        if isinstance(step, Range):
            cut_files[job].given_up = True
        return []

    def take() -> list[_Attempt]:
        """Take steps for a task from the queue: one, or small files for some seconds of work."""
        nonlocal waiting
        taken, size = [queue.popleft()], 0
        if report.seconds_in_tasks > 1:
            most = report.bytes_read / report.seconds_in_tasks * _WORK
        else:
            most = _FIRST
        most = min(most, waiting / (_AHEAD * 2 * report.workers))  # the last tasks end together
        while True:
            size += taken[-1].bytes
            waiting -= taken[-1].bytes
            is_last = not queue or len(taken) == _MOST or size + queue[0].bytes > most
            if is_last or taken[0].alone or queue[0].alone:
                return taken
            taken.append(queue.popleft())

    def run() -> None:
        nonlocal waiting
        counted = -_LOOK
        while queue or pending:
            if time.monotonic() - counted > _LOOK:  # workers may come and go
                counted = time.monotonic()
                report.workers = max(report.workers, _count_workers(ray, threads, memory))
            while queue and len(pending) < (in_flight or _AHEAD * report.workers):
                if isinstance(queue[0].step, Range) and cut_files[queue[0].job].given_up:
                    waiting -= queue.popleft().bytes
                    continue
                new = take()
                items = [_item_of(each, ledger) for each in new]
                pending[task.remote(items, boxes, how)] = new
            if not pending:
                continue
            ready, rest = ray.wait(list(pending), timeout=_LOOK, fetch_local=False)
            if ready and rest:
                ready += ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)[0]
            report.seconds = time.perf_counter() - begun
            listener(None, report)
            for ref in ready:
                done = pending.pop(ref)
                try:
                    outcomes = ray.get(ref)
                except ray.exceptions.RayError as error:
                    lines = str(error).strip().splitlines() or [type(error).__name__]
                    lost = AttemptError(f"the worker was lost: {lines[0]}", retry=True)
                    outcomes = [lost] * len(done)
                if len(done) > 1 and outcomes[0] is outcomes[-1]:
                    # Which of the files it was shows when each is alone.
                    first = {"source": done[0].job.source, "files": len(done), "attempts": 1}
                    record(ledger.append({"status": "lost", **first, "error": lost.message}))
                    following = [each._replace(alone=True) for each in done]
                else:
                    following = [
                        new
                        for each, outcome in zip(done, outcomes, strict=True)
                        for new in finish(each, outcome)
                    ]
                waiting += sum(each.bytes for each in following)
                queue.extendleft(reversed(following))
            if max_failures is not None and len(report.failures) > max_failures:
                end(stopped=True)
                msg = (
                    f"expected at most {max_failures} failed files, found {len(report.failures)}; "
                    f"see {ledger.path}, correct the cause, and run the same command to continue"
                )
                raise ClusterError(msg)

    def end(*, stopped: bool) -> None:
        seconds = round(time.perf_counter() - begun, 3)
        entry = {"seconds": seconds, "workers": report.workers, "stopped": stopped}
        record(ledger.append({"status": "end"} | entry))

    record(
        ledger.begin(
            begun=round(time.time(), 3),
            files=len(jobs),
            skipped=skipped,
            bytes=waiting,
            version=__version__,
            models=[{"name": each.name, "sha256": each.digest} for each in models],
            options=options.as_json(),
            recipe=recipe,
        )
    )
    try:
        run()
    except BaseException:
        for ref in pending:
            ray.cancel(ref, force=True)
        if pending:
            ray.wait(list(pending), num_returns=len(pending), timeout=10)
        raise
    finally:  # remove what killed workers have left next to the files of these jobs and their parts
        paths = [local_path(job.target) for job in jobs]
        folders = {Path(path).parent for path in paths if path is not None}
        cut = [local_path(job.target + PARTS) for job in cut_files]
        folders |= {Path(path) for path in cut if path is not None}
        for folder in folders:
            remove_leftovers(folder)
    end(stopped=False)
    return report


def _item_of(attempt: _Attempt, ledger: Ledger) -> Item:
    """Return what a worker gets to know, with names that are valid in any folder."""
    (source, target), step = attempt.job, attempt.step
    name = part_of(target, step) if isinstance(step, Range) else target
    return Item(_absolute(source), _absolute(target), ledger.get(name), step)


def _memory_of(ray: Any, wanted: int) -> int:
    """Return the memory to ask for: what is wanted, or what the largest machine has."""
    return min(wanted, max((int(node.get("memory", 0)) for node in _nodes(ray)), default=0))


def _count_workers(ray: Any, threads: int, memory: int) -> int:
    """Return the number of tasks that can run at a time."""
    counts = [
        min(int(node.get("CPU", 0)) // threads, int(node.get("memory", 0)) // max(memory, 1))
        for node in _nodes(ray)
    ]
    return max(sum(counts), 1)


def _nodes(ray: Any) -> list[dict[str, float]]:
    """Return the resources of the machines of a cluster."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def _absolute(name: str) -> str:
    """Return a path that is valid in any folder; addresses are."""
    return name if is_address(name) else os.path.abspath(name)  # noqa: PTH100  links stay
