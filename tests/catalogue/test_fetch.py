"""Fetching: whole or not at all, from a server that misbehaves."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from seqtag.catalogue.entries import RemoteFile
from seqtag.catalogue.fetch import fetch, local_path
from seqtag.errors import CatalogueError
from tests.catalogue.server import serving
from tests.command_line import posix
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = b"1\tthey\n2\tcats\n\n" * 20_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PATH = "/x/r1/x-train.txt"
PINNED = RemoteFile("x", "1", "train", f"https://example.org{PATH}", len(CONTENT), DIGEST)
UNPINNED = PINNED._replace(size=None, digest=None)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server with one file, asked instead of the address of the catalogue; an empty cache."""
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("seqtag.catalogue.fetch._PAUSE_SECONDS", 0)
    with serving() as server:
        monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", server.address + "/")
        server.files[PATH] = CONTENT
        yield server


def left_in(folder: Path) -> list[str]:
    """The files in a cache."""
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


def refusal(file=PINNED) -> str:
    """The message of the error that fetching ends with."""
    with pytest.raises(CatalogueError) as error:
        fetch(file)
    return str(error.value)


# ------------------------------------------------------------------------ as it should be
def test_a_file_is_fetched_once(server, tmp_path, caplog):
    with caplog.at_level(logging.INFO, "seqtag"):
        path = fetch(PINNED)
        assert fetch(PINNED) == path
    assert path == tmp_path / "cache" / "corpora" / "x-1" / "x-train.txt"
    assert path.read_bytes() == CONTENT
    assert (server.requests, caplog.messages) == ([PATH], ["fetching x/train, release 1"])
    assert left_in(tmp_path) == ["x-train.txt"]


def test_redirects_are_followed(server):
    server.redirects = {PATH: "/elsewhere", "/elsewhere": f"{server.address}/there"}
    server.files = {"/there": CONTENT}
    assert fetch(PINNED).read_bytes() == CONTENT
    assert server.requests == [PATH, "/elsewhere", "/there"]


def test_a_file_put_there_by_hand_needs_no_server_and_a_changed_one_is_fetched(server):
    path = local_path(PINNED)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert fetch(PINNED) == path
    assert server.requests == []
    path.write_bytes(CONTENT[:-1])
    assert fetch(PINNED).read_bytes() == CONTENT


@posix
def test_what_a_read_only_cache_has_is_used(server):
    path = fetch(PINNED)
    path.parent.chmod(0o500)
    assert fetch(PINNED) == path


@pytest.mark.parametrize(("codes", "cuts"), [([503], []), ([], [100_000])])
def test_trouble_that_may_pass_is_tried_again(server, codes, cuts):
    server.codes, server.cuts = codes, cuts
    assert fetch(UNPINNED).read_bytes() == CONTENT
    assert len(server.requests) == 2


# --------------------------------------------------------------------------- what goes wrong
def missing(server):
    server.files.clear()


def busy(server):
    server.codes = [503] * 9


def wrong(server):
    server.files[PATH] = CONTENT.replace(b"cats", b"dogs")


def cut(server):
    server.cuts = [1000] * 9


def endless(server):
    server.redirects = {PATH: PATH}


def elsewhere(server):
    server.redirects = {PATH: "ftp://127.0.0.1:1/x"}


def nowhere(server):
    server.redirects = {PATH: "http://[::1"}


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        (missing, "cannot be downloaded (404 Client Error: Not Found for url: http://127.0.0.1:"),
        (busy, "cannot be downloaded (503 Server Error: Service Unavailable for url: http://"),
        (wrong, f"expected the SHA-256 {DIGEST}, found "),
        (cut, "cannot be downloaded ("),
        (endless, "cannot be downloaded (Exceeded 30 redirects.); nothing was kept; check the "),
        (elsewhere, "cannot be downloaded (No connection adapters were found for 'ftp://127."),
        (nowhere, "cannot be downloaded (Invalid IPv6 URL); nothing was kept; check the network"),
    ],
)
def test_nothing_is_kept_of_what_goes_wrong(server, tmp_path, trouble, message):
    trouble(server)
    for file in (PINNED, UNPINNED)[: 1 + (trouble is not wrong)]:
        assert refusal(file).startswith(f"{server.address}{PATH}: {message}")
        assert left_in(tmp_path) == []


def test_a_server_that_is_not_there(server, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    for mirror in (nobody, "x://mirror"):
        monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", mirror)
        message = refusal()
        assert message.startswith(f"{mirror}{PATH}: cannot be downloaded (")
        assert message.endswith(
            "; nothing was kept; check the network and try again, or name another server with "
            "SEQTAG_CORPORA_MIRROR (such as https://example.org)"
        )


def test_a_cache_that_cannot_be_written_to(server, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "file"))
    assert refusal() == (
        f"{tmp_path / 'file' / 'corpora' / 'x-1'}: cannot keep corpora there (Not a directory); "
        "check space and permissions, or set SEQTAG_CACHE to another folder"
    )


# ------------------------------------------------------------------ without a known digest
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"<!DOCTYPE html><title>Log in</title>", "a line that begins with b'<!DOCTYPE html>"),
        (b"# text = x\n1\tx\n<html>\n\n", "a line that begins with b'<html>'"),
        (gzip.compress(CONTENT, mtime=0)[:-9], r"a line that begins with b'\x1f\x8b"),
        (bytes(99), r"a line that begins with b'\x00"),
        (CONTENT[:-7], "a file that ends within a sentence"),
        (CONTENT[:-1], "a file that ends within a sentence"),
        (b"# nothing\n\n", "no words"),
        (b"", "no words"),
    ],
)
@pytest.mark.parametrize("is_folder", [False, True])
def test_without_a_digest_it_must_be_conllu(
    server, tmp_path, monkeypatch, content, fault, is_folder
):
    server.files[PATH] = content
    if is_folder:
        (tmp_path / "mirror" / PATH[1:]).parent.mkdir(parents=True)
        (tmp_path / "mirror" / PATH[1:]).write_bytes(content)
        monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", str(tmp_path / "mirror"))
    assert f"{PATH}: expected a treebank, found {fault}" in refusal(UNPINNED)
    assert left_in(tmp_path / "cache") == []


def test_the_blank_line_at_the_end_may_come_in_two_chunks(server):
    words = b"1\tthey\n\n"
    server.files[PATH] = b"# " + b"x" * ((1 << 16) - len(words) - 2) + b"\n" + words
    assert fetch(UNPINNED).read_bytes() == server.files[PATH]


@pytest.mark.parametrize("file", [PINNED, UNPINNED])
def test_bytes_without_end_are_not_taken(server, tmp_path, monkeypatch, file):
    monkeypatch.setattr("seqtag.catalogue.fetch.MAX_BYTES", 1_000_000)
    server.most = 1 << 28
    most = file.size or 1_000_000
    assert f"expected at most {most:,} bytes, found more; nothing was kept" in refusal(file)
    assert server.sent < server.most
    assert left_in(tmp_path) == []


def test_packed_files_are_not_unpacked(server, tmp_path):
    server.files[PATH] = gzip.compress(CONTENT)
    server.headers = {"Content_Encoding": "gzip"}
    for file in (PINNED, UNPINNED):
        assert "no packed file, found" in refusal(file)
        assert left_in(tmp_path) == []


def test_without_a_digest_no_plain_http(server, tmp_path, monkeypatch):
    monkeypatch.delenv("SEQTAG_CORPORA_MIRROR")
    file = PINNED._replace(address=server.address + PATH)
    assert refusal(file._replace(size=None, digest=None)) == (
        f"{file.address}: expected HTTPS for a file without a digest, and no packed file, found "
        f"{file.address} (identity); name another server with SEQTAG_CORPORA_MIRROR"
    )
    assert left_in(tmp_path) == []
    assert fetch(file).read_bytes() == CONTENT


# --------------------------------------------------------------------- several at a time
FETCH = f"""
from seqtag.catalogue.entries import RemoteFile
from seqtag.catalogue.fetch import fetch
print(fetch(RemoteFile(*{tuple(PINNED)!r})).stat().st_size)
"""
COMMAND = [sys.executable, "-c", FETCH]


@pytest.fixture
def environment(server):
    """The environment of other processes that fetch the same file."""
    return os.environ | {"PYTHONPATH": str(ROOT)}


def test_processes_do_not_disturb_each_other(server, environment, tmp_path):
    server.gate.clear()
    running = [
        subprocess.Popen(COMMAND, stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(3)
    ]
    while len(server.requests) < 3:
        assert all(process.poll() is None for process in running)
    server.gate.set()
    outputs = [process.communicate(timeout=60)[0] for process in running]
    assert outputs == [f"{len(CONTENT)}\n"] * 3
    assert left_in(tmp_path) == ["x-train.txt"]


@posix
def test_a_killed_process_leaves_no_half_file_under_the_name(server, environment):
    server.gate.clear()
    with subprocess.Popen(COMMAND, env=environment) as process:
        while not server.requests:
            assert process.poll() is None
        process.kill()
    server.gate.set()
    assert not local_path(PINNED).exists()
    assert fetch(PINNED).read_bytes() == CONTENT
