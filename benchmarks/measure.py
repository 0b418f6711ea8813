"""Time and memory of commands, each in a process of its own."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Cost(NamedTuple):
    """Median wall time in seconds, and the largest peak memory in MB, of several runs."""

    seconds: float
    megabytes: float


def command(args: Sequence[str], repeat: int = 3, **options: Any) -> Cost:
    """Cost of a command, its output thrown away."""
    seconds, memory = [], []
    for _ in range(repeat):
        began = time.perf_counter()
        process = subprocess.Popen(args, stdout=subprocess.DEVNULL, **options)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - began)
        memory.append(usage.ru_maxrss / 1024)
        if status:
            raise RuntimeError(f"failed: {' '.join(args)}")
    return Cost(statistics.median(seconds), max(memory))


def seqtag(*args: str | Path, repeat: int = 3) -> Cost:
    """Cost of a seqtag command."""
    return command([sys.executable, "-m", "seqtag", *map(str, args)], repeat)


def seqtag_json(*args: str | Path) -> dict[str, Any]:
    """What a seqtag command prints with --json."""
    args = (sys.executable, "-m", "seqtag", *map(str, args), "--json")
    return json.loads(subprocess.run(args, check=True, capture_output=True).stdout)


def median_seconds(work: Callable[[], object], repeat: int = 5) -> float:
    """Median wall time of a call in this process, after one to warm up."""
    work()
    seconds = []
    for _ in range(repeat):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return {"cpu": model, "cores": str(os.cpu_count()), "python": platform.python_version(),
            "system": platform.system()}  # fmt: skip
