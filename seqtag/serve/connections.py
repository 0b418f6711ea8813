"""Connection limits of the server: how many connections it takes, and how long each may stall.

uvicorn has no time limit for the head of a request or for a client that does not read its answer.
The limits are added around it: an `asyncio.Protocol` that passes the events of a connection on to
uvicorn's own protocol; `Front` says when a request begins and when it is answered.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:
    from collections.abc import Hashable

    from starlette.types import Scope

_HEAD_SECONDS = 10.0
_MOST_HEAD = 1 << 16  # bytes of the headers of a request
_MOST_REFUSED = 1 << 23  # bytes of a body that come after the answer
_REFUSED_AT_ONCE = 64  # connections above the limit that are answered; further ones are dropped
_BYTES_PER_SECOND = 100_000  # clients that take an answer more slowly lose their connection


class ConnectionLimits:
    """Limits on the connections of a server.

    Parameters
    ----------
    seconds
        Time for the body of a request to arrive and for an answer to be taken; large answers have
        one second more for each 100,000 bytes. The head of a request has ten seconds, or this
        time if it is shorter.
    most
        Connections served at once. The next 64 are answered with status 503, others are dropped.

    Attributes
    ----------
    protocol
        Makes the protocol object that uvicorn has for each connection (its option ``http``).
    """

    def __init__(self, seconds: float, most: int):
        self.seconds, self.most = seconds, most
        self.head_seconds = min(_HEAD_SECONDS, seconds)
        self.open: dict[Hashable, _Connection] = {}
        self.protocol: Any = partial(_Connection, self)

    def unsent(self) -> int:
        """Return the number of bytes of answers that no client has taken yet."""
        return sum(each.transport.get_write_buffer_size() for each in self.open.values())

    def in_progress(self) -> int:
        """Return the number of requests that are being answered."""
        return sum(each.requests for each in self.open.values())

    def of(self, scope: Scope) -> _Connection | None:
        """Return the connection of a request, which is found by the address of its client."""
        return self.open.get(tuple(scope.get("client") or ()))


class _Connection(asyncio.Protocol):
    """Connection that is closed if its client stalls; all events are passed on to uvicorn.

    Attributes
    ----------
    refused : bool
        Whether it is above the limit, so that its request gets status 503.
    requests : int
        Number of requests that are being answered.
    """

    transport: asyncio.Transport

    def __init__(self, limits: ConnectionLimits, **options: Any):
        self._limits = limits
        self._http: Any = AutoHTTPProtocol(**options)  # httptools if it is installed, or h11
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._seconds_left = 0.0  # for the client to take its answer
        self._key: Hashable = id(self)
        self.refused = False
        self.requests = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = self.transport = cast("asyncio.Transport", transport)
        if address := transport.get_extra_info("peername"):
            self._key = tuple(address[:2])
        self._limits.open[self._key] = self
        self._http.connection_made(transport)
        surplus = len(self._limits.open) - self._limits.most
        self.refused = surplus > 0
        if surplus > _REFUSED_AT_ONCE:
            transport.abort()
        self._restart_timer()

    def data_received(self, data: bytes) -> None:
        """Pass data on; close the connection if much of it is no body, which httptools keeps."""
        before = self._http.cycle, len(getattr(self._http.cycle, "body", b""))
        self._http.data_received(data)
        cycle = self._http.cycle
        is_body = (cycle, len(getattr(cycle, "body", b""))) != before
        self._head_bytes = 0 if is_body else self._head_bytes + len(data)
        is_refused = cycle is not None and cycle.more_body and cycle.response_complete
        if self._head_bytes > (_MOST_REFUSED if is_refused else _MOST_HEAD):
            self.transport.abort()

    def eof_received(self) -> None:
        self._http.eof_received()

    def pause_writing(self) -> None:
        self._seconds_left = self._limits.seconds
        self._http.pause_writing()

    def resume_writing(self) -> None:
        self._seconds_left = self._limits.seconds  # a stream that goes on
        self._http.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._limits.open.get(self._key) is self:
            del self._limits.open[self._key]
        if self._timer is not None:
            self._timer.cancel()
        self._http.connection_lost(exc)

    def begin(self) -> None:
        """Begin to answer a request."""
        self.requests += 1
        self._seconds_left = self._limits.seconds

    def answered(self) -> None:
        """Give the client time to take the answer and to send its next request."""
        self.requests -= 1
        unsent = self.transport.get_write_buffer_size()
        self._seconds_left = self._limits.seconds + unsent / _BYTES_PER_SECOND
        if not self.transport.is_closing():
            self._restart_timer()

    def _restart_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._limits.head_seconds, self._check)

    def _check(self) -> None:
        """Close the connection if its client stalls; requests at work have limits of their own."""
        if self.transport.get_write_buffer_size():
            self._seconds_left -= self._limits.head_seconds
            stalls = self._seconds_left <= 0
        else:
            self._seconds_left = self._limits.seconds
            stalls = not self.requests
        if stalls:
            self.transport.abort()
        else:
            self._restart_timer()
