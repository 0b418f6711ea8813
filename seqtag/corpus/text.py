"""Raw text, segmented by NLTK without any data, and tokenized text."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from seqtag.corpus.sentence import Sentence, Span, SpanSentence
from seqtag.corpus.stream import ByteStream, after_last_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Abbreviations that rarely end a sentence, as Punkt wants them: lower case, no final period.
ABBREVIATIONS = """
mr mrs ms dr prof rev gen col lt sgt capt gov sen rep st mt jr sr vs etc e.g i.e cf al vol fig pp
p.m a.m u.s u.k u.n d.c inc ltd co corp bros jan feb mar apr jun jul aug sep sept oct nov dec
"""
_LONG_LINE = 20_000  # characters; no sentence of this length is meant to stay whole
_QUOTES = ('"', "``", "''")
_TOKEN = re.compile(r"[^ \t\r\n]+")


def lines_of(stream: ByteStream) -> Iterator[tuple[str, int]]:
    r"""Yield each line with its line end, and its number; the byte order mark stays in line 1."""
    for text, first in stream.blocks(after_last_line):
        lines = text.split("\n")
        for number, line in enumerate(lines[:-1], first):
            yield line + "\n", number
        if lines[-1]:
            yield lines[-1], first + len(lines) - 1


def read_tokens(stream: ByteStream, source: str) -> Iterator[Sentence]:
    """Read one sentence per line, words separated by spaces or tabs.

    Other white space (no-break space, U+2028, ...) is part of a word. An empty line is a
    sentence without words.
    """
    for raw, line in lines_of(stream):
        # One more than may be shows that there are too many.
        found = islice(_TOKEN.finditer(raw, start_of(raw, line)), stream.limits.sentence + 1)
        spans = [m.span() for m in found]
        words = [raw[a:b] for a, b in spans]
        yield SpanSentence(raw, source, line, {"form": words}, [a for a, _ in spans], {})


def write_tokens(columns: Mapping[str, Sequence[str]]) -> str:
    """Return the words on one line."""
    return " ".join(columns["form"]) + "\n"


def read_text(stream: ByteStream, source: str) -> Iterator[Sentence]:
    """Read raw text with one paragraph or sentence per line.

    Sentences are found by Punkt with a short list of English abbreviations, words by the
    tokenizer NLTK recommends (``don't`` gives ``do`` and ``n't``). Forms are what is written:
    quotes stay as they are. The column ``misc`` says ``SpaceAfter=No`` where words touch.
    """
    splitter, tokenizer = _tools()
    for raw, line in lines_of(stream):
        start = start_of(raw, line)
        ends = [
            end
            for a, b in pieces_of(raw, start)
            for end in (a + e for _, e in splitter.span_tokenize(raw[a:b]))
        ]
        begin = 0
        for end in [*ends[:-1], len(raw)]:  # white space behind a sentence opens the next
            piece = raw[begin:end]
            skip = start if begin == 0 else 0
            spans = [(a + skip, b + skip) for a, b in word_spans(piece[skip:], tokenizer)]
            glued = [b < len(piece) and not piece[b].isspace() for _, b in spans]
            if glued and end < len(raw) and not raw[end].isspace():
                glued[-1] = True
            values = {
                "form": [piece[a:b] for a, b in spans],
                "misc": ["SpaceAfter=No" if g else "_" for g in glued],
            }
            yield SpanSentence(piece, source, line, values, [a for a, _ in spans], {})
            begin = end


def pieces_of(text: str, start: int) -> Iterator[Span]:
    """Split a very long line at spaces, because NLTK fails on it.

    >>> list(pieces_of("ab cd", 0))
    [(0, 5)]
    """
    while len(text) - start > _LONG_LINE:
        cut = text.rfind(" ", start, start + _LONG_LINE) + 1
        if cut <= start:  # one long word
            cut = start + _LONG_LINE
        yield start, cut
        start = cut
    yield start, len(text)


def word_spans(text: str, tokenizer: Any) -> list[Span]:
    """Return the spans in `text` of the words of a tokenizer that may rewrite quotes.

    Falls back to white space should a word not be found again, so no character is ever lost.

    Examples
    --------
    >>> from nltk.tokenize import NLTKWordTokenizer
    >>> text = 'He said "no".'
    >>> [text[a:b] for a, b in word_spans(text, NLTKWordTokenizer())]
    ['He', 'said', '"', 'no', '"', '.']
    """
    spans: list[Span] = []
    at = 0
    for token in tokenizer.tokenize(text):
        while at < len(text) and text[at].isspace():
            at += 1
        written = (token, *_QUOTES) if token in _QUOTES else (token,)
        match = next((w for w in written if text.startswith(w, at)), None)
        if match is None:
            break
        spans.append((at, at + len(match)))
        at += len(match)
    else:
        if not text[at:].strip():
            return spans
    return [m.span() for m in re.finditer(r"\S+", text)]


def start_of(raw: str, line: int) -> int:
    """Return 1 if the text opens the file with a byte order mark, else 0."""
    return int(line == 1 and raw.startswith("\ufeff"))


@cache
def _tools() -> tuple[Any, Any]:
    """Return sentence splitter and word tokenizer; importing NLTK takes a second."""
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS.split())
    return PunktSentenceTokenizer(parameters), NLTKWordTokenizer()
