"""A web server on this machine that misbehaves as it is told to."""

from __future__ import annotations

import threading
from contextlib import contextmanager
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
    requests : list
        Path and ``Range`` of each request.
    cuts : list of int
        How many bytes of the file the next answers give before the line goes dead.
    ranges : bool
        Whether ``Range`` is understood.
    lengths : bool
        Whether the length of an answer is said.
    redirects : dict
        Addresses by path.
    codes : list of int
        Codes that the next requests get instead of an answer.
    raw : list of bytes
        Complete answers to the next requests, head and body.
    gate : threading.Event
        Held back while it is not set.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.cuts: list[int] = []
        self.codes: list[int] = []
        self.raw: list[bytes] = []
        self.redirects: dict[str, str] = {}
        self.ranges = self.lengths = True
        self.gate = threading.Event()
        self.gate.set()

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        server, asked = self.server, self.headers["Range"]
        server.requests.append((self.path, asked))
        server.gate.wait(30)
        if server.raw:
            self.wfile.write(server.raw.pop(0))
        elif server.codes:
            self._empty(server.codes.pop(0))
        elif self.path in server.redirects:
            self._empty(302, Location=server.redirects[self.path])
        elif self.path not in server.files:
            self._empty(404)
        else:
            self._give(server.files[self.path], asked if server.ranges else None)

    def _empty(self, code: int, **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _give(self, content: bytes, asked: str | None) -> None:
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if start >= len(content) and asked:
            return self._empty(416)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if self.server.lengths:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = self.server.cuts.pop(0) if self.server.cuts else len(content)
        self.wfile.write(content[start:end])
        return None

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
