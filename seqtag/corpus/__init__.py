"""Files to sentences and back: the only part of seqtag that knows lines, columns, encodings."""

from __future__ import annotations

from seqtag.corpus.formats import FORMATS, Layout, SentenceStream, detect_format, read
from seqtag.corpus.memory import sentence_of
from seqtag.corpus.render import RENDERED, render
from seqtag.corpus.sentence import Sentence
from seqtag.corpus.stream import Block, Output, check_output

__all__ = [
    "FORMATS",
    "RENDERED",
    "Block",
    "Layout",
    "Output",
    "Sentence",
    "SentenceStream",
    "check_output",
    "detect_format",
    "read",
    "render",
    "sentence_of",
]
