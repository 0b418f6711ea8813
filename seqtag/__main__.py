"""The program ``seqtag``, also as ``python -m seqtag``: the command line."""

import sys


def main() -> int:
    """Run the command line and return its exit code; it may be interrupted while it is loaded."""
    try:
        from seqtag import cli

        return cli.main()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("seqtag: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
