"""Many files and shards: files tagged once, parameter mixing, drivers for Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.lazy import names_of

if TYPE_CHECKING:
    from seqtag.batch.files import tag_file
    from seqtag.batch.ledger import FileResult, Ledger
    from seqtag.batch.rows import SeqtagBatch, annotate


__getattr__ = names_of(
    __name__,
    {
        "FileResult": "seqtag.batch.ledger",
        "Ledger": "seqtag.batch.ledger",
        "SeqtagBatch": "seqtag.batch.rows",
        "annotate": "seqtag.batch.rows",
        "tag_file": "seqtag.batch.files",
    },
)
