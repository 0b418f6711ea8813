"""Tagging: sentences, files and streams in, labels out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.lazy import names_of

if TYPE_CHECKING:
    from seqtag.tagging.document import (
        Document,
        DocumentSentence,
        DocumentSpan,
        DocumentToken,
        Word,
    )
    from seqtag.tagging.explain import Explanation
    from seqtag.tagging.pipeline import Chain, Pipeline
    from seqtag.tagging.runtime import ScoredLabels
    from seqtag.tagging.streams import TagOptions
    from seqtag.tagging.tagger import Tagger

__all__ = [
    "Chain",
    "Document",
    "DocumentSentence",
    "DocumentSpan",
    "DocumentToken",
    "Explanation",
    "Pipeline",
    "ScoredLabels",
    "TagOptions",
    "Tagger",
    "Word",
]

__getattr__ = names_of(
    __name__,
    {
        "seqtag.tagging.document": [
            "Document",
            "DocumentSentence",
            "DocumentSpan",
            "DocumentToken",
            "Word",
        ],
        "seqtag.tagging.explain": ["Explanation"],
        "seqtag.tagging.pipeline": ["Chain", "Pipeline"],
        "seqtag.tagging.runtime": ["ScoredLabels"],
        "seqtag.tagging.streams": ["TagOptions"],
        "seqtag.tagging.tagger": ["Tagger"],
    },
)
