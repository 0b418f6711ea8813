"""Random number streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqtag.errors import SeqtagError


def random_source(seed: Any) -> np.random.RandomState:
    """Return a random stream from an int, a numpy generator, or (None) fresh entropy.

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


def seed_of(seed: Any) -> int:
    """Return a seed as a number; it is drawn from a numpy generator or None.

    Raises
    ------
    SeqtagError
        As `random_source`.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    source = random_source(seed)
    if isinstance(seed, (int, np.integer)):
        return int(seed)
    return int(source.randint(2**32, dtype=np.uint64))


def visiting_order(examples: int, seed: int, run: int, epoch: int) -> np.ndarray:
    """Return the order in which training visits its examples, for taggers and classifiers.

    Parameters
    ----------
    examples
        Number of examples, n.
    seed
        From 0 to 2**32 - 1.
    run, epoch
        Counted from 1; a classifier makes one run.

    Returns
    -------
    array (n,) int64
        Their numbers, each once.

    Examples
    --------
    >>> visiting_order(4, 1, 1, 1).tolist()
    [3, 2, 1, 0]
    """
    return np.random.RandomState([seed, run, epoch]).permutation(examples).astype(np.int64)
