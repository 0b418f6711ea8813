"""The native kernel behind the interface of the reference: same names, same arguments."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import (
    ANY_LABEL,
    Allowed,
    Bigrams,
    BoolArray,
    Cells,
    CellStates,
    Cost,
    FloatArray,
    HashArray,
    Instances,
    IntArray,
    KeyPlan,
    KnownLabels,
    Layout,
    Margins,
    Mistakes,
    Parts,
    Paths,
    Pause,
    QuantizedWeights,
    State,
    pointers,
)
from seqtag.engine.checks import no_room

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray


def _load() -> ModuleType:
    """The kernel for the widest vectors of this machine; SEQTAG_VECTORS=16 asks for narrow ones."""
    from seqtag.engine import _kernel

    if os.environ.get("SEQTAG_VECTORS") == "16" or not _kernel.has_avx2():
        return _kernel
    try:
        return import_module("seqtag.engine._kernel_avx2")
    except ImportError:  # not every compiler builds it
        return _kernel


if TYPE_CHECKING:
    from seqtag.engine import _kernel
else:
    _kernel = _load()


def draw_secret() -> None:
    """Let nobody who writes texts or models know where in a hash table of the kernel they go."""
    _kernel.draw_secret(*np.frombuffer(os.urandom(16), np.uint64).tolist())


draw_secret()


def hash_strings(values: Sequence[str]) -> HashArray:
    """Hash of each string: (n,) uint64."""
    encoded = [value.encode("utf-8", "surrogatepass") for value in values]
    return _kernel.hash_strings(b"".join(encoded), pointers(map(len, encoded)))


def index_features(
    plan: KeyPlan, types: IntArray, hashes: HashArray, sentence_ptr: IntArray, min_count: int
) -> tuple[HashArray, IntArray, IntArray]:
    """Number the features of a corpus: (keys of the rows, token_ptr, features)."""
    plain = _kernel.Plan(*plan), types, hashes, sentence_ptr, min_count
    return _kernel.index_features(*plain, bundled=False)[:3]


def bundle_features(
    plan: KeyPlan, types: IntArray, hashes: HashArray, sentence_ptr: IntArray, min_count: int
) -> tuple[HashArray, IntArray, IntArray, IntArray, IntArray]:
    """The same with bundles: (keys of the rows, token_ptr, features, bundle_ptr, bundles)."""
    bundled = _kernel.Plan(*plan), types, hashes, sentence_ptr, min_count
    return _kernel.index_features(*bundled, bundled=True)


def drop_features(
    token_ptr: IntArray,
    features: IntArray,
    shares: NDArray[np.float64],
    random: np.random.RandomState,
) -> tuple[IntArray, IntArray]:
    """A corpus without some of its features, drawn at random: (token_ptr, features)."""
    state = random.get_state(legacy=False)["state"]
    return _kernel.drop_features(token_ptr, features, shares, state["key"], state["pos"])


class Weights:
    """Weights in training; see `seqtag.engine.reference.Weights`."""

    def __init__(
        self,
        layout: Layout,
        dtype: str = "float32",
        rule: str = "adaptive",
        state: State | None = None,
    ):
        self._layout, self._dtype = layout, np.dtype(dtype)
        kind = _kernel.Weights32 if self._dtype == np.float32 else _kernel.Weights64
        try:
            self._weights = kind(
                layout.rows,
                layout.labels,
                layout.order,
                layout.edges,
                layout.parts,
                rule == "adaptive",
                layout.sparse,
            )
        except MemoryError as error:
            raise no_room(layout) from error
        if state is not None:
            self._weights.restore(
                self._cell_states(state.emission),
                self._cell_states(state.edge),
                self._cell_states(state.trigram),
                self._numbers(state.chain),
                state.seen,
            )

    def _cell_states(self, cells: CellStates) -> CellStates:
        """Cells of a state, in numbers of the type that the weights have."""
        w, u, g = self._numbers(cells.w), self._numbers(cells.u), self._numbers(cells.g)
        return cells._replace(w=w, u=u, g=g)

    def _numbers(self, values: FloatArray) -> FloatArray:
        """Numbers of the type that the weights have."""
        return np.ascontiguousarray(values, self._dtype)

    def train_epoch(
        self,
        x: Instances,
        y: IntArray,
        visits: IntArray,
        rule: str = "perceptron",
        step: float = 1.0,
        cost: Cost | None = None,
        ties_are_mistakes: bool = False,
        out_mistakes: list[Mistakes] | None = None,
        choices: BoolArray | None = None,
        pause: Pause | None = None,
    ) -> tuple[int, int]:
        """Visit the sentences of these numbers one by one; return (updates, wrong tokens)."""
        margin, costs = 0.0, None
        if isinstance(cost, np.ndarray):
            costs = self._numbers(cost)
        elif cost is not None:
            margin = float(cost)
        try:
            updates, wrong, *mistakes = self._weights.train_epoch(
                *self._arrays(x),
                y,
                visits,
                rule,
                step,
                margin,
                costs,
                ties_are_mistakes,
                out_mistakes is not None,
                None if choices is None else np.ascontiguousarray(choices, np.uint8),
                None if pause is None else pause.asked,
                0.0 if pause is None else pause.every,
                x.bundle_ptr,
                x.bundles,
            )
        except MemoryError as error:
            raise no_room(self._layout) from error
        if out_mistakes is not None:
            out_mistakes.append(Mistakes(*mistakes))
        return updates, wrong

    def decode(self, x: Instances) -> IntArray:
        """Best labels (N,) int32 of every token under the current weights."""
        return self._weights.decode(*self._arrays(x), x.bundle_ptr, x.bundles)

    def cells(self, average: bool = False) -> Cells:
        """The weights that are not zero, of w or of its average."""
        return Cells(*self._weights.cells(average))

    def state(self) -> State:
        """All that is known: weights made from it go on as these do, to the last bit."""
        emission, edge, trigram, chain, seen = self._weights.state()
        return State(
            CellStates(*emission),
            CellStates(*edge),
            CellStates(*trigram),
            chain,
            seen,
        )

    @property
    def seen(self) -> int:
        """Sentences finished so far."""
        return self._weights.seen

    def _arrays(
        self, x: Instances
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray | None, IntArray | None, IntArray | None]:
        """The arrays of a corpus, values of the type that the weights have."""
        values = None if x.values is None else self._numbers(x.values)
        return x.sentence_ptr, x.token_ptr, x.features, values, x.edge_ptr, x.edges


class Decoder:
    """Decodes encoded sentences with frozen weights; see `seqtag.engine.frozen.Decoder`."""

    def __init__(
        self,
        order: int,
        plan: KeyPlan,
        edge_plan: KeyPlan,
        weights: QuantizedWeights,
        parts: Parts | None = None,
        known: KnownLabels = ANY_LABEL,
    ):
        plans = _kernel.Plan(*plan), _kernel.Plan(*edge_plan)
        self._decoder = _kernel.Frozen(
            order,
            *plans,
            weights.emission,
            weights.edge,
            weights.trigram,
            weights.start,
            weights.stop,
            weights.transition,
            parts,
            known,
        )

    def workspace(self) -> _kernel.Workspace:
        """Memory for one thread and one numbering of the types."""
        return self._decoder.workspace()

    def decode(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        workspace: _kernel.Workspace,
        allowed: Allowed | None = None,
    ) -> IntArray:
        """Label ids (tokens,) int32 of encoded sentences."""
        return self._decoder.decode(types, hashes, sentence_ptr, workspace, allowed)

    def margins(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        groups: IntArray,
        workspace: _kernel.Workspace,
        allowed: Allowed | None = None,
    ) -> Margins:
        """Label ids of encoded sentences, and how much better they are than any others."""
        found = self._decoder.margins(types, hashes, sentence_ptr, groups, workspace, allowed)
        return Margins(*found)

    def n_best(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        n: int,
        workspace: _kernel.Workspace,
        allowed: Allowed | None = None,
    ) -> Paths:
        """The n best label sequences of each of some encoded sentences."""
        return Paths(*self._decoder.n_best(types, hashes, sentence_ptr, n, workspace, allowed))


class BigramCounter:
    """Counts which words stand side by side; see `seqtag.engine.clustering.BigramCounter`."""

    def __init__(self) -> None:
        self._counter = _kernel.BigramCounter()

    def add(self, words: IntArray, sentence_ptr: IntArray) -> None:
        """Count the bigrams of some sentences."""
        self._counter.add(words, sentence_ptr)

    @property
    def total(self) -> int:
        """Bigrams counted, all repetitions too."""
        return self._counter.total

    def counts(self, words: int) -> IntArray:
        """How often each of the first words was counted: (words,) int64."""
        return self._counter.counts(words)

    def table(self, numbers: IntArray) -> Bigrams:
        """The table of all bigrams, with other numbers for the words."""
        return Bigrams(*self._counter.table(numbers))


ExchangeClustering = _kernel.Exchange
Scanner = _kernel.Scanner
TokenScanner = _kernel.TokenScanner
write_sentences = _kernel.write_sentences
Values = _kernel.Values
label_lists = _kernel.label_lists
Characters = _kernel.Characters
hash_attributes = _kernel.hash_attributes
