"""Words that keep to the labels they had in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import ANY_LABEL, KnownLabels, pointers
from seqtag.features.encoder import Column
from seqtag.model.known_words import known_attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.features.templates import CompiledTemplates


class WordLabels(NamedTuple):
    """The labels that words had, by the hash of their normal form; sums over several corpora.

    Attributes
    ----------
    attribute
        Number of the attribute of the normal form.
    keys
        (words,) uint64, ascending.
    counts
        How often each word has a label, (words,) int64.
    row_ptr, labels
        The labels of each, ascending: (words + 1,) int64, uint16.
    """

    attribute: int
    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    row_ptr: NDArray[np.int64]
    labels: NDArray[np.uint16]

    def kept_to(self, known_labels: int | str, labels: Sequence[str]) -> KnownLabels:
        """What the setting ``known-labels`` says, which is not ``auto``; `labels` by number."""
        if isinstance(known_labels, str):
            return to_first_parts(self.often(1), labels)
        return self.often(known_labels) if known_labels else ANY_LABEL

    def often(self, min_count: int) -> KnownLabels:
        """Those of words seen so often."""
        kept = self.counts >= min_count
        lengths = np.diff(self.row_ptr)
        return KnownLabels(
            self.attribute,
            self.keys[kept],
            pointers(lengths[kept]),
            self.labels[np.repeat(kept, lengths)],
        )

    @classmethod
    def sum(cls, corpora: Sequence[WordLabels]) -> WordLabels:
        """Those of several corpora, at least one, whose labels have the same numbers."""
        keys, which = np.unique(np.concatenate([c.keys for c in corpora]), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, which, np.concatenate([c.counts for c in corpora]))
        lengths = np.concatenate([np.diff(c.row_ptr) for c in corpora])
        pairs = np.stack([np.repeat(which, lengths), np.concatenate([c.labels for c in corpora])])
        word, label = np.unique(pairs, axis=1)
        row_ptr = pointers(np.bincount(word, minlength=len(keys)))
        return cls(corpora[0].attribute, keys, counts, row_ptr, label.astype(np.uint16))


def first_parts(labels: Sequence[str]) -> np.ndarray:
    """For each label the number of its first part, ``NOUN`` of ``NOUN|Case=Nom``.

    >>> first_parts(["ADJ", "NOUN", "NOUN|Case=Nom"]).tolist()
    [0, 1, 1]
    """
    number: dict[str, int] = {}
    return np.array(
        [number.setdefault(label.partition("|")[0], len(number)) for label in labels], np.int64
    )


def to_first_parts(known: KnownLabels, labels: Sequence[str]) -> KnownLabels:
    """The same words, with all labels whose first part one of theirs has."""
    first = first_parts(labels)
    alike = [np.flatnonzero(first == part) for part in range(int(first.max(initial=-1)) + 1)]
    found: dict[tuple[int, ...], np.ndarray] = {}  # many words have the same parts
    rows = []
    for row in np.split(first[known.labels], known.row_ptr[1:-1])[: len(known.keys)]:
        parts = tuple(np.unique(row).tolist())
        if parts not in found:
            found[parts] = np.sort(np.concatenate([alike[part] for part in parts]))
        rows.append(found[parts])
    flat = np.concatenate([*rows, np.zeros(0, np.int64)]).astype(np.uint16)
    return KnownLabels(known.attribute, known.keys, pointers(map(len, rows)), flat)


def labels_of_words(
    compiled: CompiledTemplates,
    columns: Sequence[Column],
    y: np.ndarray,
    choices: np.ndarray | None = None,
) -> WordLabels:
    """The labels that words had, by the words' normal forms.

    Words without a label are not counted; where there is a choice, all of it counts.
    """
    attribute = known_attribute(compiled)
    words = columns[compiled.columns.index("form")]
    normal = Column.of(str(value) for value in compiled.apply_many(attribute, words.types))
    form = normal.ids[words.ids]
    token, label = _labels_of_tokens(y, choices)
    counts = np.bincount(form[np.unique(token)], minlength=len(normal.types))
    seen = np.flatnonzero(counts)
    keys = backend.hash_strings([normal.types[i] for i in seen])
    ascending = np.argsort(keys)
    width = int(label.max(initial=0)) + 1
    pairs = np.unique(form[token] * np.int64(width) + label)  # in order of form, then of label
    begin = np.searchsorted(pairs, np.arange(len(normal.types) + 1) * width)
    labels = [pairs[begin[i] : begin[i + 1]] % width for i in seen[ascending].tolist()]
    flat = np.concatenate([*labels, np.zeros(0, np.int64)]).astype(np.uint16)
    return WordLabels(
        attribute, keys[ascending], counts[seen][ascending], pointers(map(len, labels)), flat
    )


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
