"""Strict JSON reader, safe for foreign data."""

from __future__ import annotations

import json
import math
from functools import cache, partial
from typing import Any

_MAX_DIGITS = 4300
_TOO_DEEP = "nested too deeply"


def loads(text: str | bytes, *, max_digits: int = _MAX_DIGITS) -> Any:
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
        return _decoder(max_digits).decode(
            text if isinstance(text, str) else text.decode("utf-8-sig")
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def next_value(text: str, start: int = 0) -> tuple[Any, int]:
    """Parse the value that begins at a place of a text, and return where it ends.

    Raises
    ------
    ValueError
        As `loads`.

    Examples
    --------
    >>> next_value('[1] {"a": 2}', 4)
    ({'a': 2}, 12)
    """
    try:
        value, end = _decoder(_MAX_DIGITS).raw_decode(text, start)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return value, end


@cache
def _decoder(max_digits: int) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_int=partial(_integer, max_digits),
        parse_float=_number,
        parse_constant=_number,
    )


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
