"""Normal forms: one form for spellings that attributes treat as the same word.

Real text writes ``don’t`` where a treebank has ``don't``, full-width ``２０`` for 20, and a letter
with its accent as one code point or as two. A model sees the normal form of each value, in training
and in tagging; output has the value itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import is_normalized, normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SINGLE_QUOTES = "‘’‚‛′ʼ´＇\u1ffd"
_DOUBLE_QUOTES = "“”„‟″＂"
_DASHES = "‐‑‒–—―−－"
_SPACES = "\u00a0\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_INVISIBLE = "\u00ad\u200b\u200e\u200f\u2060\ufe0e\ufe0f\ufeff"
_TO_NARROW = 0xFEE0  # from a full-width character down to the plain one


def _plain_characters() -> dict[int, int]:
    plain = {
        ord(char): ord(to)
        for chars, to in (
            (_SINGLE_QUOTES, "'"),
            (_DOUBLE_QUOTES, '"'),
            (_DASHES, "-"),
            (_SPACES, " "),
        )
        for char in chars
    }
    wide = [char for char in range(0xFF01, 0xFF5F) if chr(char).isalnum()]
    return plain | {char: char - _TO_NARROW for char in wide}


PLAIN_CHARACTERS = _plain_characters()
"""Code points treated as others, one to one: typographic quotes and apostrophes, dashes, white
space, full-width letters and digits. Guillemets and corner brackets stay: they show which way they
open."""

AS_PLAIN: dict[int, int | None] = {**PLAIN_CHARACTERS, **dict.fromkeys(map(ord, _INVISIBLE))}
"""The same for `str.translate`, which removes invisible characters."""


def normal_form(text: str) -> str:
    r"""Return the normal form of a text: composed (NFC), plain characters, nothing invisible.

    Soft hyphens, zero-width spaces, direction marks and variation selectors are removed; joiners,
    which distinguish words, stay. A text of invisible characters only stays as it is. The function
    is idempotent.

    Examples
    --------
    >>> normal_form("don’t"), normal_form("e\u0301te\u0301"), normal_form("Ｎｏ.１")
    ("don't", 'été', 'No.1')
    """
    if text.isascii():
        return text
    return normalize("NFC", text.translate(AS_PLAIN)) or text


def note_of_spellings(words: Iterable[tuple[str, int]]) -> str:
    r"""Return a warning about words of which some are composed (NFC) and some decomposed.

    Parameters
    ----------
    words
        Words, and how often each is there.

    Returns
    -------
    str
        A sentence with counts; empty if all words are composed, or none that could be.

    Examples
    --------
    >>> note_of_spellings([("cafe\u0301", 2), ("th\u00e9", 1), ("the", 7)])[:50]
    '2 of 10 words are not in the composed Unicode form'
    >>> note_of_spellings([("cafe\u0301", 2), ("the", 7)])
    ''
    """
    total, count, first, composed = 0, 0, "", False
    for word, times in words:
        total += times
        if word.isascii():
            continue
        if not is_normalized("NFC", word):
            count += times
            first = first or word
        elif not composed:
            composed = not is_normalized("NFD", word)
    if not count or not composed:
        return ""
    return (
        f"{count:,} of {total:,} words are not in the composed Unicode form (NFC), such as "
        f"{first}, but others are; all are read as composed, and outputs keep the original bytes"
    )


def normal_forms(texts: Sequence[str]) -> list[str]:
    """Return the normal form of each text, in which attributes see it.

    >>> normal_forms(["can’t", "be"])
    ["can't", 'be']
    """
    return [text if text.isascii() else normal_form(text) for text in texts]
