"""Tables of the how-to pages: measure them, store them, and write them into the pages.

Usage: python -m benchmarks.howto --corpora FOLDER [TABLE ...]
       python -m benchmarks.howto --pages

Measures the tables on dev parts and adds them to docs/benchmarks/howto.json. --pages writes the
pages from that file and from docs/benchmarks/options.json.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean
from time import process_time
from typing import TYPE_CHECKING, Any

import seqtag
from benchmarks import summary
from benchmarks.measure import ROOT
from benchmarks.options import CORPORA, label_of
from benchmarks.text import table
from seqtag.batch.parameter_mixing import Shard
from seqtag.cli import main as command
from seqtag.corpus import sentence_of
from seqtag.evaluation import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Found = dict[str, Any]

STORE = ROOT / "docs" / "benchmarks" / "howto.json"
HOW_TO = ROOT / "docs" / "how-to"
NAMES = {
    "EWT UPOS": "English EWT, UPOS",
    "EWT XPOS": "English EWT, XPOS",
    "IMST UPOS": "Turkish IMST, UPOS",
    "IMST UPOS+FEATS": "Turkish IMST, UPOS and FEATS",
    "ArmTDP UPOS": "Armenian ArmTDP, UPOS",
    "ArmTDP UPOS+FEATS": "Armenian ArmTDP, UPOS and FEATS",
    "VTB UPOS": "Vietnamese VTB, UPOS",
    "Coptic UPOS": "Coptic Scriptorium, UPOS",
    "Cantonese UPOS": "Cantonese HK, UPOS",
    "CoNLL-2000 chunks, F1": "English CoNLL-2000, chunks, F1",
    "WNUT-17 names, F1": "English WNUT-17, names, F1 (dev)",
}
UPOS = [name for name in NAMES if name.endswith(" UPOS")]
SEEDS = range(1, 4)


def train_and_score(task: str, folder: Path, data: Any = None, **settings: Any) -> Found:
    """Train on a task's training part; return the score on its dev part and the tagger's record."""
    corpus = CORPORA[task]
    train = folder / corpus.train
    dev = list(seqtag.read(folder / str(corpus.dev)))
    tagger = seqtag.train(data or train, label=label_of(corpus), **settings)
    judged = 100 * score(tagger, dev, words=False).score
    return {"score": judged, **tagger.info["training"]}


def over_seeds(task: str, folder: Path, **settings: Any) -> float:
    """Return the mean score of seeds 1 to 3."""
    return mean(train_and_score(task, folder, seed=n, **settings)["score"] for n in SEEDS)


def tag_dictionary(folder: Path) -> Found:
    """Measure both values of --tag-dictionary and the automatic choice, with seed 1."""
    found = {}
    for task in list(NAMES)[:9]:
        scores = [train_and_score(task, folder, tag_dictionary=n)["score"] for n in (0, 1)]
        chosen = train_and_score(task, folder)
        found[task] = [*scores, chosen["tag_dictionary"], chosen["score"]]
    return found


def dropout(folder: Path) -> Found:
    """Measure --dropout 0 and --dropout rare."""
    return {
        task: [over_seeds(task, folder, quick=True, dropout=value) for value in (0, "rare")]
        for task in UPOS
    }


def lexicon(folder: Path) -> Found:
    """Measure a lexicon of the Penn tags of CoNLL-2000 for the UPOS of English EWT."""
    with tempfile.TemporaryDirectory() as place:
        file = f"{place}/penn.lexicon"
        train = str(folder / "conll2000" / "train.txt")
        command(["lexicon", train, "--column", "pos", "--words", "lower0", "-q", "-o", file])
        tags = seqtag.read_table(file)
    return {
        "default": over_seeds("EWT UPOS", folder),
        "lexicon": over_seeds("EWT UPOS", folder, tables=[tags]),
    }


def partial(folder: Path) -> Found:
    """Measure training on 70% of the labels of English EWT: learned around, or skipped."""
    full = list(seqtag.read(folder / CORPORA["EWT UPOS"].train))
    random = Random(1)
    blanked = []
    for each in full:
        labels = [None if random.random() < 0.3 else label for label in each.column("upos")]
        columns = {name: each.column(name) for name in ("form", "xpos")}
        blanked.append(sentence_of(columns | {"upos": [label or "_" for label in labels]}))
    found = {}
    for name, data in (("error", full), ("learn_around", blanked), ("skip", blanked)):
        one = train_and_score("EWT UPOS", folder, data, unlabeled=name, tag_dictionary=0)
        found[name] = [one["sentences"], one["score"]]
    return found


def rounds(folder: Path) -> Found:
    """Measure the UPOS of English EWT by shards and rounds: pieces of the file in order."""
    corpus = CORPORA["EWT UPOS"]
    full, dev = (list(seqtag.read(folder / str(each))) for each in (corpus.train, corpus.dev))
    found = {}
    for count in (1, 2, 4, 8):
        by_seed = []
        for seed in SEEDS:
            scores: list[float] = []
            seqtag.train_shards(
                shards_of(full, count),
                dev=dev,
                label="upos",
                epochs=10,
                seed=seed,
                on_epoch=lambda epoch, to=scores: to.append(100 * epoch.dev.accuracy),
            )
            by_seed.append(scores)
        found[str(count)] = [mean(each) for each in zip(*by_seed, strict=True)]
    return found


def shards(folder: Path) -> Found:
    """Measure plain training and 4 and 8 shards on smaller corpora, without a dev set, seed 1."""
    found = {}
    for task in ("IMST UPOS", "Coptic UPOS", "WNUT-17 names, F1"):
        corpus = CORPORA[task]
        full, dev = (list(seqtag.read(folder / str(each))) for each in (corpus.train, corpus.dev))
        label = label_of(corpus)
        found[task] = []
        for count in (1, 4, 8):
            tagger = seqtag.train_shards(shards_of(full, count), label=label)
            found[task].append(100 * score(tagger, dev, words=False).score)
    return found


class Weighed:
    """Shards in this process, with the time and the size of what they return.

    Attributes
    ----------
    seconds
        The slowest shard of each call: the time with a core for each shard.
    every, weighing
        All shards together, and the time of measuring messages.
    bytes
        The most that a shard returned, by method, of rounds by number.
    plan, weights
        Bytes that go to the workers: the plan, and the weights before the last round.
    """

    def __init__(self, sources: Any, options: Any):
        self._shards = [Shard(i, source, options) for i, source in enumerate(sources, 1)]
        self.seconds = self.every = self.weighing = 0.0
        self.bytes: dict[str, int] = {}
        self.plan = self.weights = 0

    def call(self, method: str, *arguments: Any) -> Iterator[Any]:
        """Call a method of each shard."""
        slowest, name = 0.0, method
        if method == "round":
            plan, weights, number, _ = arguments
            self.plan, self.weights = self._size(plan), self._size(weights)
            name = str(number)
        for shard in self._shards:
            began = process_time()
            result = getattr(shard, method)(*arguments)
            took = process_time() - began
            slowest, self.every = max(slowest, took), self.every + took
            self.bytes[name] = max(self.bytes.get(name, 0), self._size(result))
            yield result
        self.seconds += slowest

    def _size(self, message: Any) -> int:
        began = process_time()
        size = len(pickle.dumps(message, 5))
        self.weighing += process_time() - began
        return size


def shard_work(folder: Path) -> Found:
    """Measure the work and the messages of ten rounds on the UPOS of English EWT, by shards."""
    full = list(seqtag.read(folder / CORPORA["EWT UPOS"].train))
    found: Found = {}
    for count in (1, 2, 4, 8):
        made: list[Weighed] = []

        @contextmanager
        def workers(sources: Any, options: Any, made: list[Weighed] = made) -> Iterator[Any]:
            made.append(Weighed(sources, options))
            yield made[0].call

        began = process_time()
        if count == 1:
            seqtag.train(full, label="upos", epochs=10, quick=True)
            work = process_time() - began
            found["1"] = {"work": work, "seconds": work, "tokens": sum(map(len, full))}
            continue
        seqtag.train_shards(shards_of(full, count), label="upos", epochs=10, workers=workers)
        [one] = made
        work = process_time() - began - one.weighing
        names = {"statistics": "stats", "first round": "1", "last round": "10"}
        found[str(count)] = {
            "work": work,
            "seconds": work - one.every + one.seconds,
            **{name: one.bytes[key] / 1e6 for name, key in names.items()},
            "plan": one.plan / 1e6,
            "weights": one.weights / 1e6,
        }
    return found


def checkpoints(folder: Path) -> Found:
    """Measure what checkpoints after each epoch cost: megabytes, and processor time in percent."""
    corpus = folder / CORPORA["EWT UPOS"].train
    times, size = {}, 0
    for kept in (False, True):
        with tempfile.TemporaryDirectory() as place:
            begin = process_time()
            seqtag.train(corpus, label="upos", quick=True, checkpoint=place if kept else None)
            times[kept] = process_time() - begin
            size = max(size, *(file.stat().st_size for file in Path(place).rglob("*")), 0)
    return {"megabytes": size / 1e6, "percent": 100 * (times[True] / times[False] - 1)}


def margins(folder: Path) -> float:
    """Measure how many times as long tagging takes with margins."""
    tagger = seqtag.load("en").tagger("upos")
    sentences = [list(each.words) for each in seqtag.read(folder / CORPORA["EWT UPOS"].dev)]
    times = []
    for scores in (False, True):
        for _ in range(2):  # the second time counts, when the words are known
            begin = process_time()
            tagger.tag_many(sentences, scores=scores)
            took = process_time() - begin
        times.append(took)
    return times[1] / times[0]


def shards_of(sentences: list[Any], count: int) -> list[list[Any]]:
    """Cut sentences into pieces of about the same number, in order."""
    cuts = [len(sentences) * i // count for i in range(count + 1)]
    return [sentences[a:b] for a, b in pairwise(cuts)]


MEASURED: dict[str, Callable[[Path], Any]] = {
    each.__name__: each
    for each in (
        *(tag_dictionary, dropout, lexicon, partial, rounds, shards, shard_work),
        *(checkpoints, margins),
    )
}


def tables(found: Found, options: Found) -> dict[str, tuple[str, str]]:
    """Return the tables by name: the page of each, and its text."""
    percent = "{:.2f}".format
    settings = [
        table(
            ["dev, accuracy", "`0`", "`1`", "chosen"],
            [
                [NAMES[task], percent(a), percent(b), f"`{choice}`: {chosen:.2f}"]
                for task, (a, b, choice, chosen) in found["tag_dictionary"].items()
            ],
        ),
        table(
            ["dev, accuracy, mean of three seeds", "`0`", "`rare`"],
            [[NAMES[task], *map(percent, pair)] for task, pair in found["dropout"].items()],
        ),
        table(
            ["test, mean of five seeds", "one pass", "two passes", "model", "training"],
            [
                [
                    NAMES[task] + (", with word classes" if "classes" in two else ""),
                    *(percent(tried[each]["score"]) for each in (one, two)),
                    *(
                        f"{tried[one][key]:.1f} → {tried[two][key]:.1f} {unit}"
                        for key, unit in (("mb", "MB"), ("seconds", "s"))
                    ),
                ]
                for task, one, two in _two_passes(options)
                if (tried := options[task])
            ],
        ),
    ]
    stored = {
        f"{NAMES[task]}: {shown}": (options[task]["default"]["score"], options[task][name]["score"])
        for task, shown, name in _WITH_TABLES
    }
    lexicon = found["lexicon"]
    words = table(
        ["", "without the table", "with the table"],
        [[name, *map(percent, pair)] for name, pair in stored.items()]
        + [
            [
                "English EWT, UPOS (dev): lexicon",
                percent(lexicon["default"]),
                percent(lexicon["lexicon"]),
            ]
        ],
    )
    names = {
        "error": "all labels",
        "learn_around": "70% of the labels, `--unlabeled learn-around`",
        "skip": "70% of the labels, `--unlabeled skip`",
    }
    gaps = table(
        ["training data", "sentences", "accuracy"],
        [[names[name], f"{n:,}", percent(one)] for name, (n, one) in found["partial"].items()],
    )
    at = (1, 3, 5, 10)
    by_round = table(
        ["shards", "1 round", *(f"{n} rounds" for n in at[1:])],
        [
            [count + " (plain training)" * (count == "1"), *(percent(scores[n - 1]) for n in at)]
            for count, scores in found["rounds"].items()
        ],
    )
    by_corpus = table(
        ["dev, one seed", "plain", "4 shards", "8 shards"],
        [
            [NAMES[task].removesuffix(" (dev)"), *map(percent, each)]
            for task, each in found["shards"].items()
        ],
    )
    work, plain = found["shard_work"], found["shard_work"]["1"]
    by_work = table(
        ["shards", "processor time", "time with a core for each shard"],
        [
            [f"{count}{' (plain training)' * (count == '1')}"]
            + [f"{each[name] / plain[name]:.1f}" for name in ("work", "seconds")]
            for count, each in work.items()
        ],
    )
    messages = {
        "statistics": "from each shard: its statistics, once",
        "plan": "to each machine: the features and labels of all shards, once",
        "weights": "to each machine: the weights, in the last round",
        "first round": "from each shard: changed weights, in the first round",
        "last round": "from each shard: changed weights, in the last round",
    }
    by_message = table(
        ["megabytes", *(f"{count} shards" for count in work if count != "1")],
        [
            [text, *(f"{each[name]:.1f}" for count, each in work.items() if count != "1")]
            for name, text in messages.items()
        ],
    )
    return {
        "tag dictionary": ("settings.md", settings[0]),
        "dropout": ("settings.md", settings[1]),
        "two passes": ("settings.md", settings[2]),
        "word tables": ("lexicons.md", words),
        "partial annotation": ("partial-annotation.md", gaps),
        "rounds": ("train-on-shards.md", by_round),
        "small corpora": ("train-on-shards.md", by_corpus),
        "shard work": ("train-on-shards.md", by_work),
        "shard messages": ("train-on-shards.md", by_message),
    }


_WITH_TABLES = [
    ("EWT UPOS", "classes", "--classes"),
    ("EWT UPOS", "classes, `--dropout 0.1 --min-count 1`", "--classes --dropout 0.1 --min-count 1"),
    ("EWT XPOS", "classes", "--classes"),
    ("CoNLL-2000 chunks, F1", "classes", "--classes"),
    ("WNUT-17 names, F1", "classes", "--classes"),
]


def _two_passes(options: Found) -> list[tuple[str, str, str]]:
    """Return tasks with the names of the same option for one pass and for two."""
    drop = "--classes --dropout 0.1 --min-count 1"
    pairs = [("default", "--passes 2"), (drop, f"{drop} --passes 2")]
    return [(task, *pair) for task in NAMES for pair in pairs if pair[1] in options.get(task, {})]


def main() -> None:
    """Measure tables, or write the pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.howto", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(MEASURED)}")
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--pages", action="store_true", help="write the pages, measure nothing")
    given = parser.parse_args()
    found = json.loads(STORE.read_text("utf-8")) if STORE.exists() else {}
    if given.pages:
        options = json.loads(STORE.with_name("options.json").read_text("utf-8"))["found"]
        for name, (page, text) in tables(found, options).items():
            summary.put(HOW_TO / page, name, "howto", text)
        return
    if not given.corpora:
        parser.error("expected --corpora FOLDER or --pages, found neither")
    for name in given.tables or MEASURED:
        found[name] = MEASURED[name](given.corpora)
        print(name, found[name], flush=True)
        STORE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
