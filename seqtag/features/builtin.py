"""The built-in attributes. What each one does is documented for users in its docstring."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import groupby

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
    return "".join(map(_character_class, word))


def _character_class(char: str) -> str:
    if char.isupper():
        return "X"
    if char.islower():
        return "x"
    return "d" if char.isdecimal() else char


@attribute("short_shape")
def _short_shape(word: str) -> str:
    """The shape with runs of one character written once: Walking-1999 -> Xx-d."""
    if word.isascii() and word.isalpha() and word.islower():
        return "x"  # the usual case
    return "".join(char for char, _ in groupby(_shape(word)))


@attribute("outline")
def _outline(word: str) -> str:
    """The short shape with symbols as their Unicode category (Sc for £, Sm for ∈), without marks.

    Accents and joiners belong to what they stand on. The characters < > ^ ` | ~ stay as they are:
    plain text uses them as punctuation.
    """
    if word.isascii() and word.isalpha() and word.islower():
        return "x"  # the usual case
    return "".join(kind for kind, _ in groupby(filter(None, map(_character_kind, word))))


@cache
def _character_kind(char: str) -> str:
    """The class of a character; nothing for a mark or a joiner."""
    category = unicodedata.category(char)
    if category[0] == "S" and char not in "<>^`|~":
        return category
    return "" if category[0] == "M" or category == "Cf" else _character_class(char)


@attribute("is_title")
def _is_title(word: str) -> str:
    """1 if the word begins with an upper-case letter, else 0."""
    return _bit(word[:1].isupper())


@attribute("is_upper")
def _is_upper(word: str) -> str:
    """1 if the word has upper-case letters and no lower-case ones, else 0."""
    return _bit(word.isupper())


@attribute("has_digit")
def _has_digit(word: str) -> str:
    """1 if a decimal digit is in the word, else 0."""
    return _bit(any(map(str.isdecimal, word)))


@attribute("has_hyphen")
def _has_hyphen(word: str) -> str:
    """1 if a hyphen-minus is in the word, else 0."""
    return _bit("-" in word)


@attribute("is_alpha")
def _is_alpha(word: str) -> str:
    """1 if the word is made of letters only, else 0."""
    return _bit(word.isalpha())


@attribute("has_inner_upper")
def _has_inner_upper(word: str) -> str:
    """1 if an upper-case letter stands after the first character, else 0."""
    return _bit(any(map(str.isupper, word[1:])))


@attribute("is_punct")
def _is_punct(word: str) -> str:
    """1 if the word is made of punctuation and symbols only (an emoji is a symbol), else 0."""
    return _bit(word != "" and all(unicodedata.category(char)[0] in "PS" for char in word))


def _bit(condition: bool) -> str:
    return "1" if condition else "0"


_FLAGS = (_is_title, _is_upper, _has_digit, _has_hyphen, _is_alpha, _has_inner_upper)


@attribute("flags")
def _flags(word: str) -> str:
    """Six bits in one: is_title is_upper has_digit has_hyphen is_alpha has_inner_upper."""
    if word.isalpha() and word.islower():
        return "000010"  # the usual case
    return "".join(flag(word) for flag in _FLAGS)


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


_VOWELS = frozenset(
    "aeiouyıæøœəɛɔɨʉ"  # Latin; marks on letters do not matter
    "αεηιουω"  # Greek
    "аеиоуыэюяєіѵӏәөүұӕ"  # Cyrillic
    "աեէըիոօ"  # Armenian
    "აეიოუ"  # Georgian
    "ⲁⲉⲏⲓⲟⲩⲱ"  # Coptic
)


@attribute("skeleton")
def _skeleton(word: str, n: int) -> str | None:
    """The suffix of n characters with every vowel letter as V; None without a vowel in it.

    Endings that differ by vowel harmony have the same skeleton: Turkish -lar and -ler.
    """
    suffix = _suffix(word, n)
    if suffix is None:
        return None
    skeleton = "".join("V" if _is_vowel(char) else char for char in suffix)
    return None if skeleton == suffix else skeleton


@lru_cache(maxsize=1 << 12)
def _is_vowel(char: str) -> bool:
    return unicodedata.normalize("NFD", char)[0] in _VOWELS
