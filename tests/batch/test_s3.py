"""Files in an object store: the server of moto, on the loopback address."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from seqtag.batch import storage
from seqtag.batch.storage import digest_of, facts_of, facts_of_all, open_output
from tests.batch.engines import fake, on_ray, ray
from tests.command_line import call, conllu, home

if TYPE_CHECKING:
    from collections.abc import Iterator

s3fs = pytest.importorskip("s3fs", reason="needs s3fs")
moto = pytest.importorskip("moto.server", reason="needs moto[server]")

PART = 5 * 2**20  # the least that S3 takes


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server, which workers find by their environment too."""
    found = moto.ThreadedMotoServer("127.0.0.1", 0)
    found.start()
    host, port = found.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield f"http://{host}:{port}"
    found.stop()


@pytest.fixture
def bucket(server, request) -> Iterator[Any]:
    """An empty bucket."""
    store = s3fs.S3FileSystem()
    store.mkdir("crawl")
    yield store
    store.rm("crawl", recursive=True)


def uploads(store: Any) -> list[str]:
    """The files that are being sent in parts."""
    found = store.call_s3("list_multipart_uploads", Bucket="crawl")
    return [each["Key"] for each in found.get("Uploads", [])]


def test_an_output_is_sent_in_parts_and_appears_complete(bucket, tmp_path, monkeypatch):
    monkeypatch.setattr(s3fs.S3FileSystem, "default_block_size", PART)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = "s3://crawl/out/a.bin"
    with open_output(place) as (out, stored):
        for _ in range(4):
            out.write(os.urandom(PART - 1))
        assert uploads(bucket) == ["out/a.bin"]
        assert facts_of(place) is None
    assert (stored.bytes, stored.sha256) == (4 * (PART - 1), digest_of(place))
    assert facts_of(place).bytes == stored.bytes
    assert uploads(bucket) == [*tmp_path.iterdir()] == []


def test_an_error_leaves_what_was_there(bucket, monkeypatch):
    monkeypatch.setattr(s3fs.S3FileSystem, "default_block_size", PART)
    bucket.pipe("crawl/out/a.bin.gz", b"old")
    place = "s3://crawl/out/a.bin.gz"
    with pytest.raises(KeyError), open_output(place) as (out, _stored):
        for _ in range(4):
            out.write(os.urandom(PART))
        raise KeyError
    assert uploads(bucket) == []
    assert bucket.cat("crawl/out/a.bin.gz") == b"old"


def test_many_files_are_looked_up_by_one_listing(bucket, monkeypatch):
    names = [f"s3://crawl/in/{number}" for number in range(4)]
    for name in names[1:]:
        bucket.pipe(name, name.encode())
    alone = facts_of_all(names)
    monkeypatch.setattr(storage, "_LISTED", 4)
    monkeypatch.setattr(storage, "facts_of", lambda _: pytest.fail("one by one"))
    assert facts_of_all(names) == alone
    assert alone[names[0]] is None
    assert len({facts.stamp for facts in alone.values() if facts}) == 3
    missing = [name.replace("/in/", "/none/") for name in names]
    assert facts_of_all(missing) == dict.fromkeys(missing)


@pytest.fixture
def place(bucket, tmp_path, monkeypatch, home) -> Path:
    """A folder with a model; files to tag in a store and here."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(home / "upos.seqtag", "my.seqtag")
    Path("in").mkdir()
    for number in range(5):
        text = conllu(labels=False) * (1 + 300 * (number == 3))
        Path("in", f"{number}.conllu").write_text(text)
        bucket.pipe(f"crawl/in/{number}.conllu", text.encode())
    return tmp_path


TAG = ("cluster", "tag", "-m", "my.seqtag")
STORE = ("s3://crawl/in/*.conllu", "-o", "s3://crawl/out", "--ledger", "ledger.jsonl")


def check_runs(call: Any, bucket: Any) -> None:
    """Tag from the store to the store, as from here to here; twice."""
    assert call(*TAG, "in/*.conllu", "-o", "out").code == 0
    done = call(*TAG, *STORE)
    assert done.code == 0, done.err
    assert "5 tagged, 0 skipped, 0 failed" in done.err
    names = [path.rpartition("/")[2] for path in bucket.find("crawl/out")]
    assert sorted(names) == [f"{number}.conllu" for number in range(5)]
    for name in names:
        assert bucket.cat(f"crawl/out/{name}") == Path("out", name).read_bytes()
    assert "0 tagged, 5 skipped" in call(*TAG, *STORE).err
    bucket.pipe("crawl/in/1.conllu", conllu(labels=False).replace("barks", "sings").encode())
    assert "1 tagged, 4 skipped" in call(*TAG, *STORE).err
    data = bucket.cat("crawl/out/2.conllu")
    bucket.pipe("crawl/out/2.conllu", data.replace(b"NOUN", b"VERB"))
    assert "1 tagged, 4 skipped" in call(*TAG, *STORE, "--verify").err
    assert bucket.cat("crawl/out/2.conllu") == data
    assert json.loads(Path("ledger.jsonl").read_text().splitlines()[0])["files"] == 5


def test_a_run_from_and_to_a_store(place, fake, bucket, call):
    check_runs(call, bucket)


@on_ray
def test_a_run_on_ray_from_and_to_a_store(place, server, ray, bucket, call):
    check_runs(call, bucket)
