"""Features given in Python: the dicts, lists and sets of python-crfsuite, read as it reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqtag.engine.arrays import Instances, pointers
from seqtag.errors import CorpusError, located

Names = dict[str, int]
"""Row of each attribute, by name."""

_SEPARATOR = ":"
_KINDS = (dict, list, set, frozenset, Mapping)  # the common ones first: it is a matter of speed


def attributes_of(token: Any) -> dict[str, float]:
    """Return the attributes of a token with their values, under the names of CRFsuite.

    Parameters
    ----------
    token
        A dict from names to values, or a list or set of names, whose value is 1. In a dict the
        string ``"x"`` as ``name`` makes the attribute ``name:x`` of value 1; True is 1 and False
        is 0; a number is itself; a dict, list or set makes the attributes ``name:...`` of what it
        holds, at any depth. Bytes are UTF-8.

    Returns
    -------
    dict
        In the order given, sets in alphabetical order. What is named twice has the sum.

    Raises
    ------
    CorpusError
        If a name is no string, or a value is none of these or not finite.

    Examples
    --------
    >>> attributes_of({"word": "Oslo", "title": True, "length": 4, "in": ["cities", "no"]})
    {'word:Oslo': 1.0, 'title': 1.0, 'length': 4.0, 'in:cities': 1.0, 'in:no': 1.0}
    >>> attributes_of(["bias", "suffix=lo"])
    {'bias': 1.0, 'suffix=lo': 1.0}
    """
    found: dict[str, float] = {}
    _add(found, token, "")
    return found


def index_feature_dicts(
    sentences: Iterable[Sequence[Any]], names: Names, *, grow: bool
) -> Instances:
    """Index sentences of features as rows.

    Parameters
    ----------
    sentences
        Lists of tokens as `attributes_of` takes them.
    names
        Row of each attribute known so far.
    grow
        Whether an attribute not known gets the next row, in `names` too; else it is left out.

    Returns
    -------
    Instances
        Without features of value 0, which change nothing; without values if all others are 1.

    Raises
    ------
    CorpusError
        If a token is not as it should be; the message gives the number of the sentence.

    Examples
    --------
    >>> names = {}
    >>> x = index_feature_dicts([[{"w": "a"}, {"w": "b", "n": 2}]], names, grow=True)
    >>> names, x.features.tolist(), x.values.tolist()
    ({'w:a': 0, 'w:b': 1, 'n': 2}, [0, 1, 2], [1.0, 1.0, 2.0])
    """
    rows: list[int] = []
    values: list[float] = []
    lengths: list[int] = []
    counts: list[int] = []
    for number, sentence in enumerate(sentences, 1):
        with located("<X>", number):
            tokens = [attributes_of(token) for token in sentence]
        for found in tokens:
            before = len(rows)
            for name, value in found.items():
                row = names.get(name)
                if row is None and grow and value:
                    row = names[name] = len(names)
                if row is not None and value:
                    rows.append(row)
                    values.append(value)
            counts.append(len(rows) - before)
        lengths.append(len(sentence))
    numbers = np.array(values, np.float64)
    return Instances(
        pointers(lengths),
        pointers(counts),
        np.array(rows, np.int32),
        None if (numbers == 1).all() else numbers,
    )


def is_feature_dict(token: Any) -> bool:
    """Return whether a token is given by features, not as a word or a tuple of columns."""
    return isinstance(token, _KINDS)


# --------------------------------------------------------------------------- private
def _add(out_found: dict[str, float], token: Any, prefix: str) -> None:
    """Add the attributes of a token or of a container in it."""
    if isinstance(token, Mapping):
        for key, value in token.items():
            name = prefix + (key if type(key) is str else _text(key))
            if isinstance(value, str):
                name = f"{name}{_SEPARATOR}{value}"
                out_found[name] = out_found.get(name, 0.0) + 1.0
            elif is_feature_dict(value):
                _add(out_found, value, name + _SEPARATOR)
            elif isinstance(value, bytes):
                name += _SEPARATOR + _text(value)
                out_found[name] = out_found.get(name, 0.0) + 1.0
            else:
                out_found[name] = out_found.get(name, 0.0) + _number(name, value)
    elif is_feature_dict(token):
        names = map(_text, token)
        for key in names if isinstance(token, list) else sorted(names):
            name = prefix + key
            out_found[name] = out_found.get(name, 0.0) + 1.0
    else:
        msg = f"expected a feature dict, or a list of features, found {token!r:.60}"
        raise CorpusError(msg)


def _text(name: Any) -> str:
    if isinstance(name, bytes):
        return name.decode("utf-8", "surrogateescape")
    if not isinstance(name, str):
        msg = f"expected a string as the name of a feature, found {name!r:.60}"
        raise CorpusError(msg)
    return name


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        msg = (
            f"expected a string, a finite number, True, False, or a dict, list or set of such as "
            f"the feature {name!r}, found {value!r:.60}"
        )
        raise CorpusError(msg)
    return number
