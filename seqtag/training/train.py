"""Training: corpus -> treebank -> tasks -> [choose -> problem -> fit -> model] for each."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from seqtag.corpus import ReadOptions, SentenceStream
from seqtag.corpus.column_files import MANY_ROWS
from seqtag.errors import CorpusError, OptionError
from seqtag.tables.lexicon import (
    check_phrases,
    check_used,
    note_unused_names,
    note_useless,
    tables_of,
)
from seqtag.tagging.pipeline import Cutter, Pipeline, of_models
from seqtag.tagging.tagger import Tagger, load_models
from seqtag.training.data import (
    Corpus,
    TrainingData,
    Unlabeled,
    check_labels,
    check_several_labels,
    from_lists,
    open_corpus,
)
from seqtag.training.loop import completed, train_tasks
from seqtag.training.plan import PRESETS, Request, component_names, plan
from seqtag.training.runs import Epoch, Schedule
from seqtag.training.task import TEXT_COMPONENTS
from seqtag.training.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from seqtag.corpus import ReadLimits
    from seqtag.corpus.sentence import Labels, Values
    from seqtag.corpus.spans import TextWithSpans
    from seqtag.features.templates import TemplateSet
    from seqtag.tables.lexicon import TableSource
    from seqtag.tables.table import WordTable
    from seqtag.tagging.pipeline import Loaded
    from seqtag.training.task import Task

    UnlabeledPolicy = Literal["error", "skip", "learn_around"]

_log = logging.getLogger("seqtag")


class Options(TypedDict, total=False):
    """Options of `train`, which documents them, and the settings: the only list of them."""

    templates: str | PathLike[str] | TemplateSet | None
    tables: Iterable[TableSource]
    seed: int
    shuffle: bool
    runs: int
    patience: int | None
    constrain: bool
    unlabeled: UnlabeledPolicy
    unlabeled_mark: str
    map: Mapping[str, str]
    partial: Mapping[str, Sequence[str]]
    format: str
    columns: Sequence[str] | None
    separator: str | None
    comment: str | None
    header: bool | None
    sentences: str | None
    outside: str | None
    scheme: str | None
    names: Mapping[str, Sequence[str]] | Sequence[str] | None
    offsets: str | None
    overlaps: str | None
    tokens_from: Loaded | str | PathLike[str] | None
    limits: ReadLimits
    threads: int
    on_epoch: Callable[[Epoch], None] | None
    on_component: Callable[[str], None] | None
    init: Loaded | str | PathLike[str] | None
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


@overload
def train(
    data: Any,
    labels: None = None,
    *,
    label: Literal["all", "tokens", "words"] | list[str] | tuple[str, ...],
    dev: Any = None,
    **options: Unpack[Options],
) -> Pipeline: ...
@overload
def train(
    data: list[TextWithSpans],
    labels: None = None,
    *,
    label: str | None = None,
    dev: Any = None,
    **options: Unpack[Options],
) -> Pipeline: ...
@overload
def train(
    data: Any,
    labels: None = None,
    *,
    label: str | None = None,
    dev: Any = None,
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
    **options: Any,
) -> Tagger | Pipeline:
    r"""Train a tagger, or a pipeline, with the averaged structured perceptron.

    Parameters
    ----------
    data
        A corpus file, open or not, several of them, or anything else that `seqtag.read` takes: a
        table, rows, lists of pairs (word, label) as NLTK has them. With `labels`, sentences in
        plain Python: lists of words; lists of tuples, whose values `columns` names; or dictionaries
        with a list of values for each column.
    labels
        For each sentence in plain Python a list with the label of each word; or a set of labels,
        one of which the word has, such as ``{"B-PER", "B-ORG"}``.
    dev
        Corpus to score every epoch on; the best epoch's averaged weights are kept. With `labels`
        a pair: sentences and labels.
    label
        Column to learn, or ``upos+feats`` for both at once. By default upos in CoNLL-U, and the
        last column of other formats. With `labels`, the name of their column: ``label`` by
        default. A list of names, or ``all`` for every component that the data have, trains a
        pipeline: text components and then columns in their order in
        `seqtag.training.plan.COMPONENTS`, then others, each seeing the tags predicted by those
        before it.
    templates
        Preset (``pos``, ``chunk``, ``ner``, ``morph``), template file, or templates; by default
        the preset that fits the label: by the column's name, or by the form of its labels.
    tables
        Word tables: files, or results of `seqtag.read_table`. Presets use all of them, other
        templates use those that they name: ``class(NAME)[0]``, ``lexicon(NAME)[0]``. They are
        stored in the model.
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
    map
        Other names of labels, or of the types of chunks, in all files and the dev set, so that
        corpora can be joined: ``{"person": "PER", "misc": "O"}``.
    partial
        For files in which not all types of chunks were annotated, those that were:
        ``{"persons.txt": "PER", "rest.txt": ["LOC", "ORG"]}``. ``O`` there means none of these.
        Before training, chunks of the other types are found there by models of the other files.
    format, columns
        As in `seqtag.read`; or the names of the values of tuples.
    separator, comment, header, sentences, outside, scheme
        As in `seqtag.read`, of column files.
    names
        Names of the labels that JSON lines have as numbers, in all columns, or by column.
    offsets, overlaps
        Of texts with spans: the unit of positions, ``codepoint`` (characters), ``utf16`` or
        ``byte``; and ``longest`` to use the longest of spans that overlap.
    tokens_from
        A model, or its file or name, that cuts texts with spans into words: by default that to
        continue from, if it can, or else ``en``.
    limits
        As in `seqtag.read`, of files.
    threads
        Runs trained at the same time; the model is the same on any number.
    on_epoch
        Called after each epoch, with an `Epoch`; `print` shows a line for each.
    init
        A model to continue from: a tagger, a pipeline (its component of that column), a file, or
        the name of an embedded model. Its labels, words and features are kept, and new ones are
        added; its templates apply, so none are given, and its settings unless others are given.
        Only its averaged weights are carried over: the new average is over the new training alone.
    on_component
        Called with the name of a component of a pipeline before it is trained.
    **settings
        Those of `seqtag.settings.SETTINGS`, which describes them: ``epochs``, ``update``,
        ``step``, ``margin``, ``min_count``, ``encoding``, ``dropout``, ``label_parts``,
        ``tag_dictionary`` and ``recall_bias``. They override those of the templates; None keeps
        the value of the templates.

    Returns
    -------
    Tagger or Pipeline
        A tagger of one column; a pipeline if `label` is a list, ``all``, or a component that is
        learned from text (``tokens``, ``words``), and of texts with spans, which includes the
        components that cut them.

    Raises
    ------
    CorpusError, TemplateError, LabelError
        If the data have no sentences or lack a column, templates do not fit them, labels are
        missing, or column, templates or encoding are not those of the model to continue from.
    TypeError
        If sentences are lists without `labels`, or `labels` are given for a file.
    OptionError
        If an option for one column is given for a pipeline.
    ValueError
        If seed, runs, patience or threads are out of range.
    KeyboardInterrupt
        If it arrives before an epoch is finished, or a second time. Otherwise the tagger has the
        weights of the best epoch, and ``tagger.model.interrupted`` is true. With a dev set,
        training ends after the current sentence and drops its epoch; without, the current epoch
        is finished and kept.

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
    reading = ReadOptions.taken_from(options)
    schedule = Schedule.taken_from(options)
    policy = Unlabeled.of(options.pop("unlabeled", "error"), options.pop("unlabeled_mark", "_"))
    given = {str(path): types for path, types in options.pop("partial", {}).items()}
    partial = {k: v.split(",") if isinstance(v, str) else v for k, v in given.items()}
    policy = policy._replace(names=options.pop("map", {}), partial=partial)
    init, templates = options.pop("init", None), options.pop("templates", None)
    begin = of_models(load_models(init), str(init)) if isinstance(init, (str, PathLike)) else init
    tables = tables_of(options.pop("tables", ()))
    on_component = options.pop("on_component", None)
    constrain = options.pop("constrain", True)

    own = begin if begin is not None and begin.segmenter else "en"
    reading = replace(reading, tokens_from=Cutter(reading.tokens_from or own))
    if not isinstance(label, (str, Iterable)) and label is not None:
        msg = f"expected label as the name of a column, or several, found {label!r:.60}"
        raise TypeError(msg)
    names = [label] if isinstance(label, str) else [*(label or ())]
    is_pipeline = label is not None and (
        not isinstance(label, str) or label in (*TEXT_COMPONENTS, "all")
    )
    if is_pipeline:
        refused = {
            "labels": labels is not None,
            "templates": templates is not None,
            "map or partial": bool(policy.names or partial),
            "unlabeled": policy.skip or policy.mark is not None,
            "shuffle": not schedule.shuffle,
        }
        _check_for_pipeline(refused, names)
    elif labels is not None:
        names = names or [_default_label(begin) or "label"]
        data, dev, mark = from_lists(data, labels, dev, names[0], reading, policy.mark)
        policy = policy._replace(mark=mark)
    request = Request(names, is_pipeline, templates, options, tables, begin, constrain)
    column = names[0] if names else None
    with ExitStack() as files:
        corpus = open_corpus(data, files, reading, column)
        held_out = None if dev is None else open_corpus(dev, files, reading, column)
        cutters = [each.cutter for each in corpus.sources if isinstance(each, SentenceStream)]
        if is_pipeline:
            tasks, treebank, dev = _gather_components(request, corpus, held_out)
        else:
            tasks, treebank, dev = _gather_column(request, corpus, held_out, policy)
    _check_tables(tables, tasks, treebank)
    _note_left_out(begin, [task.column.name for task in tasks])
    treebank = completed(tasks[0], treebank, schedule)
    models = train_tasks(tasks, treebank, dev, schedule, on_component if is_pipeline else None)
    if any(cutters):
        return Pipeline([*Cutter(cutters[0]).models, *models])
    return Pipeline(models) if is_pipeline else Tagger(models[0])


def _check_for_pipeline(refused: Mapping[str, bool], names: Sequence[str]) -> None:
    """Refuse options that are for one label column."""
    for name, is_given in refused.items():
        if is_given:
            msg = (
                f"expected {name} with one label, found {', '.join(names)}; train such components "
                "one by one and combine them with seqtag bundle"
            )
            raise OptionError(msg)


def _check_tables(tables: Sequence[WordTable], tasks: Sequence[Task], treebank: Treebank) -> None:
    """Refuse tables that no template looks into, and warn about those without effect."""
    of_text = {name for task in tasks if task.reads_text for name in task.templates.table_names}
    if not any(task.column.is_lemma for task in tasks):  # lemmas may be words of any table
        of_words = [each for task in tasks if not task.reads_text for each in (task, *task.others)]
        check_used(tables, [task.templates for task in of_words or tasks])
    of_tokens = [table for table in tables if table.name not in of_text]
    columns = [*treebank.words.columns.values()]
    check_phrases(of_tokens, columns)
    note_useless(of_tokens, columns)
    if form := treebank.words.columns.get("form"):
        note_unused_names(of_tokens, form, treebank.words.lengths)


def _gather_column(
    request: Request, corpus: Corpus, dev: Corpus | None, policy: Unlabeled
) -> tuple[list[Task], Treebank, Treebank | None]:
    """Return the task of a tagger, and what it learns from and is scored on."""
    label = request.labels[0] if request.labels else _default_label(request.init)
    column = corpus.label_column(label)
    tasks = plan(replace(request, labels=[column.name]), corpus.columns)
    needed = tasks[0].all_columns

    def gathered(source: Corpus, *, held_out: bool = False) -> Treebank:
        found = source.gather(needed, column, policy, held_out=held_out)
        return Treebank(found.with_columns({column.name: found.labels}))

    treebank = gathered(corpus)
    if policy.mark is None:
        check_labels(treebank.words.labels.types, column, corpus.name)
    if request.init is None:
        check_several_labels(treebank.words, column, corpus.name)
    corpus.announce(treebank.words, column, chosen=bool(request.labels))
    if dev is None:
        return tasks, treebank, None
    dev.check_columns((*needed, *column.columns))
    return tasks, treebank, gathered(dev, held_out=True)


def _gather_components(
    request: Request, corpus: Corpus, dev: Corpus | None
) -> tuple[list[Task], Treebank, Treebank | None]:
    """Return the tasks of a pipeline, and what they learn from and are scored on."""
    asked = None if [*request.labels] == ["all"] else request.labels
    if asked is None and not {*PRESETS} & {*corpus.columns}:
        corpus.check_any()
    components = component_names(corpus.columns, asked, corpus.name)
    columns = [name for name in components if name not in TEXT_COMPONENTS]
    if len(columns) < len(components):
        corpus = corpus.held()  # it is read again

    def gathered(source: Corpus, check: Sequence[str] = ()) -> Treebank:
        found, lengths = source.gather_columns(["form", *columns], check)
        return Treebank(TrainingData(found, found["form"], lengths))

    treebank, dev_treebank = gathered(corpus, columns if asked else ()), None
    corpus.announce(treebank.words, None, chosen=True)
    if dev is not None:
        dev.check_columns(("form", *columns))
        dev_treebank = gathered(dev)
    left_out: set[str] = set()
    types_of = {name: treebank.words.columns[name].types for name in columns}
    alike = [name for name, types in types_of.items() if len(types) == 1 and request.init is None]
    if alike == components and len(treebank.words.labels.ids) >= MANY_ROWS:
        msg = (
            f"expected several labels in one of the columns {', '.join(alike)}, found one in each: "
            "nothing to learn; check that they were exported, or choose others with --label"
        )
        raise CorpusError(msg, source=corpus.name)
    for name in alike:
        effect = "not learned" if asked is None else "nothing to learn"
        _log.warning("the column %s is %r everywhere: %s", name, types_of[name][0], effect)
        left_out |= {name} if asked is None else set()
    for name in components:
        if name in TEXT_COMPONENTS:
            try:
                treebank = treebank.with_text_of(name, corpus.again())
            except CorpusError as error:
                if asked is not None:
                    raise
                _log.warning("%s: not learned (%s)", name, error.message.partition(";")[0])
                left_out.add(name)
    learned = [name for name in components if name not in left_out]
    tasks = plan(replace(request, labels=learned), ["form", *columns], treebank.text)
    return tasks, treebank, dev_treebank


def _default_label(init: Loaded | None) -> str | None:
    """Return the column that a model labels; None if there are several, or no model."""
    return init.label if isinstance(init, Tagger) else None


def _note_left_out(init: Loaded | None, names: Sequence[str]) -> None:
    """Warn about components of the model to continue from that the new model lacks."""
    models = init.models if init is not None else ()
    left_out = [str(each.column) for each in models if str(each.column) not in names]
    if left_out:
        _log.warning(
            "the new model has only %s; %s of the model to continue from %s not kept",
            ", ".join(names),
            ", ".join(left_out),
            "is" if len(left_out) == 1 else "are",
        )
