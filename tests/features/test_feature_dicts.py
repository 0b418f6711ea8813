"""Feature dicts: the same attributes as CRFsuite makes of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import CorpusError
from seqtag.features.feature_dicts import attributes_of, index_feature_dicts

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3)
numbers = st.floats(-100, 100) | st.integers(-9, 9) | st.booleans()
values = st.recursive(
    texts | numbers,
    lambda inner: (
        st.dictionaries(texts, inner, max_size=3)
        | st.lists(texts, max_size=3, unique=True)
        | st.sets(texts, max_size=3)
    ),
    max_leaves=8,
)
tokens = (
    st.dictionaries(texts, values, max_size=4)
    | st.lists(texts, max_size=4, unique=True)
    | st.sets(texts, max_size=4)
)


def pairs_of(token, prefix=""):
    """What CRFsuite's documentation says, one pair for each leaf."""
    if not isinstance(token, dict):
        return [(prefix + name, 1.0) for name in token]
    found = []
    for name, value in token.items():
        if isinstance(value, str):
            found.append((f"{prefix}{name}:{value}", 1.0))
        elif isinstance(value, (dict, list, set)):
            found += pairs_of(value, f"{prefix}{name}:")
        else:
            found.append((prefix + name, float(value)))
    return found


@given(tokens)
def test_attributes_are_those_of_crfsuite(token):
    pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
    found = attributes_of(token)
    [theirs] = pycrfsuite.ItemSequence([token]).items()
    assert found.keys() == theirs.keys()
    names = [name for name, _ in pairs_of(token)]
    for name, value in found.items():
        if names.count(name) == 1:  # their list of pairs shows the last of several as a dict
            assert value == theirs[name]


@given(tokens)
def test_what_is_named_twice_is_summed(token):
    expected = {}
    for name, value in pairs_of(token):
        expected[name] = expected.get(name, 0) + value
    assert attributes_of(token) == pytest.approx(expected)


def test_kinds_of_values():
    token = {
        "word": "Oslo",
        "title": True,
        "digit": False,
        "length": 4,
        "share": np.float32(0.5),
        "in": ["cities", "capitals"],
        "like": {"no", "en"},
        "left": {"word": "in", "shape": {"x": 2.5}, "tags": ["ADP"]},
        b"raw": b"\xc3\xa9",
        "": "",
    }
    assert list(attributes_of(token).items()) == [
        ("word:Oslo", 1.0),
        ("title", 1.0),
        ("digit", 0.0),
        ("length", 4.0),
        ("share", 0.5),
        ("in:cities", 1.0),
        ("in:capitals", 1.0),
        ("like:en", 1.0),
        ("like:no", 1.0),
        ("left:word:in", 1.0),
        ("left:shape:x", 2.5),
        ("left:tags:ADP", 1.0),
        ("raw:é", 1.0),
        (":", 1.0),
    ]
    assert attributes_of({"a": ["x", "x"], "a:x": 2}) == {"a:x": 4.0}
    assert attributes_of({}) == attributes_of([]) == {}


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("word", "expected a feature dict, or a list of features, found 'word'"),
        (("a", "b"), "expected a feature dict, or a list of features, found ('a', 'b')"),
        ({1: "x"}, "expected a string as the name of a feature, found 1"),
        ({"a": ["x", 2]}, "expected a string as the name of a feature, found 2"),
        ({"a": None}, "a dict, list or set of such as the feature 'a', found None"),
        ({"a": {"b": math.inf}}, "a dict, list or set of such as the feature 'a:b', found inf"),
        ({"a": ("x",)}, "a dict, list or set of such as the feature 'a', found ('x',)"),
        ({"a": 10**400}, "expected a string, a finite number, True, False, or a dict"),
    ],
)
def test_what_is_no_feature(token, message):
    with pytest.raises(CorpusError) as error:
        attributes_of(token)
    assert message in str(error.value)
    with pytest.raises(CorpusError, match=r"^<X>:2: expected a "):
        index_feature_dicts([[{"a": 1}], [token]], {}, grow=True)


def test_rows_are_numbered_as_they_come():
    names = {"b": 0}
    x = index_feature_dicts([[{"a": "x", "b": 1, "off": False}, ["c"]], [], [{}]], names, grow=True)
    assert names == {"b": 0, "a:x": 1, "c": 2}
    assert x.sentence_ptr.tolist() == [0, 2, 2, 3]
    assert x.token_ptr.tolist() == [0, 2, 3, 3]
    assert x.features.tolist() == [1, 0, 2]
    assert x.values is None
    later = index_feature_dicts([[{"c": 0.5, "new": 3}]], names, grow=False)
    assert (later.features.tolist(), later.values.tolist()) == ([2], [0.5])
    assert "new" not in names
    assert index_feature_dicts([], names, grow=True).sentence_ptr.tolist() == [0]
