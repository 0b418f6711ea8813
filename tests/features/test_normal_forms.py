"""Normal forms: what counts as the same, and what keeps apart."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.features.normal_forms import PLAIN_CHARACTERS, normal_form

odd = st.sampled_from(
    [*map(chr, PLAIN_CHARACTERS), *"aAé-'\"\u0301\u0300\u0323\u00ad\ufe0f\u200dᄀ각"]
)
texts = st.text(odd | st.characters(), max_size=6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don’t", "don't"),
        ("‘tis", "'tis"),
        ("rock‚n‛roll", "rock'n'roll"),
        ("5′", "5'"),
        ("п’ять", "п'ять"),
        ("пʼять", "п'ять"),
        ("don´t", "don't"),
        ("“”", '""'),
        ("„so‟", '"so"'),
        ("1–2", "1-2"),
        ("—", "-"),
        ("―", "-"),
        ("−5", "-5"),
        ("e‐mail", "e-mail"),
        ("Ｎｏ．３", "No．3"),
        ("10\u00a0000", "10 000"),
        ("10\u202f000", "10 000"),
        ("ex\u00adam\u200bple\ufeff", "example"),
        ("❤\ufe0f", "❤"),
        ("e\u0301", "é"),
        ("Vie\u0323\u0302t", "Việt"),
        ("각", "각"),
    ],
)
def test_counts_as(text, expected):
    assert normal_form(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain 'text' - \"as\" it is`",
        "«да»",
        "，。！",
        "می\u200cروم",
        "👩\u200d🚀",
        "ﬁ",
        "\ud800",
    ],
)
def test_stays(text):
    assert normal_form(text) == text


@given(texts)
def test_the_normal_form_is_its_own(text):
    assert normal_form(normal_form(text)) == normal_form(text)


@given(texts)
def test_canonically_equivalent_texts_have_the_same(text):
    assert normal_form(unicodedata.normalize("NFD", text)) == normal_form(text)
    assert normal_form(unicodedata.normalize("NFC", text)) == normal_form(text)


@given(texts)
def test_every_character_alone_is_a_part_of_it(text):
    plain = text.translate(PLAIN_CHARACTERS)
    assert len(plain) == len(text)
    assert normal_form(plain) == normal_form(text)


def test_no_plain_character_counts_as_another():
    assert not {*PLAIN_CHARACTERS.values()} & {*PLAIN_CHARACTERS}
    assert {chr(to) for to in PLAIN_CHARACTERS.values() if not chr(to).isalnum()} == {*"'\"- "}
