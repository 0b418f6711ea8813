"""The plan of a training: from what is asked for, and the names of columns, to its tasks."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from seqtag.corpus.sentence import find_column, has_column
from seqtag.errors import CorpusError, TemplateError, did_you_mean
from seqtag.features.language import load as load_templates
from seqtag.features.language import preset_names
from seqtag.features.templates import TemplateSet
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import NO_LABELS, LabelColumn
from seqtag.labels.schemes import scheme_of
from seqtag.settings import MANY_LABELS, SETTINGS, Settings
from seqtag.tables.lexicon import given_tables, tables_of, with_tables
from seqtag.training.task import TEXT_COMPONENTS, Task
from seqtag.training.text_examples import is_unpunctuated, word_table
from seqtag.training.treebank import PARTS_OF_WORDS
from seqtag.training.warm_start import check_labels_column, part_of, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from seqtag.tables.table import WordTable
    from seqtag.tagging.pipeline import Loaded
    from seqtag.training.data import TrainingData
    from seqtag.training.text_examples import TreebankText

PRESETS: Mapping[str, str] = {"upos": "pos", "xpos": "xpos", "feats": "feats", "lemma": "lemma"}
"""Columns that a pipeline learns by default, in their order, and the preset of each."""

COMPONENTS = (*TEXT_COMPONENTS, *PRESETS)
"""Components that a pipeline learns by default, in the order in which they run."""

_FOR_CHUNKS = ("chunk", "ner")
_FOR_WORDS = ("pos", "morph")
_FOR_COMPONENTS = ("morph", "morph-tags")

_log = logging.getLogger("seqtag")


@dataclass(frozen=True)
class Request:
    """What a user asks to learn.

    Attributes
    ----------
    labels
        Names of the columns.
    is_pipeline
        Whether they are components, each of which sees the labels of those before it.
    templates
        Preset, file or templates; None for those of the model to continue from, or else the preset
        of the column.
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

    labels: Sequence[str]
    is_pipeline: bool = False
    templates: str | PathLike[str] | TemplateSet | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[WordTable] = ()
    init: Loaded | None = None
    constrain: bool = True


def plan(request: Request, columns: Sequence[str], text: TreebankText | None = None) -> list[Task]:
    """Return the tasks of a training, in the order in which they are trained.

    This is the one place where tasks are made. A task that depends on the labels of the data, or on
    a trial, has others to choose from.

    Parameters
    ----------
    request
        What to learn.
    columns
        The columns of the corpus; those of a pipeline are ``form`` and its labels.
    text
        The text of the treebank, for the component tokens.

    Raises
    ------
    TemplateError
        If templates do not fit the columns, the model to continue from has others, or it has
        another table of the same name.
    LabelError, ModelFileError
        As `seqtag.training.warm_start.part_of`.

    Examples
    --------
    >>> [task] = plan(Request(["tag"]), ["form", "tag"])
    >>> task.name, [other.name for other in task.others]
    ('ner', ['pos', 'morph'])
    """
    if not request.is_pipeline:
        column = LabelColumn(request.labels[0])
        return [_tagger(request, column, [n for n in columns if n not in column.columns])]
    words = [name for name in request.labels if name not in TEXT_COMPONENTS]
    tasks = [
        _component(request, LabelColumn(name), ["form", *words[:number]])
        for number, name in enumerate(words)
    ]
    if "words" in request.labels:
        tasks.insert(0, _of_text(request, "words", ["multiword", PARTS_OF_WORDS], ()))
    if text is not None:
        table = word_table(text)
        lexicons = [each for each in request.tables if each.kind == "lexicon"]
        tables = tables_of([table, *lexicons]) if table else []
        preset = "sentences" if is_unpunctuated(text) else "segment"
        tasks.insert(0, _of_text(request, "tokens", [preset], tables))
    return tasks


def _tagger(request: Request, column: LabelColumn, available: Sequence[str]) -> Task:
    """Return the task of a tagger."""
    if request.init is not None:
        check_labels_column(request.init, column)
    names: Sequence[Any] = [request.templates]
    by_labels = not column.is_known or len(column.columns) > 1
    if by_labels and request.templates is None and request.init is None:
        names = presets_for(column, available) or [None]
    return _with_others(_task(request, column, available, name) for name in names)


def _component(request: Request, column: LabelColumn, available: Sequence[str]) -> Task:
    """Return the task of a column of a pipeline; `available` are words and earlier columns."""
    if part_of(request.init, column, request.settings) is not None:
        tasks = [_task(request, column, available)]
    elif column.name in PRESETS:
        inputs = {PRESETS[column.name]: available}
        if column.name == "feats":  # with XPOS, many values are not learned better
            inputs["morph-tags"] = [name for name in available if name != "xpos"]
        tasks = []
        for preset, seen in inputs.items():
            templates = load_templates(preset).within(seen)
            tasks.append(replace(_task(request, column, seen, templates), name=preset))
    else:
        presets = [column.preset] if column.is_known else presets_for(column, available)
        tasks = [_task(request, column, available, each) for each in presets or [column.preset]]
    # the encoding is for components of chunk labels
    return _with_others(replace(task, encoding_given=False) for task in tasks)


def _of_text(
    request: Request, name: str, presets: Sequence[str], tables: Sequence[WordTable]
) -> Task:
    """Return the task of a component that reads text, with the others of further presets."""
    column = LabelColumn(name)
    init = part_of(request.init, column, request.settings)
    if init is not None:
        tasks = [_task(request, column, init.templates.columns, tables=())]
    else:
        columns = [with_tables(load_templates(preset), tables).columns for preset in presets]
        tasks = [
            _task(request, column, available, preset, tables)
            for preset, available in zip(presets, columns, strict=True)
        ]
    return _with_others(replace(task, coding=LabelCoding()) for task in tasks)


def _with_others(tasks: Iterable[Task]) -> Task:
    first, *others = tasks
    return replace(first, others=tuple(others))


def _task(
    request: Request,
    column: LabelColumn,
    available: Sequence[str],
    templates: str | PathLike[str] | TemplateSet | None = None,
    tables: Sequence[WordTable] | None = None,
) -> Task:
    """Return the task of learning a column from the columns available, with some templates."""
    settings = request.settings
    init = part_of(request.init, column, settings)
    tables = request.tables if tables is None else tables
    if init is not None:
        if templates is not None:
            msg = (
                "expected no templates with a model to continue from, whose templates apply, found "
                f"{templates!s:.60}; leave them out, or train without --init"
            )
            raise TemplateError(msg)
        chosen = given_tables(init.templates, tables, init.tables)
        values = settings_of(init, settings)
        available = init.columns  # features are numbered by the places of columns
    else:
        if not isinstance(templates, TemplateSet):
            chosen = load_templates(templates or column.preset)
        else:
            chosen = templates
        chosen = given_tables(chosen, tables)
        if templates is None and column.is_lemma:  # tags are optional
            chosen = chosen.within(available)
        elif templates is None or templates in preset_names():
            chosen = _fitted(chosen, tuple(available))
        values = Settings().with_values(chosen.settings).with_values(settings)
        is_file = templates is not None and not isinstance(templates, TemplateSet)
        if is_file and templates not in preset_names() and not chosen.settings:
            used = ", ".join(f"{n} {getattr(values, s.attribute)}" for n, s in SETTINGS.items())
            _log.info("%s: no lines such as set epochs 10, so that it has %s", templates, used)
    return Task(
        column,
        chosen,
        values,
        tuple(available),
        init,
        constrain=request.constrain,
        encoding_given=settings.get("encoding") is not None,
        name=str(templates),
        attesting=tuple(t for t in tables if t.kind != "phrase") if column.is_lemma else (),
    )


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


# --------------------------------------------------------------------------- by columns and labels
def presets_for(column: LabelColumn, available: Sequence[str]) -> list[str]:
    """Return the presets for a column whose name does not tell what its labels are.

    They look at columns that are available; `fitting` chooses among them.

    Examples
    --------
    >>> from seqtag.labels.column import LabelColumn
    >>> presets_for(LabelColumn("tag"), ["form"])
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


def fitting(names: Sequence[str], examples: TrainingData) -> str:
    """Return which of the presets of a column fits its labels.

    Chunk labels are learned by ``chunk`` if there are parts of speech, else by ``ner``; more than
    255 labels that have components, such as ``NOUN|Case=Nom``, by ``morph``; others by ``pos``. In
    pipelines, FEATS with more than 255 values are learned by ``morph-tags``, else by ``feats``.
    """
    found = [name for name in names if name not in _FOR_CHUNKS]
    if len(found) < len(names) and scheme_of(examples.transitions()):
        found = [name for name in names if name in _FOR_CHUNKS]
    labels = examples.labels.types
    composed = 2 * sum("|" in label for label in labels) > len(labels)
    if composed and len(labels) > MANY_LABELS:
        found = [name for name in found if name in _FOR_COMPONENTS] or found
    return (found or [*names])[0]


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
