"""Choice of the model of multiword tokens, by a trial on sentences held out of the training data.

The presets of `PRESETS` are tried in order. Labels with parts of speech, and how often the parts of
a token are words elsewhere, find more words in languages whose tokens hide many of them (Coptic,
Turkish), and fewer where few scripts decide (English, Armenian).
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
from seqtag.tables.lexicon import with_tables
from seqtag.training.auto_settings import holdout_split, select_templates
from seqtag.training.runs import fit
from seqtag.training.text_examples import gather_words, part_table, word_examples

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
"""Presets to try. All but the first look at the parts of tokens, see
`seqtag.segmentation.word_parts`, and their labels have parts of speech if the treebank does."""

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
    if init is None:
        name = PRESETS[0] if quick else _best_preset(gathered, task_of, schedule)
        return _fitted(name, examples, task_of, schedule, source)
    templates, tagged = init.templates, any(TAGGED in label for label in init.labels)
    data = word_examples(
        *(examples, templates.columns, source),
        tagged=tagged,
        tables=templates.tables,
        jackknifed=False,
    )
    return _model_of(task_of(templates), data, schedule)


def _fitted(
    preset: str,
    examples: Sequence[WordExample],
    task_of: Callable[[TemplateSet], LearningTask],
    schedule: Schedule,
    source: str | None = None,
) -> Model:
    """Return a model of examples, trained with a preset."""
    templates, tagged = load_templates(preset), False
    if preset != PRESETS[0]:
        templates = with_tables(templates, [part_table(examples)])
        tagged = len({tag for each in examples for tag in each.tags}) > 1
    data = word_examples(
        examples, templates.columns, source, tagged=tagged, tables=templates.tables
    )
    return _model_of(task_of(templates), data, schedule)


def _model_of(task: LearningTask, examples: TrainingData, schedule: Schedule) -> Model:
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
    if cut is None:
        return PRESETS[0]
    training = [*chain.from_iterable(compress(gathered, cut.training.tolist()))]
    held_out = [*compress(gathered, cut.held_out.tolist())]
    alone = replace(schedule, runs=1, checkpoints=None, on_epoch=None)
    scores: dict[str, float] = {}
    for name in PRESETS:
        try:
            model = _fitted(name, training, task_of, alone)
        except CorpusError:  # all multiword tokens are held out
            return PRESETS[0]
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
