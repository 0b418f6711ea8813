"""Many files tagged on a cluster: a task for each, a few more than there are workers at a time.

All that there is to know of a file is in `seqtag.tag_file`, and of one in parts in
`seqtag.batch.split`; here is who does it, and again if need be.  The driver alone counts
attempts, so the engine tries nothing twice by itself.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.batch.ranges import Range, Ranges
from seqtag.batch.ray_cluster import require_ray
from seqtag.batch.split import PARTS, cut_file, join_parts, part_of, remove_parts
from seqtag.batch.storage import is_address, place_of
from seqtag.batch.tag_file import FileResult, Models, TagTask, kept, models_of_bytes, tag_file
from seqtag.errors import SeqtagError
from seqtag.storage.output import remove_leftovers
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from seqtag.batch.jobs import Job
    from seqtag.tagging.streams import TagOptions

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
class BatchReport:
    """What became of some files: sums, and the failures.

    Attributes
    ----------
    tagged, skipped
        Files that were tagged, and those that were before.
    sentences, tokens, bytes_read, bytes_written, seconds_in_tasks
        Sums over those that were tagged, and parts of files that were.
    parts
        Parts of large files that were tagged, or were before.
    uncut
        Why large files were not cut, and how many.
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
    parts: int = 0
    uncut: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    attempts_lost: int = 0
    seconds: float = 0.0
    workers: int = 0

    @property
    def tokens_per_second(self) -> int:
        """How fast it went."""
        return round(self.tokens / self.seconds) if self.seconds else 0

    def add(self, result: FileResult, *, joined: bool = False) -> None:
        """Count a file that is done; of one that was joined the parts were counted."""
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
        """Count a part of a file that is done."""
        self.parts += 1
        if result.status == "tagged":
            self.seconds_in_tasks += result.seconds
            self._add_words(result)

    def _add_words(self, result: FileResult) -> None:
        self.sentences += result.sentences
        self.tokens += result.tokens
        self.bytes_read += result.bytes_read

    def as_json(self) -> dict[str, Any]:
        """The sums, as the summary has them."""
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
"""What is told of each file, and of each part of one by None, with the report so far."""

Step: TypeAlias = "int | Range | list[Range]"
"""What a task does with a file: tag it unless it is to be cut into parts of so many bytes (0: none
is); tag a part; or join all parts."""


class _Attempt(NamedTuple):
    """What is done of a file, and which attempt at that it is, from 1."""

    job: Job
    number: int
    step: Step


@dataclass
class _Cut:
    """A file in parts, and how many of them are not done yet."""

    parts: list[Range]
    left: int
    given_up: bool = False


_tidied: set[str] = set()  # folders, by this process: a list of many files takes its time


def attempt(
    source: str,
    target: str,
    models: Sequence[tuple[str, str, Sequence[Any]]],
    options: TagOptions,
    threads: int,
    step: Step = 0,
) -> FileResult | Ranges | Trouble:
    """What a worker does: one attempt at a file, or a part of it."""
    try:
        digests = tuple(digest for _, digest, _ in models)
        found = kept(digests, partial(_fetched, models))
        return _done(source, target, found, options, threads, step)
    except SeqtagError as error:  # what a file holds does not change by itself
        return Trouble(str(error), again=False)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return Trouble(f"{name}{error.strerror or error}", again=True)
    except Exception as error:
        return Trouble(f"internal error: {type(error).__name__}: {error}", again=True)


def _done(
    source: str, target: str, models: Models, options: TagOptions, threads: int, step: Step
) -> FileResult | Ranges:
    """A step of a file; the parts where it is to be cut first."""
    _tidy_once(target)
    if isinstance(step, Range):
        name = part_of(target, step)
        _tidy_once(name)
        return tag_file(source, name, models, options, threads=threads, part=step, tidy=False)
    if isinstance(step, list):
        return join_parts(source, target, models, options, step, tidy=False)
    if step:
        facts = place_of(source).facts()
        large = facts is not None and facts.bytes > step
        if large and TagTask(source, target, models, options).reason:
            return cut_file(source, models, options, size=step)
    done = tag_file(source, target, models, options, threads=threads, tidy=False)
    remove_parts(target)
    return done


def _tidy_once(target: str) -> None:
    """Remove what killed processes have left in the folder of a file, once in this process."""
    folder = os.path.dirname(target)  # noqa: PTH120  an address stays one
    if folder not in _tidied and not is_address(target):
        _tidied.add(folder)
        remove_leftovers(folder)


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
    models, options, threads, attempts, in_flight, split, listener
        As `tag_files` takes them.

    Attributes
    ----------
    report : BatchReport
        What became of the files so far.
    cuts : dict of Job to _Cut
        The files in parts.
    """

    def __init__(
        self,
        ray: Any,
        models: Sequence[ModelCopy],
        options: TagOptions,
        threads: int,
        attempts: int,
        in_flight: int | None,
        split: int,
        listener: Listener,
    ):
        self.report = BatchReport()
        self.cuts: dict[Job, _Cut] = {}
        self._split = split
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
        queue = deque(_Attempt(job, 1, self._split) for job in jobs)
        while queue or self._pending:
            while queue and len(self._pending) < self._window():
                self._begin(queue.popleft())
            for ref in self._ready():
                done = self._pending.pop(ref)
                outcome = self._outcome(ref)
                self.report.seconds = time.perf_counter() - begun
                queue.extendleft(reversed(self._end(done, outcome)))

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
        """Hand out a task, unless it is a part of a file that was given up."""
        if isinstance(new.step, Range) and self.cuts[new.job].given_up:
            return
        source, target = map(_whole, new.job)
        how = self._options, self._threads, new.step
        self._pending[self._task.remote(source, target, self._models, *how)] = new

    def _ready(self) -> list[Any]:
        """All tasks that have ended; waits for the first, but looks up now and then."""
        pending = list(self._pending)
        if not pending:
            return []
        ready, rest = self._ray.wait(pending, timeout=_LOOK, fetch_local=False)
        if ready and rest:
            ready += self._ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)[0]
        return list(ready)

    def _outcome(self, ref: Any) -> FileResult | Ranges | Trouble:
        """What a task has returned, or that its worker was lost."""
        try:
            found: FileResult | Ranges | Trouble = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            return Trouble(f"the worker was lost: {lines[0]}", again=True)
        return found

    def _end(self, done: _Attempt, outcome: FileResult | Ranges | Trouble) -> list[_Attempt]:
        """Note what became of an attempt; what is to be done next."""
        if isinstance(outcome, FileResult):
            if isinstance(done.step, Range):
                return self._end_part(done.job, outcome)
            self.report.add(outcome, joined=isinstance(done.step, list))
            self._listener(outcome, self.report)
        elif isinstance(outcome, Ranges):
            if not outcome.ranges:
                self.report.uncut[outcome.reason] += 1
                return [done._replace(step=0)]
            self.cuts[done.job] = _Cut(outcome.ranges, len(outcome.ranges))
            return [_Attempt(done.job, 1, part) for part in outcome.ranges]
        elif outcome.again and done.number < self._attempts:
            self.report.attempts_lost += 1
            return [done._replace(number=done.number + 1)]
        else:
            self._give_up(done, outcome.message)
        return []

    def _end_part(self, job: Job, result: FileResult) -> list[_Attempt]:
        """Note a part that is done; the last one is followed by the joining."""
        cut = self.cuts[job]
        cut.left -= 1
        self.report.add_part(result)
        self._listener(None, self.report)
        return [] if cut.left or cut.given_up else [_Attempt(job, 1, cut.parts)]

    def _give_up(self, done: _Attempt, message: str) -> None:
        """Note that a file fails; once, whatever becomes of its other parts."""
        if isinstance(done.step, Range):
            if self.cuts[done.job].given_up:
                return
            self.cuts[done.job].given_up = True
            message = f"bytes {done.step.start:,} to {done.step.end:,}: {message}"
        failure = Failure(done.job.source, done.number, message)
        self.report.failures.append(failure)
        self._listener(failure, self.report)


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
    """Tag files on a cluster; see `seqtag.tag_file` for what becomes of each.

    Parameters
    ----------
    ray
        The engine, connected: see `seqtag.batch.ray_cluster.connected`.
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
    split
        Larger files are cut into parts of about so many bytes, each a task, and joined by one more;
        0 to leave them whole.
    listener
        Called for each file that is done or given up, and with None for a part of one.

    Returns
    -------
    BatchReport
        What became of each.

    Raises
    ------
    KeyboardInterrupt
        Passed on, when all tasks have been ended.
    """
    run = _Run(ray, models, options, threads, attempts, in_flight, split, listener)
    try:
        run.work(jobs)
    except BaseException:
        run.cancel()
        raise
    finally:
        _sweep(jobs, run.cuts)
    return run.report


def _whole(name: str) -> str:
    """A path that leads to the file from any folder; addresses do."""
    return name if is_address(name) else os.path.abspath(name)  # noqa: PTH100  links stay


def _sweep(jobs: Sequence[Job], cut: Iterable[Job]) -> None:
    """Remove what killed workers have left beside the files of these jobs, and their parts."""
    folders = {Path(job.target).parent for job in jobs if not is_address(job.target)}
    folders |= {Path(job.target + PARTS) for job in cut if not is_address(job.target)}
    for folder in folders:
        remove_leftovers(folder)
