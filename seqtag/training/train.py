"""Training a tagger: corpus, labels, features, epochs, model."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.labels.coding import LabelCoding
from seqtag.labels.lemmas import LemmaCoding
from seqtag.model.freeze import mean
from seqtag.settings import Settings
from seqtag.tagging.tagger import Tagger
from seqtag.training.data import Source, check_labels, open_corpus
from seqtag.training.problem import judge_of, pose
from seqtag.training.runs import Epoch, Schedule, train_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from seqtag.labels.column import LabelColumn
    from seqtag.model.model import Model
    from seqtag.training.data import TrainingData
    from seqtag.training.problem import Problem

_log = logging.getLogger("seqtag")


def train(
    data: Source,
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
        Those of `seqtag.settings.SETTINGS`, which says what each does: ``epochs``, ``update``,
        ``step``, ``margin``, ``min_count``, ``encoding``, ``dropout``, ``label_parts`` and
        ``known_labels``. They come before those of the templates; None leaves one to them.

    Raises
    ------
    CorpusError, TemplateError, LabelError
        If the data have no sentences or lack a column, templates do not fit them, or labels are
        missing.
    TypeError
        If sentences are lists of pairs and the like.
    ValueError
        If seed, runs, patience or threads are out of range.
    KeyboardInterrupt
        If it comes before an epoch is finished; after that the tagger holds what was learnt, and
        ``tagger.model.interrupted`` says so.

    Examples
    --------
    >>> from seqtag.corpus import read
    >>> import io
    >>> words = read(io.BytesIO(b"the DT\ncat NN\n\na DT\ndog NN\n"), columns=["form", "tag"])
    >>> tagger = train(words, label="tag", epochs=3, min_count=1)
    >>> tagger.tag(["the", "dog"])
    ['DT', 'NN']
    """
    schedule = Schedule(seed, runs, patience, threads, on_epoch)
    with ExitStack() as files:
        corpus = open_corpus(data, format, columns, files)
        column = corpus.label_column(label)
        template_set = _templates(templates, column)
        values = Settings().with_values(template_set.settings).with_values(settings)
        features = [name for name in corpus.columns if name not in column.columns]
        if templates is None and column.is_lemma:  # tags are of use, but not needed
            template_set = template_set.within(features)
        needed = template_set.compile(features).columns
        examples = corpus.gather(needed, column, skip_unlabelled)
        check_labels(examples.labels.types, column, corpus.name)
        held_out = None
        if dev is not None:
            dev_corpus = open_corpus(dev, format, columns, files)
            dev_corpus.check_columns((*needed, *column.columns))
            held_out = dev_corpus.gather(needed, column, skip_unlabelled)
    asked = settings.get("encoding") is not None
    coding = coding_of(examples, column, values, constrain=constrain, asked=asked)
    problem = pose(examples, column, coding, template_set, features, values)
    return Tagger(fit(problem, schedule, held_out))


def coding_of(
    examples: TrainingData,
    column: LabelColumn,
    settings: Settings,
    *,
    constrain: bool = True,
    asked: bool = False,
) -> LabelCoding:
    """How the labels of a column are learnt; see `seqtag.labels.coding.LabelCoding.choose`.

    Raises
    ------
    LabelError
        If an encoding was asked for, and the labels are no chunk labels.
    """
    if column.is_lemma and not (asked and settings.encoding != "keep"):
        return LemmaCoding()
    return LabelCoding.choose(
        examples.transitions(), settings.encoding, constrained=constrain, asked=asked
    )


def fit(problem: Problem, schedule: Schedule, held_out: TrainingData | None = None) -> Model:
    """The model of a problem: its runs, averaged.

    Parameters
    ----------
    problem
        What there is to learn.
    schedule
        Which runs there are.
    held_out
        The columns of the problem and gold labels of other sentences, to score every epoch on.

    Raises
    ------
    KeyboardInterrupt
        If it comes before an epoch is finished.
    """
    judge = None if held_out is None else judge_of(problem, held_out)
    if held_out is not None and held_out.digest() == problem.origin["corpus_sha256"]:
        _log.warning(
            "the dev set is the training data: its scores say how well that was learnt, and stop "
            "nothing too early or too late; give sentences of other texts"
        )
    outcome = train_runs(problem, schedule, judge)
    cells = mean([run.cells for run in outcome.kept])
    return problem.model(cells, outcome.provenance(schedule, judge and judge(cells)))


def _templates(
    templates: str | PathLike[str] | TemplateSet | None, column: LabelColumn
) -> TemplateSet:
    """Those asked for, or the preset that fits the labels."""
    if isinstance(templates, TemplateSet):
        return templates
    return load_templates(templates or column.preset)
