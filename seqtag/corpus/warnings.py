"""Warnings about malformed input that can be read, and sentences that are skipped."""

from __future__ import annotations

import logging
from threading import Lock
from typing import NamedTuple

from seqtag.errors import CorpusError, SentenceTooLongError

_log = logging.getLogger("seqtag")

LONE_RETURN = (
    r"expected lines that end with \n or \r\n, found a carriage return (\r) without \n; convert "
    "the line ends of the file, for example with tr '\\r' '\\n'"
)

_SHOWN_SKIPS = 5  # skipped sentences that are reported one by one


class _Kind(NamedTuple):
    """Kind of warning: its parts."""

    one: str
    many: str
    rest: str


_KINDS = {
    "blank": _Kind("blank line that ends no sentence", "blank lines that end no sentence", "kept"),
    "spaced": _Kind(
        "blank line that holds spaces or tabs",
        "blank lines that hold spaces or tabs",
        "treated as blank",
    ),
    "spaces": _Kind(
        "sentence with several spaces between columns, or some around them",
        "sentences with several spaces between columns, or some around them",
        "treated as one space each",
    ),
    "cut": _Kind(
        "sentence without a blank line after it, at the end of the file",
        "sentences without a blank line after them, at the end of the file",
        "is the file complete? The sentence is used as it is",
    ),
}


class FormatWarnings:
    """Warnings of one reading of a file, to be logged; thread-safe.

    Parameters
    ----------
    source
        Name of the file.
    lenient
        Whether sentences that cannot be read are skipped: see `seqtag.corpus.stream.ReadLimits`.
    """

    def __init__(self, source: str, *, lenient: bool = False):
        self._source, self._lenient = source, lenient
        self._lock = Lock()
        self._noted: dict[str, tuple[int, int]] = {}  # first line and number by kind
        self._passed: list[tuple[int, str]] = []  # line and message of the first ones
        self._count = 0  # skipped sentences
        self.is_silent = False  # about a file without words

    def note(self, kind: str, line: int, count: int = 1) -> None:
        """Record warnings of a kind, the first of them on a line of the file."""
        with self._lock:
            first, total = self._noted.get(kind, (line, 0))
            self._noted[kind] = min(first, line), total + count

    def pass_over(self, error: CorpusError) -> None:
        """Record a skipped sentence, or raise the error; errors of limits are always raised."""
        if not self._lenient or isinstance(error, SentenceTooLongError):
            raise error
        with self._lock:
            self._count += 1
            self._passed = sorted([*self._passed, (error.line or 0, str(error))])[:_SHOWN_SKIPS]

    def report(self) -> None:
        """Log the warnings since the last report."""
        with self._lock:
            passed, self._passed = self._passed, []
            count, self._count = self._count, 0
            noted, self._noted = {} if self.is_silent else self._noted, {}
        for _, message in passed:
            _log.error("skipped: %s", message)
        if count:
            many = (
                "sentence that cannot be read was"
                if count == 1
                else "sentences that cannot be read were"
            )
            more = f"; the first {_SHOWN_SKIPS} are named above" if count > _SHOWN_SKIPS else ""
            _log.error("%s: %d %s skipped%s", self._source, count, many, more)
        for kind, (line, total) in sorted(noted.items(), key=lambda item: item[1]):
            one, many, rest = _KINDS[kind]
            what = f"{total:,} {many}, the first here" if total > 1 else f"a {one}"
            _log.info("%s:%d: %s; %s", self._source, line, what, rest)
