"""Taggers of feature dicts, with the trainer and the decoder of `seqtag.Tagger`.

The features of a model file are made by templates over columns; they have the value 1 and integer
weights. A dict has any number of features of any value, so its model is not a model file: it has
the names of the features and weights in floating point. It pickles by value.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine import backend
from seqtag.engine.alternatives import max_marginals
from seqtag.engine.arrays import (
    FORBIDDEN,
    Cells,
    FloatArray,
    Layout,
    Potentials,
    State,
    ranges,
)
from seqtag.engine.reference import sum_parts, viterbi
from seqtag.errors import SeqtagError
from seqtag.evaluation.report import Report, evaluate
from seqtag.features.encoder import Column
from seqtag.features.feature_dicts import Names, index_feature_dicts
from seqtag.features.index import IndexedCorpus
from seqtag.features.language import parse
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import component_names, label_components
from seqtag.lazy import other_names
from seqtag.model.freeze import mean
from seqtag.training.data import TrainingData
from seqtag.training.plan import Request, plan
from seqtag.training.problem import NumberedExamples, settled, with_definite_settings
from seqtag.training.runs import Schedule, train_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Instances
    from seqtag.model.calibration import Calibration
    from seqtag.settings import Settings

LABEL = "label"
"""Name of the label column."""

_FEATURES = parse("features[0]\nlabel[-1]\nlabel[-2] + label[-1]")  # `at_order` cuts them
_SETTINGS: dict[str, Any] = {"update": "adaptive", "step": 0.2, "margin": 1.0}

_SMALL = 0.05  # values below which fewer labels are right than at 1

_log = logging.getLogger("seqtag")

FeatureDicts = list[list[Any]]
"""Sentences of tokens as `seqtag.features.feature_dicts.attributes_of` takes them."""


@dataclass(frozen=True)
class FeatureDictModel:
    """What training on feature dicts leaves.

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
    calibration
        Calibration of its margins, if it is calibrated.
    """

    names: Names
    labels: Sequence[str]
    coding: LabelCoding
    layout: Layout
    cells: Cells
    calibration: Calibration | None = None


class FeatureDictTagger:
    """Tagger of sentences of feature dicts.

    Parameters
    ----------
    model
        Its names, labels and weights.
    """

    __getattr__ = other_names({"pickle or joblib": "save to_bytes"})

    def __init__(self, model: FeatureDictModel):
        self.model = model
        self._chain = model.cells.chain.copy()
        legal = model.coding.allowed(model.labels)
        if legal is not None and model.layout.order:
            start, transition, stop = legal
            self._chain[~np.concatenate([start, stop, transition.ravel()])] = FORBIDDEN
        state = State(model.cells._replace(chain=self._chain))
        self._weights = backend.Weights(model.layout, "float32", "perceptron", state)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model,)

    @property
    def label_scheme(self) -> str | None:
        """Scheme in which its labels are written, if they are chunk labels."""
        return self.model.coding.scheme

    def tag_many(self, sentences: Iterable[Sequence[Any]]) -> list[list[str]]:
        """Return the labels of sentences; features not seen in training are ignored.

        Raises
        ------
        CorpusError
            If a token is no feature dict, list or set.
        """
        x = index_feature_dicts(sentences, self.model.names, grow=False)
        found = self._weights.decode(x)
        return [self._written(found[a:b]) for a, b in pairwise(x.sentence_ptr.tolist())]

    def margins_of_labels(
        self, sentences: Iterable[Sequence[Any]], labels: Sequence[str]
    ) -> list[tuple[list[str], NDArray[np.float64]]]:
        """Return for each sentence its labels, and their margins over each of some labels.

        The margin (tokens, labels) over a label is the score of the best sequence less that of the
        best one with this label at the token; infinite if the label is impossible there.
        """
        x = index_feature_dicts(sentences, self.model.names, grow=False)
        ids = [self.model.coding.ids_alone(label, self.model.labels) for label in labels]
        found = []
        for p in self._potentials(x):
            best, m = viterbi(p), max_marginals(p)
            scores = np.full((len(best), len(labels)), FORBIDDEN)
            for column, wanted in enumerate(ids):
                scores[:, column] = m[:, wanted].max(axis=1, initial=FORBIDDEN)
            found.append((self._written(best), np.where(scores > FORBIDDEN / 2, -scores, np.inf)))
        return found

    def state_features(self) -> dict[tuple[str, str], float]:
        """Return the nonzero weights by (attribute, label); for label components, by component."""
        model, cells = self.model, self.model.cells
        row = np.repeat(np.arange(len(model.names)), np.diff(cells.row_ptr)).tolist()
        names = list(model.names)
        columns = model.labels if model.layout.parts is None else component_names(model.labels)
        entries = zip(row, cells.label.tolist(), cells.weight.tolist(), strict=True)
        return {(names[i], columns[j]): weight for i, j, weight in entries}

    def transition_features(self) -> dict[tuple[str, str], float]:
        """Return the nonzero weights by (label, next label)."""
        labels = self.model.labels
        weights = self.model.cells.chain[2 * len(labels) :].reshape(-1, len(labels))
        previous, current = np.nonzero(weights)
        return {
            (labels[i], labels[j]): float(weights[i, j])
            for i, j in zip(previous.tolist(), current.tolist(), strict=True)
        }

    # ----------------------------------------------------------------- private
    def _written(self, ids: NDArray[np.int32]) -> list[str]:
        """Return the labels of a sentence as written."""
        return self.model.coding.decode([self.model.labels[i] for i in ids.tolist()])

    def _potentials(self, x: Instances) -> Iterator[Potentials]:
        """Yield the potentials of each sentence."""
        cells, layout, tokens = self.model.cells, self.model.layout, len(x.token_ptr) - 1
        found = np.diff(cells.row_ptr)[x.features]
        cell = ranges(cells.row_ptr[x.features], found)
        token = np.repeat(np.repeat(np.arange(tokens), np.diff(x.token_ptr)), found)
        values = np.ones(len(found)) if x.values is None else x.values
        emission: FloatArray = np.zeros((tokens, layout.width))
        np.add.at(emission, (token, cells.label[cell]), cells.weight[cell] * values.repeat(found))
        if layout.parts is not None:
            emission = sum_parts(emission, layout.parts)
        count = layout.labels
        start, stop, transition = np.split(self._chain, [count, 2 * count])
        matrix = transition.reshape((count, count) if layout.order else (0, 0))
        trigram: FloatArray | None = None
        if layout.order == 2:
            row = np.repeat(np.arange((count + 1) * count), np.diff(cells.trigram_ptr))
            trigram = np.zeros(((count + 1) * count, count))
            trigram[row, cells.trigram_label] = cells.trigram_weight
            trigram = trigram.reshape(count + 1, count, count)
        for a, b in pairwise(x.sentence_ptr.tolist()):
            yield Potentials(emission[a:b], start, stop, matrix, trigram)


def _note_small(
    features: NDArray[np.int32], values: NDArray[np.floating[Any]], names: Sequence[str]
) -> None:
    """Warn about features whose values are all so small that they are hardly learned."""
    largest = np.zeros(len(names))
    np.maximum.at(largest, features, np.abs(values))
    small = [name for name, size in zip(names, largest.tolist(), strict=True) if size < _SMALL]
    if small:
        _log.warning(
            "%d features such as %s have no value above %s, so they are hardly learned; scale "
            "them to about 1",
            len(small),
            small[0],
            _SMALL,
        )


def train(
    sentences: FeatureDicts,
    gold: Sequence[Sequence[str]],
    dev: tuple[FeatureDicts, Sequence[Sequence[str]]] | None = None,
    *,
    order: int | None = None,
    constrain: bool = True,
    **options: Any,
) -> FeatureDictTagger:
    """Train a tagger.

    Parameters
    ----------
    sentences, gold
        Sentences with tokens, and their labels.
    dev
        Sentences and labels that select the best epoch.
    order
        Number of previous labels that a label depends on, by default 1.
    constrain
        Decode valid sequences of chunk labels only.
    **options
        As in `seqtag.train`: ``seed``, ``runs``, ``patience``, ..., and settings.

    Raises
    ------
    CorpusError
        If a token is no feature dict, list or set.
    LabelError
        If labels do not fit the requested encoding.
    SeqtagError
        If a setting is out of range or needs words.
    KeyboardInterrupt
        If it is raised before the first epoch is finished.
    """
    schedule = Schedule.taken_from(options)
    templates = _FEATURES.at_order(1 if order is None else order)
    given = {name: value for name, value in options.items() if value is not None}
    request = Request([LABEL], False, templates, _SETTINGS | given, constrain=constrain)
    [task] = plan(request, templates.columns)
    _check_settings(task.settings)
    examples = label_data(gold)
    task, learned, labels = settled(with_definite_settings(task, examples), examples)
    settings = task.settings
    names: Names = {}
    x = index_feature_dicts(sentences, names, grow=True)
    if settings.min_count > 1:
        counts = np.bincount(x.features, minlength=len(names))
        kept = compress(names, (counts >= settings.min_count).tolist())
        names = {name: row for row, name in enumerate(kept)}
        x = index_feature_dicts(sentences, names, grow=False)
    if x.values is not None:
        _note_small(x.features, x.values, list(names))
    order = task.templates.compile(task.available).order
    parts = label_components(labels) if settings.label_parts == "split" else None
    layout = Layout(len(names), len(labels), order, 0, parts)
    keys = backend.hash_strings(list(names))
    corpus = IndexedCorpus(layout, x, keys, np.zeros(0, np.uint64))
    coding = task.coding or LabelCoding()
    coding = replace(coding, constrained=coding.constrained and order > 0)

    def tagger(cells: Cells) -> FeatureDictTagger:
        return FeatureDictTagger(FeatureDictModel(names, labels, coding, layout, cells))

    def judge(cells: Cells) -> Report:
        dev_sentences, dev_gold = dev or ([], [])
        return evaluate(dev_gold, tagger(cells).tag_many(dev_sentences), scheme=coding.scheme)

    numbered = NumberedExamples(settings, corpus, learned.numbered(labels)[0])
    outcome = train_runs(numbered, schedule, judge if dev else None)
    return tagger(mean([run.cells for run in outcome.kept]))


def label_data(gold: Sequence[Sequence[str]]) -> TrainingData:
    """Return labels as training data without columns."""
    labels = Column.of(label for sentence in gold for label in sentence)
    return TrainingData({}, labels, np.array([len(sentence) for sentence in gold], np.int64))


def _check_settings(settings: Settings) -> None:
    """Refuse settings that need words."""
    for name in ("tag_dictionary", "recall_bias"):
        value = getattr(settings, name)
        if value:
            msg = (
                f"expected {name}=0 for feature dicts, which do not tell the words, found {value}; "
                "give words, or leave it out"
            )
            raise SeqtagError(msg)
