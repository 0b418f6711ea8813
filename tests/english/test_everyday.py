"""The held-out everyday sentences: the embedded pipeline tags them about as its card says."""

from __future__ import annotations

import pytest

import seqtag
from scripts.english_data import everyday, sentences_of
from seqtag.evaluation.scoring import score

LEAST = {
    "activities": ("upos", 0.94),
    "comparisons": ("upos", 0.92),
    "headlines": ("upos", 0.88),
    "positions": ("upos", 0.93),
    "names": ("misc.NER", 0.86),
}


@pytest.mark.parametrize("kind", LEAST)
def test_most_words_of_a_kind_are_right(kind):
    column, least = LEAST[kind]
    found = score(seqtag.load("en").tagger(column), sentences_of(everyday(held_out=True)[kind]))
    assert (found.accuracy if column == "upos" else found.f1) >= least
