"""Warnings about training data before training begins."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from seqtag.features.normal_forms import note_of_spellings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from seqtag.features.encoder import Column
    from seqtag.training.data import TrainingData

_log = logging.getLogger("seqtag")

_NOTED = 0.01  # of the words of a dev set; less is greetings and the like, in six corpora


def check_data(examples: TrainingData, held_out: TrainingData | None = None) -> None:
    """Warn about labels in several Unicode normal forms, and about an overlapping dev set.

    Also log words in several normal forms, which are learned as one, and a mark of unlabeled words
    that no word has.

    Parameters
    ----------
    examples, held_out
        The training data and the dev set. Sentences are compared by the column form, if there is
        one; a dev set equal to the training data is always detected.
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
    if examples.unlabeled and examples.labeled().all():
        _log.warning("no word has the label %r: every word is labelled", examples.unlabeled)
    if "form" in examples.columns:
        forms = examples.columns["form"]
        counts = np.bincount(forms.ids, minlength=len(forms.types)).tolist()
        if note := note_of_spellings(zip(forms.types, counts, strict=True)):
            _log.info("%s", note)
    if held_out is not None:
        _check_overlap(examples, held_out)


def _check_overlap(examples: TrainingData, held_out: TrainingData) -> None:
    """Warn that a dev set is the training data, or how many of its sentences are in there."""
    compared = ["form"] if "form" in examples.columns else list(examples.columns)
    pairs = [(examples.labels, held_out.labels)]
    pairs += [(examples.columns[name], held_out.columns[name]) for name in compared]
    if np.array_equal(examples.lengths, held_out.lengths) and all(
        _are_same(*pair) for pair in pairs
    ):
        _log.warning(
            "the dev set is the training data: its scores say how well that was learnt, and stop "
            "nothing too early or too late; give sentences of other texts"
        )
        return
    if "form" not in examples.columns:
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
    """Return which sentences are among others: (sentences,) bool.

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
