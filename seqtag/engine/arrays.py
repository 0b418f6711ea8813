"""The shapes of everything: what the algorithm reads and writes, as arrays."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_LABELS = 65_535
MAX_TRIGRAM_LABELS = 255
FORBIDDEN = -1e30  # the potential of what may not happen; finite, so that arithmetic stays finite


# --------------------------------------------------------------------------- data and weights
class Instances(NamedTuple):
    """A corpus as arrays: sentences of tokens of features (three nested, ragged levels).

    Sentence s holds the tokens ``sentence_ptr[s]:sentence_ptr[s+1]``; token n holds the emission
    rows ``features[token_ptr[n]:token_ptr[n+1]]``, each with a value (1 if `values` is None), and
    the edge rows ``edges[edge_ptr[n]:edge_ptr[n+1]]``, observed together with the label bigram
    that ends at n.  If every token has all of the same features, they are given once: `features`
    is one token's, and only `values` goes on for all of them. Without values the rows of a token
    are distinct.
    """

    sentence_ptr: np.ndarray  # (S + 1,) int64
    token_ptr: np.ndarray  # (N + 1,) int64
    features: np.ndarray  # (nnz,) int32
    values: np.ndarray | None = None  # (nnz,) float32 or float64
    edge_ptr: np.ndarray | None = None  # (N + 1,) int64
    edges: np.ndarray | None = None  # (edge nnz,) int32

    def tokens(self, s: int) -> range:
        """Token numbers of sentence s."""
        return range(int(self.sentence_ptr[s]), int(self.sentence_ptr[s + 1]))

    def active(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and values of the emission features of token n."""
        span = slice(self.token_ptr[n], self.token_ptr[n + 1])
        dense = self.values is not None and len(self.features) < len(self.values)
        rows = self.features if dense else self.features[span]
        return rows, np.ones(len(rows)) if self.values is None else self.values[span]

    def active_edges(self, n: int) -> np.ndarray:
        """Rows of the edge features of token n."""
        if self.edges is None or self.edge_ptr is None:
            return np.zeros(0, np.int32)
        return self.edges[self.edge_ptr[n] : self.edge_ptr[n + 1]]


class Blocks(NamedTuple):
    """The weight vector w (or phi, u, G: anything of its shape), seen as its blocks."""

    emission: np.ndarray  # (R, K)
    start: np.ndarray  # (K,)
    stop: np.ndarray  # (K,)
    transition: np.ndarray  # (K, K) from previous to current label
    trigram: np.ndarray  # (K + 1, K, K), the last row of the first axis for the start; or (0, K, K)
    edge: np.ndarray  # (B, K, K)


class Parts(NamedTuple):
    """Labels made of parts, as ``NOUN|Case=Nom`` is of two: emission weights belong to parts."""

    ptr: np.ndarray  # (K + 1,) int64
    part: np.ndarray  # int32: the parts of label j are part[ptr[j]:ptr[j + 1]], each once
    count: int  # P, number of parts

    def of(self, label: int) -> np.ndarray:
        """Parts of one label."""
        return self.part[self.ptr[label] : self.ptr[label + 1]]


class Layout(NamedTuple):
    """Shape of w. Order 0 has no label features: every token is decoded by itself."""

    rows: int
    labels: int
    order: int = 1
    edges: int = 0
    parts: Parts | None = None

    @property
    def width(self) -> int:
        """Columns of the emission block: labels, or their parts."""
        return self.labels if self.parts is None else self.parts.count

    @property
    def _shapes(self) -> list[tuple[int, ...]]:
        K = self.labels
        trigram = (K + 1 if self.order == 2 else 0, K, K)
        return [(self.rows, self.width), (K,), (K,), (K, K), trigram, (self.edges, K, K)]

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(prod(shape) for shape in self._shapes)

    def blocks(self, w: np.ndarray) -> Blocks:
        """Views of the flat vector w, one per block."""
        cuts = np.cumsum([prod(shape) for shape in self._shapes])
        parts = np.split(w, cuts[:-1])
        return Blocks(*(p.reshape(s) for p, s in zip(parts, self._shapes, strict=True)))


class Potentials(NamedTuple):
    """What a decoder needs to know about one sentence."""

    emission: np.ndarray  # (T, K)
    start: np.ndarray  # (K,)
    stop: np.ndarray  # (K,)
    transition: np.ndarray  # (K, K), or (T, K, K) when it depends on the position
    trigram: np.ndarray | None = None  # (K + 1, K, K) for second order

    def transition_to(self, t: int) -> np.ndarray:
        """Scores (K, K) of going from a label at t - 1 to one at t."""
        return self.transition if self.transition.ndim == 2 else self.transition[t]


# --------------------------------------------------------------------------- learning
class Cells(NamedTuple):
    """The weights that are not zero, row by row: what leaves the training loop."""

    row_ptr: np.ndarray  # (R + 1,) int64
    label: np.ndarray  # (cells,) int32, ascending within a row: labels, or their parts
    weight: np.ndarray  # (cells,) float
    edge_ptr: np.ndarray  # (B + 1,) int64
    edge_label: np.ndarray  # (edge cells,) int32: previous * K + current
    edge_weight: np.ndarray  # (edge cells,) float
    trigram_ptr: np.ndarray  # ((K + 1) * K + 1,) int64, or (1,) below second order
    trigram_label: np.ndarray  # (trigram cells,) int32
    trigram_weight: np.ndarray  # (trigram cells,) float
    block: np.ndarray  # (K + K + K * K,) float: start, stop, transition


class Mistakes(NamedTuple):
    """The sentences of an epoch that were decoded wrongly, and how."""

    position: np.ndarray  # (M,) int64: place in the order of the epoch
    y_hat: np.ndarray  # int32: the decoded labels of these sentences, end to end


RULES = ("perceptron", "pa", "adaptive")


class KeyPlan(NamedTuple):
    """Templates as flat arrays: term i of template k is ``term_ptr[k] <= i < term_ptr[k + 1]``."""

    term_ptr: np.ndarray  # (templates + 1,) int64
    term_attribute: np.ndarray  # (terms,) int32
    term_offset: np.ndarray  # (terms,) int32
    seed: np.ndarray  # (templates,) uint64
    multiplier: np.ndarray  # (longest conjunction,) uint64, odd
    attribute_column: np.ndarray  # (attributes,) int32


def pointers(lengths: Iterable[int]) -> np.ndarray:
    """Where each of several runs begins, and where the last ends: (n + 1,) int64.

    >>> pointers([3, 0, 2])
    array([0, 3, 3, 5])
    """
    counts = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, np.int64)
    ptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


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
