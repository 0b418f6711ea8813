"""Checkpoints: where a training stands, in files, so that it goes on whatever has stopped it.

A folder belongs to one training, which locks it while it runs.  Each run of each part has files of
its own, of which the last two are kept::

    lock                                which process the folder belongs to
    run-1-000007.checkpoint             run 1 of a tagger
    upos-run-2-000031.checkpoint        run 2 of the part upos of a pipeline
    upos-fold-1-run-1-000003.checkpoint a model that tags training sentences for later parts

A checkpoint has the layout of a model file (`seqtag.model.container`): it is written whole or not
at all, damage is found by its checksum, and to read it runs nothing.  It says which training it is
of; another one is refused with the difference named.
"""

from __future__ import annotations

import logging
import math
import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from seqtag.engine.epochs import Kept, TrainingState
from seqtag.errors import CheckpointError, ModelFileError
from seqtag.model import container
from seqtag.storage import locks
from seqtag.storage.output import remove_leftovers
from seqtag.training.checkpoint_format import COMMON, describe, differences, pack, pack_kept, unpack
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import FileIO

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Layout

_SUFFIX = ".checkpoint"
_NAME = re.compile(rf"(.*)-(\d{{6,}}){re.escape(_SUFFIX)}")
_KEPT = 2  # files of a run: the newest, and one to fall back on

_log = logging.getLogger("seqtag")


class Checkpoints:
    """The folder of a training's checkpoints; a context manager that locks it.

    Parameters
    ----------
    folder
        Made if it is not there.
    resume
        Whether to go on from the checkpoints in it. Where there are none, the training begins at
        its start, with a note: the same call is right the first time and after every stop.
    every
        Seconds after which a checkpoint is due, also within an epoch; None for one after each
        epoch.

    Raises
    ------
    CheckpointError
        If another training uses the folder, or it has checkpoints and is not to be resumed from.
    ValueError
        If `every` is negative or not finite.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Checkpoints(folder) as checkpoints:
    ...     sorted(path.name for path in checkpoints.folder.iterdir())
    ['lock']
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        resume: bool = False,
        every: float | None = None,
    ):
        if every is not None and not (math.isfinite(every) and every >= 0):
            msg = f"expected seconds of 0 or more between checkpoints, found {every}"
            raise ValueError(msg)
        self.folder = Path(folder)
        self.every = every
        self._resume = resume
        self._lock: FileIO | None = None

    def __enter__(self) -> Checkpoints:
        if self.folder.exists() and not self.folder.is_dir():
            msg = "expected a folder for checkpoints, found a file; name another"
            raise CheckpointError(msg, source=str(self.folder))
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self.folder)
        try:
            remove_leftovers(self.folder)
            found = files_of(self.folder)
            if found and not self._resume:
                msg = (
                    f"expected a folder without checkpoints, found {found[-1].name} of a training "
                    "before; go on with it (--resume), or name another folder"
                )
                raise CheckpointError(msg, source=str(self.folder))
        except BaseException:
            self.__exit__()
            raise
        if self._resume and not found:
            _log.info("%s: no checkpoint yet, the training begins at its start", self.folder)
        return self

    def __exit__(self, *_: object) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            with suppress(OSError):  # nothing is in it that is worth a model
                lock.close()

    def stage(self, label: str, whole: Mapping[str, Any] | None = None) -> Stage:
        """What is trained as a whole: the columns that are learnt, and what all of it hangs on."""
        return Stage(self, label, whole=whole or {})


def checkpoints_in(
    folder: str | os.PathLike[str] | None, *, resume: bool, every: float | None
) -> Checkpoints | None:
    """The checkpoints that a caller asks for, if any.

    Raises
    ------
    ValueError
        If `resume` or `every` is given and no folder; or as `Checkpoints`.
    """
    if folder is not None:
        return Checkpoints(folder, resume=resume, every=every)
    if resume or every is not None:
        what = "resume" if resume else "checkpoint_every"
        msg = f"expected a folder for checkpoints with {what}, found none; give checkpoint="
        raise ValueError(msg)
    return None


@dataclass(frozen=True)
class Stage:
    """A part of a training that has checkpoints of its own.

    Parameters
    ----------
    checkpoints
        Where they are.
    label
        The columns that the whole training learns.
    name
        The part's; empty if there is only one.
    facts
        What the training of the part hangs on, JSON values; another is not to be resumed.
    whole
        What the whole training hangs on, though not each of its parts.
    """

    checkpoints: Checkpoints
    label: str
    name: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    whole: Mapping[str, Any] = field(default_factory=dict)

    def part(self, name: str) -> Stage:
        """A part of this one."""
        return replace(self, name=f"{self.name}-{name}" if self.name else name)

    def about(self, facts: Mapping[str, Any]) -> Stage:
        """The same part, and what its training hangs on."""
        whole = dict(self.whole)
        common = {"seqtag": __version__, "label": self.label, "whole": whole}
        return replace(self, facts={**common, **facts})

    def run(self, number: int) -> RunCheckpoints:
        """The checkpoints of a run."""
        name = f"{self.name}-run-{number}" if self.name else f"run-{number}"
        return RunCheckpoints(self.checkpoints, name, self.facts)


class RunCheckpoints:
    """The checkpoints of one run: a `seqtag.engine.epochs.Checkpointer`."""

    def __init__(self, checkpoints: Checkpoints, name: str, facts: Mapping[str, Any]):
        self._folder, self._every = checkpoints.folder, checkpoints.every
        self._name, self._facts = name, facts
        self._good: list[Path] = []  # files that are whole, the newest last
        self._number = 0
        self._last: tuple[int, int] = 0, 0  # epoch and sentences of the newest
        self._due = monotonic() + (self._every or 0)

    def begin(self, layout: Layout, sentences: int) -> TrainingState | Kept | None:
        """Where the run stands, or what it keeps if it was finished; None at its start.

        Parameters
        ----------
        layout
            The shape of its weights.
        sentences
            How many an epoch visits.

        Raises
        ------
        CheckpointError
            If the checkpoints are of another training, or none of them is whole.
        """
        files = files_of(self._folder, self._name)
        if not files:
            self._check_others()
            return None
        self._number = _number_of(files[-1])
        problems: list[str] = []
        for path in reversed(files):
            try:
                contents = _read(path)
                self._check(contents.config["facts"])
                found = unpack(contents, layout, sentences)
            except ModelFileError as error:
                problems.append(f"{path.name}: {error.message.partition(';')[0]}")
                continue
            for problem in problems:
                _log.warning("%s/%s; the checkpoint before is taken", self._folder, problem)
            self._good = [path]
            if isinstance(found, TrainingState):
                self._last = found.epoch, found.visited
            _log.info("going on from %s: %s", path, describe(found))
            return found
        msg = f"expected a checkpoint that is whole, found none; use another folder ({problems[0]})"
        raise CheckpointError(msg, source=str(self._folder))

    def wants(self, *, epoch_over: bool) -> bool:
        """Whether a checkpoint is due."""
        if self._every is None:
            return epoch_over
        return monotonic() >= self._due

    def keep(self, training_state: TrainingState) -> None:
        """Write a checkpoint, unless the newest says the same.

        A disk that is full is no reason to lose the training: a warning says so, it goes on, and
        the checkpoints of before stay.
        """
        place = training_state.epoch, training_state.visited
        if place != self._last and self._write(*pack(training_state)):
            self._last = place
        self._due = monotonic() + (self._every or 0)

    def finish(self, kept: Kept) -> None:
        """Write what the run has come to."""
        self._write(*pack_kept(kept))

    def _write(self, about: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> bool:
        """Write a file, and remove those before the last two; False if it cannot be written."""
        self._number += 1
        path = self._folder / f"{self._name}-{self._number:06}{_SUFFIX}"
        config = {"kind": "checkpoint", "facts": dict(self._facts), "standing": dict(about)}
        try:
            container.save(path, config, tensors)
        except OSError as error:
            why = str(error.strerror or error).partition(":")[0]
            _log.warning("%s: not written (%s); the training goes on", path, why)
            return False
        self._good = [*self._good, path][-_KEPT:]
        for old in files_of(self._folder, self._name):
            if old not in self._good:
                with suppress(OSError):  # a file too many does no harm
                    old.unlink()
        return True

    def _check(self, facts: Mapping[str, Any]) -> None:
        """Refuse the checkpoints of another training."""
        found = differences(facts, self._facts)
        if found:
            msg = (
                f"expected checkpoints of this training, found others: {'; '.join(found)}; "
                "give the command of before, or another folder"
            )
            raise CheckpointError(msg, source=str(self._folder))

    def _check_others(self) -> None:
        """Refuse a folder with checkpoints of other parts in which this one cannot be."""
        for path in files_of(self._folder):
            with suppress(ModelFileError):
                facts = _read(path).config["facts"]
                self._check({**self._facts, **{name: facts.get(name) for name in COMMON}})
                return


# --------------------------------------------------------------------------- files
def files_of(folder: str | os.PathLike[str], name: str | None = None) -> list[Path]:
    """The checkpoints in a folder, of one run or of all, the newest last."""
    found = []
    for path in Path(folder).glob(f"*{_SUFFIX}"):
        match = _NAME.fullmatch(path.name)
        if match and name in (None, match[1]):
            found.append(path)
    return sorted(found, key=lambda path: (_number_of(path), path.name))


def _number_of(path: Path) -> int:
    match = _NAME.fullmatch(path.name)
    return int(match[2]) if match else 0


def _locked(folder: Path) -> FileIO:
    """The lock of a folder, held until it is closed.

    Raises
    ------
    CheckpointError
        If another process holds it.
    """
    lock = (folder / "lock").open("a+b", buffering=0)
    try:
        _take(lock, folder)
    except BaseException:
        with suppress(OSError):
            lock.close()
        raise
    return lock


def _take(lock: FileIO, folder: Path) -> None:
    """Lock the file, and write into it who did."""
    try:
        if not locks.acquire(lock.fileno()):
            lock.seek(0)
            owner = lock.read(200).decode("utf-8", "replace").strip() or "another process"
            msg = (
                f"expected a folder that no other training uses, found it in use by {owner}; "
                "wait until that one has ended, or name another folder"
            )
            raise CheckpointError(msg, source=str(folder))
    except OSError as error:
        _log.warning(
            "%s: cannot be locked (%s); see that no other training uses it", folder, error.strerror
        )
    with suppress(OSError):  # a full disk is no reason not to train
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {platform.node() or 'this machine'}\n".encode())


def _read(path: Path) -> container.Contents:
    """A file that is a checkpoint."""
    contents = container.load(path)
    if contents.config.get("kind") != "checkpoint" or not all(
        isinstance(contents.config.get(name), dict) for name in ("facts", "standing")
    ):
        msg = "expected a checkpoint, found something else"
        raise ModelFileError(msg, source=str(path))
    return contents
