"""Cache that is limited in bytes, so that its memory does not grow with the input."""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")

MOST_BYTES = 16 << 20
"""Bytes that a cache holds before it is cleared: some 100,000 words of usual length."""

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
