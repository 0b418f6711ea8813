"""Processes that serve: uvicorn on an open socket, ended so that no request is lost."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from multiprocessing import parent_process
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import multiprocess

from seqtag.caching import share_heap
from seqtag.errors import SeqtagError
from seqtag.loading import load
from seqtag.serve.app import MAX_HEAD_BYTES, application
from seqtag.serve.metrics import Metrics
from seqtag.serve.models import ServedModels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from seqtag.serve.app import Front
    from seqtag.serve.work import ServerLimits

_BACKLOG = 128  # connections that wait to be accepted
_HEALTH_SECONDS = 30  # a worker on a busy machine is late; one that ended is missed at once
_MAX_CONNECTIONS = 512  # of a process; requests on more get status 503
_ANSWER_SECONDS = 5  # more for answers to arrive
_TICK_SECONDS = 0.1  # between two looks at the state, also of uvicorn
_LAST_SECONDS = 1.0  # in which a client may send a last request on a kept connection
_SWITCH_SECONDS = 0.0005  # that a thread works before another that waits for it


class Settings(NamedTuple):
    """What a process serves, and how; each worker is sent it."""

    models: Sequence[tuple[str, str]]  # name, or none, and file
    limits: ServerLimits
    loopback: bool
    origins: Sequence[str]
    complain: Callable[[str], None]
    folder: Path | None = None  # of metrics

    def app(self) -> Front:
        """Return the application of this process."""
        share_heap()
        sys.setswitchinterval(_SWITCH_SECONDS)
        logging.getLogger("seqtag").setLevel(logging.CRITICAL)  # no notes about texts of requests
        metrics = None
        if self.folder:
            try:
                metrics = Metrics(self.folder)
            except OSError as error:
                self.complain(
                    f"this worker has metrics of its own: {self.folder}: {error.strerror}"
                )
        loaded = {file: load(file) for _, file in self.models}
        models = ServedModels([(name or file, loaded[file]) for name, file in self.models])
        return application(
            models,
            self.limits,
            loopback=self.loopback,
            allow_origins=self.origins,
            complain=self.complain,
            metrics=metrics,
        )


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises
    ------
    SeqtagError
        If there is no such address, or it is not free.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
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
    # Connections inherit options. asyncio sets the first only for sockets that name their protocol;
    # without it, the end of each answer on a kept connection waits for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def serve(
    settings: Settings,
    front: Front | None,
    listener: socket.socket,
    workers: int,
    exit_at_once: Callable[[int], NoReturn],
    handler: logging.Handler,
) -> None:
    """Serve until a signal ends it; at a second SIGINT call `exit_at_once`.

    Without an application there are workers, each of which makes its own.
    """
    limits = settings.limits
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # of a connection whose client does not read: Linux
        milliseconds = int(1000 * limits.seconds)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    config = uvicorn.Config(
        front or settings.app,
        factory=front is None,
        workers=workers,
        timeout_worker_healthcheck=_HEALTH_SECONDS,
        http="h11",  # httptools takes the body of a request to upgrade for another request
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        loop="asyncio",  # uvloop is 5 % faster, but drops connections without file handles
        lifespan="off",
        ws="none",
        proxy_headers=False,
        log_config=None,
        log_level=logging.CRITICAL + 1,
        access_log=False,
        backlog=1,  # accepted at a time, so that workers share connections that come at once
        limit_concurrency=_MAX_CONNECTIONS,
        server_header=False,
        timeout_graceful_shutdown=int(limits.seconds) + _ANSWER_SECONDS,
    )
    if front is None:
        multiprocess.Process = _Worker  # type: ignore[misc]  # uvicorn has no other way
        log = logging.getLogger("uvicorn.error")
        log.setLevel(logging.INFO)
        log.addFilter(lambda record: record.levelno > logging.INFO or "died" in record.msg)
        log.addHandler(handler)
        _Workers(config, [listener]).run()
        return
    server = _Server(config)
    try:
        server.run(sockets=[listener])
    finally:
        if server.force_exit:  # without waiting for working threads
            exit_at_once(signal.SIGINT)


class _Server(uvicorn.Server):
    """uvicorn that ends so that no request is lost.

    At SIGTERM it stops listening. Each answer says that the connection will be closed; when there
    is no connection left, or no client sends any more on those that are, it ends. A worker also
    ends if the process that started it ended.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._report)
        gc.freeze()  # models live as long as the process: the collector need not visit them again
        [self._listener] = sockets or []
        await super().startup(sockets)
        self._listener.listen(_BACKLOG)

    def _report(self, _: object, context: dict[str, Any]) -> None:
        """Report an error outside of requests; a closed connection is not one."""
        error = context.get("exception")
        if error and not isinstance(error, ConnectionError):
            self.config.loaded_app.report(error)

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end."""
        parent = parent_process()
        is_orphan = parent and os.getppid() != parent.pid
        return bool(is_orphan) or await super().on_tick(counter)

    async def main_loop(self) -> None:
        """Serve until a signal, and then until no client sends anything."""
        await super().main_loop()
        self.config.loaded_app.closing = True
        await self._stop_listening()
        end = time.monotonic() + _LAST_SECONDS
        while self.server_state.connections and time.monotonic() < end and not self.force_exit:
            await asyncio.sleep(_TICK_SECONDS)

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
        protocol = partial(H11Protocol, self.config, self.server_state, self.lifespan.state)
        for each in waiting:
            each.setblocking(False)
            await loop.connect_accepted_socket(protocol, each)


class _Worker(multiprocess.Process):
    """Process of uvicorn's supervisor, with the server above."""

    @property
    def server(self) -> uvicorn.Server:
        if self._server is None:
            self._server = _Server(self.config)
        return self._server

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve, in the process of its own."""
        try:
            super().target(sockets)
        except (SeqtagError, OSError) as error:
            settings: Settings = self.config.app.__self__  # type: ignore[union-attr]
            settings.complain(str(error))
            sys.exit(STARTUP_FAILURE)
        finally:
            if self.server.force_exit:
                os._exit(128 + signal.SIGINT)  # without waiting for working threads


class _Workers(multiprocess.Multiprocess):
    """uvicorn's supervisor: it starts workers, and another in the place of one that ended."""

    def terminate_all(self) -> None:
        """End the workers; none listens any more, so that a new connection is refused."""
        for each in self.sockets:
            each.close()
        super().terminate_all()
