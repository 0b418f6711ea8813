"""Text as word/TAG, and the two forms of the Penn Treebank: .pos files and bracketed trees."""

from __future__ import annotations

import re
from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from seqtag.corpus.sentence import Sentence, Span, SpanSentence
from seqtag.corpus.stream import ByteStream, ReadLimits, after_last_rule, before_last_tree
from seqtag.corpus.table import shorten
from seqtag.corpus.text import lines_of, start_of
from seqtag.errors import CorpusError
from seqtag.labels.schemes import write_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    _Builder = Callable[[str, str, int], SpanSentence]

_ITEM = re.compile(r"[^ \t\r\n]+")
_POS_ITEM = re.compile(r"[\[\]]|[^ \t\r\n\[\]]+")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")
_POS_END = re.compile(r"\n(?:[ \t]*\r?\n|=+[ \t]*(?:\r?\n|\Z))")
_LEAF = re.compile(r"\(\s*([^\s()]+)\s+((?:\\[()]|[^\s()])+)\s*\)")


def read_tagged(stream: ByteStream, source: str) -> Iterator[Sentence]:
    r"""Read one sentence per line, its items ``word/TAG``; the last slash counts.

    Columns: form, pos. An escaped slash (``1\/2/CD``) stays as written.
    """
    # One more than may be shows that there are too many.
    build = partial(_line_of_items, most=stream.limits.sentence + 1)
    for raw, line in lines_of(stream):
        yield _kept(stream, build, raw, source, line)


def write_tagged(columns: Mapping[str, Sequence[str]]) -> str:
    """Return the items ``word/TAG`` on one line; TAG is the last column other than ``misc``.

    A TAG with a slash is written as it is; who reads it takes the last slash for the border.

    Raises
    ------
    CorpusError
        If there is no such column.
    """
    label = next((n for n in reversed(list(columns)) if n not in ("form", "misc")), None)
    if label is None:
        msg = (
            "expected a column 'label' to write the format tagged, found "
            f"{', '.join(columns)}; add it or choose another format"
        )
        raise CorpusError(msg)
    return " ".join(map("/".join, zip(columns["form"], columns[label], strict=True))) + "\n"


def read_pos(stream: ByteStream, source: str) -> Iterator[Sentence]:
    """Read .pos files: ``word/TAG`` items on several lines, base noun phrases in brackets.

    A sentence ends at a blank line or at a line of equals signs. Columns: form, pos, chunk
    (``B-NP``, ``I-NP`` and ``O``, from the brackets).
    """
    build = partial(_bracketed, limits=stream.limits)
    line = 1
    for text, _ in stream.blocks(after_last_rule):
        start = 0
        ends = [m.end() for m in _POS_END.finditer(text)]
        for end in ends if ends and ends[-1] == len(text) else [*ends, len(text)]:
            # Blank lines in front stand alone, however the blocks fall.
            while blank := _BLANK_LINE.match(text, start, end):
                yield _kept(stream, build, blank[0], source, line)
                line, start = line + 1, blank.end()
            raw = text[start:end]
            if raw:
                yield _kept(stream, build, raw, source, line)
            line += raw.count("\n")
            start = end


def read_mrg(stream: ByteStream, source: str) -> Iterator[Sentence]:
    """Read bracketed trees as in .mrg files of the Penn Treebank; traces (``-NONE-``) are left out.

    Every parenthesis that opens a line starts a tree. Columns: form, pos.
    """
    build = partial(_tree, limits=stream.limits)
    line = 1
    for text, _ in stream.blocks(before_last_tree):
        starts = [0, *(m.end() for m in re.finditer(r"\n(?=\()", text)), len(text)]
        for start, end in pairwise(starts):
            raw = text[start:end]
            yield _kept(stream, build, raw, source, line)
            line += raw.count("\n")


def _kept(stream: ByteStream, build: _Builder, raw: str, source: str, line: int) -> SpanSentence:
    """Return a sentence from its text, without words if it is skipped."""
    try:
        return build(raw, source, line)
    except CorpusError as error:
        stream.warnings.pass_over(error)
        return SpanSentence(raw, source, line, {"form": [], "pos": []}, [], {"pos": []})


def _line_of_items(raw: str, source: str, line: int, most: int) -> SpanSentence:
    """Return a sentence from a line of word/TAG items, at most `most` of them."""
    found = islice(_ITEM.finditer(raw, start_of(raw, line)), most)
    return _tagged(raw, source, line, [m.span() for m in found])


def _tagged(
    raw: str, source: str, line: int, items: list[Span], chunks: list[str] | None = None
) -> SpanSentence:
    """Return a sentence from the spans of its word/TAG items."""
    values: dict[str, list[str]] = {"form": [], "pos": []}
    tags = []
    for start, end in items:
        form, slash, tag = raw[start:end].rpartition("/")
        if not (form and slash and tag):
            msg = (
                f"expected word/TAG, found {shorten(raw[start:end])}; add the tag, "
                "or name the format with --format"
            )
            raise CorpusError(msg, source=source, line=line + raw.count("\n", 0, start))
        values["form"].append(form)
        values["pos"].append(tag)
        tags.append((end - len(tag), end))
    if chunks is not None:
        values["chunk"] = chunks
    return SpanSentence(raw, source, line, values, [a for a, _ in items], {"pos": tags})


def _bracketed(raw: str, source: str, line: int, limits: ReadLimits) -> SpanSentence:
    """Return a sentence from the text of a .pos file."""
    items: list[Span] = []
    chunks: list[tuple[str, int, int]] = []
    first, opened, wrong = -1, 0, -1  # first < 0: no bracket is open
    for match in _POS_ITEM.finditer(raw, start_of(raw, line)):
        item = match.group()
        if item in "[]":
            if (item == "[") == (first >= 0):
                wrong = match.start()
                break
            if item == "[":
                first, opened = len(items), match.start()
                continue
            if first < len(items):
                chunks.append(("NP", first, len(items)))
            first = -1
        elif item.strip("="):
            if len(items) == limits.sentence:
                raise limits.too_long(source, line + _lines_before(raw))
            items.append(match.span())
    if wrong < 0 and first >= 0:
        wrong = opened
    if wrong >= 0:
        msg = (
            f"expected brackets in pairs that do not nest, found {raw[wrong]!r} "
            "without its partner in this sentence; correct the brackets"
        )
        raise CorpusError(msg, source=source, line=line + raw.count("\n", 0, wrong))
    return _tagged(raw, source, line, items, write_spans(chunks, len(items), "iob2"))


def _lines_before(raw: str, start: int = 0) -> int:
    """Count the blank lines at the beginning."""
    return raw.count("\n", 0, len(raw) - len(raw[start:].lstrip()))


def _tree(raw: str, source: str, line: int, limits: ReadLimits) -> SpanSentence:
    """Return a sentence from one tree; NLTK checks the tree, its leaves give the spans."""
    start = start_of(raw, line)
    found: list[re.Match[str]] = []
    if raw[start:].strip():
        from nltk.tree import Tree

        at = line + _lines_before(raw, start)
        found = list(islice(_LEAF.finditer(raw, start), limits.sentence + 1))
        if len(found) > limits.sentence:
            raise limits.too_long(source, at)
        if raw.count("(") > limits.brackets:
            raise limits.too_long(source, at, "brackets")
        try:
            leaves = Tree.fromstring(raw[start:]).pos()
        except (ValueError, RecursionError) as err:
            reason = " ".join(str(err).split())
            msg = (
                f"expected one tree with its parentheses in pairs, found another "
                f"text ({reason}); correct the tree that starts here"
            )
            raise CorpusError(msg, source=source, line=at) from err
        if [(m[2], m[1]) for m in found] != leaves:
            msg = (
                "expected a tag around every word, as in (DT the), found a word "
                "that stands alone; correct the tree that starts here"
            )
            raise CorpusError(msg, source=source, line=at)
    found = [m for m in found if m[1] != "-NONE-"]
    values = {"form": [m[2] for m in found], "pos": [m[1] for m in found]}
    return SpanSentence(
        raw, source, line, values, [m.start(2) for m in found], {"pos": [m.span(1) for m in found]}
    )
