"""SIGINT and SIGTERM in every command that takes long: one line, an exit code, nothing left."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import seqtag
from seqtag.cli import common
from seqtag.model import bundle
from seqtag.training import train
from tests.command_line import call, conllu, home, posix

LOADING = """
import sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == wanted:
            raise KeyboardInterrupt
wanted = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt())
from seqtag.__main__ import main
sys.exit(main())
"""


def test_an_interruption_while_the_program_is_loaded():
    for name in ("seqtag.cli", "click", "seqtag.cli.info"):
        command = [sys.executable, "-c", LOADING, name, "info", "en"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = done.stderr.strip()  # click begins a line of its own
        assert (done.returncode, done.stdout, said) == (130, "", "seqtag: interrupted"), name


def test_the_program_is_the_function_that_knows_of_it():
    text = Path(__file__, "../../../pyproject.toml").resolve().read_text(encoding="utf-8")
    assert '\nseqtag = "seqtag.__main__:main"\n' in text


@pytest.fixture
def handled(monkeypatch):
    """SIGINT as in a program of its own, whatever the tests run under."""
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    common.Terminated.received = False


@posix
@pytest.mark.usefixtures("handled")
@pytest.mark.parametrize("label", ["upos", "upos,xpos"])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_model_that_is_learnt_is_written_first(label, name, code, tmp_path, call, monkeypatch):
    """Its training may have taken days, and there need be no checkpoint."""
    real = bundle.save

    def save(path, models):
        signal.raise_signal(getattr(signal, name))
        return real(path, models)

    monkeypatch.setattr(bundle, "save", save)
    (tmp_path / "train.conllu").write_text(conllu())
    monkeypatch.chdir(tmp_path)
    done = call("train", "train.conllu", "--label", label, "-m", "m.seqtag", "--epochs", 2)
    word = "interrupted" if name == "SIGINT" else "terminated"
    assert (done.code, done.out) == (code, b"")
    assert " MB\n" in done.err and done.err.endswith(f"\nseqtag: {word}\n")
    assert seqtag.load("m.seqtag").info


@posix
@pytest.mark.usefixtures("handled")
def test_weights_that_are_learnt_become_a_model_first(tmp_path, monkeypatch):
    """The dev set is scored once more, and large tables are packed: that takes a while."""
    real = train.mean

    def mean(found):
        signal.raise_signal(signal.SIGINT)
        return real(found)

    monkeypatch.setattr(train, "mean", mean)
    (tmp_path / "train.conllu").write_text(conllu())
    tagger = seqtag.train(tmp_path / "train.conllu", epochs=2)
    assert tagger.info["training"]["best_epochs"] == [2]
    assert tagger.model.interrupted  # for those who train several
