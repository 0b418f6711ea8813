"""``seqtag serve``."""

from __future__ import annotations

import logging
import socket
from ipaddress import ip_address
from math import ceil

import click

from seqtag.cli.common import Notes, Terminated, load_model
from seqtag.cli.options import attributes_option, quiet_option


@click.command("serve")
@click.option(
    "-m", "--model", "models", multiple=True, help="Model to serve, more than once (default: en)."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Requests worked on at once.",
)
@click.option(
    "--waiting",
    type=click.IntRange(0),
    default=32,
    show_default=True,
    help="Requests that may wait; more are sent away with status 503.",
)
@click.option(
    "--max-body",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    metavar="BYTES",
    help="Largest request; larger ones are refused with status 413.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest work on a request; then it ends with status 503.",
)
@quiet_option
@attributes_option
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
    quiet: bool,
) -> int:
    """Serve a page to try models on, and interfaces for programs: UDPipe's and plain JSON.

    Only this machine is served unless --host says otherwise; there is no encryption and no
    password, so put a server that has them before it then.

    \b
    Examples:
      seqtag serve
      seqtag serve -m en -m french.seqtag --port 9000
    """
    try:
        import uvicorn

        from seqtag.pages.server import Limits, application
    except ImportError:
        msg = "serve needs starlette and uvicorn; install them, or seqtag with the extra serve"
        raise click.UsageError(msg, context) from None
    from seqtag.pages.annotation import Models

    notes = Notes(quiet)
    found = Models({name: load_model(name) for name in models or ("en",)})
    logging.getLogger("seqtag").setLevel(logging.WARNING)  # notes on files, of every request
    limits = Limits(max_body, max_seconds, threads, waiting)
    loopback = _is_loopback(host)
    if not loopback:
        notes(f"note: {host} can be reached from other machines, without encryption or password")

    with _listening(host, port) as listener:
        where = listener.getsockname()
        name = f"[{where[0]}]" if ":" in where[0] else where[0]
        notes(f"http://{name}:{where[1]}/ serves {', '.join(found.offers())}")
        config = uvicorn.Config(
            application(found, limits, loopback=loopback),
            log_level="critical",
            access_log=False,
            limit_concurrency=8 * (threads + waiting) + 64,
            timeout_graceful_shutdown=ceil(max_seconds) + 5,  # what has begun is answered
            server_header=False,
        )
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:  # all is answered; the signal was passed on
            Terminated.received = False
    return 0


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=1024)
    except OSError as error:
        why = str(error.strerror).partition(" (")[0]  # the address is named already
        msg = f"expected an address to listen on, found {host} port {port}: {why}"
        raise click.ClickException(msg) from None


def _is_loopback(host: str) -> bool:
    """Whether an address is that of this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
