"""Tagging many files on a Ray cluster: a task for each, a few more at a time than workers.

Each task calls `seqtag.tag_file` or, for large files in parts, `seqtag.batch.split`. The driver
alone counts attempts; Ray retries nothing by itself.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.batch.files import FileResult, Models, TagTask, kept, models_of_bytes, tag_file
from seqtag.batch.ranges import Range, Ranges
from seqtag.batch.ray_cluster import require_ray
from seqtag.batch.split import PARTS, cut_file, join_parts, part_of, remove_parts
from seqtag.batch.storage import is_address, place_of
from seqtag.errors import SeqtagError
from seqtag.storage.output import remove_leftovers
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seqtag.batch.jobs import Job
    from seqtag.tagging.streams import TagOptions

ATTEMPTS = 3
"""Number of attempts for a file."""

_AHEAD = 2  # tasks in flight for each worker: one runs, one waits
_LOOK = 5.0  # seconds between two counts of the workers


class ModelCopy(NamedTuple):
    """A model to send to workers: its name in messages, the digest and the bytes of its file."""

    name: str
    digest: str
    data: bytes


class AttemptError(NamedTuple):
    """The error of an attempt, and whether another attempt is worthwhile."""

    message: str
    retry: bool


@dataclass(frozen=True)
class Failure:
    """A file that was given up, with the number of attempts and the last error."""

    file: str
    attempts: int
    error: str


@dataclass
class BatchReport:
    """Result of tagging many files: sums, and the failures.

    Attributes
    ----------
    tagged, skipped
        Number of files that were tagged, and that had been tagged before.
    sentences, tokens, bytes_read, bytes_written, seconds_in_tasks
        Sums over files that were tagged, and parts of files.
    parts
        Number of parts of large files.
    uncut
        Reasons why large files were not cut, with their counts.
    formats
        Formats of the inputs, with their counts.
    failures
        Files that were given up.
    attempts_lost
        Number of attempts that failed and were followed by another.
    seconds
        Time from the first task to the last result.
    workers
        The largest number of workers.
    """

    tagged: int = 0
    skipped: int = 0
    sentences: int = 0
    tokens: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    seconds_in_tasks: float = 0.0
    parts: int = 0
    uncut: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    attempts_lost: int = 0
    seconds: float = 0.0
    workers: int = 0

    @property
    def tokens_per_second(self) -> int:
        """Tokens per second of wall time."""
        return round(self.tokens / self.seconds) if self.seconds else 0

    def add(self, result: FileResult, *, joined: bool = False) -> None:
        """Count a finished file; if it was joined, its parts have been counted."""
        self.formats[result.format] += 1
        if result.status == "skipped":
            self.skipped += 1
            return
        self.tagged += 1
        self.bytes_written += result.bytes_written
        self.seconds_in_tasks += result.seconds
        if not joined:
            self._add_words(result)

    def add_part(self, result: FileResult) -> None:
        """Count a finished part of a file."""
        self.parts += 1
        if result.status == "tagged":
            self.seconds_in_tasks += result.seconds
            self._add_words(result)

    def _add_words(self, result: FileResult) -> None:
        self.sentences += result.sentences
        self.tokens += result.tokens
        self.bytes_read += result.bytes_read

    def as_json(self) -> dict[str, Any]:
        """Return the sums for the summary."""
        return {
            "version": __version__,
            "files": self.tagged + self.skipped + len(self.failures),
            "tagged": self.tagged,
            "skipped": self.skipped,
            "failed": len(self.failures),
            "attempts_lost": self.attempts_lost,
            "parts": self.parts,
            "uncut": dict(sorted(self.uncut.items())),
            "sentences": self.sentences,
            "tokens": self.tokens,
            "bytes_read": self.bytes_read,
            "bytes_written": self.bytes_written,
            "workers": self.workers,
            "seconds": round(self.seconds, 3),
            "seconds_in_tasks": round(self.seconds_in_tasks, 3),
            "tokens_per_second": self.tokens_per_second,
            "formats": dict(sorted(self.formats.items())),
        }


Listener: TypeAlias = "Callable[[FileResult | Failure | None, BatchReport], object]"
"""Function called with the result of each file (None for a part) and the report so far."""

Step: TypeAlias = "int | Range | list[Range]"
"""Step of a task: tag a file, or cut it if it is larger than this many bytes (0: never); tag a
part; or join all parts."""


class _Attempt(NamedTuple):
    """An attempt at a step of a file, with its number from 1."""

    job: Job
    number: int
    step: Step


@dataclass
class _CutFile:
    """A file in parts, with the number of parts that are not finished."""

    parts: list[Range]
    left: int
    given_up: bool = False


_tidied: set[str] = set()  # folders, by this process: listing many files takes time


def attempt(
    source: str,
    target: str,
    models: Sequence[tuple[str, str, Sequence[Any]]],
    options: TagOptions,
    threads: int,
    step: Step = 0,
) -> FileResult | Ranges | AttemptError:
    """Do one attempt at a step of a file, on a worker."""

    def fetch() -> Models:  # from the object store
        ray = require_ray()
        found = [models_of_bytes(ray.get(box[0]), name) for name, _, box in models]
        return Models.of(found)

    try:
        loaded = kept(tuple(digest for _, digest, _ in models), fetch)
        _tidy_once(target)
        if isinstance(step, Range):
            name = part_of(target, step)
            _tidy_once(name)
            return tag_file(source, name, loaded, options, threads=threads, part=step, tidy=False)
        if isinstance(step, list):
            return join_parts(source, target, loaded, options, step, tidy=False)
        facts = place_of(source).facts() if step else None
        is_large = facts is not None and facts.bytes > step
        if is_large and TagTask(source, target, loaded, options).reason:
            return cut_file(source, loaded, options, size=step)
        result = tag_file(source, target, loaded, options, threads=threads, tidy=False)
        remove_parts(target)
        return result
    except SeqtagError as error:  # the content of a file does not change by itself
        return AttemptError(str(error), retry=False)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return AttemptError(f"{name}{error.strerror or error}", retry=True)
    except Exception as error:
        return AttemptError(f"internal error: {type(error).__name__}: {error}", retry=True)


def _tidy_once(target: str) -> None:
    """Remove what killed processes have left in the folder of a file, once in this process."""
    folder = os.path.dirname(target)  # noqa: PTH120  an address stays one
    if folder not in _tidied and not is_address(target):
        _tidied.add(folder)
        remove_leftovers(folder)


def tag_files(
    ray: Any,
    jobs: Sequence[Job],
    models: Sequence[ModelCopy],
    options: TagOptions,
    *,
    threads: int = 1,
    attempts: int = ATTEMPTS,
    in_flight: int | None = None,
    split: int = 0,
    listener: Listener = lambda *_: None,
) -> BatchReport:
    """Tag files on a cluster, each as `seqtag.tag_file` does.

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
    listener
        Called for each file that is finished or given up, and with None for a part of one.

    Returns
    -------
    BatchReport
        Sums and failures.

    Raises
    ------
    KeyboardInterrupt
        After all tasks have been ended.
    """
    report = BatchReport()
    cut_files: dict[Job, _CutFile] = {}
    pending: dict[Any, _Attempt] = {}
    task = ray.remote(attempt).options(num_cpus=threads, max_retries=0)
    # Inside a list a reference stays one: a worker asks for the bytes when it needs them.
    boxes = [(each.name, each.digest, [ray.put(each.data)]) for each in models]

    def finish(done: _Attempt, outcome: FileResult | Ranges | AttemptError) -> list[_Attempt]:
        """Record the outcome of an attempt; return the attempts that follow from it."""
        job, number, step = done
        if isinstance(outcome, FileResult) and isinstance(step, Range):
            cut = cut_files[job]
            cut.left -= 1
            report.add_part(outcome)
            listener(None, report)
            return [] if cut.left or cut.given_up else [_Attempt(job, 1, cut.parts)]
        if isinstance(outcome, FileResult):
            report.add(outcome, joined=isinstance(step, list))
            listener(outcome, report)
            return []
        if isinstance(outcome, Ranges):
            if not outcome.ranges:
                report.uncut[outcome.reason] += 1
                return [done._replace(step=0)]
            cut_files[job] = _CutFile(outcome.ranges, len(outcome.ranges))
            return [_Attempt(job, 1, part) for part in outcome.ranges]
        if outcome.retry and number < attempts:
            report.attempts_lost += 1
            return [done._replace(number=number + 1)]
        message = outcome.message
        if isinstance(step, Range):
            if cut_files[job].given_up:  # a file fails once, whatever happens to its other parts
                return []
            cut_files[job].given_up = True
            message = f"bytes {step.start:,} to {step.end:,}: {message}"
        failure = Failure(job.source, number, message)
        report.failures.append(failure)
        listener(failure, report)
        return []

    def run() -> None:
        begun, counted = time.perf_counter(), -_LOOK
        queue = deque(_Attempt(job, 1, split) for job in jobs)
        while queue or pending:
            if time.monotonic() - counted > _LOOK:  # workers may come and go
                counted = time.monotonic()
                cores = int(ray.cluster_resources().get("CPU", 1))
                report.workers = max(report.workers, cores // threads, 1)
            while queue and len(pending) < (in_flight or _AHEAD * report.workers):
                new = queue.popleft()
                if isinstance(new.step, Range) and cut_files[new.job].given_up:
                    continue
                source, target = map(_absolute, new.job)
                pending[task.remote(source, target, boxes, options, threads, new.step)] = new
            if not pending:
                continue
            ready, rest = ray.wait(list(pending), timeout=_LOOK, fetch_local=False)
            if ready and rest:
                ready += ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)[0]
            for ref in ready:
                done = pending.pop(ref)
                try:
                    outcome = ray.get(ref)
                except ray.exceptions.RayError as error:
                    lines = str(error).strip().splitlines() or [type(error).__name__]
                    outcome = AttemptError(f"the worker was lost: {lines[0]}", retry=True)
                report.seconds = time.perf_counter() - begun
                queue.extendleft(reversed(finish(done, outcome)))

    try:
        run()
    except BaseException:
        for ref in pending:
            ray.cancel(ref, force=True)
        if pending:
            ray.wait(list(pending), num_returns=len(pending), timeout=10)
        raise
    finally:  # remove what killed workers have left next to the files of these jobs and their parts
        folders = {Path(job.target).parent for job in jobs if not is_address(job.target)}
        folders |= {Path(job.target + PARTS) for job in cut_files if not is_address(job.target)}
        for folder in folders:
            remove_leftovers(folder)
    return report


def _absolute(name: str) -> str:
    """Return a path that is valid in any folder; addresses are."""
    return name if is_address(name) else os.path.abspath(name)  # noqa: PTH100  links stay
