"""Pipelines: several models from one file, from text to documents."""

from __future__ import annotations

import io
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read
from seqtag.corpus.surface import raw_text_of, surface_of
from seqtag.errors import CorpusError, SeqtagError
from seqtag.model import bundle
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.tagger import Tagger
from seqtag.training.pipeline import train_parts
from tests.treebanks import annotated

SENTENCES = [
    "Ich/ich/PRON bin/sein/AUX im=in/in/ADP+dem/der/DET Bett/Bett/NOUN ././PUNCT",
    "Er/er/PRON ist/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ././PUNCT",
    "Ich/ich/PRON bin/sein/AUX hier/hier/ADV !/!/PUNCT",
    "Wer/wer/PRON ist/sein/AUX im=in/in/ADP+dem/der/DET Haus/Haus/NOUN ?/?/PUNCT",
]


@pytest.fixture(scope="module")
def pipeline():
    """A small pipeline of all parts."""
    return Pipeline(train_parts(annotated(*SENTENCES * 5)))


def test_a_text_becomes_a_document(pipeline):
    text = "  Er ist im Bett!\nIch bin hier."
    document = pipeline(text)
    assert [len(sentence) for sentence in document] == [6, 4]
    first, second = document.sentences
    assert [word.text for word in first] == ["Er", "ist", "in", "dem", "Bett", "!"]
    assert [word.lemma for word in first] == ["er", "sein", "in", "der", "Bett", "!"]
    assert [word.upos for word in second] == ["PRON", "AUX", "ADV", "PUNCT"]
    assert {word.feats for word in document.words} == {"_"}
    for each in (*document.tokens, *document):
        assert text[each.start : each.end] == each.text
    im = first.tokens[2]
    assert (im.text, [word.text for word in im.words]) == ("im", ["in", "dem"])
    assert {(word.start, word.end) for word in im.words} == {(9, 11)}
    assert first[4] == first.words[4]
    assert document[1] is second
    assert len(document.words) == 10


def test_documents_are_shown_and_converted(pipeline):
    document = pipeline("Er ist < hier .\n\nWer?", paragraphs="blank")
    assert repr(document) == "<seqtag.Document: 2 sentences, 7 words>"
    assert repr(document[1]) == "<Sentence 'Wer?'>"
    assert str(document).count("# newpar") == 2
    assert str(document) == "".join(map(str, document))
    html = document._repr_html_()
    assert "<td>&lt;</td>" in html
    assert "<th>lemma</th><th>upos</th>" in html
    assert "<th>xpos</th>" not in html
    lists = document.to_token_lists()
    assert [token["form"] for token in lists[1]] == ["Wer", "?"]
    rows = document.to_rows()
    assert rows[-1] == {
        "sentence": 2,
        "word": 2,
        "text": "?",
        "lemma": "?",
        "upos": "PUNCT",
        "xpos": "_",
        "feats": "_",
        "start": 20,
        "end": 21,
    }


def test_long_documents_are_shown_in_part(pipeline):
    html = pipeline("Er ist hier . " * 100)._repr_html_()
    assert html.count("<tr") == 201
    assert html.endswith("<p>and 200 words more</p>")


def test_nothing_gives_an_empty_document(pipeline):
    for text in ("", " \n"):
        document = pipeline(text)
        assert (len(document), document.words, str(document)) == (0, [], "")
        assert document._repr_html_().startswith("<table>")


@given(st.text(st.sampled_from("Er ist im Haus.!?\n\t |_é\u0301\u00a0\U0001f600"), max_size=40))
def test_every_character_of_a_text_is_in_its_conllu(pipeline, text):
    conllu = str(pipeline(text)).encode()
    rebuilt = "".join(surface_of(sentence).text for sentence in read(io.BytesIO(conllu), "conllu"))
    assert rebuilt == (text if text.strip() else "")


def test_saved_loaded_and_pickled_it_is_the_same(pipeline, tmp_path):
    pipeline.save(tmp_path / "all.seqtag")
    text = "Wer ist im Bett?"
    for copy in (seqtag.load(tmp_path / "all.seqtag"), pickle.loads(pickle.dumps(pipeline))):
        assert copy.parts == ("tokens", "words", "upos", "lemma")
        assert str(copy(text)) == str(pipeline(text))
    assert repr(copy) == "<seqtag.Pipeline of tokens, words, upos, lemma>"
    assert len(pipeline.info["parts"]) == 4


def test_a_file_of_one_tagger_is_a_tagger(pipeline, tmp_path):
    bundle.save(tmp_path / "one.seqtag", pipeline.models[2:3])
    assert isinstance(seqtag.load(tmp_path / "one.seqtag"), Tagger)
    bundle.save(tmp_path / "tokens.seqtag", pipeline.models[:1])
    cutter = seqtag.load(tmp_path / "tokens.seqtag")
    assert [len(sentence) for sentence in cutter("Er ist. Er ist.")] == [3, 3]


def test_parts_can_be_left_out(pipeline):
    assert pipeline.only("upos").parts == ("tokens", "words", "upos")
    lemmas = pipeline.only("lemma")
    assert lemmas.parts == pipeline.parts  # it looks at upos
    assert [word.upos for word in lemmas("Er ist.").words] == ["_"] * 3
    assert [word.lemma for word in lemmas("Er ist.").words] == ["er", "sein", "."]
    with pytest.raises(SeqtagError) as error:
        pipeline.only("ner")
    assert str(error.value) == "expected one of the parts tokens, words, upos, lemma, found 'ner'"


def test_without_a_segmenter_there_is_no_document(pipeline):
    taggers = Pipeline(pipeline.models[2:])
    with pytest.raises(SeqtagError) as error:
        taggers("Er ist hier.")
    assert str(error.value) == (
        "expected a pipeline that has learnt tokens, found the parts upos, lemma; train one with "
        "--label all"
    )


def test_text_that_is_no_utf_8_is_refused(pipeline):
    with pytest.raises(CorpusError, match="expected UTF-8, found the byte 0xed at byte offset 1"):
        pipeline("a\ud800")


def test_the_training_text_is_cut_as_the_treebank_has_it(pipeline):
    gold = annotated(*SENTENCES)
    found = pipeline.sentences(raw_text_of(gold), paragraphs="blank")
    pairs = zip(found, gold, strict=True)
    assert all(a.column(n) == b.column(n) for a, b in pairs for n in ("form", "lemma", "upos"))


def test_training_gives_the_same_bytes_again(pipeline):
    again = train_parts(annotated(*SENTENCES * 5), threads=2)
    assert bundle.to_bytes(again) == bundle.to_bytes(pipeline.models)
    assert re.search(rb'"label":"lemma"', bundle.to_bytes(again).replace(b"\\", b""))
