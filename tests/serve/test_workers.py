"""seqtag serve --workers: processes that end, are replaced, and count together."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.command_line import home, linux
from tests.serve.served import server

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

pytestmark = linux


def children(process):
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    commands = {int(each): Path(f"/proc/{each}/cmdline").read_bytes() for each in found}
    return [each for each, command in commands.items() if b"spawn_main" in command]


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def ask(where, text="the dog barks"):
    """On a connection of its own, which the system gives to any worker."""
    return httpx.post(f"{where}api/tag", json={"text": text}, timeout=60)


def counted(where, name):
    match = re.search(rf"^{name} (.*)$", httpx.get(f"{where}metrics", timeout=60).text, re.M)
    return float(match[1]) if match else 0.0


def wakes(pid):
    """How often a process had to wait for something, such as a request."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1])


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_workers_share_the_load_and_count_together(home):
    with server("-m", home / "upos.seqtag", "--workers", 2) as (process, where):
        until(lambda: len(children(process)) == 2)
        before = {pid: wakes(pid) for pid in children(process)}
        answers = [ask(where) for _ in range(40)]
        assert {each.text for each in answers} == {answers[0].text}
        assert counted(where, "seqtag_words_total") == 3 * 40
        tagged = 'seqtag_requests_total{path="/api/tag",status="200"}'
        assert counted(where, re.escape(tagged)) == 40
        assert sum(wakes(pid) >= before[pid] + 5 for pid in children(process)) == 2
        pids = children(process)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0 and err.endswith(b"seqtag: stopped\n")
        assert not any(map(alive, pids))


def test_a_worker_that_ends_is_started_again(home, tmp_path, monkeypatch):
    """What it counted is kept, without another file for each worker."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with server("-m", home / "upos.seqtag", "--workers", 2) as (process, where):
        for asked in (20, 40, 60):
            first, second = until(lambda: len(pids := children(process)) == 2 and pids)
            assert {ask(where).status_code for _ in range(20)} == {200}
            os.kill(first, signal.SIGKILL)
            until(lambda gone=first: len(pids := children(process)) == 2 and gone not in pids)
            assert second in children(process)
            assert counted(where, "seqtag_words_total") == 3 * asked
        names = {each.stem.rpartition("_")[2] for each in tmp_path.glob("seqtag-metrics-*/*.db")}
        assert names == {"1", "2"}
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err.count(b"died") == 3 and err.endswith(b"seqtag: stopped\n")


def test_another_worker_answers_at_once_for_one_that_is_killed(home):
    with server("-m", home / "upos.seqtag", "--workers", 2) as (process, where):
        first, _ = until(lambda: len(pids := children(process)) == 2 and pids)
        ask(where)
        os.kill(first, signal.SIGKILL)
        assert {ask(where).status_code for _ in range(10)} == {200}


def test_a_model_that_is_gone_when_a_worker_starts_ends_the_server(home, tmp_path):
    """Others would fail the same way."""
    made = tmp_path / "m.seqtag"
    shutil.copy(home / "upos.seqtag", made)
    with server("-m", made, "--workers", 2) as (process, where):
        first, _ = until(lambda: len(pids := children(process)) == 2 and pids)
        ask(where)
        made.unlink()
        os.kill(first, signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert b"No such file" in err and b"Traceback" not in err


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small disk")
def test_a_full_disk_costs_no_worker(home, tmp_path, monkeypatch):
    """Before they start they have metrics of their own; later nothing changes."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=7m", "tmpfs", tmp_path]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        with server("-m", home / "upos.seqtag", "--workers", 2) as (process, where):
            pids = until(lambda: len(pids := children(process)) == 2 and pids)
            assert ask(where).status_code == 200
            fill(tmp_path)
            assert {ask(where).status_code for _ in range(20)} == {200}
            assert httpx.get(f"{where}nothing", timeout=60).status_code == 404
            assert counted(where, "seqtag_words_total") == 3 * 21
            assert children(process) == pids
        fill(tmp_path)
        with server("-m", home / "upos.seqtag", "--workers", 2) as (_, where):
            assert {ask(where).status_code for _ in range(20)} == {200}
            assert counted(where, "seqtag_words_total") > 0  # in another folder, or of one worker
    finally:
        subprocess.run(["umount", tmp_path], check=False)


def fill(folder):
    with suppress(OSError), (folder / "fill").open("ab") as file:
        while True:
            file.write(b"x" * 4096)
            file.flush()


def test_workers_end_with_their_parent_however_it_ends(home):
    with server("-m", home / "upos.seqtag", "--workers", 2) as (process, where):
        ask(where)
        pids = children(process)
        process.kill()
        until(lambda: not any(map(alive, pids)))


@pytest.mark.parametrize("size", [0, 10_000])
def test_files_that_cannot_be_written_cost_the_metrics_of_others_alone(home, size):
    """No folder, or no space for its files: each worker counts for itself, which is said."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
    command = [sys.executable, "-m", "seqtag", "serve", "-m", home / "upos.seqtag", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--workers", "2"], stderr=subprocess.PIPE, preexec_fn=limit
    )
    try:
        line = process.stderr.readline().decode()
        said = []
        while " serves " not in line:
            said.append(line)
            line = process.stderr.readline().decode()
        where = line.split()[1]
        assert {ask(where).status_code for _ in range(10)} == {200}
        assert counted(where, "seqtag_words_total") > 0
        process.send_signal(signal.SIGTERM)
        said.append(process.communicate(timeout=60)[1].decode())
        assert " metrics of its own: " in "".join(said) and "Traceback" not in "".join(said)
    finally:
        process.kill()
        process.communicate()
