"""The formats by name, how to recognise them, and `read`, which opens any of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from seqtag.corpus import conllu, penn, text
from seqtag.corpus.stream import HEAD, Block, ByteStream, after_last_blank_line
from seqtag.corpus.table import DOCSTART, ColumnReader, find_separator
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

    from seqtag.corpus.sentence import Sentence

FORMATS = {
    "auto": "recognise the format from the first 64 kB",
    "conllu": "CoNLL-U: ten tab-separated columns, id form lemma upos xpos ...",
    "conllu-plus": "CoNLL-U Plus: columns named by # global.columns in the first line",
    "columns": "one word per line with any columns, blank lines between sentences",
    "conll2000": "columns form pos chunk",
    "conll2002": "columns form ner, or form pos ner",
    "conll2003": "columns form pos chunk ner, with -DOCSTART- lines",
    "text": "raw text, one paragraph or sentence per line",
    "tokens": "one sentence per line, words separated by spaces",
    "tagged": "one sentence per line, words as word/TAG",
    "pos": "Penn Treebank .pos: word/TAG, base noun phrases in brackets",
    "mrg": "Penn Treebank .mrg: bracketed trees, traces left out",
}

_NAMED: dict[str, dict[int, tuple[str, ...]]] = {
    "conll2000": {3: ("form", "pos", "chunk")},
    "conll2002": {2: ("form", "ner"), 3: ("form", "pos", "ner")},
    "conll2003": {4: ("form", "pos", "chunk", "ner")},
}
_FIXED = {
    "text": ("form", "misc"),
    "tokens": ("form",),
    "tagged": ("form", "pos"),
    "pos": ("form", "pos", "chunk"),
    "mrg": ("form", "pos"),
}
_READ = {
    "text": text.read_text,
    "tokens": text.read_tokens,
    "tagged": penn.read_tagged,
    "pos": penn.read_pos,
    "mrg": penn.read_mrg,
}
_CHUNKS = frozenset("NP VP PP ADVP ADJP SBAR PRT CONJP INTJ LST UCP".split())  # noqa: SIM905
_BIO = re.compile(r"O|[BIESLUM]-\S+")
_TAG = re.compile(r"[A-Z][A-Z0-9$|+_-]*|[^\w\s]{1,6}|-[LR]RB-")
_TAGGED = re.compile(rf"\S+/(?:{_TAG.pattern})")
_TREE = re.compile(r"\(\s*(?:\(\s*[A-Z]|[A-Z][\w=|-]*\s+\(\s*[^\s()])")
_ID_LINE = re.compile(r"(?:1|1-[1-9][0-9]*|0\.1)[\t ]")


class Layout(NamedTuple):
    """A format and its column names."""

    format: str
    columns: tuple[str, ...]


def detect_format(head: bytes) -> Layout:
    r"""Recognise the format of a file from its beginning.

    The rules, in order: ``# global.columns`` is CoNLL-U Plus; comments followed by an id and a
    tab are CoNLL-U; an opening bracketed tree is ``mrg``; word/TAG items throughout are ``pos``
    if there are base-NP brackets, else ``tagged``. Tabs, ``-DOCSTART-``, or several lines with
    the same number of fields whose last looks like a label, are ``columns`` (see below). All else
    with several words on a line is ``text``; ``tokens`` must be asked for.

    Column names go by number and by the last column: three, the last like ``B-NP``: form pos
    chunk; with other types: form pos ner; four: form pos chunk ner; two: form ner, form chunk, or
    else form label. Other files get form, 2, 3, ...

    Parameters
    ----------
    head
        The first bytes (uncompressed); the last line may be cut.

    Returns
    -------
    Layout
        ``format`` and ``columns``. Without any word: ``columns`` with the one column form.

    Raises
    ------
    CorpusError
        If the text could be several formats; the message says how to name one.

    Examples
    --------
    >>> detect_format(b"The DT B-NP\ndog NN I-NP\n\n")
    Layout(format='columns', columns=('form', 'pos', 'chunk'))
    >>> detect_format(b"The dog barks.\n").format
    'text'
    """
    content = head.decode("utf-8-sig", errors="replace")
    named = conllu.plus_columns(content)
    if named is not None:
        return Layout("conllu-plus", named)
    every = _whole_lines(head)
    lines = [line for line in every if line.strip(" \t")]
    if not lines:
        return Layout("columns", ("form",))
    data = _behind_comments(lines)
    if data is None:
        return Layout("conllu", conllu.COLUMNS)
    if _ID_LINE.match(data) and (data.count("\t") >= 7 or _spaced_conllu(data)):
        return Layout("conllu", conllu.COLUMNS)
    if _TREE.match(content.lstrip()):
        return Layout("mrg", _FIXED["mrg"])
    rules = [line for line in lines if not line.strip("= \t")]
    items = re.findall(r"[^ \t\n]+", "\n".join(line for line in lines if line not in rules))
    if items and all(item in "[]" or _TAGGED.fullmatch(item) for item in items):
        format = "pos" if rules or "[" in items else "tagged"
        return Layout(format, _FIXED[format])
    return _detect_columns(lines, several_lines=_several_lines(every))


def _behind_comments(lines: list[str]) -> str | None:
    """First line that is no CoNLL-U comment; None if all are comments."""
    return next((line for line in lines if not re.match(r"#(?:\s|$)|#\s*\w+\s*=", line)), None)


def _whole_lines(head: bytes) -> list[str]:
    """Lines without line ends, byte order mark, and the line that the end of the head cuts."""
    lines = head.decode("utf-8-sig", errors="replace").split("\n")
    if len(head) >= HEAD and len(lines) > 1:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _spaced_conllu(line: str) -> bool:
    """Tell whether a line is CoNLL-U but for its tabs, so that the reader can say so."""
    fields = line.split()
    return len(fields) == len(conllu.COLUMNS) and "_" in fields


def _several_lines(lines: list[str]) -> bool:
    """Tell whether blank lines cut the text into pieces, one of them longer than a line."""
    inner = "\n".join(line.strip(" \t") for line in lines).strip("\n")
    return "\n\n" in inner and any("\n" in piece for piece in inner.split("\n\n"))


def _detect_columns(lines: list[str], *, several_lines: bool) -> Layout:
    """Columns or text, by the number of fields and what the last one holds."""
    words = [line for line in lines if not line.startswith(DOCSTART)]
    if not words:
        return Layout("columns", ("form",))
    tab = "\t" in words[0]
    rows = [_split(line, tab) for line in words]
    counts = {len(row) for row in rows}
    last = [row[-1] for row in rows]
    if tab or len(words) < len(lines):
        return Layout("columns", _guess_columns(rows))
    if len(counts) > 1:
        return Layout("text", _FIXED["text"])
    if counts == {1}:
        if several_lines:
            return Layout("columns", ("form",))
        if len(rows) == 1:
            return Layout("text", _FIXED["text"])
    elif len(rows) > 1 and all(map(_TAG.fullmatch, last)) and any(v[0].isalpha() for v in last):
        return Layout("columns", _guess_columns(rows))
    elif len(rows) < 3 or not several_lines:
        return Layout("text", _FIXED["text"])
    msg = (
        f"expected a format that can be told from the others, found {len(rows)} lines of "
        f"{len(rows[0])} field{'s' * (len(rows[0]) > 1)} that may be words in columns or raw text; "
        "name it with --format columns, --format text or --format tokens"
    )
    raise CorpusError(msg)


def _split(line: str, tab: bool) -> list[str]:
    """Fields of a line."""
    return line.split("\t") if tab else [field for field in line.split(" ") if field]


def _guess_columns(rows: list[list[str]]) -> tuple[str, ...]:
    """Names for the columns of these rows."""
    count = len(rows[0])
    last = [row[-1] for row in rows if len(row) == count]
    if count > 1 and all(map(_BIO.fullmatch, last)):
        types = {label[2:] for label in last if label != "O"}
        chunk = bool(types & _CHUNKS) or (count == 3 and not types)
        if count == 4 and not types & _CHUNKS:
            return ("form", "pos", "chunk", "ner")
        if count in (2, 3):
            return ("form", "pos")[: count - 1] + (("chunk",) if chunk else ("ner",))
    if count == 2:
        return ("form", "label")
    return ("form", *(str(i) for i in range(2, count + 1)))


class SentenceStream:
    """The sentences of a source, read while one iterates; also a context manager.

    Attributes
    ----------
    format : str
        ``conllu``, ``conllu-plus``, ``columns``, ``text``, ``tokens``, ``tagged``, ``pos`` or
        ``mrg``.
    columns : tuple of str
        Names of the columns.
    source : str
        Name of the file, ``<stdin>`` or ``<stream>``.
    separator : str
        What stands between columns: a tab or a space; empty while it is not known.
    """

    def __init__(self, stream: ByteStream, layout: Layout):
        self.format, self.columns = layout
        self.separator = "\t" if self.format.startswith("conllu") else ""
        self.source = stream.name
        self._stream = stream
        self._sentences = self._read()

    def _read(self) -> Iterator[Sentence]:
        """The sentences; the file is closed behind the last."""
        with self:
            if self.is_table:
                yield from self.parse(self._stream.blocks(after_last_blank_line))
            else:
                yield from _READ[self.format](self._stream, self.source)

    def __iter__(self) -> Iterator[Sentence]:
        return self._sentences

    @property
    def is_table(self) -> bool:
        """Whether the file has one word on a line, and so can be read as blocks."""
        return self.format in ("conllu", "conllu-plus", "columns")

    def blocks(self) -> Iterator[Block]:
        """The text of a table in pieces of whole sentences, instead of its sentences.

        `separator` is known when the first block is.
        """
        with self:
            for block in self._stream.blocks(after_last_blank_line):
                if not self.separator:
                    self.separator = find_separator(block.text.removeprefix("\ufeff"))
                yield block

    def parse(self, blocks: Iterable[Block], line: int = 1) -> Iterator[Sentence]:
        """The sentences of some blocks of a table, the first of which starts at `line`."""
        reader = ColumnReader if self.format == "columns" else conllu.ConlluReader
        return reader(self.source, self.columns, self.separator).read(blocks, line)

    def close(self) -> None:
        """Close the file, if it was opened here."""
        self._stream.close()

    def __enter__(self) -> SentenceStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read(
    source: str | os.PathLike[str] | BinaryIO,
    format: str = "auto",
    *,
    columns: Sequence[str] | None = None,
) -> SentenceStream:
    r"""Read the sentences of a file one by one, losing no byte.

    ``"".join(s.raw for s in read(path)).encode()`` is the file. Input is UTF-8, plain or gzip.

    Parameters
    ----------
    source
        Path, ``"-"`` for standard input, or a binary file, which stays open.
    format
        A name from `FORMATS`. ``"auto"`` waits for 64 kB or the end of the input; a named format
        gives each sentence as soon as it has arrived.
    columns
        Names for the columns of a column file, one of them ``form``.

    Returns
    -------
    SentenceStream
        To iterate over once. An empty file has no sentences.

    Raises
    ------
    CorpusError
        Here, if the format is unknown or cannot be recognised; while iterating, at the first
        line that does not keep to it.
    OSError
        As the system reports it: no such file, no permission, a directory.

    Examples
    --------
    >>> import io
    >>> stream = read(io.BytesIO(b"Stop !\n"), "tokens")
    >>> stream.format, [sentence.words for sentence in stream]
    ('tokens', [['Stop', '!']])
    """
    if format not in FORMATS:
        msg = (
            f"expected one of the formats {', '.join(FORMATS)}, found {format!r}; "
            "choose one of these"
        )
        raise CorpusError(msg)
    if columns is not None:
        _check_columns(columns, format)
    stream = ByteStream(source)
    try:
        return SentenceStream(stream, _layout(stream, format, columns))
    except BaseException:
        stream.close()
        raise


def _check_columns(columns: Sequence[str], format: str) -> None:
    """Refuse column names that cannot be used."""
    if format not in ("auto", "columns"):
        msg = (
            "expected column names only with the format 'columns', found them with "
            f"{format!r}, which has its own; leave out one of the two"
        )
        raise CorpusError(msg)
    if isinstance(columns, str) or "form" not in columns or len(set(columns)) < len(columns):
        msg = (
            "expected different column names with 'form' among them, found "
            f"{columns!r}; name each column once"
        )
        raise CorpusError(msg)


def _layout(stream: ByteStream, format: str, columns: Sequence[str] | None) -> Layout:
    """Format and columns, looking into the stream no further than needed."""
    if columns is not None:
        return Layout("columns", tuple(columns))
    if format in _FIXED:
        return Layout(format, _FIXED[format])
    if format in ("conllu", "conllu-plus"):
        head = stream.head(first_line=True).decode("utf-8", errors="replace")
        named = conllu.plus_columns(head)
        if named is None and format == "conllu-plus":
            msg = (
                'expected "# global.columns = ID FORM ..." in the first line, found '
                "none; add it, or use --format conllu"
            )
            raise CorpusError(
                msg,
                source=stream.name,
                line=1,
            )
        found = Layout("conllu-plus", named) if named else Layout("conllu", conllu.COLUMNS)
    elif format in _NAMED and len(_NAMED[format]) == 1:
        found = Layout("columns", *_NAMED[format].values())
    elif format == "auto":
        found = _detected(stream)
    else:
        found = Layout("columns", _columns_from(stream, format))
    if "form" not in found.columns or len(set(found.columns)) < len(found.columns):
        msg = (
            "expected different column names with FORM among them, found "
            f"{', '.join(found.columns)}; correct # global.columns"
        )
        raise CorpusError(
            msg,
            source=stream.name,
            line=1,
        )
    return found


def _detected(stream: ByteStream) -> Layout:
    """The layout of a stream; an error knows its name."""
    head = stream.head()
    try:
        return detect_format(head)
    except CorpusError as err:
        raise CorpusError(err.message, source=stream.name) from err


def _columns_from(stream: ByteStream, format: str) -> tuple[str, ...]:
    """Column names for a column file that was not given any."""
    lines = [
        line
        for line in _whole_lines(stream.head())
        if line.strip(" \t") and not line.startswith(DOCSTART)
    ]
    rows = [_split(line, "\t" in lines[0]) for line in lines]
    if format == "columns":
        return _guess_columns(rows) if rows else ("form",)
    widths = _NAMED[format]
    return widths[len(rows[0]) if rows and len(rows[0]) in widths else min(widths)]
