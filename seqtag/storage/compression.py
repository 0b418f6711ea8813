"""Compressed files: recognized by their first bytes, written by file name.

Decompression is not left to `gzip.open` and the like, since these set no bound on memory: a small
xz file may ask for gigabytes.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from seqtag.errors import CorpusError, install_hint, located

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_PIECE = 1 << 16  # compressed bytes taken at a time
_LARGEST = 1 << 20  # maximum number of bytes from a decompressor at once
_MEMORY = 1 << 28  # bytes that a file may make a decompressor ask for; xz -9 needs a quarter


class Compression(NamedTuple):
    """Kind of compressed file.

    Attributes
    ----------
    name
        Its name in messages.
    suffix
        The end of the names of such files.
    magics
        The first bytes of such files.
    decompressor
        Makes a reader of one member, with the interface of `bz2.BZ2Decompressor`.
    compressor
        Makes a file to write to around an open one, which its ``close`` leaves open. The same
        data give the same bytes.
    errors
        The exceptions for damaged data.
    """

    name: str
    suffix: str
    magics: tuple[bytes, ...]
    decompressor: Callable[[], Any]
    compressor: Callable[[Any], BinaryIO]
    errors: Callable[[], tuple[type[Exception], ...]]

    def decompress(self, chunks: Iterable[bytes], source: str) -> Iterator[bytes]:
        """Yield the data of one or more members, in pieces of limited size.

        Zeros after the last member are padding.

        Raises
        ------
        CorpusError
            If the data are damaged, cut short, or followed by others, or a package is missing.
        """
        with located(source):
            member = self.decompressor()
        for chunk in chunks:
            for start in range(0, len(chunk), _PIECE):
                packed = chunk[start : start + _PIECE]
                while packed:
                    if member.eof:
                        packed = packed.lstrip(b"\0")
                        if not packed:
                            break
                        member = self.decompressor()
                    given = packed
                    while True:
                        try:
                            data = member.decompress(given, _LARGEST)
                        except self.errors() as err:
                            msg = (
                                f"expected valid {self.name} data, found an error ({err}); "
                                "fetch or compress the file again"
                            )
                            raise CorpusError(msg, source=source) from err
                        if data:
                            yield data
                        if member.eof or member.needs_input:
                            break
                        given = b""
                    packed = member.unused_data
        if not member.eof:
            raise self.truncated(source)

    def truncated(self, source: str) -> CorpusError:
        """Return the error for a file that ends too early."""
        msg = (
            f"expected the end of the {self.name} data, found the end of the file: it is "
            "truncated; fetch or compress it again"
        )
        return CorpusError(msg, source=source)


class _Gunzip:
    """zlib with the interface of the other decompressors."""

    def __init__(self) -> None:
        self._inflate = import_module("zlib").decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return bool(self._inflate.eof)

    @property
    def needs_input(self) -> bool:
        return not self._inflate.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inflate.unused_data)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        waiting = self._inflate.unconsumed_tail + data
        return bytes(self._inflate.decompress(waiting, max(max_length, 0)))


def _zstd() -> Any:
    """Return the module for zstd: Python's own from 3.14 on, else its copy for older versions."""
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return import_module(name)
    msg = (
        "expected Python 3.14 or the package backports.zstd to read or write zstd files, found "
        f"neither; {install_hint('zstd')}"
    )
    raise CorpusError(msg)


def _zstd_writer(file: Any) -> Any:
    """Return a writer with a checksum, which is optional in zstd."""
    zstd = _zstd()
    return zstd.ZstdFile(file, mode="wb", options={zstd.CompressionParameter.checksum_flag: 1})


COMPRESSIONS = (  # the libraries are imported when they are used
    Compression(
        "gzip",
        ".gz",
        (b"\x1f\x8b",),
        _Gunzip,
        lambda file: import_module("gzip").GzipFile("", "wb", fileobj=file, mtime=0),
        lambda: (import_module("zlib").error,),
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
        lambda: import_module("bz2").BZ2Decompressor(),
        lambda file: import_module("bz2").BZ2File(file, "wb"),
        lambda: (OSError, ValueError),
    ),
    Compression(
        "xz",
        ".xz",
        (b"\xfd7zXZ\0",),
        lambda: (lzma := import_module("lzma")).LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY),
        lambda file: import_module("lzma").LZMAFile(file, "wb"),
        lambda: (import_module("lzma").LZMAError,),
    ),
    Compression(
        "zstd",
        ".zst",
        (b"\x28\xb5\x2f\xfd",),
        lambda: _zstd().ZstdDecompressor(),
        _zstd_writer,
        lambda: (_zstd().ZstdError,),
    ),
)
"""Kinds of compressed files. A new kind is a record here."""


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


def compression_cut(data: bytes, name: str) -> Compression | None:
    """Return the kind of a file that ends within its first bytes; None if it may be text.

    Parameters
    ----------
    data
        All bytes of the file.
    name
        Its name. Bytes that could be text are those of a compressed file if the name says so, or
        if they are long enough.

    Examples
    --------
    >>> compression_cut(b"BZh9", "a.bz2").name, compression_cut(b"BZ", "a.txt")
    ('bzip2', None)
    """
    is_text = len(data) < 4 and data.isascii() and data.decode("ascii").isprintable()
    for kind in COMPRESSIONS:
        is_start = any(magic.startswith(data) for magic in kind.magics)
        if is_start and (name.endswith(kind.suffix) or not is_text):
            return kind
    return None


def compression_for(name: str) -> Compression | None:
    """Return the kind of a file to write, by its name.

    >>> compression_for("a.conllu.bz2").name
    'bzip2'
    """
    return next((kind for kind in COMPRESSIONS if name.endswith(kind.suffix)), None)
