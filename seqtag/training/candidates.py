"""Candidates: learning tasks of a label column, with different presets and settings."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from seqtag.corpus.sentence import find_column
from seqtag.errors import TemplateError
from seqtag.features.language import load as load_templates
from seqtag.features.language import preset_names
from seqtag.features.templates import TemplateSet
from seqtag.labels.schemes import scheme_of
from seqtag.settings import Settings
from seqtag.tables.lexicon import (
    check_used,
    given_tables,
)
from seqtag.training.problem import LearningTask
from seqtag.training.warm_start import check_to_go_on, merged_templates, settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from seqtag.labels.column import LabelColumn
    from seqtag.model.model import Model
    from seqtag.tables.table import WordTable
    from seqtag.training.data import TrainingData

_log = logging.getLogger("seqtag")

AUTO = "auto"
"""Value of ``templates`` for trying the presets that fit the labels."""

_FOR_CHUNKS = ("chunk", "ner")
_FOR_WORDS = ("pos", "morph")
_MANY = 255  # labels; above, the components of labels are learned if there are any


def learning_task(
    column: LabelColumn,
    available: Sequence[str],
    templates: str | PathLike[str] | TemplateSet | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    tables: Sequence[WordTable] = (),
    init: Model | None = None,
    constrain: bool = True,
) -> LearningTask:
    """Return the task of learning a column.

    Parameters
    ----------
    column
        The label column.
    available
        The input columns.
    templates
        Preset, file or templates; None for those of the model to continue from, or else the
        preset of the column.
    settings
        Values that come before the settings of the templates; None keeps the value of the
        templates.
    tables
        Word tables to look into.
    init
        The model to continue from.
    constrain
        As in `LearningTask`.

    Raises
    ------
    TemplateError
        If the model to continue from has other templates, or another table of the same name.
    """
    given, chosen = settings or {}, None
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
    check_to_go_on(init, values)
    return LearningTask(
        column,
        chosen,
        values,
        tuple(available),
        init,
        constrain=constrain,
        encoding_given=given.get("encoding") is not None,
        name=str(templates),
        attesting=tuple(tables) if column.is_lemma else (),
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


def candidate_tasks(
    column: LabelColumn,
    available: Sequence[str],
    templates: str | PathLike[str] | TemplateSet | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    tables: Sequence[WordTable] = (),
    init: Model | None = None,
    constrain: bool = True,
) -> list[LearningTask]:
    """Return the tasks of learning a column: several where the labels or a trial decide.

    Parameters are those of `learning_task`, but templates may be ``auto``.

    Raises
    ------
    TemplateError
        As `learning_task`; or if no template looks into one of the tables.
    """
    names: Sequence[Any] = [templates]
    if templates == AUTO or (templates is None and not column.is_known):
        names = [None] if init else names_for(column, available) or [None]
    tasks = [
        learning_task(
            column, available, name, settings, tables=tables, init=init, constrain=constrain
        )
        for name in names
    ]
    if not column.is_lemma:
        check_used(tables, [task.templates for task in tasks])
    return tasks


def names_for(column: LabelColumn, available: Sequence[str]) -> list[str]:
    """Return the presets for a column whose name does not tell what its labels are.

    They look at columns that are available; `fitting_labels` chooses among them.

    Examples
    --------
    >>> from seqtag.labels.column import LabelColumn
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


def input_columns(tasks: Sequence[LearningTask], available: Sequence[str]) -> list[str]:
    """Return all columns that some task looks at, in their order."""
    both = [each for task in tasks for each in (task, task.second) if each is not None]
    wanted = {name for task in both for name in task.columns}
    return [name for name in available if name in wanted]


def fitting_labels(tasks: Sequence[LearningTask], examples: TrainingData) -> list[LearningTask]:
    """Return the tasks whose presets fit the labels, the usual one first; at least one.

    Chunk labels are learned by ``chunk`` if there are parts of speech, else by ``ner``; more than
    255 labels that have components, such as ``NOUN|Case=Nom``, by ``morph``; others by ``pos``.
    Where the name of the column tells what its labels are, the preset of that name is the usual
    one.
    """
    if len(tasks) == 1:
        return [*tasks]
    column, labels = tasks[0].column, examples.labels.types
    kind = _FOR_CHUNKS if scheme_of(examples.transitions()) else _FOR_WORDS
    fitting = [task for task in tasks if task.name in kind]
    usual = column.preset if column.is_known else kind[0]
    if kind == _FOR_WORDS and not column.is_known and len(labels) > _MANY:
        composed = 2 * sum("|" in label for label in labels) > len(labels)
        usual = "morph" if composed else usual
    return sorted(fitting, key=lambda task: task.name != usual) or [*tasks]
