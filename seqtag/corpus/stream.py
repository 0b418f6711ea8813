"""Input: standard streams and compressed files, decoded in blocks of complete sentences."""

from __future__ import annotations

import errno
import io
import os
import re
import select
import stat
import sys
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple

from seqtag.corpus.warnings import LONE_RETURN, FormatWarnings
from seqtag.errors import CorpusError, SentenceTooLongError
from seqtag.storage.compression import compression_cut, compression_of, may_be_compressed
from seqtag.storage.encodings import binary_format, conversion, wide_encoding
from seqtag.storage.nonblocking import read_some
from seqtag.storage.output import MODEL_START, naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from seqtag.engine.interface import Comments, WordRows, WordScanner

CHUNK = 1 << 20  # bytes read at a time; also the approximate size of a block
_CHUNK_WORDS = 1 << 16  # of a chunk
HEAD = 1 << 16  # bytes that format detection looks at
_PAUSE_SECONDS = 0.2  # seconds; a writer that pauses this long waits for an answer
_MARK = "\ufeff".encode()
_BLANK_LINES = re.compile(rb"(?:[ \t]*\r?\n)*")
_LONE_RETURN = re.compile(rb"\r(?!\n|\Z)")
_RULE = re.compile(rb"\n=+[ \t]*\r?\n")
_BLANK_LINE = re.compile(rb"\n[ \t]*\r?\n")


class ReadLimits(NamedTuple):
    """Input limits and strictness.

    Attributes
    ----------
    sentence
        Maximum number of words of a sentence; in a table of its rows, including ranges and empty
        nodes, and of its comments. Sentences of raw text are cut instead.
    line
        Maximum number of bytes of a line. It does not apply to raw text that a model segments.
    lenient
        Whether sentences that do not fit their format become sentences without words, which the log
        reports, instead of errors. Invalid UTF-8, input above a limit, and damaged compressed files
        are refused in each case.
    """

    sentence: int = 65_536
    line: int = 1 << 26
    lenient: bool = False

    @property
    def size(self) -> int:
        """Maximum number of bytes of a sentence: 256 for each allowed word, at least one line."""
        return max(self.line, 256 * self.sentence)

    @property
    def brackets(self) -> int:
        """Maximum number of brackets of a tree: four for each allowed word."""
        return 4 * self.sentence

    def too_long(self, source: str, line: int, what: str = "words") -> SentenceTooLongError:
        """Return the error for a sentence with too many `what` that begins at `line`."""
        most = {"bytes": self.size, "brackets": self.brackets}.get(what, self.sentence)
        msg = (
            f"expected at most {most:,} {what} in a sentence, found more in the one that "
            "starts here; mark the sentence boundaries, or allow more in Python with limits="
        )
        return SentenceTooLongError(msg, source=source, line=line)


LIMITS = ReadLimits()
"""The default limits."""

UNLIMITED = ReadLimits(sys.maxsize, sys.maxsize)
"""Limits for input that was read and checked before."""


class Block:
    """Decoded text that ends at a sentence boundary.

    Parameters
    ----------
    text
        The text.
    line
        The number of its first line.
    data
        The text in UTF-8 if it was read so.
    """

    line, _text, _data = 1, "", b""

    def __init__(self, text: str, line: int, data: bytes = b""):
        self._text, self.line, self._data = text, line, data

    @property
    def text(self) -> str:
        """The text, as the format of the stream has it."""
        return self._text

    def encoded(self) -> bytes:
        """Return the text in UTF-8."""
        return self._data or self.text.encode()

    def scan_words(self, scanner: WordScanner) -> WordRows:
        """Return the words of a text in tokens."""
        return scanner.scan_lines(self.encoded())

    def comments(self, before: int) -> Comments:  # noqa: ARG002  tokens have none
        """Return the comments of its CoNLL-U; `before`: number of sentences before it."""
        return None, [], []


def after_last_line(data: bytearray, start: int) -> int:
    """Return the position after the last line break from `start` on; 0 if there is none."""
    return data.rfind(b"\n", start) + 1


def after_last_character(data: bytearray, start: int) -> int:  # noqa: ARG001  same signature as the others
    """Return the position after the last complete character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # the first byte of a character of two to four
            size = 2 + (byte >= 0xE0) + (byte >= 0xF0)
            return len(data) - back if size > back else len(data)
        if byte < 0x80:
            break
    return len(data)


def after_last_blank_line(data: bytearray, start: int) -> int:
    """Return the position after the last blank line that begins at `start` or later."""
    found = data.rfind(b"\n\n", start)
    if found >= 0:
        return found + 2
    end = 0  # rarer: CRLF, or white space on the blank line
    for match in _BLANK_LINE.finditer(data, start):
        end = match.end()
    return end


def after_last_rule(data: bytearray, start: int) -> int:
    """Return the position after the last blank line or, if there is none, line of equals signs."""
    end = after_last_blank_line(data, start)
    if not end:
        for match in _RULE.finditer(data, start):
            end = match.end()
    return end


def before_last_tree(data: bytearray, start: int) -> int:
    """Return the position of the last line after `start` that opens a tree, or 0."""
    return data.rfind(b"\n(", start) + 1


class BlockSource(NamedTuple):
    """Blocks that were read before, for readers that take the blocks of a `ByteStream`."""

    read: Iterable[Block]
    limits: ReadLimits

    def blocks(self, cut: object, *, returns: bool = True) -> Iterable[Block]:  # noqa: ARG002
        """Return the blocks, which are cut and checked."""
        return self.read


class NamedBytes(io.BytesIO):
    """File in memory with a name."""

    def __init__(self, data: bytes, name: str):
        super().__init__(data)
        self.name = name


class TextBytes(io.BytesIO):
    """Bytes of a text, for which compression and UTF-16 are not detected."""


class ByteStream:
    r"""Reader of a file, standard input (``"-"``) or an open binary file, in decoded blocks.

    Compression is recognized by the first bytes, not by name. Memory stays at about one block
    unless a single sentence is longer than that, which has limits.

    Parameters
    ----------
    source
        Path, ``"-"``, or an object with ``read`` that returns bytes.
    limits
        Input limits.

    Examples
    --------
    >>> import io
    >>> stream = ByteStream(io.BytesIO(b"a\n\nb\n"))
    >>> [block.text for block in stream.blocks(after_last_blank_line)]
    ['a\n\n', 'b\n']
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | BinaryIO,
        limits: ReadLimits = LIMITS,
    ):
        self.limits = limits
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
            if not hasattr(source, "read"):
                msg = f"expected a path or an open file, found {source!r:.60}; give one of these"
                raise TypeError(msg)
        self.warnings = FormatWarnings(self.name, lenient=limits.lenient)
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
        """Size of the file on disk in bytes; None if it is not known, as for a pipe."""
        return None if self._status is None or self._waits else self._status.st_size

    def ready(self, seconds: float = 0.0) -> bool:
        """Return whether more input, or its end, is available within some seconds.

        Always True for files. False for a silent pipe or terminal, so that the input so far is
        answered before waiting for more.
        """
        if not self._waits:
            return True
        try:
            return bool(select.select([self._file], [], [], seconds)[0])
        except (OSError, ValueError):  # some systems support sockets only
            return not self._file.isatty()

    def head(self, *, first_line: bool = False) -> bytes:
        """Return the start of the stream (64 kB, at least one line) without consuming it.

        64 kB only if the line is longer than the limit; reading refuses it later. Less if a pipe
        or terminal has given at least a line and then pauses.
        """
        size, has_line = sum(map(len, self._seen)), any(b"\n" in chunk for chunk in self._seen)
        while size <= self.limits.line or has_line:
            if has_line and (size >= HEAD or first_line or not self.ready(_PAUSE_SECONDS)):
                break
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            self._seen.append(chunk)
            size += len(chunk)
            has_line = has_line or b"\n" in chunk
        head = b"".join(self._seen)
        return head[: max(HEAD, head.find(b"\n") + 1)]

    def text_head(self) -> str:
        """Return the start of the stream, decoded; the last character may be cut."""
        return self.head().decode("utf-8", errors="ignore")

    def check_text(self, head: bytes) -> None:
        """Refuse a stream that begins like a binary file.

        Raises
        ------
        CorpusError
            If its head is not UTF-8, or has a null byte.
        """
        data = bytearray(head)
        self._decode(data[: after_last_character(data, 0)], 1, 0)
        if (at := head.find(b"\0")) >= 0:
            msg = (
                f"expected text, found a null byte at byte offset {at}, as in binary files and "
                "UTF-16; give a text file in UTF-8, or name its format with --format"
            )
            raise CorpusError(msg, source=self.name, line=1 + head.count(b"\n", 0, at))

    def blocks(
        self,
        cut: Callable[[bytearray, int], int],
        heads: str | None = None,
        *,
        returns: bool = True,
    ) -> Iterator[Block]:
        """Yield the text block by block; `cut` finds the last place where a block may end.

        `cut(data, start)` gets the bytes so far and the position of the last line break that
        it has seen already, so that every byte is searched once. `heads` is the prefix of lines
        that precede the rows of a sentence in a table; None if it is no table. `returns` says
        whether carriage returns may be without a line feed.

        Raises
        ------
        CorpusError
            If a line is longer than the limit, unless lines are cut, or a sentence has too many
            bytes, or too many rows in a table, or a carriage return has no line feed.
        """
        data, line, offset, begun, breaks = bytearray(), 1, 0, 0, 0
        due = most = self.limits.sentence  # line breaks at which to look for a long sentence
        chunks, self._seen = chain(self._seen, self._chunks), []  # what `head` has read first
        for chunk in _with_few_words(chunks, cut):
            searched = len(data)
            data += chunk
            breaks += chunk.count(b"\n")
            if cut is not after_last_character:
                self._check_lines(data, begun, line)
            end = cut(data, max(begun - 1, 0))
            if heads is not None and breaks > (most if end else due):
                self._check_sentences(data, line, heads.encode())
                due = breaks + most  # or each chunk of a long sentence would search all of it
            if not end and len(data) > self.limits.size:
                place = line + data.count(b"\n", 0, _BLANK_LINES.match(data).end())  # type: ignore[union-attr]
                raise self.limits.too_long(self.name, place, "bytes")
            if end:
                read = bytes(memoryview(data)[:end])
                if not returns:
                    self._check_returns(read, line)
                yield Block(self._decode(read, line, offset), line, read)
                left = data.count(b"\n", end)
                line, offset, breaks, due = line + breaks - left, offset + end, left, most
                del data[:end]
                searched = 0
            begun = max(data.rfind(b"\n", searched) + 1, 0 if end else begun)
        if data:
            if heads is not None and breaks >= most:
                self._check_sentences(data + b"\n", line, heads.encode())
            if not returns:
                self._check_returns(data, line)
            yield Block(self._decode(data, line, offset), line, bytes(data))

    def _check_returns(self, data: bytes | bytearray, line: int) -> None:
        """Refuse a carriage return without a line feed, except at the end of the file."""
        if b"\r" in data and (lone := _LONE_RETURN.search(data)):
            place = line + data.count(b"\n", 0, lone.start())
            raise CorpusError(LONE_RETURN, source=self.name, line=place)

    def _check_lines(self, data: bytearray, start: int, line: int) -> None:
        """Refuse lines that are too long, from `start` on."""
        most = self.limits.line
        while len(data) - start > most:
            end = data.find(b"\n", start, start + most + 1)
            if end < 0:
                msg = (
                    f"expected lines of at most {most:,} bytes, found a longer one; insert line "
                    "breaks, or if this is raw text, let a model segment it"
                )
                place = line + data.count(b"\n", 0, start)
                raise CorpusError(msg, source=self.name, line=place)
            start = end + 1

    def _check_sentences(self, data: bytearray, line: int, heads: bytes) -> None:
        """Refuse sentences with too many rows or comments."""
        start = 0
        while start < len(data):
            start = _BLANK_LINES.match(data, start).end()  # type: ignore[union-attr]
            found = _BLANK_LINE.search(data, start)
            end = found.start() + 1 if found else len(data)
            before = data.count(b"\n" + heads, start, end)
            before += data.startswith((heads, _MARK + heads), start, end)
            rows = data.count(b"\n", start, end) - before
            if max(rows, before) > self.limits.sentence:
                what = "rows" if rows > before else "comments"
                place = line + data.count(b"\n", 0, start)
                raise self.limits.too_long(self.name, place, what)
            start = end

    def raw_chunks(self) -> Iterator[bytes]:
        """Yield non-empty pieces as they arrive, without waiting for full chunks."""
        while True:
            with naming(self.name):
                chunk = read_some(self._file, CHUNK)
            if not chunk:
                return
            if isinstance(chunk, str):  # of a file opened as text
                chunk = chunk.encode("utf-8", "surrogatepass")
            self.position += len(chunk)
            yield chunk

    def _decompressed(self) -> Iterator[bytes]:
        """Yield the pieces, decompressed if necessary; refuse UTF-16 and models."""
        chunks = self.raw_chunks()
        if isinstance(self._file, TextBytes):
            yield from chunks
            return
        first = b""
        for chunk in chunks:
            first += chunk
            enough = 4 if first[:2] in (b"\xff\xfe", b"\0\0") else 2  # UTF-32, too
            if len(first) >= enough and not may_be_compressed(first):  # a start of 4 bytes or more
                break
        else:
            if (cut := compression_cut(first, self.name)) is not None:
                raise cut.truncated(self.name)
        if first[8:].startswith(MODEL_START):
            msg = (
                "expected a corpus, found a seqtag model; name it with -m, in compare after the "
                "corpus (in Python, load it with seqtag.load)"
            )
            raise CorpusError(msg, source=self.name)
        packed = compression_of(first)
        if packed is not None:
            chunks = packed.decompress(_chain(first, chunks), self.name)
            first = next(chunks, b"")
            if (again := compression_of(first)) is not None:
                msg = (
                    f"expected text in {packed.name} data, found {again.name} data; it is "
                    "compressed twice, decompress it once"
                )
                raise CorpusError(msg, source=self.name)
        if (binary := binary_format(first)) is not None:
            msg = f"expected text, found {binary[0]}; {binary[1]}"
            raise CorpusError(msg, source=self.name, line=1)
        if name := wide_encoding(first[:64]):
            found = "byte order mark" if name[-2:].isdecimal() else "alternating null bytes"
            msg = (
                f"expected UTF-8, found the {found} of {name[:6]}; convert the "
                f"file, for example with iconv -f {name} -t UTF-8"
            )
            raise CorpusError(msg, source=self.name, line=1)
        yield from _chain(first, chunks)

    def _decode(self, data: bytes | bytearray, line: int, offset: int) -> str:
        """Decode strict UTF-8; an error names line and byte."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as err:
            msg = (
                f"expected UTF-8, found the byte 0x{data[err.start]:02x} at byte offset "
                f"{offset + err.start} ({err.reason}); {conversion(data, err.start)}"
            )
            place = line + data.count(b"\n", 0, err.start)
            raise CorpusError(msg, source=self.name, line=place) from err


def _with_few_words(
    chunks: Iterable[bytes], cut: Callable[[bytearray, int], int]
) -> Iterator[bytes]:
    """Yield chunks in parts of about `_CHUNK_WORDS` words, which taggers keep together.

    Words are on lines of their own, or between white space where a line is a sentence.
    """
    separators = [] if cut is after_last_character else [b"\n"]
    if cut is after_last_line:
        separators += [b" ", b"\t"]
    for chunk in chunks:
        parts = 1 + sum(map(chunk.count, separators)) // _CHUNK_WORDS
        size = -(-len(chunk) // parts)
        for start in range(0, len(chunk), size):
            yield chunk[start : start + size]


def _status_of(file: IO[bytes]) -> os.stat_result | None:
    """Return the status of an open file; None if it is not a file of the system."""
    try:
        return os.fstat(file.fileno())
    except (AttributeError, OSError, ValueError):
        return None


class Held:
    """Contents of an input that can be read only once, kept in memory to be read again.

    Parameters
    ----------
    source
        Path, or ``"-"`` for standard input.

    Examples
    --------
    >>> held = Held("pyproject.toml")
    >>> held.again().read() == held.again().read()
    True
    """

    def __init__(self, source: str | os.PathLike[str]):
        with closing(ByteStream(source)) as stream:
            self._name, self._bytes = stream.name, b"".join(stream.raw_chunks())

    def again(self) -> BinaryIO:
        """Return the contents as a file of the same name."""
        return NamedBytes(self._bytes, self._name)


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest
