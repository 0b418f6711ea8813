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


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Make an empty folder of installed packages the only one to be searched for foreign ones."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *filter(None, map(clean, sys.path))])
    return tmp_path


def clean(folder: str) -> str:
    """Return a folder of the path unless a package called seqtag is installed there."""
    return "" if any((ROOT / folder).glob("seqtag-*-info")) else folder


def lines(text: bytes) -> dict[str, str]:
    """The last line of each name."""
    return dict(re.split(" +", line, maxsplit=1) for line in text.decode().splitlines())


def test_a_sound_installation(site, call):
    done = call("info")
    assert (done.code, done.err) == (0, "")
    found = lines(done.out)
    assert found["backend"].startswith("native, ")
    assert found["seqtag"] == f"{seqtag.__version__} in {ROOT / 'seqtag'}"
    assert re.fullmatch(r"Python 3\.\d+\.\S+, numpy \d\S+, click \d.*", found["versions"])
    assert sys.executable in found["platform"]
    assert re.fullmatch(r"en \(\d+\.\d MB, readable\)", found["model"])
    assert found["foreign"] == "none"

    checks = json.loads(call("info", "--json").out)
    assert checks["ok"]
    assert {"name": "foreign", "text": "none"} in checks["checks"]


@pytest.mark.parametrize(
    ("is_wide", "able", "text"),
    [
        (True, True, "AVX2 vectors (32 bytes)"),
        (False, False, "vectors of 16 bytes, without AVX2: the processor does not have it"),
    ],
)
def test_vectors(monkeypatch, is_wide, able, text):
    class Kernel:
        @staticmethod
        def has_avx2() -> bool:
            return able

    monkeypatch.setattr(native, "_kernel", Kernel)
    monkeypatch.setattr(native, "_wide", is_wide)
    monkeypatch.delenv("SEQTAG_VECTORS", raising=False)
    assert native.vectors() == text


def test_a_model_that_cannot_be_read(site, call, monkeypatch, tmp_path):
    (tmp_path / "en.seqtag").write_bytes(b"PK")
    monkeypatch.setattr("seqtag.model.embedded.MODELS", tmp_path)
    done = call("info")
    assert done.code == 1
    assert re.search(rb"^model +problem: .*en\.seqtag: .*; reinstall seqtag$", done.out, re.M)


def test_foreign_packages(site, call):
    def install(name: str, version: str, files: str) -> None:
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        (info / "RECORD").write_text(files)

    install(DISTRIBUTION, "0.3.0", "seqtag/__init__.py,,\n")
    install("other", "1.0", "other/__init__.py,,\nother/seqtag/__init__.py,,\n")
    assert call("info").code == 0
    install("fork-of-it", "2.0", "a.py,,\nseqtag/__init__.py,,\n")
    done = call("info")
    assert done.code == 1
    assert lines(done.out)["foreign"] == (
        f"problem: fork-of-it 2.0 provides the import name seqtag, too, and may replace files of "
        f"{DISTRIBUTION}; run pip uninstall fork-of-it, then repeat your pip install command with "
        "--force-reinstall"
    )
