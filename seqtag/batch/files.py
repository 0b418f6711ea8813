"""Tagging of one file: the unit of work for any cluster engine. `tag_file` keeps no state."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
import time
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from weakref import WeakKeyDictionary

from seqtag.batch.ledger import FileResult
from seqtag.batch.rows import RowTagger, row_format
from seqtag.batch.storage import DigestingFile, RangePlace, digest_of, is_address, place_of
from seqtag.corpus import SentenceStream
from seqtag.corpus.layout import Layout
from seqtag.corpus.stream import ByteStream
from seqtag.errors import CorpusError
from seqtag.model import bundle, container
from seqtag.model.embedded import find_model, no_such_model
from seqtag.storage.output import check_output
from seqtag.tagging.pipeline import Chain, of_models
from seqtag.tagging.streams import TagCounts, TagOptions
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from seqtag.batch.ledger import Reason
    from seqtag.batch.ranges import Range
    from seqtag.batch.storage import Facts, PlaceOutput
    from seqtag.tagging.pipeline import Loaded

AnyModel: TypeAlias = "str | PathLike[str] | Loaded | Models"
"""A model by path, address or name; a loaded model; or several loaded ones."""

_RECIPE: Final[tuple[Reason, ...]] = ("version", "model", "options")

_MAX_KEPT = 16  # models that a process keeps loaded


class Models:
    """Loaded models, identified by the digests of their files.

    Parameters
    ----------
    loaded
        The models, in the order in which they run.
    digests
        SHA-256 of the file of each.
    """

    def __init__(self, loaded: Sequence[Loaded], digests: Sequence[str]):
        self.loaded, self.digests = tuple(loaded), tuple(digests)
        self._chains: dict[tuple[str, ...] | None, Chain] = {}

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
            loaded = [each for part in parts for each in part.loaded]
            digests = [each for part in parts for each in part.digests]
            return kept(tuple(digests), lambda: cls(loaded, digests))
        if isinstance(model, str | os.PathLike):
            name = os.fspath(model)
            path = name if is_address(name) else str(find_model(name))
            facts = place_of(path).facts()
            if facts is None or facts.stamp is None:  # it may have changed since it was cached
                return models_of_bytes(bytes_of_model(name), name)
            return kept((name, path, facts), lambda: models_of_bytes(bytes_of_model(name), name))
        item = cast("Loaded", model)
        with _lock:
            digest = _digests.get(item)
            if digest is None:
                hidden = [tagger.label for tagger in item.taggers if tagger.hidden]
                sha256 = hashlib.sha256(bundle.to_bytes(item.models))
                sha256.update("".join(f"{name}\n" for name in hidden).encode())
                digest = _digests[item] = sha256.hexdigest()
        return kept((digest,), lambda: cls([item], [digest]))

    def __reduce__(self) -> tuple[Any, ...]:
        return Models, (self.loaded, self.digests)

    def chain(self, only: Sequence[str] | None) -> Chain:
        """Return the models as a `Chain`."""
        key = None if only is None else tuple(only)
        if key not in self._chains:
            self._chains[key] = Chain(self.loaded, key)
        return self._chains[key]


_kept: OrderedDict[tuple[object, ...], Models] = OrderedDict()  # the last used last
_digests: WeakKeyDictionary[Loaded, str] = WeakKeyDictionary()
_lock = threading.RLock()  # one thread loads, others wait for it


def kept(key: tuple[object, ...], load: Callable[[], Models]) -> Models:
    """Return models by their key; load them if they are not among the last few."""
    with _lock:
        found = _kept.pop(key, None) or load()
        _kept[key] = found
        while len(_kept) > _MAX_KEPT:
            _kept.popitem(last=False)
        return found


def models_of_bytes(data: bytes, name: str) -> Models:
    """Return the models of a file, given its bytes.

    Raises
    ------
    ModelFileError
        As `seqtag.load`.
    """
    digest = hashlib.sha256(data).hexdigest()
    models = bundle.models_of(container.from_bytes(data, source=name), name)
    return Models([of_models(models, name)], [digest])


def bytes_of_model(name: str) -> bytes:
    """Read the file of a model, by path, address or name.

    Raises
    ------
    OSError
        If it cannot be read; the message about a missing file lists the embedded models.
    """
    try:
        with place_of(name if is_address(name) else find_model(name)).open() as file:
            data: bytes = file.read()
            return data
    except FileNotFoundError as error:
        raise no_such_model(name, error) from error


def tag_file(
    source: str | PathLike[str],
    target: str | PathLike[str],
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None = None,
    *,
    threads: int = 1,
    part: Range | None = None,
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
        A file in any format that ``seqtag tag`` reads, or one of rows: JSON Lines (``.jsonl``,
        ``.ndjson``) or Parquet (``.parquet``), with a field of texts or of lists of tokens. A path,
        or an address for fsspec, as ``s3://crawl/part-1.txt``. Compression is detected.
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
    part
        The range of the file to tag, into a separate file; None for the complete file. See
        `seqtag.batch.split`.
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
    return TagTask(
        source,
        target,
        Models.of(model),
        options or TagOptions(),
        part,
        before,
        verify=verify,
        tidy=tidy,
    ).run(threads)


def recipe_of(digests: Sequence[str], options: TagOptions, part: Range | None = None) -> str:
    """Return what a result depends on besides its input: version, models and options."""
    recorded = options.as_json()
    if part:
        format, columns, separator, paragraphs = part.head
        recorded["range"] = [part.start, part.end, format, [*columns], separator, paragraphs]
    digested = (json.dumps([*digests]), json.dumps(recorded, sort_keys=True))
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


class TagTask:
    """The task of tagging a file, or a part of one.

    Parameters
    ----------
    source, target, models, options, part, before, verify, tidy
        As for `tag_file`.

    Attributes
    ----------
    input, output
        The places of these files.
    facts
        Size and stamp of the input at the start.
    recipe
        Version, models and options to tag with.
    change
        What has changed since it was tagged; None if only the digest of the input can tell.
    """

    def __init__(
        self,
        source: str | PathLike[str],
        target: str | PathLike[str],
        models: Models,
        options: TagOptions,
        part: Range | None = None,
        before: FileResult | None = None,
        *,
        verify: bool = False,
        tidy: bool = True,
    ):
        self._begun, self._before, self._tidy = time.perf_counter(), before, tidy
        self.models, self.options, self.part = models, options, part
        place, self.output = place_of(source), place_of(target)
        check_output(self.output.name, [place.name])
        self.input = RangePlace(place, part.start, part.end) if part else place
        facts = self.input.facts()
        if facts is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.name)
        self.facts = facts
        self.recipe = recipe_of(models.digests, options, part)
        self.change = find_change(
            before, self.recipe, facts, self.output.facts() if before else None
        )
        self._verify = verify

    @cached_property
    def reason(self) -> Reason:
        """Why the file is to be tagged; empty if it was."""
        reason, before = self.change, self._before
        if before and reason is None:
            reason = "" if digest_of(self.input) == before.sha256_read else "input"
        if before and reason == "" and self._verify:
            reason = "" if digest_of(self.output) == before.sha256_written else "output"
        return reason or ""

    def run(self, threads: int) -> FileResult:
        """Tag the file, if there is a reason; return the result."""
        if self._before and not self.reason:
            return replace(
                self._before,
                source=self.input.name,
                target=self.output.name,
                status="skipped",
                reason="",
                stamp=self.facts.stamp,
                seconds=time.perf_counter() - self._begun,
            )
        chain = self.models.chain(self.options.only)
        with self.output.output(tidy=self._tidy) as out:
            format, counts, digest = self._write(out, chain, threads)
        return self.result(format, counts, digest, out)

    def result(self, format: str, counts: TagCounts, digest: str, out: PlaceOutput) -> FileResult:
        """Return the result for an output that was written."""
        return FileResult(
            source=self.input.name,
            target=self.output.name,
            status="tagged",
            reason=self.reason,
            format=format,
            sentences=counts.sentences,
            tokens=counts.tokens,
            bytes_read=self.facts.bytes,
            bytes_written=out.bytes,
            sha256_read=digest,
            sha256_written=out.sha256,
            stamp=self.facts.stamp,
            recipe=self.recipe,
            seconds=time.perf_counter() - self._begun,
        )

    def _write(self, out: PlaceOutput, chain: Chain, threads: int) -> tuple[str, TagCounts, str]:
        """Write the tagged file; return the format, counts and digest of the input."""
        input, options = self.input, self.options
        format = self.part.head.format if self.part else row_format(input.name, options.format)
        if format == "parquet":  # read from its end
            digest, rows = digest_of(input), RowTagger(chain, options, threads)
            with input.open() as file:
                rows.parquet(file, out, input.name)
            return format, rows.counts, digest
        begin = self.part.start if self.part else 0
        with input.open() as file, self._lines_of_file():
            digesting: Any = DigestingFile(file, input.name)
            if format == "jsonl":
                rows = RowTagger(chain, options, threads)
                for piece in rows.json_lines(digesting, begin):
                    out.write(piece)
                return format, rows.counts, digesting.digest()
            counts, reading = TagCounts(), chain.reading(options.reading)
            if self.part is None:
                stream = reading.open(digesting)
            else:
                head = self.part.head
                layout = Layout(head.format, head.columns, head.separator)
                stream = SentenceStream(ByteStream(digesting, reading.limits, begin), layout)
                if head.paragraphs:
                    options = replace(options, paragraphs=head.paragraphs)
            pieces = chain.tagged([stream], options, threads, counts=counts, continues=begin > 0)
            for piece in pieces:
                out.write(piece)
            return stream.format, counts, digesting.digest()

    @contextmanager
    def _lines_of_file(self) -> Iterator[None]:
        """Correct the line numbers of errors in a part, which count from its start."""
        try:
            yield
        except CorpusError as error:
            if self.part is None or not self.part.start or error.line is None:
                raise
            before = RangePlace(place_of(self.input.name), 0, self.part.start)
            with before.open() as file:
                lines = sum(chunk.count(b"\n") for chunk in iter(partial(file.read, 1 << 20), b""))
            place = error.line + lines
            raise type(error)(error.message, source=error.source, line=place) from error
