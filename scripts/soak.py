"""Run seqtag for long, and see that its memory and its file handles do not grow.

Usage: python scripts/soak.py tag FILE [--gigabytes 10] [--threads 2]
       python scripts/soak.py serve [--minutes 60] [--clients 4]

`tag` writes the sentences of FILE into a pipe to `seqtag tag`, again and again, and checks that
each copy comes back the same. `serve` sends `seqtag serve` requests of all kinds on the loopback
interface: good ones, wrong ones, too large ones, and some whose client goes away. Both look at the
process as the system sees it (Linux) and end with status 1 if it grew.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import random
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

MODEL = Path(__file__).parent.parent / "models" / "en.seqtag"
SETTLED = 0.2
"""The share of the time after which memory should stay as it is."""
GROWTH = 1.05
"""How much larger memory may be at the end than it was then."""


class Watch(threading.Thread):
    """Samples of the memory (MB) and the file handles of a process, until it ends."""

    def __init__(self, process: subprocess.Popen[bytes], every: float):
        super().__init__(daemon=True)
        self.process, self.every = process, every
        self.samples: list[tuple[float, float, int]] = []

    def run(self) -> None:
        """Look once in a while."""
        start, folder = time.monotonic(), Path(f"/proc/{self.process.pid}")
        while self.process.poll() is None:
            with suppress(OSError, ValueError):
                [kilobytes] = re.findall(r"VmRSS:\s+(\d+)", (folder / "status").read_text())
                handles = len(list((folder / "fd").iterdir()))
                self.samples.append((time.monotonic() - start, int(kilobytes) / 1000, handles))
            time.sleep(self.every)

    def report(self, spare: int = 0) -> bool:
        """Print what was seen; whether nothing grew, but for some handles that come and go."""
        ends = self.samples[-1][0]
        settled = [s for s in self.samples if s[0] >= SETTLED * ends]
        tenth = max(1, len(settled) // 10)
        first, last = (max(s[1] for s in part) for part in (settled[:tenth], settled[-tenth:]))
        handles = [s[2] for s in settled]
        step = max(1, len(self.samples) // 10)
        print("seconds   MB   handles")
        for seconds, megabytes, files in self.samples[::step]:
            print(f"{seconds:7.0f} {megabytes:5.0f} {files:7}")
        print(
            f"memory {first:.0f} MB after {SETTLED:.0%} of the time, {last:.0f} MB at the end, at "
            f"most {max(s[1] for s in self.samples):.0f} MB; handles {min(handles)} to "
            f"{max(handles)}"
        )
        return last <= first * GROWTH and max(handles) <= handles[0] + spare


def soak_tag(file: Path, gigabytes: float, threads: int) -> bool:
    """Tag one file again and again through a pipe."""
    data = file.read_bytes()
    copies = max(2, round(gigabytes * 1e9 / len(data)))
    command = [sys.executable, "-m", "seqtag", "tag", "-q", "--only", "upos"]
    command += ["--format", "conllu", "--threads", str(threads)]
    expected = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    watch = Watch(process, 1)
    watch.start()

    def feed() -> None:
        assert process.stdin
        for _ in range(copies):
            process.stdin.write(data)
        process.stdin.close()

    threading.Thread(target=feed, daemon=True).start()
    start, wrong, right = time.monotonic(), 0, hashlib.sha256(expected).digest()
    assert process.stdout
    for _ in range(copies):
        wrong += hashlib.sha256(process.stdout.read(len(expected))).digest() != right
    extra, code = len(process.stdout.read()), process.wait()
    seconds = time.monotonic() - start
    watch.join()
    words = len(re.findall(rb"^\d+\t", data, re.MULTILINE)) * copies
    print(
        f"{copies} copies, {copies * len(data) / 1e9:.2f} GB, {words:,} words in {seconds:.0f} s "
        f"({words / seconds:,.0f} words/s, {threads} threads); {wrong} copies differ, {extra} "
        f"bytes too many, status {code}"
    )
    return watch.report() and not wrong and not extra and not code


def requests(rng: random.Random) -> tuple[str, str, bytes, dict[str, str], set[int]]:
    """A request at random: method, path, body, headers, the answers that are right."""
    text = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 400))).capitalize() + "."
    body = json.dumps({"text": text}).encode()
    as_json = {"Content-Type": "application/json"}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    return rng.choice(
        [
            ("POST", "/api/tag", body, as_json, {200}),
            ("POST", "/api/tag", body, as_json, {200}),
            ("POST", "/process", b"tokenizer=&tagger=&data=" + b"+".join(text.encode().split()),
             form, {200}),
            ("GET", "/models", b"", {}, {200}),
            ("GET", "/", b"", {}, {200}),
            ("POST", "/api/tag", body[:-1], as_json, {400}),
            ("POST", "/api/tag", b'{"text": "Hi.", "model": "none"}', as_json, {400, 404}),
            ("POST", "/api/tag", b"x" * 2_000_000, as_json, {413}),
            ("GET", "/nowhere", b"", {}, {404}),
        ]
    )  # fmt: skip


WORDS = [
    "time",
    "flies",
    "like",
    "an",
    "arrow",
    "fruit",
    "a",
    "banana",
    "Berlin",
    "3.14",
    "\u00e9t\u00e9",
]


class Client(threading.Thread):
    """Send requests one after another until asked to stop."""

    def __init__(self, port: int, seed: int, until: float):
        super().__init__(daemon=True)
        self.port, self.rng, self.until = port, random.Random(seed), until
        self.counts: dict[str, int] = {}
        self.wrong: list[str] = []

    def run(self) -> None:
        """Until the time is over."""
        while time.monotonic() < self.until:
            method, path, body, headers, right = requests(self.rng)
            leaves = self.rng.random() < 0.05
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                connection.request(method, path, body, headers)
                if not leaves:
                    answer = connection.getresponse()
                    answer.read()
                    outcome = str(answer.status)
                    if answer.status not in right | {503}:
                        self.wrong.append(f"{method} {path}: {answer.status}")
                else:
                    outcome = "left"
            except (BrokenPipeError, ConnectionResetError):  # refused before all was sent
                outcome = "refused early"
                if right != {413}:
                    self.wrong.append(f"{method} {path}: connection lost")
            finally:
                connection.close()
            self.counts[outcome] = self.counts.get(outcome, 0) + 1


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def soak_serve(minutes: float, clients: int) -> bool:
    """Serve requests for some time."""
    port = free_port()
    command = [sys.executable, "-m", "seqtag", "serve", "-q", "--port", str(port)]
    process = subprocess.Popen([*command, "-m", str(MODEL)], stderr=subprocess.PIPE)
    good = _served(process, port, minutes, clients)
    assert process.stderr
    lines = process.stderr.read().splitlines()
    print(f"{len(lines)} lines on stderr")
    return good and not lines


def _served(process: subprocess.Popen[bytes], port: int, minutes: float, clients: int) -> bool:
    """Ask a server for some time, and end it."""
    while process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.1)
    watch = Watch(process, min(5, minutes))
    watch.start()
    until = time.monotonic() + 60 * minutes
    workers = [Client(port, seed, until) for seed in range(clients)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    alive = process.poll() is None
    process.terminate()
    process.wait()
    watch.join()
    total: dict[str, int] = {}
    for worker in workers:
        for outcome, count in worker.counts.items():
            total[outcome] = total.get(outcome, 0) + count
    wrong = [w for worker in workers for w in worker.wrong]
    print(
        f"{sum(total.values()):,} requests in {minutes:g} minutes from {clients} clients: "
        + ", ".join(f"{k} {v:,}" for k, v in sorted(total.items()))
        + f"; wrong answers {len(wrong)} {wrong[:5]}; "
        + ("alive at the end" if alive else "DEAD")
    )
    return watch.report(2 * clients) and not wrong and alive


def main() -> int:
    """Run what was asked for; 1 if something grew or was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    tag = kinds.add_parser("tag")
    tag.add_argument("file", type=Path, help="a CoNLL-U file")
    tag.add_argument("--gigabytes", type=float, default=10)
    tag.add_argument("--threads", type=int, default=2)
    serve = kinds.add_parser("serve")
    serve.add_argument("--minutes", type=float, default=60)
    serve.add_argument("--clients", type=int, default=4)
    asked = parser.parse_args()
    if asked.kind == "tag":
        good = soak_tag(asked.file, asked.gigabytes, asked.threads)
    else:
        good = soak_serve(asked.minutes, asked.clients)
    print("flat" if good else "GREW, or wrong")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
