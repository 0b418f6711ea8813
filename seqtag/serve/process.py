"""A process that serves: uvicorn on an open socket, ended so that no request is lost."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import time
from contextlib import contextmanager, suppress
from math import inf
from typing import TYPE_CHECKING, NoReturn

import uvicorn

from seqtag.errors import SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from seqtag.serve.front import Front

_BACKLOG = 128  # connections accepted at a time, which limits file handles
_ANSWERED = 5  # seconds more for answers to arrive
_TICK = 0.1  # seconds between two looks at the state, also of uvicorn
_PER_SECOND = 10  # ticks
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


class Server(uvicorn.Server):
    """uvicorn for an application, as one process or in several workers.

    At SIGTERM it answers the requests in progress, and new ones with status 503. At SIGUSR1, when
    another worker takes over, it answers all as before. Then it stops listening. Each answer says
    that the connection will be closed; when there is no connection left, or no client sends any
    more on those that are, it ends. A worker also ends if the process that made this object ended.

    Parameters
    ----------
    front
        The application.
    caught
        Signals that end the server.
    exit_at_once
        Is called at a second SIGINT, without waiting for working threads.
    read_models
        Reads the models again, on a thread.
    """

    def __init__(
        self,
        front: Front,
        caught: Sequence[int],
        exit_at_once: Callable[[int], NoReturn],
        read_models: Callable[[], object],
    ):
        config = uvicorn.Config(  # independent of installed packages, and silent
            front,
            http=front.connections.protocol,
            loop="asyncio",  # uvloop is 5 % faster, but drops connections without file handles
            lifespan="off",
            ws="none",
            proxy_headers=False,
            log_level="critical",
            access_log=False,
            backlog=_BACKLOG,
            server_header=False,
        )
        super().__init__(config)
        self._front, self._caught = front, caught
        self._exit_at_once, self._read_models = exit_at_once, read_models
        self._seconds = front.connections.seconds + _ANSWERED
        self._ends_at = inf
        self._parent = os.getpid()
        self._is_outdated = False
        self._reading: asyncio.Future[object] | None = None

    def serve_on(self, listener: socket.socket) -> None:
        """Serve on a socket, in this process or in a worker, until a signal ends it."""
        self._listener = listener
        self.run(sockets=[listener])
        if self.force_exit:
            self._exit_at_once(signal.SIGINT)

    def read_again(self) -> None:
        """Have the models read soon; can be called by a signal handler."""
        self._is_outdated = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Catch signals that were not ignored, and do not raise them again."""
        for number in self._caught:
            signal.signal(number, self.handle_exit)
        if os.getpid() != self._parent:
            signal.signal(signal.SIGUSR1, self._leave)
        yield

    def _leave(self, *_: object) -> None:
        self.should_exit = self._front.closing = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server; at a second SIGINT at once."""
        self._front.closing = self._front.draining = True
        self._ends_at = min(self._ends_at, time.monotonic() + self._seconds)
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end."""
        if self._parent not in (os.getpid(), os.getppid()):
            self.handle_exit(signal.SIGTERM, None)
        if self._is_outdated and (self._reading is None or self._reading.done()):
            self._is_outdated = False
            self._reading = asyncio.ensure_future(asyncio.to_thread(self._read_models))
        if not counter % _PER_SECOND:
            self._front.metrics.measure_memory()
        return await super().on_tick(counter)

    async def main_loop(self) -> None:
        """Serve until a signal, and then until no client sends anything."""
        front = self._front
        asyncio.get_running_loop().set_exception_handler(front.errors.report_of_loop)
        await super().main_loop()
        await self._wait(lambda: front.draining and front.connections.in_progress())
        await self._stop_listening()
        closes_at = time.monotonic() + (_LAST if front.draining else self.config.timeout_keep_alive)
        await self._wait(lambda: self.server_state.connections and time.monotonic() < closes_at)
        left = min(self._ends_at - time.monotonic(), self._seconds)  # to take answers
        self.config.timeout_graceful_shutdown = int(max(left, 0)) + _ANSWERED

    async def _wait(self, condition: Callable[[], object]) -> None:
        """Wait while a condition is true and the time is not over."""
        while condition() and not self.force_exit and time.monotonic() < self._ends_at:
            await asyncio.sleep(_TICK)

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
        for each in waiting:
            each.setblocking(False)
            await loop.connect_accepted_socket(
                lambda: self._front.connections.protocol(
                    config=self.config,
                    server_state=self.server_state,
                    app_state=self.lifespan.state,
                ),
                each,
            )
