"""The training loop: what it keeps, when it stops, and what interruption leaves."""

from __future__ import annotations

import numpy as np
import pytest

from seqtag.engine import backend as backends
from seqtag.engine.arrays import Instances, Layout
from seqtag.engine.epochs import Recipe, Verdict, learn


def run(judge=None, on_epoch=None, epochs=6, **recipe):
    """Learn three words with two labels; the third contradicts the first."""
    x = Instances(np.arange(4), np.arange(4), np.array([0, 1, 0], np.int32))
    y = np.array([0, 1, 1], np.int32)
    weights = backends.Weights(Layout(2, 2, 0))
    return learn(
        weights,
        lambda _: x,
        y,
        lambda _: np.arange(3),
        Recipe(epochs, **recipe),
        judge=judge,
        on_epoch=on_epoch,
    )


def test_without_a_judge_the_last_epoch_is_kept():
    kept = run(epochs=4)
    assert (kept.epoch, kept.converged, kept.interrupted) == (4, False, False)


def test_the_first_of_the_best_epochs_is_kept_and_patience_stops():
    scores = [1, 3, 3, 2, 2, 9]
    seen = []
    kept = run(
        lambda _, epoch: Verdict(scores[epoch - 1]),
        patience=2,
        on_epoch=lambda done: seen.append((done.epoch, done.verdict.score, done.best)),
    )
    assert kept.epoch == 2
    assert seen == [(1, 1, True), (2, 3, True), (3, 3, False), (4, 2, False)]


def test_it_stops_when_an_epoch_makes_no_mistake():
    x = Instances(np.arange(3), np.arange(3), np.array([0, 1], np.int32))
    kept = learn(
        backends.Weights(Layout(2, 2, 0)),
        lambda _: x,
        np.array([0, 1], np.int32),
        lambda _: np.arange(2),
        Recipe(epochs=9, until_right=True),
    )
    assert kept.converged
    assert kept.epoch < 9


def test_an_interruption_keeps_what_was_learnt():
    def interrupt(done):
        if done.epoch == 3:
            raise KeyboardInterrupt

    kept = run(on_epoch=interrupt)
    assert (kept.epoch, kept.interrupted) == (3, True)
    np.testing.assert_array_equal(kept.cells.weight, run(epochs=3).cells.weight)


def test_an_interruption_before_the_first_epoch_is_one():
    def order(_):
        raise KeyboardInterrupt

    x = Instances(np.arange(2), np.arange(2), np.array([0], np.int32))
    with pytest.raises(KeyboardInterrupt):
        learn(
            backends.Weights(Layout(1, 2, 0)),
            lambda _: x,
            np.zeros(1, np.int32),
            order,
            Recipe(epochs=1),
        )
