"""Interruptions that let a training finish its sentence, and keep what it has learnt."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class AtOnce(KeyboardInterrupt):
    """A second interruption: nothing is to be finished, and nothing kept."""


class Stop:
    """Whether a training is to stop; its runs, on any threads, look at it between two sentences.

    Examples
    --------
    >>> stop = Stop()
    >>> stop.asked()
    False
    """

    def __init__(self) -> None:
        self._asked = False  # no lock, which a signal handler could wait for in vain

    def ask(self) -> None:
        """Ask for it."""
        self._asked = True

    def asked(self) -> bool:
        """Whether it was asked for."""
        return self._asked


@contextmanager
def put_off(stop: Stop) -> Iterator[None]:
    """Ask to stop where a signal would raise KeyboardInterrupt; a second one raises `AtOnce`.

    Signals are SIGINT and SIGTERM, where these have a handler in Python. What it raises is put
    off, all else that it does is done. Only the main thread has handlers: on others, this does
    nothing.

    Parameters
    ----------
    stop
        What is asked.

    Examples
    --------
    >>> stop = Stop()
    >>> with put_off(stop):
    ...     signal.raise_signal(signal.SIGINT)
    >>> stop.asked()
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
            if stop.asked():
                raise AtOnce from None
            stop.ask()

    try:
        for number in before:
            signal.signal(number, handle)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
