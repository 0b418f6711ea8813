"""Sentences of which some words have no label: what labels each token may have as it is learnt.

A word without a label may have any. A chunk label beside one may be learnt as several, for IOB2
says by the next label where a chunk ends and IOBES by its own: ``B-NP`` before an unknown label is
``B-NP`` or ``S-NP``.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.evaluation.scoring import score
from seqtag.features.encoder import Column
from seqtag.labels.schemes import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from seqtag.corpus import Sentence
    from seqtag.evaluation.report import Report, Words
    from seqtag.labels.coding import LabelCoding
    from seqtag.tagging.tagger import Tagger
    from seqtag.training.data import TrainingData


class LearnedLabels(NamedTuple):
    """The labels of some tokens, as they are learnt.

    Attributes
    ----------
    types
        What tokens may have, each once: one label, several, or none for any.
    ids
        Which of these each token has, (N,) int32.
    """

    types: list[tuple[str, ...]]
    ids: NDArray[np.int32]

    @property
    def labels(self) -> set[str]:
        """All labels that some token may have, but for those that may have any."""
        return {label for labels in self.types for label in labels}

    def numbered(self, labels: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.bool_] | None]:
        """Label ids, and choices of labels where there are several.

        See `seqtag.engine.reference.Weights.train_epoch`.
        """
        number = {label: i for i, label in enumerate(labels)}
        y, choices = [], []
        for each in self.types:
            if len(each) == 1:
                y.append(number[each[0]])
                continue
            fine = np.array([not each or label in each for label in labels])
            choices.append(fine)
            y.append(-len(choices))
        return np.array(y, np.int32)[self.ids], np.array(choices) if choices else None


def learned_labels(
    examples: TrainingData, coding: LabelCoding, forms: Column | None
) -> LearnedLabels:
    """What each token may be learnt as.

    Parameters
    ----------
    examples
        Sentences and their labels as written.
    coding
        How labels are learnt.
    forms
        The forms, for a coding that needs them.
    """
    mark = examples.unlabeled
    if mark is None or mark not in examples.labels.types:
        found = examples.encoded_by(coding, forms)
        return LearnedLabels([(label,) for label in found.types], found.ids)
    if not coding.changes_labels:
        types: list[tuple[str, ...]] = [
            () if label == mark else (label,) for label in examples.labels.types
        ]
        return LearnedLabels(types, examples.labels.ids)
    if coding.needs_forms and forms is not None:
        return _learnt_by_forms(examples, coding, forms, mark)
    return _learnt_by_windows(examples, coding, mark)


def _learnt_by_forms(
    examples: TrainingData, coding: LabelCoding, forms: Column, mark: str
) -> LearnedLabels:
    """Labels that hang on the form: those of the tokens that have one."""
    labeled = examples.labels.ids != examples.labels.types.index(mark)
    given = Column(examples.labels.types, examples.labels.ids[labeled])
    their = Column(forms.types, forms.ids[labeled])
    found = examples._replace(labels=given).encoded_by(coding, their)
    ids = np.full(len(labeled), len(found.types), np.int32)
    ids[labeled] = found.ids
    return LearnedLabels([*((label,) for label in found.types), ()], ids)


def _learnt_by_windows(examples: TrainingData, coding: LabelCoding, mark: str) -> LearnedLabels:
    """Labels that hang on their neighbours, each of which may be unknown."""
    names = [*examples.labels.types, None]
    known = [label for label in examples.labels.types if label != mark]
    before, after = examples.neighbours()
    windows, which = np.unique(
        np.stack([before, examples.labels.ids, after]), axis=1, return_inverse=True
    )
    number: dict[tuple[str, ...], int] = {}
    ids = []
    for window in windows.T.tolist():
        left, label, right = (names[n] for n in window)
        learnt: set[str] = set()
        if label is not None and label != mark:
            for b, a in product(*(_possible(side, label, known, mark) for side in (left, right))):
                whole = [each for each in (b, label, a) if each is not None]
                learnt.add(coding.encode(whole)[int(b is not None)])
        ids.append(number.setdefault((*sorted(learnt),), len(number)))
    return LearnedLabels([*number], np.array(ids, np.int32)[which.reshape(-1)])


def _possible(
    neighbour: str | None, label: str, known: Sequence[str], mark: str
) -> Iterable[str | None]:
    """What a neighbour may be: if it is unknown, one label of each kind that makes a difference."""
    if neighbour != mark:
        return [neighbour]
    kind = parse(label)[1]
    return {(parse(each)[0], parse(each)[1] == kind): each for each in known}.values()


class LabeledWords:
    """A tagger that labels whole sentences, and says so of the words whose labels are known.

    Parameters
    ----------
    tagger
        The tagger.
    mark
        The label of words that have none.
    """

    def __init__(self, tagger: Tagger, mark: str):
        self._tagger, self._mark = tagger, mark
        self.label, self.label_scheme = tagger.label, tagger.label_scheme
        self.known_words: Words = tagger.known_words
        self.info: Mapping[str, Any] = tagger.info

    def gold(self, sentence: Sentence) -> list[str]:
        """The labels that a sentence has."""
        return [label for label in self._all(sentence) if label != self._mark]

    def tag_many(self, sentences: Iterable[Sentence], threads: int = 1) -> list[list[str]]:
        """The tagger's labels of these words."""
        given = list(sentences)
        return [
            [new for new, label in zip(found, self._all(each), strict=True) if label != self._mark]
            for each, found in zip(given, self._tagger.tag_many(given, threads), strict=True)
        ]

    def _all(self, sentence: Sentence) -> list[str]:
        return self._tagger.model.column.of(sentence)


def score_labeled(tagger: Tagger, sentences: Sequence[Sentence], mark: str) -> Report:
    """A report on the words that have a label; chunks are of complete sentences only."""
    if tagger.label_scheme is not None:
        column = tagger.model.column
        sentences = [sentence for sentence in sentences if mark not in column.of(sentence)]
    labeller = LabeledWords(tagger, mark)
    return score(labeller, sentences, gold=labeller.gold, words=False)
