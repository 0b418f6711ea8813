"""Fixtures of the engine's tests."""

from __future__ import annotations

import pytest

from seqtag.engine import arrays


@pytest.fixture(params=["dense", "sparse"])
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernel store rows densely, or sparsely as it does with many labels."""
    if request.param == "sparse":
        monkeypatch.setattr(arrays, "MAX_DENSE_LABELS", 0)
