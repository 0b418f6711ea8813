"""A large file in parts: each is tagged by itself, then they are joined to the bytes of one call.

Until they are joined, the parts lie in a folder next to the file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from functools import partial
from typing import TYPE_CHECKING

from seqtag.batch import ranges
from seqtag.batch.files import Models, TagTask, recipe_of
from seqtag.batch.storage import DigestingFile, is_address, place_of
from seqtag.corpus.formats import FORMATS, joined, renumbered
from seqtag.errors import CorpusError
from seqtag.storage.output import remove_leftovers
from seqtag.tagging.streams import TagCounts, TagOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from seqtag.batch.files import AnyModel
    from seqtag.batch.ledger import FileResult
    from seqtag.batch.ranges import Range, Ranges
    from seqtag.batch.storage import ReadablePlace

PARTS = ".parts"
"""Ending of the folder of parts, after the name of the file."""

_CHUNK = 1 << 20
_PART = re.compile("[0-9]+-[0-9]+")


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
    >>> done = [
    ...     seqtag.tag_file(source, part_of(target, part), "en", options, part=part)
    ...     for part in parts
    ... ]
    >>> joined = join_parts(source, target, "en", options, parts, done)
    >>> joined.sentences
    3
    >>> seqtag.tag_file(source, target, "en", options, before=joined).status
    'skipped'
    """
    options = options or TagOptions()
    chain = Models.of(model).chain(options.only)
    reading = chain.reading(options.reading)
    return ranges.ranges_of(place_of(source), options, size, cuts=chain.cuts, reading=reading)


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
    results: Sequence[FileResult],
    *,
    before: FileResult | None = None,
    tidy: bool = True,
) -> FileResult:
    """Join the tagged parts of a file, and remove them.

    The file has the bytes that `seqtag.tag_file` would have written, and the result is the same.

    Parameters
    ----------
    source, target, model, options, before, tidy
        As `seqtag.tag_file` takes them.
    parts
        All parts of `source`, in their order.
    results
        The result of each.

    Raises
    ------
    CorpusError
        If the file has changed since its parts were tagged.
    OSError
        As the system reports it; `FileNotFoundError` if a part is missing, was tagged otherwise, or
        is damaged (and then removed). Tag it, and join again.
    """
    models, options = Models.of(model), options or TagOptions()
    joint = TagTask(source, target, models, options, before=before, tidy=tidy)
    for part, result in zip(parts, results, strict=True):
        name = part_of(target, part)
        facts, recipe = place_of(name).facts(), recipe_of(models.digests, options, part)
        if facts is None or facts.bytes != result.bytes_written or result.recipe != recipe:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    counts = TagCounts()
    around = FORMATS[options.to or "conllu"].number if parts[0].head.numbered else None
    pieces = _complete_lines(_pieces(target, parts, results, counts, around))
    with joint.output.output(tidy=tidy) as out:
        for piece in joined(pieces, options.to):
            out.write(piece)
        digest = _input_digest(joint.input, parts, results)
    is_same = before is not None and before.sha256_read == digest
    joint.reason = joint.change or ("output" if is_same else "input")
    remove_parts(target)
    return joint.result(results[0].format, counts, digest, out)


def _pieces(
    target: str | PathLike[str],
    parts: Sequence[Range],
    results: Sequence[FileResult],
    counts: TagCounts,
    around: tuple[bytes, bytes] | None,
) -> Iterator[bytes]:
    """Yield the bytes of parts and count sentences; number sentences through if they have numbers.

    `around` are the bytes before and after the number of a sentence.

    Raises
    ------
    FileNotFoundError
        If a part is damaged; it is removed.
    """
    for part, result in zip(parts, results, strict=True):
        place = place_of(part_of(target, part))
        with place.open() as file:
            digesting = DigestingFile(file, place.name)
            chunks = iter(partial(digesting.read, _CHUNK), b"")
            if around is None or not counts.sentences:
                yield from chunks
            else:
                yield from renumbered(chunks, counts.sentences, *around)
            digest = digesting.digest()
        if digest != result.sha256_written:  # without it, the next attempt tags it again
            place.remove()
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.name)
        counts.add(result.sentences, result.tokens)


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


def _input_digest(
    input: ReadablePlace, parts: Sequence[Range], results: Sequence[FileResult]
) -> str:
    """Return the digest of the input.

    Raises
    ------
    CorpusError
        If it has changed since the parts were tagged.
    """
    digest, is_same = hashlib.sha256(), True
    with input.open() as file:
        for part, result in zip(parts, results, strict=True):
            of_part, left = hashlib.sha256(), part.end - part.start
            while chunk := file.read(min(left, _CHUNK)):
                digest.update(chunk)
                of_part.update(chunk)
                left -= len(chunk)
            is_same &= of_part.hexdigest() == result.sha256_read
        is_same &= not file.read(1)
    if not is_same:
        msg = "expected the file that was split, found that it has changed; tag it again"
        raise CorpusError(msg, source=input.name)
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
