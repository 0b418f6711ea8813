"""The time from a decision to the next text of ``seqtag annotate``, and what annotating saves.

Usage: python -m benchmarks.annotating [--decided N] [--texts N]
       python -m benchmarks.annotating --corpora FOLDER [--seed SEED]

The first annotates made-up texts while the page learns, and prints the median and the most of the
times in milliseconds, with the number of rounds of learning that ended meanwhile.

The second annotates 300 texts of the names of English EWT as they are in the corpus, and prints the
F1 on its dev part, and the keys pressed as a share of those without a model: arrows, Shift, Tab to
what the page marks, labels, Delete and Enter.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, sleep
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import seqtag
from seqtag.annotate.app import Annotation
from seqtag.annotate.decisions import Decisions
from seqtag.annotate.learner import Task
from seqtag.evaluation import score
from seqtag.labels.schemes import spans as spans_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    Span = tuple[int, int, str]

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


def texts_with_names(path: Path) -> dict[str, list[Span]]:
    """Return the texts of a file in IOB2 with their names; those with other words are left out."""
    found: dict[str, list[Span]] = {}
    sentence: Any
    for sentence in seqtag.read(path):
        text = next(each[9:] for each in sentence.comments if each.startswith("# text = ")).strip()
        places, at = [], 0
        for word in sentence.words:
            start = text.find(word, at)
            at = start + len(word)
            places.append((start, at))
        if min(start for start, _ in places) >= 0:
            chunks = spans_of(sentence.column("ner"), "iob2")
            spans = [(places[i][0], places[j - 1][1], label) for label, i, j in chunks]
            found.setdefault(text, spans)
    return found


def keys(wanted: Collection[Any], given: Collection[Any], stops: Iterable[int]) -> int:
    """Return the number of keys to correct spans, by numbers of words, and to accept them."""
    count, stops = 1, sorted({*stops})
    at = min(stops, default=0)
    wrong = [each for each in given if each not in wanted]
    gone = [each for each in wrong if not any(a <= each[1] and each[0] <= b for a, b, _ in wanted)]
    for first, last, label in sorted([*({*wanted} - {*given}), *gone]):
        tabs = [stop for stop in stops if stop > at]
        ways = (number + abs(first - stop) for number, stop in enumerate(tabs, 1))
        count += min([abs(first - at), *ways]) + 1
        if (first, last, label) not in gone and (first, last) not in [each[:2] for each in given]:
            count += last - first
        at = last
    return count


def annotate_names(corpora: Path, seed: int, most: int = 300) -> None:
    """Annotate texts by the rules of the page, and print what that costs and gives."""
    logging.getLogger("seqtag").setLevel(logging.CRITICAL)
    folder = corpora / "uner-english-ewt"
    gold, dev = (texts_with_names(folder / f"{part}.iob2") for part in ("train", "dev"))
    texts = Random(seed).sample([*gold], len(gold))

    def at_once(function: Any, args: Any, _: Any, use: Any, __: Any) -> None:
        use(function(*args))

    with tempfile.TemporaryFile(buffering=0) as file:
        decisions = Decisions(file, "spans")
        learners: Any = SimpleNamespace(apply_async=at_once)
        task = Task(texts, ["PER", "LOC", "ORG"])
        annotation = Annotation(task, dict.fromkeys(texts), decisions, learners)
        pressed = without = 0
        for _ in range(most):
            item = annotation.state()["item"]
            firsts = {start: number for number, (start, _) in enumerate(item["places"])}
            lasts = {end: number for number, (_, end) in enumerate(item["places"])}
            fit = [each for each in gold[item["text"]] if each[0] in firsts and each[1] in lasts]
            wanted, given = (
                [(firsts[start], lasts[end], label) for start, end, label in spans]
                for spans in (fit, item["spans"])
            )
            marked = [first for first, *_ in given] + [firsts[start] for start in item["doubtful"]]
            pressed += keys(wanted, given, marked)
            without += keys(wanted, [], [])
            annotation.decide({"text": item["text"], "answer": "accept", "spans": fit})
        rows: Any = decisions.lines
        model = seqtag.train(rows, epochs=10)
        held_out: Any = seqtag.from_spans(dev, dev.values())
        found = score(model, held_out)
    print(f"F1 {100 * found.score:.1f} after {most} texts, {100 * pressed / without:.0f} % of keys")


def main() -> None:
    """Annotate as a person would who needs half a second for each text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decided", type=int, default=2000)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.corpora:
        annotate_names(options.corpora, options.seed)
        return
    random = Random(1)
    rows = [made_up(number, random) for number in range(options.decided + options.texts)]
    spans = {row["text"]: row["spans"] for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder, "texts.jsonl")
        texts.write_text("".join(json.dumps({"text": row["text"]}) + "\n" for row in rows))
        lines = (json.dumps(row) + "\n" for row in rows[: options.decided])
        Path(f"{texts}.annotated.jsonl").write_text("".join(lines))
        command = [sys.executable, "-m", "seqtag", "annotate", str(texts), "--label-set", "PER"]
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
