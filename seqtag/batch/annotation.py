"""Tables of rows on other engines: Ray Data, Spark, Hugging Face datasets, tables in memory."""

from __future__ import annotations

import os
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqtag.batch.files import Models
from seqtag.batch.rows import SENTENCES, RowTagger, arrow
from seqtag.tagging.streams import TagOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seqtag.batch.files import AnyModel

_BATCH_ROWS = 1000


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

    Examples
    --------
    >>> from seqtag.tagging import TagOptions
    >>> batch = SeqtagBatch("en", TagOptions(only=["upos"]))
    >>> batch({"id": [7], "tokens": [["It", "works"]]})
    {'id': [7], 'tokens': [['It', 'works']], 'upos': [['PRON', 'VERB']]}
    """

    def __init__(
        self,
        model: AnyModel | Sequence[AnyModel],
        options: TagOptions | None = None,
        threads: int = 1,
    ):
        self._model, self._options, self._threads = model, options or TagOptions(), threads

    def __reduce__(self) -> tuple[Any, ...]:
        return SeqtagBatch, (self._model, self._options, self._threads)

    @cached_property
    def _tagger(self) -> RowTagger:
        chain = Models.of(self._model).chain(self._options.only)
        return RowTagger(chain, self._options, self._threads)

    def schema(self, given: Any) -> Any:
        """Return the schema of Arrow that tables of a schema get.

        Raises
        ------
        CorpusError
            If there is no column of texts or tokens, or another type in it.
        """
        return self._tagger.arrow_table(given.empty_table(), "<schema>").schema

    def record_batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield record batches of Arrow with their new columns, for ``mapInArrow`` of Spark."""
        table = arrow("<batch>").Table
        for batch in batches:
            for start in range(0, len(batch), _BATCH_ROWS):
                part = batch.slice(start, _BATCH_ROWS)
                yield from self._tagger.arrow_table(table.from_batches([part])).to_batches()

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
            return self._tagger.arrow_table(batch)
        is_frame = hasattr(batch, "assign")
        names = list(batch)
        field = self._tagger.field_of(names, "<batch>")
        columns = {
            name: [each.tolist() if hasattr(each, "tolist") else each for each in batch[name]]
            for name in self._tagger.columns_of(names, field)
        }
        count = len(batch) if is_frame else len(columns[field])
        rows = [{name: values[i] for name, values in columns.items()} for i in range(count)]
        found = self._tagger.tag(rows, "<batch>")
        kinds = {type(value) for value in columns[field]} - {type(None)}
        is_text = str in kinds or (not kinds and field == "text")
        added = [SENTENCES] if is_text else self._tagger.names
        new = {name: [row.get(name) for row in found] for name in added}
        return batch.assign(**new) if is_frame else {**batch, **new}
