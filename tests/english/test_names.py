"""Names of the embedded pipeline, and the tables that they are learned with."""

from __future__ import annotations

import pytest

import seqtag
from scripts.english_names import name_tables


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Google bought YouTube.", {"Google": "ORG", "YouTube": "ORG"}),
        ("Apple makes phones.", {"Apple": "ORG"}),
        ("She studied at Harvard.", {"Harvard": "ORG"}),
        ("The Bank of England raised rates.", {"Bank of England": "ORG"}),
        ("i live in london and work for a bank.", {"london": "LOC"}),
        ("The Monday meeting was moved to Tuesday.", {}),
    ],
)
def test_names_of_everyday_sentences(text, names):
    assert {each.text: each.label for each in seqtag.load("en")(text).ents} == names


def test_tables_tell_how_words_are_written_and_which_lists_have_them(tmp_path):
    lists = {
        "cities.tsv": "Norvale Bay\tFalkland\tOsten\nReading\tFalkland\tOsten\n",
        "firms.txt": "Tarvo Systems, Inc.\n",
        "first-names.txt": "Mira\nGrace\n",
        "last-names.txt": "Falk\n",
    }
    for name, text in lists.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    raw = 3 * ["Now Mira is reading with grace"]
    case, lists_of_places, persons = name_tables(raw, tmp_path)
    assert case.of_words(["Mira", "now", "mira"]) == ["Cap", None, "Cap"]
    words = ["NORVALE", "bay", "Osten", "Reading", "Tarvo", "Inc"]
    values = ["city-b", "city-e", "country", None, "firm-b", None]
    assert lists_of_places.of_words(words) == values
    assert persons.of_words(["mira", "Falk", "Grace"]) == ["F", "L", "Fc"]
