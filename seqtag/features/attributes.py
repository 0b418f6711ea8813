"""Attributes: functions of one column value that templates use, such as its suffix or shape.

An attribute maps a column value (usually a word) to a string, or to None for no feature. It sees
the value alone, never its neighbors, so that it runs once per distinct value. Models give it the
normal form of the value (`seqtag.features.normal_forms`): composed letters, plain quotes and
dashes. Lengths count code points.

Add your own with `attribute`, before the templates that use it are read:

>>> @attribute("vowels", replace=True)
... def vowels(word: str) -> str | None:
...     return "".join(c for c in word.lower() if c in "aeiou") or None
>>> resolve("vowels")("Perceptron"), resolve("vowels")("hmm")
('eeo', None)
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from seqtag.errors import SeqtagError, TemplateError, did_you_mean

if TYPE_CHECKING:
    from os import PathLike

AttributeFunction = Callable[..., "str | None"]
_Function = TypeVar("_Function", bound=AttributeFunction)

MAX_LENGTH = 1000
"""Attribute values are cut to this many code points: garbage must not fill a model."""

RESERVED = ("bias", "label")
"""Words of the template language that no attribute can take."""

TABLE_ATTRIBUTES = ("class", "lexicon")
"""Attributes that look words up in a table; see `seqtag.tables.table`."""

_REGISTRY: dict[str, AttributeFunction] = {}


def attribute(name: str, *, replace: bool = False) -> Callable[[_Function], _Function]:
    """Register a function under a name that templates can use.

    Parameters
    ----------
    name
        Letters, digits and underscores, not beginning with a digit; not ``bias`` or ``label``.
    replace
        Replace an existing attribute of this name, except the lookups of `TABLE_ATTRIBUTES`. Parsed
        templates use the new function; compiled templates keep the old one.

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
        msg = (
            f"expected an attribute name of letters, digits and underscores, other than "
            f"{' and '.join(RESERVED)}, found {name!r}; choose another name"
        )
        raise TemplateError(msg)

    def register(function: _Function) -> _Function:
        if name in TABLE_ATTRIBUTES:
            msg = f"attribute {name!r} exists already, for word tables; choose another name"
            raise TemplateError(msg)
        if name in _REGISTRY and not replace:
            msg = f"attribute {name!r} exists already; choose another name or pass replace=True"
            raise TemplateError(msg)
        _REGISTRY[name] = function
        return function

    return register


def attribute_names() -> list[str]:
    """Return the names of all attributes, sorted: registered ones, and lookups in word tables.

    Examples
    --------
    >>> attribute_names()[:4]
    ['class', 'flags', 'form', 'length']
    """
    return sorted([*_REGISTRY, *TABLE_ATTRIBUTES])


def is_attribute(name: str) -> bool:
    """Return whether there is an attribute of a name.

    >>> is_attribute("lower"), is_attribute("class"), is_attribute("pos")
    (True, True, False)
    """
    return name in _REGISTRY or name in TABLE_ATTRIBUTES


class BoundAttribute(NamedTuple):
    """Attribute with its arguments, as a function from word to value that can be pickled."""

    name: str
    args: tuple[int | str, ...]
    function: AttributeFunction

    def __call__(self, word: str) -> str | None:
        """Return the value of one word."""
        return self.many([word])[0]

    def many(self, words: Sequence[str]) -> list[str | None]:
        """Return the values of many words, in their order, each cut to `MAX_LENGTH` code points.

        Raises
        ------
        TemplateError
            If the function fails, or returns anything but a string or None.
        """
        function, args = self.function, self.args
        try:
            values = [function(word, *args) for word in words]
        except (SeqtagError, KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # user code; SystemExit would end the command silently
            file = getattr(getattr(function, "__code__", None), "co_filename", None)
            place = line_in(error, file) if file else None
            where = f" at {file}:{place}" if place else ""
            msg = f"attribute {self.name!r} fails{where} ({described(error)}); correct the function"
            raise TemplateError(msg) from error
        if not set(map(type, values)) <= {str, type(None)}:
            for word, value in zip(words, values, strict=True):
                if value is not None and not isinstance(value, str):
                    msg = (
                        f"attribute {self.name!r} must return a string or None, "
                        f"found {value!r} for the word {word!r}; correct the function"
                    )
                    raise TemplateError(msg)
        if max(map(len, filter(None, values)), default=0) > MAX_LENGTH:
            return [value and value[:MAX_LENGTH] for value in values]
        return values


def resolve(name: str, args: Sequence[int | str] = ()) -> BoundAttribute:
    """Look up an attribute and fix its arguments.

    Parameters
    ----------
    name
        A registered name: one of `attribute_names`, except the lookups of `TABLE_ATTRIBUTES`.
    args
        Arguments after the word, such as ``(3,)`` for ``suffix(3)``. They are checked at once:
        by the signature, and by one call with the word "a".

    Returns
    -------
    BoundAttribute
        Maps a word to the value (at most `MAX_LENGTH` code points) or None.

    Raises
    ------
    TemplateError
        If there is no such attribute, it does not take these arguments, or it fails for the word
        "a". See also `BoundAttribute.many`.

    Examples
    --------
    >>> resolve("suffix", (3,))("Walking")
    'ing'
    >>> resolve("outline")("McDonald-2000")
    'XxXx-d'
    """
    function = _REGISTRY.get(name)
    if function is None:
        msg = (
            f"unknown attribute {name!r}{did_you_mean(name, _REGISTRY)}; "
            f"attributes are {', '.join(attribute_names())}"
        )
        raise TemplateError(msg)
    _check_arguments(name, function, args)
    return _bound(name, function, tuple(args))


@lru_cache(maxsize=1024)  # models name the same attributes again and again
def _bound(name: str, function: AttributeFunction, args: tuple[int | str, ...]) -> BoundAttribute:
    """Return an attribute with its arguments; call it once, to find errors in them early."""
    bound = BoundAttribute(name, args, function)
    bound("a")
    return bound


def described(error: BaseException) -> str:
    """Return the type and message of an error of user code, on one line of at most 500 characters.

    >>> described(KeyError("a"))
    "KeyError: 'a'"
    """
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


def line_in(error: BaseException, file: str) -> int | None:
    """Return the innermost line of a file, from 1, in the traceback of an error; None if none."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == file
    ]
    return lines[-1] if lines else None


def _check_arguments(name: str, function: AttributeFunction, args: Sequence[int | str]) -> None:
    """Refuse arguments that the function does not take after the word."""
    try:
        fits = _takes(function, tuple(map(type, args)))
    except (TypeError, ValueError):
        msg = (
            f"expected a function as the attribute {name!r}, found {function!r:.60}; decorate a "
            "function that takes a word"
        )
        raise TemplateError(msg) from None
    if not fits:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        wanted = ", ".join(str(parameter) for parameter in parameters).replace("'", "")
        found = ", ".join(f'"{arg}"' if isinstance(arg, str) else str(arg) for arg in args)
        msg = (
            f"attribute {name!r} takes the arguments ({wanted}), found ({found}); "
            "correct the arguments"
        )
        raise TemplateError(msg)


@lru_cache(maxsize=256)  # models name the same few attributes
def _takes(function: AttributeFunction, kinds: tuple[type, ...]) -> bool:
    """Return whether a function takes a word and arguments of these types.

    Only annotations ``int`` and ``str`` are checked.
    """
    signature = inspect.signature(function)
    try:
        signature.bind("", *kinds)
    except TypeError:
        return False
    parameters = list(signature.parameters.values())[1:]
    return all(
        kind.__name__ == _annotated_type(parameter)
        for kind, parameter in zip(kinds, parameters, strict=False)  # others have defaults
        if _annotated_type(parameter) in ("int", "str")
    )


def _annotated_type(parameter: inspect.Parameter) -> str:
    """Return the annotation of a parameter as text, whether it is a string or a class."""
    return getattr(parameter.annotation, "__name__", str(parameter.annotation))


def load_attributes(path: str | PathLike[str]) -> list[str]:
    r"""Run a Python file, and return the names of the attributes that it has registered.

    The file is code and has all rights of the user. Loading it again replaces the attributes that
    it registered before. If it fails, those that it registered until then stay.

    Parameters
    ----------
    path
        A file in which functions are decorated with `seqtag.features.attribute`.

    Raises
    ------
    TemplateError
        If the file is not valid Python, fails, or registers nothing.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mine.py")
    >>> _ = path.write_text(
    ...     "from seqtag.features import attribute\n"
    ...     "@attribute('initial')\n"
    ...     "def initial(word):\n"
    ...     "    return word[:1] or None\n"
    ... )
    >>> load_attributes(path)
    ['initial']
    """
    file, source = Path(path), str(path)
    text = file.read_bytes()
    for name, function in [*_REGISTRY.items()]:
        if getattr(function, "__globals__", {}).get("__file__") == source:
            del _REGISTRY[name]
    before = dict(_REGISTRY)
    module = ModuleType(f"seqtag_attributes_{file.stem}")
    module.__file__ = source
    sys.modules[module.__name__] = module  # dataclasses look it up there
    try:
        exec(compile(text, source, "exec", dont_inherit=True), module.__dict__)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit would end the command silently
        what = described(error)
        msg = f"expected Python that registers attributes, found an error: {what}; correct it"
        raise TemplateError(msg, source=source, line=line_in(error, source)) from error
    names = sorted(name for name, each in _REGISTRY.items() if before.get(name) is not each)
    if not names:
        msg = (
            "expected functions decorated with seqtag.features.attribute, found none; register "
            'one with @attribute("name")'
        )
        raise TemplateError(msg, source=source)
    return names
