"""Word tables: external knowledge about words that templates can look up.

A table gives words a value: the class of each word of a large raw text, the tags that a word has in
another corpus, the gazetteers that list it. The attributes ``class(NAME)`` and ``lexicon(NAME)``
are the value of a word in a table.

A table of phrases has names of one or several words. The value of a word is its place in the
longest of them and their type: ``B-city``, ``I-city``, ``E-city``, or ``S-city`` for a single word.

A model contains the tables of its templates: for each word a hash of its lookup form and the number
of its value, 10 bytes together; for each phrase, one for each of its words. The words themselves
are not kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from seqtag.engine import backend
from seqtag.engine.keys import LONGEST_PHRASE, PLACES, chained
from seqtag.errors import TemplateError, did_you_mean
from seqtag.features.attributes import MAX_LENGTH, BoundAttribute, resolve
from seqtag.features.normal_forms import normal_form, normal_forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.keys import PhraseMatcher

WORDS: Mapping[str, str] = {"lower0": "normal", "lower": "lower", "form": "form"}
"""Lookup forms, and the attributes that compute them: in lower case with every digit as 0, in lower
case, or unchanged."""

KINDS = ("class", "lexicon", "phrase")
"""Kinds of tables: classes of raw text, words with values, names of one or several words. Presets
have more templates for classes."""

MOST_WORDS = 2**24
"""Most words of a table."""

MOST_VALUES = 2**16
"""Most different values of a table."""

MOST_FACTS = 100
"""Most facts about the origin of a table."""

_POSSESSIVE = re.compile(r"'s\b", re.IGNORECASE)
_SIGNS = re.compile(r"([^\w\s.&'-])")
_PIECES = re.compile(r"\w+|[^\w\s]")

Row: TypeAlias = "tuple[str, Iterable[str]]"
"""A word or name with its values."""

TEXT_COLUMNS = ("ends", "begins", "covers")
"""Columns of characters that tell which words of a table are in a text: ``ends:NAME`` and so on,
see `seqtag.segmentation.characters`."""

TOKEN_COLUMNS = (
    *("rest", "head", "whole"),
    *("begins", "begins-as", "ends", "ends-as", "covers", "covers-as"),
)
"""Columns of the characters of a token, see `seqtag.segmentation.word_parts`."""


@dataclass(frozen=True, eq=False)
class WordTable:
    """Values of words, found by hashes. Build one with `of`, or read one with `seqtag.read_table`.

    Parameters
    ----------
    name
        Name in templates.
    words
        Lookup form, one of `WORDS`.
    hashes
        (words,) uint64, ascending: hashes of the words in that form.
    numbers
        (words,) uint16: number of the value of each.
    values
        Values, all different; of phrases their types, and "" for words that begin one.
    absent
        Value of all other words; None if they have none.
    kind
        One of `KINDS`.
    origin
        Facts about its origin.
    phrases
        Number of the words that contain white space, and one of them; unknown after loading.

    Raises
    ------
    TemplateError
        If the hashes do not ascend, a number has no value, or a limit is exceeded.
    """

    name: str
    words: str
    hashes: NDArray[np.uint64]
    numbers: NDArray[np.uint16]
    values: tuple[str, ...]
    absent: str | None = None
    kind: str = "lexicon"
    origin: Mapping[str, str] = field(default_factory=dict)
    phrases: tuple[int, str] = (0, "")

    def __post_init__(self) -> None:
        if self.words not in WORDS or self.kind not in KINDS:
            msg = (
                f"expected a table whose words are one of {', '.join(WORDS)}, and which is one of "
                f"{', '.join(KINDS)}, found {self.words!r} and {self.kind!r}"
            )
            raise TemplateError(msg)
        unprintable = [
            text
            for text in (self.name, *self.origin, *self.origin.values())
            if not text.isprintable() or len(text) > MAX_LENGTH
        ]
        if unprintable or not self.name or len(self.origin) > MOST_FACTS:
            msg = (
                f"expected a table with a name and at most {MOST_FACTS} printable facts, found "
                f"{len(self.origin)}, and {unprintable[0] if unprintable else self.name!r:.40}"
            )
            raise TemplateError(msg)
        if self.kind == "phrase" and not self.origin.get("names", "").isdecimal():
            msg = "expected a table of phrases with their number among its facts, found none"
            raise TemplateError(msg)
        if len(self.hashes) > MOST_WORDS or len(self.values) > MOST_VALUES:
            msg = (
                f"expected a table of at most {MOST_WORDS:,} words and {MOST_VALUES:,} different "
                f"values, found {len(self.hashes):,} and {len(self.values):,}; leave some out"
            )
            raise TemplateError(msg)
        if len(self.numbers) != len(self.hashes) or not np.all(self.hashes[1:] > self.hashes[:-1]):
            msg = "expected a table of ascending hashes with one number each, found another"
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

    @classmethod
    def of(
        cls,
        name: str,
        rows: Iterable[Row],
        words: str = "form",
        absent: str | None = None,
        kind: str = "lexicon",
        origin: Mapping[str, str] | None = None,
    ) -> WordTable:
        """Build a table of words.

        Parameters
        ----------
        name, words, absent, kind, origin
            As for the class.
        rows
            Words with values. Several values, also of words with the same lookup form, become
            one: the sorted set, joined with ``|``.

        Examples
        --------
        >>> table = WordTable.of("tags", [("Run", ["VERB"]), ("run", ["NOUN"])], words="lower")
        >>> len(table), table.values, table.of_words(["RUN", "walk"])
        (1, ('NOUN|VERB',), ['NOUN|VERB', None])
        >>> table = WordTable.of("places", [("New York", ["city"])], kind="phrase")
        >>> table, len(table), table.values
        (<seqtag.WordTable places: 1 names, 1 types>, 2, ('', 'city'))
        """
        pairs = list(rows)
        value_of = (_values_of_chains if kind == "phrase" else _values_of_forms)(pairs, words)
        distinct = sorted({*value_of.values()})
        number = {value: n for n, value in enumerate(distinct)}
        hashes, first = np.unique(np.fromiter(value_of, np.uint64), return_index=True)
        numbers = np.array([number[value] for value in value_of.values()], np.int64)[first]
        small = numbers.astype(np.uint16)  # of more values, the table is refused
        spaced = [word for word, _ in pairs if has_space(word)]
        facts, phrases = dict(origin or {}), (len(spaced), spaced[0] if spaced else "")
        if kind == "phrase":
            names = normal_forms([" ".join(word.split()) for word, _ in pairs])
            facts["names"] = str(len({*_looked_up_by(words).many(names)}))
        return cls(name, words, hashes, small, tuple(distinct), absent, kind, facts, phrases)

    def __len__(self) -> int:
        return len(self.hashes)

    def __repr__(self) -> str:
        size = f"{len(self):,} words, {len(self.values):,} values"
        if self.kind == "phrase":
            size = f"{int(self.origin['names']):,} names, {len(self.types):,} types"
        return f"<seqtag.WordTable {self.name}: {size}>"

    @property
    def term(self) -> str:
        """Its name in templates, as ``lexicon(NAME)``."""
        return f"{'class' if self.kind == 'class' else 'lexicon'}({self.name})"

    @property
    def types(self) -> list[str]:
        """The single values that words or names have, sorted."""
        return sorted({each for value in self.values for each in value.split("|") if each})

    @cached_property
    def by(self) -> BoundAttribute:
        """Attribute that computes the lookup form."""
        return _looked_up_by(self.words)

    @property
    def attribute_values(self) -> list[str]:
        """The values that a word can have; of phrases, in each place in turn."""
        if self.kind != "phrase":
            return [*self.values]
        return [f"{place}-{value}" for value in self.values for place in PLACES]

    def matcher(self, numbers: NDArray[np.integer[Any]] | None = None) -> PhraseMatcher:
        """Return a matcher of the phrases, with the number of the value of each, or others."""
        found = self.numbers if numbers is None else numbers
        begins = np.array([not value for value in self.values], bool)[self.numbers]
        return backend.PhraseMatcher(self.hashes, np.where(begins, -1, found.astype(np.int32)))

    @cached_property
    def value_hashes(self) -> NDArray[np.uint64]:
        """Hashes of the attribute values and of `absent` (0 for None): (values + 1,) uint64."""
        hashes = backend.hash_strings([*self.attribute_values, self.absent or ""])
        if self.absent is None:
            hashes[-1] = 0
        return hashes

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that templates can see."""
        facts = [self.name, self.words, self.kind, self.absent, self.values]
        sha = hashlib.sha256(json.dumps(facts).encode())
        sha.update(self.hashes.astype("<u8").tobytes() + self.numbers.astype("<u2").tobytes())
        return sha.hexdigest()

    def slots(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the numbers of values, given hashes of lookup forms; V for absent words.

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
        """Return the values of words in normal form; None if they have none."""
        values = [*self.values, self.absent]
        return [values[slot] for slot in self.slots(self.hashes_of(words)).tolist()]

    def hashes_of(self, words: Sequence[str]) -> NDArray[np.uint64]:
        """Return the hashes of the lookup forms of words in normal form: (words,) uint64."""
        return backend.hash_strings([str(form) for form in self.by.many(words)])


def has_space(word: str) -> bool:
    """Return whether white space separates parts of a word.

    >>> has_space("New York"), has_space("York")
    (True, False)
    """
    return len(word.split(None, 1)) > 1


def spellings(name: str) -> list[list[str]]:
    """Return the tokens that a name may be in a corpus, one list for each way to tokenize it.

    Words are separated by white space alone; with signs and ``'s`` separated, as treebanks have
    them, but not ``.``, ``&``, ``-`` and other apostrophes; and with all signs separated.

    >>> spellings("St. John's")
    [['St.', "John's"], ['St.', 'John', "'s"], ['St', '.', 'John', "'", 's']]
    >>> spellings("New York")
    [['New', 'York']]
    """
    name = normal_form(name)
    apart = _SIGNS.sub(r" \1 ", _POSSESSIVE.sub(r" \g<0>", name))
    found = name.split(), apart.split(), _PIECES.findall(name)
    return [tokens for n, tokens in enumerate(found) if tokens not in found[:n]]


def _values_of_forms(rows: Sequence[Row], words: str) -> dict[int, str]:
    """Return the value of each word by the hash of its lookup form."""
    seen = _looked_up_by(words).many(normal_forms([word for word, _ in rows]))
    found: dict[str, set[str]] = {}
    for form, (_, values) in zip(seen, rows, strict=True):
        found.setdefault(str(form), set()).update(values)
    hashes = backend.hash_strings([*found]).tolist()
    return {n: "|".join(sorted(values)) for n, values in zip(hashes, found.values(), strict=True)}


def _values_of_chains(rows: Sequence[Row], words: str) -> dict[int, str]:
    """Return the value of each name, and of the words that it begins with, by chains of hashes."""
    spelled = [(tokens, values) for name, values in rows for tokens in spellings(name)]
    spelled = [pair for pair in spelled if 0 < len(pair[0]) <= LONGEST_PHRASE]
    seen = _looked_up_by(words).many([token for tokens, _ in spelled for token in tokens])
    hashes = iter(backend.hash_strings([*map(str, seen)]).tolist())
    found: dict[int, set[str]] = {}
    for tokens, values in spelled:
        chain = 0
        for chain in accumulate(islice(hashes, len(tokens)), chained):
            found.setdefault(chain, set())
        found[chain].update(values)
    return {chain: "|".join(sorted(values)) for chain, values in found.items()}


def text_columns(table: str) -> tuple[str, ...]:
    """Return the columns of characters for the words of a table.

    >>> text_columns("words")
    ('ends:words', 'begins:words', 'covers:words')
    """
    return tuple(f"{name}:{table}" for name in TEXT_COLUMNS)


def token_columns(table: str) -> tuple[str, ...]:
    """Return the columns of the characters of a token for the words of a table.

    >>> token_columns("words")[:4]
    ('rest:words', 'head:words', 'whole:words', 'begins:words')
    """
    return tuple(f"{name}:{table}" for name in TOKEN_COLUMNS)


def _looked_up_by(words: str) -> BoundAttribute:
    """Return the attribute that computes a lookup form, or refuse an unknown one."""
    if words not in WORDS:
        msg = f"expected words of a table to be one of {', '.join(WORDS)}, found {words!r}"
        raise TemplateError(msg)
    return resolve(WORDS[words])


class Lookup(NamedTuple):
    """Attributes ``class(NAME)`` and ``lexicon(NAME)``: the value of a word in a table."""

    name: str
    args: tuple[int | str, ...]
    table: WordTable

    @property
    def by(self) -> BoundAttribute:
        """Attribute that computes the lookup form."""
        return self.table.by

    def many(self, words: Sequence[str]) -> list[str | None]:
        """Return the values of many words."""
        return self.table.of_words(words)

    def hashes(self, forms: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return hashes of values, 0 for none, given hashes of lookup forms."""
        return self.table.value_hashes[self.table.slots(forms)]


Attribute: TypeAlias = BoundAttribute | Lookup
"""Attribute with its arguments, and its table if it is a lookup: word -> value."""


def bind(
    name: str, args: tuple[int | str, ...], table: str, tables: Mapping[str, WordTable]
) -> Lookup:
    """Bind an attribute to the table that it looks into.

    Raises
    ------
    TemplateError
        If there is no such table.
    """
    found = tables.get(table)
    if found is None:
        given = f"; those given are {', '.join(tables)}" if tables else ""
        msg = (
            f"expected the table {table!r}, which {name} uses, found none of that name"
            f"{did_you_mean(table, tables)}{given}; give its file with --table {table}=FILE "
            "(tables= in Python)"
        )
        raise TemplateError(msg)
    return Lookup(name, args, found)
