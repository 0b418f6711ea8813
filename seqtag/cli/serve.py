"""``seqtag serve``."""

from __future__ import annotations

import gc
import os
import re
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from seqtag.caching import free_memory
from seqtag.cli.base import Command, Real, Whole, in_advanced, option
from seqtag.cli.common import Notes, complain, refuse
from seqtag.cli.options import general_options, port_option
from seqtag.cli.signals import Interruption
from seqtag.errors import install_hint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.serve.app import Front

_NAME = re.compile(r"[\w.-]+")


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
@port_option
@option(
    "--workers",
    type=Whole(1),
    default=1,
    help="Number of processes, each with models of its own.",
    metavar="N",
)
@in_advanced(
    "--max-body",
    type=Whole(1),
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
@general_options
@click.pass_context
def command(
    context: click.Context,
    models: tuple[str, ...],
    host: str,
    port: int,
    workers: int,
    max_body: int,
    max_seconds: float,
    origins: tuple[str, ...],
    notes: Notes,
) -> int:
    """Serve models over HTTP: a web page to try them, plain JSON, and the API of UDPipe.

    By default only this machine can connect. There is no encryption and no password: before using
    --host, put a proxy server that has them in front.

    \b
    Examples:
      seqtag serve
      seqtag serve -m en -m french.seqtag --port 9000
      seqtag serve -m french,german,en
      seqtag serve -m english-ewt-ud-2.15=en
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # a standard stream that is closed: sockets must not take its place
    os.close(number)
    try:
        from seqtag.serve.process import Settings, listening, serve
        from seqtag.serve.work import ServerLimits
    except ImportError:
        refuse(
            "serve needs h11, orjson, prometheus-client, python-multipart, starlette, uvicorn; "
            f"{install_hint('serve')}"
        )
    several = [each for model in models or ("en",) for each in _names_in(model)]
    limits = ServerLimits(max_body, max_seconds)
    named = [_named(each) for each in dict.fromkeys(several)]
    settings = Settings(named, limits, _is_loopback(host), origins, complain)
    front: Front | None
    front = settings.app()
    names = ", ".join(front.service.models.abilities())
    if workers > 1:
        front = None  # each worker reads the models
        gc.collect()
        free_memory()
        try:
            folder = context.with_resource(TemporaryDirectory(prefix="seqtag-metrics-"))
            settings = settings._replace(folder=Path(folder))
        except OSError as error:
            complain(f"each worker has metrics of its own: {error.strerror}")
        names += f" with {workers} workers"
    listener = context.with_resource(listening(host, port))
    if not settings.loopback:
        notes(f"note: other machines can connect to {host}, without encryption or password")
    notes(f"{_url(listener.getsockname())} serves {names}")
    with suppress(Interruption):  # uvicorn raises it again when all is answered
        serve(settings, front, listener, workers, Interruption.exit_at_once, notes)
    notes("stopped")
    return 0


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
