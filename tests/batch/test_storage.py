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
from seqtag.batch.storage import (
    digest_of,
    digesting,
    facts_of,
    facts_of_all,
    file_system,
    open_file,
    open_output,
)
from seqtag.errors import CorpusError, install_hint
from tests.command_line import conllu, home


@pytest.fixture
def memory() -> str:
    """A folder of a store in memory."""
    pytest.importorskip("fsspec", reason="needs fsspec: pip install -e '.[ray]'")
    return f"memory://{uuid.uuid4().hex}"


def test_a_file_at_an_address_is_tagged_once(memory, home, tmp_path):
    with open_output(f"{memory}/in.conllu") as (out, _):
        out.write(conllu(labels=False).encode())
    model = home / "upos.seqtag"
    result = tag_file(f"{memory}/in.conllu", f"{memory}/out/in.conllu.gz", model)
    assert (result.status, result.source) == ("tagged", f"{memory}/in.conllu")
    tag_file(f"{memory}/in.conllu", tmp_path / "here.conllu.gz", model)
    with open_file(f"{memory}/out/in.conllu.gz") as file:
        assert file.read() == (tmp_path / "here.conllu.gz").read_bytes()
    again = tag_file(f"{memory}/in.conllu", f"{memory}/out/in.conllu.gz", model, before=result)
    assert again.status == "skipped"
    assert result.sha256_written == digest_of(f"{memory}/out/in.conllu.gz")
    with open_output(f"{memory}/in.conllu") as (out, _):
        out.write(conllu(labels=False).replace("dog", "cat").encode())
    again = tag_file(f"{memory}/in.conllu", f"{memory}/out/in.conllu.gz", model, before=result)
    assert again.reason == "input"


def test_an_error_sends_nothing(memory):
    place = f"{memory}/out.conllu"
    with pytest.raises(KeyError), open_output(place) as (out, _):
        out.write(b"half")
        raise KeyError
    assert facts_of(place) is None


@pytest.mark.parametrize("kind", ["arrow", "folder"])
def test_a_store_that_shows_incomplete_files_is_refused(memory, tmp_path, kind, monkeypatch):
    from fsspec.implementations.arrow import ArrowFSWrapper
    from fsspec.implementations.dirfs import DirFileSystem
    from fsspec.implementations.local import LocalFileSystem

    if kind == "arrow":  # as of hdfs://
        fs = pytest.importorskip("pyarrow.fs", reason="needs pyarrow: pip install -e '.[ray]'")
        system, path = ArrowFSWrapper(fs.LocalFileSystem()), f"{tmp_path}/a.conllu"
    else:
        system, path = DirFileSystem(str(tmp_path), LocalFileSystem()), "a.conllu"
    Path(tmp_path, "a.conllu").write_text("of before")
    place = "store://a.conllu"
    monkeypatch.setattr(storage, "file_system", lambda _: (system, path))
    for _ in range(2):
        with pytest.raises(CorpusError) as error, open_output(place) as (out, _):
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

    place = f"{memory}/out.conllu"
    monkeypatch.setattr(MemoryFile, "commit", refuse)
    with pytest.raises(PermissionError) as error, open_output(place) as (out, _):
        out.write(b"text")
    assert error.value.filename == f"{memory}/out.conllu"
    assert facts_of(place) is None


def test_a_model_at_an_address(memory, home, tmp_path):
    with open_output(f"{memory}/my.seqtag") as (out, _):
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
    place = f"file://{tmp_path}/a/b.txt"
    with open_output(place) as (out, _):
        out.write(b"text")
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"text"
    assert facts_of(place).bytes == 4
    assert not facts_of(place).stamp  # changed just now
    os.utime(tmp_path / "a" / "b.txt", (1, 1))
    assert facts_of(place).stamp
    assert digest_of(place).startswith("982d9e3eb996f559")


def test_addresses_that_lead_nowhere(memory):
    with pytest.raises(CorpusError) as error:
        facts_of("nowhere://a/b")
    assert str(error.value) == (
        "nowhere://a/b: expected the address of a file, found the scheme 'nowhere' that fsspec "
        "does not know; check it"
    )


def test_without_fsspec_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(CorpusError) as error:
        file_system("s3://a/b")
    assert str(error.value) == (
        "s3://a/b: expected the package fsspec for files at s3://, found none; "
        + install_hint("ray")
    )


def test_what_cannot_be_looked_up_stops_nothing(tmp_path, memory, monkeypatch):
    (tmp_path / "a").write_text("x")
    names = [str(tmp_path / "a"), str(tmp_path / "a" / "b"), "nowhere://a/b", f"{memory}/none"]
    assert [facts and facts.bytes for facts in facts_of_all(names).values()] == [
        1,
        None,
        None,
        None,
    ]
    monkeypatch.setattr("seqtag.batch.storage._LISTED", 1)
    assert facts_of_all(names[2:]) == dict.fromkeys(names[2:])
