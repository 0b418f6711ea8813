"""Output files: a regular file is replaced when the new one is complete.

Packages for this do not keep the permissions of the file that is replaced.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from seqtag.errors import CorpusError, located
from seqtag.storage.compression import compression_for
from seqtag.storage.nonblocking import WaitingFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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


def is_standard_output(name: str) -> bool:
    """Return whether a name is that of standard output.

    >>> is_standard_output("-"), is_standard_output("/dev/stdout"), is_standard_output("out.txt")
    (True, True, False)
    """
    return name == "-" or descriptor_of(name) == 1


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


def marked(path: Path, mark: str) -> Path:
    """Return a path with a mark in front of its extensions.

    >>> marked(Path("old/out.conllu.gz"), "2").as_posix()
    'old/out-2.conllu.gz'
    """
    begin, dot, rest = path.name[1:].partition(".")  # the first may be that of a hidden file
    begin = os.fsdecode(os.fsencode(begin)[:200])  # systems have names of 255 bytes at most
    return path.with_name(f"{path.name[0]}{begin}-{mark}{dot}{rest}")


@contextmanager
def atomic(path: str | os.PathLike[str], *, compress: bool = True) -> Iterator[BinaryIO]:
    r"""Lend a binary file to write to a path or to standard output (``"-"``).

    A regular file is written atomically: bytes go to a temporary file next to it, which gets its
    name at the end of the ``with`` block and is removed after an exception. Of two processes that
    write one file at once, the last one wins. A name that ends in ``.gz``, ``.bz2``, ``.xz`` or
    ``.zst`` is compressed (the same bytes every time). Devices, pipes and open descriptors such as
    ``/dev/fd/3`` are written straight; ``/dev/stdout`` is standard output.

    A new file gets 0666 less the umask. One that replaces another takes over its permissions before
    the first byte, and its owner and group where the system allows, else its group gets no more
    rights than everybody. A symbolic link stays, and its target is replaced; other hard links keep
    the old file.

    Parameters
    ----------
    path
        Target, or ``"-"``.
    compress
        Whether the name decides on compression; without, bytes are written as they are.

    Raises
    ------
    OSError
        As the system reports it, with the name of the target.
    CorpusError
        If a package for the compression is missing.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "out.txt")
    >>> with atomic(target) as out:
    ...     _ = out.write(b"The/DT dog/NN\n")
    ...     target.exists()
    False
    >>> target.read_bytes()
    b'The/DT dog/NN\n'
    """
    name = os.fspath(path)
    packing = compression_for(name) if compress else None
    with naming("<stdout>" if is_standard_output(name) else name), _opened(name) as file:
        if packing is None:
            yield file
        else:
            with located(name):
                packed = packing.compressor(file)
            yield packed
            packed.close()  # not after an exception: what is not finished must not look so


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    """Lend what a name stands for: standard output, a descriptor, a regular file, or a device."""
    number = descriptor_of(name)
    if is_standard_output(name):
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif number is not None:
        with io.BufferedWriter(WaitingFile(os.dup(number), "w")) as file:
            yield cast("BinaryIO", file)
    elif Path(name).exists() and not Path(name).is_file():
        with Path(name).open("wb") as device:  # a folder is an error
            yield device
    else:
        with _replacing(name) as new:
            yield new


@contextmanager
def _replacing(name: str) -> Iterator[BinaryIO]:
    """Lend a new file, which replaces the one of a name after a block without an exception."""
    target = Path(os.path.realpath(name))  # a symbolic link stays one
    temporary = target.with_name(f".seqtag-{os.urandom(8).hex()}.tmp")
    try:
        old = Path(name).stat()
    except FileNotFoundError:
        old = None
    try:
        # Private, if the file that it will replace may be.
        mode = 0o666 if old is None else 0o600
        number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(number, "wb") as file:
            if old is not None:
                _take_over_permissions(number, old)
            yield file
            file.flush()
            os.fsync(number)  # otherwise a power failure may leave the new name with an empty file
        temporary.replace(target)
    except BaseException as err:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(err, OSError) and err.filename == os.fspath(temporary):
            raise OSError(err.errno, err.strerror, name) from err
        raise


def _take_over_permissions(number: int, old: os.stat_result) -> None:
    """Give an open file the permissions of the file that it will replace."""
    mode = old.st_mode & 0o777
    try:
        os.fchown(number, old.st_uid, old.st_gid)
    except OSError:  # it has another group, which gets the rights that everybody has
        mode = mode & 0o707 | (mode & 0o007) << 3
    os.fchmod(number, mode)
