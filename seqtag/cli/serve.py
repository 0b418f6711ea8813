"""``seqtag serve``."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timezone
from functools import partial
from ipaddress import ip_address
from math import ceil, inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from seqtag.cli.base import Command, Real, in_advanced, option
from seqtag.cli.common import Notes, complain, load_model, refuse
from seqtag.cli.options import general_options
from seqtag.cli.signals import Interruption
from seqtag.cli.workers import Workers
from seqtag.errors import install_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    import uvicorn

    from seqtag.serve.front import Front

_NAME = re.compile(r"[\w.-]+")
_SWITCH = 0.0005  # seconds that a thread works before another that waits for it
_BACKLOG = 128  # connections accepted at a time, which limits file handles


@click.command("serve", cls=Command)
@option(
    "-m",
    "--model",
    "models",
    multiple=True,
    help="Model to serve, under the name NAME or that of its file; repeat for several, or join "
    "names with commas.",
    shown="en",
    metavar="[NAME=]MODEL",
)
@option("--host", default="127.0.0.1", help="Address to listen on.", metavar="HOST")
@option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    help="Port to listen on; 0 takes a free one.",
    metavar="PORT",
)
@option(
    "--threads",
    type=click.IntRange(1),
    default=2,
    help="Number of longer requests processed at once.",
    metavar="N",
)
@option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    help="Number of processes, each with such threads; they share the memory of the models.",
    metavar="N",
)
@in_advanced(
    "--waiting",
    type=click.IntRange(0),
    default=32,
    help="Number of requests that may wait; more get status 503.",
    metavar="N",
)
@in_advanced(
    "--max-body",
    type=click.IntRange(1),
    default=1_000_000,
    metavar="BYTES",
    help="Largest request; larger ones get status 413.",
)
@in_advanced(
    "--max-seconds",
    type=Real(min_open=True),
    default=30.0,
    metavar="SECONDS",
    help="Time limit of a request; then it gets status 503.",
)
@in_advanced(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Web site whose pages may use the server, such as https://example.org, or * for all; "
    "repeat for several.",
)
@in_advanced(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Messages as text, or as JSON together with a record of each request, on stderr.",
)
@general_options
@click.pass_context
def command(
    context: click.Context,
    models: tuple[str, ...],
    host: str,
    port: int,
    threads: int,
    workers: int,
    waiting: int,
    max_body: int,
    max_seconds: float,
    origins: tuple[str, ...],
    log_format: str,
    notes: Notes,
) -> int:
    """Serve models over HTTP: a web page to try them, plain JSON, and the API of UDPipe.

    SIGHUP reloads the models; if one is broken, the old ones stay in use.

    By default only this machine can connect. There is no encryption and no password: before using
    --host, put a proxy server that has them in front.

    \b
    Examples:
      seqtag serve
      seqtag serve -m en -m french.seqtag --port 9000
      seqtag serve -m french,german,en
      seqtag serve -m english-ewt-ud-2.15=en
    """
    caught = [n for n in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(n))]
    for number in caught:  # until the server takes them
        signal.signal(number, Interruption.exit_at_once)
        context.call_on_close(partial(signal.signal, number, Interruption.raise_it))
    if Interruption.number:  # its exception was lost
        Interruption.exit_at_once(Interruption.number)
    if workers > 1:
        if not hasattr(os, "fork"):
            refuse(f"expected --workers 1 on this system, found {workers}: it has no fork")
        folder = context.with_resource(TemporaryDirectory(prefix="seqtag-metrics-"))
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # before prometheus_client is imported
    try:
        import uvicorn

        from seqtag.serve.connections import ConnectionLimits
        from seqtag.serve.front import Metrics
        from seqtag.serve.server import ServerLimits, application
    except ImportError:
        refuse(
            f"serve needs orjson, prometheus-client, starlette, uvicorn; {install_hint('serve')}"
        )
    from seqtag.caching import share_heap
    from seqtag.serve.models import ModelRegistry, ServedModels

    share_heap()
    sys.setswitchinterval(_SWITCH)
    logging.getLogger("seqtag").setLevel(logging.WARNING)  # no notes about the text of each request
    several = [each for model in models or ("en",) for each in _names_in(model)]
    named = [_named(each) for each in dict.fromkeys(several)]

    def read() -> ServedModels:
        loaded = {file: load_model(file) for _, file in named}
        return ServedModels([(name or file, loaded[file]) for name, file in named])

    note, report, log = _reporters(log_format, notes)
    metrics = Metrics()

    registry = ModelRegistry(read, note, report, lambda how: metrics.loads.labels(how).inc())
    limits = ServerLimits(max_body, max_seconds, threads, waiting)
    loopback = _is_loopback(host)
    if not loopback:
        note(f"note: other machines can connect to {host}, without encryption or password")

    connections = ConnectionLimits(max_seconds, 8 * (threads + waiting) + 64)
    front = application(
        registry,
        limits,
        loopback=loopback,
        allow_origins=origins,
        unsent=connections.unsent,
        complain=report,
        log=log,
        metrics=metrics,
    )
    config = uvicorn.Config(  # independent of installed packages, and silent
        connections.around(front, metrics.rejected.labels("connections").inc),
        http=connections.protocol,
        loop="asyncio",  # uvloop is 5 % faster, but drops connections without file handles
        ws="none",
        proxy_headers=False,
        log_level="critical",
        access_log=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=ceil(max_seconds) + 5,  # requests in progress are answered
        server_header=False,
    )
    parent = os.getpid()

    def serve(listener: socket.socket) -> None:
        """Serve on a socket, in this process or in a worker."""
        _run(config, listener, caught, front, max_seconds + 5, parent)

    with ExitStack() as stack:
        listeners = [stack.enter_context(_listening(host, port, shared=workers > 1))]
        where = listeners[0].getsockname()
        while len(listeners) < workers:
            listeners.append(stack.enter_context(_listening(host, where[1], shared=True)))
        group = Workers(listeners, serve, caught, registry.read_now, report)
        if workers > 1:
            stack.enter_context(_at_hangup(partial(group.take, signal.SIGHUP)))
        else:
            registry.start()
            stack.callback(registry.close)
            stack.enter_context(_at_hangup(registry.read_again))
        name = f"[{where[0]}]" if ":" in where[0] else where[0]
        many = f" with {workers} workers" if workers > 1 else ""
        note(f"http://{name}:{where[1]}/ serves {', '.join(registry.models.abilities())}{many}")
        if workers > 1:
            group.run()
        else:
            serve(listeners[0])
    note("stopped")
    return 0


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _names_in(model: str) -> list[str]:
    """Return the names in ``fr,de@2.18``; a path is one name."""
    if Path(model).exists() or not re.fullmatch(r"[\w@.-]+(,[\w@.-]+)+", model):
        return [model]
    return model.split(",")


def _named(model: str) -> tuple[str, str]:
    """Return the name of NAME=FILE, which may be missing, and the file."""
    name, mark, file = model.partition("=")
    if not mark or not file or not _NAME.fullmatch(name) or Path(model).exists():
        return "", model
    return name, file


def _run(
    config: uvicorn.Config,
    listener: socket.socket,
    caught: Sequence[int],
    front: Front,
    seconds: float,
    parent: int,
) -> None:
    """Serve until one of some signals ends it; finish requests in progress, for some time.

    A worker, which is not the process `parent`, ends with it, and leaves at SIGUSR1.
    """
    import uvicorn

    class Server(uvicorn.Server):
        """Server that does not catch signals that were ignored, nor raise others again."""

        ends_at = inf

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            for number in caught:
                signal.signal(number, self.handle_exit)
            if is_worker:
                signal.signal(signal.SIGUSR1, self.leave)
            yield

        def leave(self, *_: object) -> None:
            """Stop listening, because another worker takes over."""
            self.should_exit, self.ends_at = True, 0.0

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """End the server; at a second SIGINT at once."""
            front.draining = True
            self.ends_at = min(self.ends_at, time.monotonic() + seconds)
            super().handle_exit(sig, frame)

        async def on_tick(self, counter: int) -> bool:
            """Return whether to stop listening: when all requests are answered."""
            if is_worker and os.getppid() != parent:
                self.handle_exit(signal.SIGTERM, None)
            ends, left = await super().on_tick(counter), self.ends_at - time.monotonic()
            is_late = self.force_exit or left < 0
            if front.draining:  # answers may be taken for the same time, not once more
                self.config.timeout_graceful_shutdown = int(max(left, 0)) + 5
            return ends and (is_late or not front.in_progress)

    is_worker = os.getpid() != parent
    server = Server(config)
    server.run(sockets=[listener])
    if server.force_exit:  # interrupted twice: do not wait for working threads
        Interruption.exit_at_once(signal.SIGINT)


def _reporters(
    log_format: str, notes: Notes
) -> tuple[Callable[[str], None], Callable[[str], None], Callable[..., None] | None]:
    """Return what shows notes and errors, and what logs requests."""
    if log_format == "text":
        return notes, complain, None
    note = (lambda _: None) if notes.quiet else partial(_log_message, "info")
    return note, partial(_log_message, "error"), _write_json


def _write_json(record: Mapping[str, object]) -> None:
    """Write a record as a line of JSON."""
    with suppress(OSError):  # nobody reads it
        os.write(2, f"{json.dumps(record)}\n".encode())


def _log_message(level: str, message: str) -> None:
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    _write_json({"time": now, "level": level, "message": message})


@contextmanager
def _at_hangup(read_again: Callable[[], object]) -> Iterator[None]:
    """Have SIGHUP read the models again, but end the server where its terminal was closed.

    Closing the terminal does not end a server that inherited SIGHUP as ignored (nohup).
    """
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    terminals = [] if ignored else [number for number in range(3) if os.isatty(number)]

    def take(*_: object) -> None:
        if terminals and not any(map(os.isatty, terminals)):
            signal.raise_signal(signal.SIGTERM)
        else:
            read_again()

    before = signal.signal(signal.SIGHUP, take)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def _listening(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a listening socket; if it is shared, others may listen on the same port."""
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
        why = "not a host name"
        if isinstance(error, OSError):
            why = str(error.strerror).partition(" (")[0]  # the rest repeats the address
        msg = f"expected an address to listen on, found {host} port {port}: {why}"
        raise click.ClickException(msg) from None
