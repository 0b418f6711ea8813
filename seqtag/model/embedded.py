"""Models that come with seqtag."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

_HERE = Path(__file__).parents[1]
MODELS = next(  # inside the package if installed, next to it in a source tree
    (path for path in (_HERE / "models", _HERE.parent / "models") if path.is_dir()),
    _HERE / "models",
)
DEFAULT_MODELS = ("en",)
COMPONENTS = {"en-ewt-upos": ("en", "upos"), "en-ewt-xpos": ("en", "xpos")}
"""Names of taggers that are components of embedded pipelines: the pipeline, the component."""


def embedded_models() -> list[str]:
    """Return the names of the models that come with seqtag, sorted."""
    return sorted([*(path.stem for path in MODELS.glob("*.seqtag")), *COMPONENTS])


def find_model(path_or_name: str | PathLike[str]) -> Path:
    """Return the path of a model: the path itself if it exists, else that of the embedded model."""
    path = Path(path_or_name)
    name, _ = COMPONENTS.get(str(path_or_name), (path_or_name, ""))
    embedded = MODELS / f"{name}.seqtag"
    return embedded if not path.exists() and embedded.is_file() else path


def component_of(path_or_name: str | PathLike[str]) -> str | None:
    """Return the component that an embedded name means; None for all of the file."""
    name = str(path_or_name)
    return None if Path(name).exists() else COMPONENTS.get(name, (None, None))[1]
