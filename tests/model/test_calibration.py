"""Calibration: shares of right labels that never fall with the margin, in the model file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.model.calibration import Calibration, is_calibration

pairs = st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=60)


@given(pairs)
def test_scores_rise_with_the_margin_and_are_no_certainty(data):
    margins, right = zip(*data, strict=True)
    learned = Calibration.learn(margins, right)
    assert is_calibration(learned.to_dict())
    assert Calibration.from_dict(learned.to_dict()) == learned
    scores = learned.of(range(-5, 40))
    assert scores == sorted(scores)
    assert 0 < scores[0] <= scores[-1] < 1
    assert learned.tokens == len(data)


def test_scores_are_shares_of_right_labels():
    random = np.random.default_rng(0)
    margins = random.integers(0, 100, 20_000)
    right = random.random(20_000) < 0.5 + margins / 200
    scores = Calibration.learn(margins, right).of([10, 50, 90])
    assert scores == pytest.approx([0.55, 0.75, 0.95], abs=0.03)


def test_infinite_margins_teach_nothing_and_score_as_the_highest():
    few = Calibration.learn([1, 2, 3], [False, True, True])
    assert Calibration.learn([1, np.inf, 2, 3], [False, True, True, True]) == few
    assert few.of([np.inf]) == few.of([3])
    with pytest.raises(ValueError) as error:
        Calibration.learn([np.inf], [True])
    assert str(error.value) == "expected tokens with a choice of labels to calibrate on, found none"


@pytest.mark.parametrize(
    "change",
    [
        {"margins": []},
        {"margins": [1, 1]},
        {"margins": [1.0]},
        {"margins": ["1", "2"]},
        {"margins": [float("nan"), 1]},
        {"shares": [0.6, 0.5]},
        {"shares": [0.5, 1.1]},
        {"shares": [-0.1, 0.5]},
        {"shares": [True, True]},
        {"tokens": 0},
        {"tokens": 1.5},
        {"more": 1},
        {"margins": list(range(1001)), "shares": [0.5] * 1001},
    ],
)
def test_what_is_no_calibration(change):
    good = {"margins": [1.0, 2.0], "shares": [0.5, 0.6], "tokens": 3}
    assert is_calibration(good)
    assert not is_calibration(good | change)
    assert not is_calibration(list(good))
