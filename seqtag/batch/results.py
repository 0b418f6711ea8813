"""Models for a run over many files."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

from seqtag.batch.files import Models, bytes_of_model, models_of_bytes
from seqtag.batch.ray_tagging import ModelCopy
from seqtag.batch.rows import RowTagger, row_format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.batch.jobs import Job
    from seqtag.tagging.streams import TagOptions


def copies_of(models: Sequence[str], options: TagOptions, jobs: Sequence[Job]) -> list[ModelCopy]:
    """Read models, and check that they fit the options before anything is sent to a cluster.

    Parameters
    ----------
    models
        Files, or names of embedded models.
    options
        How to tag.
    jobs
        The files to tag.

    Raises
    ------
    OptionError, ModelFileError
        If a model is not one, or cannot do what the options ask for.
    """
    found, copies = [], []
    for name in models:
        data = bytes_of_model(name)
        found.append(models_of_bytes(data, name))
        copies.append(ModelCopy(name, hashlib.sha256(data).hexdigest(), data))
    chain = Models.of(found).chain(options.only)
    if any(row_format(job.source, options.format) for job in jobs):
        RowTagger(chain, options)
    return copies


def changed_since(copies: Sequence[ModelCopy]) -> list[str]:
    """Return the names of models whose files have changed since they were read."""
    changed = []
    for copy in copies:
        with suppress(OSError):
            if hashlib.sha256(bytes_of_model(copy.name)).hexdigest() != copy.digest:
                changed.append(copy.name)
    return changed
