"""Reads and writes of non-blocking descriptors wait."""

from __future__ import annotations

import os
import threading

from seqtag.storage.nonblocking import WaitingFile, read_some


def test_both_ends_of_a_pipe_wait():
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
