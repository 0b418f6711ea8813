"""Text as rows of columns: what is a character, and the kernel against the readable twin."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seqtag.features.native import describe, spell
from seqtag.segmentation import characters
from seqtag.segmentation.characters import (
    AHEAD,
    BEFORE,
    COLUMNS,
    Numbering,
    character_columns,
    character_rows,
    class_of,
    kind_of,
    symbol_of,
    views_of,
    views_with,
)
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.tables.table import WordTable, text_columns
from tests.strategies import NATIVE, needs_native

SIGNS = [
    *"aB1.,'’-($\n \t\u00a0好ひ",
    "e\u0301",
    "\u0301",
    "\u200d",
    SEPARATOR,
    "🇫🇷",
    "🇫",
    "👍🏽",
    "\x01",
]
LONG = st.sampled_from([1, 3, 5, 12, 13, 23, 24, 25, 40])
chunks = st.tuples(LONG, st.sampled_from(["a", "Ab", ".", "x.", "好"])).map(lambda c: c[1] * c[0])
spelt = st.text(
    st.sampled_from("aΣςİ’\u0301\u0327\u1112\u1161\u11abﬁ\u00ad\ufeff🏽👍\ud800. "), max_size=12
)
texts = st.one_of(
    spelt,
    st.lists(st.sampled_from(SIGNS), max_size=30).map("".join),
    st.lists(chunks, max_size=6).map(" ".join),
    st.text(max_size=20),
)


WORDS = {
    "one": WordTable.of("one", [(w, [""]) for w in ("a", "好好", "a b", "b" * 12, "b" * 13, ".a")]),
    "two": WordTable.of(
        "two", [(w, ["x", "y"]) for w in ("aa", "好a", "aaaaaaaa", "a\u0301", "0")]
    ),
    "none": WordTable.of("none", []),
}


def characters_of(text: str) -> list[str]:
    rows = character_rows(text)
    return [text[a:b] for a, b in zip(rows.starts, rows.ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("a b", ["a", "b"]),
        ("e\u0301\u0302a", ["e\u0301\u0302", "a"]),  # marks
        ("\u0301a", ["\u0301", "a"]),  # a mark without a letter
        ("a \u0301", ["a", "\u0301"]),
        ("👨\u200d👩\u200d👧!", ["👨\u200d👩\u200d👧", "!"]),  # joined
        ("👍🏽👍", ["👍🏽", "👍"]),  # a skin tone
        ("❤\ufe0f.", ["❤\ufe0f", "."]),  # a variation
        ("🇫🇷🇩🇪🇫", ["🇫🇷", "🇩🇪", "🇫"]),  # flags
        ("🇫 🇷", ["🇫", "🇷"]),
        ("a\u200d b", ["a\u200d", "b"]),  # joined to nothing
        ("שָׁ", ["שָׁ"]),
    ],
)
def test_what_a_reader_takes_for_a_character_is_one_row(text, expected):
    assert characters_of(text) == expected


def test_rows_say_what_is_before_them():
    text = f" a\n b{SEPARATOR}  c"
    assert character_rows(text).gaps.tolist() == [2, 1, 2]
    assert character_rows(text).paragraphs.tolist() == [0, 2, 3]


def test_normal_forms_and_kinds_of_characters():
    assert [symbol_of(c) for c in ["’", "É", "E\u0301", "٣", "Ａ", "İ"]] == [
        *("'", "é", "é", "0", "a"),
        "i\u0307",
    ]
    assert [kind_of(c) for c in ["É", "e\u0301", "٣", "—", "好", "ا", "👍🏽", "½"]] == [
        *("X", "x", "d", "-", "{CJK}", "{ARABIC}"),
        "👍🏽",
        "{No}",
    ]
    assert [class_of(c) for c in ["—", "👍", "好"]] == ["{Pd}", "{So}", "{CJK}"]


def test_how_white_space_looks_does_not_matter():
    assert character_columns("a b.\u00a0\n c ") == character_columns("a b. c")


def test_a_paragraph_does_not_see_another():
    alone, other = character_columns("One two."), character_columns("Three, four.")
    both = character_columns(f"One two.{SEPARATOR}Three, four.\n")
    assert both == {name: alone[name] + other[name] for name in COLUMNS}


def test_what_is_too_long_says_nothing():
    columns = character_columns(f"{'a' * 12} {'b' * 24} {'c' * 25} dd {'e' * 24}")
    last = [11, 35, 60, 62, 86]  # of the chunks
    assert [columns["chunk"][row] for row in last] == ["a" * 12, "b" * 24, "", "dd", "e" * 24]
    assert [columns["next"][row] for row in last[:2]] == ["b" * 24, "c" * 24]
    assert [columns["after"][row] for row in last[:2]] == ["c" * 24, ""]
    assert [columns["before"][row] for row in last[:4]] == ["\n", "a" * 12, "b" * 24, ""]
    assert (columns["left"][11], columns["left"][23], columns["left"][24]) == (
        "a" * 12,
        "b" * 12,
        "",
    )
    assert (columns["right"][23], columns["right"][22]) == ("b" * 12 + " ", "")
    assert (columns["split"][23], columns["split"][22]) == (f"{'b' * 12}|{'b' * 12} ", "")


@given(st.lists(chunks, min_size=1, max_size=7), st.data())
def test_a_row_depends_on_a_window(parts, data):
    text = " ".join(parts)
    rows, whole = character_rows(text), character_columns(text)
    row = data.draw(st.integers(0, len(rows.starts) - 1))
    first, last = max(0, row - BEFORE), min(len(rows.starts) - 1, row + AHEAD)
    window = character_columns(text[rows.starts[first] : rows.ends[last]])
    assert {name: values[row - first] for name, values in window.items()} == {
        name: values[row] for name, values in whole.items()
    }


def read_by(numbering, text):
    """The rows of a text, and the values of each column of each view."""
    rows, types = numbering.read(text)
    known = numbering.__dict__.setdefault(
        "values", [[[] for _ in view] for view in numbering.views]
    )
    found = [{} for _ in numbering.views]
    for view, names in enumerate(numbering.views):
        first, new = numbering.new_values(view)
        for name, values, more in zip(names, known[view], new, strict=True):
            assert first == len(values)
            values += more
            found[view][name] = [values[i] for i in types[view]]
    return [each.tolist() for each in rows], found


@needs_native
@given(st.lists(texts, min_size=1, max_size=3))
@example([f"{'a' * 30} b{SEPARATOR}c \ud800"])
def test_the_kernel_numbers_what_the_reference_says(parts):
    views = views_with(WORDS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(characters.backend, "Characters", NATIVE.Characters)
        native = Numbering(views, WORDS)
        patch.setattr(characters.backend, "Characters", None)
        reference = Numbering(views, WORDS)
    for text in parts:
        columns = character_columns(text, WORDS)
        rows, found = read_by(native, text)
        assert rows == [each.tolist() for each in character_rows(text)]
        assert found == [{name: columns[name] for name in view} for view in views]
        assert read_by(reference, text) == (rows, found)


@needs_native
def test_columns_that_are_not_asked_for_cost_nothing():
    numbering = Numbering(views_of(["k2", "c3"]))
    _rows, found = read_by(numbering, "Ab c.")
    assert found == [{name: character_columns("Ab c.")[name]} for name in ("c3", "k2")]


@needs_native
@given(st.lists(texts, min_size=1, max_size=3))
@example(["Σα e\u0301 \u0301a ﬁ\u2019s 🇫🇷 \u1112\u1112\u1161", "b" * 30])
def test_hashes_are_those_of_the_values(parts):
    """Also where a value is not its own normal form, or the kernel has to ask for it."""
    calls = [("form", 0, []), ("value", 0, []), ("suffix", 2, [])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(characters.backend, "Characters", NATIVE.Characters)
        views = views_with(WORDS)
        one, other = Numbering(views, WORDS), Numbering(views, WORDS)
    for text in parts:
        one.read(text)
        other.read(text)
        for view, names in enumerate(one.views):
            first, hashes = one.new_hashes(view, [calls] * len(names))
            again, values = other.new_values(view)
            assert first == again
            for found, strings in zip(hashes, values, strict=True):
                expected = NATIVE.hash_attributes(strings, calls, describe, spell)
                assert found.tolist() == expected.tolist()


def test_words_of_tables_are_found_within_a_paragraph():
    text = f"aa b{SEPARATOR}好a"
    found = character_columns(text, WORDS)
    columns = ["".join(found[name]) for table in ("one", "two") for name in text_columns(table)]
    assert columns == ["11201", "20010", "02000", "02002", "00000", "20020"]
