"""How seqtag's cost grows: with tokens, labels, sentence length, threads and templates.

Each point is measured in a process of its own, ``python -m benchmarks.curves CURVE SIZE CORPUS``,
which prints JSON. The data are made from the English-EWT training part by these rules:

tokens       The sentences in their order, again and again up to the number of tokens. In round
             r > 0 a word that occurs once in the corpus is written ``word~r``: new text has new
             words.
labels       Labels are made up: CRC-32 of universal part of speech and lower-cased word, modulo K.
             The templates of the preset ``pos`` without label trigrams, which end at 255 labels.
length       The words of the corpus end to end, cut into sentences of one length.
threads      The tokens rule with a million tokens, tagged by ``Tagger.tag_many(threads=n)``.
templates    The first n templates of the preset ``pos``, with its label templates.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
import zlib
from collections import Counter
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measure import command, median_seconds
from benchmarks.tasks import TASKS, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from seqtag.features.templates import TemplateSet
    from seqtag.features.terms import Template


class Curve(NamedTuple):
    """What grows, where it is measured, and which times (name -> words for it) come out."""

    title: str
    unit: str
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    figures: dict[str, str]
    text: str


_SECONDS = {"train_seconds": "training", "tag_seconds": "tagging in memory"}
_THREADS = tuple(n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1))
CURVES = {
    "tokens": Curve(
        "Tokens",
        "tokens",
        (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
        (10_000, 30_000, 100_000),
        {**_SECONDS, "file_seconds": "file to file"},
        "Training on a file of so many tokens (preset `pos`), and tagging it with a model of the "
        "real corpus. The words grow with the text: a word that occurs once in the corpus is a new "
        "word in each repetition.",
    ),
    "labels": Curve(
        "Labels",
        "labels",
        (10, 30, 100, 300, 1000),
        (10, 100),
        _SECONDS,
        "Training on and tagging of 50,000 tokens whose labels are made up: a hash of part of "
        "speech and word, modulo the number of labels. The preset `pos` without label trigrams, "
        "which end at 255 labels.",
    ),
    "length": Curve(
        "Sentence length",
        "tokens in a sentence",
        (10, 30, 100, 300, 1000, 3000, 10_000),
        (10, 100, 1000),
        {"sentence_seconds": "one sentence"},
        "One sentence in memory, as a part of 200,000 tokens cut into sentences of one length.",
    ),
    "threads": Curve(
        "Threads",
        "threads",
        _THREADS,
        _THREADS,
        {"tag_seconds": "tagging in memory"},
        "A million tokens by `Tagger.tag_many(threads=n)`; -1 would be perfect.",
    ),
    "templates": Curve(
        "Features",
        "templates",
        (3, 6, 9, 14, 19, 33),
        (3, 33),
        _SECONDS,
        "The first templates of the preset `pos`, on 200,000 tokens. A template is one feature of "
        "a token.",
    ),
}


class Fit(NamedTuple):
    """A power law, value = exp(intercept) * size ** slope, and the sizes it was fitted between."""

    slope: float
    intercept: float
    sizes: tuple[float, float]

    def value(self, size: float) -> float:
        """The value at a size."""
        return math.exp(self.intercept + self.slope * math.log(size))


def fit(sizes: Sequence[float], values: Sequence[float]) -> Fit:
    """The least-squares line on log-log axes, through the points of the last two decades.

    Below these, what is done once (starting, compiling templates) hides the growth. The slope is
    the exponent: 1 is linear growth, 2 quadratic, 0 none.

    Parameters
    ----------
    sizes, values
        Positive numbers, at least one; the slope is NaN if all sizes are the same.

    Examples
    --------
    >>> round(fit([1, 10, 100], [5, 50, 500]).slope, 6)
    1.0
    """
    last = max(sizes)
    points = [
        (math.log(size), math.log(value))
        for size, value in zip(sizes, values, strict=True)
        if size * 100 >= last
    ]
    mean_x, mean_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else math.nan
    ends = min(size for size in sizes if size * 100 >= last), last
    return Fit(slope, mean_y - slope * mean_x, ends)


def measure(corpus: Path, work: Path, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    """All points of all curves."""
    results: dict[str, Any] = {}
    for name, curve in CURVES.items():
        points = []
        for size in curve.quick_sizes if quick else curve.sizes:
            args = [
                sys.executable,
                "-m",
                "benchmarks.curves",
                name,
                str(size),
                str(corpus),
                str(work),
            ]
            done = subprocess.run(args, capture_output=True, text=True)
            if done.returncode:
                note(f"growth {name} {size}: {done.stderr.strip().splitlines()[-1]}")
                continue
            points.append({"size": size, **json.loads(done.stdout)})
            note(f"growth {name} {size}: {done.stdout.strip()}")
        results[name] = points
    return results


# ----------------------------------------------------------------- the data, by the rules above
Sentences = list[list[str]]


def grown(
    sentences: Sentences, labels: Sentences, tokens: int
) -> Iterator[tuple[list[str], list[str]]]:
    """The tokens rule: (words, labels) of sentences with exactly so many tokens."""
    counts = Counter(word for words in sentences for word in words)
    for r in count():
        for words, names in zip(sentences, labels, strict=True):
            if r:
                words = [f"{word}~{r}" if counts[word] == 1 else word for word in words]
            yield words[:tokens], names[:tokens]
            tokens -= len(words)
            if tokens <= 0:
                return


def made_up_labels(sentences: Sentences, labels: Sentences, K: int) -> Sentences:
    """The labels rule: K labels from parts of speech and words."""
    return [
        [
            f"L{zlib.crc32(f'{name} {word.lower()}'.encode()) % K}"
            for word, name in zip(words, names, strict=True)
        ]
        for words, names in zip(sentences, labels, strict=True)
    ]


def cut(sentences: Sentences, length: int, tokens: int) -> Sentences:
    """The length rule: sentences of one length, about so many tokens in all, at least one."""
    flat = [word for words in sentences for word in words]
    flat = (flat * (max(tokens, length) // len(flat) + 1))[: max(tokens, length)]
    return [flat[i : i + length] for i in range(0, len(flat) - length + 1, length)]


# ----------------------------------------------------------------- one point of each curve
def _train(sentences: Sentences, labels: Sentences, **options: Any):
    """A tagger of labels in memory, and the seconds that training took."""
    import seqtag
    from seqtag.corpus import sentence_of

    made = [
        sentence_of({"form": words, "upos": names})
        for words, names in zip(sentences, labels, strict=True)
    ]
    began = time.perf_counter()
    tagger = seqtag.train(made, label="upos", seed=1, **options)
    return tagger, time.perf_counter() - began


def _tokens(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    """Training and tagging of a file by the commands, with their memory; tagging in memory."""
    tagger, _ = _train(sentences, labels)
    model, source = str(work / "growth.seqtag"), str(work / "growth.txt")
    tagger.save(model)
    pairs = list(grown(sentences, labels, size))
    with Path(source).open("w", encoding="utf-8") as file:
        for words, names in pairs:
            file.write("".join(f"{w}\t{n}\n" for w, n in zip(words, names, strict=True)) + "\n")
    common = [sys.executable, "-m", "seqtag"]
    tag = [
        "tag",
        "-q",
        "--columns",
        "form,upos",
        "-m",
        model,
        source,
        "-o",
        source + ".out",
        "--force",
    ]
    train = [
        "train",
        "-q",
        "--columns",
        "form,upos",
        "--label",
        "upos",
        source,
        "-m",
        model + ".new",
        "--force",
    ]
    tagged, trained = command(common + tag, long=60), command(common + train, limit=1200)
    text = [words for words, _ in pairs]
    return {
        "train_seconds": trained.seconds,
        "tag_seconds": median_seconds(lambda: tagger.tag_many(text)),
        "file_seconds": tagged.seconds,
        "train_megabytes": trained.megabytes,
        "file_megabytes": tagged.megabytes,
    }


def _labels(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    pairs = list(grown(sentences, labels, 50_000))
    text = [words for words, _ in pairs]
    made_up = made_up_labels(text, [names for _, names in pairs], size)
    templates = _preset(lambda template: len(template.label_offsets) < 2)
    tagger, seconds = _train(text, made_up, templates=templates)
    model_bytes = tagger.save(work / "growth.seqtag")
    tag_seconds = median_seconds(lambda: tagger.tag_many(text))
    return {
        "train_seconds": seconds,
        "tag_seconds": tag_seconds,
        "model_megabytes": model_bytes / 1e6,
    }


def _length(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    tagger, _ = _train(sentences, labels)
    text = cut(sentences, size, 200_000)
    return {"sentence_seconds": median_seconds(lambda: tagger.tag_many(text)) / len(text)}


def _threads(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    tagger, _ = _train(sentences, labels)
    text = [words for words, _ in grown(sentences, labels, 1_000_000)]
    return {"tag_seconds": median_seconds(lambda: tagger.tag_many(text, threads=size))}


def _templates(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    number = count()
    templates = _preset(lambda template: bool(template.label_offsets) or next(number) < size)
    pairs = list(grown(sentences, labels, 200_000))
    text = [words for words, _ in pairs]
    tagger, seconds = _train(text, [names for _, names in pairs], templates=templates)
    return {"train_seconds": seconds, "tag_seconds": median_seconds(lambda: tagger.tag_many(text))}


def _preset(keep: Callable[[Template], bool]) -> TemplateSet:
    """The preset ``pos`` with some of its templates."""
    from seqtag.features.language import load
    from seqtag.features.templates import TemplateSet

    preset = load("pos")
    return TemplateSet(tuple(filter(keep, preset.templates)), preset.settings)


_POINTS = {
    "tokens": _tokens,
    "labels": _labels,
    "length": _length,
    "threads": _threads,
    "templates": _templates,
}


def main() -> None:
    """Measure one point."""
    name, size, corpus, work = sys.argv[1:]
    data = read(TASKS["upos"], Path(corpus))
    print(json.dumps(_POINTS[name](int(size), *data, Path(work))))


if __name__ == "__main__":
    main()
