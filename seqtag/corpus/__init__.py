"""Files to sentences and back: the only part of seqtag that knows lines, columns, encodings."""

from __future__ import annotations

from seqtag.corpus.formats import FORMATS, Layout, SentenceStream, detect_format, read
from seqtag.corpus.memory import sentence_of
from seqtag.corpus.sentence import Sentence
from seqtag.corpus.stream import Block
from seqtag.corpus.token_lists import to_token_list
from seqtag.corpus.write import RENDERED, render

__all__ = [
    "FORMATS",
    "RENDERED",
    "Block",
    "Layout",
    "Sentence",
    "SentenceStream",
    "detect_format",
    "read",
    "render",
    "sentence_of",
    "to_token_list",
]
