"""Old module: its names moved to `seqtag.batch.shards`."""

from __future__ import annotations

from seqtag.deprecation import moved_names

__getattr__ = moved_names(__name__, {"train_shard": "seqtag.batch.shards"})
