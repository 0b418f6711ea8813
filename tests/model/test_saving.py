"""Saving a model: faults on the way, permissions, links, devices."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from seqtag.model.container import load, save
from tests.model_files import CONFIG, tiny


class BoomError(OSError):
    """A fault that we injected."""


class FullFile:
    """A file on a disk that fills up in the middle of writing."""

    def __init__(self, file):
        self.file = file

    def __enter__(self):
        return self

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def fail(*_args, **_keywords):
    raise BoomError(errno.EIO, "boom")


def break_write(patch):
    opened = os.fdopen
    patch.setattr(os, "fdopen", lambda *args: FullFile(opened(*args)))


FAULTS = {
    "open": lambda patch: patch.setattr(os, "open", fail),
    "write": break_write,
    "fsync": lambda patch: patch.setattr(os, "fsync", fail),
    "fchmod": lambda patch: patch.setattr(os, "fchmod", fail),
    "replace": lambda patch: patch.setattr(Path, "replace", fail),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_save_leaves_the_old_file_and_nothing_else(fault, tmp_path, monkeypatch):
    path = tmp_path / "m.seqtag"
    save(path, CONFIG, tiny())
    old = path.read_bytes()
    with monkeypatch.context() as patch:
        FAULTS[fault](patch)
        with pytest.raises(OSError, match=r"could not save the model of \d+ bytes; an older file"):
            save(path, {}, {})
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_no_temporary_file(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path / "m.seqtag", {}, {})
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_synced_is_no_failure(tmp_path, monkeypatch):
    real, calls = os.fsync, []

    def second_fails(number):
        calls.append(number)
        return fail() if len(calls) == 2 else real(number)

    monkeypatch.setattr(os, "fsync", second_fails)
    save(tmp_path / "m.seqtag", CONFIG, {})
    assert load(tmp_path / "m.seqtag")[:2] == (CONFIG, {})
    assert os.name == "nt" or len(calls) == 2


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_follow_the_umask_and_then_the_old_file(tmp_path):
    path = tmp_path / "m.seqtag"
    old = os.umask(0o027)
    try:
        save(path, {}, {})
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        save(path, {"a": 1}, {})
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(old)


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")
def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "m.seqtag", tmp_path / "link.seqtag"
    link.symlink_to(target)
    for config in ({"a": 1}, {"a": 2}):  # the link dangles the first time
        save(link, config, {})
        assert link.is_symlink() and not target.is_symlink()
        assert load(target)[0] == config
    assert [p.name for p in (tmp_path / "real").iterdir()] == ["m.seqtag"]


def test_a_folder_is_no_place_for_a_model(tmp_path):
    with pytest.raises(OSError, match="expected a regular file or a new name") as caught:
        save(tmp_path, {}, {})
    assert caught.value.errno == errno.EISDIR and caught.value.filename == str(tmp_path)
    with pytest.raises(OSError, match=tmp_path.name):
        load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_device_or_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="expected a regular file or a new name") as caught:
        save(tmp_path / "pipe", {}, {})
    assert caught.value.errno == errno.EINVAL
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_missing_paths(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.seqtag")
    with pytest.raises(FileNotFoundError, match="choose an existing, writable folder") as caught:
        save(tmp_path / "none" / "m.seqtag", {}, {})
    assert caught.value.filename == str(tmp_path / "none" / "m.seqtag")


def test_a_read_only_folder_is_named_in_plain_words(tmp_path, monkeypatch):
    if hasattr(os, "geteuid") and os.geteuid() != 0 and os.name != "nt":
        tmp_path.chmod(0o500)
    else:  # the administrator may write anywhere: pretend

        def deny(name, *_):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(name))

        monkeypatch.setattr(os, "open", deny)
    with pytest.raises(PermissionError, match="choose an existing, writable folder") as caught:
        save(tmp_path / "m.seqtag", {}, {})
    assert caught.value.filename == str(tmp_path / "m.seqtag")  # not the temporary file
    tmp_path.chmod(0o700)
    assert not list(tmp_path.iterdir())
