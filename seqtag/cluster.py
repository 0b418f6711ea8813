"""Old module: its names moved to `seqtag.batch`."""

from __future__ import annotations

from seqtag.deprecation import moved_names

__getattr__ = moved_names(__name__, {"SeqtagBatch": "seqtag.batch"})
