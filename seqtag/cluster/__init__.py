"""Many files on many machines: thin drivers for Ray, which is imported when it is needed."""

from __future__ import annotations

from seqtag.cluster.adapter import SeqtagBatch

__all__ = ["SeqtagBatch"]
