"""Output files: whole or not at all."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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
                raise CorpusError(
                    msg,
                    source=out,
                )


class Output:
    r"""Write bytes to a path or to standard output (``"-"``); a context manager.

    A regular file appears whole or not at all: bytes go to a temporary file beside it, which is
    renamed at the end of the ``with`` block and removed after an exception. A name that ends in
    ``.gz`` is compressed (the same bytes every time). Devices and pipes are written straight.

    Parameters
    ----------
    path
        Target, or ``"-"``.

    Raises
    ------
    OSError
        As the system reports it, also when the last bytes cannot be flushed.

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

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self._name = "<stdout>" if self.path == "-" else self.path
        self._target = Path(os.path.realpath(self.path))  # a symbolic link stays one
        self._temporary: Path | None = None
        self._file: Any = None
        self._zip: gzip.GzipFile | None = None

    def __enter__(self) -> Output:
        if self.path == "-":
            if sys.stdout is None:
                raise OSError(errno.EBADF, "standard output is closed", "<stdout>")
            self._file = sys.stdout.buffer
            return self
        if self._target.exists() and not self._target.is_file():
            self._file = self._target.open("wb")  # a device or a pipe; a directory is an error
        else:
            unique = f".{self._target.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
            self._temporary = self._target.with_name(unique)
            try:
                self._file = self._temporary.open("xb")
            except OSError as err:  # name the file the user knows
                raise type(err)(err.errno, err.strerror, self.path) from err
        if self.path.endswith(".gz"):
            self._zip = gzip.GzipFile("", "wb", fileobj=self._file, mtime=0)
        return self

    def write(self, data: bytes) -> int:
        """Write `data`; return its length in bytes."""
        with naming(self._name):
            return (self._zip or self._file).write(data)

    def flush(self) -> None:
        """Hand over to the system what was written so far."""
        with naming(self._name):
            (self._zip or self._file).flush()

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
            with suppress(OSError):  # after an error in the block, that one is the news
                self._file.close()
            if self._temporary is not None:
                self._temporary.unlink(missing_ok=True)

    def _finish(self) -> None:
        """Complete the temporary file on disk and give it its name."""
        if self._zip is not None:
            self._zip.close()
        self._file.flush()
        if self._temporary is None:
            return
        os.fsync(self._file.fileno())
        self._file.close()
        if self._target.exists():
            shutil.copymode(self._target, self._temporary)
        self._temporary.replace(self._target)
