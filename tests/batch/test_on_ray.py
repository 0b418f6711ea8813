"""What goes wrong on a cluster, on a real one: nothing is lost, nothing is done twice."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.batch.engines import on_ray, ray
from tests.command_line import call, conllu, home
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = on_ray

TAG = ("cluster", "tag", "-m", "my.seqtag", "-o", "out", "--base", "in")
SLOW = "in/slow/5.conllu"
"""A pipe: whoever reads it waits until somebody writes."""

BROKEN = conllu(labels=False) + "1\tshort\n"


@pytest.fixture
def place(tmp_path, monkeypatch, home) -> Iterator[Path]:
    """A folder with a model, five files to tag, and one that is slow to come."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(home / "upos.seqtag", "my.seqtag")
    Path("in/slow").mkdir(parents=True)
    for number in range(5):
        Path("in", f"{number}.conllu").write_text(conllu(labels=False))
    os.mkfifo(SLOW)

    def too_long(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(400)  # for ever, without
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def wait_for(found, seconds: float = 300):
    """What is found at last."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def reader_of_slow(*known: int) -> int | None:
    """The process that has begun with the slow file: it holds its output open."""
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            pid, file = int(path.parts[2]), str(path.readlink())
            if file.startswith(str(Path("out/slow/.seqtag-").resolve())) and pid not in known:
                return pid
    return None


@contextmanager
def meanwhile(function) -> Iterator[None]:
    """Run a function beside the block; its error is the block's."""
    errors = []

    def run():
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join(300)
    assert not thread.is_alive()
    if errors:
        raise errors[0]


def give() -> None:
    """Let the slow file come."""
    Path(SLOW).write_text(conllu(labels=False))


def assert_exact() -> None:
    """The ledger has each output, and nothing else, with its size and digest."""
    done = {}
    for line in Path("out/ledger.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["status"] in ("tagged", "skipped"):
            done[entry["target"]] = entry["bytes_written"], entry["sha256_written"]
    found = {}
    for path in Path("out").rglob("*"):
        if path.is_file() and path.name != "ledger.jsonl":
            data = path.read_bytes()
            name = str(path.relative_to("out"))
            found[name] = len(data), hashlib.sha256(data).hexdigest()
    assert found == done


def totals(call) -> dict:
    return json.loads(call("cluster", "status", "out/ledger.jsonl", "--json").out)


def assert_all_done(files: int = 6) -> None:
    """Every file is there, whole, once, and nothing else."""
    tagged = {path for path in Path("out").rglob("*.conllu")}
    assert len(tagged) == files
    assert len({path.read_bytes() for path in tagged}) == 1
    assert_exact()
    assert not [*Path("out").rglob(".seqtag-*")]


def test_a_worker_that_is_killed_costs_an_attempt(place, ray, call):
    def kill():
        os.kill(pid := wait_for(reader_of_slow), signal.SIGKILL)
        wait_for(lambda: reader_of_slow(pid))
        give()

    with meanwhile(kill):
        done = call(*TAG, "in/*.conllu", SLOW)
    assert (done.code, done.out) == (0, b"")
    assert_all_done()
    found = totals(call)
    assert (found["tagged"], found["failures"]) == (6, [])


def test_a_file_that_kills_its_worker_each_time_fails_alone(place, ray, call):
    killed = []

    def kill():
        while len(killed) < 2:
            pid = wait_for(lambda: reader_of_slow(*killed))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    with meanwhile(kill):
        done = call(*TAG, "in/*.conllu", SLOW, "--attempts", 2)
    assert done.code == 1
    assert_all_done(5)
    [failed] = totals(call)["failures"]
    assert failed["source"] == SLOW
    assert failed["error"].startswith("the worker was lost: ")
    with meanwhile(give):
        done = call(*TAG, "in/*.conllu", SLOW)
    assert done.code == 0
    assert "1 tagged, 5 skipped, 0 failed" in done.err
    assert_all_done()
    assert totals(call)["failures"] == []


def test_an_error_in_a_file_and_a_full_disk_fail_alone(place, ray, call):
    Path("in/1.conllu").write_text(BROKEN)
    Path("out").mkdir()
    Path("out/2.conllu").symlink_to("/dev/full")
    done = call(*TAG, "in/*.conllu")
    assert done.code == 1
    failed = sorted(totals(call)["failures"], key=lambda each: each["source"])
    assert [each["source"] for each in failed] == ["in/1.conllu", "in/2.conllu"]
    assert "1.conllu:61: expected 10 tab-separated columns" in failed[0]["error"]
    assert failed[1]["error"].endswith("out/2.conllu: No space left on device")
    Path("out/2.conllu").unlink()
    Path("in/1.conllu").write_text(conllu(labels=False))
    assert call(*TAG, "in/*.conllu").code == 0
    assert_all_done(5)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_driver_is_killed_and_the_job_run_again(place, ray, call, how):
    address = ray.get_runtime_context().gcs_address
    command = [sys.executable, "-m", "seqtag", *TAG, "in/*.conllu", SLOW, "--address", address]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    driver = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    ledger = Path("out/ledger.jsonl")
    tagged = b'{"status": "tagged"'
    wait_for(lambda: ledger.exists() and ledger.read_bytes().count(tagged) == 5)
    wait_for(reader_of_slow)
    driver.send_signal(how)
    out, err = driver.communicate(timeout=300)
    wait_for(lambda: reader_of_slow() is None)  # its workers end with it
    if how is not signal.SIGKILL:
        assert (driver.returncode, out) == (128 + how, b"")
        word = b"interrupted" if how is signal.SIGINT else b"terminated"
        assert err.splitlines()[-1] == b"seqtag: " + word
        assert not [*Path("out").rglob(".seqtag-*")]
    assert totals(call)["state"] == "interrupted"
    if how is signal.SIGKILL:
        with ledger.open("ab") as file:
            file.write(b'{"status": "tagged", "source": "in/')  # as a full page may end
    before = {path: path.stat().st_ino for path in Path("out").glob("*.conllu")}
    with meanwhile(give):
        done = call(*TAG, "in/*.conllu", SLOW)
    assert done.code == 0
    assert "1 tagged, 5 skipped, 0 failed" in done.err
    assert_all_done()
    assert before == {path: path.stat().st_ino for path in Path("out").glob("*.conllu")}


def test_a_file_that_does_not_come_in_time_fails_alone(place, ray, call):
    done = call(*TAG, "in/*.conllu", SLOW, "--time-limit", 0.5, "--attempts", 2)
    assert done.code == 1
    assert_all_done(5)
    [failed] = totals(call)["failures"]
    assert failed["source"] == SLOW
    assert failed["error"].startswith("the worker was lost: ")
    assert failed["error"].endswith("; see --time-limit, 0.5 s")


def test_a_model_that_is_replaced_meanwhile_changes_nothing(place, ray, call, home):
    def replace():
        wait_for(reader_of_slow)
        shutil.copy(home / "xpos.seqtag", "new.seqtag")
        Path("new.seqtag").replace("my.seqtag")
        give()

    with meanwhile(replace):
        done = call(*TAG, "in/*.conllu", SLOW)
    assert done.code == 0
    assert_all_done()
    assert "\tDET\t_\t" in Path("out/0.conllu").read_text()
    with meanwhile(give):
        done = call(*TAG, "in/*.conllu", SLOW)
    assert "6 tagged, 0 skipped" in done.err
    assert_all_done()
    assert "\t_\tDT\t" in Path("out/0.conllu").read_text()
