"""Evaluation: gold and predicted labels in, a report out."""

from __future__ import annotations

from seqtag.evaluation.counts import Counts
from seqtag.evaluation.report import Origin, Report, WordError, evaluate
from seqtag.evaluation.scoring import score

__all__ = ["Counts", "Origin", "Report", "WordError", "evaluate", "score"]
