"""A large file in parts: each is tagged by itself, then they are joined to the bytes of one call.

Until they are joined, the parts lie in a folder next to the file, each with its manifest.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from functools import partial
from typing import TYPE_CHECKING

from seqtag.batch import ranges
from seqtag.batch.files import DONE, Models, TagTask
from seqtag.batch.storage import is_address, place_of
from seqtag.corpus.formats import FORMATS, joined, renumbered
from seqtag.errors import CorpusError
from seqtag.storage.output import remove_leftovers
from seqtag.tagging.streams import TagCounts, TagOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from seqtag.batch.files import AnyModel, FileResult
    from seqtag.batch.ranges import Range, Ranges

PARTS = ".parts"
"""Ending of the folder of parts, after the name of the file."""

_CHUNK = 1 << 20
_PART = re.compile(rf"[0-9]+-[0-9]+({re.escape(DONE)})?")


def cut_file(
    source: str | PathLike[str],
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None = None,
    *,
    size: int,
) -> Ranges:
    r"""Cut a file into parts that can be tagged one by one.

    Parameters
    ----------
    source, model, options
        As `seqtag.tag_file` takes them.
    size
        Approximate size of a part in bytes; a longer sentence makes a longer part.

    Returns
    -------
    Ranges
        The parts, or none and the reason: the file is not larger, compressed, Parquet, or has no
        place where it could be cut.

    Raises
    ------
    CorpusError, OptionError, ModelFileError, OSError
        As `seqtag.tag_file`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import seqtag
    >>> source = Path(tempfile.mkdtemp(), "a.txt")
    >>> _ = source.write_text("Time flies.\n\nFruit flies.\n\nSo what?\n")
    >>> target, options = source.with_suffix(".conllu"), TagOptions(format="text")
    >>> parts = cut_file(source, "en", options, size=13).ranges
    >>> for part in parts:
    ...     done = seqtag.tag_file(source, part_of(target, part), "en", options, part=part)
    >>> join_parts(source, target, "en", options, parts).sentences
    3
    >>> seqtag.tag_file(source, target, "en", options).status
    'skipped'
    """
    options = options or TagOptions()
    cuts = Models.of(model).chain(options.only).cuts
    return ranges.ranges_of(place_of(source), options, size, cuts=cuts)


def part_of(target: str | PathLike[str], part: Range) -> str:
    """Return the file that a part is written to.

    >>> from seqtag.batch.ranges import Head, Range
    >>> part_of("tagged/a.conllu", Range(0, 100, Head("conllu")))
    'tagged/a.conllu.parts/0-100'
    """
    return f"{os.fspath(target)}{PARTS}/{part.start}-{part.end}"


def join_parts(
    source: str | PathLike[str],
    target: str | PathLike[str],
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None,
    parts: Sequence[Range],
    *,
    tidy: bool = True,
) -> FileResult:
    """Join the tagged parts of a file, and remove them.

    The file has the bytes, and the manifest, that `seqtag.tag_file` would have written.

    Parameters
    ----------
    source, target, model, options, tidy
        As `seqtag.tag_file` takes them.
    parts
        All parts of `source`, in their order.

    Raises
    ------
    CorpusError
        If the file has changed since its parts were tagged, or the parts do not fit together.
    OSError
        As the system reports it; `FileNotFoundError` if a part is missing or has changed.
    """
    begun = time.perf_counter()
    models, options = Models.of(model), options or TagOptions()
    joint = TagTask(source, target, models, options, tidy=tidy)
    manifest = joint.before
    if joint.reason:
        tasks = [TagTask(source, part_of(target, part), models, options, part) for part in parts]
        for task in tasks:
            if task.reason in ("new", "output", "model", "options", "version"):
                name = task.output.name
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        counts = TagCounts()
        numbered = tasks[0].part is not None and tasks[0].part.head.numbered
        around = FORMATS[options.to or "conllu"].number if numbered else None
        pieces = _complete_lines(_pieces(tasks, counts, around))
        with joint.output.output(tidy=tidy) as out:
            for piece in joined(pieces, options.to):
                out.write(piece)
            digest = _input_digest(joint, tasks)
            joint.manifest.remove()  # that of the file which is replaced now
        manifest = joint.write_manifest(begun, tasks[0].before["format"], counts, digest)
    remove_parts(target)
    return joint.result(begun, manifest)


def _pieces(
    tasks: Sequence[TagTask], counts: TagCounts, around: tuple[bytes, bytes] | None
) -> Iterator[bytes]:
    """Yield the bytes of parts and count sentences; number sentences through if they have numbers.

    `around` are the bytes before and after the number of a sentence.
    """
    for task in tasks:
        with task.output.open() as file:
            chunks = iter(partial(file.read, _CHUNK), b"")
            if around is None or not counts.sentences:
                yield from chunks
            else:
                yield from renumbered(chunks, counts.sentences, *around)
        counts.add(task.before["sentences"], task.before["tokens"])


def _complete_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield the same bytes in pieces of complete lines.

    >>> [*_complete_lines([b"a\nb", b"c", b"\n"])]
    [b'a\n', b'bc\n', b'']
    """
    rest = b""
    for piece in pieces:
        data = rest + piece
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        if end:
            yield data[:end]
    yield rest


def _input_digest(joint: TagTask, tasks: Sequence[TagTask]) -> str:
    """Return the digest of the input.

    Raises
    ------
    CorpusError
        If it has changed since the parts were tagged.
    """
    digest, size, is_same = hashlib.sha256(), 0, True
    for task in tasks:
        of_part = hashlib.sha256()
        with task.input.open() as file:
            for chunk in iter(partial(file.read, _CHUNK), b""):
                digest.update(chunk)
                of_part.update(chunk)
                size += len(chunk)
        is_same &= of_part.hexdigest() == task.before["input"]["sha256"]
    facts = place_of(joint.input.name).facts()
    if not is_same or facts is None or size != facts.bytes:
        msg = "expected the file that was split, found that it has changed; tag it again"
        raise CorpusError(msg, source=joint.input.name)
    return digest.hexdigest()


def remove_parts(target: str | PathLike[str]) -> None:
    """Remove the parts of a file, if there are any, and their folder if it is empty then.

    >>> remove_parts("no/such.conllu")
    """
    folder = place_of(f"{os.fspath(target)}{PARTS}")
    names = folder.names()
    if names and not is_address(folder.name):
        remove_leftovers(folder.name)
    for name in names:
        if _PART.fullmatch(name):
            place_of(f"{folder.name}/{name}").remove()
    if names:
        folder.remove_folder()
