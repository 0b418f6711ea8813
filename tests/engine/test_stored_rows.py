"""Keys and counts as model files store them, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import each_backend


def bits_of(ones: list[int], count: int) -> np.ndarray:
    bits = np.zeros(count, np.uint8)
    bits[ones] = 1
    return np.packbits(bits)


def high_of(keys: list[int]) -> np.ndarray:
    return bits_of([(key >> 32) + i for i, key in enumerate(keys)], len(keys) + 2**16)


@each_backend
@given(
    st.lists(
        st.integers(0, 2**48 - 1) | st.integers(0, 9) | st.integers(2**48 - 9, 2**48 - 1),
        max_size=20,
        unique=True,
    ).map(sorted)
)
def test_keys_come_back(backend, keys):
    low = np.array([key % 2**32 for key in keys], np.uint32)
    found = backend.join_keys(low, high_of(keys))
    assert (found.dtype, found.tolist()) == (np.uint64, keys)


@each_backend
@given(st.lists(st.integers(1, 70), max_size=20), st.integers(0, 9))
def test_cells_are_counted(backend, counts, after):
    ends = (np.cumsum(counts, dtype=np.int64) - 1).tolist()
    cells = sum(counts) + after
    found = backend.count_cells(bits_of(ends, cells), cells)
    assert (found.dtype, found.tolist()) == (np.uint16, counts)


@each_backend
def test_the_longest_row(backend):
    assert backend.count_cells(bits_of([65_534], 65_540), 65_540).tolist() == [65_535]
    with pytest.raises(ValueError, match="a row must have at most 65535 cells"):
        backend.count_cells(bits_of([3, 65_539], 65_540), 65_540)


@each_backend
@pytest.mark.parametrize("change", [[], [0, 1, 2], [0, 1, 2, 3, 4, 5], list(range(2**16 + 3))])
def test_other_numbers_of_bits_are_refused(backend, change):
    low = np.zeros(4, np.uint32)
    with pytest.raises(ValueError, match="high must have a bit per key"):
        backend.join_keys(low, bits_of(change, len(low) + 2**16))


@each_backend
def test_other_numbers_of_bytes_are_refused(backend):
    for size in (0, 1, 3):
        with pytest.raises(ValueError, match="ends must have a bit per cell"):
            backend.count_cells(np.zeros(size, np.uint8), 9)
    for size in (0, 2**13, 2**13 + 2):
        with pytest.raises(ValueError, match="high must have a bit per key and value"):
            backend.join_keys(np.zeros(4, np.uint32), np.zeros(size, np.uint8))
