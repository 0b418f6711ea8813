"""Document boundaries in a corpus."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seqtag.corpus.table import DOCSTART
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from seqtag.corpus.sentence import Sentence

_NEW = re.compile(rf"^\ufeff?#\s*newdoc\b|^{DOCSTART}", re.MULTILINE)


def documents_of(sentences: Iterable[Sentence], field: str | None = None) -> list[int] | None:
    r"""Return the number of the document of each sentence, from 0.

    Parameters
    ----------
    sentences
        In their order; those without words too, as ``-DOCSTART-`` may stand in one.
    field
        Without, a document begins with a file, with ``# newdoc`` or with ``-DOCSTART-``. Else with
        a new value of a comment ``# FIELD = value``, or of a column of that name; sentences of one
        value are one document wherever they stand, those without one belong to the one before.

    Returns
    -------
    list of int or None
        One for each sentence; None if there is one document only.

    Raises
    ------
    CorpusError
        If no sentence has such a field.

    Examples
    --------
    >>> import io
    >>> from seqtag.corpus import read
    >>> text = b"-DOCSTART- -X-\n\na X\n\nb X\n\n-DOCSTART- -X-\n\nc X\n"
    >>> documents_of(read(io.BytesIO(text), "columns", columns=["form", "upos"]))
    [0, 0, 1]
    """
    found: list[int] = []
    numbers: dict[str | None, int] = {}
    value: str | None = None
    source = ""
    begun = 0
    for sentence in sentences:
        if field is None:
            begun += sentence.source != source or bool(_NEW.search(_head(sentence)))
            value = str(begun)
        else:
            value = _value_of(sentence, field) or (value if sentence.source == source else None)
        source = sentence.source
        if len(sentence):
            found.append(numbers.setdefault(value, len(numbers)))
    if field is not None and not numbers.keys() - {None}:
        msg = (
            f"expected documents told apart by a comment '# {field} = ...' or a column {field!r}, "
            "found neither; name another, or leave it out"
        )
        raise CorpusError(msg, source=source or None)
    return found if len(numbers) > 1 else None


def blocks_of(sentences: int, size: int) -> list[int]:
    """Return blocks of neighboring sentences in place of documents.

    Examples
    --------
    >>> blocks_of(5, 2)
    [0, 0, 1, 1, 2]
    """
    return [i // size for i in range(sentences)]


def _head(sentence: Sentence) -> str:
    if not len(sentence):
        return sentence.raw
    lines = sentence.raw.split("\n", max(0, sentence.line_of(0) - sentence.line))
    return "\n".join(lines[:-1])


def _value_of(sentence: Sentence, field: str) -> str | None:
    """Return the value of a comment, or of the first word in a column."""
    if match := re.search(rf"^\ufeff?#\s*{re.escape(field)}\s*=\s*(.*)", _head(sentence), re.M):
        return match[1].strip()
    return sentence.column(field)[0] if len(sentence) and field in sentence.columns else None
