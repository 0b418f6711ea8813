"""A web server on this machine that misbehaves as it is told to."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Server(ThreadingHTTPServer):
    """Files by path, and what is to go wrong.

    Attributes
    ----------
    files : dict
        Bytes by path.
    requests : list of str
        Path of each request.
    cuts : list of int
        How many bytes of the file the next answers give before the line goes dead.
    redirects : dict
        Addresses by path.
    codes : list of int
        Codes that the next requests get instead of an answer.
    headers : dict
        More headers of the files.
    most : int
        Bytes that are sent of a file without its length, again and again; 0 for files as they are.
    sent : int
        How many of them were taken.
    gate : threading.Event
        Held back while it is not set.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.cuts: list[int] = []
        self.codes: list[int] = []
        self.redirects: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self.most = self.sent = 0
        self.gate = threading.Event()
        self.gate.set()

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        server.requests.append(self.path)
        server.gate.wait(30)
        if server.codes:
            self._answer(server.codes.pop(0))
        elif self.path in server.redirects:
            self._answer(302, Location=server.redirects[self.path])
        elif self.path not in server.files:
            self._answer(404)
        elif server.most:
            self._send_on_and_on(server.files[self.path])
        else:
            self._answer(200, server.files[self.path], **server.headers)

    def _send_on_and_on(self, content: bytes) -> None:
        self.send_response(200)
        self.end_headers()
        with suppress(ConnectionError):
            while self.server.sent < self.server.most:
                self.server.sent += self.wfile.write(content)

    def _answer(self, code: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        end = self.server.cuts.pop(0) if content and self.server.cuts else len(content)
        self.wfile.write(content[:end])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[Server]:
    """A server while the block runs."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.gate.set()
        server.shutdown()
        thread.join()
