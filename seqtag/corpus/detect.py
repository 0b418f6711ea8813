"""Detection of the format of a file from its first 64 kB.

One damaged row must not change what a file is: most rows decide, and the reader, which is strict,
then names the malformed one.  If the evidence is mixed, nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus import conllu
from seqtag.corpus.formats import FORMATS
from seqtag.corpus.stream import HEAD
from seqtag.corpus.table import DOCSTART, is_comment
from seqtag.errors import CorpusError
from seqtag.labels.schemes import CHUNK_LABEL, OUTSIDE, prefixes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

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


class FileLayout(NamedTuple):
    """Format of a file and the names of its columns.

    Attributes
    ----------
    format
        A name of `seqtag.corpus.formats.FORMATS`.
    columns
        Names of the columns.
    separator
        Separator of the columns; empty if it is not known, or there are none.
    evidence
        The evidence, for a note to the user; empty if nothing was detected.
    """

    format: str
    columns: tuple[str, ...]
    separator: str = ""
    evidence: str = ""


def detect_format(head: bytes) -> FileLayout:
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

    Returns
    -------
    FileLayout
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
        return FileLayout("conllu-plus", named, "\t", "named by # global.columns")
    every = complete_lines(head)
    lines = [line for line in every if line.strip(" \t")]
    if not lines:
        return FileLayout("columns", ("form",))
    # Blank lines that split the text into pieces, one of them longer than a line. One piece of
    # three lines suffices if a blank line ends it: column files end so, few texts do.
    joined = "\n".join(line.strip(" \t") for line in every)
    pieces = joined.strip("\n").split("\n\n")
    longest = max(piece.count("\n") for piece in pieces)
    ends = longest > 1 and joined.endswith("\n\n")
    ended = sum(_ENDED.search(piece[-_LONG:]) is not None for piece in pieces)
    in_blocks = longest > 0 and (len(pieces) > 1 or ends)
    found = (
        _find_conllu(lines)
        or _find_trees(lines)
        or _find_tagged(lines)
        or _find_columns(lines, in_blocks=in_blocks, in_sentences=2 * ended > len(pieces))
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
    return [line.removesuffix("\r") for line in lines]


def columns_layout(lines: Sequence[str]) -> FileLayout:
    """Return the layout of a column file, decided by the majority of its lines."""
    rows, separator = _rows_of(lines)
    if not rows:
        return FileLayout("columns", ("form",))
    width = _width(rows)
    return FileLayout("columns", _names([row for row in rows if len(row) == width]), separator)


def _fixed(format: str, evidence: str) -> FileLayout:
    """Return the layout of a format whose columns are the same in each file."""
    return FileLayout(format, FORMATS[format].fixed or (), "", evidence)


def _span(rows: Sequence[Sequence[str]]) -> str:
    """Return the lowest and the highest number of fields: ``2 to 5``, or ``2``."""
    least, most = min(map(len, rows)), max(map(len, rows))
    return f"{least} to {most}" if least < most else f"{least}"


def _many(count: object, noun: str) -> str:
    """Return a count and its noun: ``1 line``, ``2 lines``."""
    return f"{count} {noun}{'s' * (count not in (1, '1'))}"


# ---- CoNLL-U


def _find_conllu(lines: Sequence[str]) -> FileLayout | None:
    """Return CoNLL-U if at least half of the lines can only be CoNLL-U."""
    rows = [line for line in lines if line[0] != "#" or not _COMMENT.match(line)]
    commented = any(line[0] == "#" and _KEY.match(line) for line in lines)
    alike = sum(_is_conllu(row, commented) for row in rows)
    if 2 * alike < len(rows) or (not rows and any("\t" in line for line in lines)):
        return None
    complete = sum(row.count("\t") == 9 for row in rows)
    evidence = f"10 tab-separated fields in {complete} of {_many(len(rows), 'row')}"
    return FileLayout("conllu", conllu.COLUMNS, "\t", evidence if rows else "nothing but comments")


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


def _find_trees(lines: Sequence[str]) -> FileLayout | None:
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


def _find_tagged(lines: Sequence[str]) -> FileLayout | None:
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


def _rows_of(lines: Sequence[str]) -> tuple[list[list[str]], str]:
    """Return the fields of the lines with words, and the separator of most of them."""
    words = [line for line in lines if not line.startswith(DOCSTART) and not is_comment(line)]
    tabbed = ["\t" in line.strip(" \t") for line in words]  # a first line may be indented
    if 2 * sum(tabbed) > len(words) - (True in tabbed[:1]):  # if tied, as the first row has it
        return [line.split("\t") for line in words], "\t"
    return [[field for field in line.split(" ") if field] for line in words], " "


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of fields of most rows; of equals that with more labels."""
    counts = Counter(map(len, rows))
    first = max(counts, key=counts.__getitem__)
    if list(counts.values()).count(counts[first]) == 1:
        return first
    labels = Counter(len(row) for row in rows if _LABEL.fullmatch(row[-1]))
    return max(counts, key=lambda width: (counts[width], labels[width]))


def _find_columns(
    lines: Sequence[str], *, in_blocks: bool, in_sentences: bool
) -> FileLayout | None:
    """Return the layout of columns if most rows have as many fields, and look like columns.

    None without evidence for columns.

    Raises
    ------
    CorpusError
        If the evidence is not sufficient.
    """
    rows, separator = _rows_of(lines)
    if not rows:
        return FileLayout("columns", ("form",), "", DOCSTART)
    width = _width(rows)
    typical = [row for row in rows if len(row) == width]
    most = 2 * len(typical) >= len(rows)
    if any(line.startswith(DOCSTART) for line in lines):
        found, possible = True, True
    elif separator == "\t":
        words = not _has_prose(typical)
        found, possible = most and width > 1 and words, words or most
    elif width == 1:
        found, possible = _are_words(rows, len(typical), in_blocks=in_blocks)
    else:
        found, possible = _are_labeled(rows, typical, in_blocks=in_blocks)
    if found:
        evidence = f"{_many(width, 'field')} in {len(typical)} of {_many(len(rows), 'row')}"
        return FileLayout("columns", _names(typical), separator, evidence)
    if not possible or (in_sentences and separator == " " and width > 1):
        return None
    msg = (
        f"expected a recognizable format, found {_many(len(rows), 'line')} of "
        f"{_many(_span(rows), 'field')} that may be words in columns or raw text; name it with "
        "--format columns, --format text or --format tokens"
    )
    if width == 1 and 2 * sum("," in row[0] for row in rows) > len(rows):
        msg += "; if commas separate columns (CSV), replace them with tabs"
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


def _names(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return names for the columns of rows of equal length.

    A first column that counts the words is ``id``, and the last columns may have few values.
    """
    count = len(rows[0])
    columns = list(zip(*rows, strict=True))
    numbers = [int(cell) if cell.isdecimal() else 0 for cell in columns[0]]
    pairs = list(zip([0, *numbers], numbers, strict=False))
    steps = sum(after == before + 1 for before, after in pairs)
    starts = sum(after == 1 != before + 1 for before, after in pairs)
    if count > 1 and 2 * starts <= steps > 1 and 10 * (steps + starts) >= 9 * len(rows):
        width = len(conllu.COLUMNS)
        if count > width and {*columns[conllu.COLUMNS.index("upos")]} <= _UPOS:
            return (*conllu.COLUMNS, *(str(i) for i in range(width + 1, count + 1)))
        used = count
        while used > 2 and 2 * sum(cell in ("_", "-") for cell in columns[used - 1]) > len(rows):
            used -= 1
        names = ("id", *_names([row[1:used] for row in rows]))
        return (
            *(str(i) if name.isdecimal() else name for i, name in enumerate(names, 1)),
            *(str(i) for i in range(used + 1, count + 1)),
        )
    last = Counter(row[-1] for row in rows)
    chunks = {label: number for label, number in last.items() if _BIO.fullmatch(label)}
    if count > 1 and 10 * sum(chunks.values()) >= 9 * len(rows):
        types = {label[2:] for label in chunks if label != OUTSIDE}
        chunk = bool(types & _CHUNKS) or (count == 3 and not types)
        if count == 4 and not types & _CHUNKS:
            return ("form", "pos", "chunk", "ner")
        if count in (2, 3):
            return ("form", "pos")[: count - 1] + (("chunk",) if chunk else ("ner",))
    if count == 3 and {*last} - {OUTSIDE} and {*last} <= _BARE:
        return ("form", "pos", "chunk")
    if count == 2:
        return ("form", "label")
    return ("form", *(str(i) for i in range(2, count + 1)))
