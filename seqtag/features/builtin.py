"""Built-in attributes. Each docstring describes the value and is shown to users."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

from seqtag.caching import cached
from seqtag.errors import TemplateError
from seqtag.features.attributes import attribute
from seqtag.features.regexes import bounded


@attribute("form")
def _form(word: str) -> str:
    """The value itself."""
    return word


@attribute("value")
def _value(word: str) -> str | None:
    """The value itself; None if it is empty."""
    return word or None


@attribute("lower")
def _lower(word: str) -> str:
    """The word in lower case."""
    return word.lower()


@attribute("normal")
def _normal(word: str) -> str:
    """The word in lower case with every decimal digit (of any script) as 0."""
    return word.lower() if word.isalpha() else re.sub(r"\d", "0", word.lower())


@attribute("prefix")
def _prefix(word: str, n: int) -> str | None:
    """The first n characters of the lower-cased word; None if it is shorter."""
    _check_length("prefix", n)
    lower = word.lower()
    return lower[:n] if len(lower) >= n else None


@attribute("suffix")
def _suffix(word: str, n: int) -> str | None:
    """The last n characters of the lower-cased word; None if it is shorter."""
    _check_length("suffix", n)
    lower = word.lower()
    return lower[-n:] if len(lower) >= n else None


def _check_length(name: str, n: int) -> None:
    if n < 1:
        msg = f"{name} expects a length of 1 or more, found {n}"
        raise TemplateError(msg)


@attribute("shape")
def _shape(word: str) -> str:
    """X for an upper-case letter, x for lower case, d for a digit, other characters as they are."""
    return "".join(map(character_class, word))


def character_class(char: str) -> str:
    """Return the class of a character in a shape."""
    if char.isupper():
        return "X"
    if char.islower():
        return "x"
    return "d" if char.isdecimal() else char


@attribute("outline")
def _outline(word: str) -> str:
    """The shape with runs of one character written once: Walking-1999 -> Xx-d.

    Symbols are their Unicode category (Sc for £, Sm for ∈), except < > ^ ` | ~, which plain text
    uses as punctuation. Accents and joiners belong to their base characters.
    """
    if word.isascii() and word.isalpha() and word.islower():
        return "x"  # the usual case
    return "".join(kind for kind, _ in groupby(filter(None, map(character_kind, word))))


@cached
def character_kind(char: str) -> str:
    """Return the class of a character in an outline; empty for a mark or a joiner."""
    category = unicodedata.category(char)
    if category[0] == "S" and char not in "<>^`|~":
        return category
    return "" if category[0] == "M" or category == "Cf" else character_class(char)


def _bit(condition: bool) -> str:
    return "1" if condition else "0"


@attribute("flags")
def _flags(word: str) -> str:
    """Six digits, 1 or 0 each: whether the word is written in a certain way.

    It begins with an upper-case letter; has upper-case letters and no lower-case ones; has a
    decimal digit; has a hyphen-minus; is made of letters only; has an upper-case letter after the
    first character.
    """
    if word.isalpha() and word.islower():
        return "000010"  # the usual case
    flags = (
        word[:1].isupper(),
        word.isupper(),
        any(map(str.isdecimal, word)),
        "-" in word,
        word.isalpha(),
        any(map(str.isupper, word[1:])),
    )
    return "".join(map(_bit, flags))


@attribute("match")
def _match(word: str, regex: str) -> str:
    """The first part of the word that the regular expression matches; empty if there is none."""
    found = bounded(regex).search(word)
    return found[0] if found else ""


@attribute("match_lower")
def _match_lower(word: str, regex: str) -> str:
    """The match in lower case (the expression sees the word as it is)."""
    return _match(word, regex).lower()


@attribute("test")
def _test(word: str, regex: str) -> str:
    """1 if the regular expression matches some part of the word, else 0."""
    return _bit(bounded(regex).search(word) is not None)


@attribute("length")
def _length(word: str) -> str:
    """The number of characters, from 0 to 9; 9 also for longer words."""
    return str(min(len(word), 9))


_VOWELS = frozenset(
    "aeiouyıæøœəɛɔɨʉ"  # Latin
    "αεηιουω"  # Greek
    "аеиоуыэюяєіәөүұӕѡѣѥѧѩѫѭѵꙋꙑꙗ"  # Cyrillic
    "աեէըիոօ"  # Armenian
    "აეიოუ"  # Georgian
    "ⲁⲉⲏⲓⲟⲩⲱ"  # Coptic
    "اويىیەېۆۇۈ"  # Arabic: all vowels of Uyghur and Kurdish, the long ones of Arabic and Persian
)
_CONSONANTS = frozenset("йў")
"""Consonant letters whose base letter is a vowel."""


@attribute("skeleton")
def _skeleton(word: str, n: int, classes: str = "") -> str | None:
    """The suffix of n characters with every vowel as V; None if that changes nothing.

    Endings that differ by vowel harmony have the same skeleton: Turkish -lar and -ler. Accents do
    not matter. A Hangul syllable is its first consonant, V and its last consonant; without the
    first one where the suffix begins, so that the endings of 한 and 간 are the same.

    Classes say which letters to write as one instead of the vowels: "ae=A iıoöuü=I dt=D". Those
    that are in no class count as their base letter (é as e), or as themselves.
    """
    letters = letters_of(classes)
    suffix = _suffix(word, n)
    if suffix is None:
        return None
    if letters:
        skeleton = "".join(letters.get(char) or letters.get(base(char), char) for char in suffix)
    else:
        skeleton = "".join(map(vowel_as_v, suffix))
        if is_hangul(suffix[0]):
            skeleton = skeleton[1:]
    return None if skeleton == suffix else skeleton


@lru_cache(maxsize=64)
def letters_of(classes: str) -> dict[str, str]:
    """Parse classes such as "ae=A dt=D": what to write for each letter."""
    letters: dict[str, str] = {}
    for item in classes.split():
        members, _, written = item.partition("=")
        twice = [char for char in members if char in letters or members.count(char) > 1]
        if not members or len(written) != 1 or members != members.lower() or twice:
            msg = (
                'skeleton expects classes of letters such as "ae=A dt=D": lower-case letters, '
                f"each once, then = and what to write for them, one character; found {item!r}"
            )
            raise TemplateError(msg)
        letters.update(dict.fromkeys(members, written))
    return letters


@cached
def vowel_as_v(char: str) -> str:
    """Return V for a vowel, the consonants around V for a Hangul syllable, or the character."""
    if is_hangul(char):
        letters = unicodedata.normalize("NFD", char)
        return letters[0] + "V" + letters[2:]
    return "V" if char not in _CONSONANTS and _is_vowel(base(char)) else char


def _is_vowel(char: str) -> bool:
    if "\u0900" <= char < "\u0d80":  # Indic scripts from Devanagari to Malayalam are laid out alike
        place = ord(char) % 0x80
        return 0x05 <= place <= 0x14 or 0x3E <= place <= 0x4C  # letters; signs
    return char in _VOWELS


def is_hangul(char: str) -> bool:
    """Return whether a character is a Hangul syllable."""
    return "\uac00" <= char <= "\ud7a3"


def base(char: str) -> str:
    """Return a letter without its marks."""
    return unicodedata.normalize("NFD", char)[0]
