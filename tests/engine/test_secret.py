"""Hash tables of the kernel: what was chosen to meet in one place does not, and nothing shows it."""

from __future__ import annotations

import subprocess
import sys
from itertools import accumulate

import numpy as np
import pytest

from seqtag.engine.keys import key_plan
from tests.strategies import NATIVE, needs_native

if NATIVE:
    from seqtag.engine.native import _kernel, draw_secret, index_features

pytestmark = needs_native

MASK = (1 << 64) - 1
COUNT = 3000
FEW = 100  # slots; a random table of this size has ways of some ten


def without_secret(number: int) -> int:
    """How words were mixed before there was a secret."""
    number = number * 0xFF51AFD7ED558CCD & MASK
    return number ^ number >> 32


def colliding_words() -> list[bytes]:
    """Words of 16 bytes that all had one hash, in all its 64 bits."""
    start = 16 * 0x9E3779B97F4A7C15 & MASK
    return [
        number.to_bytes(8, "little") + without_secret(start ^ number).to_bytes(8, "little")
        for number in range(COUNT)
    ]


def keys_of_one_place() -> np.ndarray:
    """Keys whose upper halves, by which they had their places, are equal where it counts."""
    return (np.arange(COUNT, dtype=np.uint64) << np.uint64(52)) | np.uint64(1)


def keys_in_a_row() -> np.ndarray:
    """Keys whose places are next to each other for many a way of mixing."""
    return np.arange(1, COUNT + 1, dtype=np.uint64) << np.uint64(32)


def test_words_that_had_one_hash_are_spread():
    words = colliding_words()
    assert len({*words}) == COUNT
    offsets = np.array([0, *accumulate(map(len, words))], np.int64)
    assert _kernel.longest_probe_of_values(b"".join(words), offsets) < FEW


@pytest.mark.parametrize("keys", [keys_of_one_place(), keys_in_a_row()])
def test_keys_that_had_one_place_are_spread(keys):
    ways = []
    for _ in range(5):  # about one secret of 200 spreads keys at equal distances badly
        draw_secret()
        ways.append(max(_kernel.longest_probes_of_keys(np.sort(keys))))
    assert sorted(ways)[2] < FEW


def test_ways_are_counted():
    """With a factor that mixes nothing, the same keys do meet: the count would show it."""
    program = (  # in a process of its own: the secret is one for all tables
        "import numpy as np\n"
        "from seqtag.engine.native import _kernel\n"
        "_kernel.draw_secret(0, 1)\n"
        f"keys = np.arange(1, {COUNT + 1}, dtype=np.uint64) << np.uint64(32)\n"
        "print(*_kernel.longest_probes_of_keys(keys))\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert min(map(int, found.stdout.split()[:2])) >= COUNT // 2


def test_numbers_do_not_hang_on_the_secret():
    plan = key_plan([((0, 0),), ((0, -1), (0, 1))], [0])
    types = np.arange(400, dtype=np.int32)[None] % 37
    hashes = np.arange(3, 40, dtype=np.uint64)[None] * np.uint64(0x9E3779B97F4A7C15)
    sentence_ptr = np.array([0, 150, 400], np.int64)
    found = []
    try:
        for secret in [(0, 1), (1, 2**63 + 1), (5, 0x9E3779B97F4A7C15)]:
            _kernel.draw_secret(*secret)
            arrays = index_features(plan, types, hashes, sentence_ptr, 1)
            found.append([array.tobytes() for array in arrays])
    finally:
        draw_secret()
    assert found[0] == found[1] == found[2]


def test_every_process_draws_its_own_secret():
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_kernel, "draw_secret", lambda *numbers: drawn.append(numbers))
        draw_secret()
        draw_secret()
    assert drawn[0] != drawn[1]
    assert max(max(drawn)) > 2**32
