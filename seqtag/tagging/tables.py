"""Column files tagged block by block: the native scanner reads, the kernel decodes and splices.

The readable way is `seqtag.tagging.streams`: a `Sentence` for each sentence.  This is the same
job for column formats with Python touching word types only.  Whatever is not plain (an odd line,
an error) is left to the readable way, block by block: output and messages are the same.
"""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.corpus.scanner import BlockScanner
from seqtag.corpus.sentence import bad_value, find_column, split_key
from seqtag.model.bundle import predicted_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.corpus import Block
    from seqtag.corpus.read import AnyStream
    from seqtag.corpus.scanner import Scanned
    from seqtag.features.encoder import SharedHashes
    from seqtag.tagging.tagger import Tagger
    from seqtag.tagging.workspace import Workspace


_MAX_LEMMA_BYTES = 32 << 20  # of lemmas kept for labels and forms, before all starts afresh
_ENTRY_BYTES = 136  # of an entry of a dict and of a number


class _Filled(NamedTuple):
    """Where a tagger finds a column that an earlier one fills."""

    tagger: int
    names: list[str]  # value per label id; of no use if these hang on the forms


class _Target(NamedTuple):
    """A column to write: its place in the file (-1: behind the last), whose labels, their bytes."""

    column: int
    tagger: int
    names: list[bytes]


class _Values(NamedTuple):
    """What a tagger fills a column of a block with."""

    ids: NDArray[np.int32]
    names: list[str]  # value per id


class _Lemmas:
    """Labels that hang on the forms, such as edit scripts: written once per form and label."""

    def __init__(self, tagger: Tagger):
        self._coding, self._labels = tagger.model.coding, tagger.model.labels
        self._written: dict[int, str] = {}
        self.nbytes = 0  # of what is written

    def of(self, form_ids: NDArray[np.int32], ids: NDArray[np.int32], forms: list[str]) -> _Values:
        """What some label ids are written as, given the type ids of the forms and the types."""
        width = np.int64(len(self._labels))
        pairs, which = np.unique(form_ids * width + ids, return_inverse=True)
        numbers = pairs.tolist()
        new = [pair for pair in numbers if pair not in self._written]
        labels = [self._labels[pair % width] for pair in new]
        written = self._coding.decode(labels, [forms[pair // width] for pair in new])
        self._written.update(zip(new, written, strict=True))
        self.nbytes += sum(map(getsizeof, written)) + _ENTRY_BYTES * len(new)
        names = list(map(self._written.__getitem__, numbers))
        return _Values(which.reshape(-1).astype(np.int32), names)


class TablePlan:
    """Which columns of a file some taggers read and write.

    Parameters
    ----------
    taggers
        The first one's labels are columns to the second, and so on.
    stream
        The file, in a format of columns.
    """

    def __init__(self, taggers: Sequence[Tagger], stream: AnyStream):
        self.taggers = [each for tagger in taggers for each in (*tagger.first, tagger)]
        self._first = [each for tagger in taggers for each in tagger.first]
        self._stream = stream
        self.read: list[str] = []  # columns of the file that are looked at
        self.sources: list[list[str | _Filled | None]] = []  # per tagger and column
        filled: dict[str, _Filled] = {}  # by the name that the file has for it
        for number, tagger in enumerate(self.taggers):
            found: list[str | _Filled | None] = []
            for column in tagger.model.compiled.columns:
                name = find_column(column, (*filled, *stream.columns))
                source = None if name is None else filled.get(name, name)
                if isinstance(source, str) and source not in self.read:
                    self.read.append(source)
                found.append(source)
            self.sources.append(found)
            if tagger in self._first:
                said = predicted_columns(tagger.model).items()
                filled |= {name: _Filled(number, values) for name, values in said}
                continue
            for each in tagger.first:
                for name in predicted_columns(each.model):
                    del filled[name]  # nobody else is to see it
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
            if not self.taggers[source.tagger].hidden
        ]
        has_keys = any(split_key(name, stream.columns) for name in (*self.read, *filled))
        self.possible = not has_keys and self._is_possible()

    def _is_possible(self) -> bool:
        """Whether every column is there and every label can be written as it is."""
        known = all(source is not None for sources in self.sources for source in sources)
        separator = self._stream.separator
        has_room = self._stream.extensible or all(target.column >= 0 for target in self.targets)
        fixed = [target for target in self.targets if self.taggers[target.tagger].writes_ids]
        odd = any(self.has_odd([name.decode() for name in target.names]) for target in fixed)
        written = [tagger for tagger in self.taggers if tagger not in self._first]
        whole = all(tagger.writes_ids or self.hangs_on_forms(tagger) for tagger in written)
        return bool(self.read and separator) and known and has_room and whole and not odd

    @staticmethod
    def hangs_on_forms(tagger: Tagger) -> bool:
        """Whether what a tagger writes is a matter of label and form."""
        return tagger.model.coding.needs_forms

    def has_odd(self, values: Sequence[str]) -> bool:
        """Whether a value cannot be written into the file as it is."""
        return bad_value(values, f"{self._stream.separator}\t\r\n") is not None

    def scanner(self) -> BlockScanner:
        """A scanner for the file."""
        return BlockScanner(self._stream, self.read, [target.column for target in self.targets])

    def workspaces(self) -> list[Workspace]:
        """Return an empty workspace for each tagger."""
        return [tagger.new_workspace() for tagger in self.taggers]

    def lemmas(self) -> dict[int, _Lemmas]:
        """What writes the labels that hang on the forms, by the number of the tagger."""
        return {
            number: _Lemmas(tagger)
            for number, tagger in enumerate(self.taggers)
            if tagger not in self._first and self.hangs_on_forms(tagger)
        }


class TableTagger:
    """Tags blocks of one file; for one thread at a time.

    Attributes
    ----------
    sentences, tokens : int
        Sentences with words, and words, of the last block that it has tagged.
    """

    def __init__(self, plan: TablePlan):
        self._plan = plan
        self._scanner = plan.scanner()
        self._shared: list[SharedHashes] = []
        self.sentences = self.tokens = 0
        self._start()

    def _start(self) -> None:
        """Begin where no type has a number."""
        self._workspaces = self._plan.workspaces()
        self._lemmas = self._plan.lemmas()

    def tag(self, block: Block) -> bytes | None:
        """The block with its label columns filled, or None if it is not plain."""
        held = sum(lemmas.nbytes for lemmas in self._lemmas.values())
        if any(space.is_full for space in self._workspaces) or held > _MAX_LEMMA_BYTES:
            self._scanner.restart()
            self._start()
        scanned = self._scanner.scan(block)
        if scanned is None:
            self._start()  # the scanner starts over, so they do
            return None
        self.sentences = int(np.count_nonzero(np.diff(scanned.sentence_ptr)))
        self.tokens = scanned.types.shape[1]
        self._shared = [{} for _ in self._plan.read]  # attributes of the new types of this block
        labels: list[NDArray[np.int32]] = []
        lemmas: dict[int, _Values] = {}  # by the number of the tagger
        for number, tagger in enumerate(self._plan.taggers):
            types = self._types(number, scanned, labels, lemmas)
            labels.append(
                tagger.decode_types(types, scanned.sentence_ptr, self._workspaces[number])
            )
            if number in self._lemmas:
                form = tagger.model.compiled.columns.index("form")
                forms = self._scanner.values[self._plan.read.index("form")]
                lemmas[number] = self._lemmas[number].of(types[form], labels[-1], forms)
                if self._plan.has_odd(lemmas[number].names):
                    self._scanner.restart()
                    self._start()
                    return None
        ids, names = [], []
        for target in self._plan.targets:
            found = lemmas.get(target.tagger)
            ids.append(found.ids if found else labels[target.tagger])
            names.append([name.encode() for name in found.names] if found else target.names)
        return self._scanner.splice(ids, names)

    def _types(
        self,
        number: int,
        scanned: Scanned,
        labels: Sequence[NDArray[np.int32]],
        lemmas: Mapping[int, _Values],
    ) -> NDArray[np.int32]:
        """What a tagger decodes: type ids (columns, tokens) of the block."""
        columns = self._plan.taggers[number].model.compiled.columns
        encoder = self._workspaces[number].encoder
        types = np.empty((len(columns), scanned.types.shape[1]), np.int32)
        for row, column, source in zip(types, columns, self._plan.sources[number], strict=True):
            if isinstance(source, _Filled):
                filled = lemmas.get(source.tagger) or _Values(labels[source.tagger], source.names)
                row[:] = encoder.number(column, [filled.names], len(filled.names))[filled.ids]
            else:
                at = self._plan.read.index(str(source))
                encoder.extend(column, scanned.known[at], scanned.new[at], self._shared[at])
                row[:] = scanned.types[at]
        return types
