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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.classifiers.linear import LinearClassifier
from seqtag.engine import backend
from seqtag.engine.arrays import Cells, Layout, Mistakes, State
from seqtag.engine.epochs import Recipe, learn
from seqtag.errors import SeqtagError
from seqtag.randomness import seed_of, visiting_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from seqtag.classifiers.vectors import Vectors

__all__ = [
    "BinaryPerceptron",
    "MulticlassPerceptron",
    "Perceptron",
    "UpdateLog",
    "VotedPerceptron",
    "Voters",
]


class UpdateLog(NamedTuple):
    """Updates of a training run, in order; they determine all weights.

    Attributes
    ----------
    example
        (M,) number of the example: a row of X.
    seen
        (M,) number of examples visited before it, over all epochs; its differences are the
        survival times.
    gold, decoded
        (M,) numbers of labels in ``classes_``.
    """

    example: np.ndarray
    seen: np.ndarray
    gold: np.ndarray
    decoded: np.ndarray


class Run(NamedTuple):
    """Result of a training run."""

    weights: np.ndarray  # (K, d)
    mistakes: UpdateLog
    seen: int  # examples visited
    history: tuple[int, ...]  # updates of each epoch
    converged: bool
    state: State  # to continue from
    given: int  # number of training vectors, each counted once


class _Data(NamedTuple):
    """Data of a training run; with `before`, visit once and continue the runs there, if any."""

    x: Vectors
    y: np.ndarray
    before: tuple[Run, ...] | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(LinearClassifier):
    """Perceptron trained by the tagger's trainer: a mistake moves x between two rows of weights.

    Parameters
    ----------
    ties_are_mistakes
        True: update unless the correct label alone has the best score (with two labels: if
        y a <= 0; CIML, algorithm 5). False: update unless the correct label is predicted.
    until_converged
        True: stop after an epoch without mistakes, as no later one would change w. False: always
        run `max_iter` epochs, as the textbooks do; then the final w, which makes no mistakes, has
        more weight in the mean and in the vote.
    step
        Factor of the update. From zero weights it scales w, and changes no prediction.
    cost
        (K, K) cost of predicting one label (column) where another is correct (row), in the order
        of ``classes_``. In training, decoding is loss-augmented: it is a mistake if the score of
        the correct label does not exceed that of another by more than its cost. With two labels
        the scores are a and -a: a mistake is 2 y a <= cost.

    Attributes
    ----------
    converged_
        Whether the last epoch made no mistake.
    history_
        Number of updates of each epoch.
    mistakes_
        All updates: see `UpdateLog` and `trajectory`. After `partial_fit`, the X of all calls
        count as one, in their order.
    """

    ties_are_mistakes: bool = True
    until_converged: bool = True
    step: float = 1.0
    cost: Any = None
    _runs: tuple[Run, ...] = field(init=False)

    def fit(self, X: Any, y: Any, *, classes: Any = None) -> Self:
        """Fit the weights to labeled vectors.

        Parameters
        ----------
        X
            Array (n, d), scipy sparse matrix, or n feature dicts; see
            `seqtag.classifiers.vectors.read`.
        y
            (n,) labels of any one sortable type.
        classes
            All labels, if some may be missing in y; by default those of y.

        Raises
        ------
        SeqtagError
            If X or a parameter is unusable, or X and y differ in length.
        LabelError
            If there is only one label, there are too many, or y has others.
        """
        x, ids = self._begin(X, y, classes)
        self._learn(_Data(x, ids))
        return self

    def _learn_more(self, x: Vectors, y: np.ndarray) -> None:
        self._learn(_Data(x, y, before=getattr(self, "_runs", ())))

    def trajectory(self, X: Any) -> np.ndarray:
        """Return every weight vector of the training run, rebuilt from its updates.

        Parameters
        ----------
        X
            The X of fit.

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
        vectors, updates, K = self._read(X), self.mistakes_, len(self.classes_)
        wrong = self.step * vectors.take(updates.example).dense()  # (M, d)
        M, d = wrong.shape
        each = np.arange(M)
        changes = np.zeros((M + 1, K, d))
        changes[1 + each, updates.gold] += wrong
        changes[1 + each, updates.decoded] -= wrong
        w = np.cumsum(changes, axis=0)
        return w[:, 1] if K == 2 else w

    # ----------------------------------------------------------------- for subclasses
    def _learn(self, data: _Data) -> None:
        """Run the trainer and set the weights."""
        self._report(self._run(data, len(self.classes_)))

    def _run(self, data: _Data, K: int) -> Run:
        """Run the trainer; of the runs before, it continues the first."""
        x, y, before = data
        cost = None if self.cost is None else np.array(self.cost, np.float64, order="C")
        if cost is not None and (
            cost.shape != (K, K) or not np.isfinite(cost).all() or cost.diagonal().any()
        ):
            msg = (
                f"expected cost as finite numbers of shape ({K}, {K}) with zeros on the "
                f"diagonal, found shape {cost.shape}; rows are gold labels, columns decoded ones"
            )
            raise SeqtagError(msg)
        instances, n = x.instances(), x.size
        seed = seed_of(self.random_state)
        past = before[0] if before else None
        log: list[Mistakes] = []
        visited: list[np.ndarray] = []
        history: list[int] = []

        def visits(number: int) -> np.ndarray:
            as_given = np.arange(n, dtype=np.int64)
            shuffled = self.shuffle and before is None
            visited.append(visiting_order(n, seed, 1, number) if shuffled else as_given)
            return visited[-1]

        def widened(cells: Cells) -> Cells:
            """Return cells with zero rows for new features; a bias stays the last row."""
            ptr = cells.row_ptr
            last = len(ptr) - 1 - self.fit_intercept
            more = np.full(x.width + 1 - len(ptr), ptr[last], np.int64)
            return cells._replace(row_ptr=np.concatenate([ptr[: last + 1], more, ptr[last + 1 :]]))

        start = past.state if past else None
        if start and start.u and start.g:
            start = State(widened(start.w), widened(start.u), widened(start.g), start.seen)
        weights = backend.Weights(Layout(x.width, K, 0), "float64", "perceptron", start)
        kept = learn(
            weights,
            lambda _: instances,
            y,
            visits,
            Recipe(
                epochs=self.max_iter if before is None else 1,
                step=self.step,
                cost=cost,
                ties_are_mistakes=self.ties_are_mistakes,
                average=getattr(self, "average", False),  # a parameter of some
                until_right=self.until_converged,
            ),
            out_mistakes=log,
            on_epoch=lambda done: history.append(done.updates),
        )
        made, rows, seen = _gather(log, visited, y), _rows(kept.cells, K), kept.epoch * n
        run = Run(rows, made, seen, tuple(history), kept.converged, weights.state(), n)
        if past is None:
            return run
        made = made._replace(example=made.example + past.given, seen=made.seen + past.seen)
        return run._replace(
            mistakes=UpdateLog(*map(np.concatenate, zip(past.mistakes, made, strict=True))),
            seen=past.seen + run.seen,
            history=past.history + run.history,
            given=past.given + run.given,
        )

    def _report(self, run: Run) -> None:
        """Set the attributes that describe the training run."""
        self._runs = (run,)
        self._weights = run.weights
        self.mistakes_ = run.mistakes
        self.history_ = run.history
        self.converged_ = run.converged
        self.n_iter_ = len(run.history)
        self.n_updates_ = len(run.mistakes.example)

    def _check_params(self) -> None:
        if not (self.step > 0 and self.max_iter >= 1):
            msg = f"expected step > 0, max_iter >= 1; found {self.step!r}, {self.max_iter!r}"
            raise SeqtagError(msg)


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


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassPerceptron(Perceptron):
    """One weight vector per label: ``argmax_k w_k . x``; a mistake moves x from w_y_hat to w_y.

    In one vector: with phi(x, k) the vector (K d,) that has x in block k and zeros elsewhere, and
    w the concatenated rows, the score of k is w . phi(x, k) and the update w += phi(x, y) -
    phi(x, y_hat).

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

    def _learn(self, data: _Data) -> None:
        K = len(self.classes_)
        if not self.one_vs_all or K == 2:
            super()._learn(data)
            return
        if self.cost is not None:
            msg = "expected no cost with one_vs_all=True, found one"
            raise SeqtagError(msg)
        runs = []
        for k in range(K):
            before = data.before and data.before[k : k + 1]
            one = data._replace(y=(data.y == k).astype(np.int32), before=before)
            runs.append(self._run(one, 2))
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

    def _learn(self, data: _Data) -> None:
        run, past = self._run(data, 2), data.before[0] if data.before else None
        if past:
            wrong = self._voters.vectors.widened(data.x.width, self.fit_intercept)
            new = run.mistakes.example[wrong.size :] - past.given
            vectors = wrong.followed_by(data.x.take(new))
        else:
            vectors = data.x.take(run.mistakes.example)
        self._voters = Voters(vectors, run, self.step)
        self._report(run)

    @property
    def survival_(self) -> np.ndarray:
        """Examples that each w survived, (M + 1,)."""
        return self._voters.survival

    def _scores(self, x: Vectors) -> np.ndarray:
        return self._voters(x)


class Voters:
    """Weight vectors of a run, stored as updates.

    Attributes
    ----------
    vectors
        The M examples of the updates.
    survival
        (M + 1,) int64 examples that each w survived.
    """

    BATCH = 256  # weight vectors at a time

    def __init__(self, vectors: Vectors, run: Run, step: float):
        self.vectors = vectors
        self._change = step * (2.0 * run.mistakes.gold - 1)  # step y
        self.survival = np.diff(run.mistakes.seen, prepend=0, append=run.seen)

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


# --------------------------------------------------------------------------- private
def _rows(cells: Cells, K: int) -> np.ndarray:
    """Return dense rows (K, d)."""
    d = len(cells.row_ptr) - 1
    rows = np.zeros((K, d))
    rows[cells.label, np.repeat(np.arange(d), np.diff(cells.row_ptr))] = cells.weight
    return rows


def _gather(log: Sequence[Mistakes], visited: Sequence[np.ndarray], y: np.ndarray) -> UpdateLog:
    """Return the updates of all epochs, with the row numbers of their examples."""
    n = len(y)
    example = np.concatenate([visits[m.position] for m, visits in zip(log, visited, strict=True)])
    seen = np.concatenate([m.position + i * n for i, m in enumerate(log)])
    decoded = np.concatenate([m.y_hat for m in log])
    return UpdateLog(example, seen, y[example].astype(np.int64), decoded.astype(np.int64))
