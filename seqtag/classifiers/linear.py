"""Base class of all classifiers: prediction by ``w . x``, parameters, labels.

Classifiers follow the conventions of scikit-learn, whose checks expect its own classes of errors,
warnings and tags. Importing it takes a second and seqtag does not need it, so its modules are
looked up among the imported ones: code that expects its classes has imported it.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seqtag.classifiers.feature_maps import apply_map
from seqtag.classifiers.vectors import Reader, Vectors, check_length, read
from seqtag.errors import LabelError, SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier:
    """Classifier that predicts by ``w . x``, with w learned in epochs.

    Parameters
    ----------
    max_iter
        Maximum number of epochs; the name is scikit-learn's.
    shuffle, random_state
        Visit the data in a new random order each epoch, drawn from this seed (an int, a numpy
        generator, or None for fresh entropy). The same int gives the same orders as the seed of
        a tagger: `seqtag.randomness.visiting_order`.
    fit_intercept
        Learn a bias: the weight of a feature that is always 1.
    feature_map
        ``"product"``, ``"quadratic"``, or a function from X to X; see
        `seqtag.classifiers.feature_maps`.

    Attributes
    ----------
    classes_
        (K,) labels, ascending. Of two, ``classes_[0]`` is -1 and ``classes_[1]`` is +1.
    coef_, intercept_
        Weights and bias: (1, d), (1,) of ``classes_[1]`` for two labels, as in scikit-learn; else
        (K, d), (K,).
    n_features_in_
        Number of features, d.
    converged_, n_iter_, n_updates_
        Whether training converged within `max_iter`; numbers of epochs and updates.
    """

    max_iter: int = 100
    shuffle: bool = True
    random_state: Any = 0
    fit_intercept: bool = True
    feature_map: str | Callable[[Any], Any] | None = None

    # set by fit
    classes_: np.ndarray = field(init=False)
    converged_: bool = field(init=False)
    n_iter_: int = field(init=False)
    n_updates_: int = field(init=False)
    n_features_in_: int = field(init=False)
    _weights: np.ndarray = field(init=False)
    _reader: Reader = field(init=False)

    _estimator_type: ClassVar[str] = "classifier"
    _two_labels_only: ClassVar[bool] = True

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters by name (scikit-learn's interface)."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters and return self.

        Raises
        ------
        SeqtagError
            If there is no such parameter.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                msg = (
                    f"expected a parameter of {type(self).__name__} ({', '.join(known)}), "
                    f"found {name!r}"
                )
                raise SeqtagError(msg)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags of a classifier (only scikit-learn calls this)."""
        utils = sys.modules["sklearn.utils"]
        return utils.Tags(
            estimator_type="classifier",
            target_tags=utils.TargetTags(required=True),
            classifier_tags=utils.ClassifierTags(multi_class=not self._two_labels_only),
            input_tags=utils.InputTags(sparse=True),
        )

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Continue training: visit labeled vectors once, in the given order (online learning).

        The complete state is kept, averages and votes included: passing the data piece by piece is
        identical, to the last bit, to one epoch over all of them without shuffling. `max_iter`,
        `shuffle` and stopping criteria have no effect. After `fit` it continues from its end.

        Parameters
        ----------
        X, y
            As in `fit`. Dicts may have new features.
        classes
            All labels that will ever occur; in the first call, if some are missing in its y.

        Raises
        ------
        SeqtagError
            If X or a parameter is unusable, or X and y differ in length.
        LabelError
            If labels are not among those of the first call, or that has only one.

        Examples
        --------
        >>> from seqtag import BinaryPerceptron
        >>> model = BinaryPerceptron(fit_intercept=False)
        >>> for x, label in ([2, 4], -1), ([-6, 1], -1), ([1, 1], 1):
        ...     model = model.partial_fit([x], [label], classes=[-1, 1])
        >>> model.coef_
        array([[ 5., -4.]])
        """
        if not hasattr(self, "_weights"):
            self._learn_more(*self._begin(X, y, classes))
            return self
        self._check_params()
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            msg = (
                f"expected the classes of the first call ({_shown(self.classes_)}), found "
                f"{_shown(np.unique(classes))}; name all of them there, or call fit"
            )
            raise LabelError(msg)
        mapped = apply_map(self.feature_map, X)
        reader = self._reader.grown(mapped)
        vectors = reader(mapped, type(self).__name__)
        labels = _labels_of(y, vectors.size)
        advice = "name all labels there as classes=..."
        ids = _numbers(labels, self.classes_, "labels of the first call", advice)
        self._reader, self.n_features_in_ = reader, vectors.width
        self._learn_more(self._with_bias(vectors), ids)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels (n,) of vectors; among equal scores the first in `classes_`.

        Raises
        ------
        SeqtagError
            If there was no fit, or X is not like X in fit.
        """
        decided = self._decide(self.decision_function(X))
        return np.asarray(self.classes_[decided])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores of vectors: (n,) for two labels, positive for ``classes_[1]``; else (n, K).

        Raises
        ------
        SeqtagError
            If there was no fit, or X is not like X in fit.
        """
        return self._scores(self._read(X))

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy: the share of vectors whose label is predicted.

        A label that was not in training is never predicted, so it counts as wrong.

        Raises
        ------
        SeqtagError
            If there was no fit, X is not like X in fit, or is empty.
        """
        predicted = self.predict(X)
        labels = _labels_of(y, len(predicted))
        if not len(labels):
            msg = "expected at least one vector to score, found none"
            raise SeqtagError(msg)
        return float((predicted.astype(object) == labels.astype(object)).mean())

    @property
    def feature_names_(self) -> list[str] | None:
        """Names of the features, if X consists of dicts."""
        names = self._reader.names
        return None if names is None else list(names)

    @property
    def coef_(self) -> np.ndarray:
        """Weights: (1, d) of ``classes_[1]`` for two labels, else (K, d); without the bias."""
        return self._row()[:, : self.n_features_in_]

    @property
    def intercept_(self) -> np.ndarray:
        """Weight of the bias: (1,) for two labels, else (K,); zero without a bias."""
        rows = self._row()
        return rows[:, -1] if self.fit_intercept else np.zeros(len(rows))

    # ----------------------------------------------------------------- for subclasses
    def _begin(self, X: Any, y: Any, classes: Any) -> tuple[Vectors, np.ndarray]:
        """Check the parameters, read training data, and determine the labels."""
        self._check_params()
        vectors, self._reader = read(apply_map(self.feature_map, X))
        labels = _labels_of(y, vectors.size)
        try:
            distinct = np.unique(labels if classes is None else np.asarray(classes))
        except TypeError as error:
            msg = f"expected labels of one type, found a mixture ({error})"
            raise LabelError(msg) from error
        ids = _numbers(labels, distinct, "labels that classes names", "name them too")
        if len(distinct) < 2:
            msg = (
                f"expected at least two labels, found one class ({_shown(distinct)}); "
                "add examples of another, or name both as classes=..."
            )
            raise LabelError(msg)
        self.classes_ = distinct
        if self._two_labels_only and len(self.classes_) > 2:
            msg = (
                f"expected two labels, found {len(self.classes_)} ({_shown(self.classes_)}). "
                "Only binary classification is supported. Use MulticlassPerceptron"
            )
            raise LabelError(msg)
        self.n_features_in_ = vectors.width
        return self._with_bias(vectors), ids

    def _learn_more(self, x: Vectors, y: np.ndarray) -> None:
        """Visit vectors once, in the given order; continue a previous training, if any."""
        raise NotImplementedError

    def _check_params(self) -> None:
        """Raise a SeqtagError if a parameter is out of range."""

    def _scores(self, x: Vectors) -> np.ndarray:
        """Return the scores of vectors."""
        scores = x.dot(self._weights)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Return the numbers of labels; ties go to the lowest, as in the decoder: sign(0) = -1."""
        if scores.ndim == 1:
            return (scores > 0).astype(np.int64)
        return np.asarray(scores.argmax(axis=1))

    def _with_bias(self, x: Vectors) -> Vectors:
        return x.with_bias() if self.fit_intercept else x

    def _read(self, X: Any) -> Vectors:
        """Read X like the X of fit."""
        reader: Reader | None = getattr(self, "_reader", None)
        if reader is None:
            msg = (
                f"expected a fitted {type(self).__name__}, found one without weights; "
                "call fit(X, y) first"
            )
            raise _not_fitted(msg)
        return self._with_bias(reader(apply_map(self.feature_map, X), type(self).__name__))

    def _row(self) -> np.ndarray:
        if not hasattr(self, "_weights"):
            msg = f"{type(self).__name__} has no weights yet; call fit(X, y) first"
            raise AttributeError(msg)
        return self._weights[1:] if len(self.classes_) == 2 else self._weights


# --------------------------------------------------------------------------- private
def _numbers(labels: np.ndarray, classes: np.ndarray, expected: str, advice: str) -> np.ndarray:
    """Return the numbers of labels among sorted classes, int32; refuse others."""
    known = set(classes.tolist())
    others = [label for label in dict.fromkeys(labels.ravel().tolist()) if label not in known]
    if others:
        msg = f"expected {expected} ({_shown(classes)}), found {_shown(others)}; {advice}"
        raise LabelError(msg)
    return np.searchsorted(classes, labels).astype(np.int32)


def _shown(labels: Sequence[Any] | np.ndarray) -> str:
    return ", ".join(str(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")


def _not_fitted(message: str) -> SeqtagError:
    """Return the error about a missing fit; also a NotFittedError if scikit-learn is imported."""
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return SeqtagError(message)

    class NotFittedError(SeqtagError, exceptions.NotFittedError):  # type: ignore[misc,name-defined]
        def __reduce__(self) -> tuple[Any, ...]:
            return _not_fitted, (self.message,)

    return NotFittedError(message)


def _labels_of(y: Any, size: int) -> np.ndarray:
    """Return labels as an array (n,), n = size; a column (n, 1) is accepted with a warning.

    Raises
    ------
    LabelError
        If there are none, or they are numbers with a fraction: measurements, not labels.
    SeqtagError
        If they have another shape.
    """
    if y is None:
        msg = (
            "expected labels, found None: learning requires y to be passed, but the target y is "
            "None; give one label per vector"
        )
        raise LabelError(msg)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1 and len(labels):
        exceptions = sys.modules.get("sklearn.exceptions")
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; write y.ravel()",
            UserWarning if exceptions is None else exceptions.DataConversionWarning,
            stacklevel=4,
        )
        labels = labels.ravel()
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        msg = "expected labels, found NaN or infinity among them; label every vector"
        raise LabelError(msg)
    if labels.dtype.kind == "f" and (labels != np.rint(labels)).any():
        fraction = labels[labels != np.rint(labels)][0]
        msg = (
            f"expected labels, found numbers with a fraction such as {fraction!s}: a continuous y "
            "is for regression; convert it to classes first"
        )
        raise LabelError(msg)
    check_length(size, labels)
    return labels
