"""Features left out at random: the kernel draws the numbers that numpy draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import pointers
from tests.strategies import NATIVE, REFERENCE, each_backend, needs_native


@each_backend
@given(
    counts=st.lists(st.integers(0, 9), max_size=9),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=5),
    seed=st.integers(0, 99),
)
def test_what_numpy_draws_is_left_out(backend, counts, shares, seed):
    token_ptr = pointers(counts)
    features = np.arange(token_ptr[-1], dtype=np.int32)
    if len(shares) > 1:
        features %= len(shares)
    share = [shares[row % len(shares)] for row in features]
    kept = np.random.RandomState(seed).random_sample(len(features)) >= share
    random = np.random.RandomState(seed)
    found = backend.drop_features(token_ptr, features, np.array(shares), random)
    of_tokens = np.split(kept, token_ptr[1:-1]) if counts else []
    assert found[0].tolist() == pointers([int(token.sum()) for token in of_tokens]).tolist()
    assert found[1].tolist() == features[kept].tolist()
    assert [array.dtype for array in found] == [np.int64, np.int32]


@needs_native
@pytest.mark.parametrize("used", [0, 1, 2, 311, 623])
def test_many_numbers_of_a_stream_that_has_begun(used):
    token_ptr, features = np.array([0, 4000, 5000]), np.arange(5000, dtype=np.int32)
    streams = [np.random.RandomState([3, 4]) for _ in range(2)]
    for stream in streams:
        stream.randint(0, 2**32, used, np.uint32)
    ours, numpys = (
        backend.drop_features(token_ptr, features, np.array([0.25]), stream)
        for backend, stream in zip((NATIVE, REFERENCE), streams, strict=True)
    )
    assert ours[0].tolist() == numpys[0].tolist()
    assert ours[1].tolist() == numpys[1].tolist()
