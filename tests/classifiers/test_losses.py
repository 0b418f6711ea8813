"""Losses against worked examples, and the risk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.classifiers.losses import (
    empirical_risk,
    hinge,
    squared,
    weighted_zero_one,
    zero_one,
)
from seqtag.errors import LabelError, SeqtagError

pairs = st.lists(st.tuples(st.sampled_from([-1, 1]), st.floats(-5, 5)), min_size=1)


@given(pairs)
def test_losses_are_their_formulas(sample):
    y, h = map(list, zip(*sample, strict=True))
    expected = [float((1 if b > 0 else -1) != a) for a, b in sample]
    assert zero_one(y, h).tolist() == expected
    assert hinge(y, h).tolist() == [max(0.0, 1 - a * b) for a, b in sample]
    assert squared(y, h).tolist() == pytest.approx([(a - b) ** 2 for a, b in sample])
    weighted = [
        wrong * (3.0 if a < 0 else 0.5) for wrong, (a, _) in zip(expected, sample, strict=True)
    ]
    assert weighted_zero_one(y, h, 3, 0.5).tolist() == weighted
    assert empirical_risk(weighted_zero_one, y, h, gamma1=3, gamma2=0.5) == pytest.approx(
        np.mean(weighted)
    )
    assert (zero_one(y, h) <= hinge(y, h)).all()  # an upper bound


@pytest.mark.parametrize(
    ("y", "h", "message"),
    [
        ([1], [1, 2], r"expected labels and scores of one shape \(n,\), found \(1,\) and \(2,\)"),
        ([[1]], [[1]], r"found \(1, 1\) and \(1, 1\)"),
        ([1, 0], [1, 1], "expected labels -1 and [+]1, found 0; map the labels first"),
        ([1], [np.nan], "expected scores that are numbers, found NaN"),
    ],
)
def test_losses_refuse(y, h, message):
    for loss in (zero_one, hinge, squared):
        with pytest.raises(SeqtagError, match=message):
            loss(y, h)
    assert issubclass(LabelError, SeqtagError)
