"""The program ``seqtag``, also as ``python -m seqtag``."""

import gc
import sys


def main() -> int:
    """Run the command line and return its exit code; handle interrupts during its import, too."""
    gc.set_threshold(100_000)  # start-up creates many objects and no garbage
    try:
        from seqtag import cli

        return cli.main()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("seqtag: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
