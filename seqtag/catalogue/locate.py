"""Files for names: paths as they are, corpora by name from the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import TypeAlias

    from seqtag.catalogue.entries import RemoteFile

    Progress: TypeAlias = Callable[[RemoteFile], AbstractContextManager[Callable[[int], object]]]


def locate(
    names: Iterable[str], part: str | None = None, progress: Progress | None = None
) -> list[str]:
    """Return a path for each name, and fetch corpora that are not in the cache.

    Parameters
    ----------
    names
        Paths, ``-``, or names of corpora, such as ``ud:fr_sequoia/dev``.
    part
        The split of a corpus that is named without one; None to refuse such names.
    progress
        Called with each file that is fetched; returns a context manager of a function that takes
        the number of bytes that arrived.

    Raises
    ------
    CatalogueError
        If there is no such corpus or split, or it cannot be fetched.
    """
    found = []
    for name in names:
        if name == "-":
            found.append(name)
            continue
        from seqtag.catalogue.entries import parse  # late: needless for standard input

        corpus = parse(name)
        found.append(str(fetched(corpus.file(part), progress)) if corpus else name)
    return found


def fetched(file: RemoteFile, progress: Progress | None = None) -> Path:
    """Return the path of a file of a corpus, after fetching it if it is not in the cache."""
    # Late: their libraries take longer than a short text.
    from seqtag.catalogue.cache import is_complete, local_path
    from seqtag.catalogue.fetch import fetch

    if progress is None or is_complete(file, local_path(file)):
        return fetch(file)
    with progress(file) as bar:
        return fetch(file, bar)
