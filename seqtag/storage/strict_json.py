"""Strict JSON reader, safe for foreign data."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any


def loads(text: str | bytes, *, max_digits: int = 4300) -> Any:
    """Parse JSON; refuse duplicate keys, NaN, infinity, very long integers and deep nesting.

    Parameters
    ----------
    text
        A JSON document, as text or in UTF-8.
    max_digits
        The most characters of an integer. The time of a conversion is quadratic in them.

    Raises
    ------
    ValueError
        If the text is not JSON or has one of these.

    Examples
    --------
    >>> loads('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: duplicate key 'a'
    """
    try:
        return json.loads(
            text if isinstance(text, str) else text.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_int=partial(_integer, max_digits),
            parse_float=_number,
            parse_constant=_number,
        )
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                msg = f"duplicate key {key[:60]!a}"
                raise ValueError(msg)
            seen.add(key)
    return found


def _integer(max_digits: int, text: str) -> int:
    if len(text) > max_digits:
        msg = f"integer of {len(text)} digits, at most {max_digits} are allowed"
        raise ValueError(msg)
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        msg = f"number {text[:60]!r} is not finite"
        raise ValueError(msg)
    return value
