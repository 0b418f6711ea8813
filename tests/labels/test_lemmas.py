"""Lemmas as edit scripts: every lemma comes back, and a script that does not fit does no harm."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seqtag.errors import LabelError
from seqtag.labels.lemmas import (
    EditScript,
    LemmaCoding,
    NormalLemmaCoding,
    choose_scripts,
    lemma_coding,
    lemma_of,
    scripts_of,
)

VALUES = st.text(st.characters(exclude_characters="\t\r\n"), min_size=1, max_size=12)
CLOSE = st.text("aAbBßİıΣσς\u0301 =_", min_size=1, max_size=8)


@given(st.lists(st.tuples(VALUES | CLOSE, VALUES | CLOSE), max_size=6))
@example([("İstanbul", "istanbul"), ("İ", "İ"), ("STRASSE", "Straße"), ("ΟΔΟΣ", "οδός")])
@example([("ςσΣ", "σςσ"), ("e\u0301te\u0301", "e\u0301t"), ("ﬁn", "Fin"), ("a b", "= ")])
def test_every_lemma_comes_back(pairs):
    forms, lemmas = [form for form, _ in pairs], [lemma for _, lemma in pairs]
    for coding in (LemmaCoding(), NormalLemmaCoding()):
        assert coding.decode(coding.encode(lemmas, forms), forms) == lemmas


@given(VALUES | CLOSE, VALUES | CLOSE)
def test_every_script_of_a_pair_makes_the_lemma(form, lemma):
    for script in scripts_of(form, lemma):
        assert lemma_of(form, script) == lemma
        assert script.startswith("=") or str(EditScript.of(script)) == script


@given(st.text(max_size=6), VALUES | CLOSE, VALUES | CLOSE)
def test_a_script_of_another_form_makes_a_lemma_that_a_column_can_hold(form, other, lemma):
    for script in scripts_of(other, lemma):
        found = lemma_of(form, script)
        assert found
        assert not set(found) & set("\t\r\n")


@pytest.mark.parametrize(
    ("form", "lemma", "script"),
    [
        ("carried", "carry", "lower 0 3  y"),
        ("Dogs", "dog", "lower 0 1  "),
        ("gegangen", "gangen", "lower 2 0  "),
        ("went", "go", "=go"),
        ("McDonalds", "McDonald", "asis 0 1  "),
        ("usa", "USA", "upper 0 0  "),
        ("unhappily", "happy", "lower 2 3  y"),
        ("Time", "time out", "lower 0 0  \tout"),
        ("_", "_", "lower 0 0  "),
        ("word", "_", "=_"),
    ],
)
def test_scripts(form, lemma, script):
    assert scripts_of(form, lemma)[0] == script
    assert lemma_of(form, script) == lemma


def test_of_several_scripts_the_common_one_is_taken():
    assert choose_scripts([("London", "London")]) == ["asis 0 0  "]
    pairs = [("London", "London"), ("PARIS", "Paris")]
    assert choose_scripts(pairs) == ["title 0 0  "] * 2
    assert scripts_of("banana", "na") == ["lower 2 2  ", "lower 4 0  "]
    assert choose_scripts([("banana", "na"), ("tina", "na")])[0] == "lower 2 2  "
    assert choose_scripts([("banana", "na"), ("cabana", "na")])[0] == "lower 4 0  "
    assert choose_scripts([]) == []


def test_a_script_that_leaves_nothing_cases_the_form():
    assert lemma_of("ED", "lower 0 3  y") == "ed"
    assert lemma_of("ed", "title 1 1 x y") == "Ed"
    assert lemma_of("", "lower 0 1  ") == "_"
    assert lemma_of("a\tb", "lower 0 0  ") == "_"
    assert lemma_of("a", "=\n") == "_"
    assert lemma_of("a", "=") == "_"


@pytest.mark.parametrize(
    "text", ["", "lower", "lower 0 0 ", "lower -1 0  ", "swap 0 0  ", "lower 0 ²  ", "lower 0 0   "]
)
def test_what_is_no_script_is_refused(text):
    with pytest.raises(LabelError) as error:
        lemma_of("word", text)
    assert str(error.value) == (
        f'expected a script such as "lower 0 3  y" or "=be", found {text!r}; retrain the model'
    )


@pytest.mark.parametrize("script", ["=\x1b[2J", "lower 0 0  \x9b"])
def test_scripts_that_write_control_characters_are_refused(script):
    LemmaCoding().check(["=New\tYork", "lower 0 0 \ta "])  # a tab stands for a blank
    with pytest.raises(LabelError) as error:
        LemmaCoding().check(["=be", script])
    assert str(error.value) == (
        f"expected labels without control characters, found {script!r}; retrain the model"
    )


def test_very_long_words_share_what_they_begin_with():
    form = "ab" * 3000
    assert scripts_of(form, "cd" * 3000) == ["=" + "cd" * 3000]
    assert scripts_of(form, form) == ["lower 0 0  "]
    assert scripts_of(form, form[:-1] + "cd") == ["lower 0 1  cd"]


def test_scripts_edit_normal_forms_unless_lemmas_are_not_normal():
    quotes = [("“", '"'), ("’s", "'s"), ("don’t", "do"), ("to", "to")]
    assert lemma_coding(quotes) == lemma_coding([]) == NormalLemmaCoding()
    assert lemma_coding([("“", "“"), ("—", "—"), ("’s", "'s"), ("be", "be")]) == LemmaCoding()
    coding = NormalLemmaCoding()
    assert coding.encode(["'s", '"', "do"], ["’s", "“", "don’t"]) == [
        "lower 0 0  ",
        "lower 0 0  ",
        "lower 0 3  ",
    ]
    assert coding.encoded_ids("'s", ["=be", "lower 0 0  "], "’s") == [1]
