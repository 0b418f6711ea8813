"""Reading of files in any format, sentence by sentence."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from seqtag.corpus import conllu
from seqtag.corpus.column_files import sniff_rows
from seqtag.corpus.formats import AUTO, FORMATS, READABLE
from seqtag.corpus.json_lines import read_jsonl
from seqtag.corpus.layout import Layout, LayoutOptions, Learned
from seqtag.corpus.shapes import in_memory, is_file, table_of
from seqtag.corpus.sniff import complete_lines, detect_format, json_layout, layout_of_tagged
from seqtag.corpus.span_sentences import read_spans
from seqtag.corpus.stream import (
    HEAD,
    LIMITS,
    Block,
    BlockSource,
    ByteStream,
    ReadLimits,
    after_last_blank_line,
    after_last_character,
    after_last_line,
)
from seqtag.corpus.table import ColumnReader
from seqtag.corpus.text import read_tagged
from seqtag.corpus.texts import read_texts
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from typing_extensions import Self

    from seqtag.corpus.formats import Reader
    from seqtag.corpus.sentence import Sentence
    from seqtag.corpus.texts import TextRecord
    from seqtag.corpus.warnings import FormatWarnings

_NUMBERS = re.compile(rb"\[\s*\d+\s*[],]")  # in a list of JSON
_TABLE_NAME = re.compile(r"\.[ct]sv(\.\w+)?$", re.IGNORECASE)

_log = logging.getLogger("seqtag")


class SentenceStream:
    """Stream of the sentences of a source; also a context manager.

    Attributes
    ----------
    format : str
        ``conllu``, ``conllu-plus``, ``columns``, ``jsonl``, ``text``, ``tokens``, ``tagged``,
        ``pos`` or ``mrg``.
    columns : tuple of str
        Names of the columns.
    source : str
        Name of the file, ``<stdin>`` or ``<stream>``.
    file : ByteStream
        The open file: its size, the bytes read so far, its beginning.
    separator : str
        Separator of the columns (see `Layout`).
    """

    is_segmented = False  # whether it is CoNLL-U of words alone, made of raw text

    def __init__(self, stream: ByteStream, layout: Layout, given: LayoutOptions | None = None):
        self.layout, self._given = layout, given or LayoutOptions()
        self.format, self.columns, self.separator = layout.format, layout.columns, layout.separator
        self.source = stream.name
        self._format = FORMATS[self.format]
        self.file = stream
        self._sentences = self._read()
        self._counted = 0

    def _read(self) -> Iterator[Sentence]:
        """Yield the sentences, then close the file."""
        with self:
            if self._format.rows is not None:
                yield from self.parse(self._table_blocks())
                return
            read = cast("Reader", self._format.read)
            if self.format == "tagged":
                read = partial(read_tagged, layout=self.layout)
            if self.format == "jsonl":
                read = partial(read_jsonl, columns=self.columns, names=self._given.names)
            if self.format == "spans":
                read = partial(read_spans, given=self._given)
            yield from self._checked(read(self.file, self.source))

    def _checked(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield sentences, none of them too long."""
        limits = self.file.limits
        for sentence in sentences:
            if len(sentence) > limits.sentence and not self.is_raw:
                raise limits.too_long(self.source, sentence.line)
            yield sentence

    def _table_blocks(self) -> Iterator[Block]:
        """Yield blocks of complete sentences, none of them too long; of lines if it is no table."""
        if not self.is_table:
            return self.file.blocks(after_last_line)
        heads = self._format.rows.heads if self._format.rows else None
        return self.file.blocks(after_last_blank_line, heads)

    def __iter__(self) -> Iterator[Sentence]:
        return self._sentences

    @property
    def is_table(self) -> bool:
        """True if the file has one word on each line and can be read as blocks."""
        return self._format.is_table and self.layout.is_plain

    @property
    def is_bare(self) -> bool:
        """True if the file has words only, and its blocks can be scanned for them."""
        return self.format == "tokens"

    @property
    def cutter(self) -> Any:
        """The model that cuts the texts of a file of texts with spans; None for other files."""
        return self._given.tokens_from if self.format == "spans" else None

    def texts(self) -> Iterator[TextRecord]:
        """Yield the texts of a file of texts with other fields, instead of sentences."""
        yield from read_texts(self.file, self._given.text_column)
        self.report()

    @property
    def is_raw(self) -> bool:
        """True if the file is raw text, which a pipeline can segment."""
        return self._format.is_raw

    @property
    def extensible(self) -> bool:
        """True if another column can be added to the rows of the file."""
        return self._format.extensible or not self.layout.is_plain

    def blocks(self) -> Iterator[Block]:
        """Yield the text of a table, or of tokens, in pieces of complete sentences.

        The caller of `parse` calls `report`.
        """
        with closing(self.file):
            if self.is_bare:
                yield from self.file.blocks(after_last_line, returns=False)
            else:
                yield from self._table_blocks()

    def block_tasks(self) -> Iterator[Callable[[], Block]]:
        """Yield functions that return the blocks; any thread may call them."""
        for block in self.blocks():
            yield partial(_same, block)

    def count(self, sentences: int) -> int:
        """Count the sentences of the next block, and return the number of those before it."""
        self._counted += sentences
        return self._counted - sentences

    def parse(self, blocks: Iterable[Block], line: int = 1) -> Iterator[Sentence]:
        """Return the sentences of some blocks, the first of which starts at `line`.

        Raises
        ------
        CorpusError
            If the file has no blocks.
        """
        if self.is_bare and self._format.read is not None:
            source = cast("ByteStream", BlockSource(blocks, self.file.limits))
            return self._checked(self._format.read(source, self.source))
        if self._format.rows is None:
            msg = f"expected a file of one word a line to parse in blocks, found {self.format}"
            raise CorpusError(msg, source=self.source)
        if self.format in ("conllu", "conllu-plus"):
            blocks = self._of_same_columns(blocks)
        return self.reader(self.file.warnings, self.limits).read(blocks, line)

    def reader(self, warnings: FormatWarnings, limits: ReadLimits) -> ColumnReader:
        """Return a reader of the layout."""
        rows = self._format.rows if self.is_table and self._format.rows else ColumnReader
        return rows(self.source, self.layout, warnings, limits)

    def _of_same_columns(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield blocks of CoNLL-U Plus, none of which names other columns."""
        for block in blocks:
            conllu.check_columns(block.text, block.line, self.columns, self.source)
            yield block

    def report(self) -> None:
        """Log the warnings and skipped sentences; call this after all blocks are parsed."""
        self.file.warnings.report()

    def pieces(self) -> Iterator[str]:
        """Yield the text as it arrives, in pieces of any size, instead of its sentences."""
        with self:
            for block in self.file.blocks(after_last_character):
                yield block.text

    @property
    def limits(self) -> ReadLimits:
        """Input limits and strictness."""
        return self.file.limits

    def close(self) -> None:
        """Close the file, if it was opened here, and log the warnings."""
        self.file.close()
        self.report()

    def __enter__(self) -> SentenceStream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _same(block: Block) -> Block:
    return block


@dataclass(frozen=True)
class ReadOptions(LayoutOptions):
    """Options for reading files, as `read` takes them, with those of `LayoutOptions`.

    Attributes
    ----------
    format
        Name of the format, or ``auto``.
    limits
        Input limits and strictness.
    is_text
        Whether a file is text if it may be (see `detect_format`), unless its name ends in
        ``.csv`` or ``.tsv``.
    """

    format: str = AUTO
    limits: ReadLimits = LIMITS
    is_text: bool = False

    @classmethod
    def taken_from(cls, options: dict[str, Any], **others: Any) -> Self:
        """Return the options for reading among keyword arguments, which lose them.

        >>> settings = {"comment": ";", "epochs": 3}
        >>> ReadOptions.taken_from(settings).comment, settings
        (';', {'epochs': 3})
        """
        names = [field.name for field in fields(cls) if field.name in options]
        return cls(**{name: options.pop(name) for name in names} | others)

    def arguments(self) -> dict[str, Any]:
        """Return the options as keyword arguments, without those of the layout not given."""
        return {"format": self.format, "limits": self.limits, **self.layout_arguments()}

    def after(self, trainings: Iterable[Mapping[str, Any]]) -> Self:
        """Return the options with what models record of the files that they were trained on."""
        known = [each["layout"] for each in trainings if "layout" in each]
        return replace(self, like=Learned.from_json(known[-1])) if known else self

    def open(self, source: Any, *, announce: bool = True) -> SentenceStream:
        """Open a file as `read` does; a detected format is logged unless `announce` is False."""
        if not is_file(source):
            file, given = in_memory(source, self.columns)
            if self.names:
                given["names"] = self.names
            return replace(self, **given).open(file, announce=False)
        self._check_types()
        columns = self._names()
        if self.format not in READABLE:
            msg = (
                f"expected one of the formats {', '.join(READABLE)}, found {self.format!r}; "
                "choose one of these"
            )
            raise CorpusError(msg)
        if columns is not None and self.format not in (AUTO, "columns"):
            msg = (
                "expected column names only with the format 'columns', found them with "
                f"{self.format!r}, which has fixed columns; leave out one of the two"
            )
            raise CorpusError(msg)
        if columns is not None and (
            isinstance(self.columns, str)
            or "form" not in columns
            or len(set(columns)) < len(columns)
        ):
            msg = (
                "expected different column names with 'form' among them, found "
                f"{self.columns!r}; name each column once"
            )
            raise CorpusError(msg)
        stream = ByteStream(source, self.limits)
        try:
            return SentenceStream(stream, self._layout(stream, announce=announce), self)
        except BaseException:
            stream.close()
            raise

    def _check_types(self) -> None:
        """Raise `TypeError` if an option is of another type than it has in the class."""
        words = "separator comment sentences outside scheme offsets overlaps text_column format"
        kinds = {**dict.fromkeys(words.split(), str), "header": bool, "as_cut": bool}
        kinds |= {"columns": Iterable, "names": Iterable, "limits": ReadLimits}
        for name, kind in kinds.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                msg = f"expected {name} of type {kind.__name__}, found {value!r:.60}"
                raise TypeError(msg)

    def _names(self) -> tuple[str, ...] | None:
        """Return the names of the columns, each different, if they are given."""
        if self.columns is None:
            return None
        return tuple(str(i) if name == "_" else name for i, name in enumerate(self.columns, 1))

    def _layout(self, stream: ByteStream, *, announce: bool) -> Layout:
        """Return format and columns, and read no more of the stream than needed."""
        given = self._given()
        known = FORMATS.get(self.format if self.text_column is None else "spans")
        if known is None and not given.of_rows:  # detect it
            head = stream.head()
            try:
                is_text = self.is_text and not _TABLE_NAME.search(stream.name)
                found = detect_format(head, given, is_text=is_text)
            except CorpusError as err:
                stream.check_text(head)
                raise CorpusError(err.message, source=stream.name, line=err.line) from err
            stream.warnings.is_silent = not head.strip()
            if b"\0" in head and FORMATS[found.format].rows is not conllu.ConlluReader:
                stream.check_text(head)
            if found.evidence and announce:
                named = () if FORMATS[found.format].fixed else found.columns
                shown = " ".join([found.format, *named])
                sample = f" of the first {HEAD >> 10} KiB" if len(head) >= HEAD else ""
                _log.info("%s: read as %s (%s%s)", stream.name, shown, found.evidence, sample)
        elif known is not None and known.rows is conllu.ConlluReader:
            first = stream.head(first_line=True).decode("utf-8", errors="replace")
            plus = conllu.plus_columns(first)
            if plus is None and known.fixed is None:
                msg = (
                    'expected "# global.columns = ID FORM ..." in the first line, found '
                    "none; add it, or use --format conllu"
                )
                raise CorpusError(msg, source=stream.name, line=1)
            if plus is None:
                return Layout(self.format, conllu.COLUMNS, "\t")
            found = Layout("conllu-plus", plus, "\t", comment="" if "id" in plus else "#")
        elif self.format == "jsonl":
            found = json_layout(complete_lines(stream.head()), given)
        elif self.format == "tagged":
            return layout_of_tagged(complete_lines(stream.head()), given)
        elif known is not None and known.rows is None:
            return Layout(known.name, known.fixed or ())
        else:
            # Column files by another name: what is read is a column file.
            head = stream.head()
            lines = complete_lines(head)
            if known is not None and known.fixed is not None:
                given = replace(given, columns=known.fixed)
            found, _ = sniff_rows(lines, given)
            if known is not None and known.columns and known.fixed is None:
                names = known.columns.get(len(found.columns)) or known.columns[min(known.columns)]
                found, _ = sniff_rows(lines, replace(given, columns=names))
        if self.names and not (found.format == "jsonl" and _NUMBERS.search(stream.head())):
            _log.warning("%s: no labels of the sample are numbers, to use --names", stream.name)
        for misfit in filter(attrgetter("is_noted"), found.misfits):
            times = f" ({misfit.count} times in the sample)" if misfit.count > 1 else ""
            place = f"{stream.name}:{misfit.line}" if misfit.line else stream.name
            _log.warning("%s: %s%s", place, misfit.text, times)
        if "form" not in found.columns or len(set(found.columns)) < len(found.columns):
            is_plus = found.format == "conllu-plus"
            msg = (
                f"expected different column names with FORM among them, found "
                f"{', '.join(found.columns):.200}; "
                f"{'correct # global.columns' if is_plus else 'name the columns with --columns'}"
            )
            raise CorpusError(msg, source=stream.name, line=1)
        return found

    def _given(self) -> LayoutOptions:
        """Return what the options say about the layout of a column file, in the words of it."""
        words = {"tab": "\t", "space": " ", "comma": ",", "semicolon": ";", "\\t": "\t"}
        separator = words.get(self.separator or "", self.separator)
        if separator is not None and len(separator) != 1:
            msg = f"expected one character, tab or space as separator, found {separator!r}"
            raise CorpusError(msg)
        return replace(self, columns=self._names(), separator=separator)


def read(
    source: Any,
    format: str = AUTO,
    *,
    columns: Sequence[str] | None = None,
    limits: ReadLimits = LIMITS,
    **layout: Any,
) -> SentenceStream:
    r"""Read the sentences of a file one by one, without loss.

    ``"".join(s.raw for s in read(path)).encode()`` is the file, except of texts with spans. Input
    is UTF-8, plain or compressed (`seqtag.storage.compression`).

    Parameters
    ----------
    source
        Path, ``"-"`` for standard input, or an open file, which stays open. Or a table of pandas,
        polars or Arrow, or a dictionary of columns, with a row for each sentence (lists) or word;
        dictionaries, one for each row; lists of tuples; or documents of spaCy.
    format
        A name from `seqtag.corpus.formats.READABLE`. ``"auto"`` waits for 64 kB or the end of the
        input (less if a pipe or a terminal pauses), detects the format (`detect_format`) and logs
        it at level INFO; with a named format each sentence is yielded as soon as it has arrived.
    columns
        Names for the columns of a column file, one of them ``form``; ``_`` for those that are not
        used.
    limits
        Input limits and strictness.
    **layout
        What else is known of a column file: ``separator``, ``comment``, ``header``,
        ``sentences``, ``outside`` and ``scheme``, as `LayoutOptions` has them; of texts with spans
        ``offsets``, ``overlaps``, and in ``tokens_from`` the model that cuts them.

    Returns
    -------
    SentenceStream
        Iterator over the sentences, usable once. An empty file has no sentences.

    Raises
    ------
    CorpusError
        At once, if the format is unknown or cannot be detected; during iteration, at the first line
        that does not fit the format, and at a line or sentence above a limit.
    OSError
        If the file cannot be opened: missing, no permission, a directory.
    TypeError
        If the source is none of these.

    Examples
    --------
    >>> import io
    >>> stream = read(io.BytesIO(b"Stop !\n"), "tokens")
    >>> stream.format, [sentence.words for sentence in stream]
    ('tokens', [['Stop', '!']])
    """
    return ReadOptions(format, limits, columns=columns, **layout).open(source)


def sniff(source: Any, **overrides: Any) -> Layout:
    r"""Find out what a file is from its first 64 kB.

    Parameters
    ----------
    source
        Path, ``"-"``, a binary file, or lines.
    **overrides
        What is known: ``format``, ``columns``, ``separator``, ``comment``, ``header``,
        ``sentences``, ``outside`` and ``scheme``, as `LayoutOptions` has them.

    Returns
    -------
    Layout
        The layout that every command would use. An empty file has the one column form.

    Raises
    ------
    CorpusError
        If the text could be several formats, or is of one that is not read.

    Examples
    --------
    >>> layout = sniff(["Word,Tag", "Ann,B-PER", "ran,O", "", "Bob,B-PER", "sat,O"])
    >>> layout.describe()
    "separated by ',': form, ner; header"
    """
    file: Any = source
    if isinstance(source, Iterable) and not is_file(source) and table_of(source) is None:
        file = list(source)
        if all(isinstance(line, str) for line in file):
            file = io.BytesIO("\n".join(line.rstrip("\r\n") for line in file).encode())
    with closing(ReadOptions(**overrides).open(file)) as stream:
        return stream.layout
