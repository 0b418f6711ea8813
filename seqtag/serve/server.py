"""The server of ``seqtag serve``: a page, UDPipe's interface, and one of plain JSON.

No request names a file: models are those the server was started with, and what is read is what
came with the request.
"""

from __future__ import annotations

import asyncio
import json
import re
import traceback
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from seqtag.errors import SeqtagError
from seqtag.report.assembly import asset
from seqtag.serve.annotation import UnknownModelError, annotate, explain, process
from seqtag.serve.forms import MediaTypeError, fields_of, query_fields
from seqtag.serve.work_queue import BusyError, Deadline, Desk, TooLongError
from seqtag.storage import strict_json
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from seqtag.serve.reloading import Shelf

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
_JSON = "application/json"
_ASSETS = {
    "/": (("serve/serve.html",), "text/html"),
    "/style.css": (("report/common.css", "serve/serve.css"), "text/css"),
    "/script.js": (("report/explanation.js", "serve/serve.js"), "text/javascript"),
}
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
_ENCODINGS = ("", "identity")
_MOST_UNSENT = 1 << 28  # bytes of answers that clients let lie; beyond it nothing is begun


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


def application(
    shelf: Shelf,
    limits: Limits | None = None,
    *,
    loopback: bool = True,
    unsent: Callable[[], int] = lambda: 0,
    complain: Callable[[str], None] = print,
) -> ASGIApp:
    """The server as an ASGI application.

    Parameters
    ----------
    shelf
        Has what is served.
    limits
        What a request may ask for; by default that of `Limits`.
    loopback
        Whether only this machine is served: then requests in the name of another host are refused,
        as are those that pages of other sites send.
    unsent
        Counts the bytes of answers that wait for their clients; while there are more than 2^28,
        work is refused.
    complain
        Takes a line on errors of the server itself, each kind of error once.
    """
    limits = limits or Limits()
    desk = Desk(limits.threads, limits.waiting, limits.seconds)
    service = _Service(shelf, limits, desk, unsent)
    faults = _Faults(complain)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(faults.of_loop)
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
    app = Starlette(routes=routes, lifespan=lifespan)
    app.router.redirect_slashes = False  # an address would be built of what the request says
    return _Guard(app, faults, loopback=loopback)


class _Service:
    """The answers."""

    def __init__(self, shelf: Shelf, limits: Limits, desk: Desk, unsent: Callable[[], int]):
        self._shelf, self._limits, self._desk, self._unsent = shelf, limits, desk, unsent

    async def models(self, _: Request) -> Response:
        """UDPipe's list of models."""
        models = self._shelf.models
        return JSONResponse({"models": models.offers(), "default_model": models.default})

    async def process(self, request: Request) -> Response:
        """UDPipe's one call; errors are plain text, and an unknown model is a bad request."""
        try:
            fields = query_fields(request.scope["query_string"].decode())
            if request.method == "POST":
                body = await self._body(request)
                fields |= fields_of(request.headers.get("content-type", ""), body)
            name, model = self._shelf.models.find(fields.get("model"))

            def answer(deadline: Deadline) -> bytes:
                result, remarks = process(model, fields, deadline)
                thanks = [f"seqtag {__version__}", *remarks]
                return to_json({"model": name, "acknowledgements": thanks, "result": result})

            found = await self._work(answer)
        except SeqtagError as error:
            status = 400 if isinstance(error, UnknownModelError) else _status_of(error)
            return PlainTextResponse(f"{error}\n", status, _retry(status))
        except UnicodeDecodeError:
            return PlainTextResponse("expected a query in UTF-8, found other bytes\n", 400)
        return Response(found, media_type=_JSON)

    async def api_models(self, _: Request) -> Response:
        """The models and the columns they fill."""
        models = self._shelf.models
        return JSONResponse(
            {
                "version": __version__,
                "models": models.parts(),
                "default": models.default,
                "limits": self._limits._asdict(),
            }
        )

    def api(
        self, answer: Callable[[str, Any, Mapping[str, Any], Deadline], bytes]
    ) -> Callable[[Request], Awaitable[Response]]:
        """A call that takes a JSON object and gives one; errors are objects too."""

        async def endpoint(request: Request) -> Response:
            try:
                value = _json(request.headers.get("content-type", ""), await self._body(request))
                model = value.get("model")
                if not isinstance(model, str | None):
                    msg = "expected a name in the field model, found another value"
                    raise SeqtagError(msg)
                name, loaded = self._shelf.models.find(model)
                found = await self._work(lambda deadline: answer(name, loaded, value, deadline))
            except SeqtagError as error:
                status = _status_of(error)
                return JSONResponse({"error": str(error)}, status, _retry(status))
            return Response(found, media_type=_JSON)

        return endpoint

    @staticmethod
    def tag(name: str, loaded: Any, value: Mapping[str, Any], deadline: Deadline) -> bytes:
        """A text as sentences of tokens; each is JSON at once, which is far smaller."""
        sentences = b",".join(map(to_json, annotate(loaded, value.get("text"), deadline)))
        return b'{"model":%b,"sentences":[%b]}' % (to_json(name), sentences)

    @staticmethod
    def explain(name: str, loaded: Any, value: Mapping[str, Any], deadline: Deadline) -> bytes:
        """Why a word has its label."""
        return to_json({"model": name, **explain(loaded, value, deadline)})

    async def _work(self, answer: Callable[[Deadline], bytes]) -> bytes:
        """Have an answer made, unless too many wait to be taken."""
        if self._unsent() > _MOST_UNSENT:
            msg = "expected clients that take their answers, found too much waiting; try again"
            raise BusyError(msg)
        return await self._desk.run(answer)

    async def _body(self, request: Request) -> bytes:
        """The body, if it is plain, and neither too large nor too slow."""
        encoding = request.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            msg = f"expected a body that is not compressed, found the encoding {encoding[:80]!r}"
            raise MediaTypeError(msg)
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
    if kind != _JSON:
        msg = f"expected a body of type application/json, found {kind or 'none'}"
        raise MediaTypeError(msg)
    try:
        value = strict_json.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        msg = "expected a JSON object, found something else"
        raise SeqtagError(msg)
    return value


def to_json(value: object) -> bytes:
    """A value as JSON, without blanks."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


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


class _Faults:
    """Says of each error in the server itself once where it was, and nothing of the request."""

    def __init__(self, complain: Callable[[str], None]):
        self._complain, self._said = complain, set[str]()

    def __call__(self, error: BaseException) -> None:
        """Say it."""
        if isinstance(error, OSError):
            self._once(f"{error.strerror} ({type(error).__name__})")
        else:
            frames = traceback.extract_tb(error.__traceback__)[-1:]
            places = [f" in {Path(each.filename).name}:{each.lineno}" for each in frames]
            where = "".join([type(error).__name__, *places])
            self._once(f"internal error, please report it: {where}")

    def of_loop(self, _: object, context: Mapping[str, Any]) -> None:
        """Take an error that nobody waits for; a client that is gone is none."""
        error = context.get("exception") or RuntimeError(context["message"])
        if not isinstance(error, ConnectionError):
            self(error)

    def _once(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._complain(message)


class _Guard:
    """Puts headers on every answer, and turns away what a page of another site sends."""

    def __init__(self, app: ASGIApp, faults: _Faults, *, loopback: bool):
        self._app, self._faults, self._loopback = app, faults, loopback

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
        try:
            await app(scope, receive, marked)
        except Exception as error:
            self._faults(error)

    @staticmethod
    def _refusal(headers: Mapping[bytes, str]) -> Response | None:
        """What to answer to a request that should not have come."""
        if not _LOOPBACK.fullmatch(headers.get(b"host", "")):
            return PlainTextResponse("expected a request to this machine by its own name\n", 421)
        site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
        if site is None and origin is not None:  # an older browser
            own = _LOOPBACK.fullmatch(origin.removeprefix("http://"))
            site = "same-site" if own else "cross-site"
        if site == "cross-site":
            return PlainTextResponse("expected a request of this page, not of another site\n", 403)
        return None
