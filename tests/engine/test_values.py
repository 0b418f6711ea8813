"""Lists of strings to numbers and back: both sides, against dictionaries and slices."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import numbered_pairs, pointers
from tests.strategies import each_backend, words


class Odd(str):
    """A string that says that it is like no other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 3


@each_backend
@given(st.lists(st.lists(st.lists(words, max_size=12), max_size=4), max_size=3))
def test_values_are_numbered_as_they_come(backend, calls):
    values = backend.Values()
    want: dict[str, int] = {}
    for rows in calls:
        known = len(want)
        ids = [want.setdefault(value, len(want)) for row in rows for value in row]
        found = values.number(rows, len(ids))
        assert found.dtype == np.int32
        assert found.tolist() == ids
        assert values.new_values() == list(want)[known:]


@each_backend
def test_many_values(backend):
    values = backend.Values()
    many = [f"{n:x}é" for n in range(5000)]
    assert values.number([many, many[::-1]], 10000).tolist() == [*range(5000), *range(5000)[::-1]]
    assert values.new_values() == many


@each_backend
@pytest.mark.parametrize("kind", [tuple, deque, np.array])
def test_rows_may_be_other_sequences(backend, kind):
    values = backend.Values()
    assert values.number([kind(["a", "b", "a"])], 3).tolist() == [0, 1, 0]
    new = values.new_values()
    assert new == ["a", "b"]
    assert {*map(type, new)} == {str}


@each_backend
def test_strings_of_other_classes_are_what_their_letters_are(backend):
    values = backend.Values()
    assert values.number([["b", Odd("a")], [Odd("a"), Odd("b")]], 4).tolist() == [0, 1, 1, 0]
    assert {*map(type, values.new_values())} == {str}


@each_backend
@pytest.mark.parametrize("value", [3, None, b"a", ["a"]])
def test_values_that_are_no_strings_are_refused(backend, value):
    with pytest.raises(TypeError, match="values must be strings"):
        backend.Values().number([["a", value]], 2)


@each_backend
@pytest.mark.parametrize("count", [1, 3])
def test_a_wrong_count_is_refused(backend, count):
    with pytest.raises(ValueError, match="count must be the number of values"):
        backend.Values().number([["a"], ["b"]], count)


@each_backend
@given(st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=4))
def test_ids_become_lists_of_names(backend, rows):
    names = ["DET", "NOUN", "häß"]
    ids = np.array([i for row in rows for i in row], np.int32)
    found = backend.label_lists(names, ids, pointers(map(len, rows)))
    assert found == [[names[i] for i in row] for row in rows]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=60), st.integers(4, 9))
def test_pairs_are_numbered_in_order(pairs, width):
    """Few numbers are looked up in a table, many are sorted."""
    left, right = np.array(pairs, np.int32).reshape(-1, 2).T
    *found, number = numbered_pairs(left, right, width)
    distinct = sorted({*pairs})
    assert [*zip(*(each.tolist() for each in found), strict=True)] == distinct
    assert number.tolist() == [distinct.index(pair) for pair in pairs]
