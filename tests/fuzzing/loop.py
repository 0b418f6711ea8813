"""Fuzzing without a tool: inputs are changed, and kept if they lead to a message not seen before."""

from __future__ import annotations

import faulthandler
import hashlib
import mmap
import os
import re
import sys
import time
import traceback
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_ROOM = 1 << 22  # bytes of the file that holds the input in work
_INPUT_BYTES = 1 << 16  # at most
_VALUES = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")


class Found(NamedTuple):
    """What a run found.

    Attributes
    ----------
    executions, accepted, kinds, failures
        Inputs tried; of these, accepted ones; different messages; failures, which were saved.
    longest
        Seconds that the slowest input took.
    """

    executions: int
    accepted: int
    kinds: int
    failures: int
    longest: float

    def __str__(self) -> str:
        return (
            f"{self.executions:,} executions, {self.accepted:,} accepted, "
            f"{self.executions - self.accepted - self.failures:,} refused with {self.kinds:,} "
            f"messages, slowest {self.longest:.1f} s, {self.failures:,} failures"
        )


class Crashes:
    """A folder for inputs that fail, and for the one in work, should it take the process along.

    Several processes may share it.
    """

    def __init__(self, folder: Path, target: str):
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._target = folder, target
        self._path = folder / f"{target}-{os.getpid()}.in-work"
        with self._path.open("wb") as file:
            file.truncate(_ROOM)
        with self._path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _ROOM)  # written without a call of the system

    def working_on(self, data: bytes) -> None:
        """Remember an input."""
        self._map[: len(data) + 8] = len(data).to_bytes(8, "little") + data

    def save(self, data: bytes) -> Path:
        """Keep an input that failed."""
        path = self._folder / f"{self._target}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        return path

    def close(self) -> None:
        """All went well: there is no input in work."""
        self._map.close()
        self._path.unlink()


def left_in_work(path: Path) -> bytes:
    """The input that a process worked on when it died."""
    raw = path.read_bytes()
    return raw[8 : 8 + int.from_bytes(raw[:8], "little")]


def fuzz(
    name: str,
    target: Callable[[bytes], str],
    seeds: Sequence[bytes],
    pieces: Sequence[bytes],
    *,
    crashes: Path,
    seed: int = 0,
    seconds: float = 60,
    runs: int = sys.maxsize,
    timeout: float = 120,
) -> Found:
    """Run a target on its seeds and on what becomes of them; failures are saved and told on stderr.

    An input that takes longer than `timeout` seconds ends the process with a traceback, and stays
    in the folder as the one in work.
    """
    random, folder = Random(seed), Crashes(crashes, name)
    pool, kinds, failed = list(seeds), set[str](), set[str]()
    done = accepted = failures = 0
    longest, end = 0.0, 0.0
    while done < runs and (done <= len(seeds) or time.monotonic() < end):
        if done == len(seeds):  # what is imported on the way is not counted
            end = time.monotonic() + seconds
        data = pool[done] if done < len(seeds) else mutated(random, pool, pieces)
        done += 1
        folder.working_on(data)
        faulthandler.dump_traceback_later(timeout, exit=True, file=sys.__stderr__)
        before = time.monotonic()
        try:
            said = target(data)
        except Exception as error:
            failures += 1
            path = folder.save(data)
            place = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} {place.filename}:{place.lineno}"
            if kind not in failed:
                failed.add(kind)
                print(f"{path}: {kind}: {str(error)[:500]}", file=sys.stderr)
            continue
        finally:
            faulthandler.cancel_dump_traceback_later()
            longest = max(longest, time.monotonic() - before)
        accepted += said == "accepted"
        kind = _VALUES.sub("#", said)[:60]
        if kind not in kinds:
            kinds.add(kind)
            if done > len(seeds):
                pool.append(data)
    folder.close()
    return Found(done, accepted, len(kinds - {"accepted"}), failures, longest)


def mutated(random: Random, pool: Sequence[bytes], pieces: Sequence[bytes]) -> bytes:
    """One of some inputs with a few changes."""
    data = bytearray(random.choice(pool))
    for _ in range(random.choice([1, 1, 2, 3, 5, 8])):
        at, size = random.randint(0, len(data)), random.choice([1, 1, 2, 4, 16, 64])
        kind = random.randint(0, 7)
        if kind == 0:
            del data[at : at + size]
        elif kind == 1:
            data[at:at] = random.randbytes(size)
        elif kind == 2:
            data[at : at + 1] = random.randbytes(1)
        elif kind == 3:
            data[at:at] = data[at : at + size] * random.choice([1, 2, 30])
        elif kind == 4:
            other = random.choice(pool)
            begin = random.randint(0, len(other))
            data[at : at + size * random.randint(0, 1)] = other[begin : begin + 4 * size]
        elif kind == 5 and len(data):
            data[at % len(data)] ^= 1 << random.randint(0, 7)
        elif pieces:
            data[at : at + random.choice([0, 0, 1, size])] = random.choice(pieces)
    return bytes(data[:_INPUT_BYTES])
