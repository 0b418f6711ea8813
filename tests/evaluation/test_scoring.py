"""seqtag.evaluation.scoring: a tagger and annotated sentences in, a report out."""

from __future__ import annotations

import pytest

import seqtag
from seqtag.corpus import sentence_of
from seqtag.errors import CorpusError
from seqtag.evaluation import Origin, evaluate, score

INFO = {"writer": "seqtag 0.1.9", "training": {"seed": 0, "corpus_sha256": "0123456789abcdef"}}


class Stub:
    """A tagger that says the same of every word, and remembers how it was asked."""

    label_scheme, is_calibrated = None, False
    known_words = frozenset({"the"})

    def __init__(self, answer="NOUN", label="upos", info=None):
        self.answer, self.label, self.info = answer, label, info or {}
        self.asked, self.threads = [], None

    def tag_many(self, sentences, threads=1, *, scores=False):
        self.threads = threads
        self.asked = list(sentences)
        return [[self.answer] * len(sentence) for sentence in self.asked]


def sentences():
    yield sentence_of(
        {"form": ["the", "cat"], "upos": ["DET", "NOUN"], "feats": ["_", "Number=Sing"]}
    )
    yield sentence_of({"form": [], "upos": [], "feats": []})
    yield sentence_of({"form": ["cats"], "upos": ["NOUN"], "feats": ["Number=Plur"]})


def test_a_tagger_is_scored_on_the_sentences_with_words():
    tagger = Stub(info=INFO)
    report = score(tagger, sentences(), threads=2)
    assert (report.task, report.tokens, report.correct, report.sentences) == ("upos", 3, 2, 2)
    assert (report.known_tokens, report.known_correct) == (1, 0)
    assert [error.word for error in report.errors(5)] == ["the"]
    assert (len(tagger.asked), tagger.threads) == (2, 2)
    assert report.signature == (
        "task:upos|metric:accuracy|scheme:none|sentences:2|tokens:3"
        f"|model:0.1.9|data:01234567|seed:0|version:{seqtag.__version__}"
    )


def test_without_words_nothing_is_known_of_them():
    report = score(Stub(), sentences(), words=False)
    assert (report.known_tokens, report.word_errors, report.accuracy) == (None, None, 2 / 3)
    assert "|tokens:3|version:" in report.signature  # nothing is known of the model either


def test_labels_of_two_columns_are_joined():
    report = score(Stub("NOUN|Number=Sing", "upos+feats"), sentences())
    assert report.confusion[("NOUN|Number=Plur", "NOUN|Number=Sing")] == 1
    assert report.correct == 1


def test_a_column_that_is_missing():
    with pytest.raises(CorpusError, match="expected one of the columns form, upos, feats, found"):
        score(Stub(label="xpos"), sentences())


def test_score_is_evaluate_on_what_the_tagger_says(sample_dir):
    chunks = [s for s in seqtag.read(sample_dir / "en-sample-dev.chunk.txt") if len(s)]
    tagger = seqtag.train(chunks, label="chunk", epochs=1, seed=4)
    report = score(tagger, chunks)
    training = tagger.info["training"]
    assert report == evaluate(
        [s.column("chunk") for s in chunks],
        tagger.tag_many(chunks),
        words=[s.words for s in chunks],
        known=tagger.known_words,
        scheme="iob2",
        task="chunk",
        origin=Origin(report.origin.model, training["corpus_sha256"][:8], 4),
    )
    assert report.metric == "conlleval-f1"
    assert f"|data:{training['corpus_sha256'][:8]}|seed:4|" in report.signature


def test_what_is_no_tagger_is_refused():
    for wrong in ([["a"]], seqtag.load("en")):
        with pytest.raises(TypeError, match=r"expected a tagger to score, found (list|Pipeline); "):
            score(wrong, [])


@pytest.mark.parametrize("wrong", [iter("ab"), [["a", "b"]], None])
def test_what_are_no_sentences_is_refused(wrong):
    with pytest.raises(TypeError, match=r"expected (sentences as|files, seqtag|a list of words)"):
        score(seqtag.load("en").tagger("upos"), wrong)


def test_a_component_is_scored_with_the_labels_that_others_predict():
    pipeline = seqtag.load("en").only("xpos")
    row = {"form": ["They", "fish", "."], "upos": ["X", "X", "X"], "xpos": ["PRP", "VBP", "."]}
    report = score(pipeline, [sentence_of(row)])
    assert (report.task, report.accuracy, report.tokens) == ("xpos", 1.0, 3)
    with pytest.raises(TypeError, match=r"pipeline.only\(NAME\) is one column"):
        score(seqtag.load("en"), [sentence_of(row)])
