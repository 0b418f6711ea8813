"""Clients and the proxy as the pages show them, with a real server."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.command_line import posix
from tests.conftest import ROOT
from tests.serve.served import server

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

pytestmark = posix
EXAMPLE = "127.0.0.1:8000"


@pytest.fixture(scope="module")
def address():
    with server("-m", "en") as (_, where):
        yield urlsplit(where).netloc


def blocks(page, language):
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def test_python(address):
    code, _ = blocks("how-to/serve.md", "python")
    code = code.replace(EXAMPLE, address)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:2] == ["Time ['NOUN']", "flies ['VERB']"]


@pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")
def test_javascript(address, tmp_path):
    [code] = blocks("how-to/serve.md", "js")
    (tmp_path / "client.mjs").write_text(code.replace(EXAMPLE, address), "utf-8")
    command = ["node", tmp_path / "client.mjs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert re.search(r"^Time \{\s*upos: 'NOUN'", done.stdout, re.M)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_curl(address, tmp_path):
    (tmp_path / "text.conllu").write_text("1\tdog" + "\t_" * 8 + "\n\n")
    ran = 0
    for block in blocks("how-to/serve.md", "sh"):
        for command in re.findall(r"^curl .*?[^\\]$", block, re.M | re.S):
            line = command.replace(EXAMPLE, address).replace("curl", "curl -sSf", 1)
            done = subprocess.run(
                line, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60
            )
            assert (done.returncode, done.stderr) == (0, ""), line
            assert all(json.loads(each) for each in done.stdout.splitlines())
            ran += 1
    assert ran == 6


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_curl_that_asks_for_http2(address):
    """Its body is read as that of HTTP/1.1, which goes on."""
    done = curl(address, "--http2", "-d", '{"text": "Time flies."}')
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sentences"][0]["text"] == "Time flies."


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize("more", [[], ["-H", "Expect:"], ["-H", "Transfer-Encoding: chunked"]])
def test_curl_that_sends_too_much(address, tmp_path, more):
    (tmp_path / "large.json").write_text("x" * 5_000_000)
    done = curl(address, "--data-binary", f"@{tmp_path}/large.json", *more)
    assert done.returncode == 0, done.stderr
    assert "--max-body" in json.loads(done.stdout)["error"]


def curl(address, *options):
    head = "Content-Type: application/json"
    command = ["curl", "-sS", "-H", head, *options, f"http://{address}/api/tag"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("size", [1_000_100, 5_000_000, 20_000_000])
def test_python_that_sends_too_much(address, size):
    """As the page does it: it sends all before it reads."""
    body, head = b"x" * size, {"Content-Type": "application/json"}
    with pytest.raises(HTTPError) as error:
        urlopen(Request(f"http://{address}/api/tag", body, head), timeout=60)
    assert error.value.code == 413
    assert "--max-body" in json.loads(error.value.read())["error"]


@pytest.mark.skipif(not shutil.which("javac"), reason="a Java compiler is not installed")
def test_java(address, tmp_path):
    """Whose client asks for another version of HTTP in its first request."""
    [code] = blocks("how-to/serve.md", "java")
    (tmp_path / "Client.java").write_text(
        "import java.net.URI;\nimport java.net.http.*;\npublic class Client {\n"
        "  public static void main(String[] none) throws Exception {\n"
        f"{code.replace(EXAMPLE, address)}\n    System.out.println(answer);\n  }}\n}}\n"
    )
    command = ["java", tmp_path / "Client.java"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout)["sentences"][0]["text"] == "Time flies."


@pytest.fixture
def proxied(address, tmp_path):
    """Where nginx listens, with the settings of the page."""
    if not shutil.which("nginx"):
        pytest.skip("nginx is not installed")
    [settings] = blocks("how-to/serve.md", "nginx")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = settings.replace(EXAMPLE, address).replace("listen 8080", f"listen 127.0.0.1:{port}")
    settings = settings.replace("http {", "http {\n  access_log off;", 1)
    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
        settings = settings.replace("http {", f"http {{\n  {kind}_temp_path {tmp_path}/{kind};", 1)
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\ndaemon off;\n{settings}")
    command = ["nginx", "-p", tmp_path, "-e", "stderr", "-c", tmp_path / "nginx.conf"]
    proxy = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            try:
                httpx.get(f"http://127.0.0.1:{port}/health", timeout=60)
                break
            except httpx.TransportError:
                assert proxy.poll() is None, proxy.stderr.read()
                time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        proxy.terminate()
        proxy.communicate()


def test_nginx(proxied):
    with httpx.Client(base_url=f"http://{proxied}", timeout=60) as client:
        tagged = client.post("/api/tag", json={"text": "Time flies."})
        assert tagged.json()["sentences"][0]["text"] == "Time flies."
        own = {"Sec-Fetch-Site": "same-origin"}
        assert client.get("/", headers=own).status_code == 200
        assert client.get("/metrics").status_code == 403
        assert client.post("/api/tag", json={"text": "x" * 1_100_000}).status_code == 413


# ----------------------------------------------------------------- requests as bytes
POST = "POST /api/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HIDDEN = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n"
BODY = '{"text": "Hi."}'
LENGTH = f"Content-Length: {len(BODY)}\r\n"
HIDING = f"Content-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}"
RAW = {
    "upgrade to h2c": f"{POST}Connection: Upgrade\r\nUpgrade: h2c\r\n{HIDING}",
    "upgrade to h2c with settings": f"{POST}Connection: Upgrade, HTTP2-Settings\r\n"
    f"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n{HIDING}",
    "upgrade to a websocket": f"{POST}Connection: Upgrade\r\nUpgrade: websocket\r\n{HIDING}",
    "connection to be kept": f"{POST}Connection: keep-alive, Upgrade\r\nUpgrade: x\r\n{HIDING}",
    "two lengths": f"{POST}{LENGTH}Content-Length: 0\r\n\r\n{BODY}{HIDDEN}",
    "two equal lengths": f"{POST}{LENGTH}{LENGTH}\r\n{BODY}",
    "a list of lengths": f"{POST}Content-Length: 0, 42\r\n\r\n{HIDDEN}",
    "a length with a sign": f"{POST}Content-Length: +0\r\n\r\n{HIDDEN}",
    "a negative length": f"{POST}Content-Length: -1\r\n\r\n{HIDDEN}",
    "a hexadecimal length": f"{POST}Content-Length: 0x0\r\n\r\n{HIDDEN}",
    "a length with an underscore": f"{POST}Content-Length: 1_0\r\n\r\n{HIDDEN}",
    "a length of 2^64": f"{POST}Content-Length: 18446744073709551616\r\n\r\n{HIDDEN}",
    "a length of zeros": f"{POST}Content-Length: {'0' * 5000}14\r\n\r\n{HIDDEN}",
    "a length in other digits": f"{POST}Content-Length: \u0663\r\n\r\n{HIDDEN}",
    "no length": f"{POST}\r\n{BODY}",
    "a length and chunks": f"{POST}{LENGTH}{CHUNKED}\r\n0\r\n\r\n{HIDDEN}",
    "chunks and a length": f"{POST}{CHUNKED}{LENGTH}\r\n0\r\n\r\n{HIDDEN}",
    "chunks twice": f"{POST}{CHUNKED}{CHUNKED}\r\n0\r\n\r\n{HIDDEN}",
    "chunks in capitals": f"{POST}Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n",
    "chunks of chunks": f"{POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "gzip and chunks": f"{POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "identity": f"{POST}Transfer-Encoding: identity\r\n{HIDING}",
    "chunks with a tab": f"{POST}Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
    "chunks with a vertical tab": f"{POST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a blank before the colon": f"{POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "a blank before a name": f"{POST} {CHUNKED}\r\n0\r\n\r\n{HIDDEN}",
    "an encoding on two lines": f"{POST}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a length on two lines": f"{POST}Content-Length:\r\n 0\r\n\r\n",
    "a bad chunk": f"{POST}{CHUNKED}\r\nxyz\r\n{HIDDEN}",
    "a negative chunk": f"{POST}{CHUNKED}\r\n-1\r\n{HIDDEN}",
    "a huge chunk": f"{POST}{CHUNKED}\r\n{'f' * 30}\r\n{HIDDEN}",
    "a chunk that is too long": f"{POST}{CHUNKED}\r\n2\r\n{BODY}\r\n0\r\n\r\n{HIDDEN}",
    "a chunk with an extension": f"{POST}{CHUNKED}\r\n0;{'x' * 200_000}\r\n\r\n{HIDDEN}",
    "chunks that end with line feeds": f"{POST}{CHUNKED}\r\n0\n\n{HIDDEN}",
    "trailers": f"{POST}{CHUNKED}\r\n0\r\n" + "X: y\r\n" * 20_000 + "\r\n",
    "a hidden trailer": f"{POST}{CHUNKED}\r\n0\r\nContent-Length: 99\r\n\r\n",
    "no host": "GET /models HTTP/1.1\r\n\r\n",
    "two hosts": "GET /models HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "a host in the address": "GET http://evil.example/models HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "HTTP/0.9": "GET /models\r\n\r\n",
    "HTTP/1.0": "GET /models HTTP/1.0\r\nHost: localhost\r\n\r\n",
    "HTTP/1.0 with chunks": f"{POST.replace('1.1', '1.0')}{CHUNKED}\r\n0\r\n\r\n{HIDDEN}",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9.9": "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a NUL in a value": "GET /models HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
    "a NUL in the path": "GET /mo\x00dels HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a bare CR": f"GET /models HTTP/1.1\r\nHost: localhost\r\nX: a\r{CHUNKED}\r\n",
    "bare line feeds": "GET /models HTTP/1.1\nHost: localhost\n\n",
    "a line feed in a name": f"{POST}X\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "CONNECT": "CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "TRACE": "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "OPTIONS": "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a method of blanks": "   / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a body of GET": f"GET /models HTTP/1.1\r\nHost: localhost\r\n{HIDING}",
    "a large head": f"GET /models HTTP/1.1\r\nHost: localhost\r\nX: {'x' * 250_000}\r\n\r\n",
    "many headers": "GET / HTTP/1.1\r\nHost: localhost\r\n" + "X: y\r\n" * 20_000 + "\r\n",
    "a long address": f"GET /{'x' * 100_000} HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a large head with its body": f"{POST}X: {'x' * 100_000}\r\n{LENGTH}\r\n{BODY}",
    "expecting something else": f"{POST}Expect: 200-ok\r\n{LENGTH}\r\n{BODY}",
    "too many bytes": f"{POST}{LENGTH}\r\n{BODY}\r\n\r\nxyz",
    "two requests": f"{POST}{LENGTH}\r\n{BODY}{HIDDEN}",
}
"""Requests; `HIDDEN` is no request of its own, except in `TWO`."""
STATUSES = {b"100", b"200", b"400", b"404", b"405", b"411", b"413", b"414", b"415", b"417"}
STATUSES |= {b"431", b"501", b"505"}
TWO = {"two requests"}
TWO_OF_NGINX = {  # which passes them on as others
    *TWO,
    "a chunk with an extension",
    "chunks that end with line feeds",
    "a line feed in a name",
}


def answered(address, data, pause):
    """What the server answers, until it closes the connection or says no more."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        first, mark, rest = data.partition("\r\n\r\n")
        pieces = [f"{first}{mark}", rest] if pause else [data]
        found = b""
        with suppress(OSError):
            for piece in pieces:
                connection.sendall(piece.encode("latin-1", "replace"))
                time.sleep(0.1 if pause else 0)
        connection.settimeout(1.5)
        with suppress(OSError):
            while piece := connection.recv(1 << 16):
                found += piece
    return found


@pytest.mark.parametrize("way", ["at once", "with a pause", "through nginx"])
def test_no_request_hides_in_another(address, request, way):
    where = request.getfixturevalue("proxied") if way == "through nginx" else address
    two = TWO_OF_NGINX if way == "through nginx" else TWO
    with ThreadPoolExecutor(16) as pool:
        found = pool.map(lambda data: answered(where, data, way == "with a pause"), RAW.values())
        for name, answer in zip(RAW, found, strict=True):
            assert {*re.findall(rb"HTTP/1.1 (\d+)", answer)} <= STATUSES, (name, answer)
            assert (b"\nok\n" in answer) == (name in two), (name, answer)
