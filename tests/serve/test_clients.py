"""Clients and the proxy as the pages show them, with a real server."""

# ruff: noqa: F401  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

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
    [code] = blocks("reference/http-api.md", "python")
    code = code.replace(EXAMPLE, address)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:2] == ["Time ['NOUN']", "flies ['VERB']"]


@pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")
def test_javascript(address, tmp_path):
    [code] = blocks("reference/http-api.md", "js")
    (tmp_path / "client.mjs").write_text(code.replace(EXAMPLE, address), "utf-8")
    command = ["node", tmp_path / "client.mjs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert re.search(r"^Time \{\s*upos: 'NOUN'", done.stdout, re.M)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_curl(address, tmp_path):
    (tmp_path / "texts.ndjson").write_text('{"text": "One."}\n{"text": "Two."}\n')
    (tmp_path / "text.conllu").write_text("1\tdog" + "\t_" * 8 + "\n\n")
    ran = 0
    for block in blocks("reference/http-api.md", "sh"):
        for command in re.findall(r"^curl .*?[^\\]$", block, re.M | re.S):
            line = command.replace(EXAMPLE, address).replace("curl", "curl -sSf", 1)
            done = subprocess.run(
                line, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60
            )
            assert (done.returncode, done.stderr) == (0, ""), line
            assert all(json.loads(each) for each in done.stdout.splitlines())
            ran += 1
    assert ran == 7


@pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not installed")
def test_nginx(address, tmp_path):
    [settings] = blocks("how-to/serve-in-production.md", "nginx")
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
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            for _ in range(200):
                try:
                    client.get("/healthz")
                    break
                except httpx.TransportError:
                    assert proxy.poll() is None, proxy.stderr.read()
                    time.sleep(0.05)
            tagged = client.post("/api/tag", json={"text": "Time flies."})
            assert tagged.json()["sentences"][0]["text"] == "Time flies."
            assert re.fullmatch("[0-9a-f]{32}", tagged.headers["x-request-id"])
            own = {"Sec-Fetch-Site": "same-origin"}
            assert client.get("/", headers=own).status_code == 200
            assert client.get("/metrics").status_code == 403
            lines = b'{"text": "One."}\n' * 2
            head = {"Content-Type": "application/x-ndjson"}
            assert client.post("/api/tag", content=lines, headers=head).text.count("One.") == 2
            assert client.post("/api/tag", json={"text": "x" * 1_100_000}).status_code == 413
    finally:
        proxy.terminate()
        proxy.communicate()
