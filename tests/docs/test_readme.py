"""The README is run: its console and Python blocks, and every doctest of the package."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import seqtag

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(language: str) -> list[str]:
    """Code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the sample corpus and a command ``seqtag`` that is this installation."""
    shutil.copytree(ROOT / "corpora", tmp_path / "corpora")
    shim = tmp_path / "bin" / "seqtag"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seqtag "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_console_blocks_print_what_the_readme_says(workplace):
    checker = doctest.OutputChecker()
    for block in blocks("console"):
        for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            done = subprocess.run(
                ["sh", "-c", command], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (command, done.stderr)
            assert checker.check_output(wanted, done.stdout, FLAGS), (command, done.stdout)


def test_python_blocks_run(workplace):
    pytest.importorskip("nltk")
    source = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(source, {}, "README.md", "README.md", 0)
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert results.attempted > 10
    assert results.failed == 0


def test_quick_start_has_two_blocks_of_one_line():
    quick = README.split("## Quick start")[1].split("\n## ")[0]
    assert [
        len(b.strip().splitlines()) for b in re.findall(r"^```sh\n(.*?)^```$", quick, re.M | re.S)
    ] == [1, 1]


MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(seqtag.__path__, "seqtag.")
    if info.name not in ("seqtag.__main__", "seqtag.engine.native")
    and not info.name.startswith("seqtag.engine._kernel")
)


@pytest.mark.parametrize("name", ["seqtag", *MODULES])
def test_doctests_of_the_package(name):
    if name.startswith("seqtag.integrations.spacy"):
        pytest.importorskip("spacy", reason="needs spaCy: pip install '.[spacy]'")
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
