"""Corpus formats: files to sentences and back. Lines, columns and encodings are known here only.

CoNLL-U is kept byte for byte by three modules: `stream` decodes blocks of complete sentences,
`table` splits lines into fields and joins them again, `conllu` knows ids, ranges and comments.
"""

from __future__ import annotations

from seqtag.corpus.detect import FileLayout, detect_format
from seqtag.corpus.formats import FORMATS, READABLE, WRITABLE, Format, render, to_token_list
from seqtag.corpus.read import ReadOptions, SentenceStream, read
from seqtag.corpus.sentence import Sentence, into_misc, sentence_of, sentences_of
from seqtag.corpus.stream import LIMITS, UNLIMITED, Block, ReadLimits

__all__ = [
    "FORMATS",
    "LIMITS",
    "READABLE",
    "UNLIMITED",
    "WRITABLE",
    "Block",
    "FileLayout",
    "Format",
    "ReadLimits",
    "ReadOptions",
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
