"""Decisions about texts: a line of JSON for each, on the disk before the next text is shown."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from seqtag.errors import CorpusError
from seqtag.storage import locks, strict_json

if TYPE_CHECKING:
    from io import FileIO

ANSWERS = ("accept", "ignore")
"""What can be decided about a text."""


class Decisions:
    """A file of decisions, which one process at a time may append to.

    Parameters
    ----------
    file
        The file, open to read and append without a buffer. Its last line is cut off if it has no
        end: its writer was killed before the decision counted.
    field
        The field of each decision that is a list: of spans, or of labels.

    Attributes
    ----------
    lines : list of dict
        The decisions, in their order.
    cut : bytes
        The unfinished line that was cut off, if there was one.

    Raises
    ------
    CorpusError
        If another process has the file, or a line is no decision.
    OSError
        If the file cannot be read or written.
    """

    def __init__(self, file: FileIO, field: str):
        self.file, self._field, self.cut = file, field, b""
        if not locks.acquire(file.fileno()):
            msg = "another process annotates with this file; end it, or name another with -o"
            raise CorpusError(msg, source=str(file.name))
        file.seek(0)
        *lines, rest = file.read().split(b"\n")
        if rest.startswith(b'{"') and _parsed(rest) is None:
            self.cut = rest
        elif rest:
            lines.append(rest)
        self.lines = [self._checked(_parsed(line), at) for at, line in enumerate(lines, 1)]
        if self.cut:
            file.truncate(file.tell() - len(rest))
        elif rest:
            file.write(b"\n")

    def _checked(self, value: Any, number: int) -> dict[str, Any]:
        """Return a value, which is a decision."""
        fields = value if isinstance(value, dict) else {}
        kinds = [type(fields.get(name)) for name in ("text", self._field)]
        if kinds != [str, list] or fields.get("answer") not in ANSWERS:
            msg = f"expected a decision with text, {self._field} and answer; name another file: -o"
            raise CorpusError(msg, source=str(self.file.name), line=number)
        return fields

    def append(self, decision: dict[str, Any]) -> None:
        """Write a decision to the disk; if that fails the file is as before."""
        end = self.file.seek(0, os.SEEK_END)
        rest = json.dumps(decision, ensure_ascii=False).encode() + b"\n"
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
            os.fsync(self.file.fileno())
        except OSError:
            self.file.truncate(end)
            raise
        self.lines.append(decision)

    def undo(self) -> dict[str, Any]:
        """Take the last decision back, and return it."""
        self.file.seek(0)
        self.file.truncate(self.file.read()[:-1].rfind(b"\n") + 1)
        os.fsync(self.file.fileno())
        return self.lines.pop()


def _parsed(line: bytes) -> Any:
    """Return the value of a line of JSON; None if it is not complete."""
    with suppress(ValueError):
        return strict_json.loads(line)
    return None
