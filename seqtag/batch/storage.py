"""Where files are: on this machine, or at an address such as ``s3://crawl/part-1.txt``.

Local files need nothing; addresses are read and written by fsspec, which is imported then.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import time
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from seqtag.errors import CorpusError, install_hint
from seqtag.storage.output import Output, naming

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTLED = 2.0  # seconds after which a file that changes has another time of change
_CHUNK = 1 << 20


class Facts(NamedTuple):
    """What a file looks like from outside.

    Attributes
    ----------
    bytes
        Its size.
    stamp
        Changes when the file does; None where nobody can tell without reading it.
    """

    bytes: int
    stamp: str | None


class ReadablePlace(Protocol):
    """Where a file is."""

    name: str

    def facts(self) -> Facts | None:
        """Size and stamp; None if there is no file."""

    def open(self) -> BinaryIO:
        """The file, to be read from the start or from anywhere."""


class Place(ReadablePlace, Protocol):
    """Where a file is, or will be."""

    @contextmanager
    def output(self, *, tidy: bool = True) -> Iterator[Output]:
        """What is written here, whole or not at all; compressed if the name says so."""

    def remove(self) -> None:
        """Take the file away, if there is one."""

    def names(self) -> list[str]:
        """Names of the files in a folder; none if there is no such folder."""

    def remove_folder(self) -> None:
        """Take an empty folder away, if there is one."""


def is_address(name: str | os.PathLike[str]) -> bool:
    """Whether a name has a scheme, as ``s3://`` (and is not of a file beside that).

    >>> is_address("s3://crawl/part-1.txt"), is_address("crawl/part-1.txt")
    (True, False)
    """
    return "://" in os.fspath(name)


def place_of(name: str | os.PathLike[str]) -> Place:
    """The place that a path or an address names.

    Parameters
    ----------
    name
        A path; or an address of any scheme that fsspec has a package for.

    Raises
    ------
    CorpusError
        If the scheme is not known, or a package for it is missing.

    Examples
    --------
    >>> place_of("crawl/part-1.txt").facts() is None
    True
    """
    text = os.fspath(name)
    if not is_address(text):
        return _LocalPlace(text)
    if text.startswith("file://"):
        return _LocalPlace(text.removeprefix("file://"))
    return _RemotePlace(text, *file_system(text))


def file_system(address: str) -> tuple[Any, str]:
    """The file system of fsspec that an address is in, and the path there.

    Raises
    ------
    CorpusError
        If the scheme is not known, or a package for it is missing.
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


class _LocalPlace:
    """A file on this machine."""

    def __init__(self, path: str):
        self.name = path

    def facts(self) -> Facts | None:
        try:
            status = Path(self.name).stat()
        except FileNotFoundError:
            return None
        # What was changed just now may change once more and have the same time.
        settled = time.time() - status.st_mtime > _SETTLED
        stamp = f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"
        return Facts(status.st_size, stamp if settled else None)

    def open(self) -> BinaryIO:
        return Path(self.name).open("rb")

    @contextmanager
    def output(self, *, tidy: bool = True) -> Iterator[Output]:
        Path(self.name).parent.mkdir(parents=True, exist_ok=True)
        with Output(self.name, tidy=tidy) as out:
            yield out

    def remove(self) -> None:
        Path(self.name).unlink(missing_ok=True)

    def names(self) -> list[str]:
        try:
            return os.listdir(self.name)  # noqa: PTH208  (a third of the time)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove_folder(self) -> None:
        with suppress(OSError):  # somebody else's file is in it
            Path(self.name).rmdir()


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
        marks = ("ETag", "etag", "md5Hash", "LastModified", "mtime", "last_modified", "blob_id")
        known = [str(info[mark]) for mark in marks if info.get(mark)]
        stamp = f"{info.get('size')}-{known[0]}" if known else None
        return Facts(int(info.get("size") or 0), stamp)

    def open(self) -> BinaryIO:
        with naming(self.name):
            found: BinaryIO = self._system.open(self._path, "rb")
        return found

    @contextmanager
    def output(self, *, tidy: bool = True) -> Iterator[Output]:
        # A store shows a file when it is there as a whole; one that is sent in pieces would be
        # completed by an error as well.
        with tempfile.TemporaryDirectory(prefix="seqtag-") as folder:
            local = Path(folder, PurePosixPath(self._path).name)
            with Output(local, tidy=tidy) as out:
                yield out
            with naming(self.name):
                parent = str(PurePosixPath(self._path).parent)
                self._system.makedirs(parent, exist_ok=True)
                self._system.put_file(str(local), self._path)

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            self._system.rm_file(self._path)

    def names(self) -> list[str]:
        try:
            found = self._system.ls(self._path, detail=False, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [PurePosixPath(path).name for path in found if path.strip("/") != self._inside]

    def remove_folder(self) -> None:
        with suppress(OSError):  # stores have none, or somebody else's file is in it
            self._system.rmdir(self._path)

    @property
    def _inside(self) -> str:
        return self._path.strip("/")


class RangePlace:
    """A range of the bytes of a file, which is read like a file.

    Parameters
    ----------
    place
        The file.
    start, end
        Where the range begins and ends.

    Attributes
    ----------
    name
        That of the file.
    """

    def __init__(self, place: Place, start: int, end: int):
        self.name = place.name
        self._place, self._start, self._end = place, start, end

    def facts(self) -> Facts | None:
        """Size of the range and stamp of the file; None if there is no file."""
        found = self._place.facts()
        if found is None:
            return None
        return Facts(max(0, min(self._end, found.bytes) - self._start), found.stamp)

    def open(self) -> BinaryIO:
        """The range, to be read from its start."""
        file = self._place.open()
        file.seek(self._start)
        return io.BufferedReader(_RangeFile(file, self._end - self._start), _CHUNK)


class _RangeFile(io.RawIOBase):
    """So many bytes of an open file, which is closed with this one."""

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


class DigestingFile:
    """A binary file whose bytes are digested as they are read from front to back.

    Parameters
    ----------
    file
        The open file.
    name
        What messages call it.
    """

    def __init__(self, file: BinaryIO, name: str):
        self.name = name
        self._file, self._sha256 = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._file.read(size)
        self._sha256.update(data)
        return data

    def fileno(self) -> int:
        """The number that the system has for the file."""
        return self._file.fileno()

    def digest(self) -> str:
        """SHA-256 of the whole file; what is left of it is read."""
        while self.read(_CHUNK):
            pass
        return self._sha256.hexdigest()


def digest_of(place: ReadablePlace) -> str:
    """SHA-256 of a file."""
    with place.open() as file:
        return DigestingFile(file, place.name).digest()
