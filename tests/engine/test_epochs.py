"""The training loop: what it keeps, when it stops, and what interruption leaves."""

from __future__ import annotations

import numpy as np
import pytest

from seqtag.engine import backend as backends
from seqtag.engine import epochs
from seqtag.engine.arrays import Instances, Layout, Pause
from seqtag.engine.epochs import Recipe, Verdict, learn
from seqtag.randomness import visiting_order
from tests.strategies import each_backend, random_case


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


# ----------------------------------------------------------------- pauses, and going on
class Everything:
    """A checkpointer that wants to know where the run stands as often as it may."""

    def __init__(self, within: bool = True):
        self.within, self.kept = within, []

    def wants(self, *, epoch_over):
        return epoch_over or self.within

    def keep(self, state):
        self.kept.append(state)


def course(backend, weights=None, **how):
    """Three epochs over a case of 9 sentences, each in an order of its own."""
    case = random_case(np.random.RandomState(3), 5, 2, 2, sentences=9, longest=6)
    scores = [0.5, 0.7, 0.6]
    kept = learn(
        weights or backend.Weights(case.layout, "float32", "adaptive"),
        lambda _: case.x,
        case.y,
        lambda epoch: visiting_order(9, 1, 1, epoch),
        Recipe(3, "adaptive", 0.1, 1.0),
        judge=lambda _, epoch: Verdict(scores[epoch - 1]),
        **how,
    )
    return kept, case.layout


def bits(kept) -> list:
    return [kept.epoch, kept.converged, kept.interrupted, *(a.tobytes() for a in kept.cells)]


@each_backend
def test_where_a_run_stands_is_known_after_every_sentence(backend, monkeypatch):
    monkeypatch.setattr(epochs, "ASK_EVERY", 0)
    straight, layout = course(backend)
    checkpointer, reports = Everything(), []
    paused, _ = course(backend, checkpointer=checkpointer, on_epoch=reports.append)
    assert bits(paused) == bits(straight)
    places = [(state.epoch, state.visited) for state in checkpointer.kept]
    assert places == [
        place for e in range(3) for place in (*((e, v) for v in range(1, 9)), (e + 1, 0))
    ]
    for state in checkpointer.kept:
        weights = backend.Weights(layout, "float32", "adaptive", state.state)
        left = []
        again, _ = course(backend, weights, begin=state, on_epoch=left.append)
        assert bits(again) == bits(straight)
        assert left == reports[state.epoch :]


@each_backend
def test_a_run_that_is_stopped_says_where_it_stands(backend, monkeypatch):
    monkeypatch.setattr(epochs, "ASK_EVERY", 0)
    for last in range(1, 27):
        checkpointer = Everything(within=False)
        answers = iter([False] * last + [True] * 99)
        stopped = {"stopped": lambda answers=answers: next(answers), "checkpointer": checkpointer}
        try:
            kept, *_ = course(backend, **stopped)
        except KeyboardInterrupt:
            assert checkpointer.kept[-1].epoch == 0
        else:
            assert kept.interrupted
            assert checkpointer.kept[-1].epoch in (1, 2)
        weights = backend.Weights(
            course(backend)[1], "float32", "adaptive", checkpointer.kept[-1].state
        )
        again, *_ = course(backend, weights, begin=checkpointer.kept[-1])
        assert bits(again) == bits(course(backend)[0])


@each_backend
def test_a_run_that_was_over_does_nothing_more(backend):
    checkpointer = Everything()
    kept, layout = course(backend, checkpointer=checkpointer)
    end = checkpointer.kept[-1]
    weights = backend.Weights(layout, "float32", "adaptive", end.state)
    again, _ = course(backend, weights, begin=end)
    assert (bits(again), weights.seen) == (bits(kept), end.state.seen)
    assert run(patience=1, judge=lambda *_: Verdict(1.0)).epoch == 1


@each_backend
def test_a_second_interruption_keeps_nothing(backend):
    def interrupt(_):
        raise KeyboardInterrupt

    answers = iter([False, True])  # before the epoch, and when the interruption comes
    with pytest.raises(KeyboardInterrupt):
        course(backend, on_epoch=interrupt, stopped=lambda: next(answers))
    assert course(backend, on_epoch=interrupt)[0].interrupted


@each_backend
def test_an_exception_while_a_pause_is_asked_comes_through(backend):
    case = random_case(np.random.RandomState(3), 5, 1, sentences=9, longest=6)
    weights = backend.Weights(case.layout)

    def asked():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        weights.train_epoch(case.x, case.y, np.arange(9), pause=Pause(asked, 0))
    assert weights.seen == 1


@each_backend
def test_nothing_is_asked_before_it_is_time(backend):
    case = random_case(np.random.RandomState(3), 5, 1, sentences=9, longest=6)
    weights = backend.Weights(case.layout)
    weights.train_epoch(case.x, case.y, np.arange(9), pause=Pause(pytest.fail, 1e9))
    assert weights.seen == 9
