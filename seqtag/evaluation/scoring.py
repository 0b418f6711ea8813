"""Scores of taggers."""

from __future__ import annotations

from typing import Any

from seqtag.evaluation.report import Report, evaluate


def score(tagger: Any, sentences: Any) -> Report:
    """Provisional."""
    gold = [tagger.model.column.of(sentence) for sentence in sentences]
    return evaluate(gold, tagger.tag_many(sentences), scheme=tagger.label_scheme, task=tagger.label)
