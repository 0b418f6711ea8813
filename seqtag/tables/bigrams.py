"""Which words stand side by side in a text of any size: counted once, block by block.

Words count in the form in which they are looked up later: the normal form of what is written
(`seqtag.features.normal_forms`), in lower case with every digit as 0. Python touches each distinct
word once; the kernel reads tables and text in tokens. How many threads read makes no difference.
"""

from __future__ import annotations

from itertools import chain, islice
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from seqtag.corpus import Sentence, SentenceStream
from seqtag.corpus.scanner import BlockScanner
from seqtag.corpus.sentence import bad_value
from seqtag.engine import backend
from seqtag.engine.arrays import MAX_BIGRAMS, pointers
from seqtag.errors import CorpusError
from seqtag.features import builtin  # noqa: F401  the attribute is there
from seqtag.features.attributes import resolve
from seqtag.features.normal_forms import FORMS
from seqtag.parallel import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from seqtag.corpus import Block
    from seqtag.corpus.read import AnyStream
    from seqtag.engine.arrays import Bigrams, IntArray
    from seqtag.engine.interface import TokenScanner

LOOKED_UP = "lower0"
"""What a table says of words that are looked up as these are."""

_SENTENCES = 10_000  # counted at a time where Python reads them

Numbered = tuple["IntArray", "IntArray"]
"""The numbers of some words, (tokens,) int32, and sentence_ptr."""


def looked_up(words: Sequence[str]) -> list[str]:
    """The form in which each word is looked up.

    >>> looked_up(["Don’t", "1984", "İ"])
    ["don't", '0000', 'i̇']
    """
    forms = resolve("normal").many(FORMS["normal"](words))
    return cast("list[str]", forms)  # the attribute is there for every word


class Frequent(NamedTuple):
    """Words that are frequent enough, the most frequent first, and what stands beside what.

    Attributes
    ----------
    words
        In the form in which they are looked up; of equally frequent ones in the order of letters.
    counts
        How often each was counted, then all the rare ones together, then the boundary of
        sentences: (words + 2,) int64.
    bigrams
        Of the words and these two.
    """

    words: list[str]
    counts: IntArray
    bigrams: Bigrams


class WordBigrams:
    """Counts the words and bigrams of texts.

    Attributes
    ----------
    tokens : int
        Words counted.

    Examples
    --------
    >>> counted = WordBigrams()
    >>> counted.add([["The", "dog"], ["the", "cat"]])
    >>> counted.tokens, counted.types, counted.frequent(2).words
    (4, 3, ['the'])
    """

    def __init__(self) -> None:
        self.tokens = 0
        self._counter = backend.BigramCounter()
        self._numbers: dict[str, int] = {}  # from 1 on; 0 is the boundary
        self._lock = Lock()

    @property
    def types(self) -> int:
        """Distinct words counted, in the form in which they are looked up."""
        return len(self._numbers)

    def number(self, words: Sequence[str]) -> IntArray:
        """The numbers of some words, (words,) int32; new ones get the next."""
        forms, numbers = looked_up(words), self._numbers
        with self._lock:
            found = (numbers.setdefault(form, len(numbers) + 1) for form in forms)
            return np.fromiter(found, np.int32, len(forms))

    def numbered(self, sentences: Iterable[Sentence | Sequence[str]]) -> Iterator[Numbered]:
        """The words of sentences, numbered, many sentences at a time.

        Raises
        ------
        TypeError
            If a sentence is none.
        """
        rest = iter(sentences)
        while some := [_words_of(each) for each in islice(rest, _SENTENCES)]:
            flat = list(chain.from_iterable(some))
            numbers = self.number(types := list(dict.fromkeys(flat)))
            number = dict(zip(types, numbers.tolist(), strict=True))
            words = np.fromiter(map(number.__getitem__, flat), np.int32, len(flat))
            yield words, pointers(map(len, some))

    def read(self, stream: AnyStream, threads: int = 1) -> Iterator[int]:
        """Count the words of an open file; after each piece of it comes how many words it had.

        Raises
        ------
        CorpusError
            As `seqtag.read` does; and if there are more words than are counted.
        """
        for words, sentence_ptr in self._pieces(stream, threads):
            self._count(words, sentence_ptr, stream.source)
            yield len(words)

    def add(self, sentences: Iterable[Sentence | Sequence[str]]) -> None:
        """Count the words of some sentences.

        Raises
        ------
        CorpusError
            If there are more words than are counted.
        TypeError
            If a sentence is none.
        """
        for words, sentence_ptr in self.numbered(sentences):
            self._count(words, sentence_ptr, None)

    def frequent(self, min_count: int) -> Frequent:
        """The words that were counted often enough; all others are one word, the rare one.

        Parameters
        ----------
        min_count
            How often that is. Words that no table can hold (with tabs or line breaks) are rare.
        """
        counts = self._counter.counts(len(self._numbers) + 1)
        enough = [
            (-int(counts[number]), word)
            for word, number in self._numbers.items()
            if counts[number] >= min_count and bad_value([word], "\t\r\n") is None
        ]
        words = [word for _, word in sorted(enough)]
        rare, boundary = len(words), len(words) + 1
        numbers = np.full(len(counts), rare, np.int32)
        numbers[0] = boundary
        numbers[[self._numbers[word] for word in words]] = np.arange(rare, dtype=np.int32)
        bigrams = self._counter.table(numbers)
        summed = np.bincount(numbers, counts, len(words) + 2).astype(np.int64)
        return Frequent(words, summed, _sized(bigrams, len(words) + 2))

    def _count(self, words: IntArray, sentence_ptr: IntArray, source: str | None) -> None:
        """Count some sentences, if there is room."""
        if self._counter.total + len(words) + len(sentence_ptr) > MAX_BIGRAMS:
            msg = (
                f"expected at most {MAX_BIGRAMS:,} words and sentences to learn classes from, "
                "found more; give a part of the text"
            )
            raise CorpusError(msg, source=source)
        self._counter.add(words, sentence_ptr)
        self.tokens += len(words)

    def _pieces(self, stream: AnyStream, threads: int) -> Iterator[Numbered]:
        """The words of a file, numbered, piece by piece."""
        blocks: Iterator[Block]
        make: Callable[[], _TokenNumbering | _TableNumbering]
        if stream.is_table and backend.Scanner is not None:
            blocks = stream.blocks()
            first = next(blocks, None)  # which shows what stands between columns
            if first is None:
                return
            blocks, make = chain([first], blocks), lambda: _TableNumbering(self, stream)
            if not stream.separator:  # blank lines
                yield from self.numbered(stream.parse(blocks, first.line))
                stream.report()
                return
        elif (
            isinstance(stream, SentenceStream)
            and stream.format == "tokens"
            and backend.TokenScanner is not None
        ):
            blocks, make = stream.lines(), lambda: _TokenNumbering(self, stream)
        else:
            yield from self.numbered(stream)
            return
        free: SimpleQueue[_TokenNumbering | _TableNumbering] = SimpleQueue()
        for _ in range(threads):
            free.put(make())

        def work(block: Block) -> Numbered:
            numbering = free.get()
            try:
                return numbering.number(block)
            finally:
                free.put(numbering)

        yield from in_order(work, blocks, threads)
        stream.report()


def _sized(bigrams: Bigrams, words: int) -> Bigrams:
    """The same table for more words, of which the last have no bigrams."""
    more = np.full(words + 1 - len(bigrams.ptr), bigrams.ptr[-1])
    return bigrams._replace(ptr=np.append(bigrams.ptr, more))


def _words_of(sentence: Sentence | Sequence[str]) -> Sequence[str]:
    """The words of a sentence.

    Raises
    ------
    TypeError
        If it is none.
    """
    words = sentence.words if isinstance(sentence, Sentence) else sentence
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        msg = f"expected sentences as lists of words, found {sentence!r:.60}"
        raise TypeError(msg)
    return words


class _Renumbered:
    """The scanner's numbers as those of the counter; a scanner belongs to one thread at a time."""

    def __init__(self, counter: WordBigrams):
        self._counter = counter
        self._known = np.zeros(0, np.int32)

    def of(self, types: IntArray, known: int, new: Sequence[str]) -> IntArray:
        """The words of a block; those from `known` on are new."""
        if new:
            self._known = np.append(self._known[:known], self._counter.number(new))
        return self._known[types]


class _TableNumbering:
    """Numbers the words of column files, block by block."""

    def __init__(self, counter: WordBigrams, stream: AnyStream):
        self._counter, self._stream = counter, stream
        self._scanner = BlockScanner(stream, ["form"])
        self._words = _Renumbered(counter)

    def number(self, block: Block) -> Numbered:
        """The words of a block."""
        found = self._scanner.scan(block)
        if found is None:  # odd, or wrong: there are messages for that
            sentences = self._stream.parse([block], block.line)
            pieces = list(self._counter.numbered(sentences))
            words = [np.zeros(0, np.int32), *(words for words, _ in pieces)]
            lengths = chain.from_iterable(np.diff(sentence_ptr) for _, sentence_ptr in pieces)
            return np.concatenate(words), pointers(lengths)
        return self._words.of(found.types[0], found.known[0], found.new[0]), found.sentence_ptr


class _TokenNumbering:
    """Numbers the words of text in tokens, block by block."""

    def __init__(self, counter: WordBigrams, stream: SentenceStream):
        make = cast("Callable[[], TokenScanner]", backend.TokenScanner)  # the caller asks first
        self._scanner, self._stream = make(), stream
        self._words = _Renumbered(counter)
        self._met = 0

    def number(self, block: Block) -> Numbered:
        """The words of a block.

        Raises
        ------
        SentenceTooLongError
            If a line has too many.
        """
        types, sentence_ptr = self._scanner.scan(block.text.encode(), block.line == 1)
        too_long = np.flatnonzero(np.diff(sentence_ptr) > self._stream.limits.sentence)
        if len(too_long):
            line = block.line + int(too_long[0])
            raise self._stream.limits.too_long(self._stream.source, line)
        new = [value.decode() for value in self._scanner.new_values()]
        known, self._met = self._met, self._met + len(new)
        return self._words.of(types, known, new), sentence_ptr
