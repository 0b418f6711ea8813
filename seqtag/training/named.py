"""Models by name: trained from a treebank of the catalogue, and kept in the cache."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from seqtag.catalogue.fetch import MissingPartError, fetch
from seqtag.errors import CatalogueError, ModelFileError
from seqtag.model import bundle
from seqtag.model.embedded import trained_path
from seqtag.storage import locks
from seqtag.training.train import train

if TYPE_CHECKING:
    from pathlib import Path

    from seqtag.catalogue.entries import Entry

_log = logging.getLogger("seqtag")


def train_named(entry: Entry, *, folder: Path | None = None) -> Path:
    """Return the model of a treebank; train it first if it is not in the cache.

    Only one process makes it, while others wait. An interrupted training or a full disk leaves what
    was there. A damaged model is trained again.

    Parameters
    ----------
    entry
        The treebank, at a release.
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
            bundle.load(target, str(target))
        except (ModelFileError, OSError):
            return False
        return True

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
        model = train(used["train"], dev=used.get("dev"), label=label)
        if model.models[-1].interrupted:
            raise KeyboardInterrupt
        model.save(target)
    return target


def _files(entry: Entry, folder: Path | None) -> dict[str, Path]:
    """Return the files of the parts that the treebank has to train on."""
    files = {}
    for part in entry.parts:
        if part == "test":
            continue
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
