"""Sentences that come from no file: lists of values already in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.corpus.sentence import Sentence, SpanSentence
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def sentence_of(
    columns: Mapping[str, Sequence[str]], *, source: str = "<memory>", line: int = 1
) -> Sentence:
    """Make a sentence from columns in memory, for training and tagging without a file.

    Any string is a value, also one that no file format could hold (a word with a line break).
    As no file stands behind it, `raw` is empty and `replace` has nothing to write into:
    use :func:`seqtag.corpus.write`.

    Parameters
    ----------
    columns
        One value per word for each column. Values are copied. No values: a sentence without
        words.
    source, line
        What messages call the sentence: a name for the collection it belongs to, and its number
        there, counted from 1.

    Raises
    ------
    CorpusError
        If columns differ in length, or one is not made of strings.

    Examples
    --------
    >>> sentence = sentence_of({"form": ["The", "dog"], "pos": ["DT", "NN"]})
    >>> sentence.words, sentence.column("pos"), sentence.columns
    (['The', 'dog'], ['DT', 'NN'], ('form', 'pos'))
    """
    values: dict[str, list[str]] = {}
    count: int | None = None
    for name, given in columns.items():
        if isinstance(given, str):
            msg = (
                f"expected a list of values in the column {name!r}, found the string "
                f"{given[:40]!r}; split it first"
            )
            raise CorpusError(msg, source=source, line=line)
        values[name] = list(given)
        count = len(values[name]) if count is None else count
        if len(values[name]) != count:
            msg = (
                f"expected {count} values in the column {name!r}, one per word, "
                f"found {len(values[name])}; give one value per word"
            )
            raise CorpusError(msg, source=source, line=line)
        for word, value in enumerate(values[name], 1):
            if not isinstance(value, str):
                msg = (
                    f"expected a string in the column {name!r}, found {value!r} for "
                    f"word {word}; give every word a value, or leave the sentence "
                    "out"
                )
                raise CorpusError(msg, source=source, line=line)
    return SpanSentence("", source, line, values, [0] * (count or 0), {})
