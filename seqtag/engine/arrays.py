"""Records of arrays: everything that the engine reads and writes, with shapes and dtypes.

Letters: S sentences, N tokens of all of them, T tokens of one, K labels, P parts of labels, R
emission rows, B edge rows.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

IntArray = NDArray[np.signedinteger[Any]]
HashArray = NDArray[np.uint64]
FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]
CodeArray = NDArray[np.uint32]
ByteArray = NDArray[np.uint8]
Cost = float | FloatArray
"""Cost of a wrong label: one number, or (K, K) from gold to decoded label."""

FORBIDDEN = -1e30
"""Potential of forbidden labels and transitions; finite, so that sums stay finite."""

EXCLUDED = -1e34
"""Potential of labels excluded by a given one: so much lower than `FORBIDDEN` that the given label
wins even where it breaks a constraint."""

MAX_LABELS = 65_535
"""Labels of a model: a quantized cell stores its label in 16 bits."""

MAX_TRIGRAM_LABELS = 255
"""Labels with second order, and with label bigrams that see words: a pair takes 16 bits."""

MOST_WITH_BIGRAMS = 4096
"""Labels of a model with label bigrams: 64 MB of transitions, more is not worth it."""

MAX_OFFSET = 1000
"""Largest offset of a template term."""

MAX_WORDS = 2**31
"""32-bit words of quantized rows: three for each row, one for each cell."""

MAX_DENSE_LABELS = 100
"""Columns up to which the kernel stores rows densely; longer rows store updated cells only."""

MAX_WEIGHT = 127
"""Largest quantized weight; -128 can be stored too."""

EXACT_FLOAT = 2**24
"""Whole numbers up to this are exact in float32."""


# --------------------------------------------------------------------------- data and weights
class LocalRows(NamedTuple):
    """Rows of local templates, which look at one position of one column.

    They follow from the type there, and are looked up when a sentence is visited. A run is a number
    of templates in a row that look at the same position, or one template of another kind.
    """

    types: IntArray  # (columns, N) int32
    sentence_ptr: IntArray  # (sentences + 1,) int64: sentences as templates see them
    # (runs, 4) int64: column, offset, templates, and where its places begin in `rows`. Place 0 is
    # before the sentence, 1 after it, 2 + i is type i. Column -1: a row is stored for each token.
    runs: IntArray
    rows: IntArray  # int32: of each place the number of rows, these, and unused ones


class Instances(NamedTuple):
    """Corpus as arrays: sentences of tokens of features (three nested, ragged levels).

    Sentence s holds the tokens ``sentence_ptr[s]:sentence_ptr[s+1]``; token n holds the emission
    rows ``features[token_ptr[n]:token_ptr[n+1]]``, each with a value (1 if `values` is None), and
    the edge rows ``edges[edge_ptr[n]:edge_ptr[n+1]]``, observed together with the label bigram
    that ends at n.  If all tokens have the same features, these are stored once: `features` is that
    of one token, and `values` that of all. Without values the rows of a token are distinct.

    With local rows, which save memory, `token_ptr` and `features` are empty; see `written_out`.

    Token n may have the labels ``set_labels[set_ptr[c]:set_ptr[c+1]]``, with ``c = set_of[n]``, or
    any label if c is -1.
    """

    sentence_ptr: IntArray  # (S + 1,) int64
    token_ptr: IntArray  # (N + 1,) int64
    features: IntArray  # (nnz,) int32
    values: FloatArray | None = None  # (nnz,) float32 or float64
    edge_ptr: IntArray | None = None  # (N + 1,) int64
    edges: IntArray | None = None  # (edge nnz,) int32
    local: LocalRows | None = None
    # The rows stored with local rows, token by token: 3 or 4 bytes each, the lowest first, with all
    # bits 1 if the token lacks the feature; and one more byte.
    numbers: ByteArray | None = None
    set_of: IntArray | None = None  # (N,) int32: the number of a set of labels, or -1
    set_ptr: IntArray | None = None  # (sets + 1,) int64
    set_labels: IntArray | None = None  # int32, ascending within a set, which is not empty

    def written_out(self, tokens: int) -> tuple[IntArray, IntArray]:
        """Return `token_ptr` and `features` of the first tokens, with local rows among them.

        >>> runs, rows = np.array([[-1, 0, 1, 0], [0, 1, 1, 0]]), np.array([0, 0, 1, 7, 1, 8])
        >>> numbers = np.array([5, 0, 0, 255, 255, 255, 0], np.uint8)
        >>> local = LocalRows(np.array([[1, 0]]), np.array([0, 2]), runs, rows)
        >>> x = Instances(*map(np.array, ([0, 2], [], [])), local=local, numbers=numbers)
        >>> x.written_out(2)
        (array([0, 2, 3]), array([5, 8, 7]))
        """
        if self.local is None or self.numbers is None:
            return self.token_ptr[: tokens + 1], self.features[: self.token_ptr[tokens]]
        types, sentence_ptr, runs, rows = self.local
        begin, end = (
            np.repeat(p, np.diff(sentence_ptr)) for p in (sentence_ptr[:-1], sentence_ptr[1:])
        )
        here, count = np.arange(tokens), types.shape[1]
        others = np.count_nonzero(runs[:, 0] < 0)
        size = 4 if len(self.numbers) > 3 * count * others + 1 else 3
        each = self.numbers[:-1].reshape(count, others, size)[:tokens]
        stored = each.astype(np.int64) @ 256 ** np.arange(size)
        stored[stored == 256**size - 1] = -1
        columns = iter(stored.T)
        found = []
        for column, offset, templates, place in runs.tolist():
            if column < 0:
                found.append(next(columns)[:, None])
                continue
            at = here + offset
            type_at = 2 + types[column, at.clip(0, count - 1)]
            places = np.where(at < begin[:tokens], 0, np.where(at >= end[:tokens], 1, type_at))
            cells = rows[place + places[:, None] * (templates + 1) + np.arange(templates + 1)]
            found.append(np.where(np.arange(templates) < cells[:, :1], cells[:, 1:], -1))
        table = np.hstack(found)
        return pointers((table >= 0).sum(axis=1)), table[table >= 0]

    def tokens(self, s: int) -> range:
        """Return the token numbers of sentence s."""
        return range(int(self.sentence_ptr[s]), int(self.sentence_ptr[s + 1]))

    @property
    def same_rows(self) -> bool:
        """True if all tokens have the same features, stored once."""
        return self.values is not None and len(self.features) < len(self.values)

    def active(self, n: int) -> tuple[IntArray, FloatArray]:
        """Return the rows and values of the emission features of token n."""
        span = slice(self.token_ptr[n], self.token_ptr[n + 1])
        rows = self.features if self.same_rows else self.features[span]
        return rows, np.ones(len(rows)) if self.values is None else self.values[span]

    def active_edges(self, n: int) -> IntArray:
        """Return the rows of the edge features of token n."""
        if self.edges is None or self.edge_ptr is None:
            return np.zeros(0, np.int32)
        return self.edges[self.edge_ptr[n] : self.edge_ptr[n + 1]]

    def labels_of(self, n: int) -> IntArray | None:
        """Return the labels that token n may have; None for any."""
        if self.set_of is None or self.set_ptr is None or self.set_labels is None:
            return None
        c = self.set_of[n]
        return None if c < 0 else self.set_labels[self.set_ptr[c] : self.set_ptr[c + 1]]


class WeightViews(NamedTuple):
    """Views of the weight vector w, or of a vector of its shape such as phi, u, g, as matrices."""

    emission: FloatArray  # (R, K), or (R, P) with parts
    start: FloatArray  # (K,)
    stop: FloatArray  # (K,)
    transition: FloatArray  # (K, K) from previous to current label; order 0 has none: (0, 0)
    trigram: FloatArray  # (K + 1, K, K), the last row of the first axis for the start; or (0, K, K)
    edge: FloatArray  # (B, K, K)


class LabelComponents(NamedTuple):
    """Components of labels: ``NOUN|Case=Nom`` has two. Emission weights belong to components."""

    ptr: IntArray  # (K + 1,) int64
    part: IntArray  # int32: the parts of label j are part[ptr[j]:ptr[j + 1]], each once
    number: int  # P, of parts

    def of(self, label: int) -> IntArray:
        """Return the components of one label."""
        return self.part[self.ptr[label] : self.ptr[label + 1]]


class Layout(NamedTuple):
    """Shape of w. With order 0 there are no label features: tokens are decoded one by one."""

    rows: int  # R
    labels: int  # K
    order: int = 1  # how many labels before it a label is scored with: 0, 1 or 2
    edges: int = 0  # B
    parts: LabelComponents | None = None

    @property
    def width(self) -> int:
        """Columns of the emission weights: labels, or their components."""
        return self.labels if self.parts is None else self.parts.number

    @property
    def sparse(self) -> bool:
        """True if the kernel stores updated emission cells only."""
        return self.width > MAX_DENSE_LABELS

    @property
    def chain(self) -> int:
        """Number of weights of the label chain: start, stop, and above order 0 transition."""
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
        """Return views of the flat vector w as its matrices."""
        cuts = np.cumsum([prod(shape) for shape in self._shapes])
        parts = np.split(w, cuts[:-1])
        return WeightViews(*(p.reshape(s) for p, s in zip(parts, self._shapes, strict=True)))

    def memory(self) -> int:
        """Return the bytes that weights of this shape take in the kernel during training.

        Exact for float32 and the adaptive rule, but for sparse rows (see `sparse`): these are
        counted with two cells each, and grow with the labels that are updated.

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
        cell = 12  # w, u, g
        two_cells = 16 + 2 * (cell + 4)  # where the row is, the cells, their labels
        dense = -(-self.width // 8) * 8 * cell  # padded to 32 bytes
        emission = self.rows * (4 + (two_cells if self.sparse else dense))
        chain = self.chain * cell + (8 * K * K if self.order else 0)  # as it is decoded
        trigram = (K + 1) * K * K * (cell + 4) if self.order == 2 else 0
        return emission + chain + trigram + B * two_cells


class Potentials(NamedTuple):
    """Potentials of one sentence: the complete input of a decoder."""

    emission: FloatArray  # (T, K)
    start: FloatArray  # (K,)
    stop: FloatArray  # (K,)
    transition: FloatArray  # (K, K), (T, K, K) when it depends on the position, (0, 0) for order 0
    trigram: FloatArray | None = None  # (K + 1, K, K) for second order

    @property
    def alone(self) -> bool:
        """True if tokens are decoded one by one (order 0)."""
        return not self.transition.size

    def transition_to(self, t: int) -> FloatArray:
        """Return the scores (K, K) from a label at t - 1 to one at t."""
        return self.transition if self.transition.ndim == 2 else self.transition[t]


# --------------------------------------------------------------------------- learning
class Cells(NamedTuple):
    """Weights that are not zero, row by row: the result of training."""

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


class State(NamedTuple):
    """Complete state of weights in training, from which learning continues exactly.

    A warm start has the weights alone, and no sentence seen.
    """

    w: Cells
    u: Cells | None = None  # of the average
    g: Cells | None = None  # sums of delta^2
    seen: int = 0  # sentences finished


class Mistakes(NamedTuple):
    """Wrongly decoded sentences of an epoch, with the decoded labels."""

    position: IntArray  # (M,) int64: place among the visits of the epoch
    y_hat: IntArray  # int32: the decoded labels of these sentences, end to end


ASK_EVERY = 0.1
"""Seconds between two calls of what may end an epoch."""

RULES = ("perceptron", "pa", "adaptive")
"""Update rules, whose arithmetic is `seqtag.engine.reference.Weights.update`.

The kernel repeats it in ``Step`` of ``_native/weights.h``, under the names in
``_native/bind_weights.cpp``. The setting ``update`` has these names.
"""


class KeyPlan(NamedTuple):
    """Templates as flat arrays: term i of template k is ``term_ptr[k] <= i < term_ptr[k + 1]``."""

    term_ptr: IntArray  # (templates + 1,) int64
    term_attribute: IntArray  # (terms,) int32
    term_offset: IntArray  # (terms,) int32
    seed: HashArray  # (templates,) uint64
    multiplier: HashArray  # (longest conjunction,) uint64, odd
    attribute_column: IntArray  # (attributes,) int32
    shift: int = 0  # lowest bits of the 64 that keys leave out, 0 to 63


def distinct(values: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the distinct values, in order, a place of each, and which of them each place has.

    `numpy.unique` takes ten times as long for a few values.

    >>> distinct(np.array([7, 2, 2]))[::2]
    (array([2, 7]), array([1, 0, 0]))
    """
    order = values.argsort()
    ordered = values[order]
    is_new = np.ones(len(values), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    which = np.empty_like(order)
    which[order] = is_new.cumsum() - 1
    return ordered[is_new], order[is_new], which


def numbered_pairs(
    left: IntArray, right: IntArray, width: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Number the distinct pairs of two columns of numbers, in order.

    Parameters
    ----------
    left, right
        (N,) numbers; those of the right are less than `width`.
    width
        At least 1.

    Returns
    -------
    left, right, number : arrays
        The distinct pairs, (P,) int64 each, and which of them each place has, (N,) int64.

    Examples
    --------
    >>> numbered_pairs(np.array([1, 0, 1]), np.array([2, 2, 2]), 3)
    (array([0, 1]), array([2, 2]), array([1, 0, 1]))
    """
    numbers = left * np.int64(width) + right
    size = (int(left.max(initial=-1)) + 1) * width
    if size > len(numbers):
        pairs, _, number = distinct(numbers)
        return *np.divmod(pairs, width), number
    found = np.zeros(size, bool)
    found[numbers] = True
    return *np.divmod(np.flatnonzero(found), width), (np.cumsum(found) - 1)[numbers]


def pointers(lengths: Iterable[int]) -> IntArray:
    """Return where each run of these lengths begins, and where the last ends: (n + 1,) int64.

    >>> pointers([3, 0, 2])
    array([0, 3, 3, 5])
    """
    counts = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, np.int64)
    ptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


def ranges(first: IntArray, counts: IntArray) -> IntArray:
    """Return the numbers of ranges, end to end: of each, so many numbers from `first` on.

    >>> ranges(np.array([7, 2]), np.array([2, 3]))
    array([7, 8, 2, 3, 4])
    """
    ptr = pointers(counts)
    return np.repeat(first - ptr[:-1], counts) + np.arange(ptr[-1])


class Rows(NamedTuple):
    """Sparse rows of 8-bit weights, found by feature key."""

    keys: HashArray  # (rows,) uint64, ascending, never 0
    row_ptr: IntArray  # (rows + 1,) int64
    labels: NDArray[np.uint16]  # (cells,), ascending within a row
    weights: NDArray[np.int8]  # (cells,)


class QuantizedWeights(NamedTuple):
    """All weights of a model as multiples of `unit`: whole numbers, or `FORBIDDEN`."""

    emission: Rows  # labels, or their parts
    edge: Rows  # labels are previous * K + current
    trigram: Rows  # key 1 + a * K + b for the labels a, b before; a is K at the start
    start: FloatArray  # (K,) float32
    stop: FloatArray  # (K,) float32
    transition: FloatArray  # (K, K) float32; order 0 ignores it and may have (0, 0)
    unit: float = 1.0


class TagDictionary(NamedTuple):
    """Tag dictionary: labels of known words, by the hash of an attribute of the word."""

    attribute: int  # number of the attribute; -1: any word may have any label
    keys: HashArray  # (words,) uint64, ascending
    row_ptr: IntArray  # (words + 1,) int64
    labels: NDArray[np.uint16]  # ascending within a word


NO_TAG_DICTIONARY = TagDictionary(
    -1, np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint16)
)
"""An empty tag dictionary."""


class LabelsByTags(NamedTuple):
    """Labels that occur in training with each combination of tags, which are input columns.

    For lemmas, words with certain tags are combinations, too, if they occur with one label only.
    """

    # Of none, one or two templates, whose keys stand for the tags of a token, and for these with
    # its word. If both have labels, those of the second count.
    plan: KeyPlan
    keys: HashArray  # (combinations,) uint64, ascending
    row_ptr: IntArray  # (combinations + 1,) int64
    labels: NDArray[np.uint16]  # ascending within a combination


# --------------------------------------------------------------------------- alternatives
class Allowed(NamedTuple):
    """Allowed labels of each token; an empty list allows any."""

    ptr: IntArray  # (N + 1,) int64
    labels: IntArray  # int32: token n may have labels[ptr[n]:ptr[n + 1]]

    def of(self, n: int) -> IntArray:
        """Return the labels listed for one token."""
        return self.labels[self.ptr[n] : self.ptr[n + 1]]


class Margins(NamedTuple):
    """Best label of each token, and its margin over any other label there."""

    labels: IntArray  # (N,) int32: as `decode` gives them
    margin: FloatArray  # (N,) float64, at least 0; inf where there is no other label
    rival: IntArray  # (N,) int32: the label of the best sequence with another one; -1 if none


class Paths(NamedTuple):
    """n best label sequences of sentences, best first."""

    ptr: IntArray  # (S + 1,) int64: sentence s has the sequences ptr[s] to ptr[s + 1]
    score: FloatArray  # (sequences,) float64
    labels: IntArray  # int32: sequences end to end, each as long as its sentence


# --------------------------------------------------------------------------- bigrams
MAX_BIGRAMS = 2**31 - 1
"""Largest number of bigrams, with repetitions: counts have 32 bits."""

MAX_CLASSES = 4096
"""Largest number of word classes: memory grows with its square."""


class Bigrams(NamedTuple):
    """Sparse counts of word bigrams.

    Every text begins and ends with the same word, the boundary: each word is as often the first of
    a bigram as the second.
    """

    ptr: IntArray  # (V + 1,) int64: word v precedes after[ptr[v]:ptr[v + 1]], ascending
    after: IntArray  # int32: words
    counts: IntArray  # int32, at least 1: how often
