"""Measure seqtag on real corpora: ``python -m benchmarks --corpora FOLDER``.

FOLDER holds conll2000/{train,test}.txt and ud-english-ewt/en_ewt-ud-{train,dev,test}.conllu.
Every figure is a median of several runs on this machine; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import seqtag
from benchmarks.measure import machine, median_seconds
from benchmarks.measure import seqtag as run
from benchmarks.measure import seqtag_json as run_json


def accuracy_and_training(corpora: Path, work: Path) -> dict[str, Any]:
    """Train the presets with seed 1 and score them on test."""
    ewt, chunks = corpora / "ud-english-ewt", corpora / "conll2000"
    tasks = {
        "upos": (ewt / "en_ewt-ud-train.conllu", ewt / "en_ewt-ud-test.conllu"),
        "xpos": (ewt / "en_ewt-ud-train.conllu", ewt / "en_ewt-ud-test.conllu"),
        "chunk": (chunks / "train.txt", chunks / "test.txt"),
    }
    results = {}
    for label, (train, test) in tasks.items():
        model = work / f"{label}.seqtag"
        cost = run("train", train, "--label", label, "-m", model, "--force", "-q")
        report = run_json("eval", "-m", model, test)
        results[label] = {
            "metric": report["metric"], "score": round(100 * report["score"], 2),
            "train_seconds": round(cost.seconds, 2), "train_megabytes": round(cost.megabytes),
            "model_megabytes": round(model.stat().st_size / 1e6, 2),
        }  # fmt: skip
    return results


def tagging(corpora: Path, work: Path) -> dict[str, Any]:
    """Speed of tagging: a file of a million tokens, lists of strings, one sentence, one start."""
    ewt = corpora / "ud-english-ewt" / "en_ewt-ud-train.conllu"
    big = work / "million.conllu"
    big.write_bytes(5 * ewt.read_bytes())
    sentences = [sentence.words for sentence in seqtag.read(big) if sentence]
    tokens = sum(map(len, sentences))
    one = work / "one.txt"
    one.write_text("Time flies like an arrow .\n", encoding="utf-8")
    twenty = max((words for words in sentences if len(words) == 20), key=len)
    results: dict[str, Any] = {"tokens": tokens}
    for label in ("upos", "xpos"):
        model = work / f"{label}.seqtag"
        tagger = seqtag.load(model)
        file = run("tag", "-q", "-m", model, big, "-o", work / "out.conllu")
        results[label] = {
            "file_tokens_per_second": round(tokens / file.seconds),
            "file_megabytes": round(file.megabytes),
            "tag_many_tokens_per_second": round(tokens / median_seconds(lambda t=tagger: t.tag_many(sentences))),
            "tag_20_tokens_microseconds": round(
                median_seconds(lambda t=tagger: [t.tag(twenty) for _ in range(1000)]) * 1000, 1),
            "cold_start_seconds": round(
                run("tag", "-m", model, "--format", "tokens", one, repeat=7).seconds, 3),
        }  # fmt: skip
    return results


def main() -> None:
    """Run all measurements and print them as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        results = {
            "machine": machine(),
            "seqtag": seqtag.__version__,
            "training": accuracy_and_training(options.corpora, work),
            "tagging": tagging(options.corpora, work),
        }
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
