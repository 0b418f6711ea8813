"""Tables of Hugging Face ``datasets``: columns of class numbers, and sentences of rows.

A column of the type ``ClassLabel`` stores numbers. Their names are in the features of the table.
The package ``datasets`` is not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqtag.corpus.sentence import sentence_of
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seqtag.corpus.sentence import Sentence

_FORMS = ("form", "tokens", "words")  # names of the column of words
_SOURCE = "<dataset>"
_NOT_ANNOTATED = -1


def is_dataset(data: Any) -> bool:
    """Return whether an object is a table of ``datasets``."""
    return type(data).__module__.partition(".")[0] == "datasets" and hasattr(data, "column_names")


def sentences_in(dataset: Any) -> Iterator[Sentence]:
    """Yield the rows of a dataset as sentences.

    Columns of lists of strings or class numbers become columns; the words, in a column ``tokens``
    or ``words``, become ``form``. A value that is missing becomes ``_``.

    Raises
    ------
    CorpusError
        If there is no column of words, or a row has lists of different lengths.
    """
    features = dataset.features or {}
    names = {name: class_names(feature) for name, feature in features.items()}
    words = next((name for name in _FORMS if name in features), None)
    used = [name for name, each in features.items() if names[name] or _has_strings(each)]
    if words not in used:
        found = ", ".join(features) or "no features"
        msg = f"expected a column of words, {' or '.join(_FORMS)}, found {found}; rename it"
        raise CorpusError(msg, source=_SOURCE)
    for line, row in enumerate(dataset, 1):
        nothing = [None] * len(row[words] or ())
        columns = {
            "form" if name == words else name: with_names(row[name] or nothing, names[name])
            for name in used
        }
        yield sentence_of(columns, source=_SOURCE, line=line)


def named_values(column: Iterable[Any]) -> Iterable[Any]:
    """Return the lists of a column, with names for class numbers if it is one of ``datasets``.

    A value that is missing becomes None.

    >>> named_values([["O", "B-LOC"]])
    [['O', 'B-LOC']]
    """
    names = class_names(getattr(column, "features", None))
    return column if names is None else (with_names(each, names, None) for each in column)


def with_names(
    values: Sequence[Any], names: Sequence[str] | None, missing: str | None = "_"
) -> list[Any]:
    """Return values with names for class numbers; None and -1 become `missing`.

    Raises
    ------
    CorpusError
        If there is no class of such a number.

    Examples
    --------
    >>> with_names([0, 1, -1], ["O", "B-LOC"])
    ['O', 'B-LOC', '_']
    """
    found: list[Any] = []
    for value in values:
        if value is None or (names and value == _NOT_ANNOTATED):
            found.append(missing)
        elif names is None or isinstance(value, str):
            found.append(value)
        elif 0 <= value < len(names):
            found.append(names[value])
        else:
            msg = f"expected a class number below {len(names)}, found {value!r:.40}"
            raise CorpusError(msg, source=_SOURCE)
    return found


def class_names(feature: Any) -> list[str] | None:
    """Return the names of a feature ``ClassLabel``, or of lists of it; None for others."""
    names = getattr(getattr(feature, "feature", feature), "names", None)
    return list(names) if isinstance(names, list) else None


def _has_strings(feature: Any) -> bool:
    """Return whether a feature is of lists of strings."""
    return getattr(getattr(feature, "feature", None), "dtype", None) in ("string", "large_string")
