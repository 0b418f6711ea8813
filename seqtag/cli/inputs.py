"""Files that are named on the command line: paths, or corpora by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.catalogue.names import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from seqtag.catalogue.entries import RemoteFile
    from seqtag.cli.common import Notes


def located(names: Iterable[str], notes: Notes | None = None, part: str | None = None) -> list[str]:
    """Paths as they are, and those of corpora that are named, which are fetched if need be.

    Parameters
    ----------
    names
        Paths, ``-``, or names of corpora, as ``ud:fr_sequoia/dev``.
    notes
        Where to show how far a transfer is; None shows nothing.
    part
        The part of a corpus that is named without one; None to refuse such names.
    """
    found = []
    for name in names:
        corpus = parse(name)
        found.append(str(fetched(corpus.file(part), notes)) if corpus else name)
    return found


def fetched(file: RemoteFile, notes: Notes | None) -> str:
    """Path of a part of a corpus, fetched with a progress bar where it is not there."""
    from seqtag.catalogue.cache import is_whole, local_path
    from seqtag.catalogue.fetch import fetch  # its libraries take longer than a short text

    if notes is None or is_whole(file, local_path(file)):
        return str(fetch(file))
    notes(f"fetching {file.corpus}/{file.part}, release {file.release}")
    with notes.bar("B", file.size) as bar:
        return str(fetch(file, bar))
