"""Columns that a model looks at, and that are empty in the file, are named once."""

from __future__ import annotations

import io
import logging

import pytest

import seqtag
from seqtag.corpus import read
from seqtag.engine import backend
from seqtag.tagging.streams import tag_text
from tests.command_line import call, chunks, conllu, home  # noqa: F401  (fixtures)

EMPTY = 'looks at the column pos, which is "_" for every word here'


def without_tags(text: str) -> str:
    rows = (line.split(" ") for line in text.split("\n"))
    return "\n".join(" ".join([row[0], "_", row[2]]) if len(row) > 2 else "" for row in rows)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("empty", [True, False])
def test_they_are_named_once(home, caplog, monkeypatch, native, empty):  # noqa: F811
    if not native:
        monkeypatch.setattr(backend, "Scanner", None)
    caplog.set_level(logging.WARNING, "seqtag")
    tagger = seqtag.load(home / "chunk.seqtag")
    text = without_tags(chunks()) if empty else chunks()
    data = io.BytesIO((text * 3).encode())
    for _ in tag_text([tagger], read(data, "conll2000")):
        pass
    tagger.tag({"form": ["a", "b"], "pos": ["_", "_"] if empty else ["_", "X"]})
    assert caplog.text.count(EMPTY) == int(empty)


def test_the_commands(home, tmp_path, call):  # noqa: F811
    path = tmp_path / "a.txt"
    path.write_text(without_tags(chunks()))
    for command in ("tag", "eval"):
        done = call(command, "-m", home / "chunk.seqtag", path)
        assert done.code == 0
        assert done.err.count(f"{path}: the model of chunk {EMPTY}; fill it first") == 1
    rows = tmp_path / "a.conllu"
    rows.write_text(conllu().replace("\tDT\t", "\t_\t"))
    done = call("tag", "-m", home / "chunk.seqtag", rows)
    assert EMPTY not in done.err
    filled = call("tag", "-m", "en", "-m", home / "chunk.seqtag", path)
    assert EMPTY not in filled.err


def test_few_words_without_features_are_no_empty_column(caplog):
    caplog.set_level(logging.WARNING, "seqtag")
    rows = [{"form": ["a", "b"] * 30, "feats": ["A=B", "C=D"] * 30}]
    tagger = seqtag.train(
        rows, [["X", "Y"] * 30], templates=seqtag.features.language.parse("feats[0]"), epochs=1
    )
    tagger.tag({"form": ["a"], "feats": ["_"]})
    assert "looks at" not in caplog.text
    tagger.tag({"form": ["a"] * 60, "feats": ["_"] * 60})
    assert "looks at the column feats" in caplog.text
