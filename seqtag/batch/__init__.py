"""Many files: one output for each, on threads or on a Ray cluster."""

from __future__ import annotations

from seqtag.batch.files import Summary, tag_files

__all__ = ["Summary", "tag_files"]
