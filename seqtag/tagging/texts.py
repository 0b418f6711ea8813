"""Raw text for a tagger by itself: cut by rules, with all its white space kept."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from seqtag.corpus import read, render
from seqtag.corpus.stream import TextBytes
from seqtag.errors import SeqtagError
from seqtag.segmentation.writing import ConlluWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus import Sentence


def encoded(text: str) -> bytes:
    """A text in UTF-8.

    Raises
    ------
    SeqtagError
        If the text is none that UTF-8 can hold.
    TypeError
        If it is no text at all.
    """
    if not isinstance(text, str):
        msg = f"expected a text, found {type(text).__name__}; decode bytes, join words"
        raise TypeError(msg)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        msg = (
            f"expected text, found the lone surrogate {text[error.start]!r} at character "
            f"{error.start}; decode it from its bytes anew, or leave it out"
        )
        raise SeqtagError(msg) from error


def cut_by_rules(
    text: str, watched: Callable[[Iterable[Sentence]], Iterable[Sentence]] = iter
) -> list[Sentence]:
    r"""The sentences of a text as CoNLL-U has them, as `seqtag.corpus.text` cuts it.

    `watched` is given the sentences as they are found, and may stop there.

    Raises
    ------
    SeqtagError, TypeError
        As `encoded`.

    Examples
    --------
    >>> [sentence.column("misc") for sentence in cut_by_rules("Stop!  Now\n")]
    [['SpaceAfter=No', 'SpacesAfter=\\s\\s'], ['SpacesAfter=\\n']]
    """
    starts, ends, sentence_ends = [], [], []
    at = 0
    for sentence in watched(read(TextBytes(encoded(text)), "text")):
        for word in sentence.words:
            starts.append(text.index(word, at))
            ends.append(at := starts[-1] + len(word))
        if len(sentence):
            sentence_ends.append(len(starts))
    if not starts:
        return []
    written = ConlluWriter().write(
        text,
        np.array(starts, np.int64),
        np.array(ends, np.int64),
        np.array(sentence_ends, np.int64),
        [{}] * len(sentence_ends),
        before=text[: starts[0]],
    )
    return list(read(io.BytesIO(written.encode()), "conllu"))


def with_columns(
    sentences: Sequence[Sentence], columns: Sequence[Mapping[str, Sequence[str]]]
) -> Iterator[Sentence]:
    """The words of sentences with these columns, as CoNLL-U has them."""
    texts = (
        render({"form": each.words, "misc": each.column("misc"), **more}, "conllu")
        for each, more in zip(sentences, columns, strict=True)
    )
    return iter(read(io.BytesIO("".join(texts).encode()), "conllu"))
