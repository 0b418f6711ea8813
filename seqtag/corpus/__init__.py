"""Corpus formats: files to sentences and back. Lines, columns and encodings are known here only."""

from __future__ import annotations

from seqtag.corpus.detect import FileLayout, detect_format
from seqtag.corpus.formats import FORMATS, READABLE, WRITABLE, Format
from seqtag.corpus.keys import into_misc
from seqtag.corpus.memory import sentence_of, sentences_of
from seqtag.corpus.read import ReadOptions, SentenceStream, read
from seqtag.corpus.sentence import Sentence
from seqtag.corpus.stream import LIMITS, UNLIMITED, Block, ReadLimits
from seqtag.corpus.write import render, to_token_list

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
