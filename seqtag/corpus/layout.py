"""Layout of a file: the record of what it is, which all readers and commands use."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from seqtag.errors import CorpusError
from seqtag.labels.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Names: TypeAlias = "Mapping[str, Sequence[str]] | Sequence[str] | None"
"""Names of labels that are numbers: in all columns, or by column."""

NO_ROWS = frozenset(["\n"])
"""Value of `Layout.labels` if no line with the mark of comments is a row."""

_NOT_OF_ROWS = {"like", "names", "offsets", "overlaps", "tokens_from", "as_cut", "text_column"}

SEPARATORS = {"\t": "tab-separated", "\t+": "separated by tabs", " ": "separated by blanks"}


@dataclass(frozen=True)
class Misfit:
    """Something of a file that does not fit its layout, or that was decided in a close case.

    Attributes
    ----------
    line
        The first line where it occurs, from 1; 0 if it occurs nowhere.
    count
        How often it occurs in the sample.
    text
        What it is, what it was taken for, and how to change that.
    is_noted
        Whether it is logged when a file is opened; those who use labels name odd ones themselves.
    """

    line: int
    count: int
    text: str
    is_noted: bool = True


class Learned(NamedTuple):
    """What a model keeps of the layout of its training data, for files of the same layout.

    Attributes
    ----------
    columns
        Names of the columns.
    label
        The learned one.
    spelling
        How the file writes its labels.
    mark
        The separator of the columns if it is neither a tab nor a blank.
    """

    columns: tuple[str, ...]
    label: str
    spelling: Spelling
    mark: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the record for a model."""
        record: dict[str, Any] = {"columns": list(self.columns), "label": self.label}
        if not self.spelling.is_plain:
            spelling = {**asdict(self.spelling), "outside": list(self.spelling.outside)}
            record["spelling"] = spelling
        if self.mark:
            record["mark"] = self.mark
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Learned:
        """Return the record of a model."""
        spelling = dict(record.get("spelling", {}))
        if spelling:
            spelling["outside"] = tuple(spelling["outside"])
        columns, mark = tuple(record["columns"]), record.get("mark", "")
        return cls(columns, record["label"], Spelling(**spelling), mark)


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """What is known about the layout of a column file; None where the file decides.

    Attributes
    ----------
    columns
        Names of the columns. A column ``_`` is not used: its name is its number.
    separator
        Separator of the columns: one character, or ``tab`` or ``space``.
    comment
        Beginning of comment lines, or ``none``.
    header
        Whether the first line names the columns.
    sentences
        End of a sentence, as `Layout.sentences`.
    outside
        Label of words outside of chunks.
    scheme
        ``none`` to take labels as they are, even if they look like chunk labels.
    like
        What a model keeps of the file that it was trained on: names for files of as many columns,
        or of one less.
    names
        Names of the labels that JSON lines have as numbers, in all columns, or by column.
    offsets
        Unit of the positions of spans in texts: ``codepoint`` (characters), ``utf16`` or ``byte``.
    overlaps
        ``longest`` to use the longest of spans that overlap, instead of refusing them.
    tokens_from
        The model that cuts texts with spans into words.
    as_cut
        Whether texts with spans are cut by the model alone, as when it tags them: not at the tokens
        of the file, and also within spans.
    text_column
        Name of the field of the text in objects or in the first row of a table; or its number in
        lines of fields between tabs.
    """

    columns: Sequence[str] | None = None
    separator: str | None = None
    comment: str | None = None
    header: bool | None = None
    sentences: str | None = None
    outside: str | None = None
    scheme: str | None = None
    like: Learned | None = None
    names: Names = None
    offsets: str | None = None
    overlaps: str | None = None
    tokens_from: Any = None
    as_cut: bool | None = None
    text_column: str | None = None

    @property
    def of_rows(self) -> bool:
        """True if the file must be a column file."""
        return bool(self.layout_arguments().keys() - _NOT_OF_ROWS)

    def layout_arguments(self) -> dict[str, Any]:
        """Return the options that are given, as keyword arguments."""
        values = {field.name: getattr(self, field.name) for field in fields(LayoutOptions)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Layout:
    r"""What a file is; made by `seqtag.sniff`.

    Attributes
    ----------
    format : str
        A name of `seqtag.corpus.formats.FORMATS`.
    columns : tuple of str
        Names of the columns, one for each field; a number for those without a name.
    separator : str
        Separator of the columns: a tab, ``"\t+"`` for runs of tabs, a space for runs of blanks, or
        one other character; empty if it is not known or there are none.
    comment : str
        Beginning of lines that are comments. Empty: comments are ``# key = value`` and the other
        lines of `seqtag.corpus.table.is_comment`.
    header : bool
        Whether the first line names the columns.
    sentences : str
        End of a sentence: ``blank`` lines, ``restart`` of the ids, ``punctuation``, the name of a
        column whose value changes, a column and the label that ends a sentence, such as
        ``pos=SENT``, a line such as ``EOS``, or the mark of comments.
    spellings : tuple of pairs of str and Spelling
        Name and spelling of the columns of chunk labels that do not write ``B-PER`` and ``O``.
    scheme : str or None
        ``none`` if labels are not chunks, even if they look so; None if labels decide.
    strip : bool
        Whether blanks around values are left out.
    ragged : bool
        Whether rows may have more fields than columns, as in CoNLL-2012.
    labels : frozenset of str
        Values of the last column, where only they tell rows from comments of as many fields, or
        `NO_ROWS`.
    misfits : tuple of Misfit
        What does not fit.
    evidence : str
        The evidence, for a note to the user; empty if nothing was detected.
    """

    format: str
    columns: tuple[str, ...]
    separator: str = ""
    evidence: str = ""
    comment: str = ""
    header: bool = False
    sentences: str = "blank"
    spellings: tuple[tuple[str, Spelling], ...] = ()
    scheme: str | None = None
    strip: bool = False
    ragged: bool = False
    labels: frozenset[str] = frozenset()
    misfits: tuple[Misfit, ...] = ()

    @property
    def is_plain(self) -> bool:
        """True if the readers of the format can read it; `seqtag.corpus.rows` reads the others."""
        return self.format not in ("columns", "conllu-plus") or not (
            self.comment
            or self.header
            or self.sentences != "blank"
            or self.spellings
            or self.strip
            or self.ragged
            or self.separator not in ("", "\t", " ")
            or (self.format == "columns" and "id" in self.columns)
            or (self.format == "conllu-plus" and "id" not in self.columns)
        )

    def spelling(self, column: str) -> Spelling:
        """Return the spelling of a column."""
        return dict(self.spellings).get(column, Spelling())

    def explained(self, error: CorpusError) -> CorpusError:
        """Return an error about a missing column that says why lists of JSON are none."""
        if not self.misfits or self.format != "jsonl":
            return error
        why = "; ".join(each.text for each in self.misfits)
        return CorpusError(f"{error.message.partition(';')[0]}; {why}", source=error.source)

    def learned(self, label: str) -> Learned:
        """Return what a model that learns a column keeps."""
        mark = "" if self.separator in SEPARATORS else self.separator
        return Learned(self.columns, label, self.spelling(label), mark)

    def describe(self, facts: Mapping[str, str] | None = None) -> str:
        r"""Return a short description, with facts about columns in parentheses.

        Examples
        --------
        >>> layout = Layout("columns", ("form", "ner"), "\t", header=True)
        >>> layout.describe({"ner": "IOB2, 4 types"})
        'tab-separated: form, ner (IOB2, 4 types); header'
        """
        facts = facts or {}
        shown = [self.format] if self.format != "columns" or not self.separator else []
        if self.format == "columns" and self.separator:
            shown.append(SEPARATORS.get(self.separator, f"separated by {self.separator!r}"))
        names = [f"{name} ({facts[name]})" if name in facts else name for name in self.columns]
        parts = [f"{', '.join(shown)}: {', '.join(names)}"]
        parts += [f"{self.comment!r} begins comments"] * bool(self.comment)
        parts += ["header"] * self.header
        if self.sentences == "model":
            parts.append("cut into words by a model (see --tokens-from)")
        elif self.sentences != "blank":
            parts.append(f"sentences by {self.sentences}")
        parts += [
            f"{name} written as {' '.join(spelling.write(['B-PER', 'I-PER', 'O']))}"
            for name, spelling in self.spellings
        ]
        return "; ".join(parts)
