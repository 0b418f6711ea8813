"""What readers of a model file expect of its tensors, and strings in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import ModelFileError
from seqtag.model.container import expect, from_bytes, pack_strings, to_bytes, unpack_strings
from tests.model_files import tiny


def test_expect_accepts_exactly_what_is_wanted():
    wanted = {
        "w": ("i1", 2),
        "keys": (np.uint64, 1),
        "bias": (np.dtype("f4"), 1),
        "empty": ("i4", 2),
        "scale": ("f8", 0),
    }
    expect(from_bytes(to_bytes({}, tiny()))[1], wanted)
    for name in wanted:
        less = {key: value for key, value in wanted.items() if key != name}
        with pytest.raises(ModelFileError, match=f"m: expected the tensors .*, found .*'{name}'"):
            expect(tiny(), less, source="m")
    with pytest.raises(ModelFileError, match=r"expected the tensors .*'more'.*another kind"):
        expect(tiny(), wanted | {"more": ("u1", 1)})
    for wrong in (("i2", 2), ("i1", 1)):
        with pytest.raises(ModelFileError, match=r"'w' to be int.* found int8 with 2"):
            expect(tiny(), wanted | {"w": wrong})


@given(st.lists(st.text()))
def test_strings_round_trip_through_a_file(strings):
    blob, offsets = pack_strings(strings)
    assert blob.dtype == np.uint8 and offsets.dtype == np.int64
    tensors = from_bytes(to_bytes({}, {"blob": blob, "offsets": offsets}))[1]
    assert unpack_strings(tensors["blob"], tensors["offsets"]) == strings


def test_a_lone_surrogate_is_refused():
    with pytest.raises(ModelFileError, match=r"UTF-8 can express, found '\\ud800' at index 1"):
        pack_strings(["ok", "\ud800"])


@pytest.mark.parametrize(
    ("blob", "offsets", "message"),
    [
        (b"ab", [], r"m: expected string offsets from 0 to 2, found \[\]"),
        (b"ab", [1, 2], r"from 0 to 2, found \[1, 2\]"),
        (b"ab", [0, 1], r"from 0 to 2, found \[0, 1\]"),
        (b"ab", [0, 2, 1, 2], r"string offsets that do not decrease, found \[1\]"),
        (b"ab", [0, 2**63 - 1, -(2**63), 2], r"do not decrease, found \[1\]"),
        (b"a\xc3\xa9", [0, 2, 3], r"expected strings in UTF-8, found b'a\\xc3' at index 0"),
        (b"a\xff", [0, 1, 2], r"expected strings in UTF-8, found b'\\xff' at index 1"),
    ],
)
def test_damaged_strings_are_refused(blob, offsets, message):
    with pytest.raises(ModelFileError, match=message):
        unpack_strings(np.frombuffer(blob, np.uint8), np.array(offsets, np.int64), source="m")
