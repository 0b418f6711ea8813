"""Measure ``seqtag serve``: ``python -m benchmarks.serving [--texts] [OPTION OF serve ...]``.

The server runs on the first processor, the client on the second; Linux. The client is ``wrk``. Each
line has the median and the 99th percentile of the time of a request, and requests, words and
processor time of the server a second. Repeat it: other programs of the machine change the figures.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import httpx

SHORT = "Time flies, but it does not fly fast."
SENTENCES = (
    "The committee met in Oslo on Tuesday. It didn't reach a decision, because two of its members "
    "were late; their train had stopped near Hamar. Why nobody called them remains unclear! "
)
LONG = (SENTENCES * 60)[:10_000]
TEXTS = [f"{SHORT[:-1]} at {number}." for number in range(1000)]
SECONDS = 3
JSON = "application/json"
_SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "{kind}"
local file = io.open("{body}", "rb")
wrk.body = file:read("*a")
"""
_FACTORS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and its children so far."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ticks = 0
    for each in (str(process), *children):
        ticks += sum(
            map(int, Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:13])
        )
    return ticks / os.sysconf("SC_CLK_TCK")


def run(
    name: str, url: str, connections: int, count: int, kind: str, body: bytes, pid: int
) -> None:
    """Send requests on some kept connections and print a line of results."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "body"), Path(folder, "script.lua")
        data.write_bytes(body)
        script.write_text(_SCRIPT.format(kind=kind, body=data))
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{SECONDS}s",
            "--latency",
            "-s",
            script,
            url,
        ]
        begin, used = time.perf_counter(), processor_seconds(pid)
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        used, passed = processor_seconds(pid) - used, time.perf_counter() - begin
    assert "Non-2xx" not in found, found
    assert "Socket errors" not in found, found
    median, last = (
        float(match[1]) * _FACTORS[match[2]]
        for match in (re.search(rf"{cut}%\s+([\d.]+)(us|ms|s)\n", found) for cut in (50, 99))
        if match
    )
    match = re.search(r"Requests/sec:\s+([\d.]+)", found)
    assert match
    rate = float(match[1])
    print(
        f"{name:20} {connections:2} connections: median {median:7.2f} ms, p99 {last:7.2f} ms, "
        f"{rate:7.0f} requests/s, {rate * count:8.0f} words/s, server {used / passed:4.0%}, "
        f"{1e3 * used / passed / rate:7.3f} ms each"
    )


def main() -> None:
    """Start a server and measure it."""
    os.sched_setaffinity(0, {1})
    command = [sys.executable, "-m", "seqtag", "serve", "--port", "0", *sys.argv[1:]]
    cores = {0, 1} if "--workers" in command else {0}
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, cores)
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline().decode()
        match = re.search(r"http://[^ ]+", line)
        assert match, line
        where, pid = match[0], process.pid
        counts = []
        for text in (SHORT, LONG):
            found = httpx.post(f"{where}api/tag", json={"text": text}, trust_env=False).json()
            counts.append(sum(len(t["words"]) for s in found["sentences"] for t in s["tokens"]))
        short, long = counts
        tag, body = f"{where}api/tag", json.dumps({"text": SHORT}).encode()
        for connections in (1, 8):
            run("short text", tag, connections, short, JSON, body, pid)
        run("10 kB", tag, 2, long, JSON, json.dumps({"text": LONG}).encode(), pid)
        several = json.dumps({"texts": TEXTS}).encode()
        run("1,000 short texts", tag, 2, len(TEXTS) * (short + 2), JSON, several, pid)
        form = urlencode({"data": LONG, "tokenizer": "", "tagger": ""}).encode()
        kind = "application/x-www-form-urlencoded"
        run("10 kB, UDPipe's API", f"{where}process", 2, long, kind, form, pid)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
