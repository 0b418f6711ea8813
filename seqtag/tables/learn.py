"""Word classes from raw text: words that stand in the same places get the same class.

The text is counted (`seqtag.tables.learn`), and words are exchanged between classes until
these foretell each other well (`seqtag.engine.clustering`). Nothing is random: the same text gives
the same classes, byte for byte, on every machine.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from seqtag.corpus import LIMITS, ReadLimits, Sentence, SentenceStream, read
from seqtag.corpus.nltk_corpora import PREFIX
from seqtag.corpus.scanner import BlockScanner
from seqtag.corpus.sentence import bad_value
from seqtag.engine import backend
from seqtag.engine.arrays import MAX_BIGRAMS, MAX_CLASSES, pointers
from seqtag.engine.clustering import UNIT, entropies
from seqtag.errors import CorpusError, OptionError
from seqtag.features import builtin  # noqa: F401  the attribute is there
from seqtag.features.attributes import resolve
from seqtag.features.normal_forms import FORMS
from seqtag.parallel import in_order
from seqtag.tables.table import WordTable
from seqtag.tables.tsv import write_word_table
from seqtag.version import __version__

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


CLASSES, MIN_COUNT, PASSES = 500, 3, 4
"""What is learnt if nobody says otherwise."""

RARE = "rare"
"""The class of all other words."""

_FILES = (str, os.PathLike, SentenceStream)
_AT_ONCE = 256  # words visited before one may interrupt


class Pass(NamedTuple):
    """One visit to every word.

    Attributes
    ----------
    number
        From 1 on.
    moved
        Words that changed their class.
    perplexity
        Of the text under the class bigram model: from how many words each one is as hard to guess
        as by chance. The lower, the better.
    """

    number: int
    moved: int
    perplexity: float


class WordClasses:
    """Words and their classes, as `learn_classes` finds them.

    Attributes
    ----------
    words : list of str
        Those with a class of their own choice, the most frequent first, in the form in which they
        are looked up: the normal form in lower case, digits as 0.
    classes : ndarray
        The class of each word, from 0 on, (words,) int32. Some classes may be empty.
    number : int
        How many classes there were to choose from.
    passes : list of Pass
        How it went.
    tokens, types : int
        Words of the text, and distinct ones among them.
    min_count : int
        How often a word had to be seen.

    Examples
    --------
    >>> classes = learn_classes([["a", "dog", "barks"], ["a", "cat", "sleeps"]] * 3, classes=3)
    >>> classes
    <WordClasses: 5 words in 3 classes, from 18 words of text>
    """

    def __init__(
        self,
        frequent: Frequent,
        classes: IntArray,
        number: int,
        passes: Sequence[Pass],
        *,
        tokens: int,
        types: int,
        min_count: int,
    ):
        self.words = frequent.words
        self.classes = classes[: len(self.words)]
        self.number = number
        self.passes = list(passes)
        self.tokens, self.types, self.min_count = tokens, types, min_count
        self._class_of: dict[str, str] = {}

    def __repr__(self) -> str:
        return (
            f"<WordClasses: {len(self.words)} words in {self.number} classes, from {self.tokens} "
            "words of text>"
        )

    def __len__(self) -> int:
        """Count the words that have a class of their own choice."""
        return len(self.words)

    def of(self, word: str) -> str:
        """The class of a word, however it is spelled: a number, or ``rare``."""
        if not self._class_of:
            numbers = map(str, self.classes.tolist())
            self._class_of = dict(zip(self.words, numbers, strict=True))
        return self._class_of.get(looked_up([word])[0], RARE)

    def members(self, number: int) -> list[str]:
        """The words of a class, the most frequent ones first."""
        return [self.words[i] for i in np.flatnonzero(self.classes == number)]

    def save(self, path: str | os.PathLike[str], source: str = "") -> None:
        """Write the classes to a file, whole or not at all; its format is told in the docs.

        Parameters
        ----------
        path
            File to write; its name without the ending is what the table will be called. ``"-"``
            is standard output.
        source
            What the text was, to be noted in the file.

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
        """The classes as `seqtag.train` takes them, ``tables=[classes.table()]``.

        Parameters
        ----------
        name
            By which templates ask for it: ``class(NAME)[0]``.
        source
            What the text was, to be noted in models.

        Examples
        --------
        >>> classes = learn_classes([["a", "dog", "barks"], ["a", "cat", "sleeps"]] * 3, classes=3)
        >>> classes.table("animals")
        <seqtag.WordTable animals: 5 words, 3 values>
        """
        rows = ((word, [str(of)]) for word, of in zip(self.words, self.classes, strict=True))
        return WordTable.of(name, rows, LOOKED_UP, RARE, "class", self._origin(source))

    def _origin(self, source: str) -> dict[str, str]:
        """Where the classes come from."""
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
    """Refuse numbers that make no sense.

    Raises
    ------
    OptionError
        If so.
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
    """The classes of words that were counted.

    Parameters
    ----------
    counted
        The words.
    classes, min_count, passes, on_pass
        As `learn_classes` takes them.
    on_words
        Is told after some words how many they were.

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
            f"expected at least {classes} words that come {min_count} times or more, one for each "
            f"class, found {words}; ask for fewer classes, a lower min-count, or give more text"
        )
        raise CorpusError(msg)
    start = np.append(np.arange(words) % classes, [classes, classes + 1]).astype(np.int32)
    exchange = backend.ExchangeClustering(frequent.bigrams, start, classes)
    of_words = int(entropies(frequent.counts).sum())
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
    return WordClasses(
        frequent,
        exchange.classes,
        classes,
        done,
        tokens=counted.tokens,
        types=counted.types,
        min_count=min_count,
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
    r"""Put the words of raw text into classes, by what stands beside them.

    Labels are not looked at. What the classes are good for: `seqtag train --classes`.

    Parameters
    ----------
    text
        File in any format that `seqtag.read` reads, ``"-"`` for standard input, or an open one;
        several of these; or sentences, as lists of words or as `seqtag.read` gives them. Raw text
        is cut by NLTK's rules for English; text in tokens, one sentence a line, is read fast.
    classes
        Classes to choose from, 1 to 4096. Time grows with their number.
    min_count
        Words seen less often are all in one more class, ``rare``. The boundary of sentences has
        a class of its own too.
    passes
        Visits to every word.
    format, columns, limits
        As `seqtag.read` takes them.
    threads
        To read on. The classes are the same on any number.
    on_pass
        Is told of each pass.

    Returns
    -------
    WordClasses
        The words and their classes; of equally good ones, a word is in the one with the lowest
        number.

    Raises
    ------
    OptionError
        If a number makes no sense.
    CorpusError
        As `seqtag.read` does; and if there are no words, or fewer frequent ones than classes.
    TypeError
        If a sentence is none.

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
    sentences: list[Sentence | Sequence[str]] = []
    for each in given:
        if isinstance(each, _FILES):
            with ExitStack() as files:
                if not isinstance(each, SentenceStream):
                    each = read(each, format, columns=columns, limits=limits)
                    files.enter_context(each)
                for _ in counted.read(each, threads):
                    pass
        else:
            sentences.append(each)
            if len(sentences) == 10_000:
                counted.add(sentences)
                sentences.clear()
    counted.add(sentences)
    return cluster(counted, classes, min_count, passes, on_pass=on_pass)


def source_of(names: Iterable[str]) -> str:
    """The names of some files, as a table notes where it is from: without their folders.

    >>> source_of(["/corpora/a.txt", "nltk:brown", "-"])
    'a.txt, nltk:brown, stdin'
    """
    shown = (
        name if name.startswith(PREFIX) else "stdin" if name == "-" else Path(name).name
        for name in names
    )
    return " ".join(", ".join(shown).split())
