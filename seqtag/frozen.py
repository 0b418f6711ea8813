"""A trained model as it tags: whole-number weights found by feature key.

Averaged weights are divided by one unit and rounded, so that the largest feature weight is 127;
measured, this costs no accuracy.  All scores are then whole numbers, exact in float32 whatever the
order of summation: every way of computing them, cached or not, native or numpy, gives the same
labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from seqtag.encoding import KeyPlan, keys
from seqtag.errors import LabelError
from seqtag.reference import Cells, Potentials, viterbi

MAX_WEIGHT = 127


class Rows(NamedTuple):
    """Sparse rows of 8-bit weights, each known by its feature key."""

    keys: np.ndarray  # (rows,) uint64, ascending
    row_ptr: np.ndarray  # (rows + 1,) int64
    labels: np.ndarray  # (cells,) uint16
    weights: np.ndarray  # (cells,) int8


class FrozenWeights(NamedTuple):
    """All weights of a model, in units of `unit`."""

    emission: Rows
    edge: Rows  # labels are previous * K + current
    start: np.ndarray  # (K,) int32
    stop: np.ndarray  # (K,) int32
    transition: np.ndarray  # (K, K) int32
    unit: float


def mean(runs: Sequence[Cells]) -> Cells:
    """The mean of the weights of several runs over the same features."""
    if len(runs) == 1:
        return runs[0]

    def rows(ptrs: Sequence[np.ndarray], labels: Sequence[np.ndarray], weights: Sequence[np.ndarray]):
        width = 1 + max((int(label.max()) for label in labels if len(label)), default=0)
        ids = [
            np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)) * width + label
            for ptr, label in zip(ptrs, labels, strict=True)
        ]
        distinct, which = np.unique(np.concatenate(ids), return_inverse=True)
        total = np.bincount(which.reshape(-1), np.concatenate(weights), len(distinct))
        ptr = np.searchsorted(distinct // width, np.arange(len(ptrs[0])))
        return ptr.astype(np.int64), (distinct % width).astype(np.int32), total / len(runs)

    row_ptr, label, weight, edge_ptr, edge_label, edge_weight, block = zip(*runs, strict=True)
    return Cells(
        *rows(row_ptr, label, weight),
        *rows(edge_ptr, edge_label, edge_weight),
        np.mean(block, axis=0),
    )


def freeze(cells: Cells, row_keys: np.ndarray, edge_keys: np.ndarray, labels: int) -> FrozenWeights:
    """Round the weights to whole numbers of one unit, drop what is zero, sort by key.

    Raises
    ------
    LabelError
        If there are more labels than cells can name: 65,535, or 255 with label bigrams conjoined
        with observations.
    """
    limit = 255 if len(edge_keys) else 65535
    if labels > limit:
        why = " with label bigrams that see words" if len(edge_keys) else ""
        raise LabelError(
            f"expected at most {limit} labels{why}, found {labels}; "
            "is the label column the right one?"
        )
    largest = max((abs(w).max() for w in (cells.weight, cells.edge_weight) if len(w)), default=0)
    largest = largest or abs(cells.block).max(initial=0) or MAX_WEIGHT
    unit = float(largest) / MAX_WEIGHT

    def rows(ptr: np.ndarray, label: np.ndarray, weight: np.ndarray, names: np.ndarray) -> Rows:
        whole = np.rint(weight / unit).astype(np.int8)
        row = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))[whole != 0]
        label, whole = label[whole != 0], whole[whole != 0]
        order = np.argsort(names[row], kind="stable")  # labels stay ascending within a row
        kept, counts = np.unique(names[row], return_counts=True)
        row_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Rows(kept, row_ptr, label[order].astype(np.uint16), whole[order])

    block = np.rint(cells.block / unit).astype(np.int32)
    start, stop, transition = np.split(block, [labels, 2 * labels])
    return FrozenWeights(
        rows(cells.row_ptr, cells.label, cells.weight, row_keys),
        rows(cells.edge_ptr, cells.edge_label, cells.edge_weight, edge_keys),
        start,
        stop,
        transition.reshape(labels, labels),
        unit,
    )


class Frozen:
    """Decodes encoded sentences with frozen weights (reference backend).

    Parameters
    ----------
    labels, order
        K, and 0 for a model without label features, else 1.
    plan, edge_plan
        Templates of the emission and of the edge features.
    emission, edge
        Their weights.
    start, stop, transition
        float32 potentials (K,), (K,), (K, K), forbidden ones included.
    """

    def __init__(
        self,
        labels: int,
        order: int,
        plan: KeyPlan,
        edge_plan: KeyPlan,
        emission: Rows,
        edge: Rows,
        start: np.ndarray,
        stop: np.ndarray,
        transition: np.ndarray,
    ):
        _require(0 < labels <= 65535, "labels must be 1 to 65535")
        _check(emission, labels)
        _check(edge, labels**2)
        _require(
            (start.shape, stop.shape, transition.shape) == ((labels,), (labels,), (labels, labels)),
            "start, stop and transition must be (K,), (K,) and (K, K)",
        )
        self.labels, self.order = labels, order
        self.plan, self.edge_plan = plan, edge_plan
        self.emission, self.edge = emission, edge
        self.shared = start, stop, transition

    def workspace(self) -> None:
        """Memory for one thread and one numbering of the types: the reference needs none."""
        return None

    def decode(
        self,
        types: np.ndarray,
        hashes: np.ndarray,
        sentence_ptr: np.ndarray,
        workspace: None = None,
    ) -> np.ndarray:
        """Label ids (tokens,) int32 of encoded sentences.

        Parameters
        ----------
        types, hashes, sentence_ptr
            As `seqtag.encoding.keys` takes them.
        workspace
            Made by `workspace`; use it with one numbering of the types (one `Encoder`) only.
        """
        found = keys(self.plan, types, hashes, sentence_ptr)
        emission = _sum_rows(self.emission, found, self.labels)
        start, stop, transition = self.shared
        labels = np.zeros(types.shape[1], np.int32)
        if not self.order:
            start, stop, transition = (np.zeros_like(part) for part in self.shared)
        if self.edge_plan.seed.size:
            found = keys(self.edge_plan, types, hashes, sentence_ptr)
            edge = _sum_rows(self.edge, found, self.labels**2)
            transition = transition + edge.reshape(-1, self.labels, self.labels)
        for begin, end in zip(sentence_ptr[:-1], sentence_ptr[1:], strict=True):
            here = slice(begin, end)
            matrix = transition if transition.ndim == 2 else transition[here]
            labels[here] = viterbi(Potentials(emission[here], start, stop, matrix))
        return labels


def _require(ok: object, message: str) -> None:
    """The kernel's checks, in its words: arrays of a damaged model file end here."""
    if not ok:
        raise ValueError(message)


def _check(rows: Rows, width: int) -> None:
    """Refuse rows whose arrays do not fit together."""
    keys, ptr, cells = rows.keys, rows.row_ptr, len(rows.labels)
    _require(
        len(ptr) == len(keys) + 1 and ptr[0] == 0 and ptr[-1] == cells and (np.diff(ptr) >= 0).all(),
        "row_ptr must ascend from 0 to the number of cells",
    )
    _require(len(rows.weights) == cells, "cell labels and weights differ in length")
    _require((rows.labels < width).all(), "a cell's label is out of range")
    _require(keys.all() and (keys[1:] > keys[:-1]).all(), "keys must ascend")


def _sum_rows(rows: Rows, found: np.ndarray, width: int) -> np.ndarray:
    """Sum of the rows with the keys `found` (tokens, templates): (tokens, width) float32."""
    total = np.zeros((len(found), width), np.float32)
    if not len(rows.keys):
        return total
    at = np.searchsorted(rows.keys, found).clip(max=len(rows.keys) - 1)
    token, template = np.nonzero(rows.keys[at] == found)
    row = at[token, template]
    first, count = rows.row_ptr[row], np.diff(rows.row_ptr)[row]
    cell = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
    np.add.at(total, (np.repeat(token, count), rows.labels[cell]), rows.weights[cell])
    return total
