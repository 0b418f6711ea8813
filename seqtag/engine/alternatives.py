"""What else it could be: margins of tokens, the n best sequences, labels that are given.

The margin of a token is the score of the best sequence less that of the best one with another label
there. Viterbi's recursion gives the best prefixes that end in a label; the same recursion from the
other end gives the best suffixes; where they meet is the best sequence through each label, its
*max-marginal* (forward-backward in the max semiring)::

    v_1[j] = start[j] + emission[1, j]     v_t[j] = emission[t, j] + max_i v_{t-1}[i] + tr[i, j]
    s_T[i] = stop[i]                       s_t[i] = max_j tr[i, j] + emission[t+1, j] + s_{t+1}[j]
    m_t[j] = v_t[j] + s_t[j]

Of second order the states are pairs of labels, as in `seqtag.engine.reference.viterbi`.

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
    """Exclude all labels but those allowed at each token; where none is listed, any is.

    Decoding then finds the best labels around those that are given. What is given may be, also
    where the word is known to have other labels only.

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
    """What the best sequence with label j at t lacks to the best of all: (T, K), 0 or less.

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
    """How much better the best labels y are than any other: margin (T,) float64, rival (T,) int32.

    `groups` (K,) names labels that count as one, such as those that are written alike. The rival
    is the label there of the best sequence with one of another group; of equals the lowest. Where
    there is none that is not forbidden the margin is infinite and the rival -1.

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
    """``v_t[a, b]``: best scores of prefixes that end in b at t, from the best one.

    Of second order a is the label at t - 1; else, and at the start, there is one row for all.
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
    """``s_t[a, b]``: best scores of what comes after b at t, from the best one; as `_prefixes`."""
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
    """A prefix: its score, and which of the prefixes of which state it goes on from."""

    score: float
    state: int
    rank: int


def n_best(p: Potentials, n: int) -> list[tuple[float, IntArray]]:
    """The n label sequences of highest score, with it: labels (T,) int32, the best first.

    Each state keeps its n best prefixes (Viterbi with n survivors). Of equal scores the sequence
    with the lower label comes first, from the last token on; so the first is that of `viterbi`.
    There are fewer where there are fewer sequences without a forbidden potential. If there is none,
    the best one is there all the same, and what is forbidden does not count in its score.

    >>> p = Potentials(np.array([[2., 0], [0, 1]]), np.zeros(2), np.zeros(2),
    ...                np.array([[0., -3], [0, 0]]))
    >>> n_best(p, 2)
    [(2.0, array([0, 0], dtype=int32)), (1.0, array([1, 1], dtype=int32))]
    """
    best, p = viterbi(p), _in_float64(p)
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


def _in_float64(p: Potentials) -> Potentials:
    """The potentials in a type in which the sums of long sentences are exact."""
    emission, start, stop, transition, trigram = p
    if p.alone:  # no label potentials at all
        start, stop = np.zeros_like(start), np.zeros_like(stop)
    more = None if trigram is None else trigram.astype(np.float64)
    emission, start, stop, transition = (
        part.astype(np.float64) for part in (emission, start, stop, transition)
    )
    return Potentials(emission, start, stop, transition, more)


def _search(p: Potentials, n: int) -> list[IntArray]:
    """The n best sequences, forbidden ones last: states are pairs a * K + b, whatever the order."""
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
        kept.append({state: _best(prefixes, n) for state, prefixes in here.items()})
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


def _best(prefixes: list[_Prefix], n: int) -> list[_Prefix]:
    """The n best of some prefixes; of equals the lower state they come from, then rank."""
    return sorted(prefixes, key=lambda x: (-x.score, x.state, x.rank))[:n]
