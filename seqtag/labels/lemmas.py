"""Lemmas as labels: the script that edits a form into its lemma.

"Carried" becomes "carry" as "tried" becomes "try": lower case, three characters off the end, "y"
put there. A script says how to case, what to cut and to put in front, and the same behind, around
the longest stretch that the lower-cased form and lemma share; where they share nothing it is the
whole lemma. A few hundred scripts make the lemmas of a language, and a script may be right for a
form that was never seen.

A script is written as its five parts with blanks between them::

    lower 0 3  y      cut nothing in front and 3 characters behind, put nothing in front, "y" behind
    =be               the whole lemma

A blank in what is put is a tab there, a column's value never holds one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from seqtag.errors import LabelError
from seqtag.labels.coding import LabelCoding, refuse_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_WHOLE = "="
_MOST_CELLS = 40_000  # characters of a form times those of a lemma
_NO_LEMMA = "_"
_OUTSIDE_FIELDS = "\t\r\n"  # what a column cannot hold


def _title(text: str) -> str:
    return text[:1].upper() + text[1:]


_CASES: Mapping[str, Callable[[str], str]] = {
    "lower": str,
    "asis": str,  # what is kept is taken from the form as written
    "title": _title,
    "upper": str.upper,
}
"""What each way to case does to the edited form, which is in lower case but for "asis"."""


class Script(NamedTuple):
    """How a form becomes its lemma.

    Attributes
    ----------
    case
        ``lower``, ``asis`` (as the form is), ``title`` (first character in upper case), ``upper``.
    cut_front, cut_back
        Characters (code points) of the form that are not in the lemma.
    put_front, put_back
        What stands there instead.
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
    def of(cls, text: str) -> Script:
        """The script that a text is; see `Script.__str__`.

        Raises
        ------
        LabelError
            If it is none.
        """
        case, *parts = text.split(" ")
        if case in _CASES and len(parts) == 4 and all(map(_is_count, parts[:2])):
            front, back = (part.replace("\t", " ") for part in parts[2:])
            return cls(case, int(parts[0]), int(parts[1]), front, back)
        msg = (
            f'expected a script such as "lower 0 3  y" or "=be", found {text!r}; retrain the model'
        )
        raise LabelError(msg)

    def edit(self, form: str) -> str | None:
        """The lemma of a form; None if that leaves nothing of it."""
        base = form if self.case == "asis" else form.lower()
        end = len(base) - self.cut_back
        if self.cut_front >= end:
            return None
        kept = base[self.cut_front : end]
        return _CASES[self.case](f"{self.put_front}{kept}{self.put_back}")


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


@lru_cache(maxsize=1 << 14)
def _parsed(text: str) -> Script:
    return Script.of(text)


def lemma_of(form: str, script: str) -> str:
    """The lemma that a script makes of a form.

    A script that leaves nothing of a form does not fit it: it cases the form and cuts nothing. A
    lemma that no column can hold is ``_``.

    Raises
    ------
    LabelError
        If the script is none.

    Examples
    --------
    >>> lemma_of("Tried", "lower 0 3  y"), lemma_of("was", "=be"), lemma_of("Ed", "lower 0 3  y")
    ('try', 'be', 'ed')
    """
    if script.startswith(_WHOLE):
        lemma = script[1:]
    else:
        parsed = _parsed(script)
        lemma = parsed.edit(form) or Script(parsed.case, 0, 0, "", "").edit(form) or ""
    fits = lemma and not any(char in lemma for char in _OUTSIDE_FIELDS)
    return lemma if fits else _NO_LEMMA


def scripts_of(form: str, lemma: str) -> list[str]:
    """All scripts that make this lemma of this form, the plainest first.

    They keep a longest common stretch of the lower-cased form and lemma, where there are several
    any of them, and case in any way that gives the lemma. Without one, the whole lemma is all.

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
            continue  # lower says the same
        for begin, at, size in _shared(base, goal):
            end = begin + size
            script = Script(case, at, len(base) - at - size, goal[:begin], goal[end:])
            if size < longest or script.edit(form) != lemma:
                continue
            if size > longest:
                found, longest = [], size
            found.append(str(script))
    return found or [_WHOLE + lemma]


def _shared(base: str, goal: str) -> Iterator[tuple[int, int, int]]:
    """Where the longest stretches that are in both begin in `goal` and in `base`; their length.

    Of very long words it is what both begin with: to search them takes time like their cubes.
    """
    if len(base) * len(goal) > _MOST_CELLS:
        differ = (place for place, (b, g) in enumerate(zip(base, goal, strict=False)) if b != g)
        size = next(differ, min(len(base), len(goal)))
        if size:
            yield 0, 0, size
        return
    for size in range(min(len(base), len(goal)), 0, -1):
        places = [
            (begin, at, size)
            for begin in range(len(goal) - size + 1)
            for at in _places(base, goal[begin : begin + size])
        ]
        if places:
            yield from places
            return


def _places(text: str, part: str) -> Iterator[int]:
    """Where a part begins in a text."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def choose_scripts(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """A script for each pair of form and lemma, as few different ones as is easy.

    Of the scripts of a pair that one is taken that most of the pairs given have; where several
    are equal, the plainest (see `scripts_of`).

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
    """Lemmas as written, scripts as learnt.

    Examples
    --------
    >>> coding = LemmaCoding()
    >>> coding.as_learnt(["carry", "be"], ["carried", "is"])
    ['lower 0 3  y', '=be']
    >>> coding.as_written(["lower 0 3  y", "=be"], ["Tried", "is"])
    ['try', 'be']
    """

    name: ClassVar[str] = "lemmas"
    needs_forms: ClassVar[bool] = True

    @property
    def changes_labels(self) -> bool:
        """Always: scripts are learnt."""
        return True

    @property
    def is_local(self) -> bool:
        """Never: the lemma hangs on the form."""
        return False

    def as_learnt(self, labels: Sequence[str], forms: Sequence[str] = ()) -> list[str]:
        """The scripts of lemmas; the more are given at once, the fewer of them differ."""
        return choose_scripts(list(zip(forms, labels, strict=True)))

    def as_written(self, labels: Sequence[str], forms: Sequence[str] = ()) -> list[str]:
        """The lemmas that scripts make of forms."""
        return list(map(lemma_of, forms, labels))

    def check(self, labels: Sequence[str]) -> None:
        """Refuse labels that are no scripts (see `Script.of`), or hold other controls than tabs."""
        refuse_controls(label.replace("\t", " ") for label in labels)
        for label in labels:
            lemma_of("", label)

    def written_alone(self, label: str) -> str:
        """The script itself: there is no lemma without a form."""
        return label

    def ids_written(self, label: str, learnt: Sequence[str], form: str = "") -> list[int]:
        """Places of the scripts that make this lemma of this form."""
        return [i for i, script in enumerate(learnt) if lemma_of(form, script) == label]
