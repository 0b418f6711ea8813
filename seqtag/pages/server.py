"""The server of ``seqtag serve``: a page, UDPipe's interface, and one of plain JSON.

No request names a file: models are those the server was started with, and what is read is what
came with the request.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from seqtag.errors import SeqtagError
from seqtag.pages.annotation import Models, UnknownModelError, annotate, explain, process
from seqtag.pages.assembly import asset
from seqtag.pages.desk import BusyError, Deadline, Desk, TooLongError
from seqtag.pages.forms import MediaTypeError, fields_of, query_fields
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_ASSETS = {
    "/": (("serve.html",), "text/html"),
    "/style.css": (("common.css", "serve.css"), "text/css"),
    "/script.js": (("explanation.js", "serve.js"), "text/javascript"),
}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Limits(NamedTuple):
    """What a request may ask for.

    Attributes
    ----------
    body
        Bytes of a request.
    seconds
        Of work on it; and as many again for its body to arrive.
    threads
        Requests worked on at once.
    waiting
        Requests that may wait beside them.
    """

    body: int = 1_000_000
    seconds: float = 30.0
    threads: int = 2
    waiting: int = 32


class TooLargeError(SeqtagError):
    """A body larger than it may be."""


class SlowError(SeqtagError):
    """A body that does not arrive."""


_STATUS = {
    UnknownModelError: 404,
    TooLargeError: 413,
    SlowError: 408,
    MediaTypeError: 415,
    BusyError: 503,
    TooLongError: 503,
}


def application(models: Models, limits: Limits | None = None, *, loopback: bool = True) -> ASGIApp:
    """The server as an ASGI application.

    Parameters
    ----------
    models
        What is served.
    limits
        What a request may ask for; by default that of `Limits`.
    loopback
        Whether only this machine is served: then requests in the name of another host are refused,
        as are those that pages of other sites send.
    """
    limits = limits or Limits()
    desk = Desk(limits.threads, limits.waiting, limits.seconds)
    service = _Service(models, limits, desk)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(desk.close)

    routes = [
        *(Route(path, _static(*what)) for path, what in _ASSETS.items()),
        Route("/models", service.models, methods=["GET", "POST"]),
        Route("/process", service.process, methods=["GET", "POST"]),
        Route("/api/models", service.api_models),
        Route("/api/tag", service.api(service.tag), methods=["POST"]),
        Route("/api/explain", service.api(service.explain), methods=["POST"]),
    ]
    return _Guard(Starlette(routes=routes, lifespan=lifespan), loopback=loopback)


class _Service:
    """The answers."""

    def __init__(self, models: Models, limits: Limits, desk: Desk):
        self._models, self._limits, self._desk = models, limits, desk

    async def models(self, _: Request) -> Response:
        """UDPipe's list of models."""
        return JSONResponse(
            {"models": self._models.offers(), "default_model": self._models.default}
        )

    async def process(self, request: Request) -> Response:
        """UDPipe's one call; errors are plain text, and an unknown model is a bad request."""
        try:
            fields = query_fields(request.url.query)
            if request.method == "POST":
                body = await self._body(request)
                fields |= fields_of(request.headers.get("content-type", ""), body)
            name, model = self._models.find(fields.get("model"))
            result, remarks = await self._desk.run(
                lambda deadline: process(model, fields, deadline)
            )
        except SeqtagError as error:
            status = 400 if isinstance(error, UnknownModelError) else _status_of(error)
            return PlainTextResponse(f"{error}\n", status, _retry(status))
        except UnicodeDecodeError:
            return PlainTextResponse("expected a query in UTF-8, found other bytes\n", 400)
        return JSONResponse(
            {
                "model": name,
                "acknowledgements": [f"seqtag {__version__}", *remarks],
                "result": result,
            }
        )

    async def api_models(self, _: Request) -> Response:
        """The models and the columns they fill."""
        return JSONResponse(
            {
                "version": __version__,
                "models": self._models.parts(),
                "default": self._models.default,
                "limits": self._limits._asdict(),
            }
        )

    def api(
        self, answer: Callable[[Any, Mapping[str, Any], Deadline], Any]
    ) -> Callable[[Request], Awaitable[Response]]:
        """A call that takes a JSON object and gives one; errors are objects too."""

        async def endpoint(request: Request) -> Response:
            try:
                value = _json(request.headers.get("content-type", ""), await self._body(request))
                model = value.get("model")
                if not isinstance(model, str | None):
                    msg = "expected a name in the field model, found another value"
                    raise SeqtagError(msg)
                name, loaded = self._models.find(model)
                found = await self._desk.run(lambda deadline: answer(loaded, value, deadline))
            except SeqtagError as error:
                status = _status_of(error)
                return JSONResponse({"error": str(error)}, status, _retry(status))
            return JSONResponse({"model": name, **found})

        return endpoint

    @staticmethod
    def tag(loaded: Any, value: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
        """A text as sentences of tokens."""
        return {"sentences": annotate(loaded, value.get("text"), deadline)}

    @staticmethod
    def explain(loaded: Any, value: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
        """Why a word has its label."""
        return explain(loaded, value, deadline)

    async def _body(self, request: Request) -> bytes:
        """The body, if it is neither too large nor too slow."""
        try:
            return await asyncio.wait_for(self._received(request), self._limits.seconds)
        except asyncio.TimeoutError:
            msg = f"expected the body within {self._limits.seconds:g} seconds, found it unfinished"
            raise SlowError(msg) from None
        except ClientDisconnect:
            msg = "expected a whole body, found the connection closed"
            raise SeqtagError(msg) from None

    async def _received(self, request: Request) -> bytes:
        most = self._limits.body
        msg = f"expected a body of at most {most:,} bytes, found more; send it in parts"
        announced = request.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > most:
            raise TooLargeError(msg)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise TooLargeError(msg)
        return bytes(body)


def _json(content_type: str, body: bytes) -> dict[str, Any]:
    """The JSON object of a body."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json":
        msg = f"expected a body of type application/json, found {kind or 'none'}"
        raise MediaTypeError(msg)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        msg = "expected a JSON object, found something else"
        raise SeqtagError(msg)
    return value


def _status_of(error: SeqtagError) -> int:
    return next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)


def _retry(status: int) -> dict[str, str] | None:
    return {"Retry-After": "1"} if status == 503 else None


def _static(names: tuple[str, ...], kind: str) -> Callable[[Request], Awaitable[Response]]:
    """A page, a style sheet or a script, read once."""
    text = "\n".join(map(asset, names))

    async def endpoint(_: Request) -> Response:
        return Response(text, media_type=kind)

    return endpoint


class _Guard:
    """Puts headers on every answer, and turns away what a page of another site sends."""

    def __init__(self, app: ASGIApp, *, loopback: bool):
        self._app, self._loopback = app, loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def marked(message: Any) -> None:
            if message["type"] == "http.response.start":
                extra = [
                    (name.lower().encode(), value.encode()) for name, value in _HEADERS.items()
                ]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(headers) if self._loopback else None
        app = refusal or self._app
        await app(scope, receive, marked)

    @staticmethod
    def _refusal(headers: Mapping[bytes, str]) -> Response | None:
        """What to answer to a request that should not have come."""
        host = headers.get(b"host", "")
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if name.lower() not in _LOOPBACK:
            return PlainTextResponse("expected a request to this machine by its own name\n", 421)
        if headers.get(b"sec-fetch-site") == "cross-site":
            return PlainTextResponse("expected a request of this page, not of another site\n", 403)
        return None
