"""A bench for bad inputs: what tag, eval and train do with some data, message and bytes."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.command_line import call, home

if TYPE_CHECKING:
    from tests.command_line import Caller, Result

NAME = "in"
"""The file that the data are in."""

COLUMNS = ("--columns", "form,upos")


def row(number: object, form: str = "dog", upos: str = "NOUN", rest: str = "_") -> str:
    """A row of CoNLL-U."""
    return f"{number}\t{form}\t_\t{upos}\t{rest}\t_\t_\t_\t_\t_\n"


def span(number: str, form: str) -> str:
    """A row that is no word."""
    return f"{number}\t{form}" + "\t_" * 8 + "\n"


GOOD = row(1, "the", "DET") + row(2) + "\n"
"""A sentence of two words, which the model tags as they are tagged here."""

LENIENT_END = f"seqtag: {NAME}: 1 sentence that cannot be read was skipped\n"


def masked(data: bytes) -> bytes:
    """CoNLL-U without the tags of its words."""
    return re.sub(rb"(?m)^(\d+\t[^\t\n]*\t[^\t\n]*\t)[^\t\n]+", rb"\1?", data)


class Bench:
    """Data in a file, and the commands run on it; paths are short, as the folder is ours."""

    def __init__(self, call: Caller):
        self.call = call

    def write(self, data: str | bytes, name: str = NAME) -> bytes:
        """The data, in the file."""
        raw = data if isinstance(data, bytes) else data.encode("utf-8")
        Path(name).write_bytes(raw)
        return raw

    def tag(self, *options: object, model: str = "upos") -> Result:
        return self.call("tag", "-m", f"{model}.seqtag", NAME, *options)

    def eval(self, *options: object, model: str = "upos") -> Result:
        return self.call("eval", "-m", f"{model}.seqtag", NAME, *options)

    def train(self, *options: object) -> Result:
        return self.call("train", NAME, "-o", "new", "--force", "--epochs", 1, *options)

    def passes(
        self,
        data: str | bytes,
        words: int,
        *options: object,
        notes: str = "",
        model: str = "upos",
        exact: bool = True,
    ) -> None:
        """All commands take the data; not a byte changes but (unless `exact`) the tags.

        `notes` is all that they say of it; `words` are scored and learned from.
        """
        raw = self.write(data)
        tagged = self.tag(*options, model=model)
        assert (tagged.code, tagged.err) == (0, notes)
        assert tagged.out == raw if exact else masked(tagged.out) == masked(raw)
        scored = self.eval(*options, "--json", model=model)
        assert (scored.code, scored.err) == (0, notes)
        assert json.loads(scored.out)["tokens"] == words
        learned = self.train(*options, "--json")
        assert learned.code == 0 and learned.err.startswith(notes), learned.err
        assert json.loads(learned.out)["training"]["tokens"] == words

    def refused(
        self, data: str | bytes, message: str, *options: object, model: str = "upos"
    ) -> None:
        """All commands give one and the same line, and nothing but what was tagged before."""
        raw = self.write(data)
        Path("new").unlink(missing_ok=True)
        tagged = self.tag(*options, model=model)
        assert (tagged.code, tagged.err) == (1, f"seqtag: {NAME}{message}\n")
        assert raw.startswith(tagged.out) and len(tagged.out) <= len(GOOD) + 2
        for done in (self.eval(*options, model=model), self.train(*options)):
            assert (done.code, done.out, done.err) == (1, b"", f"seqtag: {NAME}{message}\n")
        assert not Path("new").exists()

    def refused_but_leniently(
        self, data: str, message: str, *options: object, words: int = 2
    ) -> None:
        """As `refused`; with ``--lenient`` the one bad sentence is passed over and said."""
        self.refused(data, message, *options)
        self.refused(data, message, *options, "--strict")
        said = f"seqtag: skipped: {NAME}{message}\n{LENIENT_END}"
        self.passes(data, words, *options, "--lenient", notes=said)
        quiet = self.tag(*options, "--lenient", "--quiet")
        assert (quiet.code, quiet.err) == (0, said)

    def noted(
        self, data: str, words: int, place: str, note: str, error: str, *options: object
    ) -> None:
        """A note that ``--strict`` makes an error."""
        self.passes(data, words, *options, notes=f"seqtag: note: {NAME}{place}: {note}\n")
        self.refused(data, f"{place}: {error}", *options, "--strict")
        assert self.tag(*options, "--quiet").err == ""


@pytest.fixture
def bench(call, home, tmp_path, monkeypatch) -> Bench:
    """A folder of its own, with models; the current one."""
    for name in ("upos.seqtag", "chunk.seqtag", "train.conllu"):
        (tmp_path / name).write_bytes((home / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return Bench(call)
