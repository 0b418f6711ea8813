"""Measure seqtag and its peers: ``python -m benchmarks --corpora FOLDER``.

FOLDER holds conll2000/{train,test}.txt and ud-english-ewt/en_ewt-ud-{train,test}.conllu. Nothing
is downloaded. The results are written as JSON and, with matplotlib, rendered as docs/benchmarks.md
and its plots. Run it from the root of the repository, with seqtag installed by
``pip install -e '.[bench,plot]'``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import curves, peers, report
from benchmarks.measure import ROOT, CommandError, command, machine, run_one
from benchmarks.tasks import TASKS, Task, read, shorten, words_of

SEED = 1
QUICK_SENTENCES = 1000
FILE_TOKENS = 200_000  # file to file: the test part is repeated to about this length


class Suite:
    """Paths and limits of one run.

    Parameters
    ----------
    corpora
        Folder of the corpora.
    work
        Folder for models and other files, with nothing in it.
    quick
        Whether to train on the first sentences only.
    limit
        Seconds that a training may take.
    """

    def __init__(self, corpora: Path, work: Path, quick: bool, limit: float):
        self.work, self.quick, self.limit = work, quick, limit
        self.train, self.test, self.known, self.gold = {}, {}, {}, {}
        self.data: dict[str, dict[str, Any]] = {}
        for task in TASKS.values():
            self._prepare(task, corpora)

    def _prepare(self, task: Task, corpora: Path) -> None:
        """Choose the files of a task and count what is in them."""
        train, test = corpora / task.train, corpora / task.test
        if self.quick:
            train = self.work / f"{task.name}-train{train.suffix}"
            shorten(corpora / task.train, train, QUICK_SENTENCES)
        sentences, labels = read(task, train)
        known = {word for sentence in sentences for word in words_of(task, sentence)}
        self.train[task.name], self.test[task.name] = train, test
        self.known[task.name] = known
        test_sentences, gold = read(task, test)
        words = [words_of(task, sentence) for sentence in test_sentences]
        self.gold[task.name] = (words, gold)
        tokens = sum(map(len, words))
        times = 1 if self.quick else max(1, FILE_TOKENS // tokens)
        (self.work / f"{task.name}-file{test.suffix}").write_bytes(test.read_bytes() * times)
        self.data[task.name] = {
            "train_tokens": sum(map(len, labels)),
            "train_sentences": len(labels),
            "labels": len({label for sentence in labels for label in sentence}),
            "test_tokens": tokens,
            "file_tokens": tokens * times,
            "unknown_tokens": sum(word not in known for sentence in words for word in sentence),
        }

    def measure(self, name: str, task: Task) -> dict[str, Any]:
        """All figures of one peer on one task."""
        peer, key = peers.find(name), task.name
        folder = self.work / name.replace(" ", "-") / key
        model, out = folder / "model", folder / "out"
        model.mkdir(parents=True)
        repeat = 1 if self.quick else 3
        trained = run_one(
            "train", name, key, self.train[key], model, SEED, repeat=repeat, limit=self.limit
        )
        size = sum(file.stat().st_size for file in model.rglob("*") if file.is_file())
        started = run_one("start", name, key, model, repeat=2 * repeat - 1)
        tagging = run_one("tag", name, key, model, self.test[key], out, repeat=1, limit=self.limit)
        figures = json.loads(out.read_text(encoding="utf-8"))
        scores = self._score(task, figures.pop("labels"))
        source = self.work / f"{key}-file{self.test[key].suffix}"
        own = hasattr(peer, "file_command")
        if own:
            file = command(peer.file_command(model, source, out), repeat)
        else:
            file = run_one("file", name, key, model, source, out, repeat=repeat)
        return {
            **scores,
            **figures,
            "train_seconds": trained.seconds,
            "train_runs": trained.runs,
            "train_megabytes": trained.megabytes,
            "model_megabytes": size / 1e6,
            "start_seconds": started.seconds,
            "tag_megabytes": tagging.megabytes,
            "file_tokens_per_second": self.data[key]["file_tokens"] / file.seconds,
            "file_megabytes": file.megabytes,
            "file_own_command": own,
        }

    def _score(self, task: Task, predicted: list[list[str]]) -> dict[str, Any]:
        """Scores on the test part, in percent."""
        from seqtag.evaluation.report import evaluate

        words, gold = self.gold[task.name]
        scheme = "auto" if task.name == "chunk" else None
        known = self.known[task.name]
        report = evaluate(gold, predicted, words=words, known=known, scheme=scheme)
        return {
            "metric": report.metric,
            "score": 100 * report.score,
            "accuracy": 100 * report.accuracy,
            "unknown_accuracy": 100 * (report.unknown_accuracy or 0.0),
        }


def measure_peer(suite: Suite, name: str) -> dict[str, Any]:
    """What is known of a peer after measuring it on all its tasks."""
    peer = peers.find(name)
    entry: dict[str, Any] = {"settings": peer.settings, "machine": machine(), "tasks": {}}
    if reason := peers.absence(peer):
        note(f"{name}: {reason}")
        return entry | {"absent": reason}
    entry["version"] = peers.version_of(peer)
    for key in peer.tasks:
        try:
            figures = suite.measure(name, TASKS[key])
            note(
                f"{name} {key}: {figures['score']:.2f} %, {figures['tokens_per_second']:,.0f} "
                f"tokens/s, trained in {figures['train_seconds']:.1f} s"
            )
        except CommandError as error:
            figures = {"failed": str(error)}
            note(f"{name} {key}: {error}")
        entry["tasks"][key] = figures
    return entry


def note(text: str) -> None:
    """Say how far the run is, on standard error."""
    print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--corpora", type=Path, required=True, help="folder of the corpora")
    add("--out", type=Path, default=Path("results.json"), help="file for the results")
    add("--merge", type=Path, help="earlier results, to keep what is not measured now")
    add("--quick", action="store_true", help="a few peers on small data, in two minutes")
    add(
        "--only",
        action="append",
        metavar="NAME",
        choices=[*peers.PEERS, "growth"],
        help="a peer, or growth for the growth curves; may be repeated",
    )
    add("--limit", type=float, default=600, help="seconds that a training may take")
    add("--docs", type=Path, help="folder for benchmarks.md (default: docs; with --quick, none)")
    options = parser.parse_args()
    for task in TASKS.values():
        for path in (options.corpora / task.train, options.corpora / task.test):
            if not path.is_file():
                parser.error(f"--corpora: expected the file {path}, found none")
    return options


def earlier(path: Path | None, quick: bool) -> dict[str, Any]:
    """The results to add to: empty, or those of a file."""
    results = {"quick": quick, "seed": SEED, "peers": {}, "growth": {}}
    if path:
        results |= json.loads(path.read_text(encoding="utf-8"))
        if results["quick"] != quick:
            kinds = "a full run", "a quick run"
            msg = (
                f"{path}: expected the results of {kinds[quick]}, found those of "
                f"{kinds[not quick]}; they do not mix"
            )
            raise SystemExit(msg)
    return results


def main() -> None:
    """Measure what the command line asks for."""
    options = arguments()
    results = earlier(options.merge, options.quick)
    names = options.only or [*(peers.QUICK if options.quick else peers.PEERS), "growth"]
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(options.corpora, Path(folder), options.quick, options.limit)
        results["data"] = suite.data
        for name in names:
            if name == "growth":
                corpus = suite.train["upos"]
                results["growth"] = curves.measure(corpus, suite.work, options.quick, note)
                results["growth_machine"] = machine()
            else:
                results["peers"][name] = measure_peer(suite, name)
            options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    docs = options.docs or (None if options.quick else ROOT / "docs")
    if docs:
        report.write(results, docs)


if __name__ == "__main__":
    main()
