"""A learning problem: examples, labels and templates turned into numbers, and back into a model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine.arrays import (
    ANY_LABEL,
    MAX_LABELS,
    MAX_TRIGRAM_LABELS,
    Cells,
    KnownLabels,
    Parts,
)
from seqtag.errors import LabelError, TemplateError
from seqtag.evaluation.report import Report
from seqtag.evaluation.scoring import score
from seqtag.features.index import IndexedCorpus, index_corpus
from seqtag.features.language import preset_names
from seqtag.features.templates import CompiledTemplates, TemplateSet
from seqtag.labels.parts import split_labels
from seqtag.model.freeze import freeze
from seqtag.model.known_words import KnownWords
from seqtag.model.model import Model
from seqtag.tagging.tagger import Tagger
from seqtag.training.data import check_labels
from seqtag.training.known_labels import labels_of_known_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seqtag.labels.coding import LabelCoding
    from seqtag.labels.column import LabelColumn
    from seqtag.settings import Settings
    from seqtag.training.data import TrainingData

MOST_WITH_BIGRAMS = 4096  # beyond, label bigrams take more memory than they are worth

_log = logging.getLogger("seqtag")

Judge = Callable[[Cells], Report]
"""Scores weights on the dev set."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What there is to learn.

    Attributes
    ----------
    corpus
        The sentences as rows of features.
    y
        Label id of each token, (N,) int32.
    labels
        The labels as they are learnt, sorted; a label's place is its id.
    settings
        How to learn.
    column, coding, templates, columns, compiled, known_words, parts, known_labels
        As in `seqtag.model.model.Model`.
    origin
        Size and digest of the corpus.
    """

    corpus: IndexedCorpus
    y: NDArray[np.int32]
    labels: Sequence[str]
    settings: Settings
    column: LabelColumn
    coding: LabelCoding
    templates: TemplateSet
    columns: Sequence[str]
    compiled: CompiledTemplates
    known_words: KnownWords
    parts: Parts | None
    known_labels: KnownLabels
    origin: Mapping[str, Any]

    def model(self, cells: Cells, provenance: Mapping[str, Any] | None = None) -> Model:
        """The model of some weights, and what is to be said of how they came about."""
        keys, edge_keys = self.corpus.keys, self.corpus.edge_keys
        weights = freeze(cells, keys, edge_keys, len(self.labels))
        training = {**self.settings.to_dict(), **self.origin, **(provenance or {})}
        return Model(
            self.column,
            self.coding,
            self.labels,
            self.templates,
            self.columns,
            self.compiled,
            weights,
            self.known_words,
            self.parts,
            self.known_labels,
            training | {"unit": weights.unit},
        )


def pose(
    examples: TrainingData,
    column: LabelColumn,
    coding: LabelCoding,
    templates: TemplateSet,
    available: Sequence[str],
    settings: Settings,
) -> Problem:
    """Number labels and features.

    Parameters
    ----------
    examples
        The columns that the templates look at, and the labels as written.
    column, coding
        Which labels they are, and how they are learnt.
    templates
        With settings, which are not looked at. Those of a preset that are for fewer labels are
        left out, with a note.
    available
        The columns of the corpus but those of the label.
    settings
        How to learn.

    Raises
    ------
    LabelError
        If no word has a label, or there are more labels than the templates can do with.
    """
    needed = templates.compile(available).columns
    form = examples.columns[needed.index("form")] if "form" in needed else None
    if coding.needs_forms and form is None:
        msg = (
            f"expected a template that looks at the column form, by which the column {column} is "
            "learnt, found none; add form[0]"
        )
        raise TemplateError(msg, source=templates.source)
    learnt = examples.learnt_by(coding, form)
    labels = sorted(learnt.types)
    check_labels(examples.labels.types, column)
    if not coding.needs_forms:
        _wonder_at_many(labels, len(learnt.ids), column)
    templates = _fitting(templates, len(labels), column)
    compiled = templates.compile(available)
    number = {label: i for i, label in enumerate(labels)}
    y = np.array([number[label] for label in learnt.types], np.int32)[learnt.ids]
    parts = split_labels(labels) if settings.label_parts == "split" else None
    corpus = index_corpus(
        compiled,
        examples.columns,
        examples.lengths,
        len(labels),
        settings.min_count,
        parts,
        examples.pieces,
    )
    known_labels = ANY_LABEL
    if settings.known_labels:
        known_labels = labels_of_known_words(compiled, examples.columns, y, settings.known_labels)
    last = max((available.index(name) for name in compiled.columns), default=-1)
    return Problem(
        corpus=corpus,
        y=y,
        labels=labels,
        settings=settings,
        column=column,
        coding=replace(coding, constrained=coding.constrained and compiled.order > 0),
        templates=TemplateSet(templates.templates),
        columns=list(available[: last + 1]),
        compiled=compiled,
        known_words=KnownWords.of(form.types if form else ()),
        parts=parts,
        known_labels=known_labels,
        origin={
            "sentences": len(examples.lengths),
            "tokens": len(y),
            "corpus_sha256": examples.digest(),
        },
    )


def _fitting(templates: TemplateSet, labels: int, column: LabelColumn) -> TemplateSet:
    """The templates that so many labels can do with; others than a preset's must do as they are."""
    if labels > MAX_LABELS:
        msg = (
            f"expected at most {MAX_LABELS:,} labels in the column {column}, found {labels:,}; "
            "is it the right one?"
        )
        raise LabelError(msg)
    fitting, limit, what = templates, MAX_LABELS, ""
    if labels > MAX_TRIGRAM_LABELS:
        fitting = templates.at_order(1).without_edges()
        limit, what = MAX_TRIGRAM_LABELS, "label trigrams and label bigrams that see words"
    if labels > MOST_WITH_BIGRAMS:
        fitting = fitting.at_order(0)
        limit, what = MOST_WITH_BIGRAMS, "label bigrams"
    if fitting == templates:
        return templates
    if templates.source not in {f"{name}.txt" for name in preset_names()}:
        msg = (
            f"expected at most {limit:,} labels with {what}, found {labels:,} in the column "
            f"{column}; leave such templates out, or is the column the wrong one?"
        )
        raise LabelError(msg, source=templates.source)
    _log.warning(
        "the column %s has %s labels: learnt without %s, which are for %s at most",
        column,
        f"{labels:,}",
        what,
        f"{limit:,}",
    )
    return fitting


def judge_of(problem: Problem, examples: TrainingData) -> Judge:
    """Scores weights on the sentences of a dev set."""
    sentences = examples.sentences(problem.compiled.columns, problem.column)
    return lambda cells: score(Tagger(problem.model(cells)), sentences, words=False)


def _wonder_at_many(labels: Sequence[str], tokens: int, column: LabelColumn) -> None:
    """Say so if there are more labels than a column of labels has."""
    if len(labels) > 1000 or (len(labels) > 50 and len(labels) > tokens / 5):
        _log.warning(
            "the column %s has %d different labels in %d tokens; is it the right one?",
            column,
            len(labels),
            tokens,
        )
