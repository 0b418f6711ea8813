"""Bodies of requests within their limits, and answers that go out as clients take them."""

from __future__ import annotations

import asyncio
import gzip
import io
import zlib
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response

from seqtag.errors import did_you_mean
from seqtag.serve.work import RequestError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from seqtag.serve.work import ServerLimits, Work

FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_MAX_FIELDS = 100
PIECE_BYTES = 1 << 18  # sent at once
_MAX_DROPPED_BYTES = 1 << 25  # of a body that is too large


def media_type(request: Request) -> str:
    """Return the media type of a request, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def body_of(request: Request, limits: ServerLimits) -> bytes:
    """Return the body, unpacked if it is packed with gzip.

    A body that is too large is read on, within bounds, so that clients that send all of it before
    they read see the answer; it is not if the client waits before sending it (``Expect``).

    Raises
    ------
    RequestError
        If it is too large, does not arrive in time, is packed otherwise, or is damaged.
    """
    body, size = bytearray(), 0

    async def receive() -> None:
        nonlocal size
        async for chunk in request.stream():
            size += len(chunk)
            if size <= limits.body:
                body.extend(chunk)
            elif size > limits.body + _MAX_DROPPED_BYTES:
                return

    announced = request.headers.get("content-length", "")
    if "expect" in request.headers and announced.isdecimal() and int(announced) > limits.body:
        size = int(announced)
    else:
        try:
            await asyncio.wait_for(receive(), limits.seconds)
        except asyncio.TimeoutError:
            msg = f"expected the complete body within {limits.seconds:g} seconds, found part of it"
            raise RequestError(msg, 408, "slow") from None
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        msg = f"expected a body without encoding or with gzip, found {encoding[:80]!r}"
        raise RequestError(msg, 415)
    found = bytes(body)
    if encoding == "gzip" and size <= limits.body:
        found = _unpacked(found, limits.body + 1)
        size = len(found)
    if size > limits.body:
        most = f"{limits.body:,} bytes (--max-body)"
        msg = f"expected a body of at most {most}, found more; send it in parts"
        raise RequestError(msg, 413, "body")
    return found


def _unpacked(data: bytes, most: int) -> bytes:
    """Return the first bytes of what is packed with gzip."""
    try:
        return gzip.GzipFile(fileobj=io.BytesIO(data)).read(most)
    except (EOFError, OSError, zlib.error):
        msg = "expected a body packed with gzip, found other data or an early end; send it again"
        raise RequestError(msg) from None


def check_fields(names: Iterable[str], known: Collection[str]) -> None:
    """Refuse fields of a request that are not known; they may be misspelled."""
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            msg = f"expected some of the fields {', '.join(known)}, found {name[:80]!r}{near}"
            raise RequestError(msg)


async def fields_of(request: Request, limits: ServerLimits) -> dict[str, str]:
    """Return the fields of the query and of a form, which are in UTF-8; the last of a name counts.

    Raises
    ------
    RequestError
        If the body is no form, is malformed, has too many fields, or is not in UTF-8.
    """
    body, kind = await body_of(request, limits), media_type(request)
    try:
        fields = _query_fields(request.scope["query_string"].decode())
        if kind == MULTIPART:
            body.decode()
            return fields | await _multipart_fields(request, body)
        if kind == FORM or not body:
            return fields | _query_fields(body.decode())
    except UnicodeDecodeError:
        msg = "expected a query and a form in UTF-8, found bytes that are not; convert the text"
        raise RequestError(msg) from None
    msg = f"expected a body of type {FORM} or {MULTIPART}, found {kind or 'none'}"
    raise RequestError(msg, 415)


def _query_fields(text: str) -> dict[str, str]:
    """Return the fields of a query string (starlette reads bytes that are not ASCII as Latin-1)."""
    if text.count("&") >= _MAX_FIELDS:
        msg = f"expected at most {_MAX_FIELDS} fields, found more; leave some out"
        raise RequestError(msg)
    return dict(parse_qsl(text, keep_blank_values=True, errors="strict"))


async def _multipart_fields(request: Request, body: bytes) -> dict[str, str]:
    """Return the fields of a form in parts; files are fields, too, and stay in memory."""
    if not body.rstrip().endswith(b"--"):
        msg = "expected a form that ends with its boundary, found another end; send it again"
        raise RequestError(msg)

    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    size = len(body) + 1
    parser = MultiPartParser(
        request.headers,
        stream(),
        max_files=_MAX_FIELDS,
        max_fields=_MAX_FIELDS,
        max_part_size=size,
    )
    parser.spool_max_size = size
    try:
        form = await parser.parse()
    except MultiPartException as error:
        msg = f"expected a form in parts, found another body: {error.message}"
        raise RequestError(msg) from None
    fields = {
        name: (await value.read()).decode() if isinstance(value, UploadFile) else value
        for name, value in form.multi_items()
    }
    await form.close()
    return fields


class Pieces(Response):
    """Answer that goes out in pieces, as its client takes them; one that takes none is left.

    Parameters
    ----------
    work
        Counts what is unsent.
    seconds
        Time for the client to take each piece.
    body
        All of the answer, JSON.
    """

    media_type = "application/json"

    def __init__(self, work: Work, seconds: float, body: bytes):
        super().__init__(body)
        self._work, self._seconds = work, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        size = len(self.body)
        if size <= PIECE_BYTES:
            await super().__call__(scope, receive, send)
            return
        self._work.unsent += size
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            for start in range(0, size, PIECE_BYTES):
                piece = bytes(self.body[start : start + PIECE_BYTES])
                more = start + PIECE_BYTES < size
                message = {"type": "http.response.body", "body": piece, "more_body": more}
                await asyncio.wait_for(send(message), self._seconds)
        finally:
            self._work.unsent -= size
