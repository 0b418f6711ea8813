"""Direct calls of the kernel that seqtag itself does not make: objects and arrays that change meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from seqtag.engine.arrays import Bigrams
from seqtag.features.native import describe
from seqtag.segmentation.characters import COLUMNS
from tests.engine.test_clustering import exchanged, objective
from tests.engine.test_kernel import frozen_instance, same_bits
from tests.strategies import NATIVE, needs_native

if NATIVE:
    from seqtag.engine import native


# ----------------------------------------------------------------- numbers at their limits
@needs_native
def test_clusters_of_as_many_bigrams_as_32_bits_hold():
    """Sums of two counts exceed 32 bits (the sanitizers report them)."""
    most = 2**31 - 1
    counts = np.array([most // 2, 3, 3, most // 2 - 5], np.int32)
    bigrams = Bigrams(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32), counts)
    assert counts.sum(dtype=np.int64) == most
    matrix = counts.reshape(2, 2).astype(np.int64)
    for classes, open in (([0, 1], 2), ([1, 1], 3), ([0, 0], 1)):
        exchange = NATIVE.ExchangeClustering(bigrams, np.array(classes, np.int32), open)
        assert exchange.objective() == objective(matrix, classes)
        exchange.visit(0, 2)
        assert exchange.classes.tolist() == exchanged(matrix, classes, open, range(2))


# ----------------------------------------------------------------- one object, one call
@needs_native
def test_the_workspace_of_a_model_that_is_gone_is_refused():
    """Another model may have its address."""
    random = np.random.RandomState(0)
    small, _ = frozen_instance(random, 2, order=0)
    large, sentences = frozen_instance(random, 200)
    decoders = [native.Decoder(*small) for _ in range(50)]
    spaces = [each.workspace() for each in decoders]
    decoders.clear()
    decoders = [native.Decoder(*large) for _ in range(50)]
    for decoder in decoders:
        for space in spaces:
            with pytest.raises(ValueError, match="the workspace belongs to another model"):
                decoder.decode(*sentences, space)


@needs_native
def test_a_workspace_is_not_used_after_a_call_that_failed():
    model, sentences = frozen_instance(np.random.RandomState(0), 1000)
    decoder = native.Decoder(*model)
    space = decoder.workspace()
    with pytest.raises(MemoryError):
        long = np.zeros((2, 60_000), np.int32), np.ones((3, 1), np.uint64), np.array([0, 60_000])
        decoder.decode(*long, space)
    with pytest.raises(ValueError, match="the workspace belongs to another call, or to one that"):
        decoder.decode(*sentences, space)


def characters(text):
    """A table that knows the characters of a text, and the text in code points."""
    table = native.Characters([[0]], [])
    codes = np.array([*map(ord, text)], np.uint32)
    table.learn(np.unique(codes), np.full(len({*text}), 2, np.uint8))
    return table, codes


def define(table, names):
    names = [name.encode() for name in names]
    ones = np.ones(len(names), np.uint8)
    table.define(names, names, names, ones, ones)


@needs_native
def test_a_split_that_was_interrupted_can_be_repeated():
    """As by Ctrl-C, before the new characters are defined."""
    table, codes = characters("abcab")
    table.split(codes[:2])
    define(table, "ab")
    assert table.number().tolist() == [[0, 1]]
    for _ in range(2):
        assert table.split(codes)[3].tolist() == [2]
    *_, new = table.split(codes[1:])
    assert new.tolist() == [1]
    define(table, "c")
    assert len(table.split(codes)[3]) == 0
    assert table.number().tolist() == [[0, 1, 2, 0, 1]]
    assert table.new_values(0) == [[b"a", b"b", b"c"]]


@needs_native
@pytest.mark.parametrize("column", ["c1", "class"])
def test_hashes_that_were_interrupted_can_be_repeated(column):
    final = "Σ"  # its lower case depends on the word, so that `spell` is asked
    calls = [[("lower", 0, [])]]

    def table():
        made = native.Characters([[COLUMNS.index(column)]], [])
        codes = np.array([ord("a"), ord(final)], np.uint32)
        made.learn(codes, np.full(2, 2, np.uint8))
        made.split(codes)
        define(made, ["a", final])
        made.number()
        return made

    def interrupted(_):
        raise KeyboardInterrupt

    def nested(word):
        with pytest.raises(RuntimeError, match="another call is using this object"):
            again.new_hashes(0, calls, describe, spell)
        return spell(word)

    def spell(word):
        return word, word.lower()

    again, wanted = table(), table().new_hashes(0, calls, describe, spell)
    with pytest.raises(KeyboardInterrupt):
        again.new_hashes(0, calls, describe, interrupted)
    same_bits(again.new_hashes(0, calls, describe, nested), wanted)


@needs_native
def test_weights_are_not_used_while_they_learn():
    from seqtag.engine.arrays import Instances, Layout

    weights = NATIVE.Weights(Layout(1, 2, 0, 0), "float64", "perceptron")
    x = Instances(np.arange(3), np.arange(3), np.zeros(2, np.int32))
    refused = []

    def ask():
        with pytest.raises(RuntimeError, match="another call is using this object") as error:
            weights.decode(x)
        refused.append(error)

    visits = np.zeros(10_000_000, np.int64)
    weights.train_epoch(x, np.ones(2, np.int32), visits, ask=ask)
    assert refused
    assert weights.decode(x).tolist() == [1, 1]
