"""Interruptions that let a training finish its sentence, and keep its result."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class AtOnce(KeyboardInterrupt):
    """A second interruption, at which nothing is finished or kept."""


class Stop:
    """Flag that ends a training; its runs, on any threads, check it between two sentences.

    Examples
    --------
    >>> stop = Stop()
    >>> stop.requested()
    False
    """

    def __init__(self) -> None:
        self._requested = False  # no lock: a signal handler could deadlock on it

    def request(self) -> None:
        """Set the flag."""
        self._requested = True

    def requested(self) -> bool:
        """Return whether the flag is set."""
        return self._requested


@contextmanager
def put_off(stop: Stop) -> Iterator[None]:
    """Set a flag where a signal would raise KeyboardInterrupt; a second one raises `AtOnce`.

    Signals are SIGINT and SIGTERM, if they have a handler in Python, which is called as well. Only
    the main thread has handlers: on others, this does nothing.

    Parameters
    ----------
    stop
        The flag.

    Examples
    --------
    >>> stop = Stop()
    >>> with put_off(stop):
    ...     signal.raise_signal(signal.SIGINT)
    >>> stop.requested()
    True
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if callable(handler := signal.getsignal(number))
    }

    def handle(number: int, frame: Any) -> None:
        try:
            before[number](number, frame)
        except KeyboardInterrupt:
            if stop.requested():
                raise AtOnce from None
            stop.request()

    try:
        for number in before:
            signal.signal(number, handle)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
