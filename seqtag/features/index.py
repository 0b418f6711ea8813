"""Feature index of a corpus: the features of its templates, numbered, and those of each token."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import Instances, KeyPlan, LabelComponents, Layout, LocalRows, pointers
from seqtag.features.encoder import Column, Encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seqtag.features.templates import CompiledTemplates


_COMPACT_FEATURES = 2**26  # from so many on, less memory is worth a little time


class IndexedCorpus(NamedTuple):
    """Joint feature map of a corpus: which cells of w its sentences touch.

    A feature is an attribute of the words (a row) together with a label (a column); `layout` gives
    the place of its weight in w, and `seqtag.engine.reference.phi` counts them.

    Attributes
    ----------
    layout
        Shape of w.
    instances
        The corpus as rows.
    keys, edge_keys
        Feature key of each row, (R,) and (B,) uint64.
    """

    layout: Layout
    instances: Instances
    keys: NDArray[np.uint64]
    edge_keys: NDArray[np.uint64]


def index_corpus(
    compiled: CompiledTemplates,
    columns: Sequence[Column],
    lengths: Sequence[int] | NDArray[np.int64],
    labels: int,
    min_count: int = 1,
    parts: LabelComponents | None = None,
    pieces: NDArray[np.int64] | None = None,
    known: tuple[NDArray[np.uint64], NDArray[np.uint64]] | None = None,
    by_place: bool = False,
) -> IndexedCorpus:
    """Number the features of a corpus.

    Parameters
    ----------
    compiled
        Templates bound to columns.
    columns
        For each of ``compiled.columns`` its numbered values, all sentences end to end.
    lengths
        Tokens per sentence.
    labels
        Number of labels, K.
    min_count
        Less frequent features get no row.
    parts
        Components of labels that emission weights belong to, instead of complete labels.
    pieces
        Tokens per piece of an update, if these are not the sentences. Templates see across the
        ends of pieces, label chains do not.
    known
        Keys of features, and of edge features, that always get a row.
    by_place
        Whether local rows may be found by place if there are many; not with `known`.
    """
    sentence_ptr = pointers(lengths)
    encoder = Encoder(compiled, backend.hash_strings)
    for name, column in zip(compiled.columns, columns, strict=True):
        encoder.extend(name, 0, column.types)
    ids = [np.asarray(column.ids, np.int32) for column in columns]
    types = ids[0][None] if len(ids) == 1 else np.array(ids, np.int32)  # one is not copied
    types = types.reshape(len(ids), int(sentence_ptr[-1]))
    types = encoder.with_phrases(types, sentence_ptr)

    def index(plan: KeyPlan, keep: NDArray[np.uint64] | None) -> _Rows:
        least = min_count if keep is None else 1
        found = _Rows(*backend.index_features(plan, types, encoder.hashes, sentence_ptr, least))
        return found if keep is None else found.without_rare(min_count, keep)

    emission_plan, edge_plan = compiled.key_plans()
    keep, keep_edges = known or (None, None)
    piece_ptr = sentence_ptr if pieces is None else pointers(pieces)
    many = types.shape[1] * len(compiled.templates) >= _COMPACT_FEATURES
    if by_place and many and keep is None and backend.index_by_place is not None:
        keys, runs, rows, numbers = backend.index_by_place(
            emission_plan, types, encoder.hashes, sentence_ptr, min_count
        )
        local = LocalRows(types, sentence_ptr, runs, rows)
        none = np.zeros(0, np.int64), np.zeros(0, np.int32)
        instances = Instances(piece_ptr, *none, local=local, numbers=numbers)
    else:
        keys, token_ptr, features = index(emission_plan, keep)
        instances = Instances(piece_ptr, token_ptr, features)
    edge_keys = np.zeros(0, np.uint64)
    if compiled.edges:
        edge_keys, edge_ptr, edges = index(edge_plan, keep_edges)
        instances = instances._replace(edge_ptr=edge_ptr, edges=edges)
    layout = Layout(len(keys), labels, compiled.order, len(edge_keys), parts)
    return IndexedCorpus(layout, instances, keys, edge_keys)


class _Rows(NamedTuple):
    """Rows of a corpus, as returned by `index_features`."""

    keys: NDArray[np.uint64]
    token_ptr: NDArray[np.int64]
    features: NDArray[np.int32]

    def without_rare(self, min_count: int, keep: NDArray[np.uint64]) -> _Rows:
        """Drop rows below a count, except those with keys to keep; the order stays."""
        counts = np.bincount(self.features, minlength=len(self.keys))
        kept = (counts >= min_count) | np.isin(self.keys, keep, assume_unique=True)
        number = (np.cumsum(kept) - 1).astype(np.int32)
        stays = kept[self.features]
        before = np.concatenate([[0], np.cumsum(stays)])
        return _Rows(
            self.keys[kept],
            before[self.token_ptr].astype(np.int64),
            number[self.features[stays]],
        )
