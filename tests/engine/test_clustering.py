"""Bigrams and exchange clustering of the kernel: what their definitions give, to the last bit."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import Bigrams, pointers
from seqtag.tables.learn import UNIT
from tests.oracle.clustering import entropies
from tests.strategies import NATIVE, needs_native

if NATIVE:
    from seqtag.engine.native import _kernel

pytestmark = needs_native


sentences = st.lists(st.lists(st.integers(1, 5), max_size=5), max_size=6)


def counted(*pieces):
    """A counter that was given some sentences in pieces."""
    counter = NATIVE.BigramCounter()
    for piece in pieces:
        words = np.array([word for sentence in piece for word in sentence], np.int32)
        counter.add(words, pointers(map(len, piece)))
    return counter


def pairs_of(text) -> Counter:
    """How often which word stands before which, by the definition."""
    return Counter(pair for sentence in text if sentence for pair in pairwise([0, *sentence, 0]))


def as_pairs(table) -> Counter:
    before = np.repeat(np.arange(len(table.ptr) - 1), np.diff(table.ptr)).tolist()
    keys = zip(before, table.after.tolist(), strict=True)
    return Counter(dict(zip(keys, table.counts.tolist(), strict=True)))


# ----------------------------------------------------------------- n log n
def test_n_log_n_is_near_enough_and_exact_for_powers_of_two():
    for e in range(31):
        assert entropies(np.array([2**e]))[0] == e * 2**e * 2**20
    n = [3, 5, 7, 1000, 2**14 + 1, 2**18 - 1, 10**6 + 3, 2**31 - 1]
    for value, found in zip(n, (entropies(np.array(n)) * UNIT).tolist(), strict=True):
        assert abs(found - value * math.log2(value)) < value * 1e-8 + 1e-6
    assert entropies(np.array([[0, 1]])).tolist() == [[0, 0]]


def test_n_log_n_of_the_kernel_is_the_same_number():
    borders = [2**e + d for e in range(2, 31) for d in (-1, 0, 1)]
    n = np.array([*range(3000), *borders, 2**31 - 1], np.int32)
    np.testing.assert_array_equal(_kernel.entropies(n), entropies(n))


# ----------------------------------------------------------------- bigrams
@given(st.lists(sentences, max_size=3))
def test_pairs_of_words_are_counted(pieces):
    counter = counted(*pieces)
    wanted = pairs_of([sentence for piece in pieces for sentence in piece])
    assert counter.total == wanted.total()
    assert as_pairs(counter.table(np.arange(6, dtype=np.int32))) == wanted
    first = Counter()
    for (before, _), count in wanted.items():
        first[before] += count
    for words in range(min(6, counter.total + 1) + 1):
        assert counter.counts(words).tolist() == [first[word] for word in range(words)]


@given(sentences, st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_words_of_one_number_are_one_word(text, numbers):
    table = counted(text).table(np.array(numbers, np.int32))
    wanted = Counter()
    for (before, after), count in pairs_of(text).items():
        wanted[numbers[before], numbers[after]] += count
    assert as_pairs(table) == wanted
    assert len(table.ptr) == max(numbers) + 2
    for row in range(len(table.ptr) - 1):
        assert (np.diff(table.after[table.ptr[row] : table.ptr[row + 1]]) > 0).all()


def test_many_pairs_are_sorted_and_merged_as_few_are():
    random = np.random.default_rng(1)
    counter, most = NATIVE.BigramCounter(), 3000
    wanted = np.zeros((most, most), np.int64)
    for _ in range(6):  # more than twice the four million words that are sorted at a time
        words = np.minimum(random.zipf(1.3, 800_000), most - 1).astype(np.int32)
        counter.add(words, np.array([0, 400_000, 400_000, 800_000]))
        for part in (words[:400_000], words[400_000:]):
            line = np.concatenate([[0], part, [0]])
            np.add.at(wanted, (line[:-1], line[1:]), 1)
    table = counter.table(np.arange(most, dtype=np.int32))
    before = np.repeat(np.arange(most), np.diff(table.ptr))
    found = np.zeros_like(wanted)
    found[before, table.after] = table.counts
    np.testing.assert_array_equal(found, wanted)
    assert counter.total == 6 * 800_002
    np.testing.assert_array_equal(counter.counts(most), wanted.sum(axis=1))


# ----------------------------------------------------------------- exchange
def matrix_of(pairs, words) -> np.ndarray:
    """How often each word stands before each, (words, words)."""
    found = np.zeros((words, words), np.int64)
    for pair, n in pairs.items():
        found[pair] = n
    return found


def objective(matrix, classes) -> int:
    """F by the definition, of every pair of words."""
    is_in = np.eye(max(classes) + 1, dtype=np.int64)[np.asarray(classes)]
    table = is_in.T @ matrix @ is_in
    return int(entropies(table).sum() - 2 * entropies(table.sum(axis=1)).sum())


def exchanged(matrix, classes, open, words):
    """One pass by trying every class of every word."""
    classes = list(classes)
    for word in words:
        tried = [objective(matrix, [*classes[:word], c, *classes[word + 1 :]]) for c in range(open)]
        classes[word] = tried.index(max(tried))
    return classes


cases = st.tuples(sentences, st.lists(st.integers(0, 4), min_size=6, max_size=6), st.integers(1, 3))


@given(cases)
def test_an_exchange_is_what_trying_all_classes_gives(case):
    text, classes, open = case
    table, matrix = counted(text).table(np.arange(6, dtype=np.int32)), matrix_of(pairs_of(text), 6)
    exchange = NATIVE.ExchangeClustering(table, np.array(classes, np.int32), open)
    assert exchange.objective() == objective(matrix, classes)
    for _ in range(2):
        wanted = exchanged(matrix, classes, open, range(1, 6))
        moved = sum(a != b for a, b in zip(classes, wanted, strict=True))
        assert exchange.visit(1, 6) == moved
        assert exchange.classes.tolist() == wanted
        assert exchange.objective() == objective(matrix, wanted)
        classes = wanted


def large_case(seed):
    """Bigrams with counts of all sizes."""
    random = np.random.default_rng(seed)
    text = [np.minimum(random.zipf(1.2, 12), 80).tolist() for _ in range(4000)]
    table = counted(text).table(np.arange(81, dtype=np.int32))
    classes = (np.arange(81) % 9).astype(np.int32)
    classes[0] = 9
    return table, classes


@pytest.mark.parametrize("factor", [1, 97, 20_000])
def test_many_words_are_exchanged_step_by_step(factor):
    table, classes = large_case(factor)
    table = table._replace(counts=table.counts * np.int32(factor))
    matrix, wanted = matrix_of(as_pairs(table), 81), classes.tolist()
    exchange = NATIVE.ExchangeClustering(table, classes, 9)
    for _ in range(2):
        for first in range(1, 81, 16):
            before, wanted = wanted, exchanged(matrix, wanted, 9, range(first, first + 16))
            moved = sum(a != b for a, b in zip(before, wanted, strict=True))
            assert exchange.visit(first, first + 16) == moved
            assert exchange.classes.tolist() == wanted
        assert exchange.objective() == objective(matrix, wanted)


def test_the_likelihood_never_falls_and_is_the_one_of_the_model():
    table, classes = large_case(5)
    exchange = NATIVE.ExchangeClustering(table, classes, 9)
    before = exchange.objective()
    for word in range(1, 81):
        exchange.visit(word, word + 1)
        assert exchange.objective() >= before
        before = exchange.objective()
    found, pairs = exchange.classes, as_pairs(table)
    words, cells, totals = Counter(), Counter(), Counter()
    for (v, w), n in pairs.items():
        words[v] += n
        cells[found[v], found[w]] += n
        totals[found[v]] += n
    likelihood = sum(
        n * math.log2(words[w] / totals[found[w]] * cells[found[v], found[w]] / totals[found[v]])
        for (v, w), n in pairs.items()
    )
    own = sum(n * math.log2(n) for n in words.values())
    assert math.isclose(own + exchange.objective() * UNIT, likelihood, rel_tol=1e-7)


def test_of_equally_good_classes_the_lowest_is_taken():
    """Words that stand nowhere are at home everywhere."""
    table = counted([[1]]).table(np.arange(2, dtype=np.int32))
    table = Bigrams(np.append(table.ptr, [2, 2]), table.after, table.counts)
    exchange = NATIVE.ExchangeClustering(table, np.array([3, 1, 2, 1], np.int32), 3)
    assert exchange.visit(1, 4) == 3
    assert exchange.classes.tolist() == [3, 0, 0, 0]
