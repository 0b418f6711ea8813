"""Old module: its names moved to `seqtag.batch`."""

from __future__ import annotations

from seqtag.lazy import names_of

__getattr__ = names_of(__name__, {}, deprecated={"SeqtagBatch": "seqtag.batch"})
