"""SIGHUP: models are read again while the server answers; a broken one changes nothing."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from queue import Queue
from urllib.request import urlopen

import pytest

import seqtag
from seqtag.errors import ModelFileError
from seqtag.serve.models import ModelRegistry, ServedModels
from tests.command_line import home, posix
from tests.serve.served import server

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

pytestmark = posix


def part(where):
    """The column that is served."""
    [[found]] = httpx.get(f"{where}api/models", timeout=60).json()["models"].values()
    return found


def signalled(process):
    """Send SIGHUP; the line that answers it."""
    process.send_signal(signal.SIGHUP)
    return process.stderr.readline().decode()


@pytest.fixture
def model(home, tmp_path):
    path = tmp_path / "served.seqtag"
    shutil.copy(home / "upos.seqtag", path)
    return path


def replace(path, data):
    """Put another file in the place of one, whole."""
    new = path.with_name("new")
    new.write_bytes(data)
    new.replace(path)


def test_a_broken_model_changes_nothing(home, model):
    """Empty, truncated, no model at all, deleted: one server survives them all."""
    good = {name: (home / f"{name}.seqtag").read_bytes() for name in ("upos", "xpos")}
    with server("-m", model) as (process, where):
        served, other = "upos", "xpos"
        for broken in (b"", good["upos"][:-9], b"x" * 999, None):
            if broken is None:
                model.unlink()
            else:
                replace(model, broken)
            line = signalled(process)
            assert line.startswith("seqtag: models not reloaded, the old ones stay in use: ")
            assert str(model) in line
            assert part(where) == served
            replace(model, good[other])
            assert signalled(process) == "seqtag: models reloaded: served\n"
            assert part(where) == other
            served, other = other, served


def test_a_file_that_is_written_over_in_its_place(model):
    """Nothing of the served model is read from the file later."""
    with server("-m", model) as (process, where):
        ask = {"json": {"text": "the dog barks"}, "timeout": 60}
        before = httpx.post(f"{where}api/tag", **ask).json()
        model.write_bytes(b"x")
        assert httpx.post(f"{where}api/tag", **ask).json() == before
        assert "the old ones stay in use" in signalled(process)
        assert httpx.post(f"{where}api/tag", **ask).json() == before


def test_an_answer_under_way_ends_with_the_model_it_began_with(home, model):
    with server("-m", model, "--threads", 1, "--max-seconds", 120) as (process, where):
        answers = Queue()
        body = {"text": "the dog barks. " * 4_000}

        def ask():
            answers.put(httpx.post(f"{where}api/tag", json=body, timeout=200).json())

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.3)  # it is at work, or still on its way: both are right
        replace(model, (home / "xpos.seqtag").read_bytes())
        signalled(process)
        asking.join()
    labels = {
        tuple(word["labels"])
        for sentence in answers.get()["sentences"]
        for token in sentence["tokens"]
        for word in token["words"]
    }
    assert labels in ({("upos",)}, {("xpos",)})


def test_many_signals_at_once(model):
    with server("-m", model) as (process, where):
        for _ in range(200):
            process.send_signal(signal.SIGHUP)
        assert part(where) == "upos"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    *reloaded, stopped = err.decode().splitlines()
    assert {*reloaded} <= {"seqtag: models reloaded: served"}
    assert stopped == "seqtag: stopped"
    assert err.count(b"\n") < 200


def test_who_closes_the_terminal_ends_the_server(model):
    """SIGHUP means that, too."""
    pty = pytest.importorskip("pty")
    import fcntl
    import termios

    def takes_the_terminal():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "seqtag", "serve", "-m", model, "--port", "0"]
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=takes_the_terminal,
    )
    os.close(theirs)
    try:
        line = process.stderr.readline()
        assert b" serves served" in line
        urlopen(line.split()[1].decode() + "models", timeout=60).close()  # it takes signals now
        os.close(ours)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


# ----------------------------------------------------------------- the registry itself
def test_the_line_of_an_error_is_one_line(home):
    loaded = seqtag.load(home / "upos.seqtag")
    kept = ServedModels([("x", loaded)])
    found = [
        kept,
        ModelFileError("a\nb", source="x"),
        ValueError("c\nd"),
        ServedModels([("y", loaded)]),
    ]
    lines = []

    def read():
        each = found.pop(0)
        if isinstance(each, Exception):
            raise each
        return each

    registry = ModelRegistry(read, lines.append, lines.append)
    head = "models not reloaded, the old ones stay in use: "
    for expected in (f"{head}x: a b", f"{head}ValueError: c d"):
        assert not registry.read_now()
        assert lines.pop() == expected
        assert registry.models is kept
    assert registry.read_now()
    assert lines == ["models reloaded: y"]
    assert registry.models.default == "y"
