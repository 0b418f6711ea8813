"""Reliability: bins of calibrated scores against what is right."""

from __future__ import annotations

import pytest

from seqtag.evaluation.reliability import BINS, Reliability


def test_bins_have_as_many_tokens_each():
    scores = [n / 100 for n in range(100)]
    right = [n % 2 == 0 for n in range(100)]
    found = Reliability.of(scores, right)
    assert [each.tokens for each in found.bins] == [10] * BINS
    assert {each.accuracy for each in found.bins} == {0.5}
    assert [(each.low, each.high) for each in found.bins[:2]] == [(0.0, 0.09), (0.1, 0.19)]
    assert found.tokens == 100
    assert found.error == pytest.approx(sum(abs(n / 10 + 0.045 - 0.5) for n in range(10)) / 10)


def test_tokens_of_one_score_are_in_one_bin():
    found = Reliability.of([0.5] * 30 + [0.9] * 2, [True] * 32)
    assert [(each.tokens, each.low) for each in found.bins] == [(30, 0.5), (2, 0.9)]
    assert found.error == pytest.approx((30 * 0.5 + 2 * 0.1) / 32)
    assert found.to_dict()["bins"][1]["high"] == 0.9
    assert "expected calibration error 47.50" in found.section.text


def test_no_tokens():
    assert Reliability.of([], []) == Reliability(())
    assert Reliability(()).error == 0
