"""The trial that chooses the model of multiword tokens, on a made-up treebank with clitics."""

from __future__ import annotations

from itertools import chain

import pytest

from seqtag.model import bundle
from seqtag.segmentation.multiword import COPY, TAGGED, Splitter, script_of
from seqtag.tagging.pipeline import Pipeline
from seqtag.training import word_trial
from seqtag.training.pipeline import train_parts
from seqtag.training.text_examples import gather_words, word_examples
from seqtag.training.word_trial import tokens_right
from tests.clitics import clitics
from tests.treebanks import annotated, treebank


def words_model(sentences, **settings):
    [model] = train_parts(sentences, ["words"], **settings)
    return model


def is_tagged(model):
    return any(TAGGED in label for label in model.labels)


def test_the_treebank_is_always_the_same():
    assert clitics(5) == clitics(9)[:5] != clitics(5, seed=2)


def test_labels_have_the_tag_of_the_word_where_a_script_begins():
    [gathered], _ = gather_words(annotated("im=in/in/ADP+dem/der/DET a/a/X"))
    data = word_examples(gathered, ["char"], tagged=True)
    assert data.labels.values() == [r"=n|de\@ADP", r"=\@DET", r"=\@X"]


def test_tags_are_the_usual_ones():
    lines = ["to/to/PART", "to/to/ADP", "to/to/ADP", "du=de/de/ADP+le/le/DET"]
    gathered, _ = gather_words(annotated(*lines))
    data = word_examples([*chain.from_iterable(gathered)], ["char"], tagged=True)
    assert data.labels.values()[:2] == [r"=\@ADP"] * 2


@pytest.fixture(scope="module")
def hidden():
    return annotated(*clitics(145)), gather_words(annotated(*clitics(50, seed=2)))[0]


def test_tokens_with_many_hidden_words_have_labels_with_tags(hidden, caplog):
    caplog.set_level("INFO", "seqtag")
    training, held_out = hidden
    model = words_model(training)
    assert is_tagged(model)
    assert "words: preset clitics, by held-out tokens with the right words" in caplog.text
    assert tokens_right(Splitter(model), held_out) > 0.8
    again = words_model(training)
    assert bundle.to_bytes([again]) == bundle.to_bytes([model])


def test_a_model_goes_on_with_its_labels(hidden, monkeypatch):
    monkeypatch.setattr(word_trial, "_best_preset", lambda *_: "clitics")
    training, _ = hidden
    model = words_model(training[5:])
    again = words_model(training, init=Pipeline([model]))
    assert {*again.labels} >= {*model.labels}
    assert is_tagged(again)


def test_few_scripts_have_labels_without_tags():
    lines = ["I/I/PRON don't=do/do/AUX+n't/not/PART go/go/VERB"] * 400
    assert not is_tagged(words_model(annotated(*lines)))


def test_without_tags_there_is_no_trial():
    model = words_model(treebank(*["le du=de+le bois"] * 800))
    assert [*map(script_of, model.labels)] == [*model.labels]
    assert COPY in model.labels
