"""Rows with a text or tokens: JSON Lines, Parquet, tables in memory; labels become further fields.

A row stays a row, in its place and with all its fields. Tokens get a list of labels in a field for
each column that is filled; a text gets the field ``sentences``, with tokens and labels of each.
"""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

from seqtag.corpus import LIMITS, read, sentence_of
from seqtag.corpus.datasets import names_in_schema, with_names
from seqtag.corpus.sentence import find_column
from seqtag.corpus.stream import ByteStream, TextBytes, after_last_line
from seqtag.errors import CorpusError, OptionError, install_hint
from seqtag.storage import strict_json
from seqtag.tagging.document import encoded, sentence_fields
from seqtag.tagging.streams import TagCounts, names_filled, tag_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from seqtag.corpus import Sentence
    from seqtag.tagging.pipeline import Chain
    from seqtag.tagging.streams import TagOptions

SENTENCES = "sentences"
"""The field that rows of texts get."""

_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_BATCH_ROWS = 1000
_FIELDS = ("tokens", "text")  # the defaults of `TagOptions.field`


def row_format(name: str, format: str) -> str | None:
    """Return the format of a file of rows, ``jsonl`` or ``parquet``; None for other files.

    Examples
    --------
    >>> row_format("part-1.jsonl.gz", "auto"), row_format("part-1.txt", "auto")
    ('jsonl', None)
    """
    if format != "auto":
        return format if format in _ENDINGS.values() else None
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return next((found for ending, found in _ENDINGS.items() if name.endswith(ending)), None)


class RowTagger:
    """Tags rows.

    Parameters
    ----------
    chain
        The models.
    options
        How to tag; `TagOptions.field` names the field of texts or tokens.
    threads
        Threads to decode on.

    Attributes
    ----------
    counts : TagCounts
        Number of sentences and tokens tagged so far.

    Raises
    ------
    OptionError
        If another format is to be written, or token ranges, which rows have no place for.

    Examples
    --------
    >>> import seqtag
    >>> from seqtag.tagging.pipeline import Chain
    >>> from seqtag.tagging.streams import TagOptions
    >>> tagger = RowTagger(Chain([seqtag.load("en")], ["upos"]), TagOptions())
    >>> tagger.tag([{"tokens": ["It", "works"]}, {"tokens": None}])
    [{'upos': ['PRON', 'VERB']}, {}]
    >>> tagger.tag([{"text": "It works."}])[0]["sentences"][0]["upos"]
    ['PRON', 'VERB', 'PUNCT']
    """

    def __init__(self, chain: Chain, options: TagOptions, threads: int = 1):
        if options.to is not None or options.token_ranges:
            found = "--token-ranges" if options.token_ranges else f"--to {options.to}"
            msg = f"expected rows to stay rows, found {found}; leave it out for files of rows"
            raise OptionError(msg)
        self.counts = TagCounts()
        self._chain, self._options, self._threads = chain, options, threads
        self._needed: list[str] = []  # columns besides the tokens that rows must have
        filled: set[str] = set()
        for tagger in chain.taggers:
            self._needed += [n for n in tagger.columns if n != "form" and n not in filled]
            filled.update(tagger.label_columns)
        if options.keep:
            self._needed += chain.columns

    @property
    def names(self) -> list[str]:
        """Names of the fields that rows of tokens get."""
        return names_filled(self._chain.shown, self._options)

    def field_of(self, fields: Iterable[str], source: str, line: int | None = None) -> str:
        """Return the field of texts or tokens.

        Raises
        ------
        CorpusError
            If there is none.
        """
        fields = list(fields)
        wanted = [self._options.field] if self._options.field else _FIELDS
        for name in wanted:
            if name in fields:
                return name
        msg = (
            f"expected a field {' or '.join(wanted)}, found {', '.join(fields) or 'none'}; name "
            "the field of texts or tokens with --field"
        )
        raise CorpusError(msg, source=source, line=line)

    def columns_of(self, names: Iterable[str], field: str) -> list[str]:
        """Return the columns of a table that are used: the field, and other columns of tokens."""
        given = tuple(names)
        known = {find_column(name, given) for name in self._needed} - {None, field}
        return [field, *sorted(map(str, known))]

    def tag(
        self, rows: Sequence[Mapping[str, Any]], source: str = "<rows>", first: int = 1
    ) -> list[dict[str, Any]]:
        """Return the fields that each row gets; none if its text or tokens are missing.

        Parameters
        ----------
        rows
            Rows by field. Tokens are a list of strings.
        source, first
            Name of the rows in messages, and the number of the first.

        Raises
        ------
        CorpusError
            If a row has no such field, or another type in it.
        """
        sentences: list[Sentence] = []
        kinds: list[tuple[type, int]] = []  # for each row the type of its field, and its sentences
        for line, row in enumerate(rows, first):
            value = row[self.field_of(row, source, line)]
            found: list[Sentence] = []
            if isinstance(value, str):
                text = TextBytes(encoded(value))
                stream = read(text, "text", limits=self._options.reading.limits)
                [cut] = self._chain.cut([stream], self._options)
                found = [sentence for sentence in cut if len(sentence)]
            elif isinstance(value, list | tuple):
                if len(value) > self._options.max_sentence:
                    raise self._options.reading.limits.too_long(source, line)
                columns = {"form": list(value)}
                for name in self._needed:
                    column = find_column(name, tuple(row))
                    if column is not None and row[column] is not None:
                        columns[column] = row[column]
                found = [sentence_of(columns, source=source, line=line)]
            elif value is not None:
                msg = f"expected a text or a list of tokens, found {value!r:.40}"
                raise CorpusError(msg, source=source, line=line)
            sentences += found
            kinds.append((type(value), len(found)))
        every = tag_stream(self._chain.taggers, sentences, self._threads, self._options)
        results: list[dict[str, Any]] = []
        for kind, count in kinds:
            tagged = [next(every) for _ in range(count)]
            self.counts.add(sum(map(bool, map(len, tagged))), sum(map(len, tagged)))
            if kind is str:
                results.append({SENTENCES: [json.loads(each.text("jsonl")) for each in tagged]})
            elif kind is type(None):
                results.append({})
            elif len(tagged[0]):
                results.append(dict(tagged[0].by_file_name(hidden=False)))
            else:
                results.append({name: [] for name in self.names})
        return results

    # ----------------------------------------------------------------- JSON Lines
    def json_lines(self, file: BinaryIO, offset: int = 0) -> Iterator[bytes]:
        """Yield the lines of an open file of JSON objects, with their new fields.

        `offset` is the number of bytes of the file before these.

        Raises
        ------
        CorpusError
            If a line is not an object; or as `tag`.
        """
        stream = ByteStream(file, LIMITS, offset)
        missing = {self._options.field or _FIELDS[0]: None}  # of a blank line
        for block in stream.blocks(after_last_line):
            lines = block.text.removesuffix("\n").split("\n")
            for start in range(0, len(lines), _BATCH_ROWS):
                first = block.line + start
                batch = lines[start : start + _BATCH_ROWS]
                rows = [_object(line, stream.name, n) for n, line in enumerate(batch, first)]
                given = [missing if row is None else row for row in rows]
                added = self.tag(given, stream.name, first)
                yield b"".join(
                    b"\n" if row is None else _line(row | fields)
                    for row, fields in zip(rows, added, strict=True)
                )

    # ----------------------------------------------------------------- Parquet
    def parquet(self, file: BinaryIO, out: Any, source: str) -> None:
        """Write the rows of an open Parquet file, with their new columns.

        Raises
        ------
        CorpusError
            If pyarrow is missing, or the file is not Parquet; or as `tag`.
        """
        pa, pq = arrow(source), import_module("pyarrow.parquet")
        try:
            table = pq.ParquetFile(file)
        except pa.ArrowException as error:
            msg = f"expected a file of Parquet, found something else: {error}"
            raise CorpusError(msg, source=source) from None
        names = table.schema_arrow.names
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            msg = f"expected distinct column names, found {twice!r:.60} twice; rename one"
            raise CorpusError(msg, source=source)
        schema = self.arrow_table(table.schema_arrow.empty_table(), source).schema
        first = 1
        with pq.ParquetWriter(out, schema) as writer:
            for batch in table.iter_batches(_BATCH_ROWS):
                writer.write_table(self.arrow_table(pa.Table.from_batches([batch]), source, first))
                first += batch.num_rows

    def _arrow_fields(self, field: Any, source: str) -> list[Any]:
        """Return the fields of Arrow that rows with this field get.

        Raises
        ------
        CorpusError
            If it has neither texts nor lists of tokens.
        """
        pa = arrow(source)
        labels = [pa.field(name, pa.list_(pa.string())) for name in self.names]
        kind = field.type
        if _is_text(pa, kind):
            sentence = pa.struct(sentence_fields(pa, self.names))
            return [pa.field(SENTENCES, pa.list_(sentence))]
        is_list = getattr(kind, "value_type", None) is not None and "list" in str(kind)
        if is_list and _is_text(pa, kind.value_type):
            return labels
        msg = f"expected texts or lists of tokens in {field.name}, found {kind}; name another field"
        raise CorpusError(msg, source=source)

    def arrow_table(self, table: Any, source: str = "<table>", first: int = 1) -> Any:
        """Return a table of Arrow with its new columns."""
        pa = arrow(source)
        field = self.field_of(table.schema.names, source)
        rows = table.select(self.columns_of(table.schema.names, field)).to_pylist()
        for name, names in names_in_schema(table.schema.metadata).items():
            for row in rows:
                if isinstance(row.get(name), list):
                    row[name] = with_names(row[name], names)
        found = self.tag(rows, source, first)
        for new in self._arrow_fields(table.schema.field(field), source):
            values = pa.array([row.get(new.name) for row in found], new.type)
            at = table.schema.get_field_index(new.name)
            if at < 0:
                table = table.append_column(new, values)
            else:
                table = table.set_column(at, new, values)
        return table


def arrow(source: str) -> Any:
    """Return the module ``pyarrow``.

    Raises
    ------
    CorpusError
        If it is not installed.
    """
    try:
        return import_module("pyarrow")
    except ImportError:
        msg = (
            "expected the package pyarrow for tables of Arrow and Parquet, found none; "
            f"{install_hint('ray')}"
        )
        raise CorpusError(msg, source=source) from None


def _is_text(pa: Any, kind: Any) -> bool:
    """Return whether a type of Arrow is one of strings."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _object(line: str, source: str, number: int) -> dict[str, Any] | None:
    """Return the object on a line; None if the line is blank."""
    if not line.strip():
        return None
    try:
        found = strict_json.loads(line.removeprefix("\ufeff"), constants=True)
    except strict_json.DuplicateKeyError as error:
        msg = f"expected different fields, found {error.key!r:.60} twice; rename one"
        raise CorpusError(msg, source=source, line=number) from None
    except strict_json.NotFiniteError as error:
        msg = f"expected numbers below 1.8e308, found {error.number:.40}; write it as a string"
        raise CorpusError(msg, source=source, line=number) from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        msg = f"expected an object of JSON on each line, found {line!r:.40}"
        raise CorpusError(msg, source=source, line=number)
    return found


def _line(row: Mapping[str, Any]) -> bytes:
    """Return a row as a line of JSON."""
    try:
        return (json.dumps(row, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half a pair of surrogates, which JSON can write and UTF-8 cannot
        return (json.dumps(row) + "\n").encode()
