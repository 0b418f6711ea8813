"""Decoding of chunks, where tokens that can only be outside are not searched."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import FORBIDDEN, QuantizedWeights, TagDictionary, pointers
from seqtag.engine.keys import key_plan, keys
from tests import brute_force
from tests.strategies import (
    NATIVE,
    NO_ROWS,
    REFERENCE,
    each_backend,
    integer_arrays,
    label_ids,
    needs_native,
    sparse_rows,
)

TYPES = 12
weights_with_ties = st.sampled_from([-127, -3, -2, -1, 0, 0, 1, 2, 3, 127])


def model(emission, start, stop, transition, known=None, copies=1):
    """Return the arguments of a decoder whose tokens score as the rows of their types."""
    plan, no_edges = key_plan([((0, 0),)] * copies, [0]), key_plan([], [0], copies)
    hashes = np.arange(11, 11 + len(emission), dtype=np.uint64)[None]
    types = np.arange(len(emission), dtype=np.int32)[None]
    found = keys(plan, types, hashes, np.array([0, len(emission)]))
    order = np.argsort(found.ravel())
    rows = sparse_rows(found.ravel()[order], np.repeat(emission, copies, axis=0)[order])
    label_weights = [np.array(each, np.float32) for each in (start, stop, transition)]
    weights = QuantizedWeights(rows, NO_ROWS, NO_ROWS, *label_weights)
    return (1, plan, no_edges, weights, None, *([known] if known else [])), hashes


@each_backend
@given(data=st.data())
def test_the_best_sequence_is_found_where_transitions_are_forbidden(backend, data):
    K, T, outside = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 5)), 1
    forbids = data.draw(integer_arrays(K + 2, K, elements=st.integers(0, 1))).astype(bool)
    forbids[[outside, K, K + 1], outside] = False
    chain = data.draw(integer_arrays(K + 2, K, elements=weights_with_ties))
    chain[forbids] = FORBIDDEN
    transition, start, stop = chain[:K], chain[K], chain[K + 1]
    emission = data.draw(integer_arrays(T, K, elements=weights_with_ties))
    arguments, hashes = model(emission, start, stop, transition)

    def score(y):
        return brute_force.path_score(emission, start, stop, transition, y)

    sentence = np.arange(T, dtype=np.int32)[None], hashes, np.array([0, T])
    labels = label_ids(backend.Decoder(*arguments), *sentence)
    assert tuple(labels.tolist()) == brute_force.best(T, K, score)


@needs_native
@pytest.mark.parametrize("kinds", [1, 2, 4])  # 5, 9 and 17 labels
@pytest.mark.parametrize("lead", [0, 2, 6])  # of the outside label
@pytest.mark.parametrize("copies", [1, 300])  # of a template; sums of many take 32 bits
@pytest.mark.parametrize("is_listed", [False, True])  # words that must be in chunks
def test_chunks_of_long_sentences_decode_as_in_the_reference(kinds, lead, copies, is_listed):
    K = 1 + 4 * kinds
    random = np.random.default_rng(kinds + lead)
    role, kind = (np.arange(K) + 3) % 4, (np.arange(K) + 3) // 4
    role[0] = 3  # label 0 is outside; else B, I, E and S of each kind
    is_open = np.isin(role, (0, 1))
    begins = np.isin(role, (0, 3))
    continues = is_open[:, None] & ~begins & (kind[:, None] == kind)
    allowed = np.where(is_open[:, None], continues, begins)
    transition = np.where(allowed, random.integers(-3, 4, (K, K)), FORBIDDEN)
    start, stop = np.where(begins, 1, FORBIDDEN), np.where(is_open, FORBIDDEN, 1)
    emission = random.integers(-3, 4, (TYPES, K))
    emission[: TYPES - 1, 0] += lead
    order = random.permutation(K)
    chain = start[order], stop[order], transition[np.ix_(order, order)]
    listed = np.flatnonzero(order).astype(np.uint16)
    names = np.array([11], np.uint64)
    known = TagDictionary(0, names, pointers([len(listed)]), listed) if is_listed else None
    arguments, hashes = model(emission[:, order], *chain, known, copies)
    ptr = pointers(random.integers(0, 30, 30))
    types = random.integers(0, TYPES, (1, int(ptr[-1]))).astype(np.int32)
    found, expected = (
        label_ids(side.Decoder(*arguments), types, hashes, ptr) for side in (NATIVE, REFERENCE)
    )
    assert found.tolist() == expected.tolist()
    assert all(
        allowed[order[a], order[b]] for i, j in pairwise(ptr) for a, b in pairwise(found[i:j])
    )
