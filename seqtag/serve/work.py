"""Work on requests: limits on its number and time, and batches of short texts."""

from __future__ import annotations

import asyncio
import gc
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from seqtag.caching import clear_caches, free_memory, held_bytes
from seqtag.errors import SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Result = TypeVar("Result")
Item = TypeVar("Item")

MAX_HELD_BYTES = 1 << 26  # of words of requests that may stay in the caches of all models
MAX_UNSENT_BYTES = 1 << 28  # of answers that clients have not taken; above it, no work is begun
IDLE_SECONDS = 1.0  # without work, after which no words stay in caches


class ServerLimits(NamedTuple):
    """Limits on requests.

    Attributes
    ----------
    body
        Bytes of a request.
    seconds
        Time for the work on a request, and again for its body to arrive.
    threads
        Longer requests worked on at once.
    waiting
        Further ones that may wait.
    """

    body: int = 1_000_000
    seconds: float = 30.0
    threads: int = 2
    waiting: int = 32


class RequestError(SeqtagError):
    """A request that is refused.

    Parameters
    ----------
    message
        Why.
    status
        Of the answer.
    reason
        The limit that it exceeds, for metrics.
    """

    def __init__(self, message: str, status: int = 400, reason: str = ""):
        super().__init__(message)
        self.status, self.reason = status, reason


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
        """End the time now, because the result is not needed any more."""
        self._end = 0.0

    def check(self) -> None:
        """Raise a RequestError if the time is over."""
        if time.monotonic() >= self._end:
            msg = f"expected work of at most {self._seconds:g} seconds, found more; send less text"
            raise RequestError(msg, 503, "time")

    def watch(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items; raise a RequestError when the time is over."""
        for item in items:
            self.check()
            yield item
        self.check()


class Work:
    """Work on requests: on longer ones in threads, and on short texts, many at once, right away.

    Short texts wait for no long work; the time that two threads take to hand over a text is longer
    than that to tag it. Words of requests stay in caches for a while only.

    Parameters
    ----------
    limits
        Limits on requests.
    tag
        Returns the answers to texts of requests of one kind.

    Attributes
    ----------
    unsent : int
        Bytes of answers that clients have not taken yet.
    """

    MAX_CHARACTERS = 1 << 12  # of a short text, and about of a batch: a few milliseconds
    MAX_WAITING = 1 << 12  # short texts, also of clients that have gone

    def __init__(
        self, limits: ServerLimits, tag: Callable[[Any, list[str], Deadline], list[bytes]]
    ):
        self._limits, self._tag = limits, tag
        self._pool = ThreadPoolExecutor(limits.threads)
        self._inside = self.unsent = 0
        self._short: list[tuple[Any, str, asyncio.Future[bytes]]] = []
        self._resting: asyncio.TimerHandle | None = None

    async def run(self, work: Callable[[Deadline], Result]) -> Result:
        """Run work on a thread and return its result.

        A piece that exceeds its time, or whose result is not needed any more, stops at its next
        check of the deadline, and keeps its place until then.

        Raises
        ------
        RequestError
            If there is too much work, or too much of an answer is unread, or it takes too long.
        """
        seconds, most = self._limits.seconds, self._limits.threads + self._limits.waiting
        if self._inside >= most:
            msg = f"expected at most {most} requests at once, found more; try again later"
            raise RequestError(msg, 503, "queue")
        deadline, loop = Deadline(seconds), asyncio.get_running_loop()
        future = self._pool.submit(self._bounded, work, deadline)
        self._inside += 1
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except asyncio.TimeoutError:
            deadline.cancel()
            deadline.check()
            raise
        finally:
            deadline.cancel()

    def _leave(self) -> None:
        self._inside -= 1
        self._rest()

    def _bounded(self, work: Callable[[Deadline], Result], deadline: Deadline) -> Result:
        """Return the result of work, and clear caches that are full, on its thread."""
        deadline.check()  # the time may have passed in the queue
        if self.unsent > MAX_UNSENT_BYTES:
            msg = "expected clients that read their answers, found too many unread bytes; try again"
            raise RequestError(msg, 503, "queue")
        try:
            return work(deadline)
        finally:
            if held_bytes() > MAX_HELD_BYTES:
                _forget()

    async def tag_short(self, kind: Any, text: str) -> bytes:
        """Return the answer to a short text; those of one kind that wait are tagged together.

        Raises
        ------
        RequestError
            As `run` does.
        """
        if len(self._short) >= self.MAX_WAITING:
            msg = f"expected at most {self.MAX_WAITING} texts at once, found more; try again later"
            raise RequestError(msg, 503, "queue")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bytes] = loop.create_future()
        if not self._short:
            loop.call_soon(self._work_off)  # after what has arrived by now
        self._short.append((kind, text, future))
        return await future

    def _work_off(self) -> None:
        """Work on the short texts that wait, in order, as far as they are of one kind and fit."""
        waiting = [each for each in self._short if not each[2].done()]  # others have ended
        self._short = []
        texts: list[str] = []
        futures, room = [], self.MAX_CHARACTERS
        for kind, text, future in waiting:
            if room > 0 and kind == waiting[0][0]:
                texts.append(text)
                futures.append(future)
                room -= len(text)
            else:
                self._short.append((kind, text, future))
        if self._short:
            asyncio.get_running_loop().call_soon(self._work_off)
        found: list[Any] = []
        try:
            if texts:
                work = partial(self._tag, waiting[0][0], texts)
                found = self._bounded(work, Deadline(self._limits.seconds))
        except Exception as error:
            found = [error] * len(texts)
        for future, answer in zip(futures, found, strict=True):
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
        self._rest()

    def _rest(self) -> None:
        """Clear caches after a while without work."""
        if self._resting:
            self._resting.cancel()
        self._resting = asyncio.get_running_loop().call_later(IDLE_SECONDS, _forget)


def _forget() -> None:
    """Forget the words of requests, and free their memory."""
    clear_caches()
    gc.collect()
    free_memory()
