"""Work on several threads: results in order or as finished, and a pool of working memory.

`Executor.map` of the standard library reads all items before it yields the first result.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager
from time import sleep
from typing import TYPE_CHECKING, Generic, TypeVar

from seqtag.caching import register

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

_HANDOVER_SECONDS = 1e-6  # without Python's lock, which is handed over only every few milliseconds
_LIVENESS_SECONDS = 2.0  # after which it is checked whether threads are at work


class Pool(Generic[Item]):
    """Working memory for reuse, until `seqtag.caching.clear_caches` drops it.

    Parameters
    ----------
    is_full
        Items for which it returns true are dropped instead of reused.
    users
        Number of threads that may use an item at a time.

    Examples
    --------
    >>> pool = Pool[list]()
    >>> with pool.borrow(list) as first:
    ...     first.append(1)
    >>> with pool.borrow(list) as again:
    ...     again
    [1]
    """

    def __init__(self, is_full: Callable[[Item], bool] = lambda _: False, users: int = 1):
        self._is_full = is_full
        self._users = users
        self._idle: list[Item] = []  # list operations are atomic
        self._kept: set[int] = set()  # ids of the items made since all were dropped
        register(self)

    def take(self, make: Callable[[], Item]) -> Item:
        """Return an idle item, or a new one if there is none."""
        while self._idle:
            try:
                item = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if self._users == 1 or not self._is_full(item):
                return item
        item = make()
        self._kept.add(id(item))
        self._idle += [item] * (self._users - 1)
        return item

    def put(self, item: Item) -> None:
        """Give an item back; drop it if it is full, or if items were dropped since it was made."""
        if id(item) in self._kept and not self._is_full(item):
            self._idle.append(item)

    @property
    def nbytes(self) -> int:
        """Bytes that idle items report to hold."""
        return sum(getattr(item, "nbytes", 0) for item in tuple(self._idle))

    def clear(self) -> None:
        """Drop all items: those that are idle now, the others when they are given back."""
        self._kept.clear()
        self._idle.clear()

    @contextmanager
    def borrow(self, make: Callable[[], Item]) -> Iterator[Item]:
        """Lend an item to the block. After an error it is dropped, as its state is unknown."""
        item = self.take(make)
        yield item
        self.put(item)


def in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    ready: Callable[[], bool] = lambda: True,
) -> Iterator[Result]:
    """Yield the results of the work in the order of the items, a few items ahead at most.

    Where the next item is not `ready`, but will be long in coming, no result is kept waiting.

    >>> list(in_order(str, range(5), threads=2))
    ['0', '1', '2', '3', '4']
    """
    if threads == 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # late: one thread needs none

    pending: deque[Future[Result]] = deque()
    name = f"in-order-{id(pending)}"
    with ThreadPoolExecutor(threads, name) as pool:
        failure: Exception | None = None
        items = iter(items)
        try:
            while failure is None:
                try:
                    pending.append(pool.submit(work, next(items)))
                    sleep(_HANDOVER_SECONDS)
                except StopIteration:
                    break
                except Exception as error:  # of the items: the work before it comes first
                    failure = error
                while pending and (len(pending) > 2 * threads or not ready()):
                    yield _result(pending.popleft(), name)
            while pending:
                yield _result(pending.popleft(), name)
        finally:  # after an error nothing more is begun
            for future in pending:
                future.cancel()
        if failure is not None:
            raise failure


def as_finished(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int, stop: Callable[[], object]
) -> Iterator[Result]:
    """Yield the results of the work as they are finished; all items are read first.

    After an error, `stop` is called before the work in progress is waited for.

    >>> sorted(as_finished(str, range(5), threads=2, stop=list))
    ['0', '1', '2', '3', '4']
    """
    if threads <= 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor, as_completed  # late, as above

    with ThreadPoolExecutor(threads) as pool:
        pending = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(pending):
                yield future.result()
        except BaseException:
            stop()
            for future in pending:
                future.cancel()
            raise


def _result(future: Future[Result], name: str) -> Result:
    """Wait for a result; raise MemoryError where all threads ended without it.

    A thread that has no memory to begin with ends in silence, and its work would be waited for
    without end. `name` is that with which the names of the threads begin.
    """
    from concurrent.futures import TimeoutError as FutureTimeoutError  # late, as the pool

    while True:
        try:
            return future.result(_LIVENESS_SECONDS)
        except FutureTimeoutError:
            if future.done():  # an error of the work
                raise
            if not any(thread.name.startswith(f"{name}_") for thread in threading.enumerate()):
                msg = "no thread could begin"
                raise MemoryError(msg) from None
