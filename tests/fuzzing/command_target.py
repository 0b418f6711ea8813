"""What must hold of every command line: an exit code that is documented, and a clean stderr."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import socket
import sys
import threading
import unicodedata
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pytest

from seqtag.cli import COMMANDS, cli, main
from tests.command_line import chunks, conllu
from tests.fuzzing.choices import Choices
from tests.fuzzing.good_models import good_files

_FILES = {
    "train.conllu": conllu().encode(),
    "chunks.txt": chunks().encode(),
    "raw.txt": b"Im Haus. Wer?\n\n\x1b[2J a\n",
    "m.seqtag": good_files,
    "words.classes": b"# seqtag table 1\n# name: c\n\nthe\t1\n\x1b[1m\t2\n",
    "esc\x1b[2J\u202e.conllu": conllu(["the dog barks ."]).encode(),
    "line\nbreak.txt": b"a B-\x1b[31m\nb O\n\n",
    "templates.txt": b"form[0]\nlabel[-1]\n",
}
_WORDS = Path(__file__).with_name("words") / "arguments.json"
_VALUES: list[str] = [*_FILES, *json.loads(_WORDS.read_text("ascii"))]
_NEVER = {
    "--attributes",  # runs what it is given
    "--port",  # a server that listens does not end
    "--address",  # of a cluster
    "--shell-complete",
}
_QUICK = {"train": ["--epochs", "1"], "cv": ["--epochs", "1"], "tune": ["--epochs", "1"]}
_CODES = {0, 1, 2, 3}  # 3 is a score under --fail-under


@cache
def _options(command: str) -> list[str]:
    """The options of a command, and one that no command has."""
    found = ["--nothing\x1b[2J", "--debug=1"]
    made = cli.get_command(click.Context(cli), command)
    for each in made.params if made else ():
        found += [name for name in each.opts if name.startswith("-") and name not in _NEVER]
    return found


def command_line(data: bytes) -> str:
    """A few arguments, good and bad: an exit code of ours, nothing raw on the terminal."""
    choices = Choices(data)
    args = _arguments(choices)
    with TemporaryDirectory() as folder:
        model = good_files()[choices.below(len(good_files()))]
        content = choices.rest()
        for name, known in {**_FILES, "data": content}.items():
            Path(folder, name).write_bytes(known if isinstance(known, bytes) else model)
        code, out, err = _called(args, content, folder)
    said = err.decode("utf-8", "surrogateescape")
    assert code in _CODES, (args, code, said)
    assert "Traceback" not in said, (args, said)
    assert "internal error" not in said, (args, said)
    for letter in said:
        kind = unicodedata.category(letter)
        assert letter in "\n\t" or kind not in ("Cc", "Cs", "Zl", "Zp"), (args, said)
        assert letter not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", (args, said)
    if code in (1, 2):
        assert said.strip(), (args, out)
        last = said.strip().split("\n")[-1]
        return f"{args[:1]} {last}"
    return "accepted"


def _arguments(choices: Choices) -> list[str]:
    """A command with options, and values that fit or not."""
    command = choices.pick([*COMMANDS, "nothing\x1b[2J", "--version"])
    args = [command, *_QUICK.get(command, [])]
    if command not in COMMANDS:
        return args
    if choices.below(2):  # what most commands want
        args += ["-m", choices.pick(["m.seqtag", "out", "train.conllu", "data"])]
    args += [choices.pick(_VALUES) for _ in range(choices.below(3))]
    for _ in range(choices.below(5)):
        option = choices.pick(_options(command))
        kind = choices.below(4)
        if kind == 0:
            args.append(option)
        elif kind == 1:
            args.append(f"{option}={choices.pick(_VALUES)}")
        else:
            args += [option, choices.pick(_VALUES)]
    return args


def _called(args: list[str], stdin: bytes, folder: str) -> tuple[int, bytes, bytes]:
    """Exit code, standard output and standard error of a command in this process."""
    before, log = Path.cwd(), logging.getLogger("seqtag")
    handlers = log.handlers[:], log.propagate, log.level
    out, err = io.BytesIO(), io.BytesIO()
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM) if is_main else None
    with pytest.MonkeyPatch.context() as patch:
        for name in ("getaddrinfo", "create_connection", "create_server"):
            patch.setattr(socket, name, _no_network)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err))
        patch.setenv("XDG_CACHE_HOME", folder)
        patch.delenv("SEQTAG_CORPORA", raising=False)
        try:
            os.chdir(folder)
            code = main(args)
            sys.stdout.flush()
            sys.stderr.flush()
            return code, out.getvalue(), err.getvalue()
        finally:
            os.chdir(before)
            log.handlers[:], log.propagate = handlers[:2]
            log.setLevel(handlers[2])
            if handler is not None:
                signal.signal(signal.SIGTERM, handler)


def _no_network(*_: Any, **__: Any) -> Any:
    """What a machine without a network says."""
    raise OSError("the network is unreachable")
