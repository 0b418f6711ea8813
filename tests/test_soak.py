"""scripts/soak.py, for a few seconds."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
ROOT = Path(__file__).parent.parent


def soak(*arguments):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "soak.py", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    return done.stdout + done.stderr  # of so short a time the verdict on memory says nothing


def test_copies_of_a_file_come_back_the_same():
    out = soak("tag", "corpora/sample/en-sample-dev.conllu", "--gigabytes", "0.0001")
    assert "; 0 copies differ, 0 bytes too many, status 0" in out
    assert "handles" in out


@pytest.mark.nightly
def test_requests_are_answered_rightly():
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    out = soak("serve", "--minutes", "0.2", "--clients", "2")
    assert "wrong answers 0 []; alive at the end" in out
    assert " 200 " in out
    assert "0 lines on stderr" in out
