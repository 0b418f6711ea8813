"""What choosing the sentences to annotate saves, simulated with corpora whose labels are hidden.

Of a training part, 100 random sentences are learned first. Then 50 more are chosen, again and
again, and the model is trained anew each time, until it is as good as one of 800 random sentences
(Armenian, of which there are 672: 400). Scores are on the dev part.
"""

from __future__ import annotations

from random import Random
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

import seqtag
from seqtag.evaluation import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from seqtag import Sentence, Tagger


class Task(NamedTuple):
    """The files of a corpus and the label; without dev, each fifth sentence is held out.

    `full` is the number of random sentences to compare with.
    """

    title: str
    train: str
    dev: str | None
    label: str | None = None
    full: int = 800


TASKS = (
    Task("names, English EWT", "uner-english-ewt/train.iob2", "uner-english-ewt/dev.iob2"),
    Task(
        "names, Portuguese",
        "uner-portuguese-bosque/pt_bosque-ud-train.iob2",
        "uner-portuguese-bosque/pt_bosque-ud-dev.iob2",
    ),
    Task("names, English WNUT-17", "wnut17/train.txt", "wnut17/dev.txt"),
    Task("chunks, CoNLL-2000", "conll2000/train.txt", None),
    Task(
        "UPOS, English EWT",
        "ud-english-ewt/en_ewt-ud-train.conllu",
        "ud-english-ewt/en_ewt-ud-dev.conllu",
        "upos",
    ),
    Task(
        "UPOS, Armenian",
        "ud-armenian-armtdp/hy_armtdp-ud-train.conllu",
        "ud-armenian-armtdp/hy_armtdp-ud-dev.conllu",
        "upos",
        400,
    ),
)
FIRST, STEP = 100, 50
SEEDS = range(1, 4)
RANDOM = "random"
OF_LENGTH = "of 5 to 40 words"
SELECT = "seqtag select"
MARGINS = "five smallest margins"

Criterion: TypeAlias = "Callable[[Tagger, Sequence[Sentence], Random], NDArray[np.float64]]"
Round: TypeAlias = "tuple[float, float, float]"
"""Numbers of sentences and of words, and the score in percent."""


def at_random(_: Tagger, pool: Sequence[Sentence], random: Random) -> NDArray[np.float64]:
    """Return random numbers."""
    return np.array([random.random() for _ in pool])


def of_length(tagger: Tagger, pool: Sequence[Sentence], random: Random) -> NDArray[np.float64]:
    """Return random numbers, less for sentences that have not 5 to 40 words."""
    lengths = np.array([len(each) for each in pool])
    return at_random(tagger, pool, random) - ((lengths < 5) | (lengths > 40))


def least_margins(tagger: Tagger, pool: Sequence[Sentence], _: Random) -> NDArray[np.float64]:
    """Return the mean of the five smallest margins with the other sign."""
    scored = tagger.tag_many(pool, scores=True)
    return np.array([-np.mean(sorted(each.margins)[:5]) for each in scored])


def by_uncertainty(tagger: Tagger, pool: Sequence[Sentence], _: Random) -> NDArray[np.float64]:
    """Return what ``seqtag select`` goes by."""
    return seqtag.uncertainty(tagger, pool)


CRITERIA: dict[str, Criterion] = {
    MARGINS: least_margins,
    SELECT: by_uncertainty,
}


def parts(task: Task, folder: Path) -> tuple[list[Sentence], list[Sentence]]:
    """Return the sentences to choose from, no two with the same words, and those to score on."""
    pool = [each for each in seqtag.read(folder / task.train) if len(each)]
    if task.dev:
        dev = [each for each in seqtag.read(folder / task.dev) if len(each)]
    else:
        dev, pool = pool[::5], [each for i, each in enumerate(pool) if i % 5]
    return list({" ".join(each.words): each for each in pool}.values()), dev


def curve(
    task: Task,
    pool: Sequence[Sentence],
    dev: Sequence[Sentence],
    choose: Criterion,
    seed: int,
    step: int = STEP,
) -> Iterator[Round]:
    """Yield rounds up to as many sentences as are compared with."""
    random = Random(seed)
    pool = random.sample(pool, len(pool))
    chosen, pool = pool[:FIRST], pool[FIRST:]
    while True:
        tagger = seqtag.train(chosen, label=task.label, seed=seed)
        percent = 100 * score(tagger, dev, words=False).score
        yield len(chosen), sum(map(len, chosen)), percent
        if len(chosen) >= task.full:
            return
        order = np.argsort(-choose(tagger, pool, random), kind="stable")
        chosen = chosen + [pool[i] for i in order[:step]]
        pool = [pool[i] for i in sorted(order[step:])]


def sizes_for(goal: float, rounds: Iterable[Round]) -> tuple[float, float] | None:
    """Return how many sentences and words reach a score, between two rounds; None if none do."""
    before = (0.0, 0.0, 0.0)
    for each in rounds:
        if each[2] >= goal:
            part = (goal - before[2]) / (each[2] - before[2])
            return tuple(a + part * (b - a) for a, b in zip(before[:2], each[:2], strict=True))
        before = each
    return None


def selection(folder: Path) -> dict[str, Any]:
    """Measure for each task the score of random sentences, and the shares that others need.

    All are means over seeds, with the deviation of scores.
    """
    found: dict[str, Any] = {}
    for task in TASKS:
        pool, dev = parts(task, folder)
        found[task.title] = values = {}
        for name, choose in ((OF_LENGTH, of_length), (RANDOM, at_random)):
            step = task.full - FIRST
            ends = [[*curve(task, pool, dev, choose, seed, step)][-1] for seed in SEEDS]
            _, words, goal = map(mean, zip(*ends, strict=True))
            values[name] = [round(goal, 1), round(stdev(end[2] for end in ends), 1)]
        for name, choose in CRITERIA.items():
            curves = [curve(task, pool, dev, choose, seed) for seed in SEEDS]
            rounds = (
                tuple(map(mean, zip(*each, strict=True))) for each in zip(*curves, strict=True)
            )
            sizes = sizes_for(goal, rounds)
            values[name] = sizes and [round(sizes[0] / task.full, 2), round(sizes[1] / words, 2)]
    return found
