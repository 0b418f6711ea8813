"""Built-in attributes of the kernel: the hashes that Python's functions lead to, all Unicode long."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine import backend
from seqtag.features import attributes, builtin, native
from seqtag.features.attributes import MAX_LENGTH, attribute, attribute_names, resolve
from seqtag.features.encoder import Encoder
from seqtag.features.language import parse
from seqtag.features.normal_forms import normal_forms
from tests.strategies import NATIVE, REFERENCE, needs_native

pytestmark = needs_native

CLASSES = "ae=A iıoöuü=I dt=D"
ARGUMENTS = {
    "prefix": [(1,), (3,)],
    "suffix": [(1,), (2,), (4,)],
    "skeleton": [(1,), (2,), (3,), (1, CLASSES), (3, CLASSES)],
}
REGEX = ("match", "match_lower", "test")
USES = [
    resolve(name, arguments)
    for name in attribute_names()
    if name not in REGEX and getattr(builtin, f"_{name}", None)
    for arguments in ARGUMENTS.get(name, [()])
]
AWKWARD = (
    "aAbBzZ09-'._/ \0İıßΣσςÅé\u0301\u0323\u0338\u1100\u1161\u11a8가각\u00ad\u200d’“–１ǅ中٣👍\ud800"
)
PLANES = 0x110000


@pytest.fixture(autouse=True)
def _the_kernel(monkeypatch):
    monkeypatch.setattr(backend, "hash_attributes", NATIVE.hash_attributes)


def by_python(words):
    """Hashes of the values of all USES, as the Encoder has them without a kernel."""
    seen = normal_forms(words)
    for use in USES:
        values = use.many(seen)
        hashes = NATIVE.hash_strings([value or "" for value in values])
        hashes[[value is None for value in values]] = 0
        yield hashes


def assert_same(words):
    """The kernel has the hashes of all attributes of the words."""
    found = native.hash_attributes(dict(enumerate(USES)), words)
    assert sorted(found) == list(range(len(USES)))
    for number, expected in enumerate(by_python(words)):
        different = np.flatnonzero(found[number] != expected)
        assert different.size == 0, (USES[number], ascii(words[different[0]]))


def test_all_built_in_attributes_but_regular_expressions():
    of_builtin = [f for f in attributes._REGISTRY.values() if f.__module__ == builtin.__name__]
    assert len({use.function for use in USES}) == len(of_builtin) - len(REGEX) >= 10
    assert native.hash_attributes({3: resolve("test", ("a",))}, ["a"]) == {}


@functools.cache
def code_points(every=1):
    """Assigned code points, and the ends of the blocks that the others fill, which are all alike.

    One in `every` of the letters from U+3400 on, most of them syllables and ideographs.
    """
    return [
        code
        for code in range(PLANES)
        if (code % 128 in (0, 127) or unicodedata.category(chr(code)) not in ("Cn", "Co"))
        and (code < 0x3400 or code % every == 0 or not chr(code).isalpha())
    ]


each_density = pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 64])


@each_density
def test_every_assigned_code_point(every):
    assert_same(list(map(chr, code_points(every))))


@each_density
@pytest.mark.parametrize("context", ["a{}", "{}a", "A{}b", "ΑΣ{}", "ⲁ{}\u0301"])
def test_code_points_in_words(context, every):
    codes = code_points(every)
    if every > 1:  # what follows U+052F is sampled as well: few letters have cases there
        codes = [code for code in codes if code < 0x530 or code % 4 == 0]
    assert_same([context.format(chr(code)) for code in codes])


def test_every_pair_that_composes():
    pairs = [unicodedata.decomposition(chr(code)).split() for code in code_points()]
    words = ["".join(chr(int(c, 16)) for c in pair) for pair in pairs if pair and pair[0][0] != "<"]
    assert len(words) > 2000
    assert_same([*words, *(f"x{word}\u0323" for word in words), "\u1100\u1161\u11a8", "가\u11a8"])


@given(st.lists(st.text(AWKWARD, max_size=9) | st.text(max_size=9)))
def test_any_words(words):
    assert_same(words)


def test_long_words_are_cut():
    long = ["a", "É", "Σ", "👍", "’", "ax-", "İ", "가", "\u00ad", "Aa£"]
    words = [piece * length for piece in long for length in (333, MAX_LENGTH, MAX_LENGTH + 1, 2500)]
    assert_same(words)
    far = [resolve("prefix", (MAX_LENGTH + 7,)), resolve("suffix", (999_999_999,))]
    found = native.hash_attributes(dict(enumerate(far)), ["b" * (MAX_LENGTH + 7), "b"])
    assert found[0].tolist() == [NATIVE.hash_strings(["b" * MAX_LENGTH])[0], 0]
    assert found[1].tolist() == [0, 0]


# ----------------------------------------------------------------- whose function it is
TEMPLATES = "lower[0]\nsuffix(2)[0]\nvowels[0]"


def hashes_of(words):
    encoder = Encoder(parse(TEMPLATES).compile(["form"]), REFERENCE.hash_strings)
    encoder.extend("form", 0, words)
    return encoder.hashes[:, : len(words)].tolist()


def hashed(*values):
    hashes = REFERENCE.hash_strings([value or "" for value in values]).tolist()
    return [0 if value is None else each for each, value in zip(hashes, values, strict=True)]


def test_attributes_of_users_stand_beside_built_in_ones(registry):
    attribute("vowels", replace=True)(lambda word: "".join(c for c in word if c in "aeiou") or None)
    expected = [hashed("don't", "x"), hashed("'t", None), hashed("o", None)]
    assert hashes_of(["Don’t", "X"]) == expected


def test_a_built_in_attribute_that_was_replaced_is_pythons(registry):
    attribute("vowels", replace=True)(lambda word: None)
    attribute("lower", replace=True)(lambda word: word.swapcase())
    assert hashes_of(["Don’t"]) == [hashed("dON'T"), hashed("'t"), hashed(None)]


def test_the_reference_has_only_python(registry, monkeypatch):
    attribute("vowels", replace=True)(lambda word: None)
    expected = hashes_of(["Don’t", "ΟΔΟΣ"])
    monkeypatch.setattr(backend, "hash_attributes", None)
    assert native.hash_attributes({0: resolve("form")}, ["a"]) == {}
    assert hashes_of(["Don’t", "ΟΔΟΣ"]) == expected


# ----------------------------------------------------------------- the border


def hash_of(words, uses=(("form", 0, ()),), describe=native.describe):
    return NATIVE.hash_attributes(words, list(uses), describe, lambda word: (word, word))


def refuse(block):
    msg = f"block {block}"
    raise KeyError(msg)


@pytest.fixture
def far():
    """A character of which the kernel has not yet asked, in this process."""
    for code in range(0xE1002, 0xEF000, native.BLOCK):
        try:
            hash_of([chr(code)], describe=refuse)
        except KeyError:
            return chr(code)
    raise AssertionError


def test_a_block_is_described_once(far):
    asked = []

    def describe(block):
        asked.append(block)
        return native.describe(block)

    for _ in range(2):
        hash_of([far, chr(ord(far) + 1)], describe=describe)
    assert asked == [ord(far) // native.BLOCK]


def test_what_describe_raises_comes_through(far):
    for _ in range(2):
        with pytest.raises(KeyError, match=f"block {ord(far) // native.BLOCK}"):
            hash_of([far], describe=refuse)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda codes, bits, marks: (codes[:, :9].copy(), bits, marks),
            "must have (32, 10) codes",
        ),
        (lambda codes, bits, marks: (codes, bits[:7], marks), "must have (32, 10) codes"),
        (lambda codes, bits, marks: (codes, bits, marks[:7]), "must have (32, 10) codes"),
        (lambda codes, bits, marks: (codes + PLANES, bits, marks), "codes is out of range"),
        (lambda codes, bits, marks: (codes - PLANES, bits, marks), "codes is out of range"),
    ],
)
def test_descriptions_that_do_not_fit(far, change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        hash_of([far], describe=lambda block: change(*native.describe(block)))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (("colour", 0, ()), "attributes names one that the kernel does not know"),
        (("prefix", 0, ()), "an attribute has a number out of range"),
        (("suffix", -1, ()), "an attribute has a number out of range"),
        (("skeleton", 0, ()), "an attribute has a number out of range"),
        (("skeleton", 1, [(97, PLANES)]), "letters is out of range"),
    ],
)
def test_attributes_that_the_kernel_refuses(use, message):
    with pytest.raises(ValueError, match=message):
        hash_of(["a"], [use])


def test_threads_learn_the_same_blocks():
    words = [chr(code) * 2 for code in range(0x12000, 0x12800)]
    numbered = dict(enumerate(USES))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: native.hash_attributes(numbered, words), range(8)))
    finally:
        sys.setswitchinterval(interval)
    for each in found:
        assert all((each[n] == found[0][n]).all() for n in numbered)
