"""Bounded work queue: a limit on waiting requests and on the time of each."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from seqtag.errors import SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Result = TypeVar("Result")
Item = TypeVar("Item")


class BusyError(SeqtagError):
    """The queue is full."""


class DeadlineError(SeqtagError):
    """Work exceeded its time limit."""


class Deadline:
    """Time limit of a piece of work, which checks it now and then.

    Examples
    --------
    >>> list(Deadline(60).watch("ab"))
    ['a', 'b']
    """

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def cancel(self) -> None:
        """End the time now, because nobody waits for the result."""
        self._end = 0.0

    def check(self) -> None:
        """Raise a DeadlineError if the time is over."""
        if time.monotonic() >= self._end:
            msg = f"expected work of at most {self.seconds:g} seconds, found more; send less text"
            raise DeadlineError(msg)

    def watch(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items; raise a DeadlineError when the time is over."""
        for item in items:
            self.check()
            yield item
        self.check()


class WorkQueue:
    """Worker threads with a bounded queue.

    Parameters
    ----------
    threads
        Pieces of work done at once.
    waiting
        Further pieces that may wait.
    seconds
        Time limit of each, waiting included.
    """

    def __init__(self, threads: int, waiting: int, seconds: float):
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="seqtag-serve")
        self._most, self._inside = threads + waiting, 0
        self._seconds = seconds

    async def run(self, work: Callable[[Deadline], Result]) -> Result:
        """Run work on a thread and return its result.

        A piece that exceeds its time stops at its next check of the deadline, and keeps its place
        in the queue until then.

        Raises
        ------
        BusyError
            If the queue is full.
        DeadlineError
            If the work takes too long.
        """
        if self._inside >= self._most:
            msg = f"expected at most {self._most} requests at once, found more; try again later"
            raise BusyError(msg)
        deadline = Deadline(self._seconds)
        loop = asyncio.get_running_loop()

        def begin() -> Result:
            deadline.check()  # the time may have passed in the queue
            return work(deadline)

        def leave() -> None:
            self._inside -= 1

        self._inside += 1
        future = self._pool.submit(begin)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(leave))
        wrapped = asyncio.wrap_future(future)
        # Retrieve the exception: asyncio reports those that no one retrieves.
        wrapped.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.wait_for(asyncio.shield(wrapped), self._seconds)
        except asyncio.TimeoutError:
            future.cancel()  # has an effect only if it has not begun
            deadline.check()
            raise DeadlineError(str(deadline.seconds)) from None
        except asyncio.CancelledError:  # the client has gone
            deadline.cancel()
            future.cancel()
            raise

    def close(self) -> None:
        """Finish running work, drop waiting work."""
        self._pool.shutdown(cancel_futures=True)
