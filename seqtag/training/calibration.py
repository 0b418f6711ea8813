"""Calibration of margins on sentences with gold labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus.sentence import find_column
from seqtag.errors import CorpusError, LabelError
from seqtag.evaluation.reliability import Reliability
from seqtag.labels.schemes import OUTSIDE, check_labels
from seqtag.model.calibration import Calibration
from seqtag.tagging.streams import FilledSentence, labels_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seqtag.corpus import Sentence
    from seqtag.model.model import Model
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.tagging.tagger import Tagger

_MOST = 4  # labels shown in a message


class Calibrated(NamedTuple):
    """Calibrated models.

    Attributes
    ----------
    models
        All models of the file, in order.
    reliability
        By component: how its scores fit the sentences on which they were calibrated. They fit
        others less well.
    """

    models: list[Model]
    reliability: dict[str, Reliability]


def calibrate(
    loaded: Tagger | Pipeline, sentences: Iterable[Sentence], threads: int = 1
) -> Calibrated:
    """Calibrate a tagger, or the components of a pipeline that have gold labels.

    Parameters
    ----------
    loaded
        A tagger or a pipeline. Components run as in tagging: later ones see the labels predicted
        by earlier ones.
    sentences
        Sentences with gold labels that the model was not trained on. Words without a label are
        left out.
    threads
        Threads to tag on.

    Raises
    ------
    CorpusError
        If no sentence has a gold label for any component.
    LabelError
        If the gold labels of a component are of another tag set or chunk scheme than its own.
    """
    filled = [FilledSentence(sentence) for sentence in sentences if len(sentence)]
    learned: dict[str, Calibration] = {}
    reliability: dict[str, Reliability] = {}
    judged_any = False
    for tagger in loaded.taggers:
        scored = tagger.tag_many(filled, threads, scores=True)
        margins: list[float] = []
        right: list[bool] = []
        labels_seen: set[str] = set()
        for tagged, (labels, found, _) in zip(filled, scored, strict=True):
            gold = _gold(tagger, tagged)
            for expected, label, margin in zip(gold, labels, found, strict=True):
                if expected is not None:
                    margins.append(margin)
                    right.append(label == expected)
            tagged.filled |= tagger.split_label(labels)
            labels_seen |= {label for label in gold if label is not None}
        _check_tag_set(tagger, labels_seen, filled)
        judged_any = judged_any or bool(margins)
        if any(margin < float("inf") for margin in margins):
            learned[tagger.label] = Calibration.learn(margins, right)
            scores = learned[tagger.label].of(margins)
            reliability[tagger.label] = Reliability.of(scores, right)
    if not learned:
        columns = ", ".join(name for tagger in loaded.taggers for name in tagger.label_columns)
        msg = f"expected gold labels in a column {columns} to calibrate on, found none"
        if judged_any:
            msg = (
                "expected words that could have several labels to calibrate on, found none: each "
                "word here had only one label in training; give more text"
            )
        raise CorpusError(msg, source=filled[0].sentence.source if filled else None)
    return Calibrated(
        [
            replace(model, calibration=learned.get(model.column.name, model.calibration))
            for model in loaded.models
        ],
        reliability,
    )


def _check_tag_set(tagger: Tagger, gold: set[str], filled: Sequence[FilledSentence]) -> None:
    """Refuse gold labels that the tagger cannot predict: scores learned from them are nonsense."""
    try:
        if tagger.label_scheme is not None:
            check_labels(sorted(gold), tagger.label_scheme)
        given, known = gold - {OUTSIDE}, {*tagger.labels} - {OUTSIDE}
        if given and not given & known and not tagger.model.column.is_lemma:
            msg = (
                f"expected labels of the model, such as {', '.join(sorted(known)[:_MOST])}, found "
                f"none of them in the column {tagger.label} but {', '.join(sorted(given)[:_MOST])}"
                '; convert the labels, or write "_" for each to leave this column uncalibrated'
            )
            raise LabelError(msg)
    except LabelError as error:
        raise LabelError(error.message, source=filled[0].sentence.source) from None


def _gold(tagger: Tagger, tagged: FilledSentence) -> list[str | None]:
    """Return the gold labels of a sentence for a tagger; None where a word has none."""
    column = tagger.model.column
    if column.may_be_empty and find_column(column.name, tagged.sentence.columns):
        return list(column.of(tagged.sentence))
    labels = labels_in(tagger, tagged) or [None] * len(tagged)
    return [label and column.normal(label) for label in labels]
