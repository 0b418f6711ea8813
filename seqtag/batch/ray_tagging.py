"""Tagging many files on a Ray cluster, small files together.

The driver alone writes the ledger and counts attempts. Ray's own `max_retries` would repeat a task
of many files as often as one of them kills its worker, and without end if memory is short.
"""

from __future__ import annotations

import faulthandler
import os
import time
from collections import deque
from dataclasses import KW_ONLY, dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.batch.files import find_change, recipe_of, tag_file
from seqtag.batch.ledger import BatchReport, FileResult
from seqtag.batch.ray_cluster import ATTEMPTS, require_ray
from seqtag.batch.storage import absolute, facts_of_all, local_path
from seqtag.errors import ClusterError, SeqtagError
from seqtag.storage.output import remove_leftovers
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from seqtag.batch.files import Models
    from seqtag.batch.jobs import Job
    from seqtag.batch.ledger import Entry, Ledger
    from seqtag.tagging.streams import TagOptions

_AHEAD = 2  # tasks in flight for each worker: one runs, one waits
_LOOK = 5.0  # seconds between two counts of the workers
_TASK_BYTES, _TASK_FILES = 5 * 10**6, 500  # of small files in a task
_MEMORY = 600 * 10**6  # bytes of memory that a task asks for
_PATIENCE, _SLOWEST = 3600, 10_000  # a step may take an hour, and a second for so many bytes

Listener: TypeAlias = "Callable[[Entry | None, BatchReport], object]"
"""Function called with each line of the ledger, and with None now and then, and the report."""


class Step(NamedTuple):
    """An attempt at a file.

    Attributes
    ----------
    job
        The file to tag, and the file to write.
    bytes
        Number of bytes to read.
    attempt
        Number of the attempt, from 1.
    """

    job: Job
    bytes: int
    attempt: int = 1


class AttemptError(NamedTuple):
    """The error of an attempt, and whether another attempt is worthwhile."""

    message: str
    retry: bool

    @classmethod
    def of(cls, error: Exception) -> AttemptError:
        """Return what to record of an error."""
        if isinstance(error, SeqtagError):  # the content of a file does not change by itself
            return cls(str(error), retry=False)
        if isinstance(error, OSError):
            name = f"{error.filename}: " if error.filename else ""
            return cls(f"{name}{error.strerror or error}", retry=True)
        # Those of builtins are ours, others those of a store.
        whose = "internal error: " if type(error).__module__ == "builtins" else ""
        return cls(f"{whose}{type(error).__name__}: {error}", retry=True)


# --------------------------------------------------------------------------- on a worker
_models: dict[tuple[str, ...], Models] = {}  # those of the run, by their digests


def attempt(
    items: Sequence[tuple[Step, FileResult | None]],
    digests: tuple[str, ...],
    box: Sequence[Any],
    limit: float,
    how: Mapping[str, Any],
) -> list[FileResult | AttemptError]:
    """Do attempts at some files, on a worker.

    Parameters
    ----------
    items
        The files, each with the last result for its output.
    digests, box
        The digests of the models, and a reference to the models, which is fetched once.
    limit
        Seconds that a file may take; 0 to tell by its size.
    how
        Arguments of `seqtag.tag_file` that all files have in common.
    """
    results: list[FileResult | AttemptError] = []
    for step, before in items:
        # A process that takes too long ends; its log has the stacks of its threads.
        seconds = limit or _PATIENCE + step.bytes / _SLOWEST
        faulthandler.dump_traceback_later(seconds, exit=True, file=2)
        try:
            if digests not in _models:  # inside a list a reference stays one until here
                _models[digests] = require_ray().get(box[0])
            model = _models[digests]
            results.append(tag_file(*step.job, model, before=before, tidy=False, **how))
        except Exception as error:
            results.append(AttemptError.of(error))
        finally:
            faulthandler.cancel_dump_traceback_later()
    return results


# --------------------------------------------------------------------------- on the driver
@dataclass(eq=False)
class TagRun:
    """A run over many files on a cluster, each of which is tagged as by `seqtag.tag_file`.

    Files that are finished by the ledger, and unchanged, need no task. Small files share one.

    Parameters
    ----------
    ray
        The module, connected: see `seqtag.batch.ray_cluster.connected`.
    models
        They travel once to each machine, and a worker keeps them loaded. All jobs use these, also
        if their files change meanwhile.
    options
        How to read, tag and write.
    ledger
        The record of this run and of those before.
    threads
        Threads of a task, which takes as many cores.
    attempts
        Number of attempts for a file whose worker is lost, or that the system cannot read or write.
        An error of the content is final at once.
    time_limit
        Seconds that an attempt at a file may take; 0 for an hour and a second for each 10 kB.
    max_failures
        Number of files that may be given up; None for any number.
    verify
        Whether to read finished outputs and compare their digests.
    listener
        Called for each line of the ledger, and with None at least every few seconds.
    """

    ray: Any
    models: Models
    options: TagOptions
    ledger: Ledger
    _: KW_ONLY
    threads: int = 1
    attempts: int = ATTEMPTS
    time_limit: float = 0.0
    max_failures: int | None = None
    verify: bool = False
    listener: Listener = lambda *_: None

    def __post_init__(self) -> None:
        self._begun, self._report = time.perf_counter(), BatchReport()
        self._queue: deque[list[Step]] = deque()
        self._pending: dict[Any, list[Step]] = {}
        memory = min(_MEMORY, *(int(node.get("memory", 0)) for node in _nodes(self.ray)))
        task = self.ray.remote(attempt)
        self._task = task.options(num_cpus=self.threads, memory=memory, max_retries=0)
        self._box = [self.ray.put(self.models)]

    def tag(self, jobs: Sequence[Job], names: Sequence[str] = ()) -> BatchReport:
        """Tag files; return sums and failures.

        Parameters
        ----------
        jobs
            The files, and those to write.
        names
            Names of the models, for the ledger.

        Raises
        ------
        ClusterError
            If too many files were given up.
        KeyboardInterrupt
            After all tasks have been ended.
        """
        report, recipe = self._report, recipe_of(self.models.digests, self.options)
        steps = self._steps(jobs, recipe)
        report.workers = _count_workers(self.ray, self.threads)
        self._queue.extend(_grouped(steps, report.workers))
        named = zip(names, self.models.digests, strict=False)
        plan = {
            "begun": round(time.time(), 3),
            "files": len(jobs),
            "skipped": len(jobs) - len(steps),
            "version": __version__,
            "models": [{"name": name, "sha256": digest} for name, digest in named],
            "options": self.options.as_json(),
            "recipe": recipe,
        }
        self._record(self.ledger.append({"status": "run"} | plan))
        try:
            self._loop()
        except BaseException:
            pending = list(self._pending)
            for ref in pending:
                self.ray.cancel(ref, force=True)
            if pending:
                self.ray.wait(pending, num_returns=len(pending), timeout=10)
            raise
        finally:  # remove what killed workers have left next to the files of these jobs
            targets = {os.path.dirname(job.target) for job in jobs}  # noqa: PTH120  also of addresses
            for folder in filter(None, map(local_path, targets)):
                remove_leftovers(folder)
        seconds = round(time.perf_counter() - self._begun, 3)
        end = {"status": "end", "seconds": seconds, "workers": report.workers}
        self._record(self.ledger.append(end))
        return report

    def _steps(self, jobs: Sequence[Job], recipe: str) -> list[Step]:
        """Return the first attempt at each file that is not finished."""
        ledger, steps = self.ledger, []
        known = facts_of_all(
            {name for job in jobs for name in job if name == job.source or name in ledger}
        )
        for job in jobs:
            facts, written = known[job.source], known.get(job.target)
            before = ledger.get(job.target)
            change = find_change(before, recipe, facts, written) if facts else "new"
            if change != "" or self.verify:
                steps.append(Step(job, facts.bytes if facts else 0))
        return steps

    def _loop(self) -> None:
        """Keep tasks in progress until all files are done."""
        ray, report, queue, pending = self.ray, self._report, self._queue, self._pending
        counted = time.monotonic()
        while queue or pending:
            if time.monotonic() - counted > _LOOK:  # workers may come and go
                counted = time.monotonic()
                report.workers = max(report.workers, _count_workers(ray, self.threads))
            while queue and len(pending) < _AHEAD * report.workers:
                self._submit(queue.popleft())
            ready, rest = ray.wait(list(pending), timeout=_LOOK, fetch_local=False)
            if ready and rest:
                ready += ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)[0]
            report.seconds = time.perf_counter() - self._begun
            self.listener(None, report)
            for ref in ready:
                done = pending.pop(ref)
                try:
                    outcomes = ray.get(ref)
                except ray.exceptions.RayError as error:
                    self._lose(done, error)
                    continue
                for step, outcome in zip(done, outcomes, strict=True):
                    self._finish(step, outcome)
            if self.max_failures is not None and len(report.failures) > self.max_failures:
                msg = (
                    f"expected at most {self.max_failures} failed files, found "
                    f"{len(report.failures)}; see {self.ledger.path}, correct the cause, and run "
                    "the same command to continue"
                )
                raise ClusterError(msg)

    def _record(self, entry: Entry) -> None:
        self._report.count(entry)
        self.listener(entry, self._report)

    def _submit(self, steps: list[Step]) -> None:
        items = []
        for step in steps:
            source, target = step.job
            job = step.job._replace(source=absolute(source), target=absolute(target))
            items.append((step._replace(job=job), self.ledger.get(target)))
        how = {"options": self.options, "threads": self.threads, "verify": self.verify}
        ref = self._task.remote(items, self.models.digests, self._box, self.time_limit, how)
        self._pending[ref] = steps

    def _finish(self, step: Step, outcome: FileResult | AttemptError) -> None:
        """Record the outcome of an attempt; queue another one if that is worthwhile."""
        (source, target), _, number = step
        if isinstance(outcome, FileResult):
            result = replace(outcome, source=source, target=target)
            self._record(self.ledger.add(result, attempts=number))
            return
        retry = outcome.retry and number < self.attempts
        status = "lost" if retry else "failed"
        entry = {"status": status, "source": source, "attempts": number, "error": outcome.message}
        self._record(self.ledger.append(entry))
        if retry:
            self._queue.appendleft([step._replace(attempt=number + 1)])

    def _lose(self, steps: list[Step], error: Exception) -> None:
        """Record that a worker was lost; queue its files, each alone."""
        lines = str(error).strip().splitlines() or [type(error).__name__]
        limit = f"; see --time-limit, {self.time_limit:g} s" if self.time_limit else ""
        lost = AttemptError(f"the worker was lost: {lines[0]}{limit}", retry=True)
        if len(steps) == 1:
            self._finish(steps[0], lost)
            return
        first = {"source": steps[0].job.source, "files": len(steps), "attempts": 1}
        self._record(self.ledger.append({"status": "lost", **first, "error": lost.message}))
        self._queue.extendleft([step] for step in reversed(steps))


def _grouped(steps: Sequence[Step], workers: int) -> Iterator[list[Step]]:
    """Put small files together, so that a task takes some seconds; the largest ones come first."""
    left = sum(step.bytes for step in steps)
    group: list[Step] = []
    size = 0
    for step in sorted(steps, key=attrgetter("bytes"), reverse=True):
        most = min(_TASK_BYTES, left / (2 * _AHEAD * workers))
        if group and (size + step.bytes > most or len(group) == _TASK_FILES):
            yield group
            left, group, size = left - size, [], 0
        group.append(step)
        size += step.bytes
    if group:
        yield group


def _nodes(ray: Any) -> list[dict[str, float]]:
    """Return the resources of the machines of a cluster."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def _count_workers(ray: Any, threads: int) -> int:
    """Return the number of tasks that can run at a time."""
    return max(1, sum(int(node.get("CPU", 0)) // threads for node in _nodes(ray)))
