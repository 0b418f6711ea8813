"""Sentences of plain lists: words, tuples, columns, and their labels."""

from __future__ import annotations

import re

import pytest

from seqtag.corpus import sentences_of
from seqtag.errors import CorpusError

WORDS = ["the", "dog"]
TAGS = ["DT", "NN"]


def columns_of(*given, **options) -> list[dict[str, list[str]]]:
    found = sentences_of(*given, **options)
    return [{name: s.column(name) for name in s.columns} for s in found]


def test_words_tuples_and_columns_become_sentences():
    assert columns_of([WORDS, []], [TAGS, []]) == [
        {"form": WORDS, "label": TAGS},
        {"form": [], "label": []},
    ]
    assert columns_of([tuple(WORDS)], [TAGS], "tag") == [{"form": WORDS, "tag": TAGS}]
    pairs = [("the", "DT"), ["dog", "NN"]]
    wanted = {"form": WORDS, "pos": TAGS, "chunk": ["B-NP", "I-NP"]}
    how = {"columns": ["form", "pos"]}
    assert columns_of([pairs], [["B-NP", "I-NP"]], "chunk", **how) == [wanted]
    assert columns_of([[]], [[]], **how) == [{"form": [], "pos": [], "label": []}]
    assert columns_of([{"form": WORDS, "pos": TAGS}], [("A", "B")]) == [
        {"form": WORDS, "pos": TAGS, "label": ["A", "B"]}
    ]


def test_generators_will_do_and_lists_are_copied():
    labels = [[*TAGS]]
    [sentence] = sentences_of((s for s in [WORDS]), iter(labels))
    labels[0][0] = "X"
    assert sentence.column("label") == TAGS
    assert columns_of([], []) == []


def test_labels_may_be_missing():
    assert columns_of([WORDS], [["DT", None]])[0]["label"] == ["DT", ""]
    assert columns_of([WORDS], [[None, "NN"]], missing="?")[0]["label"] == ["?", "NN"]


@pytest.mark.parametrize(
    ("sentences", "labels", "options", "message"),
    [
        ([WORDS, WORDS], [TAGS], {}, "<memory>:2: expected labels for every sentence, found 1 li"),
        ([WORDS], [TAGS, TAGS], {}, "<memory>:2: expected labels for 1 sentences, found more lis"),
        ([WORDS], [["DT"]], {}, "<memory>:1: expected 2 values in the column 'label', one per wo"),
        ([WORDS], ["DT"], {}, "expected a list of values in the column 'label', found the string"),
        (["the dog"], [TAGS], {}, "expected a list of values in the column 'form', found the str"),
        ([["the", 5]], [TAGS], {}, "expected a string in the column 'form', found 5 for word 2"),
        ([WORDS], [["DT", 5]], {}, "expected a string in the column 'label', found 5 for word 2"),
        ([{"form": WORDS, "label": TAGS}], [TAGS], {}, "found a column 'label' with the words; na"),
        ([[("a", "b")]], [TAGS], {}, "found ('a', 'b'); name the values of tuples with columns=["),
        ([[("a", "b")]], [["A"]], {"columns": ["form"]}, "a tuple (form) for every word, found ("),
        ([["ab"]], [["A"]], {"columns": ["x", "y"]}, "a tuple (x, y) for every word, found 'ab'"),
    ],
)
def test_what_does_not_fit_is_named_with_the_number_of_the_sentence(
    sentences, labels, options, message
):
    with pytest.raises(CorpusError, match=re.escape(message)):
        list(sentences_of(sentences, labels, **options))
