"""Tagging of many files into a folder, for ``seqtag tag`` and ``seqtag cluster tag``."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

import click

from seqtag.batch.files import Summary, tag_files
from seqtag.catalogue.fetch import locate
from seqtag.cli.common import ATTRIBUTES, Notes, complain, load_model, os_message, refuse, usage
from seqtag.model.embedded import DEFAULT_MODELS
from seqtag.storage.digests import digest_of
from seqtag.tagging.streams import TagOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seqtag.corpus import ReadOptions

_NOTE_SECONDS = 30.0  # between two lines about the progress, if there is no terminal


@dataclass(frozen=True)
class FileOptions(TagOptions):
    """Options of files, with what is read leniently and the digests of attribute files."""

    lenient: bool = False
    attributes: tuple[str, ...] = ()

    @property
    def reading(self) -> ReadOptions:
        """The options for reading the input."""
        usual = super().reading
        return replace(usual, limits=usual.limits._replace(lenient=self.lenient))


def tag_into_folder(
    notes: Notes,
    inputs: Sequence[str],
    folder: str,
    models: Sequence[str],
    reading: ReadOptions,
    tagging: Mapping[str, Any],
    **how: Any,
) -> int:
    """Tag files into a folder, and report the progress and the failures; return the exit code.

    Parameters
    ----------
    notes
        Where to report.
    inputs, folder, models
        Names of the files, the folder, and the models.
    reading, tagging
        Options of the command line.
    **how
        Other arguments of `seqtag.batch.tag_files`.
    """
    if "-" in inputs:
        refuse("expected files to tag into a folder, found standard input; name the files")
    logging.getLogger("seqtag").setLevel(logging.WARNING)  # no notes about single files
    begun, shown, done = perf_counter(), monotonic(), 0
    attributes = click.get_current_context().meta.get(ATTRIBUTES, ())
    with usage(), notes.bar("file", None) as bar:
        options = FileOptions(
            format=reading.format,
            lenient=reading.limits.lenient,
            attributes=tuple(digest_of(Path(file)) for file in attributes),
            **reading.layout_arguments(),
            **tagging,
        )
        loaded = [load_model(name) for name in models or DEFAULT_MODELS]

        def show(summary: Summary, total: int) -> None:
            nonlocal shown, done
            bar(_done(summary) - done, f"of {total:,}, {summary.tokens:,} words")
            done = _done(summary)
            if not notes.on_terminal and monotonic() - shown > _NOTE_SECONDS:
                shown = monotonic()
                notes(f"{done:,} of {total:,} files, {summary.tokens:,} words")

        files = locate(inputs)
        summary = tag_files(files, folder, loaded, options, on_file=show, **how)
    for name, error in summary.failures.items():
        message = _message_of(error)
        complain(message if name in message else f"{name}: {message}")
    seconds = perf_counter() - begun
    notes(
        f"{summary.tagged:,} tagged, {summary.skipped:,} skipped, {len(summary.failures):,} "
        f"failed; {summary.tokens:,} words in {seconds:.1f} s"
    )
    return 1 if summary.failures else 0


def _done(summary: Summary) -> int:
    return summary.tagged + summary.skipped + len(summary.failures)


def _message_of(error: Exception) -> str:
    if isinstance(error, OSError):
        return os_message(error)
    is_ours = type(error).__module__.startswith("seqtag.")
    return str(error) if is_ours else f"{type(error).__name__}: {error}"
