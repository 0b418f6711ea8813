"""What must hold of checkpoints: damage is told, and no training goes on as another one."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from seqtag.errors import SeqtagError
from seqtag.features.language import parse
from seqtag.model.bundle import models_of, to_bytes
from seqtag.model.container import from_bytes
from seqtag.training import checkpoints
from seqtag.training.train import train
from tests.fuzzing.choices import Choices
from tests.fuzzing.mutated_models import mutated, signed_again, with_other_bytes
from tests.strategies import corpus

_DATA = corpus(
    "the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; old JJ, men NN, run VB; "
    "a DT, run NN, is VB, old JJ; men NN, man VB, the DT, boat NN; she PR, runs VB, a DT, boat NN"
)
_HOW: dict[str, Any] = {
    "label": "tag",
    "templates": parse("form[0]\nsuffix(1)[0]\nlabel[-1] + suffix(1)[0]\nlabel[-1]"),
    "epochs": 3,
    "dropout": 0.2,
    "min_count": 1,
    "dev": corpus("a DT, man NN, runs VB"),
}
_OTHERS: list[dict[str, Any]] = [
    {"epochs": 4},
    {"seed": 2},
    {"dropout": 0.1},
    {"templates": parse("form[0]\nlabel[-1]")},
    {"shuffle": False},
]


class _Killed(BaseException):
    """Raised to end the process; never caught."""


def _model(**how: Any) -> bytes:
    return to_bytes([train(_DATA, **(_HOW | how)).model])


@cache
def _straight() -> bytes:
    """Return the model of the undisturbed training."""
    return _model()


@cache
def _left(at: int) -> dict[str, bytes]:
    """The checkpoints of a training that dies after so many of them."""
    write, left = checkpoints.RunCheckpoints._write, [at]

    def counted(self: Any, *what: Any) -> bool:
        if not left[0]:
            raise _Killed
        left[0] -= 1
        return write(self, *what)

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints.RunCheckpoints, "_write", counted)
        with suppress(_Killed):
            _model(checkpoint=folder)
        return {path.name: path.read_bytes() for path in checkpoints.files_of(folder)}


def resume(data: bytes) -> str:
    """Checkpoints with damage, or with other words and a right checksum, or of another training."""
    choices = Choices(data)
    before = _left(1 + choices.below(4))
    files = dict(before)
    way, other = choices.below(4), choices.pick(_OTHERS)
    names = sorted(files)
    name = choices.pick(names) if way else names[-1]
    if way == 1:  # malice, with a checksum
        files[name] = mutated(choices, files[name])
    elif way == 2:
        files[name] = signed_again(with_other_bytes(choices, files[name]))
    else:
        files[name] = with_other_bytes(choices, files[name])
    if choices.below(8) == 7:  # names that say another number, or another run
        files[f"run-{1 + choices.below(2)}-{choices.below(1000):06}.checkpoint"] = files[name]
    with TemporaryDirectory() as folder, _Notes() as notes:
        for each, content in files.items():
            Path(folder, each).write_bytes(content)
        if choices.below(8) == 6:
            return _refused(folder, other)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # weights that somebody made up
                found = _model(checkpoint=folder, resume=True)
            if way in (1, 2):
                models_of(from_bytes(found))  # whatever was signed: what comes of it is a model
                return "accepted"
        except SeqtagError as error:
            assert way in (1, 2) or str(error).startswith(folder), error
            return str(error).removeprefix(folder)
    assert found == _straight()
    newest = max(each for each in files if each.startswith("tag-run-1-"))
    if files[newest] not in before.values() and not _is_whole(files[newest]):
        assert any("the previous checkpoint is used" in line for line in notes.lines)
    return "accepted"


def _is_whole(data: bytes) -> bool:
    """Whether a file says what its checksum promises, as after a change between its parts."""
    try:
        from_bytes(data)
    except SeqtagError:
        return False
    return True


def _refused(folder: str, other: dict[str, Any]) -> str:
    """Another training refuses the checkpoints, if it can read one."""
    try:
        found = _model(checkpoint=folder, resume=True, **other)
    except SeqtagError as error:
        return str(error).removeprefix(folder)
    raise AssertionError(f"went on as another training: {other}, {len(found)} bytes")


class _Notes(logging.Handler):
    """What the log says."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def __enter__(self) -> _Notes:
        logging.getLogger("seqtag").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("seqtag").removeHandler(self)
