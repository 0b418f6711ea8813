"""Bundles: the models of a file, one or those of a pipeline, in the order in which they run.

A file has the configuration ``{"parts": [CONFIG, ...]}`` and the tensors of model n as
``pN.NAME``, counted from 0. Word tables are stored as `seqtag.tables.model_io` describes, arrays as
`seqtag.model.compact` does, and known words once for all models that have the same: the entry
``known`` of the others is the number of the model that has them.

A *stacked* model tags a sentence after its *first-pass* models, whose labels are input columns of
its templates, including those to the right, which no label chain can see. The labels that a
first-pass model predicts for ``upos`` are the column ``first.upos``, in its encoding; it is in no
file that is read or written. In a model file, first-pass models precede the model that they are
for, whose entry ``first`` lists their numbers.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seqtag.errors import ModelFileError, SeqtagError, did_you_mean
from seqtag.model import compact, container
from seqtag.model.container import show
from seqtag.model.model import TENSORS, Model, fitting, refuse
from seqtag.tables import model_io

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from seqtag.model.container import Contents
    from seqtag.tables.table import WordTable

_PREFIX = re.compile(r"p(0|[1-9][0-9]?)\.(.+)", re.ASCII)
MOST_PARTS = 100
"""Maximum number of models of a file."""

MOST_DENSE = 2**26
"""Maximum number of label bigrams and trigrams of the models of a file: 256 MB."""


def to_bytes(models: Sequence[Model]) -> bytes:
    """Return the bytes of a model file.

    Raises
    ------
    ModelFileError
        If there are no models, too many, or two for one column.
    """
    return container.to_bytes(*_packed(models))


def save(path: str | PathLike[str], models: Sequence[Model], *, overwrite: bool = True) -> int:
    """Write a model file atomically; return its size in bytes.

    Raises
    ------
    ModelFileError
        If there are no models, too many, or two for one column.
    FileExistsError
        If it exists, has other bytes, and may not be overwritten; the model is kept next to it.
    OSError
        If the file cannot be written.
    """
    return container.save(path, *_packed(models), overwrite=overwrite)


def digest(model: Model) -> str:
    """Return the SHA-256 of a file with this model only, as ``sha256sum`` prints it."""
    return hashlib.sha256(to_bytes([model])).hexdigest()


def models_of(contents: Contents, source: str = "<model>") -> tuple[Model, ...]:
    """Build the models of a file.

    Raises
    ------
    ModelFileError
        If the file is not a model, or its models are inconsistent.
    """
    with fitting(source):
        contents, tables = model_io.unpacked(contents, source)
    each = _split(contents, source)
    _check_number(len(each), source)
    models: list[Model] = []
    for number, one in enumerate(each):
        with fitting(source):
            stored = dict(one.tensors)
            if "known" in one.config:
                owner = _shared(one.config["known"], number, source)
                stored["known"] = each[owner].tensors["known"]
            tensors = compact.unpacked(stored, TENSORS)
        models.append(Model.of(one._replace(tensors=tensors), source, tables))
        _check_dense(models, source)
    models = attach_first_pass(models, [one.config.get("first", []) for one in each], source)
    _check(models, source)
    return tuple(models)


def load(path: str | PathLike[str], source: str) -> tuple[Model, ...]:
    """Load the models of a file, which messages call `source`."""
    return models_of(container.load(path), source)


def _packed(models: Sequence[Model]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the configuration and tensors of a file."""
    _check(models, None)
    every = flatten(models)
    arrays = [compact.packed(model.tensors()) for model in every]
    configs = [model.config() for model in every]
    has_known: dict[tuple[str, bytes], int] = {}
    for place, (config, own) in enumerate(zip(configs, arrays, strict=True)):
        known = own["known"]
        if (first := has_known.setdefault((known.dtype.str, known.tobytes()), place)) < place:
            config["known"] = first
            del own["known"]
    tensors = {f"p{n}.{name}": array for n, own in enumerate(arrays) for name, array in own.items()}
    number: dict[str, int] = {}
    tables: list[WordTable] = []
    for place, (model, config) in enumerate(zip(every, configs, strict=True)):
        if model.first:
            config["first"] = list(range(place - len(model.first), place))
        for table in model.tables:
            if number.setdefault(table.digest, len(number)) == len(tables):
                tables.append(table)
        if model.tables:
            config["tables"] = [number[table.digest] for table in model.tables]
    if not tables:
        return {"parts": configs}, tensors
    described = [*map(model_io.facts_of, tables)]
    return {"parts": configs, "tables": described}, {**tensors, **model_io.packed(tables)}


def _shared(number: Any, place: int, source: str) -> int:
    """Return the number of the model whose known words another, at a place, has too."""
    if type(number) is not int or not 0 <= number < place:
        what = f"the number of one of {place} models before as that with the same known words"
        refuse(f"expected {what}, found {show(number)}", source)
    return number


def _check(models: Sequence[Model], source: str | None) -> None:
    """Refuse a file without a model, with too many, or with two for one column."""
    every = flatten(models)
    _check_number(len(every), source)
    _check_dense(every, source)
    columns = [name for model in models for name in model.column.columns]
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        msg = (
            f"expected models of different columns in a file, found {columns.count(twice[0])} "
            f"for {show(twice[0])}; leave one out"
        )
        raise ModelFileError(msg, source=source)


def _check_number(models: int, source: str | None) -> None:
    if not 1 <= models <= MOST_PARTS:
        msg = f"expected from 1 to {MOST_PARTS} models in a file, found {models}"
        raise ModelFileError(msg, source=source)


def _check_dense(models: Sequence[Model], source: str | None) -> None:
    """Refuse models that need far more memory than their file."""
    dense = sum(model.dense for model in models)
    if dense > MOST_DENSE:
        msg = (
            f"expected models of at most {MOST_DENSE:,} label bigrams and trigrams in a file, "
            f"found {dense:,} in the first {len(models)}; leave one out"
        )
        raise ModelFileError(msg, source=source)


def _split(contents: Contents, source: str) -> list[Contents]:
    """Split a file into the contents of each model."""
    if contents.config.get("kind") == "checkpoint":
        msg = (
            "expected a model, found a checkpoint of a training; resume that one: seqtag train "
            "--checkpoint DIR --resume"
        )
        raise ModelFileError(msg, source=source)
    configs = contents.config.get("parts")
    if not isinstance(configs, list) or not all(isinstance(config, dict) for config in configs):
        refuse(f"expected a list of the models in the file, found {show(configs)}", source)
    tensors: list[dict[str, NDArray[Any]]] = [{} for _ in configs]
    for name, tensor in contents.tensors.items():
        found = _PREFIX.fullmatch(name)
        if found is None or int(found[1]) >= len(configs):
            count = len(configs)
            refuse(f"expected arrays of the {count} models in the file, found {show(name)}", source)
        tensors[int(found[1])][found[2]] = tensor
    return [
        contents._replace(config=config, tensors=part)
        for config, part in zip(configs, tensors, strict=True)
    ]


PREFIX = "first."
"""Prefix of the columns with first-pass labels."""


def predicted_name(column: str) -> str:
    """Return the name of the column with the first-pass labels of another.

    >>> predicted_name("upos")
    'first.upos'
    """
    return PREFIX + column


def predicted_columns(model: Model) -> dict[str, list[str]]:
    """Return the columns that a first-pass model fills, with a value per label id.

    >>> from seqtag.model.embedded import find_model
    >>> from seqtag.model.bundle import load
    >>> upos = load(find_model("en"), "en")[2]
    >>> {name: values[:2] for name, values in predicted_columns(upos).items()}
    {'first.upos': ['ADJ', 'ADP']}
    """
    split = model.column.split(model.labels)
    return {predicted_name(column): values for column, values in split.items()}


def input_columns(model: Model) -> tuple[str, ...]:
    """Return the input columns of a model and its first-pass models, without their labels."""
    if not model.first:
        return model.compiled.columns
    predicted = {name for each in model.first for name in predicted_columns(each)}
    used = {name for each in (*model.first, model) for name in each.compiled.columns}
    return tuple(name for name in model.columns if name in used - predicted)


def standalone(models: Sequence[Model], name: str) -> Model:
    """Return one model of a pipeline, with the models that fill its input columns as first pass.

    Its labels are those that the pipeline gives to the same words.

    Parameters
    ----------
    models
        The models of the pipeline.
    name
        Name of the component.

    Raises
    ------
    SeqtagError
        If there is no such component, or one that fills an input column has others before it.
    """
    named = {model.column.name: model for model in models}
    if name not in named:
        msg = (
            f"expected one of the components {', '.join(named)}, found {name!r}"
            f"{did_you_mean(name, named)}"
        )
        raise SeqtagError(msg)
    model = named[name]
    before = models[: list(named).index(name)]
    first = [each for each in before if {*each.column.columns} & {*input_columns(model)}]
    filled = {column for each in before for column in each.column.columns}
    nested = [each for each in first if each.first or filled & {*input_columns(each)}]
    if not first:
        return model
    if nested or model.first:
        inner = nested[0] if nested else model
        msg = (
            f"expected a component whose inputs are words, or predicted from words alone, found "
            f"{name}, for which {inner.column.name} needs the labels of others first; run the "
            f"pipeline with this component only: pipeline.only({name!r}), --only {name}"
        )
        raise SeqtagError(msg)
    new = {name: predicted_name(name) for each in first for name in each.column.columns}
    # The keys of features come from the places of templates and columns, not from their names.
    templates = model.templates.renamed(new)
    columns = [new.get(column, column) for column in model.columns]
    return replace(
        model,
        templates=templates,
        columns=columns,
        compiled=templates.compile(columns),
        first=tuple(first),
    )


def flatten(models: Iterable[Model]) -> list[Model]:
    """Return all models, each after its first-pass models."""
    return [each for model in models for each in (*model.first, model)]


def attach_first_pass(models: Sequence[Model], firsts: Sequence[Any], source: str) -> list[Model]:
    """Attach the first-pass models of a file to the models they are for.

    Parameters
    ----------
    models
        All models of the file, in the order of `flatten`.
    firsts
        The entry ``first`` of each, empty if it has none.
    source
        Name of the file, for messages.

    Raises
    ------
    ModelFileError
        If an entry does not list the models just before, or no template uses their labels.
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
            what = f"numbers of the models of one pass just before number {number}"
            refuse(f"expected {what} for its first pass, found {show(numbers)}", source)
        predicted = [name for each in before for name in predicted_columns(each)]
        inputs = {name for each in before for name in each.compiled.columns}
        used = len({*predicted}) == len(predicted) and {*predicted} & {*model.compiled.columns}
        if not used or inputs & {*predicted} or not inputs <= {*model.columns}:
            what = f"that use a column of its first pass ({', '.join(predicted)})"
            found_columns = f"found the columns {', '.join(model.columns)}"
            refuse(f"expected a model with templates {what}, {found_columns}", source)
        found[-count:] = [replace(model, first=tuple(before))]
    return found
