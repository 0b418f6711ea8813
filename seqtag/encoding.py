"""Sentences to integer arrays: types, attribute values, feature keys.

A column's distinct values (its *types*) are numbered as they come.  Attribute functions run once
per type and leave a hash of their value in a table; so Python touches each word type once and each
token never.  A feature is known by its *key*, a 64-bit number made from the template's number and
the hashes of the attribute values it conjoins::

    key = mix(seed[template] + sum_z hash(value_z) * multiplier[z])      mix(q) = (q ^ q >> 32) * M

A key is 0, that is, the feature is absent, when any of its values is.  Positions before and after
the sentence have a value of their own, one on each side, the same for every attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from seqtag.template_set import CompiledTemplates

_MASK = (1 << 64) - 1
_MIX = 0xFF51AFD7ED558CCD
LEFT, RIGHT = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F  # values beyond the two ends of a sentence

Terms = tuple[tuple[int, int], ...]  # (attribute number, offset), ...


def _mix(q: int) -> int:
    return (q ^ (q >> 32)) * _MIX & _MASK


def hash_string(value: str) -> int:
    """64-bit hash of an attribute value, never 0: FNV-1a over its UTF-8 bytes, then mixed.

    Lone surrogates are hashed as they are. The kernel computes the same number.

    >>> hex(hash_string("Haus"))
    '0x8c6b7e2cbda349eb'
    """
    h = 0xCBF29CE484222325
    for byte in value.encode("utf-8", "surrogatepass"):
        h = (h ^ byte) * 0x100000001B3 & _MASK
    return _mix(_mix(h)) | 1


def _pseudo_random(n: int, start: int) -> np.ndarray:
    """The numbers start, start + 1, ..., mixed (splitmix64): (n,) uint64."""
    numbers = []
    for i in range(start, start + n):
        z = (i + 1) * 0x9E3779B97F4A7C15 & _MASK
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
        numbers.append(z ^ (z >> 31))
    return np.array(numbers, np.uint64)


class KeyPlan(NamedTuple):
    """Templates as flat arrays: term i of template k is ``term_ptr[k] <= i < term_ptr[k + 1]``."""

    term_ptr: np.ndarray  # (templates + 1,) int64
    term_attribute: np.ndarray  # (terms,) int32
    term_offset: np.ndarray  # (terms,) int32
    seed: np.ndarray  # (templates,) uint64
    multiplier: np.ndarray  # (longest conjunction,) uint64, odd
    attribute_column: np.ndarray  # (attributes,) int32


def key_plan(
    templates: Sequence[Terms], attribute_column: Sequence[int], first: int = 0
) -> KeyPlan:
    """The plan of some templates, whose numbers start at `first`."""
    lengths = [len(terms) for terms in templates]
    flat = list(chain.from_iterable(templates))
    return KeyPlan(
        term_ptr=np.cumsum([0, *lengths], dtype=np.int64),
        term_attribute=np.array([attribute for attribute, _ in flat], np.int32),
        term_offset=np.array([offset for _, offset in flat], np.int32),
        seed=_pseudo_random(len(templates), first),
        multiplier=_pseudo_random(max([1, *lengths]), 1 << 32) | np.uint64(1),
        attribute_column=np.array(attribute_column, np.int32),
    )


def keys(
    plan: KeyPlan, types: np.ndarray, hashes: np.ndarray, sentence_ptr: np.ndarray
) -> np.ndarray:
    """Feature keys (tokens, templates) uint64 of encoded sentences; 0 where a feature is absent.

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
        mixed = (total ^ (total >> np.uint64(32))) * np.uint64(_MIX)
        out[:, k] = np.where(absent, np.uint64(0), np.maximum(mixed, np.uint64(1)))
    return out


def index_features(
    plan: KeyPlan,
    types: np.ndarray,
    hashes: np.ndarray,
    sentence_ptr: np.ndarray,
    min_count: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number the features of a corpus: (keys of the rows, token_ptr, features).

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


class Column(NamedTuple):
    """A column's distinct values, in the order they come, and which of them each token has."""

    types: list[str]
    ids: np.ndarray  # (tokens,) int32

    @classmethod
    def of(cls, values: Iterable[str]) -> Column:
        """Number the values of a column.

        >>> Column.of(["to", "be", "to"])
        Column(types=['to', 'be'], ids=array([0, 1, 0], dtype=int32))
        """
        types = _Types()
        ids = np.fromiter(map(types.__getitem__, values), np.int32)
        return cls(types.new, ids)

    def values(self) -> list[str]:
        """The value of every token."""
        return list(map(self.types.__getitem__, self.ids.tolist()))


class _Types(dict):
    """Type ids by value; a value not seen before gets the next id and is noted as new."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []

    def __missing__(self, value: str) -> int:
        self[value] = number = len(self)
        self.new.append(value)
        return number


class Encoder:
    """Columns of strings to type ids, keeping the attribute table of every type met.

    Not safe to share between threads: each user of a tagger has its own.

    Parameters
    ----------
    compiled
        The templates' attributes and columns.
    hash_strings
        Backend of `hash_string` for many strings: ``list[str] -> (n,) uint64``.
    """

    def __init__(self, compiled: CompiledTemplates, hash_strings):
        self._compiled = compiled
        self._hash_strings = hash_strings
        self._types = {column: _Types() for column in compiled.columns}
        self._table = np.zeros((len(compiled.attributes), 1024), np.uint64)
        self._count = 0

    def __len__(self) -> int:
        """Most types that any column has."""
        return self._count

    @property
    def hashes(self) -> np.ndarray:
        """Hash of each attribute's value per type, 0 if absent: (attributes, types) uint64."""
        return self._table

    def encode(self, columns: Sequence[Iterable[str]], tokens: int) -> np.ndarray:
        """Type ids (columns, tokens) int32.

        Parameters
        ----------
        columns
            The values of each of the templates' columns, all sentences end to end.
        tokens
            Number of values in each column.
        """
        pairs = zip(self._types, columns, strict=True)
        numbers = [self.number(column, values, tokens) for column, values in pairs]
        if len(numbers) == 1:
            return numbers[0][None]
        return np.stack(numbers) if numbers else np.empty((0, tokens), np.int32)

    def number(self, column: str, values: Iterable[str], count: int = -1) -> np.ndarray:
        """Type ids of some values of a column: (count,) int32."""
        types = self._types[column]
        ids = np.fromiter(map(types.__getitem__, values), np.int32, count)
        if types.new:
            new, types.new = types.new, []
            self._fill(column, len(types) - len(new), new)
        return ids

    def extend(self, column: str, first: int, new: list[str]) -> None:
        """Take over types of a column that the caller numbered, the new ones from `first` on.

        A column is numbered either here or by the caller, always.
        """
        if new:
            self._fill(column, first, new)

    def _fill(self, column: str, first: int, new: list[str]) -> None:
        """Run the column's attribute functions on its new types."""
        last = first + len(new)
        self._count = max(self._count, last)
        if last > self._table.shape[1]:
            grown = np.zeros((self._table.shape[0], 2 * last), np.uint64)
            grown[:, : self._table.shape[1]] = self._table
            self._table = grown
        for number, use in enumerate(self._compiled.attributes):
            if use.column == column:
                values = self._compiled.apply_many(number, new)
                self._table[number, first:last] = self._hash_present(values)

    def _hash_present(self, values: list[str | None]) -> np.ndarray:
        """Hashes of the values, 0 for None; values that repeat are hashed once."""
        number = {value: i for i, value in enumerate(dict.fromkeys(values))}
        absent = number.get(None)
        hashes = self._hash_strings([value if value is not None else "" for value in number])
        if absent is not None:
            hashes[absent] = 0
        return hashes[np.fromiter(map(number.__getitem__, values), np.int64, len(values))]


def pointers(lengths: Iterable[int]) -> np.ndarray:
    """Where each of several runs begins, and where the last ends: (n + 1,) int64.

    >>> pointers([3, 0, 2])
    array([0, 3, 3, 5])
    """
    counts = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, np.int64)
    ptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr
