"""Many files on a real Ray cluster: kills of workers and drivers lose nothing."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.batch.engines import on_ray
from tests.command_line import SENTENCES, SEQTAG, conllu, home, run
from tests.conftest import ROOT

pytestmark = on_ray

FILES = 30


@pytest.fixture
def place(tmp_path, monkeypatch, home) -> Path:
    """A folder with files to tag, and what they become without Ray."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for number in range(FILES):
        Path("in", f"{number}.conllu").write_text(conllu(SENTENCES * 3000, labels=False))
    done = run("tag", "-m", home / "upos.seqtag", "in/*.conllu", "-o", "whole/", cwd=tmp_path)
    assert done.code == 0
    return tmp_path


def begin(home) -> subprocess.Popen[bytes]:
    """The command, in a process group of its own with all that Ray starts."""
    command = [*SEQTAG, "cluster", "tag", "-m", str(home / "upos.seqtag"), "in/*.conllu"]
    return subprocess.Popen(
        [*command, "-o", "out", "--workers", "2"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def writer(driver: int) -> int:
    """A process that writes an output, once there is one; the driver writes the record."""
    begin = str(Path("out").resolve() / ".seqtag-")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for path in Path("/proc").glob("[0-9]*/fd/*"):
            with suppress(OSError):
                if str(path.readlink()).startswith(begin) and int(path.parts[2]) != driver:
                    return int(path.parts[2])
    raise AssertionError("waited in vain")


def outputs(folder: str) -> dict[str, bytes]:
    found = Path(folder).iterdir()
    return {path.name: path.read_bytes() for path in found if not path.name.startswith(".seqtag")}


def test_the_bytes_are_those_without_ray_and_bad_files_are_listed(place, home):
    Path("in/bad.conllu").write_text(conllu(labels=False) + "1\tshort\n")
    process = begin(home)
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out) == (1, b"")
    assert f"{FILES} tagged, 0 skipped, 1 failed".encode() in err
    assert b"in/bad.conllu:61: expected 10 tab-separated columns" in err
    assert outputs("out") == outputs("whole")


def test_a_worker_that_is_killed_costs_nothing(place, home):
    process = begin(home)
    os.kill(writer(process.pid), signal.SIGKILL)
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out) == (0, b""), err
    assert f"{FILES} tagged, 0 skipped, 0 failed".encode() in err
    assert outputs("out") == outputs("whole")


def test_a_driver_that_is_killed_continues_when_it_is_run_again(place, home):
    process = begin(home)
    while len(list(Path("out").glob("*.conllu"))) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=60)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what Ray leaves
    kept = len(list(Path("out").glob("*.conllu")))
    assert 2 <= kept < FILES
    process = begin(home)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    found = int(err.split(b" tagged, ")[1].split(b" skipped")[0])
    assert kept <= found < FILES
    assert outputs("out") == outputs("whole")
