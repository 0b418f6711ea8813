"""Known words: hashes of the words of the training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.caching import BoundedCache
from seqtag.engine import backend
from seqtag.errors import LabelError
from seqtag.features.normal_forms import normal_forms
from seqtag.features.templates import AttributeUse, CompiledTemplates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


class KnownWords:
    """Set of the words of the training data, kept as hashes: ``word in tagger.known_words``.

    Words are compared in their normal form. The set takes about 8 bytes per word. The probability
    that an unknown word counts as known is len / 2**64.

    Parameters
    ----------
    hashes
        (words,) uint64, ascending.

    Examples
    --------
    >>> words = KnownWords.of(["can't", "be"])
    >>> "be" in words, "or" in words, "can’t" in words, len(words)
    (True, False, True, 2)
    """

    def __init__(self, hashes: NDArray[np.uint64]):
        self.hashes = hashes
        self._answers = BoundedCache(self._look_up)

    @classmethod
    def of(cls, words: Iterable[str]) -> KnownWords:
        """Hash some words."""
        return cls(np.unique(backend.hash_strings(sorted(normal_forms([*words])))))

    def with_words(self, words: Iterable[str]) -> KnownWords:
        """Return the set with more words.

        >>> "or" in KnownWords.of(["to", "be"]).with_words(["or"])
        True
        """
        return KnownWords(np.union1d(self.hashes, KnownWords.of(words).hashes))

    def __len__(self) -> int:
        return len(self.hashes)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._answers[word]

    def _look_up(self, word: str) -> bool:
        return bool(self.among([word])[0])

    def among(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return which words are known: (words,) bool; nothing is cached.

        >>> KnownWords.of(["to", "be"]).among(["be", "or"]).tolist()
        [True, False]
        """
        return are_in(self.hashes, backend.hash_strings(normal_forms(words)))


def are_in(hashes: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of some hashes are among others, which ascend: (wanted,) bool."""
    if not len(hashes):
        return np.zeros(len(wanted), bool)
    at = np.searchsorted(hashes, wanted)
    found: NDArray[np.bool_] = hashes[np.minimum(at, len(hashes) - 1)] == wanted
    return found


def known_attribute(compiled: CompiledTemplates) -> int:
    """Return the number of the attribute that identifies known words: ``normal`` of the form.

    Raises
    ------
    LabelError
        If no template uses it.
    """
    try:
        return compiled.attributes.index(AttributeUse("form", "normal"))
    except ValueError:
        msg = (
            "expected a template with the attribute normal, by which the setting tag-dictionary "
            "identifies words, found none; add normal[0] or leave the setting out"
        )
        raise LabelError(msg) from None
