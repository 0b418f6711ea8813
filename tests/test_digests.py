"""Models and outputs are, byte for byte, those written down in digests.json.

A change that alters them on purpose says so in its commit and writes the file anew:
``python tests/test_digests.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WRITTEN = HERE / "digests.json"
SAMPLE = HERE.parent / "corpora" / "sample"
SIZES = {"train": [], "dev": ["--small"]}


def found(size: str, **env: str) -> dict[str, str]:
    """The digests that a process with this environment finds."""
    done = subprocess.run(
        [sys.executable, HERE / "digests.py", SAMPLE, *SIZES[size]],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | env,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("size", "env"),
    [
        ("train", {}),
        ("train", {"SEQTAG_VECTORS": "16"}),
        ("dev", {"SEQTAG_BACKEND": "reference"}),
    ],
    ids=["native", "narrow vectors", "reference"],
)
def test_bytes_are_what_they_were(size, env):
    from seqtag.engine.backend import BACKEND

    if size == "train" and BACKEND == "reference":
        pytest.skip("the native kernel is not built, or not asked for")
    assert found(size, **env) == json.loads(WRITTEN.read_text("utf-8"))[size]


if __name__ == "__main__":
    WRITTEN.write_text(json.dumps({size: found(size) for size in SIZES}, indent=1) + "\n")
