"""File locks between processes."""

from __future__ import annotations

import subprocess
import sys

from seqtag.storage import locks

HOLD = """
import sys
from seqtag.storage import locks
file = open(sys.argv[1], "a+b")
print(locks.acquire(file.fileno()), flush=True)
sys.stdin.read()
"""


def test_a_lock_is_held_by_one_process_and_ends_with_it(tmp_path):
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"True\n"
        with path.open("a+b") as file:
            assert not locks.acquire(file.fileno())
            other.kill()
            assert locks.acquire(file.fileno(), wait=True)
