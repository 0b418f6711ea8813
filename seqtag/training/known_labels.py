"""Words that keep to the labels they had in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import KnownLabels, pointers
from seqtag.features.encoder import Column
from seqtag.model.known_words import known_attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.features.templates import CompiledTemplates


def labels_of_known_words(
    compiled: CompiledTemplates, columns: Sequence[Column], y: np.ndarray, min_count: int
) -> KnownLabels:
    """The labels that words seen at least `min_count` times had, by the words' normal forms."""
    attribute = known_attribute(compiled)
    words = columns[compiled.columns.index("form")]
    normal = Column.of(str(value) for value in compiled.apply_many(attribute, words.types))
    form = normal.ids[words.ids]
    often = np.flatnonzero(np.bincount(form) >= min_count)
    keys = backend.hash_strings([normal.types[i] for i in often])
    ascending = np.argsort(keys)
    width = int(y.max()) + 1
    pairs = np.unique(form * np.int64(width) + y)  # in order of the form, then of the label
    begin = np.searchsorted(pairs, np.arange(len(normal.types) + 1) * width)
    labels = [pairs[begin[i] : begin[i + 1]] % width for i in often[ascending].tolist()]
    flat = np.concatenate([*labels, np.zeros(0, np.int64)]).astype(np.uint16)
    return KnownLabels(attribute, keys[ascending], pointers(map(len, labels)), flat)
