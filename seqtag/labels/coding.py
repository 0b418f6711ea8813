"""Label coding: translation between labels in files and labels that have weights.

Chunk labels may be learned in another scheme than that of the files: IOBES distinguishes more
labels than IOB2. Weights, constraints and label ids are those of the *encoding*; input and output
are in the *scheme*. Lemmas are learned as edit scripts, by a coding that needs the forms:
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
    r"""Return whether a label has a control character, which may change the terminal.

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
    """Translation between the labels of files and the labels that have weights.

    Parameters
    ----------
    scheme
        Scheme of the labels in files, one of `seqtag.labels.schemes.SCHEMES`; None if they are not
        chunk labels.
    encoding
        Scheme of the labels that have weights.
    constrained
        Whether decoding returns only sequences that are valid in the encoding.

    Examples
    --------
    >>> coding = LabelCoding("iob2", "iobes", constrained=True)
    >>> coding.encode(["B-NP", "I-NP", "O"])
    ['B-NP', 'E-NP', 'O']
    >>> coding.decode(["B-NP", "E-NP", "O"])
    ['B-NP', 'I-NP', 'O']
    """

    name: ClassVar[str] = "labels"
    """Name of this kind of coding in model files."""

    needs_forms: ClassVar[bool] = False
    """True if `encode` and `decode` need the forms."""

    scheme: str | None = None
    encoding: str | None = None
    constrained: bool = False

    @classmethod
    def choose(
        cls,
        transitions: Mapping[Transition, int],
        encoding: str,
        *,
        constrained: bool,
        encoding_given: bool = False,
    ) -> LabelCoding:
        """Return the coding for the labels of a corpus.

        Parameters
        ----------
        transitions
            Counts of neighboring labels; see `seqtag.labels.schemes.count_transitions`.
        encoding
            Scheme to learn chunk labels in; ``keep`` for the one of the corpus.
        constrained
            Whether chunk labels are decoded as valid sequences only.
        encoding_given
            Whether the encoding comes from the user, not from a preset.

        Raises
        ------
        LabelError
            If the user requested an encoding and the labels are not chunk labels.
        """
        scheme = scheme_of(transitions)
        if scheme is None:
            if encoding_given and encoding != "keep":
                label = next(label for pair in transitions for label in pair if label is not None)
                msg = (
                    f"expected chunk labels such as B-NP to learn as {encoding}, found labels "
                    f"like {label!r}; leave the encoding out"
                )
                raise LabelError(msg)
            return cls()
        return cls(scheme, scheme if encoding == "keep" else encoding, constrained)

    @property
    def changes_labels(self) -> bool:
        """True if the encoding differs from the scheme of the files."""
        return self.encoding is not None and self.encoding != self.scheme

    def encode(
        self,
        labels: Sequence[str],
        forms: Sequence[str] = (),  # noqa: ARG002  used by codings of forms
    ) -> list[str]:
        """Return the labels of a sentence in the encoding, given its forms."""
        if self.scheme is None or self.encoding is None or not self.changes_labels:
            return list(labels)
        return convert(labels, self.scheme, self.encoding)

    def decode(
        self,
        labels: Sequence[str],
        forms: Sequence[str] = (),  # noqa: ARG002  used by codings of forms
    ) -> list[str]:
        """Return the labels of a sentence in the scheme of the files, given encoded ones."""
        if self.scheme is None or self.encoding is None or not self.changes_labels:
            return list(labels)
        return convert(labels, self.encoding, self.scheme)

    @property
    def is_local(self) -> bool:
        """True if each label is decoded independently of its neighbors, by `decode_alone`.

        False if labels are learned in another scheme and decoded without constraints, because
        invalid sequences need repair, or if the schemes are not `convertible_alone`.
        """
        if self.scheme is None or self.encoding is None or self.scheme == self.encoding:
            return True
        return self.constrained and convertible_alone(self.encoding, self.scheme)

    def decode_alone(self, label: str) -> str:
        """Return one label in the scheme of the files if the coding `is_local`, else unchanged."""
        if self.scheme is None or self.encoding is None or not self.is_local:
            return label
        return convert_alone(label, self.encoding, self.scheme)

    def encoded_ids(self, label: str, encoded: Sequence[str], form: str = "") -> list[int]:  # noqa: ARG002
        """Return the ids of the encoded labels that may decode to a label, given the word's form.

        If that depends on the neighbors, these are all labels of the same chunk type.

        >>> LabelCoding("iob2", "iobes", True).encoded_ids("B-NP", ["B-NP", "E-NP", "S-NP"])
        [0, 2]
        """
        if self.is_local:
            return [i for i, each in enumerate(encoded) if self.decode_alone(each) == label]
        kind = label == OUTSIDE, parse(label)[1]
        return [i for i, each in enumerate(encoded) if (each == OUTSIDE, parse(each)[1]) == kind]

    def ids_alone(self, label: str, encoded: Sequence[str]) -> list[int]:
        """Return the ids of the encoded labels that decode to a label independent of the neighbors.

        If that depends on the neighbors, it is the id of the label of the same name, if any.

        >>> LabelCoding("iob2", "iobes").ids_alone("B-NP", ["B-NP", "E-NP", "S-NP"])
        [0]
        """
        return [i for i, each in enumerate(encoded) if self.decode_alone(each) == label]

    def check(self, labels: Sequence[str]) -> None:
        """Refuse encoded labels that cannot be decoded.

        Raises
        ------
        LabelError
            If one has a control character (see `has_controls`), does not belong to the encoding,
            or is not an edit script where those are learned.
        """
        refuse_controls(labels)
        if self.encoding is not None and (self.constrained or self.changes_labels):
            check_labels(labels, self.encoding)

    def allowed(
        self, labels: Sequence[str]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Tabulate which encoded labels may start, follow one another, and end; None if all may.

        See `seqtag.labels.schemes.allowed`.
        """
        return allowed(labels, str(self.encoding)) if self.constrained else None
