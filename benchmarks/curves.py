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

    from seqtag.features.templates import Template, TemplateSet


class Curve(NamedTuple):
    """What grows, where it is measured, and which times (name -> words for it) come out.

    In the text {cores} stands for the machine's cores.
    """

    title: str
    unit: str
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    figures: dict[str, str]
    text: str


_SECONDS = {"train_seconds": "training", "tag_seconds": "tagging in memory"}
_BUSY = 1_000_000  # tokens; longer texts are tagged once more, not three times
_THREADS = tuple(n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1))
CURVES = {
    "tokens": Curve(
        "Tokens",
        "tokens",
        (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
        (10_000, 30_000, 100_000),
        {
            "train_seconds": "training",
            "first_seconds": "tagging, first pass",
            "tag_seconds": "tagging, later passes",
            "file_seconds": "file to file",
        },
        "Training on a file with the given number of tokens (preset `pos`), and tagging that file "
        "with a model of the original corpus. The text repeats the corpus, and words that occur "
        "once in it get a new form in each repetition. A tagger clears the caches of its words "
        "when they reach a limit in bytes. For texts with more distinct words, a later pass "
        "therefore costs as much as the first.",
    ),
    "labels": Curve(
        "Labels",
        "labels",
        (10, 30, 100, 300, 1000),
        (10, 100),
        _SECONDS,
        "Training and tagging on 50,000 tokens with synthetic labels: a hash of the part of speech "
        "and the word, modulo the number of labels. The preset is `pos` without label trigrams, "
        "which support at most 255 labels.",
    ),
    "length": Curve(
        "Sentence length",
        "tokens in a sentence",
        (10, 100, 1000, 10_000),
        (10, 100, 1000),
        {"sentence_seconds": "one sentence"},
        "Time to tag one sentence in memory, from 200,000 tokens split into sentences of equal "
        "length.",
    ),
    "threads": Curve(
        "Threads",
        "threads",
        _THREADS,
        _THREADS,
        {"tag_seconds": "tagging in memory"},
        "Wall-clock time to tag a million tokens with `Tagger.tag_many(threads=n)`. The machine "
        "has {cores} cores; no line is fitted with fewer than three points.",
    ),
    "templates": Curve(
        "Features",
        "templates",
        (3, 9, 19, TASKS["upos"].templates),
        (3, TASKS["upos"].templates),
        _SECONDS,
        "The first templates of the preset `pos`, on 200,000 tokens. Each template is one feature "
        "per token. *updates* counts the sentences that changed the weights, over all epochs, and "
        "*errors* the mislabeled tokens. Few templates cause many errors and updates, so training "
        "with them is not faster.",
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
    base = [sys.executable, "-m", "benchmarks.curves", "base", "0", str(corpus), str(work)]
    subprocess.run(base, check=True, stdout=subprocess.DEVNULL)
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
    """A tagger of labels in memory, the processor seconds of its training, and its epochs."""
    import seqtag
    from seqtag.corpus import sentence_of

    epochs: list[Any] = []

    made = [
        sentence_of({"form": words, "upos": names})
        for words, names in zip(sentences, labels, strict=True)
    ]
    began = time.process_time()
    tagger = seqtag.train(made, label="upos", seed=1, on_epoch=epochs.append, **options)
    return tagger, time.process_time() - began, epochs


def _base(work: Path):
    """The tagger of the real corpus, which `measure` had trained."""
    import seqtag

    return seqtag.load(work / "base.seqtag")


def _base_model(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    _train(sentences, labels)[0].save(work / "base.seqtag")
    return {}


def _tokens(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    """Training and tagging of a file by the commands, with their memory; tagging in memory."""
    tagger = _base(work)
    model, source = str(work / "base.seqtag"), str(work / "growth.txt")
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
        "-o",
        model + ".new",
        "--force",
    ]
    tagged, trained = command(common + tag, long=5), command(common + train, long=5, limit=1200)
    text = [words for words, _ in pairs]
    words = len({word for sentence in text for word in sentence})
    tagger.tag_many(sentences[:100])  # imports, and memory for the first batch
    began = time.process_time()
    tagger.tag_many(text)
    first = time.process_time() - began
    repeat = 3 if size <= _BUSY else 1
    later = median_seconds(lambda: tagger.tag_many(text), repeat, warm=True)
    return {
        "words": words,
        "train_seconds": trained.cpu_seconds,
        "first_seconds": first,
        "tag_seconds": later,
        "file_seconds": tagged.cpu_seconds,
        "train_megabytes": trained.megabytes,
        "file_megabytes": tagged.megabytes,
    }


def _labels(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    pairs = list(grown(sentences, labels, 50_000))
    text = [words for words, _ in pairs]
    made_up = made_up_labels(text, [names for _, names in pairs], size)
    templates = _preset(lambda template: len(template.label_offsets) < 2)
    tagger, seconds, _ = _train(text, made_up, templates=templates)
    model_bytes = tagger.save(work / "growth.seqtag")
    tag_seconds = median_seconds(lambda: tagger.tag_many(text))
    return {
        "train_seconds": seconds,
        "tag_seconds": tag_seconds,
        "model_megabytes": model_bytes / 1e6,
    }


def _length(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    tagger = _base(work)
    text = cut(sentences, size, 200_000)
    return {"sentence_seconds": median_seconds(lambda: tagger.tag_many(text)) / len(text)}


def _threads(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    tagger = _base(work)
    text = [words for words, _ in grown(sentences, labels, 1_000_000)]
    clock = time.perf_counter  # the work of all threads is the same: what counts is the waiting
    return {"tag_seconds": median_seconds(lambda: tagger.tag_many(text, threads=size), clock=clock)}


def _templates(size: int, sentences: Sentences, labels: Sentences, work: Path) -> dict[str, float]:
    number = count()
    templates = _preset(lambda template: bool(template.label_offsets) or next(number) < size)
    pairs = list(grown(sentences, labels, 200_000))
    text = [words for words, _ in pairs]
    tagger, seconds, epochs = _train(text, [names for _, names in pairs], templates=templates)
    return {
        "updates": sum(epoch.updates for epoch in epochs),
        "wrong": sum(epoch.wrong_tokens for epoch in epochs),
        "train_seconds": seconds,
        "tag_seconds": median_seconds(lambda: tagger.tag_many(text)),
    }


def _preset(keep: Callable[[Template], bool]) -> TemplateSet:
    """The preset ``pos`` with some of its templates."""
    from seqtag.features.language import load
    from seqtag.features.templates import TemplateSet

    preset = load("pos")
    return TemplateSet(tuple(filter(keep, preset.templates)), preset.settings)


_POINTS = {
    "base": _base_model,
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
