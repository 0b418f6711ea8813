"""Bytes in: standard streams, compressed files, blocks of whole sentences."""

from __future__ import annotations

import errno
import os
import re
import select
import stat
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple

from seqtag.compression import compression_of, may_be_compressed
from seqtag.errors import CorpusError
from seqtag.files import CONVERT, naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CHUNK = 1 << 20  # bytes asked for at a time; also about the size of a block
HEAD = 1 << 16  # bytes that format detection looks at
_MOMENT = 0.2  # seconds; who pauses so long waits for an answer
_BLANK_LINE = re.compile(rb"\n[ \t]*\r?\n")


class Block(NamedTuple):
    """Decoded text that ends where a sentence ends, and the number of its first line."""

    text: str
    line: int


def after_last_line(data: bytearray, start: int) -> int:
    """Position after the last line break at or behind `start`; 0 if there is none."""
    return data.rfind(b"\n", start) + 1


def after_last_character(data: bytearray, start: int) -> int:  # noqa: ARG001  as the others
    """Position after the last character whose bytes are all there."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # the first byte of a character of two to four
            size = 2 + (byte >= 0xE0) + (byte >= 0xF0)
            return len(data) - back if size > back else len(data)
        if byte < 0x80:
            break
    return len(data)


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


class ByteStream:
    r"""A file, standard input (``"-"``) or open binary file, read in decoded blocks.

    Compression is recognised by the first bytes, not by name. Memory stays at about one block
    unless a single sentence is longer than that.

    Parameters
    ----------
    source
        Path, ``"-"``, or an object with ``read`` that returns bytes.

    Examples
    --------
    >>> import io
    >>> stream = ByteStream(io.BytesIO(b"a\n\nb\n"))
    >>> [block.text for block in stream.blocks(after_last_blank_line)]
    ['a\n\n', 'b\n']
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
        self.position = 0  # bytes of the file read so far
        self._status = _status_of(self._file)
        self._waits = self._status is not None and not stat.S_ISREG(self._status.st_mode)
        self._chunks = self._decompressed()
        self._seen: list[bytes] = []

    def close(self) -> None:
        """Close the file if this object opened it."""
        if self._owned:
            self._file.close()

    @property
    def size(self) -> int | None:
        """Bytes of the file, as they are on disk; None if nobody knows, as of a pipe."""
        return None if self._status is None or self._waits else self._status.st_size

    def ready(self, seconds: float = 0.0) -> bool:
        """Whether more input, or its end, is there to be read, within some seconds.

        Always so of files. Of a pipe or a terminal that has nothing to say just now it is not:
        what has arrived should be answered before one waits for more.
        """
        if not self._waits:
            return True
        try:
            return bool(select.select([self._file], [], [], seconds)[0])
        except (OSError, ValueError):  # a system that knows this of sockets only
            return not self._file.isatty()

    def head(self, *, first_line: bool = False) -> bytes:
        """Return the start of the stream (64 kB, and a whole line at least) unconsumed.

        Less of a pipe or a terminal that has given a line and then stays silent for a moment.
        """
        size, whole = 0, False
        for chunk in self._chunks:
            self._seen.append(chunk)
            size += len(chunk)
            whole = whole or b"\n" in chunk
            if whole and (size >= HEAD or first_line or not self.ready(_MOMENT)):
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
                msg = (
                    f"{self.name}: expected a binary file, found one opened as text; "
                    'open it with mode "rb"'
                )
                raise TypeError(msg)
            self.position += len(chunk)
            yield chunk

    def _decompressed(self) -> Iterator[bytes]:
        """The pieces, decompressed if they need to be; UTF-16 is refused."""
        chunks = self._raw_chunks()
        first = b""
        for chunk in chunks:
            first += chunk
            if len(first) >= 2 and not may_be_compressed(first):
                break
        packed = compression_of(first)
        if packed is not None:
            yield from packed.decompress(_chain(first, chunks), self.name)
            return
        marked = first.startswith((b"\xff\xfe", b"\xfe\xff"))
        if marked or _alternates(first):
            found = "byte order mark" if marked else "alternating null bytes"
            name = "UTF-16" if marked else f"UTF-16{'BE' if first[0] == 0 else 'LE'}"
            msg = (
                f"expected UTF-8, found the {found} of UTF-16; convert the "
                f"file, for example with iconv -f {name} -t UTF-8"
            )
            raise CorpusError(msg, source=self.name, line=1)
        yield from _chain(first, chunks)

    def _decode(self, data: bytearray, line: int, offset: int) -> str:
        """Decode strict UTF-8; an error names line and byte."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as err:
            msg = (
                f"expected UTF-8, found the byte 0x{data[err.start]:02x} at byte offset "
                f"{offset + err.start} ({err.reason}); {CONVERT}"
            )
            place = line + data.count(b"\n", 0, err.start)
            raise CorpusError(msg, source=self.name, line=place) from err


def _status_of(file: IO[bytes]) -> os.stat_result | None:
    """What the system says of an open file; None if it is no file of the system's."""
    try:
        return os.fstat(file.fileno())
    except (AttributeError, OSError, ValueError):
        return None


def _alternates(first: bytes) -> bool:
    """Tell whether every other byte is null, as in UTF-16 without a mark."""
    start = first[:64]
    return len(start) >= 4 and (not any(start[::2])) != (not any(start[1::2]))


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    """`first` if it is not empty, then `rest`."""
    if first:
        yield first
    yield from rest
