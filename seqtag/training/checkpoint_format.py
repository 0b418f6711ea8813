"""Where a run stands, as a file says it; and in what one training differs from another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from seqtag.engine.arrays import Cells, CellStates, Layout, State
from seqtag.engine.checks import check_state
from seqtag.engine.epochs import Best, Kept, TrainingState
from seqtag.errors import ModelFileError
from seqtag.model.container import damaged, expect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.model.container import Contents

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
