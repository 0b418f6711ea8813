"""Sentences of feature dicts: labelled by the same trainer and the same decoder as words are.

A model file knows features by templates over columns, of value 1, with weights in whole numbers.
A dict has any number of features of any value, so that its model stays in Python: names, and
weights as they were learnt. It pickles by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import FORBIDDEN, Cells, Instances, Layout, Parts, State
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

    from seqtag.engine.interface import Weights
    from seqtag.settings import Settings
    from seqtag.training.runs import Schedule

Items = list[list[Any]]
"""Sentences of tokens as `seqtag.features.items.attributes_of` takes them."""


class ItemTagger:
    """A model of feature dicts; labels sentences as `seqtag.Tagger` does.

    Parameters
    ----------
    names
        Row of each attribute.
    labels
        The labels as they are learnt; a label's place is its id.
    coding
        How they are written and learnt.
    layout, cells
        Shape of the weights, and the weights.
    """

    def __init__(
        self, names: Names, labels: Sequence[str], coding: LabelCoding, layout: Layout, cells: Cells
    ):
        self.names, self.labels, self.coding = names, list(labels), coding
        self.layout, self.cells = layout, cells
        self._weights = self._made()

    @property
    def label_scheme(self) -> str | None:
        """The scheme its labels are written in, if they are chunk labels."""
        return self.coding.scheme

    def tag_many(self, sentences: Iterable[Sequence[Any]]) -> list[list[str]]:
        """Labels of sentences; features that training did not see count for nothing.

        Raises
        ------
        CorpusError
            If a token is no feature dict, list or set.
        """
        x = index_items(sentences, self.names, grow=False)
        found = list(map(self.labels.__getitem__, self._weights.decode(x).tolist()))
        return [self.coding.decode(found[a:b]) for a, b in pairwise(x.sentence_ptr.tolist())]

    def state_features(self) -> dict[tuple[str, str], float]:
        """Weight of each (attribute, label) that has one; for label parts, of the part."""
        row = np.repeat(np.arange(len(self.names)), np.diff(self.cells.row_ptr)).tolist()
        names, columns = list(self.names), self._columns()
        cells = zip(row, self.cells.label.tolist(), self.cells.weight.tolist(), strict=True)
        return {(names[i], columns[j]): weight for i, j, weight in cells}

    def transition_features(self) -> dict[tuple[str, str], float]:
        """Weight of each (label, next label) that has one."""
        labels = self.labels
        weights = self.cells.chain[2 * len(labels) :].reshape(-1, len(labels))
        previous, current = np.nonzero(weights)
        return {
            (labels[i], labels[j]): float(weights[i, j])
            for i, j in zip(previous.tolist(), current.tolist(), strict=True)
        }

    # ----------------------------------------------------------------- private
    def _columns(self) -> list[str]:
        """Names of the columns of the weights: labels, or their parts."""
        if self.layout.parts is None:
            return self.labels
        return component_names(self.labels)

    def _made(self) -> Weights:
        """The engine's weights, with what the label coding forbids."""
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
        self._weights = self._made()


@dataclass(frozen=True)
class ItemTask:
    """What there is to learn from feature dicts: a `seqtag.training.runs.Trainable`."""

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
        asked: bool,
    ) -> ItemTask:
        """Number attributes and labels of sentences that have tokens.

        Raises
        ------
        CorpusError
            If a token is no feature dict, list or set.
        LabelError
            If labels do not fit the encoding asked for.
        SeqtagError
            If settings need words.
        """
        check_settings(settings)
        examples = label_data(gold)
        coding = LabelCoding.choose(
            examples.transitions(),
            settings.encoding,
            constrained=constrain and order > 0,
            asked=asked,
        )
        learnt = examples.encoded_by(coding)
        labels = sorted(learnt.types)
        number = {label: i for i, label in enumerate(labels)}
        y = np.array([number[label] for label in learnt.types], np.int32)[learnt.ids]
        names: Names = {}
        x = index_items(sentences, names, grow=True)
        names, x = frequent(names, x, settings.min_count)
        layout = Layout(len(names), len(labels), order, 0, parts_of(labels, settings))
        keys = backend.hash_strings(list(names))
        corpus = IndexedCorpus(layout, x, keys, np.zeros(0, np.uint64))
        return cls(settings, corpus, y, names, labels, coding)

    def tagger(self, cells: Cells) -> ItemTagger:
        """The model of some weights."""
        return ItemTagger(self.names, self.labels, self.coding, self.corpus.layout, cells)

    def fit(
        self, schedule: Schedule, held_out: tuple[Items, Sequence[Sequence[str]]] | None
    ) -> ItemTagger:
        """Train; with sentences held out, the epoch that labels these best is kept.

        Raises
        ------
        KeyboardInterrupt
            If it comes before an epoch is finished.
        """

        def judge(cells: Cells) -> Report:
            sentences, gold = held_out or ([], [])
            predicted = self.tagger(cells).tag_many(sentences)
            return evaluate(gold, predicted, scheme=self.coding.scheme)

        outcome = train_runs(self, schedule, judge if held_out else None)
        return self.tagger(mean([run.cells for run in outcome.kept]))


class OnlineItems:
    """A model of feature dicts that learns sentences as they come. Pickles with the whole state.

    Parameters
    ----------
    settings
        How to learn; `min_count` and `dropout` do not matter.
    tagger
        What to begin with: its names may be none, and its weights 0.
    """

    def __init__(self, settings: Settings, tagger: ItemTagger):
        check_settings(settings)
        self._names, self._labels, self._coding = dict(tagger.names), tagger.labels, tagger.coding
        self._weights = OnlineWeights(settings, tagger.layout, State.start(tagger.cells))

    @classmethod
    def afresh(
        cls, settings: Settings, labels: Sequence[str], coding: LabelCoding, order: int
    ) -> OnlineItems:
        """What has learnt nothing yet, with the labels there will ever be."""
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
            If a label is none of those there will ever be.
        """
        y = learned_ids(label_data(gold), self._coding, self._labels)
        names = dict(self._names)  # which stay if a token is not as it should be
        x = index_items(sentences, names, grow=True)
        self._names = names
        return self._weights.learn(x, y, len(names))

    def tagger(self) -> ItemTagger:
        """The model of the average of the weights after each sentence."""
        weights = self._weights
        return ItemTagger(self._names, self._labels, self._coding, weights.layout, weights.cells())


def label_data(gold: Sequence[Sequence[str]]) -> TrainingData:
    """Labels alone, as training takes them."""
    labels = Column.of(label for sentence in gold for label in sentence)
    return TrainingData({}, labels, np.array([len(sentence) for sentence in gold], np.int64))


def parts_of(labels: Sequence[str], settings: Settings) -> Parts | None:
    """The parts of labels, if weights belong to these."""
    return label_components(labels) if settings.label_parts == "split" else None


def check_settings(settings: Settings) -> None:
    """Refuse what feature dicts cannot do.

    Raises
    ------
    SeqtagError
        If known words should keep their labels, or there are to be two passes.
    """
    settings.in_one_pass("feature dicts", "give words, or leave it out")
    if settings.known_labels:
        msg = (
            f"expected known_labels=0 for feature dicts, found {settings.known_labels}; nobody "
            "says which feature is the word: give words, or leave it out"
        )
        raise SeqtagError(msg)


def frequent(names: Names, x: Instances, min_count: int) -> tuple[Names, Instances]:
    """What is left of names and sentences without the features seen less often."""
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
