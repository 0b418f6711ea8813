"""Ray is found when it is needed, or a sentence says what to install."""

from __future__ import annotations

import os
import signal
import sys
from types import SimpleNamespace

import pytest

from seqtag.batch.ray_cluster import connected, require_ray
from seqtag.errors import ClusterError, install_hint
from tests.command_line import posix


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError) as error:
        require_ray()
    assert str(error.value) == (
        "expected the package ray to run on a cluster, found none; " + install_hint("ray")
    )


@pytest.mark.parametrize(("given", "found"), [(None, "2"), ("5", "5")])
def test_ray_gives_up_what_is_killed_because_memory_is_short(monkeypatch, given, found):
    name = "RAY_task_oom_retries"
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace())
    monkeypatch.setenv(name, given or "")  # which restores it
    if given is None:
        monkeypatch.delenv(name)
    require_ray()
    assert os.environ[name] == found


@posix
def test_a_signal_while_ray_starts_ends_the_command_as_at_any_other_time(monkeypatch):
    class StoppedError(BaseException):
        pass

    def stop(*_):
        raise StoppedError

    def start(**_):
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(number))  # as Ray does
        signal.raise_signal(signal.SIGTERM)

    ray = SimpleNamespace(is_initialized=lambda: False, init=start)
    monkeypatch.setitem(sys.modules, "ray", ray)
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(StoppedError), connected():
            pass
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)
