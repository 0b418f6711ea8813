"""The test session itself: how it behaves in environments that differ from a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.command_line import posix

ROOT = Path(__file__).resolve().parents[1]


@posix
def test_an_ignored_sigint_is_restored(tmp_path):
    """As in `pytest &` in a script; the second test starts a program that must get SIGINT, too."""
    tests = (
        "tests/training/test_interruption.py::test_other_threads_have_no_handlers",
        "tests/cli/test_signals.py::test_a_second_signal_stops_at_once[SIGINT-130]",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [
            "sh",
            "-c",
            "trap '' INT; exec \"$@\"",
            "sh",
            *command,
            f"--basetemp={tmp_path}/tests",
            *tests,
        ],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_"))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
