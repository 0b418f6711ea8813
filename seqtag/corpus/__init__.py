"""Corpus formats: files to sentences and back. Lines, columns and encodings are known here only.

CoNLL-U is kept byte for byte by three modules: `stream` decodes blocks of complete sentences,
`table` splits lines into fields and joins them again, `conllu` knows ids, ranges and comments.
"""

from __future__ import annotations

from seqtag.corpus.formats import FORMATS, READABLE, WRITABLE, Format, render, to_token_list
from seqtag.corpus.layout import Layout, LayoutOptions
from seqtag.corpus.read import ReadOptions, SentenceStream, read, sniff
from seqtag.corpus.sentence import Sentence, into_misc, sentence_of, sentences_of
from seqtag.corpus.spans import from_spans
from seqtag.corpus.stream import LIMITS, UNLIMITED, Block, ReadLimits

__all__ = [
    "FORMATS",
    "LIMITS",
    "READABLE",
    "UNLIMITED",
    "WRITABLE",
    "Block",
    "Format",
    "Layout",
    "LayoutOptions",
    "ReadLimits",
    "ReadOptions",
    "Sentence",
    "SentenceStream",
    "from_spans",
    "into_misc",
    "read",
    "render",
    "sentence_of",
    "sentences_of",
    "sniff",
    "to_token_list",
]
