"""Taggers on raw text: documents cut by rules, with every character in its place."""

from __future__ import annotations

import io
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.corpus.surface import surface_of
from seqtag.engine import backend
from seqtag.errors import CorpusError, SeqtagError
from seqtag.tagging.document import sentences_in

WORDS = [["the", "dog", "barks"], ["a", "cat", "sees", "the", "dog"]]
TAGS = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB", "DET", "NOUN"]]


@pytest.fixture(scope="module")
def tagger():
    return seqtag.train(WORDS, TAGS, label="upos", epochs=5, min_count=1)


@given(st.text("ab. \n\t\u2028\xa0\"'`é", max_size=30))
def test_no_character_is_lost(tagger, text):
    document = tagger.tag_text(text)
    found = "".join(surface_of(sentence).text for sentence in sentences_in(str(document)))
    assert found == (text if text.strip() else "")
    words = [word for each in read(io.BytesIO(text.encode()), "text") for word in each.words]
    assert [word.text for word in document.words] == words


def test_labels_that_conllu_has_no_column_for_go_to_misc():
    document = seqtag.train(WORDS, TAGS, epochs=5, min_count=1).tag_text("the dog!")
    assert "1\tthe\t_\t_\t_\t_\t_\t_\t_\tLabel=DET\n" in str(document)
    assert [word.upos for word in document.words] == ["_"] * 3
    assert document[0].column("label") == ["DET", "NOUN", document[0].column("misc.Label")[2]]
    with pytest.raises(CorpusError, match="'labels'"):
        document[0].column("labels")


def test_sentences_are_made_when_they_are_used(tagger):
    document = tagger.tag_text("the dog barks")
    assert "sentences" not in vars(document)
    assert str(document).count("\tdog\t") == 1
    assert "sentences" not in vars(document)
    assert document.sentences is document.sentences
    assert pickle.loads(pickle.dumps(document)).to_rows() == document.to_rows()


def test_a_model_of_other_columns_takes_no_text():
    rows = [{"form": ["the"], "pos": ["DT"]}]
    chunker = seqtag.train(rows, [["B-NP"]], label="chunk", epochs=1)
    with pytest.raises(
        SeqtagError, match="found one that looks at form, pos; combine it with model"
    ):
        chunker.tag_text("the dog")


def test_columns_by_name_are_a_sentence():
    rows = [{"form": ["the", "dog"], "pos": ["DT", "NN"]}]
    chunker = seqtag.train(rows, [["B-NP", "I-NP"]], label="chunk", epochs=5, min_count=1)
    assert chunker.tag(rows[0]) == ["B-NP", "I-NP"]
    assert chunker.tag_many([rows[0] | {"more": ["?"]}, {"form": [], "pos": []}]) == [
        ["B-NP", "I-NP"],
        [],
    ]
    with pytest.raises(TypeError, match="a list of values for the column pos, found form"):
        chunker.tag({"form": ["the"]})
    with pytest.raises(TypeError, match="a list of values for the column form, found 'the dog'"):
        chunker.tag({"form": "the dog", "pos": ["DT", "NN"]})
    with pytest.raises(TypeError, match="expected 2 values for the column pos, found 1; give one"):
        chunker.tag({"form": ["the", "dog"], "pos": ["DT"]})


@pytest.mark.parametrize("text", ["BZh91AY&SY is it", "BZh9\x17rE8P\x90", "a\0b\0c\0d\0"])
def test_a_text_is_no_file_however_it_begins(text):
    """Neither compressed nor UTF-16."""
    for document in (seqtag.load("en")(text), seqtag.load("en").tagger("upos").tag_text(text)):
        assert document.words[0].text[0] == text[0]


NAMED = [["We", "left", "New", "York", "."], ["Oslo", "is", "near", "."]]
NAMES = [["O", "O", "B-LOC", "I-LOC", "O"], ["B-LOC", "O", "O", "O"]]


def test_chunks_are_spans_of_the_text():
    tagger = seqtag.train(NAMED, NAMES, label="ner", min_count=1)
    document = tagger("Oslo is near.\n\nWe left New\tYork.")
    assert [each[:4] for each in document.ents] == [
        ("LOC", "Oslo", 0, 4),
        ("LOC", "New\tYork", 23, 31),
    ]
    assert [word.text for word in document.ents[1].words] == ["New", "York"]
    assert document.spans("ner") == document.ents
    assert [row["ner"] for row in document.to_rows()[:2]] == ["B-LOC", "O"]
    assert pickle.loads(pickle.dumps(document)).ents == document.ents
    text = "expected a column of chunk labels, which here are ner; found 'chunk'"
    with pytest.raises(SeqtagError, match=text):
        document.spans("chunk")
    assert tagger.tag_text("").ents == []


def test_other_chunks_are_no_names(tagger):
    chunker = seqtag.train(NAMED, NAMES, label="chunk", templates="ner", min_count=1)
    assert chunker("Oslo is near.").ents == []
    assert chunker("Oslo is near.").spans("chunk")[0].text == "Oslo"
    assert tagger("the dog").ents == []
    with pytest.raises(SeqtagError, match="which here are none; found 'ner'"):
        tagger("the dog").spans("ner")


def test_dicts_have_the_spans_of_the_document():
    names = seqtag.train(NAMED, NAMES, label="ner", min_count=1)
    document = names("  We left  New  York. \U0001f600 Oslo is near.")
    found = [span for each in document.to_dicts() for span in each["spans"]["ner"]]
    assert found == [
        {name: getattr(each, name) for name in ("label", "text", "start", "end")}
        for each in document.ents
    ]
    assert [each["text"] for each in found] == ["New  York", "Oslo"]
    data = document.text.encode()
    for each in document.to_dicts("byte"):
        for span in each["spans"]["ner"]:
            assert data[span["start"] : span["end"]].decode() == span["text"]
    plain = seqtag.train(NAMED, [["A" for _ in each] for each in NAMED], min_count=1)
    assert all("spans" not in each for each in plain("Oslo").to_dicts())
    with pytest.raises(SeqtagError, match="expected offsets in one of codepoint, utf16, byte"):
        next(document.to_dicts("word"))


def test_json_holds_any_character():
    names = seqtag.train(NAMED, NAMES, label="ner", min_count=1)
    document = names('"a\\b" \x01c\x7f in New\tYork \U0001f600')
    [sentence] = json.loads(document.json_sentences())
    tokens = sentence["tokens"]
    assert [each["words"][0]["form"] for each in tokens] == [w.text for w in document.words]
    assert [document.text[t["start"] : t["end"]] for t in tokens] == [t["text"] for t in tokens]


@pytest.fixture(scope="module")
def chunkers():
    """Pipelines of English words with columns of chunks: one, two, one without types, none."""
    english = seqtag.load("en")
    words = [["In", "Oslo", "and", "New", "York", "it", "isn't", "."]]

    def chunker(label, labels):
        return seqtag.train(words, [labels.split()], label=label, min_count=1).model

    names = chunker("ner", "O B-LOC O B-LOC I-LOC O O O")
    chunks = chunker("chunk", 'S-PP S-N"P O B-N"P E-N"P S-NP O O')
    parts = chunker("part", "B I O B I B B O")
    lists = (names,), (chunks, names), (parts,), ()
    return [english, *(seqtag.Pipeline([*english.models[:2], *each]) for each in lists)]


@pytest.mark.skipif(backend.json_sentences is None, reason="the reference backend has no other")
@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "In",
                    "Oslo",
                    "New York",
                    "isn't",
                    "cannot",
                    ".",
                    " ",
                    "  ",
                    "\t",
                    "\n\n",
                    "\r\n",
                ),
                *("\u00a0", "\ufeff", "\u2028", "\0", "\x7f", '"', "|", "\\s", "\\u00A0", "_", "#"),
                *("\u00e9", "e\u0301", "\u6f22\u5b57", "\U0001f600", "\ufdd0", "\uffff", "\u202e"),
            ]
        ),
        max_size=30,
    ).map("".join),
    st.sampled_from(["codepoint", "utf16", "byte"]),
)
def test_the_kernel_writes_the_json_that_python_does(chunkers, text, offsets):
    for pipeline in chunkers:
        document = pipeline(text)
        found = document.json_sentences(offsets)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backend, "json_sentences", None)
            assert pipeline.document(text, str(document)).json_sentences(offsets) == found
