"""Word classes from raw text: words in the same contexts get the same class.

`WordBigrams` counts the text, and the exchange algorithm of the native kernel moves words between
classes to improve the likelihood of a class bigram model (Kneser & Ney 1993). Nothing is random:
the same text gives the same classes, byte for byte, on every machine.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from seqtag.corpus import LIMITS, ReadLimits, Sentence, SentenceStream, read
from seqtag.corpus.scanner import BlockScanner, WordBlockScanner
from seqtag.corpus.sentence import bad_value
from seqtag.engine import backend
from seqtag.engine.arrays import MAX_BIGRAMS, MAX_CLASSES, pointers
from seqtag.errors import CorpusError, OptionError
from seqtag.features import builtin  # noqa: F401  the attribute is there
from seqtag.features.attributes import resolve
from seqtag.features.normal_forms import normal_forms
from seqtag.parallel import in_order
from seqtag.tables.table import WordTable
from seqtag.tables.tsv import write_word_table
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from seqtag.corpus import Block
    from seqtag.engine.arrays import Bigrams, IntArray

UNIT = 2.0**-20
"""Bits of one unit of the kernel's sums, which are whole numbers."""

LOOKED_UP = "lower0"
"""Lookup form of the words."""

_SENTENCES = 10_000  # counted at a time where Python reads them
_PURPOSE = "to learn word classes"

Numbered = tuple["IntArray", "IntArray"]
"""Word numbers, (tokens,) int32, and sentence_ptr."""


def looked_up(words: Sequence[str]) -> list[str]:
    """Return the lookup form of each word.

    >>> looked_up(["Don’t", "1984", "İ"])
    ["don't", '0000', 'i̇']
    """
    forms = resolve("normal").many(normal_forms(words))
    return cast("list[str]", forms)  # never None


class Frequent(NamedTuple):
    """Frequent words, the most frequent first, and their bigrams.

    Attributes
    ----------
    words
        Lookup forms; equally frequent ones in alphabetical order.
    counts
        Count of each, then of all rare words together, then of the sentence boundary:
        (words + 2,) int64.
    bigrams
        Bigrams of the words and these two.
    """

    words: list[str]
    counts: IntArray
    bigrams: Bigrams


class WordBigrams:
    """Counter of the words and bigrams of texts.

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
        self._counter = backend.of_kernel(backend.BigramCounter, _PURPOSE)()
        self._numbers: dict[str, int] = {}  # from 1 on; 0 is the boundary
        self._lock = Lock()

    @property
    def types(self) -> int:
        """Number of distinct lookup forms counted."""
        return len(self._numbers)

    def number(self, words: Sequence[str]) -> IntArray:
        """Return the numbers of words, (words,) int32; new words get the next ones."""
        forms, numbers = looked_up(words), self._numbers
        with self._lock:
            found = (numbers.setdefault(form, len(numbers) + 1) for form in forms)
            return np.fromiter(found, np.int32, len(forms))

    def numbered(self, sentences: Iterable[Sentence | Sequence[str]]) -> Iterator[Numbered]:
        """Yield the word numbers of sentences, many sentences at a time.

        Raises
        ------
        TypeError
            If something is not a sentence.
        """
        rest = iter(sentences)
        while some := [_words_of(each) for each in islice(rest, _SENTENCES)]:
            flat = list(chain.from_iterable(some))
            numbers = self.number(types := list(dict.fromkeys(flat)))
            number = dict(zip(types, numbers.tolist(), strict=True))
            words = np.fromiter(map(number.__getitem__, flat), np.int32, len(flat))
            yield words, pointers(map(len, some))

    def read(self, stream: SentenceStream, threads: int = 1) -> Iterator[int]:
        """Count the words of an open file; yield the number of words of each block.

        Raises
        ------
        CorpusError
            As `seqtag.read`; and if there are more words than can be counted.
        """
        for words, sentence_ptr in self._pieces(stream, threads):
            self._count(words, sentence_ptr, stream.source)
            yield len(words)

    def add(self, sentences: Iterable[Sentence | Sequence[str]]) -> None:
        """Count the words of sentences.

        Raises
        ------
        CorpusError
            If there are more words than can be counted.
        TypeError
            If something is not a sentence.
        """
        for words, sentence_ptr in self.numbered(sentences):
            self._count(words, sentence_ptr, None)

    def frequent(self, min_count: int) -> Frequent:
        """Return the frequent words and their bigrams; all others count as one word, the rare one.

        Parameters
        ----------
        min_count
            Least count. Words that no table can hold (with tabs or line breaks) are rare.
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
        # The table may end before the last words, which have no bigrams then.
        missing = np.full(len(words) + 3 - len(bigrams.ptr), bigrams.ptr[-1])
        bigrams = bigrams._replace(ptr=np.append(bigrams.ptr, missing))
        return Frequent(words, summed, bigrams)

    def _count(self, words: IntArray, sentence_ptr: IntArray, source: str | None) -> None:
        if self._counter.total + len(words) + len(sentence_ptr) > MAX_BIGRAMS:
            msg = (
                f"expected at most {MAX_BIGRAMS:,} words and sentences to learn classes from, "
                "found more; use less text"
            )
            raise CorpusError(msg, source=source)
        self._counter.add(words, sentence_ptr)
        self.tokens += len(words)

    def _pieces(self, stream: SentenceStream, threads: int) -> Iterator[Numbered]:
        """Yield the word numbers of a file, block by block."""
        kernel = backend.Scanner if stream.is_table else backend.WordScanner
        if kernel is None or not (stream.is_bare or stream.is_table):
            yield from self.numbered(stream)
            return
        free: SimpleQueue[_BlockNumbering] = SimpleQueue()
        for _ in range(threads):
            free.put(_BlockNumbering(self, stream))

        def work(block: Block) -> Numbered:
            numbering = free.get()
            try:
                return numbering.number(block)
            finally:
                free.put(numbering)

        yield from in_order(work, stream.blocks(), threads)
        stream.report()


def _words_of(sentence: Sentence | Sequence[str]) -> Sequence[str]:
    words = sentence.words if isinstance(sentence, Sentence) else sentence
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        msg = f"expected sentences as lists of words, found {sentence!r:.60}"
        raise TypeError(msg)
    return words


class _BlockNumbering:
    """Numbering of the words of blocks by a scanner, which one thread at a time may use."""

    def __init__(self, counter: WordBigrams, stream: SentenceStream):
        self._counter, self._stream = counter, stream
        self._restart()

    def _restart(self) -> None:
        self._known = np.zeros(0, np.int32)  # the counter's number of each of the scanner's
        is_table = self._stream.is_table  # also raw text, once it is segmented
        self._scanner = BlockScanner(self._stream, ["form"]) if is_table else WordBlockScanner()

    def number(self, block: Block) -> Numbered:
        found = self._scanner.scan(block)
        if found is None:  # malformed: the reader has messages for that
            self._restart()
            sentences = self._stream.parse([block], block.line)
            pieces = list(self._counter.numbered(sentences))
            words = [np.zeros(0, np.int32), *(words for words, _ in pieces)]
            lengths = chain.from_iterable(np.diff(sentence_ptr) for _, sentence_ptr in pieces)
            return np.concatenate(words), pointers(lengths)
        too_long = np.flatnonzero(found.lengths > self._stream.limits.sentence)
        if len(too_long):  # only of tokens, a sentence a line: tables are checked before
            line = block.line + int(too_long[0])
            raise self._stream.limits.too_long(self._stream.source, line)
        if found.new[0]:
            self._known = np.append(self._known, self._counter.number(found.new[0]))
            self._scanner.values[0].clear()  # words that nobody looks up
        return self._known[found.types[0]], found.sentence_ptr


CLASSES, MIN_COUNT, PASSES = 500, 3, 4
"""Defaults of `learn_classes`."""

RARE = "rare"
"""Class of all other words."""

_FILES = (str, os.PathLike, SentenceStream)
_AT_ONCE = 256  # words visited between two interruption points


class Pass(NamedTuple):
    """One visit to every word.

    Attributes
    ----------
    number
        Number of the pass, from 1 on.
    moved
        Number of words that changed their class.
    perplexity
        Perplexity of the text under the class bigram model; lower is better.
    """

    number: int
    moved: int
    perplexity: float


@dataclass(frozen=True, eq=False, repr=False)
class WordClasses:
    """Words and their classes, as returned by `learn_classes`.

    Attributes
    ----------
    words : list of str
        Words other than the rare ones, the most frequent first, as lookup forms: the normal form
        in lower case, digits as 0.
    classes : ndarray
        The class of each word, from 0 on, (words,) int32. Some classes may be empty.
    number : int
        Number of classes.
    passes : list of Pass
        Progress of the passes.
    tokens, types : int
        Words and distinct words of the text.
    min_count : int
        Minimum count of a word with a class.

    Examples
    --------
    >>> classes = learn_classes([["a", "dog", "barks"], ["a", "cat", "sleeps"]] * 3, classes=3)
    >>> classes
    <WordClasses: 5 words in 3 classes, from 18 words of text>
    """

    words: list[str]
    classes: IntArray
    number: int
    passes: list[Pass]
    tokens: int
    types: int
    min_count: int

    def __repr__(self) -> str:
        return (
            f"<WordClasses: {len(self.words)} words in {self.number} classes, from {self.tokens} "
            "words of text>"
        )

    def __len__(self) -> int:
        """Return the number of words with a class."""
        return len(self.words)

    def of(self, word: str) -> str:
        """Return the class of a word in any spelling: a number, or ``rare``."""
        return self._class_of.get(looked_up([word])[0], RARE)

    @cached_property
    def _class_of(self) -> dict[str, str]:
        return dict(zip(self.words, map(str, self.classes.tolist()), strict=True))

    def members(self, number: int) -> list[str]:
        """Return the words of a class, the most frequent ones first."""
        return [self.words[i] for i in np.flatnonzero(self.classes == number)]

    def save(self, path: str | os.PathLike[str], source: str = "") -> None:
        """Write the classes to a table file, atomically.

        Parameters
        ----------
        path
            File to write; its name without the extension is the name of the table. ``"-"`` is
            standard output.
        source
            Description of the text, recorded in the file.

        Raises
        ------
        CorpusError
            If the name or the source has a tab or line break.
        OSError
            As the system reports it.
        """
        name = Path(path).name
        header = {"name": name.partition(".")[0] if name != "-" else "classes"}
        header |= {"words": LOOKED_UP, "absent": RARE, **self._origin(source)}
        order = np.argsort(self.classes, kind="stable")
        rows = ((self.words[i], str(self.classes[i])) for i in order.tolist())
        write_word_table(path, header, rows)

    def table(self, name: str = "classes", source: str = "") -> WordTable:
        """Return the classes as a table for `seqtag.train(..., tables=[classes.table()])`.

        Parameters
        ----------
        name
            Name in templates: ``class(NAME)[0]``.
        source
            Description of the text, recorded in models.

        Examples
        --------
        >>> classes = learn_classes([["a", "dog", "barks"], ["a", "cat", "sleeps"]] * 3, classes=3)
        >>> classes.table("animals")
        <seqtag.WordTable animals: 5 words, 3 values>
        """
        rows = ((word, [str(of)]) for word, of in zip(self.words, self.classes, strict=True))
        return WordTable.of(name, rows, LOOKED_UP, RARE, "class", self._origin(source))

    def _origin(self, source: str) -> dict[str, str]:
        facts = {
            "tokens": self.tokens,
            "types": self.types,
            "classes": self.number,
            "min-count": self.min_count,
            "passes": len(self.passes),
            "perplexity": f"{self.passes[-1].perplexity:.2f}",
            "by": f"seqtag {__version__}",
        }
        origin = {"source": source} if source else {}
        return origin | {key: str(value) for key, value in facts.items()}


def check_options(classes: int, min_count: int, passes: int) -> None:
    """Refuse numbers out of range.

    Raises
    ------
    OptionError
        If one is.
    """
    if not 1 <= classes <= MAX_CLASSES:
        msg = f"expected from 1 to {MAX_CLASSES} classes, found {classes}"
        raise OptionError(msg)
    for name, number in (("min-count", min_count), ("passes", passes)):
        if number < 1:
            msg = f"expected {name} of at least 1, found {number}"
            raise OptionError(msg)


def cluster(
    counted: WordBigrams,
    classes: int = CLASSES,
    min_count: int = MIN_COUNT,
    passes: int = PASSES,
    *,
    on_pass: Callable[[Pass], object] | None = None,
    on_words: Callable[[int], object] | None = None,
) -> WordClasses:
    """Cluster counted words.

    Parameters
    ----------
    counted
        Words and bigrams.
    classes, min_count, passes, on_pass
        As `learn_classes` takes them.
    on_words
        Called after some words with their number.

    Raises
    ------
    OptionError
        As `check_options`.
    CorpusError
        If there are fewer words than classes.
    """
    check_options(classes, min_count, passes)
    if not counted.tokens:
        msg = "expected words to learn classes from, found none"
        raise CorpusError(msg)
    frequent = counted.frequent(min_count)
    words = len(frequent.words)
    if words < classes:
        msg = (
            f"expected at least {classes} words that occur at least {min_count} times, one per "
            f"class, found {words}; use fewer classes, a lower min-count, or more text"
        )
        raise CorpusError(msg)
    start = np.append(np.arange(words) % classes, [classes, classes + 1]).astype(np.int32)
    exchange_of = backend.of_kernel(backend.ExchangeClustering, _PURPOSE)
    exchange = exchange_of(frequent.bigrams, start, classes)
    entropies = backend.of_kernel(backend.entropies, _PURPOSE)
    of_words = int(entropies(frequent.counts.astype(np.int32)).sum())
    total = int(frequent.counts.sum())
    done = []
    for number in range(1, passes + 1):
        moved = 0
        for first in range(0, words, _AT_ONCE):
            last = min(first + _AT_ONCE, words)
            moved += exchange.visit(first, last)
            if on_words:
                on_words(last - first)
        bits = -(of_words + exchange.objective()) * UNIT / total
        done.append(Pass(number, moved, float(2.0**bits)))
        if on_pass:
            on_pass(done[-1])
    found = exchange.classes[:words]
    return WordClasses(
        frequent.words, found, classes, done, counted.tokens, counted.types, min_count
    )


def learn_classes(
    text: str | os.PathLike[str] | SentenceStream | Iterable[Any],
    classes: int = CLASSES,
    min_count: int = MIN_COUNT,
    passes: int = PASSES,
    *,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    limits: ReadLimits = LIMITS,
    threads: int = 1,
    on_pass: Callable[[Pass], object] | None = None,
) -> WordClasses:
    r"""Learn word classes from raw text, based on neighboring words.

    Labels are ignored. `seqtag train --table` uses the classes.

    Parameters
    ----------
    text
        File in any format that `seqtag.read` reads, ``"-"`` for standard input, or an open one;
        several of these; or sentences, as lists of words or as `seqtag.read` gives them. Raw text
        is segmented by NLTK's rules for English; tokenized text, one sentence a line, is faster to
        read.
    classes
        Number of classes, 1 to 4096. Time grows with it.
    min_count
        Less frequent words form an additional class, ``rare``, and so does the sentence boundary.
    passes
        Number of passes over the words.
    format, columns, limits
        As `seqtag.read` takes them.
    threads
        Threads for reading; they do not change the classes.
    on_pass
        Called after each pass.

    Returns
    -------
    WordClasses
        The words and their classes. Of equally good classes, the one with the lowest number is
        taken.

    Raises
    ------
    OptionError
        If a number is out of range.
    CorpusError
        As `seqtag.read`; and if there are no words, or fewer frequent ones than classes.
    TypeError
        If something is not a sentence.
    BackendError
        If the native kernel was not built.

    Examples
    --------
    >>> animals, verbs = ("dog", "cat", "bird"), ("runs", "sleeps", "sings")
    >>> sentences = [["the", a, v] for a in animals for v in verbs]
    >>> found = learn_classes(sentences, classes=3)
    >>> found.of("Dog") == found.of("cat") == found.of("bird"), found.of("dog") == found.of("runs")
    (True, False)
    >>> found.members(0), found.of("fish")
    (['the'], 'rare')
    """
    check_options(classes, min_count, passes)
    if threads < 1:
        msg = f"expected at least 1 thread, found {threads}"
        raise OptionError(msg)
    counted = WordBigrams()
    given: Iterable[Any] = text if not isinstance(text, _FILES) else [text]

    def sentences() -> Iterator[Any]:
        for each in given:
            if not isinstance(each, _FILES):
                yield each
                continue
            with ExitStack() as files:
                if not isinstance(each, SentenceStream):
                    each = read(each, format, columns=columns, limits=limits)
                    files.enter_context(each)
                for _ in counted.read(each, threads):
                    pass

    counted.add(sentences())
    return cluster(counted, classes, min_count, passes, on_pass=on_pass)


def source_of(names: Iterable[str]) -> str:
    """Return the names of files without their folders, to describe the origin of a table.

    >>> source_of(["/corpora/a.txt", "-"])
    'a.txt, stdin'
    """
    shown = ("stdin" if name == "-" else Path(name).name for name in names)
    return " ".join(", ".join(shown).split())
