"""Corpus formats: one record for each, which reading, writing, splitting and the commands use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from seqtag.corpus import conllu, json_lines, span_sentences, table, text, write
from seqtag.corpus.conllu import ConlluSentence
from seqtag.corpus.sentence import (
    Sentence,
    bad_value,
    check_length,
    into_misc,
    split_key,
    with_values,
)
from seqtag.corpus.stream import ByteStream
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from conllu import TokenList


Reader: TypeAlias = Callable[[ByteStream, str], Iterator[Sentence]]
"""Function from an open stream and its name, for messages, to its sentences."""

Writer: TypeAlias = Callable[[Mapping[str, Sequence[str]]], str]
"""Function from the columns of a non-empty sentence to its text."""

Frame: TypeAlias = Callable[[str, Sentence], str]
"""Function that adds facts about the sentence that was read to the text of the written one."""

_LINE = "\t\r\n"
_WORD = " \t\r\n"
_ITEM = f"{_WORD}\ufeff"  # of a line: byte order marks separate these, too


class Format(NamedTuple):
    """A corpus format: how it is read, written, split and joined.

    Attributes
    ----------
    name
        The name in ``--format`` and ``--to``.
    help
        A short description.
    columns
        Names of the columns, by their number. Empty if each file has names of its own.
    rows
        Reader of formats with one word on a line, whose files can be read as blocks.
    read
        Reader of all others.
    write
        Writer, if it can be written.
    needs
        Columns that the writer needs; a bar separates alternatives.
    excludes
        Characters that its values cannot hold.
    drops
        Columns of the input that are not written. Columns filled by taggers are always written.
    is_raw
        Whether it is raw text, which a pipeline can segment.
    in_place
        Whether tagged files keep the format; those of others become CoNLL-U or columns.
    most_labels
        Number of columns of labels that it has room for; None if any number.
    has_room
        Whether it has room for margins, probabilities and further candidates.
    has_comments
        Whether comments can precede a sentence.
    extensible
        Whether another column can be added to a sentence.
    number
        The bytes around the number of a sentence, if the written sentences have any.
    frame
        Adds facts about the sentence that was read to the text of the written one.
    join
        Joins the bytes of several files, if concatenation is not enough.
    """

    name: str
    help: str
    columns: Mapping[int, tuple[str, ...]] = {}
    rows: type[table.ColumnReader] | None = None
    read: Reader | None = None
    write: Writer | None = None
    needs: tuple[str, ...] = ("form",)
    excludes: str = _WORD
    drops: tuple[str, ...] = ("id",)
    is_raw: bool = False
    in_place: bool = True
    most_labels: int | None = None
    has_room: bool = False
    has_comments: bool = False
    extensible: bool = False
    number: tuple[bytes, bytes] | None = None
    frame: Frame | None = None
    join: Callable[[Iterable[bytes]], Iterator[bytes]] | None = None

    @property
    def is_readable(self) -> bool:
        """True if it can be read; the others are output formats only."""
        return self.rows is not None or self.read is not None

    @property
    def is_table(self) -> bool:
        """True if there is one word on each line."""
        return self.rows is not None

    @property
    def fixed(self) -> tuple[str, ...] | None:
        """The names of the columns, if they are the same in every file."""
        return next(iter(self.columns.values())) if len(self.columns) == 1 else None


def _names(*columns: str) -> dict[int, tuple[str, ...]]:
    return {len(names.split()): tuple(names.split()) for names in columns}


FORMATS = {
    format.name: format
    for format in (
        Format(
            "conllu",
            "CoNLL-U: ten tab-separated columns, id form lemma upos xpos ...",
            _names(" ".join(conllu.COLUMNS)),
            rows=conllu.ConlluReader,
            write=conllu.write_conllu,
            excludes=_LINE,
            has_room=True,
            has_comments=True,
            number=(b"\n# sent_id = ", b"\n"),
            frame=write.with_newdoc,
        ),
        Format(
            "conllu-plus",
            "CoNLL-U Plus: columns named by # global.columns in the first line",
            rows=conllu.ConlluReader,
        ),
        Format(
            "columns",
            "one word per line with any columns, blank lines between sentences",
            rows=table.ColumnReader,
            extensible=True,
            write=write.write_columns,
            excludes=_LINE,
            drops=("id", "misc"),
            has_room=True,
        ),
        Format(
            "conll2000",
            "columns form pos chunk",
            _names("form pos chunk"),
            rows=table.ColumnReader,
            extensible=True,
            write=write.write_conll2000,
            needs=("form", "pos|xpos", "chunk"),
        ),
        Format(
            "conll2002",
            "columns form ner, or form pos ner",
            _names("form ner", "form pos ner"),
            rows=table.ColumnReader,
            extensible=True,
        ),
        Format(
            "conll2003",
            "columns form pos chunk ner, with -DOCSTART- lines",
            _names("form pos chunk ner"),
            rows=table.ColumnReader,
            extensible=True,
            write=write.write_conll2003,
            needs=("form", "pos|xpos|upos", "chunk", "ner"),
            frame=write.with_docstart,
        ),
        Format(
            "text",
            "raw text, one paragraph or sentence per line",
            _names("form misc"),
            read=text.read_text,
            is_raw=True,
            in_place=False,
        ),
        Format(
            "tokens",
            "one sentence per line, words separated by spaces",
            _names("form"),
            read=text.read_tokens,
            write=text.write_tokens,
            excludes=_ITEM,
            most_labels=0,
            in_place=False,
        ),
        Format(
            "tagged",
            "one sentence per line, words as word/TAG",
            _names("form pos"),
            read=text.read_tagged,
            write=text.write_tagged,
            excludes=_ITEM,
            most_labels=1,
        ),
        Format(
            "tsv",
            "a table: one word per line below the names of the columns, sentences numbered",
            write=write.write_tsv,
            drops=("id", "sentence"),
            excludes=_LINE,
            has_room=True,
            join=write.one_table,
        ),
        Format(
            "jsonl",
            "one JSON object per line and sentence: tokens, and each column of labels",
            read=json_lines.read_jsonl,
            extensible=True,
            write=write.write_jsonl,
            excludes="",
            has_room=True,
            number=(b'\n{"sent_id": "', b'"'),
            frame=write.with_facts,
        ),
        Format(
            "spans",
            "JSON of texts with spans: doccano, Label Studio, Prodigy, spaCy",
            _names(f"form {span_sentences.LABEL}"),
            read=span_sentences.read_spans,
            in_place=False,
        ),
        Format(
            "pos",
            "Penn Treebank .pos: word/TAG, base noun phrases in brackets",
            _names("form pos chunk"),
            read=text.read_pos,
        ),
        Format(
            "mrg",
            "Penn Treebank .mrg: bracketed trees, without traces",
            _names("form pos"),
            read=text.read_mrg,
            in_place=False,
        ),
    )
}
"""All formats by name. A new one is a record here, and a rule in `seqtag.corpus.sniff`."""

AUTO = "auto"
"""Name for automatic detection; see `seqtag.corpus.sniff`."""

READABLE = (AUTO, *(name for name, format in FORMATS.items() if format.is_readable))
"""Formats that can be read: the choices of ``--format``."""

WRITABLE = tuple(name for name, format in FORMATS.items() if format.write is not None)
"""Formats that can be written: the choices of ``--to``."""


def joined(pieces: Iterator[bytes], format: str | None) -> Iterator[bytes]:
    """Join the bytes of several files of a format, or of the input's format if that is None."""
    join = FORMATS[format].join if format else None
    return join(pieces) if join else pieces


def render(columns: Mapping[str, Sequence[str]], format: str) -> str:
    r"""Return one sentence in a format, with the blank line or line break that ends it.

    Parameters
    ----------
    columns
        One value per word for each column, ``form`` among them.
    format
        ``"conllu"``: ten columns, ``_`` where a column is missing, and ``# text``. A column
        ``pos`` goes to XPOS if there is no ``xpos``; columns that CoNLL-U does not have go to
        MISC, see `seqtag.corpus.into_misc`.
        ``"columns"``: the given columns, in their order, separated by tabs.
        ``"conll2000"``: ``form pos chunk`` with spaces (``xpos`` may replace ``pos``).
        ``"conll2003"``: ``form pos chunk ner``, with ``xpos`` or else ``upos`` for ``pos``.
        ``"tsv"``: the given columns after the number of the sentence, below their names.
        ``"jsonl"``: one JSON object with ``tokens`` and a list for each other column.
        ``"tagged"``: ``word/TAG`` on one line; TAG is the last column other than ``misc``.
        ``"tokens"``: the words on one line.

    Returns
    -------
    str
        The text; ``""`` if there are no words.

    Raises
    ------
    CorpusError
        If the format is unknown, a column it needs is missing, lengths differ, or a value
        cannot be written in it (empty, or holding a separator).

    Examples
    --------
    >>> columns = {"form": ["Hi", "!"], "pos": ["UH", "."], "misc": ["SpaceAfter=No", "_"]}
    >>> render(columns, "tagged")
    'Hi/UH !/.\n'
    >>> print(render(columns, "conllu").replace("\t", " ").rstrip())
    # text = Hi!
    1 Hi _ _ UH _ _ _ _ SpaceAfter=No
    2 ! _ _ . _ _ _ _ _
    """
    known = FORMATS.get(format)
    if known is None or known.write is None:
        msg = (
            f"expected one of the formats {', '.join(WRITABLE)} to write, found "
            f"{format!r}; choose one of these"
        )
        raise CorpusError(msg)
    _check_there(columns, ("form",), format)
    _check_values(columns, known.excludes, format)
    if not columns["form"]:
        return ""
    _check_there(columns, known.needs, format)
    if known.fixed is not None and "misc" in known.fixed:
        columns = _folded(columns, known.fixed)
    return known.write(columns)


def to_token_list(sentence: Sentence) -> TokenList:
    """Return the sentence as a ``TokenList``, with its comments, ranges and empty nodes.

    Formats other than CoNLL-U pass through `seqtag.corpus.render`. Without words the list is
    empty.

    Examples
    --------
    >>> from seqtag.corpus import sentence_of
    >>> to_token_list(sentence_of({"form": ["Hi"], "upos": ["INTJ"]}))
    TokenList<Hi, metadata={text: "Hi"}>
    """
    from conllu import TokenList, parse

    if isinstance(sentence, ConlluSentence):
        text = sentence.raw.replace("\r\n", "\n")
        text = re.sub("^\ufeff+", "", text, flags=re.MULTILINE).strip("\n")
        lists = parse(text, fields=sentence.columns)
    else:
        columns = {name: sentence.column(name) for name in sentence.columns}
        lists = parse(render(columns, "conllu"))
    return lists[0] if lists else TokenList()


def _folded(
    columns: Mapping[str, Sequence[str]], names: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    """Return the columns under the names of a format, with all others in MISC."""
    placed = dict(columns)
    if "xpos" not in placed and "pos" in placed:
        placed["xpos"] = placed.pop("pos")
    foreign = {name: placed.pop(name) for name in list(placed) if name not in names}
    blank = ["_"] * len(columns["form"])
    for name, values in foreign.items():
        base, key = split_key(name, names) or ("misc", "")
        cells = placed.get(base, blank)
        placed[base] = (
            with_values(base, cells, key, values) if key else into_misc(cells, {name: values})
        )
    return placed


def _check_there(columns: Mapping[str, Sequence[str]], names: Sequence[str], format: str) -> None:
    """Refuse to write without a column that the format requires."""
    for name in names:
        if not any(choice in columns for choice in name.split("|")):
            msg = (
                f"expected a column {name.split('|')[0]!r} to write the format {format}, found "
                f"{', '.join(columns) or 'no columns'}; add it or choose another "
                "format, such as columns"
            )
            raise CorpusError(msg)


def _check_values(columns: Mapping[str, Sequence[str]], excluded: str, format: str) -> None:
    """Refuse columns of different lengths, and values that would be read back differently."""
    count = len(columns["form"])
    for name, values in columns.items():
        check_length(name, values, count)
        bad = bad_value(values, excluded)
        if bad is not None:
            msg = (
                f"expected values that fit the format {format}, found {values[bad]!r} in the "
                f"column {name!r}, word {bad + 1}; change the value or choose another format"
            )
            raise CorpusError(msg)
