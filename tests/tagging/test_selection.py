"""How uncertain models are about texts and sentences."""

from __future__ import annotations

import pytest

import seqtag


@pytest.fixture(scope="module")
def pipeline():
    return seqtag.load("en").only("upos", "ner")


def test_texts_and_their_sentences(pipeline):
    text = "Fish swim. Mira Falk sings ductile downs."
    [whole, *_] = values = seqtag.uncertainty(pipeline, [text, "", " \n"])
    assert values.shape == (3,) and values[1:].tolist() == [0, 0]
    parts = seqtag.uncertainty(pipeline, list(pipeline.sentences(text)), threads=2)
    words = [each.words for each in pipeline.sentences(text)]
    assert seqtag.uncertainty(pipeline, words).tolist() == parts.tolist()
    sizes = [len(each) for each in pipeline.sentences(text)]
    errors = sum(value * size**0.5 for value, size in zip(parts, sizes, strict=True))
    assert whole == pytest.approx(errors / sum(sizes) ** 0.5)


def test_no_texts(pipeline):
    assert seqtag.uncertainty(pipeline, []).tolist() == []


def test_a_model_of_one_label_is_certain():
    tagger = seqtag.train([[("It", "X"), ("rains", "X")]] * 2, epochs=1)
    assert seqtag.uncertainty(tagger, ["It rains."]).tolist() == [0]


def test_what_is_no_text_is_refused(pipeline):
    with pytest.raises(TypeError, match="expected a list of words, found None"):
        seqtag.uncertainty(pipeline, [None])
    with pytest.raises(TypeError, match="expected texts or sentences, found one text, 'It rains'"):
        seqtag.uncertainty(pipeline, "It rains")
