"""Adapter for batches of rows: Ray Data, Hugging Face datasets, and others."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from seqtag.batch.files import Models
from seqtag.batch.rows import SENTENCES, RowTagger
from seqtag.tagging.streams import TagOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.batch.files import AnyModel


class SeqtagBatch:
    """Function of batches for ``map_batches`` of Ray Data and ``map(batched=True)`` of datasets.

    A row with tokens gets a list of labels for each column that the model fills, one with a text
    the column ``sentences``; see `seqtag.batch.rows.RowTagger`. Rows keep their fields and their
    order. The model is loaded at the first batch, once in each process; its name is pickled.

    Parameters
    ----------
    model
        A model by path, address or name, a loaded model, or several.
    options
        Tagging options; `TagOptions.field` names the column of texts or tokens (None: ``tokens``,
        or ``text``).
    threads
        Threads to decode on.

    Examples
    --------
    >>> batch = SeqtagBatch("en-ewt-upos")
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
