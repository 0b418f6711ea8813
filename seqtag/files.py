"""Output files: whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from seqtag.compression import compression_for
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


CONVERT = "convert the file to UTF-8, from EUC-JP for example with iconv -f EUC-JP -t UTF-8"
"""What to do about a file in another encoding."""


_TEMPORARY = ".seqtag-{}.tmp"  # a file that is not whole yet, beside the one it will be


def remove_leftovers(folder: str | os.PathLike[str]) -> int:
    """Remove the temporary files in a folder of writers that were killed; return how many.

    Nobody may be writing there meanwhile: a file that is would not appear.

    Examples
    --------
    >>> remove_leftovers("a/folder/that/is/not/there")
    0
    """
    found = 0
    for path in Path(folder).glob(_TEMPORARY.format("*")):
        with suppress(OSError):  # gone already, or another's
            path.unlink()
            found += 1
    return found


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
        Paths; ``"-"`` and files that do not exist never clash.

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
        with suppress(FileNotFoundError):
            if given != "-" and Path(out).is_file() and os.path.samefile(out, given):  # noqa: PTH121
                msg = (
                    f"expected an output file other than the input {given!r}; "
                    "name another output, nothing was changed"
                )
                raise CorpusError(msg, source=out)


class Output:
    r"""Write bytes to a path or to standard output (``"-"``); a context manager.

    A regular file appears whole or not at all: bytes go to a temporary file beside it, which is
    renamed at the end of the ``with`` block and removed after an exception. It takes over the
    permissions of the file it replaces before the first byte; a new file gets 0666 less the
    umask. A name that ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` is compressed (the same
    bytes every time). Devices and pipes are written straight.

    Parameters
    ----------
    path
        Target, or ``"-"``.
    compress
        Whether the name decides on compression; without, bytes are written as they are.

    Raises
    ------
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

    def __init__(self, path: str | os.PathLike[str], *, compress: bool = True):
        self.path = os.fspath(path)
        self._name = "<stdout>" if self.path == "-" else self.path
        self._target = Path(os.path.realpath(self.path))  # a symbolic link stays one
        self._compression = compression_for(self.path) if compress else None
        self._temporary: Path | None = None
        self._file: Any = None
        self._packed: BinaryIO | None = None

    def __enter__(self) -> Output:
        if self.path == "-":
            if sys.stdout is None:
                raise OSError(errno.EBADF, "standard output is closed", "<stdout>")
            self._file = sys.stdout.buffer
            return self
        try:
            self._open()
        except OSError as err:  # name the file the user knows
            self._discard()
            raise type(err)(err.errno, err.strerror, self.path) from err
        except CorpusError as err:
            self._discard()
            raise CorpusError(err.message, source=self.path) from None
        except BaseException:
            self._discard()
            raise
        return self

    def write(self, data: bytes) -> int:
        """Write `data`; return its length in bytes."""
        with naming(self._name):
            return (self._packed or self._file).write(data)

    def flush(self) -> None:
        """Hand over to the system what was written so far."""
        with naming(self._name):
            (self._packed or self._file).flush()

    def __exit__(self, kind: object, *_: object) -> None:
        if self.path == "-":
            if kind is None:
                self.flush()
            return
        try:
            if kind is None:
                with naming(self._name):
                    self._finish()
        finally:
            self._discard()

    def _open(self) -> None:
        """Open the file that is written to."""
        if self._target.exists() and not self._target.is_file():
            self._file = self._target.open("wb")  # a device or a pipe; a directory is an error
        else:
            self._temporary = self._target.with_name(_TEMPORARY.format(secrets.token_hex(8)))
            # For nobody else to read where an old file may be as private.
            mode = 0o600 if self._target.exists() else 0o666
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(self._temporary, flags, mode), "wb")
            self._take_over_permissions(self._temporary)
        if self._compression is not None:
            self._packed = self._compression.compressor(self._file)

    def _take_over_permissions(self, temporary: Path) -> None:
        """Let those read the temporary file who may read the file that it will replace."""
        try:
            old = self._target.stat()
        except FileNotFoundError:
            return
        mode = stat.S_IMODE(old.st_mode)
        if hasattr(os, "fchown"):
            with suppress(OSError):  # only the super-user may give files away
                os.fchown(self._file.fileno(), old.st_uid, -1)
            with suppress(OSError):
                os.fchown(self._file.fileno(), -1, old.st_gid)
            if os.fstat(self._file.fileno()).st_gid != old.st_gid:
                # Another group would read what was not meant for it: it may do what all may.
                mode = mode & ~0o070 | mode & mode << 3 & 0o070
        temporary.chmod(mode)

    def _finish(self) -> None:
        """Complete the temporary file on disk and give it its name."""
        if self._packed is not None:
            self._packed.close()
        self._file.flush()
        if self._temporary is None:
            return
        os.fsync(self._file.fileno())
        self._take_over_permissions(self._temporary)  # which may have changed meanwhile
        self._file.close()
        self._temporary.replace(self._target)
        # The new file is in place.  Making its name durable is a courtesy that some file systems
        # and Windows refuse; the file is no worse for it.
        with suppress(OSError):
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

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
