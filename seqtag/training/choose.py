"""Automatic choices, by trials on sentences held out of the training data.

A trial trains a candidate on some of the sentences, and scores it on others. Several candidates get
a few epochs each, a single one as many as the real training. Candidates are templates, inputs, and
one or two passes. The tag dictionary and the recall bias change decoding only, so that one trial
scores all their values.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import pointers
from seqtag.errors import CorpusError
from seqtag.labels.schemes import OUTSIDE
from seqtag.segmentation.multiword import Splitter
from seqtag.training.interruption import put_off
from seqtag.training.loop import fit_task, jackknifed, labeled, usual
from seqtag.training.problem import DevJudge, build_problem, settled, tag_dictionary_of
from seqtag.training.runs import train_run
from seqtag.training.task import in_one_pass
from seqtag.training.treebank import Treebank, examples_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Cells
    from seqtag.evaluation.report import Report
    from seqtag.training.data import TrainingData
    from seqtag.training.problem import Problem
    from seqtag.training.runs import Epoch, Schedule
    from seqtag.training.task import Task
    from seqtag.training.text_examples import WordExample

_BLOCK = 50  # adjacent sentences stay together: they share their rare words
_HELD_OUT_EVERY = 4  # one block in so many is held out
_ENOUGH = 120_000  # tokens of a trial; of larger corpora, blocks are left out
_TOO_FEW = 2_000  # with fewer tokens, there is no trial
_RUN = 0  # run number of trials, whose random streams no other run has
_EARLY = 3  # epochs after which a trial may end: a tag dictionary that helps does so early
_FEW = 5  # epochs of the trials of several candidates; they chose as full trials in 24 of 25
_CLEAR_LOSS = 0.0005  # of accuracy by then, from which no measured corpus recovered
_GOOD_ENOUGH = 0.997  # of the tokens have the right words: nothing else is tried
_WHY_BIAS = (
    "; the highest value within one standard error of the best, with recall not above precision: "
    "new text has more unknown names (0 turns it off)"
)
_BIASES = [step / 10 for step in range(11)]  # values of recall-bias to try; the margin is 1

_log = logging.getLogger("seqtag")


class Split(NamedTuple):
    """Sentences to learn from and held-out sentences, (sentences,) bool each."""

    training: NDArray[np.bool_]
    held_out: NDArray[np.bool_]


def holdout_split(lengths: NDArray[np.int64], enough: int = _ENOUGH) -> Split | None:
    """Split training data for a trial; None if there are too few.

    Of every four blocks of adjacent sentences, the second one is held out.

    Parameters
    ----------
    lengths
        Tokens per sentence, (sentences,) int64.
    enough
        Approximate number of tokens to use. Of larger corpora, groups of four blocks at regular
        distances are used; the other sentences are in neither part.

    Examples
    --------
    >>> found = holdout_split(np.full(600, 20))
    >>> int(found.training.sum()), int(found.held_out.sum())
    (450, 150)
    """
    sentences, tokens = len(lengths), int(lengths.sum())
    if sentences < 2 * _HELD_OUT_EVERY or tokens < _TOO_FEW:
        return None
    block = np.arange(sentences) // max(1, min(_BLOCK, sentences // (3 * _HELD_OUT_EVERY)))
    group, place = np.divmod(block, _HELD_OUT_EVERY)
    kept = group % -(-tokens // enough) == 0
    held_out = kept & (place == 1)
    return Split(kept & ~held_out, held_out)


class Trial(NamedTuple):
    """A trained candidate and its score on the held-out sentences.

    Attributes
    ----------
    metric
        The metric of all scores, which are from 0 to 1.
    tokens
        Number of held-out tokens.
    values
        Scores by the values of the setting ``tag-dictionary`` that were tried, the usual one first.
    judge
        Scores a value of the setting ``recall-bias``, with the best of these.
    """

    metric: str
    tokens: int
    values: Mapping[int | str, float]
    judge: Callable[[float], Report] | None = None

    @property
    def best(self) -> int | str:
        """The value of ``tag-dictionary`` with the highest score; the first of equals."""
        return max(self.values, key=self.values.__getitem__)

    @property
    def score(self) -> float:
        """The highest score."""
        return self.values[self.best]

    def facts(self, scores: Mapping[Any, float]) -> dict[str, Any]:
        """Return scores by what was tried in the form in which a model records them."""
        named = {str(value): score for value, score in scores.items()}
        return {"scores": named, "metric": self.metric, "tokens": self.tokens}


def choose(candidates: Sequence[Task], treebank: Treebank, schedule: Schedule) -> list[Task]:
    """Return the tasks of a component with definite settings, and with what was measured.

    Parameters
    ----------
    candidates
        The candidates, of different names. The first is the usual one: it is taken if there are too
        few sentences for a trial, or if others score the same.
    treebank
        The training data.
    schedule
        Its seed and stop flag are those of the trials.

    Returns
    -------
    list of Task
        Hidden tasks first, the shown one last.

    Raises
    ------
    KeyboardInterrupt
        If a trial is interrupted.
    """
    cut = holdout_split(treebank.words.lengths)
    if cut is None:
        return usual(candidates, treebank, schedule)
    schedule = replace(schedule, runs=1, patience=None, on_epoch=None, checkpoints=None)
    measured: dict[str, dict[str, Any]] = {}
    task = _by_trial(candidates, treebank, cut, schedule, measured)
    wanted, task = task.settings.passes, task.without_auto()
    if wanted == "auto":
        passes = {n: usual([task.setting(passes=n)], treebank, schedule) for n in (1, 2)}
        trials = _trials(passes, treebank, cut, schedule)
        scores = {name: trial.score for name, trial in trials.items()}
        number = max(scores, key=scores.__getitem__)
        task = task.setting(passes=number)
        measured["passes"] = trials[number].facts(scores)
    *hidden, shown = usual([task], treebank, schedule)
    breaks = shown.column.name == "tokens" and "form" in shown.columns  # after words, not signs
    shown = replace(shown, chosen=measured, scores_lengths=breaks)
    for name, facts in measured.items():
        _log.info(
            "%s %s, by %s on %s tokens held out of the training data (%s)%s",
            name.replace("_", "-"),
            shown.name if name == "templates" else getattr(shown.settings, name),
            facts["metric"],
            f"{facts['tokens']:,}",
            ", ".join(f"{value}: {100 * score:.2f}" for value, score in facts["scores"].items()),
            _WHY_BIAS * (name == "recall_bias"),
        )
    return [*hidden, shown]


def _by_trial(
    candidates: Sequence[Task],
    treebank: Treebank,
    cut: Split,
    schedule: Schedule,
    measured: dict[str, dict[str, Any]],
) -> Task:
    """Return the best candidate with the best values; `measured` gets what was measured."""
    settings, tries_words = candidates[0].settings, _has_tag_dictionary(candidates[0])
    if len(candidates) == 1 and not tries_words and settings.recall_bias != "auto":
        return candidates[0]
    candidates = [  # on all sentences: the parts may have fewer labels
        task if task.reads_text else settled(*examples_of(task, treebank))[0] for task in candidates
    ]
    biased = any(_has_recall_bias(task, treebank) for task in candidates)
    if len(candidates) == 1 and not tries_words and not biased:
        return candidates[0]
    alone, lists = len(candidates) == 1, {}
    for task in candidates:
        epochs = task.settings.epochs if alone or biased else min(task.settings.epochs, _FEW)
        lists[task.name] = in_one_pass(task.setting(epochs=epochs))
    trials = _trials(lists, treebank, cut, schedule, may_end_early=alone and not biased)
    if not trials:  # all multiword tokens are held out
        return candidates[0]
    name = max(trials, key=lambda name: trials[name].score)
    task = next(each for each in candidates if each.name == name)
    trial = trials[name]
    if len(trials) > 1:
        measured["templates"] = trial.facts({name: each.score for name, each in trials.items()})
    if _has_tag_dictionary(task):
        task = task.setting(tag_dictionary=trial.best)
        measured["tag_dictionary"] = trial.facts(trial.values)
    if trial.judge is not None and _has_recall_bias(task, treebank):
        bias, scores = _choose_recall_bias(trial.judge)
        task = task.setting(recall_bias=bias)
        measured["recall_bias"] = trial.facts(scores)
    return task


def _trials(
    candidates: Mapping[Any, Sequence[Task]],
    treebank: Treebank,
    cut: Split,
    schedule: Schedule,
    *,
    may_end_early: bool = False,
) -> dict[Any, Trial]:
    """Try candidates, each a list of tasks.

    Those that have no examples in the training part are left out. A trial that ends early tells no
    more than that a tag dictionary does not help.
    """
    parts = treebank.where(cut.training), treebank.where(cut.held_out)
    trials: dict[Any, Trial] = {}
    for name, tasks in candidates.items():
        try:
            trials[name] = _trial(tasks, parts, schedule, may_end_early=may_end_early)
        except CorpusError:
            continue
        if tasks[-1].reads_text and trials[name].score >= _GOOD_ENOUGH:
            break
    return trials


def _trial(
    tasks: Sequence[Task],
    parts: tuple[Treebank, Treebank],
    schedule: Schedule,
    *,
    may_end_early: bool,
) -> Trial:
    """Train tasks on one part of the sentences, and score the last one on the other part."""
    training, held_out = parts
    *hidden, task = tasks
    for each in hidden:
        fitted = fit_task(each, training, schedule)
        if fitted.model.interrupted:
            raise KeyboardInterrupt
        training, held_out = jackknifed(fitted, training, schedule), labeled(fitted, held_out)
    task, examples = examples_of(task, training)
    problem = build_problem(task, examples)
    weights = backend.Weights(problem.corpus.layout, "float32", problem.settings.update, None)
    scored = _Scorer(task, examples, problem, held_out)

    def look(epoch: Epoch) -> None:
        if epoch.epoch == _EARLY < problem.settings.epochs:
            trial = scored(weights.cells(average=True))
            if trial.values[0] > trial.values[1] + _CLEAR_LOSS:
                raise _DecidedError(trial)

    schedule = replace(schedule, on_epoch=look if may_end_early else None)
    try:
        with put_off(schedule.stop):
            kept = train_run(problem, schedule, _RUN, None, lambda _: weights)
    except _DecidedError as decided:
        return decided.trial
    if kept.interrupted:
        raise KeyboardInterrupt
    return scored(kept.cells)


class _DecidedError(Exception):
    """Raised to end a trial in which a tag dictionary clearly does not help."""

    def __init__(self, trial: Trial):
        super().__init__("the trial is decided")
        self.trial = trial


class _Scorer:
    """Scores weights of a task on held-out sentences, with the values that change decoding only."""

    def __init__(self, task: Task, examples: TrainingData, problem: Problem, held_out: Treebank):
        self._problem, self._held_out = problem, held_out
        self._judges: dict[int | str, tuple[Problem, DevJudge]] = {}
        if task.reads_text:
            return
        values = [task.settings.without_auto().tag_dictionary]
        if _has_tag_dictionary(task):
            values = [1, 0] if values == [1] else [0, 1]
        _, self._judged = examples_of(task, held_out)
        columns = [examples.columns[name] for name in problem.compiled.columns]
        gold = problem.y, problem.choices
        for value in values:
            settings = replace(problem.settings, tag_dictionary=value)
            words = tag_dictionary_of(problem.compiled, columns, gold, problem.labels, settings)
            own = replace(problem, settings=settings, tag_dictionary=words)
            self._judges[value] = own, DevJudge(own, self._judged)

    def __call__(self, cells: Cells) -> Trial:
        """Return the scores of weights."""
        tokens = int(self._held_out.words.lengths.sum())
        if not self._judges:
            right = _tokens_right(Splitter(self._problem.model(cells)), self._held_out.tokens)
            return Trial("tokens with the right words", tokens, {"": right})
        reports = {value: judge(cells) for value, (_, judge) in self._judges.items()}
        scores = {value: report.score for value, report in reports.items()}
        best, _ = self._judges[max(scores, key=scores.__getitem__)]

        def judge(bias: float) -> Report:
            settings = replace(best.settings, recall_bias=bias)
            return DevJudge(replace(best, settings=settings), self._judged)(cells)

        return Trial(next(iter(reports.values())).metric, tokens, scores, judge)


def _has_tag_dictionary(task: Task) -> bool:
    """Return whether to choose among values of ``tag-dictionary``: templates must know words."""
    return task.settings.tag_dictionary == "auto" and not task.reads_text and task.knows_words


def _has_recall_bias(task: Task, treebank: Treebank) -> bool:
    """Return whether to choose a recall bias: labels are those of chunks, and of words outside."""
    if task.settings.recall_bias != "auto" or task.coding is None or task.coding.scheme is None:
        return False
    return OUTSIDE in treebank.words.columns[str(task.column)].types


def _choose_recall_bias(judge: Callable[[float], Report]) -> tuple[float, dict[float, float]]:
    """Return the value of ``recall-bias`` to choose, and the F1 of the values tried.

    Text to tag has more unknown names than held-out training text, so that fewer are found in it.
    Therefore the choice is the highest value whose F1 is within one standard error of the best one
    here, as long as recall is not above precision. The standard error is that of a proportion of
    the gold chunks.
    """
    scores: dict[float, float] = {}
    chunks = 1
    for bias in _BIASES:
        report = judge(bias)
        if scores and (report.recall or 0) > (report.precision or 0):
            break
        scores[bias] = report.score
        chunks = max(1, report.chunks.gold)
    best = max(scores.values())
    enough = best - (best * (1 - best) / chunks) ** 0.5
    return max(bias for bias, score in scores.items() if score >= enough), scores


def _tokens_right(splitter: Splitter, sentences: Sequence[Sequence[WordExample]]) -> float:
    """Return the share of tokens whose words are right."""
    examples = [*chain.from_iterable(sentences)]
    text = "".join(each.place.token for each in examples)
    ptr = pointers([len(each.place.token) for each in examples])
    ends = pointers(list(map(len, sentences)))[1:]
    found = splitter.split(text, ptr[:-1], ptr[1:], ends)
    right = sum(found.get(i) == each.words for i, each in enumerate(examples))
    return right / max(1, len(examples))
