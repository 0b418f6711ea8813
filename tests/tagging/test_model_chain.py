"""Models one after another: options, formats, counts."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import io

import pytest

import seqtag
from seqtag.errors import OptionError
from seqtag.tagging.pipeline import Chain
from seqtag.tagging.streams import TagCounts, TagOptions
from tests.command_line import SENTENCES, conllu, home


@pytest.fixture
def chain(home) -> Chain:
    return Chain([seqtag.load(home / "upos.seqtag")])


WORDS = sum(len(sentence.split()) for sentence in SENTENCES)


@pytest.mark.parametrize("to", [None, "tagged"])
@pytest.mark.parametrize("threads", [1, 2])
def test_sentences_and_words_are_counted_on_every_way(chain, to, threads):
    text = conllu() + "# a comment without words\n\n"
    counts = TagCounts()
    stream = seqtag.read(io.BytesIO(text.encode()))
    pieces = chain.tagged([stream], TagOptions(to=to), threads, counts=counts)
    assert b"NOUN" in b"".join(pieces)
    assert counts == TagCounts(len(SENTENCES), WORDS)


def test_what_is_not_plain_is_counted_too(chain):
    text = conllu().replace("1\tthe\t", "1-2\tthedog\t_\t_\t_\t_\t_\t_\t_\t_\n1\tthe\t", 1)
    text += "1\tlone\n"  # a row without the other columns
    counts = TagCounts()
    stream = seqtag.read(io.BytesIO(text.encode()), "columns", columns=["id", "form"])
    with pytest.raises(seqtag.errors.CorpusError):
        b"".join(chain.tagged([stream], TagOptions(), counts=counts))
    assert counts.sentences == 0
    stream = seqtag.read(io.BytesIO(text.removesuffix("1\tlone\n").encode()))
    b"".join(chain.tagged([stream], TagOptions(), counts=counts))
    assert counts == TagCounts(len(SENTENCES), WORDS)


def test_a_chain_without_taggers_counts():
    chain, counts = Chain([seqtag.load("en")], ["tokens"]), TagCounts()
    stream = seqtag.read(io.BytesIO(b"It works. Does it?\n"), "text")
    b"".join(chain.tagged([stream], TagOptions(), counts=counts))
    assert counts == TagCounts(2, 6)


def test_options_are_checked_and_can_be_said_as_json():
    options = TagOptions(columns=["form", "pos"], only="upos")
    assert (options.columns, options.only) == (("form", "pos"), ("upos",))
    assert options == TagOptions(columns=("form", "pos"), only=("upos",))
    assert options.as_json()["columns"] == ["form", "pos"]
    with pytest.raises(OptionError, match=r"^expected one of model, nltk, found 'mine'$"):
        TagOptions(tokenizer="mine")
    with pytest.raises(OptionError, match=r"^expected one of conllu, .*, found 'xml'$"):
        TagOptions(to="xml")
    with pytest.raises(OptionError, match="found tagged, which cannot store them"):
        TagOptions(to="tagged", margin=True)


@pytest.mark.parametrize(
    ("models", "only", "expected"),
    [
        (["en"], None, b"It/PRON works/VERB ./PUNCT\n"),
        (["en"], ["xpos"], b"It/PRP works/VBZ ./.\n"),
        (["en", "chunk"], None, b"It/B-NP works/I-NP ./O\n"),
        (["en", "chunk"], ["chunk"], b"It/B-NP works/I-NP ./O\n"),
        (["en", "chunk"], ["upos"], b"It/PRON works/VERB ./PUNCT\n"),
    ],
)
def test_tagged_text_has_upos_unless_another_label_is_asked_for(models, only, expected, home):
    paths = {"en": "en", "chunk": home / "chunk.seqtag"}
    chain = Chain([seqtag.load(paths[name]) for name in models], only)
    stream = seqtag.read(io.BytesIO(b"It works.\n"), "text")
    assert b"".join(chain.tagged([stream], TagOptions(to="tagged"))) == expected
