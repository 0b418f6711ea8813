"""Caches that are limited in bytes, so that their memory does not grow with the input.

All that input can fill has a share of `CACHE_BYTES`, and starts afresh when the share is full: what
segmenters and taggers know of the words that they met, for every two threads, and caches of
functions. Large models and the text in work come on top.
"""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")

CACHE_BYTES = 192 << 20
"""Bytes that all caches of a pipeline hold together."""
SEGMENTER_BYTES = 72 << 20
"""Bytes that a segmenter holds: characters and chunks, their attributes, and sums of weights."""
TAGGERS_BYTES = 104 << 20
"""Bytes that all taggers hold: word types, their attributes, sums of weights, and lemmas."""
MOST_BYTES = CACHE_BYTES - SEGMENTER_BYTES - TAGGERS_BYTES
"""Bytes that a cache of a function holds, or of words: some 100,000 of usual length."""

_ENTRY = 104  # bytes of a place in a dict


class BoundedCache(dict[_Key, _Answer]):
    """Results of a function by its argument; threads may share it.

    Arguments may come from untrusted input: the cache holds about `most_bytes` at most, whatever
    their length. A result that takes more than an eighth of that, with its argument, is not kept.

    Parameters
    ----------
    answer
        The function. Its argument is a string, None, or a tuple of these or of tuples.
    most_bytes
        Bytes held before the cache is cleared.

    Examples
    --------
    >>> lengths = BoundedCache(len)
    >>> lengths["to"], lengths["be" * 10_000_000], dict(lengths)
    (2, 20000000, {'to': 2})
    """

    def __init__(self, answer: Callable[[_Key], _Answer], most_bytes: int = MOST_BYTES):
        super().__init__()
        self._answer, self._most = answer, most_bytes
        self._held = 0  # approximate if threads share the cache

    @property
    def nbytes(self) -> int:
        """Approximate number of bytes held."""
        return self._held

    def __missing__(self, key: _Key) -> _Answer:
        answer = self._answer(key)
        size = _ENTRY + _size(key) + _size(answer)
        if size <= self._most // 8:
            if self._held + size > self._most:
                self.clear()
                self._held = 0
            self._held += size
            self[key] = answer
        return answer


def _size(value: Any) -> int:
    items = value if isinstance(value, (tuple, list)) else ()
    return getsizeof(value) + sum(map(_size, items))
