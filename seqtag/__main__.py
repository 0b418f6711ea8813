"""The program ``seqtag``, also as ``python -m seqtag``."""

import gc
import os
import sys


def main() -> int:
    """Run the command line and return its exit code; handle interrupts during its import, too."""
    gc.set_threshold(100_000)  # start-up creates many objects and no garbage
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of numpy: they wait in loops for work
    try:
        from seqtag import cli

        return cli.main()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("seqtag: interrupted\n")
        return 130
    finally:
        gc.freeze()  # memory is freed by the end of the process


if __name__ == "__main__":
    sys.exit(main())
