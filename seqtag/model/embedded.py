"""Models that come with seqtag."""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from seqtag.errors import nearest

if TYPE_CHECKING:
    from os import PathLike

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
    """Return the path of a model: the path itself if it is a file, else that of the embedded model.

    A folder called ``en`` does not hide the model of that name.
    """
    path = Path(path_or_name)
    embedded = MODELS / f"{path_or_name}.seqtag"
    is_taken = path.exists() and not path.is_dir()
    return embedded if not is_taken and embedded.is_file() else path


class MissingModelError(FileNotFoundError):
    """A model that does not exist; the message is the name, the error and advice."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def no_such_model(name: str, error: FileNotFoundError) -> FileNotFoundError:
    """Return the error about a missing model: similar names, or how to train it for a language."""
    what = error.strerror or "No such file"
    path = Path(name)
    stem = path.name.removesuffix(".seqtag")
    known = {each: each for each in embedded_models()}
    with suppress(OSError):
        known |= {file.stem: str(file) for file in sorted(path.parent.glob("*.seqtag"))}
    advice = training_advice(stem) if stem not in known else ""
    if advice:
        return MissingModelError(errno.ENOENT, f"{what}; {advice}", name)
    near = nearest(stem, known)
    what += f" (did you mean {known[near]!r}?)" if near else ""
    embedded = ", ".join(embedded_models())
    return MissingModelError(errno.ENOENT, f"{what}; embedded models: {embedded}", name)


def training_advice(language: str) -> str:
    """Return how to get a model of a language; empty if the catalogue has no treebank of it."""
    from seqtag.catalogue.entries import training_seconds, treebank_of

    entry = treebank_of(language)
    if entry is None:
        return ""
    code = entry.name.removeprefix("ud:").partition("_")[0]
    if code in embedded_models():
        return f"{entry.language} is the embedded model {code!r}"
    size = sum(entry.file(part).size or 0 for part in ("train", "dev"))
    seconds = max(1, round(training_seconds(entry)))
    return (
        f"train a model for {entry.language}: seqtag train {entry.name} -o {language}.seqtag "
        f"(downloads {size / 1e6:.1f} MB and takes about {seconds} s)"
    )
