"""Bytes in: compressed files, refusals."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys

import pytest

from seqtag.corpus import read
from seqtag.corpus.stream import ByteStream
from seqtag.errors import CorpusError, install_hint
from seqtag.storage.output import atomic

TEXT = "".join(f"w{i} NN\nx VB\n\n" for i in range(3000)).encode()


def raw(source) -> bytes:
    return "".join(s.raw for s in read(source, "columns")).encode()


def zstd(data: bytes) -> bytes:
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    library = pytest.importorskip(module, reason=f"zstd needs the package {module}")
    return library.compress(data, options={library.CompressionParameter.checksum_flag: 1})


PACKED = {
    "gz": ("gzip", gzip.compress),
    "bz2": ("bzip2", bz2.compress),
    "xz": ("xz", lzma.compress),
    "zst": ("zstd", zstd),
}
each_compression = pytest.mark.parametrize("suffix", PACKED)


@each_compression
def test_compressed_files_are_found_by_their_first_bytes(suffix, tmp_path):
    _, pack = PACKED[suffix]
    path = tmp_path / "no-suffix"
    path.write_bytes(pack(TEXT))
    assert raw(path) == TEXT
    members = pack(TEXT[:500]) + pack(b"") + pack(TEXT[500:])
    for data in (members, members + b"\0" * 8, Slow(members)):
        assert raw(data if isinstance(data, Slow) else io.BytesIO(data)) == TEXT
    assert raw(io.BytesIO(pack(b""))) == b""
    misnamed = tmp_path / f"plain.{suffix}"
    misnamed.write_bytes(TEXT)
    assert raw(misnamed) == TEXT


class Slow(io.BytesIO):
    """A pipe that gives one byte at a time."""

    def read1(self, size: int = -1) -> bytes:
        return self.read(min(size, 1))


@each_compression
def test_damaged_compressed_files_are_refused(suffix, tmp_path):
    name, pack = PACKED[suffix]
    whole = pack(TEXT)
    cut = f"expected the end of the {name} data, found the end of the file: it is truncated; fetch"
    damage = f"expected valid {name} data, found an error ("
    middle = len(whole) // 2
    broken = whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle : middle + 9])
    path = tmp_path / "a"
    for data, expected in [
        (whole[:-5], cut),
        (whole[: len(whole) // 3], cut),
        (whole + b"junk and more of it, enough for any header", damage),
        (broken + whole[middle + 9 :], damage),
    ]:
        path.write_bytes(data)
        with pytest.raises(CorpusError) as caught:
            raw(path)
        assert str(caught.value).startswith(f"{path}: {expected}")


def test_zstd_is_written_with_its_optional_checksum(tmp_path):
    zstd(b"")  # skips the test without the package
    path = tmp_path / "a.zst"
    with atomic(path) as out:
        out.write(b"dog N\n")
    path.write_bytes(path.read_bytes().replace(b"dog", b"dot"))
    with pytest.raises(CorpusError, match="expected valid zstd data, found an error"):
        raw(path)


@each_compression
def test_a_compressed_file_cut_to_its_first_bytes_is_refused(suffix, tmp_path):
    name, pack = PACKED[suffix]
    whole, path = pack(TEXT), tmp_path / f"a.conll.{suffix}"
    for size in range(12):
        path.write_bytes(whole[:size])
        with pytest.raises(CorpusError, match=f"the end of the {name} data, found the end"):
            raw(path)
    with pytest.raises(CorpusError, match=f"the end of the {name} data, found the end"):
        raw(io.BytesIO(whole[:5]))


@each_compression
def test_a_small_file_that_blows_up_comes_in_pieces(suffix):
    _, pack = PACKED[suffix]
    bomb = pack(b"w NN\n\n" * 1_000_000)
    assert len(bomb) < 20_000
    pieces = list(ByteStream(io.BytesIO(bomb))._chunks)
    assert max(map(len, pieces)) <= 1 << 20 < sum(map(len, pieces))


@pytest.mark.parametrize("kind", ["tokens", "tagged"])
def test_carriage_returns_are_no_line_ends(kind):
    """They would be blanks, and the file one sentence."""
    lines = ["a/X b/Y", "c/Z"]
    windows = read(io.BytesIO("\r\n".join(lines).encode()), kind)
    assert [len(s) for s in windows] == [2, 1]
    for text, line in (("\r".join(lines), 1), (f"d/W\n{lines[0]}\r{lines[1]}\n", 2)):
        with pytest.raises(CorpusError, match=rf":{line}: expected lines that end with \\n or"):
            list(read(io.BytesIO(text.encode()), kind))


def test_text_that_begins_like_bzip2_is_text():
    for text in (b"B", b"BZ", b"B\n", b"BZ\n", b"BZh9\n", b"BZh91AY or so\n"):
        assert raw(io.BytesIO(text)) == text
        assert raw(Slow(text)) == text


def test_an_xz_file_that_asks_for_much_memory_is_refused():
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    try:
        data = lzma.compress(b"w NN\n", filters=filters)
    except MemoryError:
        pytest.skip("no memory to make such a file")
    with pytest.raises(CorpusError, match=r"expected valid xz data, found an error .Memory usage"):
        raw(io.BytesIO(data))


def test_zstd_without_its_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    message = (
        "expected Python 3.14 or the package backports.zstd to read or write zstd files, found "
        rf"neither; {re.escape(install_hint('zstd'))}"
    )
    with pytest.raises(CorpusError, match=f"<stream>: {message}"):
        raw(io.BytesIO(b"\x28\xb5\x2f\xfd rest of it"))
    with pytest.raises(CorpusError, match=f"a.zst: {message}"), atomic(tmp_path / "a.zst"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_system_errors_pass(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)


def test_files_opened_as_text_will_do(tmp_path):
    path = tmp_path / "a"
    path.write_text("a b\né ü\n", encoding="latin-1")
    with path.open(encoding="latin-1") as file:
        assert [s.words for s in read(file, "tokens")] == [["a", "b"], ["é", "ü"]]
    assert [s.words for s in read(io.StringIO("a b\n"), "tokens")] == [["a", "b"]]


def test_given_files_stay_open_and_own_files_are_closed(tmp_path):
    file = io.BytesIO(TEXT)
    raw(file)
    assert not file.closed
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    with read(path, "columns") as found:
        next(iter(found))
    assert found.file._file.closed
