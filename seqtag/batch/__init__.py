"""Many files on many machines: files tagged once, parts, shards, and drivers for Ray."""

from __future__ import annotations

from seqtag.batch.ray_data import SeqtagBatch

__all__ = ["SeqtagBatch"]
