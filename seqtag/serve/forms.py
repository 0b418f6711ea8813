"""Fields of requests: query strings, and forms as sent by browsers and curl."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from seqtag.errors import SeqtagError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_MOST_FIELDS = 100
_URLENCODED, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_NAME = re.compile(r';\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))', re.I)
_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]+)"|([^\s;"]+))', re.I)


class MediaTypeError(SeqtagError):
    """A request body has an unsupported type."""


def check_fields(names: Iterable[str], known: Collection[str]) -> None:
    """Refuse fields of a request that are not known; they may be misspelled."""
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            msg = f"expected some of the fields {', '.join(known)}, found {name[:80]!r}{near}"
            raise SeqtagError(msg)


def fields_of(content_type: str, body: bytes) -> dict[str, str]:
    """Return the fields of a form; the last one of a name counts.

    Parameters
    ----------
    content_type
        Content type of the request; not needed for an empty body.
    body
        Body of the request.

    Raises
    ------
    SeqtagError
        If the form is malformed, has too many fields, or is not in UTF-8.
    MediaTypeError
        If the body is not a form.

    Examples
    --------
    >>> fields_of("application/x-www-form-urlencoded", b"data=a+b&tagger=")
    {'data': 'a b', 'tagger': ''}
    """
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == _MULTIPART:
            return _multipart_fields(content_type, body)
        if kind == _URLENCODED or not body:
            return query_fields(body.decode())
    except UnicodeDecodeError:
        msg = "expected a form in UTF-8, found bytes that are not; convert the text"
        raise SeqtagError(msg) from None
    msg = f"expected a body of type {_URLENCODED} or {_MULTIPART}, found {kind or 'none'}"
    raise MediaTypeError(msg)


def query_fields(text: str) -> dict[str, str]:
    """Return the fields of a query string; see `fields_of`."""
    _check_number(text.count("&") + 1)
    return dict(parse_qsl(text, keep_blank_values=True, errors="strict"))


def _check_number(count: int) -> None:
    if count > _MOST_FIELDS:
        msg = f"expected at most {_MOST_FIELDS} fields, found more; leave some out"
        raise SeqtagError(msg)


def _multipart_fields(content_type: str, body: bytes) -> dict[str, str]:
    match = _BOUNDARY.search(content_type)
    if match is None:
        msg = "expected a boundary in the content type of the form, found none"
        raise SeqtagError(msg)
    line = b"--" + (match[1] or match[2]).encode()
    pieces = (b"\r\n" + body).split(b"\r\n" + line)
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        msg = "expected a form that ends with its boundary, found another end; send it again"
        raise SeqtagError(msg)
    _check_number(len(pieces) - 2)
    fields = {}
    for piece in pieces[1:-1]:
        head, _, value = piece.partition(b"\r\n\r\n")
        lines = [each for each in head.split(b"\r\n") if each.lower().startswith(b"content-disp")]
        name = _NAME.search(lines[0].decode()) if lines else None
        if name is None:
            msg = "expected a name for each field of the form, found one without; send it again"
            raise SeqtagError(msg)
        fields[name[1] if name[1] is not None else name[2]] = value.decode()
    return fields
