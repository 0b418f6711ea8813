"""Attributes: what a template can ask about one value of a column, such as its suffix or shape.

An attribute function maps a column value (usually a word) to a string, or to None when it has
nothing to say (no feature is made then). It sees the value alone, never its neighbours, so it
runs once per distinct value and its cost does not matter. Lengths count code points; nothing is
normalised (a letter and its combining mark are two code points).

Add your own with `attribute`, before the templates that use it are read:

>>> @attribute("vowels", replace=True)
... def vowels(word: str) -> str | None:
...     return "".join(c for c in word.lower() if c in "aeiou") or None
>>> resolve("vowels")("Perceptron"), resolve("vowels")("hmm")
('eeo', None)
"""

from __future__ import annotations

import difflib
import inspect
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar

from seqtag.errors import TemplateError

AttributeFunction = Callable[..., "str | None"]
_Function = TypeVar("_Function", bound=AttributeFunction)

MAX_LENGTH = 1000
"""Attribute values are cut to this many code points: garbage "words" must not fill a model."""

RESERVED = ("bias", "label")
"""Words of the template language that no attribute can take."""

_REGISTRY: dict[str, AttributeFunction] = {}


def attribute(name: str, *, replace: bool = False) -> Callable[[_Function], _Function]:
    """Register a function under a name that templates can use.

    Parameters
    ----------
    name
        Letters, digits and underscores, not beginning with a digit; not ``bias`` or ``label``.
    replace
        Whether an attribute of this name may be there already. It is replaced then, also for
        templates that were parsed, but not for those that were compiled before.

    Returns
    -------
    Callable
        A decorator that returns its function unchanged. The function takes the word first, then
        the arguments of the template (``int`` or ``str``; annotate them to have them checked),
        and returns a string or None. It must accept any word, including the empty string.

    Raises
    ------
    TemplateError
        If the name is malformed, reserved or taken.

    Examples
    --------
    >>> @attribute("middle", replace=True)
    ... def middle(word: str, n: int) -> str | None:
    ...     return word[n:-n] or None
    >>> resolve("middle", (2,))("unfolded")
    'fold'
    """
    if not re.fullmatch(r"[^\W\d]\w*", name) or name in RESERVED:
        raise TemplateError(
            f"expected an attribute name of letters, digits and underscores, other than "
            f"{' and '.join(RESERVED)}, found {name!r}; choose another name"
        )

    def register(function: _Function) -> _Function:
        if name in _REGISTRY and not replace:
            raise TemplateError(
                f"attribute {name!r} exists already; choose another name or pass replace=True"
            )
        _REGISTRY[name] = function
        return function

    return register


def attribute_names() -> list[str]:
    """Names of all registered attributes, sorted.

    Examples
    --------
    >>> attribute_names()[:4]
    ['flags', 'form', 'has_digit', 'has_hyphen']
    """
    return sorted(_REGISTRY)


@dataclass(frozen=True)
class _Bound:
    """An attribute with its arguments: word -> value. A class, so that it can be pickled."""

    name: str
    args: tuple[int | str, ...]
    function: AttributeFunction = field(repr=False)

    def __call__(self, word: str) -> str | None:
        return self.many([word])[0]

    def many(self, words: Sequence[str]) -> list[str | None]:
        """The values of many words."""
        function, args = self.function, self.args
        values = [function(word, *args) for word in words]
        if not set(map(type, values)) <= {str, type(None)}:
            self._check(words, values)
        if max(map(len, filter(None, values)), default=0) > MAX_LENGTH:
            return [value and value[:MAX_LENGTH] for value in values]
        return values

    def _check(self, words: Sequence[str], values: Sequence[object]) -> None:
        for word, value in zip(words, values, strict=True):
            if value is not None and not isinstance(value, str):
                raise TemplateError(
                    f"attribute {self.name!r} must return a string or None, "
                    f"found {value!r} for the word {word!r}; correct the function"
                )


def resolve(name: str, args: Sequence[int | str] = ()) -> Callable[[str], str | None]:
    """Look up an attribute and fix its arguments.

    Parameters
    ----------
    name
        A registered name, see `attribute_names`.
    args
        Arguments after the word, such as ``(3,)`` for ``suffix(3)``. They are checked at once:
        by the signature, and by one call with the word "a".

    Returns
    -------
    Callable
        Maps a word to the value (at most `MAX_LENGTH` code points) or None.

    Raises
    ------
    TemplateError
        If there is no such attribute, or it does not take these arguments. The function
        returned raises it if a user's attribute gives anything but a string or None.

    Examples
    --------
    >>> resolve("suffix", (3,))("Walking")
    'ing'
    >>> resolve("short_shape")("McDonald-2000")
    'XxXx-d'
    """
    function = _REGISTRY.get(name)
    if function is None:
        raise TemplateError(
            f"unknown attribute {name!r}{did_you_mean(name, _REGISTRY)}; "
            f"attributes are {', '.join(attribute_names())}"
        )
    _check_arguments(name, function, args)
    bound = _Bound(name, tuple(args), function)
    bound("a")
    return bound


def _check_arguments(name: str, function: AttributeFunction, args: Sequence[int | str]) -> None:
    """Raise unless the function takes these arguments after the word."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1:]
    try:
        signature.bind("", *args)
        fits = all(
            type(arg).__name__ == _annotated_type(parameter)
            for arg, parameter in zip(args, parameters, strict=False)
            if _annotated_type(parameter) in ("int", "str")
        )
    except TypeError:
        fits = False
    if not fits:
        wanted = ", ".join(str(parameter) for parameter in parameters).replace("'", "")
        found = ", ".join(f'"{arg}"' if isinstance(arg, str) else str(arg) for arg in args)
        raise TemplateError(
            f"attribute {name!r} takes the arguments ({wanted}), found ({found}); "
            "correct the arguments"
        )


def _annotated_type(parameter: inspect.Parameter) -> str:
    """The annotation as written, for annotations that are strings or classes."""
    return getattr(parameter.annotation, "__name__", str(parameter.annotation))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The words ", did you mean 'x'?" for the nearest known name, or nothing.

    Examples
    --------
    >>> did_you_mean("sufix", ["prefix", "suffix"])
    ", did you mean 'suffix'?"
    >>> did_you_mean("zzz", ["prefix", "suffix"])
    ''
    """
    near = difflib.get_close_matches(name, known, n=1)
    return f", did you mean {near[0]!r}?" if near else ""


# The built-in attributes. What each one does is documented for users in its docstring.


@attribute("form")
def _form(word: str) -> str:
    """The value itself."""
    return word


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
    if n < 1:
        raise _not_positive("prefix", n)
    lower = word.lower()
    return lower[:n] if len(lower) >= n else None


@attribute("suffix")
def _suffix(word: str, n: int) -> str | None:
    """The last n characters of the lower-cased word; None if it is shorter."""
    if n < 1:
        raise _not_positive("suffix", n)
    lower = word.lower()
    return lower[-n:] if len(lower) >= n else None


def _not_positive(name: str, n: int) -> TemplateError:
    return TemplateError(f"{name} expects a length of 1 or more, found {n}")


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
    found = _search(regex, word)
    return found[0] if found else ""


@attribute("match_lower")
def _match_lower(word: str, regex: str) -> str:
    """The match in lower case (the expression sees the word as it is)."""
    return _match(word, regex).lower()


@attribute("test")
def _test(word: str, regex: str) -> str:
    """1 if the regular expression matches some part of the word, else 0."""
    return _bit(_search(regex, word) is not None)


def _search(regex: str, word: str) -> re.Match[str] | None:
    try:
        return re.search(regex, word)
    except re.error as error:
        raise TemplateError(
            f'"{regex}" is not a regular expression: {error}; correct it'
        ) from error
