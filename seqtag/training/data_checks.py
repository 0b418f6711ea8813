"""What is to be said of training data before anything is learnt from them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from seqtag.features.normal_forms import note_of_spellings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from seqtag.features.encoder import Column
    from seqtag.training.data import TrainingData

_log = logging.getLogger("seqtag")

_NOTED = 0.01  # of the words of a dev set; less is greetings and the like, in six corpora


def note_data(
    examples: TrainingData, names: Sequence[str], held_out: TrainingData | None = None
) -> None:
    """Say in the log where labels or a dev set are not what they seem to be.

    That is: labels in several Unicode normal forms, which are learnt as different ones; words in
    several, which are not; a label of words without one that no word has; and a dev set that is the
    training data, or has sentences of it.

    Parameters
    ----------
    examples, held_out
        The training data and the dev set.
    names
        Names of their columns. Sentences are compared by their forms; without, they are not.
    """
    alike: dict[str, list[str]] = {}
    for label in examples.labels.types:
        if not label.isascii():
            alike.setdefault(normalize("NFC", label), []).append(label)
    several = [form for form, labels in alike.items() if len(labels) > 1]
    if several:
        _log.warning(
            "labels such as %s come in several Unicode normal forms and are learnt as different "
            "ones (%d in all); bring the data to one, NFC",
            several[0],
            len(several),
        )
    if examples.unlabelled and examples.labelled().all():
        _log.warning("no word has the label %r: every word is labelled", examples.unlabelled)
    if "form" in names:
        forms = examples.columns[names.index("form")]
        counts = np.bincount(forms.ids, minlength=len(forms.types)).tolist()
        if note := note_of_spellings(zip(forms.types, counts, strict=True)):
            _log.info("%s", note)
    if held_out is not None:
        _note_overlap(examples, held_out, names)


def _note_overlap(examples: TrainingData, held_out: TrainingData, names: Sequence[str]) -> None:
    """Say that a dev set is the training data, or how much of it is in there."""
    compared = [names.index(name) for name in (["form"] if "form" in names else names)]
    pairs = [(examples.labels, held_out.labels)]
    pairs += [(examples.columns[i], held_out.columns[i]) for i in compared]
    if np.array_equal(examples.lengths, held_out.lengths) and all(
        _are_same(*pair) for pair in pairs
    ):
        _log.warning(
            "the dev set is the training data: its scores say how well that was learnt, and stop "
            "nothing too early or too late; give sentences of other texts"
        )
        return
    if "form" not in names:
        return
    ours, theirs = pairs[1]
    shared = shared_sentences(theirs, held_out.lengths, ours, examples.lengths)
    words, count = int(held_out.lengths[shared].sum()), int(shared.sum())
    if words >= _NOTED * held_out.lengths.sum():
        _log.warning(
            "%d of the %d sentences of the dev set %s in the training data, too (%.1f%% of its "
            "words): its scores say too much; leave them out of one of the two",
            count,
            len(shared),
            "is" if count == 1 else "are",
            100 * words / held_out.lengths.sum(),
        )


def _are_same(one: Column, other: Column) -> bool:
    return one.types == other.types and np.array_equal(one.ids, other.ids)


def shared_sentences(
    column: Column,
    lengths: NDArray[np.int64],
    other: Column,
    other_lengths: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which sentences are among others: (sentences,) bool.

    Parameters
    ----------
    column, lengths
        Their words, all sentences end to end, and how many each has.
    other, other_lengths
        The words of the others.

    Examples
    --------
    >>> from seqtag.features.encoder import Column
    >>> ours, theirs = Column.of(["to", "be", "to"]), Column.of(["be", "to", "be"])
    >>> shared_sentences(ours, np.array([2, 1]), theirs, np.array([1, 2])).tolist()
    [True, False]
    """
    number = {form: i for i, form in enumerate(column.types)}
    ours = np.fromiter((number.get(form, -1) for form in other.types), np.int32, len(other.types))
    rows = list(_sentences(column.ids, lengths))
    wanted = set(rows)
    found = {row for row in _sentences(ours[other.ids], other_lengths) if row in wanted}
    return np.array([row in found for row in rows], bool)


def _sentences(ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> Iterator[bytes]:
    """The numbers of each sentence's words, as bytes."""
    data = ids.astype(np.int32).tobytes()
    end = 0
    for length in lengths.tolist():
        start, end = end, end + 4 * length
        yield data[start:end]
