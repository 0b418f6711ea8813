"""Two systems on the same sentences: by how much they differ, and whether that may be chance.

Every figure is resampled over sentences: see `seqtag.evaluation.significance`. Reports bring the
counts of each sentence with them if they were made with ``samples=True``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.errors import LabelError
from seqtag.evaluation.aligned import METRICS, AlignedReport
from seqtag.evaluation.samples import Samples, f1_of
from seqtag.evaluation.significance import (
    CONFIDENCE,
    RESAMPLES,
    TRIALS,
    Interval,
    McNemar,
    bootstrap,
    bootstrap_p,
    mcnemar,
    percentiles,
    randomisation_p,
)
from seqtag.evaluation.text_tables import signature_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.evaluation.report import Report

AnyReport: TypeAlias = "Report | AlignedReport"
"""What there is to compare."""

_NAMES = {
    "accuracy": "tokens",
    "f1": "chunk F1",
    "known": "known words",
    "unknown": "unknown words",
    "sentences": "whole sentences",
}


class Difference(NamedTuple):
    """One metric of two systems.

    Attributes
    ----------
    a, b
        Both scores, as fractions; intervals are of the bootstrap.
    interval
        Of the difference b - a.
    p_bootstrap, p_randomisation
        Probability, two-sided, of a difference so great if there is none.
    """

    a: float
    b: float
    a_interval: Interval
    b_interval: Interval
    interval: Interval
    p_bootstrap: float
    p_randomisation: float

    @property
    def difference(self) -> float:
        """What b is better by."""
        return self.b - self.a

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return {**self._asdict(), "difference": self.difference}


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    differences
        By metric, the headline of the reports first.
    tokens
        McNemar's test of the tokens; None if words are cut differently.
    signature
        What was compared, and how: see `seqtag.evaluation.Report.signature`.
    confidence
        Of the intervals.
    """

    differences: dict[str, Difference]
    tokens: McNemar | None
    signature: str
    confidence: float

    def __str__(self) -> str:
        """The comparison as `to_text` lays it out."""
        return self.to_text()

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-able; fractions have full precision."""
        return {
            "confidence": self.confidence,
            "differences": {name: each.to_dict() for name, each in self.differences.items()},
            "mcnemar": self.tokens and self.tokens._asdict(),
            "signature": self.signature,
        }

    def to_text(self) -> str:
        """Lay it out for people: a line for each metric, McNemar's test, the signature."""
        heading = ("A", "B", "B - A", f"{100 * self.confidence:g}% interval", "p boot", "p rand")
        widths = (10, 10, 10, 18, 10, 10)
        lines = [" " * 20 + "".join(map(str.rjust, heading, widths))]
        for name, each in self.differences.items():
            low, high = each.interval
            cells = (
                f"{100 * each.a:.2f}",
                f"{100 * each.b:.2f}",
                f"{100 * each.difference:+.2f}",
                f"{100 * low:+.2f} {100 * high:+.2f}",
                f"{each.p_bootstrap:.4f}",
                f"{each.p_randomisation:.4f}",
            )
            shown = _NAMES.get(name) or METRICS[name]
            lines.append(shown.ljust(20) + "".join(map(str.rjust, cells, widths)))
        if self.tokens:
            a, b, p = self.tokens
            lines += [
                "",
                f"McNemar: {a} tokens right in A alone, {b} in B alone, p {p:.4f} (takes tokens as "
                "independent)",
            ]
        return "\n".join([*lines, "", self.signature, ""])


def compare(
    a: AnyReport,
    b: AnyReport,
    *,
    resamples: int = RESAMPLES,
    trials: int = TRIALS,
    seed: int = 1,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare two reports on the same gold sentences.

    Parameters
    ----------
    a, b
        Made with ``samples=True``.
    resamples, trials
        Of the paired bootstrap, and of approximate randomisation.
    seed
        Of both.
    confidence
        Of the intervals.

    Returns
    -------
    Comparison
        Of the metrics that both reports have. Known and unknown words are compared only if they
        are the same ones for both.

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
    >>> round(found.difference, 3), found.p_randomisation
    (0.333, 1.0)
    """
    left, right = _samples_of(a), _samples_of(b)
    names = _shared(left, right, _headline(a))
    tables = left.table(names), right.table(names)
    scores = [bootstrap(table, resamples, seed) for table in tables]
    p_values = randomisation_p(*tables, trials, seed)
    totals = [f1_of(table.sum(axis=0)) for table in tables]
    differences = {}
    for i, name in enumerate(names):
        gap = scores[1][:, i] - scores[0][:, i]
        differences[name] = Difference(
            float(totals[0][i]),
            float(totals[1][i]),
            percentiles(scores[0][:, i], confidence),
            percentiles(scores[1][:, i], confidence),
            percentiles(gap, confidence),
            bootstrap_p(gap, float(totals[1][i] - totals[0][i])),
            float(p_values[i]),
        )
    facts = _facts(a) | {"resamples": resamples, "trials": trials, "seed": seed}
    return Comparison(differences, _mcnemar(left, right), signature_of(facts, None), confidence)


def intervals(
    report: AnyReport,
    *,
    resamples: int = RESAMPLES,
    seed: int = 1,
    confidence: float = CONFIDENCE,
) -> dict[str, Interval]:
    """How far the scores of a report hang on which sentences were scored (bootstrap).

    Parameters
    ----------
    report
        Made with ``samples=True``.
    resamples, seed, confidence
        As for `compare`.

    Returns
    -------
    dict
        An interval by metric.

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
    return {name: percentiles(scores[:, i], confidence) for i, name in enumerate(names)}


def intervals_text(
    report: AnyReport, found: dict[str, Interval], confidence: float = CONFIDENCE
) -> str:
    """Intervals laid out for people, with the scores they belong to."""
    samples = _samples_of(report)
    names = [name for name in found if name in samples.counts]
    totals = f1_of(samples.table(names).sum(axis=0))
    lines = [f"{100 * confidence:g}% intervals".ljust(24) + "score".rjust(11) + "from".rjust(11)]
    lines[0] += "to".rjust(11)
    for name, total in zip(names, totals, strict=True):
        cells = (f"{100 * value:.2f}".rjust(11) for value in (total, *found[name]))
        lines.append((_NAMES.get(name) or METRICS[name]).ljust(24) + "".join(cells))
    return "\n".join([*lines, ""])


def _samples_of(report: AnyReport) -> Samples:
    if report.samples is None:
        msg = (
            "expected a report with the counts of each sentence, found one without; make it with "
            "samples=True"
        )
        raise LabelError(msg)
    return report.samples


def _headline(report: AnyReport) -> str:
    if isinstance(report, AlignedReport):
        return report.headline
    return "accuracy" if report.scheme is None else "f1"


def _shared(a: Samples, b: Samples, headline: str) -> list[str]:
    """The metrics that both count on the same gold items, the headline first."""
    names = [name for name in a.counts if name in b.counts]
    kept = [name for name in names if _gold(a, name) == _gold(b, name)]
    basic = {"accuracy", "f1", "tokens", "sentences", "words"}
    if len(a) != len(b) or not kept or basic & {*names} - {*kept}:
        msg = (
            f"expected two reports on the same gold sentences, found {len(a)} sentences in one and "
            f"{len(b)} in the other, or others; score both systems on one file"
        )
        raise LabelError(msg)
    return sorted(kept, key=lambda name: name != headline)


def _gold(samples: Samples, name: str) -> Sequence[int]:
    return [counts.gold for counts in samples.counts[name]]


def _mcnemar(a: Samples, b: Samples) -> McNemar | None:
    if not a.right or len(a.right) != len(b.right):
        return None
    pairs = list(zip(a.right, b.right, strict=True))
    return mcnemar(pairs.count((1, 0)), pairs.count((0, 1)))


def _facts(report: AnyReport) -> dict[str, object]:
    """What was compared, for the signature."""
    if isinstance(report, AlignedReport):
        return {"task": "aligned", "metric": report.metric, "sentences": report.sentences}
    return {
        "task": report.task,
        "metric": report.metric,
        "scheme": report.scheme or "none",
        "sentences": report.sentences,
        "tokens": report.tokens,
    }
