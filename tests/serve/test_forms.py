"""seqtag.serve.forms: what clients send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import SeqtagError
from seqtag.serve.forms import MediaTypeError, fields_of, query_fields

FORM = "application/x-www-form-urlencoded"
KIND = "multipart/form-data; boundary=xyz"


def part(name, value, more=""):
    head = f'--xyz\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode() + value + b"\r\n"


def test_urlencoded():
    assert fields_of(FORM + "; charset=utf-8", b"data=caf%C3%A9+x&tagger") == {
        "data": "café x",
        "tagger": "",
    }
    assert query_fields("a=1&a=2") == {"a": "2"}
    assert fields_of("", b"") == fields_of("text/plain", b"") == {}


def test_multipart():
    text = b"a\r\nb\n--xy\n"
    more = '; filename="x.txt"\r\nContent-Type: text/plain'
    body = b"before\r\n" + part("data", text, more) + part("tagger", b"") + b"--xyz--\r\n"
    assert fields_of(KIND, body) == {"data": "a\r\nb\n--xy\n", "tagger": ""}
    bare = b"--xyz\r\ncontent-disposition: form-data; filename=y; name=data\r\n\r\nz\r\n--xyz--"
    assert fields_of(KIND.replace("xyz", '"xyz"'), bare) == {"data": "z"}


@given(st.dictionaries(st.sampled_from("abc"), st.text().filter(lambda t: "--xyz" not in t)))
def test_values_come_as_they_are(fields):
    try:
        body = b"".join(part(k, v.encode()) for k, v in fields.items()) + b"--xyz--\r\n"
    except UnicodeEncodeError:
        return
    assert fields_of(KIND, body) == fields


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        (FORM, b"a=%FF", "expected a form in UTF-8, found bytes that are not; convert the text"),
        (FORM, b"a=\xff", "expected a form in UTF-8, found bytes that are not; convert the text"),
        (FORM, b"&a=" * 101, "expected at most 100 fields, found more; leave some out"),
        (
            KIND,
            part("a", b"") * 101 + b"--xyz--",
            "expected at most 100 fields, found more; leave some out",
        ),
        (
            KIND,
            part("a", b"\xff") + b"--xyz--",
            "expected a form in UTF-8, found bytes that are not; convert the text",
        ),
        (
            "multipart/form-data",
            b"x",
            "expected a boundary in the content type of the form, found none",
        ),
        (
            KIND,
            part("a", b"x"),
            "expected a form that ends with its boundary, found another end; send it again",
        ),
        (
            KIND,
            b"--xyz\r\n\r\nx\r\n--xyz--",
            "expected a name for each field of the form, found one without; send it again",
        ),
    ],
)
def test_broken_forms(kind, body, message):
    with pytest.raises(SeqtagError) as error:
        fields_of(kind, body)
    assert str(error.value) == message


def test_no_form():
    with pytest.raises(MediaTypeError) as error:
        fields_of("text/plain", b"x")
    assert str(error.value) == (
        "expected a body of type application/x-www-form-urlencoded or multipart/form-data, found "
        "text/plain"
    )
