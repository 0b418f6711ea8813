"""Saving a model: faults on the way, permissions, links, devices."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from seqtag.model.container import load, save


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
