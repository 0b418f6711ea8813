"""Models that come with seqtag."""

from __future__ import annotations

import errno
import logging
import re
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from seqtag.errors import nearest

if TYPE_CHECKING:
    from seqtag.catalogue.entries import Entry

_log = logging.getLogger("seqtag")
_RELEASE = re.compile(r".*@[0-9]+(?:\.[0-9]+)*")
_HERE = Path(__file__).parents[1]
MODELS = next(  # inside the package if installed, next to it in a source tree
    (path for path in (_HERE / "models", _HERE.parent / "models") if path.is_dir()),
    _HERE / "models",
)
DEFAULT_MODELS = ("en",)
LICENSE = "CC BY-SA 4.0"
"""License of the embedded models: that of the treebank that they were learned from."""


def embedded_models() -> list[str]:
    """Return the names of the models that come with seqtag, sorted."""
    return sorted(path.stem for path in MODELS.glob("*.seqtag"))


def find_model(path_or_name: str | PathLike[str]) -> Path:
    """Return the path of a model: the path itself if it is a file, else that of a model by name.

    Names are those of embedded models, and of languages and treebanks whose model was trained by
    ``seqtag models train``, of the newest release if the name has none. A folder called ``en``
    does not hide the model of that name.
    """
    return _find(path_or_name)[0]


def missing_treebank(path_or_name: str | PathLike[str]) -> Entry | None:
    """Return the treebank that a name means, if its model was not trained yet."""
    return _find(path_or_name)[1]


def _find(path_or_name: str | PathLike[str]) -> tuple[Path, Entry | None]:
    if not isinstance(path_or_name, str | PathLike):
        msg = f"expected the path or the name of a model, found {path_or_name!r:.60}"
        raise TypeError(msg)
    path, name = Path(path_or_name), str(path_or_name)
    embedded = MODELS / f"{name}.seqtag"
    if path.exists() and not path.is_dir():
        return path, None
    if embedded.is_file():
        return embedded, None
    from seqtag.catalogue.entries import treebank_of

    entry = None if path.name != name or path.suffix == ".seqtag" else treebank_of(name)
    if entry is None:
        return path, None
    code = language_code(entry)
    if code in embedded_models() and treebank_of(code) is entry and entry.model != name:
        return MODELS / f"{code}.seqtag", None
    here = [] if "@" in name else _trained_here(entry)
    trained = here[-1] if here else trained_path(entry)
    if not trained.is_file():
        return path, entry
    if trained != trained_path(entry):
        _log.info("%s: %s was trained here and is used", name, trained.stem)
    return trained, None


def _trained_here(entry: Entry) -> list[Path]:
    """Return the models of a treebank that were trained, those of the newest release last."""

    def release(path: Path) -> list[int]:
        return [int(each) for each in path.stem.partition("@")[2].split(".")]

    found = trained_path(entry).parent.glob(f"{entry.model}@*.seqtag")
    return sorted((path for path in found if _RELEASE.fullmatch(path.stem)), key=release)


def language_code(entry: Entry) -> str:
    """Return the ISO 639 code of a treebank's language, with which its name begins."""
    return entry.model.partition("_")[0]


def trained_path(entry: Entry) -> Path:
    """Return where the model of a treebank is kept, whether it exists or not."""
    from seqtag.catalogue.fetch import cache_folder

    return cache_folder() / "models" / f"{entry.model}@{entry.release}.seqtag"


class MissingModelError(FileNotFoundError):
    """A model that does not exist; the message is the name, the error and advice."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def no_such_model(name: str, error: FileNotFoundError) -> FileNotFoundError:
    """Return the error about a missing model: similar names, or how to train it for a language."""
    from seqtag.catalogue.entries import did_you_mean_language

    what = error.strerror or "No such file"
    path = Path(name)
    stem = path.name.removesuffix(".seqtag")
    known = {each: each for each in embedded_models()}
    with suppress(OSError):
        known |= {file.stem: str(file) for file in sorted(path.parent.glob("*.seqtag"))}
    is_name = path.name == name == stem  # else it is a file
    advice = training_advice(stem) if is_name and stem not in known else ""
    if advice:
        return MissingModelError(errno.ENOENT, f"{what}; {advice}", name)
    near = nearest(stem, known)
    if near:
        what += f" (did you mean {known[near]!r}?)"
    elif is_name:
        what += did_you_mean_language(name)
    embedded = ", ".join(embedded_models())
    return MissingModelError(errno.ENOENT, f"{what}; embedded models: {embedded}", name)


def training_advice(language: str) -> str:
    """Return how to get a model of a language; empty if the catalogue has no treebank of it."""
    from seqtag.catalogue.entries import treebank_of

    entry = treebank_of(language)
    if entry is None:
        return ""
    code = language_code(entry)
    if code in embedded_models() and treebank_of(language) is treebank_of(code):
        return f"{entry.language} is the embedded model {code!r}"
    here = [path.stem for path in _trained_here(entry)]
    return (
        f"train the model for {entry.title} (license: {entry.licence}): seqtag models train "
        f"{language} ({training_cost(entry)}), or set SEQTAG_TRAIN=1"
    ) + (f"; trained here: {', '.join(here)}" if here else "")


def training_cost(entry: Entry) -> str:
    """Return the size of the files of a treebank."""
    if not entry.sha256:
        return "its size is not known here"
    size = sum(n for part, n in zip(entry.parts, entry.bytes, strict=True) if part != "test")
    return f"downloads {size / 1e6:.1f} MB"
