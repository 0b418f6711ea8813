"""The words of the training data."""

from __future__ import annotations

import numpy as np

from seqtag.engine import backend

_MAX_ANSWERS = 100_000  # words whose answer is remembered


class KnownWords:
    """The words of the training data, kept as hashes: ``word in tagger.known_words``.

    About 8 bytes a word; a word that is not there is taken for known once in 2**64 / len times.
    """

    def __init__(self, hashes: np.ndarray):
        self._hashes = hashes
        self._answers: dict[str, bool] = {}

    def __len__(self) -> int:
        return len(self._hashes)

    def __contains__(self, word: str) -> bool:
        answer = self._answers.get(word)
        if answer is None:
            if len(self._answers) > _MAX_ANSWERS:
                self._answers.clear()
            wanted = backend.hash_strings([word])[0]
            at = np.searchsorted(self._hashes, wanted)
            answer = bool(at < len(self._hashes) and self._hashes[at] == wanted)
            self._answers[word] = answer
        return answer
