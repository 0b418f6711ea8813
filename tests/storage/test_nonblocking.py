"""Reads and writes of non-blocking descriptors wait, also where the system has no poll."""

from __future__ import annotations

import os
import select
import threading

import pytest

from seqtag.storage.nonblocking import WaitingFile, read_some
from tests.command_line import posix


@posix
@pytest.mark.parametrize("has_poll", [True, False])
def test_both_ends_of_a_pipe_wait(monkeypatch, has_poll):
    if not has_poll:
        for name in ("poll", "POLLIN", "POLLOUT"):
            monkeypatch.delattr(select, name)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    data = os.urandom(1 << 20)  # more than a pipe holds

    def write():
        with WaitingFile(writing, "w") as file:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]

    writer = threading.Timer(0.05, write)  # the reader comes first, and finds nothing
    with os.fdopen(reading, "rb") as file:
        writer.start()
        found = b"".join(iter(lambda: read_some(file, 1 << 12), b""))
    writer.join()
    assert found == data
