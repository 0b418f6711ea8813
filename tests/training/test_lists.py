"""Training from plain lists gives what the same sentences in a file give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from seqtag.model.bundle import to_bytes
from seqtag.training.train import train
from tests.strategies import corpus

if TYPE_CHECKING:
    from seqtag.tagging.tagger import Tagger

TEXT = "the DT B-NP, cat NN I-NP, sat VBD O; a DT B-NP, dog NN I-NP; dogs NNS B-NP, sat VBD O"
DATA = corpus(TEXT, "form pos chunk")
WORDS = [sentence.words for sentence in DATA]
PAIRS = [[*zip(s.words, s.column("pos"), strict=True)] for s in DATA]
COLUMNS = [{"form": s.words, "pos": s.column("pos")} for s in DATA]
CHUNKS = [sentence.column("chunk") for sentence in DATA]
HOW = {"label": "chunk", "epochs": 3, "min_count": 1}


def bytes_of(tagger: Tagger) -> bytes:
    return to_bytes([tagger.model])


def test_lists_and_files_give_the_same_model():
    wanted = bytes_of(train(DATA, **HOW))
    assert bytes_of(train(COLUMNS, CHUNKS, **HOW)) == wanted
    assert bytes_of(train(PAIRS, CHUNKS, columns=["form", "pos"], **HOW)) == wanted
    assert bytes_of(train(iter(COLUMNS), iter(CHUNKS), **HOW)) == wanted
    both = train(DATA, dev=DATA, **HOW)
    assert bytes_of(train(COLUMNS, CHUNKS, dev=(COLUMNS, CHUNKS), **HOW)) == bytes_of(both)


def test_sentences_as_nltk_has_them():
    words, tags = WORDS, [sentence.column("pos") for sentence in DATA]
    wanted = bytes_of(train(words, tags, epochs=2))
    assert bytes_of(train(PAIRS, epochs=2)) == bytes_of(train(tuple(PAIRS), epochs=2)) == wanted
    named = train(PAIRS, dev=PAIRS, columns=["form", "upos"], epochs=2)
    assert (named.label, named.columns) == ("upos", ("form",))
    with pytest.raises(TypeError, match=r"or lists of pairs \(word, label\), found \[\("):
        train(PAIRS[0])  # one sentence


def test_labels_are_called_as_one_likes():
    assert train(WORDS, CHUNKS, epochs=1).label == "label"
    named = train(WORDS, CHUNKS, epochs=1, label="tag")
    assert (named.label, named.columns) == ("tag", ("form",))
    assert train(WORDS, CHUNKS, epochs=1, init=named).label == "tag"


def test_what_is_no_list_is_refused():
    with pytest.raises(TypeError, match=r"lists of words for the labels, found 'a.txt'; a file ha"):
        train("a.txt", CHUNKS)
    with pytest.raises(
        TypeError, match=r"expected dev as a pair \(sentences, labels\), found \[\["
    ):
        train(WORDS, CHUNKS, dev=WORDS)
    with pytest.raises(
        TypeError, match=r"found \[\['the', 'cat', 'sat'\].*; give lists of words and l"
    ):
        train(WORDS)
