"""Pages are run: console and Python blocks of the README and others, and all doctests."""

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
PAGES = ["README.md", "docs/index.md", "docs/tutorial.md"]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """Code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(page), re.M | re.S)


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


@pytest.mark.parametrize("page", PAGES)
def test_blocks_print_what_the_page_says(page, workplace):
    """First what the shell is told, then Python, which finds the files made there."""
    checker = doctest.OutputChecker()
    commands = 0
    for block in blocks(page, "console"):
        for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            commands += 1
            done = subprocess.run(
                ["sh", "-c", command], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (command, done.stderr)
            assert checker.check_output(wanted, done.stdout, FLAGS), (command, done.stdout)
    source = "\n".join(blocks(page, "python"))
    if source:
        pytest.importorskip("nltk")
    test = doctest.DocTestParser().get_doctest(source, {}, page, page, 0)
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert commands + results.attempted > 1
    assert results.failed == 0


def test_quick_start_has_two_blocks_of_one_line():
    quick = text_of("README.md").split("## Quick start")[1].split("\n## ")[0]
    assert [
        len(b.strip().splitlines()) for b in re.findall(r"^```sh\n(.*?)^```$", quick, re.M | re.S)
    ] == [1, 1]


def test_links_between_pages_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in link
    ]
    assert len(links) > 20
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


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
