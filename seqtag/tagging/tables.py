"""Column files tagged block by block: the native scanner reads, the kernel decodes and splices.

The readable implementation is `seqtag.tagging.streams`, with a `Sentence` for each sentence. This
one does the same for column formats, but Python handles word types only. A block that is not plain
(a malformed line, an error) is left to the readable one: output and messages are the same.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from operator import attrgetter
from sys import getsizeof
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from seqtag.caching import TAGGERS_BYTES
from seqtag.corpus import FORMATS
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.scanner import BlockScanner, WordBlockScanner
from seqtag.corpus.sentence import (
    bad_value,
    find_column,
    key_of,
    misc_key,
    places,
    split_key,
    with_value,
)
from seqtag.corpus.write import JSON_KEYS
from seqtag.engine.arrays import distinct
from seqtag.errors import OptionError
from seqtag.features.encoder import Column
from seqtag.labels.column import FEATS, sorted_feats
from seqtag.labels.schemes import OUTSIDE
from seqtag.parallel import Pool
from seqtag.tagging.encode import NO_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from seqtag.corpus.formats import Format
    from seqtag.corpus.read import SentenceStream
    from seqtag.corpus.scanner import Scanned
    from seqtag.corpus.stream import Block
    from seqtag.features.encoder import SharedHashes
    from seqtag.tagging.runtime import ModelRuntime
    from seqtag.tagging.workspace import Workspace


_Values = TypeVar("_Values")

_ENTRY_BYTES = 136  # of an entry of a dict and of a number
_SEPARATORS = {  # between fields and between words, and after a sentence, as the kernel writes
    "tokens": (b"", b" ", b"\n"),
    "tagged": (b"/", b" ", b"\n"),
    "columns": (b"\t", b"\n", b"\n\n"),
    "tsv": (b"\t", b"\n", b"\n"),
}
_WITH_COLUMNS = ("tsv", "jsonl")  # formats that have the other columns of CoNLL-U
_IN_FILE: Any = (None, [])  # a column of the file, for the kernel
_NO_TAGS = ("lemma", "feats")  # columns that word/TAG shows only if there are no others
_MISC = CONLLU.index("misc")
_MANY_TAGGERS = 3  # so many that none of them takes most of the time


def names_shown(names: Sequence[str], form: Format) -> list[str]:
    """Return which of the columns that taggers have filled a format shows.

    If it has room for one, the last model's labels; UPOS rather than XPOS.

    >>> names_shown(["upos", "xpos", "lemma"], FORMATS["tagged"])
    ['upos']
    """
    if form.most_labels is None or not names:
        return [*names]
    tags = [n for n in names if n not in _NO_TAGS and not split_key(n, CONLLU)] or names
    last = "upos" if tags[-1] == "xpos" and "upos" in tags else tags[-1]
    return [last][: form.most_labels]


def shared_columns(taggers: Sequence[ModelRuntime]) -> dict[str, list[int]]:
    """Return the columns that several taggers write, with the places of these taggers.

    They are called as by the first tagger; ``ner`` and ``misc.NER`` are one.

    Raises
    ------
    OptionError
        If they are not columns of chunks, of which later taggers can fill what is free.
    """
    places: dict[str, list[int]] = {}
    names: dict[str, str] = {}
    for place, tagger in enumerate(taggers):
        for name in () if tagger.hidden else tagger.label_columns:
            places.setdefault(names.setdefault(key_of(name), name), []).append(place)
    shared = {name: found for name, found in places.items() if len(found) > 1}
    for name, found in shared.items():
        if not all(taggers[place].label_scheme for place in found):
            msg = (
                f"expected models of different columns, found {len(found)} for {name}, which has "
                "no chunks to join; run them one by one, or name the columns to write (--only)"
            )
            raise OptionError(msg)
    return shared


class FilledColumns(Generic[_Values]):
    """Columns that taggers have filled so far; the last filled is the last in order.

    Parameters
    ----------
    columns
        Columns of the file.

    Attributes
    ----------
    filled : dict
        The values by the name that the tagger has for the column.
    hidden : set of str
        Columns that are filled for other taggers, not to be written.
    """

    __slots__ = ("_columns", "filled", "hidden")

    def __init__(self, columns: tuple[str, ...]):
        self._columns = columns
        self.filled: dict[str, _Values] = {}
        self.hidden: set[str] = set()

    def fill(self, tagger: ModelRuntime, columns: Mapping[str, _Values]) -> None:
        """Fill columns for a tagger."""
        for name, values in columns.items():
            self.filled.pop(name, None)
            self.filled[name] = values
            (self.hidden.add if tagger.hidden else self.hidden.discard)(name)

    def by_file_name(self, *, hidden: bool = True) -> dict[str, _Values]:
        """Return the columns under the names that the file has for them, hidden ones or not."""
        place = places(self.filled, self._columns, self.hidden)
        shown = self.filled.keys() if hidden else self.filled.keys() - self.hidden
        return {place[name]: each for name, each in self.filled.items() if name in shown}


class _Filled(NamedTuple):
    """A column that a tagger fills: the number of the tagger, and the value for each label id.

    The values are not used if the labels depend on the forms.
    """

    tagger: int
    names: list[str]


class _Target(NamedTuple):
    """A column to write: its place (-1: after the last), its tagger, the bytes of each label.

    `key`: a key of MISC that the labels are the values of, or an empty string; `lacks_outside`:
    whether words outside of chunks lack it.
    """

    column: int
    tagger: int
    names: list[bytes]
    key: str
    lacks_outside: bool

    def written(self, names: Sequence[bytes]) -> list[bytes]:
        """Return items of MISC with labels as values of the key."""
        cells = self.items([*map(bytes.decode, names)], ["_"] * len(names))
        return [cell.encode() for cell in cells]

    def items(self, labels: Sequence[str], cells: Sequence[str]) -> list[str]:
        """Return cells of MISC with labels as values of the key."""
        values = [None if self.lacks_outside and label == OUTSIDE else label for label in labels]
        pairs = zip(cells, values, strict=True)
        return [with_value(cell, self.key, value) for cell, value in pairs]


class _Written(NamedTuple):
    """The values of a column of a block: an id for each token, and the bytes for each id."""

    ids: NDArray[np.int32]
    names: list[bytes]


class _Combined:
    """Values that depend on a label and on another column, such as lemmas on the form.

    Parameters
    ----------
    labels
        By label id.
    write
        Returns the values, given labels and as many values of the column.
    """

    def __init__(
        self, labels: Sequence[str], write: Callable[[list[str], list[str]], Sequence[str]]
    ):
        self._labels, self._write = labels, write
        self._written: dict[int, bytes] = {}
        self.nbytes = 0

    def of(self, column: Column, ids: NDArray[np.int32]) -> tuple[_Written, Sequence[str]]:
        """Return the values of label ids, given the column.

        The second result has those that did not occur before.
        """
        width = np.int64(len(self._labels))
        pairs, _, which = distinct(column.ids * width + ids)
        numbers = pairs.tolist()
        new = [pair for pair in numbers if pair not in self._written]
        written: Sequence[str] = []
        if new:
            labels = [self._labels[pair % width] for pair in new]
            written = self._write(labels, [column.types[pair // width] for pair in new])
            self._written.update(zip(new, map(str.encode, written), strict=True))
            self.nbytes += sum(map(getsizeof, written)) + _ENTRY_BYTES * len(new)
        names = list(map(self._written.__getitem__, numbers))
        return _Written(which.astype(np.int32), names), written


class _Lines:
    """Output that is the lines of the file with labels spliced into them.

    Attributes
    ----------
    reads
        Columns of the file that it needs.
    places
        Columns that are replaced, by number; None if words alone are scanned.
    excludes
        Characters that values cannot have.
    has_room
        Whether the format has room for all labels.
    """

    renders_words = False

    def __init__(self, stream: SentenceStream, to: str | None, targets: Sequence[_Target]):
        self.reads = ["misc"] if any(target.key for target in targets) else []
        self.places: list[int] | None = [target.column for target in targets]
        self.excludes = f"{stream.separator}\t\r\n"
        is_kept = to is None or (to == "conllu" and stream.columns == CONLLU)
        fits = stream.extensible or min(self.places, default=0) >= 0
        self.has_room = is_kept and fits and bool(stream.separator)

    def write(
        self,
        block: Block,  # noqa: ARG002
        scanned: Scanned,
        labels: Sequence[_Written],
    ) -> Callable[[int], bytes]:
        """Return the function that returns the block of a `TaggedBlock`."""
        text = scanned.rows.splice(labels)
        return lambda _: text


class _Words:
    """Output that is words and labels alone, as the kernel writes them; otherwise as `_Lines`."""

    renders_words = True

    def __init__(
        self,
        stream: SentenceStream,
        to: str,
        targets: Sequence[_Target],
        names: Sequence[str],
        *,
        is_bare: bool,
    ):
        self._to, self._targets, self._names, self._is_bare = to, targets, names, is_bare
        known = {name: place for place, name in enumerate(CONLLU)} | {"pos": -1}  # XPOS if free
        self._columns = [known.get(name, _MISC) for name in names]
        self._items = {each.key: each.written(each.names) for each in targets if each.key}
        self.reads = [] if is_bare else ["form"]
        # Columns of the file come before new ones; labels take the place of what was in some.
        old = stream.columns[2:] if to in _WITH_COLUMNS and not is_bare else ()
        self._keys = [*dict.fromkeys((*old, *names))]
        kept = ["form", *(name for name in old if name not in names)]
        self.places = None if is_bare else [*map(stream.columns.index, kept)]
        self.excludes = FORMATS[to].excludes
        self.has_room = {
            "conllu": all(1 < place <= _MISC for place in self._columns),
            "tagged": bool(names),
            "tsv": "sentence" not in names,
            "jsonl": not {*names} & {*JSON_KEYS},
        }.get(to, True)

    def write(
        self, block: Block, scanned: Scanned, labels: Sequence[_Written]
    ) -> Callable[[int], bytes]:
        """Return the function that returns the block of a `TaggedBlock`."""
        rows, to = scanned.rows, self._to
        if to == "conllu":
            written = partial(rows.conllu, *self._in_columns(labels))
            return lambda before: written(*block.comments(before))
        words = rows if self._is_bare else rows.words(to == "jsonl")
        found = dict(zip(self._names, labels, strict=True))
        labels = [found.get(name, _IN_FILE) for name in self._keys]
        if to == "jsonl":
            return partial(words.json, [name.encode() for name in self._keys], labels)
        if to == "tsv":
            head = "\t".join(["sentence", "form", *self._keys]).encode() + b"\n"
            lines = partial(words.lines, labels, *_SEPARATORS[to])
            return lambda before: (text := lines(before)) and head + text
        text = words.lines(labels, *_SEPARATORS[to], None)
        return lambda _: text

    def _in_columns(self, labels: Sequence[_Written]) -> tuple[list[int], list[_Written]]:
        """Return the columns of CoNLL-U that labels are in, and their values; MISC has all keys."""
        found: dict[int, _Written] = {}
        for column, target, written in zip(self._columns, self._targets, labels, strict=True):
            if column in found:
                cells = Column([*map(bytes.decode, found[column].names)], found[column].ids)
                combined = _Combined([*map(bytes.decode, written.names)], target.items)
                found[column], _ = combined.of(cells, written.ids)
            elif target.key:
                is_known = written.names is target.names
                names = self._items[target.key] if is_known else target.written(written.names)
                found[column] = written._replace(names=names)
            else:
                found[column] = written
        return [*found], [*found.values()]


class TablePlan:
    """The columns of a file that taggers read and write.

    Parameters
    ----------
    taggers
        The labels of the first are columns to the second, and so on.
    stream
        The file, in a column format, or with words only.
    to
        Format to write; None for that of the stream.

    Attributes
    ----------
    possible : bool
        True if all columns exist, and labels can be written as they are.
    """

    def __init__(
        self, taggers: Sequence[ModelRuntime], stream: SentenceStream, to: str | None = None
    ):
        self.taggers = list(taggers)
        self._stream, self.source, self._most = stream, stream.source, stream.limits.sentence
        self.read: list[str] = []  # columns of the file that are used
        self.sources: list[list[int | _Filled | None]] = []  # per tagger and column; of `read`
        columns = FilledColumns[_Filled](stream.columns)
        for number, tagger in enumerate(self.taggers):
            found: list[int | _Filled | None] = []
            filled = columns.by_file_name()
            for column in tagger.model.compiled.columns:
                name = find_column(column, (*filled, *stream.columns))
                if name is not None and name not in (*filled, *self.read):
                    self.read.append(name)
                found.append((filled.get(name) or self.read.index(name)) if name else None)
            self.sources.append(found)
            values = tagger.split_label(tagger.outputs)
            columns.fill(tagger, {name: _Filled(number, each) for name, each in values.items()})
        filled = columns.by_file_name()
        shown = [*columns.by_file_name(hidden=False)]
        if to is not None:
            shown = names_shown(shown, FORMATS[to])
        is_bare = stream.is_bare and not {*self.read} - {"form"}
        words_to = None
        fitting: tuple[str, ...] = ("tokens", "tagged")
        if stream.format == "conllu" and not stream.is_segmented:
            fitting += _WITH_COLUMNS
        if "form" in stream.columns and "form" not in filled:
            if is_bare:
                words_to = to or (stream.format if stream.is_table else None)
            elif stream.is_table and to in fitting:
                words_to = to
        if words_to == "conllu":
            keys = {name: "" if name in CONLLU else misc_key(name) for name in shown}
        else:
            known = CONLLU if stream.is_bare else stream.columns
            keys = {name: (split_key(name, known) or ("", ""))[1] for name in shown}
        self.targets = [
            _Target(
                next((i for i, each in enumerate(stream.columns) if each in (name, base)), -1),
                filled[name].tagger,
                [value.encode() for value in filled[name].names],
                keys[name],
                self.taggers[filled[name].tagger].model.training.get("lacks_outside", False),
            )
            for name, base in ((each, "misc" if keys[each] else each) for each in shown)
        ]
        needed = {target.tagger for target in self.targets}
        for number, found in reversed([*enumerate(self.sources)]):
            if number in needed:
                needed |= {source.tagger for source in found if isinstance(source, _Filled)}
        self.needed = sorted(needed)
        self.output: _Words | _Lines = _Lines(stream, to, self.targets)
        if words_to in ("conllu", "jsonl", *_SEPARATORS):
            self.output = _Words(stream, words_to, self.targets, shown, is_bare=is_bare)
        self.read += {*self.output.reads} - {*self.read}
        can_read = bool(self.read or not needed)
        is_plain = self.output.has_room and can_read and not shared_columns(taggers)
        self.possible = is_plain and self._is_possible(filled)

    def _is_possible(self, filled: Mapping[str, _Filled]) -> bool:
        """Return whether all columns can be read and written, and no key of MISC is in the way.

        Filled columns may be keys of MISC that no tagger reads: one, or several of words alone.
        """
        keyed = {name: each for name, each in filled.items() if split_key(name, CONLLU)}
        taggers = {each.tagger for each in keyed.values()}
        for source in chain.from_iterable(self.sources):
            if source is None or (isinstance(source, _Filled) and source.tagger in taggers):
                return False
        has_many = len(keyed) > 1 and not self.output.renders_words
        if has_many or not all(name.startswith("misc.") for name in keyed):
            return False
        return (
            not any(split_key(name, self._stream.columns) for name in self.read)
            and all(each.writes_ids or each.model.coding.needs_forms for each in self.taggers)
            and all(
                self.can_write([name.decode() for name in target.names])
                for target in self.targets
                if self.taggers[target.tagger].writes_ids
            )
        )

    def can_write(self, values: Sequence[str]) -> bool:
        """Return whether all values can be written as they are."""
        return not values or bad_value(values, self.output.excludes) is None

    def scanner(self) -> BlockScanner | WordBlockScanner:
        """Return a scanner for the file."""
        if self.output.places is None:
            return WordBlockScanner()
        return BlockScanner(self._stream, self.read, self.output.places)

    def accepts(self, scanned: Scanned) -> bool:
        """Return whether all words can be written as they are, and no sentence is too long."""
        if not self.output.renders_words:
            return True
        words, most = scanned.new[self.read.index("form") if "form" in self.read else 0], self._most
        is_too_long = scanned.types.shape[1] > most and scanned.lengths.max() > most
        return not is_too_long and self.can_write(words)

    def workspaces(self) -> list[Workspace]:
        """Return an empty workspace for each tagger."""
        return [tagger.new_workspace() for tagger in self.taggers]

    def combined(self) -> dict[int, _Combined]:
        """Return the writers of labels that depend on another column, by number of the tagger."""
        keyed = () if self.output.renders_words else filter(attrgetter("key"), self.targets)
        return {
            number: _Combined(tagger.model.labels, tagger.model.coding.decode)
            for number, tagger in enumerate(self.taggers)
            if tagger.model.coding.needs_forms
        } | {
            target.tagger: _Combined([*map(bytes.decode, target.names)], target.items)
            for target in keyed
        }


class TableTaggers:
    """Taggers for blocks of files with the same columns: what one file leaves, the next uses.

    Parameters
    ----------
    taggers
        As for `TablePlan`.
    threads
        Threads that will use them.
    """

    def __init__(self, taggers: Sequence[ModelRuntime], threads: int = 1):
        self.taggers = taggers
        self._plan: TablePlan | None = None
        # Two threads take turns at several taggers and seldom wait: each sums the weights of a
        # word for both. With one or two taggers they would wait.
        users = 2 if threads > 1 and len(taggers) >= _MANY_TAGGERS else 1
        self._idle: Pool[TableTagger] = Pool(lambda tagger: tagger.is_full, users)

    def plan(self, stream: SentenceStream, to: str | None = None) -> TablePlan:
        """Return the plan for a file and the format to write; made for the first of the files."""
        if self._plan is None:
            self._plan = TablePlan(self.taggers, stream, to)
        return self._plan

    def borrow(self, plan: TablePlan) -> AbstractContextManager[TableTagger]:
        """Lend a tagger to one thread."""
        return self._idle.borrow(lambda: TableTagger(plan))


class TaggedBlock(NamedTuple):
    """A block with its label columns filled, and how many sentences with words and words it has.

    `write` returns it, given the number of sentences before it, from which its own are numbered.
    """

    write: Callable[[int], bytes]
    sentences: int
    tokens: int


class TableTagger:
    """Tags blocks of files with the same columns.

    Several threads may use it: they take turns at numbering words and at each of the taggers.
    """

    def __init__(self, plan: TablePlan):
        self._plan = plan
        self._scanner = plan.scanner()
        self._workspaces = plan.workspaces()
        self._combined = plan.combined()
        self._numbering = Lock()
        self._turns = [Lock() for _ in plan.taggers]
        self._is_spoiled = False
        self._label_types: dict[tuple[int, str], NDArray[np.int32]] = {}  # by tagger and column
        for number in plan.needed:
            encoder, columns = self._workspaces[number].encoder, plan.taggers[number].columns
            for column, source in zip(columns, plan.sources[number], strict=True):
                if isinstance(source, _Filled) and source.tagger not in self._combined:
                    types = encoder.number(column, [source.names], len(source.names))
                    self._label_types[number, column] = types

    @property
    def nbytes(self) -> int:
        """Bytes held for word types."""
        held = sum(space.nbytes for space in self._workspaces)
        return held + sum(each.nbytes for each in self._combined.values())

    @property
    def is_full(self) -> bool:
        """True if another one should replace it, to limit memory."""
        return self.nbytes > TAGGERS_BYTES or self._is_spoiled

    def tag(self, block: Block) -> TaggedBlock | None:
        """Return the block with its label columns filled, or None if it is not plain."""
        plan = self._plan
        with self._numbering:
            scanned = self._scanner.scan(block)
            if scanned is None or not plan.accepts(scanned):
                # Words without use have numbers now.
                self._is_spoiled = True
                return None
            shared: list[SharedHashes] = [{} for _ in plan.read]  # attributes of new types
            for number in plan.needed if any(scanned.new) else ():
                columns = plan.taggers[number].model.compiled.columns
                encoder = self._workspaces[number].encoder
                for column, at in zip(columns, plan.sources[number], strict=True):
                    if isinstance(at, int):
                        values = scanned.new[at]
                        if column == FEATS:
                            values = list(map(sorted_feats, values))
                        encoder.extend(column, scanned.known[at], values, shared[at])
        labels: dict[int, NDArray[np.int32]] = {}  # by the number of the tagger
        combined: dict[int, _Written] = {}
        for number in plan.needed:
            tagger, workspace = plan.taggers[number], self._workspaces[number]
            columns = tagger.model.compiled.columns
            types = np.empty((len(columns), scanned.types.shape[1]), np.int32)
            for row, column, source in zip(types, columns, plan.sources[number], strict=True):
                if isinstance(source, _Filled):
                    ids, of_labels = labels[source.tagger], self._label_types.get((number, column))
                    if of_labels is None:
                        ids, written = combined[source.tagger]
                        names = list(map(bytes.decode, written))
                        with self._numbering:
                            of_labels = workspace.encoder.number(column, [names], len(names))
                    row[:] = of_labels[ids]
                elif source is not None:
                    row[:] = scanned.types[source]
                    has_values = column == "form" or not len(row)
                    has_values = has_values or self._scanner.values[source][row[0]] != NO_LABEL
                    if not has_values and (row == row[0]).all():
                        tagger.note_empty(column, plan.read[source], len(row), plan.source)
            forms = None
            if tagger.model.coding.needs_forms:
                forms = self._column_of("form", scanned)
            types = workspace.encoder.with_phrases(types, scanned.sentence_ptr)
            with self._turns[number]:
                ids = tagger.decode_types(types, scanned.sentence_ptr, workspace, forms=forms)
            labels[number] = ids
            if number in self._combined:
                is_written = any(target.tagger == number for target in plan.targets)
                with self._numbering:
                    other = forms or self._column_of("misc", scanned)
                    combined[number], fresh = self._combined[number].of(other, ids)
                    self._is_spoiled |= is_written and not plan.can_write(fresh)
                if self._is_spoiled:  # perhaps in another thread, which kept these values
                    return None
        out = [
            combined.get(target.tagger) or _Written(labels[target.tagger], target.names)
            for target in plan.targets
        ]
        write = plan.output.write(block, scanned, out)
        return TaggedBlock(write, int(np.count_nonzero(scanned.lengths)), scanned.types.shape[1])

    def _column_of(self, name: str, scanned: Scanned) -> Column:
        """Return the values of a column that was read."""
        source = self._plan.read.index(name)
        return Column(self._scanner.values[source], scanned.types[source])
