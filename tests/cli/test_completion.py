"""Completion of words, as shells ask for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from seqtag.cli import COMMANDS, cli
from tests.conftest import ROOT

FILES = "<files>"
FRENCH = ["ud:fr_sequoia", *(f"ud:fr_sequoia/{part}" for part in ("train", "dev", "test"))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", [*COMMANDS]),
        ("eva", ["eval"]),
        ("models g", ["get"]),
        ("models get ud:fr", FRENCH),
        ("models get ud:fr_sequoia/t", [FRENCH[1], FRENCH[3]]),
        ("train ud:fr", [FILES, *FRENCH]),
        ("train ", [FILES]),
        ("train x --dev conll", [FILES, "conll2000", "conll2000/train", "conll2000/test"]),
        ("tag -m en", [FILES, "en"]),
        ("info x", [FILES]),
        ("tag --to js", ["jsonl"]),
        ("tag --to=js", ["jsonl"]),
        ("train --templates fe", [FILES, "feats"]),
        ("train --label up", ["upos", "upos+feats"]),
        ("train --label upos,le", ["upos,lemma"]),
        ("eval --fail", ["--fail-under"]),
        ("train --update p", ["perceptron", "pa"]),
        ("train --nothing-like-it", []),
    ],
)
def test_what_a_word_may_become(line, expected):
    *before, last = line.split(" ")
    found = ShellComplete(cli, {}, "seqtag", "").get_completions(before, last)
    assert [FILES if item.type == "file" else item.value for item in found] == expected


BASH = """
eval "$(_SEQTAG_COMPLETE=bash_source seqtag)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_seqtag_completion seqtag
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash(tmp_path, monkeypatch):
    program = tmp_path / "seqtag"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seqtag "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = ["bash", "--norc", "-c", BASH, "bash", "seqtag", "eval", "ud:fr_sequoia/d"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "ud:fr_sequoia/dev\n"
