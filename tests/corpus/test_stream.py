"""Bytes in and out: gzip, atomic output, refusals."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import pytest

from seqtag.corpus import read
from seqtag.errors import CorpusError
from seqtag.files import Output, check_output

TEXT = "".join(f"w{i} NN\nx VB\n\n" for i in range(3000)).encode()


def raw(source) -> bytes:
    return "".join(s.raw for s in read(source, "columns")).encode()


def test_gzip_is_found_by_its_first_bytes(tmp_path):
    path = tmp_path / "no-suffix"
    path.write_bytes(gzip.compress(TEXT))
    assert raw(path) == TEXT
    members = gzip.compress(TEXT[:500]) + gzip.compress(TEXT[500:]) + b"\0" * 9
    assert raw(io.BytesIO(members)) == TEXT
    misnamed = tmp_path / "plain.gz"
    misnamed.write_bytes(TEXT)
    assert raw(misnamed) == TEXT


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda z: z[:-9], "found the end of the file: it is cut short"),
        (lambda z: z[:-8] + b"12345678", "expected sound gzip data, found damage ("),
        (lambda z: z + b"junk", "expected sound gzip data, found damage ("),
    ],
)
def test_damaged_gzip(tmp_path, damage, expected):
    path = tmp_path / "a.gz"
    path.write_bytes(damage(gzip.compress(TEXT)))
    with pytest.raises(CorpusError) as caught:
        raw(path)
    assert str(caught.value).startswith(str(path))
    assert expected in str(caught.value)


def test_system_errors_pass(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)


def test_text_files_are_refused():
    with pytest.raises(TypeError, match=r'expected a binary file, found one opened .*"rb"'):
        read(io.StringIO("a b\n"))


def test_given_files_stay_open_and_own_files_are_closed(tmp_path):
    file = io.BytesIO(TEXT)
    raw(file)
    assert not file.closed
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    with read(path, "columns") as found:
        next(iter(found))
    assert found._stream._file.closed


def test_output_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(b"old")
    target.chmod(0o640)
    with pytest.raises(RuntimeError), Output(target) as out:
        out.write(b"new")
        raise RuntimeError
    assert target.read_bytes() == b"old"
    with Output(target) as out:
        assert out.write(b"new") == 3
        out.flush()
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_failed_rename_removes_the_temporary_file(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"), Output(tmp_path / "out") as out:
        out.write(b"x")
    assert list(tmp_path.iterdir()) == []


def test_output_gzip_is_reproducible(tmp_path):
    for name in ("a.gz", "b.gz"):
        with Output(tmp_path / name) as out:
            out.write(TEXT)
            out.flush()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == TEXT
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_output_keeps_links_and_devices(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with Output(tmp_path / "link") as out:
        out.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    with Output(os.devnull) as out:
        out.write(b"new")
    assert not Path(os.devnull).is_file()


def test_output_errors_name_the_target(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, Output(tmp_path / "none" / "out"):
        pass
    assert caught.value.filename == str(tmp_path / "none" / "out")
    with pytest.raises(IsADirectoryError), Output(tmp_path):
        pass


def test_standard_output(monkeypatch):
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer))
    with Output("-") as out:
        out.write(b"x\r\n")
    assert buffer.getvalue() == b"x\r\n"
    with pytest.raises(RuntimeError), Output("-"):
        raise RuntimeError
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError, match="standard output is closed"), Output("-"):
        pass


def test_full_device_is_reported():
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OSError, match="No space"), Output("/dev/full") as out:
        out.write(b"x")


def test_output_must_not_be_an_input(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    (tmp_path / "b").hardlink_to(path)
    with pytest.raises(CorpusError, match=r"expected an output file other than .*another"):
        check_output(tmp_path / "b", ["-", path])
    check_output("-", [path])
    check_output(path, ["-", tmp_path / "none", tmp_path])
    check_output(tmp_path / "new", [path])
    check_output(os.devnull, [os.devnull])
