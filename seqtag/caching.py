"""Cache of answers that is limited in bytes, so that input can be of any length."""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")

MOST_BYTES = 16 << 20
"""Bytes that one cache holds before it starts afresh: some 100,000 usual words."""

_ENTRY = 104  # bytes of a place in a dict


class BoundedCache(dict[_Key, _Answer]):
    """Answers of a function, by what it was asked; threads may share it.

    What is asked and answered may come from strangers: whatever its length, the cache holds no
    more than about `most_bytes`. An answer that alone takes an eighth of that is not kept.

    Parameters
    ----------
    answer
        The function. Its argument is a string, None, or a tuple of these.
    most_bytes
        Bytes held before the cache starts afresh.

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
        """Bytes held, about."""
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
    return getsizeof(value) + sum(map(getsizeof, items))
