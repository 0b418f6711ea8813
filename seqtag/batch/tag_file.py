"""One file tagged, once: the unit of work for any engine.

`tag_file` needs no engine and no state: what was done stands in a small manifest beside the file
that it wrote.
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
from seqtag.model.embedded import find_model
from seqtag.storage import strict_json
from seqtag.storage.output import check_output
from seqtag.tagging.pipeline import Chain, of_models
from seqtag.tagging.streams import TagCounts, TagOptions
from seqtag.tagging.tagger import Tagger, no_such_model
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from seqtag.batch.ranges import Range
    from seqtag.batch.storage import Facts, Place, ReadablePlace
    from seqtag.storage.output import Output
    from seqtag.tagging.pipeline import Loaded

DONE = ".done"
"""What the name of a manifest ends in, behind the name of the file."""

AnyModel: TypeAlias = "str | PathLike[str] | Loaded | Models"
"""A model by path, address or name; one that is loaded; or several that are."""

Reason = Literal["", "new", "input", "output", "model", "options", "version"]

_FORMAT = 1  # of manifests
_KINDS = {"format": str, "sentences": int, "tokens": int, "input": dict, "output": dict}
_RECIPE: Final = ("version", "model", "options")

_MOST_KEPT = 16  # models that a process keeps loaded


@dataclass(frozen=True)
class FileResult:
    """What became of a file.

    Attributes
    ----------
    source, target
        Names of the files.
    status
        ``tagged``, or ``skipped`` if that was done before.
    reason
        Why it was tagged: ``new``, or what is another than before (``input``, ``output``,
        ``model``, ``options``, ``version`` of seqtag); empty if it was skipped.
    format
        What the input was read as.
    sentences, tokens
        Sentences with words and their words.
    bytes_read, bytes_written
        Sizes of the files.
    seconds
        What this call took.
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
    """Models as they are sent to where the work is: loaded once there, told apart by digest.

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
        """The models of files, by path, address or name, or loaded; a process keeps the last few.

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
            return _of_file(os.fspath(model))
        return _of_object(cast("Loaded", model))

    def __reduce__(self) -> tuple[Any, ...]:
        return Models, (self.loaded, self.digests)

    def chain(self, only: Sequence[str] | None) -> Chain:
        """The models, ready to tag; see `Chain`."""
        key = None if only is None else tuple(only)
        if key not in self._chains:
            self._chains[key] = Chain(self.loaded, key)
        return self._chains[key]


_kept: OrderedDict[tuple[object, ...], Models] = OrderedDict()  # the last used last
_digests: WeakKeyDictionary[Loaded, str] = WeakKeyDictionary()
_lock = threading.RLock()  # one thread loads, others wait for what it has loaded


def kept(key: tuple[object, ...], load: Callable[[], Models]) -> Models:
    """The models by that key, loaded if they are none of the last few."""
    with _lock:
        found = _kept.pop(key, None) or load()
        _kept[key] = found
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
        return found


def models_of_bytes(data: bytes, name: str) -> Models:
    """The models of a file, given its bytes.

    Raises
    ------
    ModelFileError
        As `seqtag.load`.
    """
    digest = hashlib.sha256(data).hexdigest()
    models = bundle.models_of(container.from_bytes(data, source=name), name)
    return Models([of_models(models, name)], [digest])


def _of_file(name: str) -> Models:
    """The models of a file, read when it is another than before."""
    path = name if is_address(name) else str(find_model(name))
    facts = place_of(path).facts()

    def load() -> Models:
        return models_of_bytes(bytes_of_model(name), name)

    known = facts is not None and facts.stamp is not None
    return kept((path, facts), load) if known else load()


def bytes_of_model(name: str) -> bytes:
    """The bytes of a model's file, by path, address or name.

    Raises
    ------
    OSError
        If it cannot be read; the message of one that is not there lists the embedded models.
    """
    try:
        with place_of(name if is_address(name) else find_model(name)).open() as file:
            return file.read()
    except FileNotFoundError as error:
        raise no_such_model(name, error) from error


def _of_object(loaded: Loaded) -> Models:
    """A model that is loaded, with the digest that its file would have."""
    with _lock:
        digest = _digests.get(loaded)
        if digest is None:
            taggers = (loaded,) if isinstance(loaded, Tagger) else loaded.taggers
            models = (loaded.model,) if isinstance(loaded, Tagger) else loaded.models
            hidden = [tagger.label for tagger in taggers if tagger.hidden]
            found = hashlib.sha256(bundle.to_bytes(models))
            found.update("".join(f"{name}\n" for name in hidden).encode())
            digest = _digests[loaded] = found.hexdigest()
    return kept((digest,), lambda: Models([loaded], [digest]))


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

    `target` appears whole or not at all; then ``TARGET.done`` says what it was made of: digests of
    the input and the models, the options and the version of seqtag. Where these are what they
    were, nothing is done. An input of the same name, size and time of change is taken for the same
    unless it changed in the two seconds before it was read; any other is read, and its digest
    decides. What was made of another input or model, with other options or by another version, or
    whose output is not there as it was, is tagged anew and replaced.

    Any number of processes on any machines may call it; an error leaves no half file, and the next
    call begins that file again.

    Parameters
    ----------
    source
        A file in any format that ``seqtag tag`` reads, or one of rows: JSON Lines (``.jsonl``,
        ``.ndjson``) or Parquet (``.parquet``), with a field of texts or of lists of tokens. A path,
        or an address for fsspec, as ``s3://crawl/part-1.txt``. Compressed, if its bytes say so.
    target
        Path or address to write to. Its folder is made. Compressed, if its name says so.
    model
        A model by path, address or name; one that is loaded; or several, which run one after
        another. What is named is loaded once in a process.
    options
        How to read, tag and write; None for the defaults.
    threads
        Threads to decode on.
    part
        The range of the file to tag, into a file of its own; None for all of it. See
        `seqtag.batch.split`.
    tidy
        Whether to look for what a killed process has left of `target`, which lists its folder; see
        `seqtag.storage.output.remove_leftovers`.

    Raises
    ------
    CorpusError
        If the file does not hold what its format promises, or is the target.
    OptionError
        If options do not fit the file or the model.
    ModelFileError
        If a model is none.
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
    work = Work(source, target, Models.of(model), options or TagOptions(), part, tidy=tidy)
    return work.result(begun, work.tagged(threads) if work.reason else work.before)


class Work:
    """A file to tag, or a part of one: what there is, and what was done before.

    Parameters
    ----------
    source, target, models, options, part, tidy
        As `tag_file` takes them.

    Attributes
    ----------
    input, output, manifest
        Where these are.
    facts
        What the input looked like at the start.
    recipe
        What it is to be made with.
    before
        What the manifest says; empty if there is none.
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
        asked = options.as_json()
        if part:
            format, columns, separator, paragraphs = part.head
            asked["range"] = [part.start, part.end, format, [*columns], separator, paragraphs]
        self.recipe = {"version": __version__, "model": list(models.digests), "options": asked}
        self.before = _read(self.manifest)
        self.reason = _reason(self.before, self.recipe, self.input, self.facts, self.output)

    def tagged(self, threads: int) -> dict[str, Any]:
        """Tag the file; return its manifest, which is written."""
        begun = time.perf_counter()
        chain = self.models.chain(self.options.only)
        with self.output.output(tidy=self._tidy) as out:
            format, counts, digest = self._write(out, chain, threads)
            self.manifest.remove()  # which is of the file that is replaced now
        return self.concluded(begun, format, counts, digest)

    def concluded(
        self, begun: float, format: str, counts: TagCounts, digest: str
    ) -> dict[str, Any]:
        """Write the manifest of the file that is there now, and return it."""
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

    def result(self, begun: float, done: Mapping[str, Any]) -> FileResult:
        """What became of the file, by its manifest."""
        return FileResult(
            self.input.name,
            self.output.name,
            "tagged" if self.reason else "skipped",
            self.reason,
            done["format"],
            done["sentences"],
            done["tokens"],
            done["input"]["bytes"],
            done["output"]["bytes"],
            time.perf_counter() - begun,
        )

    def _write(self, out: Output, chain: Chain, threads: int) -> tuple[str, TagCounts, str]:
        """Write the file tagged; return its format, what is in it, and its digest."""
        input, options = self.input, self.options
        format = self.part.head.format if self.part else row_format(input.name, options.format)
        if format == "parquet":  # which is read from its end
            digest, rows = digest_of(input), RowTagger(chain, options, threads)
            with input.open() as file:
                rows.parquet(file, out, input.name)
            return format, rows.counts, digest
        begin = self.part.start if self.part else 0
        with input.open() as file, self._lines_counted():
            digesting: Any = DigestingFile(file, input.name)
            if format == "jsonl":
                rows = RowTagger(chain, options, threads)
                for piece in rows.json_lines(digesting, begin):
                    out.write(piece)
                return format, rows.counts, digesting.digest()
            counts, stream = TagCounts(), self._stream(digesting)
            how = options
            if self.part and self.part.head.paragraphs:
                how = replace(options, paragraphs=self.part.head.paragraphs)
            pieces = chain.tagged([stream], how, threads, counts=counts, continues=begin > 0)
            for piece in pieces:
                out.write(piece)
            return stream.format, counts, digesting.digest()

    def _stream(self, file: Any) -> SentenceStream:
        """The input, open to be read; a part is what the head of the file is."""
        reading = self.options.reading
        if self.part is None:
            return reading.open(file)
        head = self.part.head
        layout = FileLayout(head.format, head.columns, head.separator)
        return SentenceStream(ByteStream(file, reading.limits, self.part.start), layout)

    @contextmanager
    def _lines_counted(self) -> Iterator[None]:
        """Let errors in a part name the line of the file."""
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


def _read(manifest: Place) -> dict[str, Any]:
    """What a manifest says; nothing if there is none, or something else in its place."""
    if manifest.facts() is None:
        return {}
    with manifest.open() as file:
        try:
            found = strict_json.loads(file.read())
            return found if _is_manifest(found) else {}
        except (ValueError, TypeError, KeyError):
            return {}


def _is_manifest(found: Any) -> bool:
    """Whether all is there that is asked of a manifest; may end in an error if not."""
    input, output = found["input"], found["output"]
    return (
        found["manifest"] == _FORMAT
        and {*_RECIPE} <= {*found}
        and all(type(found[key]) is kind for key, kind in _KINDS.items())
        and {"name", "stamp", "sha256"} <= {*input}
        and type(input["bytes"]) is type(output["bytes"]) is int
    )


def json_bytes(value: object, indent: int | None = None) -> bytes:
    r"""A JSON document and a line break, in UTF-8; names of files that are none are escaped.

    >>> json_bytes({"file": "\udcff.txt"})
    b'{"file": "\\udcff.txt"}\n'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def _reason(
    before: Mapping[str, Any],
    recipe: Mapping[str, Any],
    input: ReadablePlace,
    facts: Facts,
    output: Place,
) -> Reason:
    """Why a file is to be tagged; nothing if it was."""
    if not before:
        return "new"
    for part in _RECIPE:
        if before[part] != recipe[part]:
            return part
    written = output.facts()
    if written is None or written.bytes != before["output"]["bytes"]:
        return "output"
    known = before["input"]
    if facts.bytes != known["bytes"]:
        return "input"
    same_name = input.name == known["name"]
    if same_name and facts.stamp is not None and facts.stamp == known["stamp"]:
        return ""
    return "" if digest_of(input) == known["sha256"] else "input"
