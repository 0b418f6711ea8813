"""Models given as data, data given as models, and files given as text."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import shutil

import pytest

from tests.command_line import call, chunks, conllu, home


@pytest.fixture
def folder(home, tmp_path, monkeypatch):
    for name in ("upos.seqtag", "chunk.seqtag"):
        shutil.copy(home / name, tmp_path)
    (tmp_path / "test.conllu").write_text(conllu())
    (tmp_path / "test.txt").write_text(chunks())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_text_to_explain_may_be_the_name_of_a_file(folder, call):
    done = call("explain", "test.conllu", "--only", "upos")
    assert done.code == 0 and b"upos, sentence 1" in done.out
    assert done.err == (
        "seqtag: note: explaining the text 'test.conllu'; to explain the sentences of the file of "
        "this name, write --input test.conllu\n"
    )
    assert call("explain", "x" * 5000, "--only", "upos", "--token", "1").err == ""


def test_only_names_columns_of_every_model(folder, call):
    (folder / "a.txt").write_text("It works.\n")
    both = ("tag", "a.txt", "-m", "en", "-m", "chunk.seqtag", "-q", "--to")
    assert call(*both, "tsv", "--only", "upos,chunk").out.startswith(
        b"sentence\tform\tupos\tchunk\n1\tIt\tPRON\tB-NP\n"
    )
    assert call(*both, "tagged", "--only", "upos").out == b"It/PRON works/VERB ./PUNCT\n"
    one = call("tag", "a.txt", "-m", "upos.seqtag", "-q", "--to", "tsv", "--only", "upos").out
    assert one == call("tag", "a.txt", "-m", "upos.seqtag", "-q", "--to", "tsv").out
    names = call(*both, "tsv", "--only", "misc.NER").out
    assert (
        call(*both, "tsv", "--only", "ner").out == call(*both, "tsv", "--only", "NER").out == names
    )
    wrong = call(*both, "tsv", "--only", "names")
    assert (wrong.code, wrong.out) == (1, b"")
    assert wrong.err.endswith("lemma, misc.NER, chunk, found 'names'\n")
    assert "(did you mean 'upos'?)" in call(*both, "tsv", "--only", "upso").err
