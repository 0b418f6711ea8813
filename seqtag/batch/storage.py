"""Files on this machine, or at an address such as ``s3://crawl/part-1.txt``.

Addresses are read and written by fsspec, which is imported when it is needed.
"""

from __future__ import annotations

import hashlib
import io
import os
import time
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from seqtag.errors import CorpusError, install_hint
from seqtag.storage.compression import compression_for
from seqtag.storage.output import Output, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SETTLED = 2.0  # seconds after which a change of a file changes its modification time
_CHUNK = 1 << 20
_LISTED = 100  # files of a folder in a store from which on it is listed instead of asking for each
_MARKS = ("ETag", "etag", "md5Hash", "blob_id", "LastModified", "mtime", "last_modified")


class Facts(NamedTuple):
    """Size of a file, and a stamp that changes when the file does.

    The stamp is empty if a change cannot be detected without reading the file.
    """

    bytes: int
    stamp: str


def is_address(name: str | os.PathLike[str]) -> bool:
    """Return whether a name has a scheme, such as ``s3://``.

    >>> is_address("s3://crawl/part-1.txt"), is_address("crawl/part-1.txt")
    (True, False)
    """
    return "://" in os.fspath(name)


def absolute(name: str) -> str:
    """Return a path that is valid in any folder, with its links; addresses are."""
    return name if is_address(name) else os.path.abspath(name)  # noqa: PTH100


def local_path(name: str) -> str | None:
    """Return the path of a file on this machine; None for one in a store.

    >>> local_path("crawl/a.txt"), local_path("file:///crawl/a.txt"), local_path("s3://crawl/a.txt")
    ('crawl/a.txt', '/crawl/a.txt', None)
    """
    path = name.removeprefix("file://")
    return None if is_address(path) else path


def file_system(address: str) -> tuple[Any, str]:
    """Return the file system of fsspec for an address, and the path in it.

    Raises
    ------
    CorpusError
        If the scheme is unknown, or a package for it is missing.
    """
    scheme = address.partition("://")[0]
    try:
        fsspec = import_module("fsspec")
    except ImportError:
        msg = (
            f"expected the package fsspec for files at {scheme}://, found none; "
            f"{install_hint('ray')}"
        )
        raise CorpusError(msg, source=address) from None
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        msg = f"expected a package for files at {scheme}://, found none: {error}"
        raise CorpusError(msg, source=address) from None
    except ValueError:
        msg = (
            f"expected the address of a file, found the scheme {scheme!r} that fsspec does not "
            "know; check it"
        )
        raise CorpusError(msg, source=address) from None
    return system, path


# --------------------------------------------------------------------------- facts
def facts_of(name: str) -> Facts | None:
    """Return size and stamp of a file; None if there is none.

    >>> facts_of("crawl/part-1.txt") is None
    True
    """
    path = local_path(name)
    try:
        if path is None:
            system, path = file_system(name)
            return _facts_in_store(system.info(path))
        status = Path(path).stat()
    except FileNotFoundError:
        return None
    # A file that was changed just now may change again with the same modification time.
    settled = time.time() - status.st_mtime > _SETTLED
    stamp = f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"
    return Facts(status.st_size, stamp if settled else "")


def facts_of_all(names: Iterable[str]) -> dict[str, Facts | None]:
    """Return the facts of files; None for those that do not exist or cannot be looked up.

    Many files in one folder of a store are looked up by listing it; a web page is no such list.

    >>> facts_of_all(["crawl/part-1.txt"])
    {'crawl/part-1.txt': None}
    """
    folders: dict[str, list[str]] = {}
    for name in names:
        is_listed = local_path(name) is None and not name.startswith(("http:", "https:"))
        folders.setdefault(name.rpartition("/")[0] if is_listed else "", []).append(name)
    found: dict[str, Facts | None] = {}
    for folder, inside in folders.items():
        found.update(dict.fromkeys(inside))
        if folder and len(inside) >= _LISTED:
            with suppress(Exception):  # who opens a file says what is wrong
                system, path = file_system(folder)
                for info in system.ls(path, detail=True, refresh=True):
                    name = f"{folder}/{PurePosixPath(info['name']).name}"
                    if name in found:
                        found[name] = _facts_in_store(info)
            continue
        for name in inside:
            with suppress(Exception):
                found[name] = facts_of(name)
    return found


def _facts_in_store(info: dict[str, Any]) -> Facts:
    """Return the facts of a file in a store."""
    mark = next((str(info[mark]) for mark in _MARKS if info.get(mark)), "")
    size = int(info.get("size") or 0)
    return Facts(size, f"{size}-{mark}-{info.get('name')}" if mark else "")


# --------------------------------------------------------------------------- reading
def open_file(name: str) -> BinaryIO:
    """Open a file for reading; it can seek."""
    path = local_path(name)
    if path is not None:
        return Path(path).open("rb")
    system, path = file_system(name)
    with naming(name):
        found: BinaryIO = system.open(path, "rb")
    return found


class DigestingFile:
    """An open binary file that computes the digest of the bytes that are read."""

    def __init__(self, file: BinaryIO, name: str):
        self.name, self._file, self._sha256 = name, file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read bytes."""
        data = self._file.read(size)
        self._sha256.update(data)
        return data

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._file.fileno()

    def digest(self) -> str:
        """Read the rest of the file; return the SHA-256 of all of it."""
        while self.read(_CHUNK):
            pass
        return self._sha256.hexdigest()


@contextmanager
def digesting(name: str) -> Iterator[DigestingFile]:
    """Open a file for the block."""
    with open_file(name) as file:
        yield DigestingFile(file, name)


def digest_of(name: str) -> str:
    """Return the SHA-256 of a file."""
    with digesting(name) as file:
        return file.digest()


# --------------------------------------------------------------------------- writing
@contextmanager
def open_output(name: str, *, tidy: bool = True) -> Iterator[tuple[Any, Stored]]:
    """Lend a file to write to, atomically, and what it stores; its name decides about compression.

    A store gets the bytes in parts while they are written. `tidy`: as in
    `seqtag.storage.output.Output`.

    Raises
    ------
    CorpusError
        If the store cannot do that.
    """
    path = local_path(name)
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Output(path, compress=False, tidy=tidy) as file:
            stored = Stored(file, name)
            with _packed(stored, name) as out:
                yield out, stored
        return
    system, path = file_system(name)
    with naming(name):
        system.makedirs(str(PurePosixPath(path).parent), exist_ok=True)
    _check_atomic(system, path, name)
    sent = None
    try:
        # `commit` makes a file of the parts; the transaction discards them after an error.
        with system.transaction:
            with naming(name):
                sent = system.open(path, "wb")
            stored = Stored(sent, name)
            with _packed(stored, name) as out:
                yield out, stored
            with naming(name):
                sent.close()
                sent.commit()
            system.transaction.files.clear()
    except BaseException:
        with suppress(AttributeError):
            sent.closed = True  # type: ignore[union-attr]  # nothing may complete it later
        raise


_checked: set[Any] = set()  # file systems that show a file when it is complete


def _check_atomic(system: Any, path: str, name: str) -> None:
    """Refuse a file system that shows incomplete files, before anything is overwritten.

    A file that is opened in a transaction must wait for `commit`. That is tried with another.
    """
    if system in _checked:
        return
    path = str(PurePosixPath(path).with_name(f".seqtag-{os.urandom(8).hex()}.tmp"))
    with naming(name), system.transaction:
        file = system.open(path, "wb")
        system.transaction.files.clear()
    waits = hasattr(file, "commit") and not getattr(file, "autocommit", False)
    with suppress(Exception):
        if waits:
            file.discard()
            file.closed = True  # nothing may complete it later
        else:
            file.close()
            system.rm_file(path)
    if not waits:
        msg = (
            "expected a store that shows a file when it is complete, found one whose package "
            "for fsspec cannot do that; write to a folder or to S3"
        )
        raise CorpusError(msg, source=name)
    _checked.add(system)


class Stored(io.RawIOBase):
    """The bytes that a file gets, as a file to write to. It stays open when this is closed.

    Parameters
    ----------
    file
        The file that stores the bytes.
    name
        Its name.

    Attributes
    ----------
    bytes
        Number of bytes stored.
    """

    def __init__(self, file: Any, name: str):
        self.bytes = 0
        self._file, self._name, self._sha256 = file, name, hashlib.sha256()

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes that were stored."""
        return self._sha256.hexdigest()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Store bytes; return their number."""
        given = bytes(data)
        with naming(self._name):
            self._file.write(given)
        self._sha256.update(given)
        self.bytes += len(given)
        return len(given)

    def discard(self) -> None:
        """Store nothing that is written from now on."""
        self._file = io.BytesIO()


@contextmanager
def _packed(stored: Stored, name: str) -> Iterator[Any]:
    """Lend a file to write to, which is compressed if the name ends so."""
    compression = compression_for(name)
    if compression is None:
        yield stored
        return
    try:
        packed = compression.compressor(stored)
    except CorpusError as error:
        raise CorpusError(error.message, source=name) from None
    try:
        yield packed
    except BaseException:
        stored.discard()  # what the compressor writes when it is closed
        raise
    finally:
        packed.close()
