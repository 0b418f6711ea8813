"""Tables with texts or tokens: those of Ray Data, Spark, Hugging Face, Arrow, pandas, and lists.

A row stays a row, in its place and with all its fields. Tokens get a list of labels in a field for
each column that is filled; a text gets the field ``sentences``, with tokens and labels of each.
"""

from __future__ import annotations

import json
import os
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqtag.batch.files import Models
from seqtag.corpus import read, sentence_of
from seqtag.corpus.datasets import names_in_schema, with_names
from seqtag.corpus.sentence import find_column
from seqtag.corpus.stream import TextBytes
from seqtag.errors import CorpusError, OptionError, install_hint
from seqtag.tagging.document import encoded, sentence_fields
from seqtag.tagging.streams import TagOptions, names_filled, tag_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.batch.files import AnyModel
    from seqtag.corpus import Sentence
    from seqtag.tagging.pipeline import Chain

SENTENCES = "sentences"
"""The field that rows of texts get."""

_FIELDS = ("tokens", "text")  # the defaults of `TagOptions.field`
_BATCH_ROWS = 1000


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


def annotate(
    dataset: Any,
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None = None,
    *,
    threads: int = 1,
) -> Any:
    """Return a dataset with the columns that a model fills; what it is computed on stays.

    A row with tokens gets a list of labels for each column that the model fills, one with a text
    the column ``sentences``. Rows keep their fields.

    Parameters
    ----------
    dataset
        A dataset of Ray Data, a data frame of Spark (its ``mapInArrow`` is called), a dataset of
        Hugging Face, a table of Arrow, a frame of pandas, or a list or array for each column. On
        Ray Data and Spark nothing is tagged before the result is used, and each process loads the
        model once.
    model
        A model by path, address or name, which must be the same on all machines; a loaded model,
        which travels with the job; or several.
    options
        Tagging options; `TagOptions.field` names the column of texts or tokens (None: ``tokens``,
        or ``text``).
    threads
        Threads to decode on, in each process.

    Raises
    ------
    ModelFileError, OSError
        As `seqtag.load`; at once, even if nothing is tagged yet.
    CorpusError
        If there is no column of texts or tokens, or another type in it.

    Examples
    --------
    >>> from seqtag.tagging import TagOptions
    >>> annotate({"id": [7], "tokens": [["It", "works"]]}, "en", TagOptions(only=["upos"]))
    {'id': [7], 'tokens': [['It', 'works']], 'upos': [['PRON', 'VERB']]}
    """
    several = cast("Sequence[AnyModel]", model if isinstance(model, list | tuple) else [model])
    Models.of(several)
    given = [_absolute(each) for each in several]
    batch = SeqtagBatch(given, options, threads)
    if hasattr(dataset, "mapInArrow"):
        types = import_module("pyspark.sql.pandas.types")
        schema = batch.schema(types.to_arrow_schema(dataset.schema))
        return dataset.mapInArrow(batch.record_batches, types.from_arrow_schema(schema))
    engine = type(dataset).__module__.partition(".")[0]
    if engine == "ray":
        return dataset.map_batches(
            batch, batch_format="pyarrow", batch_size=_BATCH_ROWS, num_cpus=threads
        )
    return dataset.map(batch, batched=True) if engine == "datasets" else batch(dataset)


def _absolute(model: AnyModel) -> AnyModel:
    """Return the absolute path of the file of a model, as workers have other working folders."""
    if isinstance(model, str | os.PathLike) and Path(model).is_file():
        return Path(model).absolute()
    return model


class SeqtagBatch:
    """Function of batches, for engines that `annotate` does not know.

    The model is loaded at the first batch, once in each process; its name is pickled.

    Parameters
    ----------
    model, options, threads
        As in `annotate`.

    Raises
    ------
    OptionError
        If another format is to be written, or token ranges, which rows have no place for.

    Examples
    --------
    >>> from seqtag.tagging import TagOptions
    >>> batch = SeqtagBatch("en", TagOptions(only=["upos"]))
    >>> batch({"id": [7], "tokens": [["It", "works"]]})
    {'id': [7], 'tokens': [['It', 'works']], 'upos': [['PRON', 'VERB']]}
    >>> batch.tag([{"tokens": ["It", "works"]}, {"tokens": None}])
    [{'upos': ['PRON', 'VERB']}, {}]
    >>> batch.tag([{"text": "It works."}])[0]["sentences"][0]["upos"]
    ['PRON', 'VERB', 'PUNCT']
    """

    def __init__(
        self,
        model: AnyModel | Sequence[AnyModel],
        options: TagOptions | None = None,
        threads: int = 1,
    ):
        self._model, self._options, self._threads = model, options or TagOptions(), threads
        if self._options.to is not None or self._options.token_ranges:
            found = "--token-ranges" if self._options.token_ranges else f"--to {self._options.to}"
            msg = f"expected rows to stay rows, found {found}; leave it out for tables"
            raise OptionError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        return SeqtagBatch, (self._model, self._options, self._threads)

    @cached_property
    def _chain(self) -> Chain:
        return Models.of(self._model).chain(self._options.only)

    @cached_property
    def _needed(self) -> list[str]:
        """Columns besides the tokens that rows must have."""
        needed: list[str] = []
        filled: set[str] = set()
        for tagger in self._chain.taggers:
            needed += [n for n in tagger.columns if n != "form" and n not in filled]
            filled.update(tagger.label_columns)
        return needed + self._chain.columns if self._options.keep else needed

    @property
    def names(self) -> list[str]:
        """Names of the fields that rows of tokens get."""
        return names_filled(self._chain.shown, self._options)

    def _field_of(self, fields: Iterable[str], source: str, line: int | None = None) -> str:
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

    def _columns_of(self, names: Iterable[str], field: str) -> list[str]:
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
            value = row[self._field_of(row, source, line)]
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
            if kind is str:
                results.append({SENTENCES: [json.loads(each.text("jsonl")) for each in tagged]})
            elif kind is type(None):
                results.append({})
            elif len(tagged[0]):
                results.append(dict(tagged[0].by_file_name(hidden=False)))
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

    def _arrow_table(self, table: Any, source: str = "<table>") -> Any:
        """Return a table of Arrow with its new columns."""
        pa = arrow(source)
        field = self._field_of(table.schema.names, source)
        added = self._arrow_fields(table.schema.field(field), source)
        rows = table.select(self._columns_of(table.schema.names, field)).to_pylist()
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

    def schema(self, given: Any) -> Any:
        """Return the schema of Arrow that tables of a schema get.

        Raises
        ------
        CorpusError
            If there is no column of texts or tokens, or another type in it.
        """
        return self._arrow_table(given.empty_table(), "<schema>").schema

    def record_batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield record batches of Arrow with their new columns, for ``mapInArrow`` of Spark."""
        table = arrow("<batch>").Table
        for batch in batches:
            for start in range(0, len(batch), _BATCH_ROWS):
                part = batch.slice(start, _BATCH_ROWS)
                yield from self._arrow_table(table.from_batches([part])).to_batches()

    def __call__(self, batch: Any) -> Any:
        """Return the batch with its new columns.

        Parameters
        ----------
        batch
            A table of Arrow, a frame of pandas, or a list or array for each column.

        Raises
        ------
        CorpusError
            If there is no column of texts or tokens, or another type in it.
        """
        if hasattr(batch, "column_names"):
            return self._arrow_table(batch)
        is_frame = hasattr(batch, "assign")
        names = list(batch)
        field = self._field_of(names, "<batch>")
        columns = {
            name: [each.tolist() if hasattr(each, "tolist") else each for each in batch[name]]
            for name in self._columns_of(names, field)
        }
        count = len(batch) if is_frame else len(columns[field])
        rows = [{name: values[i] for name, values in columns.items()} for i in range(count)]
        found = self.tag(rows, "<batch>")
        kinds = {type(value) for value in columns[field]} - {type(None)}
        is_text = str in kinds or (not kinds and field == "text")
        added = [SENTENCES] if is_text else self.names
        new = {name: [row.get(name) for row in found] for name in added}
        return batch.assign(**new) if is_frame else {**batch, **new}
