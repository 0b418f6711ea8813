"""``seqtag info`` without a model: the installation."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import re
import sys

import pytest

import seqtag
from seqtag.engine import backend, native
from seqtag.version import DISTRIBUTION
from tests.command_line import call
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(backend.BACKEND != "native", reason="the kernel was not built")


def lines(text: bytes) -> dict[str, str]:
    """The last line of each name."""
    return dict(re.split(" +", line, maxsplit=1) for line in text.decode().splitlines())


def test_a_sound_installation(call):
    done = call("info")
    assert (done.code, done.err) == (0, "")
    found = lines(done.out)
    assert found["backend"].startswith("native, ")
    assert found["seqtag"] == f"{seqtag.__version__} in {ROOT / 'seqtag'}"
    assert re.fullmatch(r"Python 3\.\d+\.\S+, numpy \d\S+, click \d.*", found["versions"])
    assert sys.executable in found["platform"]
    assert re.fullmatch(r"en \(\d+\.\d MB, readable\)", found["model"])

    checks = json.loads(call("info", "--json").out)
    assert checks["ok"] and len(checks["checks"]) == 5


def test_a_model_that_cannot_be_read(call, monkeypatch, tmp_path):
    (tmp_path / "en.seqtag").write_bytes(b"PK")
    monkeypatch.setattr("seqtag.model.embedded.MODELS", tmp_path)
    done = call("info")
    assert done.code == 1
    assert re.search(rb"^model +problem: .*en\.seqtag: .*; reinstall seqtag$", done.out, re.M)
