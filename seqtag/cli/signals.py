"""SIGINT and SIGTERM: a command ends, and saves its work."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

_SOON = 0.001  # seconds


class Interruption(KeyboardInterrupt):
    """Exception of SIGINT and SIGTERM.

    None is lost. Import machinery and native modules may drop or replace an exception, so it waits
    until an import is finished. One that is dropped elsewhere, as in ``__del__`` methods, is
    raised again.
    """

    number = 0  # of the last signal
    _is_waiting = False  # for the end of an import
    _is_repeated = False  # by the alarm

    @classmethod
    def handle(cls) -> None:
        """Raise this exception at signals from now on; possible in the main thread only."""
        with suppress(ValueError):
            cls.number, cls._is_waiting = 0, False
            signal.signal(signal.SIGTERM, cls.raise_it)
            if callable(signal.getsignal(signal.SIGINT)):  # not ignored, as in the background
                signal.signal(signal.SIGINT, cls.raise_it)
            if hasattr(signal, "SIGALRM"):
                signal.signal(signal.SIGALRM, cls._repeat)
                if sys.unraisablehook is sys.__unraisablehook__:
                    sys.unraisablehook = cls._raise_again

    @classmethod
    def raise_it(cls, number: int, frame: FrameType | None) -> None:
        """Handle a signal by raising; at a second one also within an import."""
        repeated, cls._is_repeated = cls._is_repeated, False
        is_second = cls._is_waiting and not repeated
        cls.number = number
        cls._is_waiting = not is_second and _is_importing(frame) and hasattr(signal, "SIGALRM")
        if not cls._is_waiting:
            raise cls
        signal.setitimer(signal.ITIMER_REAL, _SOON)

    @classmethod
    def exit_at_once(cls, number: int, _: object = None) -> NoReturn:
        """Handle a signal by ending the process, which has nothing to save."""
        cls.number = number
        try:
            os.write(2, f"seqtag: {interruption_word()}\n".encode())
        finally:
            os._exit(interruption_code())

    @classmethod
    def _repeat(cls, *_: object) -> None:
        """Handle an alarm by sending the signal again."""
        cls._is_repeated = True
        signal.raise_signal(cls.number)

    @classmethod
    def _raise_again(cls, dropped: sys.UnraisableHookArgs) -> None:
        """Raise this exception again soon if it was dropped; report others as usual."""
        if issubclass(dropped.exc_type, cls):
            signal.setitimer(signal.ITIMER_REAL, _SOON)
        else:
            sys.__unraisablehook__(dropped)


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether a frame runs within an import."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def interruption_word() -> str:
    """Return what happened to a command: it was interrupted or terminated."""
    return "terminated" if Interruption.number == signal.SIGTERM else "interrupted"


def interruption_code() -> int:
    """Return the exit code of a command that was interrupted or terminated."""
    return 128 + (Interruption.number or signal.SIGINT)
