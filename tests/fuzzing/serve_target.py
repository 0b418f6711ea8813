"""What must hold of every request to the server: an answer that it knows, and no traceback."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from functools import cache
from typing import TYPE_CHECKING, Any

from seqtag.model import bundle
from seqtag.model.container import from_bytes
from seqtag.serve.models import ServedModels
from seqtag.tagging.tagger import Tagger
from tests.fuzzing.choices import Choices, logged
from tests.fuzzing.good_models import good_files, good_pipeline

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATHS = [
    "/process",
    "/services/udpipe/api/process",
    "/api/tag",
    "/api/tag",
    "/api/explain",
    "/api/explain",
    "/models",
    "/api/models",
    "/",
    "/style.css",
    "/nothing",
]
_METHODS = ["POST", "POST", "POST", "GET", "HEAD", "PUT", "OPTIONS", "\x00"]
_TYPES = [
    b"application/json",
    b"application/x-www-form-urlencoded",
    b"multipart/form-data; boundary=b",
    b"Application/JSON; charset=latin-1",
    b'multipart/form-data; boundary="',
    b"text/plain",
    b"",
    b"\xff",
]
_ENCODINGS = [b"", b"", b"", b"gzip", b"GZIP", b"br", b"gzip"]
_HOSTS = [b"localhost", b"127.0.0.1:8000", b"[::1]:80", b"evil.example", b"[", b"\xff", b""]
_QUERIES = [
    b"",
    b"model=pipeline&tagger&tokenizer=ranges&data=Im%20Haus.",
    b"model=rich&tagger=&input=vertical&data=the%0Aman",
    b"data=a&output=horizontal&input=horizontal",
    b"data=%ff&model=%00",
    b"a&" * 101,
    b"tokenizer=x;ranges&data",
    b"model=pipeline&tokenizer=presegmented;normalized_spaces&output=plaintext&data=a.%0A%0AIm",
    b"model=deu&tagger&input=horizontal&output=plaintext%3Dnormalized_spaces&data=a%C2%A0b%0A%0Ac",
    b"input=vertical&output=vertical%3Dparagraphs&data=a%09b%0Ac",
]
_TEXTS = ["Im Haus. Wer ist hier?\n\n e\u0301", "", "\ud800", "\x1b[2J\u202e a", "the man runs", 7]
_WORDS = [
    ["the", "man"],
    [""],
    [],
    ["a"] * 2001,
    ["\ud800"],
    [1],
    "the",
    None,
    ["im", "\x1b"],
    ["a b"],
]
_NUMBERS = [0, 1, -1, 50, 51, True, 1.0, 10**30, "0", None, [], float("nan")]
_NAMES = ["pipeline", "rich", "twice", "", "p", None, 3, "none", "\ud800", {}]
_LABELS = [None, "NN", "N|s", "upos", "tag", "", "nothing", "\ud800", 3]
_KNOWN = {200, 400, 403, 404, 405, 408, 413, 415, 431}
_BODY = 20_000  # bytes
_FORM = (
    b'--b\r\nContent-Disposition: form-data; name="data"\r\n\r\n%s\r\n'
    b"--b\r\nContent-Disposition: form-data; name=tagger\r\n\r\n\r\n--b--\r\n"
)


@cache
def _served() -> Any:
    """A server of a pipeline, a calibrated tagger, one with parts of labels, and one with word tables."""
    from seqtag.serve.app import application
    from seqtag.serve.work import ServerLimits

    files = {"plain": 0, "rich": 3, "tables": 6}
    loaded = {
        name: Tagger(*bundle.models_of(from_bytes(good_files()[n]))) for name, n in files.items()
    }
    models = ServedModels([("pipeline", good_pipeline()), *loaded.items()])
    return application(models, ServerLimits(body=_BODY, seconds=1e6))


def serve(data: bytes) -> str:
    """Any request, in any pieces: an answer that makes sense, and nothing in the log."""
    choices = Choices(data)
    path, method = choices.pick(_PATHS), choices.pick(_METHODS)
    kind, host = choices.pick([_TYPES[0], *_TYPES]), choices.pick([_HOSTS[0]] * 7 + _HOSTS)
    query, piece = choices.pick(_QUERIES), 1 + choices.below(300)
    shape = choices.below(6)
    if shape < 2:
        body = choices.rest()
    elif shape == 2:
        body = _FORM % choices.rest()
    else:
        body = _object(choices, path)
    if choices.below(64) == 63:
        body += b" " * _BODY
    elif path.endswith("/process") and method == "GET":
        query += b"&" + choices.rest()
    encoding = choices.pick(_ENCODINGS)
    headers = {b"host": host, b"content-type": kind, b"content-encoding": encoding}
    is_packed = b"gzip" in encoding.lower() and choices.below(8)
    sent = gzip.compress(body, mtime=0) if is_packed else body
    status, answered, body_back = asyncio.run(answer(path, method, query, headers, sent, piece))
    assert status in _KNOWN, (status, body_back)
    assert answered[b"x-content-type-options"] == b"nosniff"
    assert b"Traceback" not in body_back
    assert b"internal" not in body_back
    if answered.get(b"content-type", b"").startswith(b"application/json") and method != "HEAD":
        found = json.loads(body_back, parse_constant=_no_number)
        if path == "/api/tag" and status == 200:
            asked = json.loads(body)
            texts, answers = asked.get("texts"), found.get("answers")
            for text, each in zip(texts or [asked["text"]], answers or [found], strict=True):
                _check_offsets(text, each, asked.get("offsets", "codepoint"))
                _check_labels(each, scores=asked.get("scores", False))
        if status != 200:
            assert "\n" not in found["error"], found
            return f"{status} {found['error']}"
    if status == 200:
        return "accepted"
    return f"{status} {body_back.decode()}"


def _object(choices: Choices, path: str) -> bytes:
    """A body as the interface of JSON has it, with a value or two that it has not."""
    fields: dict[str, Any] = {"model": choices.pick(_NAMES)}
    if path == "/api/explain":
        fields["words"] = choices.pick(_WORDS)
        for name, values in (("word", _NUMBERS), ("nbest", _NUMBERS)):
            if choices.below(2):
                fields[name] = choices.pick(values)
        for name in ("part", "rival"):
            if choices.below(2):
                fields[name] = choices.pick(_LABELS)
    else:
        fields["text"] = choices.pick(_TEXTS)
        if choices.below(2):
            fields["scores"] = choices.pick([True, False, True, 1])
        if choices.below(2):
            fields["offsets"] = choices.pick(["utf16", "byte", "codepoint", "x", []])
        if choices.below(2):
            fields["text"] = choices.rest().decode("utf-8", "surrogateescape")
        if not choices.below(4):
            fields["texts"] = [fields.pop("text"), "Im Haus?"]
    return json.dumps(fields).encode()


async def answer(
    path: str, method: str, query: bytes, headers: Mapping[bytes, bytes], body: bytes, piece: int
) -> tuple[int, dict[bytes, bytes], bytes]:
    """What the application sends: status, headers, body."""
    pieces = [body[at : at + piece] for at in range(0, len(body), piece)] or [b""]
    trouble: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: trouble.append(what))
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        if not pieces:
            await asyncio.Event().wait()  # the client waits for its answer
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query,
        "headers": [*headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    with logged(logging.ERROR, "") as lines:
        await _served()(scope, receive, send)
        await asyncio.sleep(0)  # what was left to the loop
    assert not trouble, trouble
    assert not lines, lines
    start, *rest = sent
    return start["status"], dict(start["headers"]), b"".join(each.get("body", b"") for each in rest)


def _no_number(name: str) -> None:
    """Nothing that JSON does not have: NaN, Infinity."""
    raise AssertionError(name)


def _check_offsets(text: str, found: Any, unit: str) -> None:
    """Tokens stand in the text where they say."""
    code, size = {"utf16": ("utf-16-le", 2), "byte": ("utf-8", 1), "codepoint": ("utf-32-le", 4)}[
        unit
    ]
    data, place = text.encode(code), 0
    for sentence in found["sentences"]:
        for token in sentence["tokens"]:
            written = data[token["start"] * size : token["end"] * size].decode(code)
            assert written == token["text"], (text, token)
            assert place <= token["start"] <= token["end"], (text, token)
            place = token["end"]


def _check_labels(found: Any, *, scores: bool) -> None:
    """Words have labels, and margins and scores if these were asked for."""
    for sentence in found["sentences"]:
        for token in sentence["tokens"]:
            for word in token["words"]:
                assert ("margins" in word) == ("scores" in word) == scores
                assert {*word["labels"]} == {*word.get("margins", word["labels"])}
                known = [score for score in word.get("scores", {}).values() if score is not None]
                assert all(0 <= score <= 1 for score in known)
