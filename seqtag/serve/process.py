"""Processes that serve: uvicorn on an open socket."""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import socket
import sys
from multiprocessing import parent_process
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import multiprocess

from seqtag.caching import share_heap
from seqtag.errors import SeqtagError
from seqtag.loading import load
from seqtag.serve.app import MAX_HEAD_BYTES, application
from seqtag.serve.metrics import Metrics
from seqtag.serve.models import ServedModels
from seqtag.serve.work import ServerLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from starlette.types import ASGIApp

    from seqtag.serve.app import Front

_BACKLOG = 128  # connections that wait to be accepted
_HEALTH_SECONDS = 30  # a worker on a busy machine is late; one that ended is missed at once
_MAX_CONNECTIONS = 512  # of a process; requests on more get status 503
_ANSWER_SECONDS = 5  # more for answers to arrive
_SWITCH_SECONDS = 0.0005  # that a thread works before another that waits for it


class Settings(NamedTuple):
    """What a process serves, and how; each worker is sent it."""

    models: Sequence[tuple[str, str]] = ()  # name, or none, and file
    limits: ServerLimits = ServerLimits()
    loopback: bool = True
    origins: Sequence[str] = ()
    complain: Callable[[str], None] = print
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
        front = application(
            models,
            self.limits,
            loopback=self.loopback,
            allow_origins=self.origins,
            complain=self.complain,
            metrics=metrics,
        )
        logging.getLogger("asyncio").handlers = [_Outside(front)]
        return front

    def worker(self) -> Front:
        """Return the application of a worker, which ends if it cannot start, and with its parent.

        Errors are reported on one line, and are those of any other worker.
        """
        Thread(target=_end_with_parent, daemon=True).start()
        try:
            front = self.app()
        except (SeqtagError, OSError) as error:
            self.complain(str(error))
            sys.exit(STARTUP_FAILURE)
        gc.freeze()
        return front


class _Outside(logging.Handler):
    """Report of errors outside of requests, which asyncio logs; a closed connection is not one."""

    def __init__(self, front: Front):
        super().__init__(logging.ERROR)
        self._front = front

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error and not isinstance(error, ConnectionError):
            self._front.report(error)


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


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
    front: ASGIApp | None,
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
        front or settings.worker,
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
        backlog=_BACKLOG,
        limit_concurrency=_MAX_CONNECTIONS,
        server_header=False,
        timeout_graceful_shutdown=int(limits.seconds) + _ANSWER_SECONDS,
    )
    if front is None:
        log = logging.getLogger("uvicorn.error")
        log.setLevel(logging.INFO)
        log.addFilter(lambda record: record.levelno > logging.INFO or "died" in record.msg)
        log.addHandler(handler)
        _Workers(config, [listener]).run()
        return
    gc.freeze()  # models live as long as the process: the collector need not visit them again
    server = uvicorn.Server(config)
    try:
        server.run(sockets=[listener])
    finally:
        if server.force_exit:  # without waiting for working threads
            exit_at_once(signal.SIGINT)


class _Workers(multiprocess.Multiprocess):
    """uvicorn's supervisor: it starts workers, and another in the place of one that ended."""

    def terminate_all(self) -> None:
        """End the workers; none listens any more, so that a new connection is refused."""
        for each in self.sockets:
            each.close()
        super().terminate_all()
