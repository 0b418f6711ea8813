"""Taggers of feature dicts, with the trainer and the decoder of `seqtag.Tagger`.

The features of a model file are made by templates over columns; they have the value 1 and integer
weights. A dict has any number of features of any value, so its model is not a model file: it has
the names of the features and weights in floating point. It pickles by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import FORBIDDEN, Cells, Instances, LabelComponents, Layout, State
from seqtag.errors import SeqtagError
from seqtag.evaluation.report import Report, evaluate
from seqtag.features.encoder import Column
from seqtag.features.index import IndexedCorpus
from seqtag.features.items import Names, index_items
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import component_names, label_components
from seqtag.model.freeze import mean
from seqtag.training.data import TrainingData
from seqtag.training.online import OnlineWeights, learned_ids
from seqtag.training.runs import train_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.reference import Weights
    from seqtag.settings import Settings
    from seqtag.training.runs import Schedule

Items = list[list[Any]]
"""Sentences of tokens as `seqtag.features.items.attributes_of` takes them."""


class ItemTagger:
    """Tagger of sentences of feature dicts.

    Parameters
    ----------
    names
        Row of each attribute.
    labels
        Labels in the encoding of training; their indices are their ids.
    coding
        Conversion between labels as written and as learned.
    layout, cells
        Shape of the weights, and the weights.
    """

    def __init__(
        self, names: Names, labels: Sequence[str], coding: LabelCoding, layout: Layout, cells: Cells
    ):
        self.names, self.labels, self.coding = names, list(labels), coding
        self.layout, self.cells = layout, cells
        self._weights = self._engine_weights()

    @property
    def label_scheme(self) -> str | None:
        """Scheme in which its labels are written, if they are chunk labels."""
        return self.coding.scheme

    def tag_many(self, sentences: Iterable[Sequence[Any]]) -> list[list[str]]:
        """Return the labels of sentences; features not seen in training are ignored.

        Raises
        ------
        CorpusError
            If a token is no feature dict, list or set.
        """
        x = index_items(sentences, self.names, grow=False)
        found = list(map(self.labels.__getitem__, self._weights.decode(x).tolist()))
        return [self.coding.decode(found[a:b]) for a, b in pairwise(x.sentence_ptr.tolist())]

    def state_features(self) -> dict[tuple[str, str], float]:
        """Return the nonzero weights by (attribute, label); for label components, by component."""
        row = np.repeat(np.arange(len(self.names)), np.diff(self.cells.row_ptr)).tolist()
        names = list(self.names)
        columns = self.labels if self.layout.parts is None else component_names(self.labels)
        cells = zip(row, self.cells.label.tolist(), self.cells.weight.tolist(), strict=True)
        return {(names[i], columns[j]): weight for i, j, weight in cells}

    def transition_features(self) -> dict[tuple[str, str], float]:
        """Return the nonzero weights by (label, next label)."""
        labels = self.labels
        weights = self.cells.chain[2 * len(labels) :].reshape(-1, len(labels))
        previous, current = np.nonzero(weights)
        return {
            (labels[i], labels[j]): float(weights[i, j])
            for i, j in zip(previous.tolist(), current.tolist(), strict=True)
        }

    # ----------------------------------------------------------------- private
    def _engine_weights(self) -> Weights:
        """Return the engine's weights, with the transitions that the label coding forbids."""
        chain = self.cells.chain.copy()
        legal = self.coding.allowed(self.labels)
        if legal is not None and self.layout.order:
            start, transition, stop = legal
            may = np.concatenate([start, stop, transition.ravel()])
            chain[~may] = FORBIDDEN
        state = State.start(self.cells._replace(chain=chain))
        return backend.Weights(self.layout, "float32", "perceptron", state)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_weights"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._weights = self._engine_weights()


@dataclass(frozen=True)
class ItemTask:
    """Problem of learning from feature dicts: a `seqtag.training.runs.Trainable`."""

    settings: Settings
    corpus: IndexedCorpus
    y: NDArray[np.int32]
    names: Names
    labels: Sequence[str]
    coding: LabelCoding
    start: None = None
    choices: None = None

    @classmethod
    def of(
        cls,
        sentences: Items,
        gold: Sequence[Sequence[str]],
        settings: Settings,
        order: int,
        *,
        constrain: bool,
        encoding_given: bool,
    ) -> ItemTask:
        """Build the problem of sentences with tokens: number attributes and labels.

        Raises
        ------
        CorpusError
            If a token is no feature dict, list or set.
        LabelError
            If labels do not fit the requested encoding.
        SeqtagError
            If a setting needs words.
        """
        check_settings(settings)
        examples = label_data(gold)
        coding = LabelCoding.choose(
            examples.transitions(),
            settings.encoding,
            constrained=constrain and order > 0,
            encoding_given=encoding_given,
        )
        encoded = examples.encoded_by(coding)
        labels = sorted(encoded.types)
        number = {label: i for i, label in enumerate(labels)}
        y = np.array([number[label] for label in encoded.types], np.int32)[encoded.ids]
        names: Names = {}
        x = index_items(sentences, names, grow=True)
        names, x = drop_rare(names, x, settings.min_count)
        layout = Layout(len(names), len(labels), order, 0, parts_of(labels, settings))
        keys = backend.hash_strings(list(names))
        corpus = IndexedCorpus(layout, x, keys, np.zeros(0, np.uint64))
        return cls(settings, corpus, y, names, labels, coding)

    def tagger(self, cells: Cells) -> ItemTagger:
        """Return the tagger with some weights."""
        return ItemTagger(self.names, self.labels, self.coding, self.corpus.layout, cells)

    def fit(
        self, schedule: Schedule, held_out: tuple[Items, Sequence[Sequence[str]]] | None
    ) -> ItemTagger:
        """Train; with held-out sentences, keep the epoch that labels these best.

        Raises
        ------
        KeyboardInterrupt
            If it is raised before the first epoch is finished.
        """

        def judge(cells: Cells) -> Report:
            sentences, gold = held_out or ([], [])
            predicted = self.tagger(cells).tag_many(sentences)
            return evaluate(gold, predicted, scheme=self.coding.scheme)

        outcome = train_runs(self, schedule, judge if held_out else None)
        return self.tagger(mean([run.cells for run in outcome.kept]))


class OnlineItems:
    """Online learner of feature dicts. It pickles with its complete state.

    Parameters
    ----------
    settings
        Settings of training; `min_count` and `dropout` have no effect.
    tagger
        Initial model; may have no names and zero weights.
    """

    def __init__(self, settings: Settings, tagger: ItemTagger):
        check_settings(settings)
        self._names, self._labels, self._coding = dict(tagger.names), tagger.labels, tagger.coding
        self._weights = OnlineWeights(settings, tagger.layout, State.start(tagger.cells))

    @classmethod
    def untrained(
        cls, settings: Settings, labels: Sequence[str], coding: LabelCoding, order: int
    ) -> OnlineItems:
        """Return a learner with zero weights and all labels that will ever occur."""
        layout = Layout(0, len(labels), order, 0, parts_of(labels, settings))
        nothing = backend.Weights(layout, "float32", "perceptron").cells()
        return cls(settings, ItemTagger({}, labels, coding, layout, nothing))

    def learn(self, sentences: Items, gold: Sequence[Sequence[str]]) -> tuple[int, int]:
        """Visit sentences once, in their order; return (updates, wrong tokens).

        Raises
        ------
        CorpusError
            If a token is no feature dict, list or set.
        LabelError
            If a label is not among those of the model.
        """
        y = learned_ids(label_data(gold), self._coding, self._labels)
        names = dict(self._names)  # unchanged if a token is malformed
        x = index_items(sentences, names, grow=True)
        self._names = names
        return self._weights.learn(x, y, len(names))

    def tagger(self) -> ItemTagger:
        """Return the tagger with the average of the weights after each sentence."""
        weights = self._weights
        return ItemTagger(self._names, self._labels, self._coding, weights.layout, weights.cells())


def label_data(gold: Sequence[Sequence[str]]) -> TrainingData:
    """Return labels as training data without columns."""
    labels = Column.of(label for sentence in gold for label in sentence)
    return TrainingData({}, labels, np.array([len(sentence) for sentence in gold], np.int64))


def parts_of(labels: Sequence[str], settings: Settings) -> LabelComponents | None:
    """Return the components of labels, if weights belong to these."""
    return label_components(labels) if settings.label_parts == "split" else None


def check_settings(settings: Settings) -> None:
    """Refuse settings that need words.

    Raises
    ------
    SeqtagError
        If `known_labels` or `recall_bias` is set, or there are two passes.
    """
    settings.in_one_pass("feature dicts", "give words, or leave it out")
    if settings.known_labels:
        msg = (
            f"expected known_labels=0 for feature dicts, found {settings.known_labels}; features "
            "do not identify the word; give words, or leave it out"
        )
        raise SeqtagError(msg)
    if settings.recall_bias:
        msg = (
            f"expected recall_bias=0 for feature dicts, found {settings.recall_bias}; give words, "
            "or leave it out"
        )
        raise SeqtagError(msg)


def drop_rare(names: Names, x: Instances, min_count: int) -> tuple[Names, Instances]:
    """Remove features seen less often than `min_count` from the names and the sentences."""
    if min_count == 1:
        return names, x
    often = np.bincount(x.features, minlength=len(names)) >= min_count
    number = np.cumsum(often) - 1
    kept = often[x.features]
    counts = np.concatenate([[0], np.cumsum(kept)])
    left = [name for name, stays in zip(names, often.tolist(), strict=True) if stays]
    return {name: i for i, name in enumerate(left)}, Instances(
        x.sentence_ptr,
        counts[x.token_ptr].astype(np.int64),
        number[x.features[kept]].astype(np.int32),
        None if x.values is None else x.values[kept],
    )
