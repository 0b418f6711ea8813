"""Learning tasks, and the numerical problems that training solves for them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.engine import backend
from seqtag.engine.arrays import (
    MAX_LABELS,
    MAX_TRIGRAM_LABELS,
    MOST_WITH_BIGRAMS,
    NO_TAG_DICTIONARY,
    Cells,
    Instances,
    KeyPlan,
    LabelComponents,
    LabelsByTags,
    TagDictionary,
    pointers,
)
from seqtag.engine.keys import keys
from seqtag.errors import LabelError, TemplateError
from seqtag.evaluation.report import Report, evaluate_columns
from seqtag.evaluation.scoring import origin_of, score
from seqtag.features.encoder import Column, Encoder
from seqtag.features.index import IndexedCorpus, index_corpus
from seqtag.features.language import preset_names
from seqtag.features.templates import TAG_COLUMNS, CompiledTemplates, TemplateSet
from seqtag.labels.coding import LabelCoding
from seqtag.labels.column import label_components
from seqtag.labels.lemmas import LemmaCoding, lemma_coding
from seqtag.labels.schemes import parse
from seqtag.model.attested import AttestedLemmas
from seqtag.model.bundle import digest
from seqtag.model.freeze import freeze
from seqtag.model.known_words import KnownWords, known_attribute
from seqtag.model.model import Model
from seqtag.tagging.tagger import Tagger
from seqtag.training.data import check_labels, gold_name
from seqtag.training.warm_start import (
    WarmStart,
    check_columns,
    coding_to_go_on,
    label_places,
    merged_tag_dictionary,
    with_recall_bias,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from seqtag.corpus import Sentence
    from seqtag.features.templates import CompiledTemplates
    from seqtag.labels.column import LabelColumn
    from seqtag.labels.schemes import Transition
    from seqtag.settings import Settings
    from seqtag.tables.table import WordTable
    from seqtag.training.data import TrainingData

_log = logging.getLogger("seqtag")

Judge = Callable[[Cells], Report]
"""Function that scores weights on the dev set."""


@dataclass(frozen=True)
class LearningTask:
    """Description of a training, before any sentence is numbered.

    A tagger is one task, a pipeline is a list of tasks, and two passes are a task with a second
    one. `build_problem` turns a task into a `Problem`.

    Attributes
    ----------
    column
        The label column.
    templates, settings
        Templates with their word tables, and the settings of training.
    available
        Input columns: those of the corpus except those of the label, in order.
    init
        The model to continue from.
    coding
        The encoding of the labels; None to choose it by the labels of the data.
    constrain
        Decode valid sequences of chunk labels only.
    encoding_given
        Whether the encoding of the settings was given by the caller; that of a preset applies to
        chunk labels only.
    name
        The preset, or the origin of the templates.
    second
        The task of the second of two passes, which sees the labels predicted by the first.
    attesting
        Tables of words that lemmas may be.
    """

    column: LabelColumn
    templates: TemplateSet
    settings: Settings
    available: tuple[str, ...]
    init: Model | None = None
    coding: LabelCoding | None = None
    constrain: bool = True
    encoding_given: bool = False
    name: str = ""
    second: LearningTask | None = None
    attesting: tuple[WordTable, ...] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Input columns that the templates look at."""
        return self.templates.looks_at(self.available)

    def coding_for(
        self, transitions: Mapping[Transition, int], pairs: Iterable[tuple[str, str]]
    ) -> LabelCoding:
        """Return the encoding of the labels.

        Parameters
        ----------
        transitions
            Counts of label transitions.
        pairs
            Pairs of form and label, which lemmas depend on.

        Raises
        ------
        LabelError
            If the caller gave an encoding and the labels are no chunk labels, or the model to
            continue from has another encoding.
        TemplateError
            If labels are learned by the form, and no template looks at it.
        """
        encoding_given, settings = self.encoding_given, self.settings
        if self.coding is not None:
            coding = self.coding
        elif self.init is not None:
            coding = coding_to_go_on(
                self.init,
                transitions,
                settings,
                constrain=self.constrain,
                encoding_given=encoding_given,
            )
        elif self.column.is_lemma and not (encoding_given and settings.encoding != "keep"):
            coding = lemma_coding(pairs)
        else:
            coding = LabelCoding.choose(
                transitions,
                settings.encoding,
                constrained=self.constrain,
                encoding_given=encoding_given,
            )
        if coding.needs_forms and "form" not in self.columns:
            msg = (
                "expected a template that looks at the column form, from which the column "
                f"{self.column} is learned, found none; add form[0]"
            )
            raise TemplateError(msg, source=self.templates.source)
        return coding

    def templates_for(self, labels: int) -> TemplateSet:
        """Return the templates that are possible with this number of labels.

        Templates of a preset that allow fewer labels only are left out, with a warning.

        Raises
        ------
        LabelError
            If custom templates allow fewer labels only, or there are more labels than any
            templates allow.
        """
        if labels > MAX_LABELS:
            msg = (
                f"expected at most {MAX_LABELS:,} labels in the column {self.column}, found "
                f"{labels:,}; check that it is the label column"
            )
            raise LabelError(msg)
        fitting, limit, what = self.templates, MAX_LABELS, ""
        if labels > MAX_TRIGRAM_LABELS:
            fitting = fitting.at_order(1).without_edges()
            limit, what = MAX_TRIGRAM_LABELS, "label trigrams and word-dependent label bigrams"
        if labels > MOST_WITH_BIGRAMS:
            fitting = fitting.at_order(0)
            limit, what = MOST_WITH_BIGRAMS, "label bigrams"
        if fitting == self.templates:
            return self.templates
        if self.templates.source not in {f"{name}.txt" for name in preset_names()}:
            msg = (
                f"expected at most {limit:,} labels with {what}, found {labels:,} in the column "
                f"{self.column}; leave such templates out, or choose another column"
            )
            raise LabelError(msg, source=self.templates.source)
        _log.warning(
            "the column %s has %s labels: learned without %s, which are for %s at most",
            self.column,
            f"{labels:,}",
            what,
            f"{limit:,}",
        )
        return fitting


@dataclass(frozen=True, eq=False)
class Problem:
    """A learning task in numbers.

    Attributes
    ----------
    corpus
        The sentences as rows of features.
    y
        Label id of each token, (N,) int32; ``-1 - c`` where it may be any of ``choices[c]``.
    labels
        The labels as they are learned, sorted; the index of a label is its id.
    settings
        The settings of training.
    column, coding, templates, columns, compiled, known_words, parts, tag_dictionary
        As in `seqtag.model.model.Model`.
    by_tags, attested
        As in `seqtag.model.model.Model`.
    origin
        Size and digest of the corpus, and the digest of the model to continue from.
    start
        The initial weights, if they are not zeros.
    choices
        Sets of labels for tokens that have not exactly one, (C, K) bool; None if there are no
        such tokens.
    """

    corpus: IndexedCorpus
    y: NDArray[np.int32]
    labels: Sequence[str]
    settings: Settings
    column: LabelColumn
    coding: LabelCoding
    templates: TemplateSet
    columns: Sequence[str]
    compiled: CompiledTemplates
    known_words: KnownWords
    parts: LabelComponents | None
    tag_dictionary: TagDictionary
    origin: Mapping[str, Any]
    start: WarmStart | None = None
    choices: NDArray[np.bool_] | None = None
    by_tags: LabelsByTags | None = None
    attested: AttestedLemmas | None = None

    @classmethod
    def of(
        cls,
        task: LearningTask,
        compiled: CompiledTemplates,
        corpus: IndexedCorpus,
        y: NDArray[np.int32],
        labels: Sequence[str],
        **more: Any,
    ) -> Problem:
        """Return the problem of a task whose labels and features have been numbered.

        Parameters
        ----------
        task
            The task, with its coding; its templates are possible with the labels.
        compiled
            Its templates.
        corpus, y, labels
            As the attributes.
        **more
            The attributes that are not in the task.
        """
        coding = task.coding or LabelCoding()
        last = max((task.available.index(name) for name in compiled.columns), default=-1)
        return cls(
            corpus=corpus,
            y=y,
            labels=labels,
            settings=task.settings,
            column=task.column,
            coding=replace(coding, constrained=coding.constrained and compiled.order > 0),
            templates=TemplateSet(task.templates.templates, tables=compiled.tables),
            columns=list(task.available[: last + 1]),
            compiled=compiled,
            **more,
        )

    def model(self, cells: Cells, provenance: Mapping[str, Any] | None = None) -> Model:
        """Return the model of these weights, with facts about its training."""
        keys, edge_keys = self.corpus.keys, self.corpus.edge_keys
        if self.start is not None:
            cells, keys, edge_keys = self.start.complete(cells, keys, edge_keys)
        if isinstance(self.settings.recall_bias, float):
            cells = with_recall_bias(cells, self.labels, self.settings.recall_bias)
        weights = freeze(cells, keys, edge_keys, len(self.labels))
        training = {**self.settings.to_dict(), **self.origin, **(provenance or {})}
        return Model(
            self.column,
            self.coding,
            self.labels,
            self.templates,
            self.columns,
            self.compiled,
            weights,
            self.known_words,
            self.parts,
            self.tag_dictionary,
            self.by_tags,
            training | {"unit": weights.unit},
            attested=self.attested,
        )


def build_problem(task: LearningTask, examples: TrainingData) -> Problem:
    """Number the labels and features of a task.

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
    init, column = task.init, task.column
    pairs = [*examples.pairs()] if column.is_lemma else []
    coding = LabelCoding() if examples.is_flat and not task.init else None
    coding = coding or task.coding_for(examples.transitions(), pairs)
    gold_tags = {
        name: examples.columns[gold_name(name)]
        for name in TAG_COLUMNS
        if gold_name(name) in examples.columns
    }
    examples = examples.select(task.columns)
    tokens = int(examples.lengths.sum())
    task = replace(task, settings=task.settings.for_size(tokens))
    settings = task.settings
    if settings.update == "pa" and settings.margin == 0 and init is None:
        msg = (
            "the step rule pa expects a margin above 0, found 0: with zero weights, every step is "
            "0; set margin to 1"
        )
        raise TemplateError(msg)
    form = examples.columns.get("form")
    learned = learned_labels(examples, coding, form)
    labels = sorted({*learned.labels, *(init.labels if init else ())})
    check_labels(examples.labels.types, column)
    labeled = int(examples.labeled().sum())
    if not coding.needs_forms:
        warn_about_many_labels(len(learned.labels), labeled, column)
    task = replace(task, coding=coding, templates=task.templates_for(len(labels)))
    compiled = task.templates.compile(task.available)
    if init:
        check_columns(init, compiled)
    y, choices = learned.numbered(labels)
    parts = label_components(labels) if settings.label_parts == "split" else None
    columns = [examples.columns[name] for name in compiled.columns]
    corpus = index_corpus(
        compiled,
        columns,
        examples.lengths,
        len(labels),
        settings.min_count,
        parts,
        examples.pieces,
        (init.weights.emission.keys, init.weights.edge.keys) if init else None,
        bundled=not settings.dropout,
    )
    by_tags = None
    may_restrict = not compiled.order or (parts is not None and coding.scheme is None)
    if compiled.tag_terms and may_restrict and (init is None or init.by_tags is not None):
        tags = tag_keys(compiled, examples.columns)
        gold = tag_keys(compiled, {**examples.columns, **gold_tags}) if gold_tags else tags
        learned_with = tags if coding.needs_forms else gold
        by_tags = labels_by_tags(compiled.tag_plan(), learned_with, gold, y, labels, init)
        corpus = corpus._replace(instances=with_label_sets(corpus.instances, by_tags, tags, y))
    words = form.types if form else []
    origin: dict[str, Any] = {
        "sentences": len(examples.lengths),
        "tokens": tokens,
        "corpus_sha256": examples.digest(),
    }
    if examples.layout:
        origin["layout"] = examples.layout
    if examples.lacks_outside:
        origin["lacks_outside"] = True
    if labeled < tokens:
        origin["labelled"] = labeled
    if init:
        origin["init_sha256"] = digest(init)
    return Problem.of(
        task,
        compiled,
        corpus,
        y,
        labels,
        known_words=init.known_words.with_words(words) if init else KnownWords.of(words),
        parts=parts,
        tag_dictionary=tag_dictionary_of(compiled, columns, (y, choices), labels, settings, init),
        origin=origin,
        start=WarmStart.of(init, corpus, labels) if init else None,
        choices=choices,
        by_tags=by_tags,
        attested=attested_lemmas(task, compiled, pairs),
    )


def attested_lemmas(
    task: LearningTask, compiled: CompiledTemplates, pairs: Sequence[tuple[str, str]]
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
    compiled: CompiledTemplates,
    columns: Sequence[Column],
    gold: tuple[NDArray[np.int32], NDArray[np.bool_] | None],
    labels: Sequence[str],
    settings: Settings,
    init: Model | None = None,
) -> TagDictionary:
    """Return the tag dictionary of a corpus and of the model to continue from.

    It is empty while the setting is still automatic.
    """
    setting = settings.tag_dictionary
    if setting in (0, "auto"):
        return NO_TAG_DICTIONARY
    found = labels_of_words(compiled, columns, *gold)
    if init is None:
        return found.kept_to(setting, labels)
    words = columns[compiled.columns.index("form")].types
    known = [word for word in words if word in init.known_words]
    before = backend.hash_strings([*map(str, compiled.apply_many(found.attribute, known))])
    often = found.often(1 if isinstance(setting, str) else setting)
    merged = merged_tag_dictionary(init, labels, found.often(1), often, before)
    return to_first_parts(merged, labels) if isinstance(setting, str) else merged


def judge_of(problem: Problem, examples: TrainingData) -> Judge:
    """Return the function that scores weights on a dev set."""
    examples, mark = examples.select(problem.compiled.columns), examples.unlabeled
    if mark is None and problem.coding.scheme is None:
        return _judge_of_columns(problem, examples)
    sentences = examples.sentences(problem.column)
    if mark is not None:
        return lambda cells: score_labeled(Tagger(problem.model(cells)), sentences, mark)
    return lambda cells: score(Tagger(problem.model(cells)), sentences, words=False)


def _judge_of_columns(problem: Problem, examples: TrainingData) -> Judge:
    """Return `judge_of` for labels that are not chunk labels, which compares numbers."""
    encoder = Encoder(problem.compiled, backend.hash_strings)
    columns = [examples.columns[name] for name in problem.compiled.columns]
    for name, column in zip(problem.compiled.columns, columns, strict=True):
        encoder.extend(name, 0, column.types)
    types = np.array([column.ids for column in columns], np.int32)
    forms, gold = examples.columns.get("form"), examples.labels

    def judge(cells: Cells) -> Report:
        model = problem.model(cells)
        tagger = Tagger(model)
        workspace = tagger.new_workspace(encoder)
        ids = tagger.decode_types(types, pointers(examples.lengths), workspace, forms=forms)
        predicted = Column(list(model.labels), ids)
        if model.coding.needs_forms and forms is not None:
            pairs, which = np.unique(
                forms.ids * np.int64(len(model.labels)) + ids, return_inverse=True
            )
            form, label = np.divmod(pairs, len(model.labels))
            found = model.coding.decode(
                [model.labels[i] for i in label.tolist()], [forms.types[i] for i in form.tolist()]
            )
            written = Column.of(found)
            predicted = Column(written.types, written.ids[which.reshape(-1)])
        return evaluate_columns(
            gold, predicted, examples.lengths, task=tagger.label, origin=origin_of(tagger.info)
        )

    return judge


def feature_digest(problem: Problem, held_out: TrainingData | None = None) -> str:
    """Return the SHA-256 of the features of a problem, and of a dev set.

    Unlike digests of templates and data, it differs if a custom attribute of the same name
    computes other values.
    """
    sha, (_, x, *keys) = sha256(), problem.corpus
    for array in (*keys, *x):
        sha.update(b"\0" if array is None else np.ascontiguousarray(array).data)
    if held_out is not None:
        encoder = Encoder(problem.compiled, backend.hash_strings)
        for name in problem.compiled.columns:
            encoder.extend(name, 0, held_out.columns[name].types)
        sha.update(np.ascontiguousarray(encoder.hashes[:, : len(encoder)]).data)
    return sha.hexdigest()


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

    def kept_to(self, setting: int | str, labels: Sequence[str]) -> TagDictionary:
        """Return the tag dictionary for a value of ``tag-dictionary`` other than ``auto``."""
        if isinstance(setting, str):
            return to_first_parts(self.often(1), labels)
        return self.often(setting) if setting else NO_TAG_DICTIONARY

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

    @classmethod
    def sum(cls, corpora: Sequence[WordLabels]) -> WordLabels:
        """Return the labels of words in several corpora, whose labels have the same ids."""
        keys, which = np.unique(np.concatenate([c.keys for c in corpora]), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, which, np.concatenate([c.counts for c in corpora]))
        lengths = np.concatenate([np.diff(c.row_ptr) for c in corpora])
        pairs = np.stack([np.repeat(which, lengths), np.concatenate([c.labels for c in corpora])])
        word, label = np.unique(pairs, axis=1)
        row_ptr = pointers(np.bincount(word, minlength=len(keys)))
        return cls(corpora[0].attribute, keys, counts, row_ptr, label.astype(np.uint16))


def first_parts(labels: Sequence[str]) -> np.ndarray:
    """Return for each label the number of its first component, ``NOUN`` of ``NOUN|Case=Nom``.

    >>> first_parts(["ADJ", "NOUN", "NOUN|Case=Nom"]).tolist()
    [0, 1, 1]
    """
    number: dict[str, int] = {}
    return np.array(
        [number.setdefault(label.partition("|")[0], len(number)) for label in labels], np.int64
    )


def to_first_parts(known: TagDictionary, labels: Sequence[str]) -> TagDictionary:
    """Return the same words with all labels that share a first component with one of theirs."""
    first = first_parts(labels)
    alike = [np.flatnonzero(first == part) for part in range(int(first.max(initial=-1)) + 1)]
    found: dict[tuple[int, ...], np.ndarray] = {}  # many words have the same parts
    rows = []
    for row in np.split(first[known.labels], known.row_ptr[1:-1])[: len(known.keys)]:
        parts = tuple(np.unique(row).tolist())
        if parts not in found:
            found[parts] = np.sort(np.concatenate([alike[part] for part in parts]))
        rows.append(found[parts])
    flat = np.concatenate([*rows, np.zeros(0, np.int64)]).astype(np.uint16)
    return TagDictionary(known.attribute, known.keys, pointers(map(len, rows)), flat)


_SPAN = 2**20  # tokens whose words are counted at a time


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
    for start in range(0, len(y), _SPAN):
        gold = y[start : start + _SPAN]
        form = normal.ids[words.ids[start : start + _SPAN]]
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
_PAIRS = 2  # times that a label must occur with predicted tags


def tag_keys(compiled: CompiledTemplates, columns: Mapping[str, Column]) -> NDArray[np.uint64]:
    """Return the key of the tags of each token, see `CompiledTemplates.tag_plan`: (N,) uint64."""
    names = [compiled.attributes[attribute].column for attribute, _ in compiled.tag_terms]
    ids = np.array([columns[name].ids for name in names])
    combinations, which = np.unique(ids, axis=1, return_inverse=True)
    encoder = Encoder(compiled, backend.hash_strings)
    types = np.zeros((len(compiled.columns), combinations.shape[1]), np.int32)
    for name, number in zip(names, combinations, strict=True):
        encoder.extend(name, 0, columns[name].types)
        types[compiled.columns.index(name)] = number
    found = keys(compiled.tag_plan(), types, encoder.hashes, pointers([types.shape[1]]))[:, 0]
    return found[which.reshape(-1)]


def labels_by_tags(
    plan: KeyPlan,
    tags: NDArray[np.uint64],
    gold_tags: NDArray[np.uint64],
    y: NDArray[np.int32],
    labels: Sequence[str],
    init: Model | None = None,
) -> LabelsByTags:
    """Return the labels that occur with each combination of tags.

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
    y
        Label id of each token; those below 0 do not count.
    labels
        The labels.
    init
        The model to continue from, whose labels by tags count as well.
    """
    known = y >= 0
    seen, number = np.unique(tags, return_inverse=True)
    pairs, count = np.unique((number.reshape(-1) * len(labels) + y)[known], return_counts=True)
    number, label = np.divmod(pairs[count >= _PAIRS], len(labels))
    likely = np.isin(seen, gold_tags)[number]
    number, label = number[likely], label[likely]
    all_keys, all_labels = [gold_tags[known], seen[number]], [y[known], label]
    if init is not None and init.by_tags is not None:
        all_keys.append(np.repeat(init.by_tags.keys, np.diff(init.by_tags.row_ptr)))
        all_labels.append(label_places(labels, init.labels)[init.by_tags.labels])
    found, number = np.unique(np.concatenate(all_keys), return_inverse=True)
    pairs = np.unique(number.reshape(-1) * len(labels) + np.concatenate(all_labels))
    number, label = np.divmod(pairs, len(labels))
    row_ptr = pointers(np.bincount(number, minlength=len(found)))
    return LabelsByTags(plan, found, row_ptr, label.astype(np.uint16))


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
    if mark is None or mark not in labels.types:
        found = examples.encoded_by(coding, forms)
        return LearnedLabels([(label,) for label in found.types], found.ids)
    if not coding.changes_labels:
        return LearnedLabels(
            [() if label == mark else (label,) for label in labels.types], labels.ids
        )
    if coding.needs_forms and forms is not None:
        labeled = labels.ids != labels.types.index(mark)
        given = Column(labels.types, labels.ids[labeled])
        found = examples._replace(labels=given).encoded_by(
            coding, Column(forms.types, forms.ids[labeled])
        )
        learned_ids = np.full(len(labeled), len(found.types), np.int32)
        learned_ids[labeled] = found.ids
        return LearnedLabels([*((label,) for label in found.types), ()], learned_ids)

    # Labels depend on their neighbors. An unknown neighbor is replaced by one label of each kind
    # that makes a difference: each prefix, of the same chunk type and of another.
    names = [*labels.types, None]
    known = [(label, *parse(label)) for label in labels.types if label != mark]
    before, after = examples.neighbors()
    windows, which = np.unique(np.stack([before, labels.ids, after]), axis=1, return_inverse=True)
    number: dict[tuple[str, ...], int] = {}
    ids = []
    for window in windows.T.tolist():
        left, label, right = (names[n] for n in window)
        learned: set[str] = set()
        if label is not None and label != mark:
            kind = parse(label)[1]
            kinds = {(prefix, of == kind): name for name, prefix, of in known}.values()
            for b, a in product(*(kinds if side == mark else [side] for side in (left, right))):
                context = [each for each in (b, label, a) if each is not None]
                learned.add(coding.encode(context)[int(b is not None)])
        ids.append(number.setdefault((*sorted(learned),), len(number)))
    return LearnedLabels([*number], np.array(ids, np.int32)[which.reshape(-1)])


class LabeledWords:
    """A tagger restricted to the words whose gold labels are known.

    Parameters
    ----------
    tagger
        The tagger, which labels complete sentences.
    mark
        The mark of unlabeled words.
    """

    def __init__(self, tagger: Tagger, mark: str):
        self._tagger, self._mark = tagger, mark
        self.label, self.label_scheme = tagger.label, tagger.label_scheme
        self.known_words: Container[str] = tagger.known_words
        self.info: Mapping[str, Any] = tagger.info

    def gold(self, sentence: Sentence) -> list[str]:
        """Return the known gold labels of a sentence."""
        labels = self._tagger.model.column.of(sentence)
        return [label for label in labels if label != self._mark]

    def tag_many(self, sentences: Iterable[Sentence], threads: int = 1) -> list[list[str]]:
        """Return the tagger's labels of the words that have a gold label."""
        given, column = list(sentences), self._tagger.model.column
        return [
            [new for new, label in zip(found, column.of(each), strict=True) if label != self._mark]
            for each, found in zip(given, self._tagger.tag_many(given, threads), strict=True)
        ]


def score_labeled(tagger: Tagger, sentences: Sequence[Sentence], mark: str) -> Report:
    """Return a report on the words that have a label; chunks are of complete sentences only."""
    if tagger.label_scheme is not None:
        column = tagger.model.column
        sentences = [sentence for sentence in sentences if mark not in column.of(sentence)]
    labeled = LabeledWords(tagger, mark)
    return score(labeled, sentences, gold=labeled.gold, words=False)
