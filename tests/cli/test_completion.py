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


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", [*COMMANDS]),
        ("eva", ["eval"]),
        ("models g", ["get"]),
        ("train ", [FILES]),
        ("train x --dev conll", [FILES]),
        ("tag -m en", [FILES]),
        ("info x", [FILES]),
        ("tag --to js", ["jsonl"]),
        ("tag --to=js", ["jsonl"]),
        ("eval --fail", ["--fail-under"]),
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
    command = ["bash", "--norc", "-c", BASH, "bash", "seqtag", "mod"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "models\n"
