"""Texts with other fields are read from JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus.texts import json_values
from seqtag.errors import CorpusError

OBJECTS = st.dictionaries(
    st.sampled_from(["id", "text", "a,b"]),
    st.text(max_size=3) | st.integers() | st.none() | st.lists(st.booleans(), max_size=2),
)


@given(st.lists(OBJECTS), st.sampled_from([None, 1]), st.booleans(), st.data())
def test_pieces_of_any_size_give_the_same(values, indent, is_array, data):
    lines = [json.dumps(each, indent=indent) for each in values]
    text = json.dumps(values, indent=indent) if is_array and values else "\n".join(lines)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=9)))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    found = [*json_values(pieces)]
    assert [value for value, _, _ in found] == values
    if is_array:
        assert [place for *_, place in found] == [f":object {at + 1}" for at in range(len(values))]
    assert found == [*json_values([text])]


@pytest.mark.parametrize(
    ("text", "place"),
    [('{"a": 1}\n{"a" 2}\n', "x:2"), ('{"a": 1}\n{"a": 1, "a": 2}\n', "x:2"), ("[{},\n?]", "x:2")],
)
def test_errors_are_found_at_once(text, place):
    pieces = iter([text, " " * 99, "never read"])
    with pytest.raises(CorpusError, match=f"^{place}: expected JSON"):
        list(json_values(pieces, "x"))
    assert [*pieces][-1:] == ["never read"]
