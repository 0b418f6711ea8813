"""Training a pipeline: a list of learning tasks, each with the tags predicted by those before it.

The tags that later components see in training are jackknifed, see `seqtag.training.stacking`.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from hashlib import sha256
from os import PathLike
from typing import TYPE_CHECKING, Any

from seqtag.corpus import LIMITS, ReadOptions
from seqtag.corpus.sentence import has_column
from seqtag.errors import CorpusError, did_you_mean
from seqtag.features.encoder import Column
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TAG_COLUMNS
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import NO_LABELS, LabelColumn
from seqtag.model.bundle import digest
from seqtag.settings import Settings
from seqtag.storage.output import is_read_once
from seqtag.tables.lexicon import (
    check_used,
    tables_of,
    with_tables,
)
from seqtag.tagging.tagger import Tagger
from seqtag.training.auto_settings import select_templates
from seqtag.training.candidates import (
    fitting_labels,
    learning_task,
    names_for,
)
from seqtag.training.checkpoints import checkpoints_in
from seqtag.training.data import Source, TrainingData, check_data, gold_name, open_corpus
from seqtag.training.interruption import AtOnce
from seqtag.training.runs import Epoch, Schedule, fit
from seqtag.training.sentence_trial import with_sentence_lengths
from seqtag.training.stacking import component_schedule, jackknifed
from seqtag.training.text_examples import (
    TreebankText,
    is_unpunctuated,
    token_examples,
    word_table,
)
from seqtag.training.warm_start import check_to_go_on, note_left_out, part_of
from seqtag.training.word_trial import train_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from seqtag.corpus import ReadLimits, Sentence
    from seqtag.features.templates import TemplateSet
    from seqtag.model.model import Model
    from seqtag.tables.lexicon import TableSource
    from seqtag.tables.table import WordTable
    from seqtag.tagging.pipeline import Loaded
    from seqtag.training.problem import LearningTask

TEXT_COMPONENTS = ("tokens", "words")
"""Components learned from the text of a treebank."""

PRESETS: Mapping[str, str] = {"upos": "pos", "xpos": "xpos", "feats": "feats", "lemma": "lemma"}
"""Columns that a pipeline learns by default, in their order, and the preset of each."""

COMPONENTS = (*TEXT_COMPONENTS, *PRESETS)
"""Components that a pipeline learns by default, in the order in which they run."""

_MANY_FEATS = "morph-tags"  # preset for more values of FEATS than `_FEW_LABELS`
_FOLDS = 2  # three, or five epochs, did not improve later components and took longer
_FOLD_EPOCHS = 3
_FEW_LABELS = 255  # values of FEATS up to which complete labels are learned, one by one

_GOLD = tuple(map(gold_name, ("lemma", *TAG_COLUMNS)))
"""Columns that no template sees, of which the lemma table and the labels by tags are made."""

_log = logging.getLogger("seqtag")


def train_parts(
    data: Source,
    labels: Sequence[str] | None = None,
    dev: Source | None = None,
    *,
    tables: Iterable[TableSource] = (),
    seed: int = 1,
    runs: int = 1,
    patience: int | None = None,
    constrain: bool = True,
    threads: int = 1,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    limits: ReadLimits = LIMITS,
    on_component: Callable[[str], None] | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
    init: Loaded | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float | None = None,
    resume: bool = False,
    quick: bool = False,
    **settings: Any,
) -> list[Model]:
    """Train the components of a pipeline.

    Parameters
    ----------
    data
        Path of a corpus file, several of them, or sentences as returned by `seqtag.read`.
    labels
        Components to train: some of `COMPONENTS`, or other columns; None for all of `COMPONENTS`
        that the data have. Columns are trained in their order there, others after them in the
        given order, and each sees the tags predicted by those before it.
    dev
        Corpus to score every epoch on; each column keeps the epoch that scores best.
    tables
        As for `seqtag.train`. The lemmas of unknown words may be words of these tables.
    seed, patience, constrain, format, columns, limits
        As for `seqtag.train`.
    runs
        As for `seqtag.train`, of each component; the models that tag the folds have one.
    threads
        Folds tagged at the same time; the models are the same on any number.
    on_component
        Called with the name of a component before it is trained.
    on_epoch
        Called after each epoch of a component, but not of the models that tag the folds.
    init
        A model to continue from. Components that it lacks are trained from scratch.
    checkpoint, checkpoint_every, resume
        As for `seqtag.train`; a finished component is not trained again.
    quick
        As for `seqtag.train`. Trials are run for each component; the models that tag the folds run
        none.
    **settings
        As for `seqtag.train`, of all components.

    Returns
    -------
    list of Model
        In the order in which they tag. An interruption ends it with the interrupted component,
        if that has finished an epoch; the last model records the interruption.

    Raises
    ------
    CheckpointError, ValueError
        As from `seqtag.train`.
    CorpusError, LabelError
        If the data have no sentences, or lack a named column, or it is not annotated.
    KeyboardInterrupt
        If it arrives before any epoch is finished, or a second time.
    """
    folder = checkpoints_in(checkpoint, resume=resume, every=checkpoint_every)
    schedule = Schedule(seed, runs, patience, threads, on_epoch)
    given_tables = tables_of(tables)
    Settings().with_values(settings).in_one_pass(
        "several parts", "train such components separately, and combine them with seqtag bundle"
    )
    reading = ReadOptions.taken_from(settings, format=format, columns=columns, limits=limits)
    with folder or nullcontext():
        if isinstance(data, (list, tuple)) and len(data) == 1:
            data = data[0] if isinstance(data[0], (str, PathLike)) else data

        def sentences() -> Iterator[Sentence]:
            with ExitStack() as files:
                [source] = open_corpus(data, files, reading).sources
                yield from source

        with ExitStack() as files:
            corpus = open_corpus(data, files, reading)
            if labels is None and not {*PRESETS} & {*corpus.columns}:
                corpus.gather_columns(("form",))  # refuses a corpus without sentences
            texts, names = _components(corpus.columns, labels, corpus.name)
            if not isinstance(data, (str, PathLike)) or is_read_once(data):
                held: list[Sentence] = [each for source in corpus.sources for each in source]
                data, corpus = held, corpus._replace(sources=[held])
            found, lengths = corpus.gather_columns(
                ["form", *names], names if labels is not None else ()
            )
            words = TrainingData(found, found["form"], lengths)
            corpus.announce(words, None, chosen=True)
            dev_words = None
            if dev is not None:
                dev_corpus = open_corpus(dev, files, reading)
                dev_corpus.check_columns(("form", *names))
                dev_found, dev_lengths = dev_corpus.gather_columns(("form", *names))
                dev_words = TrainingData(dev_found, dev_found["form"], dev_lengths)
        if labels is None:
            for name in names:
                if len(found[name].types) == 1:
                    value = found[name].types[0]
                    _log.warning("the column %s is %r everywhere: not learned", name, value)
            names = [name for name in names if len(found[name].types) > 1]
        initial = {name: part_of(init, LabelColumn(name), settings) for name in (*texts, *names)}
        for model in initial.values():
            check_to_go_on(model, Settings())
        note_left_out(init, [*texts, *names])
        if folder:  # the training depends on these facts, though not each component
            both = [each and each.select(("form", *names)) for each in (words, dev_words)]
            facts = [
                each and {"sentences": len(each.lengths), "sha256": each.digest()} for each in both
            ]
            models = "".join(digest(model) for model in initial.values() if model)
            shared = {
                "training set": facts[0],
                "dev set": facts[1],
                "model to continue from": (
                    {"sha256": sha256(models.encode()).hexdigest()} if models else None
                ),
                **{f"table {table.name}": {"sha256": table.digest} for table in given_tables},
                **{name: value for name, value in settings.items() if value is not None},
                "runs": runs,
                "patience": patience,
            }
            stage = folder.stage(",".join((*texts, *names)), shared)
            schedule = replace(schedule, checkpoints=stage)

        def tasks_of(
            name: str, available: Sequence[str], examples: TrainingData, values: Mapping[str, Any]
        ) -> list[LearningTask]:
            tasks = _component_tasks(name, available, examples, values, given_tables, initial[name])
            return [replace(task, constrain=constrain) for task in tasks]

        tasks = [
            tasks_of(name, ["form", *names[:n]], words._replace(labels=found[name]), settings)
            for n, name in enumerate(names)
        ]
        # Lemmas may be words of any table, and tokens too where nothing separates words.
        if "lemma" not in names and (tasks or "tokens" not in texts):
            check_used(given_tables, [task.templates for each in tasks for task in each])

        def text_model(name: str) -> Model | None:
            init, own = initial[name], component_schedule(schedule, name)
            column = LabelColumn(name)
            templates = load_templates(column.preset) if init is None else init.templates

            def text_task(templates: TemplateSet) -> LearningTask:
                given = None if init else templates
                task = learning_task(column, templates.columns, given, settings, init=init)
                return replace(task, coding=LabelCoding())

            try:
                if name == "words":
                    return train_words(sentences(), text_task, own, init, quick=quick)
                text = TreebankText.of(sentences())
                if init is None and is_unpunctuated(text):
                    templates = load_templates("sentences")
                table = word_table(text) if init is None else None
                if table:
                    lexicons = [each for each in given_tables if each.kind == "lexicon"]
                    templates = with_tables(templates, tables_of([table, *lexicons]))
                if not tasks:
                    check_used(given_tables, [templates])
                examples = token_examples(
                    text, templates.columns, templates.tables, jackknifed=init is None
                )
            except CorpusError as error:
                if labels is not None:
                    raise
                _log.warning("%s: not learned (%s)", name, error.message.partition(";")[0])
                return None
            _, problem = select_templates([text_task(templates)], examples, schedule, quick=True)
            model = fit(problem, own)
            if quick or model.interrupted or "form" not in templates.columns:
                return model
            return with_sentence_lengths(model, problem, own)

        def trained() -> Iterator[Model]:
            for name in texts:
                if on_component:
                    on_component(name)
                model = text_model(name)
                if model is not None:
                    yield model
            seen = words.select(["form"]).with_columns(
                {gold_name(n): found[n] for n in ("lemma", *TAG_COLUMNS) if n in found}
            )
            seen_dev = dev_words and dev_words.select(["form"])
            for number, name in enumerate(names):
                if on_component:
                    on_component(name)
                own = component_schedule(schedule, name)
                seen = seen._replace(labels=found[name])
                if dev_words and seen_dev:
                    seen_dev = seen_dev._replace(labels=dev_words.columns[name])
                model = _fit(partial(tasks_of, name), seen, own, settings, seen_dev, quick=quick)
                yield model
                if any(name in later.columns for each in tasks[number + 1 :] for later in each):
                    chosen = {**settings, "tag_dictionary": model.training["tag_dictionary"]}
                    tags = _jackknifed(partial(tasks_of, name), seen, own, chosen)
                    seen = seen.with_columns({name: tags})
                    if seen_dev:
                        seen_dev = seen_dev.with_columns({name: _predict(model, seen_dev)})

        done: list[Model] = []
        try:
            for model in trained():
                done.append(model)
                if model.interrupted:
                    break
        except AtOnce:
            raise
        except KeyboardInterrupt:  # between two components, or before the first epoch of one
            if not done:
                raise
            done[-1] = replace(done[-1], training={**done[-1].training, "interrupted": True})
        return done


def _components(
    available: Sequence[str], labels: Sequence[str] | None, source: str | None
) -> tuple[list[str], list[str]]:
    """Return the components to learn from the text, and the columns to learn, in order."""
    found = [name for name in PRESETS if name in available]
    if labels is None:
        if not found:
            msg = (
                f"expected one or several of the columns {', '.join(PRESETS)} to learn, found "
                f"{', '.join(available)}; name the columns with --columns"
            )
            raise CorpusError(msg, source=source)
        return ([*TEXT_COMPONENTS] if {"id", "misc"} <= {*available} else []), found
    others = [name for name in dict.fromkeys(labels) if name not in COMPONENTS]
    unknown = [n for n in others if not has_column(n, available) or n in (*NO_LABELS, "misc")]
    missing = [name for name in labels if name in PRESETS and name not in available]
    if "all" in labels:
        named = [*TEXT_COMPONENTS, *found, *(name for name in others if name != "all")]
        msg = (
            f"expected all alone or names of columns, found {','.join(labels)}; name each column, "
            f"such as {','.join(dict.fromkeys(named))}"
        )
        raise CorpusError(msg, source=source)
    if unknown or missing or not labels:
        known = (*TEXT_COMPONENTS, *found)
        near = next(filter(None, (did_you_mean(name, known) for name in unknown)), "")
        msg = (
            f"expected some of {', '.join(known)} to learn, found "
            f"{', '.join(labels) or 'none'}{near}; name the columns with --columns, and what to "
            "learn with --label"
        )
        raise CorpusError(msg, source=source)
    texts = [name for name in TEXT_COMPONENTS if name in labels]
    return texts, [*(name for name in found if name in labels), *others]


def _component_tasks(
    name: str,
    available: Sequence[str],
    examples: TrainingData,
    settings: Mapping[str, Any],
    tables: Sequence[WordTable],
    init: Model | None,
) -> list[LearningTask]:
    """Return the candidate tasks of a column, with other columns as input; the first is usual."""
    column = LabelColumn(name)
    given = {key: value for key, value in settings.items() if value is not None}
    make = partial(learning_task, column, settings=given, tables=tables)
    if init is not None:
        tasks = [make(available, init=init)]
    elif name == "feats" and len(examples.labels.types) > _FEW_LABELS:
        templates = load_templates(_MANY_FEATS)
        inputs = {tuple(each for each in available if each != "xpos"), tuple(available)}
        tasks = [
            replace(make(columns, templates.within(columns)), name=",".join(columns))
            for columns in sorted(inputs, key=len)
        ]
    elif name in PRESETS:
        if name == "feats":
            make = partial(make, settings={"label_parts": "whole"} | given)  # on six corpora
        tasks = [make(available, load_templates(PRESETS[name]).within(available))]
    else:
        presets = [column.preset] if column.is_known else names_for(column, available)
        tasks = [make(available, each) for each in presets or [column.preset]]
        tasks = fitting_labels(tasks, examples)[:1]
    # the encoding is for components of chunk labels
    return [replace(task, encoding_given=False) for task in tasks]


def _fit(
    tasks_of: Callable[[Sequence[str], TrainingData, Mapping[str, Any]], list[LearningTask]],
    examples: TrainingData,
    schedule: Schedule,
    settings: Mapping[str, Any],
    held_out: TrainingData | None = None,
    *,
    quick: bool = True,
) -> Model:
    """Train a component on all columns that it may see."""
    available = [name for name in examples.columns if name not in _GOLD]
    tasks = tasks_of(available, examples, settings)
    task, problem = select_templates(tasks, examples, schedule, quick=quick)
    check_data(examples.select(task.columns), held_out)
    return fit(problem, schedule, held_out)


def _jackknifed(
    tasks_of: Callable[[Sequence[str], TrainingData, Mapping[str, Any]], list[LearningTask]],
    examples: TrainingData,
    schedule: Schedule,
    settings: Mapping[str, Any],
) -> Column:
    """Tag each fold of the training sentences with a model trained on the other folds."""
    if len(examples.lengths) < 2:
        return examples.labels  # there is no other fold
    fewer = {**settings, "epochs": min(_FOLD_EPOCHS, settings.get("epochs") or _FOLD_EPOCHS)}

    def tag(others: TrainingData, held_out: TrainingData, of_fold: Schedule) -> Column:
        model = _fit(tasks_of, others, of_fold, fewer)
        if model.interrupted:
            raise KeyboardInterrupt
        return _predict(model, held_out)

    return jackknifed(examples, _FOLDS, tag, schedule)


def _predict(model: Model, examples: TrainingData) -> Column:
    """Return the labels that a model predicts, as they are written."""
    tagger = Tagger(model)
    return Column(tagger.outputs, tagger.decode_columns(examples.columns, examples.lengths))
