"""Bytes in and out: standard streams, gzip, blocks of whole sentences, atomic output files."""

from __future__ import annotations

import errno
import gzip
import os
import re
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from seqtag.errors import CorpusError

CHUNK = 1 << 20  # bytes asked for at a time; also about the size of a block
HEAD = 1 << 16  # bytes that format detection looks at
_BLANK_LINE = re.compile(rb"\n[ \t]*\r?\n")


class Block(NamedTuple):
    """Decoded text that ends where a sentence ends, and the number of its first line."""

    text: str
    line: int


def after_last_line(data: bytearray, start: int) -> int:
    """Position after the last line break at or behind `start`; 0 if there is none."""
    return data.rfind(b"\n", start) + 1


def after_last_blank_line(data: bytearray, start: int) -> int:
    """Position after the last blank line whose preceding line break is at or behind `start`."""
    found = data.rfind(b"\n\n", start)
    if found >= 0:
        return found + 2
    end = 0  # rarer: CRLF, or white space on the blank line
    for match in _BLANK_LINE.finditer(data, start):
        end = match.end()
    return end


def before_last_tree(data: bytearray, start: int) -> int:
    """Position of the last parenthesis that opens a line behind `start`; 0 if there is none."""
    return data.rfind(b"\n(", start) + 1


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Give a system error inside the ``with`` block the file name that it lacks."""
    try:
        yield
    except OSError as err:
        err.filename = err.filename or name
        raise


class ByteStream:
    """A file, standard input (``"-"``) or open binary file, read in decoded blocks.

    gzip is recognised by its first bytes, not by name. Memory stays at about one block
    unless a single sentence is longer than that.

    Parameters
    ----------
    source
        Path, ``"-"``, or an object with ``read`` that returns bytes.

    Examples
    --------
    >>> import io
    >>> stream = ByteStream(io.BytesIO(b"a\\n\\nb\\n"))
    >>> [block.text for block in stream.blocks(after_last_blank_line)]
    ['a\\n\\n', 'b\\n']
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO):
        self._owned = False
        if isinstance(source, str | os.PathLike) and os.fspath(source) != "-":
            self.name = os.fspath(source)
            self._file: IO[bytes] = Path(source).open("rb")  # noqa: SIM115
            self._owned = True
        elif isinstance(source, str | os.PathLike):
            if sys.stdin is None:
                raise OSError(errno.EBADF, "standard input is closed", "<stdin>")
            self.name, self._file = "<stdin>", sys.stdin.buffer
        else:
            name = getattr(source, "name", None)
            self.name = name if isinstance(name, str) else "<stream>"
            self._file = source
        self._chunks = self._decompressed()
        self._seen: list[bytes] = []

    def close(self) -> None:
        """Close the file if this object opened it."""
        if self._owned:
            self._file.close()

    def head(self, *, first_line: bool = False) -> bytes:
        """Return the start of the stream (64 kB, and a whole line at least) unconsumed."""
        size, whole = 0, False
        for chunk in self._chunks:
            self._seen.append(chunk)
            size += len(chunk)
            whole = whole or b"\n" in chunk
            if whole and (size >= HEAD or first_line):
                break
        head = b"".join(self._seen)
        return head[: max(HEAD, head.find(b"\n") + 1)]

    def blocks(self, cut: Callable[[bytearray, int], int]) -> Iterator[Block]:
        """Yield the text block by block; `cut` finds the last place where a block may end.

        `cut(data, start)` gets the bytes so far and the position of the last line break that
        it has seen already, so that every byte is searched once.
        """
        data, line, offset, last_break = bytearray(), 1, 0, 0
        for chunk in self._all_chunks():
            searched = len(data)
            data += chunk
            end = cut(data, last_break)
            if end:
                yield Block(self._decode(data[:end], line, offset), line)
                line += data.count(b"\n", 0, end)
                offset += end
                del data[:end]
                searched = 0
            last_break = max(data.rfind(b"\n", searched), last_break if not end else 0, 0)
        if data:
            yield Block(self._decode(data, line, offset), line)

    def _all_chunks(self) -> Iterator[bytes]:
        """What `head` has read, then the rest."""
        seen, self._seen = self._seen, []
        yield from seen
        yield from self._chunks

    def _raw_chunks(self) -> Iterator[bytes]:
        """Non-empty pieces as they arrive; `read1` does not wait for a full chunk on a pipe."""
        read = getattr(self._file, "read1", self._file.read)
        while True:
            with naming(self.name):
                chunk = read(CHUNK)
            if not chunk:
                return
            if isinstance(chunk, str):
                raise TypeError(f"{self.name}: expected a binary file, found one opened as text; "
                                'open it with mode "rb"')
            yield chunk

    def _decompressed(self) -> Iterator[bytes]:
        """The pieces, unzipped if the stream starts like gzip; UTF-16 is refused."""
        chunks = self._raw_chunks()
        first = b""
        for chunk in chunks:
            first += chunk
            if len(first) >= 2:
                break
        if first.startswith(b"\x1f\x8b"):
            yield from self._gunzip(_chain(first, chunks))
            return
        if first.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise CorpusError("expected UTF-8, found the byte order mark of UTF-16; convert the "
                              "file, for example with iconv -f UTF-16 -t UTF-8",
                              source=self.name, line=1)
        yield from _chain(first, chunks)

    def _gunzip(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Unzip one or more gzip members, refusing what is cut short or damaged."""
        inflate = zlib.decompressobj(wbits=31)
        for chunk in chunks:
            # Small pieces bound what a malicious file can blow up to (at most 1032 times).
            for start in range(0, len(chunk), HEAD):
                packed = chunk[start : start + HEAD]
                while packed:
                    if inflate.eof:
                        packed = packed.lstrip(b"\0")  # padding between members is legal
                        if not packed:
                            break
                        inflate = zlib.decompressobj(wbits=31)
                    try:
                        data = inflate.decompress(packed)
                    except zlib.error as err:
                        raise CorpusError(f"expected sound gzip data, found damage ({err}); "
                                          "fetch or compress the file again",
                                          source=self.name) from err
                    packed = inflate.unused_data
                    if data:
                        yield data
        if not inflate.eof:
            raise CorpusError("expected the end of the gzip data, found the end of the file: it "
                              "is cut short; fetch or compress it again", source=self.name)

    def _decode(self, data: bytearray, line: int, offset: int) -> str:
        """Decode strict UTF-8; an error names line and byte."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as err:
            raise CorpusError(
                f"expected UTF-8, found the byte 0x{data[err.start]:02x} at byte offset "
                f"{offset + err.start} ({err.reason}); convert the file to UTF-8",
                source=self.name, line=line + data.count(b"\n", 0, err.start),
            ) from err


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    """`first` if it is not empty, then `rest`."""
    if first:
        yield first
    yield from rest


def check_output(
    path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]
) -> None:
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
                raise CorpusError(f"expected an output file other than the input {given!r}; "
                                  "name another output, nothing was changed", source=out)


class Output:
    """Write bytes to a path or to standard output (``"-"``); a context manager.

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
    ...     _ = out.write(b"The/DT dog/NN\\n")
    ...     target.exists()
    False
    >>> target.read_bytes()
    b'The/DT dog/NN\\n'
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
