"""Evaluation: scores, significance tests and calibration of gold and predicted labels."""

from __future__ import annotations

from seqtag.evaluation.agreement import Agreement, agree
from seqtag.evaluation.aligned import AlignedReport, score_aligned
from seqtag.evaluation.counts import Counts
from seqtag.evaluation.report import Origin, Report, WordError, evaluate
from seqtag.evaluation.scoring import score
from seqtag.evaluation.significance import Comparison, Difference, compare, intervals

__all__ = [
    "Agreement",
    "AlignedReport",
    "Comparison",
    "Counts",
    "Difference",
    "Origin",
    "Report",
    "WordError",
    "agree",
    "compare",
    "evaluate",
    "intervals",
    "score",
    "score_aligned",
]
