"""Training: epochs over a shuffled corpus, the best epoch by the dev set, runs mixed into one."""

from __future__ import annotations

import logging
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import ANY_LABEL, Cells, Instances
from seqtag.engine.epochs import Kept, Progress, Recipe, Verdict, learn
from seqtag.errors import CorpusError, LabelError
from seqtag.evaluation.report import Report, evaluate
from seqtag.features.index import JointFeatureMap
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.labels.parts import split_labels
from seqtag.labels.schemes import scheme_of
from seqtag.model.freeze import freeze, mean
from seqtag.parallel import in_order
from seqtag.settings import check_setting
from seqtag.tagging.tagger import Tagger, label_order, pack, plans
from seqtag.training.data import (
    Source,
    TrainingData,
    check_any,
    choose_label,
    gather,
    label_columns,
    name_of,
    open_sources,
)
from seqtag.training.known_labels import labels_of_known_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from seqtag.features.encoder import Column

_log = logging.getLogger("seqtag")

DEFAULTS = {
    "epochs": 10,
    "update": "perceptron",
    "step": 1.0,
    "margin": 0.0,
    "min-count": 1,
    "encoding": "keep",
    "dropout": 0.0,
    "label-parts": "whole",
    "known-labels": 0,
}
"""Settings of a template set that makes none."""

PRESET_OF = {"chunk": "chunk", "ner": "ner", "feats": "morph", "upos+feats": "morph"}
"""Preset of templates for a label column; ``pos`` for all others."""


@dataclass(frozen=True)
class Epoch:
    """What happened in one pass over the training data.

    Attributes
    ----------
    run, epoch
        Counted from 1.
    updates
        Sentences that moved the weights.
    wrong_tokens
        Tokens labelled wrongly while learning.
    dev
        Report on the dev set with the averaged weights, if there is a dev set.
    best
        Whether this is the run's best epoch so far.
    """

    run: int
    epoch: int
    updates: int
    wrong_tokens: int
    dev: Report | None
    best: bool


def train(
    data: Source | Sequence[Source],
    *,
    dev: Source | None = None,
    label: str | None = None,
    templates: str | PathLike[str] | TemplateSet | None = None,
    seed: int = 1,
    runs: int = 1,
    patience: int | None = None,
    constrain: bool = True,
    skip_unlabelled: bool = False,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    threads: int = 1,
    on_epoch: Callable[[Epoch], None] | None = None,
    **settings: Any,
) -> Tagger:
    r"""Train a tagger with the averaged structured perceptron.

    Parameters
    ----------
    data
        Path of a corpus file, several of them, or sentences as `seqtag.read` gives them.
    dev
        Corpus to score every epoch on; the best epoch's averaged weights are kept.
    label
        Column to learn, or ``upos+feats`` for both at once. By default upos in CoNLL-U, and the
        last column of other formats.
    templates
        Preset (``pos``, ``chunk``, ``ner``, ``morph``), template file, or templates; by default
        the preset that fits the label.
    seed
        Of the shuffling. The same data, seed and seqtag give the same bytes.
    runs
        Models trained with different shuffling and averaged into one.
    patience
        With a dev set: stop after this many epochs without a better score.
    constrain
        Let a model of chunk labels give valid sequences only.
    skip_unlabelled
        Leave out sentences with ``_`` for a label instead of refusing them.
    format, columns
        As in `seqtag.read`.
    threads
        Runs trained at the same time; the model is the same on any number.
    on_epoch
        Called after each epoch, with an `Epoch`.
    **settings
        Any setting of a template file: ``epochs``, ``update``, ``step``, ``margin``,
        ``min_count``, ``encoding``, ``dropout``.

    Raises
    ------
    CorpusError, TemplateError, LabelError
        If the data have no sentences or lack a column, templates do not fit them, or labels are
        missing.
    TypeError
        If sentences are lists of pairs and the like.

    Examples
    --------
    >>> from seqtag.corpus import read
    >>> import io
    >>> words = read(io.BytesIO(b"the DT\ncat NN\n\na DT\ndog NN\n"), columns=["form", "tag"])
    >>> tagger = train(words, label="tag", epochs=3, min_count=1)
    >>> tagger.tag(["the", "dog"])
    ['DT', 'NN']
    """
    if seed < 0 or runs < 1 or (patience is not None and patience < 1):
        msg = f"expected seed >= 0, runs >= 1, patience >= 1; found {seed}, {runs}, {patience}"
        raise ValueError(msg)
    if seed >= 2**32:
        msg = f"expected a seed below 2**32, found {seed}; choose a smaller one"
        raise ValueError(msg)
    with ExitStack() as files:
        sources, available = open_sources(data, format, columns, files)
        label = choose_label(label, available, sources, name_of(data))
        names = label_columns(label)
        if isinstance(templates, TemplateSet):
            template_set = templates
        else:
            template_set = load_templates(templates or PRESET_OF.get(label, "pos"))
        chosen = DEFAULTS | dict(template_set.settings)
        for name, value in settings.items():
            if value is not None:
                chosen[name.replace("_", "-")] = check_setting(name.replace("_", "-"), value)
        compiled = template_set.compile([name for name in available if name not in names])
        order = label_order(compiled)
        corpus = gather(sources, compiled.columns, label, skip_unlabelled)
    scheme, encoding, labels = _labels_to_learn(corpus, chosen, settings.get("encoding"))
    label_names = sorted(labels.types)
    if label_names == ["_"]:
        msg = (
            f'expected labels in the column {label}, found "_" for every word (not annotated); '
            "choose another column with --label"
        )
        raise LabelError(msg)
    _warn_of_odd_labels(label_names, len(labels.ids), label)
    number = {name: i for i, name in enumerate(label_names)}
    y = np.array([number[name] for name in labels.types], np.int32)[labels.ids]
    parts = split_labels(label_names) if chosen["label-parts"] == "split" else None
    features = JointFeatureMap(
        compiled,
        *plans(compiled),
        corpus.columns,
        corpus.lengths,
        len(label_names),
        order,
        int(chosen["min-count"]),
        parts,
    )
    known_labels = ANY_LABEL
    if chosen["known-labels"]:
        known_labels = labels_of_known_words(
            compiled, corpus.columns, y, int(chosen["known-labels"])
        )

    config = {
        "label": label,
        "scheme": scheme,
        "encoding": encoding,
        "constrain": bool(constrain and scheme and order),
        "columns": list(available_for(compiled.columns, available)),
        "templates": str(TemplateSet(template_set.templates)),
        "training": {
            **{name.replace("-", "_"): value for name, value in chosen.items()},
            "seed": seed,
            "runs": runs,
            "sentences": len(corpus.lengths),
            "tokens": len(y),
            "corpus_sha256": corpus.digest(),
        },
    }

    known = (
        corpus.columns[compiled.columns.index("form")].types if "form" in compiled.columns else ()
    )

    def tagger_of(cells: Cells, **more: Any) -> Tagger:
        weights = freeze(cells, features.keys, features.edge_keys, len(label_names))
        training = config["training"] | {"unit": weights.unit} | more
        tensors = pack(weights, label_names, known, parts, known_labels)
        return Tagger(config | {"training": training}, tensors)

    judge = None
    if dev is not None:
        with ExitStack() as files:
            dev_sources, dev_columns = open_sources(dev, format, columns, files)
            missing = [name for name in (*compiled.columns, *names) if name not in dev_columns]
            if missing:
                check_any(dev_sources, name_of(dev))
                msg = (
                    "expected a dev set with the columns of the training data, found one without "
                    f"{', '.join(missing)} (it has {', '.join(dev_columns)}); "
                    "give one in the same format"
                )
                raise CorpusError(
                    msg,
                    source=name_of(dev),
                )
            dev_corpus = gather(dev_sources, compiled.columns, label, skip_unlabelled)
        judge = _Judge(dev_corpus, scheme)

    def judge_cells(cells: Cells, _: int) -> Verdict:
        report = judge(tagger_of(cells))
        return Verdict(report.score, report)

    stop = threading.Event()
    done: dict[int, Kept] = {}

    def train_run(run: int) -> None:
        if not stop.is_set():
            done[run] = _train_run(
                features,
                y,
                chosen,
                (seed, run),
                judge and judge_cells,
                patience,
                on_epoch,
                stop.is_set,
            )
            if done[run].interrupted:
                stop.set()

    interrupted = False
    try:
        for _ in in_order(train_run, range(1, runs + 1), min(threads, runs)):
            pass
    except KeyboardInterrupt:  # keep what is done; on several threads runs end with their epoch
        interrupted = True
    if not done:
        raise KeyboardInterrupt
    kept = [done[run] for run in sorted(done)]
    interrupted = interrupted or len(kept) < runs or any(run.interrupted for run in kept)
    cells = mean([run.cells for run in kept])
    scores: dict[str, Any] = {"best_epochs": [run.epoch for run in kept]}
    if interrupted:
        scores["interrupted"] = True
    if judge is not None:
        report = judge(tagger_of(cells))
        scores["dev"] = {
            "score": report.score,
            "metric": report.metric,
            "signature": report.signature,
        }
    return tagger_of(cells, **scores)


def _labels_to_learn(
    corpus: TrainingData, chosen: dict[str, Any], asked: str | None
) -> tuple[str | None, str | None, Column]:
    """The scheme of the labels, the one they are learnt in, and what they are in that one."""
    scheme = scheme_of(corpus.transitions())
    if not scheme and asked not in (None, "keep"):
        msg = (
            f"expected chunk labels such as B-NP to learn as {asked}, found labels "
            f"like {corpus.labels.types[0]!r}; leave the encoding out"
        )
        raise LabelError(msg)
    if not scheme or chosen["encoding"] == "keep":
        return scheme, scheme, corpus.labels
    encoding = str(chosen["encoding"])
    return scheme, encoding, corpus.converted(scheme, encoding)


def _train_run(
    features: JointFeatureMap,
    y: np.ndarray,
    settings: dict[str, Any],
    seed: tuple[int, int],
    judge: Callable[[Cells, int], Verdict] | None,
    patience: int | None,
    on_epoch: Callable[[Epoch], None] | None,
    stopped: Callable[[], bool],
) -> Kept:
    """One run: the averaged weights of the best epoch by the dev set, or of the last one."""
    rule = settings["update"]
    sentences = len(features.instances.sentence_ptr) - 1

    def random(*more: int) -> np.random.RandomState:
        return np.random.RandomState([*seed, *more])  # numpy has promised never to change it

    def report(done: Progress) -> None:
        if on_epoch:
            epoch, updates, wrong, verdict, best = done
            on_epoch(Epoch(seed[1], epoch, updates, wrong, verdict and verdict.detail, best))

    return learn(
        backend.Weights(features.layout, "float32", rule),
        lambda epoch: drop_features(features.instances, settings["dropout"], random(epoch, 1)),
        y,
        lambda epoch: random(epoch).permutation(sentences).astype(np.int64),
        Recipe(
            epochs=settings["epochs"],
            rule=rule,
            step=1.0 if rule == "perceptron" else settings["step"],
            cost=settings["margin"] or None,
            patience=patience,
        ),
        judge=judge,
        on_epoch=report,
        stopped=stopped,
    )


class _Judge:
    """Scores a tagger on the dev set."""

    def __init__(self, corpus: TrainingData, scheme: str | None):
        self._gold = corpus.sentences(corpus.labels.values())
        columns = [column.values() for column in corpus.columns]
        rows = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        self._sentences = corpus.sentences(rows)
        self._scheme = scheme

    def __call__(self, tagger: Tagger) -> Report:
        predicted = tagger.tag_many(self._sentences)
        return evaluate(self._gold, predicted, scheme=self._scheme, task=tagger.label)


def drop_features(x: Instances, share: float, random: np.random.RandomState) -> Instances:
    """The instances without a random share of their features, as "dropout" hides them."""
    if not share:
        return x
    kept = random.random_sample(len(x.features)) >= share
    token_ptr = np.concatenate([[0], np.cumsum(kept)])[x.token_ptr].astype(np.int64)
    values = None if x.values is None else x.values[kept]
    return x._replace(token_ptr=token_ptr, features=x.features[kept], values=values)


def available_for(used: Sequence[str], available: Sequence[str]) -> list[str]:
    """The columns a model must be told of: those up to the last in use (templates may count)."""
    last = max((available.index(name) for name in used), default=-1)
    return list(available[: last + 1])


def _warn_of_odd_labels(labels: Sequence[str], tokens: int, column: str) -> None:
    if len(labels) > 1000 or (len(labels) > 50 and len(labels) > tokens / 5):
        _log.warning(
            "the column %s has %d different labels in %d tokens; is it the right one?",
            column,
            len(labels),
            tokens,
        )
