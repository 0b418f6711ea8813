"""``seqtag serve``."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seqtag.cli.base import Command, Seconds, in_advanced, option
from seqtag.cli.common import Notes, complain, load_model
from seqtag.cli.options import general_options
from seqtag.cli.signals import Interruption
from seqtag.errors import install_hint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import uvicorn

    from seqtag.serve.models import ModelRegistry

_NAME = re.compile(r"[\w.-]+")
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
    help="Number of requests processed at once.",
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
    type=Seconds(min_open=True),
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
@general_options
@click.pass_context
def command(
    context: click.Context,
    models: tuple[str, ...],
    host: str,
    port: int,
    threads: int,
    waiting: int,
    max_body: int,
    max_seconds: float,
    origins: tuple[str, ...],
    quiet: bool,
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
    try:
        import uvicorn

        from seqtag.serve.connections import ConnectionLimits
        from seqtag.serve.server import ServerLimits, application
    except ImportError:
        msg = f"serve needs starlette, uvicorn, and orjson; {install_hint('serve')}"
        raise click.UsageError(msg, context) from None
    from seqtag.caching import share_heap
    from seqtag.serve.models import ModelRegistry, ServedModels

    share_heap()
    notes = Notes(quiet)
    logging.getLogger("seqtag").setLevel(logging.WARNING)  # no notes about the text of each request
    several = [each for model in models or ("en",) for each in _names_in(model)]
    named = [_named(each) for each in dict.fromkeys(several)]

    def read() -> ServedModels:
        loaded = {file: load_model(file) for _, file in named}
        return ServedModels([(name or file, loaded[file]) for name, file in named])

    registry = ModelRegistry(read, notes, complain)
    limits = ServerLimits(max_body, max_seconds, threads, waiting)
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback:
        notes(f"note: other machines can connect to {host}, without encryption or password")

    connections = ConnectionLimits(max_seconds, 8 * (threads + waiting) + 64)
    app = application(
        registry,
        limits,
        loopback=loopback,
        allow_origins=origins,
        unsent=connections.unsent,
        complain=complain,
    )
    with _listening(host, port) as listener, _reading_again(registry):
        where = listener.getsockname()
        name = f"[{where[0]}]" if ":" in where[0] else where[0]
        notes(f"http://{name}:{where[1]}/ serves {', '.join(registry.models.abilities())}")
        app = connections.around(app)
        config = uvicorn.Config(  # independent of installed packages, and silent
            app,
            http=connections.protocol,
            loop="asyncio",
            ws="none",
            proxy_headers=False,
            log_level="critical",
            access_log=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=ceil(max_seconds) + 5,  # requests in progress are answered
            server_header=False,
        )
        _run(config, listener, caught)
    notes("stopped")
    return 0


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


def _run(config: uvicorn.Config, listener: socket.socket, caught: Sequence[int]) -> None:
    """Serve until one of some signals ends it."""
    import uvicorn

    class Server(uvicorn.Server):
        """Server that does not catch signals that were ignored, nor raise others again."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            for number in caught:
                signal.signal(number, self.handle_exit)
            yield

    server = Server(config)
    server.run(sockets=[listener])
    if server.force_exit:  # interrupted twice: do not wait for working threads
        Interruption.exit_at_once(signal.SIGINT)


@contextmanager
def _reading_again(registry: ModelRegistry) -> Iterator[None]:
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
            registry.read_again()

    registry.start()
    before = signal.signal(signal.SIGHUP, take)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
        registry.close()


def _listening(host: str, port: int) -> socket.socket:
    """Return a listening socket."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
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
