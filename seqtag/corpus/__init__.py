"""Files to sentences and back: the only part of seqtag that knows lines, columns, encodings."""

from __future__ import annotations

from seqtag.corpus.detect import Layout, detect_format
from seqtag.corpus.formats import FORMATS, READABLE, WRITABLE, Format
from seqtag.corpus.memory import sentence_of, sentences_of
from seqtag.corpus.read import SentenceStream, read
from seqtag.corpus.sentence import Sentence
from seqtag.corpus.stream import LIMITS, UNLIMITED, Block, Limits
from seqtag.corpus.token_lists import to_token_list
from seqtag.corpus.write import into_misc, render

__all__ = [
    "FORMATS",
    "LIMITS",
    "READABLE",
    "UNLIMITED",
    "WRITABLE",
    "Block",
    "Format",
    "Layout",
    "Limits",
    "Sentence",
    "SentenceStream",
    "detect_format",
    "into_misc",
    "read",
    "render",
    "sentence_of",
    "sentences_of",
    "to_token_list",
]
