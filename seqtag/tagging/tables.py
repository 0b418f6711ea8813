"""Column files tagged block by block: the native scanner reads, the kernel decodes and splices.

The readable way is `seqtag.tagging.streams`: a `Sentence` for each sentence.  This is the same
job for column formats with Python touching word types only.  Whatever is not plain (an odd line,
an error) is left to the readable way, block by block: output and messages are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.corpus.aliases import find_column
from seqtag.corpus.scanner import BlockScanner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.corpus import Block, SentenceStream
    from seqtag.tagging.tagger import Tagger, Worker

_MAX_TYPES = 100_000  # values of a column numbered before a worker starts afresh


class _Filled(NamedTuple):
    """Where a tagger finds a column that an earlier one fills."""

    tagger: int
    names: list[str]  # value per label id


class _Target(NamedTuple):
    """A column to write: its place in the file (-1: behind the last), whose labels, their bytes."""

    column: int
    tagger: int
    names: list[bytes]


class TablePlan:
    """Which columns of a file some taggers read and write.

    Parameters
    ----------
    taggers
        The first one's labels are columns to the second, and so on.
    stream
        The file, in a format of columns.
    """

    def __init__(self, taggers: Sequence[Tagger], stream: SentenceStream):
        self.taggers, self._stream = taggers, stream
        self.read: list[str] = []  # columns of the file that are looked at
        self.sources: list[list[str | _Filled | None]] = []  # per tagger and column
        filled: dict[str, _Filled] = {}  # by the name that the file has for it
        for number, tagger in enumerate(taggers):
            found: list[str | _Filled | None] = []
            for column in tagger.columns:
                name = find_column(column, (*filled, *stream.columns))
                source = None if name is None else filled.get(name, name)
                if isinstance(source, str) and source not in self.read:
                    self.read.append(source)
                found.append(source)
            self.sources.append(found)
            for name, values in tagger.split_label(tagger.outputs).items():
                place = find_column(name, stream.columns) or name
                filled.pop(place, None)  # what was filled last stands last
                filled[place] = _Filled(number, values)
        self.targets = [
            _Target(
                stream.columns.index(name) if name in stream.columns else -1,
                source.tagger,
                [value.encode() for value in source.names],
            )
            for name, source in filled.items()
        ]
        self.possible = self._is_possible()

    def _is_possible(self) -> bool:
        """Whether every column is there and every label can be written as it is."""
        known = all(source is not None for sources in self.sources for source in sources)
        separator = self._stream.separator
        has_room = self._stream.extensible or all(target.column >= 0 for target in self.targets)
        names = [name for target in self.targets for name in target.names]
        odd = any(not name or set(name) & set(f"{separator}\t\r\n".encode()) for name in names)
        whole = all(tagger.writes_ids for tagger in self.taggers)
        return bool(self.read and separator) and known and has_room and whole and not odd

    def scanner(self) -> BlockScanner:
        """A scanner for the file."""
        return BlockScanner(self._stream, self.read, [target.column for target in self.targets])

    def workers(self) -> list[Worker]:
        """A worker of each tagger, with no types numbered."""
        return [tagger.new_worker() for tagger in self.taggers]


class TableTagger:
    """Tags blocks of one file; for one thread at a time."""

    def __init__(self, plan: TablePlan):
        self._plan = plan
        self._scanner = plan.scanner()
        self._workers = plan.workers()

    def tag(self, block: Block) -> bytes | None:
        """The block with its label columns filled, or None if it is not plain."""
        if max(len(worker.encoder) for worker in self._workers) > _MAX_TYPES:
            self._scanner.restart()
            self._workers = self._plan.workers()
        scanned = self._scanner.scan(block)
        if scanned is None:
            self._workers = self._plan.workers()  # the scanner starts over, so they do
            return None
        types, sentence_ptr, known, new = scanned
        labels: list[NDArray[np.int32]] = []
        for tagger, worker, sources in zip(
            self._plan.taggers, self._workers, self._plan.sources, strict=True
        ):
            ids = np.empty((len(sources), types.shape[1]), np.int32)
            for row, column, source in zip(ids, tagger.columns, sources, strict=True):
                if isinstance(source, _Filled):
                    numbers = worker.encoder.number(column, source.names)
                    row[:] = numbers[labels[source.tagger]]
                else:
                    at = self._plan.read.index(str(source))
                    worker.encoder.extend(column, known[at], new[at])
                    row[:] = types[at]
            labels.append(tagger.decode_types(ids, sentence_ptr, worker))
        targets = self._plan.targets
        return self._scanner.splice(
            [labels[target.tagger] for target in targets],
            [target.names for target in targets],
        )
