"""The shapes of everything: what the algorithm reads and writes, as arrays.

Letters: S sentences, N tokens of all of them, T tokens of one, K labels, P parts of labels, R
emission rows, B edge rows.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

IntArray = NDArray[np.signedinteger[Any]]
HashArray = NDArray[np.uint64]
FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]
CodeArray = NDArray[np.uint32]
ByteArray = NDArray[np.uint8]
Cost = float | FloatArray
"""What a wrong label costs: one number for all, or (K, K) from gold to decoded label."""

FORBIDDEN = -1e30
"""The potential of what may not happen; finite, so that arithmetic stays finite."""

EXCLUDED = -1e34
"""The potential of a label that a token may not have because another one is given: so much less
than `FORBIDDEN` that what is given stands, even where it breaks a rule."""

MAX_LABELS = 65_535
"""Labels of a model: a cell of a frozen row names its label in 16 bits."""

MAX_TRIGRAM_LABELS = 255
"""Labels with second order, and with label bigrams that see words: 16 bits name a pair."""

MAX_BIGRAM_LABELS = 46_339
"""Labels with first order: the K (K + 2) weights of the chain are numbered in 32 bits."""

MOST_WITH_BIGRAMS = 4096
"""Labels of a model that looks at the label before: 64 MB of transitions, more is not worth it."""

MAX_ROWS = 2**31 - 1
"""Emission rows, edge rows, and tokens at a time: they are numbered in 32 bits."""

MAX_OFFSET = 1000
"""How far from its token a template looks."""

MAX_WORDS = 2**31
"""What frozen rows may fill: three words for each row, one for each cell."""

MAX_DENSE_LABELS = 100
"""Columns up to which the kernel keeps all cells of a row; of longer rows, those ever updated."""

MAX_WEIGHT = 127
"""The largest frozen weight; -128 can be stored too."""

EXACT_FLOAT = 2**24
"""Whole numbers up to this are exact in float32."""


# --------------------------------------------------------------------------- data and weights
class Instances(NamedTuple):
    """A corpus as arrays: sentences of tokens of features (three nested, ragged levels).

    Sentence s holds the tokens ``sentence_ptr[s]:sentence_ptr[s+1]``; token n holds the emission
    rows ``features[token_ptr[n]:token_ptr[n+1]]``, each with a value (1 if `values` is None), and
    the edge rows ``edges[edge_ptr[n]:edge_ptr[n+1]]``, observed together with the label bigram
    that ends at n.  If every token has all of the same features, they are given once: `features`
    is one token's, and only `values` goes on for all of them. Without values the rows of a token
    are distinct.

    Rows that many tokens have together may stand in a bundle, to save memory: a feature ``-1 - b``
    stands for the rows ``bundles[bundle_ptr[b]:bundle_ptr[b+1]]``. `written_out` is without.
    """

    sentence_ptr: IntArray  # (S + 1,) int64
    token_ptr: IntArray  # (N + 1,) int64
    features: IntArray  # (nnz,) int32
    values: FloatArray | None = None  # (nnz,) float32 or float64
    edge_ptr: IntArray | None = None  # (N + 1,) int64
    edges: IntArray | None = None  # (edge nnz,) int32
    bundle_ptr: IntArray | None = None  # (B + 1,) int64
    bundles: IntArray | None = None  # (rows in bundles,) int32

    def written_out(self) -> Instances:
        """The same without bundles.

        >>> x = Instances(*map(np.array, ([0, 2], [0, 2, 3], [4, -1, -1])))
        >>> x._replace(bundle_ptr=np.array([0, 2]), bundles=np.array([7, 6])).written_out()[1:3]
        (array([0, 3, 5]), array([4, 7, 6, 7, 6]))
        """
        if self.bundle_ptr is None or self.bundles is None:
            return self
        bundle = -1 - self.features
        alone = bundle < 0
        bundle[alone] = 0
        sizes = np.append(np.diff(self.bundle_ptr), 1)
        many = np.where(alone, 1, sizes[bundle])
        ends = np.concatenate([[0], np.cumsum(many)])
        place = np.repeat(self.bundle_ptr[bundle] - ends[:-1], many) + np.arange(ends[-1])
        rows = np.repeat(self.features, many)
        bundled = np.repeat(~alone, many)
        rows[bundled] = self.bundles[place[bundled]]
        plain = self._replace(token_ptr=ends[self.token_ptr], features=rows)
        return plain._replace(bundle_ptr=None, bundles=None)

    def tokens(self, s: int) -> range:
        """Token numbers of sentence s."""
        return range(int(self.sentence_ptr[s]), int(self.sentence_ptr[s + 1]))

    @property
    def same_rows(self) -> bool:
        """Whether all tokens have the same features, given once."""
        return self.values is not None and len(self.features) < len(self.values)

    def active(self, n: int) -> tuple[IntArray, FloatArray]:
        """Rows and values of the emission features of token n."""
        span = slice(self.token_ptr[n], self.token_ptr[n + 1])
        rows = self.features if self.same_rows else self.features[span]
        return rows, np.ones(len(rows)) if self.values is None else self.values[span]

    def active_edges(self, n: int) -> IntArray:
        """Rows of the edge features of token n."""
        if self.edges is None or self.edge_ptr is None:
            return np.zeros(0, np.int32)
        return self.edges[self.edge_ptr[n] : self.edge_ptr[n + 1]]


class WeightViews(NamedTuple):
    """The weight vector w (or phi, u, g: anything of its shape), seen as its matrices."""

    emission: FloatArray  # (R, K), or (R, P) with parts
    start: FloatArray  # (K,)
    stop: FloatArray  # (K,)
    transition: FloatArray  # (K, K) from previous to current label; order 0 has none: (0, 0)
    trigram: FloatArray  # (K + 1, K, K), the last row of the first axis for the start; or (0, K, K)
    edge: FloatArray  # (B, K, K)


class Parts(NamedTuple):
    """Labels made of parts, as ``NOUN|Case=Nom`` is of two: emission weights belong to parts."""

    ptr: IntArray  # (K + 1,) int64
    part: IntArray  # int32: the parts of label j are part[ptr[j]:ptr[j + 1]], each once
    number: int  # P, of parts

    def of(self, label: int) -> IntArray:
        """Parts of one label."""
        return self.part[self.ptr[label] : self.ptr[label + 1]]


class Layout(NamedTuple):
    """Shape of w. Order 0 has no label features: every token is decoded by itself."""

    rows: int  # R
    labels: int  # K
    order: int = 1  # how many labels before it a label is scored with: 0, 1 or 2
    edges: int = 0  # B
    parts: Parts | None = None

    @property
    def width(self) -> int:
        """Columns of the emission weights: labels, or their parts."""
        return self.labels if self.parts is None else self.parts.number

    @property
    def sparse(self) -> bool:
        """Whether the kernel keeps only those emission cells that were updated."""
        return self.width > MAX_DENSE_LABELS

    @property
    def chain(self) -> int:
        """Weights of the label chain: start, stop, and above order 0 transition."""
        return self.labels * (2 + self.labels * bool(self.order))

    @property
    def _shapes(self) -> list[tuple[int, ...]]:
        K = self.labels
        transition = (K, K) if self.order else (0, 0)
        trigram = (K + 1 if self.order == 2 else 0, K, K)
        return [(self.rows, self.width), (K,), (K,), transition, trigram, (self.edges, K, K)]

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(prod(shape) for shape in self._shapes)

    def views(self, w: FloatArray) -> WeightViews:
        """The flat vector w, seen as its matrices."""
        cuts = np.cumsum([prod(shape) for shape in self._shapes])
        parts = np.split(w, cuts[:-1])
        return WeightViews(*(p.reshape(s) for p, s in zip(parts, self._shapes, strict=True)))

    def memory(self, adaptive: bool = True, itemsize: int = 4) -> int:
        """Bytes that weights of this shape take in the kernel while they are trained.

        Known before training, save for sparse rows (see `sparse`): these are counted with two
        cells each, and grow with the labels that are seen or guessed with them.

        Parameters
        ----------
        adaptive
            Whether there is room for the sums of squares of that rule.
        itemsize
            Bytes of one number: 4 for float32, 8 for float64.

        Examples
        --------
        >>> Layout(rows=1_000_000, labels=17, order=2).memory() // 2**20
        278
        >>> Layout(rows=1_000_000, labels=15_000, order=0).memory() // 2**20
        49
        >>> Layout(rows=1_000_000, labels=15_000, order=1).memory() // 2**30
        4
        """
        K, B = self.labels, self.edges
        cell = 3 * itemsize  # w, u, g
        two_cells = 16 + 2 * (cell + 4)  # where the row is, the cells, their labels
        padded = -(-self.width // (32 // itemsize)) * (32 // itemsize)
        dense = padded * itemsize * (3 if adaptive else 2)
        emission = self.rows * (4 + (two_cells if self.sparse else dense))
        chain = self.chain * cell + (2 * K * K * itemsize if self.order else 0)  # as it is decoded
        trigram = (K + 1) * K * K * (cell + itemsize) if self.order == 2 else 0
        return emission + chain + trigram + B * two_cells


class Potentials(NamedTuple):
    """What a decoder needs to know about one sentence."""

    emission: FloatArray  # (T, K)
    start: FloatArray  # (K,)
    stop: FloatArray  # (K,)
    transition: FloatArray  # (K, K), (T, K, K) when it depends on the position, (0, 0) for order 0
    trigram: FloatArray | None = None  # (K + 1, K, K) for second order

    @property
    def alone(self) -> bool:
        """Whether every token is decoded by itself (order 0)."""
        return not self.transition.size

    def transition_to(self, t: int) -> FloatArray:
        """Scores (K, K) of going from a label at t - 1 to one at t."""
        return self.transition if self.transition.ndim == 2 else self.transition[t]


# --------------------------------------------------------------------------- learning
class Cells(NamedTuple):
    """The weights that are not zero, row by row: what leaves the training loop."""

    row_ptr: IntArray  # (R + 1,) int64
    label: IntArray  # (cells,) int32, ascending within a row: labels, or their parts
    weight: FloatArray  # (cells,)
    edge_ptr: IntArray  # (B + 1,) int64
    edge_label: IntArray  # (edge cells,) int32: previous * K + current
    edge_weight: FloatArray  # (edge cells,)
    trigram_ptr: IntArray  # ((K + 1) * K + 1,) int64, or (1,) below second order
    trigram_label: IntArray  # (trigram cells,) int32
    trigram_weight: FloatArray  # (trigram cells,)
    chain: FloatArray  # (K + K + K * K,): start, stop, transition; order 0 has (K + K,)


class CellStates(NamedTuple):
    """The cells of some rows that ever changed, row by row."""

    ptr: IntArray  # (rows + 1,) int64
    column: IntArray  # (cells,) int32, ascending within a row
    w: FloatArray  # (cells,)
    u: FloatArray  # (cells,) of the average
    g: FloatArray  # (cells,) sums of delta^2


class State(NamedTuple):
    """All that weights in training know: what is made from it goes on as if there were no stop."""

    emission: CellStates
    edge: CellStates  # columns are previous * K + current
    trigram: CellStates  # rows are a * K + b, as in `Cells`
    chain: FloatArray  # (3, K + K + K * K): w, u, g of start, stop, transition, as in `Cells`
    seen: int  # sentences finished

    @classmethod
    def start(cls, cells: Cells) -> State:
        """The state of weights that begin at `cells` and have seen nothing yet (a warm start).

        Row r of the cells is row r of the weights to come: the caller numbers the features.
        """

        def begin(ptr: IntArray, column: IntArray, w: FloatArray) -> CellStates:
            return CellStates(ptr, column, w, np.zeros_like(w), np.zeros_like(w))

        rest = np.zeros_like(cells.chain)
        return cls(
            begin(cells.row_ptr, cells.label, cells.weight),
            begin(cells.edge_ptr, cells.edge_label, cells.edge_weight),
            begin(cells.trigram_ptr, cells.trigram_label, cells.trigram_weight),
            np.stack([cells.chain, rest, rest]),
            0,
        )


class Mistakes(NamedTuple):
    """The sentences of an epoch that were decoded wrongly, and how."""

    position: IntArray  # (M,) int64: place among the visits of the epoch
    y_hat: IntArray  # int32: the decoded labels of these sentences, end to end


class Pause(NamedTuple):
    """What an epoch asks between sentences: whether to leave the others for later."""

    asked: Callable[[], bool]
    every: float = 0.1  # seconds between two questions


RULES = ("perceptron", "pa", "adaptive")


class KeyPlan(NamedTuple):
    """Templates as flat arrays: term i of template k is ``term_ptr[k] <= i < term_ptr[k + 1]``."""

    term_ptr: IntArray  # (templates + 1,) int64
    term_attribute: IntArray  # (terms,) int32
    term_offset: IntArray  # (terms,) int32
    seed: HashArray  # (templates,) uint64
    multiplier: HashArray  # (longest conjunction,) uint64, odd
    attribute_column: IntArray  # (attributes,) int32


def pointers(lengths: Iterable[int]) -> IntArray:
    """Where each of several runs begins, and where the last ends: (n + 1,) int64.

    >>> pointers([3, 0, 2])
    array([0, 3, 3, 5])
    """
    counts = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, np.int64)
    ptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


class Rows(NamedTuple):
    """Sparse rows of 8-bit weights, each known by its feature key."""

    keys: HashArray  # (rows,) uint64, ascending, never 0
    row_ptr: IntArray  # (rows + 1,) int64
    labels: NDArray[np.uint16]  # (cells,), ascending within a row
    weights: NDArray[np.int8]  # (cells,)


class QuantizedWeights(NamedTuple):
    """All weights of a model, in units of `unit`: whole numbers, save what is forbidden."""

    emission: Rows  # labels, or their parts
    edge: Rows  # labels are previous * K + current
    trigram: Rows  # key 1 + a * K + b for the labels a, b before; a is K at the start
    start: FloatArray  # (K,) float32
    stop: FloatArray  # (K,) float32
    transition: FloatArray  # (K, K) float32; order 0 ignores it and may have (0, 0)
    unit: float = 1.0


class KnownLabels(NamedTuple):
    """The labels that known words may have, by the hash of an attribute of the word."""

    attribute: int  # number of the attribute; -1: any word may have any label
    keys: HashArray  # (words,) uint64, ascending
    row_ptr: IntArray  # (words + 1,) int64
    labels: NDArray[np.uint16]  # ascending within a word


ANY_LABEL = KnownLabels(-1, np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint16))
"""No word is restricted."""


# --------------------------------------------------------------------------- alternatives
class Allowed(NamedTuple):
    """The labels that each token may have; one with none listed may have any."""

    ptr: IntArray  # (N + 1,) int64
    labels: IntArray  # int32: token n may have labels[ptr[n]:ptr[n + 1]]

    def of(self, n: int) -> IntArray:
        """What is listed for one token."""
        return self.labels[self.ptr[n] : self.ptr[n + 1]]


class Margins(NamedTuple):
    """The best labels of each token, and how much better they are than any other there."""

    labels: IntArray  # (N,) int32: as `decode` gives them
    margin: FloatArray  # (N,) float64, at least 0; inf where there is no other label
    rival: IntArray  # (N,) int32: the label of the best sequence with another one; -1 if none


class Paths(NamedTuple):
    """The best label sequences of some sentences, the best one of each first."""

    ptr: IntArray  # (S + 1,) int64: sentence s has the sequences ptr[s] to ptr[s + 1]
    score: FloatArray  # (sequences,) float64
    labels: IntArray  # int32: sequences end to end, each as long as its sentence


# --------------------------------------------------------------------------- bigrams
MAX_BIGRAMS = 2**31 - 1
"""Bigrams that are counted at most, all repetitions too: counts have 32 bits."""

MAX_CLASSES = 4096
"""Classes of words at most: what the kernel keeps grows with their square."""


class Bigrams(NamedTuple):
    """How often each word stands before each other, only where it does.

    Every text begins and ends with the same word, its boundary, so that each word is as often the
    first of a bigram as the second.
    """

    ptr: IntArray  # (V + 1,) int64: word v stands before after[ptr[v]:ptr[v + 1]], ascending
    after: IntArray  # int32: words
    counts: IntArray  # int32, at least 1: how often
