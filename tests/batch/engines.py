"""Where a real Ray can run."""

from __future__ import annotations

import importlib.util
import os
import socket

import pytest


def _why_not() -> str:
    """Why there can be no Ray here; nothing if there can."""
    if importlib.util.find_spec("ray") is None:
        return "needs Ray: pip install -e '.[ray]'"
    if not hasattr(socket, "if_nameindex") or not os.path.exists("/proc/self/fd"):  # noqa: PTH110
        return "needs Linux"
    if [name for _, name in socket.if_nameindex()] != ["lo"]:
        return (
            "Ray listens on all networks, so it needs one of its own: unshare --net sh -c "
            "'ip link set lo up; exec python -m pytest --nightly tests/batch'"
        )
    return ""


on_ray = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "-"),
    pytest.mark.filterwarnings("ignore"),
]
"""Marks of tests on a real cluster, in a network of its own."""
