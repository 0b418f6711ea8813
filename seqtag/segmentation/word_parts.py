"""Parts of a token as words: how many tokens of the training data are such words, or have them.

What remains of a token when a part is cut off is a likely word if it is one elsewhere. The
*role counts* of a text are the numbers of types of tokens in which it is

- ``F``, the complete token,
- ``B``, ``M`` or ``L``, the first, a middle or the last of its words,

each with 1 for one type, 2 for two or three, and 3 for more: ``F2B1``. They are ``-`` for texts
that are never words. Texts, and therefore types of tokens, are the same in upper and lower case.

A character of a token has these columns, for a word table T of role counts. A word here is any part
of the token whose role counts are not ``-``.

======================  ===========================================================================
``rest:T``              role counts of the text after it; ``.`` after the last
``head:T``              role counts of the text up to it
``whole:T``             role counts of the token
``begins:T``            length of the longest word that begins after it, with ``e`` if the token
                        ends with it, and ``begins-as:T``, its role counts
``ends:T``              length of the longest word that ends with it, with ``s`` if the token starts
                        with it, and ``ends-as:T``, its role counts
``covers:T``            lengths before and after of the longest word that goes across the end of
                        this character, the first of equals, and ``covers-as:T``, its role counts
======================  ===========================================================================

The role counts of the token are without ``F``, since they are to predict whether it is one word.
Lengths are those of up to six characters (five for ``covers:T``), ``0`` if there is no word; words
of more than 16 characters are looked for at either end of the token only.
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
    """Function from folded texts to their role counts."""

PARTS = "training-parts"
"""Name of the table of the training data."""

UNKNOWN, NOTHING = "-", "."
"""Role counts of texts that are no words, and of the empty text."""

_ROLES = "FBML"
_LONGEST_WORD = 16  # characters of a word inside a token
_SHOWN_LENGTH, _SHOWN_AROUND = 6, 5  # longest lengths that columns tell apart
_AS_TOKEN = re.compile("^F[123]")

Row = tuple[str, ...]
"""Values of the columns of a character, in the order of `token_columns`."""


@cached
def _folded(letter: str) -> str:
    return normal_form(letter).casefold()


def folded(letters: Iterable[str]) -> str:
    """Return the text under which some letters are looked up: in normal form, without case.

    Letters are as of `seqtag.segmentation.multiword.letters_of`.

    >>> folded("Ist’s"), folded("ΣΑΣ")
    ("ist's", 'σασ')
    """
    return "".join(map(_folded, letters))


class PartCounts:
    """Numbers of types of tokens in which texts are words, by role.

    Examples
    --------
    >>> counts = PartCounts([["im"], ["in", "dem"], ["zu", "dem"], ["dem"]])
    >>> find_in(counts.table())(["dem", "im", "um"])
    ['F1L2', 'F1', '-']
    >>> counts.without(["zu", "dem"])(["dem", "im", "zu"])
    ['F1L1', 'F1', '-']
    """

    def __init__(self, types: Iterable[Sequence[str]]):
        """`types`: the words of each type of token, `folded`: itself alone if it is one word."""
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for words in types:
            for word, role in _roles(words):
                self._counts[word][role] += 1
        self._texts = {word: _text_of(counts) for word, counts in self._counts.items()}

    def without(self, words: Sequence[str]) -> Find:
        """Return a function that finds role counts in all types but one, given the words of it."""
        own: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for word, role in _roles(words):
            own[word][role] += 1
        changed = {word: _text_of(self._counts[word] - counts) for word, counts in own.items()}
        return lambda texts: [
            changed[text] if text in changed else self._texts.get(text, UNKNOWN) for text in texts
        ]

    def table(self) -> WordTable:
        """Return the word table of the role counts."""
        rows = ((word, [counts]) for word, counts in self._texts.items())
        origin = {"source": "the tokens of the training data and their words"}
        return WordTable.of(PARTS, rows, absent=UNKNOWN, origin=origin)


def _roles(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the words of a token, one or more, with their roles."""
    if len(words) == 1:
        return [(words[0], "F")]
    return [*zip(words, f"B{'M' * (len(words) - 2)}L", strict=True)]


def _text_of(counts: Counter[str]) -> str:
    """Return role counts as text: ``F2B1`` for two or three F and one B."""
    found = [f"{role}{min(3, counts[role].bit_length())}" for role in _ROLES if counts[role] > 0]
    return "".join(found) or UNKNOWN


def find_in(table: WordTable) -> Find:
    """Return a function that finds role counts in a table.

    >>> find_in(PartCounts([["a", "b"]]).table())(["b", "c"])
    ['L1', '-']
    """
    values = [*table.values, UNKNOWN]
    return lambda texts: [values[i] for i in table.slots(backend.hash_strings(texts)).tolist()]


def part_rows(letters: Sequence[str], find: Find) -> list[Row]:
    """Return the columns of each character of a token.

    Parameters
    ----------
    letters
        The characters of the token, one or more.
    find
        Function that returns the role counts of texts; it is called once.

    Examples
    --------
    >>> counts = PartCounts([["im"], ["in", "dem"], ["zu", "dem"], ["dem"]])
    >>> part_rows("zudem", find_in(counts.table()))[1]
    ('F1L2', 'B1', '-', '3e', 'F1L2', '2s', 'B1', '0', '')
    """
    count = len(letters)
    parts = [*map(_folded, letters)]
    text = "".join(parts)
    at = [0, *accumulate(map(len, parts))]
    spans = [
        (i, j)
        for i in range(count)
        for j in (*range(i + 1, min(count, i + 1 + _LONGEST_WORD) if i else count), count)
    ]
    found = find([text[at[i] : at[j]] for i, j in spans])
    roles = dict(zip(spans, found, strict=True))
    whole = roles[0, count] = _AS_TOKEN.sub("", roles[0, count]) or UNKNOWN
    known = [span for span in spans if roles[span] != UNKNOWN]  # by start, then by end

    ends, begins, covers = ([("0", "")] * count for _ in range(3))
    for i, j in reversed(known):  # of those that end at a place, the longest comes last
        ends[j - 1] = f"{min(j - i, _SHOWN_LENGTH)}{'s' * (not i)}", roles[i, j]
    for i, j in known:  # of those that begin at a place, the longest comes last
        if i:
            begins[i - 1] = f"{min(j - i, _SHOWN_LENGTH)}{'e' * (j == count)}", roles[i, j]
    known.sort(key=lambda span: span[1] - span[0], reverse=True)
    for i, j in known:  # of those that cover a place, the longest comes first
        for k in range(i, j - 1):
            if not covers[k][1]:
                before, after = min(k - i + 1, _SHOWN_AROUND), min(j - k - 1, _SHOWN_AROUND)
                covers[k] = f"{before}.{after}", roles[i, j]
    return [
        (
            roles[i, count] if i < count else NOTHING,
            roles[0, i],
            whole,
            *begins[i - 1],
            *ends[i - 1],
            *covers[i - 1],
        )
        for i in range(1, count + 1)
    ]


def part_columns(rows: Iterable[Iterable[Row]], table: str) -> dict[str, Column]:
    """Return the columns of the characters of tokens, by name.

    Parameters
    ----------
    rows
        The rows of each token, see `part_rows`; there must be at least one.
    table
        Name of the word table.
    """
    names = token_columns(table)
    values = zip(*chain.from_iterable(rows), strict=True)
    return {name: Column.of(each) for name, each in zip(names, values, strict=True)}
