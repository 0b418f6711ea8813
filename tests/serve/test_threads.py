"""Requests that are worked on at the same time, of one model; a sanitizer watches this as well."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")

from tests.fuzzing.serve_target import answer

_HEADERS = {b"host": b"localhost", b"content-type": b"application/json"}


def test_requests_share_the_models():
    bodies = []
    for n in range(40):
        model = ["pipeline", "plain", "rich", "tables"][n % 4]
        text = {"model": model, "text": f"the man runs {n}. Im Haus?"}
        why = {"model": model, "words": ["the", f"man{n}", "runs"], "word": 1, "nbest": 3}
        bodies.append(("/api/explain", why) if n % 3 == 0 else ("/api/tag", text))

    async def asked(path, value):
        return await answer(path, "POST", b"", _HEADERS, json.dumps(value).encode(), 50)

    async def all_at_once():
        return await asyncio.gather(*(asked(*each) for each in bodies[:30]))

    async def one_by_one():
        return [await asked(*each) for each in bodies[:30]]

    at_once = asyncio.run(all_at_once())
    assert {status for status, *_ in at_once} == {200}
    assert at_once == asyncio.run(one_by_one())
