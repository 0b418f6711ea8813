"""The structured perceptron in numpy, as one would write it on slides: oracle and fallback.

The joint feature map ``phi(x, y)`` counts which cells of the weight vector a labeled sentence
touches, and the score is linear in it::

    score(x, y) = w . phi(x, y)
                = start[y_1] + sum_t sum_{a in features(x, t)} emission[a, y_t]
                  + sum_{t>1} transition[y_{t-1}, y_t]
                  + sum_{t>1} sum_{b in edges(x, t)} edge[b, y_{t-1}, y_t]
                  + sum_{t>1} trigram[y_{t-2}, y_{t-1}, y_t]      (second order; y_0 is the start)
                  + stop[y_T]

Learning decodes each sentence, and updates w if the labels are wrong; decoding is the search
alone::

    +-- learning ---------------------------------+  +-- decoding (Viterbi) ---------------------+
    | w, u, c = 0, 0, 0                           |  | v_1[j] = start[j] + emission[1, j]        |
    | for each epoch, for each sentence (x, y):   |  | for t = 2 ... T, for each label j:        |
    |     y_hat = argmax_y' score(x, y')          |  |     v_t[j] = emission[t, j] +             |
    |     delta = phi(x, y) - phi(x, y_hat)       |  |         max_i v_{t-1}[i] + transition[i,j]|
    |     w += step delta                         |  | y_T = argmax_j v_T[j] + stop[j]           |
    |     u += c step delta                       |  | for t = T ... 2:                          |
    |     c += 1                                  |  |     y_{t-1} = argmax_i v_{t-1}[i]         |
    | return the average, w - u / c               |  |                      + transition[i, y_t] |
    +---------------------------------------------+  +-------------------------------------------+

Everything that changes decoding (a cost of wrong labels, forbidden transitions) changes the
potentials, never the decoder.  The native kernel does the same operations in the same order on the
same floating-point type: both agree bit for bit.

Letters
    x, y, y_hat     a sentence, its labels, the labels decoded
    phi, w          joint feature map, weights
    delta, u, c, g  phi(x, y) - phi(x, y_hat); accumulator of the average; sentences seen, C at
                    the end; sums of delta^2
    s, n, t         number of a sentence, of a token in the corpus, of a token in its sentence
    T, K            tokens of the sentence, labels
    R, P, B         emission rows, components of labels, edge rows
    p, v            potentials, best scores of prefixes
    i, j; a, b, c   labels next to each other: two; three
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from seqtag.engine.arrays import (
    ASK_EVERY,
    FORBIDDEN,
    BoolArray,
    Cells,
    Cost,
    FloatArray,
    Instances,
    IntArray,
    LabelComponents,
    Layout,
    Mistakes,
    Potentials,
    State,
)
from seqtag.engine.checks import no_room

if TYPE_CHECKING:
    from collections.abc import Callable


# --------------------------------------------------------------------------- phi and the argmax
def phi(layout: Layout, x: Instances, s: int, y: IntArray) -> FloatArray:
    """Return the joint feature map of sentence s labeled y, as a vector of the shape of w.

    >>> x = Instances(np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 0]))
    >>> layout = Layout(rows=2, labels=2)
    >>> layout.views(phi(layout, x, 0, np.array([0, 1]))).emission
    array([[0., 1.],
           [1., 0.]])
    """
    counts = np.zeros(layout.size)
    views = layout.views(counts)
    for t, n in enumerate(x.tokens(s)):
        rows, values = x.active(n)
        for column in [y[t]] if layout.parts is None else layout.parts.of(y[t]):
            np.add.at(views.emission[:, column], rows, values)
        if layout.order and t > 0:
            views.transition[y[t - 1], y[t]] += 1
            np.add.at(views.edge[:, y[t - 1], y[t]], x.active_edges(n), 1)
        if layout.order == 2 and t > 0:
            views.trigram[y[t - 2] if t > 1 else layout.labels, y[t - 1], y[t]] += 1
    if layout.order and len(x.tokens(s)):
        views.start[y[0]] += 1
        views.stop[y[-1]] += 1
    return counts


def potentials(layout: Layout, x: Instances, s: int, w: FloatArray) -> Potentials:
    """Return the potentials of sentence s under w: the complete input of the decoder."""
    views = layout.views(w)
    tokens = x.tokens(s)
    emission = np.zeros((len(tokens), layout.width), w.dtype)
    for t, n in enumerate(tokens):
        for row, value in zip(*x.active(n), strict=True):
            emission[t] += views.emission[row] * w.dtype.type(value)
    if layout.parts is not None:
        emission = sum_parts(emission, layout.parts)
    for t, n in enumerate(tokens):
        if (labels := x.labels_of(n)) is not None:
            emission[t] = only(emission[t], labels)
    trigram = views.trigram if layout.order == 2 else None
    if not layout.edges:
        return Potentials(emission, views.start, views.stop, views.transition, trigram)
    transition = np.repeat(views.transition[None], len(tokens), axis=0)
    for t, n in enumerate(tokens):
        for row in x.active_edges(n):
            transition[t] += views.edge[row]
    return Potentials(emission, views.start, views.stop, transition, trigram)


def sum_parts(scores: FloatArray, parts: LabelComponents) -> FloatArray:
    """Return scores (T, K) of labels, the sums of those (T, P) of their components."""
    K = len(parts.ptr) - 1
    total = np.zeros((len(scores), K), scores.dtype)
    lengths = np.diff(parts.ptr)
    for z in range(int(lengths.max(initial=0))):  # the z-th component of every label that has one
        having = np.flatnonzero(lengths > z)
        total[:, having] += scores[:, parts.part[parts.ptr[having] + z]]
    return total


def only(scores: FloatArray, labels: IntArray) -> FloatArray:
    """Return the scores (K,) of these labels; those of all others are `FORBIDDEN`.

    >>> only(np.array([3.0, 1.0, 2.0]), np.array([1, 2])).tolist()
    [-1e+30, 1.0, 2.0]
    """
    found = np.full_like(scores, FORBIDDEN)
    found[labels] = scores[labels]
    return found


def loss_augment(
    p: Potentials, gold: IntArray, cost: Cost, choices: BoolArray | None = None
) -> Potentials:
    """Add the cost of each label to its emission potential (loss-augmented decoding).

    `cost` is one number for all wrong labels, or (K, K): ``cost[gold_t, y_t]``. If several gold
    labels are permitted, the least of their costs counts.
    """
    if np.ndim(cost):
        table = np.asarray(cost)
        if choices is not None:
            table = np.vstack([table, *(table[c].min(axis=0) for c in choices[::-1])])
        costs = table[gold]
    else:
        costs = np.where(permitted(gold, p.emission.shape[1], choices), 0.0, cost)
    return p._replace(emission=p.emission + costs.astype(p.emission.dtype))


def permitted(gold: IntArray, labels: int, choices: BoolArray | None = None) -> BoolArray:
    """Return which of K labels each token may have, (T, K): the gold label, or several.

    A gold label of -1 means those of the first row of `choices` (C, K), -2 of the second, ...

    >>> permitted(np.array([1, -1]), 3, np.array([[True, False, True]])).astype(int)
    array([[0, 1, 0],
           [1, 0, 1]])
    """
    allowed: BoolArray = gold[:, None] == np.arange(labels)
    if choices is not None:
        undecided = gold < 0
        allowed[undecided] = choices[-1 - gold[undecided]]
    return allowed


def permit(p: Potentials, fine: BoolArray, never: float = FORBIDDEN) -> Potentials:
    """Set the potential of labels whose entry (T, K) is False to `never`.

    The decoder then finds the best completion of the given labels.
    """
    return p._replace(emission=np.where(fine, p.emission, p.emission.dtype.type(never)))


def viterbi(p: Potentials, against: IntArray | None = None) -> IntArray:
    """Return the labels (T,) int32 of highest score; ties go to the lowest label id.

    ``v[t][j]`` is the best score of a prefix that ends in the label j at t (Viterbi 1967). The best
    one of each t is subtracted, which keeps float32 exact in sentences of any length.  With
    `against`, ties go to a label other than ``against[t]``: the decoder returns `against` only if
    it is the unique argmax ("a point on the boundary counts as a mistake").

    >>> p = Potentials(np.array([[2., 0], [0, 1]]), np.zeros(2), np.zeros(2),
    ...                np.array([[0., -3], [0, 0]]))
    >>> viterbi(p)
    array([0, 0], dtype=int32)
    """
    T, _ = p.emission.shape
    y = np.zeros(T, np.int32)

    def argmax(score: FloatArray, t: int) -> int:
        best = np.flatnonzero(score == score.max())
        if against is not None and len(best) > 1:
            best = best[best != against[t]]
        return int(best[0])

    if T == 0:
        return y
    if p.alone:
        y[:] = [argmax(p.emission[t], t) for t in range(T)]
        return y
    if p.trigram is not None:
        return _viterbi_of_pairs(p, p.trigram, y, argmax)

    v = [from_best(p.start + p.emission[0])]
    for t in range(1, T):
        v.append(from_best((v[t - 1][:, None] + p.transition_to(t)).max(axis=0) + p.emission[t]))
    y[-1] = argmax(v[-1] + p.stop, T - 1)
    for t in range(T - 1, 0, -1):
        y[t - 1] = argmax(v[t - 1] + p.transition_to(t)[:, y[t]], t - 1)
    return y


def _viterbi_of_pairs(
    p: Potentials, trigram: FloatArray, y: IntArray, argmax: Callable[[FloatArray, int], int]
) -> IntArray:
    """Second order: the states are pairs, ``v[t][a, b]`` for the labels a at t - 1 and b at t.

    A third label c is reached by the trigram of a, b and c. Before the first label is the start,
    the last a of the trigrams.
    """
    T, K = p.emission.shape

    def arrive(t: int) -> FloatArray:
        """Return scores [a, b, c] of prefixes that end in a, b at t - 1, extended by c at t."""
        return v[t - 1][:, :, None] + (trigram[K:] if t == 1 else trigram[:K])

    v = [from_best((p.start + p.emission[0])[None])]
    for t in range(1, T):
        arrivals = arrive(t).max(axis=0) + p.transition_to(t)
        v.append(from_best(arrivals + p.emission[t]))
    y[-1] = argmax(v[-1].max(axis=0) + p.stop, T - 1)
    for t in range(T - 1, 0, -1):
        score = v[t][:, y[t]] if t == T - 1 else arrive(t + 1)[:, y[t], y[t + 1]]
        y[t - 1] = argmax(score, t - 1)
    return y


def from_best(v: FloatArray) -> FloatArray:
    """Return the scores relative to the best one."""
    best: FloatArray = v.max()
    return v - best


def path_score(p: Potentials, y: IntArray) -> float:
    """Return the score of the labels y under the potentials, summed in float64."""
    T = len(y)
    if T == 0:
        return 0.0
    score = float(p.start[y[0]]) + float(p.stop[y[-1]])
    for t in range(T):
        score += float(p.emission[t, y[t]])
        if t and not p.alone:
            score += float(p.transition_to(t)[y[t - 1], y[t]])
        if t and p.trigram is not None:
            score += float(p.trigram[y[t - 2] if t > 1 else len(p.start), y[t - 1], y[t]])
    return score


class Weights:
    """Weights in training: w, its average, computed lazily, and the update.

    After C sentences, with w_1 ... w_C the weights after each of them, the average is their mean
    (Collins 2002, section 2.4).  A change d made at the sentence that c sentences precede is in
    w_{c+1} ... w_C, that is in C - c of the C terms, so it adds d (C - c) / C = d - c d / C to the
    mean.  Summed over all changes: ``mean = w - u / C``, where ``u += c d`` goes with ``w += d``.

    Parameters
    ----------
    layout
        Shape of w.
    dtype
        ``float32`` or ``float64``.
    rule
        The update rule; "adaptive" allocates memory for all of them.
    state
        State to start from: the `state` of other weights of this layout, or some weights. By
        default everything is 0.

    Raises
    ------
    MemoryError
        If the weights do not fit into memory.
    """

    def __init__(
        self,
        layout: Layout,
        dtype: str = "float32",
        rule: str = "adaptive",
        state: State | None = None,
    ):
        self.layout = layout
        try:
            self.w, self.u = np.zeros(layout.size, dtype), np.zeros(layout.size, dtype)
            self.g = np.zeros(layout.size if rule == "adaptive" else 0, dtype)
        except (MemoryError, ValueError) as error:
            raise no_room(layout) from error
        self.seen = 0  # c: sentences finished so far
        if state is not None:
            for out_vector, cells in ((self.w, state.w), (self.u, state.u), (self.g, state.g)):
                if cells is None or not len(out_vector):
                    continue
                for place, out_matrix in enumerate(_matrices(layout, out_vector)):
                    ptr, column, values = cells[3 * place : 3 * place + 3]
                    row = np.repeat(np.arange(len(out_matrix)), np.diff(ptr))
                    out_matrix[row, column] = values
                out = layout.views(out_vector)
                K = layout.labels
                out.start[:], out.stop[:], transition = np.split(cells.chain, [K, 2 * K])
                out.transition[:] = transition.reshape(out.transition.shape)
            self.seen = state.seen

    def train_epoch(
        self,
        x: Instances,
        y: IntArray,
        visits: IntArray,
        rule: str = "perceptron",
        step: float = 1.0,
        cost: Cost | None = None,
        ties_are_mistakes: bool = False,
        out_mistakes: list[Mistakes] | None = None,
        choices: BoolArray | None = None,
        ask: Callable[[], None] | None = None,
    ) -> tuple[int, int]:
        """Learn from the sentences with these numbers; return (updates, wrong tokens).

        Each rule scales the same difference ``delta = phi(x, y) - phi(x, y_hat)``:

        - perceptron: ``w += step * delta`` (Rosenblatt 1958; Collins 2002)
        - pa: ``w += min(step, loss / |delta|^2) * delta`` (PA-I, Crammer et al. 2006, section 5)
        - adaptive: ``g += delta^2; w += step * delta / sqrt(g)`` per cell (Duchi et al. 2011)

        With `out_mistakes`, a record of the wrongly decoded sentences is appended to it, from which
        the trajectory of w can be rebuilt.

        A token whose gold label is ``-1 - c`` may have any label of ``choices[c]``, (C, K). If
        other tokens of its sentence are wrong, y is the best completion: the permitted labels of
        highest score under the same potentials (a latent perceptron).

        `ask` is called between two sentences, about every `ASK_EVERY` seconds. What it raises ends
        the epoch; the sentences seen so far remain learned.

        The kernel reads the arrays of the corpus, which may be large, where they are, without
        Python's lock: nothing may write to them meanwhile. A call of another thread, or of `ask`,
        meets a RuntimeError.
        """
        real = self.w.dtype.type
        updates = wrong = 0
        position: list[int] = []
        decoded: list[IntArray] = [np.zeros(0, np.int32)]
        checked = monotonic()
        for k, s in enumerate(visits):
            if ask is not None and monotonic() - checked >= ASK_EVERY:
                ask()
                checked = monotonic()
            gold = y[x.sentence_ptr[s] : x.sentence_ptr[s + 1]]
            p = potentials(self.layout, x, s, self.w)
            if cost is not None:
                p = loss_augment(p, gold, cost, choices)
            y_hat = viterbi(p, against=gold if ties_are_mistakes else None)
            fine = permitted(gold, self.layout.labels, choices)
            mistakes = int((~fine[np.arange(len(gold)), y_hat]).sum())
            if mistakes:
                if (gold < 0).any():
                    gold = viterbi(permit(p, fine))
                delta = phi(self.layout, x, s, gold) - phi(self.layout, x, s, y_hat)
                loss = path_score(p, y_hat) - path_score(p, gold)
                self.update(delta.astype(real), rule, real(step), loss)
                updates += 1
                wrong += mistakes
                position.append(k)
                decoded.append(y_hat)
            self.seen += 1
        if out_mistakes is not None:
            out_mistakes.append(Mistakes(np.array(position, np.int64), np.concatenate(decoded)))
        return updates, wrong

    def update(self, delta: FloatArray, rule: str, step: np.floating, loss: float) -> None:
        """Update ``w += step * (phi(x, y) - phi(x, y_hat))`` and the accumulator of the average."""
        real = self.w.dtype.type
        cells = np.flatnonzero(delta)
        d = delta[cells]
        if rule == "pa":
            squared = float((d.astype(np.float64) ** 2).sum())
            step = real(min(float(step), loss / squared)) if squared else real(0)
        if rule == "adaptive":
            self.g[cells] += d * d
            change = step * d / np.sqrt(self.g[cells])
        else:
            change = step * d
        self.w[cells] += change
        self.u[cells] += real(self.seen) * change

    def decode(self, x: Instances) -> IntArray:
        """Return the best label (N,) int32 of every token under the current weights."""
        sentences = range(len(x.sentence_ptr) - 1)
        found = [viterbi(potentials(self.layout, x, s, self.w)) for s in sentences]
        return np.concatenate([np.zeros(0, np.int32), *found])

    def cells(self, average: bool = False) -> Cells:
        """Return the nonzero weights, of w or of its average over the sentences seen."""
        w = self.w - self.u / self.w.dtype.type(max(self.seen, 1)) if average else self.w
        return _cells(self.layout, w)

    def state(self) -> State:
        """Return the complete state: weights made from it continue bit by bit like these."""
        g = self.g if len(self.g) else np.zeros_like(self.w)
        w, u, sums = (_cells(self.layout, each) for each in (self.w, self.u, g))
        return State(w, u, sums, self.seen)


# --------------------------------------------------------------------------- w in and out
def _matrices(layout: Layout, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the sparse weights as rows: emission, edge, trigram."""
    views, K = layout.views(w), layout.labels
    return views.emission, views.edge.reshape(-1, K * K), views.trigram.reshape(-1, K)


def _cells(layout: Layout, w: FloatArray) -> Cells:
    """Return the weights that are not zero."""
    emission, edge, trigram = _matrices(layout, w)
    views = layout.views(w)
    return Cells(
        *_places(emission != 0),
        emission[emission != 0],
        *_places(edge != 0),
        edge[edge != 0],
        *_places(trigram != 0),
        trigram[trigram != 0],
        np.concatenate([views.start, views.stop, views.transition.ravel()]),
    )


def _places(kept: BoolArray) -> tuple[IntArray, IntArray]:
    """Return where each row begins among the cells kept, and their columns."""
    row, column = np.nonzero(kept)
    ptr = np.searchsorted(row, np.arange(len(kept) + 1))
    return ptr.astype(np.int64), column.astype(np.int32)
