"""Large files as ranges of bytes, each of which can be tagged by itself.

A range ends with a sentence, or, in raw text that a model cuts, with a paragraph: nothing in it
depends on what is outside of it. The format, the columns and the paragraph mode need more than
a range: the head of the file decides them.
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
    from seqtag.corpus import ReadOptions
    from seqtag.tagging.streams import TagOptions

_CHUNK = 1 << 20
_SPACE = b" \t\r\n"
_MARK = "\ufeff"
_LOOK = 64  # bytes after a border that decide whether a range may begin there

_PARAGRAPH = re.compile(rb"\n[ \t\r\n]*")


class Head(NamedTuple):
    """Properties of a complete file that its head determines.

    Attributes
    ----------
    format
        Its format.
    columns
        Names of its columns.
    separator
        The separator of columns; empty if there are none.
    paragraphs
        The paragraph mode, for text that a model segments; empty otherwise.
    """

    format: str
    columns: tuple[str, ...] = ()
    separator: str = ""
    paragraphs: str = ""

    @property
    def numbered(self) -> bool:
        """True if sentences get numbers through the file when they are cut."""
        return bool(self.paragraphs)


class Range(NamedTuple):
    """A range of the bytes of a file, with the properties that the head of the file determines."""

    start: int
    end: int
    head: Head


class Ranges(NamedTuple):
    """Two or more ranges of a file in their order; or none, and the reason."""

    ranges: list[Range]
    reason: str


def ranges_of(
    place: Place,
    options: TagOptions,
    size: int,
    *,
    cuts: bool,
    reading: ReadOptions | None = None,
) -> Ranges:
    r"""Cut a file into ranges.

    Parameters
    ----------
    place
        The file.
    options
        How to read it.
    size
        Approximate size of a range in bytes: it ends at the first border from there on.
    cuts
        True if a model cuts raw text.
    reading
        How to read it with what the model knows of files; None for what the options say.

    Raises
    ------
    OptionError
        If the size is less than 1.
    CorpusError
        If the format of the file cannot be recognized, or its head is malformed.
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
        return Ranges([], "no larger than a chunk")
    format = row_format(place.name, options.format)
    if format == "parquet":
        return Ranges([], "Parquet, which is read in row groups")
    if options.token_ranges:
        return Ranges([], "--token-ranges counts characters from the start of the file")
    with place.open() as file:
        if compression_of(file.read(_LOOK)) is not None:
            return Ranges([], "compressed")
        file.seek(0)
        if format == "jsonl":
            head, first = Head("jsonl"), 0
        else:
            stream = (reading or options.reading).open(file)
            if stream.is_raw and cuts and options.tokenizer == "model":
                text, mode = stream.head(), options.paragraphs
                if mode == "auto":
                    mode = find_mode(text.replace(_MARK, " ")).mode
                at = next((i for i, char in enumerate(text) if code_kind(char) == BASE), None)
                if at is None:
                    return Ranges([], "only white space at the start")
                head, first = Head("text", stream.columns, "", mode), len(text[:at].encode())
            else:
                if not stream.layout.is_plain:
                    return Ranges([], "only regular column files can be split")
                if stream.is_table and not stream.separator:
                    for _ in stream.blocks():
                        if stream.separator:
                            break
                head, first = Head(stream.format, stream.columns, stream.separator), 0
        borders, count = [0], ceil(facts.bytes / size)
        for number in range(1, count):
            wanted = max(number * facts.bytes // count, first)
            if wanted <= borders[-1]:
                continue
            border = _next_border(file, wanted, head)
            if border is None:
                break
            borders.append(border)
    ranges = [Range(start, end, head) for start, end in pairwise([*borders, facts.bytes])]
    if len(ranges) == 1:
        return Ranges([], "no sentence boundary to split at")
    return Ranges(ranges, "")


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
