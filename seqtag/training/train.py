"""Training a tagger: corpus, labels, features, epochs, model."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, overload

from seqtag.corpus import LIMITS
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.labels.coding import LabelCoding
from seqtag.labels.lemmas import LemmaCoding
from seqtag.model.freeze import mean
from seqtag.settings import Settings
from seqtag.tables.lexicon import (
    check_used,
    given_tables,
    lemma_columns,
    lemma_table,
    tables_of,
)
from seqtag.tagging.tagger import Tagger
from seqtag.training.auto_settings import best_way
from seqtag.training.candidates import AUTO, Way, all_passes, columns_of, fitting_labels, names_for
from seqtag.training.checkpoints import checkpoints_in
from seqtag.training.data import Source, check_labels, open_corpus
from seqtag.training.data_checks import note_data
from seqtag.training.interruption import put_off
from seqtag.training.lists import listed
from seqtag.training.problem import feature_digest, judge_of, pose
from seqtag.training.runs import Epoch, Schedule, train_runs
from seqtag.training.stacking import (
    Sentences,
    companions_of,
    fit_twice,
    in_passes,
    with_annotated,
)
from seqtag.training.warm_start import (
    check_to_go_on,
    coding_to_go_on,
    default_label,
    loaded,
    merged_templates,
    model_for,
    settings_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from typing_extensions import Unpack

    from seqtag.corpus import ReadLimits
    from seqtag.corpus.memory import Labels, Values
    from seqtag.labels.column import LabelColumn
    from seqtag.labels.schemes import Transition
    from seqtag.model.model import Model
    from seqtag.tables.lexicon import TableSource
    from seqtag.tables.table import WordTable
    from seqtag.tagging.pipeline import Loaded
    from seqtag.training.data import Corpus, TrainingData
    from seqtag.training.problem import Problem
    from seqtag.training.runs import MakeLearner


class Options(TypedDict, total=False):
    """The options of `train`, which says what they are, and the settings, for type checkers."""

    label: str | None
    templates: str | PathLike[str] | TemplateSet | None
    tables: Iterable[TableSource]
    seed: int
    shuffle: bool
    runs: int
    patience: int | None
    constrain: bool
    skip_unlabelled: bool
    unlabelled: str | None
    format: str
    columns: Sequence[str] | None
    limits: ReadLimits
    threads: int
    on_epoch: Callable[[Epoch], None] | None
    init: Loaded | str | PathLike[str] | None
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float | None
    resume: bool
    quick: bool
    epochs: int | None
    update: str | None
    step: float | None
    margin: float | None
    min_count: int | None
    encoding: str | None
    dropout: float | str | None
    label_parts: str | None
    known_labels: int | str | None
    passes: int | None


@overload
def train(
    data: Source, labels: None = None, *, dev: Source | None = None, **options: Unpack[Options]
) -> Tagger: ...
@overload
def train(
    data: Iterable[Values],
    labels: Iterable[Labels],
    *,
    dev: tuple[Iterable[Values], Iterable[Labels]] | None = None,
    **options: Unpack[Options],
) -> Tagger: ...
def train(
    data: Any,
    labels: Iterable[Labels] | None = None,
    *,
    dev: Any = None,
    label: str | None = None,
    templates: str | PathLike[str] | TemplateSet | None = None,
    tables: Iterable[TableSource] = (),
    seed: int = 1,
    shuffle: bool = True,
    runs: int = 1,
    patience: int | None = None,
    constrain: bool = True,
    skip_unlabelled: bool = False,
    unlabelled: str | None = None,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    limits: ReadLimits = LIMITS,
    threads: int = 1,
    on_epoch: Callable[[Epoch], None] | None = None,
    init: Loaded | str | PathLike[str] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float | None = None,
    resume: bool = False,
    quick: bool = False,
    **settings: Any,
) -> Tagger:
    r"""Train a tagger with the averaged structured perceptron.

    Parameters
    ----------
    data
        Path of a corpus file, several of them, or sentences as `seqtag.read` gives them. With
        `labels`, sentences in plain Python: lists of words; lists of tuples, whose values
        `columns` names; or dictionaries with a list of values for each column.
    labels
        For each sentence in plain Python a list with the label of each word.
    dev
        Corpus to score every epoch on; the best epoch's averaged weights are kept. With `labels`
        a pair: sentences and labels.
    label
        Column to learn, or ``upos+feats`` for both at once. By default upos in CoNLL-U, and the
        last column of other formats. With `labels`, what they are called: ``label`` by default.
    templates
        Preset (``pos``, ``chunk``, ``ner``, ``morph``), template file, or templates; by default
        the preset that fits the label: by the column's name, or by what its labels look like.
        ``auto`` tries all that fit on sentences held out of the training part.
    tables
        Word tables: files, or what `seqtag.read_table` gives. Presets look into all of them, other
        templates into those that they name: ``class(NAME)[0]``, ``lexicon(NAME)[0]``. They travel
        in the model.
    seed
        Of the shuffling. The same data, seed and seqtag give the same bytes.
    shuffle
        Visit the sentences in a new order each epoch; else in the order given.
    runs
        Models trained with different shuffling and averaged into one.
    patience
        With a dev set: stop after this many epochs without a better score.
    constrain
        Let a model of chunk labels give valid sequences only.
    skip_unlabelled
        Leave out sentences with ``_`` for a label instead of refusing them.
    unlabelled
        The label of words that have none, ``_`` say. They are learnt around: where other words of
        their sentence are labelled wrongly, the weights move towards the best labelling that has
        all labels given. Sentences without any label are left out. Of a dev set, words that have
        a label are scored. None among `labels` is such a word too.
    format, columns
        As in `seqtag.read`; or the names of the values of tuples.
    limits
        As in `seqtag.read`, of files.
    threads
        Runs trained at the same time; the model is the same on any number.
    on_epoch
        Called after each epoch, with an `Epoch`.
    init
        A model to go on from: a tagger, a pipeline (its part of that column), a file, or the name
        of an embedded model. Its labels, words and features stay, new ones come in; its templates
        and settings hold where others are not given, and `templates` must have its own among
        them. Its averaged weights are all that is carried over: the new average is over the new
        training alone.
    checkpoint
        A folder, made if it is not there, in which to keep where the training stands: after each
        epoch, and when it is interrupted. No other training may use it.
    checkpoint_every
        Seconds after which to do so instead, also within an epoch.
    resume
        Go on from the newest checkpoint in the folder, to the same bytes as if nothing had
        happened; begin at the start if there is none yet. Without, a folder that has some is
        refused.
    quick
        Try nothing before training: settings that choose themselves have the value that is good
        for most corpora.
    **settings
        Those of `seqtag.settings.SETTINGS`, which says what each does: ``epochs``, ``update``,
        ``step``, ``margin``, ``min_count``, ``encoding``, ``dropout``, ``label_parts``,
        ``known_labels`` and ``passes``. They come before those of the templates; None leaves one to
        them.

    Raises
    ------
    CorpusError, TemplateError, LabelError
        If the data have no sentences or lack a column, templates do not fit them, labels are
        missing, or column, templates or encoding are not those of the model to go on from.
    CheckpointError
        If another training uses the folder of checkpoints, or those in it are of other data,
        options or another version, or none of them is whole.
    TypeError
        If sentences are lists and there are no `labels`, or a file has some.
    ValueError
        If seed, runs, patience, threads or checkpoint_every are out of range, or there is no
        folder to resume from.
    KeyboardInterrupt
        If it comes before an epoch is finished, or a second time; else the training ends with its
        sentence, the tagger holds what was learnt, and ``tagger.model.interrupted`` says so.

    Examples
    --------
    >>> from seqtag.corpus import read
    >>> import io
    >>> words = read(io.BytesIO(b"the DT\ncat NN\n\na DT\ndog NN\n"), columns=["form", "tag"])
    >>> tagger = train(words, label="tag", epochs=3, min_count=1)
    >>> tagger.tag(["the", "dog"])
    ['DT', 'NN']
    >>> sentences, labels = [["the", "cat"], ["a", "dog"]], [["DT", "NN"], ["DT", "NN"]]
    >>> train(sentences, labels, label="tag", epochs=3, min_count=1).tag(["the", "dog"])
    ['DT', 'NN']
    """
    schedule = Schedule(seed, runs, patience, threads, on_epoch, shuffle)
    folder = checkpoints_in(checkpoint, resume=resume, every=checkpoint_every)
    begin = None if init is None else loaded(init)
    if labels is not None:
        label = label or default_label(begin) or "label"
        data, dev, unlabelled = listed(data, labels, dev, label, columns, unlabelled)
    with folder or nullcontext():
        with ExitStack() as files:
            corpus = open_corpus(data, format, columns, files, limits)
            column = corpus.label_column(label or default_label(begin))
            model = model_for(begin, column, settings)
            features = [name for name in corpus.columns if name not in column.columns]
            given = tables_of(tables)
            ways = ways_of(templates, column, features, settings, model, given)
            check_used(given, [way.templates for way in all_passes(ways)])
            needed = columns_of(ways, features)
            names = (*needed, *companions_of(ways, column))
            examples, ways = _examples(corpus, names, column, ways, skip_unlabelled, unlabelled)
            check_labels(examples.labels.types, column, corpus.name)
            held_out = None
            if dev is not None:
                dev_corpus = open_corpus(dev, format, columns, files, limits)
                dev_corpus.check_columns((*needed, *column.columns))
                held_out = dev_corpus.gather(needed, column, skip_unlabelled, unlabelled)
        note_data(examples, needed, held_out)
        asked = settings.get("encoding") is not None

        ways = fitting_labels(ways, examples, column)
        coded = partial(coding_of, column=column, constrain=constrain, asked=asked, init=model)
        posed = partial(_posed, examples, needed, coded, column, features, model)
        way, problem = best_way(
            ways if templates == AUTO else ways[:1], posed, schedule, quick=quick
        )
        stage = folder.stage(str(column), {"passes": way.settings.passes}) if folder else None
        schedule = replace(schedule, checkpoints=stage)
        if way.second is not None:
            learnt = Sentences(examples, names)
            scored = held_out and Sentences(held_out, needed)
            return Tagger(fit_twice(problem, way, learnt, features, schedule, scored, fit))
        held_out = held_out and way.part_of(held_out, needed)
        del examples, corpus, posed  # memory for the epochs
        return Tagger(fit(problem, schedule, held_out))


def _examples(
    corpus: Corpus,
    names: Sequence[str],
    column: LabelColumn,
    ways: list[Way],
    skip_unlabelled: bool,
    unlabelled: str | None,
) -> tuple[TrainingData, list[Way]]:
    """The examples of some columns, and the ways with the lemmas and tags that they show."""
    lemmas = lemma_columns([way.templates for way in all_passes(ways)], corpus.columns)
    examples = corpus.gather((*names, *lemmas), column, skip_unlabelled, unlabelled)
    if lemmas:
        found = lemma_table(*examples.columns[len(names) :])
        ways = [way.with_lemmas(found) for way in ways]
        examples = examples._replace(columns=examples.columns[: len(names)])
    also = companions_of(ways, column)
    others = zip(also, examples.columns[len(names) - len(also) :], strict=True)
    return examples, with_annotated(ways, dict(others))


def _posed(
    examples: TrainingData,
    needed: Sequence[str],
    coded: Callable[..., LabelCoding],
    column: LabelColumn,
    features: Sequence[str],
    model: Model | None,
    way: Way,
) -> tuple[Problem, TrainingData]:
    """The problem of learning in a way, and the data it is about."""
    data, values = way.part_of(examples, needed), way.settings
    coding = coded(data, settings=values)
    return pose(data, column, coding, way.templates, features, values, model), data


class Counted(Protocol):
    """What has counted which label follows which, as `TrainingData` does."""

    def transitions(self) -> Mapping[Transition, int]:
        """How often which label follows which."""


def coding_of(
    examples: Counted,
    column: LabelColumn,
    settings: Settings,
    *,
    constrain: bool = True,
    asked: bool = False,
    init: Model | None = None,
) -> LabelCoding:
    """How the labels of a column are learnt; see `seqtag.labels.coding.LabelCoding.choose`.

    Raises
    ------
    LabelError
        If an encoding was asked for, and the labels are no chunk labels, or the model to go on
        from has another.
    """
    if init is not None:
        transitions = examples.transitions()
        return coding_to_go_on(init, transitions, settings, constrain=constrain, asked=asked)
    if column.is_lemma and not (asked and settings.encoding != "keep"):
        return LemmaCoding()
    return LabelCoding.choose(
        examples.transitions(), settings.encoding, constrained=constrain, asked=asked
    )


def fit(
    problem: Problem,
    schedule: Schedule,
    held_out: TrainingData | None = None,
    learner: MakeLearner | None = None,
) -> Model:
    """The model of a problem: its runs, averaged.

    Parameters
    ----------
    problem
        What there is to learn.
    schedule
        Which runs there are.
    held_out
        The columns of the problem and gold labels of other sentences, to score every epoch on.
    learner
        As in `seqtag.training.runs.train_runs`.

    Raises
    ------
    CheckpointError
        If there are checkpoints that are of another training, or none that is whole.
    KeyboardInterrupt
        If it comes before an epoch is finished, or a second time.
    """
    judge = None if held_out is None else judge_of(problem, held_out)
    if schedule.checkpoints:
        facts = _facts(problem, schedule, held_out)
        schedule = replace(schedule, checkpoints=schedule.checkpoints.about(facts))
    with put_off(schedule.stop):  # also when all is learnt, and not yet a model
        outcome = train_runs(problem, schedule, judge, learner)
        cells = mean([run.cells for run in outcome.kept])
        model = problem.model(cells, outcome.provenance(schedule, judge and judge(cells)))
    if schedule.stop.asked() and not model.interrupted:
        return replace(model, training={**model.training, "interrupted": True})
    return model


def _facts(problem: Problem, schedule: Schedule, held_out: TrainingData | None) -> dict[str, Any]:
    """What the weights hang on, as checkpoints say it."""
    origin, begin = problem.origin, problem.origin.get("init_sha256")
    tables = problem.compiled.tables
    dev = {"sentences": len(held_out.lengths), "sha256": held_out.digest()} if held_out else None
    return {
        "training set": {"sentences": origin["sentences"], "sha256": origin["corpus_sha256"]},
        "dev set": dev,
        "labelled_words": origin.get("labelled"),
        "model to begin with": {"sha256": begin} if begin else None,
        "templates": str(problem.templates).splitlines(),
        "columns": list(problem.columns),
        "feature set": {"sha256": feature_digest(problem, held_out)},
        **{f"table {name}": {"sha256": table.digest} for name, table in tables.items()},
        "scheme": problem.coding.scheme,
        "learnt_as": problem.coding.encoding,
        "constrain": problem.coding.constrained,
        **problem.settings.to_dict(),
        "seed": schedule.seed,
        "runs": schedule.runs,
        "patience": schedule.patience,
        "shuffle": schedule.shuffle,
    }


def ways_of(
    templates: str | PathLike[str] | TemplateSet | None,
    column: LabelColumn,
    available: Sequence[str],
    settings: Mapping[str, Any],
    init: Model | None = None,
    tables: Sequence[WordTable] = (),
) -> list[Way]:
    """Ways to learn a column; as `templates_of`, but several where labels or a trial decide."""
    names: Sequence[Any] = [templates]
    if templates == AUTO or (templates is None and not column.is_known):
        names = [None] if init else names_for(column, available) or [None]
    ways = []
    for name in names:
        chosen, values = templates_of(name, column, available, settings, init, tables)
        check_to_go_on(init, values)
        ways.append(in_passes(Way(str(name), chosen, values, ()), column, available))
    return ways


def templates_of(
    templates: str | PathLike[str] | TemplateSet | None,
    column: LabelColumn,
    available: Sequence[str],
    settings: Mapping[str, Any],
    init: Model | None = None,
    tables: Sequence[WordTable] = (),
) -> tuple[TemplateSet, Settings]:
    """The templates asked for, or those that fit the labels, and what is set by all together.

    Parameters
    ----------
    templates
        Those asked for, if any are.
    column
        The column to learn.
    available
        The columns that there are beside it.
    settings
        Those that come before the settings of the templates.
    init
        The model to go on from.
    tables
        The word tables to look into.

    Raises
    ------
    TemplateError
        If the model to go on from has other templates, or another table of the same name.
    """
    chosen: TemplateSet | None
    if templates is None or isinstance(templates, TemplateSet):
        chosen = templates
    else:
        chosen = load_templates(templates)
    if init is None:
        fitting = chosen or load_templates(column.preset)
        if chosen is None and column.is_lemma:  # tags are of use, but not needed
            fitting = fitting.within(available)
        fitting = given_tables(fitting, tables)
        return fitting, Settings().with_values(fitting.settings).with_values(settings)
    values = settings_of(init, chosen.settings if chosen else {}, settings)
    known = init.tables if init else ()
    chosen = chosen and given_tables(chosen, tables, known)
    return given_tables(merged_templates(init, chosen), tables, known), values
