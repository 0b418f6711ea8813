"""Evaluation: gold and predicted labels in, a report out."""

from __future__ import annotations

from seqtag.evaluation.report import Counts, Report, WordError, evaluate

__all__ = ["Counts", "Report", "WordError", "evaluate"]
