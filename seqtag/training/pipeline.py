"""Training a pipeline: one part after another, each with the tags of those before it as columns.

The tags that later parts see in training are jackknifed, see `seqtag.training.jackknife`.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.corpus import LIMITS
from seqtag.engine.arrays import pointers
from seqtag.errors import CorpusError
from seqtag.features.encoder import Column
from seqtag.features.language import load as load_templates
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import LabelColumn
from seqtag.model.bundle import digest
from seqtag.settings import Settings, Value
from seqtag.storage.output import is_read_once
from seqtag.tables.lexicon import (
    LEMMA_COLUMNS,
    asks_for_lemmas,
    check_used,
    given_tables,
    lemma_table,
    tables_of,
)
from seqtag.tagging.tagger import Tagger
from seqtag.training.auto_settings import settled
from seqtag.training.checkpoints import checkpoints_in
from seqtag.training.data import Source, TrainingData, check_labels, open_corpus
from seqtag.training.data_checks import note_data
from seqtag.training.interruption import AtOnce
from seqtag.training.jackknife import jackknifed, of_part
from seqtag.training.problem import pose
from seqtag.training.runs import Epoch, Schedule
from seqtag.training.tokens import token_examples
from seqtag.training.train import coding_of, fit
from seqtag.training.warm_start import check_to_go_on, part_of, settings_of
from seqtag.training.words import word_examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.corpus import ReadLimits, Sentence
    from seqtag.features.templates import TemplateSet
    from seqtag.model.model import Model
    from seqtag.tables.lexicon import TableSource
    from seqtag.tables.table import WordTable
    from seqtag.tagging.pipeline import Loaded

TEXT_PARTS: Mapping[str, Callable[[Iterable[Sentence], Sequence[str]], TrainingData]] = {
    "tokens": token_examples,
    "words": word_examples,
}
"""The parts that a pipeline learns from the text of a treebank, and what their examples are."""

PRESETS: Mapping[str, str] = {"upos": "pos", "xpos": "xpos", "feats": "feats", "lemma": "lemma"}
"""The columns of words that a pipeline learns, in their order, and the templates of each."""

PARTS = (*TEXT_PARTS, *PRESETS)
"""All that a pipeline may learn, in the order in which it runs."""

_FOLDS = 2  # three, or five epochs, taught later parts no more and took longer
_FOLD_EPOCHS = 3
_FEW_LABELS = 255  # of so many, known words may have others than they had

_GOLD = ("gold lemma", "gold upos")  # beside what parts see: stems are learnt from these

_log = logging.getLogger("seqtag")


class _Words(NamedTuple):
    """Columns of words by name, all sentences end to end, and the tokens per sentence."""

    columns: dict[str, Column]
    lengths: NDArray[np.int64]

    def examples(self, names: Sequence[str], labels: Column) -> TrainingData:
        """Some columns to learn labels from."""
        return TrainingData([self.columns[name] for name in names], labels, self.lengths)

    def facts(self, names: Sequence[str]) -> dict[str, Any]:
        """How many sentences there are, and the SHA-256 of these columns."""
        found = self.examples(names[:-1], self.columns[names[-1]])
        return {"sentences": len(self.lengths), "sha256": found.digest()}


class _Part(NamedTuple):
    """A part to be trained: what it labels, by which templates, looking at which columns."""

    column: LabelColumn
    templates: TemplateSet
    columns: tuple[str, ...]
    init: Model | None


def train_parts(
    data: Source,
    labels: Sequence[str] | None = None,
    dev: Source | None = None,
    *,
    tables: Iterable[TableSource] = (),
    seed: int = 1,
    runs: int = 1,
    patience: int | None = None,
    threads: int = 1,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    limits: ReadLimits = LIMITS,
    on_part: Callable[[str], None] | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
    init: Loaded | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float | None = None,
    resume: bool = False,
    quick: bool = False,
    **settings: Any,
) -> list[Model]:
    """Train the parts of a pipeline.

    Parameters
    ----------
    data
        Path of a corpus file, several of them, or sentences as `seqtag.read` gives them.
    labels
        What to learn, some of `PARTS`; None for all that the data have. Columns are trained in
        their order there, and each sees the tags of those before it.
    dev
        Corpus to score every epoch on; each column keeps the epoch that scores best.
    tables
        As for `seqtag.train`; the parts of `PRESETS` look into them, but for lemmas.
    seed, patience, format, columns, limits
        As for `seqtag.train`.
    runs
        As for `seqtag.train`, of each part; the models that tag the folds have one.
    threads
        Folds tagged at the same time; the models are the same on any number.
    on_part
        Called with the name of a part before it is trained.
    on_epoch
        Called after each epoch of a part, but not of the models that tag the folds.
    init
        A model to go on from. Parts that it has go on from its own, others begin anew.
    checkpoint, checkpoint_every, resume
        As for `seqtag.train`; a part that was finished is not trained again.
    quick
        As for `seqtag.train`. What is tried is tried for each part, on its own columns; the models
        that tag the folds do as it says.
    **settings
        As for `seqtag.train`, of all parts.

    Returns
    -------
    list of Model
        In the order in which they tag. An interruption ends it with the part that was interrupted,
        if it has finished an epoch; the last one says that it was interrupted.

    Raises
    ------
    CheckpointError, ValueError
        As from `seqtag.train`.
    CorpusError, LabelError
        If the data have no sentences, lack a column that was named, or it is not annotated.
    KeyboardInterrupt
        If it comes before any epoch is finished, or a second time.
    """
    folder = checkpoints_in(checkpoint, resume=resume, every=checkpoint_every)
    schedule = Schedule(seed, runs, patience, threads, on_epoch)
    given = tables_of(tables)
    Settings().with_values(settings).in_one_pass(
        "several parts", "train such parts one by one, and put them together with seqtag bundle"
    )
    with folder or nullcontext():
        if not isinstance(data, (str, PathLike)) or is_read_once(data):
            data = _in_memory(data, format, columns, limits)
        with ExitStack() as files:
            corpus = open_corpus(data, format, columns, files, limits)
            if not {*PRESETS} & {*corpus.columns}:
                corpus.gather_columns(("form",))  # refuses a corpus without sentences
            texts, names = _available(corpus.columns, labels, corpus.name)
            needed = ("form", *names, *_gold_columns(names, corpus.columns))
            words = _Words(*corpus.gather_columns([*dict.fromkeys(needed)]))
            for name in names if labels is not None else ():
                check_labels(words.columns[name].types, LabelColumn(name), corpus.name)
            held_out = None
            if dev is not None:
                dev_corpus = open_corpus(dev, format, columns, files, limits)
                dev_corpus.check_columns(("form", *names))
                held_out = _Words(*dev_corpus.gather_columns(("form", *names)))
        if labels is None:
            names = [name for name in names if _says_something(words.columns[name], name)]
        begins = _begins(init, (*texts, *names), settings)
        if folder:
            whole = _facts(words, held_out, names, begins, given, schedule, settings)
            stage = folder.stage(",".join((*texts, *names)), whole)
            schedule = replace(schedule, checkpoints=stage)

        parts = _plan(names, begins, given)
        check_used(given, [part.templates for part in parts])

        def sentences() -> Iterable[Sentence]:
            with ExitStack() as files:
                [source] = open_corpus(data, format, columns, files, limits).sources
                yield from source

        on_part = on_part or _nobody_asked
        of_text = _text_models(
            texts, sentences, begins, schedule, settings, on_part, asked=labels is not None
        )
        of_columns = _column_models(
            parts, words, held_out, schedule, settings, on_part, quick=quick
        )
        return _until_interrupted(chain(of_text, of_columns))


def _gold_columns(names: Sequence[str], available: Sequence[str]) -> Sequence[str]:
    """The columns that templates learn stems from, where some do and they are there."""
    asked = any(load_templates(PRESETS[name]).table_names for name in names)
    return LEMMA_COLUMNS if asked and {*LEMMA_COLUMNS} <= {*available} else ()


def _begins(
    init: Loaded | None, names: Sequence[str], settings: Mapping[str, Any]
) -> dict[str, Model | None]:
    """The models that parts go on from."""
    begins = {name: part_of(init, LabelColumn(name), settings) for name in names}
    for begin in begins.values():
        check_to_go_on(begin, Settings())
    return begins


def _facts(
    words: _Words,
    dev: _Words | None,
    names: Sequence[str],
    begins: Mapping[str, Model | None],
    tables: Sequence[WordTable],
    schedule: Schedule,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """What the training hangs on, though not each of its parts, as checkpoints say it."""
    models = "".join(digest(model) for model in begins.values() if model)
    return {
        "training set": words.facts(("form", *names)),
        "dev set": dev and dev.facts(("form", *names)),
        "model to begin with": {"sha256": sha256(models.encode()).hexdigest()} if models else None,
        **{f"table {table.name}": {"sha256": table.digest} for table in tables},
        **{name: value for name, value in settings.items() if value is not None},
        "runs": schedule.runs,
        "patience": schedule.patience,
    }


def _nobody_asked(_: str) -> None:
    """What is called before a part is trained, by default."""


def _until_interrupted(trained: Iterator[Model]) -> list[Model]:
    """The models up to an interruption, which the last one tells of."""
    models: list[Model] = []
    try:
        for model in trained:
            models.append(model)
            if model.interrupted:
                break
    except AtOnce:
        raise
    except KeyboardInterrupt:  # between two parts, or before the first epoch of one
        if not models:
            raise
        models[-1] = replace(models[-1], training={**models[-1].training, "interrupted": True})
    return models


def _text_models(
    names: Sequence[str],
    sentences: Callable[[], Iterable[Sentence]],
    begins: Mapping[str, Model | None],
    schedule: Schedule,
    settings: Mapping[str, Any],
    on_part: Callable[[str], None],
    *,
    asked: bool,
) -> Iterator[Model]:
    """The models of the parts that are learnt from text, where there is something to learn."""
    for name in names:
        on_part(name)
        own = of_part(schedule, name)
        model = _fit_text(name, sentences(), own, settings, begins[name], asked=asked)
        if model is not None:
            yield model


def _column_models(
    parts: Sequence[_Part],
    words: _Words,
    dev: _Words | None,
    schedule: Schedule,
    settings: Mapping[str, Any],
    on_part: Callable[[str], None],
    *,
    quick: bool,
) -> Iterator[Model]:
    """The models of the columns, each of which sees the tags of those before it."""
    gold = zip(_GOLD, LEMMA_COLUMNS, strict=True)
    stems = {name: words.columns[column] for name, column in gold if column in words.columns}
    seen = _Words({"form": words.columns["form"], **stems}, words.lengths)
    seen_dev = dev and _Words({"form": dev.columns["form"]}, dev.lengths)
    for number, part in enumerate(parts):
        name = part.column.name
        on_part(name)
        labels, gold_dev = words.columns[name], dev and dev.columns[name]
        own = of_part(schedule, name)
        model = _fit(part, seen, labels, own, settings, seen_dev, gold_dev, quick=quick)
        yield model
        if any(name in later.columns for later in parts[number + 1 :]):
            chosen = {**settings, "known_labels": model.training["known_labels"]}
            seen.columns[name] = _jackknifed(part, seen, labels, own, chosen)
            if seen_dev:
                seen_dev.columns[name] = _tags(model, seen_dev)


def _in_memory(
    data: Source, format: str, columns: Sequence[str] | None, limits: ReadLimits
) -> list[Sentence]:
    """The sentences of sources that may be read once only, or are several."""
    with ExitStack() as files:
        corpus = open_corpus(data, format, columns, files, limits)
        return [sentence for source in corpus.sources for sentence in source]


def _available(
    available: Sequence[str], labels: Sequence[str] | None, source: str | None
) -> tuple[list[str], list[str]]:
    """The parts to learn from the text, and the columns to learn, in their order."""
    found = [name for name in PRESETS if name in available]
    if labels is None:
        if not found:
            msg = (
                f"expected one or several of the columns {', '.join(PRESETS)} to learn, found "
                f"{', '.join(available)}; name the columns with --columns"
            )
            raise CorpusError(msg, source=source)
        return (list(TEXT_PARTS) if {"id", "misc"} <= {*available} else []), found
    odd = [name for name in labels if name not in PARTS]
    missing = [name for name in labels if name in PRESETS and name not in available]
    if odd or missing or not labels:
        msg = (
            f"expected some of {', '.join((*TEXT_PARTS, *found))} to learn, found "
            f"{', '.join(labels) or 'none'}; name the columns with --columns, and what to learn "
            "with --label"
        )
        raise CorpusError(msg, source=source)
    return [name for name in TEXT_PARTS if name in labels], [n for n in found if n in labels]


def _fit_text(
    name: str,
    sentences: Iterable[Sentence],
    schedule: Schedule,
    settings: Mapping[str, Any],
    init: Model | None,
    *,
    asked: bool,
) -> Model | None:
    """The model of a part that is learnt from text; None if there is nothing to learn for it."""
    column = LabelColumn(name)
    templates = load_templates(column.preset) if init is None else init.templates
    available = templates.columns
    try:
        examples = TEXT_PARTS[name](sentences, available)
    except CorpusError as error:
        if asked:
            raise
        _log.warning("%s: not learnt (%s)", name, error.message.partition(";")[0])
        return None
    if init is None:
        values = Settings().with_values(templates.settings).with_values(settings)
    else:
        values = settings_of(init, settings=settings)
    problem = pose(examples, column, LabelCoding(), templates, available, values, init)
    return fit(settled(problem, examples, schedule, quick=True), schedule)


def _says_something(column: Column, name: str) -> bool:
    """Whether a column has several values; a note if it has not."""
    if len(column.types) == 1:
        _log.warning("the column %s is %r throughout: not learnt", name, column.types[0])
    return len(column.types) > 1


def _plan(
    names: Sequence[str], begins: Mapping[str, Model | None], tables: Sequence[WordTable]
) -> list[_Part]:
    """The parts for some columns, each looking at those before it."""
    parts = []
    for number, name in enumerate(names):
        visible, init = ["form", *names[:number]], begins[name]
        templates = (
            load_templates(PRESETS[name]).within(visible) if init is None else init.templates
        )
        templates = given_tables(templates, tables, init.tables if init else ())
        columns = templates.looks_at(visible)
        parts.append(_Part(LabelColumn(name), templates, columns, init))
    return parts


def _fitting(part: _Part, labels: Column) -> dict[str, Value]:
    """The settings that hang on the labels of a corpus; measured on six."""
    if part.column.name == "feats" and len(labels.types) <= _FEW_LABELS:
        return {"label_parts": "whole"}
    return {}


def _fit(
    part: _Part,
    words: _Words,
    labels: Column,
    schedule: Schedule,
    settings: Mapping[str, Any],
    dev: _Words | None = None,
    dev_labels: Column | None = None,
    *,
    quick: bool = True,
) -> Model:
    """The model of a part."""
    if part.init is None:
        values = Settings().with_values(part.templates.settings)
        values = values.with_values(_fitting(part, labels)).with_values(settings)
    else:
        values = settings_of(part.init, settings=settings)
    examples = words.examples(part.columns, labels)
    coding = coding_of(examples, part.column, values, init=part.init)
    available = [name for name in words.columns if name not in _GOLD]
    templates = part.templates
    if asks_for_lemmas(templates) and all(name in words.columns for name in _GOLD):
        templates = templates.with_tables([lemma_table(*map(words.columns.__getitem__, _GOLD))])
    problem = pose(examples, part.column, coding, templates, available, values, part.init)
    problem = settled(problem, examples, schedule, quick=quick)
    held_out = None
    if dev is not None and dev_labels is not None:
        held_out = dev.examples(part.columns, dev_labels)
    note_data(examples, part.columns, held_out)
    return fit(problem, schedule, held_out)


def _jackknifed(
    part: _Part, words: _Words, labels: Column, schedule: Schedule, settings: Mapping[str, Any]
) -> Column:
    """The tags of the training sentences, each fold's by a model of the other folds."""
    if len(words.lengths) < 2:
        return labels  # there are no others
    names = list(words.columns)
    fewer = {**settings, "epochs": min(_FOLD_EPOCHS, settings.get("epochs") or _FOLD_EPOCHS)}

    def tag(others: TrainingData, held_out: TrainingData, of_fold: Schedule) -> Column:
        learnt = _Words(dict(zip(names, others.columns, strict=True)), others.lengths)
        model = _fit(part, learnt, others.labels, of_fold, fewer)
        if model.interrupted:
            raise KeyboardInterrupt
        found = _Words(dict(zip(names, held_out.columns, strict=True)), held_out.lengths)
        return _tags(model, found)

    return jackknifed(words.examples(names, labels), _FOLDS, tag, schedule)


def _tags(model: Model, words: _Words) -> Column:
    """What a model makes of some words."""
    tagger = Tagger(model)
    worker = tagger.new_worker()
    for name in tagger.columns:
        worker.encoder.extend(name, 0, words.columns[name].types)
    types = np.array([words.columns[name].ids for name in tagger.columns], np.int32)
    return Column(tagger.outputs, tagger.decode_types(types, pointers(words.lengths), worker))
