"""Attributes: exact values on plain and on awkward words, and the registry."""

from __future__ import annotations

import pickle
import unicodedata
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import TemplateError
from seqtag.features.attributes import MAX_LENGTH, attribute, attribute_names, resolve


@pytest.mark.parametrize(
    ("name", "args", "word", "value"),
    [
        ("form", (), "Walking", "Walking"),
        ("form", (), "", ""),
        ("lower", (), "ÉTÉ", "été"),
        ("lower", (), "İ", "i\u0307"),
        ("normal", (), "B-52s", "b-00s"),
        ("normal", (), "\u0663m²", "0m²"),  # an Arabic-Indic digit is one, a superscript is not
        ("prefix", (3,), "Walking", "wal"),
        ("prefix", (3,), "of", None),
        ("prefix", (2,), "of", "of"),
        ("prefix", (1,), "", None),
        ("suffix", (3,), "WALKING", "ing"),
        ("suffix", (4,), "İst", "i\u0307st"),  # lower case is longer than the word here
        ("suffix", (5,), "İst", None),
        ("suffix", (1,), "e\u0301", "\u0301"),
        ("suffix", (2,), "ok👍", "k👍"),
        ("shape", (), "McDonald-2000", "XxXxxxxx-dddd"),
        ("shape", (), "ǅ中x", "ǅ中x"),  # title case and caseless letters stay as they are
        ("outline", (), "McDonald-2000", "XxXx-d"),
        ("outline", (), "walking", "x"),
        ("outline", (), "£5", "Scd"),
        ("outline", (), "$", "Sc"),
        ("outline", (), "∈", "Sm"),
        ("outline", (), "→", "Sm"),
        ("outline", (), "<<", "<"),
        ("outline", (), "e\u0301\u0301a", "x"),
        ("outline", (), "👩\u200d🚀", "So"),
        ("outline", (), "中‥", "中‥"),
        ("outline", (), "\u0301", ""),
        ("outline", (), "", ""),
        ("flags", (), "Walking", "100010"),
        ("flags", (), "NATO", "110011"),
        ("flags", (), "B-52", "111100"),
        ("flags", (), "iPhone", "000011"),
        ("flags", (), "", "000000"),
        ("flags", (), "👍🏽", "000000"),
        ("flags", (), "İzmir", "100010"),
        ("flags", (), "U.S.", "110001"),
        ("flags", (), "well\u2013known", "000000"),
        ("flags", (), "naïve", "000010"),
        ("match", ("[0-9]+",), "Boeing747-8", "747"),
        ("match", ("[0-9]+",), "Boeing", ""),
        ("match_lower", ("[A-Z]+",), "iPHONe", "phon"),
        ("length", (), "", "0"),
        ("length", (), "Walking", "7"),
        ("length", (), "perceptron", "9"),
        ("test", (r"^\d+$",), "1999", "1"),
        ("test", (r"^\d+$",), "1999s", "0"),
    ],
)
def test_value(name, args, word, value):
    assert resolve(name, args)(word) == value


@given(st.text(max_size=12))
def test_builtins_take_any_word(word):
    for name in ("form", "lower", "normal", "shape", "outline"):
        assert isinstance(resolve(name)(word), str)
    assert len(resolve("flags")(word)) == 6
    for n in (1, 3):
        suffix = resolve("suffix", (n,))(word)
        assert suffix == (word.lower()[-n:] if len(word.lower()) >= n else None)


def test_values_are_cut():
    word = "a" * MAX_LENGTH + "ing"
    assert resolve("form")(word) == "a" * MAX_LENGTH
    assert resolve("suffix", (3,))(word) == "ing"


def test_resolved_attributes_can_be_pickled():
    assert pickle.loads(pickle.dumps(resolve("suffix", (2,))))("Walking") == "ng"


def test_user_attribute(registry):
    @attribute("vowel_run")
    def vowel_run(word: str, n: int = 1) -> str | None:
        return word[:n] if word[:n] in ("a", "ea") else None

    assert "vowel_run" in attribute_names()
    assert resolve("vowel_run")("apple") == "a"
    assert resolve("vowel_run", (2,))("eat") == "ea"
    assert resolve("vowel_run")("bat") is None


def test_taken_name_needs_replace(registry):
    with pytest.raises(TemplateError) as caught:
        attribute("lower")(str.lower)
    assert str(caught.value) == (
        "attribute 'lower' exists already; choose another name or pass replace=True"
    )
    attribute("lower", replace=True)(lambda word: word.upper())
    assert resolve("lower")("a") == "A"


@pytest.mark.parametrize("replace", [False, True])
def test_attributes_of_word_tables_cannot_be_replaced(replace):
    with pytest.raises(TemplateError) as caught:
        attribute("class", replace=replace)(str.lower)
    assert str(caught.value) == (
        "attribute 'class' exists already, for word tables; choose another name"
    )


@pytest.mark.parametrize("name", ["two words", "", "3rd", "a-b", "label", "bias"])
def test_bad_name(name):
    with pytest.raises(TemplateError) as caught:
        attribute(name)
    assert str(caught.value) == (
        "expected an attribute name of letters, digits and underscores, other than bias and "
        f"label, found {name!r}; choose another name"
    )


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("suffix", (), "attribute 'suffix' takes the arguments (n: int), found ()"),
        ("suffix", ("x",), "attribute 'suffix' takes the arguments (n: int), found (\"x\")"),
        ("suffix", (1, 2), "attribute 'suffix' takes the arguments (n: int), found (1, 2)"),
        ("lower", (1,), "attribute 'lower' takes the arguments (), found (1)"),
        ("test", (1,), "attribute 'test' takes the arguments (regex: str), found (1)"),
    ],
)
def test_wrong_arguments(name, args, message):
    with pytest.raises(TemplateError) as caught:
        resolve(name, args)
    assert str(caught.value) == message + "; correct the arguments"


def test_user_attribute_of_wrong_type(registry):
    attribute("size")(lambda word: len(word))
    with pytest.raises(TemplateError) as caught:
        resolve("size")
    assert str(caught.value) == (
        "attribute 'size' must return a string or None, found 1 for the word 'a'; "
        "correct the function"
    )


@given(st.text(alphabet=st.sampled_from("abXYé中ǅ1-.'\u0301")) | st.text())
def test_usual_words_take_no_short_cut_to_another_value(word):
    bits = (
        word[:1].isupper(),
        word.isupper(),
        any(map(str.isdecimal, word)),
        "-" in word,
        word.isalpha(),
        any(map(str.isupper, word[1:])),
    )
    assert resolve("flags")(word) == "".join(str(int(bit)) for bit in bits)
    if not any(unicodedata.category(char)[0] in "SMC" for char in word):
        shape = resolve("shape")(word)
        assert resolve("outline")(word) == "".join(char for char, _ in groupby(shape))


@pytest.mark.parametrize(
    ("word", "n", "skeleton"),
    [
        ("evler", 3, "lVr"),
        ("kitaplar", 3, "lVr"),
        ("Ağaçlarını", 5, "VrVnV"),
        ("été", 3, "VtV"),
        ("καλός", 4, "VλVς"),
        ("русский", 2, "Vй"),
        ("ёж", 2, "Vж"),
        ("қыздарӱ", 4, "дVрV"),
        ("տները", 4, "նVրV"),
        ("კაცები", 3, "VბV"),
        ("ⲡⲣⲱⲙⲉ", 3, "VⲙV"),
        ("بالىلار", 3, "لVر"),
        ("लड़की", 2, "कV"),
        ("आम", 2, "Vम"),
        ("വീട്", 3, "Vട്"),
        ("한", 1, "Vᆫ"),
        ("간", 1, "Vᆫ"),
        ("간다", 2, "VᆫᄃV"),
        ("a간", 2, "VᄀVᆫ"),
        ("brr", 2, None),
        ("ev", 3, None),
        ("中文", 2, None),
        ("", 1, None),
    ],
)
def test_the_skeleton_has_one_letter_for_all_vowels(word, n, skeleton):
    assert resolve("skeleton", (n,))(word) == skeleton


@pytest.mark.parametrize(
    ("word", "n", "skeleton"),
    [
        ("evlerde", 5, "lArDA"),
        ("kitaplarta", 5, "lArDA"),
        ("gözlüğü", 4, "lIğI"),
        ("kâr", 3, "kAr"),  # no class has â: the one of its base letter
        ("göz", 3, "gIz"),
        ("goz", 3, "goz"),
        ("brr", 3, None),
        ("ev", 3, None),
    ],
)
def test_classes_of_letters_stand_in_for_the_vowels(word, n, skeleton):
    found = resolve("skeleton", (n, "ae=A ıiöuü=I dt=D"))(word)
    assert found == (None if skeleton == word else skeleton)


@pytest.mark.parametrize(
    ("classes", "item"),
    [
        ("ae", "ae"),
        ("ae=", "ae="),
        ("=A", "=A"),
        ("ae=A dt=DD", "dt=DD"),
        ("AE=A", "AE=A"),
        ("aea=A", "aea=A"),
        ("ae=A ie=I", "ie=I"),
    ],
)
def test_classes_that_cannot_be_read(classes, item):
    with pytest.raises(TemplateError) as caught:
        resolve("skeleton", (2, classes))
    assert str(caught.value) == (
        'skeleton expects classes of letters such as "ae=A dt=D": lower-case letters, each once, '
        f"then = and what to write for them, one character; found {item!r}"
    )
