"""Fuzz what reads strangers' files: see ``python -m tests.fuzzing --help``."""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from tests.fuzzing.loop import fuzz
from tests.fuzzing.seeds import PIECES, seeds
from tests.fuzzing.targets import TARGETS

_USAGE = """\
examples:
  python -m tests.fuzzing                          every target for a minute
  python -m tests.fuzzing readers --seconds 600    one of them for ten
  python -m tests.fuzzing models --plain           without atheris, even if it is there
  python -m tests.fuzzing readers --input FILE     an input that was saved, once more
"""


def main() -> int:
    """Fuzz targets one after another; 1 if one of them failed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzzing",
        epilog=_USAGE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60, help="for each target [60]")
    parser.add_argument("--runs", type=int, default=sys.maxsize, help="at most, for each target")
    parser.add_argument("--seed", type=int, default=0, help="of what is random [0]")
    parser.add_argument("--crashes", type=Path, default=Path("crashes"), help="folder for failures")
    parser.add_argument("--corpus", type=Path, help="folder in which atheris keeps what it learns")
    parser.add_argument("--plain", action="store_true", help="do not use atheris")
    parser.add_argument("--input", type=Path, help="run a target on this file")
    given = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)  # what numpy says of overflow
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"expected targets of {', '.join(TARGETS)}, found {unknown[0]}")
    if given.input:
        [name] = given.targets
        print(TARGETS[name](given.input.read_bytes()))
        return 0
    guided = not given.plain and importlib.util.find_spec("atheris") is not None
    failed = False
    for name in given.targets or TARGETS:
        failed |= _guided(name, given) if guided else _plain(name, given)
    return int(failed)


def _seeds(name: str, runs: int) -> list[bytes]:
    """The seeds of a target; of many, some from all along, so that half of the runs are changes."""
    return seeds(name)[:: max(1, -(-2 * len(seeds(name)) // runs))]


def _plain(name: str, given: argparse.Namespace) -> bool:
    """Fuzz a target by mutation alone; whether it failed."""
    found = fuzz(
        name,
        TARGETS[name],
        _seeds(name, given.runs),
        PIECES[name],
        crashes=given.crashes,
        seed=given.seed,
        seconds=given.seconds,
        runs=given.runs,
    )
    print(f"{name}: {found}", flush=True)
    return found.failures > 0


def _guided(name: str, given: argparse.Namespace) -> bool:
    """Fuzz a target under atheris; whether it failed."""
    given.crashes.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        start, words = Path(folder, "seeds"), Path(folder, "words")
        start.mkdir()
        for number, seed in enumerate(_seeds(name, given.runs)):
            Path(start, str(number)).write_bytes(seed)
        escaped = ["".join(f"\\x{byte:02x}" for byte in piece) for piece in PIECES[name]]
        words.write_text("".join(f'"{word}"\n' for word in escaped), "ascii")
        if given.corpus:
            Path(given.corpus, name).mkdir(parents=True, exist_ok=True)
        corpus = Path(given.corpus, name) if given.corpus else Path(folder, "corpus")
        corpus.mkdir(exist_ok=True)
        command = [
            *(sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.fuzzing.guided", name),
            *(str(corpus), str(start), *([f"-dict={words}"] if escaped else [])),
            *(f"-max_total_time={given.seconds}", f"-runs={min(given.runs, 2**31 - 1)}"),
            f"-seed={given.seed + 1}",  # libFuzzer takes 0 for any
            *(f"-artifact_prefix={given.crashes}/{name}-", "-timeout=120", "-rss_limit_mb=3000"),
            *("-print_final_stats=1", "-max_len=65536", "-verbosity=1"),
        ]
        done = subprocess.run(command, capture_output=True)
    said = (done.stderr + done.stdout).decode(errors="replace")
    count = re.search(r"number_of_executed_units: (\d+)", said)
    print(f"{name}: {int(count[1]) if count else 0:,} executions under atheris, ", end="")
    print(f"{int(done.returncode != 0)} failures", flush=True)
    if done.returncode:
        print(said[-4000:], file=sys.stderr)
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
