"""Detection of the format of a file from its first 64 kB.

One damaged row must not change what a file is: most rows decide, and the reader, which is strict,
then names the malformed one.  If the evidence is mixed, nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.corpus import conllu
from seqtag.corpus.column_files import MANY_ROWS, MARKS, PREFIXES, counted, name_tags, sniff_rows
from seqtag.corpus.foreign import refuse_foreign
from seqtag.corpus.formats import FORMATS
from seqtag.corpus.json_lines import TOKENS, columns_of, parsed, reasons_of
from seqtag.corpus.layout import Layout, LayoutOptions, Misfit
from seqtag.corpus.lines import DOCSTART, is_comment
from seqtag.corpus.spans import mostly_spans, text_of
from seqtag.corpus.stream import HEAD
from seqtag.corpus.texts import json_values
from seqtag.corpus.warnings import LONE_RETURN
from seqtag.errors import CorpusError
from seqtag.labels.schemes import CHUNK_LABEL, OUTSIDE
from seqtag.labels.spelling import detect_spelling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BIO = re.compile(rf"{OUTSIDE}|{CHUNK_LABEL}\S+")
_TYPED = re.compile(rf"{CHUNK_LABEL}[A-Z]{{2,}}")
_TAG = re.compile(r"[A-Z][A-Z0-9$|+_-]*|[^\w\s]{1,6}|-[LR]RB-")
_LABEL = re.compile(rf"{_TAG.pattern}|{_BIO.pattern}|[A-Z][A-Z0-9]*[.:|+_-]\S+|[A-Z]\w*=\S+|_")
_TAGGED = {joint: re.compile(rf"\S+{re.escape(joint)}(?:{_TAG.pattern})") for joint in "/_|"}
_TREE = re.compile(r"\(\s*(?:\(\s*[A-Z]|[A-Z][\w=|-]*\s+\(\s*[^\s()])")
_LEAF = re.compile(r"\([A-Z$,.:#`'|=-]+ [^\s()]+\)")
_COMMENT = re.compile(r"#(?:\s|$)|#\s*\w+\s*=")
_ID = re.compile(r"[0-9]{1,9}(?:[-.][0-9]{1,9})?[\t ]")
_SENTENCE_MARK = re.compile(r"<|\[SEP\]|-*EOS")  # which texts do not have, unlike rules of dashes
_ATTACHED = re.compile(r".*\w[.!?…,:;]+|.+[。！？｡．؟।။]+[”」』»\"]*")  # to a word, as in text only
_ENDED = re.compile(r"\w\w[.!?…:։]+[\"'”’»)\]]*$")  # with the end of a sentence; no label ends so
_LONG_WORD = 15  # characters; most words are shorter, in any language
_NARROW_COLUMNS = 4  # columns; most lines of prose have more words


class Sample(NamedTuple):
    """The beginning of a file, as the guesses look at it.

    Attributes
    ----------
    head
        The first bytes.
    every
        Its lines, blank ones among them, without the last one if that is cut.
    lines
        Its lines that are not blank.
    given
        What is known of the layout.
    is_text
        Whether it is text if it may be: see `detect_format`.
    """

    head: bytes
    every: list[str]
    lines: list[str]
    given: LayoutOptions
    is_text: bool


def detect_format(
    head: bytes, given: LayoutOptions | None = None, *, is_text: bool = False
) -> Layout:
    r"""Detect the format of a file from its beginning, by the first of `GUESSES` that fits.

    Parameters
    ----------
    head
        The first bytes (uncompressed); the last line may be cut.
    given
        What is known already.
    is_text
        Whether it is text if it may be. Then columns have tabs, or labels that recur; commas,
        semicolons and bars separate none, and neither one line nor a list of words is a table.

    Returns
    -------
    Layout
        Without any word: ``columns`` with the one column form, and no evidence.

    Raises
    ------
    CorpusError
        If the text could be several formats; the message says how to name one.

    Examples
    --------
    >>> layout = detect_format(b"The DT B-NP\ndog NN I-NP\nbarks B-VP\n\n")
    >>> layout.format, layout.columns, layout.evidence
    ('columns', ('form', 'pos', 'chunk'), '3 fields in 2 of 3 rows')
    >>> detect_format(b"The dog barks.\n").format
    'text'
    """
    every = complete_lines(head)
    lines = [line for line in every if line.strip(" \t")]
    sample = Sample(head, every, lines, given or LayoutOptions(), is_text)
    return next(found for guess in GUESSES if (found := guess(sample)) is not None)


def _with_named_columns(sample: Sample) -> Layout | None:
    """CoNLL-U Plus: ``# global.columns = ID FORM UPOS``."""
    named = conllu.plus_columns(sample.head.decode("utf-8-sig", errors="replace"))
    if named is None:
        return None
    comment = "" if "id" in named else "#"  # words may begin with it
    return Layout("conllu-plus", named, "\t", "named by # global.columns", comment=comment)


def _without_line_feeds(sample: Sample) -> None:
    r"""Refuse a column file of old Macs: ``Ada\tB-PER\rran\tO\r``."""
    if b"\r" in sample.head and b"\n" not in sample.head:
        with_newlines = sample.head.replace(b"\r", b"\n")
        if detect_format(with_newlines, sample.given).format != "text":
            raise CorpusError(LONE_RETURN, line=1)


def _empty(sample: Sample) -> Layout | None:
    """Return a column of words for a file without any."""
    return None if sample.lines else Layout("columns", ("form",), " ")


def complete_lines(head: bytes) -> list[str]:
    """Return the lines of a head, without a byte order mark and without a truncated last line."""
    lines = head.decode("utf-8-sig", errors="replace").split("\n")
    if len(head) >= HEAD and len(lines) > 1:
        lines.pop()
    return [line.lstrip("\ufeff").removesuffix("\r") for line in lines]


_TEXT_WORDS = 3  # of cells on average; those of languages with spaces in words have fewer


def _foreign(sample: Sample) -> None:
    """Refuse formats that are recognized but not read: ``<?xml version="1.0"?>``."""
    refuse_foreign(sample.every)


def _fixed(format: str, evidence: str) -> Layout:
    """Return the layout of a format whose columns are the same in each file."""
    return Layout(format, FORMATS[format].fixed or (), "", evidence)


def _span(rows: Sequence[Sequence[str]]) -> str:
    """Return the lowest and the highest number of fields: ``2 to 5``, or ``2``."""
    least, most = min(map(len, rows)), max(map(len, rows))
    return f"{least} to {most}" if least < most else f"{least}"


# ---- CoNLL-U


def _conllu(sample: Sample) -> Layout | None:
    """Return CoNLL-U if half of the lines can be nothing else: ``1 It it PRON PRP _ 2 ...``."""
    lines = sample.lines
    rows = [line for line in lines if line[0] != "#" or not _COMMENT.match(line)]
    alike = sum(map(_is_conllu, rows))
    if 2 * alike < len(rows) or not (rows or all(map(is_comment, lines))):
        return None
    tabs = Counter(row.count("\t") for row in rows)
    complete = tabs[9]
    if max(tabs[10], tabs[7]) > max(complete, 1):  # with another column, or without two
        return None
    heads = [row.split("\t")[6] for row in rows if row.count("\t") == 9]
    if 2 * sum(head == "_" or head.isdecimal() for head in heads) < complete:
        return None
    evidence = f"10 tab-separated fields in {complete} of {counted(len(rows), 'row')}"
    return Layout("conllu", conllu.COLUMNS, "\t", evidence if rows else "nothing but comments")


def _is_conllu(line: str) -> bool:
    """Return whether a line is a row of CoNLL-U with one error at most."""
    has_id = line[0].isdecimal() and _ID.match(line) is not None
    if 7 <= line.count("\t") <= 10:
        fields = line.split("\t")
        feats, head = fields[-5], fields[-4]  # where CoNLL-U has them, from the right
        has_tree = (feats == "_" or "=" in feats) and (head == "_" or head.isdecimal())
        if fields.count("") > 1:
            return False
        return has_id or (len(fields) >= 9 and has_tree)
    return has_id and "_" in (spaced := line.split()) and len(spaced) == 10


# ---- treebanks


def _trees(sample: Sample) -> Layout | None:
    """Return the format of trees if most lines open a bracket: ``(S (NP (DT a)) (VP (V b)))``."""
    lines = sample.lines
    opening = sum(line.lstrip(" \t").startswith("(") for line in lines)
    if 2 * opening < len(lines):
        return None
    text = "\n".join(lines)
    leaves = sum(1 for _ in _LEAF.finditer(text))
    first = _TREE.match(text.lstrip(" \t")) is not None and ")" in text
    if first or len(lines) <= leaves < text.count("("):
        return _fixed("mrg", f"{counted(opening, 'line')} of {len(lines)} open a bracket")
    return None


def _tagged(sample: Sample) -> Layout | None:
    """Return a format of words with tags if most items are: ``The/DT dog/NN barks/VBZ``.

    Several items are on a line; one on each is a column file. It is ``pos`` if there are brackets
    of base noun phrases, else ``tagged``.
    """
    lines = [line for line in sample.lines if not is_comment(line)]
    joint = _joint_of(lines)
    if 4 * sum(joint in line for line in lines) < len(lines):
        return None  # as in most files
    items = [item for line in lines for item in re.findall(r"[^ \t]+", line)]
    words = [item for item in items if item.strip("=") and item not in ("[", "]")]
    tagged = sum(_TAGGED[joint].fullmatch(word) is not None for word in words)
    if len(items) == len(lines) > 2:  # one on a line: columns
        return None
    layout = _layout_of_items(words, joint, sample.given)
    if 2 * tagged <= len(words):
        rows = [word.rsplit(joint, len(layout.columns) - 1) for word in words]
        rows = [row for row in rows if len(row) == len(layout.columns) and all(row)]
        tagged = len(rows)
        if not _have_tags(rows) or len(words) < MANY_ROWS or 20 * tagged < 19 * len(words):
            return None
    elif joint == "/" and len(words) < len(items):
        layout = _fixed("pos", "")
    evidence = f"word{joint}TAG in {tagged} of {counted(len(words), 'item')}"
    return replace(layout, evidence=evidence)


def _joint_of(lines: Sequence[str]) -> str:
    """Return the character that joins words and tags in most lines; in ties a slash."""
    return max("/_|", key=lambda char: sum(char in line for line in lines))


def _have_tags(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether words have tags, which are few and recur: ``我们/r 走/v``.

    Numbers, as in fractions and dates, are no tags; in ``and/or``, tags are not fewer than words,
    and in ``get_user set_user``, a word has several.
    """
    words, tags = {row[0] for row in rows}, {row[1] for row in rows}
    numbers = sum(row[1][0].isdecimal() for row in rows)
    pairs = {tuple(row) for row in rows}
    are_few = 2 * len(tags) <= len(rows) and len(tags) < len(words)
    return are_few and 2 * len(pairs) <= 3 * len(words) and 20 * numbers <= len(rows)


def layout_of_tagged(lines: Sequence[str], given: LayoutOptions) -> Layout:
    """Return the layout of a file of words with tags, given its lines: its joint and columns."""
    items = [item for line in lines for item in line.split()]
    return _layout_of_items(items, given.separator or _joint_of(lines), given)


def _layout_of_items(items: Sequence[str], joint: str, given: LayoutOptions) -> Layout:
    """Return the layout of words with tags: one of each, or as many as nearly all have."""
    parts = [re.split(rf"(?<!\\){re.escape(joint)}", item) for item in items]
    width = max(2, Counter(map(len, parts)).most_common(1)[0][0] if parts else 2)
    rows = [row for row in parts if len(row) == width and all(row)]
    if 10 * len(rows) < 9 * len(parts):
        width = 2
        rows = [row for item in items if all(row := item.rsplit(joint, 1)) and len(row) == 2]
    tags = list(zip(*rows, strict=True))[1:]
    names, spellings = name_tags(tags or [()], given)
    separator = "" if joint == "/" else joint
    return Layout("tagged", names, separator, spellings=spellings)


def _json_lines(sample: Sample) -> Layout | None:
    """Return JSON Lines if the first line is an object with tokens: ``{"tokens": ["It"]}``."""
    first = sample.lines[0]
    if not first.startswith("{") or parsed(first) is None:
        return None
    return json_layout(sample.lines, sample.given)


def json_layout(lines: Sequence[str], given: LayoutOptions) -> Layout:
    """Return the layout of JSON Lines, with the reasons why lists are no columns."""
    records = [record for record in map(parsed, lines) if record]
    columns = columns_of(records, given.names)
    misfits = []
    for name, reasons in reasons_of(records, given.names).items():
        first = next(i for i, record in enumerate(records) if record.get(name))
        tokens, values = records[first][TOKENS], records[first][name]
        has_numbers = isinstance(values, list) and type(values[0]) is int
        if name not in columns and reasons[0] and has_numbers and len(values) == len(tokens):
            misfits.append(Misfit(first + 1, len(reasons), reasons[0], is_noted=False))
    evidence = "an object with tokens on each line"
    return Layout("jsonl", columns, evidence=evidence, misfits=tuple(misfits))


def _spans(sample: Sample) -> Layout | None:
    """Return texts with spans if nearly all objects are: ``{"text": "A", "label": [[0, 1, "X"]]}``.

    In a file to tag all objects have a text.
    """
    if sample.lines[0].lstrip()[:1] not in ("{", "["):
        return None
    values = list[Any]()
    with suppress(CorpusError):  # the last one may be cut
        found = json_values([sample.head.decode("utf-8-sig", errors="replace")])
        values.extend(value for value, *_ in found)
    have_texts = sample.is_text and values and all(text_of(each) is not None for each in values)
    if not (have_texts or mostly_spans(values)):
        return None
    return replace(_fixed("spans", "objects are texts with spans"), sentences="model")


# ---- columns


def _columns(sample: Sample) -> Layout | None:
    """Return the layout of columns if most rows have as many fields, and look like columns.

    With spaces between them, the last looks like a label, and the first does not: ``dog NN I-NP``.
    Single words are columns if blank lines separate sentences. None without any evidence.

    Raises
    ------
    CorpusError
        If the evidence is not sufficient.
    """
    given = sample.given
    known_mark = given.like.mark if given.like else ""
    has_docstart = any(line.startswith(DOCSTART) for line in sample.every)
    layout, rows = sniff_rows(sample.every, given)
    is_marked = has_docstart or _SENTENCE_MARK.match(layout.sentences) is not None
    if sample.is_text and not is_marked and layout.separator in MARKS:
        layout, rows = sniff_rows(sample.every, given, known_mark)
        is_marked = _SENTENCE_MARK.match(layout.sentences) is not None
    if sample.is_text and not (rows or has_docstart):
        return None
    if layout.ragged or not rows:
        return layout if rows else replace(layout, evidence=DOCSTART)
    # Blank lines that split the text into pieces, one of them longer than a line. One piece of
    # three lines suffices if a blank line ends it: column files end so, few texts do.
    joined = "\n".join(line.strip(" \t") for line in sample.every)
    pieces = joined.strip("\n").split("\n\n")
    longest = max(piece.count("\n") for piece in pieces)
    ends = longest > 1 and joined.endswith("\n\n")
    in_blocks = longest > 0 and (len(pieces) > 1 or ends)
    ended = sum(_ENDED.search(piece[-_LONG_WORD:]) is not None for piece in pieces)
    width = len(layout.columns)
    typical = [[cell or "_" for cell in row] for row in rows if len(row) == width]
    is_known = given.like is not None and {*layout.columns} <= {*given.like.columns}
    is_known = is_known and (in_blocks or len(typical) >= MANY_ROWS)
    most, nearly_all = 2 * len(typical) >= len(rows), 10 * len(typical) >= 9 * len(rows)
    has_docstart = has_docstart and nearly_all
    certain = layout.header or layout.sentences not in ("blank", layout.comment)
    last = Counter(row[-1] for row in typical)
    chunked = detect_spelling(last) is not None
    if sample.is_text and not has_docstart:
        certain = is_marked and nearly_all
        if len(rows) < 2 or (width == 1 and not certain and not (is_known and most)):
            return None
        form = layout.columns.index("form") if "form" in layout.columns else 0
        recurs = _have_labels([row[form] for row in typical], last)
        is_known = is_known and (width == 1 or recurs or _mostly_labels(last))
        if layout.separator == " " and not (recurs or is_known or certain):
            return None
    if (is_known and most) or has_docstart:
        found, possible = True, True
    elif not typical:
        found, possible = False, False
    elif layout.separator in ("\t", "\t+"):
        words_only = not _has_prose(typical)
        found, possible = most and width > 1 and (words_only or certain), words_only or most
    elif layout.separator != " ":
        possible = chunked or _mostly_labels(last)
        found = most and (certain or (in_blocks and possible))
        possible = possible or most
    elif width == 1:
        found, possible = _are_words(rows, len(typical), in_blocks=in_blocks or certain)
    else:
        found, possible = _are_labeled(rows, typical, in_blocks=in_blocks or certain)
        spelled = (in_blocks or len(typical) >= MANY_ROWS) and chunked and bool(layout.spellings)
        found = found or (most and (certain or spelled))
    if found:
        words = [
            {first for line in each.split("\n") for first in line.split()[:1]} for each in pieces
        ]
        alone = sum(len(each) == 1 for each in words)
        if width > 1 and len(words) >= MANY_ROWS and 10 * alone >= 9 * len(words):
            msg = (
                "expected a blank line after each sentence, found one after each word, as in "
                "analyses of HFST and foma; convert it with cg-conv, or name it with --format"
            )
            raise CorpusError(msg)
        if "form" in layout.columns:
            _refuse_no_words([row[layout.columns.index("form")] for row in typical])
        return layout
    is_prose = 2 * ended > len(pieces) and "\t" not in layout.separator and width > 1
    if not possible or sample.is_text or is_prose:
        return None
    msg = (
        f"expected a recognizable format, found {counted(len(rows), 'line')} of "
        f"{counted(_span(rows), 'field')} that may be words in columns or raw text; name it with "
        "--format columns, --format text or --format tokens"
    )
    raise CorpusError(msg)


def _refuse_no_words(cells: Sequence[str]) -> None:
    """Refuse rows in which no cell is a word: with a text in each, or with odd separators."""
    if 2 * sum("\u00a0" in cell or "\u3000" in cell for cell in cells) > len(cells):
        msg = (
            f"expected a separator after each word, found a no-break or ideographic space in most "
            f"rows, such as {cells[-1]!a:.60}; replace it by a tab or a blank"
        )
        raise CorpusError(msg)
    if _TEXT_WORDS * len(cells) <= sum(len(cell.split(" ")) for cell in cells) and cells:
        msg = (
            f"expected one word in each row, found texts such as {cells[-1]!r:.60}; tag the texts "
            "of a table in Python (Pipeline.pipe), or write them into a file of their own; if they "
            "are words, name it with --format columns"
        )
        raise CorpusError(msg)


def _has_prose(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a column has several words in half of the rows, or the first on average.

    Words may hold spaces, in some languages often; labels do not.
    """
    words, *others = zip(*rows, strict=True)
    ends = sum(_ATTACHED.fullmatch(row[-1]) is not None for row in rows if others)
    if 2 * ends >= len(rows):
        return True
    if 2 * len(rows) <= sum(len(cell.split(" ")) for cell in words):
        return True
    return any(2 * sum(" " in cell for cell in column) >= len(rows) for column in others)


def _are_words(
    rows: Sequence[Sequence[str]], singles: int, *, in_blocks: bool
) -> tuple[bool, bool]:
    """Return whether lines of one field are words in a column, and whether they may be."""
    cells = [row[0] for row in rows]
    ends = sum(_ATTACHED.fullmatch(cell) is not None for cell in cells)
    if 4 * sum(len(cell) > _LONG_WORD for cell in cells) >= len(cells) or 2 * ends >= len(cells):
        return False, False  # a script that has no spaces, or sentences of one word
    found = in_blocks and len(rows) > 1 and 10 * singles >= 9 * len(rows)
    return found, len(rows) > 1 and 3 * singles >= 2 * len(rows)


def _are_labeled(
    rows: Sequence[Sequence[str]], typical: Sequence[Sequence[str]], *, in_blocks: bool
) -> tuple[bool, bool]:
    """Return whether the last of several fields are labels, and whether they may be."""
    last = Counter(row[-1] for row in typical)
    width, count = len(typical[0]), len(typical)
    most = 2 * count >= len(rows)
    labels = _mostly_labels(last)
    typed = any(_TYPED.fullmatch(value) for value in last) or (in_blocks and {*last} <= PREFIXES)
    near = 10 * sum(abs(len(row) - width) <= 1 for row in rows) >= 9 * len(rows)
    if count == 1:
        single = _TYPED.fullmatch(typical[0][-1]) is not None
        return single and most, labels and most and near and len(rows) == 2
    few_kinds = in_blocks and count >= MANY_ROWS and 2 <= len(last) <= count // 3
    if few_kinds:  # such as labels in other alphabets or in lower case
        labels = labels or _mostly_words(last)
    if labels and (typed or few_kinds):
        return most, False
    if labels and near:  # a few lines, or lines of capitals, may look like labels by chance
        word, *between = [Counter(column) for column in list(zip(*typical, strict=True))[:-1]]
        clear = not between or count >= MANY_ROWS or any(map(_mostly_labels, between))
        return most and clear and not _mostly_labels(word), most
    uniform = most if width <= _NARROW_COLUMNS else 10 * count >= 9 * len(rows)
    return False, uniform and in_blocks and len(rows) > 2


def _have_labels(words: Sequence[str], labels: Counter[str]) -> bool:
    """Return whether labels are of chunks, or recur, and a few words are punctuation.

    In lists of names and in tables of text, values may recur, but no row is a full stop.
    """
    spelling = detect_spelling(labels)
    if spelling is not None and spelling.place != "type":
        return True
    marks = sum(not any(map(str.isalnum, word)) for word in words)
    recurs = spelling is not None or 2 * len(labels) <= len(words)
    return recurs and 0 < 2 * marks <= len(words)


def _mostly_labels(values: Counter[str]) -> bool:
    """Return whether nine of ten values look like labels, not only punctuation."""
    like = sum(n for value, n in values.items() if _LABEL.fullmatch(value) or value.isupper())
    return 10 * like >= 9 * values.total() and _mostly_words(values)


def _mostly_words(values: Counter[str]) -> bool:
    """Return whether half of the values or more begin with a letter."""
    return 2 * sum(n for value, n in values.items() if value[0].isalpha()) >= values.total()


def _text(sample: Sample) -> Layout:
    """Return raw text for all else: ``The dog barks. It is old.``; ``tokens`` is asked for."""
    lines = sample.lines
    words = _span([line.split() for line in lines])
    evidence = f"{counted(len(lines), 'line')} of {counted(words, 'word')}"
    if words == "1" and len(lines) > 1:
        evidence += '; if they are the words of sentences, use format="columns"'
    return _fixed("text", evidence)


GUESSES: tuple[Callable[[Sample], Layout | None], ...] = (
    _with_named_columns,
    _without_line_feeds,
    _empty,
    _json_lines,
    _spans,
    _foreign,
    _conllu,
    _trees,
    _tagged,
    _columns,
    _text,
)
"""What a file may be, in this order: each returns the layout, None if it is another, or refuses."""
