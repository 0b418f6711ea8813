"""The models of a file: one, or those of a pipeline, in the order in which they run.

A file of format 2 holds ``{"parts": [CONFIG, ...]}`` and the tensors of part n as ``pN.NAME``,
counted from 0.  A file of format 1 is one model by itself, with neither list nor prefix.  Format 3
is format 2 with word tables, see `seqtag.tables.model_io`, and with models of two passes, see
`seqtag.model.passes`; files without either stay what they were, so that older programs read them.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from seqtag.errors import ModelFileError
from seqtag.model import container
from seqtag.model.header import FORMAT_VERSION, MIN_READER, show
from seqtag.model.model import Model, fitting
from seqtag.model.passes import flat, grouped
from seqtag.tables.model_io import facts_of, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from seqtag.model.container import Contents
    from seqtag.tables.table import WordTable

_PREFIX = re.compile(r"p(0|[1-9][0-9]?)\.(.+)", re.ASCII)
MOST_PARTS = 100
"""Models that a file may hold."""

MOST_DENSE = 2**26
"""Label bigrams and trigrams that the models of a file may have: 256 MB, most of it zeros."""


def to_bytes(models: Sequence[Model]) -> bytes:
    """The file that holds some models.

    Raises
    ------
    ModelFileError
        If there are none, too many, or two that label one column.
    """
    return container.to_bytes(*_packed(models), format=_format_of(models))


def save(path: str | PathLike[str], models: Sequence[Model]) -> int:
    """Write the file that holds some models, whole or not at all; return its size in bytes.

    Raises
    ------
    ModelFileError
        As `to_bytes`.
    OSError
        If the file cannot be written.
    """
    return container.save(path, *_packed(models), format=_format_of(models))


def digest(model: Model) -> str:
    """SHA-256 of the file that holds a model alone: what ``sha256sum`` says of it."""
    return hashlib.sha256(to_bytes([model])).hexdigest()


def models_of(contents: Contents, source: str = "<model>") -> tuple[Model, ...]:
    """The models that a file holds, in any format version that this program reads.

    A later version that says that this program can read it is read as the latest known.

    Raises
    ------
    ModelFileError
        If the file is not one of models, or its parts do not fit together.
    """
    tables: list[WordTable] = []
    if contents.format >= FORMAT_VERSION:
        with fitting(source):
            contents, tables = unpacked(contents, source)
    parts = _READERS[min(contents.format, max(_READERS))](contents, source)
    _check_number(len(parts), source)
    models: list[Model] = []
    for part in parts:
        models.append(Model.of(part, source, tables))
        _check_dense(models, source)
    models = grouped(models, [part.config.get("first", []) for part in parts], source)
    _check(models, source)
    return tuple(models)


def load(path: str | PathLike[str], source: str) -> tuple[Model, ...]:
    """The models of a file, which messages call `source`."""
    return models_of(container.load(path), source)


def _packed(models: Sequence[Model]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Configuration and tensors of the file of some models."""
    _check(models, None)
    every = flat(models)
    tensors = {
        f"p{number}.{name}": tensor
        for number, model in enumerate(every)
        for name, tensor in model.tensors().items()
    }
    configs = [model.config() for model in every]
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
    return {"parts": configs, "tables": [*map(facts_of, tables)]}, {**tensors, **packed(tables)}


def _format_of(models: Sequence[Model]) -> int:
    """The format of the file of some models: the oldest that can hold them."""
    newer = any(model.tables or model.first for model in flat(models))
    return FORMAT_VERSION if newer else MIN_READER


def _check(models: Sequence[Model], source: str | None) -> None:
    """Refuse a file without a part, with too many, or with two that fill one column."""
    every = flat(models)
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
    """Refuse a file without a model, or with too many."""
    if not 1 <= models <= MOST_PARTS:
        msg = f"expected from 1 to {MOST_PARTS} models in a file, found {models}"
        raise ModelFileError(msg, source=source)


def _check_dense(models: Sequence[Model], source: str | None) -> None:
    """Refuse models that together take far more memory than their file."""
    dense = sum(model.dense for model in models)
    if dense > MOST_DENSE:
        msg = (
            f"expected models of at most {MOST_DENSE:,} label bigrams and trigrams in a file, "
            f"found {dense:,} in the first {len(models)}; leave one out"
        )
        raise ModelFileError(msg, source=source)


def _split(contents: Contents, source: str) -> list[Contents]:
    """The parts of a file of format 2, each as a file of its own."""
    if contents.config.get("kind") == "checkpoint":
        msg = (
            "expected a model, found a checkpoint of a training; go on with that one: seqtag train "
            "--checkpoint DIR --resume"
        )
        raise ModelFileError(msg, source=source)
    configs = contents.config.get("parts")
    if not isinstance(configs, list) or not all(isinstance(config, dict) for config in configs):
        msg = (
            f"expected a list of the models in the file, found {show(configs)}; "
            "get the file again or retrain"
        )
        raise ModelFileError(msg, source=source)
    tensors: list[dict[str, NDArray[Any]]] = [{} for _ in configs]
    for name, tensor in contents.tensors.items():
        found = _PREFIX.fullmatch(name)
        if found is None or int(found[1]) >= len(configs):
            msg = (
                f"expected arrays of the {len(configs)} models in the file, found "
                f"{show(name)}; get the file again or retrain"
            )
            raise ModelFileError(msg, source=source)
        tensors[int(found[1])][found[2]] = tensor
    return [
        contents._replace(config=config, tensors=part)
        for config, part in zip(configs, tensors, strict=True)
    ]


def _whole(contents: Contents, source: str) -> list[Contents]:  # noqa: ARG001  as `_split`
    """The one part of a file of format 1."""
    return [contents]


_READERS: Mapping[int, Callable[[Contents, str], list[Contents]]] = {
    1: _whole,
    2: _split,
    3: _split,
}
"""How to find the parts in each format version."""
