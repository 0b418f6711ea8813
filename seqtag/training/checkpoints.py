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
from typing import TYPE_CHECKING, Any, NamedTuple

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
    from collections.abc import Mapping, Sequence
    from io import FileIO

    from numpy.typing import NDArray

    from seqtag.engine.arrays import Layout
    from seqtag.model.container import Contents

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


class _Counts(NamedTuple):
    """The numbers of a `TrainingState`; names of its fields."""

    epoch: int
    visited: int
    updates: int
    wrong_tokens: int


def pack(training_state: TrainingState) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Configuration and tensors of where a run stands."""
    state, best = training_state.state, training_state.best
    about: dict[str, Any] = {name: getattr(training_state, name) for name in _Counts._fields}
    about |= {"seen": state.seen, "converged": training_state.converged, "finished": False}
    tensors = {
        f"{of}.{name}": getattr(getattr(state, of), name)
        for of in _MATRICES
        for name in _CELL_STATES
    }
    tensors["chain"] = state.chain
    if best is not None:
        about["best"] = {"score": best.score, "epoch": best.epoch}
        tensors |= _packed_cells(best.cells)
    return about, tensors


def pack_kept(kept: Kept) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Configuration and tensors of what a run has come to."""
    about = {"epoch": kept.epoch, "converged": kept.converged, "finished": True}
    return about, _packed_cells(kept.cells)


def _packed_cells(cells: Cells) -> dict[str, NDArray[Any]]:
    return {f"best.{name}": array for name, array in cells._asdict().items()}


def unpack(contents: Contents, layout: Layout, sentences: int) -> TrainingState | Kept:
    """What a file says, if it fits the weights.

    Raises
    ------
    ModelFileError
        If it does not.
    """
    about, tensors = contents.config["standing"], contents.tensors
    best = about.get("best")
    try:
        if about["finished"]:
            expect(tensors, _CELLS)
            cells = _unpacked_cells(tensors, layout)
            return Kept(_count(about["epoch"]), cells, bool(about["converged"]))
        expect(tensors, _STATE | (_CELLS if best else {}))
        emission, edge, trigram = (
            CellStates(*(tensors[f"{of}.{name}"] for name in _CELL_STATES)) for of in _MATRICES
        )
        state = State(emission, edge, trigram, tensors["chain"], _count(about["seen"]))
        check_state(layout, state)
        counts = _Counts(*(_count(about[name]) for name in _Counts._fields))
        found = None
        if best:
            cells = _unpacked_cells(tensors, layout)
            found = Best(float(best["score"]), _count(best["epoch"]), cells)
        if counts.visited > sentences:
            msg = f"{counts.visited} of {sentences} sentences visited"
            raise ValueError(msg)
        return TrainingState(state, *counts, bool(about["converged"]), found)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        msg = f"expected a checkpoint that fits the training, found another ({error})"
        raise damaged(msg) from error


def _unpacked_cells(tensors: Mapping[str, NDArray[Any]], layout: Layout) -> Cells:
    cells = Cells(*(tensors[f"best.{name}"] for name in Cells._fields))
    check_state(layout, State.start(cells))
    return cells


def _count(value: Any) -> int:
    """A number from 0."""
    if type(value) is not int or value < 0:
        msg = f"expected a count, found {value!r:.20}"
        raise ValueError(msg)
    return value


def describe(found: TrainingState | Kept) -> str:
    """Where a run stands, in words."""
    if isinstance(found, Kept):
        return "this run is finished"
    within = f" and {found.visited:,} sentences" if found.visited else ""
    return f"{found.epoch} epochs{within} are done"


# --------------------------------------------------------------------------- which training
COMMON = ("seqtag", "label", "seed", "whole")
"""What the parts of a training have in common."""


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What is not the same in two trainings, in words.

    Parameters
    ----------
    then, now
        What they hang on, by name: data as their SHA-256 and, if these are sentences, how many;
        templates as lists of lines; ``whole`` as a mapping of the same kind; other values as they
        are. That the ``feature set`` is another is told if nothing else is: attributes of a user's
        own are not the same then.

    Examples
    --------
    >>> differences({"epochs": 8, "dev set": {"sha256": "ab"}}, {"epochs": 10, "dev set": None})
    ['epochs was 8, is 10', 'there was a dev set, now there is none']
    """
    found: dict[str, str] = {}
    for old_facts, new_facts in ((then, now), (_whole(then), _whole(now))):
        for name in {**new_facts, **old_facts}:
            old, new = old_facts.get(name), new_facts.get(name)
            if old != new and name not in ("whole", *found):
                found[name] = _difference(name, old, new)
    if len(found) > 1:
        found.pop("feature set", None)  # what the others have changed
    return list(found.values())


def _whole(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the whole training hangs on, if it says so: a file may say anything."""
    found = facts.get("whole")
    return found if isinstance(found, dict) else {}


def _difference(name: str, old: Any, new: Any) -> str:
    """What is not the same, in words."""
    there = [value for value in (old, new) if value is not None]
    if any(isinstance(value, dict) for value in there) and all(map(_is_digest, there)):
        return _data_difference(name, old, new)
    if name == "templates" and isinstance(old, list) and isinstance(new, list):
        return _template_difference(old, new)
    return f"{name.replace('_', '-')} was {_shown(old)}, is {_shown(new)}"


def _is_digest(value: Any) -> bool:
    """Whether a value is the SHA-256 of data and, if these are sentences, how many."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("sha256"), str)
        and type(value.get("sentences", 0)) is int
    )


def _data_difference(name: str, old: Any, new: Any) -> str:
    if old is None:
        return f"there was no {name}, now there is one"
    if new is None:
        return f"there was a {name}, now there is none"
    if "sentences" in old and "sentences" in new and old["sentences"] != new["sentences"]:
        return f"the {name} had {old['sentences']:,} sentences, has {new['sentences']:,}"
    return f"the {name} is another: SHA-256 was {old['sha256'][:12]}, is {new['sha256'][:12]}"


def _template_difference(old: Sequence[str], new: Sequence[str]) -> str:
    gone, come = ([each for each in a if each not in b] for a, b in ((old, new), (new, old)))
    if not gone and not come:
        return "the templates are in another order"
    return "the templates differ: " + ", ".join(
        f"{lines[0]!r}{f' and {len(lines) - 1} more' if len(lines) > 1 else ''} {what}"
        for lines, what in ((gone, "gone"), (come, "new"))
        if lines
    )


def _shown(value: Any) -> str:
    """A value in words."""
    if value is None:
        return "not given"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "yes" if value is True else "no" if value is False else f"{value!s:.80}"
