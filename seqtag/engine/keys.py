"""Sentences to integer arrays: types, attribute values, feature keys.

A column's distinct values (its *types*) are numbered in order of first appearance.  Attribute
functions run once per type, and the hash of their value is stored in a table: Python touches each
word type once, and no token.  A feature is identified by its *key*, a number of up to 64 bits made
from the number of its template and the hashes of the attribute values that it conjoins::

    key = mix(seed[template] + sum_z hash(value_z) * multiplier[z]) >> shift, at least 1
    mix(q) = (q ^ q >> 32) * M, 64 bits

The fewer bits are kept, the smaller is a model file, and the more likely do two features have one
key; then they are one feature, in training and afterwards.
If one of the values is absent, so is the feature, and its key is 0.  Positions before and after the
sentence have a value each, the same for every attribute.
"""

from __future__ import annotations

from itertools import accumulate, chain, islice, pairwise, takewhile
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import HashArray, IntArray, KeyPlan
from seqtag.engine.checks import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import BoolArray

_MASK = (1 << 64) - 1
LONGEST_PHRASE = 32  # tokens
PLACES = "BIES"  # of tokens in phrases: begin, inside, end, single
_DRAWN_FEATURES = 2**20  # features drawn for at a time: 8 MB
_MIX = 0xFF51AFD7ED558CCD
LEFT, RIGHT = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F  # values beyond the two ends of a sentence

Terms = tuple[tuple[int, int], ...]  # (attribute number, offset), ...


class Values:
    """Distinct strings, numbered in order of first appearance.

    Examples
    --------
    >>> values = Values()
    >>> values.number([["to", "be"], [], ("to",)], 3)
    array([0, 1, 0], dtype=int32)
    >>> values.new_values(), values.new_values()
    (['to', 'be'], [])
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._reported = 0

    def number(self, rows: list[Sequence[str]], count: int) -> NDArray[np.int32]:
        """Return the number of each value, all rows end to end: (count,) int32.

        Parameters
        ----------
        rows
            Sequences of strings, such as the sentences of a column.
        count
            Number of values in them.

        Raises
        ------
        TypeError
            If a value is not a string.
        ValueError
            If the rows do not hold `count` values.
        """
        values = list(chain.from_iterable(rows))
        if not all(isinstance(value, str) for value in values):
            msg = "values must be strings"
            raise TypeError(msg)
        require(len(values) == count, "count must be the number of values")
        numbers = self._numbers
        return np.array([numbers.setdefault(str(v), len(numbers)) for v in values], np.int32)

    def new_values(self) -> list[str]:
        """Return the values numbered since the last call, in order."""
        new = list(islice(self._numbers, self._reported, None))
        self._reported += len(new)
        return new


def _mix(q: int) -> int:
    return (q ^ (q >> 32)) * _MIX & _MASK


def hash_string(value: str) -> int:
    """Return the 64-bit hash of an attribute value, never 0: FNV-1a over its UTF-8 bytes, mixed.

    Lone surrogates are hashed like other code points. The kernel computes the same number.

    >>> hex(hash_string("Haus"))
    '0x8c6b7e2cbda349eb'
    """
    h = 0xCBF29CE484222325
    for byte in value.encode("utf-8", "surrogatepass"):
        h = (h ^ byte) * 0x100000001B3 & _MASK
    return _mix(_mix(h)) | 1


def hash_strings(values: Sequence[str]) -> HashArray:
    """Return the hash of each string: (n,) uint64.

    >>> hash_strings([]).shape
    (0,)
    """
    return np.fromiter(map(hash_string, values), np.uint64, len(values))


def join_keys(low: NDArray[np.uint32], high: NDArray[np.uint8]) -> HashArray:
    """Return keys of 48 bits as model files store many of them: (n,) uint64.

    Parameters
    ----------
    low
        The lowest 32 bits of each key, in the order of the keys.
    high
        Bits, 8 to a byte, the first the highest: for each value of the 16 bits above, from 0 on, a
        1 for each key that has it, then a 0.

    Raises
    ------
    ValueError
        If there are too many or too few bits.

    Examples
    --------
    >>> bits = np.zeros(2 + 2**16, np.uint8)
    >>> bits[[0, 2]] = 1
    >>> join_keys(np.array([7, 9], np.uint32), np.packbits(bits)).tolist() == [7, 2**32 + 9]
    True
    """
    bits = len(low) + 2**16
    require(len(high) == -(-bits // 8), "high must have a bit per key and value")
    ones = np.flatnonzero(np.unpackbits(high, count=bits))
    require(len(ones) == len(low), "high must have a bit per key")
    return (ones - np.arange(len(low))).astype(np.uint64) << np.uint64(32) | low


def count_cells(ends: NDArray[np.uint8], cells: int) -> NDArray[np.uint16]:
    """Return the number of cells of each row: (rows,) uint16.

    Parameters
    ----------
    ends
        A bit per cell, 8 to a byte, the first the highest: 1 for the last cell of its row.
    cells
        Number of cells.

    Raises
    ------
    ValueError
        If there are too many or too few bits, or a row has more than 65,535 cells.

    Examples
    --------
    >>> count_cells(np.array([0b01001000], np.uint8), 5)
    array([2, 3], dtype=uint16)
    """
    require(len(ends) == -(-cells // 8), "ends must have a bit per cell")
    counts = np.diff(np.flatnonzero(np.unpackbits(ends, count=cells)), prepend=-1)
    require(bool((counts < 2**16).all()), "a row must have at most 65535 cells")
    return counts.astype(np.uint16)


def _pseudo_random(n: int, start: int) -> HashArray:
    """Return the numbers start, start + 1, ..., mixed (splitmix64): (n,) uint64."""
    numbers = []
    for i in range(start, start + n):
        z = (i + 1) * 0x9E3779B97F4A7C15 & _MASK
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
        numbers.append(z ^ (z >> 31))
    return np.array(numbers, np.uint64)


def key_plan(
    templates: Sequence[Terms], attribute_column: Sequence[int], first: int = 0, bits: int = 64
) -> KeyPlan:
    """Return the plan of templates whose numbers start at `first`, for keys of so many bits."""
    lengths = [len(terms) for terms in templates]
    flat = list(chain.from_iterable(templates))
    return KeyPlan(
        term_ptr=np.cumsum([0, *lengths], dtype=np.int64),
        term_attribute=np.array([attribute for attribute, _ in flat], np.int32),
        term_offset=np.array([offset for _, offset in flat], np.int32),
        seed=_pseudo_random(len(templates), first),
        multiplier=_pseudo_random(max([1, *lengths]), 1 << 32) | np.uint64(1),
        attribute_column=np.array(attribute_column, np.int32),
        shift=64 - bits,
    )


def keys(plan: KeyPlan, types: IntArray, hashes: HashArray, sentence_ptr: IntArray) -> HashArray:
    """Return the feature keys (tokens, templates) uint64 of encoded sentences; 0 if absent.

    Parameters
    ----------
    types
        (columns, tokens) int32: type ids.
    hashes
        (attributes, types) uint64: hash of the attribute's value per type, 0 if absent.
    sentence_ptr
        (sentences + 1,) int64.
    """
    tokens = types.shape[1]
    here = np.arange(tokens)
    lengths = np.diff(sentence_ptr)
    begin, end = (np.repeat(edge, lengths) for edge in (sentence_ptr[:-1], sentence_ptr[1:]))
    out = np.empty((tokens, len(plan.seed)), np.uint64)
    for k in range(len(plan.seed)):
        total = np.full(tokens, plan.seed[k])
        absent = np.zeros(tokens, bool)
        for z, i in enumerate(range(plan.term_ptr[k], plan.term_ptr[k + 1])):
            attribute = plan.term_attribute[i]
            at = here + plan.term_offset[i]
            inside = (at >= begin) & (at < end)
            column = types[plan.attribute_column[attribute]]
            value = np.where(at < begin, np.uint64(LEFT), np.uint64(RIGHT))
            value[inside] = hashes[attribute, column[at[inside]]]
            absent |= value == 0
            total += value * plan.multiplier[z]
        mixed = (total ^ (total >> np.uint64(32))) * np.uint64(_MIX) >> np.uint64(plan.shift)
        out[:, k] = np.where(absent, np.uint64(0), np.maximum(mixed, np.uint64(1)))
    return out


def index_features(
    plan: KeyPlan,
    types: IntArray,
    hashes: HashArray,
    sentence_ptr: IntArray,
    min_count: int,
) -> tuple[HashArray, IntArray, IntArray]:
    """Number the features of a corpus; return (keys of the rows, token_ptr, features).

    Rows are numbered by first appearance; those seen fewer than `min_count` times are left out.
    """
    flat = keys(plan, types, hashes, sentence_ptr).ravel()
    distinct, first, which, count = np.unique(
        flat, return_index=True, return_inverse=True, return_counts=True
    )
    kept = np.flatnonzero((count >= min_count) & (distinct != 0))
    kept = kept[np.argsort(first[kept])]
    row_of = np.full(len(distinct), -1, np.int32)
    row_of[kept] = np.arange(len(kept), dtype=np.int32)
    rows = row_of[which.reshape(-1)].reshape(types.shape[1], len(plan.seed))
    token_ptr = np.concatenate([[0], np.cumsum((rows >= 0).sum(axis=1))]).astype(np.int64)
    return distinct[kept], token_ptr, rows[rows >= 0]


def drop_features(
    token_ptr: IntArray,
    features: IntArray,
    shares: NDArray[np.float64],
    random: np.random.RandomState,
) -> tuple[IntArray, IntArray]:
    """Leave out features at random (feature dropout); return (token_ptr, features).

    Parameters
    ----------
    token_ptr
        Where the features of each token begin, (N + 1,) int64.
    features
        Rows of all tokens, (M,) int32.
    shares
        The probability of leaving out each row, 0 to 1: (rows,) float64, or (1,) for all rows.
    random
        Random numbers, one for each feature; do not reuse it.

    Examples
    --------
    >>> random, half = np.random.RandomState(1), np.array([0.5])
    >>> ptr, kept = drop_features(np.array([0, 2, 3]), np.arange(3), half, random)
    >>> ptr.tolist(), kept.tolist()
    ([0, 1, 1], [1])
    """
    kept = are_kept(features, shares, random)
    return np.concatenate([[0], np.cumsum(kept)])[token_ptr].astype(np.int64), features[kept]


def are_kept(
    features: IntArray, shares: NDArray[np.float64], random: np.random.RandomState
) -> BoolArray:
    """Return whether `drop_features` keeps each feature: (M,) bool."""
    kept = np.empty(len(features), bool)
    for begin in range(0, len(kept), _DRAWN_FEATURES):
        rows = features[begin : begin + _DRAWN_FEATURES]
        share = shares[rows] if len(shares) > 1 else shares
        kept[begin : begin + _DRAWN_FEATURES] = random.random_sample(len(rows)) >= share
    return kept


def chained(before: int, token: int) -> int:
    """Return the hash of some tokens and one more; that of a single token is its own."""
    return _mix((_mix(before) + token) & _MASK) | 1


class PhraseMatcher:
    """Finds the phrases of a list in sentences: the longest, leftmost first.

    Parameters
    ----------
    chains
        Hashes of all phrases, and of the tokens that they begin with, see `chained`: (n,) uint64,
        ascending.
    numbers
        Number of each phrase, -1 for beginnings: (n,) int32.
    """

    def __init__(self, chains: HashArray, numbers: NDArray[np.int32]):
        self._numbers = dict(zip(chains.tolist(), numbers.tolist(), strict=True))

    def match(
        self, types: NDArray[np.int32], hashes: HashArray, sentence_ptr: IntArray, absent: int
    ) -> NDArray[np.int32]:
        """Return for each token 4 times the number of its phrase, plus its place in `PLACES`.

        Parameters
        ----------
        types
            Type ids of the tokens, (N,) int32.
        hashes
            Hash of each type.
        sentence_ptr
            Where sentences begin, and where the last ends.
        absent
            The result for tokens in no phrase.

        Examples
        --------
        >>> chains = np.array([3, chained(3, 5)], np.uint64)
        >>> matcher, hashes = PhraseMatcher(chains, np.array([-1, 7])), np.array([3, 5], np.uint64)
        >>> matcher.match(np.array([0, 1, 0]), hashes, np.array([0, 3]), -1).tolist()
        [28, 30, -1]
        """
        tokens, out = hashes[types].tolist(), np.full(len(types), absent, np.int32)
        for begin, end in pairwise(sentence_ptr.tolist()):
            at = begin
            while at < end:
                chains = accumulate(tokens[at : min(end, at + LONGEST_PHRASE)], chained)
                numbers = map(
                    self._numbers.__getitem__, takewhile(self._numbers.__contains__, chains)
                )
                found = [(length, n) for length, n in enumerate(numbers, 1) if n >= 0]
                length, number = found[-1] if found else (1, -1)
                if number >= 0:
                    places = "S" if length == 1 else f"B{'I' * (length - 2)}E"
                    out[at : at + length] = [4 * number + PLACES.index(each) for each in places]
                at += length
        return out


def label_lists(names: Sequence[str], ids: IntArray, ptr: IntArray) -> list[list[str]]:
    """Return the names of ids, as one list per row.

    Parameters
    ----------
    names
        The name of each id.
    ids
        (N,) int32.
    ptr
        Where rows begin, and where the last ends: (rows + 1,) int64.

    Examples
    --------
    >>> label_lists(["DET", "NOUN"], np.array([0, 1, 1], np.int32), np.array([0, 2, 2, 3]))
    [['DET', 'NOUN'], [], ['NOUN']]
    """
    found = list(map(names.__getitem__, ids.tolist()))
    return [found[begin:end] for begin, end in pairwise(ptr.tolist())]
