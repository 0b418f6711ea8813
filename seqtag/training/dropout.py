"""Dropout: features that an epoch does not see, drawn at random."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Instances

    Seen = Callable[[np.random.RandomState], Instances]

RARE = "rare"
"""In the place of a share: features are hidden the more, the rarer they are.

A word that training has not seen lacks all features that are its own; words seen once or twice are
what it is most like, but have them, and would leave little to learn to their endings. Hiding such
features half of the time is worth .3 for Armenian and Turkish, and more with runs.
"""

_BLOCK = 2**20  # features drawn for at a time: 8 MB

_log = logging.getLogger("seqtag")


def hiding(x: Instances, dropout: float | str) -> Seen:
    """What gives, of instances, those that an epoch sees, by its random stream.

    Parameters
    ----------
    x
        All that there is to learn from; features count as often as they are here.
    dropout
        The setting: a share, or `RARE`. Bundles are for corpora so large that rare features
        matter little; these are seen as they are.
    """
    if dropout == RARE and x.bundles is not None:
        _log.info("dropout rare: nothing is hidden in a corpus of this size")
    if not dropout or x.bundles is not None:
        return partial(_all, x)
    counts = np.bincount(x.features)
    shares = 1 / (1 + counts) if dropout == RARE else np.full(len(counts), dropout)
    return partial(_seen, x, shares)


def _all(x: Instances, _: np.random.RandomState) -> Instances:
    return x


def _seen(x: Instances, shares: NDArray[np.float64], random: np.random.RandomState) -> Instances:
    """The instances without some of their features, of each row its share."""
    kept = np.empty(len(x.features), bool)
    for begin in range(0, len(kept), _BLOCK):
        rows = x.features[begin : begin + _BLOCK]
        kept[begin : begin + _BLOCK] = random.random_sample(len(rows)) >= shares[rows]
    token_ptr = np.concatenate([[0], np.cumsum(kept)])[x.token_ptr].astype(np.int64)
    values = None if x.values is None else x.values[kept]
    return x._replace(token_ptr=token_ptr, features=x.features[kept], values=values)
