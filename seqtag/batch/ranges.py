"""Large files as ranges of bytes, each of which can be tagged by itself.

A range ends where a sentence does, and one of raw text that a model cuts where a paragraph does, so
that nothing in a range depends on what is outside of it. What does depend on more, the format and
the columns, whether lines are paragraphs, is decided by the head of the file, and told to all.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from seqtag.batch.rows import row_format
from seqtag.corpus import FORMATS
from seqtag.errors import OptionError
from seqtag.segmentation.characters import BASE, code_kind
from seqtag.segmentation.paragraphs import find_mode
from seqtag.storage.compression import compression_of

if TYPE_CHECKING:
    from seqtag.batch.storage import Place
    from seqtag.corpus import SentenceStream
    from seqtag.tagging.streams import TagOptions

_CHUNK = 1 << 20
_SPACE = b" \t\r\n"
_MARK = "\ufeff"
_LOOK = 64  # bytes behind a border that tell whether a file may begin there

_PARAGRAPH = re.compile(rb"\n[ \t\r\n]*")


class Head(NamedTuple):
    """What the head of a file decides for all of it.

    Attributes
    ----------
    format
        What it is read as.
    columns
        Names of its columns.
    separator
        What stands between them; empty if there are none.
    paragraphs
        Text that a model cuts: what ends a paragraph. Empty for all else.
    """

    format: str
    columns: tuple[str, ...] = ()
    separator: str = ""
    paragraphs: str = ""

    @property
    def numbered(self) -> bool:
        """Whether the sentences are numbered when they are cut, all through the file."""
        return bool(self.paragraphs)


_JSON_LINES: tuple[Head, int | None] = Head("jsonl"), 0


class Range(NamedTuple):
    """A part of a file.

    Attributes
    ----------
    start, end
        Its bytes.
    head
        What the head of the file has decided.
    """

    start: int
    end: int
    head: Head


class Ranges(NamedTuple):
    """The parts of a file in their order, two or more; or none, and why it is not cut.

    The reason is empty where the file is just not that large.
    """

    ranges: list[Range]
    reason: str


def ranges_of(place: Place, options: TagOptions, size: int, *, cuts: bool) -> Ranges:
    r"""The ranges that a file can be cut into.

    Parameters
    ----------
    place
        The file.
    options
        How it is read.
    size
        About how many bytes a range shall have: one ends behind the first border from there on.
    cuts
        Whether there is a model that cuts raw text.

    Raises
    ------
    OptionError
        If the size is below 1.
    CorpusError
        If the format of the file cannot be recognised, or its head is none.
    OSError
        As the system reports it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqtag.tagging.streams import TagOptions
    >>> from seqtag.batch.storage import place_of
    >>> path = Path(tempfile.mkdtemp(), "a.txt")
    >>> _ = path.write_bytes(b"a b\nc d e\nf\n")
    >>> found = ranges_of(place_of(path), TagOptions(format="tokens"), 5, cuts=False)
    >>> [(each.start, each.end) for each in found.ranges]
    [(0, 10), (10, 12)]
    """
    if size < 1:
        msg = f"expected a size of one byte or more for ranges, found {size}"
        raise OptionError(msg)
    facts = place.facts()
    if facts is None or facts.bytes <= size:
        return Ranges([], "")
    format = row_format(place.name, options.format)
    if format == "parquet":
        return Ranges([], "Parquet has its groups of rows")
    if options.token_ranges:
        return Ranges([], "--token-ranges counts characters from the start")
    with place.open() as file:
        if compression_of(file.read(_LOOK)) is not None:
            return Ranges([], "they are compressed")
        file.seek(0)
        if format == "jsonl":
            head, first = _JSON_LINES
        else:
            stream = options.reading.open(file)
            head, first = _head_of(stream, options, cuts=cuts)
        if first is None:
            return Ranges([], "they begin with white space")
        borders = [0, *_borders(file, facts.bytes, size, head, first), facts.bytes]
    ranges = [Range(start, end, head) for start, end in pairwise(borders)]
    if len(ranges) == 1:
        return Ranges([], "no sentence ends where one could be cut")
    return Ranges(ranges, "")


def _head_of(stream: SentenceStream, options: TagOptions, *, cuts: bool) -> tuple[Head, int | None]:
    """What the head of a file decides, and where its first word is; None if that is not there."""
    if stream.is_raw and cuts and options.tokenizer == "model":
        text, mode = stream.head(), options.paragraphs
        if mode == "auto":
            mode = find_mode(text.removeprefix(_MARK)).mode
        at = next((i for i, char in enumerate(text) if code_kind(char) == BASE), None)
        first = None if at is None else len(text[:at].encode())
        return Head("text", stream.columns, "", mode), first
    if stream.is_table and not stream.separator:
        for _ in stream.blocks():
            if stream.separator:
                break
    return Head(stream.format, stream.columns, stream.separator), 0


def _borders(file: BinaryIO, total: int, size: int, head: Head, first: int) -> list[int]:
    """Where ranges of about the same size end, but for the last."""
    count = ceil(total / size)
    found: list[int] = []
    for number in range(1, count):
        target = max(number * total // count, first)
        if found and target <= found[-1]:
            continue
        border = _border(file, target, head)
        if border is None:
            break
        found.append(border)
    return found


def _border(file: BinaryIO, start: int, head: Head) -> int | None:
    """The first border behind a position; None if there is none before the end of the file."""
    pattern = _pattern_of(head)
    file.seek(start)
    data = bytearray()
    while True:
        chunk = file.read(_CHUNK)
        data += chunk
        kept = len(data.rstrip(_SPACE))  # what ends here may go on
        for match in pattern.finditer(data):
            if chunk and match.end() + _LOOK > len(data):
                kept = match.start()
                break
            if match.end() < len(data) and _may_begin(data, match, head):
                return start + match.end()
        if not chunk:
            return None
        del data[:kept]
        start += kept


def _pattern_of(head: Head) -> re.Pattern[bytes]:
    """How the end of a sentence, or of a paragraph, looks."""
    if head.paragraphs:
        return _PARAGRAPH
    return FORMATS[head.format].border


def _may_begin(data: bytearray, match: re.Match[bytes], head: Head) -> bool:
    """Whether a range may begin behind a match: it must not look like what it is not."""
    behind = bytes(data[match.end() : match.end() + _LOOK])
    if 0 in behind or behind.startswith(_MARK.encode()) or compression_of(behind) is not None:
        return False
    if not head.paragraphs:
        return True
    # White space in front of a paragraph is behind the last word of the one before.
    char = behind[:4].decode("utf-8", errors="ignore")[:1]
    enough = match[0].count(b"\n") > (head.paragraphs == "blank")
    return enough and char != "" and code_kind(char) == BASE
