"""Treebanks whose text was withheld are refused, with the reason."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.corpus.withheld import check_words
from seqtag.errors import CorpusError
from tests.command_line import call  # noqa: F401  (a fixture)

REASON = 'expected words in the column form, found "_" for every word: the text was withheld'


def conllu(words: list[list[str]]) -> str:
    lines = []
    for sentence in words:
        lines.append("# text = " + " ".join(sentence))
        for i, word in enumerate(sentence, 1):
            lines.append("\t".join([str(i), word, "_", "NOUN", "X", *"_____"]))
        lines.append("")
    return "\n".join(lines) + "\n"


def test_commands(tmp_path, call):  # noqa: F811
    path = tmp_path / "a.conllu"
    path.write_text(conllu([["_", "_"], ["_", "_", "_"]]))
    output = ("-o", tmp_path / "out")
    for command in (
        ("train", path, *output),
        ("train", path, *output, "--label", "all"),
        ("tag", "-m", "en", path, *output),
        ("eval", "-m", "en", path),
        ("eval", path, path),
        ("eval", "-m", "en", "--raw", path),
        ("report", "-m", "en", path, *output),
        ("compare", path, "en", "en"),
        ("cv", path, "--folds", 2),
    ):
        done = call(*command)
        assert done.code == 1, command
        assert done.err.splitlines()[-1].startswith(f"seqtag: {path}"), command
        assert REASON in done.err and not done.out, command
        assert not (tmp_path / "out").exists()


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["_", "_", "_", "a"]), min_size=1), min_size=1),
    st.sampled_from(["conllu", "columns", "header"]),
)
def test_some_words_suffice(tmp_path_factory, words, kind):
    path = tmp_path_factory.getbasetemp() / "withheld.txt"
    rows = "\n\n".join("\n".join(f"{word}\tNOUN" for word in each) for each in words) + "\n\n"
    head = "word\ttag\n" if kind == "header" else ""
    path.write_text(conllu(words) if kind == "conllu" else head + rows)
    options = {"columns": ["form", "upos"]} if kind == "columns" else {}
    flat = [word for each in words for word in each]
    try:
        stream = read(path, "conllu" if kind == "conllu" else "columns", **options)
        with stream:
            check_words(stream)
    except CorpusError as error:
        assert REASON in str(error) and {*flat} == {"_"} and len(flat) > 1
    else:
        assert "a" in flat or len(flat) == 1 or kind == "header"
    with pytest.raises(CorpusError, match="withheld"):
        seqtag.train([["_", "_"]], [["A", "B"]])


def test_the_file_is_read_as_it_is(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(conllu([["_", "_"]]))
    assert [sentence.words for sentence in read(path)] == [["_", "_"]]
