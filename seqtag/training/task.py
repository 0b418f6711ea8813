"""Learning tasks: what to learn, with which templates and settings; candidates to choose among.

Where a sentence is tagged in two passes, the first one is a list of hidden tasks: one for the label
column, and one for each companion column, because UPOS often disambiguates XPOS and the other way
round. The second pass sees their labels of the neighboring words, on both sides.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from seqtag.corpus.sentence import find_column, has_column
from seqtag.engine.arrays import MAX_LABELS, MAX_TRIGRAM_LABELS, MOST_WITH_BIGRAMS
from seqtag.errors import CorpusError, LabelError, TemplateError, did_you_mean
from seqtag.features.language import load as load_templates
from seqtag.features.language import preset_names, with_predicted, without_predicted
from seqtag.features.templates import TemplateSet
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import NO_LABELS, LabelColumn
from seqtag.labels.lemmas import lemma_coding
from seqtag.labels.schemes import scheme_of
from seqtag.model.bundle import predicted_name
from seqtag.settings import Settings
from seqtag.tables.lexicon import check_used, given_tables, with_tables
from seqtag.training.warm_start import (
    check_labels_column,
    coding_to_go_on,
    merged_templates,
    part_of,
    settings_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from seqtag.labels.schemes import Transition
    from seqtag.model.model import Model
    from seqtag.tables.table import WordTable
    from seqtag.tagging.pipeline import Loaded
    from seqtag.training.data import TrainingData

AUTO = "auto"
"""Value of ``templates`` for trying the presets that fit the labels."""

TEXT_COMPONENTS = ("tokens", "words")
"""Components that are learned from the text of a treebank."""

_FOR_CHUNKS = ("chunk", "ner")
_FOR_WORDS = ("pos", "morph")
_MANY = 255  # labels; above, the components of labels are learned if there are any
_COMPANIONS = {"upos": ("xpos",), "xpos": ("upos",)}
"""Columns that a first pass predicts besides the label column, if the corpus has them."""

_log = logging.getLogger("seqtag")


@dataclass(frozen=True)
class Task:
    """Description of what to learn, before any sentence is numbered.

    A tagger is one task, a pipeline is a list of them, and two passes are a list with hidden tasks
    in front. `seqtag.training.problem.build_problem` turns a task and its examples into a problem.

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
    hidden
        Whether only later tasks see the labels, as columns of the names `predicted_name`.
    chosen
        What was measured where values were chosen automatically, as a model records it.
    scores_lengths
        Whether sentence lengths get scores, after the training of breaks.
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
    hidden: bool = False
    chosen: Mapping[str, Any] = field(default_factory=dict)
    scores_lengths: bool = False

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Input columns that the templates look at."""
        return self.templates.looks_at(self.available)

    @property
    def stage(self) -> str:
        """Name of its checkpoints: that of the column, ``first.upos`` if it is hidden."""
        return predicted_name(self.column.name) if self.hidden else self.column.name

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the columns that later tasks may look at."""
        names = self.column.columns
        return tuple(map(predicted_name, names)) if self.hidden else names

    @property
    def reads_text(self) -> bool:
        """Whether its examples are made of text: see `seqtag.training.treebank`."""
        return self.column.name in TEXT_COMPONENTS

    @property
    def knows_words(self) -> bool:
        """Whether templates look at what identifies known words."""
        names = {"form", *(n for n, name in enumerate(self.available) if name == "form")}
        terms = chain.from_iterable(template.terms for template in self.templates.templates)
        return any(term.function == "normal" and term.column in names for term in terms)

    def without_auto(self) -> Task:
        """Return the task with the usual values of automatic settings."""
        task = self
        if self.settings.tag_dictionary == "auto" and not (self.knows_words or self.reads_text):
            _log.info(
                "tag-dictionary auto: no template uses normal, which identifies known words: 0"
            )
            task = task.setting(tag_dictionary=0)
        return replace(task, settings=task.settings.without_auto())

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


def _fitted(templates: TemplateSet, available: tuple[str, ...]) -> TemplateSet:
    """Return built-in templates for some columns: with other names of tags, or without them."""
    missing = [name for name in templates.columns if name not in available]
    if "form" in missing:
        msg = (
            "expected a column form, which the built-in templates look at, found "
            f"{', '.join(available) or 'none'}; rename a column, or give templates of your own"
        )
        raise TemplateError(msg)
    others = {name: find_column(name, available) for name in missing}
    for name, other in others.items():
        if other:
            _log.info("the column %s serves as %s in the templates", other, name)
        else:
            _log.info("no column %s: the templates that look at it are left out", name)
    named = {name: other for name, other in others.items() if other}
    return templates.renamed(named).within(available) if missing else templates


def names_for(column: LabelColumn, available: Sequence[str]) -> list[str]:
    """Return the presets for a column whose name does not tell what its labels are.

    They look at columns that are available; `fitting_labels` chooses among them.

    Examples
    --------
    >>> from seqtag.labels.column import NO_LABELS, LabelColumn
    >>> names_for(LabelColumn("tag"), ["form"])
    ['ner', 'pos', 'morph']
    """
    if column.is_known and not {column.preset} & {*_FOR_CHUNKS, *_FOR_WORDS}:
        return [column.preset]
    found = []
    for name in (*_FOR_CHUNKS, *_FOR_WORDS):
        try:
            load_templates(name).compile(available)
        except TemplateError:
            continue
        found.append(name)
    return found


def fitting_labels(tasks: Sequence[Task], examples: TrainingData) -> list[Task]:
    """Return the tasks whose presets fit the labels, the usual one first; at least one.

    Chunk labels are learned by ``chunk`` if there are parts of speech, else by ``ner``; more than
    255 labels that have components, such as ``NOUN|Case=Nom``, by ``morph``; others by ``pos``:
    ``upos+feats``, too, where its labels are few. Where another name of a column tells what its
    labels are, the preset of that name is the usual one.
    """
    if len(tasks) == 1:
        return [*tasks]
    column, labels = tasks[0].column, examples.labels.types
    kind = _FOR_CHUNKS if scheme_of(examples.transitions()) else _FOR_WORDS
    fitting = [task for task in tasks if task.name in kind]
    by_labels = not column.is_known or len(column.columns) > 1
    usual = kind[0] if by_labels else column.preset
    if kind == _FOR_WORDS and by_labels and len(labels) > _MANY:
        composed = 2 * sum("|" in label for label in labels) > len(labels)
        usual = "morph" if composed else usual
    return sorted(fitting, key=lambda task: task.name != usual) or [*tasks]


# --------------------------------------------------------------------------- pipelines
PRESETS: Mapping[str, str] = {"upos": "pos", "xpos": "xpos", "feats": "feats", "lemma": "lemma"}
"""Columns that a pipeline learns by default, in their order, and the preset of each."""

COMPONENTS = (*TEXT_COMPONENTS, *PRESETS)
"""Components that a pipeline learns by default, in the order in which they run."""

_MANY_FEATS = "morph-tags"  # preset for more values of FEATS than `_MANY`


def component_names(
    available: Sequence[str], labels: Sequence[str] | None, source: str | None
) -> list[str]:
    """Return the components of a pipeline in the order in which they run.

    Parameters
    ----------
    available
        Columns of the treebank.
    labels
        Those asked for; None for all of `COMPONENTS` that the treebank has.
    source
        Its file, for messages.

    Raises
    ------
    CorpusError
        If the treebank has none of the columns to learn, or not all that are asked for.
    """
    found = [name for name in PRESETS if name in available]
    if labels is None:
        if not found:
            msg = (
                f"expected one or several of the columns {', '.join(PRESETS)} to learn, found "
                f"{', '.join(available)}; name the columns with --columns"
            )
            raise CorpusError(msg, source=source)
        return [*(TEXT_COMPONENTS if {"id", "misc"} <= {*available} else ()), *found]
    others = [name for name in dict.fromkeys(labels) if name not in COMPONENTS]
    unknown = [n for n in others if not has_column(n, available) or n in (*NO_LABELS, "misc")]
    missing = [name for name in labels if name in PRESETS and name not in available]
    if "all" in labels:
        named = [*TEXT_COMPONENTS, *found, *(name for name in others if name != "all")]
        msg = (
            f"expected all alone or names of columns, found {','.join(labels)}; name each column, "
            f"such as {','.join(dict.fromkeys(named))}"
        )
        raise CorpusError(msg, source=source)
    if unknown or missing or not labels:
        known = (*TEXT_COMPONENTS, *found)
        near = next(filter(None, (did_you_mean(name, known) for name in unknown)), "")
        msg = (
            f"expected some of {', '.join(known)} to learn, found "
            f"{', '.join(labels) or 'none'}{near}; name the columns with --columns, and what to "
            "learn with --label"
        )
        raise CorpusError(msg, source=source)
    return [*(name for name in (*TEXT_COMPONENTS, *found) if name in labels), *others]


@dataclass(frozen=True)
class Request:
    """What a user asks to learn with: makes the tasks of columns.

    Attributes
    ----------
    templates
        Preset, file or templates; None for those of the model to continue from, or else the preset
        of the column; ``auto`` for all presets that fit the labels.
    settings
        Values that come before the settings of the templates; None keeps the value of the
        templates.
    tables
        Word tables to look into.
    init
        The model to continue from.
    constrain
        As in `Task`.
    """

    templates: str | PathLike[str] | TemplateSet | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[WordTable] = ()
    init: Loaded | None = None
    constrain: bool = True

    def task(
        self,
        column: LabelColumn,
        available: Sequence[str],
        templates: str | PathLike[str] | TemplateSet | None = None,
        tables: Sequence[WordTable] | None = None,
    ) -> Task:
        """Return the task of learning a column from the input columns available.

        Parameters
        ----------
        column, available
            The label column and the input columns.
        templates
            As the attribute, but not ``auto``.
        tables
            Others than those of the request.

        Raises
        ------
        TemplateError
            If the model to continue from has other templates, or another table of the same name.
        LabelError, ModelFileError
            As `part_of`.
        """
        init, given, chosen = part_of(self.init, column, self.settings), self.settings, None
        tables = self.tables if tables is None else tables
        if templates is not None:
            chosen = templates if isinstance(templates, TemplateSet) else load_templates(templates)
        if init is not None:
            values = settings_of(init, chosen.settings if chosen else {}, given)
            chosen = chosen and given_tables(chosen, tables, init.tables)
            chosen = given_tables(merged_templates(init, chosen), tables, init.tables)
        else:
            chosen = given_tables(chosen or load_templates(column.preset), tables)
            if templates is None and column.is_lemma:  # tags are optional
                chosen = chosen.within(available)
            elif templates is None or templates in preset_names():
                chosen = _fitted(chosen, tuple(available))
            values = Settings().with_values(chosen.settings).with_values(given)
        if init is not None:  # a model of two passes is refused, too
            both = replace(values, passes=2) if init.first else values
            both.in_one_pass("going on from a model", "train one of two passes anew")
        return Task(
            column,
            chosen,
            values,
            tuple(available),
            init,
            constrain=self.constrain,
            encoding_given=given.get("encoding") is not None,
            name=str(templates),
            attesting=tuple(tables) if column.is_lemma else (),
        )

    def tagger(self, column: LabelColumn, available: Sequence[str]) -> list[Task]:
        """Return the candidates of a tagger: several where its labels or a trial decide.

        Raises
        ------
        TemplateError
            As `task`; or if no template looks into one of the tables.
        LabelError
            If the model to continue from does not label the column.
        """
        names: Sequence[Any] = [self.templates]
        if self.init is not None:
            check_labels_column(self.init, column)
        by_labels = not column.is_known or len(column.columns) > 1
        if self.templates == AUTO or (self.templates is None and by_labels):
            names = [None] if self.init else names_for(column, available) or [None]
        tasks = [self.task(column, available, name) for name in names]
        if not column.is_lemma:
            check_used(self.tables, [task.templates for task in tasks])
        return tasks

    def component(self, name: str, available: Sequence[str], examples: TrainingData) -> list[Task]:
        """Return the candidates of a column of a pipeline; the first is the usual one.

        Parameters
        ----------
        name
            The column.
        available
            The input columns: words, and what earlier components predict.
        examples
            The treebank, with its labels.
        """
        column = LabelColumn(name)
        if part_of(self.init, column, self.settings) is not None:
            tasks = [self.task(column, available)]
        elif name == "feats" and len(examples.labels.types) > _MANY:
            templates = load_templates(_MANY_FEATS)
            inputs = {tuple(each for each in available if each != "xpos"), tuple(available)}
            tasks = [
                replace(self.task(column, seen, templates.within(seen)), name=",".join(seen))
                for seen in sorted(inputs, key=len)
            ]
        elif name in PRESETS:
            templates = load_templates(PRESETS[name]).within(available)
            tasks = [self.task(column, available, templates)]
            if name == "feats" and self.settings.get("label_parts") is None:
                tasks = [task.setting(label_parts="whole") for task in tasks]  # on six corpora
        else:
            presets = [column.preset] if column.is_known else names_for(column, available)
            tasks = [self.task(column, available, each) for each in presets or [column.preset]]
            tasks = fitting_labels(tasks, examples)[:1]
        # the encoding is for components of chunk labels
        return [replace(task, encoding_given=False) for task in tasks]

    def text(self, name: str, presets: Sequence[str], tables: Sequence[WordTable]) -> list[Task]:
        """Return the candidates of a component that reads text: a task for each preset.

        Parameters
        ----------
        name
            The component.
        presets
            The presets, unless the model to continue from has the component.
        tables
            Word tables to look into.
        """
        column = LabelColumn(name)
        init = part_of(self.init, column, self.settings)
        if init is not None:
            tasks = [self.task(column, init.templates.columns, tables=())]
        else:
            tasks = []
            for preset in presets:
                columns = with_tables(load_templates(preset), tables).columns
                tasks.append(self.task(column, columns, preset, tables))
        return [replace(task, coding=LabelCoding()).setting(passes=1) for task in tasks]


# --------------------------------------------------------------------------- two passes
def companions_in(task: Task, columns: Iterable[str]) -> list[str]:
    """Return the columns that a first pass predicts besides that of the task."""
    names = _COMPANIONS.get(task.column.name, ())
    return [name for name in names if name in columns and name not in task.templates.columns]


def in_one_pass(task: Task) -> list[Task]:
    """Return the list of the task alone, without templates for labels of a first pass."""
    predicted = [*map(predicted_name, (*task.column.columns, *companions_in(task, task.available)))]
    templates = without_predicted(task.templates, predicted)
    return [replace(task, templates=templates).setting(passes=1)]


def in_two_passes(task: Task, companions: Sequence[str]) -> list[Task]:
    """Return the hidden tasks of a first pass, then the task, which sees their labels.

    Templates that look at columns of the first pass, such as ``first.upos``, are for the second
    pass only. If there are none, the second pass gets the usual ones in addition.

    Parameters
    ----------
    task
        The task.
    companions
        Columns that are predicted as well.

    Raises
    ------
    CorpusError
        If the corpus has a column of the name of one that the first pass predicts.
    """
    predicted = [*map(predicted_name, (*task.column.columns, *companions))]
    taken = [name for name in predicted if name in task.available]
    if taken:
        msg = (
            f"expected a corpus without a column {taken[0]}, which the first of two passes "
            "predicts, found one; give it another name with --columns"
        )
        raise CorpusError(msg)
    known = companions_in(task, task.available)
    missing = [predicted_name(name) for name in known if name not in companions]
    templates = with_predicted(without_predicted(task.templates, missing), predicted)
    seen = templates.looks_at([*task.available, *predicted])
    [alone] = in_one_pass(task)
    first = replace(alone, hidden=True, chosen={})
    others = [
        replace(first, column=LabelColumn(name), coding=LabelCoding(), encoding_given=False)
        for name in companions
        if predicted_name(name) in seen
    ]
    available = (*task.available, *(name for name in predicted if name in seen))
    return [first, *others, replace(task, templates=templates, available=available)]


def inputs_of(candidates: Sequence[Task]) -> list[str]:
    """Return the columns that candidates look at, or predict in a first pass."""
    needed: set[str] = set()
    for task in candidates:
        tasks = [task]
        if task.settings.passes != 1:
            tasks = in_two_passes(task, companions_in(task, task.available))
        needed |= {name for each in tasks for name in (*each.columns, each.column.name)}
    return [name for name in candidates[0].available if name in needed]
