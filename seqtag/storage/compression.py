"""Compressed files: recognized by their first bytes, written by file name."""

from __future__ import annotations

import importlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from seqtag.errors import CorpusError, install_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_PIECE = 1 << 16  # compressed bytes taken at a time
_LARGEST = 1 << 20  # bytes asked of a decompressor at once
_ZSTD_PIECE = 1 << 9  # the package zstandard sets no bound itself: at most 16 MB come of these
_MEMORY = 1 << 28  # bytes that a file may make a decompressor ask for; xz -9 needs a quarter


class Decompressor(Protocol):
    """Decompressor of one member, with the interface of `bz2.BZ2Decompressor`."""

    @property
    def eof(self) -> bool:
        """Whether the member is at its end."""

    @property
    def needs_input(self) -> bool:
        """Whether more data are needed for further output."""

    @property
    def unused_data(self) -> bytes:
        """The data after the end."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return at most `max_length` bytes."""


@dataclass(frozen=True)
class Compression:
    """Kind of compressed file.

    Attributes
    ----------
    name
        What messages call it.
    suffix
        How the names of such files end.
    magics
        How their contents may begin.
    decompressor
        Makes a reader of one member.
    compressor
        Makes a file to write to around an open one, which its ``close`` leaves open. The same
        data give the same bytes.
    errors
        What damaged data raise.
    """

    name: str
    suffix: str
    magics: tuple[bytes, ...]
    decompressor: Callable[[], Decompressor]
    compressor: Callable[[Any], BinaryIO]
    errors: Callable[[], tuple[type[Exception], ...]]

    def decompress(self, chunks: Iterable[bytes], source: str) -> Iterator[bytes]:
        """Yield the data of one or more members, in pieces of limited size.

        Zeros behind the last member are padding.

        Raises
        ------
        CorpusError
            If the data are damaged, cut short, or followed by others, or a package is missing.
        """
        try:
            member = self.decompressor()
        except CorpusError as err:
            raise CorpusError(err.message, source=source) from None
        for chunk in chunks:
            for start in range(0, len(chunk), _PIECE):
                packed = chunk[start : start + _PIECE]
                while packed:
                    if member.eof:
                        packed = packed.lstrip(b"\0")
                        if not packed:
                            break
                        member = self.decompressor()
                    yield from self._all_of(member, packed, source)
                    packed = member.unused_data
        if not member.eof:
            msg = (
                f"expected the end of the {self.name} data, found the end of the file: it "
                "is cut short; fetch or compress it again"
            )
            raise CorpusError(msg, source=source)

    def _all_of(self, member: Decompressor, packed: bytes, source: str) -> Iterator[bytes]:
        """Yield the data of a piece of a member, in pieces."""
        while True:
            try:
                data = member.decompress(packed, _LARGEST)
            except self.errors() as err:
                msg = (
                    f"expected sound {self.name} data, found damage ({err}); "
                    "fetch or compress the file again"
                )
                raise CorpusError(msg, source=source) from err
            if data:
                yield data
            if member.eof or member.needs_input:
                return
            packed = b""


class _Gunzip:
    """zlib with the interface of the other decompressors."""

    def __init__(self) -> None:
        import zlib

        self._inflate = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflate.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max(max_length, 0))


def _gzip_errors() -> tuple[type[Exception], ...]:
    import zlib

    return (zlib.error,)


def _gzip_writer(file: Any) -> Any:
    import gzip

    return gzip.GzipFile("", "wb", fileobj=file, mtime=0)


def _bunzip2() -> Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _bzip2_writer(file: Any) -> Any:
    import bz2

    return bz2.BZ2File(file, "wb")


def _xz_errors() -> tuple[type[Exception], ...]:
    import lzma

    return (lzma.LZMAError,)


def _xz_writer(file: Any) -> Any:
    import lzma

    return lzma.LZMAFile(file, "wb")


def _unxz() -> Decompressor:
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)


def _zstd() -> Any:
    """Return the module for zstd: Python's own from 3.14 on, else the package zstandard."""
    for name in ("compression.zstd", "zstandard"):
        with suppress(ImportError):
            return importlib.import_module(name)
    msg = (
        "expected Python 3.14 or the package zstandard to read or write zstd files, found "
        f"neither; {install_hint('zstd')}"
    )
    raise CorpusError(msg)


def _unzstd() -> Decompressor:
    zstd = _zstd()
    if hasattr(zstd, "ZstdFile"):
        reader: Decompressor = zstd.ZstdDecompressor()
        return reader
    return _Unzstd(zstd.ZstdDecompressor(max_window_size=_MEMORY // 2).decompressobj())


class _Unzstd:
    """The package zstandard with the interface of the other decompressors."""

    def __init__(self, member: Any):
        self._member = member
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return bool(self._member.eof)

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return bytes(self._member.unused_data) + self._waiting

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:  # noqa: ARG002
        waiting = self._waiting + data
        piece, self._waiting = waiting[:_ZSTD_PIECE], waiting[_ZSTD_PIECE:]
        return bytes(self._member.decompress(piece))


def _zstd_errors() -> tuple[type[Exception], ...]:
    return (_zstd().ZstdError,)


def _zstd_writer(file: Any) -> Any:
    """Return a writer with a checksum, which is optional in zstd."""
    zstd = _zstd()
    if hasattr(zstd, "ZstdFile"):
        return zstd.ZstdFile(file, mode="wb", options={zstd.CompressionParameter.checksum_flag: 1})
    return zstd.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)


COMPRESSIONS = (
    Compression(
        "gzip",
        ".gz",
        (b"\x1f\x8b",),
        _Gunzip,
        _gzip_writer,
        _gzip_errors,
    ),
    Compression(
        "bzip2",
        ".bz2",
        # "BZh" alone could begin a text; a block, or the end of an empty file, follows.
        tuple(
            b"BZh%d%s" % (level, block)
            for level in range(1, 10)
            for block in (b"1AY&SY", b"\x17rE8P\x90")
        ),
        _bunzip2,
        _bzip2_writer,
        lambda: (OSError, ValueError),
    ),
    Compression(
        "xz",
        ".xz",
        (b"\xfd7zXZ\0",),
        _unxz,
        _xz_writer,
        _xz_errors,
    ),
    Compression("zstd", ".zst", (b"\x28\xb5\x2f\xfd",), _unzstd, _zstd_writer, _zstd_errors),
)
"""All kinds. A new one is a record here."""


def compression_of(first: bytes) -> Compression | None:
    """Return the kind of a file by its first bytes; None if it is not compressed.

    >>> compression_of(bytes([0x1F, 0x8B, 8])).name
    'gzip'
    """
    return next((kind for kind in COMPRESSIONS if first.startswith(kind.magics)), None)


def may_be_compressed(first: bytes) -> bool:
    """Return whether more bytes are needed to recognize the kind.

    >>> may_be_compressed(b"BZ"), may_be_compressed(b"BA")
    (True, False)
    """
    return any(
        magic.startswith(first) and magic != first for kind in COMPRESSIONS for magic in kind.magics
    )


def compression_for(name: str) -> Compression | None:
    """Return the kind of a file to write, by its name.

    >>> compression_for("a.conllu.bz2").name
    'bzip2'
    """
    return next((kind for kind in COMPRESSIONS if name.endswith(kind.suffix)), None)
