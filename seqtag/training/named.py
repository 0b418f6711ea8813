"""Models by name: trained from a treebank of the catalogue, and kept in the cache with a card."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from seqtag.catalogue.fetch import MissingPartError, fetch
from seqtag.corpus.read import ReadOptions
from seqtag.errors import CatalogueError
from seqtag.evaluation.systems import score_system
from seqtag.model.embedded import trained_path
from seqtag.storage import locks, strict_json
from seqtag.storage.output import Output
from seqtag.tagging.pipeline import load
from seqtag.training.train import train
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from seqtag.catalogue.entries import Entry, RemoteFile


def card_of(model: Path) -> dict[str, Any]:
    """Return the card of a model that was trained by name; empty if there is none."""
    path = model.with_suffix(".json")
    return dict(strict_json.loads(path.read_bytes())) if path.is_file() else {}


def train_named(
    entry: Entry,
    *,
    best: bool = False,
    announce: Callable[[RemoteFile], bool] | None = None,
) -> Path:
    """Return the model of a treebank; train it first if it is not in the cache.

    Only one process makes it, while others wait. The card is written before the model, and both
    atomically, so that an interrupted training leaves no model.

    Raises
    ------
    CatalogueError
        If the treebank cannot be fetched, has no training part, or no words.
    """
    target = trained_path(entry)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = target.with_suffix(".lock").open("ab")
    except OSError as error:
        msg = (
            f"cannot keep models there ({error.strerror}); set SEQTAG_CACHE to a folder that you "
            "can write to"
        )
        raise CatalogueError(msg, source=str(target.parent)) from error
    with lock:
        locks.acquire(lock.fileno(), wait=True)
        if target.is_file() and card_of(target).get("best") == best:
            return target
        files = _files(entry, announce)
        runs = 5 if best else 1
        dev = str(files["dev"]) if "dev" in files else None
        model = train(str(files["train"]), dev=dev, label="all", runs=runs)
        if model.models[-1].interrupted:
            raise KeyboardInterrupt
        made = target.with_suffix(".new.seqtag")
        model.save(made)
        card = _card(entry, files, made, best=best)
        target.unlink(missing_ok=True)  # never a model with the card of another
        with Output(target.with_suffix(".json")) as out:
            out.write(json.dumps(card, indent=2, ensure_ascii=False).encode() + b"\n")
        made.replace(target)
    return target


def _files(entry: Entry, announce: Callable[[RemoteFile], bool] | None) -> dict[str, Path]:
    """Return the files of the parts that the treebank has."""
    files = {}
    for part in entry.parts:
        try:
            files[part] = fetch(entry.file(part), announce)
        except MissingPartError as error:
            if part == "train":
                msg = (
                    f"expected a training part of {entry.name}, release {entry.release}, found "
                    "none; choose another treebank of the language: seqtag models list"
                )
                raise CatalogueError(msg, source=error.source) from error
    words = withheld = 0
    with files["train"].open("rb") as lines:
        for line in lines:
            if line[:1].isdigit():
                words += 1
                withheld += line.split(b"\t")[1:3] == [b"_", b"_"]
    if 2 * withheld >= words:
        found = f"{withheld:,} of {words:,} forms withheld (_)" if words else "no words"
        msg = f"expected words to learn from, found {found}; choose another treebank"
        raise CatalogueError(msg, source=f"{entry.name}/train")
    return files


def _card(entry: Entry, files: dict[str, Path], model: Path, *, best: bool) -> dict[str, Any]:
    """Return what the model was made of and how it scores on the test part, or else on dev."""
    name = entry.name.removeprefix("ud:")
    part = next((each for each in ("test", "dev") if each in files), None)
    pipeline, figures = load(model), {}
    for kind in ("raw", "gold") if part else ():
        with ReadOptions(format="conllu").open(str(files[str(part)])) as gold:
            report = score_system(gold, pipeline, name=name, raw=kind == "raw")
        metrics = report.to_dict().get("metrics") or {report.metric: {"f1": report.score}}
        figures[kind] = {each: round(100 * value["f1"], 2) for each, value in metrics.items()}
    data = {part: path.read_bytes() for part, path in files.items()}
    return {
        "model": name,
        "title": entry.title,
        "license": entry.licence,
        "release": entry.release,
        "files": {
            part: {"bytes": len(each), "sha256": hashlib.sha256(each).hexdigest()}
            for part, each in data.items()
        },
        "seqtag": __version__,
        "best": best,
        "training": [dict(each.training) for each in pipeline.models],
        "measured_on": part,
        "figures": figures,
        "bytes": model.stat().st_size,
        "sha256": hashlib.sha256(model.read_bytes()).hexdigest(),
        "command": f"seqtag models train {name}@{entry.release}" + " --best" * best,
    }
