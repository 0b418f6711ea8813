"""Streams of conllu.TokenList, tagged in place."""

from __future__ import annotations

import io
import re

import conllu
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.integrations import conllu as integration
from seqtag.integrations.conllu import tag_token_lists
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import tag_text
from tests.command_line import chunks
from tests.command_line import conllu as rows
from tests.treebanks import annotated, components

ROWS = """# text = Er ist im Bett
# global = yes
1\tEr\t_\t_\t_\t_\t_\t_\t_\t_
2\tist\t_\t_\t_\t_\t_\t_\t_\t_
3-4\tim\t_\t_\t_\t_\t_\t_\t_\t_
3\tin\t_\t_\t_\t_\t_\t_\t_\t_
4\tdem\t_\t_\t_\t_\t_\t_\t_\t_
5\tBett\t_\t_\t_\t_\t_\t_\t_\tX=y
5.1\tBett\t_\t_\t_\t_\t_\t_\t_\t_

"""
GERMAN = [
    "Ich/ich/PRON bin/sein/AUX im=in/in/ADP+dem/der/DET Bett/Bett/NOUN ././PUNCT",
    "Er/er/PRON ist/sein/AUX hier/hier/ADV !/!/PUNCT",
]


@pytest.fixture(scope="module")
def pipeline():
    """Parts of speech, and lemmas that look at them."""
    return Pipeline(components(annotated(*GERMAN * 5)))


def written(model, text):
    return "".join(
        tokens.serialize()
        for tokens in tag_token_lists(model, conllu.parse_incr(io.StringIO(text)))
    )


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_it_does_what_the_command_does(pipeline, monkeypatch, size):
    monkeypatch.setattr(integration, "_BATCH_SENTENCES", size)
    text = ROWS * 7
    stream = read(io.BytesIO(text.encode()), "conllu")
    assert written(pipeline, text) == b"".join(tag_text(pipeline.taggers, stream)).decode()


def test_the_same_sentences_come_back_one_by_one(pipeline):
    taken = []

    def sentences():
        for tokens in conllu.parse(ROWS * 5):
            taken.append(tokens)
            yield tokens

    stream = tag_token_lists(pipeline, sentences())
    assert taken == []
    found = list(stream)
    assert all(a is b for a, b in zip(found, taken, strict=True))
    assert found[0].metadata == {"text": "Er ist im Bett", "global": "yes"}


def test_the_tags_that_lemmas_look_at_are_not_written(pipeline):
    given = ROWS.replace("ist\t_\t_", "ist\t_\tGOLD")
    lemmatizer = pipeline.only("lemma")
    stream = read(io.BytesIO(given.encode()), "conllu")
    assert written(lemmatizer, given) == b"".join(tag_text(lemmatizer.taggers, stream)).decode()
    [lemmas] = conllu.parse(written(lemmatizer, given))
    assert [token["upos"] for token in lemmas] == ["_", "GOLD", *"_____"]
    assert lemmas[1]["lemma"] == "sein"


def test_columns_that_they_do_not_have_go_to_misc(tmp_path):
    (tmp_path / "train.txt").write_text(chunks())
    templates = tmp_path / "words.txt"
    templates.write_text("form[0]\nlabel[-1]\n")
    tagger = seqtag.train(tmp_path / "train.txt", label="chunk", templates=templates)
    text = rows(["the dog barks"])
    assert [line.split("\t")[-1] for line in written(tagger, text).splitlines()[1:4]] == [
        "Chunk=B-NP",
        "Chunk=I-NP",
        "Chunk=B-VP",
    ]
    [tokens] = tag_token_lists(tagger, conllu.parse(ROWS))
    assert tokens[5]["misc"]["X"] == "y"
    assert set(tokens[5]["misc"]) == {"X", "Chunk"}
    named = "# global.columns = ID FORM CHUNK\n1\tthe\t_\n2\tdog\t_\n\n"
    assert written(tagger, named) == named.replace("the\t_", "the\tB-NP").replace("_", "I-NP")


FIELDS = ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]


@given(st.sets(st.sampled_from(FIELDS[2:])), st.booleans(), st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_fields_are_tagged_and_serialized(left_out, as_text, headed):
    fields = [name for name in FIELDS if name not in left_out]
    lines = [line.split("\t") for line in ROWS.replace(" is ", " ").splitlines()]
    text = "".join(
        "\t".join(line if len(line) < 2 else [line[FIELDS.index(f)] for f in fields]) + "\n"
        for line in lines
    )
    head = f"# global.columns = {' '.join(map(str.upper, fields))}\n" * headed
    parsers = {"misc": lambda row, i: row[i], "feats": lambda row, i: row[i]} if as_text else None
    [tokens] = conllu.parse(head + text, fields=fields, field_parsers=parsers)
    [tagged] = tag_token_lists(seqtag.load("en"), [tokens])
    written = tagged.serialize()
    rows = [line.split("\t") for line in written.splitlines() if line and line[0] != "#"]
    assert len({*map(len, rows)}) == 1
    shown = [*fields, *(name for name in tagged[-1] if name not in fields)]
    if headed:
        assert written.startswith(f"# global.columns = {' '.join(map(str.upper, shown))}\n")
    columns = dict(zip(shown, zip(*rows, strict=True), strict=True))
    assert columns["form"] == ("Er", "ist", "im", "in", "dem", "Bett", "Bett")
    assert any("=" in cell for cell in columns["feats"])
    if "misc" in columns:
        assert "X=y" in columns["misc"][5]
    said = columns.get("upos") or columns["misc"]
    assert all(re.search("[A-Z]{3}", said[i]) for i in (0, 5))


def test_nothing_gives_nothing(pipeline):
    assert list(tag_token_lists(pipeline, [])) == []
    assert list(tag_token_lists(pipeline, [conllu.TokenList()])) == [conllu.TokenList()]


def test_other_sentences_are_refused(pipeline):
    with pytest.raises(TypeError) as error:
        next(tag_token_lists(pipeline, [["Er", "ist"]]))
    assert str(error.value) == "expected sentences as conllu.TokenList, found list"
