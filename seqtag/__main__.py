"""The program ``seqtag``, also as ``python -m seqtag``."""

import gc
import os
import sys

TYPE_CHECKING = False  # importing typing takes longer than the rest
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> int:
    """Run the command line and return its exit code; handle interrupts during its import, too."""
    gc.set_threshold(100_000)  # start-up creates many objects and no garbage
    # Before numpy is imported: idle threads of OpenBLAS wait in loops, and where memory is limited
    # (ulimit -v) it crashes or raises SIGINT if it cannot start them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        import signal  # here, because interrupts are handled here

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            # An exception would be lost in callbacks of the import system.
            signal.signal(signal.SIGINT, _exit_at_once)
        from seqtag import cli  # whose handler takes over

        code = cli.main()
        for number in (signal.SIGINT, signal.SIGTERM):  # nothing is left to interrupt
            signal.signal(number, signal.SIG_IGN)
        return code
    except KeyboardInterrupt:
        from seqtag.cli.signals import Interruption

        Interruption.exit_at_once(Interruption.number or signal.SIGINT)
    except MemoryError:  # not even enough for the message of the command line
        os.write(2, b"seqtag: found too little memory\n")
        os._exit(1)
    finally:
        gc.freeze()  # memory is freed by the end of the process


def _exit_at_once(*_: object) -> "NoReturn":
    """End the process, which has not begun to work."""
    try:
        os.write(2, b"seqtag: interrupted\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
