"""Public names of packages, imported when they are first used."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = (
    False  # type checkers take it for true; importing typing would take ten times as long
)
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def names_of(
    package: str, names: Mapping[str, Sequence[str]], others: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when they are first used.

    Parameters
    ----------
    package
        Its name.
    names
        The names of each module.
    others
        What to use instead of names of other toolkits, as in `other_names`.
    """
    found = other_names(others or {}, f"module {package!r}")
    homes = {name: module for module, several in names.items() for name in several}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in homes:
            try:
                return found(sys.modules[package], name)
            except AttributeError as error:
                from opcode import opmap

                caller = sys._getframe(1)  # ``from PACKAGE import NAME`` hides other errors
                if caller.f_code.co_code[caller.f_lasti] != opmap["IMPORT_FROM"]:
                    raise
                raise ImportError(str(error), name=package) from None
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__


def other_names(ours: Mapping[str, str], owner: str = "") -> Callable[[Any, str], Any]:
    """Return the `__getattr__` of a class that knows what other toolkits call its attributes.

    Parameters
    ----------
    ours
        The names that each attribute has elsewhere; or those of what a program can use instead.
    owner
        What messages call the owner of the attributes; by default its class.

    Examples
    --------
    >>> class Word:
    ...     upos, __getattr__ = "NOUN", other_names({"upos": "pos_", "str(word)": "to_json"})
    >>> Word().pos_
    'NOUN'
    >>> Word().to_json
    Traceback (most recent call last):
    AttributeError: Word has no attribute 'to_json'; use str(word)
    """
    known = {name: our for our, names in ours.items() for name in names.split()}

    def __getattr__(self: Any, name: str) -> Any:  # noqa: N807
        our = known.get(name, "")
        if our.isidentifier():
            return getattr(self, our)
        use = f"; use {our}" if our else ""
        msg = f"{owner or type(self).__name__} has no attribute {name!r}{use}"
        raise AttributeError(msg, name=name, obj=self)

    return __getattr__
