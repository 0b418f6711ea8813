"""Learning tasks: what to learn, from which columns, with which templates and settings."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seqtag.engine.arrays import MAX_LABELS, MAX_TRIGRAM_LABELS, MOST_WITH_BIGRAMS
from seqtag.errors import LabelError, TemplateError
from seqtag.features.language import preset_names
from seqtag.labels.coding import LabelCoding
from seqtag.labels.lemmas import lemma_coding
from seqtag.training.warm_start import coding_to_go_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from seqtag.features.templates import TemplateSet
    from seqtag.labels.column import LabelColumn
    from seqtag.labels.schemes import Transition
    from seqtag.model.model import Model
    from seqtag.settings import Settings
    from seqtag.tables.table import WordTable

TEXT_COMPONENTS = ("tokens", "words")
"""Components that are learned from the text of a treebank."""

_log = logging.getLogger("seqtag")


@dataclass(frozen=True)
class Task:
    """Description of what to learn, before any sentence is numbered.

    A tagger is one task, a pipeline a list of them, which `seqtag.training.plan.plan` makes.
    `seqtag.training.problem.build_problem` turns a task and its examples into a problem.

    Attributes
    ----------
    column
        The label column.
    templates, settings
        Templates with their word tables, and the settings of training.
    available
        Input columns: those of the corpus except those of the label, in order.
    init
        The model to continue from.
    coding
        The encoding of the labels; None to choose it by the labels of the data.
    constrain
        Decode valid sequences of chunk labels only.
    encoding_given
        Whether the encoding of the settings was given by the caller; that of a preset applies to
        chunk labels only.
    name
        The preset, or the origin of the templates.
    attesting
        Tables of words that lemmas may be.
    others
        Other tasks of this column, for data that they suit better: see
        `seqtag.training.choose.choose`.
    chosen
        What was measured to choose among them, as a model records it.
    """

    column: LabelColumn
    templates: TemplateSet
    settings: Settings
    available: tuple[str, ...]
    init: Model | None = None
    coding: LabelCoding | None = None
    constrain: bool = True
    encoding_given: bool = False
    name: str = ""
    attesting: tuple[WordTable, ...] = ()
    others: tuple[Task, ...] = ()
    chosen: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Input columns that the templates look at."""
        return self.templates.looks_at(self.available)

    @property
    def all_columns(self) -> list[str]:
        """Input columns that its templates or those of the others look at, in order."""
        seen = {name for each in (self, *self.others) for name in each.columns}
        return [name for name in self.available if name in seen]

    @property
    def reads_text(self) -> bool:
        """Whether its examples are made of text: see `seqtag.training.treebank`."""
        return self.column.name in TEXT_COMPONENTS

    def setting(self, **values: Any) -> Task:
        """Return the task with other values of settings."""
        return replace(self, settings=replace(self.settings, **values))

    def coding_for(
        self, transitions: Mapping[Transition, int], pairs: Iterable[tuple[str, str]]
    ) -> LabelCoding:
        """Return the encoding of the labels.

        Parameters
        ----------
        transitions
            Counts of label transitions.
        pairs
            Pairs of form and label, which lemmas depend on.

        Raises
        ------
        LabelError
            If the caller gave an encoding and the labels are no chunk labels, or the model to
            continue from has another encoding.
        TemplateError
            If labels are learned by the form, and no template looks at it.
        """
        encoding_given, settings = self.encoding_given, self.settings
        if self.coding is not None:
            coding = self.coding
        elif self.init is not None:
            coding = coding_to_go_on(
                self.init,
                transitions,
                settings,
                constrain=self.constrain,
                encoding_given=encoding_given,
            )
        elif self.column.is_lemma and not (encoding_given and settings.encoding != "keep"):
            coding = lemma_coding(pairs)
        else:
            coding = LabelCoding.choose(
                transitions,
                settings.encoding,
                constrained=self.constrain,
                encoding_given=encoding_given,
            )
        if coding.needs_forms and "form" not in self.columns:
            msg = (
                "expected a template that looks at the column form, from which the column "
                f"{self.column} is learned, found none; add form[0]"
            )
            raise TemplateError(msg, source=self.templates.source)
        return coding

    def templates_for(self, labels: int) -> TemplateSet:
        """Return the templates that are possible with this number of labels.

        Templates of a preset that allow fewer labels only are left out, with a warning.

        Raises
        ------
        LabelError
            If custom templates allow fewer labels only, or there are more labels than any
            templates allow.
        """
        if labels > MAX_LABELS:
            msg = (
                f"expected at most {MAX_LABELS:,} labels in the column {self.column}, found "
                f"{labels:,}; check that it is the label column"
            )
            raise LabelError(msg)
        fitting, limit, what = self.templates, MAX_LABELS, ""
        if labels > MAX_TRIGRAM_LABELS:
            fitting = fitting.at_order(1).without_edges()
            limit, what = MAX_TRIGRAM_LABELS, "label trigrams and word-dependent label bigrams"
        if labels > MOST_WITH_BIGRAMS:
            fitting = fitting.at_order(0)
            limit, what = MOST_WITH_BIGRAMS, "label bigrams"
        if fitting == self.templates:
            return self.templates
        if self.templates.source not in {f"{name}.txt" for name in preset_names()}:
            msg = (
                f"expected at most {limit:,} labels with {what}, found {labels:,} in the column "
                f"{self.column}; leave such templates out, or choose another column"
            )
            raise LabelError(msg, source=self.templates.source)
        _log.warning(
            "the column %s has %s labels: learned without %s, which are for %s at most",
            self.column,
            f"{labels:,}",
            what,
            f"{limit:,}",
        )
        return fitting
