"""A registry of attributes for each test that registers some."""

from __future__ import annotations

import pytest

from seqtag.features import attributes


@pytest.fixture
def registry(monkeypatch):
    """A registry that forgets what the test registers."""
    monkeypatch.setattr(attributes, "_REGISTRY", dict(attributes._REGISTRY))
