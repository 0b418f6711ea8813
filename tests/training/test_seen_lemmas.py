"""Words that have one lemma with their tags in the training data get that one."""

from __future__ import annotations

import math

import pytest

import seqtag
from seqtag.features.language import load
from seqtag.model import bundle, container
from seqtag.tagging.tagger import Tagger
from tests.strategies import corpus

# "leaves" has one lemma with each tag, "saw" as a verb has two.
LINES = (
    "leaves VERB leave; leaves NOUN leaf; saw VERB see; saw VERB saw; saw NOUN saw; oxen NOUN ox; "
    + "; ".join(f"{stem}es NOUN {stem}e" for stem in ("lin", "tun", "cak", "wav", "lan", "mil"))
    + "; "
    + "; ".join(f"{stem}es VERB {stem}e" for stem in ("lik", "mov", "tak", "giv", "hop", "rid"))
)


def trained(lines=LINES, columns=("form", "upos"), **more) -> Tagger:
    if "init" not in more:
        more["templates"] = load("lemma").within([*columns])
    return seqtag.train(corpus(lines, "form upos lemma"), label="lemma", **more)


def lemma(tagger: Tagger, *word: str) -> str:
    return tagger.tag([word if word[1:] else word[0]])[0]


def margin(tagger: Tagger, *word: str) -> float:
    return tagger.tag([word if word[1:] else word[0]], scores=True).margins[0]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return trained()


def test_a_word_seen_with_one_lemma_gets_it(tagger):
    again = Tagger(bundle.models_of(container.from_bytes(bundle.to_bytes([tagger.model])))[0])
    for each in (tagger, again):
        assert lemma(each, "leaves", "NOUN") == "leaf"
        assert lemma(each, "leaves", "VERB") == "leave"
        assert lemma(each, "oxen", "NOUN") == "ox"


def test_it_has_no_rival(tagger):
    word = [("leaves", "NOUN")]
    assert tagger.tag(word, scores=True).margins == [math.inf]
    assert [labels for _, labels in tagger.nbest(word, 5)] == [["leaf"]]
    assert tagger.explain(word, 0).margin == math.inf
    assert tagger.tag(word, fixed_labels=["leave"]) == ["leave"]


@pytest.mark.parametrize("word", [("saw", "VERB"), ("oxen", "VERB"), ("rules", "NOUN")])
def test_other_words_are_decoded(tagger, word):
    """Those with several lemmas, those with other tags, unknown ones."""
    assert margin(tagger, *word) < math.inf
    assert len(tagger.nbest([word], 2)) == 2


def test_words_alone_have_one_lemma_where_there_are_no_tags():
    tagger = trained(columns=["form"])
    assert lemma(tagger, "oxen") == "ox"
    assert margin(tagger, "oxen") == math.inf
    assert margin(tagger, "leaves") < math.inf


def test_training_goes_on_with_the_words_of_both(tagger):
    second = trained("oxen NOUN oxe; saw VERB see; mice NOUN mouse", init=tagger)
    assert lemma(second, "leaves", "NOUN") == "leaf"
    assert lemma(second, "mice", "NOUN") == "mouse"
    assert margin(second, "mice", "NOUN") == math.inf
    assert margin(second, "oxen", "NOUN") < math.inf
    assert margin(second, "saw", "VERB") < math.inf
