"""Tables of the how-to pages: measure them, store them, and write them into the pages.

Usage: python -m benchmarks.howto --corpora FOLDER [TABLE ...]
       python -m benchmarks.howto --pages

Measures the tables on dev parts and adds them to docs/benchmarks/howto.json. --pages writes the
pages from that file.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from random import Random
from statistics import mean
from time import process_time
from typing import TYPE_CHECKING, Any

import seqtag
from benchmarks import summary
from benchmarks.measure import ROOT
from benchmarks.options import CORPORA, label_of
from benchmarks.selection import MARGINS, OF_LENGTH, RANDOM, SELECT, selection
from benchmarks.text import table
from seqtag.corpus import sentence_of
from seqtag.evaluation import score
from seqtag.tables.table import WordTable

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """Measure --tag-dictionary 0 and --tag-dictionary 1, with seed 1."""
    return {
        task: [train_and_score(task, folder, tag_dictionary=n)["score"] for n in (0, 1)]
        for task in list(NAMES)[:9]
    }


def dropout(folder: Path) -> Found:
    """Measure --dropout 0 and --dropout rare."""
    return {
        task: [over_seeds(task, folder, dropout=value) for value in (0, "rare")] for task in UPOS
    }


def lexicon(folder: Path) -> Found:
    """Measure a lexicon of the Penn tags of CoNLL-2000 for the UPOS of English EWT."""
    rows: dict[str, set[str]] = {}
    for sentence in seqtag.read(folder / "conll2000" / "train.txt"):
        for word, tag in zip(sentence.words, sentence.column("pos"), strict=True):
            rows.setdefault(re.sub(r"\d", "0", word.lower()), set()).add(tag)
    tags = WordTable.of("penn", [(word, sorted(found)) for word, found in rows.items()], "lower0")
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
        one = train_and_score("EWT UPOS", folder, data, unlabeled=name)
        found[name] = [one["sentences"], one["score"]]
    return found


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


MEASURED: dict[str, Callable[[Path], Any]] = {
    each.__name__: each for each in (tag_dictionary, dropout, lexicon, partial, margins, selection)
}


def tables(found: Found) -> dict[str, tuple[str, str]]:
    """Return the tables by name: the page of each, and its text."""
    percent = "{:.2f}".format
    dropped = {task: [*map(percent, pair)] for task, pair in found["dropout"].items()}
    settings = table(
        ["dev, accuracy", "dictionary `0`", "`1`", "dropout `0`", "`rare`"],
        [
            [NAMES[task], *map(percent, pair), *dropped.get(task, ("", ""))]
            for task, pair in found["tag_dictionary"].items()
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
    chosen = table(
        [
            "labels, corpus",
            "score of 800 at random",
            "of 5 to 40 words",
            "`seqtag select`: sentences, words",
            "five smallest margins",
        ],
        [
            [
                task,
                *("{:.1f} ± {:.1f}".format(*values[name]) for name in (RANDOM, OF_LENGTH)),
                *("{:.2f}, {:.2f}".format(*values[name]) for name in (SELECT, MARGINS)),
            ]
            for task, values in found["selection"].items()
        ],
    )
    return {
        "settings": ("settings.md", settings),
        "selection": ("select.md", chosen),
        "partial annotation": ("partial-annotation.md", gaps),
    }


def main() -> None:
    """Measure tables, or write the pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.howto", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(MEASURED)}")
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--pages", action="store_true", help="write the pages, measure nothing")
    given = parser.parse_args()
    found = json.loads(STORE.read_text("utf-8")) if STORE.exists() else {}
    if given.pages:
        for name, (page, text) in tables(found).items():
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
