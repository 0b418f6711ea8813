"""Memory that hostile input can make seqtag use: in files to tag, and in requests to the server.

Usage: python -m benchmarks.hostile tag [--megabytes 5 30 300] [--only NAME ...]
       python -m benchmarks.hostile serve [--requests 10000] [--workers 1]
       python -m benchmarks.hostile page

`tag` writes each of `FILES` in the given sizes, tags it with the pipeline en, and takes the peak of
the memory. `serve` sends `seqtag serve` ordinary requests, then hostile ones, and compares the
memory after each. Both add to docs/benchmarks/hostile.json, from which `page` writes tables into
docs/reliability.md. Linux only.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata
from collections import Counter
from contextlib import closing
from functools import partial
from itertools import count, islice, product
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from benchmarks.measure import ROOT
from benchmarks.summary import put
from benchmarks.text import table
from seqtag import caching
from seqtag.corpus import LIMITS
from seqtag.serve.work import IDLE_SECONDS, MAX_HELD_BYTES, MAX_UNSENT_BYTES, ServerLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STORE = ROOT / "docs" / "benchmarks" / "hostile.json"
PAGE = ROOT / "docs" / "reliability.md"
MOST_BYTES = 6 << 30
"""Address space of a command: above it there is an error, and the machine is not exhausted."""
UNICODE_BYTES = 44 * 0x110000
"""Characters of the kernel (unicode.h), for all code points."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ASCII = f"{_LETTERS}{_LETTERS.upper()}0123456789"
_SIGNS = ".,;:!?-()[]{}'\"/\\|@#$%^&*~`<>_+="
_BLANKS = "\t_" * 8


def _characters(categories: str) -> list[str]:
    return [c for c in map(chr, range(0x21, 0x30000)) if unicodedata.category(c)[0] in categories]


def words(rng: Random, letters: str, least: int, most: int, each: int = 20) -> Iterator[str]:
    """Lines of words of random letters."""
    while True:
        drawn = ("".join(rng.choices(letters, k=rng.randint(least, most))) for _ in range(each))
        yield " ".join(drawn) + "\n"


def unicode_words(rng: Random) -> Iterator[str]:
    """Lines of words of letters of all scripts."""
    return words(rng, "".join(_characters("L")), 1, 5, 40)


def signs(rng: Random) -> Iterator[str]:
    """Lines of punctuation without white space."""
    return words(rng, _SIGNS, 300, 300, 1)


def hyphens(rng: Random) -> Iterator[str]:
    """Lines of words with hyphens."""
    for line in words(rng, _LETTERS, 3, 3, 80):
        yield re.sub("(...) (...) (...) (?=...)", r"\1-\2-\3-", line)


def clitics(rng: Random) -> Iterator[str]:
    """Lines of words that may be several."""
    endings = ["'ll", "n't", "'s", "'ve", "'re", "'m", "'d", "not", "na"]
    for line in words(rng, _LETTERS, 4, 4):
        yield " ".join(word + rng.choice(endings) for word in line.split()) + "\n"


def marks(rng: Random) -> Iterator[str]:
    """Lines of letters with fifty combining marks each."""
    combining = "".join(map(chr, range(0x300, 0x370)))
    for line in words(rng, combining, 50, 50):
        yield " ".join(f"e{word}" for word in line.split()) + "\n"


def short_words(_: Random, end: str = "\n", each: int = 20) -> Iterator[str]:
    """All short words, one after another."""
    found = map("".join, product(_ASCII, repeat=4))
    while line := " ".join(islice(found, each)):
        yield line + end


def rows(rng: Random, each: int = 20, letters: str = _LETTERS) -> Iterator[str]:
    """Sentences of CoNLL-U."""
    for line in words(rng, letters, 7, 7, each):
        forms = enumerate(line.split(), 1)
        yield "".join(f"{i}\t{form}{_BLANKS}\n" for i, form in forms) + "\n"


def several_words(rng: Random) -> Iterator[str]:
    """Sentences of CoNLL-U with multiword tokens only."""
    for line in words(rng, _LETTERS, 7, 7):
        forms = enumerate(line.split())
        yield (
            "".join(
                f"{2 * i + 1}-{2 * i + 2}\t{form}{_BLANKS}\n{2 * i + 1}\t{form[:3]}{_BLANKS}\n"
                f"{2 * i + 2}\t{form[3:]}{_BLANKS}\n"
                for i, form in forms
            )
            + "\n"
        )


def features(rng: Random) -> Iterator[str]:
    """Sentences of CoNLL-U whose FEATS and MISC are all new."""
    for line in words(rng, _LETTERS, 50, 50):
        values = enumerate(line.split(), 1)
        yield "".join(f"{i}\ta\t_\t_\t_\tA={v}\t_\t_\t_\tB={v}\n" for i, v in values) + "\n"


def again(text: str, _: Random) -> Iterator[str]:
    """The same text again and again."""
    for _number in count():
        yield text


class File(NamedTuple):
    """A hostile file: its pieces, its format, and whether it is compressed."""

    pieces: Callable[[Random], Iterator[str]]
    format: str
    packed: bool = False


_ROW = f"1\ta{_BLANKS}\n\n"
FILES = {
    "words of a and A": File(partial(words, letters="aA", least=5, most=16), "text"),
    "random words": File(partial(words, letters=_LETTERS, least=4, most=12), "text"),
    "words of all scripts": File(unicode_words, "text"),
    "words with hyphens": File(hyphens, "text"),
    "words with clitics": File(clitics, "text"),
    "numbers": File(partial(words, letters="0123456789", least=1, most=9), "text"),
    "punctuation": File(signs, "text"),
    "combining marks": File(marks, "text"),
    "words of 1,000 letters": File(partial(words, letters=_LETTERS, least=1000, most=1000), "text"),
    "one word": File(partial(again, "a" * 10_000), "text"),
    "one line": File(partial(short_words, end=" "), "text"),
    "one letter in each paragraph": File(partial(again, "a\n\n" * 1000), "text"),
    "line breaks": File(partial(again, "\n" * 10_000), "text"),
    "short words, tokenized": File(short_words, "tokens"),
    "65,000 words in each sentence": File(partial(short_words, each=65_000), "tokens"),
    "one word in each sentence": File(partial(short_words, end="\n\n", each=1), "columns"),
    "one sentence of CoNLL-U after another": File(rows, "conllu"),
    "65,000 words in each sentence of CoNLL-U": File(partial(rows, each=65_000), "conllu"),
    "words of a and A in CoNLL-U": File(partial(rows, letters="aA"), "conllu"),
    "multiword tokens": File(several_words, "conllu"),
    "features": File(features, "conllu"),
    "blank lines of CoNLL-U": File(partial(again, "\n" * 10_000), "conllu"),
    "comments": File(partial(again, f"{'# comment' * 10}\n" * 100 + _ROW), "conllu"),
    "words of a and A, compressed": File(
        partial(words, letters="aA", least=5, most=16), "text", packed=True
    ),
    "CoNLL-U, compressed": File(partial(rows, letters="aA"), "conllu", packed=True),
    "one row, compressed": File(partial(again, _ROW * 1000), "conllu", packed=True),
}
"""Hostile files by what they have. The sizes of compressed ones are those of the compressed file,
but no more than 20 times as much is packed into them."""


def write(file: File, size: int, path: Path) -> None:
    """Write at least so many bytes."""
    done = 0
    with path.open("wb") as raw, closing(gzip.open(raw, "wb", 6) if file.packed else raw) as out:
        for piece in file.pieces(Random(1)):
            data = piece.encode()
            done += len(data)
            out.write(data)
            if (raw.tell() if file.packed else done) >= size or done >= 20 * size:
                break


def peak(file: File, path: Path) -> tuple[float, float]:
    """Tag a file; return the peak of the memory in MB, and the processor time in seconds."""
    command = [sys.executable, "-m", "seqtag", "tag", "-q", "-m", "en", "--format", file.format]
    if file.format == "columns":
        command += ["--columns", "form"]
    process = subprocess.Popen(
        [*command, str(path)],
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES)),
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        msg = f"expected status 0, found {process.returncode}"
        raise RuntimeError(msg)
    return used.ru_maxrss / 1000, used.ru_utime + used.ru_stime


def measure_files(sizes: Iterable[int], only: Iterable[str]) -> None:
    """Measure the files and store the results."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input")
        for name in only or FILES:
            for size in sizes:
                write(FILES[name], size * 1_000_000, path)
                megabytes, seconds = peak(FILES[name], path)
                print(f"{name}, {size} MB: {megabytes:.0f} MB, {seconds:.0f} s", flush=True)
                store(["tag", name, f"{size}"], round(megabytes))


# ----------------------------------------------------------------- server
_TEXTS = [file.pieces for file in FILES.values() if file.format == "text"]
_JSON = {"Content-Type": "application/json"}
_PACKED = {"Content-Encoding": "gzip"}
_BOMB = gzip.compress(b" " * 20_000_000)
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def text_of(rng: Random, size: int) -> str:
    """About so many bytes of one of the texts."""
    found, pieces = "", rng.choice(_TEXTS)(rng)
    while len(found) < size:
        found += next(pieces)
    return found[:size]


def hostile_request(rng: Random) -> tuple[str, str, bytes, dict[str, str]]:
    """Return a request: method, path, body, headers."""
    size = rng.choice([10, 100, 1000, 4000] * 50 + [50_000] * 3 + [300_000])
    text, name = text_of(rng, size), f"{rng.random()}"
    as_json = json.dumps({"text": text}).encode()
    conllu = next(rows(rng, min(size // 20, 5000) + 1))
    forms = [
        {"tokenizer": "", "tagger": "", "data": text},
        {"tokenizer": "ranges", "tagger": "", "data": text},
        {"tokenizer": "presegmented", "output": "vertical", "data": text},
        {"tagger": "", "input": "conllu", "data": conllu},
        {"tagger": "", "input": "horizontal", "data": text},
    ]
    data = urlencode(rng.choice(forms)).encode()
    explained = {
        "words": text.split()[: rng.choice([10, 100])] or ["a"],
        "nbest": rng.choice([0, 5]),
    }
    return rng.choice(
        [
            ("POST", "/api/tag", as_json, _JSON),
            ("POST", "/api/tag", as_json, _JSON),
            ("POST", "/process", data, _FORM),
            ("POST", "/process", data, _FORM),
            ("POST", "/api/explain", json.dumps(explained).encode(), _JSON),
            ("POST", "/api/tag", json.dumps({"texts": [text] * 5}).encode(), _JSON),
            ("POST", "/api/tag", gzip.compress(as_json), _JSON | _PACKED),
            ("POST", "/api/tag", _BOMB, _JSON | _PACKED),
            ("POST", "/api/tag", as_json[:-1], _JSON),
            ("POST", "/api/tag", b"[" * size, _JSON),
            ("POST", "/api/tag", b'{"text": "Hi", "model": "%b"}' % name.encode(), _JSON),
            ("POST", "/api/tag", as_json, {"Content-Type": name}),
            ("POST", "/api/tag", b"x" * 1_100_000, _JSON),
            ("POST", "/process", text.encode(), _FORM),
            ("GET", f"/{name}", b"", {}),
            ("GET", f"/process?data={name}&tokenizer=&{name}=", b"", {}),
            (name.replace(".", "X"), "/process", b"", {}),
            ("GET", "/models", b"", {"Host": name}),
            ("GET", "/models", b"", {"Origin": f"http://{name}"}),
            ("GET", "/models", b"", {f"X-{name}": name * 100}),
        ]
    )  # fmt: skip


def send(port: int, method: str, path: str, body: bytes, headers: dict[str, str]) -> str:
    """Send a request and return its status."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
    except (ConnectionError, http.client.HTTPException):
        return "closed"
    else:
        return f"{response.status}"
    finally:
        connection.close()


def resident(pid: int, field: str = "VmRSS") -> float:
    """Memory of a process and its children in MB; pages that they share count for each."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    [kilobytes] = re.findall(rf"{field}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(kilobytes) / 1000 + sum(resident(int(child), field) for child in children)


def measure_server(requests: int, workers: int, clients: int = 3) -> tuple[float, float, float]:
    """Return the memory of a server in MB after ordinary requests, at its peak, and at the end.

    Meanwhile, another client sends a short text every tenth of a second; what it waits is printed.
    """
    command = [sys.executable, "-m", "seqtag", "serve", "--port", "0", "--workers", f"{workers}"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        assert process.stderr
        for line in process.stderr:
            if match := re.search(rb":(\d+)/ serves", line):
                break
        port = int(match[1])
        said: list[bytes] = []
        listening = threading.Thread(target=lambda: said.extend(process.stderr or ()))
        listening.start()
        sample = (ROOT / "corpora/sample/en-sample-dev.conllu").read_text()
        texts = re.findall("# text = (.*)", sample)
        for first in range(0, len(texts), 5):
            text = " ".join(texts[first : first + 5])
            send(port, "POST", "/api/tag", json.dumps({"text": text}).encode(), _JSON)
            form = urlencode({"tokenizer": "", "tagger": "", "data": text}).encode()
            send(port, "POST", "/process", form, _FORM)
            explained = json.dumps({"words": texts[first].split()}).encode()
            send(port, "POST", "/api/explain", explained, _JSON)
        time.sleep(IDLE_SECONDS + 1)
        before, counts = resident(process.pid), Counter[str]()

        def client(number: int) -> None:
            rng = Random(number)
            for _ in range(requests // clients + (number < requests % clients)):
                counts[send(port, *hostile_request(rng))] += 1

        over, waits, probed = threading.Event(), list[float](), Counter[str]()

        def short_texts() -> None:
            while not over.wait(0.1):
                began = time.perf_counter()
                probed[send(port, "POST", "/api/tag", b'{"text": "Birds sing."}', _JSON)] += 1
                waits.append(1000 * (time.perf_counter() - began))

        probing = threading.Thread(target=short_texts)
        threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
        for thread in [probing, *threads]:
            thread.start()
        for thread in threads:
            thread.join()
        over.set()
        probing.join()
        time.sleep(IDLE_SECONDS + 1)
        after, highest = resident(process.pid), resident(process.pid, "VmHWM")
        print(f"{dict(counts)}; messages {said}")
        print(f"{before:.0f} MB before, {after:.0f} MB after, at most {highest:.0f} MB")
        middle, slow = median(waits), quantiles(waits, n=100)[-1]
        print(f"short texts {dict(probed)}: median {middle:.1f} ms, 99 % within {slow:.1f} ms")
        if sum(counts.values()) != requests or {*probed} != {"200"}:
            msg = f"expected all answers, found {sum(counts.values())} and {dict(probed)}"
            raise RuntimeError(msg)
        return before, highest, after
    finally:
        process.terminate()
        with process:  # which closes what it has opened
            listening.join()


# ----------------------------------------------------------------- results
def store(path: list[str], value: object) -> None:
    """Add a value to the stored results."""
    results = json.loads(STORE.read_text()) if STORE.exists() else {}
    place = results
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = value
    STORE.write_text(json.dumps(results, indent=2) + "\n")


def budgets() -> str:
    """Return the table of what input can fill, from the constants of the code."""
    limits, server, most = LIMITS, ServerLimits(), caching
    rows = [
        ("words and characters that a segmenter knows, for each thread", most.SEGMENTER_BYTES),
        ("words that the taggers of a pipeline know, for each two threads", most.TAGGERS_BYTES),
        ("results of a function of words, for each such function", most.MOST_BYTES),
        ("results of a function of characters, for each such function", most.FUNCTION_BYTES),
        ("properties of characters, if a text has all code points", UNICODE_BYTES),
        ("a line, but of raw text", limits.line),
        ("a sentence of a column file", limits.size),
        ("a request to the server", server.body),
        ("words of requests that the caches of the server may hold", MAX_HELD_BYTES),
        ("responses that clients of the server have not read", MAX_UNSENT_BYTES),
    ]
    return table(["what input can fill", "bytes at most"], [(what, f"{n:,}") for what, n in rows])


MOST_SHOWN = 6
"""Kinds of files on the page, those with the highest peaks; the store has all."""


def tables(results: dict[str, dict[str, dict[str, int]]]) -> dict[str, str]:
    """Return the tables of the page by name."""
    found = results["tag"]
    by_peak = sorted(found, key=lambda name: -found[name]["5"])
    worst = table(
        ["5 MB of", "peak"], [(name, f"{found[name]['5']} MB") for name in by_peak[:MOST_SHOWN]]
    )
    longer = [name for name in by_peak if "30" in found[name]]
    sizes = ("5", "30", "300")
    by_size = table(
        ["input", *(f"{size} MB" for size in sizes)],
        [
            (name, *(f"{found[name][size]} MB" if size in found[name] else "–" for size in sizes))
            for name in longer
        ],
    )
    heading = ["workers", "requests", "before", "peak", "after"]
    served = [
        [workers, f"{int(number):,}", *(f"{each[name]} MB" for name in heading[2:])]
        for workers, measured in results["serve"].items()
        for number, each in measured.items()
    ]
    return {
        "limits in bytes": budgets(),
        "memory of hostile files": worst,
        "memory by size": by_size,
        "memory of the server": table(heading, served),
    }


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    tag = kinds.add_parser("tag")
    tag.add_argument("--megabytes", type=int, nargs="+", default=[5])
    tag.add_argument("--only", nargs="+", default=[], choices=FILES, metavar="NAME")
    serve = kinds.add_parser("serve")
    serve.add_argument("--requests", type=int, default=10_000)
    serve.add_argument("--workers", type=int, default=1)
    kinds.add_parser("page")
    asked = parser.parse_args()
    if asked.kind == "tag":
        measure_files(asked.megabytes, asked.only)
    elif asked.kind == "serve":
        before, highest, after = map(round, measure_server(asked.requests, asked.workers))
        store(
            ["serve", f"{asked.workers}", f"{asked.requests}"],
            {"before": before, "peak": highest, "after": after},
        )
    else:
        for name, text in tables(json.loads(STORE.read_text())).items():
            put(PAGE, name, "hostile", text)


if __name__ == "__main__":
    main()
