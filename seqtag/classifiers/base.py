"""What the members of the perceptron family share: parameters, checks, passes of the one trainer.

The algebra that makes them one algorithm is in `seqtag.classifiers.perceptrons`.
"""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from seqtag.classifiers.feature_maps import apply_map
from seqtag.classifiers.vectors import Reader, Vectors, check_length, read
from seqtag.engine import backend
from seqtag.engine.arrays import Cells, Layout
from seqtag.engine.arrays import Mistakes as EpochMistakes
from seqtag.engine.epochs import Recipe, Verdict, learn
from seqtag.errors import LabelError, SeqtagError
from seqtag.randomness import seed_of, visiting_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self


class Mistakes(NamedTuple):
    """Every update of a training run, in order: all weights follow from it.

    Attributes
    ----------
    example
        (M,) number of the example, a row of X.
    seen
        (M,) examples finished before it, over all passes: survival times are its differences.
    gold, decoded
        (M,) numbers of labels in ``classes_``.
    """

    example: np.ndarray
    seen: np.ndarray
    gold: np.ndarray
    decoded: np.ndarray


class Pass(NamedTuple):
    """What one pass over the data did."""

    updates: int
    score: float | None  # on the validation set, if there is one


class Run(NamedTuple):
    """What a training run leaves behind."""

    weights: np.ndarray  # (K, d) of the pass kept
    mistakes: Mistakes
    kept: int  # examples seen until the end of the pass kept
    history: tuple[Pass, ...]
    converged: bool


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier:
    """What decides by ``w . x`` and learns w in passes over the data.

    Parameters
    ----------
    max_iter
        Most passes over the data.
    shuffle, random_state
        Visit the data in a new random order each pass, drawn from this seed (an int, a numpy
        generator, or None for fresh entropy). The same int gives the same orders as the seed of
        a tagger: `seqtag.randomness.visiting_order`.
    fit_intercept
        Learn a bias: a feature that is always 1.
    feature_map
        ``"product"``, ``"quadratic"``, or a function from X to X; see
        `seqtag.classifiers.feature_maps`.

    Attributes
    ----------
    classes_
        (K,) labels, ascending. Of two, ``classes_[0]`` is -1 and ``classes_[1]`` is +1.
    coef_, intercept_
        (1, d), (1,) of ``classes_[1]`` for two labels, as in scikit-learn; else (K, d), (K,).
    n_features_in_
        Features of the vectors, d.
    converged_, n_iter_, n_updates_
        Whether learning came to its end before `max_iter`; passes and updates made.
    """

    max_iter: int = 100
    shuffle: bool = True
    random_state: Any = 0
    fit_intercept: bool = True
    feature_map: str | Callable[[Any], Any] | None = None

    # what fit sets
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
        """Parameters by name, as scikit-learn's tools expect."""
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
        """What scikit-learn asks of a classifier (only scikit-learn calls this)."""
        utils = sys.modules["sklearn.utils"]  # the caller is scikit-learn: nothing to import
        return utils.Tags(
            estimator_type="classifier",
            target_tags=utils.TargetTags(required=True),
            classifier_tags=utils.ClassifierTags(multi_class=not self._two_labels_only),
            input_tags=utils.InputTags(sparse=True),
        )

    def predict(self, X: Any) -> np.ndarray:
        """Labels (n,) of vectors; among equal scores the first in `classes_`.

        Raises
        ------
        SeqtagError
            If there was no fit, or X is not like X in fit.
        """
        decided = self._decide(self._scores(self._read(X)))
        return np.asarray(self.classes_[decided])

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of vectors: (n,) for two labels, positive for ``classes_[1]``; else (n, K).

        Raises
        ------
        SeqtagError
            If there was no fit, or X is not like X in fit.
        """
        return self._scores(self._read(X))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy: the share of vectors whose label is predicted.

        Raises
        ------
        SeqtagError
            If there was no fit, X is not like X in fit, or is empty.
        LabelError
            If y has labels that training had not.
        """
        vectors, ids = self._read_labelled(X, y)
        if not len(ids):
            msg = "expected at least one vector to score, found none"
            raise SeqtagError(msg)
        return float((self._decide(self._scores(vectors)) == ids).mean())

    @property
    def feature_names_(self) -> list[str] | None:
        """Names of the features, if X was made of dicts."""
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

    # ----------------------------------------------------------------- for the members
    def _begin(self, X: Any, y: Any, classes: Any) -> tuple[Vectors, np.ndarray]:
        """Check the parameters, read training data, and settle what the labels are."""
        self._check_params()
        vectors, self._reader = read(apply_map(self.feature_map, X))
        labels = np.asarray(y)
        check_length(vectors, labels)
        self.classes_, ids = _classes(labels, classes)
        if self._two_labels_only and len(self.classes_) > 2:
            msg = (
                f"expected two labels, found {len(self.classes_)} ({_shown(self.classes_)}); "
                "use MulticlassPerceptron"
            )
            raise LabelError(msg)
        self.n_features_in_ = vectors.width
        return self._with_bias(vectors), ids.astype(np.int32)

    def _check_params(self) -> None:
        """Raise if a parameter cannot be used."""

    def _scores(self, x: Vectors) -> np.ndarray:
        """Scores of vectors by the weights that were read out."""
        scores = x.dot(self._weights)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Numbers of labels; ties go to the lowest, as in the decoder: sign(0) = -1."""
        if scores.ndim == 1:
            return (scores > 0).astype(np.int64)
        return np.asarray(scores.argmax(axis=1))

    def _with_bias(self, x: Vectors) -> Vectors:
        return x.with_bias() if self.fit_intercept else x

    def _read(self, X: Any) -> Vectors:
        """X as in fit."""
        reader: Reader | None = getattr(self, "_reader", None)
        if reader is None:
            msg = (
                f"expected a fitted {type(self).__name__}, found one without weights; "
                "call fit(X, y) first"
            )
            raise SeqtagError(msg)
        return self._with_bias(reader(apply_map(self.feature_map, X)))

    def _read_labelled(self, X: Any, y: Any) -> tuple[Vectors, np.ndarray]:
        """X as in fit, and y as numbers in `classes_`."""
        vectors, labels = self._read(X), np.asarray(y)
        unseen = _missing(labels, self.classes_)
        if unseen:
            msg = (
                f"expected labels seen in training ({_shown(self.classes_)}), found "
                f"{_shown(unseen)}; "
                "leave such examples out, or compare with predict(X) to count them as wrong"
            )
            raise LabelError(msg)
        check_length(vectors, labels)
        return vectors, np.searchsorted(self.classes_, labels)

    def _row(self) -> np.ndarray:
        if not hasattr(self, "_weights"):
            msg = f"{type(self).__name__} has no weights yet; call fit(X, y) first"
            raise AttributeError(msg)
        return self._weights[1:] if len(self.classes_) == 2 else self._weights


@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(LinearClassifier, ABC):
    """What the tagger's trainer teaches: a mistake moves x between the rows of two labels.

    Parameters
    ----------
    ties_are_mistakes
        True: update unless the right label alone has the best score (with two labels: whenever
        y a <= 0; CIML, algorithm 5). False: update unless the right label is decided for.
    until_converged
        True: a pass without mistakes is the last, as no later one would change w. False: always
        make `max_iter` passes, as the textbooks do; then the final w, right about all, counts for
        more in the mean and in the vote.
    step
        Factor of the update. From zero weights it scales w, and changes no decision.
    cost
        (K, K) cost of deciding for one label (column) where another is right (row), in the order
        of ``classes_``. While training, decoding is loss-augmented: it is a mistake if the score
        of the right label is not above that of another by more than its cost. With two labels the
        scores are a and -a: a mistake is 2 y a <= cost.
    patience
        With a validation set: passes without a better score before training stops.

    Attributes
    ----------
    converged_
        Whether the last pass made no mistake.
    history_
        A `Pass` for each pass.
    mistakes_
        Every update: see `Mistakes`, and `trajectory`.
    """

    ties_are_mistakes: bool = True
    until_converged: bool = True
    step: float = 1.0
    cost: Any = None
    patience: int = 5

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        classes: Any = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Learn from labelled vectors.

        Parameters
        ----------
        X
            Array (n, d), scipy sparse matrix, or n feature dicts; see
            `seqtag.classifiers.vectors.read`.
        y
            (n,) labels of any one sortable type.
        classes
            The labels there are, if y need not show them all; by default those of y.
        validation
            ``(X, y)`` to score after each pass: the weights of the best pass are kept (the first
            among equals), and training stops after `patience` passes without a better one.

        Raises
        ------
        SeqtagError
            If X or a parameter is unusable, or X and y differ in length.
        LabelError
            If there is one label only, there are too many, or y or validation has others.
        """
        x, ids = self._begin(X, y, classes)
        held_out = None if validation is None else self._read_labelled(*validation)
        self._learn(x, ids, held_out)
        return self

    def trajectory(self, X: Any) -> np.ndarray:
        """Every weight vector of the training run, rebuilt from its mistakes.

        Parameters
        ----------
        X
            The X that was given to fit.

        Returns
        -------
        array
            (M + 1, d) for two labels, else (M + 1, K, d): zero, then w after each of the M
            updates, bit for bit; with the bias as last feature if there is one. Memory:
            M + 1 dense weight vectors.

        Raises
        ------
        SeqtagError
            If there was no fit, or X is not like X in fit.
        """
        vectors = self._read(X)
        return _trajectory(vectors, self.mistakes_, len(self.classes_), self.step)

    # ----------------------------------------------------------------- for the members
    @abstractmethod
    def _learn(
        self, x: Vectors, y: np.ndarray, held_out: tuple[Vectors, np.ndarray] | None
    ) -> None:
        """Run the trainer and read out."""

    def _run(
        self,
        x: Vectors,
        y: np.ndarray,
        K: int,
        average: bool = False,
        held_out: tuple[Vectors, np.ndarray] | None = None,
        read_out: Callable[[Mistakes, int], None] | None = None,
    ) -> Run:
        """Passes of the one trainer; `read_out` is told of mistakes and examples seen to judge."""
        instances, n = x.instances(), x.size
        judged, gold = held_out or (x, y)
        seed = seed_of(self.random_state)
        log: list[EpochMistakes] = []
        orders: list[np.ndarray] = []
        history: list[Pass] = []

        def order(number: int) -> np.ndarray:
            fixed = np.arange(n, dtype=np.int64)
            orders.append(visiting_order(n, seed, 1, number) if self.shuffle else fixed)
            return orders[-1]

        def judge(cells: Cells, number: int) -> Verdict:
            self._weights = _rows(cells, K)
            if read_out is not None:
                read_out(_gather(log, orders, y), number * n)
            return Verdict((self._decide(self._scores(judged)) == gold).mean())

        kept = learn(
            backend.Weights(Layout(x.width, K, 0), "float64", "perceptron"),
            lambda _: instances,
            y,
            order,
            Recipe(
                epochs=self.max_iter,
                step=self.step,
                cost=self._cost(K),
                ties_are_mistakes=self.ties_are_mistakes,
                average=average,
                until_right=self.until_converged,
                patience=self.patience,
            ),
            judge=judge if held_out is not None else None,
            out_mistakes=log,
            on_epoch=lambda done: history.append(
                Pass(done.updates, done.verdict and float(done.verdict.score))
            ),
        )
        if kept.interrupted:
            raise KeyboardInterrupt
        mistakes = _gather(log, orders, y)
        rows = _rows(kept.cells, K)
        return Run(rows, mistakes, kept.epoch * n, tuple(history), kept.converged)

    def _report(self, run: Run) -> None:
        """Set the attributes that tell how training went."""
        self._weights = run.weights
        self.mistakes_ = run.mistakes
        self.history_ = run.history
        self.converged_ = run.converged
        self.n_iter_ = len(run.history)
        self.n_updates_ = len(run.mistakes.example)

    def _cost(self, K: int) -> np.ndarray | None:
        """The costs, checked."""
        if self.cost is None:
            return None
        cost = np.asarray(self.cost, np.float64)
        if cost.shape != (K, K) or not np.isfinite(cost).all() or cost.diagonal().any():
            msg = (
                f"expected cost as finite numbers of shape ({K}, {K}) with zeros for what is "
                f"right, found shape {cost.shape}; rows are gold labels, columns decoded ones"
            )
            raise SeqtagError(msg)
        return np.ascontiguousarray(cost)

    def _check_params(self) -> None:
        if not (self.step > 0 and self.max_iter >= 1 and self.patience >= 1):
            msg = (
                f"expected step > 0, max_iter >= 1, patience >= 1; found {self.step!r}, "
                f"{self.max_iter!r}, {self.patience!r}"
            )
            raise SeqtagError(msg)


# --------------------------------------------------------------------------- private
def _classes(labels: np.ndarray, named: Any) -> tuple[np.ndarray, np.ndarray]:
    """The labels there are, ascending, and the number of each example's."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        msg = "expected labels, found NaN or infinity among them; label every vector"
        raise LabelError(msg)
    try:
        classes = np.unique(labels if named is None else np.asarray(named))
    except TypeError as error:
        msg = f"expected labels of one type, found a mixture ({error})"
        raise LabelError(msg) from error
    unnamed = _missing(labels, classes)
    if unnamed:
        msg = (
            f"expected labels that classes names ({_shown(classes)}), found {_shown(unnamed)}; "
            "name them too"
        )
        raise LabelError(msg)
    if len(classes) < 2:
        msg = (
            f"expected at least two labels to tell apart, found one ({_shown(classes)}); "
            "add examples of another, or name both as classes=..."
        )
        raise LabelError(msg)
    return classes, np.searchsorted(classes, labels)


def _missing(labels: np.ndarray, classes: np.ndarray) -> list[Any]:
    """The distinct labels that are no classes, in order of appearance."""
    known = set(classes.tolist())
    return [label for label in dict.fromkeys(labels.ravel().tolist()) if label not in known]


def _shown(labels: Sequence[Any] | np.ndarray) -> str:
    """The first few labels."""
    return ", ".join(str(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")


def _rows(cells: Cells, K: int) -> np.ndarray:
    """Dense rows (K, d)."""
    d = len(cells.row_ptr) - 1
    rows = np.zeros((K, d))
    rows[cells.label, np.repeat(np.arange(d), np.diff(cells.row_ptr))] = cells.weight
    return rows


def _gather(log: Sequence[EpochMistakes], orders: Sequence[np.ndarray], y: np.ndarray) -> Mistakes:
    """The mistakes of all passes, with examples by their own numbers."""
    n = len(y)
    example = np.concatenate([order[m.position] for m, order in zip(log, orders, strict=True)])
    seen = np.concatenate([m.position + i * n for i, m in enumerate(log)])
    decoded = np.concatenate([m.y_hat for m in log])
    return Mistakes(example, seen, y[example].astype(np.int64), decoded.astype(np.int64))


def _trajectory(x: Vectors, mistakes: Mistakes, K: int, step: float) -> np.ndarray:
    """All weight vectors: cumulative sums of the changes."""
    wrong = step * x.take(mistakes.example).dense()  # (M, d)
    M, d = wrong.shape
    each = np.arange(M)
    changes = np.zeros((M + 1, K, d))
    changes[1 + each, mistakes.gold] += wrong
    changes[1 + each, mistakes.decoded] -= wrong
    w = np.cumsum(changes, axis=0)
    return w[:, 1] if K == 2 else w
