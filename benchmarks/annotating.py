"""The time from a decision to the next text, while the page of ``seqtag annotate`` learns.

Usage: python -m benchmarks.annotating [--decided N] [--texts N]

Texts are made up. Prints the median and the most of the times in milliseconds, with the number of
rounds of learning that ended meanwhile.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, sleep
from typing import Any
from urllib.request import Request, urlopen

NAMES = [
    f"{first}{last}" for first in ("Mi", "Ta", "Lu", "O") for last in ("ra", "vo", "net", "rin")
]
WORDS = [
    "they",
    "met",
    "in",
    "the",
    "old",
    "house",
    "near",
    "a",
    "river",
    "and",
    "spoke",
    "of",
    "boats",
]
DECISIONS = 150


def made_up(number: int, random: Random) -> dict[str, Any]:
    """Return a text of about twenty words with a name, as a decision."""
    name, words = random.choice(NAMES), random.choices(WORDS, k=20)
    text = f"On day {number} {name} left; {' '.join(words)}."
    start = text.index(name)
    span = [start, start + len(name), "PER"]
    return {"text": text, "spans": [span], "answer": "accept", "held_out": number % 5 == 0}


def main() -> None:
    """Annotate as a person would who needs half a second for each text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decided", type=int, default=2000)
    parser.add_argument("--texts", type=int, default=20_000)
    options = parser.parse_args()
    random = Random(1)
    rows = [made_up(number, random) for number in range(options.decided + options.texts)]
    spans = {row["text"]: row["spans"] for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder, "texts.jsonl")
        texts.write_text("".join(json.dumps({"text": row["text"]}) + "\n" for row in rows))
        lines = (json.dumps(row) + "\n" for row in rows[: options.decided])
        Path(f"{texts}.annotated.jsonl").write_text("".join(lines))
        command = [sys.executable, "-m", "seqtag", "annotate", texts, "--label-set", "PER"]
        with subprocess.Popen(
            [*command, "--port", "0"], stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr
            found = re.search(r"http\S+", process.stderr.readline())
            assert found, "the process does not listen"

            def ask(action: str, **value: Any) -> Any:
                body = json.dumps({"action": action, **value}).encode()
                headers = {"Content-Type": "application/json"}
                with urlopen(Request(f"{found[0]}api", body, headers)) as answer:
                    return json.load(answer)

            state, times = ask("open"), list[float]()
            for _ in range(DECISIONS):
                text, session = state["item"]["text"], state["session"]
                decision = {"text": text, "answer": "accept", "spans": spans[text]}
                before = perf_counter()
                state = ask("decide", session=session, **decision)
                times.append(1000 * (perf_counter() - before))
                sleep(0.5)
            process.terminate()
    print(f"median {median(times):.0f} ms, most {max(times):.0f} ms, {len(state['curve'])} rounds")


if __name__ == "__main__":
    main()
