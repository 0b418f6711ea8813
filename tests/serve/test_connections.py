"""Clients of the server that keep it waiting: they lose their place, others are answered."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest

from tests.command_line import home, linux, posix
from tests.serve.served import server

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

pytestmark = posix

HOST = b"Host: localhost\r\n"


def connected(where, stack=None, buffer=None):
    """A connection to the server."""
    url = urlsplit(where)
    connection = socket.socket()
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(120)
    connection.connect((url.hostname, url.port))
    if stack:
        stack.enter_context(connection)
    return connection


def rest(connection):
    """What comes until the server ends the connection."""
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def posted(path, body, kind=b"application/json", more=b""):
    head = b"POST %b HTTP/1.1\r\n%bContent-Type: %b\r\nContent-Length: %d\r\n%b\r\n"
    return head % (path, HOST, kind, len(body), more) + body


@pytest.fixture(scope="module")
def hasty(home):
    """A server that waits for nobody longer than half a second."""
    with server("-m", home / "upos.seqtag", "--max-seconds", 0.5) as (process, where):
        yield process, where


def test_the_limits_use_public_interfaces_only():
    """No class of uvicorn is extended: what its protocols do inside may change."""
    from seqtag.serve.connections import ConnectionLimits

    made = ConnectionLimits(1, 1).protocol.func
    modules = {base.__module__ for base in made.__mro__}
    assert not any(module.startswith("uvicorn") for module in modules)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\n" + HOST + b"X: "])
def test_a_head_that_does_not_arrive(hasty, sent):
    with connected(hasty[1]) as connection:
        connection.sendall(sent)
        assert rest(connection) == b""


def test_a_head_that_arrives_byte_by_byte(hasty):
    """It is the whole head that has half a second."""
    with connected(hasty[1]) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                connection.sendall(b"x")
                time.sleep(0.02)


def test_a_body_that_goes_on_after_its_refusal(hasty):
    with connected(hasty[1]) as connection:
        connection.sendall(
            b"POST /api/tag HTTP/1.1\r\n" + HOST + b"Content-Length: 99999999\r\n\r\n"
        )
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                connection.sendall(b"x")
                time.sleep(0.02)


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nX: ",
        b"GET /",
        b"POST /api/tag HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    ],
    ids=["header", "path", "trailer"],
)
def test_a_head_that_is_too_large(home, head):
    """The connection is closed before its time is over."""
    with server("-m", home / "upos.seqtag") as (_, where), connected(where) as connection:
        begin = time.monotonic()
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            connection.sendall(head)
            for _ in range(1000):
                connection.sendall(b"x" * 10_000)
                time.sleep(0.001)
        assert time.monotonic() - begin < 8


def test_a_stream_that_trickles(hasty):
    """Half a second in all may be lost with waiting for so little."""
    head = b"Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(hasty[1]) as connection:
        connection.sendall(b"POST /api/tag HTTP/1.1\r\n" + HOST + head)
        begin = time.monotonic()
        connection.settimeout(0.1)
        found = b""
        while b"expected the complete body within 0.5 seconds" not in found:
            assert time.monotonic() < begin + 60
            connection.sendall(b"1\r\n{\r\n")
            with suppress(TimeoutError):
                found += connection.recv(1000)


def test_answers_that_nobody_takes(hasty):
    """Requests one behind the other, and no look at what comes back."""
    with connected(hasty[1], buffer=4096) as connection:
        connection.settimeout(0.5)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                try:
                    connection.sendall((b"GET /script.js HTTP/1.1\r\n" + HOST + b"\r\n") * 99)
                except TimeoutError:
                    time.sleep(0.05)
    assert httpx.get(f"{hasty[1]}models", timeout=60).status_code == 200


def test_many_connections_that_say_nothing(home):
    """Above the most they are told so or dropped, and who asks properly is heard in the end."""
    options = ("--threads", 1, "--waiting", 0, "--max-seconds", 3)  # 72 connections
    with server("-m", home / "upos.seqtag", *options) as (_, where), ExitStack() as stack:
        idle = [connected(where, stack) for _ in range(300)]
        with connected(where) as late:
            late.sendall(b"GET /models HTTP/1.1\r\n" + HOST + b"\r\n")
            assert rest(late) == b""  # dropped
        with idle[100] as told:
            told.sendall(b"GET /models HTTP/1.1\r\n" + HOST + b"\r\n")
            answer = rest(told)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1\r\n" in answer
        assert answer.endswith(
            b"expected fewer connections at once, found too many; try again later\n"
        )
        for connection in idle:
            if connection is not told:
                assert rest(connection) == b""
        assert httpx.get(f"{where}models", timeout=60).status_code == 200


@linux
def test_no_file_handles_left(home):
    """One line, no answer for a while, and then answers again."""
    command = [sys.executable, "-m", "seqtag", "serve", "-m", home / "upos.seqtag", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--max-seconds", "2"],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)),
    )
    try:
        where = process.stderr.readline().decode().split()[1]
        with ExitStack() as stack:
            for _ in range(80):
                connected(where, stack)
            line = process.stderr.readline()
            assert line == b"seqtag: Too many open files (OSError)\n"
        assert httpx.get(f"{where}models", timeout=60).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"seqtag: stopped\n")
    finally:
        process.kill()
        process.communicate()


def test_a_client_that_leaves_in_the_middle_of_an_answer(home):
    with server("-m", home / "upos.seqtag") as (process, where):
        body = json.dumps({"text": "the dog barks. " * 600}).encode()  # an answer of 300 kB
        for _ in range(3):
            with connected(where, buffer=4096) as connection:
                connection.sendall(posted(b"/api/tag", body))
                assert connection.recv(10) == b"HTTP/1.1 2"
        with connected(where) as connection:
            connection.sendall(posted(b"/api/tag", body))  # and at once away
        assert httpx.get(f"{where}models", timeout=60).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert (process.communicate(timeout=60)[1], process.returncode) == (b"seqtag: stopped\n", 0)


def test_the_end_of_an_answer_does_not_wait_for_the_client():
    """Without TCP_NODELAY, the second answer on a connection takes 40 ms."""
    from seqtag.serve.process import listening  # the extra may be missing

    with listening("localhost", 0) as listener, socket.socket(listener.family) as client:
        client.connect(listener.getsockname())
        with listener.accept()[0] as taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_who_interrupts_twice_does_not_wait(home):
    """Nor for the threads that are at work."""
    with server("-m", home / "upos.seqtag", "--max-seconds", 600) as (process, where):
        body = json.dumps({"text": "a " * 400_000}).encode()  # minutes of work
        with connected(where) as connection:
            connection.sendall(posted(b"/api/tag", body))
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (130, b"seqtag: interrupted\n")
