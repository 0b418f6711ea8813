"""A process that serves: uvicorn on an open socket, ended so that no request is lost."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import time
from contextlib import contextmanager, suppress
from math import ceil, inf
from typing import TYPE_CHECKING, Any

import uvicorn

from seqtag.errors import SeqtagError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from seqtag.serve.connections import ConnectionLimits
    from seqtag.serve.front import Front

_BACKLOG = 128  # connections accepted at a time, which limits file handles
_ANSWERED = 5  # seconds more for answers to arrive
_LAST = 1.0  # seconds in which a client may send a last request on a kept connection


def listening(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a listening socket; if it is shared, others may listen on the same port.

    Raises
    ------
    SeqtagError
        If there is no such address, or it is not free.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(
            address[:2], family=family, backlog=_BACKLOG, reuse_port=shared
        )
        # Connections inherit it. asyncio sets it only for sockets that name their protocol; without
        # it, the end of each answer on a kept connection waits for 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except (OSError, UnicodeError) as error:  # a name with a part that is empty or too long
        why, option = "not a host name", "--host"
        if isinstance(error, OSError):
            why = str(error.strerror).partition(" (")[0]  # the rest repeats the address
            option = "--port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else option
        msg = (
            f"expected an address to listen on, found {host} port {port}: {why}; choose another "
            f"with {option}"
        )
        raise SeqtagError(msg) from None


def serve(
    listener: socket.socket,
    front: Front,
    connections: ConnectionLimits,
    caught: Sequence[int],
    parent: int,
) -> bool:
    """Serve on a socket until a signal ends it; return whether a second SIGINT cut the end short.

    A worker, which is not the process `parent`, ends with it, too, and leaves at SIGUSR1, because
    another one takes over.

    Parameters
    ----------
    listener
        The socket.
    front
        The application.
    connections
        Limits on connections, and on the time that a request may take.
    caught
        Signals that end the server.
    parent
        Number of the process that starts workers.
    """
    count = front.metrics.rejected.labels("connections").inc
    config = uvicorn.Config(  # independent of installed packages, and silent
        connections.around(front, count),
        http=connections.protocol,
        loop="asyncio",  # uvloop is 5 % faster, but drops connections without file handles
        ws="none",
        proxy_headers=False,
        log_level="critical",
        access_log=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=ceil(connections.seconds) + _ANSWERED,
        server_header=False,
    )
    server = _Server(config, listener, front, connections.seconds + _ANSWERED, caught, parent)
    server.run(sockets=[listener])
    return server.force_exit


class _Server(uvicorn.Server):
    """Server that ends in steps.

    It answers the requests in progress, and new ones with status 503, or as before if another
    worker takes over. Then it stops listening. Each answer says that the connection will be closed;
    when there is no connection left, or no client sends anything on those that are, it ends.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        front: Front,
        seconds: float,
        caught: Sequence[int],
        parent: int,
    ):
        super().__init__(config)
        self._listener, self._front = listener, front
        self._seconds, self._caught = seconds, caught
        self._parent, self._is_worker = parent, os.getpid() != parent
        self._ends_at = self._closes_at = inf

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Catch signals that were not ignored, and do not raise them again."""
        for number in self._caught:
            signal.signal(number, self.handle_exit)
        if self._is_worker:
            signal.signal(signal.SIGUSR1, self._leave)
        yield

    def _leave(self, *_: object) -> None:
        self._front.closing = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server; at a second SIGINT at once."""
        self._front.closing = self._front.draining = True
        self._ends_at = min(self._ends_at, time.monotonic() + self._seconds)
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Return whether to close the connections that are left."""
        await super().on_tick(counter)
        if self._is_worker and os.getppid() != self._parent:
            self.handle_exit(signal.SIGTERM, None)
        front, now = self._front, time.monotonic()
        if front.draining:  # answers may be taken for the same time, not once more
            left = int(max(self._ends_at - now, 0))
            self.config.timeout_graceful_shutdown = left + _ANSWERED
        if self.force_exit or now > self._ends_at:
            return True
        if not front.closing or (front.draining and front.in_progress and self._closes_at == inf):
            return False
        if self._closes_at == inf:
            self._closes_at = now + (_LAST if front.draining else self.config.timeout_keep_alive)
            await self._stop_listening()
        return not self.server_state.connections or now > self._closes_at

    async def _stop_listening(self) -> None:
        """Close the socket, but serve the connections that wait to be accepted.

        Those that asyncio accepts while it closes the socket would be lost.
        """
        loop, waiting = asyncio.get_running_loop(), list[socket.socket]()
        # until none waits, or there are no file handles; Windows has no readers
        with suppress(OSError, NotImplementedError):
            loop.remove_reader(self._listener)
            await asyncio.sleep(0)  # those that are accepted become connections
            while True:
                waiting.append(self._listener.accept()[0])
        for server in self.servers:
            server.close()
        protocol: Any = self.config.http_protocol_class
        for each in waiting:
            each.setblocking(False)
            await loop.connect_accepted_socket(
                lambda: protocol(
                    config=self.config,
                    server_state=self.server_state,
                    app_state=self.lifespan.state,
                ),
                each,
            )
