"""Two passes: models whose labels are columns to the model that goes over a sentence again.

A first pass labels each word by what stands around it; the second sees those labels, also the ones
to the right, which no label chain can.  To the templates of the second, what the first says of
``upos`` is the column ``first.upos``, label for label as it was learnt (chunks in their encoding).
Nobody else sees it: it is in no file that is read or written.

In a model file the models of a first pass stand before the one that they are for, whose entry
``first`` lists their numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seqtag.errors import ModelFileError
from seqtag.model.header import show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seqtag.model.model import Model

PREFIX = "first."
"""What the columns that the first pass fills begin with."""


def first_name(column: str) -> str:
    """Name of the column that holds what the first pass says of another.

    >>> first_name("upos")
    'first.upos'
    """
    return PREFIX + column


def said_by(model: Model) -> dict[str, list[str]]:
    """The columns that a model of a first pass fills, with the value for each of its label ids.

    >>> from seqtag.model.embedded import find_model
    >>> from seqtag.model.bundle import load
    >>> [model] = load(find_model("en-ewt-upos"), "en-ewt-upos")
    >>> {name: values[:2] for name, values in said_by(model).items()}
    {'first.upos': ['ADJ', 'ADP']}
    """
    split = model.column.split(model.labels)
    return {first_name(column): values for column, values in split.items()}


def inputs_of(model: Model) -> tuple[str, ...]:
    """The columns that a model looks at in all its passes, but for what the first one says."""
    if not model.first:
        return model.compiled.columns
    said = {name for each in model.first for name in said_by(each)}
    used = {name for each in (*model.first, model) for name in each.compiled.columns}
    return tuple(name for name in model.columns if name in used - said)


def flat(models: Iterable[Model]) -> list[Model]:
    """All models, each behind those of its first pass."""
    return [each for model in models for each in (*model.first, model)]


def grouped(models: Sequence[Model], firsts: Sequence[Any], source: str) -> list[Model]:
    """The models of a file, each with those of its first pass.

    Parameters
    ----------
    models
        All of them, as `flat` has them.
    firsts
        The entry ``first`` of each, empty where there is none.
    source
        Name of the file, for messages.

    Raises
    ------
    ModelFileError
        If an entry is no list of the models just before, or what they say fits no template.
    """
    found: list[Model] = []
    for number, (model, numbers) in enumerate(zip(models, firsts, strict=True)):
        if numbers == []:
            found.append(model)
            continue
        count = len(numbers) if isinstance(numbers, list) else 0
        before = found[-count:] if 0 < count <= len(found) else []
        expected = list(range(number - count, number))
        plain = all(type(n) is int for n in numbers) if count else False
        if not plain or numbers != expected or any(each.first for each in before):
            msg = (
                f"expected numbers of the models of one pass just before number {number} for its "
                f"first pass, found {show(numbers)}; get the file again or retrain"
            )
            raise ModelFileError(msg, source=source)
        del found[-count:]
        found.append(_joined(model, before, source))
    return found


def _joined(model: Model, first: Sequence[Model], source: str) -> Model:
    """A model with its first pass."""
    said = [name for each in first for name in said_by(each)]
    outside = {name for each in first for name in each.compiled.columns}
    fits = len({*said}) == len(said) and {*said} & {*model.compiled.columns}
    if not fits or outside & {*said} or not outside <= {*model.columns}:
        msg = (
            f"expected a model with templates that look at what its first pass says "
            f"({', '.join(said)}), found the columns {', '.join(model.columns)}; "
            "get the file again or retrain"
        )
        raise ModelFileError(msg, source=source)
    return replace(model, first=tuple(first))
