"""Lists of names: how they are read, and found in sentences as by trying every phrase."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.engine import backend as engine
from seqtag.engine.arrays import pointers
from seqtag.errors import CorpusError, TemplateError
from seqtag.features.encoder import Encoder
from seqtag.features.language import parse
from seqtag.tables.table import WordTable, spellings
from tests.strategies import each_backend

if TYPE_CHECKING:
    from pathlib import Path

WORDS = st.sampled_from(["a", "B", "b", "c.", "d-e"])
SENTENCES = st.lists(st.lists(WORDS, max_size=9), max_size=5)
NAMES = st.lists(
    st.tuples(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), st.sampled_from("xyz")),
    max_size=12,
)


def values_of(sentence: list[str], names: list[tuple[str, str]]) -> list[str | None]:
    """Return the value of each word: of all phrases, the leftmost, and there the longest."""
    types: dict[tuple[str, ...], set[str]] = {}
    for name, kind in names:
        for tokens in spellings(name):
            types.setdefault(tuple(token.lower() for token in tokens), set()).add(kind)
    lowered, values, free = [word.lower() for word in sentence], [None] * len(sentence), 0
    spans = [(a, b) for a in range(len(lowered)) for b in range(len(lowered), a, -1)]
    for begin, end in spans:
        found = types.get(tuple(lowered[begin:end]))
        if found and begin >= free:
            free, size = end, end - begin
            places = "S" if size == 1 else "B" + "I" * (size - 2) + "E"
            values[begin:end] = [f"{place}-{'|'.join(sorted(found))}" for place in places]
    return values


@each_backend
@given(NAMES, SENTENCES)
def test_phrases_are_the_leftmost_and_longest(backend, names, sentences):
    table = WordTable.of("t", [(n, [k]) for n, k in names], "lower", kind="phrase")
    words = [word for sentence in sentences for word in sentence]
    numbers = np.array([n if table.values[n] else -1 for n in table.numbers.tolist()], np.int32)
    absent, values = 4 * len(table.values), [*table.attribute_values, None]
    matcher, ptr = backend.PhraseMatcher(table.hashes, numbers), pointers(map(len, sentences))
    ids = np.arange(len(words), dtype=np.int32)
    found = matcher.match(ids, table.hashes_of(words), ptr, absent)
    expected = [value for sentence in sentences for value in values_of(sentence, names)]
    assert [values[each] for each in found.tolist()] == expected


@given(NAMES, SENTENCES)
def test_attributes_are_the_values_of_phrases(names, sentences):
    table = WordTable.of("t", [(n, [k]) for n, k in names], "lower", kind="phrase")
    compiled = parse("form[0] + lexicon(t)[0]").with_tables([table]).compile(["form"])
    encoder = Encoder(compiled, engine.hash_strings)
    types = encoder.encode([sentences], sum(map(len, sentences)))
    expected = [value for sentence in sentences for value in values_of(sentence, names)]
    hashes = engine.hash_strings([value or "" for value in expected])
    hashes[[value is None for value in expected]] = 0
    assert encoder.hashes[1, types[1]].tolist() == hashes.tolist()


def test_phrases_of_more_types_than_there_are_words():
    """The table of hashes grows with the types of words, and keeps the values of phrases."""
    table = WordTable.of("t", [(f"a {n}", [f"k{n}"]) for n in range(600)], kind="phrase")
    compiled = parse("lexicon(t)[0]").with_tables([table]).compile(["form"])
    encoder = Encoder(compiled, engine.hash_strings)
    sentences = [["a", str(n)] for n in range(3000)]
    types = encoder.encode([sentences], 6000)
    assert types.max() < encoder.hashes.shape[1]
    values = [*table.attribute_values, None]
    for at, sentence in ((0, 0), (599, 599), (600, None)):
        wanted = [None, None] if sentence is None else [f"B-k{at}", f"E-k{at}"]
        assert [values[each] for each in types[1, 2 * at : 2 * at + 2]] == wanted


# ----------------------------------------------------------------- files
def read(folder: Path, text: str, **how: str) -> WordTable:
    """Read a list of names."""
    (folder / "places.csv").write_bytes(text.encode())
    return seqtag.read_table(folder / "places.csv", **how)


@pytest.mark.parametrize(
    "text",
    [
        "New York,city\nOslo,city\nOslo,county\n",
        "\ufeffNew York,city\r\nOslo,city\r\nOslo,county\r\n",
        "New  York;city\n\nOslo ; city\nOslo;county\nOslo;county\n",
        'name,type\n"New York",city\nOslo,county\nOslo,city\n',
        "id;label;text\n1;city;New York\n2;city;Oslo\n3;county;Oslo\n",
    ],
)
def test_lists_of_names_with_types(tmp_path, text):
    table = read(tmp_path, text)
    assert (repr(table), table.values) == (
        "<seqtag.WordTable places: 2 names, 2 types>",
        ("", "city", "city|county"),
    )
    rows = [("New York", ["city"]), ("Oslo", ["city", "county"])]
    same = WordTable.of("places", rows, "lower", kind="phrase")
    assert table.digest == same.digest


def test_names_alone_have_the_name_of_the_table_as_type(tmp_path):
    table = read(tmp_path, "# a comment\nAcme, Inc.\nOslo\nNew\tYork\n", name="firms")
    assert (table.types, int(table.origin["names"])) == (["firms"], 3)
    assert len(table) == len(
        WordTable.of("t", [(n, ["t"]) for n in ("Acme, Inc.", "Oslo", "New York")], kind="phrase")
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Oslo,city\n" * 4 + "Acme, Inc.,firm\n",
            "places.csv:5: expected name,type on each line, or one name, found 1 of 5 lines with "
            "something else, such as 'Acme, Inc.,firm'; write names that contain ',' in quotation",
        ),
        (
            "".join(f"Falk{n}, Mira{n}\n" for n in range(12)),
            "places.csv:1: expected types that names share, found 12 for 12 names, such as 'Mira0'",
        ),
        ("Oslo\n" + "N" * 140_000 + "\n", "places.csv:2: expected a name, found 'NNN"),
    ],
)
def test_lists_that_are_none(tmp_path, text, message):
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


def test_lines_that_are_left_out_are_named(tmp_path, caplog):
    caplog.set_level(logging.INFO, "seqtag")
    long = " ".join("abc" * 11)
    table = read(tmp_path, "Oslo,city\n" * 60 + f",city\nNorvale,\n{long},city\nNorvale,town\n")
    assert table.origin["names"] == "2"
    assert (
        "places.csv:61: ',city' and 2 more lines have no name, no type or over 32 words"
        in (caplog.messages[0])
    )
    assert (
        "2 names, matched as phrases in any case: city 1, town 1; 59 repeated" in caplog.messages[1]
    )


def test_words_with_values_may_be_phrases(tmp_path):
    text = "# seqtag table 1\n# kind: phrase\n# words: form\nNew York\tcity\n"
    (tmp_path / "places.tsv").write_text(text)
    table = seqtag.read_table(tmp_path / "places.tsv")
    assert (table.kind, table.words, table.values) == ("phrase", "form", ("", "city"))


# ----------------------------------------------------------------- models
TRAINED_ON = [s.split() for s in ("I like New York .", "I like Old Books .", "I like Rome .")]
LABELS = [s.split() for s in ("O O B-LOC I-LOC O", "O O O O O", "O O B-LOC O")]


def test_names_that_training_has_not_seen(tmp_path):
    table = read(tmp_path, "New York\nSan Diego\nRome\nSan Diego Bay\n")
    how = {"templates": "ner", "epochs": 5, "min_count": 1}
    tagger = seqtag.train(TRAINED_ON * 3, LABELS * 3, tables=[table], **how)
    sentence = ["I", "like", "San", "Diego", "."]
    assert tagger.tag(sentence) == ["O", "O", "B-LOC", "I-LOC", "O"]
    tagger.save(tmp_path / "m.seqtag")
    again = seqtag.load(tmp_path / "m.seqtag")
    assert again.model.tables[0].digest == table.digest
    assert repr(again.model.tables[0]) == repr(table)
    assert again.tag_many([sentence, [], sentence])[2] == tagger.tag(sentence)
    features = {row.feature for row in again.explain(sentence, 3).rows}
    assert {"lexicon(places)[-1]=B-places", "lexicon(places)[0]=E-places"} <= features


def test_a_table_of_phrases_without_their_number():
    table = WordTable.of("t", [("a b", ["x"])], kind="phrase")
    with pytest.raises(TemplateError, match="with their number among its facts"):
        WordTable("t", "form", table.hashes, table.numbers, table.values, kind="phrase")


def test_names_without_words_are_left_out():
    rows = [("\u00ad ", ["x"]), ("a " * 33, ["x"]), ("a", ["y"])]
    table = WordTable.of("t", rows, kind="phrase")
    assert (len(table), table.types) == (1, ["y"])
