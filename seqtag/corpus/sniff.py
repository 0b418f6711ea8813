"""Detection of the format of a file from its first 64 kB.

One damaged row must not change what a file is: most rows decide, and the reader, which is strict,
then names the malformed one.  If the evidence is mixed, nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus import conllu
from seqtag.corpus.formats import FORMATS
from seqtag.corpus.layout import Layout, Misfit
from seqtag.corpus.rows import NO_WORD, field_value, split_row
from seqtag.corpus.stream import HEAD
from seqtag.corpus.table import DOCSTART, is_comment
from seqtag.errors import CorpusError
from seqtag.labels.schemes import CHUNK_LABEL, OUTSIDE, parse, prefixes_of
from seqtag.labels.spelling import detect_spelling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_UPOS = frozenset(
    "_ ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()  # noqa: SIM905
)
_CHUNKS = frozenset("NP VP PP ADVP ADJP SBAR PRT CONJP INTJ LST UCP".split())  # noqa: SIM905
_BIO = re.compile(rf"{OUTSIDE}|{CHUNK_LABEL}\S+")
_TYPED = re.compile(rf"{CHUNK_LABEL}[A-Z]{{2,}}")
_BARE = prefixes_of("iob2")
_TAG = re.compile(r"[A-Z][A-Z0-9$|+_-]*|[^\w\s]{1,6}|-[LR]RB-")
_LABEL = re.compile(rf"{_TAG.pattern}|{_BIO.pattern}|[A-Z][A-Z0-9]*[.:|+_-]\S+|[A-Z]\w*=\S+|_")
_TAGGED = re.compile(rf"\S+/(?:{_TAG.pattern})")
_TREE = re.compile(r"\(\s*(?:\(\s*[A-Z]|[A-Z][\w=|-]*\s+\(\s*[^\s()])")
_LEAF = re.compile(r"\([A-Z$,.:#`'|=-]+ [^\s()]+\)")
_COMMENT = re.compile(r"#(?:\s|$)|#\s*\w+\s*=")
_KEY = re.compile(r"#\s*\w+(?:\s\w+)?\s*=")
_ID = re.compile(r"[0-9]{1,9}(?:[-.][0-9]{1,9})?[\t ]")
_SENTENCE_ENDS = tuple("。！？｡．؟।။")
_ATTACHED = re.compile(r".*\w[.!?…,:;]+")  # to a word, as in raw text only
_ENDED = re.compile(r"\w\w[.!?…:։]+[\"'”’»)\]]*$")  # with the end of a sentence; no label ends so
_LONG = 15  # characters; most words are shorter, in any language
_NARROW = 4  # columns; most lines of prose have more words
_MANY = 10  # rows; fewer could look like columns by chance


def detect_format(head: bytes, given: Overrides | None = None) -> Layout:
    r"""Detect the format of a file from its beginning.

    The rules, in order; each applies to the majority of lines:

    * ``# global.columns`` in the first line is CoNLL-U Plus.
    * Ten tab-separated fields with ids, or below comments, are CoNLL-U; comments alone, too.
    * Bracketed trees are ``mrg``.
    * ``word/TAG`` items are ``pos`` if there are base-NP brackets, else ``tagged``.
    * Comments (`seqtag.corpus.table.is_comment`) and ``-DOCSTART-`` lines are not rows.
    * ``-DOCSTART-``, or single words between tabs, as many on most lines, are ``columns``. So are
      fields between spaces, as many on most lines, if the last looks like a label and the first
      does not; three or more on a few lines only if it is a chunk label or follows another one.
    * One word a line and blank lines between sentences are ``columns``, too.
    * Lines that differ in the number of words, and a single line, are ``text``; so are lines of a
      few words if most pieces between blank lines end with a word and the end of a sentence, as
      ``barks.``; ``tokens`` must be asked for.

    Column names depend on the number of columns and on the last one: three, the last like ``B-NP``
    or all of ``B``, ``I`` and ``O``: form pos chunk; with other types: form pos ner; four: form pos
    chunk ner; two: form ner, form chunk, or else form label. Other files get form, 2, 3, ...
    A first column that counts the words of each sentence is id; the names then depend on the other
    columns, without those at the end that mostly hold ``_`` or ``-``. More than ten columns with
    ids and universal parts of speech begin with those of CoNLL-U.

    Parameters
    ----------
    head
        The first bytes (uncompressed); the last line may be cut.
    given
        What is known already.

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
    content = head.decode("utf-8-sig", errors="replace")
    named = conllu.plus_columns(content)
    if named is not None:
        comment = "" if "id" in named else "#"  # words may begin with it
        return Layout("conllu-plus", named, "\t", "named by # global.columns", comment=comment)
    every = complete_lines(head)
    lines = [line for line in every if line.strip(" \t")]
    if not lines:
        return Layout("columns", ("form",))
    # Blank lines that split the text into pieces, one of them longer than a line. One piece of
    # three lines suffices if a blank line ends it: column files end so, few texts do.
    joined = "\n".join(line.strip(" \t") for line in every)
    pieces = joined.strip("\n").split("\n\n")
    longest = max(piece.count("\n") for piece in pieces)
    ends = longest > 1 and joined.endswith("\n\n")
    ended = sum(_ENDED.search(piece[-_LONG:]) is not None for piece in pieces)
    in_blocks = longest > 0 and (len(pieces) > 1 or ends)
    given = given or Overrides()
    numbered = list(enumerate(every, 1))
    if given.of_rows:
        return sniff_rows(numbered, given)
    _refuse_foreign(lines)
    found = (
        _find_conllu(lines)
        or _find_trees(lines)
        or _find_tagged(lines)
        or _find_columns(numbered, given, in_blocks=in_blocks, in_sentences=2 * ended > len(pieces))
    )
    if found is not None:
        return found
    words = _span([line.split() for line in lines])
    return _fixed("text", f"{_many(len(lines), 'line')} of {_many(words, 'word')}")


def complete_lines(head: bytes) -> list[str]:
    """Return the lines of a head, without a byte order mark and without a truncated last line."""
    lines = head.decode("utf-8-sig", errors="replace").split("\n")
    if len(head) >= HEAD and len(lines) > 1:
        lines.pop()
    return [line.lstrip("\ufeff").removesuffix("\r") for line in lines]


_FOREIGN = {
    "XML": (
        re.compile(r"<\?xml|<!DOCTYPE (?!html)|<(?:TEI|corpus|text|root|document)[ >]", re.I),
        "a script that writes one word a line",
    ),
    "HTML": (re.compile(r"<!DOCTYPE html|<html[ >]", re.I), "a browser: save the page as text"),
    "brat's .ann": (re.compile(r"T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t"), "brat's tools/anntoconll.py"),
    "WebAnno TSV": (
        re.compile(r"#FORMAT=WebAnno TSV"),
        "the export as CoNLL 2002 or CoNLL-U in WebAnno or INCEpTION",
    ),
    "PDF": (re.compile(r"%PDF-"), "pdftotext"),
    "RTF": (re.compile(r"\{\\rtf"), "a word processor: save as plain text"),
    "JSON": (
        re.compile(r"\s*[\[{]\s*(?:[{\"\[]|$)"),
        "a script that writes one object with tokens a line (JSON lines)",
    ),
}


def _refuse_foreign(lines: Sequence[str]) -> None:
    """Refuse formats that are recognized but not read."""
    for name, (pattern, converter) in _FOREIGN.items():
        if pattern.match(lines[0]) and not ("\t" in lines[0] and name in ("XML", "JSON")):
            msg = f"expected a corpus or text, found {name}; convert it, for example with {converter}, or name its format with --format"
            raise CorpusError(msg, line=1)


def _fixed(format: str, evidence: str) -> Layout:
    """Return the layout of a format whose columns are the same in each file."""
    return Layout(format, FORMATS[format].fixed or (), "", evidence)


def _span(rows: Sequence[Sequence[str]]) -> str:
    """Return the lowest and the highest number of fields: ``2 to 5``, or ``2``."""
    least, most = min(map(len, rows)), max(map(len, rows))
    return f"{least} to {most}" if least < most else f"{least}"


def _many(count: object, noun: str) -> str:
    """Return a count and its noun: ``1 line``, ``2 lines``."""
    return f"{count} {noun}{'s' * (count not in (1, '1'))}"


# ---- CoNLL-U


def _find_conllu(lines: Sequence[str]) -> Layout | None:
    """Return CoNLL-U if at least half of the lines can only be CoNLL-U."""
    rows = [line for line in lines if line[0] != "#" or not _COMMENT.match(line)]
    commented = any(line[0] == "#" and _KEY.match(line) for line in lines)
    alike = sum(_is_conllu(row, commented) for row in rows)
    if 2 * alike < len(rows) or (not rows and any("\t" in line for line in lines)):
        return None
    complete = sum(row.count("\t") == 9 for row in rows)
    evidence = f"10 tab-separated fields in {complete} of {_many(len(rows), 'row')}"
    return Layout("conllu", conllu.COLUMNS, "\t", evidence if rows else "nothing but comments")


def _is_conllu(line: str, commented: bool) -> bool:
    """Return whether a line is a row of CoNLL-U with one error at most."""
    has_id = line[0].isdecimal() and _ID.match(line) is not None
    if 7 <= line.count("\t") <= 10:
        fields = line.split("\t")
        feats, head = fields[-5], fields[-4]  # where CoNLL-U has them, from the right
        has_tree = (feats == "_" or "=" in feats) and (head == "_" or head.isdecimal())
        return has_id or (len(fields) >= 9 and (commented or has_tree))
    return has_id and "_" in (spaced := line.split()) and len(spaced) == 10


# ---- treebanks


def _find_trees(lines: Sequence[str]) -> Layout | None:
    """Return the format of bracketed trees if most lines open a bracket."""
    opening = sum(line.lstrip(" \t").startswith("(") for line in lines)
    if 2 * opening < len(lines):
        return None
    text = "\n".join(lines)
    leaves = sum(1 for _ in _LEAF.finditer(text))
    first = _TREE.match(text.lstrip(" \t")) is not None and ")" in text
    if first or len(lines) <= leaves < text.count("("):
        return _fixed("mrg", f"{_many(opening, 'line')} of {len(lines)} open a bracket")
    return None


def _find_tagged(lines: Sequence[str]) -> Layout | None:
    """Return a format of word/TAG items if most items are."""
    if 4 * sum("/" in line for line in lines) < len(lines):
        return None  # as in most files
    words, tagged, rules, brackets = 0, 0, False, False
    for line in lines:
        if not line.strip("= \t"):
            rules = True
            continue
        for item in re.findall(r"[^ \t]+", line):
            if item in ("[", "]"):
                brackets = True
                continue
            words += 1
            tagged += _TAGGED.fullmatch(item) is not None
    if 2 * tagged <= words:
        return None
    return _fixed(
        "pos" if rules or brackets else "tagged", f"word/TAG in {tagged} of {_many(words, 'item')}"
    )


# ---- columns


def _find_columns(
    numbered: Sequence[tuple[int, str]], given: Overrides, *, in_blocks: bool, in_sentences: bool
) -> Layout | None:
    """Return the layout of columns if most rows have as many fields, and look like columns.

    None without evidence for columns.

    Raises
    ------
    CorpusError
        If the evidence is not sufficient.
    """
    layout = sniff_rows(numbered, given)
    lines = [line for _, line in numbered if line.strip()]
    heads = (layout.comment,) if layout.comment else ()
    words = [
        line
        for line in lines
        if not line.startswith((DOCSTART, *heads))
        and not is_comment(line)
        and not _SENTENCE_LINE.fullmatch(line.strip())
    ][layout.header :]
    strip = layout.separator not in ("\t", " ")
    rows = [_cells(line, layout.separator, strip=strip) for line in words]
    if not rows:
        return replace(layout, evidence=DOCSTART)
    width = len(layout.columns)
    typical = [
        row for row in rows if len(row) == width and (layout.separator != "\t" or all(row) or True)
    ]
    if layout.ragged:
        return layout
    most = 2 * len(typical) >= len(rows)
    certain = layout.header or layout.sentences not in ("blank", layout.comment)
    if any(line.startswith(DOCSTART) for line in lines):
        found, possible = True, True
    elif not typical:
        found, possible = False, False
    elif layout.separator in ("\t", "\t+"):
        words_only = not _has_prose([[c or "_" for c in row] for row in typical])
        found, possible = most and width > 1 and (words_only or certain), words_only or most
    elif layout.separator != " ":
        last = [row[-1] for row in typical]
        labeled = (
            _mostly_labels(Counter(c or "_" for c in last))
            or bool(layout.spellings)
            or _label_kind(last) != ""
        )
        found = most and (certain or (in_blocks and labeled))
        possible = labeled
    elif width == 1:
        found, possible = _are_words(rows, len(typical), in_blocks=in_blocks or certain)
    else:
        found, possible = _are_labeled(rows, typical, in_blocks=in_blocks or certain)
        kind = _label_kind([row[-1] for row in typical])
        found = (
            found
            or (most and certain)
            or (most and len(typical) >= _MANY and kind != "" and bool(layout.spellings))
        )
    if found:
        return layout
    if not possible or (in_sentences and layout.separator == " " and width > 1):
        return None
    msg = (
        f"expected a recognizable format, found {_many(len(rows), 'line')} of "
        f"{_many(_span(rows), 'field')} that may be words in columns or raw text; name it with "
        "--format columns, --format text or --format tokens"
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
    ends = sum(len(cell) > 1 and cell.endswith(_SENTENCE_ENDS) for cell in cells)
    ends += sum(_ATTACHED.fullmatch(cell) is not None for cell in cells)
    if 4 * sum(len(cell) > _LONG for cell in cells) >= len(cells) or 2 * ends >= len(cells):
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
    typed = any(_TYPED.fullmatch(value) for value in last) or (in_blocks and {*last} <= _BARE)
    near = 10 * sum(abs(len(row) - width) <= 1 for row in rows) >= 9 * len(rows)
    if count == 1:
        single = _TYPED.fullmatch(typical[0][-1]) is not None
        return single and most, labels and most and near and len(rows) == 2
    few_kinds = in_blocks and count >= _MANY and 2 <= len(last) <= count // 3
    if few_kinds:  # such as labels in other alphabets or in lower case
        labels = labels or _mostly_words(last)
    if labels and (typed or few_kinds):
        return most, False
    if labels and near:  # a few lines, or lines of capitals, may look like labels by chance
        word, *between = [Counter(column) for column in list(zip(*typical, strict=True))[:-1]]
        clear = not between or count >= _MANY or any(map(_mostly_labels, between))
        return most and clear and not _mostly_labels(word), most
    uniform = most if width <= _NARROW else 10 * count >= 9 * len(rows)
    return False, uniform and in_blocks and len(rows) > 2


def _mostly_labels(values: Counter[str]) -> bool:
    """Return whether nine of ten values look like labels, not only punctuation."""
    like = sum(n for value, n in values.items() if _LABEL.fullmatch(value) or value.isupper())
    return 10 * like >= 9 * values.total() and _mostly_words(values)


def _mostly_words(values: Counter[str]) -> bool:
    """Return whether half of the values or more begin with a letter."""
    return 2 * sum(n for value, n in values.items() if value[0].isalpha()) >= values.total()


# ---- column files of any layout

_MARK = re.compile(r"#+!?|;+|//+|%+|<(?=[\w/!?])|!!|@@|\*\*\*")
_SENTENCE_LINE = re.compile(r"EOS|<[sp]\b[^>]*>|</[sp]>|<eos>|-+EOS-+|\[SEP\]")
_NUMBERED = re.compile(r"(?:[^\W\d]+[:\s_.#-]*)?([0-9]+)")
_HEADER = {
    **dict.fromkeys(
        ["word", "words", "token", "tokens", "form", "forms", "text", "wort", "mot", "palabra", "palavra"], "form"
    ),
    **dict.fromkeys(["pos", "postag", "pos_tag", "postags", "pos_tags", "tag", "tags", "wordclass"], "pos"),
    **dict.fromkeys(
        ["label", "labels", "ner", "ne", "nertag", "ner_tag", "ner_tags", "iob", "bio", "iob_tag", "entity", "entities"],
        "label",
    ),
    **dict.fromkeys(["chunk", "chunks", "chunk_tag", "chunktag"], "chunk"),
    **dict.fromkeys(["id", "idx", "index", "token_id", "tokenid", "word_id"], "id"),
    **dict.fromkeys(
        [
            "sentence",
            "sentence #",
            "sentence_id",
            "sent",
            "sent_id",
            "sentenceid",
            "sentence_idx",
            "#",
        ],
        "sentence",
    ),
    **{name: name for name in ("lemma", "upos", "xpos", "feats", "misc", "ner2", "head", "deprel")},
}
_CONLL2012 = (
    "document",
    "part",
    "id",
    "form",
    "pos",
    "parse",
    "predicate",
    "frameset",
    "sense",
    "speaker",
    "ner",
)
_CONLL2009 = (
    "id",
    "form",
    "lemma",
    "4",
    "pos",
    "6",
    "feats",
    "8",
    "9",
    "10",
    "11",
    "12",
    "13",
    "14",
)
_WIDE = 600  # words of a sentence; hardly any has more


class _Sample(NamedTuple):
    """Lines of the sample with their numbers."""

    lines: list[tuple[int, str]]

    def blocks(self) -> int:
        """Count the pieces between blank lines."""
        return sum(
            1 for (_, a), (_, b) in pairwise([(0, ""), *self.lines]) if not a.strip() and b.strip()
        )


class Overrides(NamedTuple):
    """What the user says about a layout; None where the sample decides.

    See `seqtag.corpus.ReadOptions`.
    """

    columns: tuple[str, ...] | None = None
    separator: str | None = None
    comment: str | None = None
    header: bool | None = None
    sentences: str | None = None
    outside: str | None = None
    scheme: str | None = None
    like: tuple[tuple[str, ...], str | None] | None = None

    @property
    def of_rows(self) -> bool:
        """True if the file must be a column file."""
        return any(value is not None for value in self[:6])


def sniff_rows(lines: Sequence[tuple[int, str]], given: Overrides) -> Layout:
    """Return the layout of a column file.

    Parameters
    ----------
    lines
        Lines of the sample with their numbers, blank ones among them.
    given
        What is known.
    """
    full = [(n, line) for n, line in lines if line.strip()]
    likely = [line for _, line in full if not _MARK.match(line) and not line.startswith(DOCSTART)]
    separator = given.separator or _separator(likely or [line for _, line in full], given.columns)
    strip = separator not in ("\t", " ")
    split = partial(_cells, separator=separator, strip=strip)
    widths = Counter(len(split(line)) for line in likely or [line for _, line in full])
    width = len(given.columns) if given.columns else _usual_width(widths)
    if separator == "\t" and width > 1 and not given.columns:
        runs = [len(_cells(line, "\t+", strip=False)) for line in likely]
        tabs = [len(split(line)) for line in likely]
        if len({*runs}) == 1 < len({*tabs}):
            separator, width = "\t+", runs[0]
            split = partial(_cells, separator=separator, strip=strip)
    misfits: list[Misfit] = []
    ragged = (
        any(line.startswith(("#begin document", "#end document")) for _, line in full)
        and width > 10
    )
    ragged = ragged and separator == " "
    comment, known = _comment(lines, split, width, ragged=ragged)
    mark = _sentence_line(full, split, width)
    if given.comment is not None:
        comment, known = ("" if given.comment == "none" else given.comment), frozenset()
    heads = (comment,) if comment else ()
    rows: list[tuple[int, list[str]]] = []
    for number, line in full:
        cells = split(line, width=width)
        if line.startswith(DOCSTART) or is_comment(line) or (mark and line.strip() == mark):
            continue
        if mark and _SENTENCE_LINE.match(line):
            continue
        if (
            heads
            and line.startswith(heads)
            and (len(cells) != width or (known and cells[-1] not in known))
        ):
            continue
        if len(cells) == width or (ragged and len(cells) > width):
            rows.append((number, cells[:width] if not ragged else cells))
    header = given.header if given.header is not None else _is_header(rows, lines)
    names = [cell.strip() for cell in rows[0][1]] if header and rows else []
    data = rows[1:] if header else rows
    if ragged:
        width = len(_CONLL2012)
    cells = [row[:width] for _, row in data]
    if not cells:
        return Layout("columns", given.columns or ("form",), separator, comment=comment)
    if separator == "\t" and any(c != c.strip(" \u00a0") for row in cells for c in row):
        count = sum(any(c != c.strip(" \u00a0") for c in row) for row in cells)
        first = next(n for n, row in data if any(c != c.strip(" \u00a0") for c in row))
        if count <= len(cells):
            strip = True
            misfits.append(Misfit(first, count, "blanks around a value are left out"))
            cells = [[c.strip(" \u00a0") for c in row] for row in cells]
    strip = strip or any("".join(column) == "" for column in zip(*cells, strict=True))
    columns, sentences = _named(
        cells, names, given, ragged=ragged, blocks=_Sample(list(lines)).blocks()
    )
    sentences = given.sentences or (sentences if not mark else mark)
    if (
        given.sentences is None
        and sentences == "blank"
        and comment
        and _Sample(list(lines)).blocks() <= 1
    ):
        starts = sum(line.startswith(comment) for _, line in full)
        if starts > 1:
            sentences = comment
    spellings = []
    for i, name in enumerate(columns):
        if name in ("id", "form", "lemma", "sentence") or given.scheme == "none" or i >= width:
            continue
        counts = Counter(row[i] or "_" for row in cells)
        found = detect_spelling(counts, (given.outside,) if given.outside else ())
        if (
            found
            and not found.spelling.is_plain
            and (given.outside or i == width - 1 or found.spelling.place != "type")
        ):
            spellings.append((name, found.spelling))
        if found and found.odd:
            label = max(found.odd, key=found.odd.__getitem__)
            line = next(n for n, row in data if row[i].strip(" \u00a0") == label)
            misfits.append(
                Misfit(
                    line,
                    sum(found.odd.values()),
                    f"the label {label!r} in the column {name} is no chunk label, as the others are; correct it, name it "
                    f"with --outside {label}, or learn all labels as they are with --scheme none",
                )
            )
    evidence = f"{_many(width, 'field')} in {len(data)} of {_many(len(full), 'row')}"
    return Layout(
        "columns",
        columns,
        separator,
        evidence,
        comment=comment,
        header=bool(header),
        sentences=sentences,
        spellings=tuple(spellings),
        scheme=given.scheme,
        strip=strip,
        ragged=ragged,
        labels=known,
        misfits=tuple(misfits),
    )


def _cells(line: str, separator: str, *, strip: bool, width: int = 0) -> list[str]:
    spans = split_row(line, separator, strip=strip, width=width)
    return [field_value(line[a:b], separator) if a < b else "" for a, b in spans]


def _usual_width(widths: Counter[int]) -> int:
    return max(widths, key=lambda width: (widths[width], width), default=1)


def _separator(lines: Sequence[str], columns: Sequence[str] | None) -> str:
    """Return the separator that explains the lines best: tabs, a character, or blanks."""
    tabbed = ["\t" in line.strip(" \t") for line in lines]  # a first line may be indented
    if columns is not None and len(columns) > 1:
        fits = [
            sum(len(_cells(line, each, strip=False)) == len(columns) for line in lines)
            for each in "\t "
        ]
        if fits[0] != fits[1]:
            return "\t" if fits[0] > fits[1] else " "
    if 2 * sum(tabbed) > len(lines) - (True in tabbed[:1]):  # if tied, as the first row has it
        return "\t"
    for mark in ",;|":
        counts = Counter(len(_cells(line, mark, strip=True)) for line in lines)
        width = _usual_width(counts)
        blanks = Counter(len(line.split()) for line in lines)
        after = sum(re.match(rf"\S+{re.escape(mark)}(?: |$)", line) is not None for line in lines)
        alone = _usual_width(blanks) == 1 or 10 * after >= 9 * len(lines) or mark in lines[0]
        short = sum(len(line.split()) <= 2 * width for line in lines)
        if (
            width > 1
            and 10 * counts[width] >= 9 * len(lines)
            and alone
            and 10 * short >= 9 * len(lines)
        ):
            return mark
    return " "


def _comment(
    lines: Sequence[tuple[int, str]], split: Callable[..., list[str]], width: int, *, ragged: bool
) -> tuple[str, frozenset[str]]:
    """Return the mark of comments, and the labels that tell rows of as many fields from them."""
    groups: dict[str, list[tuple[bool, str, list[str]]]] = {}
    known: set[str] = set()
    first = True
    for _, line in lines:
        if not line.strip():
            first = True
            continue
        found, cells = _MARK.match(line), split(line, width=width)
        fits = len(cells) == width and all(cells)
        if fits and not (found and first):
            known.add(cells[-1])
        if found and not line.startswith(DOCSTART) and not _SENTENCE_LINE.match(line):
            groups.setdefault(line[0], []).append((first, line, cells))
            first = first and not fits
        else:
            first = first and (line.startswith(DOCSTART) or is_comment(line))
    for mark, group in groups.items():
        unfit = [(start, line) for start, line, cells in group if len(cells) != width]
        if ragged and mark == "#":
            continue
        alike = [
            (line, cells)
            for start, line, cells in group
            if start and len(cells) == width and cells[-1] not in known
        ]
        fit = [cells for start, _, cells in group if start and len(cells) == width]
        strange = (
            width > 1
            and alike
            and len(alike) == len(fit)
            and (len(alike) > 1 or unfit or len(known) > 1)
        )
        several_blocks = 2 * len(alike) >= sum(not line.strip() for _, line in lines)
        strange = strange and (several_blocks or len({c[-1] for _, c in alike}) == len(alike))
        if mark == "#" and all(is_comment(line) for _, line in unfit) and not strange:
            continue  # the usual comments of column files
        starts = [line for start, line in unfit if start]
        if strange or starts:
            several = [line for line in starts] + [line for line, _ in alike if strange]
            shared = _MARK.match(several[0])[0]  # type: ignore[index]
            while not all(line.startswith(shared) for line in several):
                shared = shared[:-1]
            return shared, frozenset(known) if strange else frozenset()
    return "", frozenset()


def _sentence_line(
    full: Sequence[tuple[int, str]], split: Callable[..., list[str]], width: int
) -> str:
    """Return a line that marks sentences, such as ``EOS``; empty if there is none."""
    found = Counter(
        line.strip().split("\t")[0]
        for _, line in full
        if _SENTENCE_LINE.match(line) and (len(split(line)) != width or width == 1)
    )
    if not found:
        return ""
    mark = max(found, key=found.__getitem__)
    if mark.startswith("</"):
        mark = f"<{mark[2:]}"
    return re.sub(r"\s.*", ">", mark) if mark.startswith("<") else mark


def _is_header(rows: Sequence[tuple[int, list[str]]], lines: Sequence[tuple[int, str]]) -> bool:
    """Return whether the first row names the columns."""
    if len(rows) < 2 or not rows[0][1] or len(rows[0][1]) < 2:
        return False
    first, others = [cell.strip().lower() for cell in rows[0][1]], [row for _, row in rows[1:]]
    if first[:2] == ["sentence", "form"]:  # as written with --to tsv
        return True
    named = sum(name in _HEADER for name in first)
    values = {cell.strip().lower() for row in others for cell in row[1:]}
    if named and not {*first[1:]} & values and (2 * named >= len(first)):
        return _HEADER.get(first[0]) in ("form", "id", "sentence") or named > 1 or len(first) == 2
    return False


def _named(
    rows: Sequence[Sequence[str]],
    header: Sequence[str],
    given: Overrides,
    *,
    ragged: bool,
    blocks: int,
) -> tuple[tuple[str, ...], str]:
    """Return names for the columns, and what ends a sentence."""
    width, sentences = len(rows[0]), "blank"
    if given.columns:
        return given.columns, _how(given.columns, rows, blocks)
    if ragged:
        return _CONLL2012, sentences
    if given.like and not header:
        columns, label = given.like
        without = tuple(name for name in columns if name != label)
        for known in (columns, without):
            if len(known) == width:
                return known, _how(known, rows, blocks)
    columns = [list(column) for column in zip(*rows, strict=True)]
    if width >= 14 and all(_ID.match(f"{cell}\t") for cell in columns[0]) and {*columns[1]} - {"_"}:
        return (*_CONLL2009, *map(str, range(15, width + 1))), sentences
    names: list[str] = [""] * width
    for i, column in enumerate(columns[:2]):
        told = _HEADER.get(header[i].lower(), "") if header else ""
        kind = _number_kind(column, blocks) if not told else told * (told in ("id", "sentence"))
        if width > 1 and kind:
            names[i] = kind
            if kind == "id":
                break
    for i, column in enumerate(columns):
        if not names[i] and width > 1 and {*column} <= {"", "_"}:
            names[i] = str(i + 1)
    free = [i for i in range(width) if not names[i]]
    if header:
        for i in free:
            name = header[i].lower()
            kind = _HEADER.get(name, "")
            name = kind or re.sub(r"\s+", "_", name) or str(i + 1)
            if kind in ("label", "pos", "form") and kind != "form":
                name = _label_kind(columns[i]) or ("label" if kind == "label" else "pos")
            names[i] = name if name not in names else str(i + 1)
        if "form" not in names and free:
            names[free[0]] = "form"
        how = _how(names, rows, blocks)
        return tuple(names), how
    if not free:
        return tuple(name or "form" for name in names), sentences
    form = free[0]
    kinds = {i: _label_kind(columns[i]) for i in free if width > 1}
    if kinds.get(form) and len({*columns[form]}) < len(rows) / 2 and len(free) > 1:
        form = max(free, key=lambda i: (not kinds[i], len({*columns[i]}), -i))
    names[form] = "form"
    rest = [i for i in free if i != form]
    chunked = [i for i in rest if kinds[i]]
    universal = width > 10 and names[0] == "id" and {*columns[3]} <= _UPOS
    if universal:
        named = (*conllu.COLUMNS, *(str(i) for i in range(11, width + 1)))
        return named, sentences
    used = rest
    if names[0] == "id":
        while len(used) > 1 and 2 * sum(row[used[-1]] in ("_", "-", "") for row in rows) > len(
            rows
        ):
            used = used[:-1]
    last = used[-1] if used else -1
    if len(used) == 1:
        names[last] = kinds[last] or "label"
    elif used:
        inner = [i for i in used if i != last]
        if not chunked:
            bare = {*columns[last]} - {OUTSIDE} and {*columns[last]} <= _BARE
            if len(used) == 2 and bare:
                names[used[0]], names[last] = "pos", "chunk"
        elif kinds[last] and not any(kinds[i] for i in inner):
            names[last] = kinds[last] or "ner"
            if len(used) == 2:
                names[used[0]] = "pos"
            elif len(used) == 3 and kinds[last] == "ner":
                names[used[0]], names[used[1]] = "pos", "chunk"
        elif kinds[last]:
            outer = [i for i in used if kinds[i]]
            if len(used) == 3 and not kinds[used[0]] and kinds[used[1]] == "chunk":
                names[used[0]], names[used[1]], names[last] = "pos", "chunk", "ner"
            elif len(used) == 3 and not kinds[used[0]] and len(outer) == 2 and names[0] != "id":
                names[used[0]] = "pos"
                names[outer[0]] = kinds[outer[0]]
            else:
                names[outer[0]] = kinds[outer[0]]
    names = [name or str(i + 1) for i, name in enumerate(names)]
    return tuple(names), _how(names, rows, blocks)


def _label_kind(column: Sequence[str]) -> str:
    """Return ``chunk`` or ``ner`` for a column of chunk labels, else nothing."""
    counts = Counter(cell or "_" for cell in column)
    if {*counts} == {OUTSIDE}:
        return "ner"
    found = detect_spelling(counts)
    if found is None:
        return ""
    types = {label[2:] for label in found.spelling.read(list(counts)) if parse(label)[1]}
    if not types:
        return ""
    return "chunk" if types & _CHUNKS else "ner"


def _number_kind(column: Sequence[str], blocks: int) -> str:
    """Return ``id`` for numbers that count words, ``sentence`` for those that count sentences."""
    values = [cell for cell in column if cell]
    found = [_NUMBERED.fullmatch(cell) for cell in values]
    words = [NO_WORD.fullmatch(cell) is None for cell in values]
    if not values or not all(match or not word for match, word in zip(found, words, strict=True)):
        return ""
    numbers = [int(match[1]) for match, word in zip(found, words, strict=True) if match and word]
    pairs = list(pairwise(numbers))
    if not pairs:
        return ""
    steps = sum(b == a + 1 for a, b in pairs)
    starts = sum(b <= 1 and b != a + 1 for a, b in pairs)
    plain = all(cell.isdecimal() or not word for cell, word in zip(values, words, strict=True))
    if plain and len(values) == len(column) and 10 * (steps + starts) >= 9 * len(pairs) and steps:
        return "id"
    same = sum(a == b for a, b in pairs)
    if all(a <= b for a, b in pairs) and (same or len(values) < len(column)):
        return "sentence"
    return ""


def _how(names: Sequence[str], rows: Sequence[Sequence[str]], blocks: int) -> str:
    """Return what ends a sentence."""
    if blocks > 1:
        return "blank"
    if "sentence" in names:
        return "sentence"
    if "id" in names:
        ids = [row[names.index("id")] for row in rows]
        numbers = [int(each) for each in ids if each.isdecimal()]
        if any(b <= a for a, b in pairwise(numbers)):
            return "restart"
    return "blank"
