"""Decisions about texts: a line of JSON for each, on the disk before the next text is shown."""

from __future__ import annotations

import json
import os
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from seqtag.errors import CorpusError
from seqtag.storage import locks, strict_json

if TYPE_CHECKING:
    from io import FileIO


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
        self.file, self._field = file, field
        if not locks.acquire(file.fileno()):
            msg = "another process annotates with this file; end it, or name another with -o"
            raise CorpusError(msg, source=str(file.name))
        file.seek(0)
        data = file.read()
        rest = data[data.rfind(b"\n") + 1 :]
        self.cut = rest if rest.startswith(b'{"') and _parsed(rest) is None else b""
        lines = data.removesuffix(self.cut).splitlines(keepends=True)
        self.lines = [self._checked(_parsed(line), at) for at, line in enumerate(lines, 1)]
        if lines and not lines[-1].endswith(b"\n"):
            file.write(b"\n")
            lines[-1] += b"\n"
        self._ends = [*accumulate(map(len, lines), initial=0)]
        file.truncate(self._ends[-1])

    def _checked(self, value: Any, number: int) -> dict[str, Any]:
        """Return a value, which is a decision."""
        fields = value if isinstance(value, dict) else {}
        kinds = [type(fields.get(name)) for name in ("text", self._field)]
        if kinds != [str, list] or fields.get("answer") not in ("accept", "ignore"):
            msg = f"expected a decision with text, {self._field} and answer; name another file: -o"
            raise CorpusError(msg, source=str(self.file.name), line=number)
        return fields

    def append(self, decision: dict[str, Any]) -> None:
        """Write a decision to the disk; if that fails the file is as before."""
        self._checked(decision, len(self.lines) + 1)
        line = rest = json.dumps(decision, ensure_ascii=False).encode() + b"\n"
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
            os.fsync(self.file.fileno())
        except OSError:
            self.file.truncate(self._ends[-1])
            raise
        self.lines.append(decision)
        self._ends.append(self._ends[-1] + len(line))

    def undo(self) -> dict[str, Any]:
        """Take the last decision back, and return it."""
        self.file.truncate(self._ends[-2])
        os.fsync(self.file.fileno())
        self._ends.pop()
        return self.lines.pop()


def _parsed(line: bytes) -> Any:
    """Return the value of a line of JSON; None if it is not complete."""
    try:
        return strict_json.loads(line)
    except ValueError:
        return None
