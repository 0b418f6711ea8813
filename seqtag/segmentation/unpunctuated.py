"""Sentences of text without punctuation, whose tokens are what white space separates.

The rows of such a model are words, where `seqtag.segmentation.characters` has characters: what
follows the end of a sentence shows in the words around it only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.caching import SEGMENTER_BYTES
from seqtag.engine import backend
from seqtag.features.encoder import Encoder
from seqtag.model.sentence_lengths import next_break
from seqtag.parallel import Pool
from seqtag.segmentation.paragraphs import SEPARATOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seqtag.model.model import Model

LONGEST_WORD = 64
"""Code points of a word that templates see."""

_WORDS = 1 << 12  # scored at a time
_MOST_CONTEXT = 1 << 12  # code points
_CERTAIN = 2**24  # limit of margins, which are infinite if a model has one label only
_WORD = re.compile(r"\S+")


class _Workspace(NamedTuple):
    """Working memory for one thread."""

    encoder: Encoder
    buffers: Any

    @property
    def nbytes(self) -> int:
        return self.encoder.nbytes + int(getattr(self.buffers, "nbytes", 0))

    @property
    def is_full(self) -> bool:
        return self.nbytes > SEGMENTER_BYTES


class WordBreaks:
    """Finds the words that end sentences. Immutable; threads may share it.

    Parameters
    ----------
    model
        Labels words, in the column ``form``.
    sentence
        The label of the last word of a sentence.
    """

    def __init__(self, model: Model, sentence: str):
        self._compiled, self._decoder = model.compiled, model.decoder()
        self._lengths = [*model.sentence_lengths] or [0]
        self._groups = np.array([label == sentence for label in model.labels], np.int32)
        offsets = model.compiled.key_plans()[0].term_offset
        self._before = max(0, -int(offsets.min(initial=0)))
        self._after = max(0, int(offsets.max(initial=0)))
        self._workspaces: Pool[_Workspace] = Pool(lambda workspace: workspace.is_full)

    def find(
        self, text: str, begin: int, *, final: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the starts and ends of words, and the number of words up to each sentence end.

        Parameters are those of `seqtag.segmentation.segmenter.Segmenter.segment`.
        """
        places = [(found.start(), found.end()) for found in _WORD.finditer(text)]
        if not final and places and places[-1][1] == len(text):
            del places[-1]  # more of it may follow
        starts, ends = np.array(places, np.int64).reshape(-1, 2).T
        closing = [found.start() for found in re.finditer(SEPARATOR, text)]
        paragraph = np.searchsorted(np.array(closing, np.int64), starts)
        margins = self._margins(text, starts, ends, paragraph)
        first = at = int(np.searchsorted(starts, begin))
        stops = [*(np.flatnonzero(np.diff(paragraph)) + 1).tolist(), len(starts)]
        sentence_ends: list[int] = []
        for stop in stops:
            closed = final or stop < len(starts) or (stop > 0 and paragraph[-1] < len(closing))
            last = stop if closed else stop - self._after
            while at < last:
                found = next_break(margins, self._lengths, at, last, closed=closed)
                if found is None:
                    break
                sentence_ends.append(found)
                at = found
        return starts[first:at], ends[first:at], np.array(sentence_ends, np.int64) - first

    def context_of(self, text: str, done: int) -> int:
        """Return the start of the context to keep of a text that is final up to `done`."""
        earliest = max(0, done - _MOST_CONTEXT)
        words = [*_WORD.finditer(text, earliest, done)][-self._before :] if self._before else []
        return words[0].start() if words else done

    def _margins(
        self,
        text: str,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        paragraph: NDArray[np.int64],
    ) -> list[int]:
        """Return the score of a break after each word, less that of no break."""
        workspace = self._workspaces.take(self._new_workspace)
        margins: list[int] = []
        for first in range(0, len(starts), _WORDS):
            begin = max(0, first - self._before)
            end = min(len(starts), first + _WORDS + self._after)
            places = zip(starts[begin:end].tolist(), ends[begin:end].tolist(), strict=True)
            words = [text[a : min(b, a + LONGEST_WORD)] for a, b in places]
            types = workspace.encoder.encode([[words]], len(words))
            inner = np.flatnonzero(np.diff(paragraph[begin:end])) + 1
            found = self._decoder.margins(
                types,
                workspace.encoder.hashes,
                np.array([0, *inner.tolist(), len(words)], np.int64),
                self._groups,
                workspace.buffers,
            )
            sign = np.where(self._groups[found.labels] > 0, 1, -1)
            signed = sign * np.minimum(found.margin, _CERTAIN)
            margins += signed[first - begin :][:_WORDS].astype(np.int64).tolist()
            if workspace.is_full:
                workspace = self._workspaces.take(self._new_workspace)
        self._workspaces.put(workspace)
        return margins

    def _new_workspace(self) -> _Workspace:
        return _Workspace(Encoder(self._compiled, backend.hash_strings), self._decoder.workspace())
