"""seqtag as a scikit-learn estimator of sentences, and scorers for it.

Importing this module imports scikit-learn, which takes a second: nothing else in seqtag does.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
except ImportError as error:
    _MESSAGE = "seqtag.integrations.sklearn needs scikit-learn; install it, or seqtag[sklearn]"
    raise ImportError(_MESSAGE) from error

from seqtag.corpus import Sentence, sentence_of
from seqtag.errors import CorpusError, LabelError, SeqtagError
from seqtag.evaluation.report import Report, evaluate
from seqtag.features.crfsuite import is_items
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.integrations.items import ItemTagger, ItemTask, label_data
from seqtag.labels.schemes import scheme_of
from seqtag.randomness import seed_of
from seqtag.settings import Settings
from seqtag.training.runs import Schedule
from seqtag.training.train import train

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray
    from typing_extensions import Self

    from seqtag.tagging.tagger import Tagger

_COLUMNS = ("form", "pos")
_LABEL = "label"
_SETTINGS = (
    "epochs",
    "update",
    "step",
    "margin",
    "min_count",
    "encoding",
    "dropout",
    "label_parts",
    "known_labels",
)
_FOR_ITEMS: dict[str, Any] = {"update": "adaptive", "step": 0.2, "margin": 1.0}


class SequencePerceptron(BaseEstimator):
    """The averaged structured perceptron as an estimator of sentences.

    X is a list of sentences, a sentence a list of tokens. All tokens are words (strings), or tuples
    of strings (one for each column), or features: dicts, lists or sets, as sklearn-crfsuite takes
    them. y is a list of lists of labels. Features of words and tuples are made by templates;
    feature dicts are the features themselves, see `seqtag.features.crfsuite.attributes_of`.

    Parameters
    ----------
    templates
        Preset, template file, or templates, for words and tuples. By default the preset that fits
        the labels: ``pos`` for labels like NOUN, ``chunk`` for B-NP with tuples, ``ner`` for
        B-PER with words alone.
    columns
        Names of the columns of tuples, by which templates know them; by default form and pos.
    order
        How many labels back a label depends on. By default 1 for feature dicts, and what the
        templates say for others, of which it keeps those that look back so far.
    epochs, update, step, margin, min_count, encoding, dropout, label_parts, known_labels
        The settings of training, see `seqtag.settings.SETTINGS`; None leaves one to the templates,
        or to what suits feature dicts: ``update="adaptive", step=0.2, margin=1``.
    constrain
        Let a model of chunk labels give valid sequences only.
    runs, patience
        As in `seqtag.train`.
    shuffle, random_state
        Visit the sentences in a new random order each epoch, drawn from this seed (an int, a numpy
        generator, or None for fresh entropy).

    Attributes
    ----------
    classes_
        The labels of y, sorted.
    tagger_ : seqtag.Tagger or seqtag.integrations.items.ItemTagger
        The model. That of words and tuples is a `seqtag.Tagger`, which ``tagger_.save(path)``
        writes to a model file.

    Notes
    -----
    The estimator is no scikit-learn classifier, whose labels would be one per sentence: stock
    scorers such as ``"accuracy"`` do not fit. `score` is what ``cross_val_score`` and the searches
    use by default; `chunk_f1_scorer` and `token_accuracy_scorer` are for ``scoring=``.

    Examples
    --------
    >>> X = [["the", "cat", "sat"], ["a", "dog"], ["dogs", "sat"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN"], ["NOUN", "VERB"]]
    >>> model = SequencePerceptron(min_count=1).fit(X, y)
    >>> model.predict([["a", "cat"]]).tolist()
    [['DET', 'NOUN']]
    >>> features = [[{"word": word, "last": word[-1]} for word in words] for words in X]
    >>> SequencePerceptron().fit(features, y).score(features, y)
    1.0
    """

    def __init__(
        self,
        *,
        templates: str | PathLike[str] | TemplateSet | None = None,
        columns: Sequence[str] | None = None,
        order: int | None = None,
        epochs: int | None = None,
        update: str | None = None,
        step: float | None = None,
        margin: float | None = None,
        min_count: int | None = None,
        encoding: str | None = None,
        dropout: float | None = None,
        label_parts: str | None = None,
        known_labels: int | None = None,
        constrain: bool = True,
        runs: int = 1,
        patience: int | None = None,
        shuffle: bool = True,
        random_state: Any = 1,
    ):
        self.templates = templates
        self.columns = columns
        self.order = order
        self.epochs = epochs
        self.update = update
        self.step = step
        self.margin = margin
        self.min_count = min_count
        self.encoding = encoding
        self.dropout = dropout
        self.label_parts = label_parts
        self.known_labels = known_labels
        self.constrain = constrain
        self.runs = runs
        self.patience = patience
        self.shuffle = shuffle
        self.random_state = random_state

    # ----------------------------------------------------------------- learning
    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> Self:
        """Learn from labelled sentences.

        Parameters
        ----------
        X
            Sentences; those without tokens are left out.
        y
            Labels of each, one per token.
        X_dev, y_dev
            Sentences and labels to choose the best epoch by.

        Raises
        ------
        CorpusError
            If sentences and labels differ in number, or tokens are of several kinds.
        LabelError
            If a label is no string, or is ``_``: not annotated.
        TemplateError
            If a setting is out of range, or templates do not fit the columns.
        """
        sentences, gold = _labelled(X, y)
        held_out = None
        if X_dev is not None or y_dev is not None:
            held_out = _labelled(X_dev, y_dev, "<X_dev>")
        if not sentences:
            msg = "expected sentences to learn from, found none with tokens; give X and y"
            raise CorpusError(msg)
        schedule = self._schedule()
        if is_items(sentences[0][0]):
            self.tagger_: Tagger | ItemTagger = self._task(sentences, gold).fit(schedule, held_out)
        else:
            self.tagger_ = self._train(sentences, gold, held_out)
        self.classes_ = _classes(gold)
        return self

    # ----------------------------------------------------------------- labelling
    def predict(self, X: Any) -> NDArray[np.object_]:
        """Labels of sentences.

        Returns
        -------
        array (sentences,) of lists of str
            One label per token; of no tokens, none.

        Raises
        ------
        NotFittedError
            If there was no fit.
        CorpusError
            If sentences are not of the kind that training had.
        """
        tagger = self._fitted()
        sentences = [list(sentence) for sentence in X]
        if isinstance(tagger, ItemTagger):
            found = tagger.tag_many(sentences)
        else:
            found = tagger.tag_many(_with_columns(sentences, self._columns))
        labels = np.empty(len(found), object)
        for i, each in enumerate(found):  # one by one: numpy would make a table of equal lengths
            labels[i] = each
        return labels

    def predict_single(self, sentence: Any) -> list[str]:
        """Labels of one sentence, as sklearn-crfsuite calls it."""
        labels: list[str] = self.predict([sentence])[0]
        return labels

    def report(self, X: Any, y: Any) -> Report:
        """All figures of the labels of sentences: see `seqtag.evaluation.Report`.

        Raises
        ------
        NotFittedError
            If there was no fit.
        CorpusError
            If sentences and labels differ in number.
        """
        tagger = self._fitted()
        _check_lengths(X, y, "<X>")
        return evaluate(map(list, y), self.predict(X), scheme=tagger.label_scheme, task=_LABEL)

    def score(self, X: Any, y: Any) -> float:
        """F1 of chunks as conlleval counts them if the labels are chunk labels, else accuracy."""
        return self.report(X, y).score

    # ----------------------------------------------------------------- what was learnt
    @property
    def attributes_(self) -> list[str]:
        """Names of the features, if X is made of feature dicts."""
        return list(self._item_tagger("attributes_").names)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weight of each (feature, label) that has one, if X is made of feature dicts."""
        return self._item_tagger("state_features_").state_features()

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weight of each (label, next label) that has one, if X is made of feature dicts."""
        return self._item_tagger("transition_features_").transition_features()

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator."""
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.dict = True
        return tags

    # ----------------------------------------------------------------- private
    def _schedule(self) -> Schedule:
        seed = seed_of(self.random_state)
        return Schedule(seed, self.runs, self.patience, 1, None, self.shuffle)

    def _settings(self) -> dict[str, Any]:
        """The settings that were given."""
        given = {name: getattr(self, name) for name in _SETTINGS}
        return {name: value for name, value in given.items() if value is not None}

    def _task(self, sentences: list[Any], gold: list[list[str]]) -> ItemTask:
        """What there is to learn from feature dicts."""
        if self.templates is not None:
            msg = (
                "expected templates=None for feature dicts, which are features already, found "
                f"{self.templates!r:.60}; leave it out, or give words"
            )
            raise SeqtagError(msg)
        order = 1 if self.order is None else self.order
        return ItemTask.of(
            sentences,
            gold,
            Settings().with_values({**_FOR_ITEMS, **self._settings()}),
            order,
            constrain=self.constrain,
            asked=self.encoding is not None,
        )

    def _train(
        self, sentences: list[Any], gold: list[list[str]], held_out: tuple[Any, Any] | None
    ) -> Tagger:
        """Train a tagger of words or tuples."""
        self._columns = _column_names(self.columns, sentences[0][0])
        templates = self._templates(gold)
        dev = held_out and list(_with_columns(held_out[0], self._columns, held_out[1], "<X_dev>"))
        schedule = self._schedule()
        return train(
            _with_columns(sentences, self._columns, gold),
            dev=dev,
            label=_LABEL,
            templates=templates,
            seed=schedule.seed,
            shuffle=self.shuffle,
            runs=self.runs,
            patience=self.patience,
            constrain=self.constrain,
            **self._settings(),
        )

    def _templates(self, gold: list[list[str]]) -> TemplateSet:
        """Those asked for, or the preset that fits the labels."""
        templates = self.templates
        if templates is None:
            chunks = scheme_of(label_data(gold).transitions()) is not None
            templates = ("chunk" if "pos" in self._columns else "ner") if chunks else "pos"
        if not isinstance(templates, TemplateSet):
            templates = load_templates(templates)
        return templates if self.order is None else templates.at_order(self.order)

    def _fitted(self) -> Tagger | ItemTagger:
        if not hasattr(self, "tagger_"):
            msg = (
                "expected a fitted SequencePerceptron, found one without weights; "
                "call fit(X, y) first"
            )
            raise NotFittedError(msg)
        return self.tagger_

    def _item_tagger(self, asked: str) -> ItemTagger:
        tagger = self._fitted()
        if not isinstance(tagger, ItemTagger):
            msg = (
                f"expected a model of feature dicts for {asked}, found one of words: templates "
                "make its features, and it keeps them as hashes"
            )
            raise AttributeError(msg)
        return tagger


# --------------------------------------------------------------------------- scorers
def chunk_f1_scorer(estimator: Any, X: Any, y: Any) -> float:
    """F1 of chunks, as conlleval counts them: for ``scoring=``, of any estimator of sentences.

    Raises
    ------
    LabelError
        If the labels are no chunk labels.

    Examples
    --------
    >>> X, y = [["in", "Oslo"]], [["O", "B-LOC"]]
    >>> chunk_f1_scorer(SequencePerceptron().fit(X, y), X, y)
    1.0
    """
    _check_lengths(X, y, "<X>")
    report = evaluate(map(list, y), map(list, estimator.predict(X)), task=_LABEL)
    outside = all(gold == "O" for gold, _ in report.confusion)
    if report.scheme is None and not outside:
        label = next(gold for gold, _ in report.confusion if gold != "O")
        msg = (
            f"expected chunk labels such as B-NP, found labels like {label!r}; score them with "
            "token_accuracy_scorer"
        )
        raise LabelError(msg)
    return report.f1


def token_accuracy_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Share of tokens with the right label: for ``scoring=``, of any estimator of sentences.

    Examples
    --------
    >>> X, y = [["in", "Oslo"]], [["ADP", "PROPN"]]
    >>> token_accuracy_scorer(SequencePerceptron(min_count=1).fit(X, y), X, y)
    1.0
    """
    _check_lengths(X, y, "<X>")
    gold, predicted = map(list, y), map(list, estimator.predict(X))
    return evaluate(gold, predicted, scheme=None, task=_LABEL).accuracy


# --------------------------------------------------------------------------- private
def _labelled(X: Any, y: Any, source: str = "<X>") -> tuple[list[Any], list[list[str]]]:
    """Sentences that have tokens, and their labels."""
    _check_lengths(X, y, source)
    sentences, gold = [], []
    for number, (sentence, labels) in enumerate(zip(X, y, strict=True), 1):
        tokens, names = list(sentence), list(labels)
        if len(tokens) != len(names):
            msg = f"expected {len(tokens)} labels, one per token, found {len(names)}"
            raise CorpusError(msg, source=source, line=number)
        odd = [name for name in names if not isinstance(name, str)]
        if odd:
            msg = f"expected labels as strings, found {odd[0]!r:.60}; convert them first"
            raise LabelError(msg, source=source, line=number)
        if tokens:
            sentences.append(tokens)
            gold.append([str(name) for name in names])
    return sentences, gold


def _check_lengths(X: Any, y: Any, source: str) -> None:
    """Refuse what are not lists of as many sentences."""
    for name, given in (("X", X), ("y", y)):
        if given is None or isinstance(given, str) or not hasattr(given, "__len__"):
            msg = f"expected {name} as a list of sentences, found {given!r:.60}"
            raise CorpusError(msg, source=source)
        if len(given) and isinstance(given[0], str):
            msg = (
                f"expected {name} as a list of sentences, found the string {given[0]!r:.60} for "
                "the first; give a list of lists"
            )
            raise CorpusError(msg, source=source)
    if len(X) != len(y):
        msg = f"expected one list of labels per sentence, found {len(X)} and {len(y)}"
        raise CorpusError(msg, source=source)


def _column_names(given: Sequence[str] | None, token: Any) -> tuple[str, ...]:
    """Names of the columns of tokens like this one."""
    width = 1 if isinstance(token, str) else len(token)
    names = _COLUMNS[:width] if given is None else tuple(given)
    if len(names) != width:
        msg = (
            f"expected a name for each of {width} columns, found {len(names)} "
            f"({', '.join(names)}); name them as columns=..."
        )
        raise CorpusError(msg)
    return names


def _with_columns(
    sentences: Sequence[Any],
    columns: Sequence[str],
    gold: Sequence[list[str]] = (),
    source: str = "<X>",
) -> Iterator[Sentence]:
    """Words or tuples as sentences with named columns, and that of the labels."""
    for number, (tokens, labels) in enumerate(zip_longest(sentences, gold), 1):
        rows = [(token,) if isinstance(token, str) else token for token in tokens]
        for row in rows:
            if not isinstance(row, tuple) or len(row) != len(columns):
                what = "a word" if len(columns) == 1 else f"a tuple ({', '.join(columns)})"
                msg = f"expected {what} for every token, as for the first, found {row!r:.60}"
                raise CorpusError(msg, source=source, line=number)
        values = zip(*rows, strict=True) if rows else [()] * len(columns)
        named = dict(zip(columns, values, strict=True))
        yield sentence_of(
            named if labels is None else named | {_LABEL: labels}, source=source, line=number
        )


def _classes(gold: Sequence[Sequence[str]]) -> NDArray[np.object_]:
    """The labels there are, sorted."""
    return np.array(sorted({label for labels in gold for label in labels}), object)
