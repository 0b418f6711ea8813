"""The perceptron family as degenerate cases of the structured perceptron.

A vector is a sequence of length 1 without label features, so the score of label k is
``w_k . x``, the decoder is the argmax over k, and the one update ``w += step * (phi(x, y) -
phi(x, y_hat))`` adds x to the row of y and takes it from the row of y_hat.  The classes below
configure the trainer and read its weights; none of them visits examples.

K = 2: rows that start at zero are each other's negatives, -w of label -1 and w of label +1, which
moves by ``y x`` at each mistake: exactly Rosenblatt's w (1958).  (In one vector: phi(x, y) =
y x / 2 gives phi(x, y) - phi(x, -y) = y x.)

Ties: among equal scores the decoder takes the first label in ``classes_``, for every K.  So of two
labels, ``classes_[0]`` is -1 and ``classes_[1]`` is +1, and sign(0) = -1.  A book with sign(0) = +1
orders its two labels differently: swap them.  With ``ties_are_mistakes=True``, the default, a tie
is a mistake in training, whatever is predicted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqtag.classifiers.base import EpochResult, Perceptron, Run, UpdateLog
from seqtag.classifiers.vectors import Vectors, read
from seqtag.errors import SeqtagError

__all__ = [
    "BinaryPerceptron",
    "EpochResult",
    "MulticlassPerceptron",
    "UpdateLog",
    "VotedPerceptron",
    "Voters",
    "joint_features",
]


@dataclass(kw_only=True, eq=False, repr=False)
class BinaryPerceptron(Perceptron):
    """Rosenblatt's perceptron: ``sign(w . x + b)``, and w <- w + step y x at each mistake.

    Parameters
    ----------
    average
        Use the mean of w after each example (Collins 2002) instead of the last w. With c examples
        visited, CIML's algorithm 7 divides by c + 1, because it counts the zero vector that
        training starts from: this scales w by c / (c + 1), and predictions are the same. It also
        runs all epochs: ``until_converged=False``.
    **others
        Those of `seqtag.classifiers.Perceptron` and `seqtag.classifiers.LinearClassifier`, which
        also list the attributes.

    Notes
    -----
    Rosenblatt (1958), The perceptron; Novikoff (1962), On convergence proofs on perceptrons;
    Daume, A Course in Machine Learning (CIML), chapter 4.

    Examples
    --------
    Two points, both labeled -1, and one epoch:

    >>> X, y = [[2, 4], [-6, 1]], [-1, -1]
    >>> model = BinaryPerceptron(fit_intercept=False, shuffle=False, max_iter=1)
    >>> model.fit(X, y, classes=[-1, 1]).trajectory(X)
    array([[ 0.,  0.],
           [-2., -4.],
           [ 4., -5.]])
    """

    average: bool = False

    def _learn(
        self,
        x: Vectors,
        y: np.ndarray,
        held_out: tuple[Vectors, np.ndarray] | None,
        before: tuple[Run, ...] | None,
    ) -> None:
        self._report(self._run(x, y, 2, self.average, held_out, before))


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassPerceptron(Perceptron):
    """One weight vector per label: ``argmax_k w_k . x``; a mistake moves x from w_y_hat to w_y.

    In one vector: with phi(x, k) the vector (K d,) that has x in block k and zeros elsewhere
    (`joint_features`), and `joint_weights_` the concatenated rows, the score of k is
    w . phi(x, k) and the update w += phi(x, y) - phi(x, y_hat).

    Parameters
    ----------
    one_vs_all
        For comparison: K binary perceptrons, each for one label against the others. Then
        `converged_`, `n_iter_` and `n_updates_` are conjunction, maximum and sum over them, and
        `mistakes_` and `history_` do not exist.
    average, **others
        As in `BinaryPerceptron`.

    Examples
    --------
    >>> model = MulticlassPerceptron().fit([[1, 0], [0, 1], [-1, -1]], ["a", "b", "c"])
    >>> model.predict([[2, 0], [0, 3]]).tolist(), model.converged_
    (['a', 'b'], True)
    """

    one_vs_all: bool = False
    average: bool = False

    _two_labels_only = False

    @property
    def joint_weights_(self) -> np.ndarray:
        """Concatenated rows of all labels, bias included: (K d,), as in `joint_features`."""
        self._row()
        return self._weights.ravel()

    def _learn(
        self,
        x: Vectors,
        y: np.ndarray,
        held_out: tuple[Vectors, np.ndarray] | None,
        before: tuple[Run, ...] | None,
    ) -> None:
        K = len(self.classes_)
        if not self.one_vs_all or K == 2:
            self._report(self._run(x, y, K, self.average, held_out, before))
            return
        if held_out is not None or self.cost is not None:
            msg = "expected no validation set and no cost with one_vs_all=True, found one"
            raise SeqtagError(msg)
        runs = [
            self._run(
                x, (y == k).astype(np.int32), 2, self.average, None, before and before[k : k + 1]
            )
            for k in range(K)
        ]
        self._runs = tuple(runs)
        self._weights = np.stack([run.weights[1] for run in runs])
        for name in ("mistakes_", "history_"):  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        self.converged_ = all(run.converged for run in runs)
        self.n_iter_ = max(len(run.history) for run in runs)
        self.n_updates_ = sum(len(run.mistakes.example) for run in runs)

    def trajectory(self, X: Any) -> np.ndarray:
        """Return every weight vector of the training run; see `BinaryPerceptron.trajectory`."""
        if self.one_vs_all and len(getattr(self, "classes_", ())) > 2:
            msg = "expected one_vs_all=False for a trajectory, found K separate runs"
            raise SeqtagError(msg)
        return super().trajectory(X)


@dataclass(kw_only=True, eq=False, repr=False)
class VotedPerceptron(Perceptron):
    """Vote of all w of a training run on sign(w . x), weighted by the examples they survived.

    With w_m the weights after update m and c_m the number of examples after which they were the
    current ones (the one that made them included, as in Freund and Schapire 1999, Large margin
    classification using the perceptron algorithm, figure 1), the decision is the sign of ``sum_m
    c_m sign(w_m . x)``. The plain mean ``sum_m c_m w_m / sum_m c_m`` is `BinaryPerceptron` with
    ``average=True``. The zero vector that training starts from has the examples before the first
    mistake; it votes sign(0) = -1.

    Memory: the vectors of the M updates (not M weight vectors, which are rebuilt in batches to
    vote). Time: O(M d) per vector.

    Parameters
    ----------
    **all
        As in `BinaryPerceptron`.

    Attributes
    ----------
    survival_
        (M + 1,) examples that each w survived; their sum is the number of examples visited.
    coef_, intercept_
        The last w.

    Examples
    --------
    >>> X, y = [[1, 1], [0, 1], [-1, -1]], ["yes", "no", "no"]
    >>> model = VotedPerceptron(shuffle=False).fit(X, y)
    >>> model.predict(X).tolist(), model.n_updates_ + 1 == len(model.survival_)
    (['yes', 'no', 'no'], True)
    """

    _voters: Voters = field(init=False)

    def _learn(
        self,
        x: Vectors,
        y: np.ndarray,
        held_out: tuple[Vectors, np.ndarray] | None,
        before: tuple[Run, ...] | None,
    ) -> None:
        past = before[0] if before else None
        given = past.given if past else 0
        wrong = self._voters.vectors.widened(x.width, self.fit_intercept) if past else None

        def read_out(mistakes: UpdateLog, seen: int) -> None:
            made = int(np.searchsorted(mistakes.seen, seen))
            new = x.take(mistakes.example[wrong.size if wrong else 0 : made] - given)
            vectors = wrong.followed_by(new) if wrong else new
            self._voters = Voters(vectors, mistakes, seen, self.step)

        run = self._run(x, y, 2, False, held_out, before, read_out)
        read_out(run.mistakes, run.kept)
        self._report(run)

    @property
    def survival_(self) -> np.ndarray:
        """Examples that each w survived, (M + 1,)."""
        return self._voters.survival

    def _scores(self, x: Vectors) -> np.ndarray:
        return self._voters(x)


class Voters:
    """Weight vectors of a run up to a number of visited examples, stored as updates.

    Attributes
    ----------
    vectors
        The M examples of the updates until then.
    survival
        (M + 1,) int64 examples that each w survived.
    """

    BATCH = 256  # weight vectors at a time

    def __init__(self, vectors: Vectors, mistakes: UpdateLog, seen: int, step: float):
        made = vectors.size
        self.vectors = vectors
        self._change = step * (2.0 * mistakes.gold[:made] - 1)  # step y
        self.survival = np.diff(mistakes.seen[:made], prepend=0, append=seen)

    def __call__(self, x: Vectors) -> np.ndarray:
        """Return the weighted mean of the votes, (n,) from -1 to +1."""
        votes = np.full(x.size, -float(self.survival[0]))  # sign(0) = -1
        w = np.zeros((1, x.width))
        for first in range(0, len(self._change), self.BATCH):
            batch = np.arange(first, min(first + self.BATCH, len(self._change)))
            moves = self.vectors.take(batch).dense() * self._change[batch, None]
            w = np.cumsum(np.concatenate([w[-1:], moves]), axis=0)
            signs = np.where(x.dot(w[1:]) > 0, 1.0, -1.0)
            votes += signs @ self.survival[1 + batch]
        return np.asarray(votes / self.survival.sum())


def joint_features(X: Any, labels: int) -> np.ndarray:
    """Return phi(x, k) of every vector and label: x in block k, zeros elsewhere.

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
