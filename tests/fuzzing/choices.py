"""What targets share: decisions that are read from bytes, and what was logged meanwhile."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")


class Choices:
    """Decisions out of bytes, one after another; where the bytes end all of them are 0.

    Examples
    --------
    >>> choices = Choices(b"\\x05\\x01rest")
    >>> choices.below(4), choices.pick("ab"), choices.rest()
    (1, 'b', b'rest')
    """

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def below(self, count: int) -> int:
        """A number from 0 to `count` - 1, of as few bytes as that needs."""
        size = (max(count - 1, 0).bit_length() + 7) // 8
        return int.from_bytes(self.take(size), "little") % max(count, 1)

    def pick(self, options: Sequence[T]) -> T:
        """One of some options, which are not empty."""
        return options[self.below(len(options))]

    def take(self, size: int) -> bytes:
        """The next bytes, fewer at the end."""
        found = self._data[self._at : self._at + size]
        self._at += size
        return found

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self._data))

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._data)


@contextmanager
def logged(level: int, name: str = "seqtag") -> Iterator[list[str]]:
    """Messages of at least a level while the block runs; they go nowhere else."""
    lines: list[str] = []
    handler, log = logging.Handler(level), logging.getLogger(name)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    before, log.handlers, log.propagate = (log.handlers, log.propagate), [handler], False
    try:
        yield lines
    finally:
        log.handlers, log.propagate = before
