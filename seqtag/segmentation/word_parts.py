"""Parts of a token as words: how many tokens of the training data are such words, or have them.

What remains of a token when a part is cut off is a likely word if it is one elsewhere. The
*standing* of a text tells in how many types of tokens it is

- ``F``, the complete token,
- ``B``, ``M`` or ``L``, the first, a middle or the last of its words,

each with 1 for one type, 2 for two or three, and 3 for more: ``F2B1``. It is ``-`` for texts that
are none. Texts, and so types of tokens, are the same in upper and lower case.

A character of a token has these columns, for a word table T of standings:

======================  ===========================================================================
``rest:T``              standing of the text after it; ``.`` after the last
``head:T``              standing of the text up to it
``whole:T``             standing of the token
``begins:T``            length of the longest word that begins after it, with ``e`` if the token
                        ends with it, and ``begins-as:T``, its standing
``ends:T``              length of the longest word that ends with it, with ``s`` if the token starts
                        with it, and ``ends-as:T``, its standing
``covers:T``            lengths before and after of the longest word that goes across the end of
                        this character, and ``covers-as:T``, its standing
======================  ===========================================================================

In the standing of the token there is no ``F``. Lengths are those of up to six characters (five for
``covers:T``), ``0`` if there is no word; words of more than 16 characters are looked for at either
end of the token only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from seqtag.caching import cached
from seqtag.engine import backend
from seqtag.features.encoder import Column
from seqtag.features.normal_forms import normal_form
from seqtag.tables.table import WordTable, token_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Find = Callable[[Sequence[str]], Sequence[str]]
    """Returns the standings of texts."""

PARTS = "training-parts"
"""Name of the table of the training data."""

UNKNOWN, NOTHING = "-", "."
"""Standing of texts that are no words, and of the empty text."""

_ROLES = "FBML"
_LONGEST = 16  # characters of a word inside a token
_SHOWN, _SHOWN_AROUND = 6, 5  # longest lengths that columns tell apart
_FULL = re.compile("^F[123]")

Row = tuple[str, ...]
"""Columns of a character, in the order of `token_columns`."""


@cached
def _folded(letter: str) -> str:
    return normal_form(letter).casefold()


def folded(letters: Iterable[str]) -> str:
    """Return the text of some letters, see `seqtag.segmentation.multiword.letters_of`, to look up.

    >>> folded("Ist’s"), folded("ΣΑΣ")
    ("ist's", 'σασ')
    """
    return "".join(map(_folded, letters))


class PartCounts:
    """In how many types of tokens texts are words.

    Examples
    --------
    >>> counts = PartCounts([["im"], ["in", "dem"], ["zu", "dem"], ["dem"]])
    >>> find_in(counts.table())(["dem", "im", "um"])
    ['F1L2', 'F1', '-']
    >>> counts.without(["zu", "dem"])(["dem", "im", "zu"])
    ['F1L1', 'F1', '-']
    """

    def __init__(self, types: Iterable[Sequence[str]]):
        """`types`: for each type of token its words, all `folded`; the token if it is one word."""
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for words in types:
            for word, role in _roles(words):
                self._counts[word][role] += 1
        self._standings = {word: _standing(counts) for word, counts in self._counts.items()}

    def without(self, words: Sequence[str]) -> Find:
        """Return a function that finds standings in all types but one, given the words of it."""
        own: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for word, role in _roles(words):
            own[word][role] += 1
        changed = {word: _standing(self._counts[word] - counts) for word, counts in own.items()}
        return lambda texts: [
            changed[text] if text in changed else self._standings.get(text, UNKNOWN)
            for text in texts
        ]

    def table(self) -> WordTable:
        """Return the word table of the standings."""
        rows = ((word, [standing]) for word, standing in self._standings.items())
        origin = {"source": "the tokens of the training data and their words"}
        return WordTable.of(PARTS, rows, absent=UNKNOWN, origin=origin)


def _roles(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the words of a token with their roles."""
    if len(words) == 1:
        return [(words[0], "F")]
    return [*zip(words, f"B{'M' * (len(words) - 2)}L", strict=True)]


def _standing(counts: Counter[str]) -> str:
    found = [f"{role}{min(3, counts[role].bit_length())}" for role in _ROLES if counts[role] > 0]
    return "".join(found) or UNKNOWN


def find_in(table: WordTable) -> Find:
    """Return a function that finds standings in a table.

    >>> find_in(PartCounts([["a", "b"]]).table())(["b", "c"])
    ['L1', '-']
    """
    values = [*table.values, UNKNOWN]
    return lambda texts: [values[i] for i in table.slots(backend.hash_strings(texts)).tolist()]


def rows_of(letters: Sequence[str], find: Find) -> list[Row]:
    """Return the columns of each character of a token.

    Parameters
    ----------
    letters
        The characters of the token.
    find
        Returns the standings of texts.

    Examples
    --------
    >>> counts = PartCounts([["im"], ["in", "dem"], ["zu", "dem"], ["dem"]])
    >>> rows_of("zudem", find_in(counts.table()))[1]
    ('F1L2', 'B1', '-', '3e', 'F1L2', '2s', 'B1', '0', '')
    """
    count = len(letters)
    parts = [*map(_folded, letters)]
    text = "".join(parts)
    at = [0, *accumulate(map(len, parts))]
    spans = [
        (i, j)
        for i in range(count)
        for j in (*range(i + 1, min(count, i + 1 + _LONGEST) if i else count), count)
    ]
    standings = find([text[at[i] : at[j]] for i, j in spans])
    standing = dict(zip(spans, standings, strict=True))
    whole = standing[0, count] = _FULL.sub("", standing[0, count]) or UNKNOWN
    known = [span for span in spans if standing[span] != UNKNOWN]  # by start, then by end

    ends, begins, covers = ([("0", "")] * count for _ in range(3))
    for i, j in reversed(known):  # the longest is the last that ends somewhere
        ends[j - 1] = f"{min(j - i, _SHOWN)}{'s' * (not i)}", standing[i, j]
    for i, j in known:
        if i:
            begins[i - 1] = f"{min(j - i, _SHOWN)}{'e' * (j == count)}", standing[i, j]
    known.sort(key=lambda span: span[1] - span[0], reverse=True)
    for i, j in known:
        for k in range(i, j - 1):
            if not covers[k][1]:
                before, after = min(k - i + 1, _SHOWN_AROUND), min(j - k - 1, _SHOWN_AROUND)
                covers[k] = f"{before}.{after}", standing[i, j]
    return [
        (
            standing[i, count] if i < count else NOTHING,
            standing[0, i],
            whole,
            *begins[i - 1],
            *ends[i - 1],
            *covers[i - 1],
        )
        for i in range(1, count + 1)
    ]


def part_columns(rows: Iterable[Iterable[Row]], table: str) -> dict[str, Column]:
    """Return the columns of the characters of tokens, by name, given their rows."""
    names = token_columns(table)
    values = zip(*chain.from_iterable(rows), strict=True)
    return {name: Column.of(each) for name, each in zip(names, values, strict=True)}
