"""Cache of downloaded corpora: paths, digests and locks."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from seqtag.errors import CatalogueError
from seqtag.storage import locks
from seqtag.storage.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seqtag.catalogue.entries import RemoteFile

FOLDER = "SEQTAG_CACHE"
"""The environment variable that names another folder to keep corpora in."""

_log = logging.getLogger("seqtag")


def cache_folder() -> Path:
    r"""Return the cache folder: ``$SEQTAG_CACHE``, or the default of the system.

    That is ``$XDG_CACHE_HOME/seqtag`` or ``~/.cache/seqtag``, ``~/Library/Caches/seqtag`` on macOS
    and ``%LOCALAPPDATA%\seqtag\Cache`` on Windows.
    """
    if named := os.environ.get(FOLDER):
        return Path(named).absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else _home() / "AppData" / "Local") / "seqtag" / "Cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "seqtag"
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named.startswith("/") else _home() / ".cache") / "seqtag"


def _home() -> Path:
    """Return the home folder of the user."""
    try:
        return Path.home()
    except RuntimeError as error:
        msg = f"expected a home folder for corpora, found none; set {FOLDER} to a folder"
        raise CatalogueError(msg) from error


def local_path(file: RemoteFile) -> Path:
    """Return the path of a file in the cache, whether it exists or not."""
    folder = f"{file.corpus.replace(':', '-')}-{file.release}"
    return cache_folder() / "corpora" / folder / Path(urlsplit(file.address).path).name


def record_of(path: Path) -> Path:
    """Return the path of the digest of a fetched file, in the format of ``sha256sum``."""
    return path.with_name(path.name + ".sha256")


def expected_digest(file: RemoteFile, path: Path) -> str | None:
    """Return the expected SHA-256 of a file: of the catalogue, or of the first download."""
    if file.digest:
        return file.digest
    try:
        return record_of(path).read_text("utf-8").split()[0]
    except (FileNotFoundError, NotADirectoryError):
        return None


def keep_record(path: Path, digest: str) -> None:
    """Write down the digest of a file."""
    with Output(record_of(path)) as out:
        out.write(f"{digest}  {path.name}\n".encode())


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    sha = hashlib.sha256()
    with path.open("rb") as opened:
        while chunk := opened.read(1 << 20):
            sha.update(chunk)
    return sha.hexdigest()


def is_complete(file: RemoteFile, path: Path) -> bool:
    """Return whether a file is in the cache and has the expected digest."""
    if not path.is_file():
        return False
    expected = expected_digest(file, path)
    if expected is None or digest_of(path) == expected:
        return True
    _log.info("%s has changed since it was fetched; fetching it again", path)
    return False


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that one process has at a time, and that ends with the process."""
    opened = path.open("ab")
    try:
        if not locks.acquire(opened.fileno()):
            _log.info("%s: waiting for another process that is fetching it", path.with_suffix(""))
            locks.acquire(opened.fileno(), wait=True)
        yield
    finally:
        with suppress(OSError):  # nothing was written that could be lost
            opened.close()
