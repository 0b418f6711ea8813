"""A large file in parts: each tagged by itself, wherever, then joined to what one call would write.

Parts lie in a folder beside the file, each with its manifest, until they are joined.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from seqtag.batch import ranges
from seqtag.batch.storage import is_address, place_of
from seqtag.batch.tag_file import DONE, Models, Work
from seqtag.corpus.formats import FORMATS, joined
from seqtag.errors import CorpusError
from seqtag.storage.output import remove_leftovers
from seqtag.tagging.streams import TagCounts, TagOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from seqtag.batch.ranges import Range, Ranges
    from seqtag.batch.tag_file import AnyModel, FileResult

PARTS = ".parts"
"""What the name of the folder of parts ends in, behind the name of the file."""

_CHUNK = 1 << 20
_PART = re.compile(rf"[0-9]+-[0-9]+({re.escape(DONE)})?")


def cut_file(
    source: str | PathLike[str],
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None = None,
    *,
    size: int,
) -> Ranges:
    r"""The parts that a file can be tagged in.

    Parameters
    ----------
    source, model, options
        As `seqtag.tag_file` takes them.
    size
        About how many bytes a part shall have. One longer sentence makes a longer part.

    Returns
    -------
    Ranges
        The parts, or none and why: the file is not larger, it is compressed, of Parquet, or has no
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
    """The file that a part is written to.

    >>> from seqtag.batch.ranges import Head, Range
    >>> part_of("tagged/a.conllu", Range(0, 100, Head("conllu")))
    'tagged/a.conllu.parts/0-100'
    """
    return _inside(target, f"{part.start}-{part.end}")


def _inside(target: str | PathLike[str], name: str) -> str:
    """A name in the folder of parts."""
    return f"{os.fspath(target)}{PARTS}/{name}"


def join_parts(
    source: str | PathLike[str],
    target: str | PathLike[str],
    model: AnyModel | Sequence[AnyModel],
    options: TagOptions | None,
    parts: Sequence[Range],
    *,
    tidy: bool = True,
) -> FileResult:
    """Write a file from its parts, all of which are tagged, and remove these.

    It has the bytes, and the manifest, that `seqtag.tag_file` would have written.

    Parameters
    ----------
    source, target, model, options, tidy
        As `seqtag.tag_file` takes them.
    parts
        All parts of `source`, in their order.

    Raises
    ------
    CorpusError
        If the file is not what its parts were made of, or parts cannot be one file.
    OSError
        As the system reports it; `FileNotFoundError` if a part is not there as it was tagged.
    """
    begun = time.perf_counter()
    models, options = Models.of(model), options or TagOptions()
    whole = Work(source, target, models, options, tidy=tidy)
    done = whole.before
    if whole.reason:
        works = [Work(source, part_of(target, part), models, options, part) for part in parts]
        for work in works:
            if work.reason in ("new", "output", "model", "options", "version"):
                name = work.output.name
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        counts = TagCounts()
        with whole.output.output(tidy=tidy) as out:
            for piece in _joined(works, counts, options.to):
                out.write(piece)
            digest = _digest_of(whole, works)
            whole.manifest.remove()  # which is of the file that is replaced now
        done = whole.concluded(begun, works[0].before["format"], counts, digest)
    remove_parts(target)
    return whole.result(begun, done)


def _joined(works: Sequence[Work], counts: TagCounts, to: str | None) -> Iterator[bytes]:
    """The bytes of parts as those of one file, and what is in them."""
    numbered = works[0].part is not None and works[0].part.head.numbered
    around = FORMATS[to or "conllu"].number if numbered else None
    pieces = _renumbered(works, counts, around)
    return joined(_whole_lines(pieces), to)


def _renumbered(
    works: Sequence[Work], counts: TagCounts, around: tuple[bytes, bytes] | None
) -> Iterator[bytes]:
    """The bytes of parts, their sentences numbered through if these have numbers."""
    for work in works:
        with work.output.open() as file:
            chunks = iter(partial(file.read, _CHUNK), b"")
            if around is None or not counts.sentences:
                yield from chunks
            else:
                yield from _numbered(chunks, counts.sentences, *around)
        counts.add(work.before["sentences"], work.before["tokens"])


def _numbered(
    chunks: Iterable[bytes], number: int, before: bytes, behind: bytes
) -> Iterator[bytes]:
    r"""Lines with other numbers: those from `number` + 1 on.

    >>> b"".join(_numbered([b"# sent_id = 1\n\n# sen", b"t_id = 2\n"], 8, b"\n# sent_id = ", b"\n"))
    b'# sent_id = 9\n\n# sent_id = 10\n'
    """
    rest, begun = b"\n", False  # as if a line had ended before
    for chunk in chain(chunks, [b""]):
        data = rest + chunk
        end = data.rfind(b"\n") if chunk else len(data)
        first, *others = data[:end].split(before)
        done = [first]
        for other in others:
            number += 1
            at = other.find(behind)
            done += (before, b"%d" % number, other[at:] if at >= 0 else b"")
        piece = b"".join(done)
        yield piece if begun else piece[1:]
        begun, rest = begun or bool(piece), data[end:]


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""The same bytes in pieces of whole lines.

    >>> [*_whole_lines([b"a\nb", b"c", b"\n"])]
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


def _digest_of(whole: Work, works: Sequence[Work]) -> str:
    """The digest of the input, which must be what the parts were made of.

    Raises
    ------
    CorpusError
        If it is not.
    """
    digest, size = hashlib.sha256(), 0
    same = True
    for work in works:
        of_part = hashlib.sha256()
        with work.input.open() as file:
            for chunk in iter(partial(file.read, _CHUNK), b""):
                digest.update(chunk)
                of_part.update(chunk)
                size += len(chunk)
        same &= of_part.hexdigest() == work.before["input"]["sha256"]
    facts = place_of(whole.input.name).facts()
    if not same or facts is None or size != facts.bytes:
        msg = (
            "expected the file that its parts were made of, found another: it has changed "
            "meanwhile; tag it again"
        )
        raise CorpusError(msg, source=whole.input.name)
    return digest.hexdigest()


def remove_parts(target: str | PathLike[str]) -> None:
    """Remove the parts of a file, if there are any, and their folder, if nothing else is in it.

    >>> remove_parts("no/such.conllu")
    """
    folder = place_of(f"{os.fspath(target)}{PARTS}")
    names = folder.names()
    if names and not is_address(folder.name):
        remove_leftovers(folder.name)
    for name in names:
        if _PART.fullmatch(name):
            place_of(_inside(target, name)).remove()
    if names:
        folder.remove_folder()
