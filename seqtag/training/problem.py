"""A learning problem: examples, labels and templates turned into numbers, and back into a model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import (
    ANY_LABEL,
    MAX_LABELS,
    MAX_TRIGRAM_LABELS,
    MOST_WITH_BIGRAMS,
    Cells,
    KnownLabels,
    Parts,
)
from seqtag.errors import LabelError, TemplateError
from seqtag.evaluation.report import Report
from seqtag.evaluation.scoring import score
from seqtag.features.encoder import Encoder
from seqtag.features.index import IndexedCorpus, index_corpus
from seqtag.features.language import preset_names
from seqtag.features.templates import CompiledTemplates, TemplateSet
from seqtag.labels.column import label_components
from seqtag.model.bundle import digest
from seqtag.model.freeze import freeze
from seqtag.model.known_words import KnownWords
from seqtag.model.model import Model
from seqtag.tagging.tagger import Tagger
from seqtag.training.data import check_labels
from seqtag.training.known_labels import labels_of_words, to_first_parts
from seqtag.training.partial_labels import learnt_labels, score_labelled
from seqtag.training.warm_start import WarmStart, check_columns, merged_known_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seqtag.features.encoder import Column
    from seqtag.labels.coding import LabelCoding
    from seqtag.labels.column import LabelColumn
    from seqtag.settings import Settings
    from seqtag.training.data import TrainingData

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
        Label id of each token, (N,) int32; ``-1 - c`` where it may be any of ``choices[c]``.
    labels
        The labels as they are learnt, sorted; a label's place is its id.
    settings
        How to learn.
    column, coding, templates, columns, compiled, known_words, parts, known_labels
        As in `seqtag.model.model.Model`.
    origin
        Size and digest of the corpus, and the digest of the model that it begins with.
    start
        The weights to begin with, if not with zeros.
    choices
        Labels that tokens without a certain one may have, (C, K) bool, if there are such tokens.
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
    start: WarmStart | None = None
    choices: NDArray[np.bool_] | None = None

    def model(self, cells: Cells, provenance: Mapping[str, Any] | None = None) -> Model:
        """The model of some weights, and what is to be said of how they came about."""
        keys, edge_keys = self.corpus.keys, self.corpus.edge_keys
        if self.start is not None:
            cells, keys, edge_keys = self.start.whole(cells, keys, edge_keys)
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
    init: Model | None = None,
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
    init
        The model to go on from: its labels, words and features are there too.

    Raises
    ------
    LabelError
        If no word has a label, or there are more labels than the templates can do with.
    TemplateError
        If the templates do not fit the columns, the coding, or the model to go on from; or if
        nothing can be learnt by the settings.
    """
    settings = settings.for_size(int(examples.lengths.sum()))
    if settings.update == "pa" and settings.margin == 0 and init is None:
        msg = (
            "the step rule pa expects a margin above 0, found 0: from weights of 0 every step is "
            "as small as the loss, which is 0; set margin to 1"
        )
        raise TemplateError(msg)
    needed = templates.looks_at(available)
    form = examples.columns[needed.index("form")] if "form" in needed else None
    check_forms(coding, column, needed, templates)
    learnt = learnt_labels(examples, coding, form)
    labels = sorted({*learnt.labels, *(init.labels if init else ())})
    check_labels(examples.labels.types, column)
    if not coding.needs_forms:
        wonder_at_many(len(learnt.labels), int(examples.labelled().sum()), column)
    templates = fitting(templates, len(labels), column)
    compiled = templates.compile(available, init.compiled.forms if init else "normal")
    if init:
        check_columns(init, compiled)
    y, choices = learnt.numbered(labels)
    parts = label_components(labels) if settings.label_parts == "split" else None
    corpus = index_corpus(
        compiled,
        examples.columns,
        examples.lengths,
        len(labels),
        settings.min_count,
        parts,
        examples.pieces,
        (init.weights.emission.keys, init.weights.edge.keys) if init else None,
        bundled=not settings.dropout,
    )
    words = form.types if form else []
    last = max((available.index(name) for name in compiled.columns), default=-1)
    return Problem(
        corpus=corpus,
        y=y,
        labels=labels,
        settings=settings,
        column=column,
        coding=replace(coding, constrained=coding.constrained and compiled.order > 0),
        templates=TemplateSet(templates.templates, tables=compiled.tables),
        columns=list(available[: last + 1]),
        compiled=compiled,
        known_words=init.known_words.with_words(words) if init else KnownWords.of(words),
        parts=parts,
        known_labels=known_labels_of(
            compiled, examples.columns, (y, choices), labels, settings, init
        ),
        origin=_origin(examples, init),
        start=WarmStart.of(init, corpus, labels) if init else None,
        choices=choices,
    )


def check_forms(
    coding: LabelCoding, column: LabelColumn, needed: Sequence[str], templates: TemplateSet
) -> None:
    """Refuse templates that do not look at the form, where labels are learnt by it.

    Raises
    ------
    TemplateError
        If so.
    """
    if coding.needs_forms and "form" not in needed:
        msg = (
            f"expected a template that looks at the column form, by which the column {column} is "
            "learnt, found none; add form[0]"
        )
        raise TemplateError(msg, source=templates.source)


def known_labels_of(
    compiled: CompiledTemplates,
    columns: Sequence[Column],
    gold: tuple[NDArray[np.int32], NDArray[np.bool_] | None],
    labels: Sequence[str],
    settings: Settings,
    init: Model | None = None,
) -> KnownLabels:
    """The labels that known words may have, in this corpus and in the model to go on from.

    Where that is still to be chosen they may have any.
    """
    setting = settings.known_labels
    if setting in (0, "auto"):
        return ANY_LABEL
    found = labels_of_words(compiled, columns, *gold)
    if init is None:
        return found.kept_to(setting, labels)
    words = columns[compiled.columns.index("form")].types
    known = [word for word in words if word in init.known_words]
    before = backend.hash_strings([*map(str, compiled.apply_many(found.attribute, known))])
    often = found.often(1 if isinstance(setting, str) else setting)
    merged = merged_known_labels(init, labels, found.often(1), often, before)
    return to_first_parts(merged, labels) if isinstance(setting, str) else merged


def _origin(examples: TrainingData, init: Model | None) -> dict[str, Any]:
    """What a model says of its training data, and of the model that it began with."""
    origin: dict[str, Any] = {
        "sentences": len(examples.lengths),
        "tokens": int(examples.lengths.sum()),
        "corpus_sha256": examples.digest(),
    }
    labelled = int(examples.labelled().sum())
    if labelled < origin["tokens"]:
        origin["labelled"] = labelled
    return origin | {"init_sha256": digest(init)} if init else origin


def fitting(templates: TemplateSet, labels: int, column: LabelColumn) -> TemplateSet:
    """The templates that so many labels can do with; others than a preset's must do as they are.

    Raises
    ------
    LabelError
        If they cannot, or there are more labels than any can.
    """
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
    mark = examples.unlabelled
    if mark is not None:
        return lambda cells: score_labelled(Tagger(problem.model(cells)), sentences, mark)
    return lambda cells: score(Tagger(problem.model(cells)), sentences, words=False)


def feature_digest(problem: Problem, held_out: TrainingData | None = None) -> str:
    """SHA-256 of the features of the sentences to learn from, and of what those of a dev set say.

    It tells attributes apart that have the same name, as templates and data do not.
    """
    sha, (_, x, *keys) = sha256(), problem.corpus
    for array in (*keys, *x):
        sha.update(b"\0" if array is None else np.ascontiguousarray(array).data)
    if held_out is not None:
        encoder = Encoder(problem.compiled, backend.hash_strings)
        for name, column in zip(problem.compiled.columns, held_out.columns, strict=True):
            encoder.extend(name, 0, column.types)
        sha.update(np.ascontiguousarray(encoder.hashes[:, : len(encoder)]).data)
    return sha.hexdigest()


def wonder_at_many(labels: int, tokens: int, column: LabelColumn) -> None:
    """Say so if there are more labels than a column of labels has."""
    if labels > 1000 or (labels > 50 and labels > tokens / 5):
        _log.warning(
            "the column %s has %d different labels in %d tokens; is it the right one?",
            column,
            labels,
            tokens,
        )
