"""Reads and writes that wait where a descriptor is non-blocking.

A parent process may hand over pipes and terminals that are non-blocking, and other processes that
share them may switch that at any time. To switch it back would disturb those, so each read and
write waits.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import IO, Any


class WaitingFile(io.FileIO):
    """Unbuffered file that waits until its descriptor takes bytes."""

    def write(self, data: Any, /) -> int:
        """Write some of the bytes, at least one; return how many."""
        while True:
            written: int | None = super().write(data)
            if written is not None:
                return written
            _wait(self.fileno(), select.POLLOUT)


def make_output_wait() -> None:
    """Replace the process's standard output and error by ones that wait.

    They are buffered then, also under PYTHONUNBUFFERED: what the system writes in part, as on a
    full disk, would end there.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or stream is not getattr(sys, f"__{name}__"):  # closed, or not ours
            continue
        raw = WaitingFile(stream.fileno(), "w", closefd=False)
        lines = stream.line_buffering or stream.write_through
        setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(raw), line_buffering=lines))


def read_some(file: IO[bytes], size: int) -> bytes:
    """Return at most `size` bytes as soon as there are some; none only at the end of the file.

    Parameters
    ----------
    file
        Binary file; may be non-blocking, buffered or not.
    size
        Maximum number of bytes.

    Examples
    --------
    >>> read_some(io.BytesIO(b"The dog"), 3)
    b'The'
    """
    chunk: bytes | None = getattr(file, "read1", file.read)(size)
    while not chunk and _is_nonblocking(file):
        # Buffered files return the same at the end as before more has come; raw ones do not.
        chunk = getattr(file, "raw", file).read(size)
        if chunk is not None:
            break
        _wait(file.fileno(), select.POLLIN)
    return chunk or b""


def _is_nonblocking(file: IO[bytes]) -> bool:
    try:
        return not os.get_blocking(file.fileno())
    except (AttributeError, OSError, ValueError):  # no file of the system
        return False


def _wait(number: int, event: int) -> None:
    """Wait until a descriptor is ready, or has an error, which the next call reports."""
    poll = select.poll()
    poll.register(number, event)
    poll.poll()
