"""Write sentences in a format other than the one they were read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.corpus.conllu import COLUMNS
from seqtag.corpus.sentence import bad_value
from seqtag.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Format -> characters that its values cannot hold.
RENDERED = {
    "conllu": "\t\r\n",
    "columns": "\t\r\n",
    "conll2000": " \t\r\n",
    "tagged": " \t\r\n",
    "tokens": " \t\r\n",
}


def render(columns: Mapping[str, Sequence[str]], format: str) -> str:
    r"""Return one sentence in a format, with the blank line or line break that ends it.

    Parameters
    ----------
    columns
        One value per word for each column, ``form`` among them.
    format
        ``"conllu"``: ten columns, ``_`` where a column is missing, and ``# text``. A column
        ``pos`` goes to XPOS if there is no ``xpos``; columns that CoNLL-U does not have go to
        MISC as ``Chunk=B-NP``.
        ``"columns"``: the given columns, in their order, separated by tabs.
        ``"conll2000"``: ``form pos chunk`` with spaces (``xpos`` stands in for ``pos``).
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
    if format not in RENDERED:
        msg = (
            f"expected one of the formats {', '.join(RENDERED)} to write, found "
            f"{format!r}; choose one of these"
        )
        raise CorpusError(msg)
    _need(columns, ("form",), format)
    count = len(columns["form"])
    for name, values in columns.items():
        if len(values) != count:
            msg = (
                f"expected {count} values in the column {name!r}, one per word, "
                f"found {len(values)}; give one value per word"
            )
            raise CorpusError(msg)
        bad = bad_value(values, RENDERED[format])
        if bad is not None:
            msg = (
                f"expected values that fit the format {format}, found {values[bad]!r} in the "
                f"column {name!r}, word {bad + 1}; change the value or choose another format"
            )
            raise CorpusError(msg)
    if not count:
        return ""
    if format == "conllu":
        return _conllu(columns, count)
    if format == "columns":
        return _lines(list(columns.values()), "\t")
    if format == "conll2000":
        pos = "pos" if "pos" in columns else "xpos"
        _need(columns, ("form", pos, "chunk"), format)
        return _lines([columns["form"], columns[pos], columns["chunk"]], " ")
    if format == "tokens":
        return " ".join(columns["form"]) + "\n"
    label = next((n for n in reversed(list(columns)) if n not in ("form", "misc")), "label")
    _need(columns, (label,), format)
    return " ".join(map("/".join, zip(columns["form"], columns[label], strict=True))) + "\n"


def _need(columns: Mapping[str, Sequence[str]], names: Sequence[str], format: str) -> None:
    """Refuse to write without a column that the format cannot do without."""
    for name in names:
        if name not in columns:
            msg = (
                f"expected a column {name!r} to write the format {format}, found "
                f"{', '.join(columns) or 'no columns'}; add it or choose another "
                "format"
            )
            raise CorpusError(msg)


def _lines(columns: Sequence[Sequence[str]], separator: str) -> str:
    """One line per word and a blank line."""
    return "\n".join(map(separator.join, zip(*columns, strict=True))) + "\n\n"


def _conllu(columns: Mapping[str, Sequence[str]], count: int) -> str:
    """A CoNLL-U sentence."""
    blank = ["_"] * count
    known = {name: columns.get(name, blank) for name in COLUMNS}
    known["id"] = [str(i) for i in range(1, count + 1)]
    if "xpos" not in columns:
        known["xpos"] = columns.get("pos", blank)
    moved = {"pos"} if "xpos" not in columns else set()
    extra = [name for name in columns if name not in COLUMNS and name not in moved]
    text = "".join(
        form if "SpaceAfter=No" in misc.split("|") else form + " "
        for form, misc in zip(columns["form"], known["misc"], strict=True)
    ).rstrip(" ")
    misc = list(known["misc"])
    for name in extra:
        key = name[:1].upper() + name[1:]
        misc = [
            f"{key}={value}" if m == "_" else f"{m}|{key}={value}"
            for m, value in zip(misc, columns[name], strict=True)
        ]
    known["misc"] = misc
    return f"# text = {text}\n" + _lines(list(known.values()), "\t")
