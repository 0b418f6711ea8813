"""Sentences: words, columns, and the piece of the file they are from, byte for byte."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING

from seqtag.corpus.keys import split_key, values_of
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Span = tuple[int, int]


class Sentence(ABC):
    r"""Sentence of a file, or a piece without words (comments, blank lines, -DOCSTART-).

    Sentences come from :func:`seqtag.corpus.read`; joined, their `raw` texts are the file.

    Attributes
    ----------
    raw : str
        The text as read: comments, multiword ranges, empty nodes, line ends, and the blank line
        that ends it. Further blank lines open the next sentence.
    source : str
        Name of the file, or ``<stdin>``.
    line : int
        Line of the file (from 1) on which `raw` starts.
    columns : tuple of str
        Names of the columns.

    Examples
    --------
    >>> import io
    >>> from seqtag.corpus import read
    >>> [sentence] = read(io.BytesIO(b"The DT B-NP\ndog NN I-NP\n"), "conll2000")
    >>> sentence.words, sentence.column("pos"), len(sentence)
    (['The', 'dog'], ['DT', 'NN'], 2)
    >>> sentence.replace({"pos": ["X", "Y"]})
    'The X B-NP\ndog Y I-NP\n'
    """

    __slots__ = ("columns", "line", "raw", "source")

    is_bare = False
    """Whether there is nothing in it but words and white space, whatever columns it has."""

    raw: str
    source: str
    line: int
    columns: tuple[str, ...]

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of words; 0 is possible."""

    def __bool__(self) -> bool:
        """Return whether there are words."""
        return len(self) > 0

    def __repr__(self) -> str:
        shown = " ".join(self.words[:8]) + (" ..." if len(self) > 8 else "")
        return f"<Sentence {self.source}:{self.line} {shown!r}>"

    @property
    def words(self) -> list[str]:
        """The forms, in order: the column ``form``, as a new list."""
        return self.column("form")

    @abstractmethod
    def column(self, name: str) -> list[str]:
        """Return the values of a column, or of a key as ``misc.NER``, one per word, as a new list.

        Raises
        ------
        CorpusError
            If there is no such column; the message lists those there are.
        """

    @abstractmethod
    def line_of(self, i: int) -> int:
        """Return the line of the file (from 1) of word `i` (from 0)."""

    @abstractmethod
    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with the fields of some columns replaced and nothing else touched.

        In plain column files a column that does not exist yet is appended to each token line.

        Parameters
        ----------
        values
            For each column name one value per word. Values must fit a field: not empty, no
            separator, no line break.

        Raises
        ------
        CorpusError
            If lengths or values do not fit, a column does not exist, or the format (raw text,
            tokens) has no room for labels.
        """

    def _key(self, name: str) -> tuple[str, str]:
        """Return column and key of a name such as ``misc.NER``, or refuse the name."""
        found = split_key(name, self.columns)
        if found is None:
            raise self._no_column(name)
        return found

    def _no_column(self, name: str) -> CorpusError:
        """Return the error for an unknown column."""
        return CorpusError(
            f"expected one of the columns {', '.join(self.columns)}, found "
            f"{name!r}; choose one of these",
            source=self.source,
            line=self.line,
        )

    def _check(self, name: str, values: Sequence[str], forbidden: str) -> None:
        """Refuse values for a column that would be read back differently."""
        if len(values) != len(self):
            msg = (
                f"expected {len(self)} values for the column {name!r}, one per word,"
                f" found {len(values)}"
            )
            raise CorpusError(msg, source=self.source, line=self.line)
        bad = bad_value(values, forbidden)
        if bad is not None:
            msg = (
                f"expected a value for the column {name!r} that is not empty and holds no "
                f"separator or line break, found {values[bad]!r}; change this value"
            )
            raise CorpusError(msg, source=self.source, line=self.line_of(bad))


def bad_value(values: Sequence[str], forbidden: str) -> int | None:
    """Return the index of the first value that is empty or has a forbidden character, or None."""
    joined = "".join(values)
    if "" not in values and not any(char in joined for char in forbidden):
        return None
    return next(
        i for i, value in enumerate(values) if not value or any(char in value for char in forbidden)
    )


class SpanSentence(Sentence):
    """Sentence whose fields are spans of `raw`: raw text, word/TAG, treebanks."""

    __slots__ = ("_at", "_editable", "_values")

    def __init__(
        self,
        raw: str,
        source: str,
        line: int,
        values: dict[str, list[str]],
        at: list[int],
        editable: dict[str, list[Span]],
    ):
        self.raw, self.source, self.line = raw, source, line
        self.columns = tuple(values)
        self._values = values
        self._at = at  # where each word starts in raw
        self._editable = editable  # column -> where its values stand in raw

    def __len__(self) -> int:
        return len(self._at)

    def column(self, name: str) -> list[str]:
        """Return the values of a column, one per word, as a new list."""
        if name not in self._values:
            base, key = self._key(name)
            return values_of(self._values[base], key)
        return list(self._values[name])

    def line_of(self, i: int) -> int:
        """Return the line of the file of word `i`."""
        return self.line + self.raw.count("\n", 0, self._at[i])

    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with the fields of some columns replaced (see :class:`Sentence`)."""
        edits: list[tuple[Span, str]] = []
        for name, new in values.items():
            if name not in self._editable:
                msg = (
                    f"this format has no room to write the column {name!r}; use --to to write "
                    "another format, for example --to conllu"
                )
                raise CorpusError(msg, source=self.source, line=self.line)
            self._check(name, new, " \t\r\n/()[]")
            edits.extend(zip(self._editable[name], new, strict=True))
        parts: list[str] = []
        done = 0
        for (start, end), value in sorted(edits):
            parts += (self.raw[done:start], value)
            done = end
        return "".join([*parts, self.raw[done:]])


ALIASES = {"pos": ("xpos", "upos"), "xpos": ("pos",), "upos": ("pos",)}
"""Columns that stand in for one that a file does not have."""


@lru_cache(maxsize=256)
def find_column(name: str, available: tuple[str, ...]) -> str | None:
    """Return the column itself, or the first of its aliases that is available, or None.

    >>> find_column("pos", ("id", "form", "upos", "xpos"))
    'xpos'
    """
    candidates = (name, *ALIASES.get(name, ()))
    found = next((candidate for candidate in candidates if candidate in available), None)
    return name if found is None and split_key(name, available) else found
