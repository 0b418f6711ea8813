"""seqtag.serve.requests: forms and bodies that clients send."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("python_multipart", reason="python-multipart is not installed")

from starlette.requests import Request

from seqtag.serve.requests import fields_of
from seqtag.serve.work import RequestError, ServerLimits

FORM = "application/x-www-form-urlencoded"
KIND = "multipart/form-data; boundary=xyz"


def fields(kind, body, query=b""):
    """The fields of a request, whose body comes in two pieces."""
    pieces = [body[: len(body) // 2], body[len(body) // 2 :]]

    async def receive():
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    head = [(b"content-type", kind.encode())]
    scope = {"type": "http", "method": "POST", "query_string": query, "headers": head}
    return asyncio.run(fields_of(Request(scope, receive), ServerLimits()))


def part(name, value, more=""):
    head = f'--xyz\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode() + value + b"\r\n"


def test_urlencoded():
    """As clients encode it, and as curl sends bytes that are not ASCII: as they are."""
    kind = FORM + "; charset=utf-8"
    expected = {"data": "café x", "tagger": ""}
    assert fields(kind, b"data=caf%C3%A9+x&tagger") == expected
    assert fields(kind, "data=café+x&tagger=".encode()) == expected
    assert fields(kind, b"a=1&a=2", b"a=0&b=3") == {"a": "2", "b": "3"}
    assert fields("", b"") == fields("text/plain", b"") == {}


def test_multipart():
    text = b"a\r\nb\n--xy\n"
    more = '; filename="x.txt"\r\nContent-Type: text/plain'
    body = part("data", text, more) + part("tagger", b"") + b"--xyz--\r\n"
    assert fields(KIND, body) == {"data": "a\r\nb\n--xy\n", "tagger": ""}
    bare = b"--xyz\r\ncontent-disposition: form-data; filename=y; name=data\r\n\r\nz\r\n--xyz--"
    assert fields(KIND.replace("xyz", '"xyz"'), bare) == {"data": "z"}


@given(st.dictionaries(st.sampled_from("abc"), st.text().filter(lambda t: "--xyz" not in t)))
def test_values_come_as_they_are(values):
    try:
        body = b"".join(part(k, v.encode()) for k, v in values.items()) + b"--xyz--\r\n"
    except UnicodeEncodeError:
        return
    assert fields(KIND, body) == values


NOT_UTF_8 = "expected a query and a form in UTF-8, found bytes that are not; convert the text"


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        (FORM, b"a=%FF", NOT_UTF_8),
        (FORM, b"a=\xff", NOT_UTF_8),
        (KIND, part("a", b"\xff") + b"--xyz--", NOT_UTF_8),
        (FORM, b"&a=" * 101, "expected at most 100 fields, found more; leave some out"),
        (KIND, part("a", b"") * 101 + b"--xyz--", "Too many fields"),
        ("multipart/form-data", b"x--", "Missing boundary"),
        (KIND, part("a", b"x"), "expected a form that ends with its boundary, found another end"),
        (KIND, b"--xyz\r\n\r\nx\r\n--xyz--", "expected a form in parts, found another body: "),
        ("text/plain", b"x", f"body of type {FORM} or multipart/form-data, found text/plain"),
    ],
)
def test_broken_forms(kind, body, message):
    with pytest.raises(RequestError) as error:
        fields(kind, body)
    assert message in str(error.value)
