"""Small instances for hypothesis, larger random ones, and the backends to run them on."""

from __future__ import annotations

import importlib.util
import io
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqtag.corpus import Sentence, read
from seqtag.engine import backend as backends
from seqtag.engine.arrays import (
    FORBIDDEN,
    Cells,
    Instances,
    LabelComponents,
    Layout,
    Potentials,
    Rows,
    pointers,
)
from tests import brute_force

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seqtag.engine.interface import Backend

REFERENCE = backends.get("reference")
"""The readable twin of the kernel: the same bits, without its checks of arguments."""
NATIVE = backends.get("native") if importlib.util.find_spec("seqtag.engine._kernel") else None

# For tests that are run for each of many combinations: a quarter of the profile's examples each.
FEW = settings(max_examples=settings().max_examples // 4)

needs_native = pytest.mark.skipif(NATIVE is None, reason="the native kernel was not built")
_NATIVE_PARAMETER = pytest.param(NATIVE, id="native", marks=needs_native)
each_backend = pytest.mark.parametrize(
    "backend", [pytest.param(REFERENCE, id="reference"), _NATIVE_PARAMETER]
)
kernel_alone = pytest.mark.parametrize("backend", [_NATIVE_PARAMETER])
"""For arguments that only the kernel refuses."""


def install(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the whole package run on a backend."""
    names = (
        *("Weights", "Decoder", "index_features", "index_by_place", "drop_features"),
        *("hash_strings", "Scanner", "WordScanner", "json_sentences"),
        *("BigramCounter", "ExchangeClustering", "entropies"),
    )
    for name in names:
        monkeypatch.setattr(backends, name, getattr(backend, name))


def label_ids(decoder, *sentences) -> np.ndarray:
    """Labels of encoded sentences by a Decoder of either backend."""
    return decoder.decode(*sentences, decoder.workspace())


def corpus(text: str, columns: str = "form tag") -> list[Sentence]:
    """Sentences of a column file, written "the DT, cat NN; a DT" for short."""
    lines = text.replace("; ", "\n\n").replace(", ", "\n")
    return list(read(io.BytesIO(lines.encode()), "columns", columns=columns.split()))


# ----------------------------------------------------------------- potentials
small_integers = st.integers(-3, 3)
words = st.text("abAB1-é\ud800", max_size=4)


def integer_arrays(*shape: int, elements=small_integers) -> st.SearchStrategy[np.ndarray]:
    """float64 arrays of small whole numbers."""
    return arrays(np.int64, shape, elements=elements).map(lambda a: a.astype(np.float64))


@st.composite
def potentials(draw, forbidden: bool = False) -> Potentials:
    """Whole-number potentials, T 0-5, K 1-4, first or second order.

    The transitions may depend on the position; on request some of them are FORBIDDEN.
    """
    T, K = draw(st.integers(0, 5)), draw(st.integers(1, 4))
    shape = draw(st.sampled_from([(K, K), (T, K, K)]))
    p = Potentials(*(draw(integer_arrays(*s)) for s in ((T, K), (K,), (K,), shape)))
    if draw(st.booleans()):
        p = p._replace(trigram=draw(integer_arrays(K + 1, K, K)))
    if forbidden:
        never = draw(integer_arrays(*shape, elements=st.integers(0, 1))) == 1
        p = p._replace(transition=np.where(never, FORBIDDEN, p.transition))
    return p


# ----------------------------------------------------------------- arrays
def int32(*numbers: object) -> np.ndarray:
    return np.array(numbers, np.int32)


def sparse_rows(names: np.ndarray, matrix: np.ndarray) -> Rows:
    """Rows with these keys, ascending, of a matrix."""
    row, label = np.nonzero(matrix)
    ptr = pointers(np.bincount(row, minlength=len(matrix)))
    return Rows(names, ptr, label.astype(np.uint16), matrix[row, label].astype(np.int8))


NO_ROWS = sparse_rows(np.zeros(0, np.uint64), np.zeros((0, 1)))


def changed(array: np.ndarray) -> Iterator[np.ndarray]:
    """Arrays of another length or order, of zeros, or with a number out of range."""
    if not array.size:
        yield np.ones((1, *array.shape[1:]), array.dtype)
        return
    yield array[:-1].copy()
    yield np.concatenate([array, array[-1:]])
    yield array[::-1].copy()
    yield np.zeros_like(array)
    for place in (0, -1):
        for value in (-1, 1000):
            other = array.copy()
            other.flat[place] = np.array(value).astype(array.dtype)
            yield other


# ----------------------------------------------------------------- labels made of parts
def make_parts(labels: list[list[int]]) -> LabelComponents:
    """Components of labels given as lists of parts."""
    ptr, part = _ragged(labels)
    return LabelComponents(ptr, part, int(part.max()) + 1)


@st.composite
def parts_of_labels(draw, K: int) -> LabelComponents:
    """One to three parts for each of K labels, out of one to four."""
    part = st.integers(0, draw(st.integers(0, 3)))
    label = st.lists(part, min_size=1, max_size=3, unique=True)
    return make_parts(draw(st.lists(label, min_size=K, max_size=K)))


# ----------------------------------------------------------------- labels left open
@st.composite
def choices_of(draw, labels: int) -> np.ndarray:
    """One to three choices of labels, of at least one label each."""
    fine = draw(arrays(bool, (draw(st.integers(1, 3)), labels)))
    fine[np.arange(len(fine)), draw(st.integers(0, labels - 1))] = True
    return fine


def opened(data, y, choices) -> np.ndarray:
    """Gold labels, some of them left open."""
    number = st.integers(-len(choices), 0)
    drawn = np.array(data.draw(st.lists(number, min_size=len(y), max_size=len(y))), np.int32)
    return np.where(drawn < 0, drawn, y).astype(np.int32)


# ----------------------------------------------------------------- instances
class Case(NamedTuple):
    """A little corpus with gold labels, and the shape of its weights."""

    layout: Layout
    x: Instances
    y: np.ndarray

    def sentence(self, s: int) -> list[tuple]:
        """Tokens as (rows, values, edge rows): plain numbers, as `tests.brute_force` wants them."""
        x = self.x
        found = []
        for n in range(x.sentence_ptr[s], x.sentence_ptr[s + 1]):
            span = slice(x.token_ptr[n], x.token_ptr[n + 1])
            rows = x.features[span].tolist()
            values = [1.0] * len(rows) if x.values is None else x.values[span].tolist()
            edges = [] if x.edges is None else x.edges[x.edge_ptr[n] : x.edge_ptr[n + 1]].tolist()
            found.append((rows, values, edges))
        return found

    def gold(self, s: int) -> np.ndarray:
        return self.y[self.x.sentence_ptr[s] : self.x.sentence_ptr[s + 1]]

    def cells_of(self, s: int, y) -> dict[int, float]:
        """Return phi(x, y) of sentence s from a plain loop, {cell: count}."""
        rows, K, order, _, parts = self.layout
        listed = None if parts is None else [parts.of(j).tolist() for j in range(K)]
        return brute_force.cells_of(rows, K, self.sentence(s), y, order, listed)

    @property
    def all_sentences(self) -> np.ndarray:
        return np.arange(len(self.x.sentence_ptr) - 1, dtype=np.int64)


def _ragged(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Pointers and the rows end to end."""
    return pointers(map(len, rows)), np.array([r for row in rows for r in row], np.int32)


@st.composite
def cases(draw, order: int | None = None, with_values: bool | None = None) -> Case:
    """One to four sentences, T 0-5, K 1-4; with or without edges, label parts, label trigrams.

    Values, if any, are quarters: exact.
    """
    K, R = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    order = draw(st.integers(0, 2)) if order is None else order
    parts = draw(st.none() | parts_of_labels(K))
    B = draw(st.integers(0, 2)) if order else 0
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    N = sum(lengths)

    def rows(count: int) -> list[list[int]]:
        row = st.lists(st.integers(0, count - 1), max_size=3, unique=True)
        return draw(st.lists(row, min_size=N, max_size=N))

    token_ptr, features = _ragged(rows(R))
    x = Instances(pointers(lengths), token_ptr, features)
    if draw(st.booleans()) if with_values is None else with_values:
        quarters = integer_arrays(len(features), elements=st.integers(-8, 8))
        x = x._replace(values=draw(quarters) / 4)
    if B:
        edge_ptr, edges = _ragged(rows(B))
        x = x._replace(edge_ptr=edge_ptr, edges=edges)
    y = draw(arrays(np.int32, N, elements=st.integers(0, K - 1)))
    return Case(Layout(R, K, order, B, parts), x, y)


def random_case(
    random: np.random.RandomState,
    K: int,
    order: int = 1,
    B: int = 0,
    values: bool = False,
    sentences: int = 12,
    longest: int = 40,
    R: int = 60,
    per_token: int = 8,
    parts: LabelComponents | None = None,
) -> Case:
    """A corpus too large to enumerate; gold labels follow from the features, with noise."""
    lengths = random.randint(0, longest + 1, sentences)
    N = int(lengths.sum())
    rows = [
        sorted(random.choice(R, random.randint(0, per_token + 1), replace=False)) for _ in range(N)
    ]
    token_ptr, features = _ragged(rows)
    x = Instances(pointers(lengths), token_ptr, features)
    if values:
        x = x._replace(values=random.randint(-8, 9, len(features)) / 4)
    if B:
        edge_ptr, edges = _ragged(
            [list(random.choice(B, random.randint(0, B), replace=False)) for _ in range(N)]
        )
        x = x._replace(edge_ptr=edge_ptr, edges=edges)
    y = np.array([(sum(row) + (random.rand() < 0.2)) % K for row in rows], np.int32)
    return Case(Layout(R, K, order, B, parts), x, y)


def dense(cells: Cells, layout: Layout) -> np.ndarray:
    """The flat weight vector that the cells describe, (layout.size,) float64."""
    R, K, B = layout.rows, layout.labels, layout.edges
    emission, edge = np.zeros((R, layout.width)), np.zeros((B, K * K))
    trigram = np.zeros(((K + 1) * K if layout.order == 2 else 0, K))
    for matrix, ptr, label, weight in (
        (emission, cells.row_ptr, cells.label, cells.weight),
        (edge, cells.edge_ptr, cells.edge_label, cells.edge_weight),
        (trigram, cells.trigram_ptr, cells.trigram_label, cells.trigram_weight),
    ):
        assert len(ptr) == len(matrix) + 1
        for row in range(len(matrix)):
            span = slice(ptr[row], ptr[row + 1])
            matrix[row, label[span]] = weight[span]
    return np.concatenate([emission.ravel(), cells.chain, trigram.ravel(), edge.ravel()])
