"""The training loop: what it keeps, when it stops, and what interruption leaves."""

from __future__ import annotations

import numpy as np
import pytest

from seqtag.engine import backend as backends
from seqtag.engine import reference
from seqtag.engine.arrays import Instances, Layout
from seqtag.engine.epochs import Recipe, Verdict, learn
from seqtag.randomness import visiting_order
from tests.strategies import REFERENCE, each_backend, random_case


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


# ----------------------------------------------------------------- interruptions
def course(backend, *, judge=True, stopped=None, longer=None, epochs=3, **more):
    """Epochs over a case of 9 sentences, of which `longer` visits them so often that it is asked."""
    case = random_case(np.random.RandomState(3), 5, 2, 2, sentences=9, longest=6)
    scores = [0.5, 0.7, 0.6]

    def visits(epoch):
        order = visiting_order(9, 1, 1, epoch)
        return (
            np.tile(order, 200 if backend is REFERENCE else 300_000) if epoch == longer else order
        )

    kept = learn(
        backend.Weights(case.layout, "float32", "adaptive"),
        lambda _: case.x,
        case.y,
        visits,
        Recipe(epochs, "adaptive", 0.1, 1.0),
        judge=(lambda _, epoch: Verdict(scores[epoch - 1])) if judge else None,
        stopped=stopped,
        **more,
    )
    return [kept.epoch, kept.interrupted, *(array.tobytes() for array in kept.cells)]


class Flag:
    """A request to stop from the end of an epoch on."""

    def __init__(self, epoch=0):
        self.epoch, self.done = epoch, 0

    def __call__(self):
        return self.done >= self.epoch

    def report(self, progress):
        self.done = progress.epoch


@each_backend
def test_a_run_that_is_stopped_between_epochs_keeps_the_best(backend):
    for last in (1, 2):
        flag = Flag(last)
        epoch, interrupted, *cells = course(backend, stopped=flag, on_epoch=flag.report)
        assert (epoch, interrupted) == (last, True)
        assert cells == course(backend, epochs=last)[2:]
    with pytest.raises(KeyboardInterrupt):
        course(backend, stopped=Flag())


class Late(Flag):
    """A request to stop that comes within the epoch after one."""

    def __call__(self):
        self.asked = getattr(self, "asked", 0) + (self.done == self.epoch)
        return self.asked > 1


@each_backend
def test_within_an_epoch_it_is_dropped_if_a_judge_chose_another(backend, monkeypatch):
    monkeypatch.setattr(reference, "ASK_EVERY", 0)
    late = Late(1)
    found = course(backend, stopped=late, longer=2, on_epoch=late.report)
    assert found == [1, True, *course(backend, epochs=1)[2:]]
    with pytest.raises(KeyboardInterrupt):
        course(backend, stopped=Late(0), longer=1)


@each_backend
def test_without_a_judge_the_epoch_under_way_is_finished(backend, monkeypatch):
    monkeypatch.setattr(reference, "ASK_EVERY", 0)
    late = Late(1)
    found = course(backend, judge=False, stopped=late, longer=2, on_epoch=late.report)
    assert found == [2, True, *course(backend, judge=False, longer=2, epochs=2)[2:]]


@each_backend
def test_other_interruptions_come_through(backend):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        course(backend, on_epoch=interrupt)
    case = random_case(np.random.RandomState(3), 5, 1, sentences=9, longest=6)
    weights = backend.Weights(case.layout)
    weights.train_epoch(case.x, case.y, np.arange(9), ask=pytest.fail)  # before it is time
    assert weights.seen == 9
