"""Old module: its names moved to `seqtag.batch.split`."""

from __future__ import annotations

from seqtag.deprecation import moved_names

__getattr__ = moved_names(
    __name__, dict.fromkeys(("cut_file", "join_parts", "part_of"), "seqtag.batch.split")
)
