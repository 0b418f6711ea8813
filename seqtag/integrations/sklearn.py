"""seqtag as a scikit-learn estimator of sentences, and scorers for it.

Importing this module imports scikit-learn, which takes a second: nothing else in seqtag does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from seqtag.errors import did_you_mean, install_hint

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
except ImportError as error:
    _MESSAGE = f"seqtag.integrations.sklearn needs scikit-learn; {install_hint('sklearn')}"
    raise ImportError(_MESSAGE) from error

from seqtag.corpus.gold import GoldLabels, check_tag_set
from seqtag.errors import CorpusError, LabelError, SeqtagError
from seqtag.evaluation.report import Report, evaluate
from seqtag.features.feature_dicts import is_feature_dict
from seqtag.features.language import load as load_templates
from seqtag.features.templates import TemplateSet
from seqtag.integrations import feature_dicts
from seqtag.integrations.feature_dicts import LABEL, FeatureDictTagger, label_data
from seqtag.labels.column import LabelColumn
from seqtag.labels.schemes import detect_scheme, parse, scheme_of
from seqtag.model.calibration import Calibration
from seqtag.randomness import seed_of
from seqtag.settings import SETTINGS
from seqtag.training.plan import fitting, presets_for
from seqtag.training.train import train

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray
    from typing_extensions import Self

    from seqtag.tagging.tagger import Tagger


__all__ = ["SequencePerceptron", "chunk_f1_scorer", "token_accuracy_scorer"]

COLUMNS = ("form", "pos")
"""Default names of the columns of tuples."""

_Estimator = TypeVar("_Estimator")

_SETTINGS = tuple(setting.attribute for setting in SETTINGS.values())


def _with_advice(estimator: type[_Estimator]) -> type[_Estimator]:
    """Let an estimator say which parameters there are, and what to do with those of a CRF."""
    init = estimator.__init__
    names = [*signature(init).parameters][1:]

    @wraps(init)
    def checked(self: _Estimator, **given: Any) -> None:
        unknown = [name for name in given if name not in names]
        if unknown:
            near = "".join(did_you_mean(name, names) for name in unknown)
            msg = (
                f"expected parameters of {estimator.__name__} ({', '.join(names)}), found "
                f"{', '.join(unknown)}{near}; of those of a CRF, max_iterations is epochs and "
                "min_freq is min_count; leave out others, such as algorithm, c1 and c2"
            )
            raise TypeError(msg)
        init(self, **given)

    estimator.__init__ = checked  # type: ignore[assignment]
    return estimator


@_with_advice
@dataclass(kw_only=True, eq=False, repr=False)
class SequencePerceptron(BaseEstimator):
    """Averaged structured perceptron as a scikit-learn estimator of sentences.

    X is a list of sentences, a sentence a list of tokens. All tokens are words (strings), or tuples
    of strings (one for each column), or features: dicts, lists or sets, as in sklearn-crfsuite. y
    is a list of lists of labels. Templates make the features of words and tuples; the items of
    feature dicts are features themselves, see `seqtag.features.feature_dicts.attributes_of`.

    Parameters
    ----------
    templates
        Preset, template file, or templates, for words and tuples. By default the preset that fits
        the labels: ``pos`` for labels like NOUN, ``chunk`` for B-NP with tuples, ``ner`` for
        B-PER with words alone.
    columns
        Names of the columns of tuples, used by templates; by default form and pos.
    tables
        Word tables and lists of names for words and tuples, as in `seqtag.train`.
    order
        Number of previous labels that a label depends on. By default 1 for feature dicts, and that
        of the templates for others; templates of a higher order are left out.
    epochs, update, step, margin, min_count, encoding, dropout, label_parts, tag_dictionary
        Settings of training, see `seqtag.settings.SETTINGS`; None uses those of the templates, and
        ``update="adaptive", step=0.2, margin=1`` for feature dicts.
    recall_bias
        Setting of training, for words and tuples.
    constrain
        Predict only valid sequences of chunk labels.
    runs, patience
        As in `seqtag.train`.
    shuffle, random_state
        Visit the sentences in a new random order each epoch, drawn from this seed (an int, a numpy
        generator, or None for fresh entropy).
    verbose
        Print a line for each epoch of `fit`.

    Attributes
    ----------
    classes_ : list of str
        The labels of y, and others that the model may predict, sorted: in IOB1 and IOE1, ``B-PER``
        or ``E-PER`` where chunks of one type touch.
    tagger_ : seqtag.Tagger or FeatureDictTagger
        The model. For words and tuples, a `seqtag.Tagger`: ``tagger_.save(path)`` writes a
        model file.

    Notes
    -----
    The estimator is not a scikit-learn classifier, which has one label per sample: built-in scorers
    such as ``"accuracy"`` do not apply. `score` is what ``cross_val_score`` and the searches
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

    templates: str | PathLike[str] | TemplateSet | None = None
    columns: Sequence[str] | None = None
    tables: Sequence[Any] = ()
    order: int | None = None
    epochs: int | None = None
    update: str | None = None
    step: float | None = None
    margin: float | None = None
    min_count: int | None = None
    encoding: str | None = None
    dropout: float | str | None = None
    label_parts: str | None = None
    tag_dictionary: int | str | None = None
    recall_bias: float | str | None = None
    constrain: bool = True
    runs: int = 1
    patience: int | None = None
    shuffle: bool = True
    random_state: Any = 1
    verbose: bool = False

    labels_: list[str] = field(init=False)
    _tagger: Tagger | FeatureDictTagger = field(init=False)
    _columns: tuple[str, ...] | None = field(init=False)  # of words and tuples

    # ----------------------------------------------------------------- learning
    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> Self:
        """Fit the model to labeled sentences.

        Parameters
        ----------
        X
            Sentences; those without tokens are skipped.
        y
            Labels of each, one per token.
        X_dev, y_dev
            Sentences and labels that select the best epoch.

        Raises
        ------
        CorpusError
            If sentences and labels differ in number, or tokens are of several kinds.
        LabelError
            If a label is not a string, or is ``_``: not annotated; or y_dev has no label of y, or
            labels that are no chunk labels where those of y are.
        TemplateError
            If a setting is out of range, or templates do not fit the columns.
        """
        sentences, gold = _labeled_sentences(X, y)
        dev = None
        if X_dev is not None or y_dev is not None:
            dev_sentences, dev_labels = _labeled_sentences(X_dev, y_dev, "<X_dev>")
            scheme = scheme_of(label_data(gold).transitions())
            dev = dev_sentences, _gold_labels(dev_labels, scheme, _classes_of(gold), "<y_dev>")
        if not sentences:
            msg = "expected sentences to learn from, found none with tokens; give X and y"
            raise CorpusError(msg)
        names = (*_SETTINGS, "constrain", "runs", "patience", "shuffle")
        options = {name: getattr(self, name) for name in names}
        options["seed"] = seed_of(self.random_state)
        fit = self._fit_dicts if is_feature_dict(sentences[0][0]) else self._fit_words
        fit(sentences, gold, dev, {**options, "on_epoch": print if self.verbose else None})
        self.labels_ = _classes_of([*gold, _labels_written(self._tagger)])
        return self

    def _fit_dicts(
        self, sentences: list[Any], gold: list[list[str]], dev: Any, options: dict[str, Any]
    ) -> None:
        if self.templates is not None or self.tables:
            msg = (
                "expected templates=None for feature dicts, which are features already, and no "
                f"tables, found {self.templates or self.tables!r:.60}; leave it out, or give words"
            )
            raise SeqtagError(msg)
        self._tagger = feature_dicts.train(sentences, gold, dev, order=self.order, **options)
        self._columns = None

    def _fit_words(
        self, sentences: list[Any], gold: list[list[str]], dev: Any, options: dict[str, Any]
    ) -> None:
        columns = _column_names(self.columns, sentences[0][0])
        templates = self.templates
        if self.order is not None:
            if templates is None:
                templates = fitting(presets_for(LabelColumn(LABEL), columns), label_data(gold))
            if not isinstance(templates, TemplateSet):
                templates = load_templates(templates)
            templates = templates.at_order(self.order)  # without those above
        self._tagger = train(
            _by_column(sentences, columns),
            gold,
            dev=dev and (_by_column(dev[0], columns, "<X_dev>"), dev[1]),
            label=LABEL,
            templates=templates,
            tables=self.tables,
            **options,
        )
        self._columns = columns

    # ----------------------------------------------------------------- prediction
    def predict(self, X: Any) -> NDArray[np.object_]:
        """Return the labels of sentences.

        Returns
        -------
        array of lists of str, one for each sentence
            One label per token.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        CorpusError
            If the tokens differ in kind from those in training.
        """
        return _array_of(self.tagger_.tag_many(self._given(X)))

    def predict_single(self, sentence: Any) -> list[str]:
        """Return the labels of one sentence (the name is sklearn-crfsuite's)."""
        labels: list[str] = self.predict([sentence])[0]
        return labels

    # ----------------------------------------------------------------- scores of labels
    def calibrate(self, X: Any, y: Any) -> Self:
        """Calibrate the scores of labels, for `predict_marginals`.

        Parameters
        ----------
        X, y
            Sentences and labels that were not used in `fit`: on those of training, scores are too
            high. Training again removes the calibration.

        Raises
        ------
        CorpusError
            If sentences and labels differ in number, or no token could have another label.
        LabelError
            If no label of y is in `classes_`, or labels are no chunk labels and should be.
        """
        sentences, given = _labeled_sentences(X, y)
        gold = _gold_labels(given, self.tagger_.label_scheme, self.labels_, "<y>")
        margins: list[float] = []
        right: list[bool] = []
        for expected, found in zip(gold, self._margins_of_labels(sentences), strict=True):
            margins += found.least.tolist()
            right += [a == b for a, b in zip(found.labels, expected, strict=True)]
        if not np.isfinite(margins).any():
            msg = "expected tokens that could have several labels to calibrate on, found none"
            raise CorpusError(msg, source="<X>")
        tagger: Any = self.tagger_
        model = replace(tagger.model, calibration=Calibration.learn(margins, right))
        self._tagger = type(tagger)(model)
        return self

    def predict_marginals(self, X: Any) -> NDArray[np.object_]:
        """Return a score for each label of each token, from calibrated margins.

        A perceptron has no probability of label sequences, so these are not the marginals of a CRF.
        The predicted label of a token gets its calibrated score: the share of correct labels among
        tokens with such a margin, in the data given to `calibrate`. The rest is divided among the
        other labels by ``1 - c(d)``, where d is the lead over the best sequence with this label,
        and c(d) the calibrated score of a margin d. The scores of a token add up to 1.

        Returns
        -------
        array of lists of dict from label to float, one for each sentence
            As in sklearn-crfsuite, a dict for each token.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        SeqtagError
            If it is not calibrated.
        CorpusError
            If the tokens differ in kind from those in training.

        Examples
        --------
        >>> X = [["the", "cat"], ["a", "dog"], ["the", "dog"]]
        >>> y = [["DET", "NOUN"], ["DET", "NOUN"], ["DET", "NOUN"]]
        >>> model = SequencePerceptron(min_count=1).fit(X, y).calibrate([["a", "cat"]], y[:1])
        >>> {label: round(p, 2) for label, p in model.predict_marginals([["the"]])[0][0].items()}
        {'DET': 0.75, 'NOUN': 0.25}
        """
        calibration = self.tagger_.model.calibration
        if calibration is None:
            msg = (
                "expected a calibrated model for predict_marginals, found one without calibration; "
                "first call calibrate(X, y) with sentences that were not used in fit"
            )
            raise SeqtagError(msg)
        names: list[str] = self.labels_
        found = []
        for each in self._margins_of_labels(X):
            others = 1 - np.reshape(calibration.of(each.by_label.ravel()), each.by_label.shape)
            others[np.isinf(each.by_label)] = 0
            score = np.where(np.isinf(each.least), 1.0, calibration.of(each.least))
            total = others.sum(axis=1, keepdims=True)
            shares = others / np.where(total > 0, total, 1) * (1 - score)[:, None]
            shares[np.arange(len(score)), each.best] = score
            found.append([dict(zip(names, row, strict=True)) for row in shares.tolist()])
        return _array_of(found)

    def predict_marginals_single(self, sentence: Any) -> list[dict[str, float]]:
        """Return a score for each label of each token of one sentence; see `predict_marginals`."""
        found: list[dict[str, float]] = self.predict_marginals([sentence])[0]
        return found

    def _given(self, X: Any) -> list[Any]:
        """Return sentences as the model takes them: feature dicts as they are, others by column."""
        sentences = [list(sentence) for sentence in X]
        return sentences if self._columns is None else _by_column(sentences, self._columns)

    def _margins_of_labels(self, X: Any) -> Iterator[_Margins]:
        """Yield the labels of each sentence and their margins over `classes_`.

        Where labels depend on their neighbors, another label of the same chunk type may stand for
        the learned label that was written as this one: it is no rival.
        """
        tagger, names = self.tagger_, self.labels_
        number = {name: i for i, name in enumerate(names)}
        kinds = None if tagger.model.coding.is_local else np.array([parse(n)[1] for n in names])
        for labels, by_label in tagger.margins_of_labels(self._given(X), names):
            best = np.array([number[label] for label in labels], np.int64)
            by_label[np.arange(len(best)), best] = np.inf
            if kinds is not None:
                by_label[(kinds[best][:, None] == kinds) & (by_label == 0)] = np.inf
            yield _Margins(labels, best, by_label, by_label.min(axis=1, initial=np.inf))

    # ----------------------------------------------------------------- reports
    def report(self, X: Any, y: Any) -> Report:
        """Compare the predicted labels of sentences with y: see `seqtag.evaluation.Report`.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        CorpusError
            If sentences and labels differ in number.
        """
        tagger = self.tagger_
        _check_lengths(X, y, "<X>")
        reader = GoldLabels(LabelColumn(LABEL), tagger.label_scheme)
        gold = reader.converted(map(list, y))
        return evaluate(gold, self.predict(X), scheme=tagger.label_scheme, task=LABEL)

    def score(self, X: Any, y: Any) -> float:
        """Return the chunk F1 (conlleval) if the labels are chunk labels, else the accuracy."""
        return self.report(X, y).score

    # ----------------------------------------------------------------- the model
    @property
    def classes_(self) -> list[str]:
        """The labels, as a new list, from which programs remove ``O``."""
        return [*self.labels_]

    @property
    def tagger_(self) -> Tagger | FeatureDictTagger:
        """The trained model."""
        if not hasattr(self, "labels_"):
            msg = (
                f"expected a fitted {type(self).__name__}, found one without weights; "
                "call fit(X, y) first"
            )
            raise NotFittedError(msg)
        return self._tagger

    @property
    def attributes_(self) -> list[str]:
        """Names of the features, if X consists of feature dicts."""
        return list(self._dict_tagger("attributes_").model.names)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Nonzero weights by (feature, label), if X consists of feature dicts."""
        return self._dict_tagger("state_features_").state_features()

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Nonzero weights by (label, next label), if X consists of feature dicts."""
        return self._dict_tagger("transition_features_").transition_features()

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags of an estimator."""
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.dict = True
        return tags

    # ----------------------------------------------------------------- private
    def _dict_tagger(self, purpose: str) -> FeatureDictTagger:
        tagger = self.tagger_
        if not isinstance(tagger, FeatureDictTagger):
            msg = (
                f"expected a model of feature dicts for {purpose}, found one of words: templates "
                "make its features, and it keeps them as hashes"
            )
            raise AttributeError(msg)
        return tagger


class _Margins(NamedTuple):
    """Labels of a sentence, and their margins over others.

    Attributes
    ----------
    labels, best
        The labels, and their places in `classes_`.
    by_label, least
        The margins (tokens, classes) over each other class, and the least of each token.
    """

    labels: list[str]
    best: NDArray[np.int64]
    by_label: NDArray[np.float64]
    least: NDArray[np.float64]


def chunk_f1_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Return the chunk F1 (conlleval) of an estimator of sentences; for ``scoring=``.

    Raises
    ------
    LabelError
        If the labels are no chunk labels.

    Examples
    --------
    >>> from seqtag.integrations.sklearn import SequencePerceptron
    >>> X, y = [["in", "Oslo"]], [["O", "B-LOC"]]
    >>> chunk_f1_scorer(SequencePerceptron().fit(X, y), X, y)
    1.0
    """
    _check_lengths(X, y, "<X>")
    report = evaluate(map(list, y), map(list, estimator.predict(X)), task=LABEL)
    outside = all(gold == "O" for gold, _ in report.confusion)
    if report.scheme is None and not outside:
        label = next(gold for gold, _ in report.confusion if gold != "O")
        msg = (
            f"expected chunk labels such as B-NP, found labels like {label!r}; score them with "
            "token_accuracy_scorer"
        )
        raise LabelError(msg)
    return report.chunks.f1


def token_accuracy_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Return the token accuracy of an estimator of sentences; for ``scoring=``.

    Examples
    --------
    >>> from seqtag.integrations.sklearn import SequencePerceptron
    >>> X, y = [["in", "Oslo"]], [["ADP", "PROPN"]]
    >>> token_accuracy_scorer(SequencePerceptron(min_count=1).fit(X, y), X, y)
    1.0
    """
    _check_lengths(X, y, "<X>")
    gold: Sequence[Sequence[str]] = [*map(list, y)]
    predicted = [*map(list, estimator.predict(X))]
    if detect_scheme(gold) is not None:
        gold = GoldLabels(LabelColumn(LABEL), detect_scheme(predicted)).converted(gold)
    return evaluate(gold, predicted, scheme=None, task=LABEL).accuracy


# ----------------------------------------------------------------- sentences and labels
def _labeled_sentences(X: Any, y: Any, source: str = "<X>") -> tuple[list[Any], list[list[str]]]:
    """Return the sentences with tokens, and their labels."""
    _check_lengths(X, y, source)
    sentences, gold = [], []
    for number, (sentence, labels) in enumerate(zip(X, y, strict=True), 1):
        for what, given in (("tokens", sentence), ("labels", labels)):
            if not isinstance(given, Iterable):
                msg = f"expected a list of {what} for every sentence, found {given!r:.60}"
                raise CorpusError(msg, source=source, line=number)
        tokens, names = list(sentence), list(labels)
        if len(tokens) != len(names):
            msg = f"expected {len(tokens)} labels, one per token, found {len(names)}"
            raise CorpusError(msg, source=source, line=number)
        others = [name for name in names if not isinstance(name, str)]
        if others:
            msg = f"expected labels as strings, found {others[0]!r:.60}; convert them first"
            raise LabelError(msg, source=source, line=number)
        if tokens:
            sentences.append(tokens)
            gold.append([str(name) for name in names])
    return sentences, gold


def _gold_labels(
    given: list[list[str]], scheme: str | None, known: Sequence[str], source: str
) -> list[Sequence[str]]:
    """Return gold labels in the scheme of a model; refuse those of which it knows none."""
    gold = GoldLabels(LabelColumn(LABEL), scheme).converted(given)
    check_tag_set(_classes_of(gold), known, "convert the labels", source)
    return gold


def _labels_written(tagger: Tagger | FeatureDictTagger) -> set[str]:
    """Return the chunk labels that the learned ones become, depending on their neighbors."""
    coding = tagger.model.coding
    if coding.is_local:
        return set()
    kinds: dict[str, list[str]] = {}
    for label in tagger.model.labels:
        kinds.setdefault(parse(label)[1], []).append(label)
    pairs = (pair for kind in kinds.values() for pair in product(kind, repeat=2))
    return {label for pair in pairs for label in coding.decode(pair)}


def _check_lengths(X: Any, y: Any, source: str) -> None:
    """Raise a CorpusError unless X and y are lists of equally many sentences."""
    for name, given in (("X", X), ("y", y)):
        if given is None or isinstance(given, str) or not hasattr(given, "__len__"):
            msg = f"expected {name} as a list of sentences, found {given!r:.60}"
            raise CorpusError(msg, source=source)
        first = next(iter(given), None)  # a table's column has numbers of its own
        if isinstance(first, str):
            msg = (
                f"expected {name} as a list of sentences, found the string {first!r:.60} for the "
                "first; give a list of lists"
            )
            raise CorpusError(msg, source=source)
    if len(X) != len(y):
        msg = f"expected one list of labels per sentence, found {len(X)} and {len(y)}"
        raise CorpusError(msg, source=source)


def _column_names(given: Sequence[str] | None, token: Any) -> tuple[str, ...]:
    """Return the names of the columns of tokens like this one."""
    width = 1 if isinstance(token, str) else len(token)
    names = COLUMNS[:width] if given is None else tuple(given)
    if len(names) != width:
        msg = (
            f"expected a name for each of {width} columns, found {len(names)} "
            f"({', '.join(names)}); name them as columns=..."
        )
        raise CorpusError(msg)
    return names


def _by_column(
    sentences: Sequence[Any], columns: Sequence[str], source: str = "<X>"
) -> list[dict[str, tuple[str, ...]]]:
    """Return words or tuples as values by the names of their columns."""
    found = []
    for number, tokens in enumerate(sentences, 1):
        rows = [(token,) if isinstance(token, str) else token for token in tokens]
        for row in rows:
            if not isinstance(row, tuple) or len(row) != len(columns):
                what = "a word" if len(columns) == 1 else f"a tuple ({', '.join(columns)})"
                msg = f"expected {what} for every token, as for the first, found {row!r:.60}"
                raise CorpusError(msg, source=source, line=number)
        values = zip(*rows, strict=True) if rows else [()] * len(columns)
        found.append(dict(zip(columns, values, strict=True)))
    return found


def _array_of(values: Sequence[Any]) -> NDArray[np.object_]:
    """Return lists as an array of one dimension, also if they have the same length."""
    found = np.empty(len(values), object)
    for i, each in enumerate(values):
        found[i] = each
    return found


def _classes_of(gold: Iterable[Iterable[str]]) -> list[str]:
    """Return the distinct labels, sorted."""
    return sorted({str(label) for labels in gold for label in labels})
