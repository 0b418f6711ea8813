"""Columns that stand in for others."""

from __future__ import annotations

from functools import lru_cache

ALIASES = {"pos": ("xpos", "upos"), "xpos": ("pos",), "upos": ("pos",)}
"""Columns that stand in for one that a file does not have."""


@lru_cache(maxsize=256)
def find_column(name: str, available: tuple[str, ...]) -> str | None:
    """The column itself, or the first of its aliases that is there.

    >>> find_column("pos", ("id", "form", "upos", "xpos"))
    'xpos'
    """
    candidates = (name, *ALIASES.get(name, ()))
    return next((candidate for candidate in candidates if candidate in available), None)
