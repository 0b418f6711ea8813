r"""Multiword tokens: edit scripts that give the words of a token character by character.

``du`` in French is the words ``de`` and ``le``, ``don't`` in English is ``do`` and ``n't``.  A
token is a sequence of characters, and the label of a character is a *script* of what to write for
it:

- ``=`` writes the character,
- ``|`` ends a word,
- other characters are written as they are, those of ``=|^_\`` after a backslash,
- ``_`` alone writes nothing.

So ``im`` with the scripts ``=n|de`` and ``=`` becomes ``in`` and ``dem``.  Scripts are learned in
lower case.  What they write is in upper case if the token is, and begins with an upper-case letter
if it replaces one; a script that begins with ``^`` is written exactly.

A label may also have the part of speech of the word that the character is in, as in ``=|\@ADP``. So
the words of a token are decoded together: which ones follow which decides where they begin.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, pairwise
from sys import getsizeof
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import is_normalized, normalize

import numpy as np

from seqtag.caching import MOST_BYTES, register
from seqtag.engine import backend
from seqtag.engine.arrays import pointers
from seqtag.errors import ModelFileError
from seqtag.features.encoder import Column, Encoder
from seqtag.model.container import show
from seqtag.model.model import fitting, refuse
from seqtag.segmentation.word_parts import find_in, part_columns, part_rows
from seqtag.tables.table import token_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from numpy.typing import NDArray

    from seqtag.features.encoder import SharedHashes
    from seqtag.model.model import Model

COPY, END, EXACT, NOTHING = "=|^_"
TAGGED = "\\@"
"""Follows the script in a label with a part of speech; scripts escape no ``@``."""

COLUMNS = ("char", "start", "end", "token", "form", "before", "after")
"""Columns that templates can use for each character of a token: see `Places`."""

MOST_TOKEN_CHARACTERS = 100
"""Tokens of more characters than this are one word."""

_FARTHEST_PLACE = 12  # up to which distances from either end are counted
_PLACES = [*map(str, range(_FARTHEST_PLACE + 1))]
_ASCII = [*map(chr, range(128))]
_ENTRY_BYTES = 100  # of a set or dict
_BATCH_TOKENS = 5_000  # tokens decoded in one call of the kernel

_SCRIPT = re.compile(r"(?:[^\\]|\\[^@])*")  # of a label
_OUTSIDE_FIELDS = re.compile(r"[\t\r\n]")  # characters that a column cannot hold

Words = tuple[str, ...]
Symbol = str | None
"""A character, or None for the end of a word."""


# --------------------------------------------------------------------------- scripts
class SplitScript(NamedTuple):
    """Parsed edit script of one character.

    Attributes
    ----------
    exact
        Whether the script is written exactly, regardless of the case of the token.
    items
        ``=``, None for the end of a word, and other characters after a backslash.
    """

    exact: bool
    items: tuple[Symbol, ...]

    @classmethod
    def read(cls, label: str) -> SplitScript:
        r"""Parse the script of a label.

        >>> SplitScript.read(r"=|d\_")
        SplitScript(exact=False, items=('=', None, '\\d', '\\_'))
        """
        exact = label.startswith(EXACT)
        items: list[Symbol] = []
        chars = iter(label[exact:] if label != NOTHING else "")
        for char in chars:
            if char == END:
                items.append(None)
            elif char == COPY:
                items.append(COPY)
            else:
                items.append("\\" + (next(chars, char) if char == "\\" else char))
        return cls(exact, tuple(items))

    def __str__(self) -> str:
        return (EXACT if self.exact else "") + "".join(map(_item, self.items)) or NOTHING

    def symbols(self, char: str, upper: bool) -> list[Symbol]:
        """Return what the script writes for a character, of a token in upper case or not."""
        written: list[Symbol] = []
        for item in self.items:
            if item is None:
                written.append(None)
            elif item == COPY:
                written.append(char)
            elif not self.exact and (upper or (not written and char.isupper())):
                written += item[1:].upper()
            else:
                written += item[1:]
        return written


def _item(item: Symbol) -> str:
    if item is None:
        return END
    return item if item == COPY or item[1:] in (COPY, END, EXACT, NOTHING, "\\") else item[1:]


def script_of(label: str) -> str:
    r"""Return the script of a label, without the part of speech.

    >>> script_of(r"=|\@ADP"), script_of(r"=\\@|")
    ('=|', '=\\\\@|')
    """
    found = _SCRIPT.match(label)
    return found[0] if found else label


_read = lru_cache(maxsize=10_000)(SplitScript.read)


def letters_of(token: str) -> Sequence[str]:
    r"""Return the characters of a token; a letter and its marks are one if they can be composed.

    >>> [*letters_of("o\u0308x")] == ["o\u0308", "x"], [*letters_of("q\u0308")] == ["q", "\u0308"]
    (True, True)
    """
    if token.isascii() or is_normalized("NFC", token):
        return token
    letters: list[str] = []
    for char in token:
        if letters and len(normalize("NFC", letters[-1] + char)) == 1:
            letters[-1] += char
        else:
            letters.append(char)
    return letters


def is_upper(token: str) -> bool:
    """Return whether a token is in upper case, with two such letters or more."""
    return token.isupper() and sum(map(str.isupper, token)) > 1


def words_of(token: str, scripts: Iterable[str]) -> Words:
    """Return the words that scripts make of a token, one script for each of its `letters_of`.

    Examples
    --------
    >>> words_of("Im", ["=n|de", "="]), words_of("IM", ["=n|de", "="])
    (('In', 'dem'), ('IN', 'DEM'))
    """
    letters, scripts = letters_of(token), list(scripts)
    if {*scripts} <= {COPY, COPY + END}:  # the usual case
        ends = [i for i, script in enumerate(scripts, 1) if script != COPY]
        return tuple("".join(letters[a:b]) for a, b in pairwise([0, *ends, len(letters)]) if a < b)
    upper = is_upper(token)
    words: list[list[str]] = [[]]
    for char, script in zip(letters, scripts, strict=True):
        for symbol in _read(script).symbols(char, upper):
            if symbol is None:
                words.append([])
            else:
                words[-1].append(symbol)
    return tuple("".join(word) for word in words if word)


# --------------------------------------------------------------------------- places
class InContext(NamedTuple):
    """Token and its neighbors; empty at the ends of a sentence."""

    token: str
    before: str
    after: str


def in_context(tokens: Sequence[str], i: int) -> InContext:
    """Return a token of a sentence, by its number, with its neighbors.

    >>> in_context(["a", "b"], 1)
    InContext(token='b', before='a', after='')
    """
    before = tokens[i - 1] if i else ""
    return InContext(tokens[i], before, tokens[i + 1] if i + 1 < len(tokens) else "")


def letter_columns(
    tokens: Sequence[InContext],
    ambiguous: Set[str],
    names: Sequence[str],
    parts: Mapping[str, Column] | None = None,
) -> list[Column]:
    """Return the characters of tokens as rows of numbered columns.

    Parameters
    ----------
    tokens
        None is empty.
    ambiguous
        Those whose words depend on their neighbors.
    names
        Which of `COLUMNS`: ``char``, the character; ``start`` and ``end``, how many there are
        before and after it, 12 for more; ``token``, the token; and of ambiguous tokens alone
        ``form``, the token again, ``before`` and ``after``, its neighbors. They are empty for
        others. Or some of `parts`.
    parts
        Other columns, by name.

    Examples
    --------
    >>> tokens = [in_context(["Its", "a"], i) for i in range(2)]
    >>> char, after = letter_columns(tokens, {"Its"}, ["char", "after"])
    >>> char.values(), after.values()
    (['I', 't', 's', 'a'], ['a', 'a', 'a', ''])
    """
    letters = [letters_of(each.token) for each in tokens]
    lengths = np.array(list(map(len, letters)), np.int64)
    ptr = pointers(lengths)
    places = np.arange(ptr[-1])

    def column(name: str) -> Column:
        if parts and name in parts:
            return parts[name]
        if name == "char":
            return _characters(letters)
        if name == "start":
            return _distances(places - ptr[:-1].repeat(lengths))
        if name == "end":
            return _distances(ptr[1:].repeat(lengths) - places - 1)
        field = InContext._fields.index("token" if name == "form" else name)
        if name == "token":
            types, ids = Column.of([each.token for each in tokens])
        elif ambiguous:
            types, ids = Column.of(
                each[field] if each.token in ambiguous else "" for each in tokens
            )
        else:
            return Column([""], np.zeros(len(places), np.int32))
        return Column(types, ids.repeat(lengths))

    return [column(name) for name in names]


def _distances(far: NDArray[np.int64]) -> Column:
    """Return distances in characters, with one value for all long ones."""
    return Column(_PLACES, np.minimum(far, _FARTHEST_PLACE).astype(np.int32))


def _characters(letters: Sequence[Sequence[str]]) -> Column:
    """Return the letters of tokens."""
    if not all(isinstance(each, str) for each in letters):
        return Column.of(chain.from_iterable(letters))
    text = "".join(chain.from_iterable(letters))
    if text.isascii():
        return Column(_ASCII, np.frombuffer(text.encode(), np.uint8).astype(np.int32))
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    found = np.flatnonzero(np.bincount(codes))
    numbers = np.zeros(int(codes.max(initial=0)) + 1, np.int32)
    numbers[found] = np.arange(len(found))
    return Column(list(map(chr, found.tolist())), numbers[codes])


# --------------------------------------------------------------------------- tokens to words
class _Known:
    """Tokens met before, and what is known of their words."""

    def __init__(self) -> None:
        self._kernel = backend.TokenNumbers() if backend.TokenNumbers else None
        self._numbers: dict[str, int] = {}
        self._single = np.zeros(1 << 12, np.bool_)  # those that are one word, by number
        self.words: dict[str, Words] = {}  # of others; () if they depend on neighbors
        self._bytes = 0  # of keys and values of the dicts

    @property
    def nbytes(self) -> int:
        """Approximate bytes held."""
        return self._bytes + self._single.nbytes + (self._kernel.nbytes if self._kernel else 0)

    def number(
        self, text: str, starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return a number for each token, and by number which tokens are one word."""
        if self._kernel:
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
            numbers = self._kernel.number(codes, starts, ends)
        else:
            tokens = [text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
            for token in tokens:
                if token not in self._numbers:
                    self._numbers[token] = len(self._numbers)
                    self._bytes += _ENTRY_BYTES + getsizeof(token)
            numbers = np.array([self._numbers[token] for token in tokens], np.int32)
        single = self._single
        most = int(numbers.max(initial=0))
        if most >= len(single):  # what another thread notes meanwhile will be found out again
            self._single = single = np.append(single, np.zeros(most, np.bool_))
        return numbers, single

    def note(self, found: Mapping[str, Words]) -> None:
        """Note the words of tokens that are not one word."""
        found = {token: words for token, words in found.items() if len(words) != 1}
        self.words.update(found)
        sizes = map(getsizeof, chain(found, *found.values()))
        self._bytes += sum(sizes) + _ENTRY_BYTES * len(found)


class Splitter:
    """Splits multiword tokens into their words, with a model of edit scripts.

    The words of a token are cached, unless they depend on its neighbors.  Threads may share it.

    Parameters
    ----------
    model
        Trained on `seqtag.training.text_examples.word_examples`. Its known words are the tokens
        that depend on their neighbors.
    source
        Name of its file, for messages.

    Raises
    ------
    ModelFileError
        If it is a model of something else, its parts do not fit together, or one of its scripts
        writes what no column can hold.
    """

    def __init__(self, model: Model, source: str = "<model>"):
        tables = model.compiled.tables
        columns = {*COLUMNS, *chain.from_iterable(map(token_columns, tables))}
        unknown = [name for name in model.compiled.columns if name not in columns]
        if unknown:
            msg = (
                f"expected a model of multiword tokens, which looks at {', '.join(COLUMNS)}, "
                f"found one of {model.column} that looks at {unknown[0]!r}; "
                "train one with --label words"
            )
            raise ModelFileError(msg, source=source)
        broken = [label for label in model.labels if _OUTSIDE_FIELDS.search(label)]
        if broken:
            refuse(
                f"expected scripts without tabs and line breaks, found {show(broken[0])}", source
            )
        self._compiled = model.compiled
        self._find = {name: find_in(table) for name, table in tables.items()}
        self._ambiguous = model.known_words
        self._scripts = [*map(script_of, model.labels)]
        self._changes = np.array([script != COPY for script in self._scripts], np.bool_)
        with fitting(source):
            self._decoder = model.decoder()
        self.clear()
        register(self)

    @property
    def nbytes(self) -> int:
        """Approximate bytes held for the tokens met before."""
        return self._known.nbytes

    def clear(self) -> None:
        """Forget the tokens met before."""
        self._known = _Known()
        self._hashes: dict[str, tuple[list[str], SharedHashes]] = {}  # of the last types of columns

    def split(
        self,
        text: str,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        sentence_ends: NDArray[np.int64],
    ) -> dict[int, Words]:
        """Return the words of multiword tokens.

        Parameters
        ----------
        text
            Text of some sentences.
        starts, ends
            Where its tokens begin and end.
        sentence_ends
            Number of tokens up to the end of each sentence.

        Returns
        -------
        dict
            The tokens of several words, by their number from 0, in order; two words or more, none
            empty.
        """
        if self._known.nbytes > MOST_BYTES:
            self.clear()
        known = self._known  # another thread may replace it
        numbers, single = known.number(text, starts, ends)
        [others] = (~single[numbers]).nonzero()
        if not len(others):
            return {}
        places = zip(starts[others].tolist(), ends[others].tolist(), strict=True)
        tokens = [text[a:b] for a, b in places]
        new = self._words_of_new([t for t in dict.fromkeys(tokens) if t not in known.words])
        known.note(new)

        split: dict[int, Words] = {}
        for i, token in zip(others.tolist(), tokens, strict=True):
            words = new.get(token) or known.words.get(token, ())
            if len(words) == 1:
                single[numbers[i]] = True
            else:
                split[i] = words
        in_contexts = {}  # of tokens that depend on their neighbors
        for i in [i for i, words in split.items() if not words]:
            sentence = np.searchsorted(sentence_ends, i, "right")
            first, last = sentence_ends[sentence - 1] if sentence else 0, sentence_ends[sentence]
            around = slice(max(first, i - 1), min(last, i + 2))
            near = zip(starts[around].tolist(), ends[around].tolist(), strict=True)
            in_contexts[i] = in_context([text[a:b] for a, b in near], min(1, i - first))
        found = self._words([*in_contexts.values()], is_open=True)
        split.update(zip(in_contexts, found, strict=True))
        return {i: words for i, words in split.items() if len(words) > 1}

    def _words_of_new(self, tokens: list[str]) -> dict[str, Words]:
        """Return the words of tokens that are not too long; () if they depend on neighbors."""
        tokens = [token for token in tokens if len(token) <= MOST_TOKEN_CHARACTERS]
        if not tokens:
            return {}
        is_open = self._ambiguous.among(tokens).tolist()
        closed = [token for token, each in zip(tokens, is_open, strict=True) if not each]
        found = self._words([InContext(token, "", "") for token in closed], is_open=False)
        return dict.fromkeys(tokens, ()) | dict(zip(closed, found, strict=True))

    def _words(self, tokens: Sequence[InContext], *, is_open: bool) -> list[Words]:
        """Return the words of tokens, either all ambiguous (`is_open`) or none."""
        answers: list[Words] = [(each.token,) for each in tokens]
        fit = [i for i, each in enumerate(tokens) if 0 < len(each.token) <= MOST_TOKEN_CHARACTERS]
        for first in range(0, len(fit), _BATCH_TOKENS):
            batch = fit[first : first + _BATCH_TOKENS]
            given = [tokens[i] for i in batch]
            encoder = Encoder(self._compiled, backend.hash_strings)
            names = self._compiled.columns
            ambiguous = {each.token for each in given} if is_open else frozenset[str]()
            parts: dict[str, Column] = {}
            for table, find in self._find.items():
                rows = {t: part_rows(letters_of(t), find) for t in {each.token for each in given}}
                parts |= part_columns((rows[each.token] for each in given), table)
            columns = letter_columns(given, ambiguous, names, parts)
            for name, column in zip(names, columns, strict=True):
                last, hashes = self._hashes.get(name, ([], {}))
                if last != column.types:
                    hashes = {}
                    if len(column.types) <= len(_ASCII):  # distances, letters: few, often the same
                        self._hashes[name] = column.types, hashes
                encoder.extend(name, 0, column.types, hashes)
            types = np.array([column.ids for column in columns], np.int32)
            ptr = pointers([len(letters_of(each.token)) for each in given])  # by token
            workspace = self._decoder.workspace()
            ids = self._decoder.decode(types, encoder.hashes, ptr, workspace)
            changed = np.searchsorted(ptr, np.flatnonzero(self._changes[ids]), "right") - 1
            for n in sorted({*changed.tolist()}):
                scripts = [self._scripts[k] for k in ids[ptr[n] : ptr[n + 1]].tolist()]
                answers[batch[n]] = words_of(tokens[batch[n]].token, scripts)
        return answers
