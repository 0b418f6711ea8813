"""seqtag serve --workers: processes that end, are replaced, and count together."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
import time
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
    return [int(each) for each in found]


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
    match = re.search(rf"^{name} (.*)$", httpx.get(f"{where}metrics").text, re.M)
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
        assert all(wakes(pid) >= before[pid] + 5 for pid in children(process))
        pids = children(process)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"seqtag: stopped\n")
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
        names = {each.stem for each in tmp_path.glob("seqtag-metrics-*/*.db")}
        assert {name.rpartition("_")[2] for name in names} <= {"MainProcess", "1", "2", "3"}
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    ended = b"seqtag: a worker ended (exit code -9), starting another\n"
    assert err == 3 * ended + b"seqtag: stopped\n"


@pytest.mark.parametrize("kept", [False, True])
def test_new_models_come_without_a_lost_request(home, tmp_path, kept):
    made = tmp_path / "m.seqtag"
    shutil.copy(home / "upos.seqtag", made)
    with server("-m", made, "--workers", 2) as (process, where):
        old = until(lambda: len(pids := children(process)) == 2 and pids)
        codes, is_over = [], threading.Event()

        def go_on():
            work = {"json": {"text": "the dog barks. " * 50}, "timeout": 60}
            with httpx.Client() as client:
                while not is_over.is_set():
                    post = client.post if kept else httpx.post
                    codes.append(post(f"{where}api/tag", **work).status_code)

        clients = [threading.Thread(target=go_on) for _ in range(3)]
        for each in clients:
            each.start()
        for version in ("xpos", "upos", "xpos"):
            seen = len(codes)
            until(lambda seen=seen: len(codes) > seen + 20)
            shutil.copy(home / f"{version}.seqtag", tmp_path / "new")
            (tmp_path / "new").replace(made)
            process.send_signal(signal.SIGHUP)
            until(lambda old=old: len(now := children(process)) == 2 and not {*old} & {*now})
            old = children(process)
        seen = len(codes)
        until(lambda: len(codes) > seen + 20)
        is_over.set()
        for each in clients:
            each.join()
        assert {*codes} == {200}
        word = ask(where).json()["sentences"][0]["tokens"][0]["words"][0]
        assert list(word["labels"]) == ["xpos"]
        made.write_bytes(b"broken")
        process.send_signal(signal.SIGHUP)
        failed = re.escape('seqtag_model_loads_total{outcome="failed"}')
        until(lambda: counted(where, failed) == 1)
        assert ask(where).status_code == 200


def test_workers_end_with_their_parent_however_it_ends(home):
    with server("-m", home / "upos.seqtag", "--workers", 2) as (process, where):
        ask(where)
        pids = children(process)
        process.kill()
        until(lambda: not any(map(alive, pids)))


def test_who_interrupts_twice_does_not_wait_for_workers(home):
    options = ("--workers", 2, "--max-seconds", 600)
    with server("-m", home / "upos.seqtag", *options) as (process, where):
        work = {"text": "a " * 400_000, "scores": True}

        def wait():
            with pytest.raises(httpx.TransportError):
                httpx.post(f"{where}api/tag", content=json.dumps(work), headers=head, timeout=300)

        head = {"content-type": "application/json"}
        asking = threading.Thread(target=wait)
        asking.start()
        until(lambda: counted(where, "seqtag_requests_in_progress") > 1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        asking.join()
    assert (process.returncode, err) == (130, b"seqtag: interrupted\n")
