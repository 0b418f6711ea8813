"""Files on this machine, or at an address such as ``s3://crawl/1.txt``, which fsspec opens."""

from __future__ import annotations

import glob
import os
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from seqtag.errors import CorpusError
from seqtag.storage.output import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_address(name: str) -> bool:
    """Return whether a name has a scheme.

    >>> is_address("s3://crawl/1.txt"), is_address("crawl/1.txt")
    (True, False)
    """
    return "://" in name


def absolute(name: str) -> str:
    """Return a path that is valid in any working folder; an address is.

    >>> absolute("s3://crawl/1.txt")
    's3://crawl/1.txt'
    """
    return name if is_address(name) else os.path.abspath(name)  # noqa: PTH100


def _store(address: str) -> tuple[Any, str]:
    """Return the file system of fsspec for an address, and the path in it.

    Raises
    ------
    CorpusError
        If there is no package for the scheme.
    """
    try:
        system, path = import_module("fsspec.core").url_to_fs(address)
    except (ImportError, ValueError) as error:
        msg = (
            "expected the package fsspec, and its package for this scheme (s3fs for s3://), found "
            f"none ({error}); install them with pip"
        )
        raise CorpusError(msg, source=address) from None
    return system, path


def matches(name: str) -> list[str]:
    """Return the files of a pattern such as ``crawl/**/*.txt``, sorted; other names as they are."""
    if is_address(name):
        system, path = _store(name)
        found = [str(system.unstrip_protocol(each)) for each in system.glob(path)]
    else:
        found = [] if Path(name).exists() else glob.glob(name, recursive=True)  # noqa: PTH207
    return sorted(found) or [name]


def changed(name: str) -> float:
    """Return the time of the last change in seconds; 0 for no file, or where a store has no times.

    >>> changed("no/such/file"), changed("pyproject.toml") > 0
    (0.0, True)
    """
    try:
        if not is_address(name):
            return Path(name).stat().st_mtime
        system, path = _store(name)
        return float(system.modified(path).timestamp())
    except (OSError, NotImplementedError):
        return 0.0


def reading(name: str) -> Any:
    """Return a context manager that opens a file."""
    if not is_address(name):
        return Path(name).open("rb")
    system, path = _store(name)
    return system.open(path, "rb")


@contextmanager
def writing(name: str) -> Iterator[BinaryIO]:
    """Lend an output that gets its name when the block ends without an error.

    A store gets it complete, under another name first.
    """
    if not is_address(name):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        with atomic(name) as out:
            yield out
        return
    system, path = _store(name)
    folder, _, file = path.rpartition("/")
    with TemporaryDirectory() as here:
        with atomic(Path(here, file)) as out:
            yield out
        system.makedirs(folder, exist_ok=True)
        system.put_file(str(Path(here, file)), f"{path}.part")
        system.mv(f"{path}.part", path)
