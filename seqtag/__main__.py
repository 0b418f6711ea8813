"""``python -m seqtag``: the command line."""

import sys

from seqtag.cli import main

sys.exit(main())
