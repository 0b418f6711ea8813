"""Learning how often labels of a margin are right, on sentences with gold labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from seqtag.corpus.sentence import find_column
from seqtag.errors import CorpusError
from seqtag.evaluation.reliability import Reliability
from seqtag.model.calibration import Calibration
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import FilledSentence, labels_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from seqtag.corpus import Sentence
    from seqtag.model.model import Model
    from seqtag.tagging.tagger import Tagger


class Calibrated(NamedTuple):
    """Models with what was learnt.

    Attributes
    ----------
    models
        All models of the file, in order.
    reliability
        By the name of each part that was calibrated: how its scores fit the sentences on which
        they were learnt. On others they fit less well.
    """

    models: list[Model]
    reliability: dict[str, Reliability]


def calibrate(
    loaded: Tagger | Pipeline, sentences: Iterable[Sentence], threads: int = 1
) -> Calibrated:
    """Learn the calibration of a tagger, or of those parts of a pipeline that have gold labels.

    Parameters
    ----------
    loaded
        What a model file holds. Its parts run as they do in tagging: later ones see the labels that
        earlier ones give.
    sentences
        With gold labels, and not those that the model was trained on, which it knows too well.
        Words without a label are left out.
    threads
        Threads to tag on.

    Raises
    ------
    CorpusError
        If no sentence has a gold label for any part.
    """
    taggers = loaded.taggers if isinstance(loaded, Pipeline) else (loaded,)
    filled = [FilledSentence(sentence) for sentence in sentences if len(sentence)]
    learnt: dict[str, Calibration] = {}
    reliability: dict[str, Reliability] = {}
    judged_any = False
    for tagger in taggers:
        scored = tagger.tag_many(filled, threads, scores=True)
        margins: list[float] = []
        right: list[bool] = []
        for tagged, (labels, found, _) in zip(filled, scored, strict=True):
            gold = _gold(tagger, tagged)
            for expected, label, margin in zip(gold, labels, found, strict=True):
                if expected is not None:
                    margins.append(margin)
                    right.append(label == expected)
            tagged.filled |= tagger.split_label(labels)
        judged_any = judged_any or bool(margins)
        if any(margin < float("inf") for margin in margins):
            learnt[tagger.label] = Calibration.learn(margins, right)
            scores = learnt[tagger.label].of(margins)
            reliability[tagger.label] = Reliability.of(scores, right)
    if not learnt:
        columns = ", ".join(name for tagger in taggers for name in tagger.label_columns)
        msg = f"expected gold labels in a column {columns} to calibrate on, found none"
        if judged_any:
            msg = (
                "expected words that could have several labels to calibrate on, found none: the "
                "model gives each word here the one that it always had in training; give more text"
            )
        raise CorpusError(msg, source=filled[0].sentence.source if filled else None)
    models = loaded.models if isinstance(loaded, Pipeline) else (loaded.model,)
    return Calibrated(
        [
            replace(model, calibration=learnt.get(model.column.name, model.calibration))
            for model in models
        ],
        reliability,
    )


def _gold(tagger: Tagger, tagged: FilledSentence) -> list[str | None]:
    """The gold labels of a sentence for a tagger; None where a word has none."""
    column = tagger.model.column
    if column.may_be_empty and find_column(column.name, tagged.sentence.columns):
        return list(tagged.sentence.column(column.name))
    return labels_in(tagger, tagged) or [None] * len(tagged)
