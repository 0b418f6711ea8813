"""Examples of multiword tokens: which tokens, and which scripts."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.errors import CorpusError
from seqtag.segmentation.multiword import COLUMNS, words_of
from seqtag.training.text_examples import scripts_of
from tests.treebanks import examples_of_words, treebank

strings = st.text("aàbAÀB'=|^_\\ßİiIǆ\u0301 ", min_size=1, max_size=6)
pairs = st.tuples(strings, st.lists(strings, min_size=1, max_size=4).map(tuple))


@given(st.lists(pairs, max_size=4, unique=True))
def test_scripts_give_the_words_back(pairs):
    found = scripts_of(pairs)
    assert sorted(found) == sorted(pairs)
    for (token, words), scripts in found.items():
        assert words_of(token, scripts) == words


def test_long_tokens_give_their_words_back():
    token, words = "ab" * 40, ("ba" * 30, "x=|" * 20)
    [scripts] = scripts_of([(token, words)]).values()
    assert words_of(token, scripts) == words


@pytest.mark.parametrize(
    ("pairs", "labels"),
    [
        ([("im", ("in", "dem")), ("Im", ("In", "dem")), ("IM", ("IN", "DEM"))], {"=", "=n|de"}),
        ([("du", ("de", "le")), ("duquel", ("de", "lequel")), ("DU", ("DE", "LE"))], {"=", "e|le"}),
        ([("don't", ("do", "n't")), ("We'll", ("We", "'ll"))], {"=", "=|"}),
        ([("b?ad", ("bad", "?")), ("c?da", ("cda", "?"))], {"=", "_", "=|?"}),
    ],
)
def test_few_scripts_do_for_many_tokens(pairs, labels):
    found = scripts_of(pairs)
    assert {script for scripts in found.values() for script in scripts} == labels


def examples_of(*sentences, columns=("token", "form", "before")):
    """The columns and scripts of each example of a made-up treebank."""
    data = examples_of_words(treebank(*sentences), columns)
    values = list(zip(*(column.values() for column in data.columns.values()), strict=True))
    scripts, ends = data.labels.values(), data.lengths.cumsum().tolist()
    return [
        (*values[end - 1], *scripts[end - n : end])
        for end, n in zip(ends, data.lengths.tolist(), strict=True)
    ]


def test_a_token_is_an_example_once_unless_its_words_differ():
    found = examples_of("a des=de+les b", "a des", "b a")
    assert found == [
        ("a", "", "", "="),
        ("des", "des", "a", "=", "=|le", "="),
        ("b", "", "", "="),
        ("des", "des", "a", "=", "=", "="),
    ]


def test_slips_are_left_out():
    found = examples_of("its=it+s al=a+el", *["its"] * 3)
    assert found == [("al", "", "", "=|e", "="), ("its", "", "", "=", "=", "=")]


def test_without_the_column_form_a_token_has_its_usual_words():
    found = examples_of("du=de+le du", "du", columns=("token", "start"))
    assert found == [("du", "1", "=", "=")]


def test_ranges_of_one_word_and_empty_nodes():
    rows = ["1-1\tdu", "1\tde", "1.1\tnull", "2-3\tal", "2\ta", "2.1\tnull", "3\tel", "3.1\tnull"]
    text = "".join(row + "\t_" * 8 + "\n" for row in rows)
    data = examples_of_words(read(io.BytesIO(text.encode()), "conllu"), ["token"])
    assert data.columns["token"].values() == ["du", "du", "al", "al"]
    assert data.labels.values() == ["=", "=", "=|e", "="]


@pytest.mark.parametrize("sentences", [[], ["no ranges here"], ["x" * 101 + "=x+y"]])
def test_a_treebank_without_ranges_has_no_examples(sentences):
    with pytest.raises(
        CorpusError,
        match="expected multiword tokens, which CoNLL-U writes as ranges such as 1-2, found none; "
        "leave out the label words",
    ):
        examples_of_words(treebank(*sentences), COLUMNS)


def test_tokens_with_the_same_normal_form_are_ambiguous_together():
    found = examples_of("it's=it+'s it’s", "it's", columns=("form", "before"))
    assert [row[0] for row in found] == ["it's", "it’s", "it's"]


def test_words_that_no_label_can_hold_are_left_out():
    found = examples_of("du=de+le", "au=\x7f+le", "\x1b")
    assert [row[0] for row in found] == ["du", "\x1b"]
