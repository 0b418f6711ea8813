"""Bundles: the models of a file, one or those of a pipeline, in the order in which they run.

A file has the configuration ``{"parts": [CONFIG, ...]}`` and the tensors of model n as
``pN.NAME``, counted from 0. Word tables are stored as `seqtag.tables.model_io` describes, arrays as
`seqtag.model.compact` does, and known words once for all models that have the same: the entry
``known`` of the others is the number of the model that has them.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from seqtag.corpus.sentence import key_of
from seqtag.errors import ModelFileError
from seqtag.model import compact, container
from seqtag.model.container import show
from seqtag.model.model import TENSORS, Model, fitting, refuse
from seqtag.tables import model_io

if TYPE_CHECKING:
    from collections.abc import Sequence
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


def save(path: str | PathLike[str], models: Sequence[Model]) -> int:
    """Write a model file atomically; return its size in bytes.

    Raises
    ------
    ModelFileError
        If there are no models, too many, or two for one column.
    OSError
        If the file cannot be written.
    """
    return container.save(path, *_packed(models))


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
    _check(models, source)
    return tuple(models)


def load(path: str | PathLike[str], source: str) -> tuple[Model, ...]:
    """Load the models of a file, which messages call `source`."""
    return models_of(container.load(path), source)


def _packed(models: Sequence[Model]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the configuration and tensors of a file."""
    _check(models, None)
    arrays = [compact.packed(model.tensors()) for model in models]
    configs = [model.config() for model in models]
    has_known: dict[tuple[str, bytes], int] = {}
    for place, (config, own) in enumerate(zip(configs, arrays, strict=True)):
        known = own["known"]
        if (first := has_known.setdefault((known.dtype.str, known.tobytes()), place)) < place:
            config["known"] = first
            del own["known"]
    tensors = {f"p{n}.{name}": array for n, own in enumerate(arrays) for name, array in own.items()}
    number: dict[str, int] = {}
    tables: list[WordTable] = []
    for model, config in zip(models, configs, strict=True):
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
    _check_number(len(models), source)
    _check_dense(models, source)
    check_columns(models, source)


def check_columns(models: Sequence[Model], source: str | None) -> None:
    """Refuse two models for one column.

    Raises
    ------
    ModelFileError
        If there are some.
    """
    columns = [name for model in models for name in model.column.columns]
    keys = [key_of(name) for name in columns]
    twice = [name for name, key in zip(columns, keys, strict=True) if keys.count(key) > 1]
    if twice:
        msg = (
            f"expected models of different columns in a file, found {len(twice)} for "
            f"{show(twice[0])}; leave one out, or join their chunks in seqtag tag with -m for each"
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
