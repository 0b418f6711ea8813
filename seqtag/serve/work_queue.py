"""Work for many at once, within limits: how many wait, how long each takes."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from seqtag.errors import SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

Result = TypeVar("Result")
Item = TypeVar("Item")


class BusyError(SeqtagError):
    """As much work is waiting as may."""


class TooLongError(SeqtagError):
    """Work took longer than it may."""


class Deadline:
    """Until when a piece of work may take; it asks itself now and then.

    Examples
    --------
    >>> list(Deadline(60).watch("ab"))
    ['a', 'b']
    """

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Stop if it is over.

        Raises
        ------
        TooLongError
            If it is.
        """
        if time.monotonic() >= self._end:
            msg = f"expected work of at most {self.seconds:g} seconds, found more; send less text"
            raise TooLongError(msg)

    def watch(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, as long as there is time."""
        for item in items:
            self.check()
            yield item
        self.check()


class Desk:
    """Threads that work, and a queue before them that has an end.

    Parameters
    ----------
    threads
        Pieces of work done at once.
    waiting
        Pieces that may wait beside them.
    seconds
        That each may take, with its waiting.
    """

    def __init__(self, threads: int, waiting: int, seconds: float):
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="seqtag-serve")
        self._most, self._inside = threads + waiting, 0
        self._seconds = seconds

    async def run(self, work: Callable[[Deadline], Result]) -> Result:
        """Have work done on a thread.

        A piece that takes too long gives up at its next look at the deadline, and keeps its place
        until then: nothing new is begun on top of it.

        Raises
        ------
        BusyError
            If there is no room.
        TooLongError
            If it takes too long.
        """
        if self._inside >= self._most:
            msg = f"expected at most {self._most} requests at once, found more; try again later"
            raise BusyError(msg)
        deadline = Deadline(self._seconds)
        loop = asyncio.get_running_loop()

        def begin() -> Result:
            deadline.check()  # it may have waited too long
            return work(deadline)

        self._inside += 1
        future = self._pool.submit(begin)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))
        try:
            return await asyncio.wait_for(asyncio.shield(_awaited(future)), self._seconds)
        except asyncio.TimeoutError:
            future.cancel()  # if it has not begun
            deadline.check()
            raise TooLongError(str(deadline.seconds)) from None

    def _leave(self) -> None:
        self._inside -= 1

    def close(self) -> None:
        """Finish what has begun, drop what waits."""
        self._pool.shutdown(cancel_futures=True)


def _awaited(future: Future[Result]) -> asyncio.Future[Result]:
    wrapped = asyncio.wrap_future(future)
    wrapped.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may look
    return wrapped
