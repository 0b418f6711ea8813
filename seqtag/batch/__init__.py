"""Many files and shards: files tagged once, split files, parameter mixing, drivers for Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.lazy import names_of

if TYPE_CHECKING:
    from seqtag.batch.files import FileResult, tag_file
    from seqtag.batch.parameter_mixing import train_shards
    from seqtag.batch.ray_data import SeqtagBatch

__all__ = ["FileResult", "SeqtagBatch", "tag_file", "train_shards"]

__getattr__ = names_of(
    __name__,
    {
        "FileResult": "seqtag.batch.files",
        "SeqtagBatch": "seqtag.batch.ray_data",
        "tag_file": "seqtag.batch.files",
        "train_shards": "seqtag.batch.parameter_mixing",
    },
)
