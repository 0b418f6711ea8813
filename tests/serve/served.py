"""A server in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager


@contextmanager
def server(*args, command="serve"):
    """``seqtag serve ARGS``, or another command, on a free port: the process, and where it listens."""
    command = [sys.executable, "-m", "seqtag", command, "--port", "0", *map(str, args)]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=os.environ
        )
        try:
            lines = []
            for line in process.stderr:
                lines.append(line.decode())
                if match := re.search(r"(http://[^ ]+/) s(?:erves|hows)", lines[-1]):
                    yield process, match[1]
                    return
            raise AssertionError("".join(lines))
        finally:
            process.kill()
            process.communicate()
