"""What each option brings: defaults, classes, runs, on every corpus at hand.

Usage: python -m benchmarks.options --corpora FOLDER [--raw TEXT] [--part dev|test] [--seeds 5]
                                    [--out options.json] [--option NAME] [TASK ...]
       python -m benchmarks.options --page

The results are the mean over seeds, the model's size and the time of a training; they are added to
what --out has already. TEXT is tokenized English text, one sentence a line; English tasks
learn its classes. --page writes the table of docs/how-to/settings.md from
docs/benchmarks/options.json.
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
from benchmarks import summary
from benchmarks.measure import ROOT
from benchmarks.text import table
from seqtag.evaluation import score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqtag import WordTable

DOCS = ROOT / "docs"


class Corpus(NamedTuple):
    """A corpus, the label to learn from it, and the options to try.

    Attributes
    ----------
    train, dev, test
        Files below the folder of corpora; without dev every tenth sentence of train is held out.
    label, preset
        The label column, and the default templates.
    english
        Whether classes of English words are tried.
    """

    train: str
    dev: str | None
    test: str
    label: str
    preset: str
    english: bool = False


def _ud(folder: str, name: str, label: str, preset: str, **more: bool) -> Corpus:
    train, dev, test = (f"{folder}/{name}-ud-{part}.conllu" for part in ("train", "dev", "test"))
    return Corpus(train, dev, test, label, preset, **more)


CORPORA = {
    "EWT UPOS": _ud("ud-english-ewt", "en_ewt", "upos", "pos", english=True),
    "EWT XPOS": _ud("ud-english-ewt", "en_ewt", "xpos", "pos", english=True),
    "IMST UPOS": _ud("ud-turkish-imst", "tr_imst", "upos", "pos"),
    "IMST UPOS+FEATS": _ud("ud-turkish-imst", "tr_imst", "upos+feats", "morph"),
    "ArmTDP UPOS": _ud("ud-armenian-armtdp", "hy_armtdp", "upos", "pos"),
    "ArmTDP UPOS+FEATS": _ud("ud-armenian-armtdp", "hy_armtdp", "upos+feats", "morph"),
    "VTB UPOS": _ud("ud-vietnamese-vtb", "vi_vtb", "upos", "pos"),
    "Coptic UPOS": _ud("ud-coptic-scriptorium", "cop_scriptorium", "upos", "pos"),
    "Cantonese UPOS": _ud("ud-cantonese-hk", "yue_hk", "upos", "pos"),
    "CoNLL-2000 chunks, F1": Corpus(
        "conll2000/train.txt", None, "conll2000/test.txt", "chunk", "chunk", english=True
    ),
    "WNUT-17 names, F1": Corpus(
        *("wnut17/train.txt", "wnut17/dev.txt", "wnut17/dev.txt", "ner", "ner"), english=True
    ),
    "UNER Portuguese names, F1": Corpus(
        "uner-portuguese-bosque/pt_bosque-ud-train.iob2",
        *["uner-portuguese-bosque/pt_bosque-ud-dev.iob2"] * 2,
        "ner",
        "ner",
    ),
}


MORE_CLASSES = 200, 1000
"""How many classes two tables have that are tried together."""

NOTES = """\
Scores are means of {seeds} seeds on the {part} sets (names: development sets), from gold tokens:
accuracy, or F1 where noted. The {classes} classes, or two tables of {more}, are from 19 million
words of English reviews and news. The figures are from seqtag {version}.
"""


def options_of(corpus: Corpus, tables: Sequence[WordTable]) -> dict[str, dict[str, Any]]:
    """The settings to try, by name: the default first.

    The first table is tried alone, the others together.
    """
    tried: dict[str, dict[str, Any]] = {"default": {}}
    drop = {"dropout": 0.1, "min_count": 1}
    tried["--dropout 0.1 --min-count 1"] = drop
    tried["--runs 5"] = {"runs": 5}
    if corpus.english and tables:
        one, two = {"tables": tables[:1]}, {"tables": tables[1:]}
        tried["--table CLASSES"] = one
        tried["two tables of classes"] = two
        tried["--table CLASSES --dropout 0.1 --min-count 1"] = {**one, **drop}
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
        tagger = seqtag.train(train, label=label_of(corpus), seed=seed, **options)
        times.append(time.perf_counter() - begin)
        scores.append(100 * score(tagger, held_out, words=False).score)
        with tempfile.NamedTemporaryFile() as file:
            sizes.append(tagger.save(file.name) / 1e6)
    return {"score": mean(scores), "mb": mean(sizes), "seconds": min(times)}


def label_of(corpus: Corpus) -> str | None:
    """The column to learn: files without names have it last."""
    return corpus.label if corpus.train.endswith(".conllu") else None


def page(results: dict[str, Any]) -> str:
    """The measured effects in docs/how-to/settings.md: notes and a table."""
    rows, alone = [], []
    for name, tried in in_order(results["found"]):
        if [*tried] == ["default"]:
            alone.append(f"{name} {tried['default']['score']:.2f}")
            continue
        for option, cost in tried.items():
            first = option == next(iter(tried))
            rows.append(
                [
                    name + " (dev)" * ("names" in name) if first else "",
                    option,
                    f"{cost['score']:.2f}",
                    f"{cost['mb']:.1f}",
                ]
            )
    shown = table([results["part"], "", "score", "model, MB"], rows, left=2)
    more = " and ".join(f"{n:,}" for n in MORE_CLASSES)
    text = f"{NOTES.format(**results, more=more)}\n{shown}"
    return text + f"\nOther defaults: {', '.join(alone)}.\n" * bool(alone)


def in_order(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Corpora and options in the order of this file, whenever they were measured."""
    for name, corpus in CORPORA.items():
        known = options_of(corpus, [None] * 3)  # type: ignore[list-item]  # any table will do
        tried = {option: found[name][option] for option in known if option in found.get(name, {})}
        if tried:
            yield name, tried


def write() -> None:
    """Write the table into its page, from the results in the repository."""
    results = json.loads((DOCS / "benchmarks" / "options.json").read_text(encoding="utf-8"))
    summary.put(DOCS / "how-to" / "settings.md", "options", "options", page(results))


def main() -> None:
    """Measure, and print the page; or write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.options", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(CORPORA)}")
    parser.add_argument("--page", action="store_true", help="write the page, measure nothing")
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--raw", type=Path)
    parser.add_argument("--classes", type=int, default=500)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--option", action="append", help="one of the options, by its name")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.page:
        write()
        return
    if not given.corpora:
        parser.error("expected --corpora FOLDER or --page, found neither")
    tables = []
    if given.raw:
        for number in (given.classes, *MORE_CLASSES):
            classes = seqtag.learn_classes(given.raw, classes=number, format="tokens")
            tables.append(classes.table(f"raw{number}", given.raw.name))
    results: dict[str, Any] = {"found": {}}
    if given.out and given.out.exists():
        results = json.loads(given.out.read_text(encoding="utf-8"))
    results |= {key: getattr(given, key) for key in ("part", "seeds", "classes")}
    results["version"] = seqtag.__version__
    for name in given.tasks or CORPORA:
        corpus = CORPORA[name]
        for option, settings in options_of(corpus, tables).items():
            if not given.option or option in given.option:
                cost = measure(corpus, given.corpora, settings, given.part, given.seeds)
                results["found"].setdefault(name, {})[option] = cost
                print(f"{name}, {option}: {cost}", flush=True)
        if given.out:
            given.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(page(results))


if __name__ == "__main__":
    main()
