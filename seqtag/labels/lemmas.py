"""Lemmas as labels: edit scripts that turn a form into its lemma.

"Carried" becomes "carry" as "tried" becomes "try": lower case, remove three characters at the end,
append "y". A script gives the case, and what to remove and to insert before and after the longest
substring that the lower-cased form and lemma share; if they share nothing, it is the complete
lemma. A few hundred scripts make the lemmas of a language, and a script can be right for an unknown
form.

Scripts edit the normal form (`seqtag.features.normal_forms`), so that the lemma of *’s* is "'s" as
that of *'s* is, unless the lemmas of the training data keep such characters.

A lemma is predicted in three steps, of which this module is the first and the last: training
replaces each lemma by a script (`LemmaCoding.encode`), the tagger predicts scripts like any labels,
with the templates of ``features/presets/lemma.txt``, and `LemmaCoding.decode` applies them to the
forms. A word that has only one script with its tags in the training data always gets that one, see
`seqtag.engine.arrays.LabelsByTags`. `seqtag.tagging.tables` keeps the lemmas of frequent pairs of
script and form.

A script is written as its five fields, separated by spaces::

    lower 0 3  y      remove 0 characters before and 3 after; insert nothing before, "y" after
    =be               the complete lemma

A space in inserted text is written as a tab, which no column value has.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from seqtag.errors import LabelError
from seqtag.features.normal_forms import normal_form
from seqtag.labels.coding import LabelCoding, refuse_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_WHOLE = "="
_MOST_CELLS = 40_000  # characters of a form times those of a lemma
_COUNT = re.compile("[0-9]{1,9}")
_NO_LEMMA = "_"
_OUTSIDE_FIELDS = frozenset("\t\r\n")  # characters that a column cannot hold


_CASES: Mapping[str, Callable[[str], str]] = {
    "lower": str,
    "asis": str,  # the kept part is that of the form as written
    "title": lambda text: text[:1].upper() + text[1:],
    "upper": str.upper,
}
"""Functions from the edited form (in lower case except for "asis") to each case."""


class EditScript(NamedTuple):
    """Edit script from a form to its lemma.

    Attributes
    ----------
    case
        ``lower``, ``asis`` (as the form is), ``title`` (first character in upper case), ``upper``.
    cut_front, cut_back
        Code points to remove from the form.
    put_front, put_back
        Text to insert instead.
    """

    case: str
    cut_front: int
    cut_back: int
    put_front: str
    put_back: str

    def __str__(self) -> str:
        front, back = (text.replace(" ", "\t") for text in (self.put_front, self.put_back))
        return f"{self.case} {self.cut_front} {self.cut_back} {front} {back}"

    @classmethod
    def of(cls, text: str) -> EditScript:
        """Parse a script as written by `str`.

        Raises
        ------
        LabelError
            If the text is not a script.
        """
        case, *parts = text.split(" ")
        if case in _CASES and len(parts) == 4 and all(map(_COUNT.fullmatch, parts[:2])):
            front, back = (part.replace("\t", " ") for part in parts[2:])
            return cls(case, int(parts[0]), int(parts[1]), front, back)
        msg = (
            f'expected a script such as "lower 0 3  y" or "=be", found {text!r}; retrain the model'
        )
        raise LabelError(msg)

    def edit(self, form: str) -> str | None:
        """Return the lemma of a form; None if the script removes all of it."""
        base = form if self.case == "asis" else form.lower()
        end = len(base) - self.cut_back
        if self.cut_front >= end:
            return None
        kept = base[self.cut_front : end]
        return _CASES[self.case](f"{self.put_front}{kept}{self.put_back}")


_parse = lru_cache(maxsize=1 << 14)(EditScript.of)


def lemma_of(form: str, script: str) -> str:
    """Return the lemma that a script makes of a form.

    A script that would remove the complete form changes its case only. A lemma that no column can
    hold becomes ``_``.

    Raises
    ------
    LabelError
        If `script` is not a script.

    Examples
    --------
    >>> lemma_of("Tried", "lower 0 3  y"), lemma_of("was", "=be"), lemma_of("Ed", "lower 0 3  y")
    ('try', 'be', 'ed')
    """
    if script.startswith(_WHOLE):
        lemma = script[1:]
    else:
        parsed = _parse(script)
        lemma = parsed.edit(form) or EditScript(parsed.case, 0, 0, "", "").edit(form) or ""
    return lemma if lemma and _OUTSIDE_FIELDS.isdisjoint(lemma) else _NO_LEMMA


def keeps_form(script: str) -> bool:
    """Return whether a script changes nothing but the case of a form.

    >>> keeps_form("title 0 0  "), keeps_form("lower 0 1  ")
    (True, False)
    """
    return not script.startswith(_WHOLE) and _parse(script)[1:] == (0, 0, "", "")


def scripts_of(form: str, lemma: str) -> list[str]:
    """Return all scripts that make a lemma of a form, the simplest first.

    They keep a longest common substring of the lower-cased form and lemma, any of them if there are
    several, with any case that gives the lemma. Without one, the only script is the lemma itself.

    Examples
    --------
    >>> scripts_of("Tries", "try"), scripts_of("went", "go")
    (['lower 0 3  y'], ['=go'])
    >>> scripts_of("London", "London")
    ['asis 0 0  ', 'title 0 0  ']
    """
    found: list[str] = []
    longest = 0
    for case in _CASES:
        base, goal = (form, lemma) if case == "asis" else (form.lower(), lemma.lower())
        if case == "asis" and form == form.lower():
            continue  # the same as lower
        for begin, at, size in _shared(base, goal):
            end = begin + size
            script = EditScript(case, at, len(base) - at - size, goal[:begin], goal[end:])
            if size < longest or script.edit(form) != lemma:
                continue
            if size > longest:
                found, longest = [], size
            found.append(str(script))
    return found or [_WHOLE + lemma]


def _shared(base: str, goal: str) -> Iterator[tuple[int, int, int]]:
    """Yield where the longest common substrings begin in `goal` and in `base`, and their length.

    Of very long words only the common prefix is found: the search takes cubic time.
    """
    if len(base) * len(goal) > _MOST_CELLS:
        differ = (place for place, (b, g) in enumerate(zip(base, goal, strict=False)) if b != g)
        size = next(differ, min(len(base), len(goal)))
        if size:
            yield 0, 0, size
        return
    for size in range(min(len(base), len(goal)), 0, -1):
        found = False
        for begin in range(len(goal) - size + 1):
            shared = goal[begin : begin + size]
            at = base.find(shared)
            while at >= 0:
                yield begin, at, size
                found, at = True, base.find(shared, at + 1)
        if found:
            return


def choose_scripts(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Choose a script for each pair of form and lemma, with few different ones.

    Each pair gets the one of its scripts that fits most of the pairs given; of equal ones the
    simplest (see `scripts_of`).

    Examples
    --------
    >>> choose_scripts([("London", "London"), ("PARIS", "Paris")])
    ['title 0 0  ', 'title 0 0  ']
    """
    possible = {pair: scripts_of(*pair) for pair in dict.fromkeys(pairs)}
    count = Counter(script for scripts in possible.values() for script in scripts)
    best = {pair: max(scripts, key=count.__getitem__) for pair, scripts in possible.items()}
    return [best[pair] for pair in pairs]


@dataclass(frozen=True)
class LemmaCoding(LabelCoding):
    """Coding of lemmas as edit scripts of forms as they are written.

    Examples
    --------
    >>> coding = LemmaCoding()
    >>> coding.encode(["carry", "be"], ["carried", "is"])
    ['lower 0 3  y', '=be']
    >>> coding.decode(["lower 0 3  y", "=be"], ["Tried", "is"])
    ['try', 'be']
    """

    name: ClassVar[str] = "lemmas"
    needs_forms: ClassVar[bool] = True
    edited: ClassVar[Callable[[str], str]] = str
    """Function from a form to what scripts edit."""

    @property
    def changes_labels(self) -> bool:
        """True: scripts replace lemmas."""
        return True

    @property
    def is_local(self) -> bool:
        """False: the lemma depends on the form."""
        return False

    def encode(self, labels: Sequence[str], forms: Sequence[str] = ()) -> list[str]:
        """Return the scripts of lemmas, chosen for all pairs of form and lemma together."""
        edited = map(type(self).edited, forms)
        return choose_scripts(list(zip(edited, labels, strict=True)))

    def decode(self, labels: Sequence[str], forms: Sequence[str] = ()) -> list[str]:
        """Return the lemmas that scripts make of forms."""
        return list(map(lemma_of, map(type(self).edited, forms), labels))

    def check(self, labels: Sequence[str]) -> None:
        """Refuse labels that are not scripts or have control characters other than tabs."""
        refuse_controls(label.replace("\t", " ") for label in labels)
        for label in labels:
            if not label.startswith(_WHOLE):
                _parse(label)

    def decode_alone(self, label: str) -> str:
        """Return the script itself: there is no lemma without a form."""
        return label

    def encoded_ids(self, label: str, encoded: Sequence[str], form: str = "") -> list[int]:
        """Return the ids of the scripts that make this lemma of this form."""
        edited = type(self).edited(form)
        return [i for i, script in enumerate(encoded) if lemma_of(edited, script) == label]


@dataclass(frozen=True)
class NormalLemmaCoding(LemmaCoding):
    """Coding of lemmas as edit scripts of normal forms.

    Examples
    --------
    >>> NormalLemmaCoding().decode(["lower 0 0  "], ["’s"])
    ["'s"]
    """

    name: ClassVar[str] = "normal-lemmas"
    edited: ClassVar[Callable[[str], str]] = normal_form


def lemma_coding(pairs: Iterable[tuple[str, str]]) -> LemmaCoding:
    """Return the coding for pairs of form and lemma.

    Scripts edit forms as they are written if most forms that are not in the normal form have lemmas
    that are not either.

    Examples
    --------
    >>> lemma_coding([("“", '"'), ("to", "to")]), lemma_coding([("“", "“")])
    (NormalLemmaCoding(...), LemmaCoding(...))
    """
    found = [normal_form(lemma) == lemma for form, lemma in pairs if normal_form(form) != form]
    return NormalLemmaCoding() if 2 * sum(found) >= len(found) else LemmaCoding()
