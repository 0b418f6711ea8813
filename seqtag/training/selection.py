"""Choosing and judging models: cross-validation and search of settings.

Everything works on lists of sentences and a function ``fit(train) -> score``, such as that of
`tagger_fit`, where ``score(test)`` is a number, the higher the better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.corpus.surface import documents_of
from seqtag.errors import SeqtagError
from seqtag.evaluation.scoring import score
from seqtag.evaluation.text_tables import signature_of
from seqtag.parallel import in_order
from seqtag.randomness import random_source
from seqtag.training.train import train

if TYPE_CHECKING:
    from seqtag.corpus import Sentence
    from seqtag.evaluation.report import Report

_BLOCKS_PER_FOLD = 10  # where no documents are known

Score = Callable[[Any], float]
Fit = Callable[[Any], Score]


class Folds(NamedTuple):
    """Scores of a cross-validation.

    Folds share training data, so their scores are not independent: the standard deviation shows
    how much they differ.
    """

    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean of the folds."""
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """Standard deviation between the folds (divided by k - 1)."""
        return float(np.std(self.scores, ddof=1))


class FoldUnits(NamedTuple):
    """Sentences of a cross-validation, and the units that are not split across folds.

    Attributes
    ----------
    sentences
        Those with words.
    groups
        Number of the unit of each sentence; None if each sentence is a unit.
    unit
        ``sentence``, ``document``, ``block`` or the name of a comment or column.
    documents
        Number of documents found.
    block
        Sentences in a block; 0 if the units are no blocks.
    """

    sentences: list[Sentence]
    groups: list[int] | None
    unit: str
    documents: int = 0
    block: int = 0

    def signature(self, report: Report, folds: int, seed: int) -> str:
        """Return one line about the metric and the data, given the report of a fold."""
        facts = {
            "task": report.task,
            "metric": report.metric,
            "scheme": report.scheme or "none",
            "sentences": len(self.sentences),
            "tokens": sum(map(len, self.sentences)),
            "folds": folds,
            "by": self.unit,
            "units": len(set(self.groups)) if self.groups else len(self.sentences),
        }
        return signature_of(facts, {"seed": seed})


class Trial(NamedTuple):
    """Settings and how well they did."""

    settings: dict[str, Any]
    score: float
    folds: Folds | None = None


def k_folds(
    n: int, k: int, random_state: Any = 0, groups: Sequence[int] | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test numbers of k folds; each example is in one test part.

    Parameters
    ----------
    n, k
        Numbers of examples and of folds.
    random_state
        Seed, generator or None; see `random_source`.
    groups
        A number for each example: those of one group, such as the sentences of a document, are
        never parted. The largest groups are dealt out first, each to the fold that has least.

    Raises
    ------
    SeqtagError
        If k is less than 2, or greater than n or the number of groups.

    Examples
    --------
    >>> [(len(train), len(test)) for train, test in k_folds(7, 3)]
    [(4, 3), (5, 2), (5, 2)]
    """
    units, what = (n, "examples") if groups is None else (len(set(groups)), "groups")
    if k < 2 or k > units:
        msg = f"expected from 2 to {units} folds for {units} {what}, found {k}"
        if units < 2:
            msg = f"expected at least 2 {what} to cut into folds, found {units}; give more data"
        raise SeqtagError(msg)
    random = random_source(random_state)
    if groups is None:
        parts = np.array_split(random.permutation(n), k)
    else:
        parts = _group_folds(np.asarray(groups), k, random)
    return [
        (np.concatenate([part for j, part in enumerate(parts) if j != i]), test)
        for i, test in enumerate(parts)
    ]


def _group_folds(groups: np.ndarray, k: int, random: np.random.RandomState) -> list[np.ndarray]:
    """Return the numbers of the examples of k folds that keep groups together."""
    names, sizes = np.unique(groups, return_counts=True)
    shuffled = random.permutation(len(names))
    held = np.zeros(k, np.int64)
    home = np.zeros(len(names), np.int64)
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        home[group] = np.argmin(held)
        held[home[group]] += sizes[group]
    where = home[np.searchsorted(names, groups)]
    return [np.flatnonzero(where == part) for part in range(k)]


def cross_validate(
    fit: Fit,
    data: Any,
    k: int = 10,
    random_state: Any = 0,
    on_fold: Callable[[int, float], None] | None = None,
    threads: int = 1,
    groups: Sequence[int] | None = None,
) -> Folds:
    """Score on each of k parts what the other k - 1 teach; the same on any number of threads.

    Examples of one of the `groups` are never parted, see `k_folds`.

    Raises
    ------
    SeqtagError
        If there are fewer examples than folds.

    Examples
    --------
    >>> most = lambda train: lambda test: np.mean(np.array(test) == max(train, key=train.count))
    >>> cross_validate(most, ["a"] * 9 + ["b"], 5).mean
    0.9
    """

    def score(fold: tuple[np.ndarray, np.ndarray]) -> float:
        train, test = fold
        return float(fit([data[i] for i in train])([data[i] for i in test]))

    scores = []
    for found in in_order(score, k_folds(len(data), k, random_state, groups), threads):
        scores.append(found)
        if on_fold:
            on_fold(len(scores), found)
    return Folds(tuple(scores))


def fold_units(sentences: Sequence[Sentence], folds: int, by: str = "document") -> FoldUnits:
    """Choose what is not split across the folds of a cross-validation.

    Parameters
    ----------
    sentences
        In their order; those without words too, which may begin a document.
    folds
        Number of folds.
    by
        ``document``, ``sentence``, or the name of a comment or column that tells documents apart.
        With fewer documents than folds the units are blocks of neighboring sentences.
    """
    kept = [sentence for sentence in sentences if len(sentence)]
    if by == "sentence" or len(kept) < folds:
        return FoldUnits(kept, None, "sentence")
    groups = documents_of(sentences, None if by == "document" else by)
    documents = len(set(groups or [0]))
    if documents >= folds or by != "document":
        return FoldUnits(kept, groups or [0] * len(kept), by, documents)
    block = max(1, len(kept) // (folds * _BLOCKS_PER_FOLD))
    return FoldUnits(kept, [i // block for i in range(len(kept))], "block", documents, block)


def grid(space: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return all combinations of the values.

    Examples
    --------
    >>> grid({"step": [0.1, 1], "average": [True]})
    [{'step': 0.1, 'average': True}, {'step': 1, 'average': True}]
    """
    return [dict(zip(space, values, strict=True)) for values in product(*space.values())]


def search(
    fit_with: Callable[[dict[str, Any]], Fit],
    candidates: Sequence[dict[str, Any]],
    data: Any,
    *,
    dev: Any = None,
    k: int = 5,
    random_state: Any = 0,
    on_trial: Callable[[Trial], None] | None = None,
) -> list[Trial]:
    """Try settings, on a dev set or by cross-validation; the best first, then as they were tried.

    Parameters
    ----------
    fit_with
        From settings to ``fit``.
    candidates
        Settings, as `grid` gives them.
    data
        To train on.
    dev
        To score on; without it `k` folds of `data`, the same for all settings.

    Raises
    ------
    SeqtagError
        If there are fewer examples than folds.
    """
    trials = []
    for settings in candidates:
        if dev is not None:
            trial = Trial(settings, float(fit_with(settings)(data)(dev)))
        else:
            folds = cross_validate(fit_with(settings), data, k, random_state)
            trial = Trial(settings, folds.mean, folds)
        trials.append(trial)
        if on_trial:
            on_trial(trial)
    return sorted(trials, key=lambda trial: -trial.score)


def tagger_fit(on_report: Callable[[Report], object] | None = None, **settings: Any) -> Fit:
    """Return the ``fit`` of a tagger on sentences: settings of `seqtag.train`; F1 or accuracy.

    `on_report` is given the report of each scoring.
    """

    def fit(sentences: Sequence[Any]) -> Score:
        tagger = train(sentences, **settings)
        if tagger.model.interrupted:
            raise KeyboardInterrupt  # half a training is no score

        def judge(test: Any) -> float:
            report = score(tagger, test, words=False)
            if on_report:
                on_report(report)
            return report.score

        return judge

    return fit
