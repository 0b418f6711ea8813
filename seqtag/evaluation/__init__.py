"""Evaluation: gold and predicted labels in, a report out."""

from __future__ import annotations

from seqtag.evaluation.aligned import AlignedReport, score_aligned
from seqtag.evaluation.counts import Counts
from seqtag.evaluation.report import Origin, Report, WordError, evaluate
from seqtag.evaluation.scoring import score

__all__ = [
    "AlignedReport",
    "Counts",
    "Origin",
    "Report",
    "WordError",
    "evaluate",
    "score",
    "score_aligned",
]
