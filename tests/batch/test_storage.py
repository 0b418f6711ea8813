"""Files on this machine and at addresses."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import sys
import uuid
from pathlib import Path

import pytest

from seqtag.batch import storage
from seqtag.batch.files import tag_file
from seqtag.batch.storage import RangePlace, digest_of, facts_of, file_system, place_of
from seqtag.errors import CorpusError, install_hint
from tests.command_line import conllu, home


@pytest.fixture
def memory() -> str:
    """A folder of a store in memory."""
    pytest.importorskip("fsspec", reason="needs fsspec: pip install -e '.[ray]'")
    return f"memory://{uuid.uuid4().hex}"


def test_a_file_at_an_address_is_tagged_once(memory, home, tmp_path):
    with place_of(f"{memory}/in.conllu").output() as out:
        out.write(conllu(labels=False).encode())
    model = home / "upos.seqtag"
    result = tag_file(f"{memory}/in.conllu", f"{memory}/out/in.conllu.gz", model)
    assert (result.status, result.source) == ("tagged", f"{memory}/in.conllu")
    tag_file(f"{memory}/in.conllu", tmp_path / "here.conllu.gz", model)
    with place_of(f"{memory}/out/in.conllu.gz").open() as file:
        assert file.read() == (tmp_path / "here.conllu.gz").read_bytes()
    again = tag_file(f"{memory}/in.conllu", f"{memory}/out/in.conllu.gz", model, before=result)
    assert again.status == "skipped"
    assert result.sha256_written == digest_of(place_of(f"{memory}/out/in.conllu.gz"))
    with place_of(f"{memory}/in.conllu").output() as out:
        out.write(conllu(labels=False).replace("dog", "cat").encode())
    again = tag_file(f"{memory}/in.conllu", f"{memory}/out/in.conllu.gz", model, before=result)
    assert again.reason == "input"


def test_an_error_sends_nothing(memory):
    place = place_of(f"{memory}/out.conllu")
    with pytest.raises(KeyError), place.output() as out:
        out.write(b"half")
        raise KeyError
    assert place.facts() is None
    place.remove()  # which is no error


@pytest.mark.parametrize("kind", ["arrow", "folder"])
def test_a_store_that_shows_incomplete_files_is_refused(memory, tmp_path, kind):
    from fsspec.implementations.arrow import ArrowFSWrapper
    from fsspec.implementations.dirfs import DirFileSystem
    from fsspec.implementations.local import LocalFileSystem

    if kind == "arrow":  # as of hdfs://
        fs = pytest.importorskip("pyarrow.fs", reason="needs pyarrow: pip install -e '.[ray]'")
        system, path = ArrowFSWrapper(fs.LocalFileSystem()), f"{tmp_path}/a.conllu"
    else:
        system, path = DirFileSystem(str(tmp_path), LocalFileSystem()), "a.conllu"
    Path(tmp_path, "a.conllu").write_text("of before")
    place = storage._RemotePlace("store://a.conllu", system, path)
    for _ in range(2):
        with pytest.raises(CorpusError) as error, place.output() as out:
            out.write(b"half")
        assert str(error.value) == (
            "store://a.conllu: expected a store that shows a file when it is complete, found one "
            "whose package for fsspec cannot do that; write to a folder or to S3"
        )
    assert [each.name for each in tmp_path.iterdir()] == ["a.conllu"]
    assert Path(tmp_path, "a.conllu").read_text() == "of before"


def test_an_error_of_the_last_request_names_the_file(memory, monkeypatch):
    from fsspec.implementations.memory import MemoryFile

    def refuse(_):
        raise PermissionError(13, "Access Denied")

    place = place_of(f"{memory}/out.conllu")
    monkeypatch.setattr(MemoryFile, "commit", refuse)
    with pytest.raises(PermissionError) as error, place.output() as out:
        out.write(b"text")
    assert error.value.filename == f"{memory}/out.conllu"
    assert place.facts() is None


def test_a_model_at_an_address(memory, home, tmp_path):
    with place_of(f"{memory}/my.seqtag").output() as out:
        out.write((home / "upos.seqtag").read_bytes())
    (tmp_path / "in.conllu").write_text(conllu(labels=False))
    target = tmp_path / "out.conllu"
    first = tag_file(tmp_path / "in.conllu", target, f"{memory}/my.seqtag")
    assert first.status == "tagged"
    again = tag_file(tmp_path / "in.conllu", target, home / "upos.seqtag", before=first)
    assert again.status == "skipped"
    with pytest.raises(FileNotFoundError, match="embedded models: en"):
        tag_file(tmp_path / "in.conllu", target, f"{memory}/none.seqtag")


def test_addresses_of_files_here(tmp_path):
    place = place_of(f"file://{tmp_path}/a/b.txt")
    with place.output() as out:
        out.write(b"text")
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"text"
    assert place.facts().bytes == 4
    assert not place.facts().stamp  # changed just now
    os.utime(tmp_path / "a" / "b.txt", (1, 1))
    assert place.facts().stamp
    assert digest_of(place).startswith("982d9e3eb996f559")
    place.remove()
    assert place.facts() is None


def test_addresses_that_lead_nowhere(memory):
    with pytest.raises(CorpusError) as error:
        place_of("nowhere://a/b")
    assert str(error.value) == (
        "nowhere://a/b: expected the address of a file, found the scheme 'nowhere' that fsspec "
        "does not know; check it"
    )


def test_schemes_without_their_package(memory, monkeypatch):
    import fsspec

    def missing(_):
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(CorpusError) as error:
        place_of("s3://a/b")
    assert str(error.value) == (
        "s3://a/b: expected a package for files at s3://, found none: Install s3fs to access S3"
    )


def test_without_fsspec_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(CorpusError) as error:
        file_system("s3://a/b")
    assert str(error.value) == (
        "s3://a/b: expected the package fsspec for files at s3://, found none; "
        + install_hint("ray")
    )


def test_a_range_is_read_like_a_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    found = RangePlace(place_of(path), 2, 6)
    assert (found.name, found.facts().bytes) == (str(path), 4)
    with found.open() as file:
        assert (file.read(3), file.read(), file.read()) == (b"234", b"5", b"")
    beyond = RangePlace(place_of(path), 8, 20)
    assert beyond.facts().bytes == 2
    with beyond.open() as file:
        assert file.read() == b"89"
    assert RangePlace(place_of(path), 20, 30).facts().bytes == 0
    assert RangePlace(place_of(tmp_path / "none"), 0, 1).facts() is None


def test_folders(tmp_path, memory):
    with place_of(f"{memory}/a").output() as out:
        out.write(b"x")
    (tmp_path / "a").touch()
    for folder in (place_of(tmp_path), place_of(memory)):
        assert folder.names() == ["a"]
        folder.remove_folder()  # which has a file in it
        assert folder.names() == ["a"]
    for nothing in (tmp_path / "none", tmp_path / "a", f"{memory}/none"):
        assert place_of(nothing).names() == []
    (tmp_path / "a").unlink()
    place_of(tmp_path).remove_folder()
    assert not tmp_path.exists()


def test_what_cannot_be_looked_up_stops_nothing(tmp_path, memory, monkeypatch):
    (tmp_path / "a").write_text("x")
    names = [str(tmp_path / "a"), str(tmp_path / "a" / "b"), "nowhere://a/b", f"{memory}/none"]
    assert [facts and facts.bytes for facts in facts_of(names).values()] == [1, None, None, None]
    monkeypatch.setattr("seqtag.batch.storage._LISTED", 1)
    assert facts_of(names[2:]) == dict.fromkeys(names[2:])
