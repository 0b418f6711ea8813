"""Sentences: words, columns, and the piece of the file they are from, byte for byte.

Keys of MISC and FEATS are columns, too: ``misc.NER`` is what ``NER=B-PER|SpaceAfter=No`` has for
NER. A word without the key has the value ``_``, and to write ``_`` removes the key.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from numbers import Integral
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from seqtag.caching import BoundedCache
from seqtag.errors import CorpusError, did_you_mean
from seqtag.storage import strict_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence, Set

    from seqtag.labels.spelling import Spelling

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
    """True if it has only words and white space, regardless of its columns."""

    missed: Sequence[str] | None = None
    """Of a text with spans, labels of the spans that fit no words."""

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

    def column(self, name: str) -> list[str]:
        """Return a new list of the values of a column, or of a key such as ``misc.NER``.

        Raises
        ------
        CorpusError
            If there is no such column; the message lists the columns.
        """
        if not isinstance(name, str):
            msg = f"expected the name of a column, found {name!r:.60}"
            raise TypeError(msg)
        if name in self.columns:
            return self._values_of(name)
        if (found := split_key(name, self.columns)) is None:
            raise self._no_column(name)
        return values_of(self._values_of(found[0]), found[1])

    @abstractmethod
    def _values_of(self, name: str) -> list[str]:
        """Return a new list of the values of one of the columns."""

    @abstractmethod
    def line_of(self, i: int) -> int:
        """Return the line of the file (from 1) of word `i` (from 0)."""

    @abstractmethod
    def replace(self, values: Mapping[str, Sequence[str]]) -> str:
        """Return `raw` with the fields of some columns replaced.

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
            tokens) cannot store labels.
        """

    def _with_keys(
        self, values: Mapping[str, Sequence[str]], forbidden: str
    ) -> dict[str, Sequence[str]]:
        """Return values of columns, with those of keys such as ``misc.NER`` in their columns."""
        keyed = {name: found for name in values if (found := split_key(name, self.columns))}
        cells = {name: new for name, new in values.items() if name not in keyed}
        for name, (base, key) in keyed.items():
            self._check(name, values[name], f"{forbidden}|")
            cells[base] = with_values(base, cells.get(base) or self.column(base), key, values[name])
        return cells

    def _no_column(self, name: str) -> CorpusError:
        """Return the error for an unknown column."""
        return CorpusError(
            f"expected one of the columns {', '.join(self.columns)}, found "
            f"{name!r}{did_you_mean(name, self.columns)}; choose one of these",
            source=self.source,
            line=self.line,
        )

    def _check(self, name: str, values: Sequence[str], forbidden: str) -> None:
        """Refuse values for a column that would be read back differently."""
        check_length(name, values, len(self), self.source, self.line)
        bad = bad_value(values, forbidden)
        if bad is not None:
            msg = (
                f"expected a value for the column {name!r} that is not empty and holds no "
                f"separator or line break, found {values[bad]!r}; change this value"
            )
            raise CorpusError(msg, source=self.source, line=self.line_of(bad))


def check_length(
    name: str, values: Sequence[str], count: int, source: str | None = None, line: int | None = None
) -> None:
    """Refuse a column with another number of values than there are words."""
    if isinstance(values, str) or len(values) != count:
        found = f"the string {values!r:.40}" if isinstance(values, str) else len(values)
        msg = (
            f"expected {count} values in the column {name!r}, one per word, found {found}; "
            "give one value per word"
        )
        raise CorpusError(msg, source=source, line=line)


class Score(str):
    """Value of a column that JSON has as a number, or as null if it is infinite."""


def json_values(values: Sequence[str]) -> list[Any]:
    """Return the values of a column as JSON has them.

    >>> json_values(["NOUN"]), json_values([Score("0.9"), Score("inf")])
    (['NOUN'], [0.9, None])
    """
    if not any(type(each) is Score for each in values):
        return [*values]
    return [None if each == "inf" else strict_json.loads(each) for each in values]


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

    __slots__ = ("_at", "_editable", "_spellings", "_values")

    def __init__(
        self,
        raw: str,
        source: str,
        line: int,
        values: dict[str, list[str]],
        at: list[int],
        editable: dict[str, list[Span]],
        spellings: Mapping[str, Spelling] = MappingProxyType({}),
    ):
        self.raw, self.source, self.line = raw, source, line
        self.columns = tuple(values)
        self._values = values
        self._at = at  # where each word starts in raw
        self._editable = editable  # column -> spans of its values in raw
        self._spellings = spellings  # column -> how its labels are written

    def __len__(self) -> int:
        return len(self._at)

    def _values_of(self, name: str) -> list[str]:
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
                    f"this format cannot store the column {name!r}; write another format, for "
                    "example --to conllu"
                )
                raise CorpusError(msg, source=self.source, line=self.line)
            self._check(name, new, " \t\r\n/()[]")
            if name in self._spellings:
                new = self._spellings[name].write(new)
            edits.extend(zip(self._editable[name], new, strict=True))
        return edited(self.raw, edits)


def edited(raw: str, edits: Iterable[tuple[Span, str]]) -> str:
    """Return a text with other text in some spans; at one place, in order."""
    parts: list[str] = []
    done = 0
    for (start, end), value in sorted(edits, key=itemgetter(0)):
        parts += (raw[done:start], value)
        done = end
    return "".join([*parts, raw[done:]])


ALIASES = {"pos": ("xpos", "upos"), "xpos": ("pos",), "upos": ("pos",)}
ALIASES |= {"ner": ("misc.NER",), "misc.NER": ("ner",)}
"""Columns that replace one that a file does not have."""


def find_column(name: str, available: tuple[str, ...]) -> str | None:
    """Return the column itself, or the first of its aliases that is available, or None.

    >>> find_column("pos", ("id", "form", "upos", "xpos"))
    'xpos'
    """
    return _found_columns[name, available]


def _find_column(key: tuple[str, tuple[str, ...]]) -> str | None:
    name, available = key
    for candidate in (name, *ALIASES.get(name, ())):
        if candidate in available:
            return candidate
    return name if split_key(name, available) else None


_found_columns = BoundedCache(_find_column)


def places(
    names: Iterable[str], columns: tuple[str, ...], hidden: Collection[str] = ()
) -> dict[str, str]:
    """Return the name that a file has for each of some filled columns; no two have the same.

    Where several could go to one, the column itself does, else one that is not hidden, else the
    first of its aliases; the others are new columns.

    >>> places(["upos", "xpos"], ("form", "pos", "chunk"))
    {'upos': 'upos', 'xpos': 'pos'}
    """
    names = list(names)
    found = {name: find_column(name, columns) or name for name in names}
    rivals: dict[str, list[str]] = {}
    for name, place in found.items():
        rivals.setdefault(place, []).append(name)
    for place, several in rivals.items():
        order = (place, *ALIASES.get(place, ()))
        first = min(several, key=lambda name: (name != place, name in hidden, order.index(name)))
        found |= {name: name for name in several if name != first}
    return found


KEYED_COLUMNS = ("feats", "misc")
"""Columns whose cells are lists of ``key=value``."""

_EMPTY = "_"


def split_key(name: str, columns: Collection[str]) -> tuple[str, str] | None:
    """Return column and key of a name such as ``misc.NER``, if it is no column but its base is.

    >>> split_key("misc.NER", ("form", "misc")), split_key("misc", ("form", "misc"))
    (('misc', 'NER'), None)
    """
    base, _, key = name.partition(".")
    is_key = base in KEYED_COLUMNS and key and not {*key} & {*"=| \t"}
    return (base, key) if is_key and name not in columns and base in columns else None


def has_column(name: str, columns: Collection[str]) -> bool:
    """Return whether a file of some columns has a column, or a key of one, by this name."""
    return name in columns or split_key(name, columns) is not None


def values_of(cells: Sequence[str], key: str) -> list[str]:
    """Return the value of a key in each cell, ``_`` where it is missing.

    >>> values_of(["NER=O|SpaceAfter=No", "_"], "NER")
    ['O', '_']
    """
    start = key + "="
    return [
        next((item[len(start) :] for item in cell.split("|") if item.startswith(start)), _EMPTY)
        for cell in cells
    ]


def with_value(cell: str, key: str, value: str | None, *, is_sorted: bool = False) -> str:
    """Return a cell in which a key has another value, or is removed if that is None.

    The key keeps its place. A new one goes to the end, or where it belongs in a sorted cell.

    >>> with_value("SpaceAfter=No", "NER", "O"), with_value("NER=O|X=1", "NER", None)
    ('SpaceAfter=No|NER=O', 'X=1')
    """
    start = key + "="
    items = [item for item in cell.split("|") if item != _EMPTY]
    at = next((i for i, item in enumerate(items) if item.startswith(start)), None)
    if at is None:
        smaller = (item.lower() < start.lower() for item in items)
        at = sum(smaller) if is_sorted else len(items)
    else:
        items = [item for i, item in enumerate(items) if i <= at or not item.startswith(start)]
        del items[at]
    if value is not None:
        items.insert(at, start + value)
    return "|".join(items) or _EMPTY


def with_values(base: str, cells: Sequence[str], key: str, values: Sequence[str]) -> list[str]:
    """Return the cells of the column `base` with the values of a key."""
    return [
        with_value(cell, key, None if value == _EMPTY else value, is_sorted=base == "feats")
        for cell, value in zip(cells, values, strict=True)
    ]


def key_of(name: str) -> str:
    """Return what columns have in common that are one key of MISC.

    >>> key_of("ner") == key_of("misc.NER")
    True
    """
    return name.removeprefix("misc.").casefold()


def misc_key(name: str) -> str:
    """Return the key of MISC that a column becomes, with a capital letter at least.

    >>> misc_key("chunk"), misc_key("ner"), misc_key("misc.name")
    ('Chunk', 'NER', 'name')
    """
    names = (name, *ALIASES.get(name, ()))
    keyed = next(filter(None, (split_key(each, ("misc",)) for each in names)), None)
    return keyed[1] if keyed else f"{name[:1].upper()}{name[1:]}"


def into_misc(misc: Sequence[str], columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the values of MISC with further columns in it, as ``Chunk=B-NP``.

    A value that is there already is replaced in place; a new one goes to the end.

    Parameters
    ----------
    misc
        MISC of each word; ``_`` if there is none.
    columns
        The columns to add, one value per word; see `misc_key`.

    Examples
    --------
    >>> into_misc(["_", "Chunk=O|SpaceAfter=No"], {"chunk": ["B-NP", "I-NP"]})
    ['Chunk=B-NP', 'Chunk=I-NP|SpaceAfter=No']
    """
    done = list(misc)
    for name, values in columns.items():
        keyed = split_key(name, ("misc",))
        if keyed:
            done = with_values("misc", done, keyed[1], values)
        else:
            key = misc_key(name)
            done = [with_value(cell, key, v) for cell, v in zip(done, values, strict=True)]
    return done


_MEMORY = "<memory>"

Values: TypeAlias = "Sequence[str] | Sequence[tuple[str, ...]] | Mapping[str, Sequence[str]]"
"""A sentence in plain Python: words; a tuple for each word; or a list for each column."""

Labels: TypeAlias = "Sequence[str | Set[str] | None]"
"""The labels of a sentence, one per word; a set where it has one of several, None for no label."""


def sentence_of(
    columns: Mapping[str, Sequence[str]], *, source: str = _MEMORY, line: int = 1
) -> Sentence:
    """Make a sentence from columns in memory, for training and tagging without a file.

    Any string is a value, also one that no file format could hold (a word with a line break).
    It is not part of a file, so `raw` is empty and `replace` cannot be used:
    use :func:`seqtag.corpus.formats`.

    Parameters
    ----------
    columns
        One value per word for each column. Values are copied. No values: a sentence without
        words.
    source, line
        What messages call the sentence: a name for the collection it belongs to, and its number
        there, counted from 1.

    Raises
    ------
    CorpusError
        If columns differ in length, or one is not made of strings.

    Examples
    --------
    >>> sentence = sentence_of({"form": ["The", "dog"], "pos": ["DT", "NN"]})
    >>> sentence.words, sentence.column("pos"), sentence.columns
    (['The', 'dog'], ['DT', 'NN'], ('form', 'pos'))
    """
    values: dict[str, list[str]] = {}
    count: int | None = None
    for name, given in columns.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            found = f"the string {given[:40]!r}; split it first" if given else f"{given!r:.60}"
            msg = f"expected a list of values in the column {name!r}, found {found}"
            raise CorpusError(msg, source=source, line=line)
        values[name] = list(given)
        count = len(values[name]) if count is None else count
        check_length(name, values[name], count, source, line)
        for word, value in enumerate(values[name], 1):
            if not isinstance(value, str):
                advice = "give every word a value, or leave the sentence out"
                if isinstance(value, Integral):
                    advice = "name labels that are numbers with names=['O', 'B-PER', ...]"
                msg = (
                    f"expected a string in the column {name!r}, found {value!r} for word {word}; "
                    f"{advice}"
                )
                raise CorpusError(msg, source=source, line=line)
    return SpanSentence("", source, line, values, [0] * (count or 0), {})


def sentences_of(
    sentences: Iterable[Values],
    labels: Iterable[Labels],
    label: str = "label",
    *,
    columns: Sequence[str] | None = None,
    missing: str = "",
) -> Iterator[Sentence]:
    """Make sentences from plain lists and the labels of their words.

    Parameters
    ----------
    sentences
        Each a list of words; a list of tuples, with the names of their values in `columns`; or a
        dictionary with a list of values for each column.
    labels
        For each sentence a list with a label for each word, or None.
    label
        Name of the column that the labels become.
    columns
        Names of the values of tuples.
    missing
        The label of words that have None.

    Raises
    ------
    CorpusError
        If there are more sentences than lists of labels or fewer, a sentence has more words than
        labels or fewer, or a column of the label's name; or as `sentence_of` does.

    Examples
    --------
    >>> [sentence] = sentences_of([["The", "dog"]], [["DT", "NN"]])
    >>> sentence.words, sentence.column("label")
    (['The', 'dog'], ['DT', 'NN'])
    >>> rows = {"form": ["The", "dog"], "lower": ["the", "dog"]}
    >>> [sentence] = sentences_of([rows], [["DT", None]], missing="?")
    >>> sentence.column("lower"), sentence.column("label")
    (['the', 'dog'], ['DT', '?'])
    """
    rest = iter(labels)
    number = 0
    for number, values in enumerate(sentences, 1):
        found = next(rest, None)
        if found is None:
            msg = (
                f"expected labels for every sentence, found {number - 1} lists of labels; add some"
            )
            raise CorpusError(msg, source=_MEMORY, line=number)
        named = _columns_of(values, columns, number)
        if label in named:
            msg = (
                f"expected the labels by themselves, found a column {label!r} with the words; "
                "name the labels differently with label=..., or leave the column out"
            )
            raise CorpusError(msg, source=_MEMORY, line=number)
        if isinstance(found, str):
            named[label] = found  # which is refused
        else:
            written: list[Any] = [missing if each is None else each for each in found]
            named[label] = written  # sets are refused
        yield sentence_of(named, line=number)
    if next(rest, None) is not None:
        msg = f"expected labels for {number} sentences, found more lists of labels; leave some out"
        raise CorpusError(msg, source=_MEMORY, line=number + 1)


def _columns_of(
    values: Values, columns: Sequence[str] | None, number: int
) -> dict[str, Sequence[str]]:
    """Return the columns of a sentence by name."""
    if isinstance(values, Mapping):
        return dict(values)
    names = columns or ("form",)
    if isinstance(values, str):
        return dict.fromkeys(names, values)  # which is refused
    words: list[Any] = list(values) if isinstance(values, Iterable) else [values]
    if not any(isinstance(word, (tuple, list)) for word in words) and len(names) == 1:
        return {names[0]: words}
    if columns is None:
        msg = (
            f"expected words as strings, found {words[0]!r:.60}; name the values of tuples with "
            'columns=["form", ...], or give a dictionary with a list for each column'
        )
        raise CorpusError(msg, source=_MEMORY, line=number)
    for word in words:
        if not isinstance(word, (tuple, list)) or len(word) != len(columns):
            msg = f"expected a tuple ({', '.join(columns)}) for every word, found {word!r:.60}"
            raise CorpusError(msg, source=_MEMORY, line=number)
    rows = zip(*words, strict=True) if words else ([] for _ in columns)
    return dict(zip(columns, rows, strict=True))
