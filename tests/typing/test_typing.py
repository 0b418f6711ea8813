"""Type checkers accept user code: that of `user_code.py`, and the README's examples."""

from __future__ import annotations

import doctest
import importlib.util
import json
import os
import re
import site
import subprocess
import sys
from pathlib import Path

import pytest

import seqtag
from tests.conftest import ROOT

USER_CODE = (Path(__file__).parent / "user_code.py").read_text(encoding="utf-8")
PACKAGES = str(Path(seqtag.__file__).parents[1])


def readme_code() -> str:
    """The README's Python examples as one module."""
    blocks = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )
    examples = doctest.DocTestParser().get_examples("\n".join(blocks))
    return "".join(example.source for example in examples)


@pytest.fixture
def modules(tmp_path) -> list[str]:
    """Modules of user code, alone in the working folder of the type checkers."""
    (tmp_path / "user_code.py").write_text(USER_CODE, "utf-8")
    (tmp_path / "readme.py").write_text("# mypy: allow-untyped-defs\n" + readme_code(), "utf-8")
    return [str(tmp_path / "user_code.py"), str(tmp_path / "readme.py")]


def run(command: list[str], **environment: str) -> None:
    """Run a type checker; its complaints are the failure."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_has_examples():
    assert "word.lemma" in readme_code()


def test_mypy_accepts(modules, tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed: pip install -e '.[test]'")
    # Where seqtag is not installed, as in a source tree on PYTHONPATH, the checker needs the path.
    place = {} if PACKAGES in site.getsitepackages() else {"MYPYPATH": PACKAGES}
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent"]
    run([sys.executable, "-m", "mypy", *options, f"--cache-dir={tmp_path}", *modules], **place)


def test_pyright_accepts(modules, tmp_path):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed: pip install -e '.[dev]'")
    version = [sys.executable, "-m", "pyright", "--version"]
    if subprocess.run(version, capture_output=True, check=False).returncode:
        pytest.skip("pyright cannot fetch the program that it wraps")
    settings = {"extraPaths": [PACKAGES], "reportMissingImports": True}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    run(
        [
            sys.executable,
            "-m",
            "pyright",
            "--pythonpath",
            sys.executable,
            "--project",
            str(tmp_path),
        ]
    )
