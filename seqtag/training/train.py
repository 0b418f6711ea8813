"""Training: corpus -> learning task -> problem -> automatic settings -> runs -> model."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from seqtag.corpus import LIMITS, ReadOptions
from seqtag.tables.lexicon import tables_of
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.tagger import Tagger
from seqtag.training.auto_settings import choose_passes, select_templates
from seqtag.training.candidates import (
    AUTO,
    candidate_tasks,
    fitting_labels,
    input_columns,
)
from seqtag.training.checkpoints import checkpoints_in
from seqtag.training.data import Source, Unlabeled, check_data, from_lists, open_corpus
from seqtag.training.pipeline import TEXT_COMPONENTS, train_parts
from seqtag.training.raw_text import classes_of
from seqtag.training.runs import Epoch, Schedule, fit
from seqtag.training.stacking import (
    companion_columns,
    fit_stacked,
    with_passes,
    without_unannotated,
)
from seqtag.training.warm_start import default_label, loaded, model_for, note_left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    from typing_extensions import Unpack

    from seqtag.corpus import ReadLimits
    from seqtag.corpus.sentence import Labels, Values
    from seqtag.features.templates import TemplateSet
    from seqtag.tables.lexicon import TableSource
    from seqtag.tagging.pipeline import Loaded

    UnlabeledPolicy = Literal["error", "skip", "learn_around"]


class Options(TypedDict, total=False):
    """Options of `train`, which documents them, and the settings, for type checkers."""

    templates: str | PathLike[str] | TemplateSet | None
    tables: Iterable[TableSource]
    raw: str | PathLike[str] | Sequence[str | PathLike[str]]
    seed: int
    shuffle: bool
    runs: int
    patience: int | None
    constrain: bool
    unlabeled: UnlabeledPolicy
    unlabeled_mark: str
    format: str
    columns: Sequence[str] | None
    limits: ReadLimits
    threads: int
    on_epoch: Callable[[Epoch], None] | None
    on_component: Callable[[str], None] | None
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
    tag_dictionary: int | str | None
    recall_bias: float | str | None
    passes: int | str | None


@overload  # a literal is a string, of which others train a tagger
def train(  # type: ignore[overload-overlap]
    data: Source,
    labels: None = None,
    *,
    label: Literal["all", "tokens", "words"] | list[str] | tuple[str, ...],
    dev: Source | None = None,
    **options: Unpack[Options],
) -> Pipeline: ...
@overload
def train(
    data: Source,
    labels: None = None,
    *,
    label: str | None = None,
    dev: Source | None = None,
    **options: Unpack[Options],
) -> Tagger: ...
@overload
def train(
    data: Iterable[Values],
    labels: Iterable[Labels],
    *,
    label: str | None = None,
    dev: tuple[Iterable[Values], Iterable[Labels]] | None = None,
    **options: Unpack[Options],
) -> Tagger: ...
def train(
    data: Any,
    labels: Iterable[Labels] | None = None,
    *,
    dev: Any = None,
    label: str | Sequence[str] | None = None,
    templates: str | PathLike[str] | TemplateSet | None = None,
    tables: Iterable[TableSource] = (),
    raw: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    seed: int = 1,
    shuffle: bool = True,
    runs: int = 1,
    patience: int | None = None,
    constrain: bool = True,
    unlabeled: UnlabeledPolicy = "error",
    unlabeled_mark: str = "_",
    format: str = "auto",
    columns: Sequence[str] | None = None,
    limits: ReadLimits = LIMITS,
    threads: int = 1,
    on_epoch: Callable[[Epoch], None] | None = None,
    on_component: Callable[[str], None] | None = None,
    init: Loaded | str | PathLike[str] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float | None = None,
    resume: bool = False,
    quick: bool = False,
    **settings: Any,
) -> Tagger | Pipeline:
    r"""Train a tagger, or a pipeline, with the averaged structured perceptron.

    Parameters
    ----------
    data
        Path of a corpus file, several of them, sentences as returned by `seqtag.read`, or a Hugging
        Face dataset with a column ``tokens``, whose class numbers become their names. With
        `labels`, sentences in plain Python: lists of words; lists of tuples, whose values
        `columns` names; or dictionaries with a list of values for each column.
    labels
        For each sentence in plain Python a list with the label of each word.
    dev
        Corpus to score every epoch on; the best epoch's averaged weights are kept. With `labels`
        a pair: sentences and labels.
    label
        Column to learn, or ``upos+feats`` for both at once. By default upos in CoNLL-U, and the
        last column of other formats. With `labels`, the name of their column: ``label`` by
        default. A list of names, or ``all`` for every component that the data have, trains a
        pipeline: see `seqtag.training.pipeline.train_parts`.
    templates
        Preset (``pos``, ``chunk``, ``ner``, ``morph``), template file, or templates; by default
        the preset that fits the label: by the column's name, or by the form of its labels.
        ``auto`` tries all that fit on sentences held out of the training data.
    tables
        Word tables: files, or results of `seqtag.read_table`. Presets use all of them, other
        templates use those that they name: ``class(NAME)[0]``, ``lexicon(NAME)[0]``. They are
        stored in the model.
    raw
        Files of raw text, from which word classes are learned first: one more table, ``raw``. They
        are segmented as the treebank is, or by NLTK's rules for English if it has no spaces.
    seed
        Seed of the shuffling. The same data, seed and version give the same bytes.
    shuffle
        Visit the sentences in a new order each epoch; otherwise in the given order.
    runs
        Models trained with different shuffling and averaged into one.
    patience
        With a dev set: stop after this many epochs without a better score.
    constrain
        Decode valid sequences of chunk labels only.
    unlabeled
        Treatment of words without a label: ``error``; ``skip`` drops sentences with the label
        ``_``; ``learn_around`` moves the weights, where labeled words of the sentence are tagged
        wrongly, towards the best labeling that has all given labels. Sentences without any label
        are left out; of a dev set, labeled words are scored. None among `labels` is such a word.
    unlabeled_mark
        The label of words that have none, to be learned around.
    format, columns
        As in `seqtag.read`; or the names of the values of tuples.
    limits
        As in `seqtag.read`, of files.
    threads
        Runs trained at the same time; the model is the same on any number.
    on_epoch
        Called after each epoch, with an `Epoch`.
    init
        A model to continue from: a tagger, a pipeline (its component of that column), a file, or
        the name of an embedded model. Its labels, words and features are kept, and new ones are
        added; its templates and settings apply unless others are given, and `templates` must
        include its own. Only its averaged weights are carried over: the new average is over the new
        training alone.
    checkpoint
        Folder for the state of the training, created if needed; written after each epoch and at an
        interruption. No other training may use it.
    checkpoint_every
        Write the state at this interval in seconds instead, also within an epoch.
    resume
        Continue from the newest checkpoint in the folder, to the same bytes as without the
        interruption; start from the beginning if there is none. Otherwise, a folder with
        checkpoints is refused.
    quick
        Run no trials before training: automatic settings use the value that suits most corpora.
    on_component
        Called with the name of a component of a pipeline before it is trained.
    **settings
        Those of `seqtag.settings.SETTINGS`, which describes them: ``epochs``, ``update``,
        ``step``, ``margin``, ``min_count``, ``encoding``, ``dropout``, ``label_parts``,
        ``tag_dictionary``, ``recall_bias`` and ``passes``. They override those of the templates;
        None keeps the value of the templates.

    Returns
    -------
    Tagger or Pipeline
        A tagger of one column; a pipeline if `label` is a list, ``all``, or a component that is
        learned from text (``tokens``, ``words``).

    Raises
    ------
    CorpusError, TemplateError, LabelError
        If the data have no sentences or lack a column, templates do not fit them, labels are
        missing, or column, templates or encoding are not those of the model to continue from.
    CheckpointError
        If another training uses the folder of checkpoints, or those in it are of other data,
        options or another version, or none of them is complete.
    TypeError
        If sentences are lists without `labels`, or `labels` are given for a file.
    ValueError
        If seed, runs, patience, threads or checkpoint_every are out of range, there is no folder
        to resume from, or an option for one column is given for a pipeline.
    KeyboardInterrupt
        If it arrives before an epoch is finished, or a second time; otherwise training ends after
        the current sentence, the tagger has the weights so far, and ``tagger.model.interrupted`` is
        true.

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
    words_without = Unlabeled.of(unlabeled, unlabeled_mark)
    begin = None if init is None else loaded(init)
    tables = tables_of(tables)
    reading = ReadOptions.taken_from(settings, format=format, columns=columns, limits=limits)
    if raw:
        tables.append(classes_of(raw, data, reading, threads))
    if labels is not None and (label is None or isinstance(label, str)):
        label = label or default_label(begin) or "label"
        data, dev, mark = from_lists(data, labels, dev, label, columns, words_without.mark)
        words_without = words_without._replace(mark=mark)
    if label is not None and (not isinstance(label, str) or label in (*TEXT_COMPONENTS, "all")):
        names = [label] if isinstance(label, str) else [*label]
        refused = {
            "labels": labels is not None,
            "templates": templates is not None,
            "unlabeled": words_without != Unlabeled(),
            "shuffle": not shuffle,
        }
        if any(refused.values()):
            name = next(name for name, given in refused.items() if given)
            msg = (
                f"expected {name} with one label, found {', '.join(names)}; train such components "
                "one by one and combine them with seqtag bundle"
            )
            raise ValueError(msg)
        models = train_parts(
            data,
            None if label == "all" else names,
            dev,
            tables=tables,
            seed=seed,
            runs=runs,
            patience=patience,
            constrain=constrain,
            threads=threads,
            **reading.arguments(),
            on_component=on_component,
            on_epoch=on_epoch,
            init=begin,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
            quick=quick,
            **settings,
        )
        return Pipeline(models)

    schedule = Schedule(seed, runs, patience, threads, on_epoch, shuffle)
    folder = checkpoints_in(checkpoint, resume=resume, every=checkpoint_every)
    with folder or nullcontext():
        with ExitStack() as files:
            corpus = open_corpus(data, files, reading)
            column = corpus.label_column(label or default_label(begin))
            available = [name for name in corpus.columns if name not in column.columns]
            tasks = candidate_tasks(
                column,
                available,
                templates,
                settings,
                tables=tables,
                init=model_for(begin, column, settings),
                constrain=constrain,
            )
            note_left_out(begin, [str(column)])
            tasks = with_passes(tasks)
            needed = input_columns(tasks, available)
            companions = companion_columns(tasks)
            both = dict.fromkeys((*needed, *companions))
            examples = corpus.gather([*both], column, words_without)
            corpus.announce(examples, column, chosen=label is not None)
            held_out = None
            if dev is not None:
                dev_corpus = open_corpus(dev, files, reading)
                dev_corpus.check_columns((*needed, *column.columns))
                held_out = dev_corpus.gather(needed, column, words_without, check=False)
        check_data(examples.select(needed), held_out)
        tasks = without_unannotated(tasks, {name: examples.columns[name] for name in companions})
        tasks = fitting_labels(tasks, examples)
        if templates != AUTO:
            tasks = tasks[:1]
        task, problem = select_templates(tasks, examples, schedule, quick=quick)
        if task.settings.passes == "auto":
            problem = choose_passes(problem, task, examples, schedule, quick=quick)
        if folder:
            stage = folder.stage(str(column), {"passes": problem.settings.passes})
            schedule = replace(schedule, checkpoints=stage)
        if task.second is not None and problem.settings.passes == 2:
            return Tagger(fit_stacked(problem, task, examples, schedule, held_out))
        del examples, corpus, tasks  # memory for the epochs
        return Tagger(fit(problem, schedule, held_out))
