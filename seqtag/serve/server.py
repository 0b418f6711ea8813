"""ASGI application of ``seqtag serve``: a page, UDPipe's interface, and one of plain JSON.

No request can name a file: models are those the server was started with, and the data come with
the request.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import re
import zlib
from functools import partial
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from seqtag.caching import clear_caches, free_memory, held_bytes
from seqtag.errors import SeqtagError
from seqtag.report.page import asset
from seqtag.serve.annotation import (
    EXPLAIN_FIELDS,
    OFFSETS,
    annotate,
    check_columns,
    explain,
    refuse_field,
    text_of,
)
from seqtag.serve.connections import ConnectionLimits
from seqtag.serve.forms import MediaTypeError, check_fields, fields_of, query_fields
from seqtag.serve.front import GONE, PROBES, ErrorReporter, Front, Metrics, refusal
from seqtag.serve.models import UnknownModelError
from seqtag.serve.udpipe import process
from seqtag.serve.work_queue import Batches, BusyError, Deadline, DeadlineError, WorkQueue
from seqtag.storage import strict_json
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import (
        AsyncIterator,
        Awaitable,
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
    )

    from starlette.types import Receive, Scope, Send

    from seqtag.serve.models import ModelRegistry
    from seqtag.tagging.pipeline import Loaded

Result = TypeVar("Result")

_JSON, _LINES = "application/json", "application/x-ndjson"
_METRICS = "text/plain; version=0.0.4"
_ASSETS = {
    "/": (("serve/serve.html",), "text/html"),
    "/style.css": (("report/common.css", "serve/serve.css"), "text/css"),
    "/script.js": (("report/explanation.js", "serve/serve.js"), "text/javascript"),
    "/openapi.json": (("serve/openapi.json",), _JSON),
}
_ENCODINGS = ("", "identity", "gzip")
_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
_GZIP = 31  # window bits of zlib for gzip data
_PIECE = 1 << 16  # bytes unpacked at once; larger answers are packed
_TOO_LARGE = "expected a {} of at most {:,} bytes, found more; send it in parts"
_SLOW = "expected the complete body within {:g} seconds, found part of it"
_LEAST_RATE = 1000  # bytes a second; slower streams may stall for the time of a body in all
_WORD = b'{"form":'  # begins each word in an answer
_LINE_FIELDS = ("model", "text", "scores", "offsets")
_TAG_FIELDS = (*_LINE_FIELDS, "texts")
_UDPIPE = ("", "/services/udpipe/api")  # the second is the path of the public server
_ADVICE = re.compile(r"[;:] [^;:]*--[a-z].*", re.DOTALL)  # about an option of a command
_ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^\s/?#@]+", re.IGNORECASE)
MOST_HELD = 1 << 25  # bytes of words of requests that may stay in the caches of all models
IDLE = 1.0  # seconds without work after which no words stay in caches
MOST_UNSENT = 1 << 28  # bytes of answers that clients have not read; above it requests are refused


class ServerLimits(NamedTuple):
    """Limits on requests.

    Attributes
    ----------
    body
        Bytes of a request.
    seconds
        Time for the work on a request, and again for its body to arrive.
    threads
        Requests worked on at once.
    waiting
        Further requests that may wait.
    """

    body: int = 1_000_000
    seconds: float = 30.0
    threads: int = 2
    waiting: int = 32


class TooLargeError(SeqtagError):
    """A request body is too large."""


_STATUS: dict[type[Exception], tuple[int, str]] = {  # and the reason if it is a limit
    UnknownModelError: (404, ""),
    TooLargeError: (413, "body"),
    asyncio.TimeoutError: (408, "slow"),
    MediaTypeError: (415, ""),
    BusyError: (503, "queue"),
    DeadlineError: (503, "time"),
    MemoryError: (503, "memory"),
    ClientDisconnect: (GONE, ""),
}


def application(
    registry: ModelRegistry,
    limits: ServerLimits | None = None,
    *,
    loopback: bool = True,
    allow_origins: Collection[str] = (),
    complain: Callable[[str], None] = print,
    log: Callable[[Mapping[str, object]], None] | None = None,
    metrics: Metrics | None = None,
) -> Front:
    """Return the server as an ASGI application.

    Parameters
    ----------
    registry
        Has the models.
    limits
        Limits on requests; by default those of `ServerLimits`.
    loopback
        Whether only this machine is served. Requests in the name of another host and requests sent
        by pages of other origins, also of other ports, are then refused.
    allow_origins
        Origins whose pages may send requests and read the answers; ``*`` allows all.
    complain
        Is passed a line about each kind of internal error, once.
    log
        Is passed a record of each request.
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
    metrics, errors = metrics or Metrics(), ErrorReporter(complain)
    connections = ConnectionLimits(limits.seconds, 8 * (limits.threads + limits.waiting) + 64)
    service = _Service(registry, limits, metrics, connections)

    def static(path: str, names: tuple[str, ...], kind: str) -> Route:
        text = "\n".join(map(asset, names)).replace('"{version}"', f'"{__version__}"')
        return Route(path, Response(text, media_type=kind), methods=["GET"])

    async def probe(request: Request) -> Response:
        """Answer a probe: models are loaded before the server listens."""
        if request.scope["path"] == "/metrics":
            return Response(metrics.as_text(), media_type=_METRICS)
        is_ending = front.draining and request.scope["path"] == "/readyz"
        return PlainTextResponse("ending\n" if is_ending else "ok\n", 503 if is_ending else 200)

    routes = [
        Route("/api/tag", service.api(service.tag, _TAG_FIELDS), methods=["POST"]),  # found first
        *(static(path, *page) for path, page in _ASSETS.items()),
        *(Route(f"{at}/models", service.models, methods=["GET", "POST"]) for at in _UDPIPE),
        *(Route(f"{at}/process", service.process, methods=["GET", "POST"]) for at in _UDPIPE),
        Route("/api/models", service.api_models),
        *(Route(path, probe) for path in PROBES),
        Route("/api/explain", service.api(service.explain, EXPLAIN_FIELDS), methods=["POST"]),
    ]
    kinds = HTTPException, SeqtagError, UnicodeDecodeError, *_STATUS
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(kinds, service.refuse))
    app.router.redirect_slashes = False  # it would redirect to a host named by the request
    front = Front(app, metrics, errors, allow_origins, connections, loopback=loopback, log=log)
    return front


class _Service:
    """Endpoints."""

    def __init__(
        self,
        registry: ModelRegistry,
        limits: ServerLimits,
        metrics: Metrics,
        connections: ConnectionLimits,
    ):
        self._registry, self._limits = registry, limits
        self._metrics, self._connections = metrics, connections
        self._queue = WorkQueue(limits.threads, limits.waiting, limits.seconds)
        self._batches = Batches(partial(_bounded, _tagged), limits.seconds)
        self._forgetting: asyncio.TimerHandle | None = None

    async def models(self, _: Request) -> Response:
        """List the models (UDPipe)."""
        models = self._registry.models
        return JSONResponse({"models": models.abilities(), "default_model": models.default})

    async def process(self, request: Request) -> Response:
        """Tag or tokenize (UDPipe)."""
        fields = query_fields(request.scope["query_string"].decode())
        fields |= fields_of(request.headers.get("content-type", ""), await self._body(request))
        name, model = self._registry.models.find(fields.get("model"))

        def answer(deadline: Deadline) -> bytes:
            result, remarks = process(model, fields, deadline)
            self._metrics.words.inc(result.count("\t") // 9)  # lines of CoNLL-U
            thanks = [f"seqtag {__version__}", *remarks]
            return to_json({"model": name, "acknowledgements": thanks, "result": result})

        return await _reply(request, await self._work(answer, request))

    async def api_models(self, _: Request) -> Response:
        """List the models, their columns and the limits."""
        models = self._registry.models
        return JSONResponse(
            {
                "version": __version__,
                "models": models.columns(),
                "default": models.default,
                "limits": self._limits._asdict(),
            }
        )

    def api(
        self,
        answer: Callable[[Request, str, Loaded, Mapping[str, Any]], Awaitable[bytes]],
        fields: Collection[str],
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint from a JSON object to a JSON object; errors are objects too."""

        async def endpoint(request: Request) -> Response:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind == _LINES and answer == self.tag:
                return _Stream(self._answer_lines(request), media_type=_LINES)
            if kind != _JSON:
                await self._body(request)
                msg = f"expected a body of type application/json, found {kind or 'none'}"
                raise MediaTypeError(msg)
            found = await answer(request, *self._parsed(await self._body(request), fields))
            self._metrics.words.inc(found.count(_WORD))
            return await _reply(request, found)

        return endpoint

    def _parsed(
        self, body: bytes, fields: Collection[str]
    ) -> tuple[str, Loaded, Mapping[str, Any]]:
        """Return the model, with its name, and the object of a request, which has such fields."""
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
        return *self._registry.models.find(model), value

    async def tag(
        self, request: Request, name: str, loaded: Loaded, value: Mapping[str, Any]
    ) -> bytes:
        """Tag texts; short ones of several requests are tagged together."""
        kind = _kind_of(name, loaded, value)
        if "texts" not in value:
            text = text_of(value.get("text"))
            if len(text) <= Batches.MOST_CHARACTERS and not kind.scores:
                alone = await self._batches.run(kind, text)
                self._rest()
            else:
                [alone] = await self._work(lambda end: _tagged(kind, end, [text]), request)
            return alone
        texts = value["texts"]
        if "text" in value:
            msg = "expected one of the fields text and texts, found both; leave one out"
            raise SeqtagError(msg)
        if not isinstance(texts, list):
            found = "another value; a single text is for the field text"
            refuse_field("texts", "a list", found)
        each = kind._replace(start=b"{")
        several = await self._work(
            lambda end: [*_answers(lambda text: (each, text_of(text)), texts, end)], request
        )
        return b'%b"answers":[%b]}' % (kind.start, b",".join(several))

    async def _answer_lines(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the answers to lines of JSON, each as for `tag`, in memory for a few lines."""
        chunks, pending, limits = self._chunks(request), bytearray(), self._limits
        left = limits.seconds  # to wait for the client
        try:
            while True:
                begin = monotonic()
                chunk = await asyncio.wait_for(anext(chunks, None), left)
                if chunk is None:
                    break
                left = min(limits.seconds, left + begin - monotonic() + len(chunk) / _LEAST_RATE)
                pending += chunk
                end = pending.rfind(b"\n", len(pending) - len(chunk)) + 1
                if end:
                    yield await self._tag_lines(bytes(pending[:end]))
                    del pending[:end]
                if len(pending) > limits.body:
                    raise TooLargeError(_TOO_LARGE.format("line", limits.body))
            yield await self._tag_lines(bytes(pending))
        except ClientDisconnect:
            pass  # nobody reads an answer
        except (SeqtagError, MemoryError, asyncio.TimeoutError) as error:
            yield to_json({"error": self._describe(error)[1]}) + b"\n"

    async def _tag_lines(self, lines: bytes) -> bytes:
        """Return the answers to some lines; those of one kind are tagged together."""

        def asked(line: bytes) -> tuple[_Kind, str]:
            name, loaded, value = self._parsed(line, _LINE_FIELDS)
            return _kind_of(name, loaded, value), text_of(value.get("text"))

        def work(deadline: Deadline) -> bytes:
            each = filter(bytes.strip, lines.split(b"\n"))
            return b"".join(b"%b\n" % answer for answer in _answers(asked, each, deadline))

        end = monotonic() + self._limits.seconds
        while len(self._queue) >= self._queue.most and monotonic() < end:
            await asyncio.sleep(0.01)  # a stream waits for a place
        found = await self._queue.run(partial(_bounded, work))
        self._metrics.words.inc(found.count(_WORD))
        self._rest()
        return found

    async def explain(
        self, request: Request, name: str, loaded: Loaded, value: Mapping[str, Any]
    ) -> bytes:
        """Explain the label of a word."""
        found = await self._work(lambda deadline: explain(loaded, value, deadline), request)
        return to_json({"model": name, **found})

    async def refuse(self, request: Request, error: Exception) -> Response:
        """Answer a request that fails."""
        path = request.scope["path"]
        if isinstance(error, HTTPException):
            headers = dict(error.headers or {})
            what = f"expected {headers.get('Allow', 'another method')}, found {request.method}"
            if error.status_code != 405:
                what = f"expected the path of an endpoint, found {path[:80]!r}"
            return refusal(path, error.status_code, what, headers)
        status, what = self._describe(error)
        if isinstance(error, UnknownModelError) and not path.startswith("/api/"):
            status = 400  # as UDPipe
        return refusal(path, status, what)

    def _describe(self, error: Exception) -> tuple[int, str]:
        """Return the status and the message of an error, and count it if a limit is exceeded."""
        kind = next((kind for kind in _STATUS if isinstance(error, kind)), None)
        status, reason = _STATUS[kind] if kind else (400, "")
        if reason:
            self._metrics.rejected.labels(reason).inc()
        if isinstance(error, MemoryError):
            return status, "found too little memory for this text; try again, or send it in parts"
        if isinstance(error, asyncio.TimeoutError):
            return status, _SLOW.format(self._limits.seconds)
        if isinstance(error, UnicodeDecodeError):
            return status, "expected a query in UTF-8, found other bytes"
        return status, _ADVICE.sub("", str(error))

    async def _work(self, answer: Callable[[Deadline], Result], request: Request) -> Result:
        """Compute an answer on a thread; stop if the client goes."""
        task = asyncio.ensure_future(self._queue.run(partial(_bounded, answer)))
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientDisconnect
            return task.result()
        finally:
            task.cancel()
            gone.cancel()
            self._rest()

    def _rest(self) -> None:
        """Clear caches after a while without work."""
        self._metrics.queue.set(len(self._queue) + len(self._batches))
        if self._forgetting:
            self._forgetting.cancel()
        self._forgetting = asyncio.get_running_loop().call_later(IDLE, _forget)

    async def _chunks(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body, unpacked, in pieces; refuse all if clients leave much unread."""
        if self._connections.unsent() > MOST_UNSENT:
            msg = (
                "expected clients that read their responses, found too many unread bytes; try again"
            )
            raise BusyError(msg)
        encoding = request.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            msg = f"expected a body without encoding or with gzip, found {encoding[:80]!r}"
            raise MediaTypeError(msg)
        try:
            if encoding != "gzip":
                async for chunk in request.stream():
                    yield chunk
                return
            packed = zlib.decompressobj(_GZIP)
            async for chunk in request.stream():
                data = chunk
                while data:
                    if packed.eof:  # another member follows
                        packed = zlib.decompressobj(_GZIP)
                    yield packed.decompress(data, _PIECE)
                    data = packed.unused_data if packed.eof else packed.unconsumed_tail
                    await asyncio.sleep(0)  # others come in between
            if not packed.eof:
                msg = "expected complete gzip data, found an early end; send the body again"
                raise SeqtagError(msg)
        except zlib.error:
            msg = "expected a body packed with gzip, found other data"
            raise SeqtagError(msg) from None

    async def _body(self, request: Request) -> bytes:
        """Return the body; refuse large and slow ones."""
        most = self._limits.body
        announced = request.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > most:
            raise TooLargeError(_TOO_LARGE.format("body", most))

        async def receive() -> bytes:
            body = bytearray()
            async for chunk in self._chunks(request):
                body += chunk
                if len(body) > most:
                    raise TooLargeError(_TOO_LARGE.format("body", most))
            return bytes(body)

        return await asyncio.wait_for(receive(), self._limits.seconds)


class _Kind(NamedTuple):
    """How texts are tagged."""

    loaded: Loaded
    scores: bool
    offsets: str
    start: bytes  # of each answer


def _kind_of(name: str, loaded: Loaded, value: Mapping[str, Any]) -> _Kind:
    scores, offsets = value.get("scores", False), value.get("offsets", "codepoint")
    if not isinstance(scores, bool):
        refuse_field("scores", "true or false")
    if offsets not in OFFSETS:
        refuse_field("offsets", f"one of {', '.join(OFFSETS)}", f"{offsets!r:.80}")
    check_columns(loaded)
    return _Kind(loaded, scores, offsets, b'{"model":%b,' % to_json(name))


def _answers(
    asked: Callable[[Any], tuple[_Kind, str]], values: Iterable[object], deadline: Deadline
) -> Iterator[bytes]:
    """Yield the answer to each value, or an error in its place; texts of a kind go together."""

    def texts() -> Iterator[tuple[_Kind | bytes, str]]:
        for value in values:
            try:
                yield asked(value)
            except SeqtagError as error:
                yield to_json({"error": _ADVICE.sub("", str(error))}), ""

    for kind, group in groupby(texts(), key=itemgetter(0)):
        found = [text for _, text in group]
        if isinstance(kind, bytes):
            yield from [kind] * len(found)
        else:
            yield from _tagged(kind, deadline, found)


class _Stream(StreamingResponse):
    """Response that begins before the request has ended."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send the answers; `receive` belongs to the body."""
        await self.stream_response(send)


async def _reply(request: Request, found: bytes) -> Response:
    """Return an answer as JSON, packed if it is large and the client can unpack it."""
    headers = {}
    if len(found) > _PIECE and _TAKES_GZIP.search(request.headers.get("accept-encoding", "")):
        found = await run_in_threadpool(gzip.compress, found, 1)
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(found, headers=headers, media_type=_JSON)


def _bounded(work: Callable[..., Result], *arguments: Any) -> Result:
    """Return the result of work, and clear caches that are full, on its thread."""
    try:
        return work(*arguments)
    finally:
        if held_bytes() > MOST_HELD:
            _forget()


def _tagged(kind: _Kind, deadline: Deadline, texts: list[str]) -> list[bytes]:
    """Return the sentences of each text as JSON; they are encoded one by one to save memory."""
    found = annotate(kind.loaded, texts, deadline, scores=kind.scores, offsets=kind.offsets)
    return [
        b'%b"sentences":[%b]}' % (kind.start, b",".join(map(orjson.dumps, each))) for each in found
    ]


async def _disconnected(request: Request) -> None:
    """Wait until the client closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass  # a body that the endpoint does not read


def _forget() -> None:
    """Forget the words of requests, and free their memory."""
    clear_caches()
    gc.collect()
    free_memory()


def to_json(value: object) -> bytes:
    """Return a value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
