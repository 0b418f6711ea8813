"""Ray is found when it is needed, or a sentence says what to install."""

from __future__ import annotations

import sys

import pytest

from seqtag.batch.ray_cluster import require_ray
from seqtag.errors import ClusterError, install_hint


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError) as error:
        require_ray()
    assert str(error.value) == (
        "expected the package ray to run on a cluster, found none; " + install_hint("ray")
    )
