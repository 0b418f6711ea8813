"""Clients and the proxy as the pages show them, with a real server."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
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
    assert re.search(r"^sun \{\s*upos: 'NOUN'", done.stdout, re.M)


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
HEAD = "POST /api/tag HTTP/1.1\r\nHost: localhost\r\n"
LENGTH, CHUNKED = "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"
HIDDEN = "0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (f"{HEAD}{LENGTH}{CHUNKED}\r\n{HIDDEN}", 400),
        (f"{HEAD}{CHUNKED}{LENGTH}\r\n{HIDDEN}", 400),
        (f"GET /health HTTP/1.1\r\nHost: localhost\r\nX: {'x' * 70_000}\r\n\r\n", 431),
        (f"GET /health?{'x' * 70_000} HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
    ],
)
def test_heads_that_uvicorn_takes_are_refused(address, data, status):
    """A proxy may see one request where the server sees two."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(data.encode())
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [str(status).encode()]
