"""Fetching: whole or not at all, from a server that misbehaves in all the ways servers do."""

from __future__ import annotations

import errno
import hashlib
import io
import logging
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.request import Request

import pytest

from seqtag.catalogue import cache, fetch
from seqtag.catalogue.cache import local_path, record_of
from seqtag.catalogue.entries import RemoteFile
from seqtag.errors import CatalogueError
from tests.catalogue.server import serving
from tests.command_line import posix
from tests.conftest import ROOT
from tests.faults import each_fault

CONTENT = b"the DT\ncat NN\n\n" * 20_000
PATH = "/x/r1/x-train.txt"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server with one file, asked instead of the address of the catalogue; an empty cache."""
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "_PAUSE", 0)
    with serving() as server:
        monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", server.address + "/")
        server.files[PATH] = CONTENT
        yield server


def remote(content=CONTENT, **changes):
    """The file as the catalogue has it."""
    digest = hashlib.sha256(content).hexdigest()
    file = RemoteFile("x", "1", "train", f"https://example.org{PATH}", len(content), digest)
    return file._replace(**changes)


UNPINNED = {"size": None, "digest": None}


def left_in(folder: Path) -> list[str]:
    """What lies about in a cache, apart from locks, which stay."""
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and p.suffix != ".lock")


# ------------------------------------------------------------------------ as it should be
def test_a_file_is_fetched_once(server, tmp_path):
    arrived = []
    path = fetch.fetch(remote(), arrived.append)
    assert path == tmp_path / "cache" / "corpora" / "x-1" / "x-train.txt"
    assert path.read_bytes() == CONTENT
    assert sum(arrived) == len(CONTENT)
    assert fetch.fetch(remote()) == path
    assert server.requests == [(PATH, None)]
    assert left_in(tmp_path) == ["x-train.txt"]


def test_redirects_are_followed(server):
    server.redirects = {PATH: "/elsewhere", "/elsewhere": f"{server.address}/there"}
    server.files = {"/there": CONTENT}
    assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert [path for path, _ in server.requests] == [PATH, "/elsewhere", "/there"]


def test_redirects_in_a_circle_end(server, tmp_path):
    server.redirects = {PATH: PATH}
    with pytest.raises(CatalogueError, match="found 302 The HTTP server returned a redirect"):
        fetch.fetch(remote())
    assert left_in(tmp_path) == []


# --------------------------------------------------------------------------- what goes wrong
def test_a_file_that_is_not_there(server, tmp_path):
    server.files.clear()
    with pytest.raises(CatalogueError) as error:
        fetch.fetch(remote())
    assert str(error.value) == (
        f"{server.address}{PATH}: expected a file, found 404 Not Found; if it has moved, name "
        "another server with SEQTAG_CORPORA_MIRROR"
    )
    assert left_in(tmp_path) == []
    assert len(server.requests) == 1


def test_a_wrong_digest_keeps_nothing(server, tmp_path):
    wrong = CONTENT.replace(b"cat", b"dog")
    server.files[PATH] = wrong
    with pytest.raises(CatalogueError) as error:
        fetch.fetch(remote())
    expected, found = (hashlib.sha256(text).hexdigest() for text in (CONTENT, wrong))
    assert str(error.value) == (
        f"{server.address}{PATH}: expected the SHA-256 {expected} of the catalogue, found {found}; "
        "nothing was kept; try again, and check whether a proxy changes files"
    )
    assert left_in(tmp_path) == []


def test_a_wrong_length_is_not_even_read(server, tmp_path):
    with pytest.raises(CatalogueError, match=f"expected 7 bytes, found {len(CONTENT)}; nothing"):
        fetch.fetch(remote(size=7))
    assert left_in(tmp_path) == []


def test_more_than_there_should_be_is_not_read_to_its_end(server, tmp_path):
    server.lengths = False
    server.files[PATH] = CONTENT * 100
    arrived = []
    with pytest.raises(CatalogueError, match="expected the SHA-256"):
        fetch.fetch(remote(), arrived.append)
    assert sum(arrived) < 2 * len(CONTENT)
    assert left_in(tmp_path) == []


def test_a_transfer_that_is_cut_goes_on(server, tmp_path):
    server.cuts = [100_000, 150_000]
    arrived = []
    assert fetch.fetch(remote(), arrived.append).read_bytes() == CONTENT
    assert server.requests == [(PATH, None), (PATH, "bytes=100000-"), (PATH, "bytes=150000-")]
    assert left_in(tmp_path) == ["x-train.txt"]


def test_a_transfer_that_is_always_cut_is_kept_for_the_next_time(server, tmp_path):
    server.cuts = [1000, 2000, 3000, 4000]
    with pytest.raises(CatalogueError) as error:
        fetch.fetch(remote())
    assert str(error.value) == (
        f"{server.address}{PATH}: the transfer was cut at 4000 of {len(CONTENT)} bytes; try again "
        "to continue from there"
    )
    assert left_in(tmp_path) == ["x-train.txt.part"]
    assert not local_path(remote()).exists()
    assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert server.requests[-1] == (PATH, "bytes=4000-")
    assert left_in(tmp_path) == ["x-train.txt"]


def test_a_server_without_ranges_begins_anew(server):
    server.ranges = False
    server.cuts = [100_000]
    assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert server.requests == [(PATH, None), (PATH, "bytes=100000-")]


def part_of(content: bytes) -> Path:
    """The beginning of a file, as an earlier transfer left it."""
    part = local_path(remote()).with_name("x-train.txt.part")
    part.parent.mkdir(parents=True)
    part.write_bytes(content)
    return part


def test_a_beginning_of_something_else_is_thrown_away(server, tmp_path):
    part_of(b"?" * 1000)
    arrived = []
    assert fetch.fetch(remote(), arrived.append).read_bytes() == CONTENT
    assert server.requests == [(PATH, "bytes=1000-"), (PATH, None)]
    assert left_in(tmp_path) == ["x-train.txt"]


def test_a_beginning_that_is_too_long_is_thrown_away(server):
    part_of(CONTENT + b"?")
    assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert server.requests == [(PATH, None)]


def test_a_whole_file_that_has_not_got_its_name_needs_no_server(server):
    part_of(CONTENT)
    assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert server.requests == []


def test_a_beginning_longer_than_what_the_server_has(server):
    file = remote(**UNPINNED)
    path = fetch.fetch(file)
    path.unlink()
    path.with_name("x-train.txt.part").write_bytes(CONTENT + b"?")
    assert fetch.fetch(file).read_bytes() == CONTENT
    assert server.requests[1:] == [(PATH, f"bytes={len(CONTENT) + 1}-"), (PATH, None)]


def test_trouble_that_may_pass_is_tried_again(server):
    server.codes = [503, 500, 429]
    assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert len(server.requests) == 4


def test_trouble_that_does_not_pass_is_told(server):
    server.codes = [503] * 9
    with pytest.raises(CatalogueError, match="the server answered 503 Service Unavailable; try"):
        fetch.fetch(remote())
    assert len(server.requests) == 4


def test_a_server_that_is_not_there(server, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", f"http://{nobody}")
    with pytest.raises(CatalogueError) as error:
        fetch.fetch(remote())
    assert str(error.value).startswith(f"http://{nobody}{PATH}: cannot reach {nobody} (")
    assert str(error.value).endswith(
        "; check the network, name another server with SEQTAG_CORPORA_MIRROR, or put the file at "
        "the path that seqtag corpora path prints"
    )


def test_a_mirror_that_is_no_address(server, monkeypatch):
    monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", "mirror")
    with pytest.raises(CatalogueError, match=r"expected an address such as https://example.org"):
        fetch.fetch(remote())


def test_no_space(server, tmp_path, monkeypatch):
    """The disk fills up in the middle; what is there is kept, and the file has no name yet."""

    class Full:
        def __init__(self, opened):
            self.opened = opened

        def write(self, data):
            if self.opened.tell() + len(data) > 70_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.opened.write(data)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.opened.close()

    real = Path.open

    def limited(self, mode="r", *rest, **more):
        opened = real(self, mode, *rest, **more)
        return Full(opened) if self.suffix == ".part" and mode in ("ab", "wb") else opened

    monkeypatch.setattr(Path, "open", limited)
    with pytest.raises(OSError) as error:
        fetch.fetch(remote())
    assert error.value.errno == errno.ENOSPC
    assert error.value.filename.endswith("x-train.txt.part")
    assert not local_path(remote()).exists()
    monkeypatch.undo()
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SEQTAG_CORPORA_MIRROR", server.address)
    assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert server.requests[-1][1] == "bytes=65536-"


# ------------------------------------------------------------------------------- the cache
def test_a_cache_that_cannot_be_written_to(server, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "file"))
    with pytest.raises(CatalogueError) as error:
        fetch.fetch(remote())
    assert str(error.value) == (
        f"{tmp_path / 'file' / 'corpora' / 'x-1'}: cannot keep corpora there (Not a directory); "
        "set SEQTAG_CACHE to a folder that you can write to"
    )


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_cache(server, monkeypatch, code):
    def refuse(path, *_, **__):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(CatalogueError, match="set SEQTAG_CACHE to a folder that you can write to"):
        fetch.fetch(remote())


def test_what_a_read_only_cache_has_is_used(server, monkeypatch):
    path = fetch.fetch(remote())

    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(cache.locks, "acquire", refuse)
    assert fetch.fetch(remote()) == path


def test_a_file_that_was_changed_is_fetched_again(server, caplog):
    path = fetch.fetch(remote())
    path.write_bytes(CONTENT[:-1])
    with caplog.at_level(logging.INFO, "seqtag"):
        assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert caplog.messages[0] == f"{path} has changed since it was fetched; fetching it again"


def test_a_file_put_there_by_hand_needs_no_server(server):
    path = local_path(remote())
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert fetch.fetch(remote()) == path
    assert server.requests == []


# ------------------------------------------------------------------ without a known digest
def test_the_first_time_is_trusted_and_said_and_the_next_is_checked(server, caplog):
    file = remote(**UNPINNED)
    with caplog.at_level(logging.INFO, "seqtag"):
        path = fetch.fetch(file)
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert caplog.messages == [
        "x/train, release 1: the catalog has no digest to check it against; compare SHA-256 "
        f"{digest} with one from its authors; it was recorded and is required from now on"
    ]
    assert record_of(path).read_text() == f"{digest}  x-train.txt\n"
    path.unlink()
    server.files[PATH] = b"something else"
    with pytest.raises(CatalogueError) as error:
        fetch.fetch(file)
    assert str(error.value) == (
        f"{server.address}{PATH}: expected the SHA-256 {digest} of the first time, found "
        f"{hashlib.sha256(b'something else').hexdigest()}; nothing was kept; if the change is "
        f"intended, remove x-train.txt.sha256 in {path.parent}"
    )
    record_of(path).unlink()
    assert fetch.fetch(file).read_bytes() == b"something else"


def test_a_file_put_there_by_hand_is_written_down(server):
    file = remote(**UNPINNED)
    path = local_path(file)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"edited")
    fetch.fetch(file)
    assert record_of(path).read_text().startswith(hashlib.sha256(b"edited").hexdigest())
    assert server.requests == []


def test_without_a_digest_pieces_are_not_put_together(server):
    server.cuts = [100_000]
    assert fetch.fetch(remote(**UNPINNED)).read_bytes() == CONTENT
    assert server.requests == [(PATH, None), (PATH, None)]


def test_without_digest_and_length_nobody_knows_what_is_whole(server, tmp_path):
    server.lengths = False
    with pytest.raises(CatalogueError, match="expected the length of the file, found none"):
        fetch.fetch(remote(**UNPINNED))
    assert left_in(tmp_path) == []


# ----------------------------------------------------------------------- hostile servers
def answer(status: str, body: bytes = CONTENT, **headers: str) -> bytes:
    """An answer, head and body; its length is in the head unless the headers have one."""
    lines = {"Content-Length": str(len(body))} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    head = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in lines.items()), "", ""]
    return "\r\n".join(head).encode() + body


@pytest.mark.parametrize(
    ("known", "raw", "message"),
    [
        (
            UNPINNED,
            answer("206 Partial Content", Content_Range="bytes 0-999/9999"),
            "expected the complete file, found bytes 0-999/9999; nothing was kept; name another",
        ),
        ({}, answer("206 Partial Content"), "the complete file, found an unknown part; nothing"),
        (UNPINNED, answer("203 By A Proxy"), "expected a file, found 203 By A Proxy; name another"),
        (
            UNPINNED,
            answer("200 OK", Content_Length="9" * 5000),
            r"a Content-Length of up to 18 digits, found '9{20}'\.\.\. \(5000 characters\); name",
        ),
        ({}, answer("200 OK", Content_Length="-7"), "found '-7'"),
        (
            UNPINNED,
            answer("200 OK", Content_Length="9" * 18),
            "expected at most 1073741824 bytes of a file whose size the catalog does not have, "
            "found 999999999999999999 bytes; nothing was kept; download it yourself",
        ),
        (
            UNPINNED,
            answer("200 OK", b"<html>log in", Content_Type="text/html; charset=utf-8"),
            "expected a corpus, found a web page; check the release, and whether the network asks",
        ),
    ],
)
def test_hostile_answers(server, tmp_path, known, raw, message):
    server.raw = [raw]
    with pytest.raises(CatalogueError, match=message):
        fetch.fetch(remote(**known))
    assert left_in(tmp_path) == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("content_range", ["bytes 0-9/10", "bytes 1001-2000/300000", ""])
def test_another_part_than_was_asked_for_is_thrown_away(server, content_range):
    part_of(CONTENT[:1000])
    server.raw = [answer("206 Partial Content", Content_Range=content_range)]
    assert fetch.fetch(remote()).read_bytes() == CONTENT
    assert server.requests == [(PATH, "bytes=1000-"), (PATH, None)]


def test_without_a_size_there_is_a_limit(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "_LARGEST", 1 << 17)
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    for chunks, is_kept in (2, True), (3, False):
        body = chunk * chunks + b"0\r\n\r\n"
        reply = answer("200 OK", body, Transfer_Encoding="chunked")
        server.raw = [reply.replace(f"Content-Length: {len(body)}\r\n".encode(), b"")]
        if is_kept:
            path = fetch.fetch(remote(**UNPINNED))
            assert path.stat().st_size == 1 << 17
            shutil.rmtree(path.parent)
            continue
        with pytest.raises(
            CatalogueError, match="the catalog does not have, found more; nothing was"
        ):
            fetch.fetch(remote(**UNPINNED))
    assert left_in(tmp_path) == []


def test_redirects_to_less_safe_addresses_are_refused(server, tmp_path):
    server.redirects = {PATH: "ftp://127.0.0.1:1/x"}
    with pytest.raises(CatalogueError) as error:
        fetch.fetch(remote())
    assert str(error.value) == (
        f"{server.address}{PATH}: expected HTTP throughout, found a redirect to "
        "ftp://127.0.0.1:1/x; name another server with SEQTAG_CORPORA_MIRROR"
    )
    assert left_in(tmp_path) == []
    for new in ("http://example.org/x", "ftp://example.org/x"):
        with pytest.raises(CatalogueError, match=f"HTTPS throughout, found a redirect to {new}"):
            redirected("https://example.org/y", new)
    for old, new in ("https://a.b/", "https://c.d/"), ("http://a.b/", "https://c.d/"):
        assert redirected(old, new).full_url == new


def redirected(old: str, new: str) -> Request:
    return fetch._Redirects().redirect_request(Request(old), io.BytesIO(), 302, "Found", {}, new)


def test_without_a_digest_the_catalogue_must_name_https(server, monkeypatch):
    monkeypatch.delenv("SEQTAG_CORPORA_MIRROR")
    file = remote(address=server.address + PATH)
    with pytest.raises(CatalogueError, match="expected HTTPS for a file without a digest; name a"):
        fetch.fetch(file._replace(**UNPINNED))
    assert server.requests == []
    assert fetch.fetch(file).read_bytes() == CONTENT


# --------------------------------------------------------------------- several at a time
FETCH = """
from seqtag.catalogue.entries import RemoteFile
from seqtag.catalogue.fetch import fetch
print(fetch(RemoteFile(*{!r})).stat().st_size)
"""


def test_processes_wait_for_each_other(server):
    server.gate.clear()
    command = [sys.executable, "-c", FETCH.format(tuple(remote()))]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) for _ in range(3)
    ]
    server.gate.set()
    outputs = [process.communicate(timeout=60)[0] for process in running]
    assert outputs == [f"{len(CONTENT)}\n"] * 3
    assert server.requests == [(PATH, None)]


@posix
def test_who_waits_says_so(server, caplog):
    server.gate.clear()
    threads = [threading.Thread(target=fetch.fetch, args=(remote(),)) for _ in range(2)]
    with caplog.at_level(logging.INFO, "seqtag"):
        for thread in threads:
            thread.start()
        while not caplog.messages:
            threads[0].join(0.01)
        server.gate.set()
        for thread in threads:
            thread.join()
    path = local_path(remote())
    assert caplog.messages == [f"{path}: waiting for another process that is fetching it"]
    assert server.requests == [(PATH, None)]


@posix
def test_a_killed_process_leaves_no_lock_and_no_half_file(server):
    part_of(CONTENT[:500])
    server.gate.clear()
    command = [sys.executable, "-c", FETCH.format(tuple(remote()))]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}) as process:
        while not server.requests:
            assert process.poll() is None
        process.kill()
    server.gate.set()
    assert not local_path(remote()).exists()
    assert fetch.fetch(remote()).read_bytes() == CONTENT


@pytest.mark.parametrize("pinned", [True, False])
def test_a_fault_at_any_call_leaves_no_half_file_under_its_name(server, tmp_path, pinned):
    server.files[PATH] = CONTENT[:1000]
    file = remote(CONTENT[:1000], **{} if pinned else UNPINNED)
    target, whole = local_path(file), ["x-train.txt"] + ["x-train.txt.sha256"] * (not pinned)
    kinds = [(errno.ENOSPC, False), (errno.EIO, True), (KeyboardInterrupt, True)]
    for faults in each_fault(pytest.MonkeyPatch, *kinds):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        try:
            assert fetch.fetch(file) == target
        except (OSError, CatalogueError) as error:
            assert str(tmp_path / "cache") in str(error), (faults.last, faults.calls)
        except KeyboardInterrupt:
            pass
        else:
            assert left_in(tmp_path) == whole, faults.calls
        assert not target.exists() or target.read_bytes() == CONTENT[:1000], faults.calls
        assert {*left_in(tmp_path)} <= {*whole, "x-train.txt.part"}, faults.calls
        faults.over = True
        assert fetch.fetch(file).read_bytes() == CONTENT[:1000], faults.calls  # goes on
        assert left_in(tmp_path) == whole, faults.calls
