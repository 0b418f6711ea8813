"""SIGINT and SIGTERM: a command ends, and saves its work."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


class Interruption(KeyboardInterrupt):
    """Exception of SIGINT and SIGTERM, but for a training; see `seqtag.training.interruption`."""

    number = 0  # of the last signal

    @classmethod
    def handle(cls) -> None:
        """Raise this exception at signals from now on; possible in the main thread only."""
        with suppress(ValueError):
            cls.number = 0
            signal.signal(signal.SIGTERM, cls.raise_it)
            if callable(signal.getsignal(signal.SIGINT)):  # not ignored, as in the background
                signal.signal(signal.SIGINT, cls.raise_it)

    @classmethod
    def raise_it(cls, number: int, _: object) -> NoReturn:
        """Handle a signal by raising, or at once while numpy is imported, before all work.

        numpy makes an ImportError of its own of any exception.
        """
        spec = getattr(sys.modules.get("numpy"), "__spec__", None)
        if getattr(spec, "_initializing", False):
            cls.exit_at_once(number)
        cls.number = number
        raise cls

    @classmethod
    def exit_at_once(cls, number: int) -> NoReturn:
        """Handle a signal by ending the process, which has nothing to save."""
        cls.number = number
        try:
            os.write(2, f"seqtag: {interruption_word()}\n".encode())
        finally:
            os._exit(interruption_code())


def interruption_word() -> str:
    """Return what happened to a command: it was interrupted or terminated."""
    return "terminated" if Interruption.number == signal.SIGTERM else "interrupted"


def interruption_code() -> int:
    """Return the exit code of a command that was interrupted or terminated."""
    return 128 + (Interruption.number or signal.SIGINT)
