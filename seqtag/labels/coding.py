"""Label coding: labels as files have them, labels as they are learnt, and what may follow what.

Chunk labels may be learnt in another scheme than they are written in: IOBES tells the model more
than IOB2 does. Weights, constraints and label ids are those of the scheme learnt; what goes in and
out is the scheme written. Lemmas are learnt as edit scripts, for which a coding is given the forms:
`seqtag.labels.lemmas`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from seqtag.errors import LabelError
from seqtag.labels.schemes import (
    OUTSIDE,
    Transition,
    allowed,
    check_labels,
    convert,
    convert_alone,
    convertible_alone,
    parse,
    scheme_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def has_controls(label: str) -> bool:
    r"""Whether a label holds a control character: a terminal obeys some, no column holds others.

    >>> has_controls("NOUN\x1b[2J"), has_controls("Übung אב")
    (True, False)
    """
    return _CONTROL.search(label) is not None


def refuse_controls(labels: Iterable[str]) -> None:
    """Refuse labels with control characters.

    Raises
    ------
    LabelError
        If there are any.
    """
    found = next(filter(has_controls, labels), None)
    if found is not None:
        msg = f"expected labels without control characters, found {found[:40]!r}; retrain the model"
        raise LabelError(msg)


@dataclass(frozen=True)
class LabelCoding:
    """How labels are written, how they are learnt.

    Parameters
    ----------
    written
        Scheme of the labels in files, one of `seqtag.labels.schemes.SCHEMES`; None if they are no
        chunk labels.
    learnt
        Scheme of the labels that have weights.
    constrained
        Whether decoding gives valid sequences of the scheme learnt only.

    Examples
    --------
    >>> coding = LabelCoding("iob2", "iobes", constrained=True)
    >>> coding.as_learnt(["B-NP", "I-NP", "O"])
    ['B-NP', 'E-NP', 'O']
    >>> coding.as_written(["B-NP", "E-NP", "O"])
    ['B-NP', 'I-NP', 'O']
    """

    name: ClassVar[str] = "labels"
    """What a model file calls this kind of coding."""

    needs_forms: ClassVar[bool] = False
    """Whether `as_learnt` and `as_written` look at the forms."""

    written: str | None = None
    learnt: str | None = None
    constrained: bool = False

    @classmethod
    def choose(
        cls,
        transitions: Mapping[Transition, int],
        encoding: str,
        *,
        constrained: bool,
        asked: bool = False,
    ) -> LabelCoding:
        """The coding for the labels of a corpus.

        Parameters
        ----------
        transitions
            Which label follows which how often; see `seqtag.labels.schemes.count_transitions`.
        encoding
            Scheme to learn chunk labels in; ``keep`` for that they are written in.
        constrained
            Whether chunk labels may be decoded as valid sequences only.
        asked
            Whether the encoding was asked for, not just a preset's.

        Raises
        ------
        LabelError
            If an encoding was asked for and the labels are no chunk labels.
        """
        written = scheme_of(transitions)
        if written is None:
            if asked and encoding != "keep":
                label = next(label for pair in transitions for label in pair if label is not None)
                msg = (
                    f"expected chunk labels such as B-NP to learn as {encoding}, found labels "
                    f"like {label!r}; leave the encoding out"
                )
                raise LabelError(msg)
            return cls()
        return cls(written, written if encoding == "keep" else encoding, constrained)

    @property
    def changes_labels(self) -> bool:
        """Whether labels are learnt in another scheme than they are written in."""
        return self.learnt is not None and self.learnt != self.written

    def as_learnt(
        self,
        labels: Sequence[str],
        forms: Sequence[str] = (),  # noqa: ARG002  a coding of forms looks at them
    ) -> list[str]:
        """The labels of a sentence as they are learnt, given its forms."""
        if self.written is None or self.learnt is None or not self.changes_labels:
            return list(labels)
        return convert(labels, self.written, self.learnt)

    def as_written(
        self,
        labels: Sequence[str],
        forms: Sequence[str] = (),  # noqa: ARG002  a coding of forms looks at them
    ) -> list[str]:
        """The labels of a sentence, given as they are learnt, as files have them."""
        if self.written is None or self.learnt is None or not self.changes_labels:
            return list(labels)
        return convert(labels, self.learnt, self.written)

    def written_alone(self, label: str) -> str:
        """What a label is written as if that does not hang on its neighbours: see `is_local`."""
        if self.written is None or self.learnt is None or not self.is_local:
            return label
        return convert_alone(label, self.learnt, self.written)

    def ids_written(self, label: str, learnt: Sequence[str], form: str = "") -> list[int]:  # noqa: ARG002
        """Places of the labels learnt that may be written as a label, given the word's form.

        Where that hangs on their neighbours, they are all those of the same chunk type.

        >>> LabelCoding("iob2", "iobes", True).ids_written("B-NP", ["B-NP", "E-NP", "S-NP"])
        [0, 2]
        """
        if self.is_local:
            return [i for i, each in enumerate(learnt) if self.written_alone(each) == label]
        outside, kind = label == OUTSIDE, parse(label)[1]
        return [
            i
            for i, each in enumerate(learnt)
            if (each == OUTSIDE, parse(each)[1]) == (outside, kind)
        ]

    @property
    def is_local(self) -> bool:
        """Whether each label is written independently of its neighbors, by `written_alone`.

        Not if labels are learned in another scheme and decoded without constraints, which may
        give sequences to repair, or if the schemes are not `convertible_alone`.
        """
        if self.written is None or self.learnt is None or self.written == self.learnt:
            return True
        return self.constrained and convertible_alone(self.learnt, self.written)

    def check(self, labels: Sequence[str]) -> None:
        """Refuse labels that cannot be written, given as they are learnt.

        Raises
        ------
        LabelError
            If one holds a control character (see `has_controls`), is no edit script where these are
            learnt, or does not belong to the scheme.
        """
        refuse_controls(labels)
        if self.learnt is not None and (self.constrained or self.changes_labels):
            check_labels(labels, self.learnt)

    def allowed(
        self, labels: Sequence[str]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Which of the labels learnt may start, follow one another, and end; None: all may.

        See `seqtag.labels.schemes.allowed`.
        """
        return allowed(labels, str(self.learnt)) if self.constrained else None
