"""Detection of the layout of column files.

Each step looks at what the steps before it left open: the separator, comments and lines between
sentences, the header, the names of the columns, the ends of sentences, and the spelling of labels.
What the user says (`LayoutOptions`) is never questioned; in ties the plainer layout is taken.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus import conllu
from seqtag.corpus.layout import NO_ROWS, Layout, LayoutOptions, Learned, Misfit
from seqtag.corpus.lines import (
    BLANK,
    DOCSTART,
    JOINTS,
    NO_WORD,
    field_value,
    is_comment,
    is_empty,
    split_row,
)
from seqtag.errors import CorpusError
from seqtag.labels.schemes import OUTSIDE, PHRASES, parse, prefixes_of
from seqtag.labels.spelling import Spelling, detect_spelling, odd_labels, remedy, unknown_spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

UPOS = frozenset(
    "_ ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()  # noqa: SIM905
)
"""Universal parts of speech, and none."""
PREFIXES = prefixes_of("iob2")
MARKS = ",;|"
"""Separators of columns besides tabs and blanks."""
MANY_ROWS = 10  # rows; fewer could look like columns by chance
SENTENCE_LINE = re.compile(r"EOS\b|<(?:s|p|eos)\b[^>]*>|</[sp]>|-+EOS-+|\[SEP\]|([-=*_])\1{2,}\s*$")
COMMENT_MARK = re.compile(r"#+!?|;+|//+|%+|<(?=[\w/!?])|!!|@@|\*\*\*")
_MOST_TYPES = 50  # of chunks without prefixes, in a column that others follow
_PADDED = re.compile("(?:^|\t)[ \u00a0]+[^\t \u00a0]|[^\t \u00a0][ \u00a0]+(?:\t|$)")
_SPECIAL = frozenset(["", *"#;/%<!@*E-[=_s \t"])  # first characters of lines that may be no rows
_FRACTION = re.compile(r"[-+]?[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_COUNTED = re.compile(r"[^\W\d]*[0-9]+(?:[-._:][0-9]+)+")  # as sentence and word: s1_2
_NUMBERED = re.compile(r"(?:[^\W\d]+[:\s_.#-]*)?([0-9]+)")
_NAMES = {
    "form": "word words token tokens form forms text wort mot palabra palavra",
    "pos": "pos postag pos_tag postags pos_tags tag tags wordclass",
    "label": "label labels ner ne nertag ner_tag ner_tags ne_tag iob bio iob_tag entity entities",
    "chunk": "chunk chunks chunk_tag chunktag",
    "id": "id idx index token_id tokenid word_id no no. nr nr. num",
    "sentence": "sentence sentence_# sentence_id sent sent_id sentenceid sentence_idx",
    **{name: name for name in ("lemma", "upos", "xpos", "feats", "misc", "head", "deprel")},
}
_HEADER = {word: name for name, words in _NAMES.items() for word in words.split()}
_NO_LABELS = ("id", "form", "lemma", "sentence")
_DOCUMENT = ("#begin document", "#end document")
_CONLL2012 = tuple(
    "document part id form pos parse predicate frameset sense speaker ner".split()  # noqa: SIM905
)
_CONLL2006 = 8  # columns, without its last two
_HEAD = re.compile(r"[0-9]+|_")
_CONLL2009 = tuple("id form lemma 4 pos 6 feats 8 9 10 11 12 13 14".split())  # noqa: SIM905


class _Row(NamedTuple):
    """A line of the sample: its number, its text, what it may be besides a row, and its fields."""

    number: int
    line: str
    kind: str
    cells: list[str]


def sniff_rows(
    lines: Sequence[str], given: LayoutOptions, marks: str = MARKS
) -> tuple[Layout, list[list[str]]]:
    """Return the layout of a column file, and the fields of all lines of words.

    Parameters
    ----------
    lines
        Lines of the sample, blank ones among them.
    given
        What is known.
    marks
        Separators to look for besides tabs and blanks.
    """
    kinds = [_kind_of(line) for line in lines]
    known = [(line, kind) for line, kind in zip(lines, kinds, strict=True) if kind != "blank"]
    likely = [line for line, kind in known if not kind]
    if len(likely) < MANY_ROWS:  # of few lines, each counts
        likely = [line for line, kind in known if kind not in ("head", "end")]
        likely = likely or [line for line, _ in known]
    separator, width = _separator(likely, given, marks)
    ragged = _conll2012(lines, width) or _conll2009(likely, separator)
    width = len(ragged) or width
    every = [
        _Row(number, line, "blank" if is_empty(line, separator) else kind, cells)
        for number, (line, kind) in enumerate(zip(lines, kinds, strict=True), 1)
        for cells in [row_cells(line, separator, width)]
    ]
    comment, labels, misfits = _comment(every, width, given.comment)
    between = _sentence_line(every, width)
    words = [
        row
        for row in every
        if row.kind in ("", "mark", *["end"] * (not between))
        and not (comment and row.line.startswith(comment) and _is_unlike(row, width, labels))
    ]
    rows = [row for row in words if len(row.cells) == width or (ragged and len(row.cells) > width)]
    evidence = f"{counted(width, 'field')} in {len(rows)} of {counted(len(words), 'row')}"
    header = _is_header(rows) if given.header is None else given.header
    named = [cell.strip() for cell in rows[0].cells] if header and rows else []
    top = rows[0].cells if header and rows else None  # again where files were joined
    fields = [row.cells for row in words if row.cells != top]
    rows = [row for row in rows if row.cells != top]
    if 2 * sum(row.cells[0].isdecimal() for row in rows) > len(rows):
        # A column of ids: without ranges and empty nodes.
        rows = [row for row in rows if not NO_WORD.fullmatch(row.cells[0])]
    if not rows:
        bare = _header_names(named, [[]] * len(named), [None] * len(named))
        names = tuple(given.columns or bare or ("form",))
        return Layout("columns", names, separator, comment=comment, header=header), fields
    cells = [row.cells[:width] for row in rows]
    columns = [list(column) for column in zip(*cells, strict=True)]
    blank = [] if separator == " " else [row.number for row in rows if _PADDED.search(row.line)]
    if blank and "\t" in separator:
        misfits.append(Misfit(blank[0], len(blank), "blanks around a value are left out"))
    spelled = [_spelled(column, given) for column in columns]
    # Who names the columns: the user, the format, a header, the model, or what they hold.
    names = (
        tuple(given.columns or ())
        or ragged
        or _header_names(named, columns, spelled)
        or _model_names(given.like, width, _kind(columns[-1], spelled[-1]))
        or _names(columns, spelled)
    )
    if "id" in names and all(map(NO_WORD.fullmatch, columns[names.index("id")])):
        names = tuple(str(names.index("id") + 1) if name == "id" else name for name in names)
    spellings = _spellings(names, columns, spelled, given)
    misfits += _odd(names, rows, spelled, given)
    given = replace(given, sentences=_ending(given.sentences, names, columns, every))
    misfits += _unused(given, names, columns, every)
    layout = Layout(
        "columns",
        names,
        separator,
        evidence,
        comment,
        header,
        given.sentences
        or between
        or _sentence_ends(names, columns, [row for row in every if row.cells != top], comment),
        spellings,
        given.scheme,
        bool(blank) or any(not any(column) for column in columns),
        bool(ragged),
        labels,
        tuple(misfits),
    )
    return layout, fields


def name_tags(
    tags: Sequence[Sequence[str]], given: LayoutOptions
) -> tuple[tuple[str, ...], tuple[tuple[str, Spelling], ...]]:
    """Return names and spellings of the columns of a file of words and tags, given the tags."""
    spelled = [_spelled(column, given) for column in tags]
    first, *others = _label_names([_kind(*each) for each in zip(tags, spelled, strict=True)])
    names = ["form", "pos" if first in ("", "label") else first, *others]
    names = [name or str(i) for i, name in enumerate(names, 1)]
    return tuple(names), _spellings(names, [(), *tags], [None, *spelled], given)


def counted(count: object, noun: str) -> str:
    """Return a count and its noun: ``1 line``, ``2 lines``."""
    return f"{count} {noun}{'s' * (count not in (1, '1'))}"


def _blocks(rows: Sequence[_Row]) -> int:
    """Return the number of pieces between blank lines."""
    blank = [row.kind == "blank" for row in rows]
    return sum(a and not b for a, b in pairwise([True, *blank]))


# ---- separator


def row_cells(line: str, separator: str, width: int = 0) -> list[str]:
    """Return the values of the fields of a line, empty ones among them (see `split_row`)."""
    if separator == " " and "\u00a0" not in line:  # other white space is data
        return [cell for cell in line.replace("\t", " ").split(" ") if cell]
    if separator == "\t" and " " not in line and "\u00a0" not in line:
        return line.split("\t")
    spans = split_row(line, separator, width)
    return [field_value(line[a:b], separator) if a < b else "" for a, b in spans]


def _kind_of(line: str) -> str:
    """Return what a line is, or may be, besides a row: blank, a head, an end, or marked."""
    if line[:1] not in _SPECIAL:
        return "" if line.strip(BLANK) else "blank"
    if line.startswith(DOCSTART) or is_comment(line):
        return "head"
    if SENTENCE_LINE.match(line):
        return "end"
    return "mark" if COMMENT_MARK.match(line) else "" if line.strip(BLANK) else "blank"


def _usual(widths: Sequence[int]) -> int:
    """Return the most frequent number of fields; in ties the first."""
    return max(counts := Counter(widths), key=counts.__getitem__, default=1)


def _separator(lines: Sequence[str], given: LayoutOptions, marks: str) -> tuple[str, int]:
    """Return the separator that explains the lines best, and the number of fields."""
    separator = given.separator or _fitting(lines, given.columns) or _likely(lines, marks)
    if given.columns:
        return separator, len(given.columns)
    widths = [len(row_cells(line, separator)) for line in lines]
    if separator == "\t" and any("\t\t" in f"{line}\t" for line in lines):
        # Runs of tabs are one if that makes all rows alike, and they are not empty fields.
        runs = {len(row_cells(line, "\t+")) for line in lines}
        gaps = {tuple(not cell for cell in row_cells(line, "\t")) for line in lines}
        if len(runs) == 1 and 1 not in runs and (len(gaps) == 1 or len({*widths}) > 1):
            return "\t+", runs.pop()
    return separator, _usual(widths)


def _fitting(lines: Sequence[str], columns: Sequence[str] | None) -> str:
    """Return the separator with which most lines have as many fields as columns are named."""
    if columns is None:
        return ""
    if len(columns) == 1:
        return "\t" if _has_tabs(lines) else " "
    fits = {
        each: sum(len(row_cells(line, each)) == len(columns) for line in lines if each[0] in line)
        for each in ("\t", "\t+", ",", ";", "|")
    }
    spaced = [line for line in lines if "\t" not in line]
    fits = {" ": sum(len(row_cells(line, " ")) == len(columns) for line in spaced), **fits}
    best = max(fits, key=fits.__getitem__)  # in ties the first
    if best == "\t+" and 2 * fits["\t"] > len(lines):  # a row with an empty field
        best = "\t"
    return best if fits[best] > 0 else ""


def _has_tabs(lines: Sequence[str]) -> bool:
    """Return whether most lines have a tab between words; in ties the first decides.

    Where all lines have as many tabs, the last fields may be empty in most.
    """
    tabbed = ["\t" in line.strip(" \t") for line in lines]  # a first line may be indented
    if any(tabbed) and len({line.count("\t") for line in lines}) == 1:
        return True
    return 2 * sum(tabbed) > len(lines) - (True in tabbed[:1])


def _likely(lines: Sequence[str], marks: str) -> str:
    if not lines:
        return " "
    if _has_tabs(lines):
        return "\t"
    blanks = _usual([len(row_cells(line, " ")) for line in lines])
    for mark in marks:
        if not _most(sum(mark in line for line in lines), lines):
            continue
        widths = [len(row_cells(line, mark)) for line in lines]
        width = _usual(widths)
        after = sum(re.match(rf"\S+{re.escape(mark)}(?: |$)", line) is not None for line in lines)
        alone = blanks == 1 or mark in lines[0] or _most(after, lines)
        short = sum(len(row_cells(line, " ")) <= 2 * width for line in lines)
        if width > 1 and alone and _most(widths.count(width), lines) and _most(short, lines):
            return mark
    for joint in JOINTS if blanks == 1 else "":
        tagged = re.compile(rf"\S+{joint}(?:[A-Z][A-Z0-9$|+-]*|[^\w\s]{{1,6}})")
        if _most(sum(tagged.fullmatch(line) is not None for line in lines), lines):
            return joint
    return " "


def _most(count: int, lines: Sequence[object]) -> bool:
    return 10 * count >= 9 * len(lines)


# ---- comments, sentence marks, header


def _is_unlike(row: _Row, width: int, labels: frozenset[str]) -> bool:
    """Return whether a line with the mark of comments is no row."""
    return len(row.cells) != width or bool(labels and row.cells[-1] not in labels)


def _comment(
    rows: Sequence[_Row], width: int, given: str | None
) -> tuple[str, frozenset[str], list[Misfit]]:
    """Return the mark of comments, the labels that tell rows of as many fields, and what to note.

    Lines that begin with a mark are comments if they stand before sentences and either do not
    have the fields of rows, or have, but end with what is a label in no other row. A single such
    line may be a row with an error, unless the file begins with it.
    """
    if given is not None:  # and all such lines are comments
        return ("" if given == "none" else given), NO_ROWS, []
    marked: dict[str, list[_Row]] = {}  # lines before a sentence
    labels: Counter[str] = Counter()
    blocks = _blocks(rows)
    # Without lines between sentences, any row may be the first.
    is_open = blocks < 2 and not any(row.kind == "end" for row in rows[:-1])
    top = next((row.line for row in rows if row.kind != "blank"), "")
    tags = "<" if width == 1 and any(row.line.startswith(("<s>", "<s ")) for row in rows) else ""
    first = True  # whether no row of the sentence has been read
    for row in rows:
        first = first or row.kind in ("blank", "end") or is_open
        if row.kind == "mark" and first:
            marked.setdefault(row.line[0], []).append(row)
        elif row.kind in ("", "mark") and len(row.cells) == width:
            first = not labels or row.line == top  # a header, or one of joined files
            labels[row.cells[-1]] += 1
    for mark, group in marked.items():
        unfit = [row for row in group if len(row.cells) != width or mark in tags]
        alike = [row for row in group if len(row.cells) == width]
        strange = [row for row in alike if row.cells[-1] not in labels]
        begins = group[0].line == top
        known = labels.total() >= MANY_ROWS and 2 * len(labels) <= labels.total()
        as_wide = width > 1 and known and bool(strange) and _most(len(strange), alike)
        as_wide = as_wide and _are_comments(strange, blocks, supported=begins or bool(unfit))
        if not (as_wide or (begins and unfit) or len(unfit) > 1):
            continue
        found = unfit + strange * as_wide
        shared = min((COMMENT_MARK.match(row.line)[0] for row in found), key=len)  # type: ignore[index]
        if not all(row.line.startswith(shared) for row in found):
            shared = shared[0]
        text = f"lines that begin with {shared} before a sentence are comments, not words; "
        note = Misfit(found[0].number, len(found), f"{text}otherwise give --comment none")
        almost = len(found) == 1 and abs(len(found[0].cells) - width) == 1
        return shared, frozenset(labels if as_wide else ()), [note] * (as_wide or almost)
    return "", frozenset(), []


def _are_comments(strange: Sequence[_Row], blocks: int, *, supported: bool) -> bool:
    """Return whether lines that end with what is no label are comments: ``# doc 1``, ``# doc 2``.

    Different ends are enough if they are all different, or most of the sentences have one; the
    same end in almost all sentences, unless a word begins with the mark, as a hashtag does; a
    single line if something else supports it, or it has an equals sign.
    """
    ends = {row.cells[-1] for row in strange}
    if len(ends) > 1:
        return len(ends) == len(strange) or 2 * len(strange) >= blocks
    if strange[0].line[1:2].isalnum():
        return False
    if len(strange) > 1:
        return len(strange) >= max(3, blocks - 1)
    return supported or "=" in strange[0].cells[-1]


def _sentence_line(rows: Sequence[_Row], width: int) -> str:
    """Return a line that marks sentences, such as ``EOS``; empty if there is none."""
    as_rows = _blocks(rows) < 2  # such as EOS with a label
    found = Counter[str]()
    for row in (row for row in rows if row.kind == "end"):
        fields = len(row.cells)
        if row.line.startswith("EOS"):
            is_mark = fields == 1 or (as_rows and fields == width)
        else:
            is_mark = fields != width or (width == 1 and row.line[0] not in "-=*_")
        if is_mark:
            found[row.cells[0] if width > 1 else row.line.strip()] += 1
    mark = max(found, key=found.__getitem__, default="").replace("</", "<")
    ends = [row.kind == "end" for row in rows if row.kind not in ("blank", "head")]
    if found.total() < 2 and True not in (*ends[:1], *ends[-1:]):  # one line within a text
        return ""
    return re.sub(r"\s.*", ">", mark) if mark.startswith("<") else mark


def _is_header(rows: Sequence[_Row]) -> bool:
    """Return whether the first row names the columns."""
    if len(rows) < 2 or len(rows[0].cells) < 2:
        return False
    first = [_key(cell) for cell in rows[0].cells]
    if first[:2] == ["sentence", "form"]:  # as seqtag writes tables, whatever words follow
        return True
    kinds = [_HEADER[name] for name in first if name in _HEADER]
    known = len(kinds)
    begins = _HEADER.get(first[0]) in ("form", "id", "sentence")
    begins = begins or ("form" in kinds and len({*kinds}) > 1)
    is_prose = any(" " in cell and _key(cell) not in _HEADER for cell in rows[0].cells)
    if is_prose or (2 * known < len(first) and not (begins and len(rows) > MANY_ROWS)):
        return False
    others = [row.cells for row in rows[1:] if row.cells != rows[0].cells]
    titles = {i: name for i, name in enumerate(first) if _HEADER.get(name) != "form"}
    recurs = any(_key(cells[i]) == name for cells in others for i, name in titles.items())
    is_label = kinds[0] not in _NO_LABELS and len(rows) > MANY_ROWS
    return not recurs and (known > 1 or begins or is_label)


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


# ---- names
def column_name(title: str) -> str:
    """Return the name of a column by its title.

    >>> column_name("Sentence #"), column_name("tokens"), column_name("Gender")
    ('sentence', 'form', 'gender')
    """
    return _HEADER.get(_key(title), _key(title))


def _spelled(column: Sequence[str], given: LayoutOptions) -> Spelling | None:
    counts = Counter(cell or "_" for cell in column)
    return detect_spelling(
        counts, (given.outside,) if given.outside and given.outside in counts else ()
    )


def _kind(column: Sequence[str], spelled: Spelling | None) -> str:
    """Return ``chunk`` or ``ner`` for a column of chunk labels, else nothing."""
    values = {*column}
    if values == {OUTSIDE}:
        return "ner"
    if spelled is None:
        return ""
    types = {parse(label)[1] for label in spelled.read([*values])} - {""}
    return "" if not types else "chunk" if types & PHRASES else "ner"


def _number_kind(column: Sequence[str]) -> str:
    """Return ``id`` for numbers that count words, ``sentence`` for those that count sentences."""
    values = [cell for cell in column if cell]
    if not all(map(_NUMBERED.match, values[:MANY_ROWS])):
        return ""
    found = [_NUMBERED.fullmatch(cell) for cell in values]
    if not all(found):
        return ""
    numbers = [int(match[1]) for match in found if match]
    pairs = [*pairwise(numbers)]
    steps = sum(b == a + 1 for a, b in pairs)
    starts = sum(b <= 1 and b != a + 1 for a, b in pairs)
    if not pairs:
        return "id" if values == column == ["1"] else ""
    plain = values == column and all(cell[0].isdecimal() for cell in values)
    falls = [b for a, b in pairs if b < a]
    plain = plain and (bool(falls) or steps >= starts)  # otherwise numbers of sentences
    if plain and steps and numbers[0] <= 1 and _most(steps + starts, pairs):
        return "id"
    repeats = len(values) < len(column) or any(a == b for a, b in pairs)
    joined = set(falls) <= {numbers[0]} and 4 * len(falls) <= steps  # files, one after another
    return "sentence" if repeats and joined else ""


def _changes(column: Sequence[str]) -> int:
    return sum(a != b for a, b in pairwise(column))


def _runs(column: Sequence[str]) -> int:
    """Return the number of runs of equal values if each value has one, and they are numbered."""
    if len(column) < MANY_ROWS or not any(map(str.isdecimal, column[0])):
        return 0
    runs, values = 1 + _changes(column), {*column}
    are_numbered = all(any(map(str.isdecimal, value)) for value in values)
    return runs if 1 < runs == len(values) and 2 * runs <= len(column) and are_numbered else 0


def _are_numbers(column: Sequence[str]) -> bool:
    """Return whether a column has offsets or numbered ids, which are no words: ``17``, ``2-1``.

    A few different numbers may be labels, but not decimal fractions, which are scores.
    """
    if all(map(_FRACTION.fullmatch, column)):
        return True
    if len(column) < MANY_ROWS or 1 < len({*column}) < MANY_ROWS:
        return False
    return all(map(str.isdecimal, column)) or (
        len({*column}) == len(column) and all(map(_COUNTED.fullmatch, column))
    )


def _header_names(
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    spelled: Sequence[Spelling | None],
) -> tuple[str, ...]:
    """Return names for columns that a header names; nothing without one."""
    titles = [column_name(title) for title in header]
    names: list[str] = []
    for name, column, each in zip(titles, columns, spelled, strict=False):
        if name in ("label", "pos"):
            name = _kind(column, each) or name
        elif (name == "id" or not names) and "sentence" not in titles and len({*column}) > 1:
            name = _number_kind(column) or name  # that of a sentence, or of a word
        names.append(name if name and name not in names else str(len(names) + 1))
    if "form" not in names:
        others = [i for i, name in enumerate(names) if name not in ("id", "sentence")]
        if others:  # the first that does not count words or sentences
            names[min(others, key=lambda i: bool(_number_kind(columns[i])))] = "form"
    return tuple(names)


def _conll2012(lines: Sequence[str], width: int) -> tuple[str, ...]:
    """Return the names of CoNLL-2012 for a file that says ``#begin document``.

    Columns of roles follow them, not as many in each sentence.
    """
    is_it = width >= len(_CONLL2012) and any(line.startswith(_DOCUMENT) for line in lines)
    return _CONLL2012 if is_it else ()


def _conll2009(lines: Sequence[str], separator: str) -> tuple[str, ...]:
    r"""Return the names of CoNLL-2009 for rows with two heads: ``1\tIt\tit\tit\tPRP ... 2\t2 ...``.

    Columns of roles follow them, not as many in each sentence.
    """
    rows = [line.split(separator) for line in lines] if separator == "\t" else []
    is_it = all(len(row) >= len(_CONLL2009) and _has_heads(row) for row in rows)
    return _CONLL2009 if is_it and len({*map(len, rows)}) > 1 else ()


def _model_names(like: Learned | None, width: int, last: str) -> tuple[str, ...]:
    """Return the names of the columns that a model was trained on, with the learned one or not.

    `last`: what the last column of the file has; if this is what is learned, others are missing.
    """
    if like is None:
        return ()
    without = tuple(name for name in like.columns if name != like.label)
    known = [like.columns, *[without] * (last != like.label)]
    return next((names for names in known if len(names) == width), ())


def _names(columns: Sequence[Sequence[str]], spelled: Sequence[Spelling | None]) -> tuple[str, ...]:
    """Return names for columns by what they hold."""
    width = len(columns)
    if width == 1:
        return ("form",)
    names: list[str] = [""] * width
    for i, column in enumerate(columns[:2]):
        names[i] = _number_kind(column)
        if names[i] != "sentence":
            break
    if names[:2] == ["sentence", "sentence"]:  # of documents and of sentences
        names[_changes(columns[0]) > _changes(columns[1])] = ""
    runs = {i: _runs(column) for i, column in enumerate(columns) if not names[i]}
    if "sentence" not in names and any(runs.values()):  # each value in one run of rows
        names[max(runs, key=runs.__getitem__)] = "sentence"
    if names[0] == "id" and width >= _CONLL2006 and _has_tree(columns):
        return (*conllu.COLUMNS, *map(str, range(len(conllu.COLUMNS) + 1, width + 1)))[:width]
    rows = zip(*columns, strict=True)
    heads = any(map(str.isdecimal, columns[8])) if width >= len(_CONLL2009) else False
    if names[0] == "id" and heads and all(map(_has_heads, rows)):
        return (*_CONLL2009, *map(str, range(len(_CONLL2009) + 1, width + 1)))
    unused = {i for i, column in enumerate(columns) if {*column} <= {"", "_"} or runs.get(i)}
    numeric = {i for i in range(width) if not names[i] and _are_numbers(columns[i])} - unused
    if len(unused | numeric) + width - names.count("") < width - 1:  # there are words and labels
        unused |= numeric
    free = [i for i in range(width) if not names[i] and i not in unused]
    kinds = {i: _kind(columns[i], spelled[i]) for i in free}
    if [kinds[i] for i in free[-2:]] == ["ner", "ner"] and {*columns[free[-2]]} == {OUTSIDE}:
        kinds[free[-2]] = ""  # there are no phrases
    if free:
        form = _form_of([i for i in free if i not in numeric] or free, columns, kinds)
        names[form] = "form"
        free.remove(form)
    elif "" in names:
        names[names.index("")] = "form"
    if names[0] == "id":
        while len(free) > 1 and _is_unused(columns[free[-1]], spelled[free[-1]]):
            del free[-1]
    for i, name in zip(free, _label_names([kinds[i] for i in free]), strict=True):
        names[i] = name
    if len(free) == 2 and not kinds[free[0]] and {*columns[free[1]]} <= PREFIXES:
        names[free[0]], names[free[1]] = "pos", "chunk"
    elif len(free) == 2 and not any(kinds[i] for i in free):  # as of TreeTagger
        words = zip(columns[names.index("form")], columns[free[1]], strict=True)
        pairs = [(form, lemma) for form, lemma in words if lemma != "<unknown>"]
        alike = sum(form.casefold() == lemma.casefold() for form, lemma in pairs)
        if (
            pairs
            and _most(2 * alike, pairs)
            and len({*columns[free[0]]}) < len({*columns[free[1]]})
        ):
            names[free[0]], names[free[1]] = "pos", "lemma"
    return tuple(name or str(i) for i, name in enumerate(names, 1))


def _has_tree(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether columns are those of CoNLL-2006, or of CoNLL-U and others."""
    tags, heads, relations = ({*columns[i]} for i in (3, 6, 7))
    if not all(map(_HEAD.fullmatch, heads)) or any(map(str.isdecimal, relations)):
        return False
    return {"_"} < tags | {"_"} <= UPOS if len(columns) > _CONLL2006 else bool(heads - {"_"})


def _has_heads(row: Sequence[str]) -> bool:
    """Return whether a row has an id and two heads where CoNLL-2009 has them."""
    return row[0].isdecimal() and all(cell.isdecimal() or cell == "_" for cell in row[8:10])


def _is_unused(column: Sequence[str], spelled: Spelling | None) -> bool:
    """Return whether most of a column is empty, and it has no chunk labels with prefixes."""
    chunked = spelled is not None and spelled.place != "type"
    return not chunked and 2 * sum(cell in ("_", "-", "") for cell in column) > len(column)


def _form_of(free: Sequence[int], columns: Sequence[Sequence[str]], kinds: dict[int, str]) -> int:
    """Return the column of words: the first, unless it has labels."""
    sizes = {i: len({*columns[i]}) for i in free}
    richest = max(free, key=lambda i: (not kinds[i], sizes[i], -i))
    first = free[0]
    is_label = kinds[first] or (4 * sizes[first] <= sizes[richest] and sizes[richest] >= MANY_ROWS)
    return richest if is_label and 2 * sizes[first] < len(columns[first]) else first


def _label_names(kinds: Sequence[str]) -> list[str]:
    """Return names for the columns besides the words; empty for those without a name."""
    names = [""] * len(kinds)
    chunked = [i for i, kind in enumerate(kinds) if kind]
    others = [i for i, kind in enumerate(kinds) if not kind]
    if not chunked:
        return ["label"] if len(kinds) == 1 else names
    first = chunked[0]
    names[first] = kinds[first]
    if kinds[first] == "chunk" and len(chunked) > 1:
        names[chunked[1]] = "ner"
    if len(others) == 1:
        names[others[0]] = "pos"
    elif len(kinds) == 3 and others == [0, 1] and kinds[2] == "ner":
        names[:2] = ["pos", "chunk"]
    return names


# ---- sentences, spellings


def _ending(
    given: str | None, names: Sequence[str], columns: Sequence[Sequence[str]], rows: Sequence[_Row]
) -> str | None:
    """Return what is given as end of a sentence; a label such as SENT of TreeTagger as pos=SENT."""
    if given == "restart" and "id" not in names:
        msg = (
            f"expected a column of ids for the end of sentences, restart, found {', '.join(names)};"
            " name it id with --columns"
        )
        raise CorpusError(msg)
    if given in (None, "blank", *names) or any(row.cells[:1] == [given] for row in rows):
        return given
    labels = zip(names, columns, strict=True)
    found = (f"{name}={given}" for name, column in labels if name != "form" and given in column)
    return next(found, given)


def _unused(
    given: LayoutOptions,
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    rows: Sequence[_Row],
) -> list[Misfit]:
    """Return what to note about options that match nothing; `given` has the end of sentences."""
    comment, end, outside = given.comment or "none", given.sentences or "blank", given.outside
    found = []
    if comment != "none" and not any(row.line.startswith(comment) for row in rows):
        found.append(f"--comment {comment!r}")
    known = ("blank", "restart", "punctuation", comment, *names)
    tag = re.compile(rf"</?{re.escape(end.strip('<>'))}" if end[0] == "<" else "(?!)")
    if end.partition("=")[0] not in known and not any(
        end in (row.line.strip(), *row.cells[:1]) or tag.match(row.line) for row in rows
    ):
        found.append(f"--sentences {end!r}")
    if outside and not any(outside in column for column in columns):
        found.append(f"--outside {outside!r}")
    return [Misfit(0, 1, f"{each} never occurs in the sample") for each in found]


def _sentence_ends(
    names: Sequence[str], columns: Sequence[Sequence[str]], rows: Sequence[_Row], comment: str
) -> str:
    """Return what ends a sentence: what is there where no blank lines are."""
    if any(row.kind == "" and after.line.startswith(DOCSTART) for row, after in pairwise(rows)):
        return DOCSTART
    if _blocks(rows) > 1:
        return "blank"
    if "sentence" in names:
        return "sentence"
    if "id" in names:
        numbers = [int(cell) for cell in columns[names.index("id")] if cell.isdecimal()]
        if any(b <= a for a, b in pairwise(numbers)):
            return "restart"
    several = comment and sum(row.line.startswith(comment) for row in rows) > 1
    return comment if several else "blank"


def _spellings(
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    spelled: Sequence[Spelling | None],
    given: LayoutOptions,
) -> tuple[tuple[str, Spelling], ...]:
    """Return the spellings of the label columns that do not write ``B-PER`` and ``O``."""
    if given.scheme == "none":
        return ()
    found = {
        name: each
        for i, (name, each) in enumerate(zip(names, spelled, strict=True))
        if each is not None
        and name not in _NO_LABELS
        and not each.is_plain
        and (given.outside or i == len(names) - 1 or each.place != "type" or _are_types(columns[i]))
        and not (name.isdecimal() and each.place == "type")
    }
    like = given.like
    if like is not None and not like.spelling.is_plain:
        known = dict(zip(names, spelled, strict=True))
        if known.get(like.label) is None:  # no evidence in the file: as the model was trained
            found[like.label] = like.spelling
    return tuple(found.items())


def _are_types(column: Sequence[str]) -> bool:
    """Return whether half of the labels or more are ``O``, and few others recur.

    As ``O`` is a part of speech in some tag sets, this is the evidence where others follow.
    """
    types = Counter(label for label in column if label != OUTSIDE)
    return 2 * types.total() <= len(column) and len(types) < min(types.total(), _MOST_TYPES)


def _odd(
    names: Sequence[str],
    rows: Sequence[_Row],
    spelled: Sequence[Spelling | None],
    given: LayoutOptions,
) -> list[Misfit]:
    """Return what to note about labels that are no chunk labels, as the others of a column are."""
    misfits = []
    for i, (name, each) in enumerate(zip(names, spelled, strict=True)):
        if name in _NO_LABELS or given.scheme == "none":
            continue
        spelling = each or Spelling()
        counts = Counter(row.cells[i] or "_" for row in rows)
        if each is None and len(counts) < MANY_ROWS**2 and (pair := unknown_spelling(counts)):
            line = next(row.number for row in rows if row.cells[i] == pair[0])
            text = (
                f"labels such as {' and '.join(pair)} in the column {name} are no chunk labels "
                "that seqtag reads, and are taken as they are; write B-PER, I-PER and O instead"
            )
            misfits.append(Misfit(line, counts[pair[0]], text))
        if "_" in spelling.outside and not given.outside:
            line = next(row.number for row in rows if row.cells[i] in ("", "_"))
            text = f"_ in the column {name} means O; otherwise give --scheme none"
            misfits.append(Misfit(line, counts["_"], text))
        meant = dict(zip(counts, spelling.read([*counts]), strict=True))
        strange = odd_labels(Counter(meant[row.cells[i] or "_"] for row in rows))
        odd = {label: n for label, n in counts.items() if meant[label] in strange}
        if not odd or spelling.place in ("type", "brackets"):
            continue
        label = max(odd, key=odd.__getitem__)
        line = next(row.number for row in rows if (row.cells[i] or "_") == label)
        text = (
            f"the label {label!r} in the column {name} is not like the other chunk labels; "
            f"{remedy(label)}, or learn all labels as they are with --scheme none"
        )
        misfits.append(Misfit(line, sum(odd.values()), text, is_noted=False))
    return misfits
