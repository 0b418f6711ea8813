"""Where random numbers come from."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqtag.errors import SeqtagError


def random_source(seed: Any) -> np.random.RandomState:
    """A random stream: of an int, of a numpy generator, or (None) of fresh entropy.

    numpy has promised never to change the stream of a RandomState.

    Raises
    ------
    SeqtagError
        If the seed is none of these.

    Examples
    --------
    >>> random_source(0).permutation(4).tolist()
    [2, 3, 1, 0]
    """
    if isinstance(seed, np.random.RandomState):
        return seed
    if isinstance(seed, np.random.Generator):
        return np.random.RandomState(seed.integers(2**32))
    if seed is None or (isinstance(seed, (int, np.integer)) and 0 <= seed < 2**32):
        return np.random.RandomState(seed)
    msg = f"expected a seed from 0 to 2**32 - 1, a numpy generator or None, found {seed!r}"
    raise SeqtagError(msg)
