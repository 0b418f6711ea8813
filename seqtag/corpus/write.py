"""Writers of the formats. What a format cannot hold, such as a tab in a table, is refused."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from seqtag.corpus.lines import DOCSTART
from seqtag.corpus.sentence import json_values
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus.sentence import Sentence

_SENTENCE = "sentence"  # the first column of a table
_HEAD = b"\nsentence\t"  # where a table begins
_NUMBER = re.compile(rb"(?m)^[0-9]+")
_FACTS = ("sent_id", "text")  # comments of CoNLL-U
_DOCUMENT = re.compile(r"<(?:doc|text)\b(?:.*?\bid=\"([^\"]*)\")?")  # of a vertical file
_GLUE = re.compile(r"^<g ?/?>", re.MULTILINE)
_RANGE = re.compile(r"(?:^|\|)TokenRange=(\d+):(\d+)$")
JSON_KEYS = ("tokens", *_FACTS, "multiword", "ranges")  # of an object, besides the columns


def write_columns(columns: Mapping[str, Sequence[str]]) -> str:
    """Return one line per word, its values separated by tabs, and a blank line."""
    return write_rows(list(columns.values()), "\t")


def write_conll2000(columns: Mapping[str, Sequence[str]]) -> str:
    """Return form, part of speech and chunk separated by spaces; ``xpos`` may replace ``pos``."""
    pos = "pos" if "pos" in columns else "xpos"
    return write_rows([columns["form"], columns[pos], columns["chunk"]], " ")


def write_conll2003(columns: Mapping[str, Sequence[str]]) -> str:
    """Return form, pos, chunk and name separated by spaces; other tags may replace ``pos``."""
    pos = next(name for name in ("pos", "xpos", "upos") if name in columns)
    return write_rows([columns["form"], columns[pos], columns["chunk"], columns["ner"]], " ")


def with_docstart(text: str, sentence: Sentence) -> str:
    """Return the text of a sentence after a ``-DOCSTART-`` line if it begins a document."""
    heads = getattr(sentence, "comments", ())
    begins = any(line.startswith((DOCSTART, "# newdoc")) for line in heads)
    return f"{DOCSTART} -X- -X- O\n\n{text}" if begins else text


def with_newdoc(text: str, sentence: Sentence) -> str:
    """Return the CoNLL-U of a sentence after ``# newdoc`` if ``<doc id="...">`` precedes it."""
    for line in getattr(sentence, "comments", ()):
        if found := _DOCUMENT.match(line):
            return f"# newdoc{f' id = {found[1]}' if found[1] else ''}\n{text}"
    return text


def spaces_by_glue(sentence: Sentence) -> dict[str, list[str]]:
    """Return the column misc of a vertical file, which has ``<g/>`` where no space is."""
    if not _GLUE.search(sentence.raw):
        return {}
    lines = sentence.raw.split("\n")
    rows = [sentence.line_of(i) - sentence.line for i in range(len(sentence))]
    after = (lines[a + 1 : b] for a, b in pairwise([*rows, len(lines)]))
    return {"misc": ["SpaceAfter=No" if any(map(_GLUE.match, each)) else "_" for each in after]}


def write_rows(columns: Sequence[Sequence[str]], separator: str) -> str:
    """Return one line per word and a blank line."""
    return "\n".join(map(separator.join, zip(*columns, strict=True))) + "\n\n"


def write_tsv(columns: Mapping[str, Sequence[str]]) -> str:
    r"""Return the names of the columns, and a row for each word that begins with a 1.

    `one_table` replaces the 1 by the number of the sentence.

    Examples
    --------
    >>> write_tsv({"form": ["Stop", "!"], "upos": ["VERB", "PUNCT"]})
    'sentence\tform\tupos\n1\tStop\tVERB\n1\t!\tPUNCT\n'
    """
    _check_names(columns, (_SENTENCE,), "tsv")
    rows = [(_SENTENCE, *columns), *(("1", *row) for row in zip(*columns.values(), strict=True))]
    return "".join("\t".join(row) + "\n" for row in rows)


def one_table(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Join tables of the same columns: their names in the first line only, sentences numbered.

    Pieces are complete lines. The first sentence after a line of names follows the last before it.

    Raises
    ------
    CorpusError
        If a table has other columns.

    Examples
    --------
    >>> tables = [b"sentence\tform\n1\ta\n2\tb\n", b"sentence\tform\n1\tc\n1\td\n"]
    >>> b"".join(one_table(tables))
    b'sentence\tform\n1\ta\n2\tb\n3\tc\n3\td\n'
    """
    head, last = b"", 0  # the number of the last sentence
    moved: int | None = None  # how far the numbers of this table are moved
    for piece in pieces:
        for number, part in enumerate((b"\n" + piece).split(_HEAD)):
            names, _, rows = part.partition(b"\n")
            if number:  # else more rows of the table before
                moved = None
                if not head:
                    head = names
                    yield b"%b%b\n" % (_HEAD[1:], head)
                elif names != head:
                    first, other = (", ".join(each.decode().split()) for each in (head, names))
                    msg = (
                        f"expected the columns {first} of the first sentence, found {other}; write "
                        "files of other columns one by one, or --to jsonl"
                    )
                    raise CorpusError(msg)
            if not rows:
                continue
            rows = rows.removesuffix(b"\n") + b"\n"  # which the next line of names took
            if moved is None:
                moved = last + 1 - int(rows[: rows.index(b"\t")])
            last = moved + int(rows[rows.rfind(b"\n", 0, -1) + 1 :].split(b"\t", 1)[0])
            if moved:
                rows = _NUMBER.sub(lambda found: b"%d" % (moved + int(found[0])), rows)  # noqa: B023
            yield rows


def write_jsonl(columns: Mapping[str, Sequence[str]]) -> str:
    r"""Return one object on a line: ``tokens``, and a list for each other column.

    Examples
    --------
    >>> write_jsonl({"form": ["Stop", "!"], "upos": ["VERB", "PUNCT"]})
    '{"tokens": ["Stop", "!"], "upos": ["VERB", "PUNCT"]}\n'
    """
    _check_names(columns, JSON_KEYS, "jsonl")
    labels = {name: json_values(values) for name, values in columns.items() if name != "form"}
    return json.dumps({"tokens": list(columns["form"]), **labels}, ensure_ascii=False) + "\n"


def with_facts(line: str, sentence: Sentence) -> str:
    """Add the comments, multiword tokens and ranges of a sentence of CoNLL-U to its JSON."""
    if not line:
        return line
    facts: dict[str, Any] = {}
    for comment in getattr(sentence, "comments", ()):
        key, equals, value = comment.removeprefix("#").partition("=")
        if equals and key.strip() in _FACTS:
            facts[key.strip()] = value.strip()
    spans, ranges = [], []
    if "id" in sentence.columns and hasattr(sentence, "lines"):  # of all rows, not words alone
        ids, forms = sentence.lines("id"), sentence.lines("form")
        miscs = sentence.lines("misc") if sentence.is_bare else forms
        for number, form, misc in zip(ids, forms, miscs, strict=True):
            first, dash, last = number.partition("-")
            if dash:
                spans.append([int(first), int(last), form])
            if sentence.is_bare and (found := _RANGE.search(misc)):
                ranges += [[*map(int, found.groups())]] * (int(last or first) - int(first) + 1)
    lists = {"multiword": spans, "ranges": ranges}
    more = {name: values for name, values in lists.items() if values}
    return json.dumps({**facts, **json.loads(line), **more}, ensure_ascii=False) + "\n"


def _check_names(columns: Iterable[str], own: Sequence[str], format: str) -> None:
    """Refuse columns with names that a format reserves."""
    for name in columns:
        if name in own:
            msg = (
                f"expected column names other than {', '.join(own)} in the format {format}, "
                f"found {name!r}; rename it with --columns"
            )
            raise CorpusError(msg)
