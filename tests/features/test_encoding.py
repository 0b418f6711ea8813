"""Hashes, keys and row numbers, against the formulas computed one number at a time."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqtag.engine.arrays import Instances, Layout, LocalRows, pointers
from seqtag.engine.keys import LEFT, RIGHT, hash_string, key_plan, keys
from seqtag.features import attributes
from seqtag.features.encoder import Encoder
from seqtag.features.language import parse
from tests.strategies import NATIVE, REFERENCE, each_backend, needs_native, words

MASK = (1 << 64) - 1


def mix(q: int) -> int:
    return (q ^ (q >> 32)) * 0xFF51AFD7ED558CCD & MASK


# ----------------------------------------------------------------- hashes
@each_backend
def test_hash_is_fnv_1a_then_mixed(backend):
    published = {"": 0xCBF29CE484222325, "a": 0xAF63DC4C8601EC8C, "foobar": 0x85944171F73967E8}
    found = backend.hash_strings(list(published))
    assert found.dtype == np.uint64
    assert found.tolist() == [mix(mix(h)) | 1 for h in published.values()]


@each_backend
@given(st.lists(words))
def test_many_hashes_are_the_hashes_of_each(backend, values):
    assert backend.hash_strings(values).tolist() == [hash_string(value) for value in values]


# ----------------------------------------------------------------- keys
def key_by_hand(plan, terms, number, types, columns, hashes, n, begin, end) -> int:
    """The key of one template at token n of the sentence begin ... end."""
    total = int(plan.seed[number])
    for z, (attribute, offset) in enumerate(terms):
        at = n + offset
        if at < begin:
            value = LEFT
        elif at >= end:
            value = RIGHT
        else:
            value = int(hashes[attribute, types[columns[attribute], at]])
        if value == 0:
            return 0
        total += value * int(plan.multiplier[z])
    return mix(total & MASK) >> plan.shift or 1


BITS = st.sampled_from([64, 48, 3])  # of keys: with 3, many features have one key


@st.composite
def encoded(draw):
    """Templates over two columns and three attributes, and up to three sentences of 4 types."""
    term = st.tuples(st.integers(0, 2), st.integers(-3, 3))
    templates = draw(st.lists(st.lists(term, max_size=3).map(tuple), max_size=4))
    ptr = pointers(draw(st.lists(st.integers(0, 4), max_size=3)))
    types = draw(arrays(np.int32, (2, int(ptr[-1])), elements=st.integers(0, 3)))
    some = st.sampled_from([0, 1, 2, 3, MASK])
    hashes = draw(arrays(np.uint64, (3, 4), elements=some))
    return templates, [0, 1, 0], types, hashes, ptr


@given(encoded(), st.integers(0, 5), BITS)
def test_keys_by_the_formula(instance, first, bits):
    templates, columns, types, hashes, ptr = instance
    plan = key_plan(templates, columns, first, bits)
    expected = [
        [
            key_by_hand(plan, terms, k, types, columns, hashes, n, begin, end)
            for k, terms in enumerate(templates)
        ]
        for begin, end in pairwise(ptr)
        for n in range(begin, end)
    ]
    assert keys(plan, types, hashes, ptr).tolist() == expected


@each_backend
def test_a_key_is_never_0_in_a_corpus(backend):
    plan = key_plan([((0, 0),)], [0])
    value = -int(plan.seed[0]) * pow(int(plan.multiplier[0]), -1, 1 << 64) & MASK
    found, _, features = backend.index_features(
        plan, np.zeros((1, 1), np.int32), np.array([[value]], np.uint64), np.array([0, 1]), 1
    )
    assert (found.tolist(), features.tolist()) == ([1], [0])


# ----------------------------------------------------------------- rows
@each_backend
@given(encoded(), st.integers(1, 3), BITS)
def test_features_are_numbered_by_first_appearance(backend, instance, min_count, bits):
    templates, columns, types, hashes, ptr = instance
    plan = key_plan(templates, columns, bits=bits)
    tokens = keys(plan, types, hashes, ptr).tolist()
    flat = [key for token in tokens for key in token if key]
    kept = [key for key in dict.fromkeys(flat) if flat.count(key) >= min_count]
    rows = [[kept.index(key) for key in token if key in kept] for token in tokens]

    names, token_ptr, features = backend.index_features(plan, types, hashes, ptr, min_count)
    assert (names.dtype, token_ptr.dtype, features.dtype) == (np.uint64, np.int64, np.int32)
    assert names.tolist() == kept
    assert token_ptr.tolist() == pointers(map(len, rows)).tolist()
    assert features.tolist() == list(chain.from_iterable(rows))


@needs_native
@given(encoded(), st.integers(1, 3), BITS)
def test_local_rows_are_the_same_features(instance, min_count, bits):
    templates, columns, types, hashes, ptr = instance
    plan = key_plan([((0, 0),), *templates], columns, bits=bits)
    arguments = plan, types, hashes, ptr, min_count
    keys, token_ptr, features = REFERENCE.index_features(*arguments)
    names, *runs, numbers = NATIVE.index_by_place(*arguments)
    assert names.tolist() == keys.tolist()
    x = Instances(
        ptr, token_ptr[:0], features[:0], local=LocalRows(types, ptr, *runs), numbers=numbers
    )
    plain = Instances(ptr, token_ptr, features)
    for tokens in {0, types.shape[1] // 2, types.shape[1]}:
        found, expected = x.written_out(tokens), plain.written_out(tokens)
        assert [a.tolist() for a in found] == [a.tolist() for a in expected]


@needs_native
@given(encoded(), st.integers(1, 5), st.sampled_from([0, 1, 2]))
def test_local_rows_are_learned_alike(instance, piece, order):
    """Pieces of sentences, or of several, are updated at once; templates see beyond them."""
    templates, columns, types, hashes, ptr = instance
    tokens = types.shape[1]
    arguments = key_plan([((0, 0),), *templates], columns), types, hashes, ptr, 1
    keys, token_ptr, features = NATIVE.index_features(*arguments)
    _, *runs, numbers = NATIVE.index_by_place(*arguments)
    pieces = np.append(np.arange(0, tokens, piece), tokens)
    y = (types[0] % 3).astype(np.int32)
    learned = []
    for x in (
        Instances(pieces, token_ptr, features),
        Instances(
            pieces, token_ptr[:0], features[:0], local=LocalRows(types, ptr, *runs), numbers=numbers
        ),
    ):
        weights = NATIVE.Weights(Layout(len(keys), 3, order), "float32", "adaptive")
        for _ in range(2):
            weights.train_epoch(x, y, np.arange(len(pieces) - 1), "adaptive", 0.5, 1.0)
        cells = weights.cells(average=True)
        learned.append([*(a.tolist() for a in cells), weights.decode(x).tolist()])
    assert learned[0] == learned[1]


@needs_native
def test_templates_in_a_row_that_look_at_one_place_are_a_run():
    """Two templates of word 0, one of word -1, and two more of word 0 around a conjunction."""
    templates = [((0, 0),), ((1, 0),), ((0, -1),), ((1, 0), (0, 0)), ((0, 0), (0, 1)), ((0, 0),)]
    hashes = np.array([[3, 5], [7, 0]], np.uint64)  # the second word lacks the second attribute
    arguments = key_plan(templates, [0, 0]), np.array([[0, 0, 1]], np.int32), hashes
    _, runs, rows, numbers = NATIVE.index_by_place(*arguments, np.array([0, 3]), 1)
    assert runs[:, :3].tolist() == [[0, 0, 2], [0, -1, 1], [0, 0, 1], [-1, 0, 1], [0, 0, 1]]
    assert numbers.tolist() == [4, 0, 0, 7, 0, 0, 9, 0, 0, 0]
    assert rows[runs[0, 3] :][:12].tolist() == [0, 0, 0, 0, 0, 0, 2, 0, 1, 1, 8, 0]


@each_backend
def test_more_features_than_the_first_table_holds(backend):
    """5,000 types: the kernel's table of keys grows several times."""
    plan = key_plan([((0, 0),), ((0, -1), (0, 0))], [0])
    types = np.arange(5000, dtype=np.int32)[None]
    hashes = backend.hash_strings([str(n) for n in range(5000)])[None]
    found = backend.index_features(plan, types, hashes, np.array([0, 5000]), 1)
    expected = REFERENCE.index_features(plan, types, hashes, np.array([0, 5000]), 1)
    assert [a.tolist() for a in found] == [a.tolist() for a in expected]


# ----------------------------------------------------------------- the encoder
TEMPLATES = "form[0]\nsuffix(2)[0]\nlower(pos)[-1] + form[0]"


@pytest.fixture
def encoder():
    return Encoder(parse(TEMPLATES).compile(["form", "pos"]), REFERENCE.hash_strings)


def test_types_are_numbered_as_they_come(encoder):
    types = encoder.encode([[["the", "cat"], ["the"]], [["DT", "NN"], ["DT"]]], 3)
    assert types.dtype == np.int32
    assert types.tolist() == [[0, 1, 0], [0, 1, 0]]
    assert encoder.hashes[:, 0].tolist() == [hash_string(v) for v in ("the", "he", "dt")]
    assert encoder.hashes[:, 1].tolist() == [hash_string(v) for v in ("cat", "at", "nn")]
    types = encoder.encode([[["dog", "cat"]], [["NN", "NN"]]], 2)
    assert types.tolist() == [[2, 1], [1, 1]]
    assert encoder.hashes[0, 2] == hash_string("dog")
    assert len(encoder) == 3


def test_an_absent_attribute_has_hash_0_and_an_empty_one_has_not(encoder):
    encoder.encode([[["a", ""]], [["X", "Y"]]], 2)
    hashes = encoder.hashes
    assert hashes[:2, 0].tolist() == [hash_string("a"), 0]  # "a" is too short for suffix(2)
    assert hashes[:2, 1].tolist() == [hash_string(""), 0]


def test_the_table_grows_and_keeps_what_it_had(encoder):
    many = [f"w{n}" for n in range(3000)]
    for begin in range(0, 3000, 500):
        block = many[begin : begin + 500]
        types = encoder.encode([[block], [["X"] * 500]], 500)
        assert types[0].tolist() == list(range(begin, begin + 500))
    assert encoder.hashes[0, :3000].tolist() == [hash_string(word) for word in many]


def test_a_column_that_grows_leaves_the_others_as_they_are(encoder):
    words, tags = [f"w{n % 900}" for n in range(1100)], [f"T{n}" for n in range(1100)]
    encoder.encode([[words], [tags]], 1100)
    assert encoder.hashes[0, :900].tolist() == [hash_string(f"w{n}") for n in range(900)]


@given(st.lists(st.lists(words, max_size=5), max_size=4))
def test_types_numbered_by_the_caller_are_as_those_numbered_here(blocks):
    compiled = parse(TEMPLATES).compile(["form", "pos"])
    here, taken = (Encoder(compiled, REFERENCE.hash_strings) for _ in range(2))
    known: list[str] = []
    for block in blocks:
        new = [word for word in dict.fromkeys(block) if word not in known]
        taken.extend("form", len(known), new)
        known += new
        found = here.number("form", [block], len(block))
        assert found.tolist() == [known.index(word) for word in block]
        assert here.number("pos", [block], len(block)).dtype == np.int32
        taken.number("pos", [tuple(block)], len(block))
        assert len(here) == len(taken) == len(known)
        assert (here.hashes[:, : len(known)] == taken.hashes[:, : len(known)]).all()


def test_attributes_run_once_per_type(registry):
    calls = []

    @attributes.attribute("noted")
    def noted(word):
        calls.append(word)
        return word

    compiled = parse("noted[0]\nnoted[-1]").compile(["form"])
    calls.clear()  # the attribute was tried when it was resolved
    encoder = Encoder(compiled, REFERENCE.hash_strings)
    for _ in range(2):
        encoder.encode([[["a", "b", "a"]]], 3)
    assert calls == ["a", "b"]


def test_templates_that_see_no_column():
    encoder = Encoder(parse("bias\nlabel[-1]").compile(["form"]), REFERENCE.hash_strings)
    assert encoder.encode([], 3).shape == (0, 3)
    assert encoder.hashes.shape[0] == 0
    assert len(encoder) == 0
