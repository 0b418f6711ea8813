"""The joint feature map phi(x, y) of templates over sentences: the bridge from text to w."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import Instances, KeyPlan, Layout, Parts, pointers
from seqtag.features.encoder import Column, Encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.features.templates import CompiledTemplates


class JointFeatureMap:
    """The features that templates find in a corpus, numbered: which cells of w a sentence touches.

    A feature is an attribute of the words (a row) together with a label (a column); `layout` says
    where its weight is in w, and `seqtag.engine.reference.phi` counts them.

    Parameters
    ----------
    compiled
        Templates bound to columns.
    emission_plan, edge_plan
        Their key plans.
    columns
        For each of ``compiled.columns`` its numbered values, all sentences end to end.
    lengths
        Tokens per sentence.
    labels
        Number of labels, K.
    order
        0, 1 for label bigrams, 2 for trigrams.
    min_count
        Features seen less often get no row.
    parts
        Parts of the labels that emission weights belong to, if they do.

    Attributes
    ----------
    layout : Layout
    instances : Instances
        The corpus as rows.
    keys, edge_keys : (R,) and (B,) uint64
        Feature key of each row.
    """

    def __init__(
        self,
        compiled: CompiledTemplates,
        emission_plan: KeyPlan,
        edge_plan: KeyPlan,
        columns: Sequence[Column],
        lengths: Sequence[int] | np.ndarray,
        labels: int,
        order: int,
        min_count: int = 1,
        parts: Parts | None = None,
    ):
        sentence_ptr = pointers(lengths)
        encoder = Encoder(compiled, backend.hash_strings)
        for name, column in zip(compiled.columns, columns, strict=True):
            encoder.extend(name, 0, column.types)
        types = np.array([column.ids for column in columns], np.int32)
        types = types.reshape(len(columns), int(sentence_ptr[-1]))

        def index(plan: KeyPlan) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return backend.index_features(plan, types, encoder.hashes, sentence_ptr, min_count)

        self.keys, token_ptr, features = index(emission_plan)
        self.instances = Instances(sentence_ptr, token_ptr, features)
        self.edge_keys = np.zeros(0, np.uint64)
        if compiled.transitions:
            self.edge_keys, edge_ptr, edges = index(edge_plan)
            self.instances = self.instances._replace(edge_ptr=edge_ptr, edges=edges)
        self.layout = Layout(len(self.keys), labels, order, len(self.edge_keys), parts)
