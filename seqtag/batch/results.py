"""Models for a run over many files, and the results that it writes next to the tagged files."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from seqtag.batch.files import Models, bytes_of_model, json_bytes, models_of_bytes
from seqtag.batch.jobs import FAILED, SUMMARY
from seqtag.batch.ray_tagging import ModelCopy
from seqtag.batch.rows import RowTagger, row_format
from seqtag.batch.storage import place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.batch.jobs import Job
    from seqtag.batch.ray_tagging import BatchReport
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


def write_results(
    report: BatchReport,
    folder: str,
    copies: Sequence[ModelCopy],
    options: TagOptions,
    summary: str | None = None,
) -> None:
    """Write the summary of a run, and the list of failed files, or remove it if there are none.

    Parameters
    ----------
    report
        The result of the run.
    folder
        Folder or address of the tagged files.
    copies, options
        What they were tagged with.
    summary
        Path or address of the summary; None for ``summary.json`` in the folder.
    """
    failures = place_of(f"{folder.rstrip('/')}/{FAILED}")
    if report.failures:
        with failures.output() as out:
            for failure in sorted(report.failures, key=lambda each: each.file):
                out.write(json_bytes(asdict(failure)))
    else:
        failures.remove()
    models = [{"name": copy.name, "sha256": copy.digest} for copy in copies]
    found = report.as_json() | {"models": models, "options": options.as_json()}
    with place_of(summary or f"{folder.rstrip('/')}/{SUMMARY}").output() as out:
        out.write(json_bytes(found, indent=2))
