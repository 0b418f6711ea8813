"""What the members of the perceptron family share: parameters, checks, passes of the one trainer.

The algebra that makes them one algorithm is in `seqtag.classifiers.perceptrons`.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from seqtag.classifiers.feature_maps import apply_map
from seqtag.classifiers.vectors import Reader, Vectors, check_length, read
from seqtag.engine import backend
from seqtag.engine.arrays import Cells, Layout
from seqtag.engine.arrays import Mistakes as EpochMistakes
from seqtag.engine.epochs import Recipe, Verdict, learn
from seqtag.errors import LabelError, SeqtagError
from seqtag.randomness import random_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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


class LinearClassifier:
    """Parameters, checks and the passes: what the members of the family have in common."""

    _estimator_type: ClassVar[str] = "classifier"
    ties_are_mistakes: bool
    average: bool
    step: float
    max_iter: int
    shuffle: bool
    random_state: Any
    fit_intercept: bool
    feature_map: str | Callable[[Any], Any] | None
    cost: Any
    patience: int
    history_: tuple[Any, ...]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as scikit-learn's tools expect."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Any:
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
            classifier_tags=utils.ClassifierTags(),
            input_tags=utils.InputTags(sparse=True),
        )

    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> Any:
        """Learn from labelled vectors.

        Parameters
        ----------
        X
            Array (n, d), scipy sparse matrix, or n feature dicts; see `seqtag.classifiers.vectors.read`.
        y
            (n,) labels of any one sortable type.
        validation
            ``(X, y)`` to score after each pass: the weights of the best pass are kept (the first
            among equals), and training stops after `patience` passes without a better one.

        Raises
        ------
        SeqtagError
            If X or a parameter is unusable, or X and y differ in length.
        LabelError
            If y has one label only, too many, or validation has others.
        """
        self._check_params()
        vectors, self._reader = read(apply_map(self.feature_map, X))
        labels = np.asarray(y)
        check_length(vectors, labels)
        self.classes_, ids = _classes(labels)
        self._check_classes()
        self.n_features_in_ = vectors.width
        vectors = self._with_bias(vectors)
        held_out = None
        if validation is not None:
            held_out = self._read(validation[0]), self._ids(validation[1])
            check_length(*held_out)
        self._learn(vectors, ids.astype(np.int32), held_out)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Labels (n,) of vectors; ties go as in training.

        Raises
        ------
        SeqtagError
            If there was no fit, or X is not like X in fit.
        """
        decided = self._decide(self._scores(self._read(X)))
        return self.classes_[decided]

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
        vectors = self._read(X)
        ids = self._ids(y)
        check_length(vectors, ids)
        if not len(ids):
            msg = "expected at least one vector to score, found none"
            raise SeqtagError(msg)
        return float((self._decide(self._scores(vectors)) == ids).mean())

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

    # ----------------------------------------------------------------- what subclasses set
    def _check_classes(self) -> None:
        """Raise if the labels are too many."""

    def _learn(
        self, x: Vectors, y: np.ndarray, held_out: tuple[Vectors, np.ndarray] | None
    ) -> None:
        """Run the trainer and read out."""
        run = self._run(x, y, held_out, last)
        self._report(run, run.weights)

    def _scores(self, x: Vectors) -> np.ndarray:
        """Scores of vectors by the weights that were read out."""
        scores = x.dot(self._weights)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    # ----------------------------------------------------------------- shared
    def _run(
        self,
        x: Vectors,
        y: np.ndarray,
        held_out: tuple[Vectors, np.ndarray] | None,
        read_out: Callable[[np.ndarray, Mistakes, int], np.ndarray],
    ) -> Run:
        """Passes of the one trainer, until one makes no mistake or the validation set says stop."""
        K = int(y.max()) + 1
        names = [1, 0] if K == 2 else list(range(K))  # +1 comes first: ties go there
        instances, n = x.instances(), x.size
        gold = np.asarray(names, np.int32)[y]
        random = random_source(self.random_state)
        log: list[EpochMistakes] = []
        orders: list[np.ndarray] = []
        history: list[Pass] = []

        def order(_: int) -> np.ndarray:
            orders.append(
                (random.permutation(n) if self.shuffle else np.arange(n)).astype(np.int64)
            )
            return orders[-1]

        def judge(cells: Cells, number: int) -> Verdict:
            rows = _rows(cells, K, names)
            self._weights = read_out(rows, _gather(log, orders, y, names), number * n)
            return Verdict((self._decide(self._scores(held_out[0])) == held_out[1]).mean())

        kept = learn(
            backend.Weights(Layout(x.width, K, 0), "float64", "perceptron"),
            lambda _: instances,
            gold,
            order,
            Recipe(
                epochs=self.max_iter,
                step=self.step,
                cost=self._cost(K, names),
                ties_are_mistakes=self.ties_are_mistakes,
                average=self.average,
                until_right=True,
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
        mistakes = _gather(log, orders, y, names)
        rows = _rows(kept.cells, K, names)
        return Run(rows, mistakes, kept.epoch * n, tuple(history), kept.converged)

    def _report(self, run: Run, weights: Any) -> None:
        """Set the attributes that tell how training went."""
        self._weights = weights
        self.mistakes_ = run.mistakes
        self.history_ = run.history
        self.converged_ = run.converged
        self.n_iter_ = len(run.history)
        self.n_updates_ = len(run.mistakes.example)

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Numbers of labels, ties as in the decoder: sign(0) = +1, else the lowest."""
        if scores.ndim == 1:
            return (scores >= 0).astype(np.int64)
        return scores.argmax(axis=1)

    def _cost(self, K: int, names: Sequence[int]) -> np.ndarray | None:
        """Costs in the order of the trainer's labels."""
        if self.cost is None:
            return None
        cost = np.asarray(self.cost, np.float64)
        if cost.shape != (K, K) or not np.isfinite(cost).all() or cost.diagonal().any():
            msg = (
                f"expected cost as finite numbers of shape ({K}, {K}) with zeros for what is "
                f"right, found shape {cost.shape}; rows are gold labels, columns decoded ones"
            )
            raise SeqtagError(msg)
        scale = 2 if K == 2 else 1  # the scores of two rows differ by 2 w . x
        return np.ascontiguousarray(scale * cost[np.ix_(names, names)])

    def _check_params(self) -> None:
        """Raise if a parameter cannot be used."""
        if not (self.step > 0 and self.max_iter >= 1 and self.patience >= 1):
            msg = (
                f"expected step > 0, max_iter >= 1, patience >= 1; found {self.step!r}, "
                f"{self.max_iter!r}, {self.patience!r}"
            )
            raise SeqtagError(msg)

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

    def _ids(self, y: Any) -> np.ndarray:
        """Labels as numbers in ``classes_``."""
        labels = np.asarray(y)
        unseen = [
            label for label in dict.fromkeys(labels.ravel().tolist()) if label not in self.classes_
        ]
        if unseen:
            msg = (
                f"expected labels seen in training ({shown(self.classes_)}), found "
                f"{shown(unseen)}; "
                "leave such examples out, or compare with predict(X) to count them as wrong"
            )
            raise LabelError(msg)
        return np.searchsorted(self.classes_, labels)

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

    def _row(self) -> np.ndarray:
        if not hasattr(self, "_weights"):
            msg = f"{type(self).__name__} has no weights yet; call fit(X, y) first"
            raise AttributeError(msg)
        return self._weights[1:] if len(self.classes_) == 2 else self._weights


# --------------------------------------------------------------------------- private
def _classes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, and the number of each example's."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        msg = "expected labels, found NaN or infinity among them; label every vector"
        raise LabelError(msg)
    try:
        classes, ids = np.unique(labels, return_inverse=True)
    except TypeError as error:
        msg = f"expected labels of one type, found a mixture ({error})"
        raise LabelError(msg) from error
    if len(classes) < 2:
        msg = (
            f"expected at least two labels to tell apart, found one ({shown(classes)}); "
            "add examples of another"
        )
        raise LabelError(msg)
    return classes, ids


def last(rows: np.ndarray, mistakes: Mistakes, seen: int) -> np.ndarray:
    """Read out the weights themselves, averaged or not."""
    return rows


def shown(labels: Sequence[Any] | np.ndarray) -> str:
    """The first few labels."""
    return ", ".join(str(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")


def _rows(cells: Cells, K: int, names: Sequence[int]) -> np.ndarray:
    """Dense rows (K, d) in the order of the classes."""
    d = len(cells.row_ptr) - 1
    rows = np.zeros((K, d))
    rows[cells.label, np.repeat(np.arange(d), np.diff(cells.row_ptr))] = cells.weight
    return rows[names]


def _gather(
    log: Sequence[EpochMistakes], orders: Sequence[np.ndarray], y: np.ndarray, names: Sequence[int]
) -> Mistakes:
    """The mistakes of all passes, with examples and labels by their own numbers."""
    n = len(y)
    example = np.concatenate([order[m.position] for m, order in zip(log, orders, strict=True)])
    seen = np.concatenate([m.position + i * n for i, m in enumerate(log)])
    decoded = np.asarray(names)[np.concatenate([m.y_hat for m in log])]
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
