"""Calibration of margins on sentences with gold labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus.gold import GoldLabels, check_tag_set, is_in
from seqtag.errors import CorpusError
from seqtag.evaluation.reliability import Reliability
from seqtag.model.calibration import Calibration
from seqtag.tagging.encode import NO_LABEL
from seqtag.tagging.streams import FilledSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seqtag.corpus import Sentence
    from seqtag.model.model import Model
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.tagging.tagger import Tagger


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
        for tagged, gold, (labels, found, _) in zip(
            filled, _gold(tagger, filled), scored, strict=True
        ):
            for expected, label, margin in zip(gold, labels, found, strict=True):
                if expected is not None:
                    margins.append(margin)
                    right.append(label == expected)
            tagged.filled |= tagger.split_label(labels)
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


def _gold(tagger: Tagger, filled: Sequence[FilledSentence]) -> list[Sequence[str | None]]:
    """Return the gold labels of each sentence for a tagger; None where a word has none.

    Raises
    ------
    LabelError
        If the tagger can predict none of them: scores learned from them are nonsense.
    """
    column = tagger.model.column
    reader = GoldLabels(column, tagger.label_scheme, partial=True)
    gold: list[Sequence[str | None]] = [[None] * len(each) for each in filled]
    annotated = [i for i, each in enumerate(filled) if is_in(column, each.sentence.columns)]
    found = reader.converted([reader.read(filled[i].sentence) for i in annotated])
    for i, labels in zip(annotated, found, strict=True):
        missing = None if column.may_be_empty else NO_LABEL
        gold[i] = [None if label == missing else label for label in labels]
    if not column.is_lemma:
        known = {label for labels in gold for label in labels if label is not None}
        advice = f'convert the column {column}, or write "_" in it to leave it uncalibrated'
        check_tag_set(known, tagger.labels, advice, filled[0].sentence.source if filled else None)
    return gold
