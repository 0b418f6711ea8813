"""The ledger of runs over many files: what was done to each, one JSON document a line.

A line is appended as soon as a file is finished or given up, by the driver alone. Everything
that is known of a run is a sum over its lines. If the driver is killed, at most the last line is
cut short; it counts for nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from seqtag.errors import CorpusError
from seqtag.storage import locks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

LEDGER = "ledger.jsonl"
"""Name of the ledger in the folder of the tagged files."""

Entry: TypeAlias = "dict[str, Any]"
"""A line of a ledger. Its ``status`` says what it is: ``run`` begins a run, ``tagged`` and
``skipped`` finish a file, ``failed`` gives it up, and ``end`` ends a run."""

Reason: TypeAlias = Literal["", "new", "input", "output", "model", "options", "version"]


@dataclass(frozen=True, slots=True)
class FileResult:
    """Result of `tag_file`.

    Attributes
    ----------
    source, target
        Names of the files.
    status
        ``tagged``, or ``skipped`` if that was done before.
    reason
        Why it was tagged: ``new``, or what has changed (``input``, ``output``, ``model``,
        ``options``, ``version`` of seqtag); empty if it was skipped.
    format
        Format of the input.
    sentences, tokens
        Number of sentences with words, and of words.
    bytes_read, bytes_written
        Sizes of the files.
    sha256_read, sha256_written
        Digests of the files.
    stamp
        What the system says of the input, as long as it does not change; empty if that says
        nothing.
    recipe
        Version of seqtag, and digests of the models and the options.
    seconds
        Duration of this call.
    """

    source: str
    target: str
    status: Literal["tagged", "skipped"]
    reason: Reason
    format: str
    sentences: int
    tokens: int
    bytes_read: int
    bytes_written: int
    sha256_read: str
    sha256_written: str
    stamp: str
    recipe: str
    seconds: float


_START = b'{"status": "'
_RESULTS = ("tagged", "skipped")
_STATUSES = frozenset({*_RESULTS, "run", "failed", "end"})
_FIELDS = [each.name for each in fields(FileResult)]


class Failure(NamedTuple):
    """A file that was given up, and the last error."""

    source: str
    error: str


@dataclass
class BatchReport:
    """Sums over the lines of a run.

    Attributes
    ----------
    files, tagged, skipped
        Number of files of the run, of those that were tagged, and that had been tagged before.
    sentences, tokens, bytes_read
        Sums over files that were tagged.
    formats
        Formats of the files that were tagged, with their counts.
    failures
        Files that were given up.
    begun
        Time of the first line.
    seconds
        Time from the first task to the last result; 0 until the run ends.
    workers
        The largest number of workers.
    ended
        Whether the run has ended.
    """

    files: int = 0
    tagged: int = 0
    skipped: int = 0
    sentences: int = 0
    tokens: int = 0
    bytes_read: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    begun: float = 0.0
    seconds: float = 0.0
    workers: int = 0
    ended: bool = False

    @property
    def tokens_per_second(self) -> int:
        """Tokens per second of wall time."""
        return round(self.tokens / self.seconds) if self.seconds else 0

    def count(self, entry: Entry) -> None:
        """Add a line."""
        status = entry["status"]
        if status == "run":
            self.files, self.skipped = entry["files"], entry["skipped"]
            self.begun = entry["begun"]
        elif status == "tagged":
            self.tagged += 1
            self.formats[entry["format"]] += 1
            self.sentences += entry["sentences"]
            self.tokens += entry["tokens"]
            self.bytes_read += entry["bytes_read"]
        elif status == "skipped":
            self.skipped += 1
        elif status == "failed":
            self.failures.append(Failure(entry["source"], entry["error"]))
        elif status == "end":
            self.seconds, self.workers, self.ended = entry["seconds"], entry["workers"], True

    def progress(self) -> str:
        """Return a line about the files that are finished, and the speed."""
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        speed = f"; {self.tokens_per_second:,} tokens/s" if self.tokens else ""
        return f"{self.tagged + self.skipped:,} of {self.files:,} files{failed}{speed}"

    def as_json(self) -> dict[str, Any]:
        """Return the sums as a JSON object."""
        failures = [each._asdict() for each in self.failures]
        found = {"failures": failures, "seconds": round(self.seconds, 3)}
        return vars(self) | found | {"tokens_per_second": self.tokens_per_second}


class Ledger:
    r"""An append-only record of tagged files, with one writer; a context manager.

    Parameters
    ----------
    path
        A file on this machine, which is made if there is none.
    folder
        Folder or address that the names of outputs are relative to, so that it can be moved.

    Attributes
    ----------
    is_new : bool
        Whether it had no line when it was opened: no run wrote into the folder before.

    Raises
    ------
    CorpusError
        If a line is damaged, or another process has the ledger open for writing.
    OSError
        As the system reports it.

    Examples
    --------
    >>> import tempfile
    >>> import seqtag
    >>> from seqtag.tagging import TagOptions
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = Path(folder, "a.txt").write_text("Time flies.")
    >>> target, options = str(folder / "a.conllu"), TagOptions(format="text")
    >>> for _ in range(2):
    ...     with Ledger(folder / "ledger.jsonl") as ledger:
    ...         before = ledger.get(target)
    ...         done = seqtag.tag_file(folder / "a.txt", target, "en", options, before=before)
    ...         _ = ledger.add(done)
    ...         print(done.status)
    tagged
    skipped
    """

    def __init__(self, path: str | os.PathLike[str], folder: str = ""):
        self.path, self._folder = os.fspath(path), folder
        self._results: dict[str, FileResult] = {}
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
            msg = "expected a file for the ledger, found a device or a pipe; name another"
            raise CorpusError(msg, source=self.path)
        self._file = Path(path).open("a+b")  # noqa: SIM115  closed by `close`
        try:
            if not _lock(self._file):
                msg = "expected a ledger that no process writes, found another run; wait for it"
                raise CorpusError(msg, source=self.path)
            self._file.seek(0)
            end = 0
            for _, line, entry in _entries(self._file, self.path):
                end += len(line)
                if entry["status"] in _RESULTS:
                    target = f"{folder}{entry['target']}"
                    result = {name: entry[name] for name in _FIELDS}
                    result |= {"target": target, "status": "tagged"}
                    self._results[target] = FileResult(**result)
            self.is_new = not end
            self._file.truncate(end)  # a line that a kill has cut short
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, target: str) -> bool:
        return target in self._results

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def get(self, target: str) -> FileResult | None:
        """Return the last result for an output; None if there is none."""
        return self._results.get(target)

    def add(self, result: FileResult) -> Entry:
        """Append a finished file; return its line."""
        entry = asdict(result) | {"target": result.target.removeprefix(self._folder)}
        self._results[result.target] = result
        return self.append(entry)

    def append(self, entry: Entry) -> Entry:
        """Append a line, and return it."""
        self._file.write(json_bytes({"status": entry["status"]} | entry))
        self._file.flush()  # to the system, which keeps it if this process is killed
        return entry

    def close(self) -> None:
        """Write all lines to the disk, and close the file."""
        if not self._file.closed:
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())


def read_report(path: str | os.PathLike[str]) -> tuple[BatchReport, bool]:
    """Return the sums of the last run of a ledger, and whether it is running.

    Raises
    ------
    CorpusError
        If a line is damaged.
    OSError
        As the system reports it.
    """
    report, name = BatchReport(), os.fspath(path)
    with Path(path).open("rb") as file:
        for number, _, entry in _entries(file, name):
            if entry["status"] == "run":
                report = BatchReport()
            try:
                report.count(entry)
            except (KeyError, TypeError):
                raise _damaged(name, number) from None
        is_running = not _lock(file, shared=True)
        changed = os.fstat(file.fileno()).st_mtime
    if report.begun and not report.ended:
        report.seconds = max(0.0, (time.time() if is_running else changed) - report.begun)
    return report, is_running


def _lock(file: BinaryIO, *, shared: bool = False) -> bool:
    """Lock a ledger; return False if another process has."""
    try:
        return locks.acquire(file.fileno(), shared=shared)
    except OSError:  # the file system has no locks
        return True


def _entries(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes, Entry]]:
    """Yield the numbers, the bytes and the content of the complete lines of a ledger."""
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n") and (line.startswith(_START) or _START.startswith(line)):
            return
        try:
            entry = json.loads(line)
            status = entry["status"]
            if status not in _STATUSES:
                raise ValueError
            if status in _RESULTS and not entry.keys() >= {*_FIELDS}:
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise _damaged(name, number) from None
        yield number, line, entry


def _damaged(name: str, number: int) -> CorpusError:
    msg = (
        "expected a line of a ledger, found something else; remove this line, and its file is "
        "tagged again"
    )
    return CorpusError(msg, source=name, line=number)


def json_bytes(value: object) -> bytes:
    r"""Return a JSON document and a line break in UTF-8; file names that are not UTF-8 are escaped.

    >>> json_bytes({"file": "\udcff.txt"})
    b'{"file": "\\udcff.txt"}\n'
    """
    text = json.dumps(value, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")
