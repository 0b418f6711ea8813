"""Two passes: a second model that learns from what a first one says of the words around.

The first is a model like any other, learnt from all sentences.  What the second sees of the
training sentences is jackknifed, see `seqtag.training.jackknife`; of a dev set, and of all text
later, it sees what the whole first model says.  Where a corpus has both UPOS and XPOS, the first
pass gives both: what one leaves open, the other often says.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.engine.arrays import pointers
from seqtag.errors import CorpusError
from seqtag.features.encoder import Column
from seqtag.features.language import with_first, without_first
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import LabelColumn
from seqtag.model.bundle import first_name
from seqtag.tagging.tagger import Tagger
from seqtag.training.interruption import AtOnce
from seqtag.training.jackknife import jackknifed, of_part
from seqtag.training.problem import pose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from seqtag.features.templates import TemplateSet
    from seqtag.model.model import Model
    from seqtag.settings import Settings
    from seqtag.training.candidates import Way
    from seqtag.training.data import TrainingData
    from seqtag.training.problem import Problem
    from seqtag.training.runs import Schedule

    Fit = Callable[[Problem, Schedule, "TrainingData | None"], Model]

_ALSO = {"upos": ("xpos",), "xpos": ("upos",)}
"""What a first pass says beside the column to learn, if the corpus has it."""

_FOLDS = 2  # eight folds and all epochs taught the second pass no more, and took nine times as long
_FOLD_EPOCHS = 3

_log = logging.getLogger("seqtag")


def in_passes(way: Way, column: LabelColumn, available: Sequence[str]) -> Way:
    """A way to learn a column, with that of a second pass if its settings ask for one.

    Parameters
    ----------
    way
        Its templates may look at what a first pass says.
    column
        The column to learn.
    available
        The columns beside it.

    Raises
    ------
    CorpusError
        If the corpus has a column of the name of what a first pass says.
    TemplateError
        If templates do not fit the columns.
    """
    if way.settings.passes == 1:
        return replace(way, columns=way.templates.looks_at(available))
    also = [name for name in _ALSO.get(column.name, ()) if name in available]
    also = [name for name in also if name not in way.templates.columns]  # what the text gives
    said = [first_name(name) for name in (*column.columns, *also)]
    taken = [name for name in said if name in available]
    if taken:
        msg = (
            f"expected a corpus without a column {taken[0]}, which is what the first of two passes "
            "says, found one; give it another name with --columns"
        )
        raise CorpusError(msg)
    first, second = without_first(way.templates, said), with_first(way.templates, said)
    again = replace(way, templates=second, columns=second.looks_at([*available, *said]))
    return replace(way, templates=first, columns=first.looks_at(available), second=again)


def companions_of(ways: Iterable[Way], column: LabelColumn) -> list[str]:
    """The columns beside the one to learn of which some second pass sees a first."""
    seen = {name for way in ways if way.second for name in way.second.columns}
    return [name for name in _ALSO.get(column.name, ()) if first_name(name) in seen]


def with_annotated(ways: Iterable[Way], columns: Mapping[str, Column]) -> list[Way]:
    """The ways without what a first pass cannot say: of columns that are not annotated.

    Parameters
    ----------
    ways
        Those of `in_passes`.
    columns
        Those of `companions_of`.
    """
    found = list(ways)
    for name, column in columns.items():
        if "_" not in column.types and len(column.types) > 1:
            continue
        _log.info("the column %s is not annotated throughout: no part of the first pass", name)
        said = [first_name(name)]
        found = [replace(way, second=way.second and _without(way.second, said)) for way in found]
    return found


def _without(way: Way, said: Sequence[str]) -> Way:
    """A way that looks at none of these columns."""
    columns = tuple(name for name in way.columns if name not in said)
    return replace(way, templates=without_first(way.templates, said), columns=columns)


class Sentences(NamedTuple):
    """Sentences to learn from or to score on, with the names of their columns."""

    examples: TrainingData
    names: Sequence[str]

    def of(self, way: Way) -> TrainingData:
        """The columns that a way looks at."""
        return way.part_of(self.examples, self.names)

    def labelled(self, name: str) -> Sentences:
        """The sentences with one of the columns as that to learn."""
        labels = self.examples.columns[self.names.index(name)]
        return self._replace(examples=self.examples._replace(labels=labels, unlabelled=None))

    def with_labels(self, column: LabelColumn, found: Column) -> Sentences:
        """The sentences with what a first pass calls their tokens."""
        said = column.split(found.types)
        columns = [Column(values, found.ids) for values in said.values()]
        examples = self.examples._replace(columns=[*self.examples.columns, *columns])
        return Sentences(examples, [*self.names, *map(first_name, said)])


def fit_twice(
    first: Problem,
    way: Way,
    learnt: Sentences,
    available: Sequence[str],
    schedule: Schedule,
    held_out: Sentences | None,
    fit: Fit,
) -> Model:
    """The model of two passes; that of the first alone if it is interrupted before the second.

    Parameters
    ----------
    first
        What the first pass learns; the second keeps to the settings that were chosen for it.
    way
        How both do.
    learnt, held_out
        The sentences to learn from, and those to score every epoch on.
    available
        The columns of the corpus but those of the label.
    schedule
        Which runs each pass has.
    fit
        Finds the model of a problem.

    Raises
    ------
    KeyboardInterrupt
        If it comes before an epoch is finished, or a second time.
    """
    column, own = first.column, of_part(schedule, "first")
    once = replace(first, settings=replace(first.settings, passes=1))
    _log.info("first pass")
    model = fit(once, own, held_out and held_out.of(way))
    if model.interrupted:
        return model
    models, seen, scored = [], learnt, held_out
    try:
        for name in (column.name, *companions_of([way], column)):
            pass_one = _Pass(once, way.templates, available, fit)
            if name == column.name:
                examples, found = learnt.of(way), model
            else:
                _log.info("first pass: %s", name)
                own = of_part(replace(schedule, on_epoch=None), f"first-{name}")
                examples = learnt.labelled(name).of(way)
                pass_one = pass_one.of_another(examples, LabelColumn(name), way.settings)
                found = _whole(fit(pass_one.problem, own, None))
            models.append(found)
            seen = seen.with_labels(found.column, pass_one.jackknifed(examples, found, own))
            if held_out is not None and scored is not None:
                scored = scored.with_labels(found.column, _labels(found, held_out.of(way)))
        _log.info("second pass")
        second = _second(first, _again(way), seen, available)
        again = fit(second, of_part(schedule, "second"), scored and scored.of(_again(way)))
    except AtOnce:
        raise
    except KeyboardInterrupt:  # what there is so far is a model by itself
        return replace(model, training={**model.training, "interrupted": True})
    return replace(again, first=tuple(models))


def _again(way: Way) -> Way:
    """The way of the second pass."""
    return way.second or way


def _whole(model: Model) -> Model:
    """The model, unless its training was cut short."""
    if model.interrupted:
        raise KeyboardInterrupt
    return model


class _Pass(NamedTuple):
    """What the first pass learns of a column, and how."""

    problem: Problem
    templates: TemplateSet
    available: Sequence[str]
    fit: Fit

    def of_another(self, examples: TrainingData, column: LabelColumn, settings: Settings) -> _Pass:
        """The same of another column; nothing is tried for it."""
        settings = replace(settings.without_auto(), passes=1)
        problem = pose(examples, column, LabelCoding(), self.templates, self.available, settings)
        return self._replace(problem=problem)

    def jackknifed(self, examples: TrainingData, model: Model, schedule: Schedule) -> Column:
        """What it says of the training sentences, by models of the others."""
        if len(examples.lengths) < 2:
            return _labels(model, examples)  # there are no others
        problem, settings = self.problem, self.problem.settings
        settings = replace(settings, epochs=min(_FOLD_EPOCHS, settings.epochs))

        def label(others: TrainingData, held_out: TrainingData, own: Schedule) -> Column:
            of_fold = pose(
                others, problem.column, problem.coding, self.templates, self.available, settings
            )
            return _labels(_whole(self.fit(of_fold, own, None)), held_out)

        return jackknifed(examples, _FOLDS, label, schedule)


def _second(first: Problem, way: Way, seen: Sentences, available: Sequence[str]) -> Problem:
    """What the second pass learns."""
    said = [name for name in way.columns if name not in available]
    columns = [*available, *said]
    problem = pose(seen.of(way), first.column, first.coding, way.templates, columns, first.settings)
    return replace(problem, origin=first.origin)


def _labels(model: Model, examples: TrainingData) -> Column:
    """What a model calls the tokens of some sentences, as it has learnt labels."""
    tagger = Tagger(model)
    worker = tagger.new_worker()
    for name, column in zip(model.compiled.columns, examples.columns, strict=True):
        worker.encoder.extend(name, 0, column.types)
    types = np.array([column.ids for column in examples.columns], np.int32)
    ids = tagger.decode_types(types, pointers(examples.lengths), worker)
    return Column(list(model.labels), ids)
