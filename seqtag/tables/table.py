"""Word tables: what is known of words from elsewhere, which templates can ask for.

A table gives words a value: the class of each word of a large raw text, the tags that a word has in
another corpus, the gazetteers that list it, the part of speech of a lemma. The attributes
``class(NAME)`` and ``lexicon(NAME)`` are the value that a table has for a word; ``stem_rest`` and
``stem_pos`` look for the longest beginning of the word that is in a table of lemmas.

A model keeps the tables that its templates look into: for each word a hash of the form in which it
is looked up, and the number of its value, 10 bytes together. The words themselves are not kept.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from seqtag.engine import backend
from seqtag.errors import TemplateError, did_you_mean
from seqtag.features.attributes import MAX_LENGTH, BoundAttribute, resolve
from seqtag.features.normal_forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

WORDS: Mapping[str, str] = {"lower0": "normal", "lower": "lower", "form": "form"}
"""How words are looked up, and the attribute whose value is compared: in lower case with every
digit as 0, in lower case, or as they are."""

KINDS = ("class", "lexicon")
"""What tables are: classes of raw text, or all others. Presets ask for more of classes."""

MOST_WORDS = 2**24
"""Words that a table may have."""

MOST_VALUES = 2**16
"""Different values that they may have."""

MOST_FACTS = 100
"""What may be said of where a table comes from."""

LONGEST_STEM = 40
"""Code points of a beginning of a word that is looked up as its stem."""


@dataclass(frozen=True, eq=False)
class WordTable:
    """Values of words, known by hashes. Make one with `of`, or read one with `seqtag.read_table`.

    Parameters
    ----------
    name
        By which templates ask for it.
    words
        How words are looked up, one of `WORDS`.
    hashes
        (words,) uint64, ascending: those of the words in that form.
    numbers
        (words,) uint16: for each its value.
    values
        The values, all different.
    absent
        The value of all other words; None if they have none.
    kind
        One of `KINDS`.
    origin
        What is said of where it comes from.

    Raises
    ------
    TemplateError
        If the hashes do not ascend, a number has no value, or there is more than a table may have.
    """

    name: str
    words: str
    hashes: NDArray[np.uint64]
    numbers: NDArray[np.uint16]
    values: tuple[str, ...]
    absent: str | None = None
    kind: str = "lexicon"
    origin: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_facts()
        if len(self.hashes) > MOST_WORDS or len(self.values) > MOST_VALUES:
            msg = (
                f"expected a table of at most {MOST_WORDS:,} words and {MOST_VALUES:,} different "
                f"values, found {len(self.hashes):,} and {len(self.values):,}; leave some out"
            )
            raise TemplateError(msg)
        if len(self.numbers) != len(self.hashes) or not np.all(self.hashes[1:] > self.hashes[:-1]):
            msg = "expected a table of ascending hashes, each with a number, found others"
            raise TemplateError(msg)
        if self.numbers.max(initial=0) >= max(len(self.values), 1) or (
            len(self.numbers) and not self.values
        ):
            msg = (
                f"expected a table with numbers of its {len(self.values):,} values, found "
                f"{int(self.numbers.max())}"
            )
            raise TemplateError(msg)
        for value in (*self.values, *([] if self.absent is None else [self.absent])):
            if len(value) > MAX_LENGTH:
                msg = (
                    f"expected values of at most {MAX_LENGTH:,} characters, found one of "
                    f"{len(value):,}: {value[:20]!r}...; shorten it"
                )
                raise TemplateError(msg)
        if len({*self.values}) < len(self.values):
            msg = "expected different values in a table, found one twice"
            raise TemplateError(msg)

    def _check_facts(self) -> None:
        """Refuse what a table cannot be called, or say of itself."""
        if self.words not in WORDS or self.kind not in KINDS:
            msg = (
                f"expected a table whose words are one of {', '.join(WORDS)}, and which is one of "
                f"{', '.join(KINDS)}, found {self.words!r} and {self.kind!r}"
            )
            raise TemplateError(msg)
        odd = [
            text
            for text in (self.name, *self.origin, *self.origin.values())
            if not text.isprintable() or len(text) > MAX_LENGTH
        ]
        if odd or not self.name or len(self.origin) > MOST_FACTS:
            msg = (
                f"expected a table with a name and at most {MOST_FACTS} printable facts, found "
                f"{len(self.origin)}, and {odd[0] if odd else self.name!r:.40}"
            )
            raise TemplateError(msg)

    @classmethod
    def of(
        cls,
        name: str,
        rows: Iterable[tuple[str, Iterable[str]]],
        words: str = "form",
        absent: str | None = None,
        kind: str = "lexicon",
        origin: Mapping[str, str] | None = None,
    ) -> WordTable:
        """The table of some words.

        Parameters
        ----------
        name, words, absent, kind, origin
            As they are.
        rows
            Words with values. Of several, also of words that are looked up alike, the value is
            the sorted set, joined with ``|``.

        Examples
        --------
        >>> table = WordTable.of("tags", [("Run", ["VERB"]), ("run", ["NOUN"])], words="lower")
        >>> len(table), table.values, table.of_words(["RUN", "walk"])
        (1, ('NOUN|VERB',), ['NOUN|VERB', None])
        """
        pairs = list(rows)
        seen = _looked_up_by(words).many(FORMS["normal"]([word for word, _ in pairs]))
        found: dict[str, set[str]] = {}
        for form, (_, values) in zip(seen, pairs, strict=True):
            found.setdefault(str(form), set()).update(values)
        value_of = {form: "|".join(sorted(values)) for form, values in found.items()}
        distinct = sorted({*value_of.values()})
        number = {value: n for n, value in enumerate(distinct)}
        if len(number) > MOST_VALUES:
            msg = (
                f"expected a table of at most {MOST_VALUES:,} different values, found "
                f"{len(number):,}; leave some out"
            )
            raise TemplateError(msg)
        hashes, first = np.unique(backend.hash_strings([*value_of]), return_index=True)
        numbers = np.fromiter(map(number.__getitem__, value_of.values()), np.uint16, len(value_of))
        return cls(
            name, words, hashes, numbers[first], tuple(distinct), absent, kind, dict(origin or {})
        )

    def __len__(self) -> int:
        return len(self.hashes)

    def __repr__(self) -> str:
        return f"<seqtag.WordTable {self.name}: {len(self):,} words, {len(self.values):,} values>"

    @cached_property
    def by(self) -> BoundAttribute:
        """The attribute by whose value words are looked up."""
        return _looked_up_by(self.words)

    @cached_property
    def value_hashes(self) -> NDArray[np.uint64]:
        """(values + 1,) uint64: hashes of the values, and last that of absent words, 0 if none."""
        hashes = backend.hash_strings([*self.values, self.absent or ""])
        if self.absent is None:
            hashes[-1] = 0
        return hashes

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that templates can see of it."""
        facts = [self.name, self.words, self.kind, self.absent, self.values]
        sha = hashlib.sha256(json.dumps(facts).encode())
        sha.update(self.hashes.astype("<u8").tobytes() + self.numbers.astype("<u2").tobytes())
        return sha.hexdigest()

    def slots(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """For the hashes of some looked-up forms the number of their value; of absent words, V.

        Parameters
        ----------
        hashes
            (n,) uint64.

        Returns
        -------
        ndarray of int64, shape (n,)
            0 to V, the number of values.

        Examples
        --------
        >>> table = WordTable.of("t", [("b", ["x"]), ("a", ["y"])])
        >>> table.slots(backend.hash_strings(["a", "b", "c"])).tolist()
        [1, 0, 2]
        """
        absent = len(self.values)
        if not len(self.hashes):
            return np.full(len(hashes), absent, np.int64)
        at = np.searchsorted(self.hashes, hashes)
        at[at == len(self.hashes)] = 0
        return np.where(self.hashes[at] == hashes, self.numbers[at], absent).astype(np.int64)

    def of_words(self, words: Sequence[str]) -> list[str | None]:
        """The value of each word, in normal form; None where there is none."""
        hashes = backend.hash_strings([str(form) for form in self.by.many(words)])
        values = [*self.values, self.absent]
        return [values[slot] for slot in self.slots(hashes).tolist()]


def _looked_up_by(words: str) -> BoundAttribute:
    """The attribute by whose value words are looked up.

    Raises
    ------
    TemplateError
        If there is no such way.
    """
    if words not in WORDS:
        msg = f"expected words of a table to be one of {', '.join(WORDS)}, found {words!r}"
        raise TemplateError(msg)
    return resolve(WORDS[words])


@dataclass(frozen=True)
class Lookup:
    """``class(NAME)`` and ``lexicon(NAME)``: what a table says of a word."""

    name: str
    args: tuple[int | str, ...]
    table: WordTable = field(repr=False)

    @property
    def by(self) -> BoundAttribute:
        """The attribute by whose value words are looked up."""
        return self.table.by

    def __call__(self, word: str) -> str | None:
        """The value of one word."""
        return self.many([word])[0]

    def many(self, words: Sequence[str]) -> list[str | None]:
        """The values of many words."""
        return self.table.of_words(words)

    def hashes(self, forms: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Hashes of the values of many words, 0 where there is none, by the hashes of `by`."""
        return self.table.value_hashes[self.table.slots(forms)]


@dataclass(frozen=True)
class Stem:
    """``stem_rest`` and ``stem_pos``: what is behind the stem of a word, and the value of the stem.

    The stem is the longest beginning of the lower-cased word that is in the table; a word without
    one has neither.
    """

    name: str
    args: tuple[int | str, ...]
    table: WordTable = field(repr=False)

    def __call__(self, word: str) -> str | None:
        """The value of one word."""
        return self.many([word])[0]

    def many(self, words: Sequence[str]) -> list[str | None]:
        """The values of many words."""
        lower = [word.lower() for word in words]
        sizes = np.array([min(len(word), LONGEST_STEM) for word in lower], np.int64)
        beginnings = [
            word[:n]
            for word, size in zip(lower, sizes.tolist(), strict=True)
            for n in range(1, size + 1)
        ]
        forms = [str(form) for form in self.table.by.many(beginnings)]
        slots = self.table.slots(backend.hash_strings(forms))
        found = slots < len(self.table.values)
        first = np.cumsum(sizes) - sizes
        length = np.arange(len(slots)) - np.repeat(first, sizes) + 1
        stem = np.zeros(len(words), np.int64)
        np.maximum.at(stem, np.repeat(np.arange(len(words)), sizes), np.where(found, length, 0))
        if self.name == "stem_rest":
            return [word[n:] if n else None for word, n in zip(lower, stem.tolist(), strict=True)]
        last = np.where(stem > 0, first + stem - 1, 0)
        of_stem = slots[last] if len(slots) else stem
        return [
            self.table.values[slot] if n else None
            for slot, n in zip(of_stem.tolist(), stem.tolist(), strict=True)
        ]


Attribute: TypeAlias = BoundAttribute | Lookup | Stem
"""An attribute with its arguments, and its table if it looks into one: word -> value."""


def bind(
    name: str, args: tuple[int | str, ...], table: str, tables: Mapping[str, WordTable]
) -> Lookup | Stem:
    """An attribute that looks into a table, with that table.

    Raises
    ------
    TemplateError
        If it is not among the tables.
    """
    found = tables.get(table)
    if found is None:
        given = f"; those given are {', '.join(tables)}" if tables else ""
        how = (
            "seqtag train makes it where the corpus has the columns lemma and upos, or give a file "
            f"with --lexicon {table}=FILE"
            if name.startswith("stem")
            else f"give its file with --classes {table}.classes or --lexicon {table}=FILE (tables= "
            "in Python)"
        )
        msg = (
            f"expected the table {table!r}, into which {name} looks, found none of that name"
            f"{did_you_mean(table, tables)}{given}; {how}"
        )
        raise TemplateError(msg)
    return (Stem if name.startswith("stem") else Lookup)(name, args, found)
