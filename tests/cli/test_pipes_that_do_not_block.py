"""Pipes that a parent has set not to block: nothing is taken for their end."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs os.set_blocking")

COMMAND = [sys.executable, "-m", "seqtag", "tag", "-m", "en", "--only", "tokens", "--to", "tokens"]
LINE = "Dogs bark loudly.\n\n"


def test_input_that_comes_slowly_is_read_to_its_end():
    read, write = os.pipe()
    os.set_blocking(read, False)
    with subprocess.Popen([*COMMAND, "-q"], stdin=read, stdout=subprocess.PIPE) as process:
        os.close(read)
        for _ in range(3):
            os.write(write, LINE.encode())
            time.sleep(0.3)
        os.close(write)
        assert process.stdout
        done = process.stdout.read().decode()
    assert done == "Dogs bark loudly .\n" * 3
    assert process.returncode == 0


def test_output_that_is_read_slowly_is_complete(tmp_path):
    lines = 20_000  # more than a pipe holds
    path = tmp_path / "text.txt"
    path.write_text(LINE * lines)
    read, write = os.pipe()
    os.set_blocking(write, False)
    with subprocess.Popen([*COMMAND, "-q", path], stdout=write) as process:
        os.close(write)
        time.sleep(1)
        with os.fdopen(read, "rb") as output:
            done = output.read().decode()
    assert done == "Dogs bark loudly .\n" * lines
    assert process.returncode == 0
