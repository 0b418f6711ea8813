"""A trained model as it tags: whole-number weights found by feature key.

Averaged weights are divided by one unit and rounded, so that the largest feature weight is 127;
measured, this costs no accuracy.  All scores are then whole numbers, exact in float32 whatever the
order of summation: every way of computing them, cached or not, native or numpy, gives the same
labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from seqtag.encoding import KeyPlan, keys
from seqtag.errors import LabelError
from seqtag.reference import FORBIDDEN, Cells, Parts, Potentials, sum_parts, viterbi

MAX_WEIGHT = 127


class Rows(NamedTuple):
    """Sparse rows of 8-bit weights, each known by its feature key."""

    keys: np.ndarray  # (rows,) uint64, ascending
    row_ptr: np.ndarray  # (rows + 1,) int64
    labels: np.ndarray  # (cells,) uint16
    weights: np.ndarray  # (cells,) int8


class FrozenWeights(NamedTuple):
    """All weights of a model, in units of `unit`: whole numbers, save what is forbidden."""

    emission: Rows  # labels, or their parts
    edge: Rows  # labels are previous * K + current
    trigram: Rows  # key 1 + a * K + b for the labels a, b before; a is K at the start
    start: np.ndarray  # (K,) float32
    stop: np.ndarray  # (K,) float32
    transition: np.ndarray  # (K, K) float32
    unit: float = 1.0


class KnownLabels(NamedTuple):
    """The labels that known words may have, by the hash of an attribute of the word."""

    attribute: int  # number of the attribute; -1: any word may have any label
    keys: np.ndarray  # (words,) uint64, ascending
    row_ptr: np.ndarray  # (words + 1,) int64
    labels: np.ndarray  # uint16, ascending within a word


ANY_LABEL = KnownLabels(-1, np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint16))
"""No word is restricted."""


def mean(runs: Sequence[Cells]) -> Cells:
    """The mean of the weights of several runs over the same features."""
    if len(runs) == 1:
        return runs[0]

    def rows(
        ptrs: Sequence[np.ndarray], labels: Sequence[np.ndarray], weights: Sequence[np.ndarray]
    ):
        width = 1 + max((int(label.max()) for label in labels if len(label)), default=0)
        ids = [
            np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)) * width + label
            for ptr, label in zip(ptrs, labels, strict=True)
        ]
        distinct, which = np.unique(np.concatenate(ids), return_inverse=True)
        total = np.bincount(which.reshape(-1), np.concatenate(weights), len(distinct))
        ptr = np.searchsorted(distinct // width, np.arange(len(ptrs[0])))
        return ptr.astype(np.int64), (distinct % width).astype(np.int32), total / len(runs)

    *sparse, block = zip(*runs, strict=True)
    found = [rows(*sparse[i : i + 3]) for i in range(0, len(sparse), 3)]
    return Cells(*chain.from_iterable(found), np.mean(block, axis=0))


def freeze(cells: Cells, row_keys: np.ndarray, edge_keys: np.ndarray, labels: int) -> FrozenWeights:
    """Round the weights to whole numbers of one unit, drop what is zero, sort by key.

    Raises
    ------
    LabelError
        If there are more labels than cells can name: 65,535, or 255 with label trigrams and with
        label bigrams conjoined with observations.
    """
    second_order = len(cells.trigram_ptr) > 1
    limit = 255 if len(edge_keys) or second_order else 65535
    if labels > limit:
        why = " with label trigrams or label bigrams that see words" if limit == 255 else ""
        raise LabelError(
            f"expected at most {limit} labels{why}, found {labels}; "
            "is the label column the right one?"
        )
    sparse = cells.weight, cells.edge_weight, cells.trigram_weight
    largest = max((abs(weights).max() for weights in sparse if len(weights)), default=0)
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

    block = np.rint(cells.block / unit).astype(np.float32)
    trigram_keys = np.arange(1, len(cells.trigram_ptr), dtype=np.uint64)
    start, stop, transition = np.split(block, [labels, 2 * labels])
    return FrozenWeights(
        rows(cells.row_ptr, cells.label, cells.weight, row_keys),
        rows(cells.edge_ptr, cells.edge_label, cells.edge_weight, edge_keys),
        rows(cells.trigram_ptr, cells.trigram_label, cells.trigram_weight, trigram_keys),
        start,
        stop,
        transition.reshape(labels, labels),
        unit,
    )


class Frozen:
    """Decodes encoded sentences with frozen weights (reference backend).

    Parameters
    ----------
    order
        0 for a model without label features, 1 or 2.
    plan, edge_plan
        Templates of the emission and of the edge features.
    weights
        The weights, with `seqtag.reference.FORBIDDEN` for what may not be.
    parts
        The parts of labels that emission weights belong to, if they do.
    known
        The labels that known words may have.
    """

    def __init__(
        self,
        order: int,
        plan: KeyPlan,
        edge_plan: KeyPlan,
        weights: FrozenWeights,
        parts: Parts | None = None,
        known: KnownLabels = ANY_LABEL,
    ):
        labels = len(weights.start)
        _require(0 < labels <= 65535, "labels must be 1 to 65535")
        _require(0 <= order <= 2, "order must be 0, 1 or 2")
        _require(order < 2 or labels <= 255, "second order is for 255 labels at most")
        if parts is not None:
            _check_parts(parts, labels)
        _check(weights.emission, parts.count if parts else labels)
        _check(weights.edge, labels**2)
        _check(weights.trigram, labels)
        _check(Rows(*known[1:], np.zeros(len(known.labels), np.int8)), labels)
        _require(-1 <= known.attribute < len(plan.attribute_column), "unknown attribute")
        shapes = weights.start.shape, weights.stop.shape, weights.transition.shape
        _require(
            shapes == ((labels,), (labels,), (labels, labels)),
            "start, stop and transition must be (K,), (K,) and (K, K)",
        )
        self.labels, self.order, self.weights = labels, order, weights
        self.plan, self.edge_plan, self.parts, self.known = plan, edge_plan, parts, known
        self.trigram = self._trigram() if order == 2 else None

    def _trigram(self) -> np.ndarray:
        """The trigram potentials (K + 1, K, K) from their rows."""
        K, rows = self.labels, self.weights.trigram
        _require((rows.keys <= (K + 1) * K).all(), "a trigram is out of range")
        dense = np.zeros(((K + 1) * K, K), np.float32)
        row = np.repeat(rows.keys.astype(np.int64) - 1, np.diff(rows.row_ptr))
        dense[row, rows.labels] = rows.weights
        return dense.reshape(K + 1, K, K)

    def workspace(self) -> None:
        """Memory for one thread and one numbering of the types: the reference needs none."""
        return

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
        K = self.labels
        found = keys(self.plan, types, hashes, sentence_ptr)
        emission = _sum_rows(self.weights.emission, found, self.parts.count if self.parts else K)
        if self.parts:
            emission = sum_parts(emission, self.parts)
        if self.known.attribute >= 0:
            emission = self._restricted(emission, types, hashes)
        start, stop, transition = self.weights.start, self.weights.stop, self.weights.transition
        if not self.order:
            start, stop, transition = (np.zeros_like(part) for part in (start, stop, transition))
        if self.edge_plan.seed.size:
            found = keys(self.edge_plan, types, hashes, sentence_ptr)
            transition = transition + _sum_rows(self.weights.edge, found, K * K).reshape(-1, K, K)
        labels = np.zeros(types.shape[1], np.int32)
        for begin, end in pairwise(sentence_ptr):
            here = slice(begin, end)
            matrix = transition if transition.ndim == 2 else transition[here]
            labels[here] = viterbi(Potentials(emission[here], start, stop, matrix, self.trigram))
        return labels

    def _restricted(
        self, emission: np.ndarray, types: np.ndarray, hashes: np.ndarray
    ) -> np.ndarray:
        """The emission potentials with what known words may not be forbidden."""
        attribute = self.known.attribute
        column = self.plan.attribute_column[attribute]
        restricted = emission.copy()
        for token, key in enumerate(hashes[attribute, types[column]]):
            row = np.searchsorted(self.known.keys, key)
            if row < len(self.known.keys) and self.known.keys[row] == key:
                allowed = self.known.labels[self.known.row_ptr[row] : self.known.row_ptr[row + 1]]
                if len(allowed):
                    restricted[token] = FORBIDDEN
                    restricted[token, allowed] = emission[token, allowed]
        return restricted


def _require(ok: object, message: str) -> None:
    """The kernel's checks, in its words: arrays of a damaged model file end here."""
    if not ok:
        raise ValueError(message)


def _check_parts(parts: Parts, labels: int) -> None:
    """Refuse parts that do not fit the labels."""
    ptr = parts.ptr
    _require(
        len(ptr) == labels + 1 and ptr[0] == 0 and ptr[-1] == len(parts.part)
        and (np.diff(ptr) >= 0).all(),
        "part_ptr must ascend from 0 to the number of parts listed, one step per label",
    )  # fmt: skip
    _require(
        (parts.part >= 0).all() and (parts.part < parts.count).all(),
        "part holds a part out of range",
    )


def _check(rows: Rows, width: int) -> None:
    """Refuse rows whose arrays do not fit together."""
    keys, ptr, cells = rows.keys, rows.row_ptr, len(rows.labels)
    _require(
        len(ptr) == len(keys) + 1
        and ptr[0] == 0
        and ptr[-1] == cells
        and (np.diff(ptr) >= 0).all(),
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
