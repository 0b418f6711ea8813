"""Outermost part of the server: who may ask, what is measured and logged, and its end."""

from __future__ import annotations

import os
import re
import traceback
from contextlib import suppress
from functools import cache
from multiprocessing import current_process
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    values,
)
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

    from seqtag.serve.connections import ConnectionLimits

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
_OWN_SITES = (None, "same-origin", "none")  # of programs, of its own pages, of the address bar
_REQUEST_ID = re.compile(rb"[\w.:/+=-]{1,128}")
PROBES = ("/health", "/healthz", "/readyz", "/metrics")
"""Paths that are answered until the end."""

_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
GONE = 499  # status of a request whose client has gone before its answer, as in logs of nginx
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Metrics:
    """Metrics of a server, those of all its processes if `PROMETHEUS_MULTIPROC_DIR` is set.

    The files in that folder have the names of the processes that write them.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.words.inc(7)
    >>> b"seqtag_words_total 7.0" in metrics.as_text()
    True
    """

    def __init__(self) -> None:
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            values.ValueClass = values.MultiProcessValue(lambda: current_process().name)  # type: ignore[no-untyped-call]
        own: Any = {"registry": CollectorRegistry()}
        total = own | {"multiprocess_mode": "livesum"}
        self._registry: CollectorRegistry = own["registry"]
        self.requests = Counter(
            "seqtag_requests", "Requests answered, by path and status.", ["path", "status"], **own
        )
        self.seconds = Histogram(
            "seqtag_request_seconds", "Time of requests.", ["path"], buckets=_BUCKETS, **own
        )
        self.words = Counter("seqtag_words", "Words in answers.", **own)
        self.rejected = Counter(
            "seqtag_rejected", "Requests refused because of a limit.", ["reason"], **own
        )
        self.loads = Counter("seqtag_model_loads", "Times models were read.", ["outcome"], **own)
        self.in_progress = Gauge(
            "seqtag_requests_in_progress", "Requests not answered yet.", **total
        )
        self.queue = Gauge("seqtag_queue_length", "Requests that wait or are worked on.", **total)
        self.memory = Gauge("seqtag_memory_bytes", "Resident memory (Linux).", **total)

    def measure_memory(self) -> None:
        """Measure the memory of this process."""
        with suppress(OSError):
            self.memory.set(int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE)

    def as_text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        self.measure_memory()
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def refusal(
    path: str, status: int, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer to a request that is refused: JSON below /api/, else plain text."""
    if status == 503:
        headers = {"Retry-After": "1"}
    if path.startswith("/api/"):
        return JSONResponse({"error": message}, status, headers)
    return PlainTextResponse(f"{message}\n", status, headers)


class ErrorReporter:
    """Reports each kind of internal error once, with its location and without request data."""

    def __init__(self, complain: Callable[[str], None]):
        self._once = cache(complain)

    def report(self, error: BaseException) -> None:
        """Report an error."""
        if isinstance(error, OSError):
            self._once(f"{error.strerror} ({type(error).__name__})")
        else:
            frames = traceback.extract_tb(error.__traceback__)[-1:]
            places = [f" in {Path(each.filename).name}:{each.lineno}" for each in frames]
            where = "".join([type(error).__name__, *places])
            self._once(f"internal error, please report it: {where}")

    def report_of_loop(self, _: object, context: Mapping[str, Any]) -> None:
        """Report an error outside of requests; a closed connection is not one."""
        error = context.get("exception") or RuntimeError(context["message"])
        if not isinstance(error, ConnectionError):
            self.report(error)


class Front:
    """ASGI application around another: adds headers to answers, measures and logs them.

    It refuses requests sent by pages of other sites, and new ones before the end of the server.

    Parameters
    ----------
    app
        The application; metrics count all paths together that it does not have.
    metrics, errors
        Are passed what happens.
    origins
        Other sites whose pages may send requests.
    connections
        Limits on the connections that requests come on.
    loopback
        Whether only this machine is served.
    log
        Is passed a record of each request, without its contents.

    Attributes
    ----------
    draining : bool
        Whether new requests are refused, because the server ends.
    closing : bool
        Whether connections are closed after each answer, because this process ends.
    """

    def __init__(
        self,
        app: Starlette,
        metrics: Metrics,
        errors: ErrorReporter,
        origins: Collection[str],
        connections: ConnectionLimits,
        *,
        loopback: bool,
        log: Callable[[Mapping[str, object]], None] | None,
    ):
        self._paths = {route.path for route in app.routes if isinstance(route, Route)}
        self._app: ASGIApp = app
        self._origins = {origin.lower() for origin in origins}
        if origins:
            self._app = CORSMiddleware(
                app,
                allow_origins=[*self._origins],
                allow_methods=["GET", "POST"],
                allow_headers=["Content-Type", "X-Request-ID"],
                expose_headers=["X-Request-ID"],
            )
        self.errors, self._loopback = errors, loopback
        self.metrics, self._log, self.connections = metrics, log, connections
        self.draining = self.closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        given: bytes = dict(scope["headers"]).get(b"x-request-id", b"")
        request_id = given if _REQUEST_ID.fullmatch(given) else token_hex(8).encode()
        added = (*_HEADERS, (b"x-request-id", request_id))
        begin, status, size = perf_counter(), GONE, 0
        connection = self.connections.of(scope)
        is_surplus = connection is not None and connection.refused

        async def send_with_headers(message: Any) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                last = [(b"connection", b"close")] if self.closing or is_surplus else []
                message = {**message, "headers": [*message["headers"], *added, *last]}
            else:
                size += len(message.get("body", b""))
            await send(message)

        if connection:
            connection.begin()
        try:
            app = self._refusal(scope, is_surplus=is_surplus) or self._app
            with self.metrics.in_progress.track_inprogress():
                await app(scope, receive, send_with_headers)
        except Exception as error:
            self.errors.report(error)
        finally:
            if connection:
                connection.answered()
            path = scope["path"] if scope["path"] in self._paths else "other"
            seconds = perf_counter() - begin
            self.metrics.requests.labels(path, status).inc()
            self.metrics.seconds.labels(path).observe(seconds)
            if self._log:
                record = {
                    "request_id": request_id.decode(),
                    "client": (scope.get("client") or ("",))[0],
                    "method": scope["method"],
                    "path": scope["path"][:200],
                    "status": status,
                    "seconds": round(seconds, 6),
                    "bytes": size,
                }
                self._log(record)

    def _refusal(self, scope: Scope, *, is_surplus: bool) -> ASGIApp | None:
        """Return the answer to a request that is refused."""
        path = scope["path"]
        if is_surplus:
            self.metrics.rejected.labels("connections").inc()
            what = "expected fewer connections at once, found too many; try again later"
            return refusal(path, 503, what)
        if self.draining and path not in PROBES:
            self.metrics.rejected.labels("end").inc()
            return refusal(path, 503, "expected a server that runs, found one that ends; try again")
        if not self._loopback:
            return None
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
        host = headers.get(b"host", "")
        if site is None and origin is not None:  # an older browser
            own = origin.lower() == f"http://{host.lower()}"
            site = "same-origin" if own else "cross-site"
        followed = site == "same-site" and headers.get(b"sec-fetch-mode") == "navigate"
        link = followed and scope["method"] == "GET"  # from a page of another port
        if not _LOOPBACK.fullmatch(host):
            return refusal(path, 421, "expected a request with a host name of this machine")
        if site in _OWN_SITES or link or self._allows(origin):
            return None
        return refusal(path, 403, "expected a request from this site, found one from another site")

    def _allows(self, origin: str | None) -> bool:
        return origin is not None and not self._origins.isdisjoint(("*", origin.lower()))
