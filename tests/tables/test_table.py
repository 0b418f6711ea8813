"""Word tables: values found by hashes as they are word by word, templates that look."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import TemplateError
from seqtag.features.encoder import Encoder
from seqtag.features.language import load, parse
from seqtag.tables import table as word_tables
from seqtag.tables.lexicon import with_tables
from seqtag.tables.table import WordTable
from tests.strategies import each_backend, words

CLASSES = WordTable.of(
    "c", [("the", ["1"]), ("cat", ["2"]), ("0", ["3"])], "lower0", absent="9", kind="class"
)
NAMES = WordTable.of("names", [("Paris", ["city", "person"]), ("Paris", ["myth"]), ("#", ["sign"])])
LEMMAS = WordTable.of("lemmas", [("gel", ["VERB"]), ("ev", ["NOUN"]), ("evli", ["ADJ"])], "lower")
ROWS = st.lists(st.tuples(words, st.lists(st.sampled_from("ABC"), min_size=1)), max_size=8)


def test_rows_of_a_word_become_the_sorted_set():
    assert NAMES.of_words(["Paris", "#", "paris"]) == ["city|myth|person", "sign", None]
    assert (len(NAMES), NAMES.values) == (2, ("city|myth|person", "sign"))


@pytest.mark.parametrize(
    ("how", "found"),
    [("form", ["x", None, None]), ("lower", ["x", "x", None]), ("lower0", ["x", "x", "x"])],
)
def test_words_are_looked_up_as_the_table_says(how, found):
    table = WordTable.of("t", [("Top10", ["x"])], how)
    assert table.of_words(["Top10", "TOP10", "top99"]) == found


def test_words_are_compared_in_normal_form():
    table = WordTable.of("t", [("don’t", ["x"])])
    compiled = parse("lexicon(t)[0]").with_tables([table]).compile(["form"])
    assert compiled.apply_many(0, ["don't", "don’t"]) == ["x", "x"]


def test_an_absent_word_has_the_value_of_absent_words():
    assert CLASSES.of_words(["The", "7", "dog"]) == ["1", "3", "9"]


def test_a_table_without_words():
    table = WordTable.of("t", [], absent="x")
    assert (len(table), table.of_words(["a"]), table.slots(np.zeros(2, np.uint64)).tolist()) == (
        0,
        ["x"],
        [0, 0],
    )


def test_the_order_of_rows_does_not_matter():
    rows = [("b", ["x"]), ("a", ["y", "x"]), ("b", ["z"])]
    one, other = (WordTable.of("t", each) for each in (rows, rows[::-1]))
    assert one.digest == other.digest != WordTable.of("u", rows).digest


@each_backend
@given(ROWS, st.lists(words, max_size=8), st.sampled_from(["form", "lower", "lower0"]))
def test_hashes_found_are_those_of_the_values(backend, rows, asked, how):
    table = WordTable.of("t", rows, how, absent="0")
    templates = parse("lexicon(t)[0] + normal[0]\nclass(t)[-1]").with_tables([table])
    compiled = templates.compile(["form"])
    types = list(dict.fromkeys([*asked, *(word for word, _ in rows)]))
    encoder = Encoder(compiled, backend.hash_strings)
    encoder.extend("form", 0, types)
    for number in range(len(compiled.attributes)):
        values = compiled.apply_many(number, types)
        expected = backend.hash_strings([str(value) for value in values])
        assert encoder.hashes[number, : len(types)].tolist() == expected.tolist()


@each_backend
def test_no_value_no_feature(backend):
    compiled = parse("lexicon(names)[0]").with_tables([NAMES]).compile(["form"])
    encoder = Encoder(compiled, backend.hash_strings)
    encoder.number("form", [["Rome", "Paris"]], 2)
    assert encoder.hashes[0, :2].tolist() == [0, *backend.hash_strings(["city|myth|person"])]


def test_tables_pickle():
    copy = pickle.loads(pickle.dumps(CLASSES))
    assert (copy.digest, copy.of_words(["cat"]), repr(copy)) == (
        CLASSES.digest,
        ["2"],
        "<seqtag.WordTable c: 3 words, 3 values>",
    )


# ----------------------------------------------------------------- the language
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("class(en)[0]", "class(en)[0]"),
        ('lexicon("en-2")[+1]', "lexicon(en-2)[+1]"),
        ("class(lemma, en)[-1]", "class(lemma, en)[-1]"),
        ("class(form,en)[0]", "class(en)[0]"),
        ("lexicon(%1, en)[0]", "lexicon(%1, en)[0]"),
        ("class[0]", "class[0]"),  # a column
        ("form(lexicon)[0]", "lexicon[0]"),
    ],
)
def test_how_tables_are_named(written, shown):
    templates = parse(written)
    assert str(templates) == shown + "\n"
    assert parse(shown) == templates


@pytest.mark.parametrize("term", ["class()", "class(a, b, c)", "lexicon(a b)", "class(3)"])
def test_a_table_needs_a_name(term):
    with pytest.raises(TemplateError, match=r"expected \w+\(TABLE\) or \w+\(COLUMN, TABLE\), with"):
        parse(f"{term}[0]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "form[0]\nclass(nams)[0]",
            "<templates>:2: expected the table 'nams', which class uses, found none of that "
            "name (did you mean 'names'?); those given are names, c; give its file with "
            "--table nams=FILE (tables= in Python)",
        ),
    ],
)
def test_a_table_that_is_not_there(text, message):
    with pytest.raises(TemplateError) as caught:
        parse(text).with_tables([NAMES, CLASSES]).compile(["form"])
    assert str(caught.value) == message


def test_tables_stay_with_templates():
    text = "class(c)[0]\nlabel[-2] + label[-1]\nlabel[-1] + lexicon(names)[0]"
    templates = parse(text).with_tables([CLASSES, NAMES, LEMMAS])
    assert templates.table_names == ["c", "names"]
    for fewer in (templates.at_order(1), templates.without_edges(), templates.within(["form"])):
        assert fewer.tables == templates.tables
    assert list(templates.compile(["form"]).tables) == ["c", "names"]  # of those that are used


def test_columns_are_known_without_the_tables():
    assert parse("class(c)[0]\nlexicon(lemma, x)[0]").looks_at(["id", "lemma", "form"]) == (
        "lemma",
        "form",
    )
    with pytest.raises(TemplateError, match="unknown column 'pos'"):
        parse("form[0]\npos[0]").looks_at(["form"])


# ----------------------------------------------------------------- presets
def test_presets_look_into_tables():
    found = with_tables(load("chunk"), [CLASSES, NAMES])
    added = [str(each) for each in found.templates[len(load("chunk").templates) :]]
    assert len(added) == 13 + 8 and found.table_names == ["c", "names"]
    assert added[5] == "class(c)[-1] + class(c)[0]" and "class(c)[0] + pos[0]" in added
    assert added[-1] == "lexicon(names)[-1] + lexicon(names)[+1]"
    assert len(with_tables(load("pos"), [CLASSES]).templates) == len(load("pos").templates) + 8
    assert with_tables(found, [CLASSES]) == found
    of_characters = with_tables(load("segment"), [NAMES])
    added = [str(each) for each in of_characters.templates[len(load("segment").templates) :]]
    assert added[:3] == ["ends:names[0]", "begins:names[0]", "covers:names[0]"]
    assert added[3:] == ["covers:names[0] + c1[0]", "covers:names[0] + c1[+1]"]
    assert of_characters.table_names == ["names"]
    assert with_tables(of_characters, [NAMES]) == of_characters


@pytest.mark.parametrize("templates", [load("lemma"), load("multiword"), parse("form[0]")])
def test_others_do_not(templates):
    assert with_tables(templates, [CLASSES]) == templates


# ----------------------------------------------------------------- what is refused
def table(**changes) -> WordTable:
    parts = {
        "name": "t",
        "words": "form",
        "hashes": np.array([1, 2], np.uint64),
        "numbers": np.array([0, 1], np.uint16),
        "values": ("a", "b"),
    }
    return WordTable(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hashes": np.array([2, 1], np.uint64)}, "expected a table of ascending hashes"),
        ({"hashes": np.array([1, 1], np.uint64)}, "expected a table of ascending hashes"),
        ({"numbers": np.array([0], np.uint16)}, "expected a table of ascending hashes"),
        ({"numbers": np.array([0, 2], np.uint16)}, "numbers of its 2 values, found 2"),
        ({"values": ()}, "numbers of its 0 values, found 1"),
        ({"values": ("a", "a")}, "expected different values in a table, found one twice"),
        ({"values": ("a", "b" * 1001)}, "at most 1,000 characters, found one of 1,001: 'bbb"),
        ({"absent": "b" * 1001}, "at most 1,000 characters, found one of 1,001: 'bbb"),
        (
            {"words": "upper"},
            "one of lower0, lower, form, and which is one of class, lexicon, phrase, fou",
        ),
        ({"kind": "list"}, "found 'form' and 'list'"),
        ({"name": ""}, "expected a table with a name and at most 100 printable facts, found 0"),
        ({"origin": {"a": "\x1b"}}, r"found 1, and '\\x1b'"),
        ({"origin": {str(n): "" for n in range(101)}}, "found 101, and 't'"),
    ],
)
def test_tables_that_do_not_fit_themselves(changes, message):
    with pytest.raises(TemplateError, match=message):
        table(**changes)


def test_too_much(monkeypatch):
    monkeypatch.setattr(word_tables, "MOST_WORDS", 1)
    with pytest.raises(TemplateError, match="at most 1 words and 65,536 different values, found 2"):
        table()
    monkeypatch.setattr(word_tables, "MOST_VALUES", 1)
    with pytest.raises(
        TemplateError, match="and 1 different values, found 2 and 2; leave some out"
    ):
        WordTable.of("t", [("a", ["x"]), ("b", ["y"])])
