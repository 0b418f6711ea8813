"""Training: corpus -> treebank -> tasks -> [choose -> problem -> fit] for each -> model."""

from __future__ import annotations

import logging
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, overload

from seqtag.corpus import ReadOptions
from seqtag.errors import CorpusError
from seqtag.model.bundle import digest
from seqtag.tables.lexicon import check_phrases, check_used, note_useless, tables_of
from seqtag.tagging.pipeline import Pipeline, load
from seqtag.tagging.tagger import Tagger
from seqtag.training.checkpoints import Stage, checkpoints_in
from seqtag.training.choose import choose
from seqtag.training.data import Source, TrainingData, Unlabeled, from_lists, open_corpus
from seqtag.training.loop import train_tasks, usual
from seqtag.training.raw_text import classes_of
from seqtag.training.runs import Epoch, Schedule
from seqtag.training.task import (
    AUTO,
    PRESETS,
    TEXT_COMPONENTS,
    Request,
    component_names,
    fitting_labels,
    inputs_of,
)
from seqtag.training.text_examples import (
    TreebankText,
    check_multiword,
    gather_words,
    is_unpunctuated,
    word_table,
)
from seqtag.training.treebank import PARTS_OF_WORDS, Treebank
from seqtag.training.warm_start import default_label, note_left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Unpack

    from seqtag.corpus import ReadLimits, Sentence
    from seqtag.corpus.sentence import Labels, Values
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
    separator: str | None
    comment: str | None
    header: bool | None
    sentences: str | None
    outside: str | None
    scheme: str | None
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
    **options: Any,
) -> Tagger | Pipeline:
    r"""Train a tagger, or a pipeline, with the averaged structured perceptron.

    Parameters
    ----------
    data
        Path of a corpus file, several of them, sentences as returned by `seqtag.read`, lists of
        pairs (word, label) as NLTK has them, or a Hugging Face dataset with a column ``tokens``,
        whose class numbers become their names. With `labels`, sentences in plain Python: lists of
        words; lists of tuples, whose values `columns` names; or dictionaries with a list of values
        for each column.
    labels
        For each sentence in plain Python a list with the label of each word.
    dev
        Corpus to score every epoch on; the best epoch's averaged weights are kept. With `labels`
        a pair: sentences and labels.
    label
        Column to learn, or ``upos+feats`` for both at once. By default upos in CoNLL-U, and the
        last column of other formats. With `labels`, the name of their column: ``label`` by
        default. A list of names, or ``all`` for every component that the data have, trains a
        pipeline: text components and then columns in their order in
        `seqtag.training.task.COMPONENTS`, then others, each seeing the tags predicted by those
        before it.
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
    separator, comment, header, sentences, outside, scheme
        As in `seqtag.read`, of column files.
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
    reading = ReadOptions.taken_from(options)
    schedule = Schedule.taken_from(options)
    folder = checkpoints_in(
        options.pop("checkpoint", None),
        resume=options.pop("resume", False),
        every=options.pop("checkpoint_every", None),
    )
    policy = Unlabeled.of(options.pop("unlabeled", "error"), options.pop("unlabeled_mark", "_"))
    init, templates = options.pop("init", None), options.pop("templates", None)
    begin = load(init) if isinstance(init, (str, PathLike)) else init
    tables, raw = tables_of(options.pop("tables", ())), options.pop("raw", ())
    if raw:
        tables.append(classes_of(raw, data, reading, schedule.threads, segmenter=train))
    decide = usual if options.pop("quick", False) else choose
    on_component = options.pop("on_component", None)
    constrain = options.pop("constrain", True)
    request = Request(templates, options, tables, begin, constrain)

    names = [label] if isinstance(label, str) else None if label is None else [*label]
    is_pipeline = names is not None and (
        not isinstance(label, str) or label in (*TEXT_COMPONENTS, "all")
    )
    if is_pipeline:
        refused = {
            "labels": labels is not None,
            "templates": templates is not None,
            "unlabeled": policy != Unlabeled(),
            "shuffle": not schedule.shuffle,
        }
        _check_for_pipeline(refused, names)
    elif labels is not None:
        name = (names or [default_label(begin) or "label"])[0]
        data, dev, mark = from_lists(data, labels, dev, name, reading.columns, policy.mark)
        policy, names = policy._replace(mark=mark), [name]
    prepare = _for_pipeline if is_pipeline else _for_tagger
    with folder or nullcontext():
        with ExitStack() as files:
            prepared = prepare(request, _Data(data, dev, reading, policy), files, names)
        # Segmenters look up parts of a text, not tokens.
        segmenters = [task for each in prepared.components for task in each if task.reads_text]
        of_text = {name for task in segmenters for name in task.templates.table_names}
        of_tokens = [table for table in tables if table.name not in of_text]
        check_phrases(of_tokens, prepared.treebank.words.columns.values())
        note_useless(of_tokens, [*prepared.treebank.words.columns.values()])
        learned = [str(candidates[0].column) for candidates in prepared.components]
        note_left_out(begin, learned)
        if folder:
            facts = prepared.facts(request, schedule)
            schedule = replace(schedule, checkpoints=Stage(folder, ",".join(learned), shared=facts))
        said = on_component if is_pipeline else None
        models = train_tasks(*prepared, schedule, decide, said)
    return Pipeline(models) if is_pipeline else Tagger(models[0])


class _Data(NamedTuple):
    """Files or sentences to learn from and to score on, and how to read them."""

    train: Any
    dev: Any
    reading: ReadOptions
    policy: Unlabeled


class _Prepared(NamedTuple):
    """Components with their candidates, the treebank, and the dev set."""

    components: list[list[Task]]
    treebank: Treebank
    dev: Treebank | None

    def facts(self, request: Request, schedule: Schedule) -> dict[str, Any]:
        """Return what the training depends on, though not each of its components."""
        begun = [digest(task.init) for [task, *_] in self.components if task.init]
        return {
            "training set": self.treebank.words.summary,
            "dev set": self.dev and self.dev.words.summary,
            "model to continue from": ",".join(begun) or None,
            **{f"table {table.name}": table.digest for table in request.tables},
            **{name: value for name, value in request.settings.items() if value is not None},
            "runs": schedule.runs,
            "patience": schedule.patience,
        }


def _check_for_pipeline(refused: Mapping[str, bool], names: Sequence[str] | None) -> None:
    """Refuse options that are for one label column."""
    for name, given in refused.items():
        if given:
            msg = (
                f"expected {name} with one label, found {', '.join(names or ())}; train such "
                "components one by one and combine them with seqtag bundle"
            )
            raise ValueError(msg)


def _for_tagger(
    request: Request, data: _Data, files: ExitStack, names: Sequence[str] | None
) -> _Prepared:
    """Prepare the training of a tagger."""
    corpus = open_corpus(data.train, files, data.reading)
    label = names[0] if names else default_label(request.init)
    column = corpus.label_column(label)
    available = [name for name in corpus.columns if name not in column.columns]
    candidates = request.tagger(column, available)
    needed = inputs_of(candidates)
    found = corpus.gather(needed, column, data.policy)
    corpus.announce(found, column, chosen=bool(names))
    candidates = fitting_labels(candidates, found)
    if request.templates != AUTO:
        candidates = candidates[:1]
    dev = None
    if data.dev is not None:
        dev_corpus = open_corpus(data.dev, files, data.reading)
        dev_corpus.check_columns((*needed, *column.columns))
        held_out = dev_corpus.gather(needed, column, data.policy, check=False)
        dev = Treebank(held_out.with_columns({str(column): held_out.labels}))
    return _Prepared([candidates], Treebank(found.with_columns({str(column): found.labels})), dev)


def _for_pipeline(
    request: Request, data: _Data, files: ExitStack, names: Sequence[str] | None
) -> _Prepared:
    """Prepare the training of a pipeline."""
    asked = None if names is None or [*names] == ["all"] else names
    corpus = open_corpus(data.train, files, data.reading)
    if asked is None and not {*PRESETS} & {*corpus.columns}:
        corpus.check_any()
    components = component_names(corpus.columns, asked, corpus.name)
    columns = [name for name in components if name not in TEXT_COMPONENTS]
    if len(columns) < len(components):
        corpus = corpus.held()  # it is read again
    found, lengths = corpus.gather_columns(["form", *columns], columns if asked else ())
    words = TrainingData(found, found["form"], lengths)
    corpus.announce(words, None, chosen=True)
    dev = None
    if data.dev is not None:
        dev_corpus = open_corpus(data.dev, files, data.reading)
        dev_corpus.check_columns(("form", *columns))
        dev_found, dev_lengths = dev_corpus.gather_columns(("form", *columns))
        dev = Treebank(TrainingData(dev_found, dev_found["form"], dev_lengths))
    if asked is None:
        for name in columns:
            if len(found[name].types) == 1:
                value = found[name].types[0]
                _log.warning("the column %s is %r everywhere: not learned", name, value)
        columns = [name for name in columns if len(found[name].types) > 1]
    tasks = [
        request.component(name, ["form", *columns[:n]], words._replace(labels=found[name]))
        for n, name in enumerate(columns)
    ]
    # Lemmas may be words of any table, and tokens too where nothing separates words.
    if "lemma" not in columns and (tasks or "tokens" not in components):
        check_used(request.tables, [task.templates for each in tasks for task in each])
    treebank, texts = Treebank(words), []
    for name in TEXT_COMPONENTS:
        if name in components:
            try:
                treebank, candidates = _of_text(name, request, treebank, corpus.again)
            except CorpusError as error:
                if asked is not None:
                    raise
                _log.warning("%s: not learned (%s)", name, error.message.partition(";")[0])
                continue
            if not tasks:
                check_used(request.tables, [task.templates for task in candidates])
            texts.append(candidates)
    return _Prepared([*texts, *tasks], treebank, dev)


def _of_text(
    name: str, request: Request, treebank: Treebank, sentences: Callable[[], Iterator[Sentence]]
) -> tuple[Treebank, list[Task]]:
    """Return the treebank with what a component that reads text learns from, and its candidates."""
    if name == "words":
        tokens, source = gather_words(sentences())
        check_multiword(tokens, source)
        candidates = request.text("words", ["multiword", PARTS_OF_WORDS], [])
        return replace(treebank, tokens=tokens), candidates
    text = TreebankText.of(sentences())
    table = word_table(text)
    lexicons = [each for each in request.tables if each.kind == "lexicon"]
    tables: list[WordTable] = tables_of([table, *lexicons]) if table else []
    preset = "sentences" if is_unpunctuated(text) else "segment"
    return replace(treebank, text=text), request.text("tokens", [preset], tables)
