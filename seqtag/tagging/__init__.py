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
        "Chain": "seqtag.tagging.pipeline",
        "Document": "seqtag.tagging.document",
        "DocumentSentence": "seqtag.tagging.document",
        "DocumentSpan": "seqtag.tagging.document",
        "DocumentToken": "seqtag.tagging.document",
        "Explanation": "seqtag.tagging.explain",
        "Pipeline": "seqtag.tagging.pipeline",
        "ScoredLabels": "seqtag.tagging.runtime",
        "TagOptions": "seqtag.tagging.streams",
        "Tagger": "seqtag.tagging.tagger",
        "Word": "seqtag.tagging.document",
    },
)
