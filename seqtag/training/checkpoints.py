"""Checkpoints: the state of a training in files, from which it can be resumed.

A folder belongs to one training, which locks it while it runs. Each run of each component has files
of its own, of which the last two are kept::

    lock                                process that uses the folder
    models                              SHA-256 of each model that the training has written
    upos-run-2-000031.checkpoint        run 2 of a tagger of upos, or of this component
    first.upos-run-1-000012.checkpoint  the first of two passes
    upos-fold-1-run-1-000003.checkpoint model that tags training sentences for later components

A checkpoint has the layout of a model file (`seqtag.model.container`): it is written atomically,
damage is detected by its checksum, and reading it runs no code. It records the training it belongs
to; resuming another one is refused, and the difference is named.
"""

from __future__ import annotations

import logging
import math
import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from seqtag.engine.arrays import Cells, CellStates, Layout, State
from seqtag.engine.checks import check_state
from seqtag.engine.epochs import Best, Kept, TrainingState
from seqtag.errors import CheckpointError, ModelFileError
from seqtag.model import container
from seqtag.model.container import damaged, expect
from seqtag.storage import locks
from seqtag.storage.output import remove_leftovers
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import FileIO

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Layout
    from seqtag.model.container import Contents

_SUFFIX = ".checkpoint"
_NAME = re.compile(rf"(.*)-(\d{{6,}}){re.escape(_SUFFIX)}")
_MODELS = "models"
_DIGEST = re.compile("([0-9a-f]{12})[0-9a-f]{52}")
_KEPT = 2  # files of a run: the newest, and one to fall back on

_log = logging.getLogger("seqtag")


class Checkpoints:
    """The folder of a training's checkpoints; a context manager that locks it.

    Parameters
    ----------
    folder
        The folder, made if needed.
    resume
        Resume from the checkpoints in it. If there are none, the training begins at its start, so
        that the same call is right the first time and after every interruption.
    every
        Seconds between checkpoints, also within an epoch; None for one after each epoch.

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
        self.unwritten: dict[str, str] = {}  # why the newest checkpoint of a run is missing
        self._resume = resume
        self._lock: FileIO | None = None

    def __enter__(self) -> Checkpoints:
        if self.folder.exists() and not self.folder.is_dir():
            msg = "expected a folder for checkpoints, found a file; name another"
            raise CheckpointError(msg, source=str(self.folder))
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = (self.folder / "lock").open("a+b", buffering=0)
        try:
            self._acquire(self._lock)
            remove_leftovers(self.folder)
            found = files_of(self.folder)
            if found and not self._resume:
                msg = (
                    f"expected a folder without checkpoints, found {found[-1].name} of an earlier "
                    "training; continue it (--resume), or choose another folder"
                )
                raise CheckpointError(msg, source=str(self.folder))
        except BaseException:
            self.__exit__()
            raise
        if self._resume and not found:
            _log.info("%s: no checkpoint yet, training starts from the beginning", self.folder)
        return self

    def __exit__(self, *_: object) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            with suppress(OSError):  # the model matters more
                lock.close()
        if self.unwritten:
            name, why = self.unwritten.popitem()
            _log.error(
                "%s: the newest checkpoint of %s could not be written (%s); make room, or choose "
                "another folder",
                self.folder,
                name,
                why,
                extra={"unwritten_checkpoints": True},
            )

    def _acquire(self, lock: FileIO) -> None:
        """Lock the folder's file, and write the process into it."""
        try:
            if not locks.acquire(lock.fileno()):
                lock.seek(0)
                owner = lock.read(200).decode("utf-8", "replace").strip() or "another process"
                msg = (
                    f"expected a folder that no other training uses, found one in use by {owner}; "
                    "wait for its end, or choose another folder"
                )
                raise CheckpointError(msg, source=str(self.folder))
        except OSError as error:
            _log.warning(
                "%s: cannot be locked (%s); make sure that no other training uses it",
                self.folder,
                error.strerror,
            )
        with suppress(OSError):  # a full disk does not prevent training
            lock.truncate(0)
            lock.write(f"process {os.getpid()} on {platform.node() or 'this machine'}\n".encode())


def checkpoints_in(
    folder: str | os.PathLike[str] | None, *, resume: bool, every: float | None
) -> Checkpoints | None:
    """Return the checkpoints that the options of `seqtag.train` ask for, if any.

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
    """The checkpoints of a training, or of one component of it.

    Parameters
    ----------
    checkpoints
        The folder.
    label
        All columns that the training learns.
    name
        The component; empty if there is only one.
    facts
        JSON values that the weights of the component depend on; with others, it is not resumed.
    shared
        Facts of the complete training, on which not each component depends.
    """

    checkpoints: Checkpoints
    label: str
    name: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    shared: Mapping[str, Any] = field(default_factory=dict)

    def part(self, name: str) -> Stage:
        """Return the checkpoints of a component of this one."""
        return replace(self, name=f"{self.name}-{name}" if self.name else name)

    def about(self, facts: Mapping[str, Any]) -> Stage:
        """Return the same checkpoints with the facts of the component."""
        common = {"seqtag": __version__, "label": self.label, "whole": dict(self.shared)}
        return replace(self, facts={**common, **facts})

    def run(self, number: int) -> RunCheckpoints:
        """Return the checkpoints of a run."""
        name = f"{self.name}-run-{number}" if self.name else f"run-{number}"
        return RunCheckpoints(self.checkpoints, name, self.facts)


class RunCheckpoints:
    """The checkpoints of one run: a `seqtag.engine.epochs.Checkpointer`."""

    def __init__(self, checkpoints: Checkpoints, name: str, facts: Mapping[str, Any]):
        self._folder, self._every = checkpoints.folder, checkpoints.every
        self._unwritten = checkpoints.unwritten
        self._name, self._facts = name, facts
        self._good: list[Path] = []  # complete files, the newest last
        self._number = 0
        self._last: tuple[int, int] = 0, 0  # epoch and sentences of the newest
        self._due = monotonic() + (self._every or 0)

    def begin(self, layout: Layout, sentences: int) -> TrainingState | Kept | None:
        """Return the state of the run, or its result if it was finished; None at its start.

        Parameters
        ----------
        layout
            The shape of its weights.
        sentences
            Number of sentences in an epoch.

        Raises
        ------
        CheckpointError
            If the checkpoints are of another training, or none of them is complete.
        """
        files = files_of(self._folder, self._name)
        if not files:
            for path in files_of(self._folder):  # those of other components
                # another thread may remove it
                with suppress(ModelFileError, FileNotFoundError):
                    facts = _read(path).config["facts"]
                    self._check({**self._facts, **{name: facts.get(name) for name in COMMON}})
                    break
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
                _log.warning("%s/%s; the previous checkpoint is used", self._folder, problem)
            self._good = [path]
            if isinstance(found, TrainingState):
                self._last = found.epoch, found.visited
            _log.info("resuming from %s: %s", path, describe(found))
            return found
        msg = f"expected a complete checkpoint, found none; choose another folder ({problems[0]})"
        raise CheckpointError(msg, source=str(self._folder))

    def wants(self, *, epoch_over: bool) -> bool:
        """Return whether a checkpoint is due."""
        if self._every is None:
            return epoch_over
        return monotonic() >= self._due

    def keep(self, training_state: TrainingState) -> None:
        """Write a checkpoint, unless the newest has the same state.

        If it cannot be written, a warning is logged and the training continues; earlier checkpoints
        stay. If no later one could be written, either, an error is logged at the end.
        """
        place = training_state.epoch, training_state.visited
        if place != self._last and self._write(*pack(training_state)):
            self._last = place
        self._due = monotonic() + (self._every or 0)

    def finish(self, kept: Kept) -> None:
        """Write the result of the run."""
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
            _log.warning("%s: not written (%s); training continues", path, why)
            self._unwritten[self._name] = why
            return False
        self._unwritten.pop(self._name, None)
        self._good = [*self._good, path][-_KEPT:]
        for old in files_of(self._folder, self._name):
            if old not in self._good:
                with suppress(OSError):  # an extra file does no harm
                    old.unlink()
        return True

    def _check(self, facts: Mapping[str, Any]) -> None:
        """Refuse the checkpoints of another training."""
        found = differences(facts, self._facts)
        if found:
            msg = (
                f"expected checkpoints of this training, found others: {'; '.join(found)}; "
                "run the same command as before, or choose another folder"
            )
            raise CheckpointError(msg, source=str(self._folder))


# --------------------------------------------------------------------------- files
def files_of(folder: str | os.PathLike[str], name: str | None = None) -> list[Path]:
    """Return the checkpoints in a folder, of one run or of all, the newest last."""
    found = []
    for path in Path(folder).glob(f"*{_SUFFIX}"):
        match = _NAME.fullmatch(path.name)
        if match and name in (None, match[1]):
            found.append(path)
    return sorted(found, key=lambda path: (_number_of(path), path.name))


def note_model(folder: str | os.PathLike[str], sha256: str) -> None:
    """Record a model that a training is going to write."""
    with suppress(OSError), Path(folder, _MODELS).open("a") as file:  # the model matters more
        file.write(f"{sha256}\n")


def has_written(folder: str | os.PathLike[str] | None, path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a model that the training with this folder has written."""
    if folder is None:
        return False
    try:
        found = sha256(Path(path).read_bytes()).hexdigest()
        return found in Path(folder, _MODELS).read_text()
    except (OSError, ValueError):
        return False


def _number_of(path: Path) -> int:
    match = _NAME.fullmatch(path.name)
    return int(match[2]) if match else 0


def _read(path: Path) -> container.Contents:
    """Read a file that must be a checkpoint."""
    contents = container.load(path)
    if contents.config.get("kind") != "checkpoint" or not all(
        isinstance(contents.config.get(name), dict) for name in ("facts", "standing")
    ):
        msg = "expected a checkpoint, found something else"
        raise ModelFileError(msg, source=str(path))
    return contents


# --------------------------------------------------------------------------- format
_CELL_STATES = {"ptr": "i8", "column": "i4", "w": "f4", "u": "f4", "g": "f4"}
_MATRICES = ("emission", "edge", "trigram")
_STATE = {
    **{f"{of}.{name}": (kind, 1) for of in _MATRICES for name, kind in _CELL_STATES.items()},
    "chain": ("f4", 2),
}
_CELLS = {
    f"best.{name}": ("i8" if "ptr" in name else "i4" if "label" in name else "f4", 1)
    for name in Cells._fields
}
"""Type and number of dimensions of each array of a file."""


_COUNTS = ("epoch", "visited", "updates", "wrong_tokens")
"""Numbers of a `TrainingState`."""


def pack(training_state: TrainingState) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return configuration and tensors of the state of a run."""
    state, best = training_state.state, training_state.best
    about: dict[str, Any] = {name: getattr(training_state, name) for name in _COUNTS}
    about |= {"seen": state.seen, "converged": training_state.converged, "finished": False}
    tensors = {
        f"{of}.{name}": getattr(getattr(state, of), name)
        for of in _MATRICES
        for name in _CELL_STATES
    }
    tensors["chain"] = state.chain
    if best is not None:
        about["best"] = {"score": best.score, "epoch": best.epoch}
        tensors |= {f"best.{name}": array for name, array in best.cells._asdict().items()}
    return about, tensors


def pack_kept(kept: Kept) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return configuration and tensors of the result of a run."""
    about = {"epoch": kept.epoch, "converged": kept.converged, "finished": True}
    return about, {f"best.{name}": array for name, array in kept.cells._asdict().items()}


def unpack(contents: Contents, layout: Layout, sentences: int) -> TrainingState | Kept:
    """Return the state in a file, if it fits the weights.

    Raises
    ------
    ModelFileError
        If it does not.
    """
    about, tensors = contents.config["standing"], contents.tensors

    def count(value: Any) -> int:
        if type(value) is not int or value < 0:
            msg = f"expected a count, found {value!r:.20}"
            raise ValueError(msg)
        return value

    try:
        finished, best = about["finished"], about.get("best")
        expect(tensors, _CELLS if finished else _STATE | (_CELLS if best else {}))
        kept = None
        if finished or best:
            cells = Cells(*(tensors[f"best.{name}"] for name in Cells._fields))
            check_state(layout, State.start(cells))
            if finished:
                return Kept(count(about["epoch"]), cells, bool(about["converged"]))
            kept = Best(float(best["score"]), count(best["epoch"]), cells)
        emission, edge, trigram = (
            CellStates(*(tensors[f"{of}.{name}"] for name in _CELL_STATES)) for of in _MATRICES
        )
        state = State(emission, edge, trigram, tensors["chain"], count(about["seen"]))
        check_state(layout, state)
        epoch, visited, updates, wrong = (count(about[name]) for name in _COUNTS)
        if visited > sentences:
            msg = f"{visited} of {sentences} sentences visited"
            raise ValueError(msg)
        return TrainingState(state, epoch, visited, updates, wrong, bool(about["converged"]), kept)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        msg = f"expected a checkpoint that fits the training, found another ({error})"
        raise damaged(msg) from error


def describe(found: TrainingState | Kept) -> str:
    """Describe the state of a run in words."""
    if isinstance(found, Kept):
        return "this run is finished"
    within = f" and {found.visited:,} sentences" if found.visited else ""
    return f"{found.epoch} epochs{within} are done"


# --------------------------------------------------------------------------- which training
COMMON = ("seqtag", "label", "seed", "whole")
"""Facts that all components of a training have in common."""


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Describe the differences between the facts of two trainings.

    Parameters
    ----------
    then, now
        Facts by name: data as their SHA-256 and perhaps their number of sentences; templates as
        lists of lines; ``whole`` as a mapping of further facts; other values as they are. A
        different ``feature set`` counts only if nothing else differs: then attributes of the
        user's own have changed.

    Examples
    --------
    >>> differences({"epochs": 8, "shuffle": True}, {"epochs": 10, "shuffle": None})
    ['epochs was 8, is 10', 'shuffle was yes, is not given']
    """
    found: dict[str, str] = {}
    shared = [facts.get("whole") for facts in (then, now)]
    for old_facts, new_facts in (
        (then, now),
        [facts if isinstance(facts, dict) else {} for facts in shared],  # a file may hold anything
    ):
        for name in {**new_facts, **old_facts}:
            old, new = old_facts.get(name), new_facts.get(name)
            if old != new and name not in ("whole", *found):
                found[name] = _difference(name, old, new)
    if len(found) > 1:
        found.pop("feature set", None)  # a consequence of the others
    return list(found.values())


def _difference(name: str, old: Any, new: Any) -> str:
    """Describe the difference between two values."""
    if name == "templates" and isinstance(old, list) and isinstance(new, list):
        old, new = ([each for each in a if each not in b] for a, b in ((old, new), (new, old)))
        if not old and not new:
            return "the templates are in another order"
    return f"{name.replace('_', '-')} was {_shown(old)}, is {_shown(new)}"


def _shown(value: Any) -> str:
    if value is None:
        return "not given"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none of these"
    shown = _DIGEST.sub(r"\1", str(value))
    return "yes" if value is True else "no" if value is False else f"{shown:.80}"
