"""How far scores hang on chance: bootstrap, randomisation, McNemar, intervals.

Sentences are what is drawn, as words of one sentence are not independent of each other. All is
deterministic: the same counts and the same seed give the same figures everywhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.errors import SeqtagError
from seqtag.evaluation.samples import f1_of
from seqtag.randomness import random_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

RESAMPLES = 1000
"""Bootstrap samples, unless told otherwise."""

TRIALS = 10_000
"""Trials of randomisation, unless told otherwise."""

CONFIDENCE = 0.95
"""Share of the cases that an interval is to hold the true value in, unless told otherwise."""

_CELLS = 1 << 22  # numbers drawn at once
_ROUNDING = 1e-12  # differences closer than this are equal


class Interval(NamedTuple):
    """From where to where a value lies, probably."""

    low: float
    high: float


class McNemar(NamedTuple):
    """Tokens that one of two systems alone has right, and how probable so odd a split is.

    Examples
    --------
    >>> round(mcnemar(10, 2).p, 6)
    0.038574
    """

    only_a: int
    only_b: int
    p: float


def bootstrap(
    table: NDArray[np.float64], resamples: int = RESAMPLES, seed: int = 1
) -> NDArray[np.float64]:
    """Scores of samples of sentences, drawn with replacement, as many as there are.

    Parameters
    ----------
    table
        Counts (sentences, metrics, 3), as `seqtag.evaluation.samples.Samples.table` gives them.
    resamples
        Number of samples.
    seed
        The same draws for all metrics; and for all tables of as many sentences, so that scores of
        two systems may be subtracted.

    Returns
    -------
    array (resamples, metrics) float64
        Fractions. Of no sentences they are zero.

    Examples
    --------
    >>> table = np.array([[[1.0, 1, 1]], [[0, 1, 1]]])
    >>> sorted(set(bootstrap(table, 100)[:, 0].tolist()))
    [0.0, 0.5, 1.0]
    """
    _check(resamples, "resamples")
    sentences, metrics, _ = table.shape
    if not sentences:
        return np.zeros((resamples, metrics))
    flat = table.reshape(sentences, metrics * 3)
    random = random_source(seed)
    scores = []
    for rows in _portions(resamples, sentences):
        drawn = random.randint(sentences, size=(rows, sentences), dtype=np.int64)
        drawn += np.arange(rows)[:, None] * sentences
        times = np.bincount(drawn.ravel(), minlength=rows * sentences).reshape(rows, sentences)
        scores.append(f1_of((times.astype(np.float64) @ flat).reshape(rows, metrics, 3)))
    return np.concatenate(scores)


def percentiles(scores: NDArray[np.float64], confidence: float = CONFIDENCE) -> Interval:
    """The interval that holds the middle of some scores.

    Examples
    --------
    >>> percentiles(np.arange(101.0), 0.5)
    Interval(low=25.0, high=75.0)
    """
    if not 0 < confidence < 1:
        msg = f"expected a confidence between 0 and 1, found {confidence}; give 0.95, say"
        raise SeqtagError(msg)
    tail = (1 - confidence) / 2
    low, high = np.quantile(scores, [tail, 1 - tail])
    return Interval(float(low), float(high))


def bootstrap_p(differences: NDArray[np.float64], observed: float) -> float:
    """Probability of a difference so great if there is none: bootstrap moved to zero, two-sided.

    Parameters
    ----------
    differences
        Of scores of the same samples.
    observed
        The difference on all sentences.

    Examples
    --------
    >>> bootstrap_p(np.array([0.1, 0.3, 0.2]), 0.2)
    0.25
    """
    as_great = np.abs(differences - observed) >= abs(observed) - _ROUNDING
    return float((as_great.sum() + 1) / (len(differences) + 1))


def randomisation_p(
    a: NDArray[np.float64], b: NDArray[np.float64], trials: int = TRIALS, seed: int = 1
) -> NDArray[np.float64]:
    """Probability of a difference so great if it does not matter which system said what.

    In each trial the two systems change places in each sentence with probability 1/2
    (approximate randomisation, two-sided). If there are no more ways to change places than
    `trials`, each of them is tried once, and the probability is exact.

    Parameters
    ----------
    a, b
        Counts (sentences, metrics, 3) of both systems.

    Returns
    -------
    array (metrics,) float64
        1 where the systems do not differ.

    Examples
    --------
    >>> a = np.array([[[1.0, 1, 1]]] * 4)
    >>> randomisation_p(a, a * [0, 1, 1]).tolist()
    [0.125]
    """
    _check(trials, "trials")
    differs = (a != b).any(axis=(1, 2))
    totals, shape = (a.sum(axis=0), b.sum(axis=0)), a.shape[1:]
    change = (b - a)[differs].reshape(int(differs.sum()), shape[0] * 3)
    observed = np.abs(f1_of(totals[1]) - f1_of(totals[0])) - _ROUNDING
    as_great = np.zeros(shape[0])
    exact = 2 ** min(len(change), 62) <= trials
    tried = 2 ** len(change) if exact else trials
    for swapped in _swaps(len(change), tried, None if exact else random_source(seed)):
        moved = (swapped @ change).reshape(-1, *shape)
        found = np.abs(f1_of(totals[1] - moved) - f1_of(totals[0] + moved))
        as_great += (found >= observed).sum(axis=0)
    return as_great / tried if exact else (as_great + 1) / (tried + 1)


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """McNemar's test, exact and two-sided, of the tokens that one system alone has right.

    It takes tokens as independent, which those of a sentence are not: it finds differences a
    little too easily.

    Examples
    --------
    >>> mcnemar(0, 0)
    McNemar(only_a=0, only_b=0, p=1.0)
    """
    n, least = only_a + only_b, min(only_a, only_b)
    k = np.arange(1, least + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - k + 1) / k))]) - n * math.log(2)
    return McNemar(only_a, only_b, min(1.0, 2 * float(np.exp(logs).sum())))


def student_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """How many standard errors from the mean a t-interval reaches.

    Parameters
    ----------
    degrees
        Degrees of freedom, from 1.
    confidence
        Probability that lies within.

    Examples
    --------
    >>> round(student_quantile(9), 3)
    2.262
    """
    low, high = 0.0, 1.0
    while _student_within(high, degrees) < confidence:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if _student_within(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return high


def _student_within(t: float, degrees: int) -> float:
    """Probability from -t to t: the finite series for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(degrees))
    cos, odd = math.cos(angle), degrees % 2
    term, total = (cos if odd else 1.0), 0.0
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= cos * cos * k / (k + 1)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def _swaps(
    sentences: int, trials: int, random: np.random.RandomState | None
) -> Iterator[NDArray[np.float64]]:
    """Rows of 0 and 1 for each sentence: drawn, or all that there are."""
    done = 0
    for rows in _portions(trials, max(1, sentences)):
        if random is None:
            numbers = np.arange(done, done + rows)[:, None]
            swapped = (numbers >> np.arange(sentences) & 1).astype(bool)
        else:
            swapped = random.random_sample((rows, sentences)) < 0.5
        done += rows
        yield swapped.astype(np.float64)


def _portions(rows: int, width: int) -> Iterator[int]:
    """The rows in portions that fit into memory."""
    most = max(1, _CELLS // width)
    for done in range(0, rows, most):
        yield min(most, rows - done)


def _check(number: int, name: str) -> None:
    if number < 1:
        msg = f"expected {name} of 1 or more, found {number}"
        raise SeqtagError(msg)
