"""Decoding with quantized weights, which are found by feature key.

Averaged weights are divided by one unit and rounded so that the largest feature weight is 127; this
costs no measurable accuracy.  All scores are then whole numbers, exact in float32 in any order of
summation: cached or not, native or numpy, the labels are the same.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine.alternatives import margins, n_best, restrict
from seqtag.engine.arrays import (
    NO_TAG_DICTIONARY,
    Allowed,
    FloatArray,
    HashArray,
    IntArray,
    KeyPlan,
    LabelComponents,
    LabelsByTags,
    Margins,
    Paths,
    Potentials,
    QuantizedWeights,
    Rows,
    TagDictionary,
    pointers,
    ranges,
)
from seqtag.engine.checks import check_frozen
from seqtag.engine.keys import keys
from seqtag.engine.reference import only, sum_parts, viterbi

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_TRANSITIONS = np.zeros((0, 0), np.float32)


class Decoder:
    """Decodes encoded sentences with quantized weights (reference backend).

    Parameters
    ----------
    order
        0 for a model without label features, 1 or 2.
    plan, edge_plan
        Templates of the emission and of the edge features.
    weights
        The weights, with `seqtag.engine.arrays.FORBIDDEN` for forbidden transitions.
    parts
        The components of labels, if emission weights belong to components.
    known
        The tag dictionary.
    by_tags
        The labels by tags. If a known word has labels in the tag dictionary, a token may have those
        of both; if they have none in common, those of its tags.

    Raises
    ------
    ValueError
        If the arrays do not fit together.
    """

    def __init__(
        self,
        order: int,
        plan: KeyPlan,
        edge_plan: KeyPlan,
        weights: QuantizedWeights,
        parts: LabelComponents | None = None,
        known: TagDictionary = NO_TAG_DICTIONARY,
        by_tags: LabelsByTags | None = None,
    ):
        check_frozen(order, plan, edge_plan, weights, parts, known, by_tags)
        self.labels, self.order, self.weights = len(weights.start), order, weights
        self.plan, self.edge_plan, self.parts, self.known = plan, edge_plan, parts, known
        self.by_tags = by_tags if by_tags and len(by_tags.keys) else None
        self.trigram: FloatArray | None = None
        if order == 2:  # (K + 1, K, K) from its rows
            K, rows = self.labels, weights.trigram
            dense = np.zeros(((K + 1) * K, K), np.float32)
            row = np.repeat(rows.keys.astype(np.int64) - 1, np.diff(rows.row_ptr))
            dense[row, rows.labels] = rows.weights
            self.trigram = dense.reshape(K + 1, K, K)

    def workspace(self) -> Any:
        """Return the memory of one thread for one numbering of the types; here None."""
        return

    def decode(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        workspace: Any = None,
        allowed: Allowed | None = None,
    ) -> IntArray:
        """Return the label ids (tokens,) int32 of encoded sentences.

        Parameters
        ----------
        types, hashes, sentence_ptr
            As `seqtag.engine.keys.keys` takes them.
        workspace
            Made by `workspace`; belongs to one numbering of the types (one `Encoder`).
        allowed
            The allowed labels of each token; by default any.
        """
        labels = np.zeros(types.shape[1], np.int32)
        for here, p in self._potentials(types, hashes, sentence_ptr, workspace, allowed):
            labels[here] = viterbi(p)
        return labels

    def margins(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        groups: IntArray,
        workspace: Any = None,
        allowed: Allowed | None = None,
    ) -> Margins:
        """Return the label ids of encoded sentences and their margins; see `alternatives.margins`.

        Parameters
        ----------
        types, hashes, sentence_ptr, workspace, allowed
            As for `decode`.
        groups
            (K,) int32: labels with one number count as one.
        """
        N = types.shape[1]
        found = Margins(np.zeros(N, np.int32), np.zeros(N), np.zeros(N, np.int32))
        for here, p in self._potentials(types, hashes, sentence_ptr, workspace, allowed):
            found.labels[here] = viterbi(p)
            found.margin[here], found.rival[here] = margins(p, found.labels[here], groups)
        return found

    def n_best(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        n: int,
        workspace: Any = None,
        allowed: Allowed | None = None,
    ) -> Paths:
        """Return the n best sequences of each encoded sentence; see `alternatives.n_best`.

        Parameters
        ----------
        types, hashes, sentence_ptr, workspace, allowed
            As for `decode`.
        n
            Number of sequences, at least 1.
        """
        potentials = self._potentials(types, hashes, sentence_ptr, workspace, allowed)
        found = [n_best(p, n) for _, p in potentials]
        labels = [y for paths in found for _, y in paths]
        score = np.array([score for paths in found for score, _ in paths], np.float64)
        flat = np.concatenate([np.zeros(0, np.int32), *labels])
        return Paths(pointers(map(len, found)), score, flat)

    def _potentials(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        workspace: Any,  # noqa: ARG002  used by the kernel only
        allowed: Allowed | None,
    ) -> Iterator[tuple[slice, Potentials]]:
        """Yield the slice of tokens and the potentials of each sentence."""
        K = self.labels
        found = keys(self.plan, types, hashes, sentence_ptr)
        emission = _sum_rows(self.weights.emission, found, self.parts.number if self.parts else K)
        if self.parts:
            emission = sum_parts(emission, self.parts)
        if self.known.attribute >= 0 or self.by_tags:
            for n, labels in enumerate(self._labels_of_tokens(types, hashes, sentence_ptr)):
                if labels is not None:
                    emission[n] = only(emission[n], labels)
        start, stop, transition = self.weights.start, self.weights.stop, self.weights.transition
        if not self.order:
            start, stop, transition = np.zeros_like(start), np.zeros_like(stop), NO_TRANSITIONS
        elif self.edge_plan.seed.size:
            found = keys(self.edge_plan, types, hashes, sentence_ptr)
            transition = transition + _sum_rows(self.weights.edge, found, K * K).reshape(-1, K, K)
        for begin, end in pairwise(sentence_ptr):
            here = slice(begin, end)
            matrix = transition if transition.ndim == 2 else transition[here]
            p = Potentials(emission[here], start, stop, matrix, self.trigram)
            if allowed is not None:
                p = restrict(p, [allowed.of(n) for n in range(begin, end)])
            yield here, p

    def _labels_of_tokens(
        self, types: IntArray, hashes: HashArray, sentence_ptr: IntArray
    ) -> Iterator[IntArray | None]:
        """Yield the labels that each token may have by its word and its tags; None for any."""
        of_words = np.zeros(types.shape[1], np.uint64)
        of_tags = np.zeros((types.shape[1], 0), np.uint64)
        if (attribute := self.known.attribute) >= 0:
            of_words = hashes[attribute, types[self.plan.attribute_column[attribute]]]
        if self.by_tags:
            of_tags = keys(self.by_tags.plan, types, hashes, sentence_ptr)
        for word, tags in zip(of_words, of_tags, strict=True):
            known = _find_labels(self.known, word)
            found = [_find_labels(self.by_tags, key) for key in tags] if self.by_tags else []
            seen = next((labels for labels in reversed(found) if labels is not None), None)
            both = None if known is None or seen is None else np.intersect1d(known, seen)
            yield both if both is not None and len(both) else known if seen is None else seen


def _find_labels(rows: TagDictionary | LabelsByTags, key: np.uint64) -> IntArray | None:
    """Return the labels with a key; None if there are none."""
    at = int(np.searchsorted(rows.keys, key))
    if at == len(rows.keys) or rows.keys[at] != key:
        return None
    labels: IntArray = rows.labels[rows.row_ptr[at] : rows.row_ptr[at + 1]].astype(np.int32)
    return labels if len(labels) else None


def _sum_rows(rows: Rows, found: HashArray, width: int) -> FloatArray:
    """Sum the rows with the keys `found` (tokens, templates): (tokens, width) float32."""
    total = np.zeros((len(found), width), np.float32)
    if not len(rows.keys):
        return total
    at = np.searchsorted(rows.keys, found).clip(max=len(rows.keys) - 1)
    token, template = np.nonzero(rows.keys[at] == found)
    row = at[token, template]
    count = np.diff(rows.row_ptr)[row]
    cell = ranges(rows.row_ptr[row], count)
    np.add.at(total, (np.repeat(token, count), rows.labels[cell]), rows.weights[cell])
    return total
