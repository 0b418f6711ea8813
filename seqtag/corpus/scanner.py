"""Native scanners of column files and of words: from blocks of text to numbered values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from seqtag.corpus.lines import DOCSTART
from seqtag.engine import backend

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from seqtag.corpus.read import SentenceStream
    from seqtag.corpus.stream import Block
    from seqtag.engine.interface import Scanner, WordScanner

_BORDER = f"\n{DOCSTART}".encode()


class Scanned(NamedTuple):
    """Values that the scanner found in one block of regular lines.

    Attributes
    ----------
    types
        The number of each token's value, (columns, tokens) int32.
    sentence_ptr
        Where each sentence begins among the tokens, (sentences + 1,) int64.
    known
        How many values of each column had a number before; 0 after a new start.
    new
        The values of each column that got the next numbers.
    rows
        The block as the kernel has it: `ScannedRows` or `WordRows`.
    """

    types: np.ndarray[Any, np.dtype[np.int32]]
    sentence_ptr: np.ndarray[Any, np.dtype[np.int64]]
    known: list[int]
    new: list[list[str]]
    rows: Any

    @property
    def lengths(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Number of tokens of each sentence, (sentences,) int64."""
        return self.sentence_ptr[1:] - self.sentence_ptr[:-1]


class BlockScanner:
    """Numbers the values of some columns of a file, block by block; not thread-safe.

    A block with an irregular line (an error, irregular spacing) is left to the reader in Python.
    Values before that line may have got numbers: call `restart` if they must not have any.

    Parameters
    ----------
    stream
        A file of columns whose separator is known.
    read
        Names of the columns to number.
    write
        Numbers of the columns to splice labels into; -1 is a new one after the last.

    Attributes
    ----------
    values : list of list of str
        The values of each column, by their numbers.
    """

    def __init__(self, stream: SentenceStream, read: Sequence[str], write: Sequence[int] = ()):
        self._arguments = (
            len(stream.columns),
            stream.separator,
            stream.columns.index("id") if not stream.extensible and "id" in stream.columns else -1,
            not stream.extensible,  # CoNLL-U: comments, ranges and empty nodes
            [stream.columns.index(name) for name in read],
            list(write),
        )
        self.restart()

    def restart(self) -> None:
        """Forget all numbers."""
        make = cast("Callable[..., Scanner]", backend.Scanner)  # tables ask first
        self._scanner = make(*self._arguments)
        self.values: list[list[str]] = [[] for _ in self._arguments[4]]

    def scan(self, block: Block) -> Scanned | None:
        """Number the values of a block; return None if it is not regular."""
        data = block.encoded()
        if data.count(_BORDER) != data.count(b"\n" + _BORDER):  # it may be within a sentence
            return None
        found = self._scanner.scan(data, block.line == 1)
        if found is None:
            return None
        known = [len(values) for values in self.values]
        new = [
            [value.decode() for value in self._scanner.new_values(c)]
            for c in range(len(self.values))
        ]
        for values, more in zip(self.values, new, strict=True):
            values += more
        return Scanned(found.types, found.sentence_ptr, known, new, found)


class WordBlockScanner:
    """Numbers the words of blocks of tokens or of segmented text; not thread-safe.

    Attributes
    ----------
    values : list of list of str
        The words, by their numbers, as the only column.
    """

    def __init__(self) -> None:
        self._scanner = cast("Callable[[], WordScanner]", backend.WordScanner)()
        self.values: list[list[str]] = [[]]

    def scan(self, block: Block) -> Scanned:
        """Number the words of a block."""
        rows = block.scan_words(self._scanner)
        [words] = self.values
        known, new = len(words), [word.decode() for word in self._scanner.new_values()]
        words += new
        return Scanned(rows.types, rows.sentence_ptr, [known], [new], rows)
