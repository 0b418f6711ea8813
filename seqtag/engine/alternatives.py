"""Alternatives to the best labels: margins of tokens, the n best sequences, given labels.

The margin of a token is the score of the best sequence minus that of the best sequence with another
label there. Viterbi's recursion gives the best prefixes that end in a label; the same recursion
from the other end gives the best suffixes; joined, they give the best sequence through each label,
its *max-marginal* (forward-backward in the max semiring)::

    v_1[j] = start[j] + emission[1, j]     v_t[j] = emission[t, j] + max_i v_{t-1}[i] + tr[i, j]
    s_T[i] = stop[i]                       s_t[i] = max_j tr[i, j] + emission[t+1, j] + s_{t+1}[j]
    m_t[j] = v_t[j] + s_t[j]

With second order the states are pairs of labels, as in `seqtag.engine.reference.viterbi`.

Letters are those of `seqtag.engine.reference`; n counts sequences, m are max-marginals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.engine.arrays import EXCLUDED, FORBIDDEN, FloatArray, IntArray, Potentials
from seqtag.engine.reference import from_best, path_score, permit, viterbi

if TYPE_CHECKING:
    from collections.abc import Sequence


def restrict(p: Potentials, allowed: Sequence[IntArray]) -> Potentials:
    """Exclude all labels but those allowed at each token; an empty list allows any label.

    Decoding then finds the best labels around the given ones. A given label is allowed even if the
    tag dictionary lists only other labels for the word, or labels by tags only others for its tags.

    >>> p = Potentials(np.array([[2., 0], [1, 0]]), np.zeros(2), np.zeros(2), np.zeros((2, 2)))
    >>> viterbi(restrict(p, [np.array([1]), np.array([])]))
    array([1, 0], dtype=int32)
    """
    emission, fine = p.emission.copy(), np.ones(p.emission.shape, bool)
    for t, labels in enumerate(allowed):
        if len(labels):
            fine[t] = False
            fine[t, labels] = True
            if (emission[t, labels] <= FORBIDDEN / 2).all():
                emission[t, labels] = 0
    return permit(p._replace(emission=emission), fine, EXCLUDED)


def max_marginals(p: Potentials) -> FloatArray:
    """Return the score of the best sequence with label j at t, relative to the best: (T, K), <= 0.

    >>> p = Potentials(np.array([[2., 0], [0, 1]]), np.zeros(2), np.zeros(2),
    ...                np.array([[0., -3], [0, 0]]))
    >>> max_marginals(p)
    array([[ 0., -1.],
           [ 0., -1.]])
    """
    m = p.emission.copy()
    if not p.alone:
        pairs = _prefixes(p), _suffixes(p)
        for t, (v, s) in enumerate(zip(*pairs, strict=True)):
            m[t] = (v + s).max(axis=0)
    best: FloatArray = m.max(axis=1, initial=-np.inf, keepdims=True)
    return m - best


def margins(p: Potentials, y: IntArray, groups: IntArray) -> tuple[FloatArray, IntArray]:
    """Return by how much the best labels y win: margin (T,) float64, rival (T,) int32.

    Labels with the same number in `groups` (K,) count as one, such as labels written alike. The
    rival is the label at t of the best sequence with a label of another group there; ties go to
    the lowest id. If all others are forbidden, the margin is infinite and the rival -1.

    >>> p = Potentials(np.array([[2., 0, 1]]), np.zeros(3), np.zeros(3), np.zeros((3, 3)))
    >>> margins(p, viterbi(p), np.arange(3))
    (array([1.]), array([2], dtype=int32))
    """
    m = max_marginals(p)
    margin, rival = np.full(len(y), np.inf), np.full(len(y), -1, np.int32)
    for t in range(len(y)):
        others = np.flatnonzero(groups != groups[y[t]])
        if len(others):
            best = others[m[t, others].argmax()]
            if m[t, best] > FORBIDDEN / 2:
                margin[t], rival[t] = m[t, y[t]] - m[t, best], best
    return margin, rival


# --------------------------------------------------------------------------- prefixes, suffixes
def _prefixes(p: Potentials) -> list[FloatArray]:
    """Return ``v_t[a, b]``: the best scores of prefixes that end in b at t, relative to the best.

    With second order a is the label at t - 1; otherwise, and at the start, there is one row.
    """
    T, K = p.emission.shape
    v = [from_best((p.start + p.emission[0])[None])] if T else []
    for t in range(1, T):
        if p.trigram is None:
            arrivals = (v[-1].T + p.transition_to(t)).max(axis=0)[None]
        else:
            before = p.trigram[K:] if t == 1 else p.trigram[:K]
            arrivals = (v[-1][:, :, None] + before).max(axis=0) + p.transition_to(t)
        v.append(from_best(arrivals + p.emission[t]))
    return v


def _suffixes(p: Potentials) -> list[FloatArray]:
    """Return ``s_t[a, b]``: the best scores of suffixes after b at t, shaped as `_prefixes`."""
    T, K = p.emission.shape
    s = [from_best(p.stop[None])] if T else []
    for t in range(T - 1, 0, -1):
        onward = from_best(p.transition_to(t) + (p.emission[t] + s[-1]))  # b at t - 1, c at t
        if p.trigram is None:
            s.append(from_best(onward.max(axis=1)[None]))
        else:
            before = p.trigram[K:] if t == 1 else p.trigram[:K]
            s.append(from_best((before + onward).max(axis=2)))
    return s[::-1]


# --------------------------------------------------------------------------- n best
class _Prefix(NamedTuple):
    """Score of a prefix, and the state and rank of the prefix that it extends."""

    score: float
    state: int
    rank: int


def n_best(p: Potentials, n: int) -> list[tuple[float, IntArray]]:
    """Return the n label sequences of highest score, best first: (score, labels (T,) int32).

    Each state keeps its n best prefixes (Viterbi with n survivors). Ties go to the lower label,
    compared from the last token on: the first sequence is that of `viterbi`. Sequences with a
    forbidden potential are left out, so there may be fewer than n. If all have one, the best is
    returned, without the forbidden potentials in its score.

    >>> p = Potentials(np.array([[2., 0], [0, 1]]), np.zeros(2), np.zeros(2),
    ...                np.array([[0., -3], [0, 0]]))
    >>> n_best(p, 2)
    [(2.0, array([0, 0], dtype=int32)), (1.0, array([1, 1], dtype=int32))]
    """
    best = viterbi(p)
    emission, start, stop, transition = (part.astype(np.float64) for part in p[:4])  # exact sums
    if p.alone:  # no label potentials at all
        start, stop = np.zeros_like(start), np.zeros_like(stop)
    trigram = None if p.trigram is None else p.trigram.astype(np.float64)
    p = Potentials(emission, start, stop, transition, trigram)
    found = _search(p, n) if len(best) else [best]
    scored = [(path_score(p, y), y) for y in found]
    legal = [(score, y) for score, y in scored if score > FORBIDDEN / 2]
    if legal:
        return legal
    emission, start, stop, transition = (
        np.where(part > FORBIDDEN / 2, part, 0.0) for part in p[:4]
    )
    fine = Potentials(emission, start, stop, transition, p.trigram)
    return [(path_score(fine, best), best)]


def _search(p: Potentials, n: int) -> list[IntArray]:
    """Return the n best sequences, forbidden ones last. States are pairs a * K + b of labels."""
    T, K = p.emission.shape
    trigram = np.zeros((K + 1, K, K)) if p.trigram is None else p.trigram
    first = p.start + p.emission[0]
    kept = [{K * K + b: [_Prefix(float(first[b]), -1, 0)] for b in range(K)}]  # K for the start
    for t in range(1, T):
        matrix = np.zeros((K, K)) if p.alone else p.transition_to(t)
        here: dict[int, list[_Prefix]] = {}
        for state, prefixes in kept[-1].items():
            a, b = divmod(state, K)
            steps = trigram[a, b] + matrix[b] + p.emission[t]
            for c, step in enumerate(steps.tolist()):
                longer = (_Prefix(x.score + step, state, rank) for rank, x in enumerate(prefixes))
                here.setdefault(b * K + c, []).extend(longer)
        kept.append(
            {
                state: sorted(prefixes, key=lambda x: (-x.score, x.state, x.rank))[:n]
                for state, prefixes in here.items()
            }
        )
    ends = [
        _Prefix(prefix.score + float(p.stop[state % K]), state, rank)
        for state, prefixes in kept[-1].items()
        for rank, prefix in enumerate(prefixes)
    ]
    ends.sort(key=lambda end: (-end.score, end.state % K, end.state, end.rank))
    found = []
    for _, state, rank in ends[:n]:
        y = np.zeros(T, np.int32)
        for t in range(T - 1, -1, -1):
            y[t] = state % K
            _, state, rank = kept[t][state][rank]
        found.append(y)
    return found
