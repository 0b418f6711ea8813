"""Schemes of chunk labels: IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BMES, BMEWO.

A *chunk label* is ``O`` (outside) or a prefix letter, a hyphen and a type: ``B-NP``. The type may
hold hyphens itself (``B-ARGM-LOC``) and may be missing (``B``), as in segmentation without types.

A scheme is one entry of `_SCHEMES`, which defines how chunks are written. All else follows from the
table: which labels may be neighbors, how chunks are read, whether a label can be converted
without looking at its neighbors, and which scheme a file is in.

One rule reads the chunks of all schemes:

* ``I``, ``E``, ``L`` and ``M``, which some scheme writes inside of a chunk, continue the open chunk
  if the type agrees, and start a chunk otherwise; ``B``, ``S``, ``U`` and ``W`` start a chunk;
* ``E``, ``L``, ``S``, ``U`` and ``W``, which every scheme writes on a last token only, close their
  chunk; ``O`` and the end of the sentence close any.

On the letters B, I, O these are the rules of the conlleval script. They also say how an invalid
sequence is repaired: nothing is thrown away. ``I-X`` after ``O`` starts a chunk, ``B-X O`` in
IOBES is a chunk of one token.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, TypeAlias

from seqtag.caching import BoundedCache
from seqtag.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

Span: TypeAlias = tuple[str, int, int]
"""Type, start and end (exclusive) of a chunk."""

Transition: TypeAlias = tuple["str | None", "str | None"]
"""Previous and current label; None is the border of the sentence."""

OUTSIDE = "O"
_SEPARATOR = "\ufdd0"  # of the labels that a word may have; Unicode keeps it out of texts
PHRASES = frozenset("NP VP PP ADVP ADJP SBAR PRT CONJP INTJ LST UCP".split())  # noqa: SIM905
"""Types of chunks that are phrases; others are names."""

_SHAPES = tuple(product(range(1, 5), (False, True), (False, True)))
"""Chunks of every kind: length, whether one of the same type precedes it directly, or follows."""


class _Scheme:
    """One scheme of chunk labels.

    Parameters
    ----------
    letters
        Prefixes of the first, a middle and the last token of a chunk, and of a chunk of one token.
    first_touching
        Prefix of the first token of a chunk that directly follows one of its own type; empty if it
        is no different.
    last_touching
        Prefix of the last token of a chunk that one of its own type directly follows.
    """

    def __init__(self, letters: str, *, first_touching: str = "", last_touching: str = ""):
        self.begin, self.middle, self.end, self.single = tuple(letters)
        self.first_touching, self.last_touching = first_touching, last_touching
        self.prefixes = frozenset(letters + first_touching + last_touching + OUTSIDE)

    def write(self, length: int, after_same: bool, before_same: bool) -> str:
        """Return the prefixes of a chunk."""
        inner = self.begin + self.middle * (length - 2) + self.end
        prefixes = self.single if length == 1 else inner
        if before_same and self.last_touching:
            prefixes = prefixes[:-1] + self.last_touching
        if after_same and self.first_touching:
            prefixes = self.first_touching + prefixes[1:]
        return prefixes

    @cached_property
    def first(self) -> frozenset[str]:
        """Prefixes that may follow ``O``, another type, or the start of the sentence."""
        return frozenset(self.write(n, a, b)[0] for n, a, b in _SHAPES if not a)

    @cached_property
    def last(self) -> frozenset[str]:
        """Prefixes that may precede ``O``, another type, or the end of the sentence."""
        return frozenset(self.write(n, a, b)[-1] for n, a, b in _SHAPES if not b)

    @cached_property
    def same(self) -> frozenset[str]:
        """Pairs of prefixes that may be neighbors if their types agree."""
        chunks = [self.write(*shape) for shape in _SHAPES]
        inside = {chunk[i : i + 2] for chunk in chunks for i in range(len(chunk) - 1)}
        last = {self.write(n, a, b)[-1] for n, a, b in _SHAPES if b}
        first = {self.write(n, a, b)[0] for n, a, b in _SHAPES if a}
        return frozenset(inside | {a + b for a in last for b in first})


_SCHEMES = {
    "iob2": _Scheme("BIIB"),
    "iob1": _Scheme("IIII", first_touching="B"),
    "iobes": _Scheme("BIES"),
    "bilou": _Scheme("BILU"),
    "ioe1": _Scheme("IIII", last_touching="E"),
    "ioe2": _Scheme("IIEE"),
    "bmes": _Scheme("BMES"),
    "bmewo": _Scheme("BMEW"),
}
"""The schemes. Where several explain the labels of a file equally well, it is in the first."""

SCHEMES: tuple[str, ...] = tuple(_SCHEMES)
"""Names of the schemes."""


class _Reading:
    """Sets of prefixes that the rule for reading chunks needs, from all schemes together."""

    def __init__(self, schemes: Iterable[_Scheme]):
        known = list(schemes)
        self.prefixes = frozenset().union(*(scheme.prefixes for scheme in known)) - {OUTSIDE}
        self.continuing = frozenset(
            letter for each in known for letter in each.middle + each.end + each.last_touching
        )
        self.closing = self.prefixes - {
            letter for each in known for letter in each.begin + each.middle + each.first_touching
        }


_READING = _Reading(_SCHEMES.values())

LETTERS = (_READING.prefixes, _READING.continuing, _READING.closing)
"""All prefixes of chunks, those that continue a chunk, and those that close one."""

CHUNK_LABEL = f"[{''.join(sorted(_READING.prefixes))}]-"
"""Regular expression for how a chunk label with a type begins, in any scheme."""


def detect_scheme(sequences: Iterable[Sequence[str]]) -> str | None:
    """Find the scheme that label sequences are written in.

    Parameters
    ----------
    sequences
        Labels, one sequence per sentence. Read once.

    Returns
    -------
    str or None
        Of the schemes that have every prefix, the one with the fewest invalid transitions; if
        tied, the first in `SCHEMES`, which is IOB2. None if the labels are not chunk labels: one of
        them is neither ``O`` nor a prefix of one scheme, or there is nothing but ``O``, or nothing
        at all. Prefixes without any type are the labels of one nameless type, as the conlleval
        script reads them, if there are two different ones and one of them begins the longer chunks
        of the scheme: a ``B`` or an ``S`` alone may be a part of speech. So ``B I O`` are chunks,
        and ``B I``, ``B I E S`` and ``B M E S`` the words of a character segmentation; ``B`` and
        ``NN`` are plain labels.

    Examples
    --------
    >>> detect_scheme([["B-NP", "I-NP", "O"], ["B-VP"]])
    'iob2'
    >>> detect_scheme([["I-NP", "B-NP", "O"]])
    'iob1'
    >>> detect_scheme([["B", "I", "O"]])
    'iob2'
    >>> detect_scheme([["DET", "NOUN"]]) is None
    True
    """
    return scheme_of(count_transitions(sequences))


def scheme_of(transitions: Mapping[Transition, int]) -> str | None:
    """Find the scheme of transitions counted by `count_transitions`; see `detect_scheme`.

    Examples
    --------
    >>> scheme_of(count_transitions([["S-NP", "O"]]))
    'iobes'
    """
    parsed = {parse(label) for pair in transitions for label in pair if label is not None}
    prefixes = {prefix for prefix, _ in parsed}
    fitting = [name for name, scheme in _SCHEMES.items() if prefixes <= scheme.prefixes]
    # One bare "B" can be a part of speech as well; a type, or a second letter, is convincing.
    typed = any(kind for _, kind in parsed)
    bare = len(prefixes) > 1 and any(_SCHEMES[name].begin in prefixes for name in fitting)
    if not (typed or bare):
        return None
    return min(fitting, key=lambda name: invalid_transitions(transitions, name), default=None)


def count_transitions(sequences: Iterable[Sequence[str]]) -> Counter[Transition]:
    """Count the pairs of neighboring labels, with None for the border of a sentence.

    Parameters
    ----------
    sequences
        Labels, one sequence per sentence. An empty sequence has no transition.

    Examples
    --------
    >>> count_transitions([["B-NP", "O"]])
    Counter({(None, 'B-NP'): 1, ('B-NP', 'O'): 1, ('O', None): 1})
    """
    counts: Counter[Transition] = Counter()
    for labels in sequences:
        if len(labels):
            counts.update(zip([None, *labels], [*labels, None], strict=True))
    return counts


def _may_follow(rules: _Scheme, before: str, after: str, *, agree: bool) -> bool:
    if before == OUTSIDE:
        return after == OUTSIDE or after in rules.first
    if after == OUTSIDE:
        return before in rules.last
    if agree:
        return before + after in rules.same
    return before in rules.last and after in rules.first


def invalid_transitions(transitions: Mapping[Transition, int], scheme: str) -> int:
    """Count the invalid ones among the counts of `count_transitions`.

    A label that is foreign to the scheme spoils the transition on either side of it.

    Raises
    ------
    LabelError
        If there is no such scheme.

    Examples
    --------
    >>> invalid_transitions(count_transitions([["I-NP", "O"], ["I-NP"]]), "iob2")
    2
    >>> invalid_transitions(count_transitions([["B-NP"]]), "iobes")
    1
    """
    rules, invalid = _scheme(scheme), 0
    for (previous, current), count in transitions.items():
        before, before_type = parse(previous)
        after, after_type = parse(current)
        if not _may_follow(rules, before, after, agree=before_type == after_type):
            invalid += count
    return invalid


def spans(labels: Sequence[str], scheme: str | None = None) -> list[Span]:
    """Read the chunks of one sentence, by the rule at the head of this module.

    Parameters
    ----------
    labels
        Labels of the sentence, valid or not.
    scheme
        One of `SCHEMES`: every label must then belong to it. None reads all schemes, and takes
        a label that is no chunk label for ``O``.

    Returns
    -------
    list of (type, start, end)
        From left to right, without overlap; end is exclusive. Empty for an empty sentence.

    Raises
    ------
    LabelError
        If there is no such scheme, or a label does not belong to it.

    Examples
    --------
    >>> spans(["B-NP", "I-NP", "B-NP", "O", "I-VP"], "iob2")
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5)]
    """
    prefixes = None if scheme is None else _scheme(scheme).prefixes
    found: list[Span] = []
    start, open_type = -1, ""  # start < 0: no chunk is open
    for position, label in enumerate(labels):
        if label == OUTSIDE and start < 0:
            continue
        prefix, chunk_type = parse(label)
        if prefixes is not None and prefix not in prefixes:
            raise _foreign(label, str(scheme), f" at position {position + 1} of the sentence")
        if start >= 0 and not (prefix in _READING.continuing and chunk_type == open_type):
            found.append((open_type, start, position))
            start = -1
        if start < 0 and prefix in _READING.prefixes:
            start, open_type = position, chunk_type
        if prefix in _READING.closing:
            found.append((open_type, start, position + 1))
            start = -1
    if start >= 0:
        found.append((open_type, start, len(labels)))
    return found


def convert(labels: Sequence[str], source: str, target: str) -> list[str]:
    """Write the chunks of one sentence in another scheme.

    Parameters
    ----------
    labels
        Labels of the sentence in scheme `source`.
    source, target
        Names from `SCHEMES`. If both are the same, valid labels come back unchanged and invalid
        ones repaired.

    Returns
    -------
    list of str
        As many labels, always valid in `target`. Converting valid labels and back is exact.

    Raises
    ------
    LabelError
        If there is no such scheme, or a label does not belong to `source`.

    Examples
    --------
    >>> convert(["B-NP", "I-NP", "B-NP", "O"], "iob2", "iobes")
    ['B-NP', 'E-NP', 'S-NP', 'O']
    """
    _scheme(target)
    return write_spans(spans(labels, source), len(labels), target)


def write_spans(chunks: Sequence[Span], length: int, scheme: str) -> list[str]:
    """Write the chunks of one sentence as labels.

    Parameters
    ----------
    chunks
        Type, start and end (exclusive), from left to right, without overlap.
    length
        Tokens of the sentence.
    scheme
        One of `SCHEMES`.

    Returns
    -------
    list of str
        One label per token, valid in the scheme; `spans` reads the same chunks from them.

    Raises
    ------
    LabelError
        If there is no such scheme.

    Examples
    --------
    >>> write_spans([("NP", 0, 2), ("NP", 2, 3)], 4, "ioe2")
    ['I-NP', 'E-NP', 'E-NP', 'O']
    """
    rules = _scheme(scheme)
    labels = [OUTSIDE] * length
    touches = [
        before[0] == after[0] and before[2] == after[1] for before, after in pairwise(chunks)
    ]
    for (chunk_type, start, stop), after_same, before_same in zip(
        chunks, [False, *touches], [*touches, False], strict=False
    ):
        suffix = f"-{chunk_type}" if chunk_type else ""
        prefixes = rules.write(stop - start, after_same, before_same)
        labels[start:stop] = [prefix + suffix for prefix in prefixes]
    return labels


def prefixes_of(scheme: str) -> frozenset[str]:
    """Return the prefixes of a scheme, ``O`` among them.

    Examples
    --------
    >>> sorted(prefixes_of("bmes"))
    ['B', 'E', 'M', 'O', 'S']
    """
    return _scheme(scheme).prefixes


def convertible_alone(source: str, target: str) -> bool:
    """Return whether each label of a valid sequence converts without a look at its neighbors.

    Examples
    --------
    >>> convertible_alone("iobes", "iob2"), convertible_alone("iob2", "iobes")
    (True, False)
    """
    return all(len(targets) == 1 for targets in _targets(source, target).values())


def convert_alone(label: str, source: str, target: str) -> str:
    """Convert one label of schemes that are `convertible_alone`.

    Examples
    --------
    >>> convert_alone("S-NP", "iobes", "iob2"), convert_alone("O", "iobes", "iob2")
    ('B-NP', 'O')
    """
    prefix, _ = parse(label)
    if prefix not in _scheme(source).prefixes:
        raise _foreign(label, source, "")
    [written] = _targets(source, target)[prefix]
    return written + label[1:]


@lru_cache
def _targets(source: str, target: str) -> dict[str, set[str]]:
    """Prefixes that each prefix of valid sequences may become."""
    before, after = _scheme(source), _scheme(target)
    found = {OUTSIDE: {OUTSIDE}}
    for shape in _SHAPES:
        for old, new in zip(before.write(*shape), after.write(*shape), strict=True):
            found.setdefault(old, set()).add(new)
    return found


def allowed(
    label_set: Sequence[str], scheme: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Tabulate which labels may start, follow one another, and end a sentence.

    Parameters
    ----------
    label_set
        The K labels in the order of their ids.
    scheme
        One of `SCHEMES`.

    Returns
    -------
    start : (K,) bool
        Whether a label may be the first.
    transition : (K, K) bool
        Row: previous label; column: current label.
    stop : (K,) bool
        Whether a label may be the last. With ``O`` or a label for chunks of one token, every length
        has an allowed sequence; without them it may have none.

    Raises
    ------
    LabelError
        If there is no such scheme, or a label does not belong to it.

    Examples
    --------
    >>> start, transition, stop = allowed(["B-NP", "I-NP", "O"], "iob2")
    >>> start.tolist(), stop.tolist()
    ([True, False, True], [True, True, True])
    >>> transition[2].tolist()  # after O
    [True, False, True]
    """
    import numpy as np

    check_labels(label_set, scheme)
    rules = _scheme(scheme)
    names = sorted(rules.prefixes)
    agreeing, differing = (
        np.array([[_may_follow(rules, a, b, agree=agree) for b in names] for a in names])
        for agree in (True, False)
    )
    parsed = [parse(label) for label in label_set]
    number = {kind: i for i, (_, kind) in enumerate(parsed)}
    prefix = np.array([names.index(name) for name, _ in parsed], np.intp)
    kind = np.array([number[kind] for _, kind in parsed], np.int32)
    transition = differing[prefix][:, prefix]
    for i, row in enumerate(transition):  # a step per pair would take seconds for a few thousand
        same = np.flatnonzero(kind == kind[i])
        row[same] = agreeing[prefix[i], prefix[same]]
    outside = names.index(OUTSIDE)
    return differing[outside, prefix], transition, differing[prefix, outside]


def check_labels(label_set: Sequence[str], scheme: str) -> None:
    """Refuse labels that do not belong to a scheme.

    Raises
    ------
    LabelError
        If there is no such scheme, or a label does not belong to it.
    """
    prefixes = _scheme(scheme).prefixes
    for number, label in enumerate(label_set, start=1):
        if parse(label)[0] not in prefixes:
            raise _foreign(label, scheme, f" as label {number} of the label set")


def _scheme(name: str) -> _Scheme:
    """Look a scheme up by name."""
    try:
        return _SCHEMES[name]
    except KeyError:
        msg = (
            f"expected a label scheme out of {', '.join(SCHEMES)}, found {name!r}; "
            "detect_scheme finds the scheme of given labels"
        )
        raise LabelError(msg) from None


def _parse(label: str | None) -> tuple[str, str]:
    """Split a label into prefix and type: ("O", "") outside and at a border, ("", "") if foreign.

    Examples
    --------
    >>> parse("B-NP"), parse("O"), parse("NOUN")
    (('B', 'NP'), ('O', ''), ('', ''))
    """
    if label is None or label == OUTSIDE:
        return OUTSIDE, ""
    prefix, hyphen, chunk_type = label.partition("-")
    if prefix in _READING.prefixes and bool(hyphen) == bool(chunk_type):
        return prefix, chunk_type
    return "", ""


parse = BoundedCache(_parse).__getitem__
"""`_parse`, whose answers are remembered."""


def kind_of(label: str) -> str:
    """Return the type of a chunk label; another label as it is.

    >>> kind_of("B-PER"), kind_of("NOUN"), kind_of("O")
    ('PER', 'NOUN', 'O')
    """
    return parse(label)[1] or label


def joined(labels: Iterable[str]) -> str:
    """Return the value of a column that stands for several labels, one of which a word has."""
    return _SEPARATOR.join(sorted(labels))


def alternatives(value: str, unlabeled: str | None = None) -> tuple[str, ...]:
    """Return the labels that a value stands for; none for the mark of words without a label.

    >>> alternatives(joined(["B-PER", "B-ORG"])), alternatives("O"), alternatives("_", "_")
    (('B-ORG', 'B-PER'), ('O',), ())
    """
    return () if value == unlabeled else tuple(value.split(_SEPARATOR))


def renamed(label: str, names: Mapping[str, str]) -> str:
    """Return a label with another name of itself or of its type, which may become ``O``.

    >>> renamed("B-person", {"person": "PER"}), renamed("B-misc", {"misc": "O"})
    ('B-PER', 'O')
    """
    if label in names:
        return names[label]
    prefix, kind = parse(label)
    name = names.get(kind, kind)
    if not kind or name == OUTSIDE:
        return name or label
    return f"{prefix}-{name}"


def _foreign(label: str, scheme: str, where: str) -> LabelError:
    """Error for a label that does not belong to the scheme."""
    letters = ", ".join(sorted(_SCHEMES[scheme].prefixes - {OUTSIDE}))
    return LabelError(
        f'expected labels of scheme {scheme} ("O", or {letters} with "-" and a type), '
        f"found {label!r}{where}; check the label column and the scheme"
    )
