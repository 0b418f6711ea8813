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
    compiled: CompiledTemplates,
    columns: Sequence[Column],
    y: np.ndarray,
    min_count: int,
    choices: np.ndarray | None = None,
) -> KnownLabels:
    """The labels that words seen at least `min_count` times had, by the words' normal forms.

    Words without a label are not counted; where there is a choice, all of it counts.
    """
    attribute = known_attribute(compiled)
    words = columns[compiled.columns.index("form")]
    normal = Column.of(str(value) for value in compiled.apply_many(attribute, words.types))
    form = normal.ids[words.ids]
    token, label = _labels_of_tokens(y, choices)
    counts = np.bincount(form[np.unique(token)], minlength=len(normal.types))
    often = np.flatnonzero(counts >= min_count)
    keys = backend.hash_strings([normal.types[i] for i in often])
    ascending = np.argsort(keys)
    width = int(label.max(initial=0)) + 1
    pairs = np.unique(form[token] * np.int64(width) + label)  # in order of form, then of label
    begin = np.searchsorted(pairs, np.arange(len(normal.types) + 1) * width)
    labels = [pairs[begin[i] : begin[i + 1]] % width for i in often[ascending].tolist()]
    flat = np.concatenate([*labels, np.zeros(0, np.int64)]).astype(np.uint16)
    return KnownLabels(attribute, keys[ascending], pointers(map(len, labels)), flat)


def _labels_of_tokens(y: np.ndarray, choices: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of tokens, and a label of each; several times those that have several."""
    tokens, labels = [np.flatnonzero(y >= 0)], [y[y >= 0]]
    for number, fine in enumerate(choices if choices is not None else ()):
        if fine.all():
            continue
        here, several = np.flatnonzero(y == -1 - number), np.flatnonzero(fine)
        tokens.append(np.repeat(here, len(several)))
        labels.append(np.tile(several, len(here)))
    return np.concatenate(tokens), np.concatenate(labels)
