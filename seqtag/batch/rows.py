"""Rows with a text or tokens, in tables: labels become further fields.

A row stays a row, in its place and with all its fields. Tokens get a list of labels in a field for
each column that is filled; a text gets the field ``sentences``, with tokens and labels of each.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from seqtag.corpus import read, sentence_of
from seqtag.corpus.datasets import names_in_schema, with_names
from seqtag.corpus.sentence import find_column
from seqtag.corpus.stream import TextBytes
from seqtag.errors import CorpusError, OptionError, install_hint
from seqtag.tagging.document import encoded, sentence_fields
from seqtag.tagging.streams import names_filled, tag_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from seqtag.corpus import Sentence
    from seqtag.tagging.pipeline import Chain
    from seqtag.tagging.streams import TagOptions

SENTENCES = "sentences"
"""The field that rows of texts get."""

_FIELDS = ("tokens", "text")  # the defaults of `TagOptions.field`


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
            msg = f"expected rows to stay rows, found {found}; leave it out for tables"
            raise OptionError(msg)
        self._chain, self._options, self._threads = chain, options, threads
        self._output_fields = options.output_fields(name_columns=len(chain.shown) > 1)
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
        found = (names_filled(tagger, self._output_fields) for tagger in self._chain.shown)
        return list(dict.fromkeys(name for names in found for name in names))

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
            "the field of texts or tokens with TagOptions(field=...)"
        )
        raise CorpusError(msg, source=source, line=line)

    def columns_of(self, names: Iterable[str], field: str) -> list[str]:
        """Return the columns of a table that are used: the field, and other columns of tokens."""
        given = tuple(names)
        known = {find_column(name, given) for name in self._needed} - {None, field}
        return [field, *sorted(map(str, known))]

    def tag(
        self, rows: Sequence[Mapping[str, Any]], source: str = "<rows>"
    ) -> list[dict[str, Any]]:
        """Return the fields that each row gets; none if its text or tokens are missing.

        Parameters
        ----------
        rows
            Rows by field. Tokens are a list of strings.
        source
            Name of the rows in messages.

        Raises
        ------
        CorpusError
            If a row has no such field, or another type in it.
        """
        sentences: list[Sentence] = []
        kinds: list[tuple[type, int]] = []  # for each row the type of its field, and its sentences
        for line, row in enumerate(rows, 1):
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
        every = tag_stream(self._chain.taggers, sentences, self._threads, self._output_fields)
        results: list[dict[str, Any]] = []
        for kind, count in kinds:
            tagged = [next(every) for _ in range(count)]
            if kind is str:
                results.append({SENTENCES: [json.loads(each.text("jsonl")) for each in tagged]})
            elif kind is type(None):
                results.append({})
            elif len(tagged[0]):
                results.append(dict(tagged[0].written()))
            else:
                results.append({name: [] for name in self.names})
        return results

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

    def arrow_table(self, table: Any, source: str = "<table>") -> Any:
        """Return a table of Arrow with its new columns."""
        pa = arrow(source)
        field = self.field_of(table.schema.names, source)
        added = self._arrow_fields(table.schema.field(field), source)
        rows = table.select(self.columns_of(table.schema.names, field)).to_pylist()
        for name, names in names_in_schema(table.schema.metadata).items():
            for row in rows:
                if isinstance(row.get(name), list):
                    row[name] = with_names(row[name], names)
        found = self.tag(rows, source)
        for new in added:
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
        msg = f"expected the package pyarrow for tables of Arrow, found none; {install_hint('ray')}"
        raise CorpusError(msg, source=source) from None


def _is_text(pa: Any, kind: Any) -> bool:
    """Return whether a type of Arrow is one of strings."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
