"""Problems: learning tasks and their examples in numbers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.corpus.gold import GoldLabels
from seqtag.engine import backend
from seqtag.engine.arrays import (
    NO_TAG_DICTIONARY,
    Cells,
    Instances,
    KeyPlan,
    LabelsByTags,
    TagDictionary,
    numbered_pairs,
    pointers,
)
from seqtag.engine.keys import keys
from seqtag.errors import TemplateError
from seqtag.evaluation.report import Report, evaluate, evaluate_columns
from seqtag.evaluation.scoring import origin_of
from seqtag.features.encoder import Column, Encoder
from seqtag.features.index import IndexedCorpus, index_corpus
from seqtag.features.templates import TAG_COLUMNS, CompiledTemplates, TemplateSet
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import label_components
from seqtag.labels.lemmas import LemmaCoding
from seqtag.labels.schemes import alternatives, parse
from seqtag.model.attested import AttestedLemmas
from seqtag.model.bundle import digest
from seqtag.model.freeze import freeze, label_places, with_recall_bias
from seqtag.model.known_words import KnownWords, known_attribute
from seqtag.model.model import Model
from seqtag.tagging.tagger import Tagger
from seqtag.training.data import check_labels, gold_name
from seqtag.training.warm_start import merged_tag_dictionary, weights_of, with_features_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from seqtag.features.templates import CompiledTemplates
    from seqtag.labels.column import LabelColumn
    from seqtag.settings import Settings
    from seqtag.training.data import TrainingData
    from seqtag.training.task import Task

_log = logging.getLogger("seqtag")

Judge = Callable[[Cells], Report]
"""Function that scores weights on a dev set."""


class NumberedExamples(NamedTuple):
    """Examples in numbers: all that a training run needs.

    Attributes
    ----------
    settings
        The settings of training.
    corpus
        The sentences as rows of features.
    y
        Label id of each token, (N,) int32; ``-1 - c`` where it may be any of ``choices[c]``.
    choices
        Sets of labels for tokens that have not exactly one, (C, K) bool; None if there are no
        such tokens.
    start
        The initial weights, if they are not zeros.
    """

    settings: Settings
    corpus: IndexedCorpus
    y: NDArray[np.int32]
    choices: NDArray[np.bool_] | None = None
    start: Cells | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """A learning task in numbers.

    Attributes
    ----------
    task
        The task, with definite settings, its coding, and templates that its labels allow.
    compiled
        Its templates.
    examples
        Its examples.
    labels
        The labels as they are learned, sorted; the index of a label is its id.
    known_words, tag_dictionary, by_tags, attested
        As in `seqtag.model.model.Model`.
    origin
        Size and digest of the corpus, and the digest of the model to continue from.
    """

    task: Task
    compiled: CompiledTemplates
    examples: NumberedExamples
    labels: Sequence[str]
    known_words: KnownWords
    tag_dictionary: TagDictionary
    by_tags: LabelsByTags | None
    attested: AttestedLemmas | None
    origin: Mapping[str, Any]

    @property
    def coding(self) -> LabelCoding:
        """How labels are learned; transitions that are not learned are not constrained."""
        coding = self.task.coding or LabelCoding()
        return replace(coding, constrained=coding.constrained and self.compiled.order > 0)

    def model(self, cells: Cells, provenance: Mapping[str, Any] | None = None) -> Model:
        """Return the model of these weights, with facts about its training."""
        settings, corpus = self.examples.settings, self.examples.corpus
        cells = with_recall_bias(cells, self.labels, float(settings.recall_bias))
        weights = freeze(cells, corpus.keys, corpus.edge_keys, len(self.labels))
        training = {**settings.to_dict(), **self.origin, **(provenance or {})}
        task, compiled = self.task, self.compiled
        last = max((task.available.index(name) for name in compiled.columns), default=-1)
        return Model(
            task.column,
            self.coding,
            self.labels,
            TemplateSet(task.templates.templates, tables=compiled.tables),
            list(task.available[: last + 1]),
            compiled,
            weights,
            self.known_words,
            corpus.layout.parts,
            self.tag_dictionary,
            self.by_tags,
            training | {"unit": weights.unit},
            attested=self.attested,
        )


def settled(task: Task, examples: TrainingData) -> tuple[Task, LearnedLabels, list[str]]:
    """Return the task with a coding and possible templates, its labels by token, and all labels.

    Raises
    ------
    LabelError, TemplateError
        As `build_problem`.
    """
    init, column = task.init, task.column
    coding = LabelCoding() if examples.is_flat and not init else None
    if coding is None:
        pairs = examples.pairs() if column.is_lemma else ()
        coding = task.coding_for(examples.transitions(), pairs)
    learned = learned_labels(examples, coding, examples.columns.get("form"))
    labels = sorted({*learned.labels, *(init.labels if init else ())})
    check_labels(examples.labels.types, column)
    return replace(task, coding=coding, templates=task.templates_for(len(labels))), learned, labels


def build_problem(task: Task, examples: TrainingData) -> Problem:
    """Number the labels and features of a task.

    Each step needs those before it: settings and coding, labels, templates that these allow,
    features, the labels that tags allow, and what models hold of words.

    Parameters
    ----------
    task
        The task. The settings inside its templates are ignored.
    examples
        The input columns that the templates look at, and the labels as written. If tags are
        predicted, the gold ones are columns of the name `seqtag.training.data.gold_name`. Others
        are ignored.

    Raises
    ------
    LabelError
        If no word has a label, or there are more labels than the templates allow.
    TemplateError
        If the templates do not fit the columns, the coding, or the model to continue from; or if
        nothing can be learned with the settings.
    """
    gold_tags = {
        name: examples.columns[gold_name(name)]
        for name in TAG_COLUMNS
        if gold_name(name) in examples.columns
    }
    examples = examples.select(task.columns)
    task, learned, labels = settled(with_definite_settings(task, examples), examples)
    compiled = task.templates.compile(task.available)
    y, choices = learned.numbered(labels)
    corpus = numbered_features(task, compiled, examples, labels)
    corpus, by_tags = restricted(task, compiled, corpus, examples, gold_tags, y, labels)
    init, form = task.init, examples.columns.get("form")
    known_words = init.known_words if init else KnownWords.of(())
    start = weights_of(init, corpus, labels) if init else None
    return Problem(
        task,
        compiled,
        NumberedExamples(task.settings, corpus, y, choices, start),
        labels,
        known_words.with_words(form.types if form else ()),
        tag_dictionary_of(task, compiled, examples, (y, choices), labels),
        by_tags,
        attested_lemmas(task, compiled, examples.pairs()),
        origin_of_data(task, examples),
    )


def with_definite_settings(task: Task, examples: TrainingData) -> Task:
    """Return the task with the settings that follow from its examples.

    Raises
    ------
    TemplateError
        If nothing can be learned with them.
    """
    tokens = int(examples.lengths.sum())
    labels = len(examples.labels.types)
    settings = task.settings.for_corpus(tokens, labels, examples.once_in_chunks())
    if settings.update == "pa" and settings.margin == 0 and task.init is None:
        msg = (
            "the update rule pa expects a margin above 0, found 0: with zero weights, every step "
            "is 0; set margin to 1"
        )
        raise TemplateError(msg)
    return replace(task, settings=settings)


def numbered_features(
    task: Task, compiled: CompiledTemplates, examples: TrainingData, labels: Sequence[str]
) -> IndexedCorpus:
    """Return the sentences as rows of features, those of the model to continue from included."""
    init, settings = task.init, task.settings
    corpus = index_corpus(
        compiled,
        [examples.columns[name] for name in compiled.columns],
        examples.lengths,
        len(labels),
        settings.min_count,
        label_components(labels) if settings.label_parts == "split" else None,
        examples.pieces,
        (init.weights.emission.keys, init.weights.edge.keys) if init else None,
        by_place=not settings.dropout,
    )
    return with_features_of(init, corpus) if init else corpus


def restricted(
    task: Task,
    compiled: CompiledTemplates,
    corpus: IndexedCorpus,
    examples: TrainingData,
    gold_tags: Mapping[str, Column],
    y: NDArray[np.int32],
    labels: Sequence[str],
) -> tuple[IndexedCorpus, LabelsByTags | None]:
    """Return the corpus with the labels that tokens may have by their tags, and labels by tags.

    None if tags do not restrict labels: they do where labels are decided one by one, or by their
    components, and templates look at tags.
    """
    coding, init = task.coding or LabelCoding(), task.init
    by_components = corpus.layout.parts is not None and coding.scheme is None
    plan = compiled.tag_plan(words=coding.needs_forms)
    if not len(plan.seed) or (compiled.order and not by_components):
        return corpus, None
    if init is not None and init.by_tags is None:
        return corpus, None
    tags = tag_keys(compiled, plan, examples.columns)
    gold = tag_keys(compiled, plan, {**examples.columns, **gold_tags}) if gold_tags else tags
    likely = tags if coding.needs_forms and compiled.tag_terms else gold
    form = examples.columns.get("form")
    with_word = words_that_count(gold[:, bool(compiled.tag_terms) :], form, init)
    by_tags = labels_by_tags(plan, likely[:, 0], gold[:, 0], with_word, y, labels, init)
    if compiled.tag_terms:
        instances = with_label_sets(corpus.instances, by_tags, tags[:, 0], y)
        corpus = corpus._replace(instances=instances)
    return corpus, by_tags


def origin_of_data(task: Task, examples: TrainingData) -> dict[str, Any]:
    """Return the facts on the training data that a model records."""
    tokens, labeled = int(examples.lengths.sum()), int(examples.labeled().sum())
    more = {
        "layout": examples.layout,
        "lacks_outside": examples.lacks_outside,
        "init_sha256": task.init and digest(task.init),
        "chosen": dict(task.chosen),
        "labelled": labeled if labeled < tokens else None,
    }
    return {
        "sentences": len(examples.lengths),
        "tokens": tokens,
        "corpus_sha256": examples.digest(),
        **{name: fact for name, fact in more.items() if fact},
    }


def attested_lemmas(
    task: Task, compiled: CompiledTemplates, pairs: Iterable[tuple[str, str]]
) -> AttestedLemmas | None:
    """Return the attested lemmas of a task; None if lemmas depend on each other, or are no scripts.

    Those of a model to continue from are kept, if it has any.
    """
    free = not compiled.order and not compiled.edges
    if not free or not isinstance(task.coding, LemmaCoding):
        return None
    if task.init is None:
        return AttestedLemmas.of(pairs, task.attesting)
    before = task.init.attested
    return before and AttestedLemmas.of(pairs, task.attesting, before)


def tag_dictionary_of(
    task: Task,
    compiled: CompiledTemplates,
    examples: TrainingData,
    gold: tuple[NDArray[np.int32], NDArray[np.bool_] | None],
    labels: Sequence[str],
) -> TagDictionary:
    """Return the tag dictionary of a corpus and of the model to continue from.

    It is empty if the setting is 0.
    """
    least, init = int(task.settings.tag_dictionary), task.init
    if not least:
        return NO_TAG_DICTIONARY
    columns = [examples.columns[name] for name in compiled.columns]
    found = labels_of_words(compiled, columns, *gold)
    if init is None:
        return found.often(least)
    known = [word for word in examples.columns["form"].types if word in init.known_words]
    before = backend.hash_strings([*map(str, compiled.apply_many(found.attribute, known))])
    return merged_tag_dictionary(init, labels, found.often(1), found.often(least), before)


class DevJudge:
    """Scores weights on a dev set.

    Words without a label do not count. Chunks are those of sentences in which every word has one.

    Parameters
    ----------
    problem
        The problem.
    examples
        The dev set, with the columns of the problem.
    """

    def __init__(self, problem: Problem, examples: TrainingData):
        self._problem, self._forms = problem, examples.columns.get("form")
        self._encoder = Encoder(problem.compiled, backend.hash_strings)
        columns = [examples.columns[name] for name in problem.compiled.columns]
        for name, column in zip(problem.compiled.columns, columns, strict=True):
            self._encoder.extend(name, 0, column.types)
        self._ptr, self._known = pointers(examples.lengths), examples.labeled()
        types = np.array([column.ids for column in columns], np.int32)
        self._types = self._encoder.with_phrases(types, self._ptr)
        self._gold = Column(examples.labels.types, examples.labels.ids[self._known])
        self._lengths = np.add.reduceat(self._known.astype(np.int64), self._ptr[:-1])
        complete = np.logical_and.reduceat(self._known, self._ptr[:-1]).tolist()
        self._spans = [*compress(pairwise(self._ptr.tolist()), complete)]
        names = examples.labels.values() if problem.coding.scheme else []
        gold = GoldLabels(problem.task.column, problem.coding.scheme)
        self._chunks = gold.converted(names[begin:end] for begin, end in self._spans)

    def __call__(self, cells: Cells) -> Report:
        """Return the report on the labels that a model of these weights predicts."""
        model = self._problem.model(cells)
        tagger = Tagger(model)
        workspace = tagger.new_workspace(self._encoder)
        ids = tagger.decode_types(self._types, self._ptr, workspace, forms=self._forms)
        facts: dict[str, Any] = {"task": tagger.label, "origin": origin_of(tagger.info)}
        if model.coding.scheme is not None:
            found = [[model.labels[i] for i in ids[a:b].tolist()] for a, b in self._spans]
            written = map(model.coding.decode, found)
            return evaluate(self._chunks, written, scheme=tagger.label_scheme, **facts)
        predicted = Column(list(model.labels), ids)
        if model.coding.needs_forms and self._forms is not None:
            pairs, number = self._forms.paired(predicted)
            scripts, words = [script for _, script in pairs], [form for form, _ in pairs]
            lemmas = Column.of(model.coding.decode(scripts, words))
            predicted = Column(lemmas.types, lemmas.ids[number])
        predicted = Column(predicted.types, predicted.ids[self._known])
        return evaluate_columns(self._gold, predicted, self._lengths, **facts)


def warn_about_many_labels(labels: int, tokens: int, column: LabelColumn) -> None:
    """Warn about an implausibly large label set."""
    if labels > 1000 or (labels > 50 and labels > tokens / 5):
        _log.warning(
            "the column %s has %d different labels in %d tokens; check that it is the label column",
            column,
            labels,
            tokens,
        )


# --------------------------------------------------------------------------- tag dictionary
class WordLabels(NamedTuple):
    """Labels of words by the hash of their normal form; can be summed over corpora.

    Attributes
    ----------
    attribute
        Number of the attribute of the normal form.
    keys
        (words,) uint64, ascending.
    counts
        How often each word has a label, (words,) int64.
    row_ptr, labels
        The labels of each, ascending: (words + 1,) int64, uint16.
    """

    attribute: int
    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    row_ptr: NDArray[np.int64]
    labels: NDArray[np.uint16]

    def often(self, min_count: int) -> TagDictionary:
        """Return the labels of words seen at least `min_count` times."""
        kept = self.counts >= min_count
        lengths = np.diff(self.row_ptr)
        return TagDictionary(
            self.attribute,
            self.keys[kept],
            pointers(lengths[kept]),
            self.labels[np.repeat(kept, lengths)],
        )


_MOST_TOKENS = 2**20  # tokens whose words are counted at a time


def labels_of_words(
    compiled: CompiledTemplates,
    columns: Sequence[Column],
    y: np.ndarray,
    choices: np.ndarray | None = None,
) -> WordLabels:
    """Return the labels of words by normal form.

    Parameters
    ----------
    compiled, columns
        Templates and the values of their columns.
    y, choices
        As in `Problem`. Each label of a choice counts; tokens that may have any do not.
    """
    attribute = known_attribute(compiled)
    words = columns[compiled.columns.index("form")]
    normal = Column.of(str(value) for value in compiled.apply_many(attribute, words.types))
    width = 1 + max(int(y.max(initial=0)), choices.shape[1] if choices is not None else 0)
    counts, pairs = np.zeros(len(normal.types), np.int64), np.zeros(0, np.int64)
    for start in range(0, len(y), _MOST_TOKENS):
        gold = y[start : start + _MOST_TOKENS]
        form = normal.ids[words.ids[start : start + _MOST_TOKENS]]
        tokens, found = [np.flatnonzero(gold >= 0)], [gold[gold >= 0]]
        for number, choice in enumerate(choices if choices is not None else ()):
            if not choice.all():
                here, several = np.flatnonzero(gold == -1 - number), np.flatnonzero(choice)
                tokens.append(np.repeat(here, len(several)))
                found.append(np.tile(several, len(here)))
        token, label = np.concatenate(tokens), np.concatenate(found)
        counts += np.bincount(form[np.unique(token)], minlength=len(counts))
        pairs = np.unique(np.concatenate([pairs, form[token] * np.int64(width) + label]))
    seen = np.flatnonzero(counts)
    keys = backend.hash_strings([normal.types[i] for i in seen])
    ascending = np.argsort(keys)
    begin = np.searchsorted(pairs, np.arange(len(normal.types) + 1) * width)  # of each form
    labels = [pairs[begin[i] : begin[i + 1]] % width for i in seen[ascending].tolist()]
    flat = np.concatenate([*labels, np.zeros(0, np.int64)]).astype(np.uint16)
    return WordLabels(
        attribute, keys[ascending], counts[seen][ascending], pointers(map(len, labels)), flat
    )


# --------------------------------------------------------------------------- labels by tags
_LEAST_WITH_TAGS = 2  # times that a label must occur with predicted tags


def tag_keys(
    compiled: CompiledTemplates, plan: KeyPlan, columns: Mapping[str, Column]
) -> NDArray[np.uint64]:
    """Return the keys of the tags of each token: (N, templates of the plan) uint64."""
    names = {compiled.attributes[attribute].column for attribute in plan.term_attribute}
    encoder = Encoder(compiled, backend.hash_strings)
    types = np.zeros((len(compiled.columns), len(columns[min(names)].ids)), np.int32)
    for name in names:
        encoder.extend(name, 0, columns[name].types)
        types[compiled.columns.index(name)] = columns[name].ids
    return keys(plan, types, encoder.hashes, pointers([types.shape[1]]))


def words_that_count(
    with_tags: NDArray[np.uint64], form: Column | None, init: Model | None
) -> NDArray[np.uint64]:
    """Return the keys of words with their tags, 0 for those known to have several labels.

    A model to continue from knows a word, and has no label for it with its tags, if it has several.

    Parameters
    ----------
    with_tags
        The key of each token's word and gold tags, (N, 1) uint64; (N, 0) if words do not matter.
    form
        The words.
    init
        The model to continue from.
    """
    if not (init and init.by_tags and form):
        return with_tags
    before = np.array([word in init.known_words for word in form.types])[form.ids]
    several = before[:, None] & ~np.isin(with_tags, init.by_tags.keys)
    return np.where(several, np.uint64(0), with_tags)


def labels_by_tags(
    plan: KeyPlan,
    tags: NDArray[np.uint64],
    gold_tags: NDArray[np.uint64],
    words: NDArray[np.uint64],
    y: NDArray[np.int32],
    labels: Sequence[str],
    init: Model | None = None,
) -> LabelsByTags:
    """Return the labels that occur with each combination of tags, and those of words with tags.

    Keys have 48 bits: one of ten billion words that were not seen with their tags is taken for
    one of 25,000 that were.

    Parameters
    ----------
    plan
        The plan of the keys.
    tags
        The key of the tags of each token that training sees, (N,) uint64. As predicted tags are
        wrong in many ways, a label counts only if it occurs twice with them, and they are the gold
        tags of some token. Other combinations of tags do not restrict labels.
    gold_tags
        Those of its gold tags: each label that occurs with them counts. May be `tags`.
    words
        The key of its word and its gold tags, (N, 1) uint64; 0 if it does not count. A word with
        several labels does not count. (N, 0) if words do not matter.
    y
        Label id of each token; those below 0 do not count.
    labels
        The labels.
    init
        The model to continue from, whose labels by tags count as well.
    """
    known = y >= 0
    seen, number = np.unique(tags, return_inverse=True)
    number, label, pair = numbered_pairs(number.reshape(-1)[known], y[known], len(labels))
    often = np.bincount(pair) >= _LEAST_WITH_TAGS
    number, label = number[often], label[often]
    likely = np.isin(seen, gold_tags)[number]
    number, label = number[likely], label[likely]
    all_keys, all_labels = [gold_tags[known], seen[number]], [y[known], label]
    for each in words.T:
        all_keys.append(each[known])
        all_labels.append(y[known])
    if init is not None and init.by_tags is not None:
        all_keys.append(np.repeat(init.by_tags.keys, np.diff(init.by_tags.row_ptr)))
        all_labels.append(label_places(labels, init.labels)[init.by_tags.labels])
    found, number = np.unique(np.concatenate(all_keys), return_inverse=True)
    number, label, _ = numbered_pairs(number.reshape(-1), np.concatenate(all_labels), len(labels))
    counts = np.bincount(number, minlength=len(found))
    kept = (found > 0) & ((counts == 1) | ~np.isin(found, words))
    label = label[kept[number]].astype(np.uint16)
    return LabelsByTags(plan, found[kept], pointers(counts[kept]), label)


def with_label_sets(
    x: Instances, by_tags: LabelsByTags, tags: NDArray[np.uint64], y: NDArray[np.int32]
) -> Instances:
    """Return instances whose tokens may have only the labels that occur with their tags.

    A token whose own label is not among them may have any, as one whose label is not known.
    """
    found, row_ptr, labels = by_tags[1:]
    row = found.searchsorted(tags).clip(max=len(found) - 1)
    width = 1 + int(max(labels.max(), y.max()))
    pairs = np.repeat(np.arange(len(found)), np.diff(row_ptr)) * width + labels
    fine = (found[row] == tags) & (y >= 0) & np.isin(row * width + y, pairs)
    return x._replace(
        set_of=np.where(fine, row, -1).astype(np.int32),
        set_ptr=row_ptr,
        set_labels=labels.astype(np.int32),
    )


# --------------------------------------------------------------------------- labels of tokens
class LearnedLabels(NamedTuple):
    """The labels of tokens, as they are learned.

    A word without a label may have any. A chunk label next to one may be learned as several: IOB2
    marks the end of a chunk on the next label, IOBES on the label itself, so ``B-NP`` before an
    unknown label is ``B-NP`` or ``S-NP``.

    Attributes
    ----------
    types
        Distinct possibilities: one label, several, or none for any.
    ids
        The possibility of each token, (N,) int32.
    """

    types: list[tuple[str, ...]]
    ids: NDArray[np.int32]

    @property
    def labels(self) -> set[str]:
        """Labels that occur in any possibility."""
        return {label for labels in self.types for label in labels}

    def numbered(self, labels: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.bool_] | None]:
        """Return label ids, and choices of labels where there are several.

        See `seqtag.engine.reference.Weights.train_epoch`.
        """
        number = {label: i for i, label in enumerate(labels)}
        y, choices = [], []
        for each in self.types:
            if len(each) == 1:
                y.append(number[each[0]])
                continue
            choices.append(np.array([not each or label in each for label in labels]))
            y.append(-len(choices))
        return np.array(y, np.int32)[self.ids], np.array(choices) if choices else None


def learned_labels(
    examples: TrainingData, coding: LabelCoding, forms: Column | None
) -> LearnedLabels:
    """Return the labels of each token as they are learned.

    Lemmas depend on the form, and each pair of the two is encoded once. Chunk labels depend on
    their neighbors, and each window of three labels is.

    Parameters
    ----------
    examples
        Sentences with their labels as written.
    coding
        How labels are learned.
    forms
        The forms, for a coding that needs them.
    """
    mark, labels = examples.unlabeled, examples.labels
    if not coding.changes_labels:
        return LearnedLabels([alternatives(value, mark) for value in labels.types], labels.ids)
    if coding.needs_forms and forms is not None:
        pairs, number = forms.paired(labels)
        known = [(form, label) for form, value in pairs for label in alternatives(value, mark)]
        scripts = coding.encode([lemma for _, lemma in known], [form for form, _ in known])
        script_of = dict(zip(known, scripts, strict=True))
        possible = [
            tuple({script_of[form, label] for label in alternatives(value, mark)})
            for form, value in pairs
        ]
    else:
        windows, number = examples.windows()
        known_labels = examples.known_labels
        possible = [_learned_in(window, coding, mark, known_labels) for window in windows]
    number_of: dict[tuple[str, ...], int] = {}
    ids = [number_of.setdefault(each, len(number_of)) for each in possible]
    return LearnedLabels([*number_of], np.array(ids, np.int32)[number])


def _learned_in(
    window: tuple[str | None, str, str | None],
    coding: LabelCoding,
    mark: str | None,
    labels: Sequence[str],
) -> tuple[str, ...]:
    """Return what the middle one of three labels may be learned as; nothing if it is the mark.

    An unknown neighbor is replaced by one label of each kind that makes a difference: each prefix,
    of the same chunk type and of another.
    """
    left, value, right = window
    learned = set()
    for label in alternatives(value, mark):
        kind = parse(label)[1]
        sides: list[Iterable[str | None]] = []
        for side in (left, right):
            may_be = () if side is None else alternatives(side, mark) or labels
            stand_ins = {(parse(name)[0], parse(name)[1] == kind): name for name in may_be}
            sides.append(stand_ins.values() if len(may_be) > 1 else may_be or [None])
        for before, after in product(*sides):
            context = [name for name in (before, label, after) if name is not None]
            learned.add(coding.encode(context)[int(before is not None)])
    return (*sorted(learned),)
