"""Time and memory of commands, each in a process of its own; and what they ran on."""

from __future__ import annotations

import json
import math
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).resolve().parents[1]
LONG = 15.0  # seconds; a command is not repeated once its runs took longer


class Cost(NamedTuple):
    """Median wall and processor time in seconds, largest peak memory in MB, runs of a command."""

    seconds: float
    cpu_seconds: float
    megabytes: float
    runs: int


class CommandError(RuntimeError):
    """A command failed or ran out of time; the message says how."""


_SHIM = """
import json, os, resource, sys, time
seconds, hard = int(sys.argv.pop(2)), resource.getrlimit(resource.RLIMIT_CPU)[1]
resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))
began = time.perf_counter()
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
took, cpu = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
figures = [took, cpu, usage.ru_maxrss, os.waitstatus_to_exitcode(status)]
open(sys.argv[1], "w").write(json.dumps(figures))
"""
# A command's peak memory is at least that of the process that started it (Linux keeps the mark
# over exec), so that a process of a few MB runs it and measures.
_PATIENCE = 6  # a command that got so little of the processor is stopped after so many limits


def command(args: Sequence[str], repeat: int = 3, limit: float = 600.0, long: float = LONG) -> Cost:
    """Cost of a command, its output thrown away, with one thread for numeric libraries.

    It is not repeated once its runs took longer than `long` seconds; a run that takes longer than
    `limit` seconds of processor time, or six times as long by the clock, is stopped.

    Raises
    ------
    CommandError
        If it fails or is stopped.
    """
    seconds: list[float] = []
    cpu_seconds: list[float] = []
    memory: list[float] = []
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(threads, "1")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # start as where it is installed
    with tempfile.TemporaryDirectory() as folder:
        figures, errors = Path(folder) / "figures", Path(folder) / "errors"
        shim = [sys.executable, "-I", "-S", "-c", _SHIM, str(figures), str(math.ceil(limit)), *args]
        while len(seconds) < repeat and sum(cpu_seconds) <= long:
            with errors.open("wb") as stderr:
                process = subprocess.Popen(
                    shim,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    env=environment,
                    start_new_session=True,
                )
                try:
                    process.wait(_PATIENCE * limit)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)  # the shim and the command, no other
                    process.wait()
                    msg = f"stopped after {_PATIENCE * limit:.0f} s"
                    raise CommandError(msg) from None
            took, cpu, peak, code = json.loads(figures.read_text())
            if code == -signal.SIGXCPU:
                msg = f"stopped after {limit:.0f} s of processor time, unfinished"
                raise CommandError(msg)
            if code:
                said = errors.read_text(errors="replace").strip().splitlines() or ["no message"]
                msg = f"exit code {code}: {said[-1][:200]}"
                raise CommandError(msg)
            seconds.append(took)
            cpu_seconds.append(cpu)
            memory.append(peak / (1e6 if sys.platform == "darwin" else 1e3))  # bytes there, kB here
    wall, cpu = statistics.median(seconds), statistics.median(cpu_seconds)
    return Cost(wall, cpu, max(memory), len(seconds))


def run_one(*args: str | Path, repeat: int = 3, limit: float = 600.0) -> Cost:
    """Cost of ``python -m benchmarks.run_one``."""
    return command([sys.executable, "-m", "benchmarks.run_one", *map(str, args)], repeat, limit)


def median_seconds(
    work: Callable[[], object],
    repeat: int = 3,
    clock: Callable[[], float] = time.process_time,
    warm: bool = False,
) -> float:
    """Median time of a call in this process, after one to warm up unless that has been done."""
    if not warm:
        work()
    seconds = []
    for _ in range(repeat):
        began = clock()
        work()
        seconds.append(clock() - began)
    return statistics.median(seconds)


def machine() -> dict[str, str]:
    """What the figures were measured on; `load` is what others did there when it began."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    return {
        "cpu": model,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "date": time.strftime("%Y-%m-%d"),
        "commit": _commit(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _commit() -> str:
    """The commit of the source tree, with a + if the package has changed since; or nothing."""
    try:
        git = ("git", "-C", str(ROOT))
        head = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True
        )
        changes = subprocess.run(
            [*git, "--no-optional-locks", "status", "--porcelain", "--", "seqtag"],
            capture_output=True,
            text=True,
        )
    except OSError:
        return ""
    return head.stdout.strip() + "+" * bool(changes.stdout.strip())
