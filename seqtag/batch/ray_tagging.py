"""Tagging many files on a Ray cluster, small files together.

Ray repeats the task of a file whose worker dies, or that cannot be read or written. A task of
several files is not repeated: each file without a result gets its own, so that one file that kills
its worker costs the others no more than that. The driver alone writes the ledger.
"""

from __future__ import annotations

import faulthandler
import os
import time
from collections import deque
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.batch.files import find_change, recipe_of, tag_file
from seqtag.batch.jobs import Job
from seqtag.batch.ledger import BatchReport, FileResult
from seqtag.batch.ray_cluster import ATTEMPTS, require_ray
from seqtag.batch.storage import absolute, facts_of_all, local_path
from seqtag.errors import SeqtagError
from seqtag.storage.output import remove_leftovers
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from seqtag.batch.files import Models
    from seqtag.batch.ledger import Entry, Ledger
    from seqtag.tagging.streams import TagOptions

_AHEAD = 2  # tasks in flight for each worker: one runs, one waits
_LOOK = 5.0  # seconds between two counts of the workers
_TASK_BYTES, _TASK_FILES = 5 * 10**6, 500  # of small files in a task
_MEMORY = 600 * 10**6  # bytes of memory that a task asks for
_PATIENCE, _SLOWEST = 3600, 10_000  # a file may take an hour, and a second for so many bytes

Listener: TypeAlias = "Callable[[Entry | None, BatchReport], object]"
"""Function called with each line of the ledger, and with None now and then, and the report."""


class Step(NamedTuple):
    """A file to tag.

    Attributes
    ----------
    job
        The file to tag, and the file to write.
    bytes
        Number of bytes to read.
    before
        The last result for the output.
    """

    job: Job
    bytes: int
    before: FileResult | None


# --------------------------------------------------------------------------- on a worker
_models: dict[tuple[str, ...], Models] = {}  # those of the run, by their digests


def tag_steps(
    steps: Sequence[Step],
    digests: tuple[str, ...],
    box: Sequence[Any],
    limit: float,
    how: Mapping[str, Any],
) -> list[FileResult | str | None]:
    """Tag files, on a worker.

    Parameters
    ----------
    steps
        The files.
    digests, box
        The digests of the models, and a reference to the models, which is fetched once.
    limit
        Seconds that a file may take; 0 to tell by its size.
    how
        Arguments of `seqtag.tag_file` that all files have in common.

    Returns
    -------
    list
        For each file its result, or the error in its content, or None for any other error.

    Raises
    ------
    RuntimeError
        Instead of None if there is only one file.
    """
    outcomes: list[FileResult | str | None] = []
    for job, size, before in steps:
        # A process that takes too long ends; its log has the stacks of its threads.
        seconds = limit or _PATIENCE + size / _SLOWEST
        faulthandler.dump_traceback_later(seconds, exit=True, file=2)
        try:
            if digests not in _models:  # inside a list a reference stays one until here
                _models[digests] = require_ray().get(box[0])
            model = _models[digests]
            outcomes.append(tag_file(*job, model, before=before, tidy=False, **how))
        except SeqtagError as error:  # the content of a file does not change by itself
            outcomes.append(str(error))
        except Exception as error:
            if len(steps) == 1:
                raise RuntimeError(_describe(error)) from None
            outcomes.append(None)
        finally:
            faulthandler.cancel_dump_traceback_later()
    return outcomes


def _describe(error: Exception) -> str:
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror or error}"
    # Those of builtins are ours, others those of a store.
    whose = "internal error: " if type(error).__module__ == "builtins" else ""
    return f"{whose}{type(error).__name__}: {error}"


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
        Number of attempts for a file whose worker dies, or that cannot be read or written. An error
        of the content is final at once.
    time_limit
        Seconds that an attempt at a file may take; 0 for an hour and a second for each 10 kB.
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
    verify: bool = False
    listener: Listener = lambda *_: None

    def __post_init__(self) -> None:
        self._begun, self._report = time.perf_counter(), BatchReport()
        memory = min(_MEMORY, *(int(node.get("memory", 0)) for node in _nodes(self.ray)))
        task = partial(self.ray.remote(tag_steps).options, num_cpus=self.threads, memory=memory)
        self._group_task = task(max_retries=0, retry_exceptions=False)
        self._file_task = task(max_retries=self.attempts - 1, retry_exceptions=True)
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
        KeyboardInterrupt
            After all tasks have been ended.
        """
        report, recipe = self._report, recipe_of(self.models.digests, self.options)
        steps = self._steps(jobs, recipe)
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
            with closing(self._outcomes(steps)) as tasks:
                for task in tasks:
                    report.seconds = time.perf_counter() - self._begun
                    self.listener(None, report)
                    for step, outcome in task:
                        self._finish(step.job, outcome)
        finally:  # remove what killed workers have left next to the files of these jobs
            targets = {os.path.dirname(job.target) for job in jobs}  # noqa: PTH120  also of addresses
            for folder in filter(None, map(local_path, targets)):
                remove_leftovers(folder)
        seconds = round(time.perf_counter() - self._begun, 3)
        end = {"status": "end", "seconds": seconds, "workers": report.workers}
        self._record(self.ledger.append(end))
        return report

    def _steps(self, jobs: Sequence[Job], recipe: str) -> list[Step]:
        """Return the files that are not finished."""
        ledger, steps = self.ledger, []
        known = facts_of_all(
            {name for job in jobs for name in job if name == job.source or name in ledger}
        )
        for job in jobs:
            facts, written = known[job.source], known.get(job.target)
            before = ledger.get(job.target)
            change = find_change(before, recipe, facts, written) if facts else "new"
            if change != "" or self.verify:
                steps.append(Step(job, facts.bytes if facts else 0, before))
        return steps

    def _outcomes(
        self, steps: Sequence[Step]
    ) -> Generator[list[tuple[Step, FileResult | str]], None, None]:
        """Yield the results or errors of the files of each task, and nothing now and then."""
        ray, report = self.ray, self._report
        report.workers = _count_workers(ray, self.threads)
        queue = deque(_grouped(steps, report.workers))
        pending: dict[Any, list[Step]] = {}
        counted = time.monotonic()
        try:
            while queue or pending:
                if time.monotonic() - counted > _LOOK:  # workers may come and go
                    counted = time.monotonic()
                    report.workers = max(report.workers, _count_workers(ray, self.threads))
                while queue and len(pending) < _AHEAD * report.workers:
                    group = queue.popleft()
                    pending[self._submit(group)] = group
                ready, rest = ray.wait(list(pending), timeout=_LOOK, fetch_local=False)
                if ready and rest:
                    ready += ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)[0]
                if not ready:
                    yield []
                for ref in ready:
                    group = pending.pop(ref)
                    found = [*zip(group, self._get(ref, len(group)), strict=True)]
                    queue.extendleft([step] for step, outcome in found if outcome is None)
                    yield [(step, outcome) for step, outcome in found if outcome is not None]
        finally:
            for ref in pending:
                ray.cancel(ref, force=True)
            if pending:
                ray.wait(list(pending), num_returns=len(pending), timeout=10)

    def _submit(self, group: Sequence[Step]) -> Any:
        task = self._file_task if len(group) == 1 else self._group_task
        given = [step._replace(job=Job(*map(absolute, step.job))) for step in group]
        how = {"options": self.options, "threads": self.threads, "verify": self.verify}
        return task.remote(given, self.models.digests, self._box, self.time_limit, how)

    def _get(self, ref: Any, files: int) -> list[FileResult | str | None]:
        """Return what a task returned, or an error if there was only one file."""
        errors = self.ray.exceptions
        try:
            found: list[FileResult | str | None] = self.ray.get(ref)
        except errors.RayError as error:
            if files > 1:
                return [None] * files
            if isinstance(error, errors.RayTaskError):
                return [str(error.cause)]
            lines = str(error).strip().splitlines() or [type(error).__name__]
            limit = f"; see --time-limit, {self.time_limit:g} s" if self.time_limit else ""
            return [f"the worker was lost: {lines[0]}{limit}"]
        return found

    def _finish(self, job: Job, outcome: FileResult | str) -> None:
        """Record the result of a file, or its error."""
        if isinstance(outcome, FileResult):
            entry = self.ledger.add(replace(outcome, source=job.source, target=job.target))
        else:
            failure = {"status": "failed", "source": job.source, "error": outcome}
            entry = self.ledger.append(failure)
        self._record(entry)

    def _record(self, entry: Entry) -> None:
        self._report.count(entry)
        self.listener(entry, self._report)


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
