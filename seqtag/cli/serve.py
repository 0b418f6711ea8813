"""``seqtag serve``."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sys
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from seqtag.cli.base import Command, Real, in_advanced, option
from seqtag.cli.common import Notes, complain, load_model, refuse
from seqtag.cli.options import general_options
from seqtag.cli.signals import Interruption
from seqtag.cli.workers import Workers
from seqtag.errors import install_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_NAME = re.compile(r"[\w.-]+")
_SWITCH = 0.0005  # seconds that a thread works before another that waits for it


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
    caught = _caught_until_served(context)
    if workers > 1:
        if not hasattr(os, "fork"):
            refuse(f"expected --workers 1 on this system, found {workers}: it has no fork")
        folder = context.with_resource(TemporaryDirectory(prefix="seqtag-metrics-"))
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # before prometheus_client is imported
    try:
        from seqtag.serve.front import Metrics
        from seqtag.serve.process import Server, listening
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
    if not (loopback := _is_loopback(host)):
        note(f"note: other machines can connect to {host}, without encryption or password")
    front = application(
        registry,
        ServerLimits(max_body, max_seconds, threads, waiting),
        loopback=loopback,
        allow_origins=origins,
        complain=report,
        log=log,
        metrics=metrics,
    )
    server = Server(front, caught, Interruption.exit_at_once, registry.read_now)
    listeners = [context.with_resource(listening(host, port, shared=workers > 1))]
    where = listeners[0].getsockname()
    while len(listeners) < workers:
        listeners.append(context.with_resource(listening(host, where[1], shared=True)))
    if workers > 1:
        group = Workers(listeners, server.serve_on, caught, registry.read_now, report)
        read_again, run, many = group.read_again, group.run, f" with {workers} workers"
    else:
        read_again, run, many = server.read_again, partial(server.serve_on, *listeners), ""
    _catch_hangup(context, read_again)
    note(f"{_url(where)} serves {', '.join(registry.models.abilities())}{many}")
    run()
    note("stopped")
    return 0


def _caught_until_served(context: click.Context) -> Sequence[int]:
    """Have the signals that end the server end the command until it serves; return them."""
    caught = [n for n in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(n))]
    for number in caught:
        signal.signal(number, Interruption.exit_at_once)
        context.call_on_close(partial(signal.signal, number, Interruption.raise_it))
    if Interruption.number:  # its exception was lost
        Interruption.exit_at_once(Interruption.number)
    return caught


def _url(address: Sequence[Any]) -> str:
    """Return the URL of an address that is listened on."""
    name, port, *_ = address
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


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


def _reporters(
    log_format: str, notes: Notes
) -> tuple[Callable[[str], None], Callable[[str], None], Callable[..., None] | None]:
    """Return what shows notes and errors, and what logs requests."""
    if log_format == "text":
        return notes, complain, None

    def note(message: str) -> None:
        if not notes.quiet:
            _write_json({"level": "info", "message": message})

    return note, lambda message: _write_json({"level": "error", "message": message}), _write_json


def _write_json(record: Mapping[str, object]) -> None:
    """Write a record and the time as a line of JSON."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    with suppress(OSError):  # stderr is closed
        os.write(2, f"{json.dumps({'time': now, **record})}\n".encode())


def _catch_hangup(context: click.Context, read_again: Callable[[], object]) -> None:
    """Have SIGHUP read the models again, but end the server where its terminal was closed.

    Closing the terminal does not end a server that inherited SIGHUP as ignored (nohup).
    """
    if not hasattr(signal, "SIGHUP"):
        return
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    terminals = [] if ignored else [number for number in range(3) if os.isatty(number)]

    def take(*_: object) -> None:
        if terminals and not any(map(os.isatty, terminals)):
            signal.raise_signal(signal.SIGTERM)
        else:
            read_again()

    context.call_on_close(partial(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, take)))
