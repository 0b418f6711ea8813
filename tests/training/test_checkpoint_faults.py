"""Checkpoints under faults: what cannot be written ends no training and spoils no other."""

from __future__ import annotations

import errno

import pytest

from seqtag.features.language import parse
from seqtag.model.bundle import to_bytes
from seqtag.training.train import train
from tests.faults import each_fault
from tests.strategies import corpus

DATA = corpus("the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; old JJ, men NN, run VB")
TEMPLATES = parse("form[0]\nsuffix(1)[0]\nlabel[-1]")


def model_of(**how) -> bytes:
    found = train(DATA, label="tag", templates=TEMPLATES, epochs=3, **how).model
    if found.interrupted:
        raise KeyboardInterrupt
    return to_bytes([found])


@pytest.mark.parametrize(
    ("error", "after"),
    [(errno.ENOSPC, False), (errno.EIO, True), (errno.EDQUOT, False), (KeyboardInterrupt, True)],
)
def test_a_fault_at_any_call_that_writes_checkpoints(error, after, tmp_path):
    """The training ends with its model, or before its start; to go on from what is left is right.

    Only the lock, and the folder, are needed: the training says at once that it cannot have them.
    """
    straight = model_of()
    seen, ended = set(), set()
    for number, faults in enumerate(each_fault(pytest.MonkeyPatch, (error, after))):
        folder = tmp_path / str(number) / "stand"
        try:
            assert model_of(checkpoint=folder) == straight, faults.calls
        except (OSError, KeyboardInterrupt) as caught:
            ended.add((type(caught), faults.last))
        faults.over = True
        seen |= {faults.last} if faults.happened else set()
        assert model_of(checkpoint=folder, resume=True) == straight, faults.calls
        left = [path.name for path in folder.iterdir() if path.suffix != ".checkpoint"]
        assert left == ["lock"], faults.calls
    assert {"mkdir", "open", "flock", "write", "flush", "replace", "close"} <= seen
    if isinstance(error, int):
        of_lock = {"mkdir", "open", "stat"}
        assert {name for _, name in ended} <= of_lock
    else:
        assert {kind for kind, _ in ended} == {KeyboardInterrupt}
