"""The connections of the server: how many there are, and how long each may keep it waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

_HEAD = 10.0  # seconds for the head of a request
_SPARE = 64  # connections above the most that are told so; more are dropped
_SLOWEST = 100_000  # bytes of an answer that are to be taken in a second, beside its seconds
_REFUSAL = b"expected fewer connections at once, found too many; try again later\n"


class Crowd:
    """All connections of a server.

    Parameters
    ----------
    seconds
        How long the body of a request may take to arrive, and an answer to be taken; large answers
        have a second more for each 100,000 bytes. The head of a request has ten seconds, or these
        if they are fewer.
    most
        Connections that are served at once.
    """

    def __init__(self, seconds: float, most: int):
        self._open: set[H11Protocol] = set()
        crowd = self

        class Connection(_Connection):
            head, answer, limit = min(_HEAD, seconds), seconds, most
            members = crowd._open

        self.protocol: type[asyncio.Protocol] = Connection
        """What uvicorn makes for each connection."""

    def unsent(self) -> int:
        """Bytes of answers that no client has taken yet."""
        return sum(each.transport.get_write_buffer_size() for each in self._open)


class _Connection(H11Protocol):
    """A connection that ends when its client does not go on."""

    head: float
    answer: float
    limit: int
    members: set[H11Protocol]
    _timer: asyncio.TimerHandle | None = None
    _left = 0.0  # seconds in which the client may take its answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.members.add(self)
        if len(self.members) > self.limit + _SPARE:
            transport.abort()
        elif len(self.members) > self.limit:
            self.app = _refuse
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self.members.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._left = self.answer + self.transport.get_write_buffer_size() / _SLOWEST
        self._wait()
        super().on_response_complete()

    def _wait(self) -> None:
        """Give the client time for its next step."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self.head, self._look)

    def _look(self) -> None:
        """End the connection if its client lets that time pass."""
        at_work = self.cycle is not None and not self.cycle.response_complete
        if self.transport.get_write_buffer_size():
            self._left -= self.head
            goes_on = self._left > 0
        else:
            goes_on = at_work  # which has limits of its own
        if goes_on:
            self._wait()
        else:
            self.transport.abort()


async def _refuse(_: Any, __: Any, send: Any) -> None:
    """Answer that there are too many connections."""
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(_REFUSAL)).encode()),
        (b"retry-after", b"1"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSAL})
