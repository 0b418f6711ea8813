"""Formats that are recognized but not read, with what converts each to a corpus or text.

A format is claimed by the share of the lines that show its mark, wherever they stand, because
prose may mention any mark. The page "Before you tag" has recipes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus.column_files import UPOS
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ROWS = 100  # lines with text that are looked at
_BARE_SHARE = 0.2  # least share of lines without tags in a vertical file: its words

_LABEL = re.compile(r"[A-Z][A-Z0-9$]*(?:-\S+)?|-[LR]RB-|[^\w\s]{1,2}")
_CHUNK_LABEL = re.compile(r"O|[BIESLU]-\S+")
_SENTENCE_AND_LABELS = re.compile(r'(?:.*\t)?(.+)(?:[\t\n,;]|\|\|\|)[" ]*([^\t\n,;|"]+)"?\s*$')
_TIME = r"(?:\d+:)+\d\d[.,]\d+"
_NAME = "(?:per|person|loc|location|org|organi[sz]ation|gpe|misc|name|entity)"
_PANDOC = "pandoc -f html -t plain --wrap=none"
_ATTRIBUTES = "a script that writes words and labels, of which seqtag makes attributes itself"
_SCRIPT = "a script that writes one word and its label, such as B-PER, a line"


def _match(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern).match


def _has_labels(line: str) -> bool:
    r"""Return whether there are words and as many labels: ``Ada ran\tB-PER O``."""
    found = _SENTENCE_AND_LABELS.match(line)
    words, labels = (part.split() for part in found.groups()) if found else ([], [])
    kind = _CHUNK_LABEL if "\n" in line else _LABEL
    are_labels = all(map(kind.fullmatch, labels)) and any(map(str.isupper, labels))
    return are_labels and 1 < len(labels) == len(words)


def _has_attributes(text: str) -> bool:
    r"""Return whether each line has a label, then attributes, not as many in each."""
    rows = [line.split("\t") for line in text.split("\n")]
    labeled = all(len(row) > 1 and _CHUNK_LABEL.fullmatch(row[0]) for row in rows)
    return labeled and len({*map(len, rows)}) > 1


def _has_labels_after_words(text: str) -> bool:
    """Return whether each line has words and as many labels, but is no row: ``Ada ran B-PER O``.

    In rows, their number is always the same, and some words are punctuation.
    """
    rows = [line.split() for line in text.split("\n")]
    widths = {*map(len, rows)}
    halves = [row[len(row) // 2 :] for row in rows]
    labeled = all(all(map(_CHUNK_LABEL.fullmatch, labels)) for labels in halves)
    are_rows = len(widths) == 1 and any(not any(map(str.isalnum, row[0])) for row in rows)
    return labeled and max(widths) > 4 and not are_rows and not any(n % 2 for n in widths)


class Foreign(NamedTuple):
    """Format that is recognized but not read.

    Attributes
    ----------
    name
        What it is.
    share
        Share of the lines that must show the mark, half of it if the first one does; 0 if the
        first one decides.
    shows
        Tells whether a line shows the mark.
    advice
        What converts it.
    lines
        Number of lines that are looked at together.
    """

    name: str
    share: float
    shows: Callable[[str], object]
    advice: str
    lines: int = 1


_MARKED_UP = (
    Foreign(
        "XML",
        0,
        _match(r"(?i)<\?xml|<!DOCTYPE (?!html)|<(?:TEI|corpus|text|root|document)[ >]"),
        "a script that writes one word a line",
    ),
    Foreign("HTML", 0, _match(r"(?i)\s*(?:<!DOCTYPE html|<html[ >])"), _PANDOC),
    Foreign(
        "HTML or XML",
        0.6,
        _match(
            r"\s*</?(?:!--|(?:p|div|h\d|[uo]l|li|t[rdh]|table|br)[ />])"
            r"|\s*<\w.*(?:</|=\")|.*</?(?!ref)\w[^<>]*>\s*$"
        ),
        _PANDOC,
    ),
)
FOREIGN = (
    Foreign(  # OpenNLP, MUC
        "text with marks of names",
        0.02,
        _match(r"(?i:.*?(?:<START(?::[\w-]+)?> .*<END>|<ENAMEX [^<>]+>[^<>]+</))"),
        _SCRIPT,
    ),
    Foreign(  # other tags, brackets, Rasa
        "text with marks of names",
        0.2,
        _match(
            rf"(?i:.*?(?:<(?:\w+ type=[^<>]+|{_NAME})(?: [^<>]*)?>[^<>]+</"
            rf"|\[{_NAME} [^][]+\]|\][({{]{_NAME}[)}}]))|.*?<[A-Z_]{{3,}}(?: [^<>]*)?>[^<>]+</"
            r"|(?:- |## )(?:intent|lookup|synonym|regex):|nlu:|\s*- .*\](?:\([a-z_]+\)|{\")"
        ),
        _SCRIPT,
    ),
    *_MARKED_UP,
    Foreign(
        "brat's .ann",
        0.9,
        _match(r"T\d+\t\S+ \d+ \d+|[REAMN]\d+\t.*[TER]\d|\*\t.* T\d|#\d+\tAnnotatorNotes "),
        "brat's tools/anntoconll.py",
    ),
    Foreign("PubTator", 0, _match(r"\d+\|t\|"), "sed -n 's/^[0-9]*|[ta]|//p'"),
    Foreign(
        "WebAnno TSV",
        0,
        _match("#FORMAT=WebAnno TSV"),
        "the export as UIMA CAS XMI and the package dkpro-cassis (exports as CoNLL leave out "
        "layers of your own)",
    ),
    Foreign(
        "JSON",
        0,
        _match(r'(?!.*\t)\s*(?:\{\s*"|(?:\[\s*)+[{"])'),
        "jq -c .[] (of a list of objects) or jq -r .text (of texts), or a script that writes one "
        "object with a list tokens a line (--format spans tells what is wrong in texts with spans)",
        lines=2,
    ),
    Foreign(
        "Python source with annotated texts",
        0.4,
        _match(
            r"[A-Z_]+ = \[|import [\w.]+$|from [\w.]+ import |.*[\"']entities[\"']\s*:"
            r"|\s*[\[(]*\(([\"']).*\1, "
        ),
        "a program that imports it and calls seqtag.train",
    ),
    Foreign(
        "subtitles or a transcript of speech",
        0.2,
        _match(
            rf"WEBVTT|\s*{_TIME}\s*(?:-->|,)\s*{_TIME}|Dialogue: \d|\[(?:Script Info|{_TIME})\]"
            rf"|@(?:UTF8|Begin|End|\w+:\t)|[*%]\w+:\t|(?:[^\t]*\t)*{_TIME}\t{_TIME}"
            r"|File type = \"ooText|\s*(?:xm(?:in|ax) = [\d.]|intervals \[|text = \")"
        ),
        "pysubs2 (subtitles), pylangacq (CHAT), praatio (TextGrid) or cut (a table of ELAN)",
    ),
    Foreign(
        "analyses of CG-3, Apertium or SSF",
        0.7,
        _match(
            r'"<.*>"|\s+"[^"]*"\s|(?:.*\s)?\^[^$^]+[<*][^$]*\$|[\d.]+\t.*<fs |\s*\)\)'
            r'|\S+\t(?:\[[^]]*\]|"[^"]*") \S'
        ),
        "cg-conv of VISL CG-3 to niceline, and that with perl as on the page Before you tag (SSF "
        "with cut -f 2,3)",
    ),
    Foreign(
        "attributes of CRFsuite or Wapiti",
        0.9,
        _match(
            r"(?!\d+\t)[^\t=]+(?:\t[^\t]*)*?(?:\t[^\t:=]*[A-Za-z_\]](?:=|:[\d.])[^\t]*){2}"
            rf"|(?:{_CHUNK_LABEL.pattern}|[A-Z]{{1,5}})(?:\t[^\t=]+)*\t[^\t=]*\w\]?=[^\t]"
            r"|[uUbB*]\w{0,3}:\S+\s+[uUbB*]\w{0,3}[:\s]"
        ),
        _ATTRIBUTES,
    ),
    Foreign("attributes of CRFsuite or Wapiti", 0, _has_attributes, _ATTRIBUTES, lines=_ROWS),
    Foreign(
        "pieces of words of a tokenizer",
        0.1,
        _match(
            r"\[(?:CLS|SEP|PAD)\](?:\s|$)|##[^\W\d_]+\s+(?:X|O|[BIESLU]-\S+|\[\w+\])$|\S+\s+-100$"
        ),
        "perl -0pe 's/^\\[(CLS|SEP|PAD)\\].*\\n//gm; 1 while s/^(\\S+)(.*)\\n##(\\S+).*/$1$3$2/m'",
    ),
    Foreign(
        "lists in the cells of a table",
        0.7,
        _match(r"(?:.*[,;\t])?\"?\[(?:\s*(?:'|\"\")[^][]*|\d+(?:,? \d+)+)\]\"?\s*(?:[,;\t]|$)"),
        "pandas and ast.literal_eval, then seqtag.train",
    ),
    Foreign("sentences with all labels in one cell", 0.9, _has_labels, _SCRIPT),
    Foreign("lines of words and lines of labels in turn", 0.9, _has_labels, _SCRIPT, lines=2),
    Foreign("sentences with all labels at the end", 0, _has_labels_after_words, _SCRIPT, _ROWS),
    Foreign(
        "labels without words",
        0.9,
        _match(rf"(?:(?:{_CHUNK_LABEL.pattern}|{'|'.join(sorted(UPOS))})(?:\s+|$)){{2,}}$"),
        _SCRIPT,
    ),
)
"""All of them, in the order in which they are looked for. A new one is a record here."""


def refuse_foreign(lines: Sequence[str]) -> None:
    """Refuse formats that are recognized but not read.

    Parameters
    ----------
    lines
        The lines of a file.

    Raises
    ------
    CorpusError
        If it is one of them; its line is the first with the mark.

    Examples
    --------
    >>> refuse_foreign(["Write <b> for bold.", "I like the <PER> mark.", "Why?"])
    >>> refuse_foreign(["<PER>Ada</PER> ran.", "It is late.", "<PER>Bob</PER> sat."])
    Traceback (most recent call last):
    ...
    seqtag.errors.CorpusError: line 1: expected a corpus or text, found text with marks of names \
(2 of 3 lines); convert it, for example with a script that writes one word and its label, such as \
B-PER, a line, or name it with --format
    """
    with_text = [row for row in enumerate(lines, 1) if row[1].strip()]
    if not with_text:  # but white space that is no blank, such as no-break spaces
        return
    numbers, rows = zip(*with_text[:_ROWS], strict=True)
    bare = [row for row in rows if not row.lstrip().startswith("<")]
    words = [row for row in bare if "\t" in row or " " not in row.strip()]
    is_vertical = len(bare) > _BARE_SHARE * len(rows) and 10 * len(words) >= 9 * len(bare)
    for format in FOREIGN:
        units = ["\n".join(rows[i : i + format.lines]) for i in range(0, len(rows), format.lines)]
        shown = [bool(format.shows(unit)) for unit in (units if format.share else units[:1])]
        least = format.share * len(shown) / (1 + shown[0])
        if any(shown) and sum(shown) >= least and not (is_vertical and format in _MARKED_UP):
            found, tried = (min(n * format.lines, len(rows)) for n in (sum(shown), len(shown)))
            msg = (
                f"expected a corpus or text, found {format.name} ({found} of {tried} lines); "
                f"convert it, for example with {format.advice}, or name it with --format"
            )
            raise CorpusError(msg, line=numbers[shown.index(True) * format.lines])
