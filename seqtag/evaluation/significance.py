"""Confidence intervals and p-values of differences: the paired bootstrap.

Sentences are resampled, because words of one sentence are not independent of each other. Reports
have the counts of each sentence if they were made with ``samples=True``. The same counts and the
same seed give the same figures everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from seqtag.errors import LabelError, SeqtagError
from seqtag.evaluation.aligned import METRICS, AlignedReport
from seqtag.evaluation.counts import Samples, f1_of
from seqtag.evaluation.text_tables import signature_of, table
from seqtag.randomness import random_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from seqtag.evaluation.report import Report

RESAMPLES = 1000
"""Default number of bootstrap samples."""

CONFIDENCE = 0.95
"""Confidence level of intervals."""

_MOST_DRAWN = 1 << 22  # numbers at once
_ROUNDING = 1e-12  # smaller differences are rounding errors


class Interval(NamedTuple):
    """Confidence interval."""

    low: float
    high: float


def bootstrap(
    table: NDArray[np.float64], resamples: int = RESAMPLES, seed: int = 1
) -> NDArray[np.float64]:
    """Return the scores of bootstrap samples of the sentences.

    Parameters
    ----------
    table
        Counts (sentences, metrics, 3), from `seqtag.evaluation.counts.Samples.table`.
    resamples
        Number of samples.
    seed
        The same samples are drawn for all metrics, and for all tables of equally many sentences,
        so that scores of two systems may be subtracted.

    Returns
    -------
    array (resamples, metrics) float64
        Fractions; zero without sentences.

    Examples
    --------
    >>> table = np.array([[[1.0, 1, 1]], [[0, 1, 1]]])
    >>> sorted(set(bootstrap(table, 100)[:, 0].tolist()))
    [0.0, 0.5, 1.0]
    """
    if resamples < 1:
        msg = f"expected resamples of 1 or more, found {resamples}"
        raise SeqtagError(msg)
    sentences, metrics, _ = table.shape
    if not sentences:
        return np.zeros((resamples, metrics))
    flat = table.reshape(sentences, metrics * 3)
    random = random_source(seed)
    scores = []
    most = max(1, _MOST_DRAWN // sentences)
    for done in range(0, resamples, most):
        rows = min(most, resamples - done)
        drawn = random.randint(sentences, size=(rows, sentences), dtype=np.int64)
        drawn += np.arange(rows)[:, None] * sentences
        times = np.bincount(drawn.ravel(), minlength=rows * sentences).reshape(rows, sentences)
        scores.append(f1_of((times.astype(np.float64) @ flat).reshape(rows, metrics, 3)))
    return np.concatenate(scores)


def percentiles(scores: NDArray[np.float64]) -> Interval:
    """Return the percentile interval of some scores.

    Examples
    --------
    >>> low, high = percentiles(np.arange(201.0))
    >>> round(low), round(high)
    (5, 195)
    """
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(scores, [tail, 1 - tail])
    return Interval(float(low), float(high))


def bootstrap_p(differences: NDArray[np.float64], observed: float) -> float:
    """Return the two-sided p-value of a difference, from the bootstrap shifted to zero.

    Parameters
    ----------
    differences
        Differences of scores of the same bootstrap samples.
    observed
        Difference on all sentences.

    Examples
    --------
    >>> bootstrap_p(np.array([0.1, 0.3, 0.2]), 0.2)
    0.25
    """
    as_great = np.abs(differences - observed) >= abs(observed) - _ROUNDING
    return float((as_great.sum() + 1) / (len(differences) + 1))


# ----------------------------------------------------------------- reports
AnyReport: TypeAlias = "Report | AlignedReport"
"""Reports that can be compared."""

NAMES = {
    "accuracy": "tokens",
    "f1": "chunk F1",
    "known": "known words",
    "unknown": "unknown words",
    "sentences": "sentences",
}
"""Names of the metrics of labels in tables."""


def name_of(metric: str, metrics: Mapping[str, object]) -> str:
    """Return the name of one of the metrics of a report, as its tables have it."""
    return (NAMES if "accuracy" in metrics else METRICS)[metric]


class Difference(NamedTuple):
    """Scores of two systems in one metric.

    Attributes
    ----------
    a, b
        Both scores, as fractions.
    a_interval, b_interval, interval
        Bootstrap intervals of a, b and the difference b - a.
    p
        Two-sided p-value of the difference.
    """

    a: float
    b: float
    a_interval: Interval
    b_interval: Interval
    interval: Interval
    p: float

    @property
    def difference(self) -> float:
        """The difference b - a."""
        return self.b - self.a

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that JSON can hold."""
        return {**self._asdict(), "difference": self.difference}


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    differences
        Differences by metric, the headline of the reports first.
    signature
        What was compared, and how: see `seqtag.evaluation.Report.signature`.
    """

    differences: dict[str, Difference]
    signature: str

    def __str__(self) -> str:
        """Return the comparison as text: see `to_text`."""
        return self.to_text()

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serializable dictionary; fractions have full precision."""
        return {
            "confidence": CONFIDENCE,
            "differences": {name: each.to_dict() for name, each in self.differences.items()},
            "signature": self.signature,
        }

    @property
    def verdict(self) -> str:
        """Which system is better in the headline, at a level of 5%."""
        metric, found = next(iter(self.differences.items()))
        name = name_of(metric, self.differences)
        value = _p_text(found.p)
        p = f"p {value if value[0] == '<' else f'= {value}'} (paired bootstrap)"
        level = 1 - CONFIDENCE
        if found.p >= level:
            return f"no significant difference in {name} at {100 * level:g}%: {p}"
        better, worse = ("B", "A") if found.difference > 0 else ("A", "B")
        points = 100 * abs(found.difference)
        return f"{better} is better than {worse} in {name}: {points:+.2f} points, {p}"

    def to_text(self) -> str:
        """Return a table of the metrics, the signature and the verdict."""
        intervals = f"{100 * CONFIDENCE:g}% intervals of B - A"
        rows = [
            (
                name_of(name, self.differences),
                each.a,
                each.b,
                *map(_points, (each.difference, *each.interval)),
                _p_text(each.p),
            )
            for name, each in self.differences.items()
        ]
        figures = table((intervals, "A", "B", "B - A", "from", "to", "p"), rows)
        return "\n".join([figures, self.signature, "", self.verdict, ""])


def _points(change: float) -> str:
    """Return a difference of fractions in percentage points."""
    return f"{100 * change:+.2f}"


def _p_text(p: float) -> str:
    """Return a p-value to four decimals; never as zero.

    >>> _p_text(0.00149), _p_text(0.00005), _p_text(0.00001), _p_text(0.0)
    ('0.0015', '0.0001', '< 0.0001', '< 0.0001')
    """
    text = f"{p:.4f}"
    return "< 0.0001" if float(text) == 0 else text


def compare(
    a: AnyReport,
    b: AnyReport,
    *,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> Comparison:
    """Compare two reports on the same gold sentences.

    Parameters
    ----------
    a, b
        Reports made with ``samples=True``.
    resamples, seed
        Samples of the paired bootstrap, and their seed.

    Returns
    -------
    Comparison
        Of the metrics that both reports have. Known and unknown words are compared only if both
        reports have the same ones.

    Raises
    ------
    LabelError
        If a report has no samples, or they are of different sentences.

    Examples
    --------
    >>> from seqtag.evaluation import evaluate
    >>> gold = [["DET", "NOUN"], ["VERB"]]
    >>> a = evaluate(gold, [["DET", "VERB"], ["VERB"]], samples=True)
    >>> b = evaluate(gold, gold, samples=True)
    >>> found = compare(a, b).differences["accuracy"]
    >>> round(found.difference, 3), round(found.p, 2)
    (0.333, 0.25)
    """
    left, right = _samples_of(a), _samples_of(b)
    gold = [
        {name: [each.gold for each in side.counts[name]] for name in side.counts}
        for side in (left, right)
    ]
    shared = [name for name in left.counts if name in right.counts]
    names = [name for name in shared if gold[0][name] == gold[1][name]]
    basic = {"accuracy", "f1", "tokens", "sentences", "words"}
    if len(left) != len(right) or not names or basic & {*shared} - {*names}:
        msg = (
            f"expected two reports on the same gold sentences, found {len(left)} sentences in one "
            f"and {len(right)} in the other, or others; score both systems on one file"
        )
        raise LabelError(msg)
    names.sort(key=lambda name: name != a.headline)
    tables = left.table(names), right.table(names)
    scores = [bootstrap(table, resamples, seed) for table in tables]
    totals = [f1_of(table.sum(axis=0)) for table in tables]
    differences = {}
    for i, name in enumerate(names):
        gap = scores[1][:, i] - scores[0][:, i]
        differences[name] = Difference(
            float(totals[0][i]),
            float(totals[1][i]),
            percentiles(scores[0][:, i]),
            percentiles(scores[1][:, i]),
            percentiles(gap),
            bootstrap_p(gap, float(totals[1][i] - totals[0][i])),
        )
    facts = a.facts | {"resamples": resamples, "seed": seed}
    return Comparison(differences, signature_of(facts, None))


def intervals(
    report: AnyReport,
    *,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> dict[str, Interval]:
    """Return bootstrap confidence intervals of the scores of a report.

    Parameters
    ----------
    report
        Report made with ``samples=True``.
    resamples, seed
        As for `compare`.

    Returns
    -------
    dict
        Intervals by metric.

    Raises
    ------
    LabelError
        If the report has no samples.

    Examples
    --------
    >>> from seqtag.evaluation import evaluate
    >>> report = evaluate([["DET"], ["NOUN"]], [["DET"], ["DET"]], samples=True)
    >>> intervals(report)["accuracy"]
    Interval(low=0.0, high=1.0)
    """
    samples = _samples_of(report)
    names = list(samples.counts)
    scores = bootstrap(samples.table(names), resamples, seed)
    return {name: percentiles(scores[:, i]) for i, name in enumerate(names)}


def _samples_of(report: AnyReport) -> Samples:
    if report.samples is None:
        msg = (
            "expected a report with the counts of each sentence, found one without; make it with "
            "samples=True"
        )
        raise LabelError(msg)
    return report.samples
