"""Choice of the model of multiword tokens, by a trial on sentences held out of the training data.

The presets of `PRESETS` are tried in order. Labels with parts of speech find more words in
languages whose tokens hide many of them (Coptic, Turkish), and fewer where few scripts decide
(English, Armenian).
"""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import pointers
from seqtag.errors import CorpusError
from seqtag.features.language import load as load_templates
from seqtag.segmentation.multiword import TAGGED, Splitter
from seqtag.training.auto_settings import holdout_split, select_templates
from seqtag.training.runs import fit
from seqtag.training.text_examples import gather_words, word_examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from seqtag.corpus import Sentence
    from seqtag.features.templates import TemplateSet
    from seqtag.model.model import Model
    from seqtag.training.data import TrainingData
    from seqtag.training.problem import LearningTask
    from seqtag.training.runs import Schedule
    from seqtag.training.text_examples import WordExample

PRESETS = ("multiword", "clitics")
"""Presets to try; the labels of all but the first have parts of speech."""

_GOOD_ENOUGH = 0.997  # of the tokens have the right words: nothing else is tried

_log = logging.getLogger("seqtag")


def train_words(
    sentences: Iterable[Sentence],
    task_of: Callable[[TemplateSet], LearningTask],
    schedule: Schedule,
    init: Model | None = None,
    *,
    quick: bool = False,
) -> Model:
    """Train a model of multiword tokens, with the preset that is best in a trial.

    Parameters
    ----------
    sentences
        Those of the treebank.
    task_of
        Makes the task of templates.
    schedule
        The runs of the training.
    init
        The model to continue from.
    quick
        Run no trial: take the first preset.

    Raises
    ------
    CorpusError
        If there are no multiword tokens.
    KeyboardInterrupt
        If a trial is interrupted, or no epoch is finished.
    """
    gathered, source = gather_words(sentences)
    examples = [*chain.from_iterable(gathered)]
    if init is not None:
        task, tagged = task_of(init.templates), any(TAGGED in label for label in init.labels)
    else:
        name = PRESETS[0] if quick else _best_preset(gathered, task_of, schedule)
        task, tagged = task_of(load_templates(name)), name != PRESETS[0]
    return _fitted(task, word_examples(examples, task.columns, source, tagged=tagged), schedule)


def _fitted(task: LearningTask, examples: TrainingData, schedule: Schedule) -> Model:
    """Return a model of examples."""
    _, problem = select_templates([task], examples, schedule, quick=True)
    return fit(problem, schedule)


def _best_preset(
    gathered: Sequence[Sequence[WordExample]],
    task_of: Callable[[TemplateSet], LearningTask],
    schedule: Schedule,
) -> str:
    """Return the preset with the most held-out tokens right; the first if there is no trial."""
    cut = holdout_split(np.array([len(each) for each in gathered], np.int64))
    has_tags = len({tag for each in chain.from_iterable(gathered) for tag in each.tags}) > 1
    if cut is None or not has_tags:
        return PRESETS[0]
    training = [*chain.from_iterable(compress(gathered, cut.training.tolist()))]
    held_out = [*compress(gathered, cut.held_out.tolist())]
    alone = replace(schedule, runs=1, checkpoints=None, on_epoch=None)
    scores: dict[str, float] = {}
    for name in PRESETS:
        task = task_of(load_templates(name))
        try:
            found = word_examples(training, task.columns, tagged=name != PRESETS[0])
        except CorpusError:  # all multiword tokens are held out
            return PRESETS[0]
        model = _fitted(task, found, alone)
        if model.interrupted:
            raise KeyboardInterrupt
        scores[name] = tokens_right(Splitter(model), held_out)
        if scores[name] >= _GOOD_ENOUGH:
            break
    best = max(scores, key=scores.__getitem__)
    shown = ", ".join(f"{name}: {100 * score:.2f}" for name, score in scores.items())
    _log.info("words: preset %s, by held-out tokens with the right words (%s)", best, shown)
    return best


def tokens_right(splitter: Splitter, sentences: Sequence[Sequence[WordExample]]) -> float:
    """Return the share of tokens whose words are right."""
    examples = [*chain.from_iterable(sentences)]
    text = "".join(each.place.token for each in examples)
    ptr = pointers([len(each.place.token) for each in examples])
    ends = pointers(list(map(len, sentences)))[1:]
    found = splitter.split(text, ptr[:-1], ptr[1:], ends)
    right = sum(found.get(i) == each.words for i, each in enumerate(examples))
    return right / max(1, len(examples))
