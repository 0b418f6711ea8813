"""Bring UD English-GUM to the conventions of UD English-EWT, for training on both.

The two treebanks differ in how they apply the guidelines: *you* has a number in GUM and none in EWT,
*really* is ``Degree=Pos`` in GUM only, the lemma of *people* is *person* or *people*. A tagger that
learns both loses half a point of FEATS on EWT. These rules change GUM, in this order:

1. Second person: no ``Number`` at pronouns, no ``Person`` at imperatives and infinitives, as in EWT.
2. Adverbs (RB) have ``Degree=Pos`` only if they have it in EWT (*well*, *far*, *soon*).
3. Existential *there* has no features; an adjective (JJ) without any has ``Degree=Pos``.
4. Semicolons, dashes, slashes and ellipses have the XPOS that EWT gives them; *United* is an
   adjective, and *internet* a noun.
5. Where EWT has a word with its UPOS and XPOS three times or more, nine times of ten with the same
   FEATS (or LEMMA), and GUM has a value that EWT never gives it, it is that of EWT.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Row = list[str]  # the ten columns of CoNLL-U

_FORM, _LEMMA, _UPOS, _XPOS, _FEATS = range(1, 6)
_LEAST, _SHARE = 3, 0.9  # of EWT, for rule 5
_DEGREE = "Degree=Pos"
_SIGNS = {";": ",", "--": ",", "–": ",", "—": ",", "...": ",", "…": ".", "/": ","}


def _rows(lines: Iterable[str]) -> Iterator[Row]:
    for line in lines:
        if line[:1].isdigit():
            row = line.rstrip("\n").split("\t")
            if row[0].isdigit():
                yield row


class _Ewt:
    """What EWT gives to its words."""

    def __init__(self, lines: Iterable[str]):
        seen: dict[int, dict[tuple[str, ...], Counter[str]]] = {
            column: defaultdict(Counter) for column in (_LEMMA, _FEATS)
        }
        self.degrees = set()
        for row in _rows(lines):
            for column, values in seen.items():
                values[self._key(row, column)][row[column]] += 1
            if row[_XPOS] == "RB" and row[_FEATS] == _DEGREE:
                self.degrees.add(row[_FORM].lower())
        self._seen = seen

    @staticmethod
    def _key(row: Row, column: int) -> tuple[str, ...]:
        form = row[_FORM] if column == _LEMMA else row[_FORM].lower()
        return form, row[_UPOS], row[_XPOS]

    def value(self, row: Row, column: int) -> str:
        """Return the value of a row by rule 5."""
        values = self._seen[column].get(self._key(row, column), Counter())
        if values.total() < _LEAST or row[column] in values:
            return row[column]
        [(value, times)] = values.most_common(1)
        return value if times >= _SHARE * values.total() else row[column]


def _without(row: Row, *names: str) -> None:
    """Remove features."""
    kept = [each for each in row[_FEATS].split("|") if each.split("=")[0] not in names]
    row[_FEATS] = "|".join(kept) or "_"


def _harmonize(row: Row, ewt: _Ewt) -> None:
    form, feats = row[_FORM].lower(), row[_FEATS].split("|")
    if "Person=2" in feats:
        if row[_UPOS] == "PRON" and form != "thou":
            _without(row, "Number")
        elif "Mood=Imp" in feats or "VerbForm=Inf" in feats:
            _without(row, "Person")
    if row[_XPOS] == "RB" and form not in ewt.degrees:
        _without(row, "Degree")
    if row[_XPOS] == "EX":
        row[_FEATS] = "_"
    if row[_XPOS] == "JJ" and row[_FEATS] == "_":
        row[_FEATS] = _DEGREE
    if row[_UPOS] == "PUNCT":
        row[_XPOS] = _SIGNS.get(form, row[_XPOS])
    if form == "united" and row[_UPOS] == "VERB" and row[_XPOS] == "NNP":
        row[_UPOS], row[_FEATS], row[_LEMMA] = "ADJ", _DEGREE, row[_FORM]
    if form == "internet":
        row[_UPOS], row[_XPOS], row[_LEMMA], row[_FEATS] = "NOUN", "NN", form, "Number=Sing"
    for column in (_FEATS, _LEMMA):
        row[column] = ewt.value(row, column)


def harmonized(gum: Iterable[str], ewt: Iterable[str]) -> Iterator[str]:
    """Yield the lines of GUM, in CoNLL-U, with the conventions of the lines of EWT."""
    model = _Ewt(ewt)
    for line in gum:
        row = line.rstrip("\n").split("\t")
        if row[0].isdigit():
            _harmonize(row, model)
            yield "\t".join(row) + "\n"
        else:
            yield line
