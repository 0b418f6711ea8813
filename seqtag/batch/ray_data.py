"""Batches of rows in, batches with labels out: for Ray Data, datasets of Hugging Face, others."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from seqtag.batch.rows import SENTENCES, RowTagger
from seqtag.batch.tag_file import Models
from seqtag.tagging.streams import TagOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seqtag.batch.tag_file import AnyModel


class SeqtagBatch:
    """What ``map_batches`` of Ray Data and ``map(batched=True)`` of datasets call for each batch.

    A row with tokens gets a list of labels for each column that the model fills, one with a text
    the column ``sentences``; see `seqtag.batch.rows.RowTagger`. Rows stay as they are, in their
    order. The model is loaded when the first batch comes, once in each process; what pickles is
    its name.

    Parameters
    ----------
    model
        A model by path, address or name, one that is loaded, or several.
    options
        How to tag: `TagOptions.field` names the column of texts or tokens (None: ``tokens``, or
        ``text``).
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
        """The batch with its new columns.

        Parameters
        ----------
        batch
            A table of Arrow, a frame of pandas, or a list or array for each column.

        Raises
        ------
        CorpusError
            If there is no column of texts or tokens, or something else in it.
        """
        if hasattr(batch, "column_names"):
            return self._tagger.arrow_table(batch)
        new = self._columns(batch, len(batch) if hasattr(batch, "assign") else None)
        return batch.assign(**new) if hasattr(batch, "assign") else {**batch, **new}

    def _columns(self, batch: Mapping[str, Any], count: int | None) -> dict[str, list[Any]]:
        """The new columns of a batch."""
        names = list(batch)
        field = self._tagger.field_of(names, "<batch>")
        needed = self._tagger.columns_of(names, field)
        columns = {name: list(map(_plain, batch[name])) for name in needed}
        count = len(columns[field]) if count is None else count
        rows = [{name: columns[name][i] for name in needed} for i in range(count)]
        found = self._tagger.tag(rows, "<batch>")
        kinds = {type(value) for value in columns[field]} - {type(None)}
        is_text = str in kinds or (not kinds and field == "text")
        added = [SENTENCES] if is_text else self._tagger.names
        return {name: [row.get(name) for row in found] for name in added}


def _plain(value: Any) -> Any:
    """A list where an array stands."""
    return value.tolist() if hasattr(value, "tolist") else value
