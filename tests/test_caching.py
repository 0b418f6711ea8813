"""Cache of answers that is limited in bytes."""

from __future__ import annotations

from sys import getsizeof

import pytest

from seqtag.caching import MOST_BYTES, BoundedCache, clear_caches
from seqtag.corpus import sentence
from seqtag.evaluation import aligned
from seqtag.labels import schemes
from seqtag.model.known_words import KnownWords
from seqtag.parallel import Pool


def test_answers_are_kept_until_there_are_too_many_bytes():
    asked = []

    def double(text):
        asked.append(text)
        return [text, text]

    cache = BoundedCache(double, 4000)
    assert cache["a"] == cache["a"] == ["a", "a"]
    assert asked == ["a"]
    for n in range(100):
        assert cache[f"{n}"] == [f"{n}"] * 2
        assert cache.nbytes <= 4000
        assert cache.nbytes >= sum(map(getsizeof, cache))
    assert cache["a"] == ["a", "a"]
    assert asked.count("a") > 1


def test_all_caches_are_cleared_at_once():
    cache, pool = BoundedCache(len), Pool()
    assert cache["to"] == 2
    pool.put(pool.take(list))
    assert len(pool._idle) == 1
    clear_caches()
    assert (dict(cache), cache.nbytes, pool._idle) == ({}, 0, [])
    assert cache["to"] == 2


def test_long_answers_are_not_kept():
    cache = BoundedCache(len)
    cache["to"]
    cache["x" * MOST_BYTES]
    cache["to", "x" * MOST_BYTES]
    assert [*cache] == ["to"]


@pytest.mark.parametrize(
    "cache",
    [
        KnownWords.of(["to"])._answers,
        schemes.parse.__self__,
        aligned._universal.__self__,
        sentence._found_columns,
    ],
    ids=["known words", "labels", "features", "columns"],
)
def test_strings_of_strangers_fill_no_cache(cache):
    for n in range(100):
        text = f"B-{n}" + "x" * 1_000_000
        cache[("form", (text,)) if cache is sentence._found_columns else text]
        assert sum(map(getsizeof, cache)) <= cache.nbytes <= MOST_BYTES
        assert n == 0 or cache.nbytes > 1_000_000  # nested strings count
