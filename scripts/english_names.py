"""Word tables that the names of the embedded English pipeline are learned with.

``case`` tells how raw text writes a word inside sentences, ``gw`` which lists of places and firms
have it, ``pn`` whether it is a first or a last name. All are looked up in lower case, because
messages are often written so. Words that raw text mostly writes small are left out of the lists.
`scripts/english_names.txt` has the templates.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from seqtag.tables.table import WordTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_INSIDE = ",'’-;)"  # signs after which a capital does not begin a sentence
_OFTEN = 20  # times that a word is seen
_LAST_NAMES = 6_000  # the most frequent; of all 20,000 F1 is the same
_LONGEST = 7  # words of an entry
_WORD = re.compile(r"\w+(?:[.'’]\w+)*|[^\w\s]")
_KIND_OF_FIRM = re.compile(
    r",? (Inc|Corp|Ltd|Co|plc|PLC|LLC|L\.P|N\.V|S\.A|Incorporated|Corporation|Limited|Company"
    r"|Holdings|Group|Class [A-Z])\b\.?.*$"
)


class _Case(NamedTuple):
    """How often words are written small, with a capital, and in capitals inside sentences."""

    small: Counter[str]
    capital: Counter[str]
    capitals: Counter[str]

    def is_common(self, word: str) -> bool:
        return self.small[word] > max(2, self.capital[word])


def _has_letters(word: str) -> bool:
    return any(map(str.isalpha, word))


def _case_of(sentences: Iterable[str]) -> _Case:
    found = _Case(Counter(), Counter(), Counter())
    for sentence in sentences:
        before = ""
        for word in sentence.split():
            if word == word.lower():
                found.small[word] += 1
            elif before[:1].isalnum() or (before and before in _INSIDE):
                in_capitals = word.isupper() and len(word) > 1
                (found.capitals if in_capitals else found.capital)[word.lower()] += 1
            before = word
    return found


def _case_rows(case: _Case) -> Iterator[tuple[str, list[str]]]:
    for word in sorted({*case.small, *case.capital, *case.capitals}):
        small, capital, capitals = (counts[word] for counts in case)
        seen, large = small + capital + capitals, capital + capitals
        often = "3" if seen >= _OFTEN else ""
        if seen < 3 or not _has_letters(word):
            continue
        if large >= 0.9 * seen:
            yield word, [("Cap" if capital >= capitals else "ABB") + often]
        elif small >= 0.98 * seen:
            if often:
                yield word, ["low"]
        else:
            yield word, ["lowm" if small >= 0.8 * seen else "mix"]


def _entries(gazetteers: Path) -> Iterator[tuple[str, str]]:
    """Return the names in lists of cities, with regions and countries, and of firms, with kinds."""
    for line in _lines(gazetteers / "cities.tsv"):
        yield from zip(line.split("\t"), ("city", "state", "country"), strict=True)
    for line in _lines(gazetteers / "firms.txt"):
        yield _KIND_OF_FIRM.sub("", re.sub(r"\s+-\s+.*$", "", line)).strip(" ,."), "firm"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _list_rows(entries: Iterable[tuple[str, str]], case: _Case) -> Iterator[tuple[str, list[str]]]:
    """Return the words of entries with kinds, and with places in entries of several words."""
    for name, kind in entries:
        words = _WORD.findall(name.lower())
        if len(words) > _LONGEST or all(map(case.is_common, words)):
            continue
        if len(words) == 1 and (len(name) < 3 or case.small[words[0]] > _OFTEN):
            continue
        last = len(words) - 1
        for place, word in enumerate(words):
            often_small = case.small[word] > max(50, 5 * case.capital[word])
            if word.isascii() and _has_letters(word) and not (last and often_small):
                end = "" if not last else "-b" if not place else "-e" if place == last else "-m"
                yield word, [kind + end]


def _person_rows(gazetteers: Path, case: _Case) -> Iterator[tuple[str, list[str]]]:
    first = {name.lower() for name in _lines(gazetteers / "first-names.txt")}
    last = {name.lower() for name in _lines(gazetteers / "last-names.txt")[:_LAST_NAMES]}
    for name in sorted(first | last):
        kinds = "F" * (name in first) + "L" * (name in last)
        yield name, [kinds + "c" * case.is_common(name)]


def name_tables(raw: Iterable[str], gazetteers: Path) -> list[WordTable]:
    """Return the tables of names.

    Parameters
    ----------
    raw
        Sentences of raw text, their tokens separated by spaces.
    gazetteers
        A folder with cities.tsv, firms.txt, first-names.txt and last-names.txt.
    """
    case = _case_of(raw)
    rows = {
        "case": _case_rows(case),
        "gw": _list_rows(_entries(gazetteers), case),
        "pn": _person_rows(gazetteers, case),
    }
    return [WordTable.of(name, each, words="lower") for name, each in rows.items()]
