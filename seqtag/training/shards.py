"""Old module: its names moved to `seqtag.batch.shards`."""

from __future__ import annotations

from seqtag.lazy import names_of

__getattr__ = names_of(__name__, {}, deprecated={"train_shard": "seqtag.batch.shards"})
