"""Schemes of chunk labels: IOB1, IOB2, IOBES, BILOU.

A *chunk label* is ``O`` (outside) or a prefix letter, a hyphen and a type: ``B-NP``. The type may
hold hyphens itself (``B-ARGM-LOC``) and may be missing (``B``), as in segmentation without types.

One rule reads the chunks of all four schemes:

* ``B``, ``S`` and ``U`` start a chunk;
* ``I``, ``E`` and ``L`` continue the open chunk if the type agrees, and start a chunk otherwise;
* ``E``, ``L``, ``S`` and ``U`` close their chunk; ``O`` and the end of the sentence close any.

On the letters B, I, O these are the rules of the conlleval script. They also say how an invalid
sequence is repaired: nothing is thrown away. ``I-X`` after ``O`` starts a chunk, ``B-X O`` in
IOBES is a chunk of one token.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from seqtag.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

Span: TypeAlias = tuple[str, int, int]
"""Type, start and end (exclusive) of a chunk."""

Transition: TypeAlias = tuple["str | None", "str | None"]
"""Previous and current label; None is the border of the sentence."""

OUTSIDE = "O"
_CHUNK_LETTERS = frozenset("BIESLU")
_CONTINUE = frozenset("IEL")
_CLOSE = frozenset("ESLU")


class _Scheme:
    """What tells one scheme from another: how chunks are written, which labels may be neighbours.

    letters   prefixes of the first, middle and last token of a chunk, and of a chunk of one token
    touching  prefix of a first token that follows a chunk of its own type ("" = as in letters)
    first     prefixes that may follow O, another type, or the start of the sentence
    last      prefixes that may precede them, or the end of the sentence
    same      pairs of prefixes that may stand side by side when their types agree
    """

    def __init__(self, letters: str, *, first: str, last: str, same: str, touching: str = ""):
        self.letters = tuple(letters)
        self.touching = touching
        self.first = frozenset(first)
        self.last = frozenset(last)
        self.same = frozenset(same.split())
        self.prefixes = frozenset("".join(self.same)) | {OUTSIDE}


_SCHEMES = {
    "iob1": _Scheme("IIII", first="I", last="BI", same="BB BI IB II", touching="B"),
    "iob2": _Scheme("BIIB", first="B", last="BI", same="BB BI IB II"),
    "iobes": _Scheme("BIES", first="BS", last="ES", same="BI BE II IE EB ES SB SS"),
    "bilou": _Scheme("BILU", first="BU", last="LU", same="BI BL II IL LB LU UB UU"),
}

SCHEMES: tuple[str, ...] = tuple(_SCHEMES)
"""Names of the schemes."""


def detect_scheme(sequences: Iterable[Sequence[str]]) -> str | None:
    """Find the scheme that label sequences are written in.

    Parameters
    ----------
    sequences
        Labels, one sequence per sentence. Read once.

    Returns
    -------
    str or None
        Of the schemes that know every prefix, the one with the fewest invalid transitions
        (IOB2 if tied). None if the labels are not chunk labels: one of them is neither ``O`` nor
        a prefix of one scheme, or there is nothing but ``O``, or nothing at all. Prefixes without
        any type are the labels of one nameless type, as the conlleval script reads them, if there
        are two different ones with ``B`` among them, or if they are ``I`` and ``O``: a ``B`` or
        an ``S`` alone may be a part of speech. So ``B I O`` are chunks, and ``B I`` and
        ``B I E S`` the words of a character segmentation; ``B M E S`` are plain labels, as are
        ``B`` and ``NN``.

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
    labels = {label for pair in transitions for label in pair if label is not None}
    prefixes = {_split(label)[0] for label in labels}
    typed = any(_split(label)[1] for label in labels)
    # One bare "B" can be a part of speech as well; a type, or a second letter, is convincing.
    bare = len(prefixes) > 1 and ("B" in prefixes or prefixes == {"I", OUTSIDE})
    if "" in prefixes or not (typed or bare):
        return None
    fitting = [name for name, scheme in _SCHEMES.items() if prefixes <= scheme.prefixes]
    return min(
        fitting,
        key=lambda name: (invalid_transitions(transitions, name), name != "iob2"),
        default=None,
    )


def count_transitions(sequences: Iterable[Sequence[str]]) -> Counter[Transition]:
    """Count the pairs of neighbouring labels, with None for the border of a sentence.

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


def valid_transition(previous: str | None, current: str | None, scheme: str) -> bool:
    """Tell whether one label may follow another.

    Parameters
    ----------
    previous, current
        Neighbouring labels; None is the start or the end of the sentence.
    scheme
        One of `SCHEMES`.

    Returns
    -------
    bool
        False also if a label does not belong to the scheme at all.

    Raises
    ------
    LabelError
        If there is no such scheme.

    Examples
    --------
    >>> valid_transition("B-NP", "I-NP", "iob2"), valid_transition(None, "I-NP", "iob2")
    (True, False)
    """
    before, before_type = _split(previous)
    after, after_type = _split(current)
    return _may_follow(_scheme(scheme), before, after, agree=before_type == after_type)


def _may_follow(rules: _Scheme, before: str, after: str, *, agree: bool) -> bool:
    """Tell whether one prefix may follow another, given whether their types agree."""
    if before == OUTSIDE:
        return after == OUTSIDE or after in rules.first
    if after == OUTSIDE:
        return before in rules.last
    if agree:
        return before + after in rules.same
    return before in rules.last and after in rules.first


def invalid_transitions(transitions: Mapping[Transition, int], scheme: str) -> int:
    """Count the invalid ones among the counts of `count_transitions`; see `count_invalid`.

    Examples
    --------
    >>> invalid_transitions(count_transitions([["I-NP", "O"], ["I-NP"]]), "iob2")
    2
    """
    _scheme(scheme)
    return sum(n for pair, n in transitions.items() if not valid_transition(*pair, scheme))


def count_invalid(labels: Sequence[str], scheme: str) -> int:
    """Count the invalid transitions of one sentence, its start and end included.

    Parameters
    ----------
    labels
        Labels of the sentence. A label that is foreign to the scheme spoils the transition on
        either side of it. An empty sentence has nothing invalid.
    scheme
        One of `SCHEMES`.

    Raises
    ------
    LabelError
        If there is no such scheme.

    Examples
    --------
    >>> count_invalid(["B-NP", "O", "I-NP"], "iob2")
    1
    >>> count_invalid(["B-NP"], "iobes")
    1
    """
    return invalid_transitions(count_transitions([labels]), scheme)


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
        prefix, chunk_type = _split(label)
        if prefixes is not None and prefix not in prefixes:
            raise _foreign(label, str(scheme), f" at position {position + 1} of the sentence")
        if start >= 0 and not (prefix in _CONTINUE and chunk_type == open_type):
            found.append((open_type, start, position))
            start = -1
        if start < 0 and prefix in _CHUNK_LETTERS:
            start, open_type = position, chunk_type
        if prefix in _CLOSE:
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
    rules = _scheme(target)
    begin, middle, end, single = rules.letters
    written = [OUTSIDE] * len(labels)
    last_type, last_stop = "", -1
    for chunk_type, start, stop in spans(labels, source):
        letters = single if stop - start == 1 else begin + middle * (stop - start - 2) + end
        if rules.touching and (last_type, last_stop) == (chunk_type, start):
            letters = rules.touching + letters[1:]
        suffix = f"-{chunk_type}" if chunk_type else ""
        written[start:stop] = [letter + suffix for letter in letters]
        last_type, last_stop = chunk_type, stop
    return written


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
        Label may stand first.
    transition : (K, K) bool
        Row: previous label; column: current label.
    stop : (K,) bool
        Label may stand last. With ``O`` or a whole chunk of one token in the set, every length
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
    check_labels(label_set, scheme)
    rules = _scheme(scheme)
    names = sorted(rules.prefixes)
    agreeing, differing = (
        np.array([[_may_follow(rules, a, b, agree=agree) for b in names] for a in names])
        for agree in (True, False)
    )
    parts = [_split(label) for label in label_set]
    number = {kind: i for i, (_, kind) in enumerate(parts)}
    prefix = np.array([names.index(name) for name, _ in parts], np.intp)
    kind = np.array([number[kind] for _, kind in parts], np.int32)
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
        if _split(label)[0] not in prefixes:
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


@lru_cache(maxsize=1 << 16)
def _split(label: str | None) -> tuple[str, str]:
    """Prefix and type of a label: ("O", "") outside and at a border, ("", "") if foreign."""
    if label is None or label == OUTSIDE:
        return OUTSIDE, ""
    prefix, hyphen, chunk_type = label.partition("-")
    if prefix in _CHUNK_LETTERS and bool(hyphen) == bool(chunk_type):
        return prefix, chunk_type
    return "", ""


def _foreign(label: str, scheme: str, where: str) -> LabelError:
    """Error for a label that does not belong to the scheme."""
    letters = ", ".join(sorted(_SCHEMES[scheme].prefixes - {OUTSIDE}))
    return LabelError(
        f'expected labels of scheme {scheme} ("O", or {letters} with "-" and a type), '
        f"found {label!r}{where}; check the label column and the scheme"
    )
