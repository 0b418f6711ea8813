"""Many files and shards: files tagged once, split files, parameter mixing, drivers for Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.lazy import names_of

if TYPE_CHECKING:
    from seqtag.batch.parameter_mixing import train_shards
    from seqtag.batch.ray_data import SeqtagBatch
    from seqtag.batch.tag_file import FileResult, tag_file

__all__ = ["FileResult", "SeqtagBatch", "tag_file", "train_shards"]

__getattr__ = names_of(
    __name__,
    {
        "FileResult": "seqtag.batch.tag_file",
        "SeqtagBatch": "seqtag.batch.ray_data",
        "tag_file": "seqtag.batch.tag_file",
        "train_shards": "seqtag.batch.parameter_mixing",
    },
)
