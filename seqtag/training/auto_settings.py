"""Automatic settings: values chosen by a trial on sentences held out of the training data.

A trial trains on some of the sentences, with the same templates and for as many epochs as the real
training, and scores on others. With fewer epochs, or if scored on its training data, the tag
dictionary would seem to help where it hurts. The tag dictionary and the recall bias change decoding
only, so one trial scores all their values. A trial ends early once its result is clear.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import NO_TAG_DICTIONARY, Instances, pointers
from seqtag.engine.epochs import learn
from seqtag.features.encoder import Column
from seqtag.features.templates import AttributeUse
from seqtag.tagging.tagger import Tagger
from seqtag.training.interruption import put_off
from seqtag.training.problem import (
    build_problem,
    first_parts,
    judge_of,
    labels_of_words,
    tag_dictionary_of,
)
from seqtag.training.runs import hiding, recipe_of
from seqtag.training.stacking import fit_stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Cells, TagDictionary
    from seqtag.engine.epochs import Progress
    from seqtag.model.model import Model
    from seqtag.training.data import TrainingData
    from seqtag.training.problem import LearningTask, Problem
    from seqtag.training.runs import Schedule

_BLOCK = 50  # adjacent sentences stay together: they share their rare words
_HELD_OUT_EVERY = 4  # one block in so many is held out; 3 or 2 chose the wrong value for English
_ENOUGH = 120_000  # tokens of a trial; of larger corpora, blocks are left out
_TOO_FEW = 2_000  # with fewer tokens, there is no trial
_MOST_LABELS = 1_000_000  # of all words of a tag dictionary together (2 MB of a model)
_RUN = 0  # run number of trials, whose random streams no other run has
_EARLY_EPOCHS = (3, 5)  # after which a trial may end: a tag dictionary that helps does so early
_CLEAR_LOSS = 0.0005  # of accuracy by then, from which no measured corpus recovered
_BIASES = [step / 10 for step in range(11)]  # values of recall-bias to try; the margin is 1

_log = logging.getLogger("seqtag")


class TrialScores(NamedTuple):
    """Scores on the held-out sentences.

    Attributes
    ----------
    scores
        Scores, 0 to 1, by what was tried: values of ``tag-dictionary`` in a trial of one problem,
        names of templates, or numbers of passes.
    metric
        Metric of the scores.
    tokens
        Number of held-out tokens.
    recall_bias
        The value of ``recall-bias`` to choose; None if none were tried.
    biases
        Scores by value of ``recall-bias``, with the best value of ``tag-dictionary``.
    """

    scores: Mapping[int | str, float]
    metric: str
    tokens: int
    recall_bias: float | None = None
    biases: Mapping[float, float] = {}

    @property
    def best(self) -> int | str:
        """What has the highest score; the first of equals."""
        return max(self.scores, key=self.scores.__getitem__)

    @property
    def score(self) -> float:
        """Highest score."""
        return self.scores[self.best]

    def facts(self, scores: Mapping[Any, float]) -> dict[str, Any]:
        """Return `scores` or `biases` in the form in which the model records them."""
        named = {str(value): score for value, score in scores.items()}
        return {"scores": named, "metric": self.metric, "tokens": self.tokens}


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


def resolve_auto(
    problem: Problem,
    examples: TrainingData,
    schedule: Schedule,
    *,
    quick: bool = False,
    trial: TrialScores | None = None,
) -> Problem:
    """Return the problem with definite values of ``tag-dictionary`` and ``recall-bias``.

    Parameters
    ----------
    problem
        The problem, whose settings may be ``auto``; other values stay.
    examples
        The data of the problem.
    schedule
        The trial uses its seed and its stop flag.
    quick
        Run no trial: take the values of `seqtag.settings.Settings.without_auto`, as if there were
        too few sentences for one.
    trial
        A trial of the problem that was run already, to its end.

    Raises
    ------
    KeyboardInterrupt
        If the trial is interrupted; there is no model then.
    """
    settings, origin = problem.settings, problem.origin
    if settings == settings.without_auto():
        return problem
    if settings.tag_dictionary == "auto" and not _knows_words(problem):
        _log.info("tag-dictionary auto: no template uses normal, which identifies known words: 0")
        settings = replace(settings, tag_dictionary=0)
    if settings.recall_bias == "auto" and not _finds_chunks(problem):
        settings = replace(settings, recall_bias=0.0)
    problem = replace(problem, settings=settings)
    if settings == settings.without_auto():
        return problem
    if not quick and trial is None:  # the recall bias needs the final weights
        trial = run_trial(problem, examples, schedule, early=settings.recall_bias != "auto")
    found: dict[str, Any] = {}
    if trial is not None:
        chosen = dict(origin.get("chosen", {}))
        if settings.tag_dictionary == "auto":
            found["tag_dictionary"] = trial.best
            chosen["tag_dictionary"] = trial.facts(trial.scores)
            _log_choice("tag-dictionary", trial.best, trial, trial.scores)
        if settings.recall_bias == "auto":
            found["recall_bias"] = trial.recall_bias
            chosen["recall_bias"] = trial.facts(trial.biases)
            _log_choice("recall-bias", trial.recall_bias, trial, trial.biases)
        origin = {**origin, "chosen": chosen}
    settings = settings.with_values(found).without_auto()
    tag_dictionary = problem.tag_dictionary
    if problem.settings.tag_dictionary == "auto":
        tag_dictionary = tag_dictionary_of(
            problem.compiled,
            [examples.columns[name] for name in problem.compiled.columns],
            (problem.y, problem.choices),
            problem.labels,
            settings,
        )
    return replace(problem, settings=settings, origin=origin, tag_dictionary=tag_dictionary)


def select_templates(
    tasks: Sequence[LearningTask],
    examples: TrainingData,
    schedule: Schedule,
    *,
    quick: bool = False,
) -> tuple[LearningTask, Problem]:
    """Return the task that scores best in a trial, and its problem without automatic settings.

    Parameters
    ----------
    tasks
        The candidates, of different names. The first is the default: it is taken if no trial is run
        or others score the same.
    examples
        The columns of all tasks.
    schedule, quick
        As in `resolve_auto`.

    Raises
    ------
    KeyboardInterrupt
        If a trial is interrupted.
    """
    best, problem = tasks[0], build_problem(tasks[0], examples)
    trial = run_trial(problem, examples, schedule) if len(tasks) > 1 and not quick else None
    if trial is not None:
        scores: dict[int | str, float] = {best.name: trial.score}
        for task in tasks[1:]:
            other = build_problem(task, examples)
            found = run_trial(other, examples, schedule)
            if found is None:  # for type checkers: there are enough sentences
                continue
            scores[task.name] = found.score
            if found.score > trial.score:
                best, problem, trial = task, other, found
        shown = trial._replace(scores=scores)
        facts = shown.facts(scores)
        problem = replace(problem, origin={**problem.origin, "chosen": {"templates": facts}})
        _log_choice("templates", best.name, shown, scores)
    return best, resolve_auto(problem, examples, schedule, quick=quick, trial=trial)


def choose_passes(
    problem: Problem,
    task: LearningTask,
    examples: TrainingData,
    schedule: Schedule,
    *,
    quick: bool = False,
) -> Problem:
    """Return the problem with a definite value of ``passes``: 2 if that is better in a trial.

    Parameters
    ----------
    problem
        The problem of the first pass, without other automatic settings.
    task
        The task of the first pass, with the second.
    examples
        The columns of both passes.
    schedule, quick
        As in `resolve_auto`; without a trial, there is one pass.

    Raises
    ------
    KeyboardInterrupt
        If the trial is interrupted.
    """
    cut = None if quick or examples.pieces is not None else holdout_split(examples.lengths)
    passes, origin = 1, problem.origin
    if cut is not None:
        training, held_out = examples.where(cut.training), examples.where(cut.held_out)
        task = replace(task, settings=replace(problem.settings, passes=2))
        once = replace(schedule, runs=1, patience=None, on_epoch=None)
        model = fit_stacked(build_problem(task, training), task, training, once, held_out)
        if model.interrupted:
            raise KeyboardInterrupt
        found = [each.training["dev"] for each in (model.first[0], model)]
        trial = TrialScores(
            {number: dev["score"] for number, dev in enumerate(found, 1)},
            found[0]["metric"],
            int(held_out.lengths.sum()),
        )
        passes = int(trial.best)
        origin = {
            **origin,
            "chosen": {**origin.get("chosen", {}), "passes": trial.facts(trial.scores)},
        }
        _log_choice("passes", passes, trial, trial.scores)
    return replace(problem, settings=replace(problem.settings, passes=passes), origin=origin)


def run_trial(
    problem: Problem, examples: TrainingData, schedule: Schedule, *, early: bool = False
) -> TrialScores | None:
    """Train on some of the sentences and score on others; None if there are too few.

    It scores the value of ``tag-dictionary``, or all values if it is ``auto``, and with the best
    one the values of ``recall-bias`` if that is ``auto``.

    Parameters
    ----------
    problem, examples
        The problem, and its data. There is no trial of data that are learned in pieces.
    schedule
        The trial uses its seed and its stop flag.
    early
        Let the trial end after some of the epochs if the tag dictionary is clearly worse by then.

    Raises
    ------
    KeyboardInterrupt
        If it is interrupted.
    """
    cut = None if examples.pieces is not None else holdout_split(examples.lengths)
    if cut is None:
        return None
    tokens = np.repeat(cut.training, examples.lengths)
    columns = [
        Column(examples.columns[name].types, examples.columns[name].ids[tokens])
        for name in problem.compiled.columns
    ]
    y = problem.y[tokens]
    values: list[int | str] = [problem.settings.tag_dictionary]
    if values == ["auto"]:  # first that of `Settings.without_auto`, which wins ties
        values = [1, 0] if problem.settings.label_parts == "split" else [0, 1]
        labels = problem.labels
        if problem.parts is not None and 1 < len({*first_parts(labels).tolist()}) < len(labels):
            values.append("first")
        if not _knows_words(problem):
            values = [0]
    dictionaries: dict[int | str, TagDictionary] = {0: NO_TAG_DICTIONARY}
    if values != [0]:
        words = labels_of_words(problem.compiled, columns, y, problem.choices)
        dictionaries = {value: words.kept_to(value, problem.labels) for value in values}
        if len(values) > 1:
            dictionaries = {
                value: found
                for value, found in dictionaries.items()
                if len(found.labels) <= _MOST_LABELS
            }
    small, x = _without_unused_rows(problem, _select_sentences(problem, cut.training, tokens))
    held_out = examples.where(cut.held_out)
    held_out_y = problem.y[np.repeat(cut.held_out, examples.lengths)]

    def score(cells: Cells) -> TrialScores:
        if small.coding.scheme is None and not small.coding.changes_labels:
            model = replace(small, tag_dictionary=NO_TAG_DICTIONARY).model(cells)
            scores = _accuracies(model, held_out, held_out_y, dictionaries)
            return TrialScores(scores, "accuracy", int(held_out.lengths.sum()))
        problems = {
            value: replace(small, tag_dictionary=found) for value, found in dictionaries.items()
        }
        reports = {value: judge_of(each, held_out)(cells) for value, each in problems.items()}
        scores = {value: report.score for value, report in reports.items()}
        metric = next(iter(reports.values())).metric
        trial = TrialScores(scores, metric, int(held_out.lengths.sum()))
        if small.settings.recall_bias == "auto" and _finds_chunks(small):
            bias, biases = _choose_recall_bias(problems[trial.best], held_out, cells)
            return trial._replace(recall_bias=bias, biases=biases)
        return trial

    return _train_trial(small, y, x, schedule, score, early=early)


def _accuracies(
    model: Model,
    examples: TrainingData,
    y: NDArray[np.int32],
    dictionaries: Mapping[int | str, TagDictionary],
) -> dict[int | str, float]:
    """Return the accuracy of a model with each of these tag dictionaries.

    All sentences are decoded once without a tag dictionary. Only sentences with a label that it
    does not allow are decoded again.

    Parameters
    ----------
    model
        The model, without a tag dictionary.
    examples
        The sentences.
    y
        Label id of each token, (N,) int32; tokens with a negative one are not counted.
    dictionaries
        The tag dictionaries, by value of ``tag-dictionary``.
    """
    free = Tagger(model)
    workspace = free.new_workspace()
    columns = [examples.columns[name] for name in model.compiled.columns]
    for name, column in zip(model.compiled.columns, columns, strict=True):
        workspace.encoder.extend(name, 0, column.types)
    types = np.array([column.ids for column in columns], np.int32)
    ids = free.decode_types(types, pointers(examples.lengths), workspace)
    sentence = np.repeat(np.arange(len(examples.lengths)), examples.lengths)
    scores = {}
    for value, words in dictionaries.items():
        found = ids.copy()
        again = np.zeros(len(examples.lengths), bool)
        if words.attribute >= 0:
            form = types[model.compiled.columns.index("form")]
            keys = workspace.encoder.hashes[words.attribute][form]
            if len(words.keys):
                row = np.searchsorted(words.keys, keys).clip(max=len(words.keys) - 1)
                width = int(max(ids.max(initial=0), words.labels.max(initial=0))) + 1
                rows = np.repeat(np.arange(len(words.keys)), np.diff(words.row_ptr))
                allowed = np.isin(row * width + ids, rows * width + words.labels)
                is_known = words.keys[row] == keys  # row is that of another word otherwise
                again[sentence[is_known & ~allowed]] = True
        if again.any():
            tokens = again[sentence]
            kept = Tagger(replace(model, tag_dictionary=words))
            ptr = pointers(examples.lengths[again])
            some = np.ascontiguousarray(types[:, tokens])
            found[tokens] = kept.decode_types(some, ptr, kept.new_workspace(workspace.encoder))
        scores[value] = float(np.mean(found[y >= 0] == y[y >= 0]))
    return scores


def _choose_recall_bias(
    problem: Problem, held_out: TrainingData, cells: Cells
) -> tuple[float, dict[float, float]]:
    """Return the value of ``recall-bias`` to choose, and the F1 of the values tried.

    Text to tag has more unknown names than held-out training text, so that fewer are found in it.
    Therefore the choice is the highest value whose F1 is within one standard error of the best one
    here, as long as recall is not above precision. The standard error is that of a proportion of
    the gold chunks.
    """
    scores: dict[float, float] = {}
    chunks = 1
    for bias in _BIASES:
        settings = replace(problem.settings, recall_bias=bias)
        report = judge_of(replace(problem, settings=settings), held_out)(cells)
        if scores and (report.recall or 0) > (report.precision or 0):
            break
        scores[bias] = report.score
        chunks = max(1, report.chunks.gold)
    best = max(scores.values())
    enough = best - (best * (1 - best) / chunks) ** 0.5
    return max(bias for bias, score in scores.items() if score >= enough), scores


def _log_choice(what: str, choice: Any, trial: TrialScores, scores: Mapping[Any, float]) -> None:
    """Log the values tried, their scores, and the choice."""
    _log.info(
        "%s %s, by %s on %s tokens held out of the training data (%s)",
        what,
        choice,
        trial.metric,
        f"{trial.tokens:,}",
        ", ".join(f"{value}: {100 * score:.2f}" for value, score in scores.items()),
    )


def _knows_words(problem: Problem) -> bool:
    """Return whether the templates look at the attribute that identifies known words."""
    return AttributeUse("form", "normal") in problem.compiled.attributes


def _finds_chunks(problem: Problem) -> bool:
    """Return whether the labels are those of chunks, and of words outside them."""
    return problem.coding.scheme is not None and "O" in problem.labels


def _select_sentences(
    problem: Problem, sentences: NDArray[np.bool_], tokens: NDArray[np.bool_]
) -> Instances:
    """Return some sentences, with the features that are frequent enough among them.

    `sentences` and `tokens` mark those to keep, of all of the problem: bool.
    """
    x, rows = problem.corpus.instances, problem.corpus.layout.rows
    some = Instances(
        pointers(np.diff(x.sentence_ptr)[sentences]),
        pointers(np.diff(x.token_ptr)[tokens]),
        x.features[np.repeat(tokens, np.diff(x.token_ptr))],
        bundle_ptr=x.bundle_ptr,
        bundles=x.bundles,
        set_of=None if x.set_of is None else x.set_of[tokens],
        set_ptr=x.set_ptr,
        set_labels=x.set_labels,
    ).written_out()
    features = some.features
    often = np.bincount(features, minlength=rows)[features] >= problem.settings.min_count
    before = np.concatenate([[0], np.cumsum(often)])  # number of kept features before each place
    found = some._replace(
        token_ptr=before[some.token_ptr].astype(np.int64), features=features[often]
    )
    if x.edge_ptr is None or x.edges is None:
        return found
    counts = np.diff(x.edge_ptr)
    return found._replace(
        edge_ptr=pointers(counts[tokens]), edges=x.edges[np.repeat(tokens, counts)]
    )


def _without_unused_rows(problem: Problem, x: Instances) -> tuple[Problem, Instances]:
    """Return the problem without rows that do not occur in the sentences, to save memory.

    The sentences, with the new numbers of the rows, are returned with it.
    """
    corpus = problem.corpus
    has = np.zeros(corpus.layout.rows, bool)
    has[x.features] = True
    number = np.cumsum(has, dtype=np.int32) - np.int32(1)
    layout = corpus.layout._replace(rows=int(has.sum()))
    corpus = corpus._replace(layout=layout, keys=corpus.keys[has])
    return replace(problem, corpus=corpus), x._replace(features=number[x.features])


class _DecidedError(Exception):
    """Raised to end a trial whose result is clear."""

    def __init__(self, trial: TrialScores):
        super().__init__("the trial is decided")
        self.trial = trial


def _train_trial(
    problem: Problem,
    y: NDArray[np.int32],
    x: Instances,
    schedule: Schedule,
    score: Callable[[Cells], TrialScores],
    *,
    early: bool,
) -> TrialScores:
    """Train, and score the averaged weights; those of an early epoch if they decide the trial."""
    settings, sentences = problem.settings, len(x.sentence_ptr) - 1
    seen = hiding(x, settings.dropout)
    weights = backend.Weights(problem.corpus.layout, "float32", settings.update, None)

    def end_early(done: Progress) -> None:
        if early and done.epoch in _EARLY_EPOCHS and done.epoch < settings.epochs:
            trial = score(weights.cells(average=True))
            with_dictionary = [found for value, found in trial.scores.items() if value != 0]
            if with_dictionary and trial.scores.get(0, 0.0) > max(with_dictionary) + _CLEAR_LOSS:
                raise _DecidedError(trial)

    try:
        with put_off(schedule.stop):
            kept = learn(
                weights,
                lambda epoch: seen(schedule.random(_RUN, epoch, 1)),
                y,
                lambda epoch: schedule.visits(sentences, _RUN, epoch),
                recipe_of(settings),
                on_epoch=end_early,
                stopped=schedule.stop.requested,
                choices=problem.choices,
            )
    except _DecidedError as clear:
        return clear.trial
    if kept.interrupted:
        raise KeyboardInterrupt
    return score(kept.cells)
