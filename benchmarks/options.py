"""What each option brings: defaults, classes, stems, runs, on every corpus at hand.

Usage: python -m benchmarks.options --corpora FOLDER [--raw TEXT] [--part dev|test] [--seeds 5]
                                    [--out options.json] [TASK ...]

Prints a table in Markdown: the mean over seeds, the model's size and the time of a training. TEXT
is raw text of English, tokenised, one sentence a line; English tasks learn its classes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

import seqtag
from seqtag.evaluation import score
from seqtag.features.language import load, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag import WordTable

STEMS = """\
stem_rest(lemmas)[0]
stem_pos(lemmas)[0]
stem_rest(lemmas)[0] + stem_pos(lemmas)[0]
stem_pos(lemmas)[-1]
stem_pos(lemmas)[+1]
stem_rest(lemmas)[-1]
stem_rest(lemmas)[+1]
"""
"""Templates for stems, as docs/how-to/lexicons.md has them."""


class Corpus(NamedTuple):
    """A corpus, what is learnt from it, and what may help.

    Attributes
    ----------
    train, dev, test
        Files below the folder of corpora; without dev every tenth sentence of train is held out.
    label, preset
        What is learnt, and by which templates by default.
    english, lemmas
        Whether classes of English words and stems are tried.
    """

    train: str
    dev: str | None
    test: str
    label: str
    preset: str
    english: bool = False
    lemmas: bool = False


def _ud(folder: str, name: str, label: str, preset: str, **more: bool) -> Corpus:
    train, dev, test = (f"{folder}/{name}-ud-{part}.conllu" for part in ("train", "dev", "test"))
    return Corpus(train, dev, test, label, preset, **more)


CORPORA = {
    "EWT UPOS": _ud("ud-english-ewt", "en_ewt", "upos", "pos", english=True),
    "EWT XPOS": _ud("ud-english-ewt", "en_ewt", "xpos", "pos", english=True),
    "IMST UPOS": _ud("ud-turkish-imst", "tr_imst", "upos", "pos"),
    "IMST UPOS+FEATS": _ud("ud-turkish-imst", "tr_imst", "upos+feats", "morph", lemmas=True),
    "ArmTDP UPOS": _ud("ud-armenian-armtdp", "hy_armtdp", "upos", "pos"),
    "ArmTDP UPOS+FEATS": _ud("ud-armenian-armtdp", "hy_armtdp", "upos+feats", "morph", lemmas=True),
    "VTB UPOS": _ud("ud-vietnamese-vtb", "vi_vtb", "upos", "pos"),
    "Coptic UPOS": _ud("ud-coptic-scriptorium", "cop_scriptorium", "upos", "pos"),
    "CoNLL-2000 chunks, F1": Corpus(
        "conll2000/train.txt", None, "conll2000/test.txt", "chunk", "chunk", english=True
    ),
    "WNUT-17 names, F1": Corpus(
        *("wnut17/train.txt", "wnut17/dev.txt", "wnut17/dev.txt", "ner", "ner"), english=True
    ),
}


def options_of(corpus: Corpus, tables: Sequence[WordTable]) -> dict[str, dict[str, Any]]:
    """The settings to try, by name: the default first."""
    tried: dict[str, dict[str, Any]] = {"default": {}, "--quick": {"quick": True}}
    drop = {"dropout": 0.1, "min_count": 1}
    tried["--dropout 0.1 --min-count 1"] = drop
    tried["--passes 2"] = {"passes": 2}
    if corpus.english and tables:
        tried["--classes"] = {"tables": tables}
        tried["--classes --dropout 0.1 --min-count 1"] = {"tables": tables, **drop}
        tried["--classes, the same, --passes 2"] = {"tables": tables, **drop, "passes": 2}
        tried["--classes, the same, --runs 5"] = {"tables": tables, **drop, "runs": 5}
    if corpus.lemmas:
        with_stems = parse(f"{load(corpus.preset)}\n{STEMS}")
        tried["stems"] = {"templates": with_stems}
        tried["stems --dropout 0.1"] = {"templates": with_stems, "dropout": 0.1}
    return tried


def measure(
    corpus: Corpus, folder: Path, options: dict[str, Any], part: str, seeds: int
) -> dict[str, float]:
    """Mean score, megabytes, and seconds of a training."""
    train: Any = folder / corpus.train
    held_out: Any = folder / (corpus.test if part == "test" else corpus.dev or corpus.train)
    if part == "dev" and corpus.dev is None:
        sentences = list(seqtag.read(train))
        train = [each for n, each in enumerate(sentences) if n % 10]
        held_out = sentences[::10]
    else:
        held_out = list(seqtag.read(held_out))
    scores, sizes, times = [], [], []
    for seed in range(1, seeds + 1):
        begin = time.perf_counter()
        tagger = seqtag.train(train, label=label_of(corpus, train), seed=seed, **options)
        times.append(time.perf_counter() - begin)
        scores.append(100 * score(tagger, held_out, words=False).score)
        with tempfile.NamedTemporaryFile() as file:
            sizes.append(tagger.save(file.name) / 1e6)
    return {"score": mean(scores), "mb": mean(sizes), "seconds": min(times)}


def label_of(corpus: Corpus, train: Any) -> str | None:
    """The column to learn: files without names have it last."""
    return corpus.label if corpus.train.endswith(".conllu") else None


def table(found: dict[str, dict[str, dict[str, float]]], part: str, seeds: int) -> str:
    """The results in Markdown."""
    lines = [
        f"| {part}, mean of {seeds} seeds | | score | model | training |",
        "|---|---|--:|--:|--:|",
    ]
    for name, tried in found.items():
        for option, cost in tried.items():
            shown = f"{cost['score']:.2f} | {cost['mb']:.1f} MB | {cost['seconds']:.1f} s"
            lines.append(f"| {name if option == 'default' else ''} | {option} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.options", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(CORPORA)}")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--raw", type=Path)
    parser.add_argument("--classes", type=int, default=500)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--option", action="append", help="one of the options, by its name")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    tables = []
    if given.raw:
        classes = seqtag.learn_classes(given.raw, classes=given.classes, format="tokens")
        tables = [classes.table("raw", given.raw.name)]
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in given.tasks or CORPORA:
        corpus = CORPORA[name]
        for option, settings in options_of(corpus, tables).items():
            if not given.option or option in given.option:
                cost = measure(corpus, given.corpora, settings, given.part, given.seeds)
                found.setdefault(name, {})[option] = cost
                print(f"{name}, {option}: {cost}", flush=True)
        if given.out:
            given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(table(found, given.part, given.seeds))


if __name__ == "__main__":
    main()
