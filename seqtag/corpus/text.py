"""Formats with sentences on lines: raw text, tokenized text, word/TAG; and Penn Treebank files.

Raw text is segmented by NLTK without any data.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from seqtag.corpus.layout import Layout
from seqtag.corpus.lines import lines_of, shorten, start_of, with_marks_as_spaces
from seqtag.corpus.sentence import Sentence, Span, SpanSentence
from seqtag.corpus.stream import ByteStream, ReadLimits, after_last_rule, before_last_tree
from seqtag.errors import CorpusError
from seqtag.labels.schemes import write_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    _Builder = Callable[[str, str, int], SpanSentence]

# Abbreviations that rarely end a sentence, as Punkt wants them: lower case, no final period.
ABBREVIATIONS = """
mr mrs ms dr prof rev gen col lt sgt capt gov sen rep st mt jr sr vs etc e.g i.e cf al vol fig pp
p.m a.m u.s u.k u.n d.c inc ltd co corp bros jan feb mar apr jun jul aug sep sept oct nov dec
"""
_LONG_LINE = 20_000  # characters; no sentence of this length is intended
_QUOTES = ('"', "``", "''")
_TOKEN = re.compile(r"[^ \t\r\n\ufeff]+")


def read_tokens(stream: ByteStream, source: str) -> Iterator[Sentence]:
    """Read one sentence per line, words separated by spaces or tabs.

    Byte order marks separate words, too; other white space (no-break space, U+2028, ...) is part
    of a word. An empty line is a sentence without words.
    """
    for raw, line in lines_of(stream, returns=False):
        # One more than may be shows that there are too many.
        found = islice(_TOKEN.finditer(raw), stream.limits.sentence + 1)
        spans = [m.span() for m in found]
        words = [raw[a:b] for a, b in spans]
        yield SpanSentence(raw, source, line, {"form": words}, [a for a, _ in spans], {})


def write_tokens(columns: Mapping[str, Sequence[str]]) -> str:
    """Return the words on one line."""
    return " ".join(columns["form"]) + "\n"


def read_text(stream: ByteStream, source: str) -> Iterator[Sentence]:
    """Read raw text with one paragraph or sentence per line.

    Sentences are found by Punkt with a short list of English abbreviations, words by the
    tokenizer NLTK recommends (``don't`` gives ``do`` and ``n't``). Forms are what is written:
    quotes stay as they are. The column ``misc`` says ``SpaceAfter=No`` where words touch.
    """
    for raw, line in lines_of(stream):
        text = with_marks_as_spaces(raw)
        begin = 0
        for end, spans in sentences_of_line(text):
            glued = [b < len(text) and not text[b].isspace() for _, b in spans]
            values = {
                "form": [text[a:b] for a, b in spans],
                "misc": ["SpaceAfter=No" if g else "_" for g in glued],
            }
            starts = [a - begin for a, _ in spans]
            yield SpanSentence(raw[begin:end], source, line, values, starts, {})
            begin = end


def sentences_of_line(text: str) -> Iterator[tuple[int, list[Span]]]:
    r"""Yield for each sentence of a line where it ends, and the spans of its words.

    White space after a sentence opens the next. They come one by one, so that a reader with a time
    limit may stop within a long line.

    Examples
    --------
    >>> list(sentences_of_line("It does. Why?\n"))
    [(8, [(0, 2), (3, 7), (7, 8)]), (14, [(9, 12), (12, 13)])]
    """
    if not text.strip():  # much faster than by NLTK
        yield len(text), []
        return
    splitter, tokenizer = _tools()
    begin = 0
    for end in _sentence_ends(text, splitter):
        spans = word_spans(text[begin:end], tokenizer)
        yield end, [(begin + a, begin + b) for a, b in spans]
        begin = end


def certain_part(text: str) -> str:
    """Return the part of a line that is not complete whose sentences are certain."""
    *_, (start, _) = _pieces_of(text)
    return text[:start]


def _sentence_ends(text: str, splitter: Any) -> Iterator[int]:
    """Yield where the sentences of a line end."""
    end = 0
    for a, b in _pieces_of(text):
        for _, stop in splitter.span_tokenize(text[a:b]):
            if end:
                yield end
            end = a + stop
    yield len(text)


def _pieces_of(text: str) -> Iterator[Span]:
    """Split a very long line at spaces, because NLTK fails on it."""
    start = 0
    while len(text) - start > _LONG_LINE:
        cut = text.rfind(" ", start, start + _LONG_LINE) + 1
        if cut <= start:  # one long word
            cut = start + _LONG_LINE
        yield start, cut
        start = cut
    yield start, len(text)


def word_spans(text: str, tokenizer: Any) -> list[Span]:
    """Return the spans in `text` of the words of a tokenizer that may rewrite quotes.

    Falls back to white space should a word not be found again, so no character is ever lost.

    Examples
    --------
    >>> from nltk.tokenize import NLTKWordTokenizer
    >>> text = 'He said "no".'
    >>> [text[a:b] for a, b in word_spans(text, NLTKWordTokenizer())]
    ['He', 'said', '"', 'no', '"', '.']
    """
    spans: list[Span] = []
    at = 0
    for token in tokenizer.tokenize(text):
        while at < len(text) and text[at].isspace():
            at += 1
        written = (token, *_QUOTES) if token in _QUOTES else (token,)
        match = next((w for w in written if text.startswith(w, at)), None)
        if match is None:
            break
        spans.append((at, at + len(match)))
        at += len(match)
    else:
        if not text[at:].strip():
            return spans
    return [m.span() for m in re.finditer(r"\S+", text)]


@cache
def _tools() -> tuple[Any, Any]:
    """Return sentence splitter and word tokenizer; importing NLTK takes a second."""
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS.split())
    return PunktSentenceTokenizer(parameters), NLTKWordTokenizer()


_WORD_AND_TAG = Layout("tagged", ("form", "pos"))
_POS_ITEM = re.compile(r"[\[\]]|[^ \t\r\n\ufeff\[\]]+")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")
_POS_END = re.compile(r"\n(?:[ \t]*\r?\n|=+[ \t]*(?:\r?\n|\Z))")
_LEAF = re.compile(r"\(\s*([^\s()]+)\s+((?:\\[()]|[^\s()])+)\s*\)")


def read_tagged(
    stream: ByteStream, source: str, layout: Layout = _WORD_AND_TAG
) -> Iterator[Sentence]:
    r"""Read one sentence per line, its items ``word/TAG``; the last slash, or separator, counts.

    The layout may have more tags: ``word/POS/reading``. An escaped slash (``1\/2/CD``) stays as
    written.
    """
    most = stream.limits.sentence + 1  # one more than allowed, so that the excess is detected

    def build(raw: str, source: str, line: int) -> SpanSentence:
        found = islice(_TOKEN.finditer(raw), most)
        return _tagged(raw, source, line, [m.span() for m in found], layout=layout)

    for raw, line in lines_of(stream, returns=False):
        yield _kept(stream, build, raw, source, line, layout.columns)


def write_tagged(columns: Mapping[str, Sequence[str]]) -> str:
    """Return the items ``word/TAG`` on one line; TAG is the last column other than ``misc``.

    A TAG with a slash is written as it is, but readers split at the last slash.

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
    for block in stream.blocks(after_last_rule):
        text, start = block.text, 0
        ends = [m.end() for m in _POS_END.finditer(text)]
        for end in ends if ends and ends[-1] == len(text) else [*ends, len(text)]:
            # Leading blank lines are a piece of their own, wherever blocks begin.
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
    for block in stream.blocks(before_last_tree):
        text = block.text
        starts = [0, *(m.end() for m in re.finditer(r"\n(?=\()", text)), len(text)]
        for start, end in pairwise(starts):
            raw = text[start:end]
            yield _kept(stream, build, raw, source, line)
            line += raw.count("\n")


def _kept(
    stream: ByteStream,
    build: _Builder,
    raw: str,
    source: str,
    line: int,
    columns: tuple[str, ...] = ("form", "pos"),
) -> SpanSentence:
    """Return a sentence from its text, without words if it is skipped."""
    try:
        return build(raw, source, line)
    except CorpusError as error:
        stream.warnings.pass_over(error)
        return SpanSentence(raw, source, line, {name: [] for name in columns}, [], {})


def _tagged(
    raw: str,
    source: str,
    line: int,
    items: list[Span],
    chunks: list[str] | None = None,
    layout: Layout = _WORD_AND_TAG,
) -> SpanSentence:
    """Return a sentence from the spans of its word/TAG items."""
    joint, names = layout.separator or "/", layout.columns[1:]
    values: dict[str, list[str]] = {name: [] for name in layout.columns}
    spans: dict[str, list[Span]] = {name: [] for name in names}
    forms, rest = values["form"], items
    for name in reversed(names):
        tags, places = values[name], spans[name]
        forms.clear()
        for start, end in rest:
            form, mark, tag = raw[start:end].rpartition(joint)
            if not (form and mark and tag):
                msg = (
                    f"expected {joint.join(['word', *['TAG'] * len(names)])}, found "
                    f"{shorten(raw[start:end])}; add the tag, or name the format with --format"
                )
                raise CorpusError(msg, source=source, line=line + raw.count("\n", 0, start))
            forms.append(form)
            tags.append(tag)
            places.append((end - len(tag), end))
        rest = [(start, start + len(form)) for (start, _), form in zip(items, forms, strict=True)]
    for name, spelling in layout.spellings:
        values[name] = spelling.read(values[name])
    if chunks is not None:
        values["chunk"] = chunks
    starts = [start for start, _ in items]
    return SpanSentence(raw, source, line, values, starts, spans, dict(layout.spellings))


def _bracketed(raw: str, source: str, line: int, limits: ReadLimits) -> SpanSentence:
    """Return a sentence from the text of a .pos file."""
    items: list[Span] = []
    chunks: list[tuple[str, int, int]] = []
    first, opened, wrong = -1, 0, -1  # first < 0: no bracket is open
    for match in _POS_ITEM.finditer(raw):
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
            f"expected balanced brackets without nesting, found an unmatched {raw[wrong]!r} "
            "in this sentence; correct the brackets"
        )
        raise CorpusError(msg, source=source, line=line + raw.count("\n", 0, wrong))
    return _tagged(raw, source, line, items, write_spans(chunks, len(items), "iob2"))


def _lines_before(raw: str, start: int = 0) -> int:
    """Count the blank lines at the beginning."""
    return raw.count("\n", 0, len(raw) - len(raw[start:].lstrip()))


def _tree(raw: str, source: str, line: int, limits: ReadLimits) -> SpanSentence:
    """Return a sentence from one tree; NLTK checks the tree, its leaves give the spans."""
    start = start_of(raw)
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
                f"expected one tree with balanced parentheses, found another "
                f"text ({reason}); correct the tree that starts here"
            )
            raise CorpusError(msg, source=source, line=at) from err
        if [(m[2], m[1]) for m in found] != leaves:
            msg = (
                "expected a tag around every word, as in (DT the), found a word "
                "without one; correct the tree that starts here"
            )
            raise CorpusError(msg, source=source, line=at)
    found = [m for m in found if m[1] != "-NONE-"]
    values = {"form": [m[2] for m in found], "pos": [m[1] for m in found]}
    return SpanSentence(
        raw, source, line, values, [m.start(2) for m in found], {"pos": [m.span(1) for m in found]}
    )
