"""Tokens and sentences by the rules of NLTK, where no model has learned to find them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from seqtag.corpus.text import certain_part, sentences_of_line
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.segmentation.segmenter import Segments

if TYPE_CHECKING:
    from seqtag.corpus.sentence import Span

_LINE = re.compile(f"[^\n{SEPARATOR}]+")


class RuleSegmenter:
    r"""Finds tokens and sentences by rules for English, as the format ``text`` is read.

    Each line is segmented by itself, whatever ends paragraphs. Threads may share it.

    Examples
    --------
    >>> text = "Don't stop. Why?\nGo on"
    >>> starts, ends, sentence_ends = RuleSegmenter().segment(text)
    >>> [text[a:b] for a, b in zip(starts, ends)], sentence_ends.tolist()
    (['Do', "n't", 'stop', '.', 'Why', '?', 'Go', 'on'], [4, 6, 8])
    """

    def segment(self, text: str, *, begin: int = 0, final: bool = True) -> Segments:
        """Return the tokens and sentences of a text: see `Segmenter.segment`."""
        spans: list[Span] = []
        sentence_ends: list[int] = []
        for match in _LINE.finditer(text, begin):
            start, line = match.start(), match[0]
            if match.end() == len(text) and not final:
                line = certain_part(line)
            for _, words in sentences_of_line(line):
                spans += [(start + a, start + b) for a, b in words]
                if words:
                    sentence_ends.append(len(spans))
        starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
        return Segments(
            np.ascontiguousarray(starts),
            np.ascontiguousarray(ends),
            np.array(sentence_ends, np.int64),
        )

    def context_of(self, text: str, done: int) -> int:  # noqa: ARG002
        """Return the start of the context to keep of a text: there is none."""
        return done
