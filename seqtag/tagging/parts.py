"""Old module: its names moved to `seqtag.batch.split`."""

from __future__ import annotations

from seqtag.lazy import names_of

_NEW = "seqtag.batch.split"
__getattr__ = names_of(
    __name__, {}, deprecated={"cut_file": _NEW, "join_parts": _NEW, "part_of": _NEW}
)
