"""Columns that taggers fill each have a place of their own in a file."""

from __future__ import annotations

import io
import itertools

import seqtag
from seqtag.corpus import read
from seqtag.corpus.sentence import places
from seqtag.tagging.streams import TagOptions, tag_text
from tests.command_line import call  # noqa: F401  (a fixture)

CHUNKS = "The XX B-NP\ndog XX I-NP\nsees XX B-VP\nit XX B-NP\n\n"
NAMES = ("upos", "xpos", "pos")


def test_no_two_columns_have_one_place():
    for count in range(4):
        for columns in itertools.permutations(("form", *NAMES), count):
            for names in itertools.permutations(NAMES):
                found = places(names, columns)
                assert len({*found.values()}) == 3
                assert all(found[name] == name for name in NAMES if name in columns)


def test_both_tag_sets_are_written_to_a_file_of_chunks(tmp_path, call):  # noqa: F811
    path = tmp_path / "a.txt"
    path.write_text(CHUNKS)
    done = call("tag", "-m", "en", path, "--only", "upos,xpos")
    assert done.out.decode() == (
        "The DT B-NP DET\ndog NN I-NP NOUN\nsees VBZ B-VP VERB\nit PRP B-NP PRON\n\n"
    )
    assert "upos is a new column, because another goes to pos" in done.err
    for name, tags in (("upos", "DET NOUN VERB PRON"), ("xpos", "DT NN VBZ PRP")):
        one = call("tag", "-m", "en", path, "--only", name)
        assert [line.split()[1] for line in one.out.decode().split("\n")[:4]] == tags.split()
        assert "new column" not in one.err
    whole = call("tag", "-m", "en", path).out.decode().split("\n")
    plain = call("tag", "-m", "en", path, "--to", "conllu").out.decode().split("\n")
    for row, line in zip(whole[:4], plain[1:5], strict=True):
        _, form, lemma, upos, xpos, feats, *_ = line.split("\t")
        assert row.split() == [form, xpos, *row.split()[2:3], upos, feats, lemma, "O"]


def test_kept_tags_are_those_of_one_tag_set():
    taggers = seqtag.load("en").only("upos", "xpos").taggers
    data = io.BytesIO(CHUNKS.replace("XX", "NN", 1).replace("XX", "_").encode())
    [text] = tag_text(taggers, read(data, "conll2000"), options=TagOptions(keep=True))
    rows = [line.split() for line in text.decode().split("\n")[:4]]
    assert rows[0][1] == "NN" and rows[0][3] in {"DET", "NOUN", "PROPN"}
