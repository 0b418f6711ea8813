"""Models by name: trained from a treebank of the catalogue, and kept in the cache with a card."""

from __future__ import annotations

import hashlib
import json
import logging
from typing import TYPE_CHECKING, Any

from seqtag.catalogue.fetch import MissingPartError, fetch
from seqtag.corpus.read import ReadOptions
from seqtag.errors import CatalogueError
from seqtag.evaluation.systems import score_system
from seqtag.model import bundle, container
from seqtag.model.embedded import trained_path
from seqtag.storage import locks, strict_json
from seqtag.storage.digests import digest_of
from seqtag.storage.output import atomic
from seqtag.tagging.pipeline import of_models
from seqtag.training.plan import PRESETS
from seqtag.training.train import train
from seqtag.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from seqtag.catalogue.entries import Entry

_log = logging.getLogger("seqtag")


def card_of(model: Path) -> dict[str, Any]:
    """Return the card of a model that was trained by name; empty if there is none.

    Raises
    ------
    CatalogueError
        If it is damaged.
    """
    path = model.with_suffix(".json")
    try:
        card = strict_json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        card = error
    if not isinstance(card, dict):
        msg = "expected the card of a model, found another file; train the model again"
        raise CatalogueError(msg, source=str(path))
    return card


def train_named(
    entry: Entry,
    *,
    best: bool = False,
    folder: Path | None = None,
) -> Path:
    """Return the model of a treebank; train it first if it is not in the cache.

    Only one process makes it, while others wait. Model and card are complete before either replaces
    another, so that an interrupted training or a full disk leaves what was there. A model that is
    not that of its card is trained again.

    Parameters
    ----------
    entry
        The treebank, at a release.
    best
        Train for accuracy: 5 runs.
    folder
        As for `seqtag.catalogue.fetch.fetch`; parts that it does not have are left out.

    Raises
    ------
    CatalogueError
        If the treebank cannot be fetched, has no training part, or no words.
    """
    target = trained_path(entry)

    def is_there() -> bool:
        try:
            card = card_of(target)
            if not card or card["sha256"] != digest_of(target):
                return False
        except (CatalogueError, OSError, LookupError):  # damaged
            return False
        return card.get("best") in (True, best)  # five runs are better than one

    if is_there():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = target.with_suffix(".lock").open("ab")
    except OSError as error:
        msg = (
            f"cannot keep models there ({error.strerror}); check space and permissions, or "
            "set SEQTAG_CACHE to another folder"
        )
        raise CatalogueError(msg, source=str(target.parent)) from error
    with lock:
        if not locks.acquire(lock.fileno()):
            _log.info("%s: another process trains it; waiting for its end", entry.name)
            locks.acquire(lock.fileno(), wait=True)
        if is_there():  # another process made it
            return target
        what = entry.name, entry.release, entry.title, entry.licence
        _log.info("%s@%s: %s, license: %s", *what)
        files = _files(entry, folder)
        withheld = [part for part, file in files.items() if not entry.labels and _is_withheld(file)]
        if "train" in withheld:
            msg = "expected words to learn from, found _ for most; choose another treebank"
            raise CatalogueError(msg, source=f"{entry.name}/train")
        for part in withheld:
            _log.info("%s/%s: not used, because most of its forms are _", entry.name, part)
        used = {part: str(file) for part, file in files.items() if part not in withheld}
        label = entry.labels[0] if len(entry.labels) == 1 else entry.labels or "all"
        model = train(used["train"], dev=used.get("dev"), label=label, runs=5 if best else 1)
        if model.models[-1].interrupted:
            raise KeyboardInterrupt
        data = bundle.to_bytes(model.models)
        card = _card(entry, files, used, data, best=best)
        with atomic(target.with_suffix(".json")) as out_card:
            out_card.write(json.dumps(card, indent=2, ensure_ascii=False).encode() + b"\n")
            with atomic(target) as out:  # a full disk is found before the card replaces another
                out.write(data)
    return target


def _files(entry: Entry, folder: Path | None) -> dict[str, Path]:
    """Return the files of the parts that the treebank has."""
    files = {}
    for part in entry.parts:
        file = entry.file(part)
        try:
            files[part] = fetch(file, folder)
        except MissingPartError as error:
            if part == "train":
                msg = (
                    f"expected a training part of {entry.name}, release {entry.release}, found "
                    "none; check the mirror or folder, if it is one, or choose another treebank of "
                    "the language: seqtag models list"
                )
                raise CatalogueError(msg, source=error.source) from error
            if file.digest and not folder:
                raise
            _log.info("%s, release %s, has no %s part", entry.name, entry.release, part)
    return files


def _is_withheld(file: Path) -> bool:
    """Return whether the form of most words of a file is ``_``."""
    words = withheld = 0
    with file.open("rb") as lines:
        for line in lines:
            if line[:1].isdigit():
                words += 1
                withheld += line.split(b"\t", 2)[1:2] == [b"_"]
    return 2 * withheld >= words


def _card(
    entry: Entry, files: dict[str, Path], used: dict[str, str], model: bytes, *, best: bool
) -> dict[str, Any]:
    """Return what the model was made of and how it scores on the test part, or else on dev."""
    part = next((each for each in ("test", "dev") if each in used), None)
    loaded, figures = of_models(bundle.models_of(container.from_bytes(model)), entry.model), {}
    last = entry.labels[-1] if entry.labels else None
    learned = {str(each.column) for each in loaded.models}
    reading = ReadOptions() if entry.labels else ReadOptions(format="conllu")
    for kind in ("raw", "gold")[bool(entry.labels) :] if part else ():
        with reading.open(used[str(part)]) as gold:
            report = score_system(gold, loaded, name=entry.model, raw=kind == "raw", component=last)
        aligned = report.to_dict().get("metrics") or {}
        scores = {name: each["f1"] for name, each in aligned.items()}
        figures[kind] = {
            name: round(100 * score, 2)
            for name, score in (scores or {report.metric: report.score}).items()
            if name in learned or name not in PRESETS
        }
    return {
        "model": entry.model,
        "title": entry.title,
        "license": entry.licence,
        "release": entry.release,
        "files": {
            part: {"bytes": path.stat().st_size, "sha256": digest_of(path)}
            for part, path in files.items()
        },
        "seqtag": __version__,
        "best": best,
        "training": [dict(each.training) for each in loaded.models],
        "withheld": [part for part in files if part not in used],
        "measured_on": part,
        "figures": figures,
        "bytes": len(model),
        "sha256": hashlib.sha256(model).hexdigest(),
        "command": f"seqtag models train {entry.model}@{entry.release}" + " --best" * best,
    }
