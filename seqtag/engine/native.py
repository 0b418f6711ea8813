"""The native kernel behind the interface of the reference: same names, same arguments."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine import reference
from seqtag.engine.arrays import ANY_LABEL, FrozenWeights, KeyPlan, KnownLabels, pointers

if TYPE_CHECKING:
    from types import ModuleType


def _load() -> ModuleType:
    """The kernel for the widest vectors of this machine; SEQTAG_VECTORS=16 asks for narrow ones."""
    from seqtag.engine import _kernel

    if os.environ.get("SEQTAG_VECTORS") == "16" or not _kernel.has_avx2():
        return _kernel
    try:
        from seqtag.engine import _kernel_avx2
    except ImportError:  # not every compiler builds it
        return _kernel
    return _kernel_avx2


_kernel = _load()
_NO_PARTS = (None, None, 0)
MAX_DENSE_LABELS = 100  # beyond, rows hold only the cells ever updated


def hash_strings(values: list[str]) -> np.ndarray:
    """Hash of each string: (n,) uint64."""
    encoded = [value.encode("utf-8", "surrogatepass") for value in values]
    return _kernel.hash_strings(b"".join(encoded), pointers(map(len, encoded)))


def index_features(
    plan: KeyPlan, types: np.ndarray, hashes: np.ndarray, sentence_ptr: np.ndarray, min_count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number the features of a corpus: (keys of the rows, token_ptr, features)."""
    return _kernel.index_features(_kernel.Plan(*plan), types, hashes, sentence_ptr, min_count)


class Weights:
    """Weights in training; see `seqtag.engine.reference.Weights`."""

    def __init__(self, layout: reference.Layout, dtype: str = "float32", rule: str = "adaptive"):
        self._dtype = np.dtype(dtype)
        kind = _kernel.Weights32 if self._dtype == np.float32 else _kernel.Weights64
        sparse = layout.width > MAX_DENSE_LABELS
        self._weights = kind(
            layout.rows,
            layout.labels,
            layout.order,
            layout.edges,
            *(layout.parts or _NO_PARTS),
            rule == "adaptive",
            sparse,
        )

    def train_epoch(
        self,
        x: reference.Instances,
        y: np.ndarray,
        order: np.ndarray,
        rule: str = "perceptron",
        step: float = 1.0,
        cost: np.ndarray | None = None,
        ties_are_mistakes: bool = False,
        out_mistakes: list[reference.Mistakes] | None = None,
    ) -> tuple[int, int]:
        """Visit the sentences in the given order; return (updates, wrong tokens)."""
        cost = None if cost is None else np.ascontiguousarray(cost, self._dtype)
        updates, wrong, *mistakes = self._weights.train_epoch(
            *self._arrays(x),
            y,
            order,
            rule,
            step,
            cost,
            ties_are_mistakes,
            out_mistakes is not None,
        )
        if out_mistakes is not None:
            out_mistakes.append(reference.Mistakes(*mistakes))
        return updates, wrong

    def decode(self, x: reference.Instances) -> np.ndarray:
        """Best labels (N,) int32 of every token under the current weights."""
        return self._weights.decode(*self._arrays(x))

    def cells(self, average: bool = False) -> reference.Cells:
        """The weights that are not zero, of w or of its average."""
        return reference.Cells(*self._weights.cells(average))

    @property
    def seen(self) -> int:
        """Sentences finished so far."""
        return self._weights.seen

    def _arrays(self, x: reference.Instances) -> tuple:
        values = None if x.values is None else np.ascontiguousarray(x.values, self._dtype)
        return x.sentence_ptr, x.token_ptr, x.features, values, x.edge_ptr, x.edges


class Frozen:
    """Decodes encoded sentences with frozen weights; see `seqtag.engine.frozen.Frozen`."""

    def __init__(
        self,
        order: int,
        plan: KeyPlan,
        edge_plan: KeyPlan,
        weights: FrozenWeights,
        parts: reference.Parts | None = None,
        known: KnownLabels = ANY_LABEL,
    ):
        plans = _kernel.Plan(*plan), _kernel.Plan(*edge_plan)
        *rows, start, stop, transition, _ = weights
        self._frozen = _kernel.Frozen(
            len(start),
            order,
            *plans,
            *chain.from_iterable(rows),
            start,
            stop,
            transition,
            *(parts or _NO_PARTS),
            *known,
        )

    def workspace(self) -> object:
        """Memory for one thread and one numbering of the types; see `seqtag.engine.frozen.Frozen`."""
        return self._frozen.workspace()

    def decode(
        self,
        types: np.ndarray,
        hashes: np.ndarray,
        sentence_ptr: np.ndarray,
        workspace: object,
    ) -> np.ndarray:
        """Label ids (tokens,) int32 of encoded sentences."""
        return self._frozen.decode(types, hashes, sentence_ptr, workspace)


Scanner = _kernel.Scanner
