"""The sentences that a segmenter finds in a text."""

from __future__ import annotations

from itertools import pairwise


def sentences_of(segmenter, text, **options) -> list[list[str]]:
    starts, ends, sentence_ends = segmenter.segment(text, **options)
    tokens = [text[a:b] for a, b in zip(starts, ends, strict=True)]
    return [tokens[a:b] for a, b in pairwise([0, *sentence_ends.tolist()])]


def sentences_of_pieces(segmenter, pieces) -> list[list[str]]:
    """The sentences of the same text that arrives in pieces."""
    found, held, begin = [], "", 0
    for piece in pieces:
        held += piece
        more = sentences_of(segmenter, held, begin=begin, final=False)
        if more:
            found += more
            begin = int(segmenter.segment(held, begin=begin, final=False).ends[-1])
            kept = segmenter.context_of(held, begin)
            held, begin = held[kept:], begin - kept
    return found + sentences_of(segmenter, held, begin=begin)
