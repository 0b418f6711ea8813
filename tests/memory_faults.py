"""Faults of memory: the k-th allocation of a command fails, for many k.

``python -m tests.memory_faults --faults 300`` tries so many k of each command, spread over all its
allocations, and prints what became of them.

A library that is loaded first (failing_malloc.c) counts allocations: those of the kernel, of NumPy,
and of Python, which asks malloc for each object (PYTHONMALLOC). A process that has imported the
command line is forked for each fault. Either one allocation fails, or a thousand in a row.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "corpora" / "sample" / "en-sample-dev.conllu"
NEVER = 2**62, 2**62 + 1
BURST = 1000
"""Allocations in a row that fail. If all fail from one on, CPython itself may not come to an end."""


class Command(NamedTuple):
    """A command to run in an empty folder beside `inputs`, and the files that it writes."""

    arguments: tuple[str, ...]
    outputs: tuple[str, ...] = ()


COMMANDS = {
    "info": Command(("info", "../inputs/model.seqtag")),
    "tag": Command(
        (
            "tag",
            "-q",
            "-m",
            "../inputs/model.seqtag",
            "../inputs/corpus.conllu",
            "-o",
            "out.conllu",
        ),
        ("out.conllu",),
    ),
    "pipe": Command(("tag", "-q", "-m", "../inputs/model.seqtag", "../inputs/corpus.conllu")),
    "text": Command(("tag", "-q", "-m", "en", "../inputs/text.txt", "--threads", "2")),
    "train": Command(
        ("train", "-q", "../inputs/corpus.conllu", "-o", "new.seqtag", "--epochs", "2"),
        ("new.seqtag",),
    ),
}


class Outcome(NamedTuple):
    """What a command did: exit code (negative: the signal that ended it), streams, files, allocations."""

    code: int
    out: bytes
    err: bytes
    files: dict[str, bytes]
    allocations: int


class Faults:
    """Runs commands whose allocations fail.

    Parameters
    ----------
    folder
        An empty folder to work in.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        library = folder / "failing_malloc.so"
        source = Path(__file__).with_name("failing_malloc.c")
        compiler = next(filter(shutil.which, ("cc", "gcc", "clang")))
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
        inputs = folder / "inputs"
        inputs.mkdir()
        corpus = SAMPLE.read_bytes().split(b"\n\n")
        (inputs / "corpus.conllu").write_bytes(b"\n\n".join([*corpus[:12], b""]))
        (inputs / "text.txt").write_text("Dogs bark. They don't bite in Zürich, do they?\n" * 3)
        self._environment = os.environ | {
            "LD_PRELOAD": str(library),
            "PYTHONMALLOC": "malloc",
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(folder / "pycache"),  # CPython's compiler may crash
            "OPENBLAS_NUM_THREADS": "1",
        }
        train = ["train", "-q", str(inputs / "corpus.conllu"), "-o", str(inputs / "model.seqtag")]
        subprocess.run([sys.executable, "-m", "seqtag", *train], check=True, cwd=ROOT)

    def run(self, command: Command, faults: Sequence[tuple[int, int]]) -> Iterator[Outcome]:
        """Run a command once for each range of allocations that fail."""
        results = Path(tempfile.mkdtemp(dir=self._folder))
        script = json.dumps([command.arguments, faults, str(results)])
        subprocess.run(
            [sys.executable, "-m", "tests.memory_faults", "--forks", script],
            check=True,
            cwd=ROOT,
            env=self._environment,
        )
        for number in range(len(faults)):
            run = results / str(number)
            code, allocations = json.loads((run / "result.json").read_bytes())
            out, err = ((run / name).read_bytes() for name in ("out", "err"))
            work = run / "work"
            files = {str(path.relative_to(work)): path for path in work.rglob("*")}
            contents = {name: path.read_bytes() for name, path in files.items() if path.is_file()}
            yield Outcome(code, out, err, contents, allocations)
        shutil.rmtree(results)

    def outcomes(
        self, command: Command, count: int
    ) -> Iterator[tuple[str, tuple[int, int], Outcome]]:
        """Try so many faults of each kind; yield what became of each: survived, refused, or a problem."""
        _, wanted = self.run(command, [NEVER, NEVER])  # modules are compiled in the first
        assert wanted.code == 0, wanted
        places = spread(wanted.allocations, count)
        faults = [(k, k + length) for length in (1, BURST) for k in places]
        for fault, found in zip(faults, self.run(command, faults), strict=True):
            what = problem(command, found, wanted)
            yield what or ("refused" if found.code else "survived"), fault, found


OUTSIDE = "crashed outside of seqtag"
"""CPython, nanobind or glibc ends the process for some faults. It is no problem of ours if no file is damaged."""


FINE = ("survived", "refused", OUTSIDE)


def damaged(command: Command, found: Outcome, wanted: Outcome) -> bool:
    """Return whether an output is neither complete nor absent."""
    names = found.files.keys() & {*command.outputs}
    return any(found.files[name] != wanted.files[name] for name in names)


def problem(command: Command, found: Outcome, wanted: Outcome) -> str | None:
    """Return what is wrong with an outcome of a command that may have met a fault, or None."""
    if found.code in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT):
        # nanobind aborts if it cannot register a new object or word a refusal of arguments; nothing of
        # the kernel is noexcept.
        reports = (
            b"Critical nanobind error",
            b"out of memory (unrecoverable error)",
            b"terminate called after throwing",
        )
        outside = any(each in found.err for each in reports) or b"_kernel" not in found.err
        if outside and not damaged(command, found, wanted):
            return OUTSIDE
        return f"crashed by {signal.Signals(-found.code).name}"
    if found.code == 127 and b"thread-local data: ABORT" in found.err:
        return OUTSIDE  # glibc's
    if b"in _bootstrap_inner" in found.err and b"seqtag: no thread could begin" in found.err:
        return OUTSIDE  # CPython's report of a thread that had no memory to begin with
    if found.code < 0:
        return f"ended by {signal.Signals(-found.code).name}"
    if b"Traceback" in found.err or b"Fatal Python error" in found.err:
        return "a traceback"
    if damaged(command, found, wanted):
        return "a damaged file"
    if found.code == 0 and (found.out != wanted.out or not {*command.outputs} <= {*found.files}):
        return "status 0 without its output"
    if found.code not in (0, 1):
        return f"status {found.code}"
    if found.code and not found.err:
        return "no message"
    return None


def _loaded(library: str) -> Any:
    shim = ctypes.CDLL(library)
    shim.fail_allocations.argtypes = [ctypes.c_long, ctypes.c_long]
    shim.count_allocations.restype = ctypes.c_long
    shim.report_crashes()
    return shim


def spread(total: int, count: int) -> list[int]:
    """Return so many numbers from 1 to `total`, evenly spread."""
    count = min(count, total)
    return [1 + i * total // count for i in range(count)]


def _forks(script: str) -> int:
    """Run a command in a fork for each fault; in the fork, return its exit code."""
    from importlib import import_module

    for name in ("numpy", "seqtag.engine.backend", "seqtag.__main__", "seqtag.cli"):
        import_module(name)
    from seqtag.__main__ import main

    shim = _loaded(os.environ["LD_PRELOAD"])
    arguments, faults, results = json.loads(script)
    for number, (first, last) in enumerate(faults):
        run = Path(results) / str(number)
        (run / "work").mkdir(parents=True)
        (run / "inputs").symlink_to(Path(results).parent / "inputs")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.chdir(run / "work")
            for name, stream in (("out", 1), ("err", 2)):
                file = os.open(run / name, os.O_WRONLY | os.O_CREAT)
                os.dup2(file, stream)
                os.close(file)
            sys.argv = ["seqtag", *arguments]
            signal.alarm(120)
            shim.fail_allocations(first, last)
            try:
                return main()
            except MemoryError:  # of the call itself
                os.write(2, b"no memory to begin with")
                return 1
            finally:
                count = shim.count_allocations()
                shim.fail_allocations(0, 0)
                os.write(writer, count.to_bytes(8, "little"))
        os.close(writer)
        count = int.from_bytes(os.read(reader, 8), "little")
        os.close(reader)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        (run / "result.json").write_text(json.dumps([code, count]))
    return 0


def main() -> int:
    """Run the commands with faults; print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "commands", nargs="*", metavar="COMMAND", help=", ".join([*COMMANDS, "serve"])
    )
    parser.add_argument("--faults", type=int, default=300, help="of each command and kind")
    parser.add_argument("--forks", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.forks:
        return _forks(arguments.forks)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(Path(folder))
        for name in arguments.commands or COMMANDS:
            counts = Counter[str]()
            for what, fault, found in faults.outcomes(COMMANDS[name], arguments.faults):
                counts[what] += 1
                if what not in FINE:
                    print(f"{name}: {what}: allocations {fault}", found.err.decode()[-2000:])
            print(f"{name}: {dict(counts)}", flush=True)
            failed += sum(count for what, count in counts.items() if what not in FINE)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
