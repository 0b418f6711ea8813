"""Atomic output files.

Packages for these keep neither permissions nor access lists, nor remove what a killed process left.
"""

from __future__ import annotations

import binascii
import errno
import filecmp
import io
import logging
import os
import re
import stat
import sys
import time
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from seqtag.errors import CorpusError
from seqtag.storage import locks
from seqtag.storage.compression import compression_for
from seqtag.storage.nonblocking import WaitingFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_log = logging.getLogger("seqtag")

_ACCESS = "system.posix_acl_access"  # where Linux keeps who else may do what with a file
_DAY = 86400.0  # seconds
_DESCRIPTOR = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/(\d+)")

MODEL_START = b'{"__metadata__":'
"""What the header of a seqtag model begins with, after the 8 bytes of its length."""


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Give a system error inside the ``with`` block the file name that it lacks."""
    try:
        yield
    except OSError as err:
        err.filename = err.filename or name
        raise


def check_output(path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse an output file that is one of the input files, however it is spelled.

    Parameters
    ----------
    path, inputs
        Paths, or ``"-"``: standard input, or an output that clashes with nothing. Files that do
        not exist never clash.

    Raises
    ------
    CorpusError
        If `path` and an input are the same regular file.

    Examples
    --------
    >>> check_output("-", ["-", "train.conllu"])
    """
    out = os.fspath(path)
    if out == "-":
        return
    for name in inputs:
        given = os.fspath(name)
        if Path(out).is_file() and is_same_file(given, Path(out).stat()):
            msg = (
                f"expected an output file other than the input {given!r}; "
                "choose another output; no file was changed"
            )
            raise CorpusError(msg, source=out)


def is_same_file(name: str, other: os.stat_result) -> bool:
    """Return whether a path, or standard input (``"-"``), is the file of a status.

    >>> is_same_file("no/such", Path().stat())
    False
    """
    try:
        found = os.fstat(sys.stdin.fileno()) if name == "-" else os.stat(name)  # noqa: PTH116
    except (AttributeError, OSError, ValueError):  # closed, replaced, missing
        return False
    return os.path.samestat(found, other)


def descriptor_of(name: str | os.PathLike[str]) -> int | None:
    """Return the number of the open descriptor that a path names; None if it names none.

    These are the names of standard streams and of what a shell opens for ``>(command)``. They are
    written as they are: neither may their files be replaced, nor can all of them be opened again.

    Examples
    --------
    >>> descriptor_of("/dev/stdout"), descriptor_of("/dev/fd/63"), descriptor_of("out.txt")
    (1, 63, None)
    """
    found = _DESCRIPTOR.fullmatch(os.fspath(name))
    if found is None:
        return None
    return 1 if found[1] == "stdout" else 2 if found[1] == "stderr" else int(found[2])


def is_read_once(name: str | os.PathLike[str]) -> bool:
    """Return whether an input can be read only once: standard input, a pipe, a device.

    Who opens a pipe again waits for ever, or finds nothing more in it. What is not there, or a
    name of something else, is for those to say who open it.

    >>> is_read_once("-"), is_read_once("pyproject.toml"), is_read_once("no/such")
    (True, False, False)
    """
    if os.fspath(name) == "-":
        return True
    try:
        return not stat.S_ISREG(os.stat(name).st_mode)  # noqa: PTH116
    except (OSError, ValueError):
        return False


if sys.platform == "win32":
    _HERE = ""
else:
    _HERE = os.uname().nodename


def _mark(name: str) -> str:
    """Return eight hexadecimal digits for a name."""
    return f"{binascii.crc32(os.fsencode(name)):08x}"


def _temporary_name(target: Path) -> Path:
    """Return a new name next to a file, with marks of the file and of this machine."""
    name = f".seqtag-{_mark(target.name)}-{_mark(_HERE)}-{os.urandom(8).hex()}.tmp"
    return target.with_name(name)


def remove_leftovers(folder: str | os.PathLike[str], target: str | None = None) -> None:
    """Remove temporary files of killed processes from a folder, of one file or of all.

    A process locks its temporary file for as long as it lives, so one without a lock is left over.
    But locks of other machines may be invisible here, and some file systems have none: files that
    may belong to another process are removed only if nothing was written to them for a day.

    Examples
    --------
    >>> remove_leftovers("a/folder/that/is/not/there")
    """
    start = ".seqtag-" if target is None else f".seqtag-{_mark(target)}-"
    here = f"-{_mark(_HERE)}-"
    with suppress(OSError):  # failing to remove leftovers is not an error
        for name in os.listdir(folder):  # noqa: PTH208  (a third of the time)
            if not (name.startswith(start) and name.endswith(".tmp")):
                continue
            path, number = Path(folder, name), None
            with suppress(OSError):
                try:
                    free: bool | None = None  # whether no process writes it, if that is known
                    if sys.platform == "win32":
                        found = path.lstat()
                    else:
                        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                        with suppress(OSError):
                            free = locks.acquire(number, shared=True)
                        found = os.fstat(number)
                    old = time.time() - found.st_mtime > _DAY
                    is_left = (here in name and free) or (old and free is not False)
                    if is_left and stat.S_ISREG(found.st_mode):
                        path.unlink()
                        _log.info("%s was left by a killed process; it was removed", path)
                finally:
                    if number is not None:
                        os.close(number)


def marked(path: Path, mark: str) -> Path:
    """Return a path with a mark in front of its extensions.

    >>> marked(Path("old/out.conllu.gz"), "2").as_posix()
    'old/out-2.conllu.gz'
    """
    begin, dot, rest = path.name[1:].partition(".")  # the first may be that of a hidden file
    begin = os.fsdecode(os.fsencode(begin)[:200])  # systems have names of 255 bytes at most
    return path.with_name(f"{path.name[0]}{begin}-{mark}{dot}{rest}")


def _rename_anew(source: Path, target: Path) -> None:
    """Rename a file, but replace no other file."""
    if sys.platform == "win32":
        source.rename(target)  # which replaces nothing on this system
        return
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # no hard links here
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.rename(target)
    else:
        with suppress(OSError):  # the caller tries again
            source.unlink()


class Output:
    r"""Write bytes to a path or to standard output (``"-"``); a context manager.

    A regular file is written atomically: bytes go to a temporary file next to it, which is
    renamed at the end of the ``with`` block and removed after an exception. What a killed process
    leaves is removed when the same file is written next; of two processes that write one
    file at once, the last one wins, unless it may not overwrite. A name that ends in ``.gz``,
    ``.bz2``, ``.xz`` or ``.zst`` is compressed (the same bytes every time). Devices, pipes and open
    descriptors such as ``/dev/fd/3`` are written straight; ``/dev/stdout`` is standard output.

    A new file gets 0666 less the umask. One that replaces another takes over its permissions and
    access list before the first byte, and its owner and group where the system allows; what
    cannot be kept never lets more people read. Set-user-id bits and other attributes are not
    kept. A symbolic link stays, and its target is replaced; other hard links keep the old file.

    Parameters
    ----------
    path
        Target, or ``"-"``.
    overwrite
        Whether a file of that name is replaced. Without, it stays, also if it appeared during the
        ``with`` block. The new bytes are kept next to it, unless they are the same.
    compress
        Whether the name decides on compression; without, bytes are written as they are.
    tidy
        Whether to remove what a killed process has left of the file. That lists the folder; to
        write many files into one, call `remove_leftovers` once instead.

    Raises
    ------
    FileExistsError
        If the file exists and may not be overwritten. It says where the new bytes are.
    OSError
        As the system reports it, also when the last bytes cannot be flushed.
    CorpusError
        If a package for the compression is missing.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "out.txt")
    >>> with Output(target) as out:
    ...     _ = out.write(b"The/DT dog/NN\n")
    ...     target.exists()
    False
    >>> target.read_bytes()
    b'The/DT dog/NN\n'
    """

    _temporary: Path | None = None  # before there is anything to remove

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = True,
        compress: bool = True,
        tidy: bool = True,
    ):
        self._process, self._overwrite, self._tidy = os.getpid(), overwrite, tidy
        self._held: int | None = None  # keeps the lock of the temporary file
        self._file: Any = None
        self._packed: BinaryIO | None = None
        self.path = os.fspath(path)
        self._descriptor = descriptor_of(path)
        if self._descriptor == 1:
            self.path = "-"
        self._name = "<stdout>" if self.path == "-" else self.path
        with self._naming():  # the current folder may have been removed
            # A symbolic link stays one.
            self._target = Path(self.path if self.path == "-" else os.path.realpath(self.path))
        self._compression = compression_for(self.path) if compress else None

    def __enter__(self) -> Output:
        if self.path == "-":
            if sys.stdout is None:
                raise OSError(errno.EBADF, "standard output is closed", "<stdout>")
            self._file = sys.stdout.buffer
            return self
        if self._descriptor is not None:
            with self._naming():
                raw = WaitingFile(os.dup(self._descriptor), "w")
            self._file = io.BufferedWriter(raw)
            return self
        try:
            with self._naming():
                try:
                    is_file = stat.S_ISREG(self._target.stat().st_mode)
                except FileNotFoundError:
                    is_file = None
                if is_file is False:
                    self._file = self._target.open("wb")  # a device or pipe; a folder is an error
                else:
                    if self._tidy:
                        remove_leftovers(self._target.parent, self._target.name)
                    self._take_over_permissions(self._create(private=bool(is_file)))
                if self._compression is not None:
                    self._packed = self._compression.compressor(self._file)
        except CorpusError as err:
            self._discard()
            raise CorpusError(err.message, source=self.path) from None
        except BaseException:
            self._discard()
            raise
        return self

    def write(self, data: bytes) -> int:
        """Write `data`; return its length in bytes."""
        with self._naming():
            return (self._packed or self._file).write(data)

    def flush(self) -> None:
        """Pass what was written so far to the system."""
        with self._naming():
            (self._packed or self._file).flush()

    def __exit__(self, kind: object, *_: object) -> None:
        if self.path == "-":
            if kind is None:
                self.flush()
            return
        try:
            if kind is None:
                with self._naming():
                    self._finish()
        finally:
            self._discard()

    def __del__(self) -> None:
        """Remove a temporary file that an interrupt has left."""
        if self._temporary is not None and self._process == os.getpid():
            self._discard()

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Let system errors inside the ``with`` block name the file that the user knows."""
        try:
            yield
        except OSError as err:
            raise OSError(err.errno, err.strerror or str(err), self._name) from err

    def _create(self, *, private: bool) -> Path:
        """Create the temporary file, and lock it unless the file system has no locks."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        while True:
            self._temporary = temporary = _temporary_name(self._target)
            # Private, if the file that it will replace may be.
            number = os.open(temporary, flags, 0o600 if private else 0o666)
            self._file = os.fdopen(number, "wb")
            is_locked = True
            if sys.platform != "win32":  # where the system does not remove a file that is open
                self._held = os.dup(number)  # keeps the lock after the file is closed
                with suppress(OSError):
                    is_locked = locks.acquire(self._held)
            # A process that looks for leftovers may have locked and removed it.
            if is_locked and temporary.exists():
                return temporary
            self._discard()

    def _take_over_permissions(self, temporary: Path) -> None:
        """Give the temporary file the permissions of the file that it will replace."""
        try:
            old = self._target.stat()
        except FileNotFoundError:
            return
        number, mode = self._file.fileno(), stat.S_IMODE(old.st_mode) & 0o777
        if sys.platform == "win32":
            temporary.chmod(mode)
            return
        with suppress(OSError):  # only the super-user may give files away
            os.fchown(number, old.st_uid, -1)
        with suppress(OSError):
            os.fchown(number, -1, old.st_gid)
        is_same = os.fstat(number).st_gid == old.st_gid
        if sys.platform == "linux" and is_same:
            try:
                access = os.getxattr(self._target, _ACCESS)
            except OSError:  # the old file has no access list; remove that inherited of the folder
                with suppress(OSError):
                    os.removexattr(number, _ACCESS)
            else:
                try:
                    os.setxattr(number, _ACCESS, access)
                except OSError:
                    is_same = False
        if not is_same:  # grant the group no more than everybody has
            mode = mode & ~0o070 | mode & mode << 3 & 0o070
        os.fchmod(number, mode)

    def _finish(self) -> None:
        """Complete the temporary file on disk and give it its name."""
        if self._packed is not None:
            self._packed.close()
        self._file.flush()
        if self._temporary is None:
            self._file.close()
            return
        os.fsync(self._file.fileno())
        self._take_over_permissions(self._temporary)  # which may have changed meanwhile
        self._file.close()
        if self._overwrite:
            self._temporary.replace(self._target)
        else:
            self._rename_anew(self._temporary)
        # Make the new name durable, which some file systems and Windows do not support.
        with suppress(OSError):
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _rename_anew(self, temporary: Path) -> None:
        """Give the complete temporary file its name, or another one if that is taken."""
        target = self._target
        for name in chain([target], (marked(target, f"{number}") for number in count(2))):
            with suppress(FileExistsError):
                _rename_anew(temporary, name)
                break
            with suppress(OSError):  # it may be gone again, or unreadable
                if name is target and filecmp.cmp(temporary, target, shallow=False):
                    return
        if name is not target:
            is_link = Path(self.path).is_symlink()
            shown = name if is_link else Path(self.path).with_name(name.name)
            msg = (
                "expected no file of that name, found one that appeared meanwhile; it is "
                f"unchanged, and the new output is in {shown}; keep the one that you need"
            )
            raise FileExistsError(errno.EEXIST, msg)

    def _discard(self) -> None:
        """Close what is open and remove the temporary file, if it has not got its name."""
        with suppress(OSError):  # after an error in the block, that one is the news
            if self._file is not None:
                self._file.close()
        with suppress(OSError, ValueError):  # what is not finished must not look so
            if self._packed is not None:
                self._packed.close()
        if self._temporary is not None:
            with suppress(OSError):  # gone already, unless a step above failed
                self._temporary.unlink()
            self._temporary = None
        if self._held is not None:
            held, self._held = self._held, None
            with suppress(OSError):
                os.close(held)
