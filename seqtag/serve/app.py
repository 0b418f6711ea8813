"""ASGI application of ``seqtag serve``: a page, UDPipe's interface, and one of plain JSON.

No request can name a file: models are those the server was started with, and the data come with
the request.
"""

from __future__ import annotations

import asyncio
import re
import traceback
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from seqtag.corpus.spans import OFFSETS
from seqtag.engine.backend import BACKEND
from seqtag.errors import SeqtagError
from seqtag.report.page import asset
from seqtag.serve.annotation import (
    EXPLAIN_FIELDS,
    check_columns,
    documents,
    explain,
    refuse_field,
    text_of,
    with_scores,
)
from seqtag.serve.metrics import Metrics
from seqtag.serve.requests import (
    Pieces,
    body_of,
    check_fields,
    fields_of,
    media_type,
)
from seqtag.serve.udpipe import process
from seqtag.serve.work import Deadline, RequestError, ServerLimits, Work
from seqtag.storage import strict_json
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import (
        Awaitable,
        Callable,
        Collection,
        Mapping,
        Sequence,
    )

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from seqtag.serve.models import ServedModels
    from seqtag.tagging.pipeline import Pipeline

Result = TypeVar("Result")

_JSON = "application/json"
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
_HEADERS = ((b"x-content-type-options", b"nosniff"),)
_WORD = b'{"form":'  # begins each word in an answer
_TAG_FIELDS = ("model", "text", "scores", "offsets", "texts")
_UDPIPE = ("", "/services/udpipe/api")  # the second is the path of the public server
_PACKED_BYTES = 1 << 16  # larger answers are packed with gzip if the client accepts it
_GONE = 499  # status of a client that has gone before its answer, as in logs of nginx
_ADVICE = re.compile(r"[;:] [^;:]*--[a-z].*", re.DOTALL)  # about an option of a command
_ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^\s/?#@]+", re.IGNORECASE)
_OWN_HOSTS = ("localhost", "127.0.0.1", "[::1]")
OWN_HOSTS_ONLY = Middleware(TrustedHostMiddleware, allowed_hosts=_OWN_HOSTS, www_redirect=False)
MAX_HEAD_BYTES = 1 << 16  # of the address and headers of a request


class Service(NamedTuple):
    """What endpoints share."""

    models: ServedModels
    limits: ServerLimits
    metrics: Metrics
    work: Work


def application(
    models: ServedModels,
    limits: ServerLimits | None = None,
    *,
    loopback: bool = True,
    allow_origins: Collection[str] = (),
    complain: Callable[[str], None] = print,
    metrics: Metrics | None = None,
) -> Front:
    """Return the server as an ASGI application.

    Parameters
    ----------
    models
        The models.
    limits
        Limits on requests; by default those of `ServerLimits`.
    loopback
        Whether only this machine is served. Requests in the name of another host are then refused,
        and those that browsers send for pages of other sites.
    allow_origins
        Origins whose pages may send requests and read the answers; ``*`` allows all.
    complain
        Is passed a line about each kind of internal error, once.
    metrics
        Are passed what happens.

    Raises
    ------
    SeqtagError
        If an origin is malformed.
    """
    for origin in allow_origins:
        if not _ORIGIN.fullmatch(origin):
            msg = (
                "expected an origin without a path, such as https://example.org or "
                f"http://localhost:3000, or *, found {origin!r}"
            )
            raise SeqtagError(msg)
    limits = limits or ServerLimits()
    service = Service(models, limits, metrics or Metrics(), Work(limits, _tagged))
    endpoints = {
        "/api/tag": (tag, ["POST"]),
        "/api/explain": (explain_word, ["POST"]),
        "/api/models": (list_models, ["GET"]),
        **{f"{at}/process": (udpipe_process, ["GET", "POST"]) for at in _UDPIPE},
        **{f"{at}/models": (udpipe_models, ["GET", "POST"]) for at in _UDPIPE},
    }
    routes = [
        Route(path, partial(endpoint, service), methods=methods)
        for path, (endpoint, methods) in endpoints.items()
    ]
    middleware = [Middleware(GZipMiddleware, minimum_size=_PACKED_BYTES, compresslevel=1)]
    if allow_origins:
        origins = [origin.lower() for origin in allow_origins]
        headers = ["Content-Type"]
        methods = ["GET", "POST"]
        cors = Middleware(
            CORSMiddleware, allow_origins=origins, allow_headers=headers, allow_methods=methods
        )
        middleware.insert(0, cors)
    if loopback:
        middleware.insert(0, OWN_HOSTS_ONLY)
    kinds = HTTPException, SeqtagError, MemoryError, ClientDisconnect
    front = Front(service, complain, allow_origins, loopback=loopback)
    ends = [Route("/health", front.health), Route("/metrics", front.metrics)]
    front.app = Starlette(
        routes=[*routes, *page_routes("serve"), *ends],
        middleware=middleware,
        exception_handlers=dict.fromkeys(kinds, partial(refuse, service)),
    )
    front.app.router.redirect_slashes = False  # it would redirect to a host named by the request
    front.paths = {route.path for route in front.app.routes if isinstance(route, Route)}
    return front


def page_routes(name: str) -> list[Route]:
    """Return the endpoints of a page: files of the package, with policies of the page."""
    files = {
        "/": ([f"{name}/{name}.html"], "text/html"),
        "/style.css": (["report/common.css", f"{name}/{name}.css"], "text/css"),
        "/script.js": (["report/explanation.js", f"{name}/{name}.js"], "text/javascript"),
    }
    return [Route(path, _static(*each), methods=["GET"]) for path, each in files.items()]


def _static(names: Sequence[str], kind: str) -> Callable[[Request], Awaitable[Response]]:
    text = "\n".join(map(asset, names)).replace('"{version}"', f'"{__version__}"')

    async def page(_: Request) -> Response:
        return Response(text, headers=_PAGE_HEADERS, media_type=kind)

    return page


# ----------------------------------------------------------------- endpoints


async def tag(service: Service, request: Request) -> Response:
    """Tag a text, or several."""
    name, pipeline, value = await _asked(service, request, _TAG_FIELDS)
    scores, offsets = value.get("scores", False), value.get("offsets", "codepoint")
    if not isinstance(scores, bool):
        refuse_field("scores", "true or false")
    if not isinstance(offsets, str) or offsets not in OFFSETS:
        refuse_field("offsets", f"one of {', '.join(OFFSETS)}", f"{offsets!r:.80}")
    if ("text" in value) == ("texts" in value):
        msg = "expected one of the fields text and texts, found both or none of them"
        raise RequestError(msg)
    check_columns(pipeline)
    kind = Kind(pipeline, scores, offsets, b'{"model":%b,' % orjson.dumps(name))
    if "text" in value:
        text = text_of(value["text"])
        if len(text) <= Work.MAX_CHARACTERS and not scores and BACKEND == "native":
            found = await service.work.tag_short(kind, text)
            service.metrics.words.inc(found.count(_WORD))
            return Pieces(service.work, service.limits.seconds, found)
        texts, start, end = [text], b"", b""
    else:
        if not isinstance(value["texts"], list):
            refuse_field("texts", "a list", "another value; a single text is for the field text")
        texts = [text_of(text, "texts") for text in value["texts"]]
        start, end = kind.start + b'"answers":[', b"]}"
        kind = kind._replace(start=b"{")

    def answer(deadline: Deadline) -> tuple[bytes, int]:
        found = b",".join(_tagged(kind, texts, deadline))
        return start + found + end, found.count(_WORD)

    found, words = await _work(service, request, answer)
    service.metrics.words.inc(words)
    return Pieces(service.work, service.limits.seconds, found)


async def explain_word(service: Service, request: Request) -> Response:
    """Explain the label of a word."""
    name, pipeline, value = await _asked(service, request, EXPLAIN_FIELDS)
    found = await _work(service, request, lambda end: explain(pipeline, value, end))
    return JSONResponse({"model": name, **found})


async def list_models(service: Service, _: Request) -> Response:
    """List the models, their columns and the limits."""
    models = service.models
    return JSONResponse(
        {
            "version": __version__,
            "models": models.columns(),
            "default": models.default,
            "limits": service.limits._asdict(),
        }
    )


async def udpipe_models(service: Service, _: Request) -> Response:
    """List the models (UDPipe)."""
    models = service.models
    return JSONResponse({"models": models.abilities(), "default_model": models.default})


async def udpipe_process(service: Service, request: Request) -> Response:
    """Tag or tokenize (UDPipe)."""
    fields = await fields_of(request, service.limits)
    name, pipeline = service.models.find(fields.get("model"))

    def answer(deadline: Deadline) -> tuple[bytes, int]:
        result, remarks = process(pipeline, fields, deadline)
        thanks = [f"seqtag {__version__}", *remarks]
        found = {"model": name, "acknowledgements": thanks, "result": result}
        return orjson.dumps(found), result.count("\t") // 9  # lines of CoNLL-U

    found, words = await _work(service, request, answer)
    service.metrics.words.inc(words)
    return Pieces(service.work, service.limits.seconds, found)


async def refuse(service: Service, request: Request, error: Exception) -> Response:
    """Answer a request that fails, and count it if a limit is exceeded."""
    path = request.scope["path"]
    if isinstance(error, HTTPException):
        headers = dict(error.headers or {})
        what = f"expected {headers.get('Allow', 'another method')}, found {request.method}"
        if error.status_code != 405:
            what = f"expected a path such as /api/tag or /process, found {path[:80]!r}"
        return _refusal(path, error.status_code, what, headers)
    status, what = getattr(error, "status", 400), _ADVICE.sub("", str(error))
    reason = getattr(error, "reason", "")
    if isinstance(error, MemoryError):
        status, reason = 503, "memory"
        what = "found too little memory for this text; try again, or send it in parts"
    if reason:
        service.metrics.rejected.labels(reason).inc()
    if isinstance(error, ClientDisconnect):
        status = _GONE
    elif status == 404 and not path.startswith("/api/"):
        status = 400  # as UDPipe, for a model that is not there
    return _refusal(path, status, what)


def _refusal(
    path: str, status: int, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer to a request that is refused: JSON below /api/, else plain text."""
    if status == 503:
        headers = {"Retry-After": "1"}
    if status in (408, 413):  # the rest of the body may still come
        headers = {"Connection": "close"}
    if path.startswith("/api/"):
        return JSONResponse({"error": message}, status, headers)
    return PlainTextResponse(f"{message}\n", status, headers)


async def _asked(
    service: Service, request: Request, fields: Collection[str]
) -> tuple[str, Pipeline, Mapping[str, Any]]:
    """Return the model, with its name, and the object of a request, which has such fields."""
    body, kind = await body_of(request, service.limits), media_type(request)
    if kind != _JSON:
        msg = f"expected the header Content-Type: {_JSON}, found {kind or 'none'}"
        raise RequestError(msg, 415)
    found, value = "another value", None
    try:
        value = strict_json.loads(body)
    except UnicodeDecodeError:
        found = "bytes that are not UTF-8; encode the text"
    except ValueError as error:
        found = f"none: {error}"
    if not isinstance(value, dict):
        msg = f"expected a JSON object, found {found}"
        raise SeqtagError(msg)
    check_fields(value, fields)
    model = value.get("model")
    if not isinstance(model, str | None):
        refuse_field("model", "a name")
    return *service.models.find(model), value


# ----------------------------------------------------------------- work on threads


class Kind(NamedTuple):
    """How texts are tagged."""

    pipeline: Pipeline
    scores: bool
    offsets: str
    start: bytes  # of each answer


def _tagged(kind: Kind, texts: list[str], deadline: Deadline) -> list[bytes]:
    """Return the sentences of each text as JSON."""
    answers = []
    for document in documents(kind.pipeline, texts, deadline):
        if kind.scores:
            scored = with_scores(kind.pipeline, document, kind.offsets, deadline)
            found = b"[%b]" % b",".join(map(orjson.dumps, scored))  # one by one to save memory
        else:
            found = document.json_sentences(kind.offsets)
            deadline.check()
        answers.append(b'%b"sentences":%b}' % (kind.start, found))
    return answers


async def _work(service: Service, request: Request, answer: Callable[[Deadline], Result]) -> Result:
    """Compute an answer on a thread; stop if the client goes."""
    task = asyncio.ensure_future(service.work.run(answer))
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    """Wait until the client closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# ----------------------------------------------------------------- around the application


def is_from_another_site(scope: Scope, allowed: Collection[str] = ()) -> bool:
    """Return whether a browser sends a request for a page of another site, which is not allowed."""
    headers = dict(scope["headers"])
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin", b"").decode("latin-1")
    is_read = scope["method"] == "GET" and headers.get(b"sec-fetch-mode") == b"navigate"
    is_allowed = "*" in allowed or origin.lower() in allowed
    return site in (b"cross-site", b"same-site") and not (is_read or is_allowed)


class Front:
    """ASGI application around another: who may ask, and what is measured."""

    app: Starlette
    paths: Collection[str]

    def __init__(
        self,
        service: Service,
        complain: Callable[[str], None],
        origins: Collection[str],
        *,
        loopback: bool,
    ):
        self.service, self._complain = service, cache(complain)
        self._origins = {origin.lower() for origin in origins}
        self._loopback = loopback

    async def health(self, _: Request) -> Response:
        """Answer a probe: models are loaded before the server listens."""
        return PlainTextResponse("ok\n")

    async def metrics(self, _: Request) -> ASGIApp:
        """Return the application that shows the metrics."""
        return self.service.metrics.app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        begin, status = perf_counter(), _GONE

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        app = self._refused(scope) or self.app
        try:
            with self.service.metrics.in_progress.track_inprogress():
                await app(scope, receive, send_and_note)
        except asyncio.TimeoutError:
            raise  # the client does not take its answer: uvicorn closes the connection
        except Exception as error:
            self.report(error)
            raise
        finally:
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.service.metrics.requests.labels(path, status).inc()
            self.service.metrics.seconds.labels(path).observe(perf_counter() - begin)

    def _refused(self, scope: Scope) -> ASGIApp | None:
        """Return the answer to a request that is refused."""
        path, headers = scope["path"], scope["headers"]
        size = len(scope["raw_path"]) + len(scope["query_string"])
        if size + sum(len(name) + len(value) + 4 for name, value in headers) > MAX_HEAD_BYTES:
            what = f"expected a head of at most {MAX_HEAD_BYTES:,} bytes, found more"
            return _refusal(path, 431, what, {"Connection": "close"})
        names = {name for name, _ in headers}
        if {b"content-length", b"transfer-encoding"} <= names:  # RFC 9112, 6.1
            what = "expected a length or chunks, found both of them"
            return _refusal(path, 400, what, {"Connection": "close"})
        if self._loopback and is_from_another_site(scope, self._origins):
            what = "expected a request from this site, found one from another site"
            return _refusal(path, 403, what)
        return None

    def report(self, error: BaseException) -> None:
        """Report each kind of internal error once, with its location and without request data."""
        if isinstance(error, OSError):
            self._complain(f"{error.strerror} ({type(error).__name__})")
            return
        frames = traceback.extract_tb(error.__traceback__)[-1:]
        places = [f" in {Path(each.filename).name}:{each.lineno}" for each in frames]
        where = "".join([type(error).__name__, *places])
        self._complain(f"internal error, please report it: {where}")
