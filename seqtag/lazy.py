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


def names_of(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when they are first used.

    Parameters
    ----------
    package
        Its name.
    names
        The names of each module.
    """
    homes = {name: module for module, several in names.items() for name in several}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__
