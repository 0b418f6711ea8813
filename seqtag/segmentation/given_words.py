"""Given tokens, of which those of several words are split: CoNLL-U with ranges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from seqtag.corpus import Block, Layout, Sentence, SentenceStream, render, sentence_of
from seqtag.corpus.conllu import COLUMNS, ConlluReader, ConlluSentence
from seqtag.engine.arrays import pointers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from seqtag.segmentation.multiword import Splitter, Words

_BLANKS = ["_"] * (len(COLUMNS) - 2)  # of the new words
_HEAD, _DEPS = COLUMNS.index("head"), COLUMNS.index("deps")
_ID = re.compile(r"(?<![^|])([0-9]+)([.:]|$)")  # of a word or an empty node, also in DEPS


class SplitWords(SentenceStream):
    """The sentences of an open file of words as CoNLL-U, with tokens of several words split.

    Parameters
    ----------
    stream
        The file.
    splitter
        Finds the words.
    """

    is_table = False  # which is written, not read

    def __init__(self, stream: SentenceStream, splitter: Splitter):
        super().__init__(stream.file, Layout("conllu", COLUMNS, "\t"))
        self._sentences = split_words(stream, splitter)


def split_words(sentences: Iterable[Sentence], splitter: Splitter) -> Iterator[Sentence]:
    r"""Yield sentences as CoNLL-U, with the tokens of several words split.

    Columns of these words are empty. Words of ranges stay as they are; ids and heads are moved.

    Examples
    --------
    >>> import seqtag
    >>> given = [seqtag.corpus.sentence_of({"form": ["I", "don't"]})]
    >>> [sentence] = split_words(given, seqtag.load("en").splitter)
    >>> sentence.words, sentence.lines("id")
    (['I', 'do', "n't"], ['1', '2-3', '2', '3'])
    """
    for sentence in sentences:
        if isinstance(sentence, ConlluSentence) and sentence.columns == COLUMNS:
            text, ids = sentence.raw, sentence.lines("id")
        elif not len(sentence):
            yield sentence_of({"form": []})
            continue
        else:
            values = {name: sentence.column(name) for name in sentence.columns if name != "id"}
            text, ids = render(values, "conllu"), []
        ranges = [map(int, number.split("-")) for number in ids if "-" in number]
        closed = {word for first, last in ranges for word in range(first, last + 1)}
        found = _words_of(sentence.words, splitter) if len(sentence) else {}
        words = {number: each for number, each in found.items() if number not in closed}
        text = _with_words(text, words) if words else text
        yield from ConlluReader(sentence.source).read([Block(text, sentence.line)], sentence.line)


def _words_of(tokens: list[str], splitter: Splitter) -> dict[int, Words]:
    """Return the words of the tokens of a sentence that have several, by number from 1."""
    ends = pointers([len(token) + 1 for token in tokens])
    bounds = np.array([len(tokens)], np.int64)
    found = splitter.split(" ".join(tokens), ends[:-1], ends[1:] - 1, bounds)
    return {place + 1: words for place, words in found.items()}


def _with_words(text: str, words: Mapping[int, Words]) -> str:
    """Return a sentence of CoNLL-U with words in place of some tokens, given by their ids."""
    end = "\r" * text.endswith("\r\n")
    rows = [line.removesuffix("\r").split("\t") for line in text.lstrip("\ufeff").split("\n")]
    first, last = {0: 0}, {0: 0}  # ids of the words of each token
    for old in (int(row[0]) for row in rows if row[0].isdecimal()):
        first[old] = last[old - 1] + 1
        last[old] = last[old - 1] + len(words.get(old, "_"))

    def moved(found: re.Match[str]) -> str:
        ids = last if found[2] == "." else first
        return f"{ids.get(int(found[1]), found[1])}{found[2]}"

    done = []
    for row in rows:
        number, is_row = row[0], row[0][:1].isdecimal()
        if is_row:
            row[_HEAD], row[_DEPS] = (_ID.sub(moved, row[place]) for place in (_HEAD, _DEPS))
            begin, dash, stop = number.partition("-")
            row[0] = f"{first[int(begin)]}-{last[int(stop)]}" if dash else _ID.sub(moved, number)
        parts = words.get(int(number), ()) if number.isdecimal() else ()
        if parts:
            start = first[int(number)]
            row = [f"{start}-{start + len(parts) - 1}", row[1], *_BLANKS[1:], row[-1]]
        done.append("\t".join(row))
        done += ["\t".join([str(start + i), part, *_BLANKS]) for i, part in enumerate(parts)]
    return f"{end}\n".join(done)
