"""Work on requests: a queue with limits on their number and time, and batches of short texts."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from seqtag.errors import SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Result = TypeVar("Result")
Item = TypeVar("Item")

_TOO_MANY = "expected at most {} requests at once, found more; try again later"
_TOO_LONG = "expected work of at most {:g} seconds, found more; send less text"


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
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def cancel(self) -> None:
        """End the time now, because nobody waits for the result."""
        self._end = 0.0

    def check(self) -> None:
        """Raise a DeadlineError if the time is over."""
        if time.monotonic() >= self._end:
            raise DeadlineError(_TOO_LONG.format(self._seconds))

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

    Attributes
    ----------
    most : int
        The most pieces that wait or are worked on.
    """

    def __init__(self, threads: int, waiting: int, seconds: float):
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="seqtag-serve")
        self.most, self._inside = threads + waiting, 0
        self._seconds = seconds

    def __len__(self) -> int:
        """Number of pieces that wait or are worked on."""
        return self._inside

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
        if self._inside >= self.most:
            raise BusyError(_TOO_MANY.format(self.most))
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
            return await asyncio.wait_for(wrapped, self._seconds)  # which also drops waiting work
        except asyncio.TimeoutError:
            raise DeadlineError(_TOO_LONG.format(self._seconds)) from None
        finally:
            deadline.cancel()  # nobody waits for it any more


class Batches:
    """Short texts of requests, which wait for no long work: one thread works on many at once.

    Parameters
    ----------
    work
        Returns the answers to texts of requests of one kind.
    seconds
        Time limit, waiting included.
    """

    MOST_CHARACTERS = 1 << 12  # of a text, and about of a batch: a few milliseconds
    MOST_WAITING = 1 << 12  # texts, also of clients that have gone

    def __init__(self, work: Callable[[Any, Deadline, list[str]], list[bytes]], seconds: float):
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="seqtag-serve-short")
        self._work, self._seconds = work, seconds
        self._waiting: list[tuple[Any, str, Deadline, asyncio.Future[bytes]]] = []
        self._worker: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Number of texts that wait."""
        return len(self._waiting)

    async def run(self, kind: Any, text: str) -> bytes:
        """Return the answer to a text; `kind` is passed to the work, with texts of one kind.

        Raises
        ------
        BusyError
            If too many texts wait.
        DeadlineError
            If the work takes too long.
        """
        if len(self._waiting) >= self.MOST_WAITING:
            raise BusyError(_TOO_MANY.format(self.MOST_WAITING))
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append((kind, text, Deadline(self._seconds), future))
        if self._worker is None or self._worker.done():  # it begins after what has arrived by now
            self._worker = asyncio.create_task(self._work_off())
        return await future

    async def _work_off(self) -> None:
        """Work on the texts that wait, in order, as far as they are of one kind and fit."""
        while self._waiting:
            batch, left, room = [], [], self.MOST_CHARACTERS
            for each in self._waiting:
                if room > 0 and each[0] == self._waiting[0][0]:
                    batch.append(each)
                    room -= len(each[1])
                else:
                    left.append(each)
            self._waiting = left
            kind, _, deadline, _ = batch[0]
            texts, futures = [each[1] for each in batch], [each[3] for each in batch]
            try:
                loop = asyncio.get_running_loop()
                found = await loop.run_in_executor(self._pool, self._work, kind, deadline, texts)
            except Exception as error:
                for future in futures:
                    if not future.done():  # its request has not ended
                        future.set_exception(error)
            else:
                for future, answer in zip(futures, found, strict=True):
                    if not future.done():
                        future.set_result(answer)
