"""A large file in parts: ranges of bytes that are tagged one by one, then joined to the same bytes.

A range ends with a sentence, or, in raw text that a model cuts, with a paragraph: nothing in it
depends on what is outside of it. The format, the columns and the paragraph mode need more than
a range: the head of the file decides them. Until they are joined, the parts lie in a folder next to
the file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from seqtag.batch.files import Head, Models, Range, find_change, range_facts, recipe_of
from seqtag.batch.storage import digesting, facts_of, open_file, open_output, remove
from seqtag.corpus.formats import FORMATS, joined, renumbered
from seqtag.errors import CorpusError, OptionError
from seqtag.segmentation.characters import BASE, code_kind
from seqtag.segmentation.paragraphs import find_mode
from seqtag.storage.compression import compression_of
from seqtag.tagging.streams import TagCounts, TagOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from seqtag.batch.files import AnyModel
    from seqtag.batch.ledger import FileResult
    from seqtag.tagging.pipeline import Chain

PARTS = ".seqtag-parts"
"""Ending of the folder of parts, after the name of the file."""

_CHUNK = 1 << 20
_SPACE = b" \t\r\n"
_MARK = "\ufeff"
_LOOK = 64  # bytes after a border that decide whether a range may begin there

_PARAGRAPH = re.compile(rb"\n[ \t\r\n]*")


class Ranges(NamedTuple):
    """Two or more ranges of a file in their order; or none, and the reason."""

    ranges: list[Range]
    reason: str


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
        The parts, or none and the reason: the file is not larger, compressed, or has no place
        where it could be cut.

    Raises
    ------
    OptionError
        If the size is less than 1.
    CorpusError, ModelFileError, OSError
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
    if size < 1:
        msg = f"expected a size of one byte or more for ranges, found {size}"
        raise OptionError(msg)
    name, options = os.fspath(source), options or TagOptions()
    total = range_facts(name).bytes
    if total <= size:
        return Ranges([], "no larger than a chunk")
    if options.token_ranges:
        return Ranges([], "--token-ranges counts characters from the start of the file")
    with open_file(name) as file:
        if compression_of(file.read(_LOOK)) is not None:
            return Ranges([], "compressed")
        file.seek(0)
        found = _head_of(file, Models.of(model).chain(options.only), options)
        if isinstance(found, str):
            return Ranges([], found)
        head, first = found
        borders, count = [0], ceil(total / size)
        for number in range(1, count):
            wanted = max(number * total // count, first)
            if wanted <= borders[-1]:
                continue
            border = _next_border(file, wanted, head)
            if border is None:
                break
            borders.append(border)
    if len(borders) == 1:
        return Ranges([], "no sentence boundary to split at")
    return Ranges([Range(*each, head) for each in pairwise([*borders, total])], "")


def _head_of(file: BinaryIO, chain: Chain, options: TagOptions) -> tuple[Head, int] | str:
    """Return what the head of a file determines, and its length; or why it cannot be split."""
    stream = chain.reading(options.reading).open(file)
    if stream.is_raw and chain.cuts and options.tokenizer == "model":
        text, mode = stream.head(), options.paragraphs
        if mode == "auto":
            mode = find_mode(text.replace(_MARK, " ")).mode
        at = next((i for i, char in enumerate(text) if code_kind(char) == BASE), None)
        if at is None:
            return "only white space at the start"
        return Head("text", stream.columns, "", mode), len(text[:at].encode())
    if not stream.layout.is_plain:
        return "only regular column files can be split"
    if stream.is_table and not stream.separator:
        next((None for _ in stream.blocks() if stream.separator), None)
    return Head(stream.format, stream.columns, stream.separator), 0


def part_of(target: str | PathLike[str], part: Range) -> str:
    """Return the file that a part is written to.

    >>> part_of("tagged/a.conllu", Range(0, 100, Head("conllu")))
    'tagged/a.conllu.seqtag-parts/0-100'
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
    begun, models, options = time.perf_counter(), Models.of(model), options or TagOptions()
    source, target = os.fspath(source), os.fspath(target)
    facts, recipe = range_facts(source), recipe_of(models.digests, options)
    change = find_change(before, recipe, facts, facts_of(target))
    for part, result in zip(parts, results, strict=True):
        name = part_of(target, part)
        written, expected = facts_of(name), recipe_of(models.digests, options, part)
        size = None if written is None else written.bytes
        if size != result.bytes_written or result.recipe != expected:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    counts = TagCounts()
    around = FORMATS[options.to or "conllu"].number if parts[0].head.paragraphs else None
    pieces = _complete_lines(_pieces(target, parts, results, counts, around))
    with open_output(target, tidy=tidy) as (out, stored):
        for piece in joined(pieces, options.to):
            out.write(piece)
        digest = _input_digest(source, parts, results)
    is_same = before is not None and before.sha256_read == digest
    remove(f"{target}{PARTS}")
    return replace(
        results[0],
        source=source,
        target=target,
        status="tagged",
        reason=change or ("output" if is_same else "input"),
        sentences=counts.sentences,
        tokens=counts.tokens,
        bytes_read=facts.bytes,
        bytes_written=stored.bytes,
        sha256_read=digest,
        sha256_written=stored.sha256,
        stamp=facts.stamp,
        recipe=recipe,
        seconds=time.perf_counter() - begun,
    )


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
        name = part_of(target, part)
        with digesting(name) as file:
            chunks = iter(partial(file.read, _CHUNK), b"")
            if around is None or not counts.sentences:
                yield from chunks
            else:
                yield from renumbered(chunks, counts.sentences, *around)
            digest = file.digest()
        if digest != result.sha256_written:  # without it, the next attempt tags it again
            remove(name)
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
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


def _input_digest(source: str, parts: Sequence[Range], results: Sequence[FileResult]) -> str:
    """Return the digest of the input.

    Raises
    ------
    CorpusError
        If it has changed since the parts were tagged.
    """
    digest, is_same = hashlib.sha256(), True
    with open_file(source) as file:
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
        raise CorpusError(msg, source=source)
    return digest.hexdigest()


def _next_border(file: BinaryIO, start: int, head: Head) -> int | None:
    """Return the first border after a position; None if there is none before the end."""
    pattern = _PARAGRAPH if head.paragraphs else FORMATS[head.format].border
    file.seek(start)
    data = bytearray()
    while True:
        chunk = file.read(_CHUNK)
        data += chunk
        kept = len(data.rstrip(_SPACE))  # white space at the end may continue
        for match in pattern.finditer(data):
            if chunk and match.end() + _LOOK > len(data):
                kept = match.start()
                break
            if match.end() < len(data) and _is_border(data, match, head):
                return start + match.end()
        if not chunk:
            return None
        del data[:kept]
        start += kept


def _is_border(data: bytearray, match: re.Match[bytes], head: Head) -> bool:
    """Return whether a range may begin after a match: a format must not be detected differently."""
    after = bytes(data[match.end() : match.end() + _LOOK])
    if 0 in after or after.startswith(_MARK.encode()) or compression_of(after) is not None:
        return False
    if not head.paragraphs:
        return True
    # White space before a paragraph belongs to the last word of the one before it.
    char = after[:4].decode("utf-8", errors="ignore")[:1]
    enough = match[0].count(b"\n") > (head.paragraphs == "blank")
    return enough and char != "" and code_kind(char) == BASE
