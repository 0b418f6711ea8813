"""Tagging of one file: the unit of work for any cluster engine. `tag_file` keeps no state."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from seqtag.batch.ledger import FileResult
from seqtag.batch.storage import (
    digest_of,
    digesting,
    facts_of,
    is_address,
    local_path,
    open_file,
    open_output,
)
from seqtag.model import bundle, container
from seqtag.model.embedded import find_model, no_such_model
from seqtag.storage.output import check_output
from seqtag.tagging.pipeline import Chain, of_models
from seqtag.tagging.streams import TagCounts, TagOptions
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from seqtag.batch.ledger import Reason
    from seqtag.batch.storage import Facts
    from seqtag.tagging.pipeline import Loaded

AnyModel: TypeAlias = "str | PathLike[str] | Loaded | Models"
"""A model by path, address or name; a loaded model; or several loaded ones."""

_RECIPE: Final[tuple[Reason, ...]] = ("version", "model", "options")

_MAX_KEPT = 16  # models that a process keeps loaded


@dataclass(frozen=True, eq=False)
class Models:
    """Loaded models, identified by the digests of their files.

    Parameters
    ----------
    loaded
        The models, in the order in which they run.
    digests
        SHA-256 of the file of each.
    """

    loaded: tuple[Loaded, ...]
    digests: tuple[str, ...]

    @classmethod
    def of(cls, model: AnyModel | Sequence[AnyModel]) -> Models:
        """Return models by path, address or name, or loaded; a process keeps the last few.

        Raises
        ------
        ModelFileError, OSError
            As `seqtag.load`.
        """
        if isinstance(model, Models):
            return model
        if isinstance(model, list | tuple):
            parts = [cls.of(each) for each in model]
            loaded = tuple(each for part in parts for each in part.loaded)
            return Models(loaded, tuple(each for part in parts for each in part.digests))
        if isinstance(model, str | os.PathLike):
            name = os.fspath(model)
            facts = facts_of(name if is_address(name) else str(find_model(name)))
            is_settled = facts is not None and facts.stamp
            return (_read if is_settled else _read.__wrapped__)(name, facts)
        return _of_loaded(cast("Loaded", model))

    def chain(self, only: Sequence[str] | None) -> Chain:
        """Return the models as a `Chain`."""
        return _chain(self.loaded, None if only is None else tuple(only))


@lru_cache(_MAX_KEPT)
def _read(name: str, facts: Facts | None) -> Models:  # noqa: ARG001  other facts, another model
    """Read the file of a model; the message about a missing file lists the embedded models."""
    try:
        with open_file(name if is_address(name) else str(find_model(name))) as file:
            data = file.read()
    except FileNotFoundError as error:
        raise no_such_model(name, error) from error
    models = bundle.models_of(container.from_bytes(data, source=name), name)
    return Models((of_models(models, name),), (hashlib.sha256(data).hexdigest(),))


@lru_cache(_MAX_KEPT)
def _of_loaded(item: Loaded) -> Models:
    hidden = [tagger.label for tagger in item.taggers if tagger.hidden]
    sha256 = hashlib.sha256(bundle.to_bytes(item.models))
    sha256.update("".join(f"{name}\n" for name in hidden).encode())
    return Models((item,), (sha256.hexdigest(),))


_chain = lru_cache(_MAX_KEPT)(Chain)


def tag_file(
    source: str | PathLike[str],
    target: str | PathLike[str],
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None = None,
    *,
    threads: int = 1,
    before: FileResult | None = None,
    verify: bool = False,
    tidy: bool = True,
) -> FileResult:
    r"""Tag a file into another, unless that was done before.

    `target` is written atomically: after an error or a kill there is no incomplete file. Any number
    of processes on any machines may call this function. To do a file once, keep the result, for
    example in a `seqtag.batch.Ledger`, and pass it as `before` the next time.

    Parameters
    ----------
    source
        A file in any format that ``seqtag tag`` reads. A path, or an address for fsspec, as
        ``s3://crawl/part-1.txt``. Compression is detected. For tables, see `seqtag.batch.annotate`.
    target
        Path or address of the output. Its folder is made. The ending of the name decides about
        compression. A store gets the output in parts while it is written.
    model
        A model by path, address or name; a loaded model; or several, which run one after another. A
        process loads each file once.
    options
        How to read, tag and write; None for the defaults.
    threads
        Threads to decode on.
    before
        The result of an earlier call. If the models, the options, the version of seqtag, the input
        and the size of the output are unchanged, nothing is done. An input with the same size and
        modification time counts as unchanged, unless it changed in the two seconds before it was
        read; any other is read, and its digest decides.
    verify
        Also read the output, and compare its digest with that in `before`.
    tidy
        True to remove leftovers of killed processes for `target`, which lists its folder; see
        `seqtag.storage.output.remove_leftovers`.

    Raises
    ------
    CorpusError
        If the file is malformed, or is the target.
    OptionError
        If options do not fit the file or the model.
    ModelFileError
        If a file is not a model.
    OSError
        As the system reports it; `FileNotFoundError` if there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = Path(folder, "a.txt").write_text("Time flies.")
    >>> options = TagOptions(format="text")
    >>> result = tag_file(folder / "a.txt", folder / "a.conllu", "en", options)
    >>> result.status, result.reason, result.sentences, result.tokens
    ('tagged', 'new', 1, 3)
    >>> tag_file(folder / "a.txt", folder / "a.conllu", "en", options, before=result).status
    'skipped'
    """
    begun = time.perf_counter()
    models, options = Models.of(model), options or TagOptions()
    source, target = os.fspath(source), os.fspath(target)
    check_output(local_path(target) or target, [local_path(source) or source])
    facts = facts_of(source)
    if facts is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
    recipe = recipe_of(models.digests, options)
    reason = find_change(before, recipe, facts, facts_of(target) if before else None)
    if before is not None:
        if reason is None:
            reason = "" if digest_of(source) == before.sha256_read else "input"
        if not reason and verify and digest_of(target) != before.sha256_written:
            reason = "output"
    if before is not None and not reason:
        result = replace(before, status="skipped", reason="")
    else:
        chain = models.chain(options.only)
        with open_output(target, tidy=tidy) as (out, stored):
            format, counts, digest = _write(source, out, chain, options, threads)
        result = FileResult(
            source=source,
            target=target,
            status="tagged",
            reason=reason or "",
            format=format,
            sentences=counts.sentences,
            tokens=counts.tokens,
            bytes_read=facts.bytes,
            bytes_written=stored.bytes,
            sha256_read=digest,
            sha256_written=stored.sha256,
            stamp=facts.stamp,
            recipe=recipe,
            seconds=0.0,
        )
    seconds = time.perf_counter() - begun
    return replace(result, source=source, target=target, stamp=facts.stamp, seconds=seconds)


def recipe_of(digests: Sequence[str], options: TagOptions) -> str:
    """Return what a result depends on besides its input: version, models and options."""
    digested = (json.dumps([*digests]), json.dumps(options.as_json(), sort_keys=True))
    short = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in digested]
    return " ".join([__version__, *short])


def find_change(
    before: FileResult | None, recipe: str, input: Facts, output: Facts | None
) -> Reason | None:
    """Return what has changed since a result; None if only the digest of the input can tell."""
    if before is None:
        return "new"
    if before.recipe != recipe:
        pairs = zip(_RECIPE, before.recipe.split(" "), recipe.split(" "), strict=False)
        return next((name for name, old, new in pairs if old != new), "version")
    if output is None or output.bytes != before.bytes_written:
        return "output"
    if input.bytes != before.bytes_read:
        return "input"
    return "" if input.stamp and input.stamp == before.stamp else None


def _write(
    source: str, out: Any, chain: Chain, options: TagOptions, threads: int
) -> tuple[str, TagCounts, str]:
    """Write the tagged file; return the format, counts and digest of the input."""
    counts = TagCounts()
    with digesting(source) as digested:
        stream = chain.reading(options.reading).open(cast("Any", digested))
        for piece in chain.tagged([stream], options, threads, counts=counts):
            out.write(piece)
        return stream.format, counts, digested.digest()
