"""What the members of the perceptron family share: their passes are those of the one trainer.

The algebra that makes them one algorithm is in `seqtag.classifiers.perceptrons`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqtag.classifiers.linear import LinearClassifier
from seqtag.engine import backend
from seqtag.engine.arrays import Cells, Layout, State
from seqtag.engine.arrays import Mistakes as EpochMistakes
from seqtag.engine.epochs import Recipe, Verdict, learn
from seqtag.errors import SeqtagError
from seqtag.randomness import seed_of, visiting_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from seqtag.classifiers.vectors import Vectors


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
    state: State | None  # to go on from; None if it kept an earlier pass
    given: int  # vectors it was given, each counted once


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
        Every update: see `Mistakes`, and `trajectory`. After `partial_fit`, the X of all calls
        count as one, in their order.
    """

    ties_are_mistakes: bool = True
    until_converged: bool = True
    step: float = 1.0
    cost: Any = None
    patience: int = 5

    _runs: tuple[Run, ...] = field(init=False)

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
        self._learn(x, ids, held_out, None)
        return self

    def _learn_more(self, x: Vectors, y: np.ndarray) -> None:
        runs: tuple[Run, ...] = getattr(self, "_runs", ())
        if any(run.state is None for run in runs):
            msg = (
                "expected a fit without validation set to go on from, found one that kept an "
                "earlier pass; call fit without it"
            )
            raise SeqtagError(msg)
        self._learn(x, y, None, runs)

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
        self,
        x: Vectors,
        y: np.ndarray,
        held_out: tuple[Vectors, np.ndarray] | None,
        before: tuple[Run, ...] | None,
    ) -> None:
        """Run the trainer and read out; with `before` visit once, and go on from its runs."""

    def _run(
        self,
        x: Vectors,
        y: np.ndarray,
        K: int,
        average: bool = False,
        held_out: tuple[Vectors, np.ndarray] | None = None,
        before: tuple[Run, ...] | None = None,
        read_out: Callable[[Mistakes, int], None] | None = None,
    ) -> Run:
        """Passes of the one trainer; `read_out` is told of mistakes and examples seen to judge.

        With `before` it is one pass in the order given, which goes on from the first run there.
        """
        instances, n = x.instances(), x.size
        judged, gold = held_out or (x, y)
        seed = seed_of(self.random_state)
        past = before[0] if before else None
        log: list[EpochMistakes] = []
        visited: list[np.ndarray] = []
        history: list[Pass] = []

        def visits(number: int) -> np.ndarray:
            as_given = np.arange(n, dtype=np.int64)
            shuffled = self.shuffle and before is None
            visited.append(visiting_order(n, seed, 1, number) if shuffled else as_given)
            return visited[-1]

        def judge(cells: Cells, number: int) -> Verdict:
            self._weights = _rows(cells, K)
            if read_out is not None:
                read_out(_gather(log, visited, y), number * n)
            return Verdict((self._decide(self._scores(judged)) == gold).mean())

        start = past and past.state and _with_rows(past.state, x.width, self.fit_intercept)
        weights = backend.Weights(Layout(x.width, K, 0), "float64", "perceptron", start)
        kept = learn(
            weights,
            lambda _: instances,
            y,
            visits,
            Recipe(
                epochs=self.max_iter if before is None else 1,
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
        state = weights.state() if held_out is None else None
        made = _gather(log, visited, y)
        rows, end = _rows(kept.cells, K), kept.epoch * n
        run = Run(rows, made, end, tuple(history), kept.converged, state, n)
        return run if past is None else _joined(past, run)

    def _report(self, run: Run) -> None:
        """Set the attributes that tell how training went."""
        self._runs = (run,)
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
def _rows(cells: Cells, K: int) -> np.ndarray:
    """Dense rows (K, d)."""
    d = len(cells.row_ptr) - 1
    rows = np.zeros((K, d))
    rows[cells.label, np.repeat(np.arange(d), np.diff(cells.row_ptr))] = cells.weight
    return rows


def _gather(log: Sequence[EpochMistakes], visited: Sequence[np.ndarray], y: np.ndarray) -> Mistakes:
    """The mistakes of all passes, with examples by their own numbers."""
    n = len(y)
    example = np.concatenate([visits[m.position] for m, visits in zip(log, visited, strict=True)])
    seen = np.concatenate([m.position + i * n for i, m in enumerate(log)])
    decoded = np.concatenate([m.y_hat for m in log])
    return Mistakes(example, seen, y[example].astype(np.int64), decoded.astype(np.int64))


def _joined(past: Run, run: Run) -> Run:
    """A run and the one it went on from, as one."""
    mistakes = Mistakes(
        np.concatenate([past.mistakes.example, run.mistakes.example + past.given]),
        np.concatenate([past.mistakes.seen, run.mistakes.seen + past.kept]),
        np.concatenate([past.mistakes.gold, run.mistakes.gold]),
        np.concatenate([past.mistakes.decoded, run.mistakes.decoded]),
    )
    return run._replace(
        mistakes=mistakes,
        kept=past.kept + run.kept,
        history=past.history + run.history,
        given=past.given + run.given,
    )


def _with_rows(state: State, rows: int, bias: bool) -> State:
    """The state of weights with rows more, none of which ever changed; a bias stays the last."""
    ptr = state.emission.ptr
    last = len(ptr) - 1 - bias  # rows that stay where they are
    more = np.full(rows + 1 - len(ptr), ptr[last], np.int64)
    ptr = np.concatenate([ptr[: last + 1], more, ptr[last + 1 :]])
    return state._replace(emission=state.emission._replace(ptr=ptr))


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
