"""seqtag serve: a real process, real clients, many at once, and those that mean ill."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest

import seqtag
from seqtag.caching import BoundedCache, clear_caches
from seqtag.errors import SeqtagError, install_hint
from seqtag.serve.models import ServedModels
from tests.command_line import call, home, linux, posix
from tests.serve.served import server

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

from seqtag.serve import app as service  # noqa: E402
from seqtag.serve import work  # noqa: E402

pytestmark = posix

TEXT = "Time flies. It doesn't!"


@pytest.fixture(scope="module")
def address(home):
    """Where a server of two models listens."""
    with server("-m", "en", "-m", home / "upos.seqtag", "--max-body", 200_000) as (_, where):
        yield where


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def forms(result):
    lines = (line.split("\t") for line in result.splitlines() if line[:1].isdigit())
    return [line[1] for line in lines if line[0].isdigit()]


def answers(app, requests, **options):
    """The answers of an application in this process to some requests, in turn."""

    async def ask():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [await client.request(*each, **options, timeout=60) for each in requests]

    return asyncio.run(ask())


@pytest.fixture
def served(home):
    return ServedModels([("x", seqtag.load(home / "upos.seqtag"))])


TAG = ("POST", "/api/tag")

# ----------------------------------------------------------------- as UDPipe does it


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "expected text in the field data, found none"),
        ({"data": "x"}, "expected"),  # no CoNLL-U
        ({"data": "x", "model": "fr"}, "expected one of the models en, upos, found 'fr'"),
        (
            {"data": "x", "input": "epe"},
            "expected input conllu, horizontal, vertical, or a tokenizer, found 'epe'",
        ),
        ({"data": "/etc/passwd", "input": "/etc/passwd"}, "expected input conllu"),
        ({"data": "x", "outptu": "vertical"}, "found 'outptu' (did you mean 'output'?)"),
        ({"data": "R", "D is expensive": ""}, "found 'D is expensive'"),  # R&D, not encoded
    ],
)
def test_bad_requests(client, fields, message):
    answer = client.post("/process", data=fields)
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/plain")
    assert message in answer.text and "Traceback" not in answer.text


# ----------------------------------------------------------------- as JSON
def test_tag(client):
    asked = {"text": f" {TEXT}\n\nStop"}
    value = client.post("/api/tag", json=asked | {"scores": True}).json()
    assert [each["text"] for each in value["sentences"]] == ["Time flies.", "It doesn't!", "Stop"]
    token = value["sentences"][1]["tokens"][1]
    assert (token["text"], token["start"], token["end"]) == ("doesn't", 16, 23)
    assert [word["form"] for word in token["words"]] == ["does", "n't"]
    word = value["sentences"][0]["tokens"][0]["words"][0]
    tags = {"upos": "NOUN", "xpos": "NN", "feats": "Number=Sing", "lemma": "time"}
    assert word["labels"] == tags | {"misc.NER": "O"}
    assert word["margins"].keys() == word["labels"].keys()
    tagger = seqtag.load("en").taggers[0]
    assert word["margins"]["upos"] == tagger.tag(["Time", "flies", "."], scores=True).margins[0]
    assert client.post("/api/tag", json={"text": "", "model": "upos"}).json() == {
        "model": "upos",
        "sentences": [],
    }


def test_explain(client, home):
    request = {"words": ["the", "cat", "barks"], "word": 1, "nbest": 3, "model": "upos"}
    value = client.post("/api/explain", json=request).json()
    tagger = seqtag.load(home / "upos.seqtag")
    found = value["explanation"]
    assert (value["part"], found["label"]) == ("upos", "NOUN")
    assert found["margin"] == tagger.explain(request["words"], 1).margin
    best = tagger.nbest(request["words"], 3)
    assert [(each["score"], each["labels"]) for each in value["nbest"]] == best
    other = client.post("/api/explain", json={**request, "rival": "DET", "nbest": 0}).json()
    assert (other["explanation"]["rival"], other["nbest"]) == ("DET", [])
    feats = {"words": ["The", "cats"], "word": 1, "part": "feats"}
    found = client.post("/api/explain", json=feats).json()
    assert (found["model"], found["explanation"]["label"]) == ("en", "Number=Plur")


@pytest.mark.parametrize(
    ("path", "value", "status", "message"),
    [
        ("tag", {}, 400, "text and texts, found both or none of them"),
        ("tag", {"texts": ["a", 3]}, 400, "expected text in the field texts, found another value"),
        ("tag", {"text": 3}, 400, "expected text in the field text"),
        ("tag", {"text": "\ud800"}, 400, "expected text, found a lone surrogate; leave it out"),
        ("tag", {"text": "x", "model": 1}, 400, "expected a name in the field model"),
        ("tag", {"text": "x", "model": "../x"}, 404, "expected one of the models en, upos"),
        ("tag", {"text": "x", "offsets": "word"}, 400, "expected one of codepoint, utf16, byte"),
        ("tag", {"text": "x", "scores": 1}, 400, "expected true or false in the field scores"),
        ("tag", [], 400, "expected a JSON object, found another value"),
        ("tag", {"texts": "x"}, 400, "expected a list in the field texts, found another value; a "),
        ("tag", {"text": "x", "texts": ["x"]}, 400, "text and texts, found both or none of them"),
        ("tag", {"text": "x", "offset": "utf16"}, 400, "found 'offset' (did you mean 'offsets'?)"),
        ("explain", {"words": ["a"], "text": "a"}, 400, "expected some of the fields model, words"),
        ("explain", {}, 400, "expected a list of 1 to 2000 words in the field words"),
        ("explain", {"words": []}, 400, "expected a list of 1 to 2000 words"),
        ("explain", {"words": [""]}, 400, "expected a list of 1 to 2000 words"),
        ("explain", {"words": ["a"] * 2001}, 400, "expected a list of 1 to 2000 words"),
        ("explain", {"words": ["a"], "word": 1}, 400, "expected a number from 0 to 0"),
        ("explain", {"words": ["a"], "word": True}, 400, "expected a number from 0 to 0"),
        ("explain", {"words": ["a"], "nbest": 51}, 400, "expected a number from 0 to 50"),
        ("explain", {"words": ["a"], "rival": 1}, 400, "expected a label in the field rival"),
        ("explain", {"words": ["a"], "rival": "?"}, 400, "expected a label of the model"),
        (
            "explain",
            {"words": ["a"], "part": "x"},
            400,
            "expected one of the components upos, xpos, feats",
        ),
    ],
)
def test_bad_json(client, path, value, status, message):
    answer = client.post(
        f"/api/{path}", content=json.dumps(value), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == status
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "status"), [("/process", 400), ("/made-up", 404), ("/health", 200)]
)
def test_queries_that_are_not_in_utf_8(path, status):
    from tests.fuzzing.serve_target import answer

    head = {b"host": b"localhost"}
    found, _, body = asyncio.run(answer(path, "GET", b"data=\xff&tagger=", head, b"", 1))
    assert found == status
    if status == 400:
        assert body.startswith(b"expected a query and a form in UTF-8, found bytes that are not; ")


def test_other_bodies(client):
    for content, kind, found in (
        (b"{", "application/json", "none: Expecting property name enclosed in double quotes: line"),
        (b"[" * 100_000, "application/json", "none: nested too deeply"),
        ('{"text": "é"}'.encode("latin-1"), "application/json", "bytes that are not UTF-8; encode"),
        (b"{}", "text/plain", "text/plain"),
        (b"{}", "", "none"),
    ):
        answer = client.post("/api/tag", content=content, headers={"Content-Type": kind})
        assert answer.status_code == (400 if kind == "application/json" else 415)
        assert f", found {found}" in answer.json()["error"]
        if answer.status_code == 415:
            assert "expected the header Content-Type: application/json, found" in answer.text
    broken = client.post("/process", content=b"x", headers={"Content-Type": "text/plain"})
    assert broken.status_code == 415


# ----------------------------------------------------------------- limits
def test_methods_paths_and_headers(client):
    wrong = client.get("/api/tag")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert wrong.json() == {"error": "expected POST, found GET"}
    unknown = client.get("/api/nothing")
    assert unknown.status_code == 404
    assert "expected a path such as /api/tag or /process, found '/api/nothing'" in unknown.text
    wrong = client.delete("/process")
    assert (wrong.status_code, wrong.headers["content-type"]) == (405, "text/plain; charset=utf-8")
    for path in ("/nothing", "/../pyproject.toml", "/%2e%2e/x", "/script.js/../../x"):
        assert client.get(path).status_code == 404
    page = client.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert client.get("/script.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/style.css").headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in page.headers


def test_scores_are_added_if_asked_for(client):
    text = f" {TEXT}\n\n\u00e9\U0001f600 Can't\u00a0stop  it?"
    plain, scored = (
        client.post("/api/tag", json={"text": text, "scores": scores}).json()
        for scores in (False, True)
    )
    for sentence in scored["sentences"]:
        for token in sentence["tokens"]:
            for word in token["words"]:
                assert word.pop("margins").keys() == word["labels"].keys()
                del word["scores"]
    assert plain == scored


@pytest.mark.parametrize(
    ("unit", "code"), [("utf16", "utf-16-le"), ("byte", "utf-8"), (None, "utf-32-le")]
)
def test_units_of_offsets(client, unit, code):
    text = "\U0001f600 \u00e9t\u00e9 \u20ac. It \U0001f600 does."
    asked = {"text": text} | ({"offsets": unit} if unit else {})
    value = client.post("/api/tag", json=asked).json()
    data, size = text.encode(code), len("a".encode(code))
    tokens = [token for sentence in value["sentences"] for token in sentence["tokens"]]
    assert len(tokens) > 5
    for token in tokens:
        assert data[token["start"] * size : token["end"] * size].decode(code) == token["text"]


def test_texts(client):
    texts = [TEXT, "", "Stop"]
    value = client.post("/api/tag", json={"texts": texts, "offsets": "byte"}).json()
    alone = [client.post("/api/tag", json={"text": text}).json() for text in texts]
    assert value["model"] == "en"
    assert value["answers"] == [{"sentences": each["sentences"]} for each in alone]


def test_health(client):
    assert (client.get("/health").status_code, client.get("/health").text) == (200, "ok\n")


def test_metrics(home):
    parse = pytest.importorskip("prometheus_client.parser").text_string_to_metric_families
    with server("-m", home / "upos.seqtag") as (_, where):
        with httpx.Client(base_url=where, timeout=60) as client:

            def measured():
                families = parse(client.get("/metrics").text)
                return {
                    (sample.name, *sample.labels.values()): sample.value
                    for family in families
                    for sample in family.samples
                }

            before = measured()
            client.post("/api/tag", json={"text": "the dog barks"})
            client.post("/api/tag", json={"texts": ["the dog", ""]})
            client.post("/api/tag", json={})
            client.post("/api/tag", json={"text": "x" * 1_000_000})
            client.post("/process", data={"data": "the cat", "tokenizer": "", "tagger": ""})
            client.get("/made/up")
            after = measured()
        assert before["seqtag_words_total",] == 0
        assert after["seqtag_words_total",] == 7
        found = {key[1:]: n for key, n in after.items() if key[0] == "seqtag_requests_total"}
        assert found == {
            ("/api/tag", "200"): 2,
            ("/api/tag", "400"): 1,
            ("/api/tag", "413"): 1,
            ("/process", "200"): 1,
            ("/metrics", "200"): 1,
            ("other", "404"): 1,
        }
        assert after["seqtag_rejected_total", "body"] == 1
        assert after["seqtag_request_seconds_count", "/api/tag"] == 4
        assert after["seqtag_requests_in_progress",] == 1  # this one


def test_a_model_that_needs_another_column_refuses_words_alone(tmp_path):
    data = tmp_path / "chunks.txt"
    data.write_text("the DT B-NP\ndog NN I-NP\nruns VBZ B-VP\n\n" * 20)
    made = tmp_path / "chunks.seqtag"
    columns = ["--columns", "form,pos,chunk"]
    train = [sys.executable, "-m", "seqtag", "train", str(data), "-o", str(made), *columns]
    subprocess.run(train, check=True, capture_output=True)
    assert "pos" in seqtag.load(made).columns
    with server("-m", made) as (_, where), httpx.Client(base_url=where, timeout=60) as client:
        tag = client.post("/api/tag", json={"text": "the dog runs"})
        why = client.post("/api/explain", json={"words": ["the", "dog"]})
        raw = client.post("/process", data={"data": "the dog", "tokenizer": "", "tagger": ""})
        assert (tag.status_code, why.status_code, raw.status_code) == (400, 400, 400)
        assert tag.json() == why.json()
        assert tag.json()["error"].endswith("the model needs the column pos, found form")
        assert raw.text == tag.json()["error"] + "\n"


def test_work_for_clients_that_have_gone_is_dropped(home):
    slow = {"text": "Time flies. " * 80_000, "scores": True}
    with server("--max-seconds", 120) as (_, address):
        where = urlsplit(address)
        body = json.dumps(slow).encode()
        head = (
            f"POST /api/tag HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
        )
        for part in [body] * 33 + [body[:1000]]:
            with socket.create_connection((where.hostname, where.port), timeout=60) as connection:
                connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + part)
        with httpx.Client(base_url=address, timeout=120) as client:
            for _ in range(200):  # minutes pass if the texts are worked off
                answer = client.post("/api/tag", json={"text": "Time", "scores": True})
                if answer.status_code != 503:
                    break
                time.sleep(0.1)
            counted = client.get("/metrics").text
        assert answer.status_code == 200
    assert 'seqtag_requests_total{path="/api/tag",status="499"} 34.0' in counted


def test_words_of_requests_are_forgotten(served, monkeypatch):
    clear_caches()  # of what other tests have read
    app = service.application(served)
    cache = BoundedCache(len)
    assert cache["a word"]
    answers(app, [TAG] * 2, json={"text": "the dog"})
    assert dict(cache)
    monkeypatch.setattr(work, "MAX_HELD_BYTES", 1)
    answers(app, [TAG], json={"text": "the dog"})
    assert not dict(cache)


def test_large_bodies(client):
    large = {"data": "x" * 200_001}
    assert client.post("/process", data=large).status_code == 413
    assert client.post("/api/tag", json={"text": "x" * 200_001}).status_code == 413

    def pieces():
        for _ in range(300):
            yield b"x" * 1000

    answer = client.post("/process", content=pieces())  # of a length that nobody told
    assert answer.status_code == 413
    assert (
        "expected a body of at most 200,000 bytes (--max-body), found more; send it in parts"
        in answer.text
    )


def test_bodies_and_work_that_take_too_long(home):
    with server("-m", home / "upos.seqtag", "--max-seconds", 0.3) as (_, where):
        url = urlsplit(where)
        with socket.create_connection((url.hostname, url.port)) as connection:
            connection.sendall(
                b"POST /process HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
            )
            connection.settimeout(30)
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")
        answer = httpx.post(
            f"{where}api/tag", json={"text": "the dog barks. " * 60_000}, timeout=60
        )
        assert answer.status_code == 503 and answer.headers["retry-after"] == "1"
        assert answer.json()["error"] == (
            "expected work of at most 0.3 seconds, found more; send less text"
        )
        assert httpx.get(f"{where}models").status_code == 200


def test_many_clients_at_once(client, address):
    """All are answered rightly, or told to come again."""
    texts = [f"the {'big ' * (i % 5)}dog sees a cat ." for i in range(120)]
    expected = [
        client.post("/api/tag", json={"text": t, "model": "upos"}).json() for t in texts[:5]
    ]

    async def all_of_them():
        limits = httpx.Limits(max_connections=60)
        async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as many:
            posts = (many.post("/api/tag", json={"text": t, "model": "upos"}) for t in texts)
            return await asyncio.gather(*posts)

    answers = asyncio.run(all_of_them())
    codes = [answer.status_code for answer in answers]
    assert set(codes) <= {200, 503} and codes.count(200) >= 34
    for i, answer in enumerate(answers):
        if answer.status_code == 200:
            assert answer.json() == expected[i % 5]
        else:
            assert answer.headers["retry-after"] == "1"
    assert client.post("/api/tag", json={"text": texts[0], "model": "upos"}).json() == expected[0]


# ----------------------------------------------------------------- beginning and end
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_good_order(home, sign, workers):
    options = ("--workers", workers, "--max-seconds", 60)
    with server("-m", home / "upos.seqtag", *options) as (process, where):
        answers = []
        work = {"json": {"text": "the dog barks. " * 5_000, "scores": True}, "timeout": 120}

        def ask():
            answers.append(httpx.post(f"{where}api/tag", **work).status_code)

        asking = threading.Thread(target=ask)
        asking.start()
        with httpx.Client(base_url=where, timeout=60) as client:
            while "seqtag_requests_in_progress 2.0" not in client.get("/metrics").text:
                pass
        process.send_signal(sign)
        out, err = process.communicate(timeout=120)
        asking.join()
    assert (process.returncode, out) == (0, b"")
    assert b"Traceback" not in err and err.endswith(b"seqtag: stopped\n")
    assert answers == [200]


def test_who_interrupts_twice_does_not_wait(home):
    """Nor for the threads that are at work."""
    codes = []
    with server("-m", home / "upos.seqtag", "--max-seconds", 600) as (process, where):

        def wait():
            work = {"text": "a " * 400_000, "scores": True}
            with contextlib.suppress(httpx.TransportError):
                codes.append(httpx.post(f"{where}api/tag", json=work, timeout=300).status_code)

        asking = threading.Thread(target=wait)
        asking.start()
        with httpx.Client(base_url=where, timeout=60) as client:
            while "seqtag_requests_in_progress 2.0" not in client.get("/metrics").text:
                pass
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        asking.join()
    assert (process.returncode, err) == (130, b"seqtag: interrupted\n")
    assert 200 not in codes


@linux
def test_standard_streams_that_are_closed(home):
    """Nothing else takes their place, such as a connection."""
    command = f"{sys.executable} -m seqtag serve -m {home / 'upos.seqtag'} --workers 2 --port"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    where = f"http://127.0.0.1:{port}/"
    process = subprocess.Popen(f"exec {command} {port} <&- >&- 2>&-", shell=True)
    try:
        for _ in range(400):
            try:
                if httpx.get(f"{where}health", timeout=60).status_code == 200:
                    break
            except httpx.TransportError:
                assert process.poll() is None
                time.sleep(0.05)
        tagged = httpx.post(f"{where}api/tag", json={"text": "the dog"}, timeout=60)
        assert tagged.status_code == 200
    finally:
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_that_is_taken(home, workers):
    with server("-m", home / "upos.seqtag", "--workers", workers) as (_, where):
        port = urlsplit(where).port
        command = [sys.executable, "-m", "seqtag", "serve", "-m", home / "upos.seqtag", "--port"]
        command += [str(port), "--workers", str(workers)]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        f"seqtag: expected an address to listen on, found 127.0.0.1 port {port}: Address already "
        "in use; choose another with --port\n"
    )


def test_an_address_that_is_not_ours(call, home):
    for host in ("no.such.host.invalid", "192.0.2.1", "a..b", "a" * 64 + ".org"):
        done = call("serve", "-m", home / "upos.seqtag", "--host", host, "-q")
        assert done.code == 1
        assert done.err.startswith(f"seqtag: expected an address to listen on, found {host} port ")
        assert done.err.endswith("; choose another with --host\n")


def test_without_the_extra(call, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("seqtag.serve.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = call("serve")
    assert done.code == 2
    assert (
        "serve needs h11, orjson, prometheus-client, python-multipart, starlette, uvicorn; "
        f"{install_hint('serve')}" in done.err
    )


def test_models_of_one_name(home):
    with pytest.raises(SeqtagError) as error:
        ServedModels(
            [
                ("a/x.seqtag", seqtag.load(home / "upos.seqtag")),
                ("x", seqtag.load(home / "xpos.seqtag")),
            ]
        )
    assert str(error.value) == "expected distinct model names, found x twice; rename one"


def test_other_machines_are_warned_of(home):
    with server("-m", home / "upos.seqtag", "--host", "0.0.0.0") as (_, where):
        port = urlsplit(where).port
        answer = httpx.get(f"http://127.0.0.1:{port}/models", headers={"Host": "server.example"})
        assert answer.status_code == 200


# ----------------------------------------------------------------- strangers
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("LOCALHOST:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:1", 200),
        ("localhost:8000@evil.example", 400),
        ("[::1]@evil.example", 400),
        ("[::1", 400),
        ("localhost:evil", 400),
        ("localhost.evil.example", 400),
        ("evil.example", 400),
    ],
)
def test_names_of_this_machine(client, host, status):
    for path in ("/models", "/process?data=Hi&tokenizer=", "/api/models"):
        assert client.get(path, headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "site", "status"),
    [
        ("http://localhost:3000", "same-site", 403),  # another server of this machine
        ("https://behind.example", "same-origin", 200),  # a server before this one
        ("http://localhost:8000", "cross-site", 403),
        (None, "cross-site", 403),
        (None, "none", 200),  # of the address bar
    ],
)
def test_pages_of_others(client, origin, site, status):
    headers = {"Sec-Fetch-Site": site} | ({"Origin": origin} if origin else {})
    data = {"data": "Hi", "tokenizer": ""}
    assert client.post("/process", data=data, headers=headers).status_code == status
    link = headers | {"Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200
    image = headers | {"Sec-Fetch-Mode": "no-cors"}
    assert client.get("/process?data=Hi&tokenizer=", headers=image).status_code == status


def test_no_other_address_is_made_of_a_request(client):
    for path in ("/models/", "/process/", "//models", "//evil.example/"):
        answer = client.get(f"{client.base_url}".rstrip("/") + path)
        assert answer.status_code == 404 and "location" not in answer.headers


def gzipped(client, path, content, kind="application/json"):
    headers = {"Content-Encoding": "gzip", "Content-Type": kind}
    return client.post(path, content=content, headers=headers)


def test_bodies_packed_with_gzip(client):
    asked = json.dumps({"text": TEXT}).encode()
    plain = client.post("/api/tag", json={"text": TEXT}).json()
    parts = gzip.compress(asked[:7]) + gzip.compress(asked[7:])  # two members
    for packed in (gzip.compress(asked), parts, iter([parts[:9], parts[9:30], parts[30:]])):
        assert gzipped(client, "/api/tag", packed).json() == plain
    form = gzip.compress(b"data=Hi&tokenizer=")
    answer = gzipped(client, "/process", form, "application/x-www-form-urlencoded")
    assert forms(answer.json()["result"]) == ["Hi"]
    for packed in (asked, gzip.compress(asked)[:-5], gzip.compress(asked) + b"x"):
        answer = gzipped(client, "/api/tag", packed)
        assert answer.status_code == 400 and "gzip" in answer.json()["error"]
    headers = {"Content-Encoding": "br", "Content-Type": "application/json"}
    other = client.post("/api/tag", content=asked, headers=headers)
    assert other.status_code == 415
    assert "expected a body without encoding or with gzip, found 'br'" in other.text


def test_bombs_are_refused(client):
    bomb = gzip.compress(b" " * 100_000_000)
    assert len(bomb) < 200_000
    for path in ("/process", "/api/tag"):
        answer = gzipped(client, path, bomb)
        assert answer.status_code == 413
        assert (
            "expected a body of at most 200,000 bytes (--max-body), found more; send it in parts"
            in answer.text
        )


def test_large_answers_are_packed_for_clients_that_unpack_them(client):
    asked = {"text": "the dog barks. " * 500}
    plain = client.post("/api/tag", json=asked, headers={"Accept-Encoding": "identity"})
    packed = client.post("/api/tag", json=asked, headers={"Accept-Encoding": "br, gzip;q=0.1"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert packed.num_bytes_downloaded < len(plain.content) / 5


def test_errors_of_the_server_itself_are_said_once(served, monkeypatch):
    """With their place, and without the request."""
    said = []
    app = service.application(served, complain=said.append)
    monkeypatch.setattr(served, "abilities", None)  # what should not be

    async def ask():
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [(await client.get("/models")).status_code for _ in range(3)]

    assert asyncio.run(ask()) == [500] * 3
    [line] = said
    assert re.fullmatch(r"internal error, please report it: TypeError in app.py:\d+", line)


def test_too_little_memory_for_a_text_is_said_and_the_next_is_answered(served, monkeypatch):
    said, documents = [], service.documents

    def short_of_memory(*arguments):
        monkeypatch.setattr(service, "documents", documents)
        raise MemoryError

    monkeypatch.setattr(service, "documents", short_of_memory)
    app = service.application(served, complain=said.append)
    refused, answered = answers(app, [TAG] * 2, json={"text": "the dog"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert refused.json()["error"].startswith("found too little memory for this text; try again")
    assert answered.status_code == 200
    assert said == []


def test_clients_that_do_not_take_their_answers_are_ended():
    """Others are answered meanwhile."""
    with server("--max-seconds", 5) as (process, where):
        url = urlsplit(where)
        body = json.dumps({"text": "the dog barks. " * 20_000}).encode()
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect((url.hostname, url.port))
            head = (
                b"POST /api/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            )
            connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            connection.settimeout(60)
            found = len(start := connection.recv(1000))
            length = int(re.search(rb"content-length: (\d+)", start)[1])
            assert (
                httpx.post(f"{where}api/tag", json={"text": "the dog"}, timeout=60).status_code
                == 200
            )
            while (
                "seqtag_requests_in_progress 1.0"
                not in httpx.get(f"{where}metrics", timeout=60).text
            ):
                time.sleep(0.2)  # until it is given up
            with contextlib.suppress(ConnectionResetError):
                while piece := connection.recv(1 << 16):
                    found += len(piece)
            assert found < length
        process.send_signal(signal.SIGTERM)
        assert (process.communicate(timeout=60)[1], process.returncode) == (b"seqtag: stopped\n", 0)


@linux
def test_no_file_handles_left(home):
    """One line, no answer for a while, and then answers again."""
    command = [sys.executable, "-m", "seqtag", "serve", "-m", home / "upos.seqtag", "--port", "0"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)),
    )
    try:
        where = process.stderr.readline().decode().split()[1]
        url = urlsplit(where)
        with contextlib.ExitStack() as stack:
            for _ in range(80):
                stack.enter_context(socket.create_connection((url.hostname, url.port), timeout=60))
            line = process.stderr.readline()
            assert line == b"seqtag: Too many open files (OSError)\n"
        assert httpx.get(f"{where}models", timeout=60).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0 and err.endswith(b"seqtag: stopped\n")
        assert b"Traceback" not in err
    finally:
        process.kill()
        process.communicate()
