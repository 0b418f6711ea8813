"""Many files tagged on a cluster: a task for each, a few more than there are workers at a time.

All that there is to know of a file is in `seqtag.tag_file`; here is who does it, and again if
need be.  The driver alone counts attempts, so the engine tries nothing twice by itself.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.cluster.engine import require_ray
from seqtag.errors import SeqtagError
from seqtag.files import remove_leftovers
from seqtag.tagging.files import FileResult, Models, kept, models_of_bytes, tag_file
from seqtag.tagging.places import is_address
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seqtag.cluster.inputs import Job
    from seqtag.tagging.chain import TagOptions

ATTEMPTS = 3
"""How often a file is tried."""

_AHEAD = 2  # tasks in flight for each worker: one at work, one that waits
_LOOK = 5.0  # seconds between looks at how many workers there are


class ModelCopy(NamedTuple):
    """A model that travels: what messages call it, the digest of its file, and its bytes."""

    name: str
    digest: str
    data: bytes


class Trouble(NamedTuple):
    """Why an attempt failed, and whether another may go better."""

    message: str
    again: bool


@dataclass(frozen=True)
class Failure:
    """A file that was given up.

    Attributes
    ----------
    file
        Its name.
    attempts
        How often it was tried.
    error
        What the last one ended with.
    """

    file: str
    attempts: int
    error: str


@dataclass
class Report:
    """What became of some files: sums, and the failures.

    Attributes
    ----------
    tagged, skipped
        Files that were tagged, and those that were before.
    sentences, tokens, bytes_read, bytes_written, seconds_in_tasks
        Sums over those that were tagged.
    formats
        What the inputs were read as, and how many.
    failures
        Of the files that were given up, as they came.
    attempts_lost
        Attempts that failed and were followed by another.
    seconds
        From the first task to the last result.
    workers
        The most there were.
    """

    tagged: int = 0
    skipped: int = 0
    sentences: int = 0
    tokens: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    seconds_in_tasks: float = 0.0
    formats: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    attempts_lost: int = 0
    seconds: float = 0.0
    workers: int = 0

    @property
    def tokens_per_second(self) -> int:
        """How fast it went."""
        return round(self.tokens / self.seconds) if self.seconds else 0

    def add(self, result: FileResult) -> None:
        """Count a file that is done."""
        self.formats[result.format] += 1
        if result.status == "skipped":
            self.skipped += 1
            return
        self.tagged += 1
        self.sentences += result.sentences
        self.tokens += result.tokens
        self.bytes_read += result.bytes_read
        self.bytes_written += result.bytes_written
        self.seconds_in_tasks += result.seconds

    def as_json(self) -> dict[str, Any]:
        """The sums, as the summary has them."""
        return {
            "version": __version__,
            "files": self.tagged + self.skipped + len(self.failures),
            "tagged": self.tagged,
            "skipped": self.skipped,
            "failed": len(self.failures),
            "attempts_lost": self.attempts_lost,
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


Listener: TypeAlias = "Callable[[FileResult | Failure, Report], object]"
"""What is told of each file, with the report so far."""


class _Attempt(NamedTuple):
    """A file and which attempt it is, from 1."""

    job: Job
    number: int


def attempt(
    source: str,
    target: str,
    models: Sequence[tuple[str, str, Sequence[Any]]],
    options: TagOptions,
    threads: int,
) -> FileResult | Trouble:
    """What a worker does: one attempt at a file."""
    try:
        digests = tuple(digest for _, digest, _ in models)
        found = kept(digests, partial(_fetched, models))
        return tag_file(source, target, found, options, threads=threads)
    except SeqtagError as error:  # what a file holds does not change by itself
        return Trouble(str(error), again=False)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return Trouble(f"{name}{error.strerror or error}", again=True)
    except Exception as error:
        return Trouble(f"internal error: {type(error).__name__}: {error}", again=True)


def _fetched(models: Sequence[tuple[str, str, Sequence[Any]]]) -> Models:
    """The models, from the object store."""
    ray = require_ray()
    parts = [models_of_bytes(ray.get(box[0]), name) for name, _, box in models]
    return Models(
        [each for part in parts for each in part.loaded],
        [each for part in parts for each in part.digests],
    )


class _Run:
    """The tasks of one run.

    Parameters
    ----------
    ray
        The engine, connected.
    models, options, threads, attempts, in_flight, listener
        As `tag_files` takes them.
    """

    def __init__(
        self,
        ray: Any,
        models: Sequence[ModelCopy],
        options: TagOptions,
        threads: int,
        attempts: int,
        in_flight: int | None,
        listener: Listener,
    ):
        self.report = Report()
        self._ray, self._options, self._threads = ray, options, threads
        self._attempts, self._in_flight, self._listener = attempts, in_flight, listener
        self._task = ray.remote(attempt).options(num_cpus=threads, max_retries=0)
        # Inside a list a reference stays one: a worker asks for the bytes when it needs them.
        self._models = [(each.name, each.digest, [ray.put(each.data)]) for each in models]
        self._pending: dict[Any, _Attempt] = {}
        self._looked = 0.0

    def work(self, jobs: Sequence[Job]) -> None:
        """Do all jobs."""
        begun = time.perf_counter()
        queue = deque(_Attempt(job, 1) for job in jobs)
        while queue or self._pending:
            while queue and len(self._pending) < self._window():
                self._begin(queue.popleft())
            for ref in self._ready():
                done = self._pending.pop(ref)
                outcome = self._outcome(ref)
                self.report.seconds = time.perf_counter() - begun
                again = self._end(done, outcome)
                if again:
                    queue.appendleft(again)

    def cancel(self) -> None:
        """End all that is not done."""
        for ref in self._pending:
            self._ray.cancel(ref, force=True)
        if self._pending:
            self._ray.wait(list(self._pending), num_returns=len(self._pending), timeout=10)

    def _window(self) -> int:
        """How many tasks there may be at a time; workers may come and go."""
        now = time.monotonic()
        if not self._looked or now - self._looked > _LOOK:
            self._looked = now
            cores = int(self._ray.cluster_resources().get("CPU", 1))
            self.report.workers = max(self.report.workers, cores // self._threads, 1)
        return self._in_flight or _AHEAD * self.report.workers

    def _begin(self, new: _Attempt) -> None:
        source, target = map(_whole, new.job)
        task = self._task.remote(source, target, self._models, self._options, self._threads)
        self._pending[task] = new

    def _ready(self) -> list[Any]:
        """All tasks that have ended; waits for the first, but looks up now and then."""
        pending = list(self._pending)
        ready, rest = self._ray.wait(pending, timeout=_LOOK, fetch_local=False)
        if ready and rest:
            ready += self._ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)[0]
        return list(ready)

    def _outcome(self, ref: Any) -> FileResult | Trouble:
        """What a task has returned, or that its worker was lost."""
        try:
            found: FileResult | Trouble = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            return Trouble(f"the worker was lost: {lines[0]}", again=True)
        return found

    def _end(self, done: _Attempt, outcome: FileResult | Trouble) -> _Attempt | None:
        """Note what became of an attempt; the next one if there shall be another."""
        if isinstance(outcome, FileResult):
            self.report.add(outcome)
            self._listener(outcome, self.report)
        elif outcome.again and done.number < self._attempts:
            self.report.attempts_lost += 1
            return _Attempt(done.job, done.number + 1)
        else:
            failure = Failure(done.job.source, done.number, outcome.message)
            self.report.failures.append(failure)
            self._listener(failure, self.report)
        return None


def tag_files(
    ray: Any,
    jobs: Sequence[Job],
    models: Sequence[ModelCopy],
    options: TagOptions,
    *,
    threads: int = 1,
    attempts: int = ATTEMPTS,
    in_flight: int | None = None,
    listener: Listener = lambda *_: None,
) -> Report:
    """Tag files on a cluster; see `seqtag.tag_file` for what becomes of each.

    Parameters
    ----------
    ray
        The engine, connected: see `seqtag.cluster.engine.connected`.
    jobs
        The files, and those to write.
    models
        Their bytes travel once to each machine, and a worker keeps them loaded. Whatever becomes
        of their files meanwhile, all jobs are done with these.
    options
        How to read, tag and write.
    threads
        Threads of a task, which takes as many cores.
    attempts
        How often a file is tried whose worker was lost, or that the system would not read or
        write. What a file holds does not change by itself: such an error is final at once.
    in_flight
        Tasks at a time; None for two for each worker.
    listener
        Called for each file that is done or given up.

    Returns
    -------
    Report
        What became of each.

    Raises
    ------
    KeyboardInterrupt
        Passed on, when all tasks have been ended.
    """
    run = _Run(ray, models, options, threads, attempts, in_flight, listener)
    try:
        run.work(jobs)
    except BaseException:
        run.cancel()
        raise
    finally:
        _sweep(jobs)
    return run.report


def _whole(name: str) -> str:
    """A path that leads to the file from any folder; addresses do."""
    return name if is_address(name) else os.path.abspath(name)  # noqa: PTH100  links stay


def _sweep(jobs: Sequence[Job]) -> None:
    """Remove what killed workers have left beside the files of these jobs."""
    for folder in {Path(job.target).parent for job in jobs if not is_address(job.target)}:
        remove_leftovers(folder)
