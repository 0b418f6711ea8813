"""Signals while training: the first lets it finish its sentence, the second stops at once."""

from __future__ import annotations

import signal
import threading

import pytest

from seqtag.features.language import parse
from seqtag.training.interruption import AtOnce, Stop, put_off
from seqtag.training.train import train
from tests.command_line import posix
from tests.strategies import corpus
from tests.treebanks import components

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
DATA = corpus("the DT, cat NN, sat VB; a DT, dog NN; the DT, dog NN, ran VB")
HOW = {"label": "tag", "epochs": 9, "templates": parse("form[0]\nlabel[-1]")}


@pytest.fixture(autouse=True)
def handlers():
    """Handlers that raise, and those of before afterwards."""
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@BOTH
def test_what_a_handler_does_is_done(number):
    """One that raises nothing goes on as ever; what is ignored or the system's stays so."""
    seen = []
    signal.signal(number, lambda *_: seen.append(1))
    stop = Stop()
    with put_off(stop):
        signal.raise_signal(number)
    assert (seen, stop.requested()) == ([1], False)
    for left in (signal.SIG_IGN, signal.SIG_DFL):
        signal.signal(number, left)
        with put_off(stop):
            assert signal.getsignal(number) is left


def test_other_threads_have_no_handlers():
    found = []

    def look():
        with put_off(Stop()):
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


@posix
@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_ends_all_runs_and_keeps_what_is_done(threads):
    def strike(epoch):
        if (epoch.run, epoch.epoch) == (2, 2):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    how = HOW | {"epochs": 3}
    tagger = train(DATA, **how, runs=5, threads=threads, on_epoch=strike)
    assert tagger.model.interrupted
    best_epochs = tagger.info["training"]["best_epochs"]
    assert best_epochs == [3, 2] if threads == 1 else len(best_epochs) < 5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_signals_leave_no_part_of_a_pipeline():
    begun = []

    def strike(epoch):
        if begun[-1] == "xpos" and epoch.epoch == 2:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    words = corpus("the DET DT, cat NOUN NN; a DET DT, dog NOUN NN", "form upos xpos")
    with pytest.raises(AtOnce):
        components(words, on_component=begun.append, on_epoch=strike)
    assert begun == ["upos", "xpos"]
