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
import time
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

from benchmarks import curves, peers, report
from benchmarks.measure import CommandError, Cost, command, machine, run_one
from benchmarks.tasks import TASKS, Task, read, shorten, words_of

SEED = 1
SEEDS = 5  # of seqtag: its scores are means
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
        Seconds of processor time that a training may take.
    """

    def __init__(self, corpora: Path, work: Path, quick: bool, limit: float):
        self.work, self.quick, self.limit = work, quick, limit
        self.train, self.test, self.dev, self.known, self.gold = {}, {}, {}, {}, {}
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
        self.dev[task.name] = corpora / task.dev if task.dev else None
        self.known[task.name] = known
        test_sentences, gold = read(task, test)
        words = [words_of(task, sentence) for sentence in test_sentences]
        self.gold[task.name] = (words, gold)
        tokens = sum(map(len, words))
        times = 1 if self.quick else max(1, FILE_TOKENS // tokens)
        (self.work / f"{task.name}-file{test.suffix}").write_bytes(test.read_bytes() * times)
        self.data[task.name] = {
            "preset": task.preset,
            "templates": task.templates,
            "epochs": task.epochs,
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
        repeat = 1 if self.quick else 3
        trained, scores, model = self._train(name, task, folder)
        size = sum(file.stat().st_size for file in model.rglob("*") if file.is_file())
        started = run_one("start", name, key, model, repeat=2 * repeat - 1)
        out = folder / "out"
        tagging = self._tag(name, task, model, out)
        figures = json.loads(out.read_text(encoding="utf-8"))
        scores.append(self._score(task, figures.pop("labels")))
        source = self.work / f"{key}-file{self.test[key].suffix}"
        own = hasattr(peer, "file_command")
        if own:
            file = command(peer.file_command(model, source, out), repeat)
        else:
            file = run_one("file", name, key, model, source, out, repeat=repeat)
        return {
            "length": peer.length(task),
            "seeds": len(scores),
            **mean_scores(scores),
            **figures,
            "train_seconds": trained.seconds,
            "train_cpu_seconds": trained.cpu_seconds,
            "train_runs": trained.runs,
            "train_megabytes": trained.megabytes,
            "model_megabytes": size / 1e6,
            "start_seconds": started.seconds,
            "start_cpu_seconds": started.cpu_seconds,
            "tag_megabytes": tagging.megabytes,
            "file_tokens_per_second": self.data[key]["file_tokens"] / file.cpu_seconds,
            "file_megabytes": file.megabytes,
            "file_own_command": own,
        }

    def _train(self, name: str, task: Task, folder: Path) -> tuple[Cost, list[Any], Path]:
        """The cost of training, scores of all seeds but the last one, and the model of that.

        seqtag is trained once for each of its seeds, a peer again and again with one.
        """
        key, scores, costs = task.name, [], []
        seeds = SEEDS if name == "seqtag" and not self.quick else 1
        model = folder
        for seed in range(SEED, SEED + seeds):
            if seed > SEED:
                out = folder / "out"
                self._tag(name, task, model, out)
                scores.append(self._score(task, json.loads(out.read_text())["labels"]))
            model = folder / str(seed) / "model"
            model.mkdir(parents=True)
            args = ("train", name, key, self.train[key], model, seed, self.dev[key] or "")
            repeat = 1 if self.quick or seeds > 1 else 3
            costs.append(run_one(*args, repeat=repeat, limit=self.limit))
        cost = Cost(
            median(cost.seconds for cost in costs),
            median(cost.cpu_seconds for cost in costs),
            max(cost.megabytes for cost in costs),
            sum(cost.runs for cost in costs),
        )
        return cost, scores, model

    def _tag(self, name: str, task: Task, model: Path, out: Path) -> Cost:
        """Tag the test part into a file of figures and labels."""
        test = self.test[task.name]
        return run_one("tag", name, task.name, model, test, out, repeat=1, limit=self.limit)

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


def mean_scores(scores: list[dict[str, Any]]) -> dict[str, Any]:
    """Scores of several seeds as one, with the standard deviation of the score."""
    first = scores[0]
    means = {key: fmean(each[key] for each in scores) for key in first if key != "metric"}
    spread = pstdev(each["score"] for each in scores)
    return {"metric": first["metric"], **means, "score_deviation": spread}


def measure_peer(
    suite: Suite, name: str, entry: dict[str, Any], key: str, run: str
) -> dict[str, Any]:
    """What is known of a peer after measuring it on a task; what was known before is in `entry`."""
    peer = peers.find(name)
    entry |= {"tool": peers.PEERS[name].tool, "settings": peer.settings}
    entry.setdefault("tasks", {})
    entry.pop("absent", None)
    if reason := peers.absence(peer):
        note(f"{name}: {reason}")
        return entry | {"absent": reason}
    entry["version"] = peers.version_of(peer)
    if key in peer.tasks:
        try:
            figures = suite.measure(name, TASKS[key])
            note(
                f"{name} {key}: {figures['score']:.2f} %, {figures['tokens_per_second']:,.0f} "
                f"tokens/s, trained in {figures['train_cpu_seconds']:.1f} s of processor time"
            )
        except CommandError as error:
            figures = {"length": peer.length(TASKS[key]), "failed": str(error)}
            note(f"{name} {key}: {error}")
        entry["tasks"][key] = figures | {"run": run}
    return entry


def save(results: dict[str, Any], path: Path) -> None:
    """Write the results as far as they are."""
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


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
    add("--task", action="append", choices=[*TASKS], help="a task; may be repeated")
    add("--limit", type=float, default=3600, help="processor seconds that a training may take")
    add("--docs", type=Path, help="folder to write benchmarks.md into")
    options = parser.parse_args()
    for task in TASKS.values():
        for path in (options.corpora / task.train, options.corpora / task.test):
            if not path.is_file():
                parser.error(f"--corpora: expected the file {path}, found none")
    return options


def earlier(path: Path | None, quick: bool) -> dict[str, Any]:
    """The results to add to: empty, or those of a file."""
    results = {"quick": quick, "seed": SEED, "runs": {}, "peers": {}, "growth": {}}
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
    keys = options.task or [*TASKS]
    run = time.strftime("%Y-%m-%d %H:%M:%S")
    results["runs"][run] = machine()
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(options.corpora, Path(folder), options.quick, options.limit)
        results["data"] = suite.data
        for name in names:
            if name == "growth":
                corpus = suite.train["upos"]
                results["growth"] = curves.measure(corpus, suite.work, options.quick, note)
                results["growth_run"] = run
            else:
                for key in keys:
                    entry = results["peers"].get(name, {})
                    results["peers"][name] = measure_peer(suite, name, entry, key, run)
                    save(results, options.out)
            save(results, options.out)
    if options.docs:
        report.write(results, options.docs)


if __name__ == "__main__":
    main()
