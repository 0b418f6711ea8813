r"""Characters as input of the segmenter: a row of columns for each that is not white space.

A character here is what a reader sees as one: a letter with its combining marks, an emoji with
its skin tone, several joined emoji, a flag. No token begins inside a character. White space has no
rows; its kind and amount are ignored: the values of the next character begin with a space.

Each column describes the text around a row, in normal forms (`symbol_of`), so that templates need
few conjunctions. Columns are grouped in views (`VIEWS`). A type of a view is a combination of
values of its columns that occurs; types are numbered from 0 (`Numbering`). Decoding caches the
scores of the templates of a view by type. Where it can, the kernel labels text without types
(``chunk_model.h``): it adds the same weights by the chunks and the grams of characters they are of.

A chunk is text between white space. A sign is a character that is no letter or digit.

======================  =========================================================================
column                  value of a row
======================  =========================================================================
``c1`` to ``c4``        so many characters, from this one on, in lower case with digits as 0
``k1`` to ``k6``        their kinds: upper and lower case, digit, script; punctuation as it is
``class``               kind of this one alone, with the class of punctuation instead
``left``, ``right``     text of its chunk, up to this one and after it
``split``               both at once
``opening``             from the first sign after a letter or digit of the chunk on: the start of
                        the chunk, without signs before its first letter or digit
``signs``, ``ahead``    distinct signs of its chunk, before and after this one
``tail``                kinds from here to the end of the chunk, unless letters or digits follow
``chunk``, ``before``   in the tail only: its chunk and the one before it
``next``, ``after``     in the tail only: the next chunk and the one after that
``chunk_shape``, ...    in the tail only: their kinds, each of several equal ones once
``ends:T``              length of the longest word of the word table T that ends here
``begins:T``            length of the longest that begins with the next character
``covers:T``            length of the longest that has both this character and the next
======================  =========================================================================

Candidate words are texts of up to `LONGEST_WORD` characters of a paragraph, in the same form, with
a space for white space. They are looked up in a table as they are. The length is ``0`` if there is
none, and at most `MOST_LENGTH`. Features of dictionary words like these are due to Neubig, Nakata
and Mori (2011).

Marks that people type in several ways are read in one (`spelled_out`): the sign for an ellipsis is
three rows, of which the first two end nothing and have no extent in the text.

The values have maximum lengths, so that time is linear in the text and a label depends on a window
of the text only. Longer ones are the empty string, but ``next`` is then the start of the chunk.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain, compress, groupby, islice, pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from seqtag.caching import cached
from seqtag.engine import backend
from seqtag.features.native import describe, is_composed, spell
from seqtag.features.normal_forms import normal_form
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.tables.table import text_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.interface import AttributeCall, Characters, ChunkModel
    from seqtag.tables.table import WordTable

COLUMNS = (
    *("c1", "c2", "c3", "c4"),
    *("k1", "k2", "k3", "k4", "k5", "k6"),
    "class",
    *("left", "right", "split", "opening", "signs", "ahead", "tail"),
    *("chunk", "next", "after", "before"),
    *("chunk_shape", "next_shape", "after_shape", "before_shape"),
)
"""The columns, in the order in which both implementations number them."""

VIEWS = (
    ("c1", "c2", "c3", "c4"),
    ("k1", "k2", "k3", "k4", "k5", "k6", "class"),
    ("left", "right", "split", "opening", "signs", "ahead", "tail", "chunk", "chunk_shape"),
    ("tail", "next", "next_shape"),
    ("tail", "after", "after_shape"),
    ("tail", "before", "before_shape"),
    ("tail", "before_shape", "chunk_shape", "next_shape"),
)
"""Columns that are numbered together. A row has one type of each view. Some columns are in several
views, for templates that combine them with others."""


def views_with(tables: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the views, with one for each word table.

    >>> views_with(["words"])[-1]
    ('ends:words', 'begins:words', 'covers:words')
    """
    return [*VIEWS, *map(text_columns, tables)]


def view_of(columns: Iterable[str], views: Sequence[Sequence[str]] = VIEWS) -> int | None:
    """Return the index of the first view that has all of some columns, or None.

    >>> view_of(["tail", "chunk"]), view_of(["tail", "next"]), view_of(["c1", "k1"])
    (2, 3, None)
    """
    found = {*columns}
    return next((number for number, view in enumerate(views) if found <= {*view}), None)


def views_of(columns: Sequence[str], tables: Iterable[str] = ()) -> list[list[str]]:
    """Group columns by the first view that has them; leave out columns of no view.

    >>> views_of(["c1", "covers:words", "tail", "c2"], ["words"])
    [['c1', 'c2'], ['tail'], ['covers:words']]
    """
    left = {*columns}
    found = []
    for view in views_with(tables):
        found.append([name for name in view if name in left])
        left -= {*view}
    return [view for view in found if view]


LONGEST_GRAM = 6
"""Maximum number of characters of ``k1`` to ``k6``."""
MOST_CODES = 16
"""Maximum number of code points of a character in the values of columns."""
LONGEST_PART = 12
"""Maximum number of characters of ``left`` and ``right``."""
LONGEST_TAIL = 4
"""Maximum number of characters of ``tail``."""
LONGEST_CHUNK = 24
"""Maximum number of characters of ``chunk`` and its neighbors."""

LONGEST_OPENING = 4
"""Maximum number of characters of ``opening``."""
OPENING_REACH = 128
"""Number of characters from the start of a chunk that have ``opening`` and ``signs``."""
MOST_SIGNS = 4
"""Maximum number of signs of ``signs``, the first ones."""
MOST_AHEAD = 3
"""Maximum number of signs of ``ahead``, the first ones."""
AHEAD_REACH = 16
"""Number of following characters among which they are."""

LONGEST_WORD = 12
"""Maximum number of characters of a candidate word."""
MOST_LENGTH = 8
"""Maximum value of its length; longer words have this one, too."""

BEFORE = OPENING_REACH
"""Number of preceding characters that a row depends on."""
AHEAD = LONGEST_TAIL + 2 * (LONGEST_CHUNK + 1)
"""Number of following characters that a row depends on."""

SPACE, BREAK, BASE, MARK, JOINER, REGIONAL = range(6)
"""Kinds of code points, by which they make characters; BREAK is `SEPARATOR`."""

NEW_PARAGRAPH = 2
"""Value of `CharacterRows.gaps` for the first character of a paragraph."""

_SKIN_TONES = range(0x1F3FB, 0x1F400)
_REGIONAL = range(0x1F1E6, 0x1F200)  # two of these letters make a flag
_END = "\n"  # follows the last character of a paragraph, and precedes the first
_VALUE_BYTES = 200  # approximate memory of a value of a column as a key of a dict


class CharacterRows(NamedTuple):
    """Positions of the characters of a text.

    Attributes
    ----------
    starts, ends
        Indexes of the first code point and after the last one of each, (rows,) int64.
    gaps
        What precedes each: 0 another character, 1 white space, 2 (`NEW_PARAGRAPH`) the end of a
        paragraph or the start of the text; (rows,) uint8.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    gaps: NDArray[np.uint8]

    @property
    def paragraphs(self) -> NDArray[np.int64]:
        """The first row of each paragraph, followed by the number of rows."""
        return np.append(np.flatnonzero(self.gaps == NEW_PARAGRAPH), len(self.gaps))

    def without(self, added: NDArray[np.int64]) -> CharacterRows:
        """Return the same rows with positions in the text without the code points at `added`."""
        if not len(added):
            return self
        starts, ends = (_without(at, added) for at in (self.starts, self.ends))
        return self._replace(starts=starts, ends=ends)


def _without(places: NDArray[np.int64], added: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each place, less the number of those at `added` before it; both ascend."""
    after = places.searchsorted(added, "right")
    many = np.diff(after, prepend=0, append=len(places))
    return places - np.arange(len(many)).repeat(many)


def code_kind(char: str) -> int:
    r"""Return how a code point combines with others into characters: one of the six kinds.

    Examples
    --------
    >>> kinds = [code_kind(char) for char in "a\u0301 \u200d\u2029"]
    >>> kinds == [BASE, MARK, SPACE, JOINER, BREAK]
    True
    """
    if char.isspace():
        return BREAK if char == SEPARATOR else SPACE
    if char == "\u200d":
        return JOINER
    category = unicodedata.category(char)
    if category[0] == "M" or category == "Cf" or ord(char) in _SKIN_TONES:
        return MARK
    return REGIONAL if ord(char) in _REGIONAL else BASE


@cached
def symbol_of(character: str) -> str:
    """Return the symbol of a character: its normal form in lower case, with 0 for all digits.

    Examples
    --------
    >>> "".join(map(symbol_of, "It’s 3 Ä"))
    "it's 0 ä"
    """
    plain = normal_form(character).lower()
    return "0" if plain[:1].isdecimal() else plain


@cached
def kind_of(character: str) -> str:
    r"""Return the kind of a character; punctuation and symbols are their own kinds.

    The others are X and x for upper and lower case, d for digits, the script of other letters, and
    the Unicode category of other characters.

    Examples
    --------
    >>> [kind_of(char) for char in "Hi 3!"], kind_of("好"), kind_of("\x01")
    (['X', 'x', '{Zs}', 'd', '!'], '{CJK}', '{Cc}')
    """
    first = _first(character)
    if unicodedata.category(first)[0] in "PS":
        return symbol_of(character)
    return class_of(character)


@cached
def class_of(character: str) -> str:
    """Return the kind of a character, with the Unicode category for punctuation and symbols.

    Examples
    --------
    >>> [class_of(char) for char in "a(？"]
    ['x', '{Ps}', '{Po}']
    """
    first = _first(character)
    if first.isupper() or first.istitle():
        return "X"
    if first.islower():
        return "x"
    if first.isdecimal():
        return "d"
    category = unicodedata.category(first)
    if category[0] == "L":
        category = unicodedata.name(first, "?").split()[0].split("-")[0]
    return "{" + category + "}"


def _first(character: str) -> str:
    """Return the code point that decides the kind of a character."""
    return normal_form(character)[0]


def character_rows(text: str) -> CharacterRows:
    r"""Return the positions of the characters of a text; `SEPARATOR` ends a paragraph.

    Text without characters has no rows.

    Examples
    --------
    >>> rows = character_rows("a\u0301 b")
    >>> rows.starts.tolist(), rows.ends.tolist(), rows.gaps.tolist()
    ([0, 3], [2, 4], [2, 1])
    """
    starts: list[int] = []
    ends: list[int] = []
    gaps: list[int] = []
    gap, joined, half_flag = NEW_PARAGRAPH, False, False
    for i, char in enumerate(text):
        kind = code_kind(char)
        if kind in (SPACE, BREAK):
            gap, joined, half_flag = max(gap, NEW_PARAGRAPH if kind == BREAK else 1), False, False
            continue
        inside = kind in (MARK, JOINER) or joined or (kind == REGIONAL and half_flag)
        if inside and not gap:
            ends[-1] = i + 1
        else:
            starts.append(i)
            ends.append(i + 1)
            gaps.append(gap)
            half_flag = False
        half_flag = kind == REGIONAL and not half_flag
        joined, gap = kind == JOINER, 0
    return CharacterRows(
        np.array(starts, np.int64), np.array(ends, np.int64), np.array(gaps, np.uint8)
    )


_DASHES = [
    re.compile(rf"{mark}(?<=[^\W\d_]{mark})(?=[^\W\d_])")  # searched for by the mark
    for mark in ("--", "\u2014", "\u2014\u2014")
]
_ISO_DATE = re.compile(r"-\d\d-\d\d(?<=\d{4}-\d\d-\d\d)(?<!\d{5}-\d\d-\d\d)(?![-\d])")
_ELLIPSIS = "\u2026"
_SPELLED = ("-", "\u2014", _ELLIPSIS)  # one of which is in a text that is spelled out
_NOTHING_ADDED = np.zeros(0, np.int64)
SPELLING_REACH = 12
"""Number of code points on both sides by which `spelled_out` decides."""


def spelled_out(text: str) -> tuple[str, NDArray[np.int64]]:
    r"""Return a text with one spelling of marks, and the indexes of what was added to it.

    An ellipsis is three dots, dashes (``—``, ``--``) between letters have blanks on both sides,
    and the hyphens of ISO dates are colons, as in times, which hardly a treebank divides. A word
    that goes on after these blanks is learned as one with white space inside.

    Examples
    --------
    >>> spelled_out("Wait\u2026")
    ('Wait...', array([4, 5]))
    >>> spelled_out("opened\u2014a door--on 2023-05-01")[0]
    'opened \u2014 a door -- on 2023:05:01'
    """
    if not any(mark in text for mark in _SPELLED):
        return text, _NOTHING_ADDED
    text = _ISO_DATE.sub(lambda match: match[0].replace("-", ":"), text)
    added = [
        (at, " ") for pattern in _DASHES for match in pattern.finditer(text) for at in match.span()
    ]
    if _ELLIPSIS in text:
        added += [(match.start(), ".") for match in re.finditer(_ELLIPSIS, text) for _ in "12"]
        text = text.replace(_ELLIPSIS, ".")
    added.sort()
    parts: list[str] = []
    done = 0
    for at, char in added:
        parts += text[done:at], char
        done = at
    places = np.array([at for at, _ in added], np.int64)
    return "".join([*parts, text[done:]]), places + np.arange(len(places))


def candidate_of(word: str) -> str:
    r"""Return a word in the form in which candidate words are looked up.

    Examples
    --------
    >>> candidate_of("Trả\n lời"), candidate_of("3D")
    ('trả lời', '0d')
    """
    word, _ = spelled_out(word)
    starts, ends, gaps = character_rows(word)
    parts = zip(starts.tolist(), ends.tolist(), (gaps == 1).tolist(), strict=True)
    return "".join(
        " " * spaced + symbol_of(word[a : min(b, a + MOST_CODES)]) for a, b, spaced in parts
    )


def character_columns(
    text: str, tables: Mapping[str, WordTable] | None = None
) -> dict[str, list[str]]:
    r"""Return the value of each column for each row of a text: the reference for the kernel.

    `tables`: word tables in which candidate words are looked up, by name.

    Examples
    --------
    >>> columns = character_columns("It is (no) 1.")
    >>> columns["c3"]
    ['it i', 't is', ' is (', 's (n', ' (no', 'no)', 'o) 0', ') 0.', ' 0. \n', '. \n\n']
    >>> columns["k2"][:3], columns["tail"][4:]
    (['Xx', 'x x', ' xx'], ['', '', 'x)', ')', 'd.', '.'])
    >>> columns["left"][4:8], columns["right"][4:8]
    (['(', '(n', '(no', '(no)'], ['no) ', 'o) ', ') ', ' '])
    >>> columns["next"][6:8], columns["after_shape"][:2]
    (['0.', '0.'], ['', '(x)'])

    >>> from seqtag.tables.table import WordTable
    >>> table = WordTable.of("en", [("no", [""]), ("where", [""])])
    >>> found = character_columns("nowhere", {"en": table})
    >>> "".join(found["ends:en"]), "".join(found["begins:en"]), "".join(found["covers:en"])
    ('0200005', '0500000', '2055550')
    """
    rows = character_rows(text)
    tables = tables or {}
    columns: dict[str, list[str]] = {name: [] for view in views_with(tables) for name in view}
    spans = [*zip(rows.starts.tolist(), rows.ends.tolist(), strict=True)]
    for first, end in pairwise(rows.paragraphs.tolist()):
        characters = [text[a : min(b, a + MOST_CODES)] for a, b in spans[first:end]]
        found = _paragraph(characters, (rows.gaps[first:end] == 1).tolist(), tables)
        for name, values in columns.items():
            values += found[name]
    return columns


def _paragraph(
    characters: Sequence[str], spaced: Sequence[bool], tables: Mapping[str, WordTable]
) -> dict[str, list[str]]:
    """Return the columns of a paragraph, given which characters white space precedes."""
    symbols, kinds = list(map(symbol_of, characters)), list(map(kind_of, characters))
    columns = {name: [""] * len(characters) for name in COLUMNS}
    for letter, longest, values in (("c", 4, symbols), ("k", LONGEST_GRAM, kinds)):
        grams = [" " * space + value for space, value in zip(spaced, values, strict=True)]
        grams += [f" {_END}", *[_END] * longest]
        for n in range(1, longest + 1):
            columns[f"{letter}{n}"] = ["".join(grams[i : i + n]) for i in range(len(characters))]
    columns["class"] = list(map(class_of, characters))
    starts = [i for i, space in enumerate(spaced) if space or i == 0]
    chunks = [*zip(starts, [*starts[1:], len(characters)], strict=True)]
    heads = [_Head.of(symbols[a:b], kinds[a:b]) for a, b in chunks]
    around = [_NOTHING, *heads, _NOTHING, _NOTHING]
    for number, (first, end) in enumerate(chunks):
        before, chunk, following, after = around[number : number + 4]
        _fill_parts(columns, first, symbols[first:end])
        _fill_signs(columns, first, symbols[first:end])
        for row in range(_tail_start(symbols, first, end), end):
            columns["tail"][row] = "".join(kinds[row:end])
            for name, head in (
                ("chunk", chunk.complete),
                ("next", following),
                ("after", after if following.is_complete else _LONG),
                ("before", before.complete),
            ):
                columns[name][row] = head.text
                columns[f"{name}_shape"][row] = head.shape
    for name, table in tables.items():
        lengths = _word_lengths(symbols, spaced, table)
        columns |= zip(text_columns(name), lengths, strict=True)
    return columns


def _word_lengths(
    symbols: Sequence[str], spaced: Sequence[bool], table: WordTable
) -> list[list[str]]:
    """Return the columns of a word table in a paragraph: ``ends``, ``begins`` and ``covers``."""
    count = len(symbols)
    inner = [" " * space + symbol for space, symbol in zip(spaced, symbols, strict=True)]
    places = [
        (begin, end)
        for begin in range(count)
        for end in range(begin + 1, min(begin + LONGEST_WORD, count) + 1)
    ]
    words = ["".join([symbols[a], *inner[a + 1 : b]]) for a, b in places]
    known = table.slots(backend.hash_strings(words)) < len(table.values)
    ends, begins, covers = (np.zeros(count, np.int64) for _ in range(3))
    for begin, end in compress(places, known.tolist()):
        length = min(end - begin, MOST_LENGTH)
        inside = slice(begin, end - 1)
        ends[end - 1] = max(ends[end - 1], length)
        covers[inside] = np.maximum(covers[inside], length)
        if begin:
            begins[begin - 1] = max(begins[begin - 1], length)
    return [list(map(str, lengths.tolist())) for lengths in (ends, begins, covers)]


class _Head(NamedTuple):
    """Start of a chunk: its text and shape, and whether that is the complete chunk."""

    text: str
    shape: str
    is_complete: bool

    @classmethod
    def of(cls, symbols: Sequence[str], kinds: Sequence[str]) -> _Head:
        """Return the start of a chunk, at most `LONGEST_CHUNK` characters."""
        shape = "".join(kind for kind, _ in groupby(kinds[:LONGEST_CHUNK]))
        text = "".join(symbols[:LONGEST_CHUNK])
        return cls(text, shape, len(symbols) <= LONGEST_CHUNK)

    @property
    def complete(self) -> _Head:
        """Itself if it is a complete chunk, else `_LONG`."""
        return self if self.is_complete else _LONG


_NOTHING = _Head(_END, _END, is_complete=True)  # before the first chunk and after the last
_LONG = _Head("", "", is_complete=False)  # in place of a chunk that is too long


def _fill_parts(columns: dict[str, list[str]], first: int, symbols: Sequence[str]) -> None:
    """Fill in ``left``, ``right`` and ``split`` of the rows of a chunk, from row `first` on."""
    for i in range(len(symbols)):
        row, left, right = first + i, i + 1, len(symbols) - 1 - i
        if left <= LONGEST_PART:
            columns["left"][row] = "".join(symbols[:left])
        if right <= LONGEST_PART:
            columns["right"][row] = "".join([*symbols[left:], " "])
        if left <= LONGEST_PART and right <= LONGEST_PART:
            columns["split"][row] = f"{columns['left'][row]}|{columns['right'][row]}"


def _fill_signs(columns: dict[str, list[str]], first_row: int, symbols: Sequence[str]) -> None:
    """Fill in ``opening``, ``signs`` and ``ahead`` of the rows of a chunk, from row `first_row`."""
    is_sign = [not symbol[0].isalnum() for symbol in symbols]
    first = is_sign.index(False) if False in is_sign[:OPENING_REACH] else len(symbols)
    signs = [*compress(symbols, is_sign)]
    for i in range(len(symbols)):
        if i < OPENING_REACH:
            before = dict.fromkeys(signs[: sum(is_sign[:i])])
            columns["signs"][first_row + i] = "".join([*before][:MOST_SIGNS])
            if any(is_sign[first : i + 1]):
                opening = symbols[first : first + LONGEST_OPENING]
                columns["opening"][first_row + i] = "".join(opening)
        ahead = slice(i + 1, i + 1 + AHEAD_REACH)
        following = dict.fromkeys(compress(symbols[ahead], is_sign[ahead]))
        columns["ahead"][first_row + i] = "".join([*following][:MOST_AHEAD])


def _tail_start(symbols: Sequence[str], first: int, end: int) -> int:
    """Return the first row of the tail of a chunk: its last letter or digit, if near its end."""
    tail = end - 1
    while tail > max(first, end - LONGEST_TAIL) and not symbols[tail][0].isalnum():
        tail -= 1
    return tail


@cached
def is_plain(text: str) -> bool:
    r"""Return whether `normal_form` keeps a text as it is, whatever plain text surrounds it.

    A text in NFC stays so after any other if its first code point combines with none before it.

    Examples
    --------
    >>> [is_plain(char) for char in ("a", "\u00e9", "\u0301", "\u2019", "\u1161", "\u00ad")]
    [True, True, False, False, False, False]
    >>> is_plain("i\u0307"), is_plain("\u0915\u094d")
    (True, True)
    """
    first, inside = text[0], f"|{text}"
    return normal_form(inside) == inside and not unicodedata.combining(first) and is_composed(first)


class Numbering:
    """Numbers the types of some views, text by text, from 0; not thread-safe.

    Parameters
    ----------
    views
        Lists of columns, each some of the columns of one of `views_with`.
    tables
        The word tables that columns name, by name; others are ignored.

    Attributes
    ----------
    reported : list of int
        Number of types of each view that `new_values` and `new_hashes` have returned.

    Examples
    --------
    >>> numbering = Numbering(views_of(["c1", "k1"]))
    >>> rows, types = numbering.read("To be")
    >>> first, [values] = numbering.new_values(0)
    >>> first, [values[i] for i in types[0]]
    (0, ['t', 'o', ' b', 'e'])
    """

    def __init__(
        self, views: Sequence[Sequence[str]], tables: Mapping[str, WordTable] | None = None
    ):
        self.views = views
        columns = {*chain.from_iterable(views)}
        self._tables = {
            name: table
            for name, table in (tables or {}).items()
            if not columns.isdisjoint(text_columns(name))
        }
        self._native = None
        if backend.Characters is not None:
            names = [*COLUMNS, *chain.from_iterable(map(text_columns, self._tables))]
            numbers = [[names.index(name) for name in view] for view in views]
            hashes = [table.hashes for table in self._tables.values()]
            self._native = backend.Characters(numbers, hashes)
        self._numbers: list[dict[tuple[str, ...], int]] = [{} for _ in self.views]
        self.reported = [0] * len(self.views)

    def read(self, text: str) -> tuple[CharacterRows, NDArray[np.int32]]:
        """Return the rows of a text, and the type of each row in each view: (views, rows) int32."""
        text, added = spelled_out(text)
        if self._native is not None:
            return self._split(self._native, text).without(added), self._native.number()
        rows, found = character_rows(text).without(added), character_columns(text, self._tables)
        types = np.zeros((len(self.views), len(rows.starts)), np.int32)
        for row, view, numbers in zip(types, self.views, self._numbers, strict=True):
            values = zip(*[found[name] for name in view], strict=True)
            row[:] = [numbers.setdefault(each, len(numbers)) for each in values]
        return rows, types

    def label(self, text: str, model: ChunkModel) -> tuple[CharacterRows, NDArray[np.int32]]:
        """Return the rows of a text and the label of each, -1 where the kernel has none: (rows,).

        All rows of a paragraph have labels, or none. `text` has characters; there is a kernel.
        """
        native = cast("Characters", self._native)
        text, added = spelled_out(text)
        return self._split(native, text).without(added), native.labels(model)

    def _split(self, native: Characters, text: str) -> CharacterRows:
        """Return the rows of a text by the kernel, which calls Python for new characters."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        unknown = native.unknown(codes)
        if len(unknown):
            kinds = [code_kind(chr(code)) for code in unknown.tolist()]
            native.learn(unknown, np.array(kinds, np.uint8))
        starts, ends, gaps, new = native.split(codes)
        if len(new):
            bounds = zip(starts[new].tolist(), ends[new].tolist(), strict=True)
            characters = [text[a : min(b, a + MOST_CODES)] for a, b in bounds]
            symbols = list(map(symbol_of, characters))
            native.define(
                [symbol.encode("utf-8", "surrogatepass") for symbol in symbols],
                [kind_of(char).encode("utf-8", "surrogatepass") for char in characters],
                [class_of(char).encode() for char in characters],
                np.array([symbol[0].isalnum() for symbol in symbols], np.uint8),
                np.array(list(map(is_plain, symbols)), np.uint8),
            )
        return CharacterRows(starts, ends, gaps)

    @property
    def nbytes(self) -> int:
        """Approximate bytes held for characters, chunks and values of the texts read so far."""
        if self._native is not None:
            return self._native.nbytes
        pairs = zip(self._numbers, self.views, strict=True)
        return _VALUE_BYTES * sum(len(numbers) * len(view) for numbers, view in pairs)

    def new_hashes(
        self, view: int, calls: Sequence[Sequence[AttributeCall]]
    ) -> tuple[int, list[NDArray[np.uint64]]] | None:
        """Return hashes of attributes of the values that `new_values` would return next.

        The kernel computes them without making the values. Without a kernel, return None.

        Parameters
        ----------
        view
            Number of the view.
        calls
            Attributes of each of its columns, the same at each call.

        Returns
        -------
        int
            Number of the first type.
        list of numpy.ndarray
            For each column (attributes, types) uint64.
        """
        if self._native is None:
            return None
        first = self.reported[view]
        hashes = self._native.new_hashes(view, calls, describe, spell)
        self.reported[view] += hashes[0].shape[1]
        return first, hashes

    def new_values(self, view: int) -> tuple[int, list[list[str]]]:
        """Return the values of each column of a view for the types numbered since the last call.

        They follow the number of the first of these types. There may be no new types.
        """
        if self._native is not None:
            found = [
                [value.decode("utf-8", "surrogatepass") for value in values]
                for values in self._native.new_values(view)
            ]
        else:
            new = [*islice(self._numbers[view], self.reported[view], None)]
            found = [[each[i] for each in new] for i in range(len(self.views[view]))]
        first = self.reported[view]
        self.reported[view] += len(found[0])
        return first, found
