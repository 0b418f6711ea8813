"""Quantization of averaged weights to integers, and back."""

from __future__ import annotations

from itertools import chain as end_to_end
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine.arrays import (
    MAX_LABELS,
    MAX_TRIGRAM_LABELS,
    MAX_WEIGHT,
    Cells,
    QuantizedWeights,
    Rows,
    pointers,
    ranges,
)
from seqtag.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_BLOCK_ROWS = 2**15  # rows
_NO_ROWS = [(np.zeros(0, np.int64),), (np.zeros(0, np.int32),), (np.zeros(0),)]


def mean(runs: Sequence[Cells]) -> Cells:
    """Return the mean of the weights of several runs over the same features."""
    if len(runs) == 1:
        return runs[0]

    def rows(
        ptrs: Sequence[NDArray[Any]],
        labels: Sequence[NDArray[Any]],
        weights: Sequence[NDArray[Any]],
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        width = 1 + max((int(label.max()) for label in labels if len(label)), default=0)
        blocks = []  # of counts, labels, mean weights
        for begin in range(0, len(ptrs[0]) - 1, _BLOCK_ROWS):  # intermediate arrays are large
            ids, values = [], []
            for ptr, label, weight in zip(ptrs, labels, weights, strict=True):
                span = ptr[begin : begin + _BLOCK_ROWS + 1]
                cells = slice(int(span[0]), int(span[-1]))
                row = np.repeat(np.arange(len(span) - 1), np.diff(span))
                ids.append(row * width + label[cells])
                values.append(weight[cells])
            distinct, which = np.unique(np.concatenate(ids), return_inverse=True)
            total = np.bincount(which.reshape(-1), np.concatenate(values), len(distinct))
            counts = np.bincount(distinct // width, minlength=len(span) - 1)
            blocks.append((counts, (distinct % width).astype(np.int32), total / len(runs)))
        counts, label, weight = (
            np.concatenate(parts) for parts in (zip(*blocks, strict=True) if blocks else _NO_ROWS)
        )
        return pointers(counts), label, weight

    *sparse, chains = zip(*runs, strict=True)
    found = [rows(*sparse[i : i + 3]) for i in range(0, len(sparse), 3)]
    return Cells._make([*end_to_end.from_iterable(found), np.mean(chains, axis=0)])


def freeze(
    cells: Cells, row_keys: np.ndarray, edge_keys: np.ndarray, labels: int
) -> QuantizedWeights:
    """Round the weights to multiples of one unit, drop zeros, sort by key.

    Raises
    ------
    LabelError
        If there are more labels than cells can address: 65,535, or 255 with label trigrams and with
        label bigrams conjoined with observations.
    """
    second_order = len(cells.trigram_ptr) > 1
    limit = MAX_TRIGRAM_LABELS if len(edge_keys) or second_order else MAX_LABELS
    if labels > limit:
        why = " with label trigrams or word-dependent label bigrams" if limit < MAX_LABELS else ""
        msg = f"expected at most {limit} labels{why}, found {labels}; check the label column"
        raise LabelError(msg)
    sparse = cells.weight, cells.edge_weight, cells.trigram_weight
    largest = max((abs(weights).max() for weights in sparse if len(weights)), default=0)
    largest = largest or abs(cells.chain).max(initial=0) or MAX_WEIGHT
    unit = float(largest) / MAX_WEIGHT

    def rows(ptr: np.ndarray, label: np.ndarray, weight: np.ndarray, names: np.ndarray) -> Rows:
        quantized = np.rint(weight / unit).astype(np.int8)
        ends = pointers(quantized != 0)[ptr]  # of each row, without zeros
        cells = np.flatnonzero(quantized)
        counts = np.diff(ends)
        row = np.flatnonzero(counts)
        row = row[np.argsort(names[row])]
        cell = cells[ranges(ends[row], counts[row])]
        return Rows(
            names[row], pointers(counts[row]), label[cell].astype(np.uint16), quantized[cell]
        )

    chain = np.rint(cells.chain / unit).astype(np.float32)
    trigram_keys = np.arange(1, len(cells.trigram_ptr), dtype=np.uint64)
    start, stop, transition = np.split(chain, [labels, 2 * labels])
    return QuantizedWeights(
        rows(cells.row_ptr, cells.label, cells.weight, row_keys),
        rows(cells.edge_ptr, cells.edge_label, cells.edge_weight, edge_keys),
        rows(cells.trigram_ptr, cells.trigram_label, cells.trigram_weight, trigram_keys),
        start,
        stop,
        transition.reshape((labels, labels) if len(transition) else (0, 0)),
        unit,
    )


def thaw(weights: QuantizedWeights, trigram_labels: int) -> Cells:
    """Return weights from integers times their unit: the inverse of `freeze` up to rounding.

    Parameters
    ----------
    weights
        Those of a model, with its unit; row r of the cells is the row of the r-th key.
    trigram_labels
        Number of labels of a model of second order, 0 of another.

    Returns
    -------
    Cells
        In float32, as weights are trained.
    """
    unit = np.float32(weights.unit)

    def of(rows: Rows) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return rows.row_ptr, rows.labels.astype(np.int32), rows.weights * unit

    _, labels, weight = of(weights.trigram)
    counts = np.zeros((trigram_labels + 1) * trigram_labels, np.int64)
    counts[weights.trigram.keys.astype(np.int64) - 1] = np.diff(weights.trigram.row_ptr)
    parts = weights.start, weights.stop, weights.transition.ravel()
    chain = np.concatenate(parts).astype(np.float32) * unit
    return Cells(*of(weights.emission), *of(weights.edge), pointers(counts), labels, weight, chain)


def with_recall_bias(cells: Cells, labels: Sequence[str], bias: float) -> Cells:
    """Return weights with a lower score of the label O at every token (setting ``recall-bias``).

    Each token has one label chain weight that depends on its label and the one before: the start or
    a transition. Models without label bigrams have no transitions, and do not change.

    >>> cells = Cells(*[np.zeros(1)] * 9, chain=np.zeros(2 + 2 + 4))
    >>> with_recall_bias(cells, ["B-X", "O"], 0.5).chain.tolist()
    [0.0, -0.5, 0.0, 0.0, 0.0, -0.5, 0.0, -0.5]
    """
    width = len(labels)
    if not bias or "O" not in labels or len(cells.chain) == 2 * width:
        return cells
    chain, outside = cells.chain.copy(), labels.index("O")
    chain[outside] -= bias
    chain[2 * width + outside :: width] -= bias
    return cells._replace(chain=chain)


def label_places(names: Sequence[str], old: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each of the old names."""
    number = {name: i for i, name in enumerate(names)}
    return np.array([number[name] for name in old], np.int64)
