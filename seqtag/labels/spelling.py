"""Spellings of chunk labels: what files write for ``B-PER`` and ``O``.

Files write ``b-per``, ``PER-B``, ``B_PER``, ``PER`` or ``(PER*`` for chunks, and ``o``, ``0`` or
``OTHER`` for words outside.  Reading turns these into the labels of `seqtag.labels.schemes`, and
writing turns labels back, so that all else knows one spelling only.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

from seqtag.labels.schemes import OUTSIDE, SCHEMES, parse, prefixes_of, spans

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence, Set

_log = logging.getLogger("seqtag")

OUTSIDE_WORDS = frozenset(
    ["O", "0", "OTHER", "NONE", "OUT", "OUTSIDE", "NIL", "NULL", "*", "-", "_"]
)
"""Words for ``O``, in capitals."""

_LETTERS = "".join(sorted(frozenset().union(*map(prefixes_of, SCHEMES)) - {OUTSIDE}))
_JOINTS = "-_:./|"
_PREFIXED = re.compile(rf"([{_LETTERS}{_LETTERS.lower()}])([{re.escape(_JOINTS)}]).+")
_SUFFIXED = re.compile(rf".+([{re.escape(_JOINTS)}])([{_LETTERS}{_LETTERS.lower()}])")
_BRACKETS = re.compile(r"(?:\([^()*\s]+)*\*?\)*")
_OPENED = re.compile(r"\(([^()*\s]+)")
_TYPE = re.compile(r"[^\W\d_][\w .&/+-]*")
_MOST_LABELS = 1000  # of chunks, in a column
_CHUNK = re.compile(rf"[{_LETTERS}]-\S+")
_BEGINS = re.compile(r"(\W*)(beginning|begin|start|b)([-_]?\w{2,}.*)")
_INSIDE = ("i", "in", "inside", "inner")
_FIRST = frozenset("BISU")  # prefixes that the first word of a chunk may have
_IOB2 = prefixes_of("iob2")
_RARE_SHARE = 0.03  # of labels with types; prefixes and types that are rarer may be mistakes
_ODD_SHARE = 0.1  # of words; with more labels of another kind, a column has no chunk labels
_ENOUGH_WORDS = 10  # of fewer, a label _ may just not be known yet
_OUTSIDE_SHARE = 0.4  # of words, where types have no prefix


@dataclass(frozen=True)
class Spelling:
    """How a file writes chunk labels.

    Attributes
    ----------
    outside
        The labels of words outside, the one to write first.
    place
        ``prefix`` (``B-PER``), ``suffix`` (``PER-B``), ``type`` (types alone: neighbors of one type
        are one chunk) or ``brackets`` (CoNLL-2012: ``(PER*``, ``*``, ``*)``).
    joint
        The character between prefix and type.
    lower
        Whether prefixes are small letters.
    small
        Whether types and the word for outside are small letters, too: they are read as capitals.

    Examples
    --------
    >>> spelling = Spelling(("o",), lower=True, small=True)
    >>> spelling.read(["b-per", "i-per", "o"])
    ['B-PER', 'I-PER', 'O']
    >>> spelling.write(["B-LOC", "O"])
    ['b-loc', 'o']
    >>> Spelling(("*",), "brackets").read(["(PER*", "*)", "*", "(LOC)"])
    ['B-PER', 'I-PER', 'O', 'B-LOC']
    """

    outside: tuple[str, ...] = (OUTSIDE,)
    place: str = "prefix"
    joint: str = "-"
    lower: bool = False
    small: bool = False

    @property
    def is_plain(self) -> bool:
        """True if labels are read and written as they are."""
        return self == Spelling()

    @property
    def preference(self) -> tuple[object, ...]:
        """Key for sorting: the plainer spelling comes first."""
        return self.lower, self.place, _JOINTS.index(self.joint)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Expression for labels with a prefix and a type."""
        letter = f"(?P<prefix>[{_LETTERS.lower() if self.lower else _LETTERS}])"
        joint, kind = re.escape(self.joint), "(?P<type>.+)"
        parts = (letter, joint, kind) if self.place == "prefix" else (kind, joint, letter)
        return re.compile("".join(parts))

    def read(self, labels: Sequence[str]) -> list[str]:
        """Return the labels of a sentence as `seqtag.labels.schemes` has them.

        A label of another spelling stays as it is.
        """
        if self.place == "brackets":
            return _read_brackets(labels)
        known = {label: self._read(label) for label in {*labels}}
        return [known[label] for label in labels]

    def _read(self, label: str) -> str:
        if label in self.outside:
            return OUTSIDE
        prefix, kind = "i", label
        if self.place != "type":
            found = self.pattern.fullmatch(label)
            if found is None:
                return label
            prefix, kind = found["prefix"], found["type"]
        return f"{prefix.upper()}-{kind.upper() if self.small else kind}"

    def write(self, labels: Sequence[str]) -> list[str]:
        """Return the labels of a sentence as the file writes them."""
        if self.place == "brackets":
            return _write_brackets(labels)
        return [self._write(label) for label in labels]

    def _write(self, label: str) -> str:
        prefix, kind = parse(label)
        if prefix == OUTSIDE:
            return self.outside[0]
        if not kind:
            return label
        kind = kind.lower() if self.small else kind
        if self.place == "type":
            return kind
        prefix = prefix.lower() if self.lower else prefix
        first, last = (prefix, kind) if self.place == "prefix" else (kind, prefix)
        return f"{first}{self.joint}{last}"


def is_spelling(record: Mapping[str, object]) -> bool:
    """Return whether a record of a model is one of a `Spelling`."""
    outside = record.get("outside")
    return (
        record.keys() == {field.name for field in fields(Spelling)}
        and isinstance(outside, list)
        and bool(outside)
        and all(isinstance(word, str) and word for word in outside)
        and record["place"] in ("prefix", "suffix", "type", "brackets")
        and isinstance(record["joint"], str)
        and all(isinstance(record[name], bool) for name in ("lower", "small"))
    )


def _read_brackets(labels: Sequence[str]) -> list[str]:
    """Return the innermost chunks of labels such as ``(PER*``, ``*`` and ``*)`` in IOB2."""
    read, open_types = [], []
    for label in labels:
        opened = _OPENED.findall(label)
        open_types += opened
        inside = "I" if open_types else OUTSIDE
        read.append(f"{'B' if opened else inside}-{open_types[-1]}" if open_types else OUTSIDE)
        del open_types[max(0, len(open_types) - label.count(")")) :]
    return read


def _write_brackets(labels: Sequence[str]) -> list[str]:
    """Return the labels of CoNLL-2012 for the chunks of a sentence."""
    before, after = [""] * len(labels), [""] * len(labels)
    for kind, start, end in spans(labels):
        before[start], after[end - 1] = f"({kind}", ")"
    return [
        f"{first}{last}" if first and last else f"{first}*{last}"
        for first, last in zip(before, after, strict=True)
    ]


def detect_spelling(counts: Mapping[str, int], given: Sequence[str] = ()) -> Spelling | None:
    """Find how a column writes chunk labels; None if it has other labels.

    Parameters
    ----------
    counts
        How often each label occurs.
    given
        Labels of words outside, if they are known.

    Returns
    -------
    Spelling or None
        The spelling that explains most words; in ties the plainer one. One in ten words may have a
        label of another kind. Labels without a type, as in ``B``, ``I``, ``O``, are plain.

    Examples
    --------
    >>> detect_spelling({"PER-B": 2, "PER-I": 1, "OTHER": 9})
    Spelling(outside=('OTHER',), place='suffix', joint='-', lower=False, small=False)
    >>> detect_spelling({"B-PER": 20, "O": 200, "X": 1}) == Spelling()
    True
    >>> detect_spelling({"NOUN": 7, "VERB": 3}) is None
    True
    """
    if not counts or len(counts) > _MOST_LABELS:
        return None
    most = max(counts, key=lambda label: (counts[label], label))
    words = sum(counts.values())
    bracketed = "*" in counts and any("(" in label for label in counts)
    if bracketed and all(map(_BRACKETS.fullmatch, counts)):
        return Spelling(("*",), "brackets")
    outside = tuple(dict.fromkeys([*given, *_outside_words(counts, most, words)]))
    rest = {label: n for label, n in counts.items() if label not in outside}
    styles = Counter[Spelling]()
    for label, n in rest.items():
        if found := _PREFIXED.fullmatch(label):
            styles[Spelling(place="prefix", joint=found[2], lower=found[1].islower())] += n
        if found := _SUFFIXED.fullmatch(label):
            styles[Spelling(place="suffix", joint=found[1], lower=found[2].islower())] += n
    bare = {label for label in rest if parse(label)[0] and not parse(label)[1]}
    is_usual = outside in ((), (OUTSIDE,))
    style = min(styles, key=lambda each: (-styles[each], each.preference), default=None)
    if style is None or (bare and not style.lower):
        plain = rest and all(parse(label)[0] for label in rest) and len({*rest, *outside}) > 1
        if plain and is_usual:
            return Spelling()
        return None if style else _types_alone(counts, rest, outside, given)
    matches = list(filter(None, map(style.pattern.fullmatch, rest)))
    prefixes = {match["prefix"].upper() for match in matches}
    begins = outside and prefixes & _FIRST
    if not _is_scheme(prefixes) or not (begins or (style.is_plain and is_usual)):
        return None
    if sum(rest.values()) - styles[style] > _ODD_SHARE * words:
        return None
    kinds = [match["type"] for match in matches]
    small = style.lower and all(map(_is_small, kinds)) and kinds != [k.upper() for k in kinds]
    return replace(style, outside=outside or (OUTSIDE,), small=small)


def _is_scheme(prefixes: Set[str | None]) -> bool:
    """Return whether a scheme has all these prefixes."""
    return any(prefixes <= prefixes_of(scheme) for scheme in SCHEMES)


def _is_small(text: str) -> bool:
    return text == text.lower()


def _outside_words(counts: Mapping[str, int], most: str, words: int) -> list[str]:
    """Return the labels that seem to mean outside: ``O``, words for it, or the one other label."""
    if OUTSIDE in counts:  # with other words for it, if they are no mistakes
        least = max(_ODD_SHARE * words, 1)
        others = [k for k, n in counts.items() if k.upper() in OUTSIDE_WORDS and n > least]
        return [OUTSIDE, *(label for label in others if label not in (OUTSIDE, "_"))]
    if most.upper() in OUTSIDE_WORDS:
        return [most] if most != "_" or words >= _ENOUGH_WORDS else []
    framed = len(counts) > 1 and all(_CHUNK.fullmatch(each) for each in counts if each != most)
    return [most] if framed and words >= _ENOUGH_WORDS and not _CHUNK.fullmatch(most) else []


def _types_alone(
    counts: Mapping[str, int],
    rest: Mapping[str, int],
    outside: tuple[str, ...],
    given: Sequence[str],
) -> Spelling | None:
    """Return the spelling of types without prefix, if most words are outside."""
    clear = [word for word in outside if word != "_" or word in given]
    if not rest or not clear or not all(map(_TYPE.fullmatch, rest)) or unknown_spelling(rest):
        return None
    share = sum(counts.get(word, 0) for word in outside) / sum(counts.values())
    if share < _OUTSIDE_SHARE or max(map(len, rest)) < 2:  # as in tag sets of single letters
        return None
    small = clear[0] != clear[0].upper() and all(map(_is_small, [clear[0], *rest]))
    return Spelling(outside, "type", small=small)


def unknown_spelling(labels: Collection[str]) -> tuple[str, str] | None:
    """Return two labels that begin and continue a chunk in a spelling that is not read, if any.

    >>> unknown_spelling(["Begin-PER", "Inside-PER", "Outside"])
    ('Begin-PER', 'Inside-PER')
    >>> unknown_spelling(["B-PER", "I-PER"]), unknown_spelling(["BPER", "IPER", "O"])
    (None, ('BPER', 'IPER'))
    """
    known = {label.casefold(): label for label in labels}
    for low, label in known.items():
        found = _BEGINS.fullmatch(low)
        others = [f"{found[1]}{word}{found[3]}" for word in _INSIDE] if found else []
        for other in filter(known.__contains__, others):
            if not parse(label)[1]:
                return label, known[other]
    return None


def odd_labels(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the labels that most likely are mistakes in a column of chunk labels, with counts.

    These are labels that are no chunk labels, rare prefixes beside those of IOB2, and rare types
    that differ from a frequent one in case or punctuation only.

    Examples
    --------
    >>> odd_labels({"B-PER": 20, "O": 200, "X": 1}), odd_labels({"NOUN": 7, "X": 1})
    ({'X': 1}, {})
    >>> odd_labels({"B-PER": 90, "I-PER": 40, "O": 200, "S-PER": 1, "B-per": 1})
    {'S-PER': 1, 'B-per': 1}
    """
    parsed = {label: parse(label) for label in counts}
    prefixes, types = Counter[str](), Counter[str]()
    for label, (prefix, kind) in parsed.items():
        if kind:
            prefixes[prefix] += counts[label]
            types[kind] += counts[label]
    words, typed = sum(counts.values()), types.total()
    if not typed:
        return {}
    frequent = {prefix for prefix, n in prefixes.items() if n > _RARE_SHARE * typed}
    stray = {*prefixes} - _IOB2 if frequent <= _IOB2 else set()
    usual = Counter[str]()  # the most frequent spelling of each type
    for kind, n in types.items():
        usual[_letters_of(kind)] = max(usual[_letters_of(kind)], n)

    def is_odd(label: str) -> bool:
        prefix, kind = parsed[label]
        alike = usual[_letters_of(kind)] if kind else 0
        return not prefix or (bool(kind) and prefix in stray) or types[kind] < _RARE_SHARE * alike

    odd = {label: n for label, n in counts.items() if is_odd(label)}
    return odd if sum(odd.values()) <= _ODD_SHARE * words else {}


def _letters_of(kind: str) -> str:
    """Return a type without what mistakes change: case, punctuation, a second prefix."""
    return re.sub(r"^[BIES]-|[\W_]+", "", kind).casefold()


def describe_odd(odd: Mapping[str, int], counts: Mapping[str, int]) -> str:
    """Return the beginning of a message about the most frequent odd label.

    >>> describe_odd({"X": 1}, {"B-PER": 20, "O": 200, "X": 1})
    "expected chunk labels such as B-PER, O, found 'X' (1 of 221 words)"
    """
    worst = max(odd, key=odd.__getitem__)
    others = ", ".join(sorted({*counts} - {*odd})[:4])
    total = f"{sum(counts.values()):,}"
    return (
        f"expected chunk labels such as {others}, found {worst!r} ({odd[worst]:,} of {total} words)"
    )


def remedy(label: str) -> str:
    """Return what to do about an odd label, for a message.

    >>> remedy("OO"), remedy("B_PER")
    ('correct it, or name it with --outside OO if it means O', 'correct it')
    """
    is_word = len(label) < 6 and label.isalnum() and not label.istitle()
    return f"correct it{f', or name it with --outside {label} if it means O' * is_word}"


def lacks_outside(name: str, labels: Collection[str]) -> bool:
    """Return whether a word without a key of MISC is outside: all words with it are in chunks.

    >>> lacks_outside("misc.NE", ["B-PER", "_"]), lacks_outside("misc.NE", ["B-PER", "O", "_"])
    (True, False)
    """
    known = {*labels} - {"_"}
    if not name.startswith("misc.") or not known or len(known) == len({*labels}):
        return False
    prefixes = {parse(label)[0] if parse(label)[1] else None for label in known}
    return _is_scheme(prefixes) and bool(prefixes & _FIRST)


def note_outside(name: str, source: str | None) -> None:
    """Log that words without a key are outside."""
    place = f"{source}: " if source else ""
    key = name.partition(".")[2]
    _log.info("%sno word has O for the key %s: a word without the key means O", place, key)
