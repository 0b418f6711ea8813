"""A trained model as it tags: whole-number weights found by feature key.

Averaged weights are divided by one unit and rounded, so that the largest feature weight is 127;
measured, this costs no accuracy.  All scores are then whole numbers, exact in float32 whatever the
order of summation: every way of computing them, cached or not, native or numpy, gives the same
labels.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from seqtag.engine.arrays import (
    ANY_LABEL,
    FORBIDDEN,
    FrozenWeights,
    KeyPlan,
    KnownLabels,
    Parts,
    Potentials,
    Rows,
)
from seqtag.engine.keys import keys
from seqtag.engine.reference import sum_parts, viterbi


class Frozen:
    """Decodes encoded sentences with frozen weights (reference backend).

    Parameters
    ----------
    order
        0 for a model without label features, 1 or 2.
    plan, edge_plan
        Templates of the emission and of the edge features.
    weights
        The weights, with `seqtag.engine.arrays.FORBIDDEN` for what may not be.
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
            As `seqtag.engine.keys.keys` takes them.
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
        len(ptr) == labels + 1
        and ptr[0] == 0
        and ptr[-1] == len(parts.part)
        and (np.diff(ptr) >= 0).all(),
        "part_ptr must ascend from 0 to the number of parts listed, one step per label",
    )
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
