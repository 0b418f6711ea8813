"""Measure ``seqtag serve``: ``python -m benchmarks.serving``; Linux, two processors, httpx.

The server runs on the first processor, the client on the second. Each line has the median and the
99th percentile of the time of a request, requests a second, and words a second.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from statistics import quantiles

import httpx

SHORT = "Time flies, but it does not fly fast."
SENTENCES = (
    "The committee met in Oslo on Tuesday. It didn't reach a decision, because two of its members "
    "were late; their train had stopped near Hamar. Why nobody called them remains unclear! "
)
LONG = (SENTENCES * 60)[:10_000]
SECONDS = 5.0


def run(where: str, path: str, connections: int, count: int, **request: object) -> None:
    """Send requests on some kept connections and print a line of results."""
    times: list[float] = []
    end = time.perf_counter() + SECONDS

    def work() -> None:
        with httpx.Client(base_url=where, timeout=60, trust_env=False) as client:
            while (begin := time.perf_counter()) < end:
                client.post(path, **request).raise_for_status()  # type: ignore[arg-type]
                times.append(time.perf_counter() - begin)

    threads = [threading.Thread(target=work) for _ in range(connections)]
    begin = time.perf_counter()
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    rate = len(times) / (time.perf_counter() - begin)
    cuts = quantiles(times, n=100)
    print(
        f"{path:14} {connections} connections: median {cuts[49] * 1e3:7.2f} ms, "
        f"p99 {cuts[98] * 1e3:7.2f} ms, {rate:7.0f} requests/s, {rate * count:9.0f} words/s"
    )


def main() -> None:
    """Start a server and measure it."""
    os.sched_setaffinity(0, {1})
    command = [sys.executable, "-m", "seqtag", "serve", "--port", "0", *sys.argv[1:]]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, {0})
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline().decode()
        match = re.search(r"http://[^ ]+", line)
        assert match, line
        where = match[0]
        found = httpx.post(f"{where}api/tag", json={"text": LONG}, trust_env=False).json()
        words = sum(len(t["words"]) for s in found["sentences"] for t in s["tokens"])
        short = json.dumps({"text": SHORT}).encode()
        head = {"content-type": "application/json"}
        for connections in (1, 8):
            run(where, "api/tag", connections, 9, content=short, headers=head)
        long = json.dumps({"text": LONG}).encode()
        run(where, "api/tag", 2, words, content=long, headers=head)
        fields = {"data": LONG, "tokenizer": "", "tagger": ""}
        run(where, "process", 2, words, data=fields)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
