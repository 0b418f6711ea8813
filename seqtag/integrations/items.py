"""Taggers of feature dicts, with the trainer and the decoder of `seqtag.Tagger`.

The features of a model file are made by templates over columns; they have the value 1 and integer
weights. A dict has any number of features of any value, so its model is not a model file: it has
the names of the features and weights in floating point. It pickles by value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine import backend
from seqtag.engine.alternatives import max_marginals
from seqtag.engine.arrays import (
    FORBIDDEN,
    Cells,
    FloatArray,
    Instances,
    Layout,
    Potentials,
    State,
)
from seqtag.engine.reference import sum_parts, viterbi
from seqtag.errors import SeqtagError
from seqtag.evaluation.report import Report, evaluate
from seqtag.features.encoder import Column
from seqtag.features.index import IndexedCorpus
from seqtag.features.items import Names, index_items
from seqtag.features.language import parse
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import component_names, label_components
from seqtag.model.freeze import mean
from seqtag.training.data import TrainingData
from seqtag.training.problem import settled
from seqtag.training.runs import train_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.reference import Weights
    from seqtag.model.calibration import Calibration
    from seqtag.settings import Settings
    from seqtag.training.runs import Schedule
    from seqtag.training.task import Task

FEATURES = parse("features[0]\nlabel[-1]\nlabel[-2] + label[-1]")
"""Templates of a task whose features are given, here a column `features`; `at_order` cuts them."""

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

    Attributes
    ----------
    calibration : Calibration or None
        Calibration of its margins, set by `SequencePerceptron.calibrate`.
    """

    calibration: Calibration | None = None

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

    def leads(
        self, sentences: Iterable[Sequence[Any]], labels: Sequence[str]
    ) -> list[tuple[list[str], NDArray[np.float64]]]:
        """Return for each sentence its labels, and by how much they lead over others.

        The lead (tokens, labels) over a label is the score of the best sequence less that of the
        best one with this label at the token; infinite if the label is impossible there.
        """
        x = index_items(sentences, self.names, grow=False)
        ids = [self.coding.ids_alone(label, self.labels) for label in labels]
        found = []
        for p in self._potentials(x):
            best, m = viterbi(p), max_marginals(p)
            scores = np.full((len(best), len(labels)), FORBIDDEN)
            for column, wanted in enumerate(ids):
                scores[:, column] = m[:, wanted].max(axis=1, initial=FORBIDDEN)
            names = self.coding.decode([self.labels[i] for i in best.tolist()])
            found.append((names, np.where(scores > FORBIDDEN / 2, -scores, np.inf)))
        return found

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
    def _potentials(self, x: Instances) -> Iterator[Potentials]:
        """Yield the potentials of each sentence."""
        cells, tokens, labels = self.cells, len(x.token_ptr) - 1, len(self.labels)
        first, count = cells.row_ptr[x.features], np.diff(cells.row_ptr)[x.features]
        cell = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        token = np.repeat(np.repeat(np.arange(tokens), np.diff(x.token_ptr)), count)
        values = np.ones(len(count)) if x.values is None else x.values
        weights = cells.weight[cell] * np.repeat(values, count)
        emission: FloatArray = np.zeros((tokens, self.layout.width))
        np.add.at(emission, (token, cells.label[cell]), weights)
        if self.layout.parts is not None:
            emission = sum_parts(emission, self.layout.parts)
        start, stop, transition = np.split(self._chain(), [labels, 2 * labels])
        matrix = transition.reshape((labels, labels) if self.layout.order else (0, 0))
        trigram: FloatArray | None = None
        if self.layout.order == 2:
            row = np.repeat(np.arange((labels + 1) * labels), np.diff(cells.trigram_ptr))
            trigram = np.zeros(((labels + 1) * labels, labels))
            trigram[row, cells.trigram_label] = cells.trigram_weight
            trigram = trigram.reshape(labels + 1, labels, labels)
        for a, b in pairwise(x.sentence_ptr.tolist()):
            yield Potentials(emission[a:b], start, stop, matrix, trigram)

    def _chain(self) -> NDArray[Any]:
        """Return the weights of the chain, with the transitions that the label coding forbids."""
        chain = self.cells.chain.copy()
        legal = self.coding.allowed(self.labels)
        if legal is not None and self.layout.order:
            start, transition, stop = legal
            may = np.concatenate([start, stop, transition.ravel()])
            chain[~may] = FORBIDDEN
        return chain

    def _engine_weights(self) -> Weights:
        """Return the engine's weights."""
        state = State(self.cells._replace(chain=self._chain()))
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
    def of(cls, task: Task, sentences: Items, gold: Sequence[Sequence[str]]) -> ItemTask:
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
        check_settings(task.settings)
        task, learned, labels = settled(task, label_data(gold))
        y, _ = learned.numbered(labels)
        names: Names = {}
        x = index_items(sentences, names, grow=True)
        names, x = drop_rare(names, x, task.settings.min_count)
        parts = label_components(labels) if task.settings.label_parts == "split" else None
        order = task.templates.compile(task.available).order
        layout = Layout(len(names), len(labels), order, 0, parts)
        keys = backend.hash_strings(list(names))
        corpus = IndexedCorpus(layout, x, keys, np.zeros(0, np.uint64))
        coding = task.coding or LabelCoding()
        coding = replace(coding, constrained=coding.constrained and order > 0)
        return cls(task.settings, corpus, y, names, labels, coding)

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


def label_data(gold: Sequence[Sequence[str]]) -> TrainingData:
    """Return labels as training data without columns."""
    labels = Column.of(label for sentence in gold for label in sentence)
    return TrainingData({}, labels, np.array([len(sentence) for sentence in gold], np.int64))


def check_settings(settings: Settings) -> None:
    """Refuse settings that need words.

    Raises
    ------
    SeqtagError
        If `tag_dictionary` or `recall_bias` is set.
    """
    if settings.tag_dictionary:
        msg = (
            f"expected tag_dictionary=0 for feature dicts, found {settings.tag_dictionary}; "
            "features do not identify the word; give words, or leave it out"
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
