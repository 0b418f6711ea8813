"""Run the command line as a user does, and small data to run it on."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from seqtag.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping

SEQTAG = (sys.executable, "-m", "seqtag")

linux = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, as on Linux")
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and terminals")

ROWS = {
    "the": ("DET", "DT"),
    "a": ("DET", "DT"),
    "dog": ("NOUN", "NN"),
    "cat": ("NOUN", "NN"),
    "sees": ("VERB", "VBZ"),
    "barks": ("VERB", "VBZ"),
    "big": ("ADJ", "JJ"),
    ".": ("PUNCT", "."),
}
SENTENCES = [
    "the dog barks .",
    "a cat sees the dog .",
    "the big dog sees a cat .",
    "a big cat sees the cat .",
    "the cat barks",
    "a dog barks .",
    "big dog sees the big cat .",
    "the dog sees a dog .",
]


_FAMILIAR = (
    r"seqtag: note: .*(: (read as|paragraphs are|each line is|tokenized by) "
    r"| is what the model was trained on|: words are in column |: [0-9,]+ sentences?, [0-9,]+ words?; )"
)


class Result(NamedTuple):
    """What a command left behind; notes are those that many commands give here, for good reason."""

    code: int
    out: bytes
    err: str
    notes: list[str] = []  # noqa: RUF012  (never changed)

    @classmethod
    def of(cls, code: int, out: bytes, err: str) -> Result:
        """The result with the notes apart from the rest of stderr."""
        lines = err.splitlines(keepends=True)
        notes = [line for line in lines if re.match(_FAMILIAR, line)]
        rest = "".join(line for line in lines if line not in notes)
        return cls(code, out, rest, [note.rstrip("\n") for note in notes])


def run(
    *args: object,
    stdin: bytes = b"",
    env: Mapping[str, str | None] | None = None,
    cwd: Path | None = None,
    shell: str = 'exec "$@"',
) -> Result:
    """``seqtag ARGS`` in a process of its own, in a folder that is not the repository.

    `env` changes the environment (None removes); `shell` is a shell line, for redirections.
    """
    changed = os.environ | {k: v for k, v in (env or {}).items() if v is not None}
    for name in [k for k, v in (env or {}).items() if v is None]:
        changed.pop(name, None)
    command = [*SEQTAG, *map(str, args)]
    if shell != 'exec "$@"':
        command = ["sh", "-c", shell, "sh", *command]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, input=stdin, capture_output=True, env=changed, cwd=cwd or folder, timeout=60
        )
    return Result.of(done.returncode, done.stdout, done.stderr.decode())


class Caller:
    """``seqtag ARGS`` inside this process: ``call("info", model)``."""

    def __init__(self, capture: pytest.CaptureFixture[bytes]):
        self._capture = capture

    def __call__(self, *args: object) -> Result:
        log = logging.getLogger("seqtag")
        before = log.handlers[:], log.propagate, log.level
        try:
            code = main([str(arg) for arg in args])
        finally:
            log.handlers[:], log.propagate = before[:2]
            log.setLevel(before[2])
        out, err = self._capture.readouterr()
        return Result.of(code, out, err.decode())


@pytest.fixture
def call(capfdbinary: pytest.CaptureFixture[bytes]) -> Caller:
    """Run commands in this process."""
    return Caller(capfdbinary)


def conllu(sentences: list[str] = SENTENCES, *, labels: bool = True) -> str:
    """The sentences in CoNLL-U."""
    text = ""
    for sentence in sentences:
        text += f"# text = {sentence}\n"
        for i, word in enumerate(sentence.split(), 1):
            upos, xpos = ROWS[word] if labels else ("_", "_")
            text += f"{i}\t{word}\t{word}\t{upos}\t{xpos}\t_\t_\t_\t_\t_\n"
        text += "\n"
    return text


def chunks(sentences: list[str] = SENTENCES) -> str:
    """The sentences in columns form, pos, chunk."""
    text = ""
    for sentence in sentences:
        before = ""
        for word in sentence.split():
            pos = ROWS[word][1]
            kind = {"VBZ": "VP", ".": ""}.get(pos, "NP")
            label = "O" if not kind else f"{'I' if kind == before else 'B'}-{kind}"
            text += f"{word} {pos} {label}\n"
            before = kind
        text += "\n"
    return text


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.conllu, train.txt and models of them: upos, xpos, chunk."""
    import seqtag

    folder = tmp_path_factory.mktemp("home")
    (folder / "train.conllu").write_bytes(conllu().encode())
    (folder / "train.txt").write_bytes(chunks().encode())
    for name, data in (("upos", "train.conllu"), ("xpos", "train.conllu"), ("chunk", "train.txt")):
        tagger = seqtag.train(folder / data, label=name, epochs=3, min_count=1)
        tagger.save(folder / f"{name}.seqtag")
    return folder
