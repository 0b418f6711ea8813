"""Caches that are limited in bytes, so that their memory does not grow with the input.

All that input can fill has a share of `CACHE_BYTES`, and starts afresh when the share is full: what
segmenters and taggers know of the words that they met, for every two threads, and caches of
functions. Large models and the text in work come on top.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import wraps
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable


class Clearable(Protocol):
    """Protocol of what `clear_caches` clears."""

    def clear(self) -> None:
        """Forget everything."""


_caches: WeakValueDictionary[int, Clearable] = WeakValueDictionary()


def register(cache: Clearable) -> None:
    """Have `clear_caches` clear a cache, as long as it exists."""
    _caches[id(cache)] = cache


def clear_caches() -> None:
    """Clear all caches of words and their results, those of all models.

    Other threads may work meanwhile: they keep what they use and fill new caches.
    """
    for reference in _caches.valuerefs():
        if (cache := reference()) is not None:
            cache.clear()


def held_bytes() -> int:
    """Return about how many bytes all caches hold that are not in use at the moment."""
    caches = (reference() for reference in _caches.valuerefs())
    return sum(getattr(cache, "nbytes", 0) for cache in caches)


_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")

CACHE_BYTES = 173 << 20
"""Bytes that all caches of a pipeline hold together."""
SEGMENTER_BYTES = 64 << 20
"""Bytes that a segmenter holds: characters and chunks, their attributes, and sums of weights."""
TAGGERS_BYTES = 93 << 20
"""Bytes that all taggers hold: word types, their attributes, sums of weights, and lemmas."""
MOST_BYTES = CACHE_BYTES - SEGMENTER_BYTES - TAGGERS_BYTES
"""Bytes that a cache of a function holds, or of words: some 100,000 of usual length."""
FUNCTION_BYTES = 2 << 20
"""Bytes that a cache of a function of characters holds: some 10,000 of them."""

_ENTRY_BYTES = 104  # of a place in a dict
_ARENA_MAX = -8  # of malloc.h


def free_memory() -> None:
    """Return freed memory to the system; glibc may keep most of it for later otherwise."""
    with suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def share_heap() -> None:
    """Have all threads allocate from one heap of glibc, before any of them starts.

    By default each has one of its own, and a few blocks in use keep much of it from being freed.
    """
    if "MALLOC_ARENA_MAX" not in os.environ:
        with suppress(AttributeError, OSError, TypeError):  # another C library
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


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
        register(self)

    @property
    def nbytes(self) -> int:
        """Approximate number of bytes held."""
        return self._held

    def __missing__(self, key: _Key) -> _Answer:
        answer = self._answer(key)
        size = _ENTRY_BYTES + _size(key) + _size(answer)
        if size <= self._most // 8:
            if self._held + size > self._most:
                self.clear()
            self._held += size
            self[key] = answer
        return answer

    def clear(self) -> None:
        """Forget all results."""
        super().clear()
        self._held = 0


def cached(function: Callable[[str], _Answer]) -> Callable[[str], _Answer]:
    """Decorate a function of a text to keep its results, up to `FUNCTION_BYTES`."""
    answers = BoundedCache(function, FUNCTION_BYTES)

    @wraps(function)
    def look_up(text: str) -> _Answer:
        return answers[text]

    return look_up


def _size(value: Any) -> int:
    items = value if isinstance(value, (tuple, list)) else ()
    return getsizeof(value) + sum(map(_size, items))
