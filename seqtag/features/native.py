"""Built-in attributes in the kernel, and the character properties that it needs.

The functions of `seqtag.features.builtin` define each attribute; the kernel computes the same
values many times faster. It gets its character properties from those functions and from the Unicode
tables of the running Python, one block of code points when a word first needs it. A replaced
attribute is another function and is left to Python.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING
from unicodedata import category, combining, normalize

import numpy as np

from seqtag.engine import backend
from seqtag.features import builtin
from seqtag.features.attributes import BoundAttribute
from seqtag.features.normal_forms import AS_PLAIN, normal_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from seqtag.engine.interface import AttributeCall
    from seqtag.features.attributes import AttributeFunction

BLOCK = 32
"""Code points that are described at a time."""

_NAMES: Mapping[AttributeFunction, str] = {
    getattr(builtin, f"_{name}"): name
    for name in (
        "form",
        "value",
        "lower",
        "normal",
        "prefix",
        "suffix",
        "skeleton",
        "shape",
        "outline",
        "flags",
        "length",
    )
}

_NONE = -1

# Bits of a character, as the kernel has them (unicode.h).
_UPPER, _SMALL, _DECIMAL, _ALPHA, _COMPOSED, _CONTEXTUAL, _BEGINS_LATE = (1 << n for n in range(7))


def hash_attributes(
    attributes: Mapping[int, BoundAttribute], words: list[str]
) -> dict[int, NDArray[np.uint64]]:
    """Hash the values of attributes that the kernel computes: (words,) uint64, 0 if absent.

    Parameters
    ----------
    attributes
        Attributes by number.
    words
        Words as they are written.
    """
    if backend.hash_attributes is None:
        return {}
    calls = {key: _call_of(attribute) for key, attribute in attributes.items()}
    known = {key: call for key, call in calls.items() if call is not None}
    if not known:
        return {}
    found = backend.hash_attributes(words, list(known.values()), describe, spell)
    return dict(zip(known, found, strict=True))


def calls_of(attributes: Iterable[object]) -> list[AttributeCall] | None:
    """Return what to ask the kernel for some attributes, or None if one of them is in Python."""
    calls = [_call_of(each) if isinstance(each, BoundAttribute) else None for each in attributes]
    return None if None in calls else [call for call in calls if call is not None]


@lru_cache(maxsize=1024)
def _call_of(attribute: BoundAttribute) -> AttributeCall | None:
    """Return what to ask the kernel for an attribute, or None if it is in Python."""
    name = _NAMES.get(attribute.function)
    if name is None:
        return None
    number, classes = (*attribute.args, "")[:2] if attribute.args else (0, "")
    letters = builtin.letters_of(str(classes))
    return name, int(number), [(ord(char), ord(written)) for char, written in letters.items()]


def spell(word: str) -> tuple[str, str]:
    """Return the form of a word that attributes see, and that in lower case."""
    seen = normal_form(word)
    return seen, seen.lower()


def describe(block: int) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint8]]:
    """Return the character properties of a block of code points.

    Returns
    -------
    codes : numpy.ndarray
        (32, 10) int32, -1 for none: what each counts as in a normal form, its lower case (3),
        what is written for it in a skeleton (3), its letter without marks, its class in a shape,
        and in an outline (the two letters of a category as one negative number).
    bits : numpy.ndarray
        (32,) uint16, what holds of it.
    combining : numpy.ndarray
        (32,) uint8, its canonical combining class.

    Examples
    --------
    >>> codes, bits, combining = describe(ord("A") // BLOCK)
    >>> codes[ord("A") % BLOCK].tolist()
    [65, 97, -1, -1, 65, -1, -1, 65, 88, 88]
    """
    first = block * BLOCK
    chars = list(map(chr, range(first, first + BLOCK)))
    codes = np.full((BLOCK, 10), _NONE, np.int32)
    plain = [AS_PLAIN.get(code, code) for code in range(first, first + BLOCK)]
    codes[:, 0] = [_NONE if code is None else code for code in plain]
    written = (  # where, and what
        (1, list(map(str.lower, chars))),
        (4, list(map(builtin.vowel_as_v, chars))),
        (7, list(map(builtin.base, chars))),
        (8, list(map(builtin.character_class, chars))),
    )
    for column, texts in written:
        for more, letters in enumerate(zip_longest(*texts)):
            codes[:, column + more] = [_NONE if char is None else ord(char) for char in letters]
    for row, kind in enumerate(map(builtin.character_kind, chars)):
        if len(kind) == 2:  # a category
            codes[row, 9] = -(256 * ord(kind[0]) + ord(kind[1]))
        elif kind:
            codes[row, 9] = ord(kind)
    return codes, _bits_of(chars), np.fromiter(map(combining, chars), np.uint8, BLOCK)


def _bits_of(chars: list[str]) -> NDArray[np.uint16]:
    """Return the properties of each character as bits: (characters,) uint16."""
    categories = list(map(category, chars))
    holds = (
        (_UPPER, map(str.isupper, chars)),
        (_SMALL, map(str.islower, chars)),
        (_SMALL, (kind == "Lt" for kind in categories)),
        (_DECIMAL, map(str.isdecimal, chars)),
        (_ALPHA, map(str.isalpha, chars)),
        (_COMPOSED, map(is_composed, chars)),
        (_CONTEXTUAL, (("a" + char).lower() != "a" + char.lower() for char in chars)),
        (_BEGINS_LATE, map(builtin.is_hangul, chars)),
    )
    bits = np.zeros(len(chars), np.uint16)
    for bit, each in holds:
        bits[np.fromiter(each, bool, len(chars))] |= bit
    return bits


_JUNGSEONG = "\u1161"  # a letter that may join the one before it
_TELLS = normalize("NFC", _JUNGSEONG) is not _JUNGSEONG


def is_composed(char: str) -> bool:
    """Return whether NFC keeps a character after any other.

    Python does not expose which characters may combine with the one before. But `normalize` returns
    the same object if a quick check proves the text normal, and a copy if it needs a closer look.
    """
    return char.isascii() or (_TELLS and normalize("NFC", char) is char)
