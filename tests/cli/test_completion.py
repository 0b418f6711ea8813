"""seqtag completion, in real shells."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import pytest

from seqtag.cli import cli
from seqtag.cli.completion import FILES, _split, candidates
from tests.command_line import call
from tests.conftest import ROOT


def has(shell):
    return pytest.mark.skipif(not shutil.which(shell), reason=f"needs {shell}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files to complete to, and a program seqtag on the path."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "seqtag"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seqtag "$@"\n')
    program.chmod(0o755)
    work = tmp_path / "work"
    (work / "trees").mkdir(parents=True)
    for name in ("treebank.conllu", "two words.txt", "english.seqtag"):
        (work / name).touch()
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(work)
    return work


# ---------------------------------------------------------------------------- candidates
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("eva", ["eval"]),
        ("corpora f", ["fetch"]),
        (
            "corpora fetch ud:fr",
            FRENCH := ["ud:fr_sequoia", *(f"ud:fr_sequoia/{p}" for p in ("train", "dev", "test"))],
        ),
        ("corpora path ud:fr_sequoia/t", [FRENCH[1], FRENCH[3]]),
        ("train ud:fr", [*FRENCH, FILES]),
        ("train x --dev conll", ["conll2000", "conll2000/train", "conll2000/test", FILES]),
        ("train --threads 2 x -o en", [FILES]),
        ("tag -m en", ["en", FILES]),
        ("info x", [FILES]),
        ("bundle en -o ", [FILES]),
        ("tag --to js", ["jsonl"]),
        ("tag --to=js", ["--to=jsonl"]),
        ("train --templates fe", ["feats", FILES]),
        ("templates show fe", ["feats", FILES]),
        ("train --label up", ["upos", "upos+feats"]),
        ("train --label upos,le", ["upos,lemma"]),
        ("eval --fail", ["--fail-under"]),
        ("train --update p", ["perceptron", "pa"]),
        ("train --nothing-like-it", []),
    ],
)
def test_what_a_word_may_become(line, expected):
    *before, last = line.split(" ")
    assert candidates(cli, before, last) == expected


def test_all_commands_are_offered():
    from seqtag.cli import COMMANDS

    assert candidates(cli, [], "") == [*COMMANDS]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("seqtag ", ["seqtag", ""]),
        ("seqtag ta", ["seqtag", "ta"]),
        ("seqtag tag 'two wo", ["seqtag", "tag", "two wo"]),
        ('seqtag tag "two wo', ["seqtag", "tag", "two wo"]),
        ("seqtag tag two\\ wo", ["seqtag", "tag", "two wo"]),
        ("seqtag tag two\\ ", ["seqtag", "tag", "two "]),
    ],
)
def test_a_line_is_split_as_far_as_it_goes(line, words):
    assert _split(line) == words


def test_the_script_is_printed_and_other_shells_are_refused(call):
    assert b"complete -F _seqtag seqtag" in call("completion", "bash").out
    done = call("completion", "csh")
    assert done.code == 2
    assert "expected one of bash, zsh, fish, found 'csh'" in done.err


# -------------------------------------------------------------------------------- bash
BASH = """
source <(seqtag completion bash)
COMP_LINE=$1 COMP_POINT=${#1}
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_seqtag
printf '%s\\n' "${COMPREPLY[@]}"
"""


@has("bash")
@pytest.mark.parametrize(
    ("line", "words", "replies"),
    [
        ("seqtag inf", ["seqtag", "inf"], ["info"]),
        ("seqtag tag tr", ["seqtag", "tag", "tr"], ["treebank.conllu", "trees"]),
        ("seqtag tag tw", ["seqtag", "tag", "tw"], ["two words.txt"]),
        (
            "seqtag info en",
            ["seqtag", "info", "en"],
            ["en", "english.seqtag"],
        ),
        # bash breaks words at colons, and wants the piece behind the last
        (
            "seqtag eval ud:fr_sequoia/d",
            ["seqtag", "eval", "ud", ":", "fr_sequoia/d"],
            ["fr_sequoia/dev"],
        ),
        ("seqtag tag --to=js", ["seqtag", "tag", "--to", "=", "js"], ["jsonl"]),
    ],
)
def test_bash(folder, line, words, replies):
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", line, *words],
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(done.stdout.splitlines()) == replies
    assert done.stderr == ""


# -------------------------------------------------------------------------------- fish
@has("fish")
@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("seqtag inf", ["info"]),
        ("seqtag tag tr", ["treebank.conllu", "trees/"]),
        ("seqtag eval ud:fr_sequoia/d", ["ud:fr_sequoia/dev"]),
        ("seqtag tag --to js", ["jsonl"]),
    ],
)
def test_fish(folder, line, replies):
    script = "seqtag completion fish | source; complete -C $argv[1]"
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", script, line],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | home,
    )
    assert [reply.split("\t")[0] for reply in done.stdout.splitlines()] == replies


# --------------------------------------------------------------------------------- zsh
class Terminal:
    """An interactive shell that is typed to."""

    def __init__(self, *command, env):
        self.screen, pupil = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=pupil, stdout=pupil, stderr=pupil, env=env, start_new_session=True
        )
        os.close(pupil)
        self.seen = ""

    def type(self, text):
        self.seen = ""
        os.write(self.screen, text.encode())

    def wait_for(self, pattern):
        end = time.monotonic() + 60
        while not re.search(pattern, self.seen):
            ready, _, _ = select.select([self.screen], [], [], max(0, end - time.monotonic()))
            assert ready, f"expected {pattern!r}, found {self.seen!r}"
            self.seen += os.read(self.screen, 4096).decode(errors="replace")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.screen)


@has("zsh")
def test_zsh(folder):
    env = os.environ | {"PS1": "$ ", "TERM": "dumb", "HOME": str(folder), "ZDOTDIR": str(folder)}
    shell = Terminal("zsh", "-f", "-i", env=env)
    try:
        shell.type(
            "autoload -Uz compinit && compinit -u -D; source <(seqtag completion zsh); print rea''dy\n"
        )
        shell.wait_for("ready")
        for begun, end in (
            ("seqtag inf", "o "),
            ("seqtag eval ud:fr_sequoia/d", "ev "),
            ("seqtag tag treeb", r"ank\.conllu "),
            ("seqtag tag --to js", "onl "),
        ):
            shell.type(f"{begun}\t")
            shell.wait_for(re.escape(begun) + end)
            shell.type("\x15")
    finally:
        shell.close()


def test_presets_are_completed_as_they_are_listed(call):
    listed = [line.split()[0] for line in call("templates", "list").out.decode().splitlines()]
    assert candidates(cli, ["train", "--templates"], "") == [*listed, "auto", FILES]
    assert candidates(cli, ["templates", "show"], "") == [*listed, FILES]  # auto is no template
