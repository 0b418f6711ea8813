"""Features hidden at random in each epoch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag import settings
from seqtag.engine import keys
from seqtag.engine.arrays import Instances
from seqtag.features import index
from seqtag.features.language import parse
from seqtag.training.runs import RARE, hiding
from seqtag.training.train import train
from tests.strategies import cases, corpus, needs_native

TEMPLATES = parse("form[0]\nsuffix(1)[0]\nform[-1]\nlabel[-1]")
TRAINING = corpus("the DT X\na DT X\ndog NN X\n\nthe DT X\ncat NN X\nbarks VB X", "form tag other")


def drawn(seed, size):
    return np.random.RandomState(seed).random_sample(size)


def hidden(x, dropout, seed):
    return hiding(x, dropout)(np.random.RandomState(seed))


@given(cases(), st.floats(0.1, 0.9), st.integers(0, 99))
def test_dropout_hides_features_and_nothing_else(case, share, seed):
    x = case.x
    seen = hidden(x, share, seed)
    kept = drawn(seed, len(x.features)) >= share
    assert seen.features.tolist() == x.features[kept].tolist()
    for n in range(len(x.token_ptr) - 1):
        span = slice(x.token_ptr[n], x.token_ptr[n + 1])
        rows, values = seen.active(n)
        assert rows.tolist() == x.features[span][kept[span]].tolist()
        assert values.tolist() == x.active(n)[1][kept[span]].tolist()
    assert seen.sentence_ptr is x.sentence_ptr
    assert hidden(x, 0.0, seed) is x


@given(cases(), st.integers(0, 99))
def test_rare_features_are_hidden_more_often(case, seed):
    features = case.x.features.tolist()
    chances = drawn(seed, len(features)).tolist()
    kept = [
        row
        for row, chance in zip(features, chances, strict=True)
        if chance >= 1 / (1 + features.count(row))
    ]
    assert hidden(case.x, RARE, seed).features.tolist() == kept


@pytest.mark.parametrize("dropout", [0.3, RARE])
def test_it_does_not_matter_how_many_are_drawn_at_a_time(dropout, monkeypatch):
    values = np.ones(40, np.float32)
    x = Instances(np.array([0, 1]), np.array([0, 40]), np.arange(40, dtype=np.int32) % 7, values)
    found = hidden(x, dropout, 5).features.tolist()
    monkeypatch.setattr(keys, "_DRAWN_FEATURES", 3)
    assert hidden(x, dropout, 5).features.tolist() == found


@needs_native
@pytest.mark.parametrize("dropout", [0.4, RARE])
def test_a_large_corpus_hides_the_same(monkeypatch, dropout):
    """Without dropout, rows of millions of tokens are found by place."""
    small = learned(dropout)
    monkeypatch.setattr(index, "_COMPACT_FEATURES", 1)
    assert learned(dropout) == small != learned(0.0)


def learned(dropout):
    tagger = train(TRAINING, label="tag", templates=TEMPLATES, epochs=3, dropout=dropout)
    return tagger.model.training["dropout"], tagger.model.weights.emission.weights.tobytes()


def test_auto_hides_rare_features_where_words_are_few(monkeypatch):
    assert learned("auto") == learned(RARE)
    monkeypatch.setattr(settings, "_MANY_TOKENS", 7)
    assert learned("auto") == learned(RARE)
    monkeypatch.setattr(settings, "_MANY_TOKENS", 6)
    assert learned("auto") == learned(0.0)
