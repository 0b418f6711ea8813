"""Writing of sentences in any format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.corpus.conllu import ConlluSentence
from seqtag.corpus.formats import FORMATS, WRITABLE
from seqtag.corpus.keys import into_misc, split_key, with_values
from seqtag.corpus.sentence import bad_value
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conllu import TokenList

    from seqtag.corpus.sentence import Sentence


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
        ``"conll2000"``: ``form pos chunk`` with spaces (``xpos`` stands in for ``pos``).
        ``"conll2003"``: ``form pos chunk ner``, with ``xpos`` or else ``upos`` for ``pos``.
        ``"tsv"``: the given columns behind the number of the word, below a line of their names.
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
        text = sentence.raw.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")
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
    for name in list(foreign):
        if (keyed := split_key(name, names)) is not None:
            base, key = keyed
            placed[base] = with_values(base, placed.get(base, blank), key, foreign.pop(name))
    if foreign:
        placed["misc"] = into_misc(placed.get("misc", blank), foreign)
    return placed


def _check_there(columns: Mapping[str, Sequence[str]], names: Sequence[str], format: str) -> None:
    """Refuse to write without a column that the format requires."""
    for name in names:
        if not any(choice in columns for choice in name.split("|")):
            msg = (
                f"expected a column {name.split('|')[0]!r} to write the format {format}, found "
                f"{', '.join(columns) or 'no columns'}; add it or choose another "
                "format"
            )
            raise CorpusError(msg)


def _check_values(columns: Mapping[str, Sequence[str]], excluded: str, format: str) -> None:
    """Refuse columns of different lengths, and values that would be read back differently."""
    count = len(columns["form"])
    for name, values in columns.items():
        if len(values) != count:
            msg = (
                f"expected {count} values in the column {name!r}, one per word, "
                f"found {len(values)}; give one value per word"
            )
            raise CorpusError(msg)
        bad = bad_value(values, excluded)
        if bad is not None:
            msg = (
                f"expected values that fit the format {format}, found {values[bad]!r} in the "
                f"column {name!r}, word {bad + 1}; change the value or choose another format"
            )
            raise CorpusError(msg)
