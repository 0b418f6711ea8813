"""``python -m seqtag``: the command line."""

import sys

try:
    from seqtag.cli import main

    code = main()
except KeyboardInterrupt:  # before the command line was there to say so
    code = 130
sys.exit(code)
