"""Places of files: on this machine, or at an address such as ``s3://crawl/part-1.txt``.

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
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

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


class ReadablePlace(Protocol):
    """A place to read a file from."""

    name: str

    def facts(self) -> Facts | None:
        """Return size and stamp; None if there is no file."""

    def open(self) -> BinaryIO:
        """Open the file; it can seek."""


class Place(ReadablePlace, Protocol):
    """A place to read a file from and to write it to."""

    @contextmanager
    def output(self, *, tidy: bool = True) -> Iterator[PlaceOutput]:
        """Open the file for writing, atomically; its ending decides about compression.

        Raises
        ------
        CorpusError
            If the store cannot do that.
        """

    def remove(self) -> None:
        """Remove the file, if there is one."""

    def names(self) -> list[str]:
        """Return the names of the files in a folder; none if there is no such folder."""

    def remove_folder(self) -> None:
        """Remove an empty folder, if there is one."""


def is_address(name: str | os.PathLike[str]) -> bool:
    """Return whether a name has a scheme, such as ``s3://``.

    >>> is_address("s3://crawl/part-1.txt"), is_address("crawl/part-1.txt")
    (True, False)
    """
    return "://" in os.fspath(name)


def local_path(name: str) -> str | None:
    """Return the path of a file on this machine; None for one in a store.

    >>> local_path("crawl/a.txt"), local_path("file:///crawl/a.txt"), local_path("s3://crawl/a.txt")
    ('crawl/a.txt', '/crawl/a.txt', None)
    """
    path = name.removeprefix("file://")
    return None if is_address(path) else path


def place_of(name: str | os.PathLike[str]) -> Place:
    """Return the place of a path or an address.

    Parameters
    ----------
    name
        A path; or an address with a scheme that fsspec has a package for.

    Raises
    ------
    CorpusError
        If the scheme is unknown, or a package for it is missing.

    Examples
    --------
    >>> place_of("crawl/part-1.txt").facts() is None
    True
    """
    text = os.fspath(name)
    path = local_path(text)
    return _RemotePlace(text, *file_system(text)) if path is None else _LocalPlace(path)


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


def facts_of(names: Iterable[str]) -> dict[str, Facts | None]:
    """Return the facts of files; None for those that do not exist or cannot be looked up.

    Many files in one folder of a store are looked up by listing it; a web page is no such list.

    >>> facts_of(["crawl/part-1.txt"])
    {'crawl/part-1.txt': None}
    """
    found: dict[str, Facts | None] = {}
    folders: dict[str, list[str]] = {}
    for name in names:
        is_remote = local_path(name) is None
        folders.setdefault(name.rpartition("/")[0] if is_remote else "", []).append(name)
    for folder, inside in folders.items():
        found.update(dict.fromkeys(inside))
        with suppress(Exception):  # who opens the file says what is wrong
            if folder and len(inside) >= _LISTED and not folder.startswith(("http:", "https:")):
                system, path = file_system(folder)
                try:
                    listed = system.ls(path, detail=True, refresh=True)
                except FileNotFoundError:  # as the outputs of a first run
                    listed = []
                by_name = {PurePosixPath(info["name"]).name: info for info in listed}
                for name in inside:
                    info = by_name.get(name.rpartition("/")[2])
                    found[name] = _facts_of(info) if info else None
                continue
        for name in inside:
            with suppress(Exception):
                found[name] = place_of(name).facts()
    return found


def _facts_of(info: dict[str, Any]) -> Facts:
    """Return the facts of a file in a store."""
    mark = next((str(info[mark]) for mark in _MARKS if info.get(mark)), "")
    size = int(info.get("size") or 0)
    return Facts(size, f"{size}-{mark}-{info.get('name')}" if mark else "")


class _LocalPlace:
    """A file on this machine."""

    def __init__(self, path: str):
        self.name = path

    def facts(self) -> Facts | None:
        try:
            status = Path(self.name).stat()
        except FileNotFoundError:
            return None
        # A file that was changed just now may change again with the same modification time.
        settled = time.time() - status.st_mtime > _SETTLED
        stamp = f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"
        return Facts(status.st_size, stamp if settled else "")

    def open(self) -> BinaryIO:
        return Path(self.name).open("rb")

    @contextmanager
    def output(self, *, tidy: bool = True) -> Iterator[PlaceOutput]:
        Path(self.name).parent.mkdir(parents=True, exist_ok=True)
        with (
            Output(self.name, compress=False, tidy=tidy) as file,
            PlaceOutput(file, self.name) as out,
        ):
            yield out

    def remove(self) -> None:
        Path(self.name).unlink(missing_ok=True)

    def names(self) -> list[str]:
        try:
            return os.listdir(self.name)  # noqa: PTH208  (a third of the time)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove_folder(self) -> None:
        with suppress(OSError):  # it is not empty
            Path(self.name).rmdir()


_checked: set[Any] = set()  # file systems that show a file when it is complete


class _RemotePlace:
    """A file that fsspec reads and writes."""

    def __init__(self, name: str, system: Any, path: str):
        self.name = name
        self._system, self._path = system, path

    def facts(self) -> Facts | None:
        try:
            info = self._system.info(self._path)
        except FileNotFoundError:
            return None
        return _facts_of(info)

    def open(self) -> BinaryIO:
        with naming(self.name):
            found: BinaryIO = self._system.open(self._path, "rb")
        return found

    @contextmanager
    def output(self, *, tidy: bool = True) -> Iterator[PlaceOutput]:  # noqa: ARG002
        with naming(self.name):
            self._system.makedirs(str(PurePosixPath(self._path).parent), exist_ok=True)
        if self._system not in _checked:
            self._check_system()
            _checked.add(self._system)
        file = None
        try:
            # Parts are sent while they are written; `commit` makes a file of them, and the
            # transaction discards them after an error.
            with self._system.transaction:
                with naming(self.name):
                    file = self._system.open(self._path, "wb")
                with PlaceOutput(file, self.name) as out:
                    yield out
                with naming(self.name):
                    file.close()
                    file.commit()
                self._system.transaction.files.clear()
        except BaseException:
            with suppress(AttributeError):
                file.closed = True  # type: ignore[union-attr]  # nothing may complete it later
            raise

    def _check_system(self) -> None:
        """Refuse a file system that shows incomplete files, before anything is overwritten.

        A file that is opened in a transaction must wait for `commit`. That is tried with another.
        """
        path = str(PurePosixPath(self._path).with_name(f".seqtag-{os.urandom(8).hex()}.tmp"))
        with naming(self.name), self._system.transaction:
            file = self._system.open(path, "wb")
            self._system.transaction.files.clear()
        waits = hasattr(file, "commit") and not getattr(file, "autocommit", False)
        with suppress(Exception):
            if waits:
                file.discard()
                file.closed = True  # nothing may complete it later
            else:
                file.close()
                self._system.rm_file(path)
        if not waits:
            msg = (
                "expected a store that shows a file when it is complete, found one whose package "
                "for fsspec cannot do that; write to a folder or to S3"
            )
            raise CorpusError(msg, source=self.name)

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            self._system.rm_file(self._path)

    def names(self) -> list[str]:
        try:
            found = self._system.ls(self._path, detail=False, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        own = self._path.strip("/")
        return [PurePosixPath(path).name for path in found if path.strip("/") != own]

    def remove_folder(self) -> None:
        with suppress(OSError):  # stores have no folders, or it is not empty
            self._system.rmdir(self._path)


class RangePlace:
    """A range of the bytes of a file, as a place to read from. It has the name of the file."""

    def __init__(self, place: Place, start: int, end: int):
        self.name = place.name
        self._place, self._start, self._end = place, start, end

    def facts(self) -> Facts | None:
        """Return size of the range and stamp of the file; None if there is no file."""
        found = self._place.facts()
        if found is None:
            return None
        return Facts(max(0, min(self._end, found.bytes) - self._start), found.stamp)

    def open(self) -> BinaryIO:
        """Open the range."""
        file = self._place.open()
        file.seek(self._start)
        return io.BufferedReader(_RangeFile(file, self._end - self._start), _CHUNK)


class _RangeFile(io.RawIOBase):
    """The next bytes of an open file, which is closed with this one."""

    def __init__(self, file: BinaryIO, left: int):
        self._file, self._left = file, left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


class PlaceOutput:
    """An open file to write to, which is compressed if its name ends so; a context manager.

    Parameters
    ----------
    file
        The file that stores the bytes. It stays open.
    name
        Its name.

    Attributes
    ----------
    bytes
        Number of bytes stored; of the complete file after the block.
    """

    def __init__(self, file: Any, name: str):
        self.bytes = 0
        self._file, self._name, self._sha256 = file, name, hashlib.sha256()
        compression = compression_for(name)
        try:
            self._packed = compression.compressor(_Storing(self)) if compression else None
        except CorpusError as error:
            raise CorpusError(error.message, source=name) from None

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes that were stored."""
        return self._sha256.hexdigest()

    def write(self, data: bytes) -> int:
        """Write bytes; return their number."""
        return self._packed.write(data) if self._packed else self.store(data)

    def store(self, data: bytes) -> int:
        """Write bytes as they are."""
        with naming(self._name):
            self._file.write(data)
        self._sha256.update(data)
        self.bytes += len(data)
        return len(data)

    def __enter__(self) -> PlaceOutput:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._file = io.BytesIO()  # for the rest that a compressor writes when it is closed
        if self._packed is not None:
            self._packed.close()


class _Storing(io.RawIOBase):
    """What a compressor writes to."""

    def __init__(self, out: PlaceOutput):
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._out.store(bytes(data))


class DigestingFile:
    """An open binary file that computes the digest of the bytes that are read."""

    def __init__(self, file: BinaryIO, name: str):
        self.name = name
        self._file, self._sha256 = file, hashlib.sha256()

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


def digest_of(place: ReadablePlace) -> str:
    """Return the SHA-256 of a file."""
    with place.open() as file:
        return DigestingFile(file, place.name).digest()
