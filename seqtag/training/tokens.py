"""Treebanks as characters to learn from: where tokens and sentences end."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from seqtag.corpus.surface import paragraphs_of
from seqtag.features.encoder import Column
from seqtag.segmentation.characters import Numbering
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.segmentation.segmenter import INSIDE, JOINED, SENTENCE, TOKEN
from seqtag.training.data import TrainingData

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from seqtag.corpus import Sentence

_LABELS = (INSIDE, JOINED, TOKEN, SENTENCE)
_PIECE = 16  # characters learnt from at a time

_log = logging.getLogger("seqtag")


def token_examples(sentences: Iterable[Sentence], columns: Sequence[str]) -> TrainingData:
    r"""The characters of a treebank, and where tokens and sentences end.

    The text is put together from the tokens and the white space behind them, paragraph by
    paragraph; a treebank that marks none is one. A range is one token. Where a token ends within
    a character (between a letter and its mark), it is taken to end with it. A treebank whose tokens
    all have white space behind them cannot teach more than that; a note says so.

    Parameters
    ----------
    sentences
        Those of a treebank, in order.
    columns
        Some of `seqtag.segmentation.characters.COLUMNS`.

    Returns
    -------
    TrainingData
        Paragraphs of characters, which are learnt from in small pieces: each label is decided by
        itself, given what is around it.

    Examples
    --------
    >>> import io
    >>> from seqtag.corpus import read
    >>> rows = ["1\tOh", "2\t!", "3\tNo", "4\t!"]
    >>> text = "".join(row + "\t_" * 7 + "\tSpaceAfter=No\n" for row in rows)
    >>> examples = token_examples(read(io.BytesIO(text.encode()), "conllu"), ["c1"])
    >>> examples.labels.values()
    ['inside', 'token', 'token', 'inside', 'token', 'sentence']
    """
    text, token_ends, sentence_ends = _text_of(sentences)
    numbering = Numbering(columns)
    rows, types = numbering.read(text)
    labels = np.zeros(len(rows.starts), np.int32)
    labels[:-1][rows.gaps[1:] > 0] = _LABELS.index(JOINED)
    for ends, label in ((token_ends, TOKEN), (sentence_ends, SENTENCE)):
        labels[np.searchsorted(rows.starts, ends) - 1] = _LABELS.index(label)
    if not (labels[:-1] >= _LABELS.index(TOKEN))[rows.gaps[1:] == 0].any():
        _log.warning(
            "tokens: white space stands behind every token of the treebank, so that what it "
            "separates will be tokens, words and punctuation together; where none stands, MISC "
            "should say SpaceAfter=No"
        )
        labels[labels == _LABELS.index(TOKEN)] = _LABELS.index(INSIDE)  # white space ends them all
    found, ids = np.unique(labels, return_inverse=True)
    pieces = _pieces(len(labels))
    return TrainingData(
        [Column(numbering.new_values(c)[1], types[c]) for c in range(len(columns))],
        Column([_LABELS[i] for i in found.tolist()], ids.reshape(-1).astype(np.int32)),
        np.diff(rows.paragraphs),
        pieces,
    )


def _text_of(sentences: Iterable[Sentence]) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    """The text of a treebank, and where its tokens and sentences end."""
    text: list[str] = []
    token_ends: list[int] = []
    sentence_ends: list[int] = []
    length = 0
    for paragraph in paragraphs_of(sentences):
        for surface in paragraph:
            for token in surface.tokens:
                before = (token.spaces_before + token.written).replace(SEPARATOR, " ")
                behind = token.spaces_after.replace(SEPARATOR, " ")
                token_ends.append(length + len(before))
                text += before, behind
                length += len(before) + len(behind)
            sentence_ends.append(token_ends[-1])
        text.append(SEPARATOR)
        length += 1
    return "".join(text), np.array(token_ends, np.int64), np.array(sentence_ends, np.int64)


def _pieces(rows: int) -> NDArray[np.int64]:
    """Lengths of pieces that make up so many rows."""
    return np.diff(np.append(np.arange(0, rows, _PIECE), rows))
