"""Encoding of sentences: column values to type ids, and attributes of each type to hashes."""

from __future__ import annotations

import sys
from itertools import starmap
from mmap import ACCESS_COPY, mmap
from sys import getsizeof
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import numbered_pairs, pointers
from seqtag.features.native import hash_attributes
from seqtag.features.normal_forms import normal_forms
from seqtag.tables.table import Lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import IntArray
    from seqtag.engine.keys import PhraseMatcher
    from seqtag.features.templates import CompiledTemplates
    from seqtag.tables.table import Attribute


SharedHashes = dict["Attribute", np.ndarray]
"""Hashes of the values of attributes, by the form of the types and the attribute."""


_ROOM = 100_000  # for more types, in a table that grows


class Column(NamedTuple):
    """Distinct values of a column in order of first use, and the one of each token."""

    types: list[str]
    ids: np.ndarray  # (tokens,) int32

    @classmethod
    def of(cls, values: Iterable[str]) -> Column:
        """Number the values of a column.

        >>> Column.of(["to", "be", "to"])
        Column(types=['to', 'be'], ids=array([0, 1, 0], dtype=int32))
        """
        types, found = backend.Values(), list(values)
        ids = types.number([found], len(found))
        return cls(types.new_values(), ids)

    @classmethod
    def of_types(cls, values: list[str], ids: NDArray[np.int32]) -> Column:
        """Return a column of types some of which have the same value.

        >>> Column.of_types(["to", "be", "to"], np.array([2, 1, 0]))
        Column(types=['to', 'be'], ids=array([0, 1, 0], dtype=int32))
        """
        distinct = cls.of(values)
        return cls(distinct.types, distinct.ids[ids])

    def paired(self, other: Column) -> tuple[list[tuple[str, str]], NDArray[np.signedinteger[Any]]]:
        """Return the distinct pairs with the values of another column, and which each token has.

        >>> Column.of(["to", "be", "to"]).paired(Column.of(["PART", "AUX", "PART"]))
        ([('to', 'PART'), ('be', 'AUX')], array([0, 1, 0]))
        """
        ours, theirs, number = numbered_pairs(self.ids, other.ids, len(other.types))
        pairs = zip(ours.tolist(), theirs.tolist(), strict=True)
        return [(self.types[a], other.types[b]) for a, b in pairs], number

    def values(self) -> list[str]:
        """Return the value of every token."""
        return list(map(self.types.__getitem__, self.ids.tolist()))

    def values_of(self, tokens: NDArray[np.intp]) -> list[str]:
        """Return the values of some tokens."""
        return list(map(self.types.__getitem__, self.ids[tokens].tolist()))


class _Phrases(NamedTuple):
    """How to find the values of an attribute in a table of phrases."""

    column: int  # whose words are looked up
    forms: int  # row of the hashes of their lookup forms
    matcher: PhraseMatcher
    absent: int  # type of the words in no phrase


def _sparse_zeros(rows: int, columns: int) -> NDArray[np.uint64]:
    """Return zeros whose memory the system gives, a small page at a time, when it is written."""
    if sys.platform != "linux" or not rows:
        return np.zeros((rows, columns), np.uint64)
    # NumPy asks for large pages here, each of which is cleared for the types of a few sentences.
    memory = mmap(-1, 8 * rows * columns, access=ACCESS_COPY)
    return np.frombuffer(memory, np.uint64).reshape(rows, columns)


class Encoder:
    """Encoder of columns to type ids, with a table of the attributes of each type.

    Not safe to share between threads: each user of a tagger has its own.

    Parameters
    ----------
    compiled
        The templates' attributes and columns.
    hash_strings
        Backend of `hash_string` for many strings: ``list[str] -> (n,) uint64``.
    """

    def __init__(
        self,
        compiled: CompiledTemplates,
        hash_strings: Callable[[list[str]], NDArray[np.uint64]],
    ):
        self._compiled = compiled
        self._hash_strings = hash_strings
        self._types = {column: backend.Values() for column in compiled.columns}
        self._functions = {name: {**each} for name, each in compiled.functions_of.items()}
        self._counts = dict.fromkeys(compiled.columns, 0)
        rows = len(compiled.attributes) + len(compiled.phrase_rows)
        self._table = np.zeros((rows, 1024), np.uint64)
        self._count = 0
        self.nbytes = 0  # of the hashes, and of the words, which are kept here or by the caller
        self._phrases = [*starmap(self._phrases_of, enumerate(compiled.phrase_rows))]

    def _phrases_of(self, place: int, number: int) -> _Phrases:
        """Return how to find the values of an attribute in a table of phrases.

        The values are types of a column of their own. The lookup forms of the words are a further
        row of the hashes, after those of attributes.
        """
        use, lookup = self._compiled.attributes[number], self._compiled.functions[number]
        table, row = self._compiled.tables[str(use.args[0])], len(self._compiled.attributes) + place
        hashes, own = table.value_hashes, f"{use.column} in {table.name}"
        self._functions[use.column][row] = table.by
        self._functions[own], self._counts[own] = {number: lookup}, 0
        self._make_room(own, len(hashes))
        self._table[number, : len(hashes)] = hashes
        column = self._compiled.columns.index(use.column)
        return _Phrases(column, row, table.matcher(), len(hashes) - 1)

    def __len__(self) -> int:
        """Return the number of types of the largest column."""
        return self._count

    @property
    def hashes(self) -> np.ndarray:
        """Hashes of attribute values, 0 if absent: (attributes, types) uint64."""
        return self._table[: len(self._compiled.attributes)]

    def encode(self, columns: Sequence[list[Sequence[str]]], tokens: int) -> np.ndarray:
        """Return type ids: (columns, tokens) int32, with those of `with_phrases`.

        Parameters
        ----------
        columns
            The values of each of the templates' columns, sentence by sentence.
        tokens
            Number of values in each column.
        """
        pairs = zip(self._types, columns, strict=True)
        numbers = [self.number(column, rows, tokens) for column, rows in pairs]
        if len(numbers) == 1:
            types = numbers[0][None]
        else:
            types = np.stack(numbers) if numbers else np.empty((0, tokens), np.int32)
        return self.with_phrases(types, pointers(map(len, columns[0]))) if self._phrases else types

    def with_phrases(self, types: NDArray[np.int32], sentence_ptr: IntArray) -> NDArray[np.int32]:
        """Return type ids with a row for each attribute in a table of phrases.

        Parameters
        ----------
        types
            (columns, tokens) int32.
        sentence_ptr
            Where sentences begin, and where the last ends: (sentences + 1,) int64.
        """
        rows = [
            own.matcher.match(types[own.column], self._table[own.forms], sentence_ptr, own.absent)
            for own in self._phrases
        ]
        return np.concatenate([types, rows]) if rows else types

    def number(self, column: str, rows: list[Sequence[str]], count: int) -> np.ndarray:
        """Return the type ids of values of a column, rows concatenated: (count,) int32."""
        types, known = self._types[column], self._counts[column]
        ids = types.number(rows, count)
        new = types.new_values()
        if new:
            self._fill(column, known, new, {})
        return ids

    def extend(
        self, column: str, first: int, new: list[str], shared: SharedHashes | None = None
    ) -> None:
        """Add types of a column that the caller has numbered, the new ones from `first` on.

        A column is always numbered either here or by the caller. `shared` has the hashes of
        attributes that another encoder computed for the same types, and receives new ones.
        """
        if new:
            self._fill(column, first, new, {} if shared is None else shared)

    def extend_hashes(self, column: str, first: int, hashes: NDArray[np.uint64]) -> None:
        """Add types of a column by the hashes of its attributes: (attributes, new types).

        Those of a lookup are hashes of the lookup form.
        """
        last = self._make_room(column, first + hashes.shape[1])
        for (number, each), found in zip(self._functions[column].items(), hashes, strict=True):
            self._table[number, first:last] = (
                each.hashes(found) if isinstance(each, Lookup) else found
            )

    def _make_room(self, column: str, count: int) -> int:
        """Make room for so many types of a column, and return their number."""
        self._count = max(self._count, count)
        if count > self._table.shape[1]:
            grown = _sparse_zeros(self._table.shape[0], 2 * count + _ROOM)
            for name, functions in self._functions.items():
                for number in functions:
                    grown[number, : self._counts[name]] = self._table[number, : self._counts[name]]
            self._table = grown
        self.nbytes += 8 * (count - self._counts[column]) * len(self._functions[column])
        self._counts[column] = count
        return count

    def _fill(self, column: str, first: int, new: list[str], shared: SharedHashes) -> None:
        """Compute the attributes of new types of a column."""
        last = self._make_room(column, first + len(new))
        self.nbytes += sum(map(getsizeof, new))
        functions = self._functions[column]
        if missing := [each for each in functions.values() if each not in shared]:
            self._hash(missing, new, shared)
        for number, each in functions.items():
            self._table[number, first:last] = shared[each]

    def _hash(self, missing: list[Attribute], new: list[str], shared: SharedHashes) -> None:
        """Add the hashes of attributes of new types to `shared`."""
        # A lookup needs its lookup form, which may be an attribute, too.
        forms = dict.fromkeys(each.by if isinstance(each, Lookup) else each for each in missing)
        needed = {n: each for n, each in enumerate(forms) if each not in shared}
        in_kernel = hash_attributes(needed, new)
        seen = normal_forms(new) if len(in_kernel) < len(needed) else []
        for n, each in needed.items():
            found = in_kernel.get(n)
            shared[each] = self._hash_present(each.many(seen)) if found is None else found
        for attribute in missing:
            if isinstance(attribute, Lookup):
                shared[attribute] = attribute.hashes(shared[attribute.by])

    def _hash_present(self, values: list[str | None]) -> np.ndarray:
        """Hash values, 0 for None; repeated values are hashed once."""
        number = {value: i for i, value in enumerate(dict.fromkeys(values))}
        absent = number.get(None)
        hashes = self._hash_strings([value if value is not None else "" for value in number])
        if absent is not None:
            hashes[absent] = 0
        return hashes[np.fromiter(map(number.__getitem__, values), np.int64, len(values))]
