"""The perceptron family as degenerate cases of the structured perceptron.

A vector is a sequence of length 1 without label features, so the score of label k is
``w_k . x``, the decoder is the argmax over k, and the one update ``w += step * (phi(x, y) -
phi(x, y_hat))`` adds x to the row of y and takes it from the row of y_hat.  The classes below set
the trainer up and read its weights out; no one of them visits examples.

K = 2: rows that start at zero are each other's negatives, w and -w.  The row of +1 moves by ``y x``
at each mistake: exactly Rosenblatt's w (1958), and ``sign(w . x)``, with sign(0) = +1, is the
argmax, for +1 is the lower label id and ties go there.  (In one vector: phi(x, y) = y x / 2 gives
phi(x, y) - phi(x, -y) = y x.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seqtag.classifiers.base import LinearClassifier, Mistakes, Pass, last, shown
from seqtag.classifiers.vectors import Vectors, read
from seqtag.errors import LabelError, SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BinaryPerceptron",
    "Mistakes",
    "MulticlassPerceptron",
    "Pass",
    "VotedPerceptron",
    "Voters",
    "joint_features",
]


class BinaryPerceptron(LinearClassifier):
    """Rosenblatt's perceptron: ``sign(w . x + b)``, and w <- w + step y x at each mistake.

    Parameters
    ----------
    ties_are_mistakes
        True: update whenever y a <= 0 (a point on the boundary is a mistake; CIML, algorithm 5).
        False: update when sign(a) is wrong, with sign(0) = +1.
    average
        Read out the mean of w after each example (Collins 2002) instead of the last w. With
        c examples seen, CIML's algorithm 7 divides by c + 1, for it counts the zero vector that
        training starts from: that scales w by c / (c + 1), and decides alike.
    step
        Factor of the update. From zero weights it scales w, and changes no decision.
    max_iter
        Most passes over the data. A pass without mistakes is the last: `converged_`.
    shuffle, random_state
        Visit the data in a new random order each pass, drawn from this seed (an int, a numpy
        generator, or None for fresh entropy).
    fit_intercept
        Learn a bias: a feature that is always 1.
    feature_map
        ``"product"``, ``"quadratic"``, or a function from X to X; see `seqtag.classifiers.vectors`.
    cost
        (2, 2) cost of deciding one label (column) for another (row), in the order of ``classes_``.
        Decoding is loss-augmented while training: a mistake is y a <= cost. (Without
        `ties_are_mistakes` y a < cost, but a tie still goes to +1.)
    patience
        With a validation set: passes without a better score before training stops.

    Attributes
    ----------
    classes_
        (2,) labels, ascending; ``classes_[1]`` is +1.
    coef_, intercept_
        (1, d), (1,).
    converged_, n_iter_, n_updates_
        Whether a pass made no mistake; passes and updates made.
    history_
        A `Pass` for each pass.
    mistakes_
        Every update: see `Mistakes`, and `trajectory`.

    Notes
    -----
    Rosenblatt (1958), The perceptron; Novikoff (1962), On convergence proofs on perceptrons;
    Daume, A Course in Machine Learning (CIML), chapter 4.

    Examples
    --------
    >>> model = BinaryPerceptron(fit_intercept=False, shuffle=False, max_iter=1)
    >>> model.fit([[2, 4], [-6, 1], [1, 1]], [-1, -1, 1]).trajectory([[2, 4], [-6, 1], [1, 1]])
    array([[ 0.,  0.],
           [-2., -4.],
           [ 4., -5.],
           [ 5., -4.]])
    """

    def __init__(
        self,
        *,
        ties_are_mistakes: bool = True,
        average: bool = False,
        step: float = 1.0,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: Any = 0,
        fit_intercept: bool = True,
        feature_map: str | Callable[[Any], Any] | None = None,
        cost: Any = None,
        patience: int = 5,
    ):
        self.ties_are_mistakes = ties_are_mistakes
        self.average = average
        self.step = step
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.feature_map = feature_map
        self.cost = cost
        self.patience = patience

    def _check_classes(self) -> None:
        if len(self.classes_) > 2:
            msg = (
                f"expected two labels, found {len(self.classes_)} ({shown(self.classes_)}); "
                "use MulticlassPerceptron"
            )
            raise LabelError(msg)


class MulticlassPerceptron(LinearClassifier):
    """One weight vector per label: ``argmax_k w_k . x``; a mistake moves x from w_y_hat to w_y.

    In one vector: with phi(x, k) the vector (K d,) that holds x in the block of k and zeros
    elsewhere (`joint_features`), and `joint_weights_` the rows end to end, the score of k is
    w . phi(x, k) and the update w += phi(x, y) - phi(x, y_hat).

    Parameters
    ----------
    one_vs_all
        For comparison: K binary perceptrons, each of one label against the others.
    ties_are_mistakes
        True: update unless y alone has the best score. False: update unless y is the best label,
        the lowest in ``classes_`` among equals.
    average, step, max_iter, shuffle, random_state, fit_intercept, feature_map, patience
        As in `BinaryPerceptron`.
    cost
        (K, K) cost of deciding one label (column) for another (row), in the order of ``classes_``.

    Attributes
    ----------
    coef_, intercept_
        (K, d), (K,); for two labels (1, d), (1,) of ``classes_[1]``, as in scikit-learn.
    classes_, converged_, n_iter_, n_updates_, history_, mistakes_
        As in `BinaryPerceptron`; with `one_vs_all`, sums and maxima over the K perceptrons, and no
        `mistakes_` and `history_`.

    Examples
    --------
    >>> model = MulticlassPerceptron().fit([[1, 0], [0, 1], [-1, -1]], ["a", "b", "c"])
    >>> model.predict([[2, 0], [0, 3]]).tolist(), model.converged_
    (['a', 'b'], True)
    """

    def __init__(
        self,
        *,
        one_vs_all: bool = False,
        ties_are_mistakes: bool = True,
        average: bool = False,
        step: float = 1.0,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: Any = 0,
        fit_intercept: bool = True,
        feature_map: str | Callable[[Any], Any] | None = None,
        cost: Any = None,
        patience: int = 5,
    ):
        self.one_vs_all = one_vs_all
        self.ties_are_mistakes = ties_are_mistakes
        self.average = average
        self.step = step
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.feature_map = feature_map
        self.cost = cost
        self.patience = patience

    @property
    def joint_weights_(self) -> np.ndarray:
        """The rows of all labels, bias included, end to end: (K d,) as `joint_features` has it."""
        self._row()
        return self._weights.ravel()

    def _learn(
        self, x: Vectors, y: np.ndarray, held_out: tuple[Vectors, np.ndarray] | None
    ) -> None:
        K = len(self.classes_)
        if not self.one_vs_all or K == 2:
            return super()._learn(x, y, held_out)
        if held_out is not None or self.cost is not None:
            msg = "expected no validation set and no cost with one_vs_all=True, found one"
            raise SeqtagError(msg)
        runs = [self._run(x, (y == k).astype(np.int32), None, last) for k in range(K)]
        self._weights = np.stack([run.weights[1] for run in runs])
        for name in ("mistakes_", "history_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self.converged_ = all(run.converged for run in runs)
        self.n_iter_ = max(len(run.history) for run in runs)
        self.n_updates_ = sum(len(run.mistakes.example) for run in runs)
        return None

    def trajectory(self, X: Any) -> np.ndarray:
        """Every weight vector of the training run; see `BinaryPerceptron.trajectory`."""
        if self.one_vs_all and len(getattr(self, "classes_", ())) > 2:
            msg = "expected one_vs_all=False for a trajectory, found K separate runs"
            raise SeqtagError(msg)
        return super().trajectory(X)


class VotedPerceptron(BinaryPerceptron):
    """Each w of a training run votes sign(w . x), as often as it survived examples.

    With w_m the weights after update m and c_m the number of examples after which they were the
    current ones (the one that made them included, as in Freund and Schapire 1999, Large margin
    classification using the perceptron algorithm, figure 1), the decision is the sign of ``sum_m
    c_m sign(w_m . x)``, a tie being +1. The plain mean ``sum_m c_m w_m / sum_m c_m`` is
    `BinaryPerceptron` with ``average=True``. The zero vector that training starts from has the
    examples before the first mistake; it votes +1 as sign(0) does.

    Memory: the M mistaken vectors (not M weight vectors, which are rebuilt in blocks to vote);
    time: O(M d) per vector.

    Parameters
    ----------
    ties_are_mistakes, step, max_iter, shuffle, random_state, fit_intercept, feature_map
        As in `BinaryPerceptron`.
    cost, patience
        As in `BinaryPerceptron`.

    Attributes
    ----------
    survival_
        (M + 1,) examples that each w survived; their sum is the number of examples seen.
    coef_, intercept_
        The last w.

    Examples
    --------
    >>> X, y = [[1, 1], [0, 1], [-1, -1]], ["yes", "no", "no"]
    >>> model = VotedPerceptron(shuffle=False).fit(X, y)
    >>> model.predict(X).tolist(), model.n_updates_ + 1 == len(model.survival_)
    (['yes', 'no', 'no'], True)
    """

    def __init__(
        self,
        *,
        ties_are_mistakes: bool = True,
        step: float = 1.0,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: Any = 0,
        fit_intercept: bool = True,
        feature_map: str | Callable[[Any], Any] | None = None,
        cost: Any = None,
        patience: int = 5,
    ):
        super().__init__(
            ties_are_mistakes=ties_are_mistakes,
            step=step,
            max_iter=max_iter,
            shuffle=shuffle,
            random_state=random_state,
            fit_intercept=fit_intercept,
            feature_map=feature_map,
            cost=cost,
            patience=patience,
        )

    def _learn(
        self, x: Vectors, y: np.ndarray, held_out: tuple[Vectors, np.ndarray] | None
    ) -> None:
        def read_out(rows: np.ndarray, mistakes: Mistakes, seen: int) -> np.ndarray:
            self._voters = Voters(x, mistakes, seen, self.step)
            return rows

        run = self._run(x, y, held_out, read_out)
        self._voters = Voters(x, run.mistakes, run.kept, self.step)
        self._report(run, run.weights)

    @property
    def survival_(self) -> np.ndarray:
        """Examples that each w survived, (M + 1,)."""
        return self._voters.survival

    def _scores(self, x: Vectors) -> np.ndarray:
        return self._voters(x)


class Voters:
    """The weight vectors of a run up to a number of examples seen, kept as mistakes.

    Attributes
    ----------
    survival
        (M + 1,) int64 examples each of them survived.
    """

    BLOCK = 256  # weight vectors at a time

    def __init__(self, x: Vectors, mistakes: Mistakes, seen: int, step: float):
        made = int(np.searchsorted(mistakes.seen, seen))
        self._vectors = x.take(mistakes.example[:made])
        self._change = step * (2.0 * mistakes.gold[:made] - 1)  # step y
        self.survival = np.diff(mistakes.seen[:made], prepend=0, append=seen)

    def __call__(self, x: Vectors) -> np.ndarray:
        """Weighted mean of the votes, (n,) from -1 to +1."""
        votes = np.full(x.size, float(self.survival[0]))  # sign(0) = +1
        w = np.zeros((1, x.width))
        for first in range(0, len(self._change), self.BLOCK):
            block = np.arange(first, min(first + self.BLOCK, len(self._change)))
            moves = self._vectors.take(block).dense() * self._change[block, None]
            w = np.cumsum(np.concatenate([w[-1:], moves]), axis=0)
            signs = np.where(x.dot(w[1:]) >= 0, 1.0, -1.0)
            votes += signs @ self.survival[1 + block]
        return votes / self.survival.sum()


def joint_features(X: Any, labels: int) -> np.ndarray:
    """phi(x, k) of every vector and label: x in the block of k, zeros elsewhere.

    Returns
    -------
    array (n, K, K d) float64
        ``phi @ w`` is (n, K): the scores of all labels.

    Examples
    --------
    >>> joint_features([[2, 3]], 2)
    array([[[2., 3., 0., 0.],
            [0., 0., 2., 3.]]])
    """
    x = read(X)[0].dense()
    n, d = x.shape
    phi = np.zeros((n, labels, labels, d))
    each = np.arange(labels)
    phi[:, each, each] = x[:, None]
    return phi.reshape(n, labels, labels * d)
