"""The algorithm in numpy, as one would write it on slides: oracle, fallback and lecture notes.

The joint feature map ``phi(x, y)`` counts which cells of the weight vector a labelled sentence
touches, and the score is linear in it::

    score(x, y) = w . phi(x, y)
                = start[y_1] + sum_t sum_{a in features(x, t)} emission[a, y_t]
                  + sum_{t>1} transition[y_{t-1}, y_t]
                  + sum_{t>1} sum_{b in edges(x, t)} edge[b, y_{t-1}, y_t]
                  + sum_{t>1} trigram[y_{t-2}, y_{t-1}, y_t]      (second order; y_0 is the start)
                  + stop[y_T]

Decoding is ``argmax_y score(x, y)``; learning is ``w += step * (phi(x, y) - phi(x, y_hat))``.
Whatever changes decoding (a cost for wrong labels, forbidden transitions) changes the potentials,
never the decoder.  The native kernel does the same operations in the same order on the same
floating-point type, so the two agree bit for bit.

Letters: T tokens, K labels, R emission rows, B edge rows, x a sentence, y its labels.
"""

from __future__ import annotations

import numpy as np

from seqtag.engine.arrays import FORBIDDEN, Cells, Instances, Layout, Mistakes, Parts, Potentials


# --------------------------------------------------------------------------- phi and the argmax
def phi(layout: Layout, x: Instances, s: int, y: np.ndarray) -> np.ndarray:
    """The joint feature map of sentence s labelled y, as a vector of the shape of w.

    >>> x = Instances(np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 0]))
    >>> layout = Layout(rows=2, labels=2)
    >>> layout.blocks(phi(layout, x, 0, np.array([0, 1]))).emission
    array([[0., 1.],
           [1., 0.]])
    """
    counts = np.zeros(layout.size)
    block = layout.blocks(counts)
    for t, n in enumerate(x.tokens(s)):
        rows, values = x.active(n)
        for column in [y[t]] if layout.parts is None else layout.parts.of(y[t]):
            np.add.at(block.emission[:, column], rows, values)
        if layout.order and t > 0:
            block.transition[y[t - 1], y[t]] += 1
            np.add.at(block.edge[:, y[t - 1], y[t]], x.active_edges(n), 1)
        if layout.order == 2 and t > 0:
            block.trigram[y[t - 2] if t > 1 else layout.labels, y[t - 1], y[t]] += 1
    if layout.order and len(x.tokens(s)):
        block.start[y[0]] += 1
        block.stop[y[-1]] += 1
    return counts


def potentials(layout: Layout, x: Instances, s: int, w: np.ndarray) -> Potentials:
    """Emission and transition scores of sentence s under w: all the decoder sees of x."""
    block = layout.blocks(w)
    tokens = x.tokens(s)
    emission = np.zeros((len(tokens), layout.width), w.dtype)
    for t, n in enumerate(tokens):
        for row, value in zip(*x.active(n), strict=True):
            emission[t] += block.emission[row] * w.dtype.type(value)
    if layout.parts is not None:
        emission = sum_parts(emission, layout.parts)
    trigram = block.trigram if layout.order == 2 else None
    if not layout.edges:
        return Potentials(emission, block.start, block.stop, block.transition, trigram)
    transition = np.repeat(block.transition[None], len(tokens), axis=0)
    for t, n in enumerate(tokens):
        for row in x.active_edges(n):
            transition[t] += block.edge[row]
    return Potentials(emission, block.start, block.stop, transition, trigram)


def sum_parts(scores: np.ndarray, parts: Parts) -> np.ndarray:
    """Scores (T, K) of labels from those (T, P) of their parts."""
    K = len(parts.ptr) - 1
    total = np.zeros((len(scores), K), scores.dtype)
    lengths = np.diff(parts.ptr)
    for z in range(int(lengths.max(initial=0))):  # the z-th part of every label that has one
        having = np.flatnonzero(lengths > z)
        total[:, having] += scores[:, parts.part[parts.ptr[having] + z]]
    return total


def loss_augment(p: Potentials, gold: np.ndarray, cost: np.ndarray) -> Potentials:
    """Add ``cost[gold_t, y_t]`` to every emission: the decoder then finds the worst offender."""
    return p._replace(emission=p.emission + cost[gold].astype(p.emission.dtype))


def forbid(
    p: Potentials, start: np.ndarray, transition: np.ndarray, stop: np.ndarray
) -> Potentials:
    """Forbid the labels and label bigrams whose entry is False, as BIO schemes do."""
    return p._replace(
        start=np.where(start, p.start, p.start.dtype.type(FORBIDDEN)),
        stop=np.where(stop, p.stop, p.stop.dtype.type(FORBIDDEN)),
        transition=np.where(transition, p.transition, p.transition.dtype.type(FORBIDDEN)),
    )


def viterbi(p: Potentials, against: np.ndarray | None = None) -> np.ndarray:
    """The labels (T,) int32 of highest score; ties go to the lowest label id.

    ``v[t][a, b]`` is the best score of a prefix that ends in the labels a at t - 1 and b at t
    (Viterbi 1967); first order does not look at a, and has one row for all of them.  A constant
    of t is taken off, the best one, which keeps float32 exact however long the sentence is.  With
    `against` ties go to a label other than ``against[t]``: the decoder returns `against` itself
    only where it is the one and only argmax ("a point on the boundary counts as a mistake").

    >>> p = Potentials(np.array([[2., 0], [0, 1]]), np.zeros(2), np.zeros(2),
    ...                np.array([[0., -3], [0, 0]]))
    >>> viterbi(p)
    array([0, 0], dtype=int32)
    """
    T, K = p.emission.shape
    y = np.zeros(T, np.int32)
    if T == 0:
        return y

    def argmax(score: np.ndarray, t: int) -> int:
        best = np.flatnonzero(score == score.max())
        if against is not None and len(best) > 1:
            best = best[best != against[t]]
        return int(best[0])

    v = [(p.start + p.emission[0])[None]]
    v[0] -= v[0].max()

    def arrive(t: int) -> np.ndarray:
        """Scores [a, b, c] of prefixes that end in a, b at t - 1 and go on to c at t."""
        if p.trigram is None:
            return np.repeat(v[t - 1][:, :, None], K, axis=2)
        return v[t - 1][:, :, None] + (p.trigram[K:] if t == 1 else p.trigram[:K])

    for t in range(1, T):
        pairs = arrive(t).max(axis=0) + p.transition_to(t)
        if p.trigram is None:
            pairs = pairs.max(axis=0, keepdims=True)
        v.append(pairs + p.emission[t])
        v[t] -= v[t].max()

    y[-1] = argmax(v[-1].max(axis=0) + p.stop, T - 1)
    for t in range(T - 1, 0, -1):
        if p.trigram is None:
            score = v[t - 1][0] + p.transition_to(t)[:, y[t]]
        elif t == T - 1:
            score = v[t][:, y[t]]
        else:
            score = arrive(t + 1)[:, y[t], y[t + 1]]
        y[t - 1] = argmax(score, t - 1)
    return y


def path_score(p: Potentials, y: np.ndarray) -> float:
    """Score of the labels y under the potentials, summed in float64."""
    T = len(y)
    if T == 0:
        return 0.0
    score = float(p.start[y[0]]) + float(p.stop[y[-1]])
    for t in range(T):
        score += float(p.emission[t, y[t]])
        if t:
            score += float(p.transition_to(t)[y[t - 1], y[t]])
        if t and p.trigram is not None:
            score += float(p.trigram[y[t - 2] if t > 1 else len(p.start), y[t - 1], y[t]])
    return score


class Weights:
    """Weights in training: w, its lazily kept average, and the one update.

    After C sentences, with w_1 ... w_C the weights after each of them, the average is their mean
    (Collins 2002, section 2.4).  A change d made at the sentence that c sentences precede is in
    w_{c+1} ... w_C, that is in C - c of the C terms, so it adds d (C - c) / C = d - c d / C to the
    mean.  Summed over all changes: ``mean = w - u / C`` with ``u += c d`` beside ``w += d``.

    Parameters
    ----------
    layout
        Shape of w.
    dtype
        ``float32`` or ``float64``.
    rule
        The step rule to be trained with ("adaptive" leaves room for all of them).
    """

    def __init__(self, layout: Layout, dtype: str = "float32", rule: str = "adaptive"):
        self.layout = layout
        self.w = np.zeros(layout.size, dtype)
        self.u = np.zeros(layout.size, dtype)
        self.g = np.zeros(layout.size if rule == "adaptive" else 0, dtype)  # sums of delta^2
        self.seen = 0  # c: sentences finished so far

    def train_epoch(
        self,
        x: Instances,
        y: np.ndarray,
        order: np.ndarray,
        rule: str = "perceptron",
        step: float = 1.0,
        cost: np.ndarray | None = None,
        ties_are_mistakes: bool = False,
        out_mistakes: list[Mistakes] | None = None,
    ) -> tuple[int, int]:
        """Visit the sentences in the given order; return (updates, wrong tokens).

        Each step rule scales the same difference ``delta = phi(x, y) - phi(x, y_hat)``:

        - perceptron: ``w += step * delta`` (Rosenblatt 1958; Collins 2002)
        - pa: ``w += min(step, loss / |delta|^2) * delta`` (PA-I, Crammer et al. 2006, section 5)
        - adaptive: ``G += delta^2; w += step * delta / sqrt(G)`` per cell (Duchi et al. 2011)

        With `out_mistakes`, what was decoded wrongly is appended to it: the trajectory of w can
        be rebuilt from it, for each mistake's delta follows.
        """
        real = self.w.dtype.type
        updates = wrong = 0
        position, decoded = [], [np.zeros(0, np.int32)]
        for k, s in enumerate(order):
            gold = y[x.sentence_ptr[s] : x.sentence_ptr[s + 1]]
            p = potentials(self.layout, x, s, self.w)
            if cost is not None:
                p = loss_augment(p, gold, cost)
            y_hat = viterbi(p, against=gold if ties_are_mistakes else None)
            mistakes = int((y_hat != gold).sum())
            if mistakes:
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

    def update(self, delta: np.ndarray, rule: str, step: np.floating, loss: float) -> None:
        """``w += step * (phi(x, y) - phi(x, y_hat))``, and its share in the average."""
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

    def decode(self, x: Instances) -> np.ndarray:
        """Best labels (N,) int32 of every token under the current weights."""
        sentences = range(len(x.sentence_ptr) - 1)
        found = [viterbi(potentials(self.layout, x, s, self.w)) for s in sentences]
        return np.concatenate([np.zeros(0, np.int32), *found])

    def cells(self, average: bool = False) -> Cells:
        """The weights that are not zero, of w or of its average over the sentences seen."""
        w = self.w - self.u / self.w.dtype.type(max(self.seen, 1)) if average else self.w
        block = self.layout.blocks(w)

        def sparse(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            row, label = np.nonzero(matrix)
            ptr = np.searchsorted(row, np.arange(len(matrix) + 1))
            return ptr.astype(np.int64), label.astype(np.int32), matrix[row, label]

        shared = np.concatenate([block.start, block.stop, block.transition.ravel()])
        K = self.layout.labels
        edge = block.edge.reshape(len(block.edge), K * K)
        trigram = block.trigram.reshape(-1, K)
        return Cells(*sparse(block.emission), *sparse(edge), *sparse(trigram), shared)
