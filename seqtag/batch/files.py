"""Tagging of one file, once: the unit of work for any cluster engine.

`tag_file` keeps no state but a small manifest next to the file that it writes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
import time
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast
from weakref import WeakKeyDictionary

from seqtag.batch.rows import RowTagger, row_format
from seqtag.batch.storage import DigestingFile, RangePlace, digest_of, is_address, place_of
from seqtag.corpus import SentenceStream
from seqtag.corpus.detect import FileLayout
from seqtag.corpus.stream import ByteStream
from seqtag.errors import CorpusError
from seqtag.model import bundle, container
from seqtag.model.embedded import component_of, find_model, no_such_model
from seqtag.storage import strict_json
from seqtag.storage.output import check_output
from seqtag.tagging.pipeline import Chain, of_models
from seqtag.tagging.streams import TagCounts, TagOptions
from seqtag.tagging.tagger import Tagger
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from seqtag.batch.ranges import Range
    from seqtag.batch.storage import Place
    from seqtag.storage.output import Output
    from seqtag.tagging.pipeline import Loaded

DONE = ".done"
"""Ending of the name of a manifest, after the name of the file."""

AnyModel: TypeAlias = "str | PathLike[str] | Loaded | Models"
"""A model by path, address or name; a loaded model; or several loaded ones."""

Reason = Literal["", "new", "input", "output", "model", "options", "version"]

_FORMAT = 1  # of manifests
_KINDS = {"format": str, "sentences": int, "tokens": int, "input": dict, "output": dict}
_RECIPE: Final = ("version", "model", "options")

_MAX_KEPT = 16  # models that a process keeps loaded


@dataclass(frozen=True)
class FileResult:
    """Result of `tag_file`.

    Attributes
    ----------
    source, target
        Names of the files.
    status
        ``tagged``, or ``skipped`` if that was done before.
    reason
        Why it was tagged: ``new``, or what has changed (``input``, ``output``, ``model``,
        ``options``, ``version`` of seqtag); empty if it was skipped.
    format
        Format of the input.
    sentences, tokens
        Number of sentences with words, and of words.
    bytes_read, bytes_written
        Sizes of the files.
    seconds
        Duration of this call.
    """

    source: str
    target: str
    status: Literal["tagged", "skipped"]
    reason: Reason
    format: str
    sentences: int
    tokens: int
    bytes_read: int
    bytes_written: int
    seconds: float


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
                taggers = (item,) if isinstance(item, Tagger) else item.taggers
                every = (item.model,) if isinstance(item, Tagger) else item.models
                hidden = [tagger.label for tagger in taggers if tagger.hidden]
                sha256 = hashlib.sha256(bundle.to_bytes(every))
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
    """Read the file of a model, by path, address or name; of a component, as its own file.

    Raises
    ------
    OSError
        If it cannot be read; the message about a missing file lists the embedded models.
    """
    try:
        with place_of(name if is_address(name) else find_model(name)).open() as file:
            data: bytes = file.read()
    except FileNotFoundError as error:
        raise no_such_model(name, error) from error
    component = component_of(name)
    if component is None:
        return data
    models = bundle.models_of(container.from_bytes(data, source=name), name)
    return bundle.to_bytes([bundle.standalone(models, component)])


def tag_file(
    source: str | PathLike[str],
    target: str | PathLike[str],
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None = None,
    *,
    threads: int = 1,
    part: Range | None = None,
    tidy: bool = True,
) -> FileResult:
    r"""Tag a file into another, unless that was done before.

    `target` is written atomically; then ``TARGET.done``, a manifest with the digests of the input
    and the models, the options and the version of seqtag. If all of these are unchanged, nothing is
    done. An input with the same name, size and modification time counts as unchanged, unless it
    changed in the two seconds before it was read; any other is read, and its digest decides. If
    anything has changed, or the output has, the file is tagged again and replaced.

    Any number of processes on any machines may call it; after an error there is no incomplete file,
    and the next call tags that file again.

    Parameters
    ----------
    source
        A file in any format that ``seqtag tag`` reads, or one of rows: JSON Lines (``.jsonl``,
        ``.ndjson``) or Parquet (``.parquet``), with a field of texts or of lists of tokens. A path,
        or an address for fsspec, as ``s3://crawl/part-1.txt``. Compression is detected.
    target
        Path or address of the output. Its folder is made. The ending of the name decides about
        compression.
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
    >>> result = tag_file(folder / "a.txt", folder / "a.conllu", "en", TagOptions(format="text"))
    >>> result.status, result.reason, result.sentences, result.tokens
    ('tagged', 'new', 1, 3)
    >>> tag_file(folder / "a.txt", folder / "a.conllu", "en", TagOptions(format="text")).status
    'skipped'
    """
    begun = time.perf_counter()
    task = TagTask(source, target, Models.of(model), options or TagOptions(), part, tidy=tidy)
    return task.result(begun, task.run(threads) if task.reason else task.before)


class TagTask:
    """The task of tagging a file, or a part of one, and its state from the manifest.

    Parameters
    ----------
    source, target, models, options, part, tidy
        As for `tag_file`.

    Attributes
    ----------
    input, output, manifest
        The places of these files.
    facts
        Size and stamp of the input at the start.
    recipe
        Version, models and options to tag with.
    before
        The manifest; empty if there is none.
    reason
        Why the file is to be tagged; empty if it was.
    """

    def __init__(
        self,
        source: str | PathLike[str],
        target: str | PathLike[str],
        models: Models,
        options: TagOptions,
        part: Range | None = None,
        *,
        tidy: bool = True,
    ):
        self._tidy = tidy
        self.models, self.options, self.part = models, options, part
        place, self.output = place_of(source), place_of(target)
        check_output(self.output.name, [place.name])
        self.input = RangePlace(place, part.start, part.end) if part else place
        self.manifest = place_of(self.output.name + DONE)
        facts = self.input.facts()
        if facts is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.name)
        self.facts = facts
        recorded = options.as_json()
        if part:
            format, columns, separator, paragraphs = part.head
            recorded["range"] = [part.start, part.end, format, [*columns], separator, paragraphs]
        self.recipe = {"version": __version__, "model": list(models.digests), "options": recorded}
        self.before = _read_manifest(self.manifest)
        self.reason = self._find_reason()

    def _find_reason(self) -> Reason:
        before = self.before
        if not before:
            return "new"
        for key in _RECIPE:
            if before[key] != self.recipe[key]:
                return key
        written = self.output.facts()
        if written is None or written.bytes != before["output"]["bytes"]:
            return "output"
        known, facts = before["input"], self.facts
        if facts.bytes != known["bytes"]:
            return "input"
        same_name = self.input.name == known["name"]
        if same_name and facts.stamp is not None and facts.stamp == known["stamp"]:
            return ""
        return "" if digest_of(self.input) == known["sha256"] else "input"

    def run(self, threads: int) -> dict[str, Any]:
        """Tag the file; write and return its manifest."""
        begun = time.perf_counter()
        chain = self.models.chain(self.options.only)
        with self.output.output(tidy=self._tidy) as out:
            format, counts, digest = self._write(out, chain, threads)
            self.manifest.remove()  # the manifest of the file that is replaced
        return self.write_manifest(begun, format, counts, digest)

    def write_manifest(
        self, begun: float, format: str, counts: TagCounts, digest: str
    ) -> dict[str, Any]:
        """Write the manifest of the output, and return it."""
        written = self.output.facts()
        found = {
            "manifest": _FORMAT,
            **self.recipe,
            "format": format,
            "input": {
                "name": self.input.name,
                "bytes": self.facts.bytes,
                "stamp": self.facts.stamp,
                "sha256": digest,
            },
            "output": {"name": self.output.name, "bytes": written.bytes if written else 0},
            "sentences": counts.sentences,
            "tokens": counts.tokens,
            "seconds": round(time.perf_counter() - begun, 3),
        }
        with self.manifest.output(tidy=self._tidy) as out:
            out.write(json_bytes(found, indent=2))
        return found

    def result(self, begun: float, manifest: Mapping[str, Any]) -> FileResult:
        """Return the result by the manifest."""
        return FileResult(
            self.input.name,
            self.output.name,
            "tagged" if self.reason else "skipped",
            self.reason,
            manifest["format"],
            manifest["sentences"],
            manifest["tokens"],
            manifest["input"]["bytes"],
            manifest["output"]["bytes"],
            time.perf_counter() - begun,
        )

    def _write(self, out: Output, chain: Chain, threads: int) -> tuple[str, TagCounts, str]:
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
            counts, reading = TagCounts(), options.reading
            if self.part is None:
                stream = reading.open(digesting)
            else:
                head = self.part.head
                layout = FileLayout(head.format, head.columns, head.separator)
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


def _read_manifest(place: Place) -> dict[str, Any]:
    """Return a manifest; an empty one if there is none, or the file is something else."""
    if place.facts() is None:
        return {}
    with place.open() as file:
        try:
            found = strict_json.loads(file.read())
            input, output = found["input"], found["output"]
            is_manifest = (
                found["manifest"] == _FORMAT
                and {*_RECIPE} <= {*found}
                and all(type(found[key]) is kind for key, kind in _KINDS.items())
                and {"name", "stamp", "sha256"} <= {*input}
                and type(input["bytes"]) is type(output["bytes"]) is int
            )
        except (ValueError, TypeError, KeyError):
            return {}
    return found if is_manifest else {}


def json_bytes(value: object, indent: int | None = None) -> bytes:
    r"""Return a JSON document and a line break in UTF-8; file names that are not UTF-8 are escaped.

    >>> json_bytes({"file": "\udcff.txt"})
    b'{"file": "\\udcff.txt"}\n'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")
